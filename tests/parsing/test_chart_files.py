"""Files of span charts, the commands ``decode`` and ``consensus``, and tuning on held-out charts."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from click.testing import CliRunner

from treegauge.cli import consensus, decode
from treegauge.errors import FormatError, InputError, MismatchError, TreegaugeError, UsageError
from treegauge.parsing import SpanChart, decode as decode_array, read_charts, tune, write_charts
from treegauge.trees import Tree

LABELS = ["", "NP", "VP", "S"]
WORDS = [["it", "rains"], ["time", "flies", "like", "arrows"]]
TAGS = [["PRP", "VBZ"], ["NN", "VBZ", "IN", "NNS"]]


def scores(seed: int = 4) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [rng.normal(scale=2, size=(len(words), len(words), 4)) for words in WORDS]


@pytest.fixture
def charts(tmp_path: Path) -> str:
    path = tmp_path / "charts.npz"
    write_charts(path, scores(), LABELS, words=WORDS, tags=TAGS, null=[0])
    return str(path)


COMMANDS = {"decode": decode.command, "consensus": consensus.command}


def run(name: str, *arguments: str) -> Any:
    """A command that succeeds."""
    result = CliRunner().invoke(COMMANDS[name], list(arguments))
    assert result.exit_code == 0, result.output
    return result


def refused(name: str, *arguments: str) -> str:
    """The message of the error of ours that a command ends with."""
    error = CliRunner().invoke(COMMANDS[name], list(arguments)).exception
    assert isinstance(error, TreegaugeError)
    return str(error)


def exact(objective: str | None = None, **options: Any) -> list[str]:
    """The trees of the charts themselves."""
    made = [SpanChart(s, null=0, labels=LABELS, words=w, tags=t) for s, w, t in zip(scores(), WORDS, TAGS, strict=True)]
    return [str(chart.argmax(objective, **options).tree) for chart in made]


def test_all_layouts_hold_the_same_charts(tmp_path: Path, charts: str) -> None:
    padded, fence = np.zeros((2, 4, 4, 4)), np.zeros((2, 5, 5, 4))
    for i, own in enumerate(scores()):
        n = len(own)
        padded[i, :n, :n], fence[i, :n, 1 : n + 1] = own, own
    lines = {"words": np.array([" ".join(w) for w in WORDS]), "tags": np.array([" ".join(t) for t in TAGS])}
    common = {"lengths": np.array([2, 4]), "labels": np.array(LABELS), "null": np.array([0]), **lines}
    cast(Any, np).savez(tmp_path / "padded.npz", scores=padded, **common)
    cast(Any, np).savez(tmp_path / "fence.npz", scores=fence, convention=np.array("fencepost"), **common)
    for path in (charts, tmp_path / "padded.npz", tmp_path / "fence.npz"):
        found = list(read_charts(path))
        assert [list(chart.words) for chart in found] == WORDS
        assert [chart.tags for chart in found] == TAGS
        for chart, own in zip(found, scores(), strict=True):
            assert np.array_equal(np.triu(chart.scores.transpose(2, 0, 1)), np.triu(own.transpose(2, 0, 1)))
            assert chart.null == [0]
    assert [chart.null for chart in read_charts(charts, null=["NP", -1])] == [[1, 3]] * 2


ONE: dict[str, Any] = {"labels": np.array(["a"]), "scores.0": np.zeros((2, 2, 1))}
PADDED: dict[str, Any] = {"labels": np.array(["a"]), "scores": np.zeros((1, 2, 2, 1))}


def test_the_convention_can_be_given_in_python(tmp_path: Path) -> None:
    """Of one array, and of a file that does not name it; one that says "inclusive" may have a row more than words."""
    fence = np.full((3, 3, 1), -5.0)
    fence[0, 2], fence[1, 2], fence[2, 1] = 0.0, 3.0, 9.0
    assert decode_array(fence, "viterbi", convention="fencepost").tree == SpanChart(fence[:-1, 1:]).argmax("viterbi").tree
    assert np.array_equal(SpanChart(fence, convention="fencepost").scores[:, :, 0], [[-5.0, 0.0], [0.0, 3.0]])
    with pytest.raises(UsageError, match="unknown convention 'fence'"):
        SpanChart(fence, convention="fence")
    arrays: dict[str, Any] = {"scores": fence[None], "lengths": [2], "labels": ["a"]}
    cast(Any, np).savez(tmp_path / "fence.npz", **arrays)
    (chart,) = read_charts(tmp_path / "fence.npz", convention="fencepost")
    assert np.array_equal(chart.scores[:, :, 0], [[-5.0, 0.0], [0.0, 3.0]])
    cast(Any, np).savez(tmp_path / "inclusive.npz", convention="inclusive", **arrays)
    (chart,) = read_charts(tmp_path / "inclusive.npz")
    assert np.array_equal(chart.scores[:, :, 0], [[-5.0, -5.0], [0.0, -5.0]])


def test_one_null_label_may_stand_alone(tmp_path: Path) -> None:
    """As a number or as a name, and not in a list."""
    for null in (1, "b"):
        cast(Any, np).savez(
            tmp_path / "alone.npz", **PADDED | {"labels": ["a", "b"], "scores": np.zeros((1, 2, 2, 2))}, lengths=[2], null=null
        )
        (chart,) = read_charts(tmp_path / "alone.npz")
        assert chart.null == [1]


@pytest.mark.parametrize("more", [{}, {"labels": np.array(["NT"])}])
@pytest.mark.parametrize("fence", [0, 1])
def test_a_model_of_brackets_needs_no_axis_for_labels(tmp_path: Path, more: dict[str, Any], fence: int) -> None:
    one = np.zeros((3 + fence, 3 + fence))
    one[0, 1 + fence] = 2.0
    form: dict[str, Any] = {**more, "convention": np.array(["inclusive", "fencepost"][fence]), "words": np.array(["a b c"])}
    X = "NT" if more else "X"
    for arrays in ({"scores.0": one}, {"scores": one[None], "lengths": np.array([3])}):
        cast(Any, np).savez(tmp_path / "brackets.npz", **form, **arrays)
        (chart,) = read_charts(tmp_path / "brackets.npz")
        assert str(chart.argmax("viterbi").tree) == f"({X} ({X} ({X} a) ({X} b)) ({X} c))"


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"scores.0": np.zeros((2, 2, 1))}, "there is no array 'labels' in it"),
        ({"labels": np.array(["a"])}, "there is no array 'scores.0' in it"),
        (
            {"labels": np.array(["a"]), "scores.1": np.zeros((2, 2, 1))},
            "there is no array 'scores.0' in it\n  It has labels, scores.1",
        ),
        ({"labels": np.array(["a"]), "scores": np.zeros((1, 2, 2, 1))}, "there is no array 'lengths'"),
        ({"labels": np.array(["a"]), "scores": np.zeros((1, 2, 2, 1)), "lengths": np.array([3])}, "a length of 3 does not fit"),
        ({"labels": np.array(["a"]), "scores": np.zeros((2, 2)), "lengths": np.array([2])}, "must be (sentences, n, n, labels)"),
        ({"labels": np.array(["a"]), "scores.0": np.zeros((2, 3, 1))}, "chart 1: span scores must be an array"),
        ({"labels": np.array(["a"]), "scores.0": np.full((2, 2, 1), np.nan)}, "chart 1: span scores must not be nan"),
        ({"labels": np.array(["a", "b"]), "scores.0": np.zeros((2, 2, 1))}, "chart 1: scores of shape (2, 2, 1) need 1 labels"),
        ({"labels": np.array(["a"]), "scores.0": np.zeros((2, 2, 1)), "words": np.array([], np.str_)}, "words has 0 lines"),
        ({"labels": np.array(["a"]), "scores.0": np.zeros((2, 2, 1)), "convention": np.array("open")}, "unknown convention 'open'"),
        ({"charts": np.zeros((1, 2, 2))}, "there is no array 'scores' in it\n  It has charts; it must have scores"),
        ({"labels": np.array(["a"]), "charts": np.zeros((1, 2, 2))}, "It has charts, labels; it must have scores"),
        ({**PADDED, "lengths": np.array([1])}, 'by fenceposts?\n  Add the array convention="fencepost" (or "inclusive")'),
        ({"labels": np.array([{}], object), "scores.0": np.zeros((2, 2, 1))}, "with an array 'labels'"),
        ({"labels": np.array("a"), "scores.0": np.zeros((2, 2, 1))}, "array 'labels' must have one string for each entry"),
        ({**ONE, "words": np.array("a b")}, "array 'words' must have one string for each entry"),
        ({**ONE, "words": np.array([["a", "b"]])}, "array 'words' must have one string for each entry"),
        ({**ONE, "words": np.array(["a b", "c d"])}, "words has 2 lines for 1 chart"),
        ({**ONE, "tags": np.array(["a b c"])}, "2 tags (or none); given: 1 label, 2 words, 3 tags"),
        ({**ONE, "null": np.array([0.0])}, "null label 0.0 is not one of the labels"),
        ({**ONE, "null": np.array("b")}, "null label 'b' is not one of the labels"),
        ({**ONE, "scores.0": np.full((2, 2, 1), -np.inf)}, "chart 1: every tree over these spans has potential 0"),
        ({**ONE, "scores.0": np.zeros((2, 2, 1), complex)}, "chart 1: span scores must be real numbers, not complex128"),
        ({**ONE, "scores.0": np.full((2, 2, 1), "a")}, "chart 1: span scores must be real numbers"),
        ({**ONE, "scores.0": np.zeros(4), "convention": np.array("fencepost")}, "(n+1, n+1, labels) by fenceposts, n at least 1"),
        ({**ONE, "scores.0": np.zeros((1, 1, 1)), "convention": np.array("fencepost")}, "n at least 1, not of shape (1, 1, 1)"),
        ({**PADDED, "lengths": np.array([1.5])}, "lengths must be whole numbers, not float64"),
        ({**PADDED, "lengths": np.array(["2"])}, "lengths must be whole numbers"),
    ],
)
def test_wrong_files(tmp_path: Path, arrays: dict[str, Any], message: str) -> None:
    path = tmp_path / "wrong.npz"
    cast(Any, np).savez(path, **arrays)
    found = refused("decode", str(path))
    assert message in found
    assert "wrong.npz" in found
    if "potential 0" not in message:
        with pytest.raises(FormatError) as caught:
            list(read_charts(path))
        assert str(caught.value) == found


def test_files_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "text.npz").write_text("(S a)")
    np.save(tmp_path / "one.npy", np.zeros(3))
    for name in ("text.npz", "one.npy"):
        with pytest.raises(FormatError):
            list(read_charts(tmp_path / name))
    with pytest.raises(InputError, match="No such file"):
        list(read_charts(tmp_path / "nothing.npz"))


def test_zeros_that_unpack_to_a_gigabyte_are_refused_unread(tmp_path: Path) -> None:
    """An archive that declares 200 times its size is refused by what it declares."""
    path = tmp_path / "zeros.npz"
    cast(Any, np).savez_compressed(path, scores=np.zeros((1, 3000, 3000, 1)), lengths=np.array([3000]), labels=np.array(["X"]))
    with pytest.raises(FormatError, match=r"it unpacks to 72,\d+,\d+ bytes, [\d,]+ times its size: refused"):
        next(read_charts(path))


def test_decode(charts: str, tmp_path: Path) -> None:
    assert run("decode", charts).stdout.splitlines() == exact()
    assert run("decode", charts, "--objective", "viterbi").stdout.splitlines() == exact("viterbi")
    by_price = run("decode", charts, "--objective", "labelled-precision-recall", "--lam", "0.1").stdout.splitlines()
    assert by_price == exact("labelled-precision-recall", lam=0.1)
    done = run("decode", charts, "-o", str(tmp_path / "out.mrg"))
    assert "2 sentences decoded" in done.stderr
    assert (tmp_path / "out.mrg").read_text().splitlines() == exact()
    best = run("decode", charts, "--kbest", "3").stdout.splitlines()
    assert [len(best), best[6], best[1]] == [14, "", exact("viterbi")[0]]
    assert best[0].startswith("# sentence 1, parse 1, posterior 0.")
    assert run("decode", charts, "--objective", "mbr:parseval", "--size", "20").stdout.count("\n") == 2


def test_decode_says_how_sure_it_is(charts: str) -> None:
    records = [json.loads(line) for line in run("decode", charts, "--format", "jsonl", "--kbest", "2").stdout.splitlines()]
    for record, own, words, tags in zip(records, scores(), WORDS, TAGS, strict=True):
        chart = SpanChart(own, null=0, labels=LABELS, words=words, tags=tags)
        tree = Tree.parse(record["tree"])
        confidence = chart.confidence(tree)
        assert record["confidence"]["probability"] == pytest.approx(confidence.probability)
        assert record["confidence"]["expected_f1"] == pytest.approx(confidence.f1)
        assert record["expected_score"] == pytest.approx(confidence.f1)
        assert [c[3] for c in record["constituents"]] == pytest.approx([c.posterior for c in confidence.constituents])
        assert record["kbest"][0]["probability"] == pytest.approx(math.exp(chart.best().log_probability - chart.log_partition))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--objective", "best"], "unknown objective"),
        (["--objective", "viterbi", "--lam", "0.3"], "takes no option 'lam'"),
        (["--null", "QP"], "null label 'QP' is not one of the labels"),
        (["--temperature", "0"], "temperature must be a number above 0"),
        (["--kind", "posteriors"], "posteriors must lie between 0 and 1"),
    ],
)
def test_decode_refuses(charts: str, options: list[str], message: str) -> None:
    assert message in refused("decode", charts, *options)


A = "(S (NP (D the) (N cat)) (V ran))\n(S (NP (N rain)) (V fell))\n"
B = "(S (D the) (VP (N cat) (V ran)))\n(S (NP (N rain)) (VP (V fell)))\n"


def test_consensus(tmp_path: Path) -> None:
    for name, text in (("a", A), ("b", B), ("c", A), ("short", A[: A.index("\n")]), ("other", A.replace("cat", "dog"))):
        (tmp_path / f"{name}.mrg").write_text(text)
    a, b, c, short, other = (str(tmp_path / f"{name}.mrg") for name in ("a", "b", "c", "short", "other"))
    done = run("consensus", b, a, c)
    assert done.stdout == A
    assert "2 sentences; mean agreement" in done.stderr
    assert "2 from" in done.stderr
    assert run("consensus", b, a, c, "--weight", "5", "--weight", "1", "--weight", "1").stdout == B
    assert run("consensus", b, a, c, "--metric", "freval").stdout.count("\n") == 2
    assert "different numbers of sentences" in refused("consensus", a, short)
    assert "word 2 of" in refused("consensus", a, other)
    assert "two files or more" in refused("consensus", a)
    assert "1 weights for 2 files" in refused("consensus", a, b, "--weight", "1")
    assert "neither higher nor lower" in refused("consensus", a, b, "--metric", "hogenhout.generation_rate")
    assert "all weights are 0" in refused("consensus", a, b, "--weight", "0", "--weight", "0")
    crossing = run("consensus", b, a, c, "--metric", "parseval.average_crossing")
    assert crossing.stdout.splitlines()[0] == A.splitlines()[0]  # the fewest crossings, not the most
    assert "mean agreement 0.1667" in crossing.stderr


def test_a_failed_parse_has_no_vote(tmp_path: Path) -> None:
    for name, text in (("a", A), ("none", "(())\n(())\n"), ("b", B)):
        (tmp_path / f"{name}.mrg").write_text(text)
    done = run("consensus", *(str(tmp_path / f"{name}.mrg") for name in ("none", "a", "b")))
    assert done.stdout.splitlines()[0] in (A + B).splitlines()
    assert "0 from" in done.stderr


def sampled(sharper: float = 1.0) -> tuple[list[SpanChart], list[Tree]]:
    """Charts of six words with gold trees drawn from their own distribution, and the same charts made surer than they are."""
    rng = np.random.default_rng(3)
    charts, gold = [], []
    for i in range(150):
        own = rng.normal(scale=1.5, size=(6, 6, 3))
        own[:, :, 0] += 1.0
        gold += SpanChart(own, null=0, tags=["T"] * 6).sample(1, seed=i)
        charts.append(SpanChart(own * sharper, null=0, tags=["T"] * 6))
    return charts, gold


def test_tuning() -> None:
    """Where posteriors are right, decoding for F1 beats Viterbi; charts that are four times too sure are found out."""
    charts, gold = sampled()
    tuned = tune(charts, gold, temperatures=[1.0], lams=[None, 0.2])
    f1 = {(setting.objective, setting.lam): setting.f1 for setting in tuned.settings}
    assert tuned.best == max(tuned.settings, key=lambda setting: setting.f1)
    assert tuned.options == {"temperature": 1.0, "objective": "labelled-precision-recall"}
    assert f1["labelled-precision-recall", None] > f1["viterbi", None]
    found = [set(chart.spans(chart.argmax().tree).items()) for chart in charts]
    right = [set(chart.spans(tree).items()) for chart, tree in zip(charts, gold, strict=True)]
    sizes = sum(map(len, found)) + sum(map(len, right))
    assert tuned.best.f1 == pytest.approx(2 * sum(len(a & b) for a, b in zip(found, right, strict=True)) / sizes)
    assert tuned.calibration_error < 0.03
    assert sum(b.size for b in tuned.bins) == sum(len(chart.constituents(0.01)) for chart in charts)
    sure, _ = sampled(4.0)
    options: dict[str, Any] = {"objectives": ["labelled-precision-recall"], "lams": [None]}
    wrong, cooled = (tune(sure, gold, temperatures=[temperature], **options) for temperature in (1.0, 4.0))
    assert cooled.best.f1 == pytest.approx(tuned.best.f1)
    assert cooled.log_loss == pytest.approx(tuned.log_loss)
    assert wrong.calibration_error > 3 * cooled.calibration_error
    assert wrong.log_loss > cooled.log_loss
    assert "temperature 4: F1" in str(cooled)


def test_tuning_refuses() -> None:
    charts, gold = sampled()
    with pytest.raises(MismatchError, match="150 charts and 1 gold trees"):
        tune(charts, gold[:1])
    with pytest.raises(MismatchError, match="sentence 1: a chart of 6 words and a gold tree over 1"):
        tune(charts[:1], [Tree.parse("(S (T a))")])
    with pytest.raises(UsageError, match="posteriors have no temperature"):
        tune([SpanChart(charts[0].posterior, kind="posteriors", null=0)], gold[:1])
    some, trees = charts[:1], gold[:1]
    wrong: Any = [str(trees[0])]
    with pytest.raises(UsageError, match="sentence 1: str where a Tree is needed"):
        tune(some, wrong)
    wrong = [some[0].scores]
    with pytest.raises(UsageError, match="sentence 1: ndarray where a SpanChart is needed"):
        tune(wrong, trees)
    with pytest.raises(UsageError, match="nothing to choose from"):
        tune(some, trees, temperatures=[])
    assert tune(iter(some), iter(trees), temperatures=[1.0], objectives=["viterbi"]).best.objective == "viterbi"


def test_strings_that_are_no_text_are_refused(tmp_path: Path) -> None:
    labels = np.array(["S", "NP"])
    labels.view(np.uint32)[0] = 0x7FFFFFFF
    np.savez(tmp_path / "c.npz", **{"scores.0": np.zeros((1, 1, 2))}, labels=labels)
    with pytest.raises(FormatError, match="this file is damaged"):
        list(read_charts(tmp_path / "c.npz"))
