"""Sima'an 2003, Table 2: four algorithms on two treebank grammars, MRL (right-linearised) and MH (head-lexicalised)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from treegauge.errors import MismatchError, UnknownName, UsageError
from treegauge.experiments.bars import BarFigure
from treegauge.experiments.base import Corpus, Experiment, Report, Work, setting
from treegauge.experiments.beside import beside
from treegauge.experiments.held_out import HeldOut, held_out, own_corpus
from treegauge.experiments.parsing_pieces import parse_in_pieces
from treegauge.experiments.rate_tests import RateTests
from treegauge.grammar.counting import induce, statistics
from treegauge.grammar.lexicon import with_unknown
from treegauge.grammar.pcfg import PCFG
from treegauge.metrics.tables import Cell, Table
from treegauge.normalise import expand_unaries, mh, pipeline, unmh, unmrl
from treegauge.parsing.parser import Parser, Sentence
from treegauge.trees.tree import Tree

__all__ = ["EXPERIMENT", "GRAMMARS", "Settings", "Variant"]

ALGORITHMS = {"viterbi": "MPP", "labelled-recall-licensed": "M_LR", "parent-child": "M_PCh", "frames": "M_CFP"}
COLUMNS = {"recall": "LR", "precision": "LP", "f1": "F", "exact_match": "exact match", "no_crossing": "0-cross"}
PAPER: dict[tuple[str, ...], Sequence[float]] = {
    ("MRL", "MPP"): (0.6006, 0.6290, 0.6144, 0.054, 0.178),
    ("MRL", "M_LR"): (0.6036, 0.6555, 0.6284, 0.039, 0.156),
    ("MRL", "M_PCh"): (0.6110, 0.6525, 0.6310, 0.045, 0.165),
    ("MRL", "M_CFP"): (0.6169, 0.6522, 0.6340, 0.048, 0.165),
    ("MH", "MPP"): (0.8007, 0.8004, 0.8005, 0.230, 0.470),
    ("MH", "M_LR"): (0.8197, 0.8173, 0.8185, 0.234, 0.482),
    ("MH", "M_PCh"): (0.8070, 0.8065, 0.8067, 0.226, 0.480),
    ("MH", "M_CFP"): (0.8158, 0.8147, 0.8152, 0.234, 0.480),
}
UNARIES = ("joined", "kept")


@dataclass(frozen=True)
class Settings:
    """How the experiment is run."""

    unknown_below: int = setting(5, "Words seen fewer times in training, and unseen ones, become one unknown word.")
    sentences: int = setting(1000, "The most test sentences to parse: the first ones.")
    max_length: int = setting(0, "Leave out test sentences with more words; 0: none.")
    unaries: str = setting("joined", "MRL's chains of single children: joined into one symbol while parsing, or kept.")
    gold_tags: bool = setting(False, "Parse with the gold tags given.")
    rounds: int = setting(10_000, "Of the randomisation tests.")
    seed: int = setting(1, "Of the randomisation tests.")


@dataclass(frozen=True)
class Variant:
    """A way to make a grammar of trees: trees in, the grammar's trees out; and from the parser's trees to what is scored.

    ``scored`` gives the tree that is compared with ``gold`` of the held-out tree, ``plain`` the one to compare with the original.
    """

    name: str
    forward: Callable[[Tree], Tree]
    scored: Callable[[Tree], Tree]
    plain: Callable[[Tree], Tree]
    against: str

    def gold(self, tree: Tree) -> Tree:
        return self.scored(self.forward(tree))


def _clean(steps: str) -> Callable[[Tree], Tree]:
    made = pipeline(steps)

    def clean(tree: Tree) -> Tree:
        done = made(tree)
        return Tree("") if done is None else done

    return clean


def variants(settings: Settings) -> list[Variant]:
    """MRL and MH. In MRL a chain of single children may be one symbol while parsing (``S+VP``): it is expanded before scoring."""
    if settings.unaries not in UNARIES:
        raise UnknownName("treatment of unaries", settings.unaries, UNARIES)
    if settings.unaries == "joined":
        # Binarised first: only the node itself is part of a chain, its continuations are not.
        forward = _clean("functions,mrl,unaries:joined")
        mrl = Variant("MRL", forward, expand_unaries, lambda tree: unmrl(expand_unaries(tree)), "binarised")
    else:
        mrl = Variant("MRL", _clean("functions,mrl"), lambda tree: tree, unmrl, "binarised")
    return [mrl, Variant("MH", mh, unmh, unmh, "unary-free")]


GRAMMARS = ("MRL", "MH")


def run(corpus: Corpus | None, settings: Settings, work: Work) -> Report:
    """Train both grammars, parse with every algorithm, and score against transformed and original trees."""
    assert corpus is not None
    parts = held_out(corpus.bank)
    ready = _clean("traces,root")
    train = [tree for tree in map(ready, parts.train) if tree.width]
    test = [tree for tree in map(ready, parts.test) if tree.width and not 0 < settings.max_length < tree.width][
        : settings.sentences
    ]
    if not train or not test:
        raise MismatchError(f"{len(train)} trees to train on and {len(test)} to test on are too few")
    if settings.unknown_below < 1:
        raise UsageError("words are unknown below a count of at least 1")
    plain = _clean("functions")
    original = [plain(tree) for tree in test]
    results: dict[str, dict[str, Any]] = {}
    for variant in variants(settings):
        grammar = _grammar(variant, train, settings)
        work.say(f"{variant.name}: {len(grammar.rules):,} rules, {len(grammar.nonterminals):,} symbols")
        systems: dict[str, list[Tree]] = {}
        unparsed = 0
        for objective, name in ALGORITHMS.items():
            parser = Parser(grammar, objective, gold_tags=settings.gold_tags)
            sentences = [Sentence(tree.words, _tags(variant, tree) if settings.gold_tags else None) for tree in test]
            parsed = parse_in_pieces(work, f"{variant.name} {name}", parser, sentences)
            systems[name] = [one.tree for one in parsed]
            unparsed = sum(one.fallback for one in parsed)
        results[variant.name] = _scored(variant, test, original, systems, settings) | {
            "unparsed": unparsed / len(test),
            "grammar": str(statistics(grammar)),
            "against_kind": variant.against,
        }
    return _report(corpus, parts, settings, len(train), len(test), results)


def _grammar(variant: Variant, train: Sequence[Tree], settings: Settings) -> PCFG:
    """Relative frequency over words; symbols show as they are, so posteriors belong to the grammar's own symbols."""
    return induce(with_unknown([variant.forward(tree) for tree in train], settings.unknown_below))


def _tags(variant: Variant, tree: Tree) -> tuple[str, ...]:
    """The tags as the grammar has them (a joined chain over a word is its tag)."""
    return variant.forward(tree).tags


def _scored(
    variant: Variant, test: Sequence[Tree], original: Sequence[Tree], systems: Mapping[str, Sequence[Tree]], settings: Settings
) -> dict[str, Any]:
    against = [variant.gold(tree) for tree in test]
    scored = {name: [variant.scored(tree) for tree in trees] for name, trees in systems.items()}
    plain = {name: [variant.plain(tree) for tree in trees] for name, trees in systems.items()}
    return {
        "own": RateTests("parseval", against, scored, rounds=settings.rounds, seed=settings.seed),
        "original": RateTests("parseval", original, plain, rounds=settings.rounds, seed=settings.seed),
    }


def _report(
    corpus: Corpus, parts: HeldOut, settings: Settings, n_train: int, n_test: int, results: Mapping[str, Mapping[str, Any]]
) -> Report:
    own = _rows(results, "own")
    title = "Right-linearised (MRL) and head-lexicalised (MH) treebank grammars, four algorithms"
    table = beside(title, ("grammar", "algorithm"), tuple(COLUMNS.values()), PAPER, own, percent=True, notes=_unparsed(results))
    keys = ("grammar", "algorithm")
    original = Table(
        "The same parses against the original trees",
        (*keys, *COLUMNS.values()),
        tuple((*key, *values) for key, values in _rows(results, "original").items()),
        percent=tuple(COLUMNS.values()),
    )
    return Report(
        tables=[table, original, _tests(results)],
        notes=_notes(corpus, parts, settings, n_train, n_test, results),
        figures=[_figure(corpus, own)],
        data={
            name: {
                "unparsed": result["unparsed"],
                "grammar": result["grammar"],
                **{
                    f"against {kind} trees": {"rates": tests.rates, "signatures": tests.signatures}
                    for kind, tests in ((result["against_kind"], result["own"]), ("original", result["original"]))
                },
            }
            for name, result in results.items()
        },
    )


def _rows(results: Mapping[str, Mapping[str, Any]], which: str) -> dict[tuple[str, ...], Sequence[Cell]]:
    return {
        (grammar, name): [result[which].rates[name][rate] for rate in COLUMNS]
        for grammar, result in results.items()
        for name in ALGORITHMS.values()
    }


def _unparsed(results: Mapping[str, Mapping[str, Any]]) -> list[str]:
    shares = ", ".join(f"{name} {result['unparsed']:.1%}" for name, result in results.items())
    return [f"Unparsed sentences (right-branching fallback; the paper does not say how many it had): {shares}."]


COMPARED = (("MPP", "M_LR"), ("MPP", "M_PCh"), ("MPP", "M_CFP"), ("M_LR", "M_PCh"), ("M_LR", "M_CFP"))


def _tests(results: Mapping[str, Mapping[str, Any]]) -> Table:
    """One algorithm less another in F: the paper's difference and ours, its significance, and the share of the error that goes."""
    rows: list[tuple[Cell, ...]] = []
    for grammar, result in results.items():
        tests: RateTests = result["own"]
        for a, b in COMPARED:
            before, printed = tests.rates[a]["f1"], PAPER[grammar, a][2]
            difference, paper = tests.rates[b]["f1"] - before, PAPER[grammar, b][2] - printed
            shares = paper / (1 - printed), difference / (1 - before)
            rows.append((grammar, f"{b} less {a}", paper, difference, f"{tests.p(a, b, 'f1'):.4f}", *shares))
    columns = ("grammar", "algorithms", "F paper", "F ours", "p", "error reduction paper", "error reduction ours")
    return Table(
        "One algorithm less another",
        columns,
        tuple(rows),
        notes=("p: two-sided, paired randomisation over sentences, of our difference in F.",),
        percent=(columns[2], columns[3], *columns[5:]),
    )


def _figure(corpus: Corpus, own: Mapping[tuple[str, ...], Sequence[Cell]]) -> BarFigure:
    def percent(rows: Mapping[tuple[str, ...], Sequence[Any]], name: str) -> list[float]:
        return [100 * float(rows[grammar, name][2]) for grammar in GRAMMARS]

    return BarFigure(
        "f1",
        f"F of four algorithms on two grammars: {corpus.name}",
        "F (%)",
        GRAMMARS,
        {name: percent(own, name) for name in ALGORITHMS.values()},
        {name: percent(PAPER, name) for name in ALGORITHMS.values()},
    )


def _notes(
    corpus: Corpus, parts: HeldOut, settings: Settings, n_train: int, n_test: int, results: Mapping[str, Mapping[str, Any]]
) -> list[str]:
    f1 = {grammar: {name: result["own"].rates[name]["f1"] for name in ALGORITHMS.values()} for grammar, result in results.items()}
    gain, best = f1["MH"]["M_LR"] - f1["MH"]["MPP"], max(f1["MRL"], key=lambda name: f1["MRL"][name])
    longest = f" of at most {settings.max_length} words" if settings.max_length else ""
    chains = (
        "In MRL a chain of single children is one symbol while parsing and is expanded before scoring, so that the grammar is "
        "binary, as the paper's equations have it. (--unaries kept leaves unary rules in: M_LR then collects every label that a "
        "chain can have.)"
        if settings.unaries == "joined"
        else "In MRL unary rules are kept; M_LR then collects every label that a chain of them can have, at the cost of precision."
    )
    ahead = 100 * (f1["MH"]["MPP"] - f1["MRL"]["MPP"])
    return [
        f"Outcome: with MPP, MH is {ahead:+.1f} points of F from MRL (paper: +18.6); in MH, M_LR is {100 * gain:+.2f} from MPP "
        f"(paper: +1.80); in MRL {best} is best (paper: M_CFP).",
        "Corpus: the paper trained on the Wall Street Journal, sections 02-21 (39,832 trees), and tested on 1000 trees of section "
        f"23. Here {corpus.name}: {n_train:,} trees to train on, {n_test:,} to test on{longest}; held out are {parts.how}. Fewer "
        "trees cost MH more than MRL, whose labels are coarser.",
        "The two grammars are scored against different trees, as in the paper: MRL against binarised trees, whose linearisation "
        "nodes count, MH against trees without unary productions; their F cannot be compared as such. The second table has both "
        "against the original trees: there MH misses every bracket over a single child.",
        chains,
        f"Words seen fewer than {settings.unknown_below} times are one unknown word, after Collins (1997), who used a tagger for "
        "them; here there is none. Relative frequency, no smoothing. Scores as EVALB's, but no sentence is left out.",
    ]


EXPERIMENT = Experiment(
    "simaan-table2",
    "Sima'an 2003, Table 2: MRL and MH grammars, four algorithms",
    "simaan2003",
    Settings,
    run,
    own_corpus,
)
