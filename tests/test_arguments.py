"""Arguments in Python and options of the command line have the same names; wrong ones are answered with the right ones."""

from __future__ import annotations

import inspect
from dataclasses import fields
from pathlib import Path
from typing import Any

import click
import pytest

import treegauge
from treegauge import io, normalise
from treegauge.cli._group import treegauge as program
from treegauge.errors import TreegaugeError, UnknownName, UsageError
from treegauge.learning import BracketedSentences, LearningSettings
from treegauge.learning.latent import TrainingSettings
from treegauge.presets import load_preset
from treegauge.scoring.baselines import baseline_for

READING = {field.name for field in fields(treegauge.ReadOptions)}
COMPARING = {field.name for field in fields(treegauge.CompareOptions)}
TRAINING = {field.name for field in fields(TrainingSettings)} | {"epochs"}
NAMED_OTHERWISE = {
    "format_in": "format",
    "breakdown": "breakdowns",
    "no_tune": "tune",
    "worst": "sentence",
    "sentences": "most",
    "restarts": "starts",
    "start_grammar": "start",
}
"""What has another name in Python: sequences are plural, negations are not needed, and ``--format`` is that of the output."""
OF_THE_TERMINAL = {
    *("output", "quiet", "help", "format", "digits", "percent", "rates", "rows", "published", "list", "show_preset", "table"),
    *(
        "engine",
        "jobs",
        "save",
        "scores",
        "figure",
        "figures",
        "width",
        "ascii",
        "fold",
        "full",
        "real_test",
        "signature",
        "intervals",
    ),
    *(
        "per_sentence",
        "fail_under",
        "fail_over",
        "examples",
        "by_length",
        "baselines",
        "confidence",
        "rejects",
        "drop",
        "store",
        "intervals",
    ),
    *("svg", "show", "label", "export", "level", "grammar", "bundle", "part", "shard", "drop_overlap", "undo", "to", "steps"),
}
"""Options about what is printed and written, about commands that do several things, and about work in parallel."""
CALLS: dict[str, tuple[Any, set[str]]] = {
    "score": (treegauge.score, READING),
    "compare": (treegauge.compare, COMPARING | READING),
    "report": (treegauge.report, COMPARING | READING),
    "diff": (treegauge.diff, READING),
    "train": (treegauge.train, TRAINING | READING),
    "mix": (treegauge.mix, READING),
    "convert": (io.read, READING),
    "normalise": (io.read, READING),
    "validate": (io.read, READING),
}
ELSEWHERE = {
    "score": {
        "structure": "a metric's option: hogenhout:structure=NP",
        "seed": "of with_confidence",
        "rounds": "of with_confidence",
        "ignore_words": 'match_words="length"',
    },
    "compare": {},
    "report": {},
    "diff": {"all": "diff is called for each sentence"},
    "train": {},
    "mix": {"tune": "the command tunes, and load opens what it has chosen", "hold_out": "goes with --tune"},
    "convert": {"stream": "treegauge.stream"},
    "normalise": {},
    "validate": {
        "max": "of the printout",
        "notes": "of the printout",
        "stream": "treegauge.stream",
        "statistics": "treegauge.io.count_parts",
    },
}
"""Options that belong to another call, and why."""


def options_of(command: str) -> set[str]:
    found = program.get_command(click.Context(program), command)
    assert found is not None
    names = {
        max(option.opts, key=len).removeprefix("--").replace("-", "_")
        for option in found.params
        if option.param_type_name == "option"
    }
    return names - OF_THE_TERMINAL


@pytest.mark.parametrize("command", CALLS)
def test_a_call_has_the_names_of_the_options(command: str) -> None:
    call, further = CALLS[command]
    known = set(inspect.signature(call).parameters) | further
    missing = {name for name in options_of(command) if NAMED_OTHERWISE.get(name, name) not in known}
    assert missing == set(ELSEWHERE[command])


GOLD, TEST = "(S (NP (N a)) (VP (V b)))", "(S (N a) (VP (V b)))"
WRONG: list[tuple[Any, dict[str, Any], str]] = [
    (lambda **k: treegauge.score(GOLD, TEST, **k), {"metrics": "parseval"}, "metric"),
    (lambda **k: treegauge.score(GOLD, TEST, **k), {"breakdown": ["labels"]}, "breakdowns"),
    (lambda **k: treegauge.score(GOLD, TEST, **k), {"encodings": "utf-8"}, "encoding"),
    (lambda **k: treegauge.evaluator(**k).compute(predictions=[TEST], references=[GOLD]), {"match_word": "case"}, "match_words"),
    (lambda **k: treegauge.compare(GOLD, [TEST, GOLD], **k), {"round": 5}, "rounds"),
    (lambda **k: treegauge.report(GOLD, [TEST], **k), {"tittle": "x"}, "title"),
    (lambda **k: treegauge.read(GOLD, **k), {"tree_bank": "ctb"}, "treebank"),
    (lambda **k: treegauge.as_treebank(GOLD, **k), {"onerror": "stop"}, "on_error"),
    (lambda **k: treegauge.stream(GOLD, **k), {"line": True}, "lines"),
    (lambda **k: treegauge.write(GOLD, "-", **k), {"too": "export"}, "to"),
    (lambda **k: treegauge.diff(GOLD, TEST, **k), {"sentences": 1}, "sentence"),
    (lambda **k: treegauge.induce(GOLD, **k), {"tag": True}, "tags"),
    (lambda **k: treegauge.load("own", **k), {"devise": "cpu"}, "device"),
    (lambda **k: treegauge.mix(["own"], **k), {"share": [1]}, "shares"),
    (lambda **k: treegauge.train(GOLD, **k), {"grammar": 1}, "grammars"),
    (lambda **k: treegauge.with_confidence(treegauge.score(GOLD, TEST), **k), {"sed": 1}, "seed"),
]


@pytest.mark.parametrize(("call", "given", "right"), WRONG, ids=lambda value: str(value) if isinstance(value, str) else "")
def test_a_wrong_name_is_answered_with_the_right_one(call: Any, given: dict[str, Any], right: str) -> None:
    with pytest.raises(UnknownName, match=rf"unknown argument of \w+ '{next(iter(given))}'; did you mean '{right}'\?"):
        call(**given)


VALUES: list[tuple[Any, dict[str, Any]]] = [
    (treegauge.score, {"cutoff": "x"}),
    (treegauge.score, {"stream": "no"}),
    (treegauge.score, {"on_mismatch": 3}),
    (treegauge.score, {"on_mismatch": "drop"}),
    (treegauge.score, {"match_words": 1}),
    (treegauge.score, {"pair": "words"}),
    (treegauge.score, {"encoding": 8}),
    (treegauge.score, {"treebank": "penn-tree-bank"}),
    (treegauge.score, {"on_error": "go on"}),
    (treegauge.score, {"lines": "yes"}),
    (treegauge.score, {"preset": "colins"}),
    (treegauge.score, {"preset": 3}),
    (treegauge.score, {"metric": "parsevall"}),
    (treegauge.diff, {"sentence": "x"}),
    (treegauge.diff, {"match_words": "same"}),
]
PAIRS = [
    {"rounds": "x"},
    {"rounds": -1},
    {"seed": "x"},
    {"seed": -1},
    {"level": "x"},
    {"level": 2.0},
    {"interval": "wide"},
    {"lengths": [0]},
    {"rates": ["f2"]},
]


@pytest.mark.parametrize(
    ("call", "given"),
    [*VALUES, *((lambda gold, test, **k: treegauge.compare(gold, [test, GOLD], metric="parseval", **k), given) for given in PAIRS)],
    ids=[str(given) for _, given in VALUES] + [str(given) for given in PAIRS],
)
def test_an_error_names_the_argument(call: Any, given: dict[str, Any]) -> None:
    (name,) = given
    with pytest.raises(TreegaugeError) as error:
        call(GOLD, TEST, **given)
    said = str(error.value).replace("_", " ").replace("-", " ")
    assert name.replace("_", " ").removesuffix("s") in said, said


def test_an_error_names_an_argument_that_was_given_without_its_name() -> None:
    with pytest.raises(treegauge.UsageError, match=r"sentence must be a whole number, not '1'"):
        treegauge.diff(GOLD, TEST, "1")  # type: ignore[arg-type]


def test_options_for_reading_are_keywords_of_every_call(tmp_path: Any) -> None:
    path = tmp_path / "gold.mrg"
    path.write_bytes("(S (NP (N caf\xe9)) (VP (V b)))".encode("latin-1"))
    test = "(S (N caf\xe9) (VP (V b)))"
    assert treegauge.read(path, encoding="latin-1")[0].words == ("caf\xe9", "b")
    assert [bank[0].words for bank in treegauge.stream(path, encoding="latin-1")] == [("caf\xe9", "b")]
    assert treegauge.score(path, test, encoding="latin-1").f1 == pytest.approx(0.8)
    assert treegauge.compare(path, {"a": test, "b": test}, metric="parseval", rounds=5, encoding="latin-1").overall.sentences == 1
    assert treegauge.diff(path, test, encoding="latin-1").wrong == 1
    assert treegauge.evaluator(encoding="latin-1").compute(predictions=[test], references=path)["f1"] == pytest.approx(0.8)
    assert len(treegauge.induce(path, encoding="latin-1").rules) == 5
    assert treegauge.report(path, {"a": test}, rounds=5, encoding="latin-1", metric="parseval").systems == ("a",)


def test_numbers_of_numpy_are_numbers() -> None:
    import numpy as np

    assert treegauge.score(GOLD, TEST, cutoff=np.int64(3), stream=np.bool_(False)).f1 == pytest.approx(0.8)
    assert treegauge.score(GOLD, TEST, cutoff=None).f1 == pytest.approx(0.8)


def test_steps_are_named_as_on_the_command_line() -> None:
    with pytest.raises(UsageError, match="did you mean 'traces'"):
        normalise.pipeline("trace")


def test_trees_and_presets_in_any_form(tmp_path: Path) -> None:
    path = tmp_path / "train.mrg"
    path.write_text("(S (NP (DT the) (NN cat)) (VP (VBD sat)))\n")
    gold, settings = treegauge.read(path), LearningSettings(nonterminals=2, iterations=2)
    learned = treegauge.learn(BracketedSentences.from_treebank(gold), settings).cross_entropy
    assert treegauge.learn(path, settings).cross_entropy == treegauge.learn(gold, settings).cross_entropy == learned
    assert baseline_for("random", gold, "induction") == baseline_for("random", gold, load_preset("induction"))
    forest = treegauge.Forest(treegauge.PCFG.parse('S -> "a" "b" [1]'), ["a", "b"])
    assert forest.expected_score("(S a b)") == 1
    assert repr(forest.grammar) == "<PCFG of 1 rule, 1 symbol, 2 words>"
    wrong: Any = "x.svg"
    with pytest.raises(UsageError, match="returns text"):
        gold[0].draw(wrong)
