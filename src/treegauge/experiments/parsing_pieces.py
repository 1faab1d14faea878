"""Parsing as part of an experiment: block by block, each kept as it is done, with progress."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from typing import Any

from treegauge.experiments.base import Work
from treegauge.parsing.parser import Parsed, Parser, Sentence
from treegauge.trees.tree import Tree, from_flat, to_flat

__all__ = ["BLOCK", "parse_in_pieces"]

BLOCK = 50
"""Sentences of a piece."""


def parse_in_pieces(work: Work, name: str, parser: Parser, sentences: Sequence[Sentence]) -> list[Parsed]:
    """The parses of sentences: those that a killed run has left are not parsed again."""
    jobs = work.threads or os.cpu_count() or 1
    parsed: list[Parsed] = []
    began, fresh = time.monotonic(), 0
    for first in range(0, len(sentences), BLOCK):
        block = sentences[first : first + BLOCK]
        piece = f"{name} {first}"
        fresh += 0 if piece in work.pieces else len(block)
        found = work.pieces.get(piece, lambda block=block: [_document(one) for one in parser.parse_all(block, jobs)])
        parsed += [_parsed(sentence, document) for sentence, document in zip(block, found, strict=True)]
        rate = f", {fresh / (time.monotonic() - began):.1f} a second" if fresh else ""
        work.say(f"{name}: {len(parsed)} of {len(sentences)} sentences{rate}")
    return parsed


def _document(parsed: Parsed) -> dict[str, Any]:
    score = parsed.score if math.isfinite(parsed.score) else None
    return {"tree": list(to_flat(parsed.tree)), "score": score, "fallback": parsed.fallback}


def _parsed(sentence: Sentence, document: dict[str, Any]) -> Parsed:
    tree: Tree = from_flat(document["tree"])
    score = math.nan if document["score"] is None else float(document["score"])
    return Parsed(sentence, tree, score, math.nan, bool(document["fallback"]))
