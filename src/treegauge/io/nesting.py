"""What is inside what: spans and parents of all nodes at once, from the events of a text whose brackets balance.

Tags, ``(TAG word)``, are more than half of all nodes and cover their one word. Only the others, phrases, take part in the search
for partners (a stable sort on depth) and parents.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treegauge.io.events import Events, Mask
from treegauge.trees.treebank import Int32, Int64

__all__ = ["Nesting", "nesting_of"]


class Nesting(NamedTuple):
    """Rows count from the first node of the text, words from its first word.

    For each node its first word, the word behind its last one and its parent (a root's is meaningless); the rows of roots. For each
    word the node above it, whether that is a tag (None: all are), and how many nodes begin before it.
    """

    start: Int32
    end: Int32
    parent: Int32
    roots: Int64
    above: Int64
    is_tagged: Mask | None
    nodes_before: Int64


def nesting_of(events: Events) -> Nesting:
    """The nesting of a text."""
    opens, words = events.opens, events.words
    begins_tag = np.zeros(len(events), dtype=np.bool_)
    begins_tag[:-2] = events.is_word[1:-1] & events.is_close[2:]
    is_tag = begins_tag.take(opens)
    tags, phrases = np.flatnonzero(is_tag), np.flatnonzero(~is_tag)
    tag_opens, phrase_opens = opens.take(tags), opens.take(phrases)
    closes_phrase = events.is_close.copy()
    closes_phrase[tag_opens + 2] = False
    phrase_closes = np.flatnonzero(closes_phrase)

    words_before = np.cumsum(events.is_word.view(np.int8), dtype=np.int32)
    first, last = words_before.take(phrase_opens), words_before.take(phrase_closes)
    if len(tags) == len(words):
        tags_before, first_tag, last_tag = words_before, first, last
    else:
        tags_before = _count_before(tag_opens + 1, len(events))
        first_tag, last_tag = tags_before.take(phrase_opens), tags_before.take(phrase_closes)
    level = events.depth.take(phrase_opens)
    by_depth, closes_by_depth = _stable_order(level), _stable_order(events.depth.take(phrase_closes))
    start = words_before.take(opens)
    end = start + np.int32(1)
    phrase_end = np.empty_like(first)
    phrase_end[by_depth] = last.take(closes_by_depth)
    end[phrases] = phrase_end

    above_phrase = _parents(level, by_depth)
    # The innermost phrase after each bracket of a phrase: after a closing one, the parent of what it closes.
    closed = np.empty_like(by_depth)
    closed[closes_by_depth] = by_depth
    innermost = np.empty(2 * len(phrases), dtype=np.int32)
    innermost[phrase_opens - (first + 2 * first_tag)] = np.arange(len(phrases), dtype=np.int32)
    innermost[phrase_closes - (last + 2 * last_tag)] = above_phrase.take(closed)
    parent = np.zeros_like(start)
    if len(phrases):
        row = phrases.astype(np.int32)
        parent[phrases] = row.take(above_phrase, mode="clip")
        brackets_before = tag_opens - start.take(tags) - 2 * np.arange(len(tags))
        parent[tags] = row.take(innermost.take(brackets_before - 1, mode="clip"), mode="clip")
    roots = np.flatnonzero(events.depth.take(opens) == 1)

    if len(tags) == len(words):
        return Nesting(start, end, parent, roots, tags, None, tags + 1)
    number = np.arange(len(words))
    is_tagged = np.zeros(len(words), dtype=np.bool_)
    is_tagged[words_before.take(tag_opens)] = True
    above = np.empty(len(words), dtype=np.int64)
    above[is_tagged] = tags
    bare = words[~is_tagged]
    brackets_before = bare - number[~is_tagged] - 2 * tags_before.take(bare)
    above[~is_tagged] = phrases.take(innermost.take(brackets_before - 1))
    # Opening and closing brackets before a word make, added, what is left of the events, and subtracted the depth.
    return Nesting(start, end, parent, roots, above, is_tagged, (words - number + events.depth.take(words)) >> 1)


def _count_before(events: Int64, size: int) -> Int32:
    mask = np.zeros(size, dtype=np.int8)
    mask[events] = 1
    return np.cumsum(mask, dtype=np.int32)


def _stable_order(depth: Int32) -> Int64:
    """Indices in the order of depth; NumPy sorts 16-bit integers by radix, which is many times faster."""
    small = len(depth) == 0 or int(depth.max()) < 1 << 16
    return np.argsort(depth.astype(np.uint16) if small else depth, kind="stable")


def _parents(level: Int32, by_depth: Int64) -> Int32:
    """The parent of each phrase (a root gets a meaningless one).

    A phrase one deeper than the phrase before it is that phrase's first child. In the order of depth, siblings stand together
    behind the first of them, and share its parent.
    """
    is_first = np.zeros(len(level), dtype=np.bool_)
    is_first[1:] = level[1:] > level[:-1]
    order = by_depth.astype(np.int32)
    place = np.arange(len(level), dtype=np.int32)
    place *= is_first.take(by_depth)
    np.maximum.accumulate(place, out=place)
    parent = np.empty_like(order)
    parent[by_depth] = order.take(place) - np.int32(1)
    return parent
