"""Baselines: trees that need no parser, to be scored beside any system.

Each is binary over the words that count, and is built for a whole treebank at once. Words that do not count (punctuation, if the
preset deletes it) are attached in place and add no bracket.

>>> gold = Treebank.parse("(S (NP (D the) (A old) (N cat)) (VP (V sat)) (. .))")
>>> print(baseline("right-branching", gold, counts=np.array([True, True, True, True, False]))[0])
(X (D the) (X (A old) (X (N cat) (V sat))) (. .))
>>> print(baseline("oracle-binary", gold)[0])
(S (NP (D the) (X (A old) (N cat))) (X (VP (V sat)) (. .)))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from treegauge.alignment.words import is_deleted
from treegauge.errors import check_name
from treegauge.io import as_treebank
from treegauge.presets import Preset, load_preset
from treegauge.trees.columns import Int32, Int64, Mask
from treegauge.trees.treebank import Treebank


class Spans(NamedTuple):
    """Spans of several sentences; start and end are positions within the sentence."""

    sentence: Int64
    start: Int64
    end: Int64


def baseline_for(name: str, gold: object, preset: Preset | str = "default", *, seed: int = 0) -> Treebank:
    """A baseline over the words that a preset keeps, labelled with the label it counts most often in gold, which is given in any
    form that :func:`treegauge.as_treebank` accepts.

    >>> print(baseline_for("balanced", "(S (NP (D the) (A old) (N cat)) (VP (V sat) (R down)) (. .))")[0])
    (VP (VP (VP (D the) (A old)) (N cat)) (VP (V sat) (R down)) (. .))
    """
    preset, gold = load_preset(preset), as_treebank(gold)
    counts = ~is_deleted(gold, preset)
    return baseline(name, gold, counts=counts, label=most_frequent_label(gold, preset), seed=seed)


def baseline(name: str, gold: Treebank, *, counts: Mask | None = None, label: str = "X", seed: int = 0) -> Treebank:
    """The trees of a trivial parser over the words and tags of the gold sentences.

    ``counts`` marks the words to bracket (default: all). All phrases get the same ``label``, except that the oracle keeps the gold
    labels. ``seed`` is for ``random``. A sentence of one word gets no phrase.
    """
    check_name("baseline", name, BASELINES)
    counts = np.ones(gold.n_tokens, dtype=np.bool_) if counts is None else counts
    return BASELINES[name](gold, counts, label, seed)


def most_frequent_label(gold: Treebank, preset: Preset) -> str:
    """The phrase label that occurs most often among those a preset counts; ``X`` if there is none."""
    number = np.bincount(gold.label[~gold.is_preterminal], minlength=len(gold.labels))
    total: dict[str, int] = {}
    for label, count in zip(gold.labels, number.tolist(), strict=False):
        cut = preset.cut_label(label)
        if count and not preset.deletes(cut):
            total[cut] = total.get(cut, 0) + count
    return max(total, key=lambda label: (total[label], label), default="X")


def _lengths(gold: Treebank, counts: Mask) -> Int64:
    """The number of words to bracket in each sentence."""
    before = np.append(0, np.cumsum(counts))
    return before[gold.token_offset[1:]] - before[gold.token_offset[:-1]]


def _steps(length: Int64) -> tuple[Int64, Int64]:
    """The sentence and the number (0 ... n - 2) of each of the n - 1 brackets that a sentence of n words gets."""
    each = np.maximum(length - 1, 0)
    sentence = np.repeat(np.arange(len(length)), each)
    return sentence, np.arange(len(sentence)) - np.repeat(np.cumsum(each) - each, each)


def _right_branching(gold: Treebank, counts: Mask, label: str, seed: int) -> Treebank:
    length = _lengths(gold, counts)
    sentence, step = _steps(length)
    return _with_one_label(gold, counts, Spans(sentence, step, length[sentence]), label)


def _left_branching(gold: Treebank, counts: Mask, label: str, seed: int) -> Treebank:
    sentence, step = _steps(_lengths(gold, counts))
    return _with_one_label(gold, counts, Spans(sentence, np.zeros_like(step), step + 2), label)


def _balanced(gold: Treebank, counts: Mask, label: str, seed: int) -> Treebank:
    """Split in the middle, the larger half first."""
    length = _lengths(gold, counts)
    level = Spans(np.arange(len(length)), np.zeros_like(length), length)
    levels: list[Spans] = []
    while len(level.sentence):
        wide = level.end - level.start > 1
        level = Spans(*(column[wide] for column in level))
        levels.append(level)
        middle = (level.start + level.end + 1) // 2
        left, right = level._replace(end=middle), level._replace(start=middle)
        level = Spans(*(np.concatenate(columns) for columns in zip(left, right, strict=True)))
    spans = Spans(*(np.concatenate(columns) for columns in zip(level, *levels, strict=True)))
    return _with_one_label(gold, counts, spans, label)


def _random(gold: Treebank, counts: Mask, label: str, seed: int) -> Treebank:
    """A uniformly distributed binary tree over n words, from a shuffled sequence of n - 1 phrases and n words.

    By the cycle lemma, exactly one rotation of the sequence, read as +1 for a phrase and -1 for a word, has no negative sum before
    its last word. That rotation is the pre-order of a binary tree.
    """
    length = _lengths(gold, counts)
    size = np.maximum(2 * length - 1, 0)
    first = np.cumsum(size) - size
    sentence = np.repeat(np.arange(len(length)), size)
    place = np.arange(len(sentence)) - first[sentence]
    order = np.lexsort((np.random.default_rng(seed).random(len(sentence)), sentence))
    opens = (place < length[sentence] - 1)[order]

    height = _sums(np.where(opens, 1, -1), first, sentence)
    lowest = np.full(len(length), np.iinfo(np.int64).max)
    np.minimum.at(lowest, sentence, height * (len(sentence) + 1) + place)
    turn = lowest % (len(sentence) + 1) + 1
    turned = np.empty_like(opens)
    turned[first[sentence] + (place - turn[sentence]) % size[sentence]] = opens

    height = _sums(np.where(turned, 1, -1), first, sentence)
    words = _sums(~turned, first, sentence)
    phrase = np.flatnonzero(turned)
    # A phrase ends where the sum first falls below its value before the phrase.
    key = (height + 1) * len(sentence) + np.arange(len(sentence))
    by_height = np.argsort(key)
    last = by_height[np.searchsorted(key[by_height], (height[phrase] - 1) * len(sentence) + phrase)]
    return _with_one_label(gold, counts, Spans(sentence[phrase], words[phrase], words[last]), label)


def _sums(values: Mask | Int64, first: Int64, sentence: Int64) -> Int64:
    """Running sums that start again in each sentence."""
    total = np.append(0, np.cumsum(values))
    return total[1:] - total[first][sentence]


def _oracle(gold: Treebank, counts: Mask, label: str, seed: int) -> Treebank:
    """The gold trees, binarised to the right: all gold brackets, and as few others as a binary tree can have.

    Unary chains stay, since a parser may predict one as a single label.
    """
    gold.require_continuous("the baseline oracle-binary needs trees without gaps")
    sentence = np.repeat(np.arange(len(gold)), np.diff(gold.node_offset))
    first_node, first_token = gold.node_offset[:-1], gold.token_offset[:-1]
    before = np.append(0, np.cumsum(counts))
    counted = before[first_token[sentence] + gold.end] > before[first_token[sentence] + gold.start]
    nodes = np.flatnonzero(counted & (gold.parent >= 0))
    tokens = np.flatnonzero((gold.tag < 0) & counts)
    token_sentence = np.repeat(np.arange(len(gold)), np.diff(gold.token_offset))[tokens]
    position = tokens - first_token[token_sentence]

    parent = np.concatenate([first_node[sentence[nodes]] + gold.parent[nodes], first_node[token_sentence] + gold.above[tokens]])
    start = np.concatenate([gold.start[nodes], position])
    end = np.concatenate([gold.end[nodes], position + 1])
    order = np.lexsort((start, parent))
    parent, start, end = parent[order], start[order], end[order]
    arity = np.bincount(parent, minlength=gold.n_nodes)
    first = np.cumsum(arity) - arity
    rank = np.arange(len(parent)) - first[parent]
    inner = np.flatnonzero((rank > 0) & (rank < arity[parent] - 1))
    last = (first + arity - 1)[parent[inner]]

    phrases = np.flatnonzero(~gold.is_preterminal & ((gold.end > gold.start) | (gold.parent < 0)))
    spans = Spans(
        np.concatenate([sentence[phrases], sentence[parent[inner]]]),
        np.concatenate([gold.start[phrases], start[inner]]).astype(np.int64),
        np.concatenate([gold.end[phrases], end[last]]).astype(np.int64),
    )
    labels = np.concatenate([gold.label[phrases], np.full(len(inner), len(gold.labels), dtype=np.int32)])
    return _treebank(gold, spans, labels, label)


def _with_one_label(gold: Treebank, counts: Mask, spans: Spans, label: str) -> Treebank:
    """Trees with these spans over the words that count, all with one label; the root covers all words."""
    words = np.flatnonzero(counts)
    before = np.append(0, np.cumsum(counts))
    length = _lengths(gold, counts)
    inner = spans.end - spans.start < length[spans.sentence]
    sentence, start, end = (column[inner] for column in spans)
    first_word, first_token = before[gold.token_offset[:-1]][sentence], gold.token_offset[:-1][sentence]
    start = words[first_word + start] - first_token
    end = words[first_word + end - 1] + 1 - first_token

    n_tokens = np.diff(gold.token_offset)
    tagged = np.append(gold.tag >= 0, False)[gold.token_offset[:-1]]
    root = np.flatnonzero((n_tokens != 1) | ~tagged)
    every = Spans(
        np.concatenate([root, sentence]), np.concatenate([np.zeros_like(root), start]), np.concatenate([n_tokens[root], end])
    )
    return _treebank(gold, every, np.full(len(every.sentence), len(gold.labels), dtype=np.int32), label)


def _treebank(gold: Treebank, phrases: Spans, label: Int32, new_label: str) -> Treebank:
    """The trees with these nested phrases (of equal spans, the outer first) over the gold words and tags.

    ``label`` indexes the gold labels, followed by ``new_label``.
    """
    token_sentence = np.repeat(np.arange(len(gold)), np.diff(gold.token_offset))
    position = np.arange(gold.n_tokens) - gold.token_offset[:-1][token_sentence]
    n_phrases = len(phrases.sentence)
    sentence = np.concatenate([phrases.sentence, token_sentence])
    start = np.concatenate([phrases.start, position])
    end = np.concatenate([phrases.end, position + 1])
    longest = int(end.max(initial=0)) + 1
    order = np.argsort((sentence * longest + start) * longest + (longest - 1 - end), kind="stable")
    sentence, start, end = sentence[order], start[order], end[order]

    parent = _parents(sentence, start, end, gold)
    is_node = np.concatenate([np.ones(n_phrases, dtype=np.bool_), gold.tag >= 0])[order]
    row = np.cumsum(is_node) - 1
    node_offset = np.searchsorted(sentence[is_node], np.arange(len(gold) + 1))
    in_tree = np.where(parent < 0, -1, row[parent] - node_offset[sentence])
    own = row - node_offset[sentence]
    # Sorting keeps the tokens in order.
    token_rows = np.flatnonzero(order >= n_phrases)
    above = np.where(gold.tag >= 0, own[token_rows], in_tree[token_rows])
    labels = np.concatenate([label, gold.tag])[order]
    # A phrase over a single word and nothing else is the tag of that word.
    over = np.where(gold.tag >= 0, token_rows, parent[token_rows])
    tag = np.where(end[over] - start[over] == 1, labels[over], -1)
    return Treebank(
        (*gold.labels, new_label),
        gold.vocabulary,
        labels[is_node],
        start[is_node].astype(np.int32),
        end[is_node].astype(np.int32),
        in_tree[is_node].astype(np.int32),
        gold.word,
        tag.astype(np.int32),
        above.astype(np.int32),
        node_offset,
        gold.token_offset,
        gold.origins,
    )


def _parents(sentence: Int64, start: Int64, end: Int64, gold: Treebank) -> Int64:
    """The parent of each row of nested spans in pre-order: the last row before it that is one level higher."""
    edge = (gold.token_offset[:-1] + np.arange(len(gold)))[sentence]
    ended = np.cumsum(np.bincount(edge + end, minlength=gold.n_tokens + len(gold)))
    n = len(sentence)
    level = np.maximum(np.arange(n) - ended[edge + start], 0)
    key = np.sort(level * n + np.arange(n))
    before = key[np.searchsorted(key, (level - 1) * n + np.arange(n)) - 1]
    return np.where(level == 0, -1, before % max(n, 1))


BASELINES: dict[str, Callable[[Treebank, Mask, str, int], Treebank]] = {
    "right-branching": _right_branching,
    "left-branching": _left_branching,
    "balanced": _balanced,
    "random": _random,
    "oracle-binary": _oracle,
}
"""Name -> function of gold, the words that count, the label and the seed."""
