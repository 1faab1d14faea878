"""The same counts as EVALB wherever both score a sentence, on random trees, tags and parameter files; and on the cases of its
description."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from known_answers import program_cases
from numpy.typing import NDArray
from tree_pairs import treebank_pairs, trees_over

import treegauge
from treegauge import Tree, Treebank, alignment
from treegauge.alignment.brackets import Brackets
from treegauge.metrics.evalb import ERROR, SKIP, VALID, SentenceResult, score_lines
from treegauge.metrics.evalb.program import Totals, evalb, summary
from treegauge.metrics.matching import partners
from treegauge.metrics.parseval import Parseval
from treegauge.presets import EvalbFile, from_parameters, load_preset
from treegauge.presets.prm import Parameters, parse_prm
from treegauge.reports.scores import evalb_layout
from treegauge.scoring import evaluation
from treegauge.scoring.evalb_view import EvalbOutcome
from treegauge.trees.tree import Child

TAGS = ("NN", "DT", "VB", ",", ".", ":", "``", "''", "POS", "ROOT")
WORDS = ("a", "b", ",", "'", '"', "``", "(", "3\\/4")
LABELS = ("S", "NP", "VP", "ADVP", "PRT", "NX", "TOP", "ROOT", "NP-SBJ", "")


def retagged(tree: Tree, labels: list[str], tags: list[str]) -> Tree:
    """The tree with labels and tags drawn anew, in order."""
    label, tag = iter(labels), iter(tags)

    def over(node: Child) -> Child:
        if isinstance(node, str):
            return Tree(next(tag), [node])
        if node.is_preterminal:
            return Tree(next(tag), node.children)
        return Tree(next(label), [over(child) for child in node.children])

    made = over(tree)
    assert isinstance(made, Tree)
    return made


@st.composite
def sentence_pairs(draw: st.DrawFn) -> tuple[Tree, Tree]:
    words = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=7))
    sides = []
    same_tags = draw(st.lists(st.sampled_from(TAGS), min_size=len(words), max_size=len(words)))
    for _ in range(2):
        tree = draw(trees_over(words))
        phrases = draw(st.lists(st.sampled_from(LABELS), min_size=tree.size, max_size=tree.size))
        tags = [draw(st.sampled_from(TAGS)) if draw(st.integers(0, 5)) == 0 else tag for tag in same_tags]
        sides.append(retagged(tree, phrases, tags))
    return sides[0], sides[1]


@st.composite
def parameters(draw: st.DrawFn) -> Parameters:
    def some(values: tuple[str, ...]) -> tuple[bytes, ...]:
        return tuple(value.encode() for value in draw(st.lists(st.sampled_from(values), max_size=5)))

    equal = draw(st.lists(st.tuples(st.sampled_from(LABELS[:6]), st.sampled_from(LABELS[:6])), max_size=3))
    return Parameters(
        max_error=draw(st.integers(-2, 2)),
        labelled=draw(st.booleans()),
        cutoff_length=draw(st.integers(0, 7)),
        delete_labels=some((*TAGS, "TOP", "NP")),
        delete_labels_for_length=some(TAGS),
        quote_labels=some(("NN", "''", "``", "POS")),
        equal_labels=tuple((a.encode(), b.encode()) for a, b in equal),
        equal_words=((b"a", b"b"),) if draw(st.booleans()) else (),
    )


def lines(bank: Treebank) -> list[bytes]:
    return [str(tree).encode() + b"\n" for tree in bank]


@settings(max_examples=40)
@given(st.lists(sentence_pairs(), min_size=1, max_size=4), parameters())
def test_what_evalb_would_do_is_what_evalb_does(pairs: list[tuple[Tree, Tree]], chosen: Parameters) -> None:
    gold, test = (Treebank.from_trees(side) for side in zip(*pairs, strict=True))
    preset = replace(from_parameters(chosen, "random"), parameters=EvalbFile("random.prm", chosen))
    results = list(score_lines(lines(gold), lines(test), chosen))
    ours = treegauge.score(gold, test, preset=preset)
    assert ours.evalb is not None
    assert ours.evalb.sentences == len(results)
    assert ours.evalb.errors == sum(result.status == ERROR for result in results)
    assert ours.evalb.skips == sum(result.status == SKIP for result in results)
    valid = [result for result in results if result.status == VALID]
    assert ours.evalb.matched == sum(result.matched for result in valid)
    assert (ours.evalb.gold, ours.evalb.test) == (sum(result.gold for result in valid), sum(result.test for result in valid))
    errors = [result.id for result in results for _ in result.messages]
    stops = [number for k, number in enumerate(errors, 1) if k - 1 > chosen.max_error]
    assert ours.evalb.stops_at == (stops[0] if stops else None)


def test_the_f_measure_is_rounded_as_evalb_rounds_it() -> None:
    """30 of 61 and of 67 brackets are 46.875%, but EVALB's order of operations gives a little less, and so does the line on it."""
    for matched, gold, test in ((30, 61, 67), (0, 3, 4), (0, 0, 0), *((m, g, 64 - g) for g in range(20, 40) for m in range(1, 20))):
        totals = Totals()
        totals.add(SentenceResult(1, 9, VALID, matched, gold, test, 0, 9, 9))
        printed = next(line for line in summary(totals, totals, 40).decode().splitlines() if "FMeasure" in line).split()[-1]
        line = str(EvalbOutcome("own.prm", 1, 0, 0, matched, gold, test))
        assert line == f"EVALB with own.prm would drop 0 of these 1 sentences and print FMeasure {printed.removeprefix('-')}."


@pytest.mark.parametrize("stream", [True, False])
def test_where_evalb_stops_is_said(stream: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At its error number MAX_ERROR + 2 EVALB stops without an F-measure, also in files that kernels count."""
    monkeypatch.setattr(evaluation, "SMALLEST_BYTES", 0)
    gold, wrong = "(TOP (S (NP (NN a)) (, ,) (VP (VB b))))\n", "(TOP (S (NP (NN a)) (NN ,) (VP (VB b))))\n"
    for n_wrong in (11, 12, 30):
        rows = [gold] * 20 + [wrong, gold] * n_wrong
        (tmp_path / "gold").write_text(gold * len(rows))
        (tmp_path / "test").write_text("".join(rows))
        messages = BytesIO()
        code = evalb(["-p", "collins", str(tmp_path / "gold"), str(tmp_path / "test")], BytesIO(), messages)
        found = treegauge.score(tmp_path / "gold", tmp_path / "test", stream=stream).evalb
        assert found is not None
        assert found.stops_at == (int(messages.getvalue().splitlines()[-1].split()[0]) if code else None)
        dropped = f"drop {n_wrong} of these {len(rows)} sentences and print FMeasure 100.00."
        stop = f"stop at sentence {found.stops_at} (MAX_ERROR 10) and print no FMeasure; without that limit it would "
        assert str(found) == f"EVALB with collins.prm would {stop if code else ''}{dropped}"
        assert EvalbOutcome.from_dict(found.to_dict()) == replace(found, failures=())


@pytest.mark.parametrize("stream", [True, False])
def test_trees_that_cannot_be_read_are_errors_of_evalb(stream: bool, tmp_path: Path) -> None:
    """EVALB has a message for an open bracket, and counts it; a blank line is skipped."""
    gold = "(TOP (S (NP (NN a)) (VP (VB b))))\n"
    for n_open in (11, 12):
        rows = [gold] * 5 + [gold[:-2] + "\n", gold, "\n"] * n_open + [gold]
        (tmp_path / "gold").write_text(gold * len(rows))
        (tmp_path / "test").write_text("".join(rows))
        messages = BytesIO()
        code = evalb(["-p", "collins", str(tmp_path / "gold"), str(tmp_path / "test")], BytesIO(), messages)
        with pytest.warns(treegauge.TreegaugeWarning):
            found = treegauge.score(tmp_path / "gold", tmp_path / "test", stream=stream).evalb
        assert found is not None
        assert (found.errors, found.skips) == (n_open, n_open)
        assert found.stops_at == (int(messages.getvalue().splitlines()[-1].split()[0]) if code else None)


def test_nothing_is_said_of_evalb_where_its_lines_are_not_the_sentences(tmp_path: Path) -> None:
    """EVALB pairs lines: what it makes of blank lines in a file that lacks sentences cannot be told from the trees."""
    trees = [f"(TOP (S (NP (NN w{i})) (VP (VB b))))\n" for i in range(8)]
    (tmp_path / "gold").write_text("".join(trees))
    for lines, is_said in ((trees[:-1], True), ([trees[0], "\n", *trees[2:-1]], False)):
        (tmp_path / "test").write_text("".join(lines))
        with pytest.warns(treegauge.TreegaugeWarning):
            result = treegauge.score(tmp_path / "gold", tmp_path / "test", pair="text")
        assert (result.evalb is not None) is is_said


def test_roots_that_evalb_counts_are_named() -> None:
    gold, test = "(ROOT (S (NP (NN a)) (VP (VB b))))", "(TOP (S (NP (NN a)) (VP (VB b))))"
    for one, other, said in (
        (gold, test, "; it counts ROOT in gold, which this score does not."),
        (test, gold, "; it counts ROOT in the parses, which this score does not."),
        (
            gold,
            "( (S (NP (NN a)) (VP (VB b))))",
            "; it counts ROOT in gold and brackets without a label in the parses, which this score",
        ),
        (test, test, "FMeasure 100.00."),
    ):
        assert said in str(treegauge.score(one, other).evalb)
    assert "it counts" not in str(treegauge.score(gold, test, preset="collins").evalb)


@settings(max_examples=40)
@given(st.lists(sentence_pairs(), min_size=1, max_size=4), parameters())
def test_the_counts_are_evalbs_where_the_same_words_are_deleted(pairs: list[tuple[Tree, Tree]], chosen: Parameters) -> None:
    gold, test = (Treebank.from_trees(side) for side in zip(*pairs, strict=True))
    preset = from_parameters(chosen, "random")
    result = treegauge.score(gold, test, preset=preset)
    columns = [result.columns.index(name) for name in ("matched", "gold", "test", "crossing", "words", "tags")]
    for number, theirs in enumerate(score_lines(lines(gold), lines(test), chosen)):
        deleted = [[tag in preset.delete_tags for tag in bank.tags(number)] for bank in (gold, test)]
        if theirs.status == VALID and deleted[0] == deleted[1]:
            expected = (theirs.matched, theirs.gold, theirs.test, theirs.crossing, theirs.words, theirs.tags)
            assert tuple(result.rows[number, columns].astype(int).tolist()) == expected
            assert result.scored_sentences.length[number] == theirs.length


@settings(max_examples=40)
@given(st.lists(sentence_pairs(), min_size=1, max_size=4), parameters())
def test_evalbs_own_decisions(pairs: list[tuple[Tree, Tree]], chosen: Parameters) -> None:
    gold, test = (Treebank.from_trees(side) for side in zip(*pairs, strict=True))
    preset = replace(from_parameters(chosen, "random"), parameters=EvalbFile("random.prm", chosen))
    result = treegauge.score(gold, test, preset=preset, on_mismatch="evalb")
    valid = [theirs for theirs in score_lines(lines(gold), lines(test), chosen) if theirs.status == VALID]
    assert result.skipped == len(pairs) - len(valid)
    for name in ("matched", "gold", "test", "crossing", "words", "tags"):
        assert result.counts[name] == sum(getattr(theirs, name) for theirs in valid)
    assert result.short.sentences == sum(theirs.length <= chosen.cutoff_length for theirs in valid)


@settings(max_examples=40)
@given(treebank_pairs(max_size=4, max_words=8))
def test_brackets_match_as_multisets(banks: tuple[Treebank, Treebank]) -> None:
    for preset in ("none", "collins", "induction"):
        pair = alignment.pair(*banks, load_preset(preset))
        for classes in (pair.classes, None):
            ours, theirs = (Counter(_brackets(side, classes)) for side in (pair.gold, pair.test))
            partner = partners(pair.gold, pair.test, classes)
            taken = partner[partner >= 0].tolist()
            assert len(taken) == len(set(taken)) == (ours & theirs).total()


def _brackets(side: Brackets, classes: NDArray[np.int32] | None) -> Iterator[tuple[int, ...]]:
    label = np.zeros_like(side.label) if classes is None else classes[side.label]
    columns = (side.sentence, side.start, side.end, label)
    return zip(*(column.tolist() for column in columns), strict=True)


def test_label_pairs_that_are_not_transitive() -> None:
    """A takes C's place, so that the order of brackets matters: EVALB takes the first that is equal."""
    chosen = Parameters(equal_labels=((b"A", b"B"), (b"B", b"C")))
    gold, test = Treebank.parse("(B (A (x a) (x b)))"), Treebank.parse("(A (C (x a) (x b)))")
    [theirs] = score_lines(lines(gold), lines(test), chosen)
    ours = treegauge.score(gold, test, preset=from_parameters(chosen, "chain"))
    assert ours.counts["matched"] == theirs.matched == 1


def test_the_cases_of_evalbs_description(tmp_path: Path) -> None:
    """All of EVALB's own rows and summaries, printed from our counts, wherever both files can be read as trees."""
    compared = 0
    for case in program_cases("evalb"):
        if case.arguments or case.code != 0:
            continue
        parsed, _ = parse_prm((case.prm or "").encode())
        if case.name == "two_trees_one_line":
            continue  # read as one tree under an empty root, which is a bracket more
        if parsed.debug or parsed.delete_labels != tuple(dict.fromkeys(parsed.delete_labels)):
            continue
        preset = replace(from_parameters(parsed, "case"), parameters=EvalbFile("case.prm", parsed))
        case.write_files(tmp_path)
        try:
            reading = treegauge.ReadOptions(format="bracketed", lines=True)
            result = treegauge.score(
                tmp_path / "gold",
                tmp_path / "test",
                preset=preset,
                on_mismatch="evalb",
                reading=reading,
                on_error="stop",
                pair="text",
            )
        except treegauge.InputError:
            continue
        assert evalb_layout(result) == case.stdout, case.name
        compared += 1
    assert compared >= 40


def test_nothing_but_parseval_goes_by_evalbs_decisions() -> None:
    with pytest.raises(treegauge.UsageError, match="goodman"):
        treegauge.score("(S (N a))", "(S (N a))", "goodman", on_mismatch="evalb")
    with pytest.raises(treegauge.UsageError, match="spmrl"):
        treegauge.score("(S (N a))", "(S (N a))", preset="spmrl", on_mismatch="evalb")


def test_quote_repair_is_part_of_the_signature() -> None:
    gold, test = "(S (NP (NN a)) ('' ') (VP (V b)))", "(S (NP (NN a)) (POS ') (VP (V b)))"
    repaired = treegauge.score(gold, test, preset="new", on_mismatch="evalb")
    dropped = treegauge.score(gold, test, preset="collins", on_mismatch="evalb")
    assert (repaired.skipped, dropped.skipped) == (0, 1)
    assert "''" in repaired.signature.options["quote_labels"]
    assert treegauge.Signature.parse(str(repaired.signature)) == repaired.signature


def test_parameters_of_a_file() -> None:
    parsed, _ = parse_prm(b"DELETE_LABEL TOP\nEQ_LABEL ADVP PRT\nLABELED 0\nCUTOFF_LEN 3\n")
    preset = from_parameters(parsed, "file")
    assert (preset.labelled, preset.cutoff_length, preset.delete_tags) == (False, 3, frozenset({"TOP"}))
    assert Parseval().headline == "f1"
