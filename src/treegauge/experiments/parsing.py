"""Parsing in experiments: block by block with checkpoints, and the matrix of objectives by criteria (Goodman 1996, Table 2).

For the matrix, a grammar is counted from training trees without epsilons, with singletons collapsed, and binarised with X_Cont, by
relative frequency without smoothing. Held-out sentences are parsed with every objective, and the trees are scored by every
criterion: against the binarised gold trees, except that consistent brackets are scored against the n-ary ones, as in the paper.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from treegauge.engines.engine import SentenceBlock
from treegauge.errors import MismatchError
from treegauge.experiments.experiment import Work
from treegauge.grammar.tree_counts import induce
from treegauge.normalise import pipeline
from treegauge.parsing.parser import ParsedSentence, Parser, Sentence, SentenceParser
from treegauge.scoring.evaluation import score
from treegauge.tables import Table, plain
from treegauge.trees.tree import Tree, from_flat, to_flat

BLOCK = 50
"""The number of sentences in a part of the checkpoint."""


def parse_with_checkpoint(work: Work, name: str, parser: SentenceParser, sentences: Sequence[Sentence]) -> list[ParsedSentence]:
    """The parses of sentences; those in the checkpoint are not parsed again."""
    blocks: dict[str, SentenceBlock] = {}
    for first in range(0, len(sentences), BLOCK):
        block = tuple(sentences[first : first + BLOCK])
        blocks[_piece(name, first)] = SentenceBlock(first, (block,))
    kept = {piece for piece in blocks if piece in work.checkpoint}
    parsed: list[ParsedSentence] = []
    began, fresh = time.monotonic(), 0
    for (piece, block), found in zip(blocks.items(), work.each(_parse, (parser, work.jobs), blocks), strict=True):
        fresh += 0 if piece in kept else len(block)
        parsed += [_from_document(sentence, document) for sentence, document in zip(block.sides[0], found, strict=True)]
        rate = f", {fresh / (time.monotonic() - began):.1f} a second" if fresh else ""
        work.report(f"{name}: {len(parsed)} of {len(sentences)} sentences{rate}")
    return parsed


def are_parsed(work: Work, name: str, sentences: Sequence[Sentence]) -> bool:
    """Whether all parses of :func:`parse_with_checkpoint` are in the checkpoint, so that no parser is needed."""
    return all(_piece(name, first) in work.checkpoint for first in range(0, len(sentences), BLOCK))


def _piece(name: str, first: int) -> str:
    return f"{name} {first}"


def _parse(how: tuple[SentenceParser, int], block: SentenceBlock) -> list[dict[str, Any]]:
    parser, jobs = how
    return [_document(parsed) for parsed in parser.parse_all(block.sides[0], jobs)]


def _document(parsed: ParsedSentence) -> dict[str, Any]:
    return {"tree": list(to_flat(parsed.tree)), "score": plain(parsed.score), "fallback": parsed.fallback}


def _from_document(sentence: Sentence, document: dict[str, Any]) -> ParsedSentence:
    tree: Tree = from_flat(document["tree"])
    score = math.nan if document["score"] is None else float(document["score"])
    return ParsedSentence(sentence, tree, score, math.nan, bool(document["fallback"]))


GOODMAN_OBJECTIVES = ("viterbi", "labelled-recall", "bracketed-recall")

CRITERIA = {
    "labelled_recall": "Labelled Recall",
    "labelled_tree": "Labelled Tree",
    "bracketed_recall": "Bracketed Recall",
    "consistent_brackets_recall": "Cons. Brackets Recall",
    "consistent_brackets_tree": "Cons. Brackets Tree",
}

_CLEAN = "traces,functions,root"
_BINARY = "unaries:keep=top,xcont"


@dataclass(frozen=True)
class Matrix:
    """Rates by objective and criterion, and the trees behind them."""

    rates: dict[str, dict[str, float]]
    trees: dict[str, list[Tree]]
    gold: list[Tree]
    binary_gold: list[Tree]
    train_trees: int
    rules: int
    unparsed: int

    def best(self, criterion: str) -> str:
        """The objective with the highest rate on a criterion; the first of equal ones."""
        return max(self.rates, key=lambda objective: self.rates[objective][criterion])

    def table(self) -> Table:
        """A table with a row for each objective and a column for each criterion."""
        rows = [(objective, *(rates[criterion] for criterion in CRITERIA)) for objective, rates in self.rates.items()]
        n = len(self.gold)
        return Table(
            "Objective by criterion",
            ("objective", *CRITERIA.values()),
            tuple(rows),
            notes=(f"{n} sentences, {self.unparsed} without a parse ({100 * self.unparsed / max(n, 1):.1f}%), {self.rules} rules",),
            percent=tuple(CRITERIA.values()),
        )


def objective_matrix(
    train: Sequence[Tree],
    test: Sequence[Tree],
    *,
    objectives: Sequence[str] = GOODMAN_OBJECTIVES,
    most_symbols: int = 40,
    jobs: int = 1,
    advance: Callable[[], None] = lambda: None,
    parse_all: Callable[[Parser, Sequence[Sentence]], Iterable[ParsedSentence]] | None = None,
) -> Matrix:
    """The matrix of a grammar trained on some trees: the tags of others are parsed with every objective, and scored by every
    criterion.

    ``advance`` is called after each parsed sentence. ``parse_all`` replaces the parser's own method, so that parses can be stored
    in a checkpoint.
    """

    def own_parse_all(parser: Parser, sentences: Sequence[Sentence]) -> Iterable[ParsedSentence]:
        return parser.parse_all(sentences, jobs)

    parse = parse_all or own_parse_all
    clean = pipeline(_CLEAN)
    binary = pipeline(_BINARY)
    train_trees = [binary(tree) for tree in _short(train, clean, most_symbols)]
    gold = _short(test, clean, most_symbols)
    if not gold or not train_trees:
        raise MismatchError(f"no sentence of at most {most_symbols} symbols to train on, or none to test on")
    binary_gold = [tree for tree in map(binary, gold) if tree is not None]
    grammar = induce([tree for tree in train_trees if tree is not None], tags=True)
    sentences = [Sentence(tree.words, tree.tags) for tree in binary_gold]
    trees: dict[str, list[Tree]] = {}
    unparsed = 0
    for objective in objectives:
        parsed: list[ParsedSentence] = []
        for one in parse(Parser(grammar, objective, tag_words=True), sentences):
            parsed.append(one)
            advance()
        unparsed = sum(one.fallback for one in parsed)
        trees[objective] = [one.scored_tree for one in parsed]
    rates = {objective: _rates(gold, binary_gold, guessed) for objective, guessed in trees.items()}
    return Matrix(rates, trees, gold, binary_gold, len(train_trees), len(grammar.rules), unparsed)


def clean_short(trees: Iterable[Tree], longest: int, most: int) -> list[Tree]:
    """The first ``most`` trees of at most ``longest`` words (0 for any length), without traces, function tags and root."""
    clean = pipeline("traces,functions,root")
    short = (tree for tree in map(clean, trees) if tree is not None and 0 < tree.width <= (longest or tree.width))
    found = list(itertools.islice(short, most))
    if not found:
        raise MismatchError("no sentence to test on: allow longer ones")
    return found


def _short(trees: Sequence[Tree], clean: Callable[[Tree], Tree | None], most: int) -> list[Tree]:
    """The cleaned trees of 2 to ``most`` words; once singletons are collapsed, a single word has no constituents."""
    cleaned = (clean(tree) for tree in trees)
    return [tree for tree in cleaned if tree is not None and 1 < tree.width <= most]


def _rates(gold: Sequence[Tree], binary_gold: Sequence[Tree], guessed: Sequence[Tree]) -> dict[str, float]:
    against_binary = score(binary_gold, guessed, metric="goodman", preset="none").rates
    against_nary = score(gold, guessed, metric="goodman", preset="none").rates
    return {name: (against_nary if name.startswith("consistent") else against_binary)[name] for name in CRITERIA}
