"""Whatever the labels contain: what can be undone is undone exactly, through a file too; words stay; what is done twice is done."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, strategies as st

from treegauge.normalise import (
    STEPS,
    TRACE_TAGS,
    annotate_parents,
    base_label,
    binarise,
    binarise_goodman,
    collapse_unaries,
    drop_double,
    drop_empty,
    drop_one_word,
    drop_punctuation,
    expand_unaries,
    hogenhout,
    mh,
    mrl,
    pipeline,
    remove_parents,
    remove_redundant,
    remove_root,
    remove_traces,
    strip_features,
    strip_functions,
    unbinarise,
    unbinarise_goodman,
    unmh,
    unmrl,
)
from treegauge.testing import labels, trees
from treegauge.trees import Tree

ANY = trees(preterminals=False, empty=True, traces=True)
H = st.none() | st.integers(0, 3)
V = st.integers(1, 4)


def same(tree: Tree) -> Tree:
    return tree


def through_text(tree: Tree) -> Tree:
    return Tree.parse(str(tree))


through = pytest.mark.parametrize("via", [same, through_text])


@through
@given(tree=ANY, direction=st.sampled_from(["right", "left", "head"]), h=H, v=V, rules=st.sampled_from(["collins", "right"]))
def test_binarise(via: Callable[[Tree], Tree], tree: Tree, direction: str, h: int | None, v: int, rules: str) -> None:
    binary = binarise(tree, direction, h=h, v=v, rules=rules)
    assert binary.words == tree.words
    assert max(len(node) for node in binary.nodes()) <= 2
    assert unbinarise(via(binary)) == tree


@through
@given(tree=ANY)
def test_goodman(via: Callable[[Tree], Tree], tree: Tree) -> None:
    binary = binarise_goodman(tree)
    assert mrl(tree) == binary
    assert max(len(node) for node in binary.nodes()) <= 2
    assert unbinarise_goodman(via(binary)) == unmrl(via(binary)) == tree


@through
@given(tree=ANY, v=V, tags=st.booleans())
def test_parents(via: Callable[[Tree], Tree], tree: Tree, v: int, tags: bool) -> None:
    assert remove_parents(via(annotate_parents(tree, v, tags=tags))) == tree


@through
@given(tree=ANY, tags=st.booleans())
def test_joined_unaries(via: Callable[[Tree], Tree], tree: Tree, tags: bool) -> None:
    joined = collapse_unaries(tree, "joined", tags=tags)
    assert expand_unaries(via(joined)) == tree
    assert expand_unaries(via(drop_double(tree))) == tree


def keeps_no_bare_bracket(label: str) -> bool:
    """Not so for ``)=1``: cut, it is the label ``)``, which no text can tell from the tag ``-RRB-``."""
    return base_label(label) not in ("(", ")")


@through
@given(
    tree=trees(
        label=labels().filter(keeps_no_bare_bracket),
        tag=labels(tags=True).filter(keeps_no_bare_bracket),
        preterminals=False,
        empty=True,
    )
)
def test_mh(via: Callable[[Tree], Tree], tree: Tree) -> None:
    made = mh(tree)
    assert made.words == tree.words
    assert max(len(node) for node in made.nodes()) <= 2
    assert unmh(via(made)) == collapse_unaries(strip_functions(tree))


@given(tree=ANY)
def test_every_invertible_step_undoes_itself_in_a_pipeline(tree: Tree) -> None:
    # mh and annotate say that they cut function tags, so they come back to trees without them.
    exact = [name for name, step in STEPS.items() if step.undo and name not in ("mh", "annotate")]
    invertible = {"unaries": "unaries:joined", "continuous": "continuous:split"}
    written = [invertible.get(name, name) for name in exact]
    chain = pipeline(",".join(written))
    made = chain(tree)
    assert made is not None
    assert chain.inverse()(made) == tree
    assert chain.inverse().inverse()(tree) == made


@given(tree=ANY, keep=st.sampled_from(["top", "bottom", "joined"]), tags=st.booleans())
def test_collapsed_unaries(tree: Tree, keep: str, tags: bool) -> None:
    made = collapse_unaries(tree, keep, tags=tags)
    unary = [node for node in made.nodes() if len(node) == 1 and isinstance(node[0], Tree)]
    assert all(not tags and isinstance(node[0], Tree) and node[0].is_preterminal for node in unary)
    assert {(s.start, s.end) for s in made.spans()} == {(s.start, s.end) for s in tree.spans()}
    if keep != "joined":
        assert made.tags == tree.tags
        assert collapse_unaries(made, keep, tags=tags) == made


@given(tree=ANY)
def test_traces(tree: Tree) -> None:
    made = remove_traces(tree)
    kept = [word for word, tag in tree.tagged() if tag not in TRACE_TAGS]
    assert list(made.words if made else ()) == kept
    assert made is None or remove_traces(made) == made
    if made and not any(not node.children for node in tree.nodes()):
        assert all(node.width for node in made.nodes())


@given(tree=ANY)
def test_empty_brackets(tree: Tree) -> None:
    made = drop_empty(tree)
    assert (made is None) == (tree.width == 0)
    if made:
        assert made.words == tree.words
        assert made.spans() == [span for span in tree.spans() if span.end > span.start]


@given(tree=trees(preterminals=False, empty=True))
def test_hogenhout(tree: Tree) -> None:
    made = hogenhout(tree)
    spoken = drop_punctuation(tree)
    expected = {(s.start, s.end) for s in spoken.spans() if s.end - s.start > 1} if spoken else set()
    found = [(s.start, s.end) for s in made.spans(preterminals=False)] if made else []
    assert sorted(found) == sorted(expected)
    assert (made.words if made else ()) == (spoken.words if spoken else ())


@given(tree=ANY)
def test_one_word_brackets(tree: Tree) -> None:
    made = drop_one_word(tree)
    assert made.words == tree.words
    assert drop_one_word(made) == made


@given(tree=ANY)
@pytest.mark.parametrize("transform", [strip_functions, strip_features, remove_redundant, remove_root])
def test_done_twice_is_done_once(transform: Callable[[Tree], Tree], tree: Tree) -> None:
    made = transform(tree)
    assert transform(made) == made
    assert made.words == tree.words


@given(tree=ANY)
def test_nothing_stands_over_its_own_label(tree: Tree) -> None:
    made = remove_redundant(tree)
    for node in made.nodes():
        only = node[0] if len(node) == 1 else None
        assert not (isinstance(only, Tree) and only.label == node.label)


@given(label=labels() | labels(tags=True))
def test_a_base_label_is_a_label(label: str) -> None:
    base = base_label(label)
    assert bool(base) == bool(label)
    assert label.startswith(base) or "##" in label
