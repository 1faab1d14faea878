"""Counting a grammar in shards: stretches of trees, named by the bytes of the files they are in; and the hash of all trees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from treegauge.grammar.counted import Counted, Recipe, count_trees
from treegauge.io import ReadOptions, stream
from treegauge.io.cutting import Piece, cut_files
from treegauge.trees.hashing import TreebankHash
from treegauge.trees.tree import Tree

__all__ = ["TREES", "CountShard", "HashShard", "count_shard", "grammar_shards"]

TREES = 500
"""Of a shard: a second of work."""


@dataclass(frozen=True)
class CountShard:
    """Trees to be counted; ``checksum`` is that of all files."""

    piece: Piece
    reading: ReadOptions
    checksum: int
    only: tuple[int, int] | None = None

    def __str__(self) -> str:
        first, last = self.only or (0, self.piece.trees)
        which = f"trees {self.piece.first + first + 1} to {self.piece.first + last}" if last >= 0 else "all trees"
        part = self.piece.sources[0].part
        return f"{which} ({self.piece.sources[0].name}, in what begins at line {part.line if part else 1})"

    def halves(self) -> list[CountShard]:
        first, last = self.only or (0, self.piece.trees)
        middle = (first + last) // 2
        return [replace(self, only=(first, middle)), replace(self, only=(middle, last))] if last - first > 1 else []

    def trees(self) -> Iterator[Tree]:
        """The trees themselves."""
        low, high = self.only or (0, None)
        every = (tree for source in self.piece.sources for block in stream(source, self.reading) for tree in block)
        return (tree for number, tree in enumerate(every) if number >= low and (high is None or number < high))


@dataclass(frozen=True)
class HashShard:
    """Files of which the hash is wanted."""

    paths: tuple[str, ...]
    reading: ReadOptions

    def __str__(self) -> str:
        return f"the hash of {self.paths[0]}"


def grammar_shards(paths: tuple[str, ...], reading: ReadOptions, size: int = TREES) -> list[HashShard | CountShard]:
    """The shards of a treebank: first the hash, then stretches of trees in order."""
    side = cut_files(paths, reading, size)
    return [HashShard(paths, reading), *(CountShard(piece, reading, side.checksum) for piece in side.pieces)]


def count_shard(recipe: Recipe, shard: HashShard | CountShard) -> Counted | str:
    """The counts of a stretch of trees, or the hash of all."""
    if isinstance(shard, CountShard):
        return count_trees(shard.trees(), recipe, shard.piece.first)
    digest = TreebankHash()
    for path in shard.paths:
        for block in stream(path, shard.reading):
            digest.update(block)
    return digest.hexdigest()
