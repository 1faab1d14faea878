"""Parts of a run: what they hold comes back bit for bit, and what does not belong together is refused."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treegauge.cli._engines import part_format
from treegauge.engines.parts import ShardValues, parse_shard
from treegauge.errors import UnknownName, UsageError
from treegauge.grammar import PCFG
from treegauge.grammar.tree_counts import Recipe, count_trees
from treegauge.io.archive import ArrayStore, write_archive
from treegauge.learning.em import DenseGrammar
from treegauge.learning.loop import StartResult
from treegauge.metrics.fragments import BySize
from treegauge.metrics.metric import ExactSum
from treegauge.metrics.registry import find_metric, metric_names
from treegauge.parsing.parser import Sentence
from treegauge.parsing.shards import ParseRecord
from treegauge.scoring.counts import Request, SystemCounts
from treegauge.scoring.shards import HashOfFiles, RangeCounts
from treegauge.trees.tree import from_flat
from treegauge.trees.treebank import Treebank

GOLD = "(S (NP (DT the) (NN cat)) (VP (VBD sat)))\n" * 20
TEST = "(S (DT the) (NN cat) (VP (VBD sat)))\n" * 20


def through_json(command: str, value: Any) -> Any:
    form, store = part_format(command), ArrayStore()
    document = json.loads(json.dumps(form.save(value, store), allow_nan=False))
    return form.load(document, ArrayStore(store.arrays))


def same(one: Any, other: Any) -> bool:
    """Equal, and of the same types all the way down; nan is itself."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        array, its = cast("np.ndarray[Any, Any]", one), cast("np.ndarray[Any, Any]", other)
        return (array.dtype, array.shape) == (its.dtype, its.shape) and same(array.tolist(), its.tolist())
    if isinstance(one, float):
        return repr(one) == repr(other)
    if isinstance(one, list | tuple):
        return len(cast("list[Any]", one)) == len(other) and all(map(same, one, other))
    if isinstance(one, Mapping):
        ours = cast("Mapping[Any, Any]", one)
        return list(ours) == list(other) and all(same(ours[key], other[key]) for key in ours)
    if hasattr(one, "__getstate__") and type(one).__module__.startswith("treegauge") and not isinstance(one, Treebank):
        return same(one.__getstate__(), other.__getstate__())
    return bool(one == other)


@pytest.mark.parametrize("metric", metric_names())
@pytest.mark.parametrize("breakdowns", [(), ("labels", "errors", "lengths")])
def test_counts_of_every_metric_come_back(metric: str, breakdowns: tuple[str, ...]) -> None:
    gold, test = Treebank.parse(GOLD), Treebank.parse(TEST.replace("cat", "dog", 1).replace("(VP (VBD sat))", "(VBD sat)", 1))
    counts = SystemCounts(Request((find_metric(metric),), breakdowns=breakdowns))
    counts.add(gold, test, np.arange(len(gold)))
    value = through_json("score", RangeCounts(2, 3, counts))
    assert value[:2] == (2, 3)
    back = value.counts
    assert same(back, counts)
    twice, again = SystemCounts(counts.request), SystemCounts(counts.request)
    for total, part in ((twice, back), (again, counts)):
        total.append(part)
        total.append(through_json("score", RangeCounts(0, 0, counts)).counts)
    assert same(twice, again)
    assert twice.n_gold == 2 * counts.n_gold > 0


@given(st.lists(st.floats(-1e300, 1e300), max_size=8), st.integers(0, 2**20000))
def test_sums_come_back_exactly(floats: list[float], count: int) -> None:
    counts = SystemCounts(Request((find_metric("goodman"),)))
    total = ExactSum(2)
    rows = np.empty((1, 2), dtype=object)
    rows[0] = (count, BySize((count, 1)))
    total.add(rows)
    means = ExactSum(1)
    means.add(np.array(floats, dtype=np.float64).reshape(-1, 1))
    counts.of_metrics[0].total, counts.of_metrics[0].short = total, means
    back = through_json("freval", RangeCounts(0, 0, counts)).counts.of_metrics[0]
    assert back.total.values() == total.values()
    assert same(back.short.state(), means.state())


def test_hashes_and_sentences_out_of_step_come_back() -> None:
    for value in (HashOfFiles(((0, "gold"), (1, "gold")), "0123abcd"), RangeCounts(1, 0, None)):
        assert same(through_json("score", value), value)


def test_parses_come_back() -> None:
    parses = [
        ParseRecord("(S a\ud800)\n", False),
        ParseRecord("()", True, Sentence(("a",))),
        ParseRecord("", True, Sentence(("b",), ("B",)), True),
    ]
    assert same(through_json("parse", parses), parses)


@pytest.mark.parametrize("estimator", ["counts", "dop1"])
def test_counts_of_trees_come_back_in_order(estimator: str) -> None:
    counts = count_trees(Treebank.parse(GOLD + TEST), Recipe(steps="", estimator=estimator, rule_weight=0.5))
    back = through_json("induce", counts)
    assert list(back.rules.items()) == list(counts.rules.items())
    assert list(back.tokens.items()) == list(counts.tokens.items())
    assert (back.trees, back.left_out, back.roots, back.nodes) == (counts.trees, counts.left_out, counts.roots, counts.nodes)
    assert [from_flat(flat) for flat in back.flat] == [from_flat(flat) for flat in counts.flat]
    assert bool(back.flat) == (estimator == "dop1")
    assert through_json("induce", "0123abcd") == "0123abcd"


@pytest.mark.parametrize("dense", [True, False])
def test_learned_grammars_come_back(dense: bool) -> None:
    grammar = PCFG.parse('S -> S S [0.1] | "a" [0.9]')
    start = StartResult((3.25, 1 / 3), DenseGrammar.from_pcfg(grammar) if dense else grammar, 2)
    back = through_json("learn", start)
    assert (back.history, back.skipped) == (start.history, 2)
    assert str(back.grammar.to_pcfg() if dense else back.grammar) == str(grammar)


def test_commands_without_parts_have_no_format() -> None:
    with pytest.raises(UnknownName, match="Valid: freval, induce, learn, parse, score"):
        part_format("compare")


def test_a_part_of_an_older_version_asks_for_another_run(here: Path, run: Callable[..., Any]) -> None:
    (here / "1.part").write_text('{"schema": "treegauge.part/1", "sha256": "0"}\n{}\n')
    write_archive(here / "2.part", {"schema": "treegauge-part", "version": 2, "run": {}, "plans": [], "results": []}, {})
    for name in ("1.part", "2.part"):
        done = run("merge", name)
        assert done.code == 3
        assert "Run the shards again" in done.err


@given(st.lists(st.integers(0, 3), max_size=8), st.permutations(range(4)))
def test_values_of_shards_add_in_any_order(owners: list[int], order: list[int]) -> None:
    parts = [ShardValues("cut", len(owners), {k: str(k) for k, own in enumerate(owners) if own == part}) for part in range(4)]
    one, two, three, four = (parts[part] for part in order)
    assert (one + two + three + four).in_order() == (four + (three + (two + one))).in_order() == list(map(str, range(len(owners))))


def test_values_of_other_shards_or_the_same_ones_do_not_add() -> None:
    ours = ShardValues("cut", 2, {0: "x"})
    with pytest.raises(ValueError, match="different ways"):
        _ = ours + ShardValues("other", 2, {1: "y"})
    with pytest.raises(ValueError, match="counted twice"):
        _ = ours + ShardValues("cut", 2, {0: "x"})
    with pytest.raises(KeyError):
        ours.in_order()


def test_a_part_is_json_and_arrays(here: Path, run: Callable[..., Any]) -> None:
    run("score", "gold.mrg", "test.mrg", "--per-sentence", "--shard", "1/1", "--part", "one")
    with zipfile.ZipFile(here / "one") as archive:
        names = archive.namelist()
        assert json.loads(archive.read("model.json"))["run"]["command"] == "score"
    assert {name.rpartition(".")[2] for name in names} == {"json", "npy"}


def test_which_of_how_many() -> None:
    assert parse_shard("10/10") == (10, 10)
    for text in ("0/3", "4/3", "3", "a/b", "1/", "/2", "-1/2", "1.5/2"):
        with pytest.raises(UsageError, match="as in 3/10"):
            parse_shard(text)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gold.mrg").write_text(GOLD)
    (tmp_path / "test.mrg").write_text(TEST)
    return tmp_path


def test_parts_have_names_of_their_own_and_may_come_in_any_order(here: Path, run: Callable[..., Any]) -> None:
    for number in (1, 2):
        done = run("score", "gold.mrg", "test.mrg", "--shard", f"{number}/2")
        assert done.err.startswith(f"wrote score.{number}-of-2.part")
    assert run("merge", "score.2-of-2.part", "score.1-of-2.part") == run("score", "gold.mrg", "test.mrg")


def test_what_does_not_belong_together_is_refused(here: Path, run: Callable[..., Any]) -> None:
    def part(name: str, *arguments: str, shard: str) -> str:
        assert run(*arguments, "--shard", shard, "--part", name).code == 0
        return name

    score = ("score", "gold.mrg", "test.mrg")
    one = part("one", *score, shard="1/2")
    two = part("two", *score, shard="2/2")
    cases = {
        "1 of 2 parts are missing: 2": [one],
        "part 1 of 2 is given twice": [one, part("again", *score, shard="1/2")],
        "named twice": [one, two, two],
        "its number of parts is 3, not 2": [one, part("third", *score, shard="2/3")],
        "these settings differ: metrics": [one, part("other", *score, "-m", "goodman", shard="2/2")],
        "its command is freval, not score": [one, part("freval", "freval", "gold.mrg", "test.mrg", shard="2/2")],
        "no such file": [one, "nothing"],
        "not a part of a run": [one, "gold.mrg"],
    }
    (here / "cut").write_bytes((here / "two").read_bytes()[:-200])
    cases["damaged or cut short"] = [one, "cut"]
    (here / "test.mrg").write_text(TEST.replace("cat", "dog"))
    cases["the input files have changed"] = [one, part("changed", *score, shard="2/2")]
    for message, parts in cases.items():
        done = run("merge", *parts)
        assert (done.code in (2, 3), done.out) == (True, ""), message
        assert message in done.err


def test_options_that_do_not_go_with_parts(here: Path, run: Callable[..., Any]) -> None:
    for arguments, message in (
        (("score", "gold.mrg", "test.mrg", "--part", "x"), "--part names the output file of a part"),
        (("parse", "own", "gold.mrg", "-o", "x", "--resume", "--shard", "1/2"), "--resume cannot be combined with --shard"),
        (("parse", "own", "-", "--shard", "1/2"), "standard input can be read only once"),
        (("score", "gold.mrg", "test.mrg", "--engine", "locale"), "unknown engine"),
        (("score", "--show-preset", "--shard", "1/2"), "nothing to split"),
    ):
        done = run(*arguments)
        assert done.code == 2
        assert message in done.err


def test_more_parts_than_shards_are_no_problem(here: Path, run: Callable[..., Any]) -> None:
    for number in range(1, 9):
        run("score", "gold.mrg", "test.mrg", "--shard", f"{number}/8", "--part", f"{number}.part")
    assert run("merge", *sorted(here.glob("*.part"))) == run("score", "gold.mrg", "test.mrg")
