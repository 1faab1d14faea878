"""Measure constituency parsers by the criterion that matters, and parse for the criterion you measure by."""
