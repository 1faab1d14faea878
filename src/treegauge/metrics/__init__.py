"""Metrics: gold and test trees in, rows of counts out."""
