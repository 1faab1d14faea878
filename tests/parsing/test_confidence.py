"""Confidence: expected F1 against enumeration, its calibration, and what ``parse --expected-f1`` writes."""

from __future__ import annotations

import json
import math
from pathlib import Path

import brute_force as brute
import numpy as np
import pytest
from click.testing import CliRunner, Result
from hypothesis import assume, given, settings, strategies as st
from tests.parsing.grammars import pcfgs, sentences

from treegauge import PCFG, Tree
from treegauge.cli._group import treegauge
from treegauge.grammar import load_model, save_model
from treegauge.parsing import Parser, Sentence
from treegauge.parsing.confidence import F1Calibration, ParseConfidence, calibration_from_notes, fit_calibration, fit_logistic
from treegauge.parsing.mixture import MixtureParser

GRAMMAR = PCFG.parse('S -> A C [.6] | E A [.4]\nA -> "x" [1]\nC -> A A [1]\nE -> A A [1]')


def mean_f1(tree: Tree, parses: list[tuple[Tree, float]]) -> tuple[float, float]:
    """The mean F1 of a tree against all parses, and the ratio of the expected numbers of constituents; nan if there are none."""
    own, total = set(brute.constituents(tree)), math.fsum(p for _, p in parses)
    both = [(p / total, len(own & set(brute.constituents(other))), len(set(brute.constituents(other)))) for other, p in parses]
    size = len(own) + math.fsum(p * n for p, _, n in both)
    if not size:
        return math.nan, math.nan
    mean = math.fsum(p * (2 * m / (len(own) + n) if own or n else 1.0) for p, m, n in both)
    return mean, 2 * math.fsum(p * m for p, m, _ in both) / size


@settings(max_examples=40)
@given(st.one_of(pcfgs(), pcfgs(unary=True)), sentences())
def test_expected_f1_is_the_ratio_of_enumerated_expectations(grammar: PCFG, words: list[str]) -> None:
    """It is the mean F1 itself if all parses have the same number of constituents; a tree without constituents has none."""
    parses = brute.all_parses(grammar, words)
    assume(0 < len(parses) <= 300)
    parsed = Parser(grammar, expected_f1=True).parse(Sentence(tuple(words)))
    mean, ratio = mean_f1(parsed.tree, parses)
    if math.isnan(ratio):
        assert parsed.confidence is None
        return
    assert parsed.confidence is not None
    assert not parsed.confidence.calibrated
    assert parsed.confidence.expected_f1 == pytest.approx(ratio, abs=1e-9)
    if len({len(set(brute.constituents(tree))) for tree, _ in parses}) == 1:
        assert ratio == pytest.approx(mean, abs=1e-9)


def test_expected_f1_of_a_mixture_is_that_of_the_mean_posteriors() -> None:
    other = PCFG.parse('S -> A C [.1] | E A [.9]\nA -> "x" [1]\nC -> A A [1]\nE -> A A [1]')
    mixture = MixtureParser((Parser(GRAMMAR), Parser(other)), (1.0, 1.0), expected_f1=True)
    parsed = mixture.parse(Sentence(("x", "x", "x")))
    # S is right, and one of C (mean posterior .35) and E (.65); both trees have two constituents.
    assert str(parsed.tree) == "(S (E (A x) (A x)) (A x))"
    assert parsed.confidence == ParseConfidence(pytest.approx(2 * 1.65 / 4), False)


@given(st.floats(-1, 1), st.floats(0.3, 2), st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_a_calibration_is_found_again(offset: float, slope: float, seed: int) -> None:
    rng, true = np.random.default_rng(seed), F1Calibration(offset, slope, 0)
    expected, size = rng.uniform(0.2, 0.99, 400), np.full(400, 1e6)
    found = F1Calibration(*fit_logistic(expected, size * [true(f1) for f1 in expected], size), 400)
    assert found.offset == pytest.approx(offset, abs=1e-3)
    assert found.slope == pytest.approx(slope, abs=1e-3)
    assert found(0.3) < found(0.6) < found(0.9)


def test_the_calibrated_mean_is_the_f1_of_the_held_out_trees() -> None:
    """Of trees that the grammar is 60% sure of, half are right here."""
    parser = Parser(GRAMMAR, expected_f1=True)
    right, wrong = Tree.parse("(S (A x) (C (A x) (A x)))"), Tree.parse("(S (E (A x) (A x)) (A x))")
    gold = [right, wrong] * 100
    parsed = list(parser.parse_all([Sentence(tree.words) for tree in gold]))
    found = fit_calibration([each.tree for each in parsed], [each.expected for each in parsed], gold)
    assert found is not None
    assert found.sentences == 200
    assert parsed[0].confidence == ParseConfidence(pytest.approx(0.8), False)
    assert found(0.8) == pytest.approx(0.75, abs=0.002)
    calibrated = Parser(GRAMMAR, expected_f1=True, calibration=found).parse(parsed[0].sentence)
    assert calibrated.confidence == ParseConfidence(pytest.approx(found(0.8)), True)
    assert fit_calibration([each.tree for each in parsed[:5]], [each.expected for each in parsed[:5]], gold[:5]) is None
    assert calibration_from_notes({"calibration": list(found)}) == found


@pytest.mark.parametrize(
    "notes",
    [
        {}, {"calibration": None}, {"calibration": [1, 2]}, {"calibration": ["a", 1, 1]}, {"calibration": [0, -1, 9]},
        {"calibration": [-1e308, 1, 9]}, {"calibration": [0, 1e308, 9]}, {"calibration": [0, 1, float("inf")]},
    ],
)  # fmt: skip
def test_notes_without_a_usable_calibration(notes: dict[str, object]) -> None:
    assert calibration_from_notes(notes) is None


def test_training_stores_a_calibration() -> None:
    import treegauge as tg

    trees = [
        "(TOP (S (NP (DT the) (NN cat)) (VP (VBD sat))))",
        "(TOP (S (NP (DT the) (NN cat)) (VP (VBD saw) (NP (DT a) (NN dog)))))",
    ]
    more = [text.replace("cat", f"cat{i}") for i in range(60) for text in trees]
    model = tg.train(more, grammars=1, rounds=1)
    found = model.parse("the cat1 saw a dog").confidence
    assert found is not None
    assert found.calibrated
    assert 0.5 < found.expected_f1 <= 1


def test_induce_stores_a_calibration(tmp_path: Path) -> None:
    # The two readings are equally frequent, so that trees are less often right than a confident parser thinks.
    trees = [f"(S (A x{i % 7}) (C (A x) (A x)))\n(S (E (A x) (A x{i % 5})) (A x))\n(S (A x) (A y))\n" for i in range(100)]
    (tmp_path / "train.mrg").write_text("".join(trees))
    (tmp_path / "a.txt").write_text("x1 x x\nx y\n")
    text = str(tmp_path / "a.txt")
    for name, options in {"tuned": [], "given": ["--tune", str(tmp_path / "train.mrg")], "plain": ["--no-tune"]}.items():
        model = str(tmp_path / f"{name}.model")
        run("induce", str(tmp_path / "train.mrg"), "-o", model, *options)
        assert (load_model(model).notes.get("calibration") is not None) == (name != "plain")
        found = run("parse", model, text, "--expected-f1", "--objective", "viterbi").stdout
        assert ("(not calibrated)" in found) == (name == "plain")


def run(*arguments: str) -> Result:
    done = CliRunner().invoke(treegauge, arguments)
    assert done.exit_code == 0, done.stderr
    return done


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str, str]:
    """A model with a calibration, a grammar without one, and sentences."""
    save_model(GRAMMAR, tmp_path / "a.model", notes={"calibration": [0.0, 0.5, 100]})
    save_model(GRAMMAR, tmp_path / "b.model")
    (tmp_path / "a.txt").write_text("x x x\n\ny\n")
    return str(tmp_path / "a.model"), str(tmp_path / "b.model"), str(tmp_path / "a.txt")


def test_the_command_writes_expected_f1(files: tuple[str, str, str], tmp_path: Path) -> None:
    model, plain, text = files
    assert run("parse", model, text, "--expected-f1").stdout == (
        "# sentence 1, expected F1 0.6667\n(S (A x) (C (A x) (A x)))\n\n# sentence 2, no parse\n()\n\n"
        "# sentence 3, no parse\n(X-FALLBACK y)\n\n"
    )
    assert "# sentence 1, expected F1 0.8000 (not calibrated)\n" in run("parse", plain, text, "--expected-f1").stdout
    records = [json.loads(line) for line in run("parse", model, text, "--expected-f1", "--format", "jsonl").stdout.splitlines()]
    assert records[0]["confidence"] == {"expected_f1": pytest.approx(2 / 3), "calibrated": True}
    assert [record["confidence"] for record in records[1:]] == [None, None]
    mixed = [
        json.loads(line) for line in run("parse", model, plain, text, "--expected-f1", "--format", "jsonl").stdout.splitlines()
    ]
    assert mixed[0]["confidence"] == {"expected_f1": pytest.approx(0.8), "calibrated": False}
    out = tmp_path / "out.mrg"
    run("parse", model, text, "--expected-f1", "-o", str(out))
    assert out.read_text().count("# sentence") == 3
    refused = CliRunner().invoke(treegauge, ["parse", model, text, "--expected-f1", "--kbest", "2"])
    assert "--format jsonl" in str(refused.exception)


def test_posteriors_of_another_sentence_or_of_all(files: tuple[str, str, str]) -> None:
    model, _, text = files
    Path(text).write_text("x\nx x x\ny\nx x x\n")
    first = CliRunner().invoke(treegauge, ["posteriors", model, text])
    assert "no parse for: x" in str(first.exception)
    second = run("posteriors", model, text, "--sentence", "2").stdout
    assert "    0    3  S" in second
    every = run("posteriors", model, text, "--sentence", "all")
    assert every.stdout == f"# sentence 2\n{second}# sentence 4\n{second}"
    assert every.stderr.count("no parse for") == 2
    lines = run("posteriors", model, text, "--sentence", "all", "--format", "json").stdout.splitlines()
    assert [json.loads(line)["words"] for line in lines] == [["x", "x", "x"]] * 2
    for wrong, message in (
        ("5", "there is no sentence 5: the input has 4"),
        ("0", "a number from 1, or all"),
        ("two", "a number from 1, or all"),
    ):
        assert message in str(CliRunner().invoke(treegauge, ["posteriors", model, text, "--sentence", wrong]).exception)
