"""Experiments: the papers' tables and figures from a treebank, their numbers beside ours."""
