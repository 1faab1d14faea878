"""Models of every kind as parsers: counted and trained grammars, networks, and mixtures of them."""
