"""The parser of many sentences: in threads, results in order, with a fallback for sentences without a parse."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

from treegauge.engines import blocks_of, in_threads
from treegauge.errors import MismatchError, TooLong, UsageError, hinting
from treegauge.grammar.pcfg import PCFG
from treegauge.normalise.pruning import chain_labels, expand_unaries
from treegauge.parsing.chart import check_memory
from treegauge.parsing.coarse_to_fine import Pruner, expected_usage
from treegauge.parsing.confidence import ExpectedCounts, F1Calibration, ParseConfidence, expected_counts, fit_calibration
from treegauge.parsing.forest import Forest, check_grammar
from treegauge.parsing.objectives import check_objective
from treegauge.parsing.posterior_view import Best, Constituent, Parse, PosteriorView
from treegauge.parsing.spellings import Spellings, spellings_of
from treegauge.presets import FALLBACK
from treegauge.tables import concise, cut, number_of
from treegauge.trees.tree import Child, Tree, from_flat, rebuild_whole, to_flat

AHEAD = 8
"""The number of sentences per thread that are begun before their turn, so that a long one does not hold up the others."""


def fallback(words: Sequence[str], tags: Sequence[str] | None = None, *, root: str = "S", label: str = "X") -> Tree:
    """Right branching with the last element attached high: ``[[w1 [w2 ... w(n-1)]] wn]`` (Goodman 1996, section 5).

    English sentences branch to the right and end in a full stop. The root is labelled ``root``, the nodes below it ``label``. A
    single word gets no bracket but its tag (without a tag, the root), and a sentence without words the empty parse ``()``.

    >>> print(fallback("it rained all night .".split(), ["PRP", "VBD", "DT", "NN", "."]))
    (S (X (PRP it) (X (VBD rained) (X (DT all) (NN night)))) (. .))
    >>> print(fallback(["rain"], ["NN"]), fallback(["a", "b"]), fallback([]))
    (NN rain) (S a b) ()
    """
    if tags is not None and len(tags) != len(words):
        given = f"{number_of(len(words), 'word')} but {number_of(len(tags), 'tag')}"
        raise UsageError(f"{given}: give one tag for each word, or none at all")
    n = len(words)
    if n < 2:
        return Tree(tags[0] if tags else root, words) if n else Tree("")
    return Tree.from_spans(words, [(i, n - 1, label) for i in range(n - 2)], tags, root)


def mark_fallback(tree: Tree) -> Tree:
    """The tree with the mark of a fallback on its root; one without words has no mark."""
    return tree.replace(label=f"{tree.label}-{FALLBACK}") if tree.width else tree


@concise
class Sentence(NamedTuple):
    """Words, their tags if they are known, and the line of raw text that they are from."""

    words: tuple[str, ...]
    tags: tuple[str, ...] | None = None
    line: int | None = None


def check_sentence(given: object) -> None:
    """Refuse what is not a sentence, with a hint at what parses text."""
    if not isinstance(given, Sentence):
        kind = type(given).__name__
        raise UsageError(f"a Parser parses a Sentence, not {kind}; the models of treegauge.load parse text")


@hinting
@dataclass(frozen=True, repr=False)
class ParsedSentence:
    """The tree of a sentence, and how it was found.

    ``score``: the expected score of the tree in the unit of the objective: a number of right constituents or brackets, for
    ``viterbi`` the posterior of the tree. ``sentence_log_probability``: of the words, the sum over all parses (0 for a
    network, which has no probability of words, and nan for a mixture); each of ``kbest`` has that of its own tree.

    ``fallback``: the tree is right-branching because there is no parse; ``too_long``: because the sentence has too many words, or
    the chart would not fit into memory. ``expected``: the expected number of right constituents, if posteriors or expected F1 were
    asked for; ``calibration``: the model's, if it has one. ``unknown_words``: the words that are not in the grammar, if that is why
    there is no parse. ``pruned``: the sentence should have been parsed without pruning, but has too many parses for that.
    ``respelled``: words that the model knows in another spelling, each with that spelling. ``missing``: the number of a mixture's
    models that have no parse, or cannot parse so long a sentence.
    """

    sentence: Sentence
    tree: Tree
    score: float
    sentence_log_probability: float
    fallback: bool
    kbest: tuple[Parse, ...] = ()
    constituents: tuple[Constituent, ...] = ()
    too_long: bool = False
    expected: ExpectedCounts | None = None
    calibration: F1Calibration | None = None
    unknown_words: tuple[str, ...] = ()
    pruned: bool = False
    respelled: tuple[tuple[str, str], ...] = ()
    missing: int = 0

    def __repr__(self) -> str:
        of_words = self.sentence_log_probability
        how = ", ".join(
            ["no parse (fallback)"] * self.fallback
            + [f"log probability of the words {of_words:.4f}"] * (math.isfinite(of_words) and of_words != 0)
            + ([] if self.confidence is None else [f"expected F1 {self.confidence.expected_f1:.4f}"])
        )
        return cut(f"<parse of {number_of(len(self.sentence.words), 'word')}{f', {how}' if how else ''}: {self.tree!r}>")

    def __str__(self) -> str:
        return str(self.tree)

    def _repr_html_(self) -> str:
        return self.tree.svg(theme="auto")

    @property
    def confidence(self) -> ParseConfidence | None:
        """The expected F1 of the tree, if it is known, calibrated if the model can do that."""
        if self.expected is None or math.isnan(self.expected.f1):
            return None
        f1 = self.expected.f1
        return ParseConfidence(f1 if self.calibration is None else self.calibration(f1), self.calibration is not None)

    @property
    def scored_tree(self) -> Tree:
        """The tree to be scored: without the mark of a fallback, which is for human readers."""
        return self.tree.replace(label=self.tree.label.removesuffix(f"-{FALLBACK}")) if self.fallback else self.tree


class _Decoder(ABC):
    """The objective of a parser and the options of the objective; each kind of parser has its own default."""

    objective: str
    options: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class SentenceParser(_Decoder):
    """The common part of all parsers: of counted grammars (:class:`Parser`), latent-variable models, networks and mixtures.

    * ``kbest``: the number of best parses to add to the result; ``posteriors``: whether to add the posteriors of constituents.
    * ``gold_tags``: parse with the sentence's own tags.
    * ``expected_f1``: whether to add the expected F1 of the tree; ``calibration``: that of the model, if it has one.
    * ``batch``: the number of sentences whose posteriors are best computed together.
    """

    kbest: int = 0
    posteriors: bool = False
    gold_tags: bool = False
    expected_f1: bool = False
    calibration: F1Calibration | None = None
    batch: int = 1

    @property
    def forks(self) -> bool:
        """Whether copies of the process may parse with it, if there are several jobs; else its threads do."""
        return True

    @property
    def reads_tags(self) -> bool:
        """Whether its words are tags, which stand in for the words of a sentence."""
        return False

    def with_settings(self, **changes: Any) -> Self:
        """The same parser with other settings: ``objective``, ``options``, ``kbest``, ``posteriors``, ``gold_tags`` ..."""
        return replace(self, **changes)

    @property
    @abstractmethod
    def about(self) -> str:
        """The model in a few words."""

    @property
    @abstractmethod
    def spellings(self) -> Spellings:
        """The words that the model knows."""

    @property
    @abstractmethod
    def phrase_labels(self) -> frozenset[str]:
        """The labels of phrases, not of words, that its trees can have."""

    @abstractmethod
    def check(self) -> None:
        """Refuse unusable settings before the first sentence."""

    @abstractmethod
    def parse(self, sentence: Sentence) -> ParsedSentence:
        """The best tree of one sentence, or a fallback if it has no parse or is too long."""

    @abstractmethod
    def view(self, sentence: Sentence) -> PosteriorView:
        """The posteriors of one sentence; :class:`~treegauge.errors.TooLong` if its chart would be too large."""

    @abstractmethod
    def fallback_tree(self, sentence: Sentence) -> Tree:
        """The right-branching tree of a sentence without a parse."""

    def views(self, sentences: Sequence[Sentence]) -> Sequence[PosteriorView | None]:
        """The posteriors of several sentences, which an engine may compute together; None for those that have no parse or are too
        long."""
        return [self._view_or_none(sentence) for sentence in sentences]

    def _view_or_none(self, sentence: Sentence) -> PosteriorView | None:
        try:
            view = self.view(sentence)
            return view if view.has_parse else None
        except TooLong:
            return None

    def without_pruning(self) -> SentenceParser:
        """The same parser without pruning."""
        return self

    def output_tree(self, tree: Tree, sentence: Sentence) -> Tree:
        """A tree of the forest as it is shown, with the sentence's own tags if these are to be kept, even unknown ones."""
        return with_tags(tree, sentence.tags) if self.gold_tags and sentence.tags is not None else tree

    def given_tags(self, sentence: Sentence) -> tuple[str, ...] | None:
        """The tags to parse with: the sentence's own, or None if these are not to be kept."""
        if self.gold_tags and sentence.tags is None:
            raise MismatchError(f"no tags are given for: {' '.join(sentence.words)}")
        return sentence.tags if self.gold_tags else None

    def parse_all(self, sentences: Iterable[Sentence], jobs: int = 1) -> Iterator[ParsedSentence]:
        """The best trees in the order of the sentences, parsed in ``jobs`` threads, whose kernels run at the same time."""
        return in_threads(self.parse, sentences, jobs, ahead=AHEAD)

    def fit_calibration(self, gold: Sequence[Tree], jobs: int = 1) -> F1Calibration | None:
        """The calibration of expected F1 on trees that the model was not trained on; None if there are too few."""
        given = [Sentence(tree.words, tree.tags) for tree in gold]
        parsed = list(self.with_settings(expected_f1=True).parse_all(given, jobs))
        return fit_calibration([each.tree for each in parsed], [each.expected for each in parsed], gold)

    def parsed(self, forest: PosteriorView, best: Best, sentence: Sentence, of_words: float) -> ParsedSentence:
        """The result for a sentence with a parse, given the log probability of its words."""
        found = forest.kbest(self.kbest) if self.kbest else []
        kbest = [parse._replace(tree=self.shown_tree(parse.tree, sentence)) for parse in found]
        return ParsedSentence(
            sentence,
            self.shown_tree(best.tree, sentence),
            best.score,
            of_words,
            False,
            tuple(kbest),
            tuple(forest.shown_constituents()) if self.posteriors else (),
            expected=expected_counts(forest, best.tree) if self.posteriors or self.expected_f1 else None,
            calibration=self.calibration,
            respelled=self.respelled(sentence),
        )

    def respelled(self, sentence: Sentence) -> tuple[tuple[str, str], ...]:
        """The words of a sentence that the model knows in another spelling, each with that spelling."""
        return tuple((a, b) for a, b in zip(sentence.words, self.spellings(sentence.words), strict=True) if a != b)

    def shown_tree(self, tree: Tree, sentence: Sentence) -> Tree:
        """A tree of the forest as it is shown, over the words as they were given."""
        shown = self.output_tree(tree, sentence)
        return shown if shown.words == sentence.words else with_words(shown, sentence.words)

    def too_long(self, sentence: Sentence) -> ParsedSentence:
        """The result for a sentence that is too long for a chart."""
        return ParsedSentence(sentence, self.fallback_tree(sentence), math.nan, -math.inf, True, too_long=True)


@dataclass(frozen=True, kw_only=True)
class BatchParser(SentenceParser):
    """The common part of parsers that compute the posteriors of several sentences together."""

    batch: int = 32

    @abstractmethod
    def result(self, view: PosteriorView | None, sentence: Sentence) -> ParsedSentence:
        """The best tree of one sentence with these posteriors; None if it has no parse or is too long."""

    def parse(self, sentence: Sentence) -> ParsedSentence:
        """The best tree of one sentence, or a fallback if it has no parse or is too long."""
        check_sentence(sentence)
        return self.parse_batch([sentence])[0]

    def parse_batch(self, sentences: Sequence[Sentence]) -> list[ParsedSentence]:
        """The best trees of some sentences, whose posteriors are computed together."""
        return [self.result(view, sentence) for view, sentence in zip(self.views(sentences), sentences, strict=True)]

    def parse_all(self, sentences: Iterable[Sentence], jobs: int = 1) -> Iterator[ParsedSentence]:
        """The best trees in the order of the sentences, parsed in ``jobs`` threads."""
        batches = (block.sides[0] for block in blocks_of(iter(sentences), self.batch))
        return itertools.chain.from_iterable(in_threads(self.parse_batch, batches, jobs))


@concise
@dataclass(frozen=True)
class Parser(SentenceParser):
    """A grammar and a decoding objective: ``parser.parse(sentence)``.

    * ``tag_words``: the words of the grammar are tags.
    * ``joined``: expand joined chains of unary rules (``S+VP``) in the result.
    * ``prune``: the threshold of a coarse grammar's posteriors (see :mod:`treegauge.parsing.coarse_to_fine`); 0 parses exactly.
    * ``probabilities=False``: skip sentence probabilities, which halves the time of Viterbi parsing.

    >>> grammar = PCFG.parse('S -> N V [1]\\nN -> "fish" [1]\\nV -> "swim" [1]')
    >>> parser = Parser(grammar)
    >>> for parsed in parser.parse_all([Sentence(("fish", "swim")), Sentence(("swim", "fish", "well"))]):
    ...     print(parsed.tree)
    (S (N fish) (V swim))
    (S-FALLBACK (X (V swim) (N fish)) (X well))
    """

    grammar: PCFG
    objective: str = "viterbi"
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    tag_words: bool = False
    joined: bool = False
    prune: float = 0.0
    probabilities: bool = True

    def __post_init__(self) -> None:
        check_grammar("Parser", self.grammar)

    @property
    def reads_tags(self) -> bool:
        """Whether the words of the grammar are tags."""
        return self.tag_words

    def check(self) -> None:
        """Refuse an unknown objective, or options that it does not take, before the first sentence."""
        check_objective(self.objective, self.options, Forest.gives)
        if not 0 <= self.prune < 1:
            raise UsageError(f"a threshold of posteriors is from 0 (exact) to below 1, not {self.prune:g}")

    def parse(self, sentence: Sentence) -> ParsedSentence:
        """The best tree of one sentence, or the fallback if it has no parse or is too long for a chart."""
        return self.parse_with_each([self], sentence)[0]

    @staticmethod
    def parse_with_each(parsers: Sequence[Parser], sentence: Sentence) -> list[ParsedSentence]:
        """The best tree of one sentence for each of several parsers, from one chart; only their objectives may differ."""
        check_sentence(sentence)
        try:
            forest = parsers[0].view(sentence)
        except TooLong:
            return [parser.too_long(sentence) for parser in parsers]
        return [parser._result(forest, sentence) for parser in parsers]

    def _result(self, forest: Forest, sentence: Sentence) -> ParsedSentence:
        if not self._has_parse(forest):
            tree, unknown = self.fallback_tree(sentence), forest.unknown_words
            return ParsedSentence(sentence, tree, math.nan, -math.inf, True, unknown_words=unknown)
        best = Best(forest.best().tree, math.nan) if self._without_sums else forest.argmax(self.objective, **self.options)
        return self.parsed(forest, best, sentence, forest.log_partition if self.probabilities else math.nan)

    @property
    def _without_sums(self) -> bool:
        return self.objective == "viterbi" and not self.probabilities

    def _has_parse(self, forest: Forest) -> bool:
        return forest.viterbi.root >= 0 if self._without_sums else forest.has_parse

    def view(self, sentence: Sentence) -> Forest:
        """All parses of a sentence, or those that pruning leaves."""
        words, tags = self.spellings(sentence.words), None
        if self.tag_words and sentence.tags is not None:
            words = sentence.tags
        elif not self.tag_words and (given := self.given_tags(sentence)) is not None:
            tags = [self._symbols(tag) for tag in given]
        check_memory(self.grammar.binary, words, tags)
        if self.prune:
            pruned = Forest(self.grammar, words, tags=tags, limit=Pruner.of(self.grammar).limit(words, self.prune, tags))
            if self._has_parse(pruned):
                return pruned
        return Forest(self.grammar, words, tags=tags)

    @property
    def about(self) -> str:
        """The size of the grammar."""
        return repr(self.grammar).strip("<>")

    @property
    def spellings(self) -> Spellings:
        """The words of the grammar."""
        return spellings_of(self.grammar.vocabulary, self.grammar.binary.derived)

    @property
    def phrase_labels(self) -> frozenset[str]:
        """The labels of phrases, not of words, that its trees can have."""
        shown = [(self.grammar.label(rule.lhs), all(rule.words)) for rule in self.grammar.rules]
        if not self.joined:
            return frozenset(label for label, is_tag in shown if label is not None and not is_tag)
        chains = [chain_labels(label)[: -1 if is_tag else None] for label, is_tag in shown if label is not None]
        return frozenset(itertools.chain.from_iterable(chains))

    def without_pruning(self) -> Parser:
        """The same parser without pruning."""
        return replace(self, prune=0.0)

    def _symbols(self, tag: str) -> list[str]:
        """The symbols of the grammar that show as this tag."""
        index = self.grammar.binary.derived
        if "shown" not in index:
            shown: dict[str, list[str]] = {}
            for symbol in self.grammar.nonterminals:
                label = self.grammar.label(symbol)
                if label is not None:
                    shown.setdefault(label, []).append(symbol)
            index["shown"] = shown
        return index["shown"].get(tag, [tag])

    def output_tree(self, tree: Tree, sentence: Sentence) -> Tree:
        """A tree over the sentence's own words, joined chains expanded."""
        if self.tag_words and sentence.tags is not None:
            tree = with_words(tree, [Tree(t, [w]) for t, w in zip(sentence.tags, sentence.words, strict=True)])
        return expand_unaries(tree) if self.joined else tree

    def fallback_tree(self, sentence: Sentence) -> Tree:
        """The right-branching tree of a sentence, with its own tags if these are to be kept or read, else the likeliest ones."""
        tags = (sentence.tags if self.tag_words else self.given_tags(sentence)) or self._likely_tags(sentence.words)
        root = self.grammar.label(self.grammar.start) or self._usual_root()
        leaves: Sequence[str] | None = None if self.tag_words and sentence.tags is None else tags
        return mark_fallback(fallback(sentence.words, leaves, root=root))

    def _likely_tags(self, words: Sequence[str]) -> list[str]:
        """The likeliest tag of each word, by the grammar's expected use of the tag and P(word | tag); X for a word without tags."""
        binary = self.grammar.binary
        if "usage" not in binary.derived:
            binary.derived["usage"] = expected_usage(self.grammar)
        usage: dict[str, float] = binary.derived["usage"]
        found: list[str] = []
        for i, word in enumerate(self.spellings(words)):
            symbols, weights, _ = binary.word(word, initial=i == 0)
            tags = [
                (usage.get(binary.symbols[int(x)], 0.0) * float(w), -int(x))
                for x, w in zip(symbols.tolist(), weights.tolist(), strict=True)
            ]
            best = -max(tags)[1] if tags and max(tags)[0] > 0 else -1
            found.append((self.grammar.label(binary.symbols[best]) if best >= 0 else None) or "X")
        return found

    def _usual_root(self) -> str:
        """The likeliest symbol right below a start symbol that does not show."""
        below = [rule for rule in self.grammar.rules if rule.lhs == self.grammar.start and rule.is_unary]
        best = max(below, key=lambda rule: rule.probability, default=None)
        return (self.grammar.label(best.rhs[0]) if best else None) or self.grammar.start


def with_tags(tree: Tree, tags: Sequence[str]) -> Tree:
    """The tree with other tags of its words."""
    following = iter(tags)

    def make(node: Tree, children: list[Child]) -> list[Child]:
        return [Tree(next(following), children) if node.is_preterminal else node.replace(children=children)]

    return rebuild_whole(tree, make)


def with_words(tree: Tree, leaves: Sequence[Child]) -> Tree:
    """The tree with its words, from left to right, replaced."""
    following = iter(leaves)
    return from_flat(next(following) if isinstance(item, str) else item for item in to_flat(tree))
