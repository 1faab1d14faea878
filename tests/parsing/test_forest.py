"""Forests: long and improbable sentences, ties, split symbols, limits, samples, errors."""

from __future__ import annotations

import math
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest

from treegauge.errors import NoParse, UnknownName, UsageError
from treegauge.grammar import PCFG
from treegauge.parsing import OBJECTIVES, Forest
from treegauge.parsing.chart import fill
from treegauge.parsing.chart_layout import LOG_SUM, SUM
from treegauge.parsing.tree_consensus import consensus
from treegauge.trees import Tree

CATALAN = PCFG.parse('S -> S S [.5] | "a" [.5]')
SIMAAN = PCFG.parse('S -> "x" "x" [.1] | "x" S [.3] | S "x" [.3] | S S [.1] | A A [.2]\nA -> "x" "x" [1]')


def catalan(n: int) -> int:
    return math.comb(2 * n, n) // (n + 1)


def log_of(fraction: Fraction) -> float:
    """The logarithm of a fraction far outside the range of floats."""
    return math.log(fraction.numerator) - math.log(fraction.denominator)


def test_simaans_counterexample() -> None:
    forest = Forest(SIMAAN, ["x"] * 8)
    assert forest.n_parses == 500
    assert math.exp(forest.log_partition) == pytest.approx(453981 / 10**7, rel=1e-13)
    best = forest.best()
    assert math.exp(best.log_probability) == pytest.approx(1 / 250)
    chosen = forest.argmax("labelled-recall-licensed")
    assert math.exp(forest.log_probability(chosen.tree)) == pytest.approx(81 / 50000)
    # Figure 2's sums are of productions, 1.69 and 1.94; with g as defined they are 2.550 and 3.132.
    assert forest.expected_score(best.tree, pre=True) == pytest.approx(2.550, abs=5e-4)
    assert chosen.score == pytest.approx(3.132, abs=5e-4)
    assert forest.argmax("frames").score == pytest.approx(1.940, abs=5e-4)


@pytest.mark.parametrize("n", [200, 1000])
def test_long_sentences_keep_ten_digits(n: int) -> None:
    """P = Catalan(n-1) 2^-(2n-1), down to 10^-4 ... while single derivations go down to 10^-602."""
    forest = Forest(CATALAN, ["a"] * n)
    exact = log_of(Fraction(catalan(n - 1), 2 ** (2 * n - 1)))
    assert forest.log_partition == pytest.approx(exact, rel=1e-10)
    assert forest.best().log_probability == pytest.approx(-(2 * n - 1) * math.log(2), rel=1e-10)


def test_a_probability_of_ten_to_the_minus_5000_keeps_ten_digits() -> None:
    tiny = 1e-50
    grammar = PCFG.from_rules([("S", ["S", "S"], tiny), ("S", ["a"], tiny), ("S", ["b"], 1 - 2 * tiny)], nonterminals=["S"])
    n = 51
    forest = Forest(grammar, ["a"] * n)
    exact = log_of(Fraction(catalan(n - 1)) * Fraction(tiny) ** (2 * n - 1))
    assert exact < -5000 * math.log(10)
    assert forest.log_partition == pytest.approx(exact, rel=1e-12)
    assert forest.inside_chart.mode == SUM
    posterior = {(c.start, c.end): c.posterior for c in forest.constituents()}
    assert posterior[0, n] == pytest.approx(1.0, rel=1e-10)
    assert posterior[0, 1] == pytest.approx(1.0, rel=1e-10)
    assert posterior[0, 2] == pytest.approx(catalan(n - 2) / catalan(n - 1), rel=1e-9)


def test_numbers_that_no_scaling_can_hold_are_done_in_logarithms() -> None:
    """Over the same words one symbol is 10^1000 times likelier than another, and only the unlikely one has a parse."""
    grammar = PCFG.from_rules(
        [
            ("S", ["A", "end"], 1),
            ("A", ["A", "A"], 1e-30),
            ("A", ["a"], 1 - 1e-30),
            ("B", ["B", "B"], 0.9),
            ("B", ["a"], 0.1),
        ],
        start="S",
        nonterminals=["S", "A", "B"],
    )
    n = 40
    forest = Forest(grammar, ["a"] * n + ["end"])
    assert forest.inside_chart.mode == LOG_SUM
    exact = log_of(Fraction(catalan(n - 1)) * Fraction(1e-30) ** (n - 1) * Fraction(1 - 1e-30) ** n)
    assert forest.log_partition == pytest.approx(exact, rel=1e-12)
    assert forest.n_parses == catalan(n - 1)
    assert forest.argmax("labelled-recall").tree.words == forest.words
    assert forest.argmax("labelled-recall-licensed").score == pytest.approx(
        forest.expected_score(forest.argmax("labelled-recall-licensed").tree, pre=True)
    )


def test_logarithms_and_probabilities_agree() -> None:
    forest, other = Forest(SIMAAN, ["x"] * 8), Forest(SIMAAN, ["x"] * 8)
    other.__dict__["inside_chart"] = fill(other.binary, other.leaves, LOG_SUM)
    assert other.log_partition == pytest.approx(forest.log_partition, rel=1e-13)
    for a, b in zip(forest.frames(), other.frames(), strict=True):
        assert a[:3] == b[:3]
        assert a.posterior == pytest.approx(b.posterior, rel=1e-10)
    for name in ("labelled-recall", "bracketed-recall", "labelled-recall-licensed", "parent-child", "frames"):
        assert other.argmax(name).score == pytest.approx(forest.argmax(name).score, rel=1e-12)
    assert other.entropy() == pytest.approx(forest.entropy(), rel=1e-10)
    assert len(other.sample(3, seed=5)) == 3


def test_the_number_of_parses_is_exact_beyond_any_machine_integer() -> None:
    assert Forest(CATALAN, ["a"] * 150).n_parses == catalan(149) > 10**80


def test_ties_go_to_the_first_split_then_the_first_rule() -> None:
    assert str(Forest(CATALAN, ["a"] * 3).argmax("viterbi").tree) == "(S (S a) (S (S a) (S a)))"
    for name in ("labelled-recall", "bracketed-recall"):
        tree = Forest(CATALAN, ["a"] * 3).argmax(name).tree
        assert (1, 3) in {(span.start, span.end) for span in tree.spans()}
    two = PCFG.parse('S -> B B [.5] | A A [.5]\nA -> "a" [1]\nB -> "a" [1]')
    assert str(Forest(two, ["a", "a"]).best().tree) == "(S (B a) (B a))"
    assert str(Forest(two, ["a", "a"]).argmax("labelled-recall").tree) == "(S (B a) (B a))"


def test_symbols_that_show_as_one_label_add_up() -> None:
    grammar = PCFG.parse(
        'S -> N-1 V [.3] | N-2 V [.3] | M V [.4]\nN-1 -> "x" "x" [1]\nN-2 -> "x" "x" [1]\nM -> "x" "x" [1]\nV -> "v" [1]'
    )
    words = ["x", "x", "v"]
    assert str(Forest(grammar, words).argmax("labelled-recall").tree) == "(S (M x x) (V v))"
    shown = grammar.with_labels(lambda symbol: symbol.split("-")[0])
    best = Forest(shown, words).argmax("labelled-recall")
    assert str(best.tree) == "(S (N x x) (V v))"
    assert best.score == pytest.approx(1.6)
    licensed = Forest(shown, words).argmax("labelled-recall-licensed")
    assert (str(licensed.tree), licensed.score) == ("(S (N x x) (V v))", pytest.approx(2.6))
    for name in ("parent-child", "frames"):
        assert str(Forest(shown, words).argmax(name).tree) == "(S (N x x) (V v))"


def test_symbols_that_do_not_show_leave_their_children() -> None:
    grammar = PCFG.parse('S -> A R [1]\nR -> A A [1]\nA -> "a" [1]').with_labels(lambda x: None if x == "R" else x)
    forest = Forest(grammar, ["a"] * 3)
    for name in ("viterbi", "labelled-recall", "labelled-precision-recall", "labelled-recall-licensed", "frames"):
        assert str(forest.argmax(name).tree) == "(S (A a) (A a) (A a))", name


def test_internal_symbols_never_show() -> None:
    grammar = PCFG.parse('S -> "a" S "b" S "c" [.4] | "a" "b" "c" [.6]')
    forest = Forest(grammar, ["a", "a", "b", "c", "b", "a", "b", "c", "c"])
    assert str(forest.best().tree) == "(S a (S a b c) b (S a b c) c)"
    assert {c.label for c in forest.constituents()} == {"S"}
    assert {f.production.lhs for f in forest.frames()} == {"S"}
    assert [a.boundaries for a in forest.anchored_rules() if len(a.boundaries) == 6] == [(0, 1, 4, 5, 8, 9)]
    assert forest.n_parses == 1


def test_rules_that_end_alike_keep_their_frames_apart() -> None:
    grammar = PCFG.parse('S -> A B C [.25] | D B C [.75]\nA -> "x" [1]\nB -> "x" [1]\nC -> "x" [1]\nD -> "x" [1]')
    frames = {str(f.production): f.posterior for f in Forest(grammar, ["x"] * 3).frames() if f.end - f.start == 3}
    assert frames == {"S -> A B C": pytest.approx(0.25), "S -> D B C": pytest.approx(0.75)}


def test_lambda_trades_recall_for_precision() -> None:
    forest = Forest(CATALAN, ["a"] * 4)
    sizes = [forest.argmax("labelled-precision-recall", lam=lam).tree.size for lam in (0.0, 0.39, 0.41, 2.0)]
    assert sizes == [7, 7, 5, 5]


def test_tags_limit_the_words() -> None:
    grammar = PCFG.parse('S -> N V [.5] | V N [.5]\nN -> "fish" [.5] | "can" [.5]\nV -> "fish" [.1] | "can" [.9]')
    words = ["fish", "can"]
    assert Forest(grammar, words).n_parses == 2
    only = Forest(grammar, words, tags=[["V"], None])
    assert str(only.best().tree) == "(S (V fish) (N can))"
    assert math.exp(only.log_partition) == pytest.approx(0.5 * 0.1 * 0.5)
    lattice = Forest(grammar, ["zzz", "can"], tags=[{"N": 0.25, "V": 0.75}, {"N": 1.0}])
    assert math.exp(lattice.log_partition) == pytest.approx(0.5 * 0.75)
    unknown = Forest(grammar, ["zzz", "can"], tags=[["N"], None])
    assert str(unknown.best().tree) == "(S (N zzz) (V can))"


def test_brackets_may_not_be_crossed() -> None:
    forest = Forest(CATALAN, ["a"] * 4, brackets=[(1, 3)])
    assert forest.n_parses == 2
    assert {(c.start, c.end) for c in forest.constituents()} == {(0, 1), (1, 2), (2, 3), (3, 4), (1, 3), (0, 3), (1, 4), (0, 4)}
    allowed = np.ones((4, 5), bool)
    allowed[0, 3] = allowed[1, 4] = False
    assert [str(p.tree) for p in Forest(CATALAN, ["a"] * 4, allowed=allowed).kbest(9)] == ["(S (S (S a) (S a)) (S (S a) (S a)))"]
    with pytest.raises(UsageError, match="shape"):
        Forest(CATALAN, ["a"] * 4, allowed=np.ones((4, 4)))


def test_brackets_do_not_bind_the_inside_of_long_rules() -> None:
    """[B C] of A B C is not a constituent, so the bracket A B does not forbid it."""
    grammar = PCFG.parse('S -> A B C [1]\nA -> "a" [1]\nB -> "b" [1]\nC -> "c" [1]')
    assert Forest(grammar, ["a", "b", "c"], brackets=[(0, 2)]).n_parses == 1


def test_samples_follow_the_posterior_and_the_seed() -> None:
    forest = Forest(SIMAAN, ["x"] * 5)
    size = 4000
    samples = forest.sample(size, seed=3)
    assert samples == forest.sample(size, seed=3)
    assert samples != forest.sample(size, seed=4)
    found = Counter(samples)
    for parse in forest.parses():
        p = math.exp(parse.log_probability - forest.log_partition)
        assert abs(found[parse.tree] - size * p) < 5 * math.sqrt(size * p * (1 - p)) + 1


def test_consensus_by_any_metric() -> None:
    forest = Forest(SIMAAN, ["x"] * 6)

    def exact(gold: Tree, test: Tree) -> float:
        return float(gold == test)

    best = forest.argmax("mbr", score=exact, candidates="kbest", size=100)
    assert best.tree == forest.best().tree
    assert best.score == pytest.approx(math.exp(forest.best().log_probability - forest.log_partition))
    assert forest.argmax("mbr", score=exact, size=50, seed=1) == forest.argmax("mbr", score=exact, size=50, seed=1)
    a, b = Tree.parse("(S a)"), Tree.parse("(S b)")
    assert consensus([a, b, b], [1, 1, 1], exact).tree == b


def test_results_do_not_depend_on_threads() -> None:
    def work(n: int) -> tuple[float, str, list[float]]:
        forest = Forest(SIMAAN, ["x"] * (n % 7 + 2))
        return forest.log_partition, str(forest.argmax("frames").tree), [c.posterior for c in forest.constituents()]

    alone = [work(n) for n in range(60)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(60))) == alone


def test_errors_say_what_is_wrong() -> None:
    forest = Forest(CATALAN, ["b"])
    with pytest.raises(NoParse, match="no parse for: b"):
        forest.argmax("viterbi")
    with pytest.raises(NoParse, match="no words"):
        Forest(CATALAN, []).best()
    good = Forest(CATALAN, ["a"])
    with pytest.raises(UnknownName, match="did you mean 'labelled-recall'"):
        good.argmax("labelled-recal")
    with pytest.raises(UsageError, match="takes no option 'lam'"):
        good.argmax("viterbi", lam=1)
    with pytest.raises(UsageError, match="shape"):
        good.argmax("general", weights=[[1.0]])
    with pytest.raises(UsageError, match="needs weights="):
        good.argmax("general")
    with pytest.raises(UnknownName, match="did you mean 'parseval'"):
        good.argmax("mbr:parsval")
    with pytest.raises(UsageError, match="objective mbr needs a metric after a colon: mbr:parseval"):
        good.argmax("mbr")


def test_every_objective_is_described() -> None:
    for name, objective in OBJECTIVES.items():
        assert objective.name == name
        assert objective.maximises
        assert objective.source
        assert objective.decode.__doc__


def test_a_sentence_too_long_for_a_chart_is_refused_and_parsed_by_the_fallback() -> None:
    from treegauge.errors import TooLong
    from treegauge.parsing.forest import MOST_WORDS
    from treegauge.parsing.parser import Parser, Sentence

    grammar = PCFG.parse('S -> S S [.5] | "a" [.5]')
    words = ("a",) * (MOST_WORDS + 1)
    with pytest.raises(TooLong, match="10,001 words"):
        Forest(grammar, words)
    parsed = Parser(grammar, prune=1e-5).parse(Sentence(words))
    assert parsed.fallback
    assert parsed.tree.words == words


def test_an_error_does_not_repeat_a_long_sentence() -> None:
    from treegauge.errors import NoParse

    with pytest.raises(NoParse) as error:
        Forest(PCFG.parse('S -> "a" [1]'), ["b"] * 5000).best()
    assert len(str(error.value)) < 300


def test_more_rule_posteriors_than_there_was_room_for() -> None:
    """Every parse of n words by binary rules has n - 1 of them, so their posteriors add up to n - 1."""
    symbols, n = "SABC", 14
    rules = [(X, [Y, Z], 1 / 32) for X in symbols for Y in symbols for Z in symbols]
    grammar = PCFG.from_rules([*rules, *((X, ["a"], 0.5) for X in symbols)], nonterminals=list(symbols))
    forest = Forest(grammar, ["a"] * n)
    where, posterior = forest.rule_posteriors
    assert len(posterior) > 4 * 64 * n, "it has grown more than twice"
    assert posterior.sum() == pytest.approx(n - 1)
    assert len(np.unique(where, axis=0)) == len(where)
