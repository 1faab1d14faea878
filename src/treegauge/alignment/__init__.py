"""Alignment: two treebanks become a Pair, whose brackets are over the same tokens."""
