"""Scoring: a metric's rows of counts become a Result, for trees in memory, files, streams and workers."""
