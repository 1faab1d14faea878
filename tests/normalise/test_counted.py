"""A tree as a preset sees it has the brackets that the metrics count."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from treegauge import alignment
from treegauge.errors import UnknownName
from treegauge.normalise import apply_preset, pipeline
from treegauge.presets import load_preset
from treegauge.testing import trees
from treegauge.trees import Tree, Treebank

LABELS = st.sampled_from(["S", "NP", "NP-SBJ", "NP=2", "TOP", "ROOT", "", "ADVP", "PRT", "X", "-NONE-"])
TAGS = st.sampled_from(["NN", "NN-X", "IN", ",", ".", "-NONE-", "-LRB-"])


@given(
    tree=trees(label=LABELS, tag=TAGS, empty=True, traces=True),
    name=st.sampled_from(["collins", "default", "new", "none", "spmrl"]),
)
def test_brackets_are_those_of_the_metrics(tree: Tree, name: str) -> None:
    preset = load_preset(name)
    bank = Treebank.from_trees([tree])
    brackets = alignment.pair(bank, bank, preset).gold
    counted = Counter(
        (int(start), int(end), brackets.labels[label])
        for start, end, label in zip(brackets.start, brackets.end, brackets.label, strict=True)
    )
    made = apply_preset(tree, preset)
    found = Counter(tuple(span) for span in made.spans(preterminals=False)) if made else Counter()
    if made and preset.deletes(preset.cut_label(made.label)):
        found -= Counter([(0, made.width, made.label)])
    assert found == counted


def test_a_parameter_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.prm"
    file.write_text("DELETE_LABEL X\nDELETE_LABEL .\n")
    tree = Tree.parse("(S-1 (X (NN-2 a) (. .)) (Y=1 (. .)))")
    assert str(apply_preset(tree, file)) == str(pipeline(f'preset:"{file}"')(tree)) == "(S (NN-2 a))"
    with pytest.raises(UnknownName, match="collins"):
        pipeline("preset:colins")
