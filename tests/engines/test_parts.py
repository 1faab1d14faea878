"""Parts of a run: what they hold comes back bit for bit, and what does not belong together is refused."""

from __future__ import annotations

import importlib
import json
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treegauge.cli._engines import PART_CLASSES
from treegauge.engines.parts import ValueCodec, parse_shard
from treegauge.errors import UsageError
from treegauge.metrics.base import ExactSum
from treegauge.metrics.freval import BySize
from treegauge.trees.treebank import Treebank

GOLD = "(S (NP (DT the) (NN cat)) (VP (VBD sat)))\n" * 20
TEST = "(S (DT the) (NN cat) (VP (VBD sat)))\n" * 20

keys = st.one_of(st.text(), st.integers(), st.tuples(st.text(), st.integers()))
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary()),
    lambda inner: st.one_of(
        st.lists(inner), st.lists(inner).map(tuple), st.dictionaries(keys, inner), st.dictionaries(keys, st.integers()).map(Counter)
    ),
    max_leaves=20,
)


def through_json(value: Any) -> Any:
    plain = ValueCodec(PART_CLASSES)
    return plain.decode(json.loads(json.dumps(plain.encode(value))))


def same(one: Any, other: Any) -> bool:
    """Equal, and of the same types all the way down; nan is itself."""
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return (one == other and math.copysign(1, one) == math.copysign(1, other)) or (math.isnan(one) and math.isnan(other))
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    return bool(one == other)


@given(values)
def test_plain_data_comes_back(value: Any) -> None:
    assert same(through_json(value), value)


@given(st.lists(st.floats(-1e300, 1e300), max_size=8), st.integers(0, 2**2000))
def test_sums_come_back_exactly(floats: list[float], count: int) -> None:
    total = ExactSum(2)
    rows = np.empty((1, 2), dtype=object)
    rows[0] = (count, BySize((count, 1)))
    total.add(rows)
    assert through_json(total).values() == total.values()
    means = ExactSum(1)
    means.add(np.array(floats, dtype=np.float64).reshape(-1, 1))
    assert same(through_json(means).__dict__, means.__dict__)


def test_arrays_and_treebanks_come_back() -> None:
    for array in (np.arange(6, dtype=np.int32).reshape(2, 3), np.array([0.1, np.nan]), np.array([True]), np.zeros((0, 3))):
        back = through_json(array)
        assert (back.dtype, back.shape, back.tobytes()) == (array.dtype, array.shape, array.tobytes())
    bank = Treebank.parse(GOLD)
    assert through_json(bank) == bank


@pytest.mark.parametrize(
    "value",
    [
        {"object": ["os:system", ["true"]]},
        {"object": ["treegauge.io.sources:Source.open", {}]},
        {"object": ["treegauge.cli.merge:command", {}]},
        {"call": []},
        {"int": 1, "float": 2},
    ],
)
def test_a_part_can_name_no_code(value: Any) -> None:
    with pytest.raises(ValueError):
        ValueCodec(PART_CLASSES).decode(value)


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
        "part 1 of 2 is there twice": [one, part("again", *score, shard="1/2")],
        "named twice": [one, two, two],
        "its number of parts is 3, not 2": [one, part("third", *score, shard="2/3")],
        "other settings: metrics": [one, part("other", *score, "-m", "goodman", shard="2/2")],
        "its command is freval, not score": [one, part("freval", "freval", "gold.mrg", "test.mrg", shard="2/2")],
        "no such file": [one, "nothing"],
        "no part of a run": [one, "gold.mrg"],
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


def test_every_class_that_a_part_may_hold_is_there() -> None:
    for name in PART_CLASSES:
        module, _, kind = name.partition(":")
        found = getattr(importlib.import_module(module), kind)
        assert (found.__module__, found.__qualname__) == (module, kind)
