"""Signatures: everything that could change a score, as a value, as a line, and back."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given, strategies as st

import treegauge
from treegauge import Preset, Signature, load_preset, metric_names, preset_names

GOLD = ["(TOP (S (NP (DT the) (NN cat)) (VP (VBD sat) (. .))))", "(TOP (S (NP (NN rain)) (VP (V fell))))"]
TEST = ["(TOP (S (NP (DT the) (NN cat)) (VP (VBD sat)) (. .)))", "(TOP (S (NP (NN rain) (V fell))))"]

TEXTS = st.text(max_size=8)
VALUES = st.none() | st.booleans() | st.integers() | TEXTS | st.lists(TEXTS, max_size=3) | st.floats(allow_nan=False)
PRESETS = st.builds(
    Preset,
    name=st.sampled_from(["default", "collins", "none", "mine.prm", "a b|c:d%", "default.toml"]),
    delete_tags=st.frozensets(TEXTS, max_size=4),
    delete_labels=st.frozensets(TEXTS, max_size=4),
    delete_tags_for_length=st.frozensets(TEXTS, max_size=2),
    equal_labels=st.lists(st.tuples(TEXTS, TEXTS), max_size=2).map(tuple),
    equal_words=st.lists(st.tuples(TEXTS, TEXTS), max_size=2).map(tuple),
    labelled=st.booleans(),
    cutoff_length=st.integers(0, 100),
    cut_labels_at=TEXTS,
    trivial_spans=st.booleans(),
)


@given(
    st.builds(
        Signature,
        metric=st.sampled_from(["parseval", "goodman:pre", "freval:1-15:published", "my|metric"]),
        options=st.dictionaries(TEXTS, VALUES, max_size=3),
        preset=PRESETS | st.sampled_from([load_preset(name) for name in preset_names()]),
        on_mismatch=st.sampled_from(["align", "skip", "evalb"]),
        match_words=st.sampled_from(["exact", "case", "loose", "length"]),
        sentences=st.integers(0),
        skipped=st.integers(0),
        gold=st.text("0123456789abcdef", min_size=12, max_size=12),
        test=st.text("0123456789abcdef", min_size=12, max_size=12),
        seed=st.none() | st.integers(0),
        version=st.just("0.2.0"),
    )
)
def test_the_line_and_the_data_parse_back(signature: Signature) -> None:
    line = str(signature)
    assert not any(character.isspace() for character in line)
    assert Signature.parse(line) == signature
    assert Signature.from_dict(json.loads(json.dumps(signature.to_dict()))) == signature
    assert hash(Signature.parse(line)) == hash(signature)


@pytest.mark.parametrize("metric", metric_names())
def test_every_metric_signs(metric: str) -> None:
    result = treegauge.score(GOLD, TEST, metric)
    signature = result.signature
    assert Signature.parse(str(signature)) == signature
    assert str(signature).startswith(f"{metric}|")
    assert signature.sentences + signature.skipped == 2
    assert signature.gold == treegauge.as_treebank(GOLD).sha256()[:12]
    assert signature.test == treegauge.as_treebank(TEST).sha256()[:12]
    assert signature.version == treegauge.__version__


def test_every_setting_of_a_preset_is_in_it() -> None:
    settings = {item.name for item in fields(Preset)} - {"ignored", "parameters"}
    assert set(treegauge.score(GOLD, TEST).signature.to_dict()["preset"]) == settings


@pytest.mark.parametrize(
    "changed",
    [
        {"on_mismatch": "skip"},
        {"match_words": "length"},
        {"cutoff": 10},
        {"preset": "collins"},
        {"preset": replace(load_preset("default"), labelled=False)},
        {"preset": replace(load_preset("default"), delete_labels=frozenset({"NP"}))},
        {"metric": "goodman"},
        {"metric": "goodman:pre"},
    ],
    ids=["skip", "match-words", "cutoff", "collins", "unlabelled", "other-deletions", "goodman", "goodman-pre"],
)
def test_every_option_changes_it(changed: dict[str, Any]) -> None:
    assert str(treegauge.score(GOLD, TEST, **changed).signature) != str(treegauge.score(GOLD, TEST).signature)


def test_a_preset_of_another_version_is_refused() -> None:
    line = str(treegauge.score(GOLD, TEST).signature)
    other = line.replace("preset:default@", "preset:default@f")
    with pytest.raises(treegauge.FormatError, match="different settings"):
        Signature.parse(other)


@pytest.mark.parametrize("line", ["", "parseval", "parseval|preset", "parseval|preset:default@x|version:1|colour:red"])
def test_other_text_is_refused(line: str) -> None:
    with pytest.raises(treegauge.FormatError):
        Signature.parse(line)


def test_where_a_parameter_file_lies_is_no_part_of_it(tmp_path: Any) -> None:
    (tmp_path / "a").mkdir()
    for name in ("a/my.prm", "my.prm"):
        (tmp_path / name).write_text("DELETE_LABEL TOP\nMAX_ERROR 3\n")
    one, other = (treegauge.score(GOLD, TEST, preset=tmp_path / name).signature for name in ("a/my.prm", "my.prm"))
    assert one == other
    assert str(tmp_path) not in str(one)
    assert 'preset.delete_labels:["TOP"]' in str(one)
