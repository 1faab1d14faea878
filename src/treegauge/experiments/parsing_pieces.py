"""Parsing as part of an experiment: block by block, each kept as it is done, with progress."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

from treegauge.experiments.base import Work
from treegauge.parsing.parser import Parsed, Parser, Sentence
from treegauge.parsing.shards import Stretch
from treegauge.trees.tree import Tree, from_flat, to_flat

__all__ = ["BLOCK", "parse_in_pieces"]

BLOCK = 50
"""Sentences of a piece."""


def parse_in_pieces(work: Work, name: str, parser: Parser, sentences: Sequence[Sentence]) -> list[Parsed]:
    """The parses of sentences: those that a killed run has left are not parsed again."""
    blocks: dict[str, Stretch] = {}
    for first in range(0, len(sentences), BLOCK):
        block = tuple(sentences[first : first + BLOCK])
        blocks[f"{name} {first}"] = Stretch(first, len(block), sentences=block)
    kept = {piece for piece in blocks if piece in work.pieces}
    parsed: list[Parsed] = []
    began, fresh = time.monotonic(), 0
    for (piece, block), found in zip(blocks.items(), work.each(_parse, (parser, work.jobs), blocks), strict=True):
        fresh += 0 if piece in kept else block.count
        parsed += [_parsed(sentence, document) for sentence, document in zip(block.sentences, found, strict=True)]
        rate = f", {fresh / (time.monotonic() - began):.1f} a second" if fresh else ""
        work.say(f"{name}: {len(parsed)} of {len(sentences)} sentences{rate}")
    return parsed


def _parse(how: tuple[Parser, int], block: Stretch) -> list[dict[str, Any]]:
    parser, jobs = how
    first, last = block.only or (0, block.count)
    return [_document(parsed) for parsed in parser.parse_all(block.sentences[first:last], jobs)]


def _document(parsed: Parsed) -> dict[str, Any]:
    score = parsed.score if math.isfinite(parsed.score) else None
    return {"tree": list(to_flat(parsed.tree)), "score": score, "fallback": parsed.fallback}


def _parsed(sentence: Sentence, document: dict[str, Any]) -> Parsed:
    tree: Tree = from_flat(document["tree"])
    score = math.nan if document["score"] is None else float(document["score"])
    return Parsed(sentence, tree, score, math.nan, bool(document["fallback"]))
