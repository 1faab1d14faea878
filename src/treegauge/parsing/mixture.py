"""Mixtures: the posteriors of several models of one sentence, averaged by shares and decoded like those of one model.

The models may be of any kind; what is averaged is the posterior of each shown label over each span, and of each tag of a word. A
label that stands for a chain of nodes is taken apart, roots that only hold a tree together are left out, and a model that has no
parse of the sentence leaves its share to the others.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import FileNote, MismatchError, UsageError, warn
from treegauge.normalise.labels import ROOT_LABELS, base_label
from treegauge.normalise.pruning import chain_labels
from treegauge.parsing.objectives import CRITERIA, LPR, DecodingSetting, check_objective
from treegauge.parsing.parser import BatchParser, ParsedSentence, Parser, Sentence, SentenceParser
from treegauge.parsing.posterior_view import TOP, AnyOrder, PosteriorView, SpanLabels
from treegauge.parsing.spellings import Spellings
from treegauge.trees.columns import Float64, Int64
from treegauge.trees.tree import Child, Tree

LAM = 0.45
"""The price of a node of a mixture, unless it was tuned or is given."""
MIXTURE_SETTINGS = {purpose: DecodingSetting(LPR, lam) for purpose, lam in zip(CRITERIA, (LAM, 0.5, 0.25, 0.7), strict=True)}
"""The setting of a mixture for each purpose, unless it was tuned. For exact match it is the tree of all constituents that are more
probable than not: if constituents were right independently of each other, no tree would be right more often."""
LEAST = 1e-6
"""Smaller posteriors are left out of the mean."""
_LARGEST = 1e100
"""No share is larger."""
Names = Callable[[str], Sequence[str]]


class Rows(NamedTuple):
    """Rows of labelled spans: the span as start * (n + 1) + end, the number of a single label, and its posteriors as a phrase, as a
    tag alone, and as the top of its chain."""

    span: NDArray[Any]
    label: NDArray[Any]
    phrase: NDArray[Any]
    tag: NDArray[Any]
    top: NDArray[Any]


class Posteriors(NamedTuple):
    """The posteriors of a sentence under one model: rows of labelled spans, by span the probabilities of :class:`SpanLabels`, and
    the tags of each word."""

    names: tuple[str, ...]
    rows: Rows
    some: Float64
    hidden: Float64
    tags: tuple[Sequence[tuple[str | None, float]], ...]
    root: str | None
    required: NDArray[np.bool_]
    is_binary: bool


class _Nodes(NamedTuple):
    """The nodes that labels stand for, those of label X at ``first[X]:first[X + 1]``, numbers of ``names``; -1 for a root."""

    names: tuple[str, ...]
    first: Int64
    node: Int64


@lru_cache(maxsize=64)
def _nodes(labels: tuple[str, ...], nodes_of: Names, cut: bool) -> _Nodes:
    numbers: dict[str, int] = {}
    found: list[list[int]] = []
    for label in labels:
        names = [base_label(name) if cut else name for name in nodes_of(label)]
        found.append([-1 if name in ROOT_LABELS else numbers.setdefault(name, len(numbers)) for name in names])
    first = np.cumsum([0, *map(len, found)])
    return _Nodes(tuple(numbers), first, np.array(list(itertools.chain.from_iterable(found)), np.int64))


def collect(view: PosteriorView, nodes_of: Names | None = None, *, cut: bool = False) -> Posteriors:
    """The posteriors of a view by single labels. ``nodes_of`` gives the nodes that a label stands for; with ``cut`` function tags
    do not count."""
    found, n = view.span_labels, view.n
    table = _nodes(found.names, nodes_of or view.nodes_of, cut)
    entry = np.flatnonzero(found.any > LEAST)
    span = np.repeat(np.arange(n * (n + 1)), np.diff(found.first))[entry]
    label, over, phrase, top = found.label[entry], found.any[entry], found.phrase[entry], found.top[entry]
    size = table.first[label + 1] - table.first[label]
    row = np.repeat(np.arange(len(entry)), size)
    place = np.arange(len(row)) - np.repeat(np.cumsum(size) - size, size)
    node = table.node[table.first[label][row] + place]
    # A label over one word that ends in a tag stands for phrases above that tag.
    is_last, of_tag = place == size[row] - 1, (over - phrase)[row]
    tops = np.where(place > 0, 0.0, np.where(is_last, top[row], np.maximum(top[row], of_tag)))
    rows = Rows(span[row], node, np.where(is_last, phrase[row], over[row]), np.where(is_last, of_tag, 0.0), tops)
    rows = Rows(*(column[node >= 0] for column in rows))
    whole = [found.names[int(X)] for X in found.label[found.of_span(0, n)]]
    root = next((name for name in whole if name in ROOT_LABELS), None) if view.treebank_root is None else view.treebank_root
    made = Posteriors(
        table.names, rows, found.some, found.hidden, tuple(map(view.tag_posteriors, range(n))), root, view.required, view.is_binary
    )
    return made if found.tagged else _with_tags(made, n)


def _with_tags(given: Posteriors, n: int) -> Posteriors:
    """The posteriors with rows of tags, which are no labels of the view, and independent of phrases."""
    numbers, added = {name: i for i, name in enumerate(given.names)}, list[tuple[int, int, float]]()
    keys = zip(given.rows.span.tolist(), given.rows.label.tolist(), strict=True)
    of_phrase, some = dict(zip(keys, given.rows.phrase.tolist(), strict=True)), given.some.copy()
    for i, tags in enumerate(given.tags):
        for tag, p in tags:
            if tag is not None:
                key = i * (n + 1) + i + 1, numbers.setdefault(tag, len(numbers))
                added.append((*key, p * (1 - of_phrase.get(key, 0.0))))
        some[i, i + 1] += (1 - some[i, i + 1]) * math.fsum(p for tag, p in tags if tag is not None)
    span, label, tag = np.array(added, np.float64).reshape(-1, 3).T
    none = np.zeros(len(tag))
    more = Rows(span.astype(np.int64), label.astype(np.int64), none, tag, none)
    rows = Rows(*(np.concatenate(pair) for pair in zip(given.rows, more, strict=True)))
    return given._replace(names=tuple(numbers), rows=rows, some=some)


def check_shares(parts: Sequence[object], shares: Sequence[float]) -> None:
    """Refuse shares that are not one number for each part, none below 0, not all 0, and small enough to be added."""
    if not parts:
        raise UsageError("a mixture needs at least one model")
    usable = all(isinstance(share, Real) and 0 <= share <= _LARGEST for share in shares)
    if len(parts) != len(shares) or not usable or not any(shares):
        given = ", ".join(f"{share:g}" if isinstance(share, Real) else repr(share) for share in shares)
        needed = f"{len(parts)} shares, none below 0 and not all 0, such as {','.join('2'.ljust(len(parts), '1'))}"
        raise UsageError(f"{len(parts)} models need {needed}; you gave {given or 'none'}")


class MixtureView(PosteriorView):
    """The mean of the posteriors of several models of one sentence, each with its share.

    ``parts`` are views, or :class:`Posteriors` collected from them; shares are scaled to sum to 1, and a part with a share of 0 is
    left out.

    >>> from treegauge.grammar import PCFG
    >>> from treegauge.parsing.forest import Forest
    >>> text = 'S -> A B [{}] | C D [{}]\\nA -> X X [1]\\nD -> X X [1]\\nB -> X [1]\\nC -> X [1]\\nX -> "x" [1]'
    >>> forests = [Forest(PCFG.parse(text.format(p, 1 - p)), ["x"] * 3) for p in (0.75, 0.375)]
    >>> mixture = MixtureView(["x"] * 3, forests, [1, 3])
    >>> [(c.label, round(c.posterior, 6)) for c in mixture.phrase_constituents() if c.end - c.start == 2]
    [('A', 0.46875), ('D', 0.53125)]
    """

    def __init__(
        self, words: Sequence[str], parts: Sequence[PosteriorView | Posteriors], shares: Sequence[float], lam: float | None = LAM
    ) -> None:
        self.words, self.lam = tuple(words), lam
        check_shares(parts, shares)
        used = [(part, share) for part, share in zip(parts, shares, strict=True) if share]
        self.parts = [collect(part) if isinstance(part, PosteriorView) else part for part, _ in used]
        if any(len(part.some) != self.n for part in self.parts):
            raise MismatchError(f"the models have different words from the sentence: {' '.join(self.words[:8])}")
        self.shares = [share / math.fsum(shares) for _, share in used]
        self.is_binary = all(part.is_binary for part in self.parts)
        self.treebank_root = next((part.root for part in self.parts if part.root is not None), None)

    @cached_property
    def required(self) -> NDArray[np.bool_]:
        """The spans that must be nodes by all models."""
        return np.logical_and.reduce([part.required for part in self.parts])

    def _mean(self, values: Iterable[Float64]) -> Float64:
        return np.sum([share * value for share, value in zip(self.shares, values, strict=True)], axis=0)

    @cached_property
    def _phrases(self) -> tuple[str, ...]:
        """The labels of phrases."""
        used = (part.names[int(X)] for part in self.parts for X in np.unique(part.rows.label[part.rows.phrase > 0]))
        return tuple(dict.fromkeys(used))

    @cached_property
    def span_labels(self) -> SpanLabels:
        """The means of the posteriors, span by span; phrases come before labels that are only tags."""
        n, names = self.n, tuple(dict.fromkeys([*self._phrases, *(name for part in self.parts for name in part.names)]))
        number = {name: X for X, name in enumerate(names)}
        label = [np.array([number[name] for name in part.names], np.int64)[part.rows.label] for part in self.parts]

        def shared(column: Callable[[Rows], Float64]) -> Float64:
            return np.concatenate([share * column(part.rows) for share, part in zip(self.shares, self.parts, strict=True)])

        made = SpanLabels.of_rows(
            names, n, np.concatenate([part.rows.span for part in self.parts]), np.concatenate(label),
            (shared(lambda rows: rows.tag), shared(lambda rows: rows.phrase), shared(lambda rows: rows.top)),
            self._mean(part.some for part in self.parts), self._mean(part.hidden for part in self.parts),
            tagged=any(any(part.tags) for part in self.parts),
        )  # fmt: skip
        phrase = np.minimum(made.phrase, 1.0)
        return replace(made, any=np.minimum(phrase + made.any, 1.0), phrase=phrase)

    @cached_property
    def orders(self) -> AnyOrder:
        """Labels come in any order, above tags."""
        return AnyOrder(len(self._phrases))

    def tag_posteriors(self, position: int) -> list[tuple[str | None, float]]:
        """The mean posteriors of the tags of a word, over the models that tag it."""
        own = [(share, part.tags[position]) for share, part in zip(self.shares, self.parts, strict=True) if part.tags[position]]
        whole, total = math.fsum(share for share, _ in own), dict[str | None, float]()
        for share, tags in own:
            for tag, p in tags:
                total[tag] = total.get(tag, 0.0) + p * share / whole
        return sorted(total.items(), key=lambda item: -round(item[1], 12))

    def rooted(self, nodes: list[Child]) -> Tree:
        """The tree with these topmost nodes, below the models' root if they have one."""
        whole = nodes[0] if len(nodes) == 1 and isinstance(nodes[0], Tree) else None
        if self.treebank_root is None and whole is not None:
            return whole
        return Tree(TOP if self.treebank_root is None else self.treebank_root, nodes)

    def __repr__(self) -> str:
        return f"<mixture of {len(self.parts)} over {self.n} words>"


@dataclass(frozen=True)
class MixtureParser(BatchParser):
    """Several parsers whose posteriors are averaged by their shares: ``parser.parse(sentence)``.

    ``cut`` has the numbers of the parsers whose function tags do not count, because the other ones have none.
    """

    parts: tuple[SentenceParser, ...]
    shares: tuple[float, ...]
    objective: str = LPR
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    lam: float = LAM
    cut: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        check_shares(self.parts, self.shares)
        check_objective(LPR, {"lam": self.lam})
        if self.gold_tags:
            object.__setattr__(self, "parts", tuple(part.with_settings(gold_tags=True) for part in self.parts))

    def check(self) -> None:
        """Refuse objectives and options that need more than posteriors."""
        check_objective(self.objective, self.options, MixtureView.gives)
        if self.kbest:
            raise UsageError("k-best parses need the probabilities of whole trees, which a mixture does not have: use one model")

    @property
    def about(self) -> str:
        """The parts with their shares."""
        return "mixture of " + ", ".join(f"{share:g} {part.about}" for share, part in zip(self.shares, self.parts, strict=True))

    @property
    def spellings(self) -> Spellings:
        """The words that the first model knows."""
        return self.parts[0].spellings

    @property
    def phrase_labels(self) -> frozenset[str]:
        """The labels of phrases, not of words, that its trees can have."""
        return frozenset(itertools.chain.from_iterable(part.phrase_labels for part in self.parts))

    @property
    def _first(self) -> SentenceParser:
        """The first model that has a share."""
        return next(part for part, share in zip(self.parts, self.shares, strict=True) if share)

    @property
    def forks(self) -> bool:
        """Whether all models may be used in copies of the process."""
        return all(part.forks for part in self.parts)

    @property
    def reads_tags(self) -> bool:
        """Whether the words of all models are tags."""
        return self.parts[0].reads_tags

    def without_pruning(self) -> MixtureParser:
        """The same mixture of parsers without pruning."""
        return replace(self, parts=tuple(part.without_pruning() for part in self.parts))

    def view(self, sentence: Sentence) -> PosteriorView:
        """The mean of the posteriors of one sentence; if no model has a parse, the first model's that has a share."""
        return self.views([sentence])[0] or self._first.view(sentence)

    def views(self, sentences: Sequence[Sentence]) -> list[MixtureView | None]:
        """The mean of the posteriors of each sentence; None if no model has a parse of it."""
        return [self.mean(sentence, own) for sentence, own in zip(sentences, self.by_part(sentences), strict=True)]

    def by_part(self, sentences: Sequence[Sentence]) -> list[tuple[Posteriors | None, ...]]:
        """The posteriors of each sentence under each model; None if it has no parse."""
        return list(zip(*(list(self._collected(number, sentences)) for number in range(len(self.parts))), strict=True))

    def mean(self, sentence: Sentence, own: Sequence[Posteriors | None]) -> MixtureView | None:
        """The mean of the posteriors of one sentence, given those of each model; None if no model has a parse of it."""
        some = [(part, share) for part, share in zip(own, self.shares, strict=True) if part is not None]
        parts, shares = [part for part, _ in some], [share for _, share in some]
        words = sentence.tags if self.reads_tags and sentence.tags else sentence.words
        return MixtureView(words, parts, shares, self.lam) if any(shares) else None

    def _collected(self, number: int, sentences: Sequence[Sentence]) -> Iterator[Posteriors | None]:
        """The posteriors of each sentence under one part; its charts are dropped at once, since they are large."""
        part = self.parts[number]
        joined = chain_labels if isinstance(part, Parser) and part.joined else None
        for first in range(0, len(sentences), part.batch):
            for view in part.views(sentences[first : first + part.batch]):
                yield None if view is None else collect(view, joined, cut=number in self.cut)

    def result(self, view: PosteriorView | None, sentence: Sentence) -> ParsedSentence:
        """The best tree of one sentence, or the first model's fallback if no model has a parse."""
        if view is None:
            return replace(self._first.parse(sentence), missing=len(self.parts))
        assert isinstance(view, MixtureView)
        made = self.parsed(view, view.argmax(self.objective, **self.options), sentence, math.nan)
        return replace(made, missing=sum(map(bool, self.shares)) - len(view.parts))

    def output_tree(self, tree: Tree, sentence: Sentence) -> Tree:
        """The tree, with the sentence's own tags if these are to be kept or are the words of the models."""
        first = self.parts[0]
        if isinstance(first, Parser) and first.tag_words:
            return replace(first, joined=False).output_tree(tree, sentence)
        return super().output_tree(tree, sentence)

    def fallback_tree(self, sentence: Sentence) -> Tree:
        """The first model's fallback."""
        return self.parts[0].fallback_tree(sentence)


def mixture_of(
    parts: Mapping[str, SentenceParser], shares: Sequence[float] | None = None, lam: float | None = None
) -> MixtureParser:
    """The mixture of some parsers, by their names; with equal shares unless these are given.

    Parsers that cannot be meant for the same text are refused: if their labels are disjoint, if their words are tokens of
    different kinds, or if one reads tags in place of words. Function tags that not all of them have are cut off, with a warning.
    """
    parsers = tuple(parts.values())
    tagged = [name for name, part in parts.items() if part.reads_tags]
    if tagged and len(tagged) < len(parts):
        other = next(name for name in parts if name not in tagged)
        raise MismatchError(f"{tagged[0]} is a grammar over tags, {other} is one over words: they cannot be mixed")
    cut = labels_to_cut(list(parts), [part.phrase_labels for part in parsers])
    _refuse_other_tokens(parts)
    given = [1.0] * len(parsers) if shares is None else shares
    return MixtureParser(parsers, tuple(given), lam=LAM if lam is None else lam, cut=frozenset(cut))


def labels_to_cut(names: Sequence[str], phrases: Sequence[frozenset[str]]) -> list[int]:
    """The numbers of the models whose function tags do not count, given the names and labels of all; an error if two models have
    no label in common."""
    labels = [own - ROOT_LABELS for own in phrases]
    plain = [frozenset(map(base_label, own)) for own in labels]
    for (i, some), (j, others) in itertools.combinations(enumerate(plain), 2):
        if some and others and not some & others:
            shown = " and ".join(f"{names[k]} has {', '.join(sorted(plain[k])[:5])}" for k in (i, j))
            raise MismatchError(f"the models have no label in common: {shown}")
    detailed = [i for i, own in enumerate(labels) if own - plain[i]]
    if len(detailed) == len(names):
        return []
    for i in detailed:
        example = min(labels[i] - plain[i])
        what = f"its labels are mixed without function tags ({example} as {base_label(example)}), which other models do not have"
        warn(FileNote(names[i], what))
    return detailed


def _refuse_other_tokens(parts: Mapping[str, SentenceParser]) -> None:
    """Refuse parsers of which some know *n't* and the others *don't*."""
    found = {name: tuple(token in part.spellings.known for token in ("n't", "don't")) for name, part in parts.items()}
    split, whole = ([name for name, has in found.items() if has == wanted] for wanted in ((True, False), (False, True)))
    if split and whole:
        raise MismatchError(f"the models have different tokens: {split[0]} has do and n't, {whole[0]} has don't")
