"""A corrected treebank: the gold trees with the corrections that people accepted.

A correction is a verdict with the remark that the gold tree is wrong: an accepted bracket is put into the gold tree, and gold
brackets that it crosses go; a rejected exact match is taken out of it. The words that count decide where a bracket begins and
ends; punctuation and traces stay where they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.humancheck.judgements import Ledger, decided
from treegauge.humancheck.questions import Check, Question, storable
from treegauge.humancheck.tree_edits import post_order_numbers
from treegauge.metrics.hogenhout import Verdict
from treegauge.presets import Preset
from treegauge.trees.tree import Child, Tree, rebuild
from treegauge.trees.treebank import Treebank

__all__ = ["Change", "Corrected", "correct_tree", "corrected_treebank"]


class Change(NamedTuple):
    """A bracket to put into a tree, or (``inserts`` False) to take out; ``start`` and ``end`` count the words that count."""

    start: int
    end: int
    label: str
    inserts: bool


@dataclass(frozen=True)
class Corrected:
    """The corrected treebank, how many brackets were changed in how many sentences, and what could not be done."""

    bank: Treebank
    changes: int
    sentences: int
    refused: tuple[str, ...]


def corrected_treebank(check: Check, ledger: Ledger, rule: str = "majority", annotators: Sequence[str] = ()) -> Corrected:
    """The gold trees with all corrections that stand."""
    changes: dict[int, set[Change]] = {}
    refused: list[str] = []
    verdict = decided(ledger, rule, annotators)
    for question in check.questions:
        decision = verdict(question.bracket)
        if decision is None or not _is_correction(ledger, question, decision, annotators):
            continue
        for sentence in {occurrence.sentence for occurrence in question.occurrences}:
            found = _change(check, question, sentence, decision)
            if isinstance(found, str):
                refused.append(
                    f"{check.gold.place(sentence)}: {question.bracket.label} [{storable(' '.join(question.words))}] {found}"
                )
            else:
                changes.setdefault(sentence, set()).add(found)
    trees: list[Tree] = list(check.gold)
    done = corrected = 0
    for sentence, wanted in sorted(changes.items()):
        made = correct_tree(trees[sentence], sorted(wanted), _counts(check, sentence), _frames(check.plan.preset))
        if isinstance(made, str):
            refused.append(f"{check.gold.place(sentence)}: {made}; the sentence was left as it is")
        else:
            trees[sentence] = made
            done, corrected = done + len(wanted), corrected + 1
    return Corrected(Treebank.from_trees(trees), done, corrected, tuple(dict.fromkeys(refused)))


def _is_correction(ledger: Ledger, question: Question, decision: Verdict, annotators: Sequence[str]) -> bool:
    """Whether the gold tree is to be changed: the adjudicator says so, or most of those whose verdict it is."""
    ruling = None if annotators else ledger.ruling(question.bracket)
    opinions = [ruling] if ruling is not None else list(ledger.opinions(question.bracket).values())
    agreeing = [
        said for said in opinions if said.verdict == decision.value and (ruling or not annotators or said.annotator in annotators)
    ]
    return 2 * sum(said.correction for said in agreeing) > len(agreeing) > 0


def _change(check: Check, question: Question, sentence: int, decision: Verdict) -> Change | str:
    if not question.place.by_gold:
        return "begins or ends inside a word of the treebank, so it cannot be put there"
    if (question.kind == "EM") == (decision is Verdict.ACCEPTED):
        return f"was {decision.value}, so no correction follows from the remark that the treebank is wrong"
    traces = _tags_left_out(check, traces=True)
    words = [index for index, tag in enumerate(check.gold.tags(sentence)) if tag not in traces]
    before = np.append(0, np.cumsum(_counts(check, sentence)[words]))
    start, end = int(before[question.place.start]), int(before[question.place.end])
    return Change(start, end, question.bracket.label, question.kind != "EM")


def _frames(preset: Preset) -> Callable[[str], bool]:
    """Which labels are no brackets at all, by a preset."""
    return lambda label: preset.deletes(preset.cut_label(label))


def _tags_left_out(check: Check, *, traces: bool) -> frozenset[str]:
    preset = check.plan.metric.adapted(check.plan.preset)
    return preset.delete_tags & preset.delete_tags_for_length if traces else preset.delete_tags


def _counts(check: Check, sentence: int) -> NDArray[np.bool_]:
    """Which words of a gold tree, traces among them, count."""
    left_out = _tags_left_out(check, traces=False)
    return np.array([tag not in left_out for tag in check.gold.tags(sentence)], dtype=np.bool_)


def correct_tree(
    tree: Tree, changes: Sequence[Change], counts: NDArray[np.bool_], is_frame: Callable[[str], bool] = lambda label: not label
) -> Tree | str:
    """The tree with brackets put in or taken out, or the reason why not.

    ``counts`` says which words count, ``is_frame`` which labels (such as TOP) are no brackets at all.

    >>> tree = Tree.parse("(S (NP (N I)) (VP (V saw) (NP (D the) (N man)) (PP (P with) (NP (D a) (N hat)))))")
    >>> everything = np.ones(7, dtype=np.bool_)
    >>> print(correct_tree(tree, [Change(2, 7, "NP", True)], everything))
    (S (NP (N I)) (VP (V saw) (NP (NP (D the) (N man)) (PP (P with) (NP (D a) (N hat))))))
    >>> print(correct_tree(tree, [Change(5, 7, "NP", False)], everything))
    (S (NP (N I)) (VP (V saw) (NP (D the) (N man)) (PP (P with) (D a) (N hat))))
    """
    inserted = [change for change in changes if change.inserts]
    for one in inserted:
        for other in inserted:
            if one.start < other.start < one.end < other.end:
                return f"the accepted brackets {one.label} and {other.label} cross each other"
            if one.label < other.label and one[:2] == other[:2]:
                return f"the same words were accepted as {one.label} and as {other.label}"
    made = _take_out(tree, changes, counts, is_frame)
    if isinstance(made, str):
        return made
    # From the outside in, so that each one finds its place inside those before it.
    for change in sorted(inserted, key=lambda change: (change.start - change.end, change)):
        made = _put_in(made, change, counts)
    return made


def _take_out(tree: Tree, changes: Sequence[Change], counts: NDArray[np.bool_], is_frame: Callable[[str], bool]) -> Tree | str:
    """The tree without the brackets that are to go: those named, and those that a new one crosses."""
    before = np.append(0, np.cumsum(counts))
    goes: set[int] = set()
    for number, (node, start, end) in enumerate(tree.nodes_with_spans()):
        first, last = int(before[start]), int(before[end])
        if node.is_preterminal or first == last or is_frame(node.label):
            continue
        for change in changes:
            crosses = first < change.start < last < change.end or change.start < first < change.end < last
            if (change.inserts and crosses) or (not change.inserts and (first, last) == (change.start, change.end)):
                goes.add(number)
    if 0 in goes:
        return "a correction would take away the bracket around the whole sentence"
    numbers = post_order_numbers(tree)

    def make(node: Tree, children: list[Child]) -> list[Child]:
        return children if next(numbers) in goes else [node.replace(children=children)]

    made = rebuild(tree, make)
    assert made is not None
    return made


def _put_in(tree: Tree, change: Change, counts: NDArray[np.bool_]) -> Tree:
    """The tree with a bracket around the children, of the lowest node around it, that hold its words."""
    before = np.append(0, np.cumsum(counts))
    path: list[tuple[Tree, int]] = []
    node, start = tree, 0
    while True:
        inside = _child_around(node, start, change, before)
        if inside is None:
            break
        path.append((node, inside[0]))
        node, start = inside[1], inside[2]
    spans = list(_child_spans(node, start))
    counted = [index for index, (first, last) in enumerate(spans) if before[first] < before[last]]
    held = [index for index in counted if before[spans[index][0]] >= change.start and before[spans[index][1]] <= change.end]
    # Around all words of a node the new bracket takes the punctuation at its edges, too.
    first, last = (0, len(spans)) if held == counted else (held[0], held[-1] + 1)
    new: Child = Tree(change.label.split("+")[-1], node.children[first:last])
    for label in reversed(change.label.split("+")[:-1]):
        new = Tree(label, [new])
    made = node.replace(children=[*node.children[:first], new, *node.children[last:]])
    for above, index in reversed(path):
        made = above.replace(children=[*above.children[:index], made, *above.children[index + 1 :]])
    return made


def _child_spans(node: Tree, start: int) -> Iterator[tuple[int, int]]:
    for child in node.children:
        end = start + (child.width if isinstance(child, Tree) else 1)
        yield start, end
        start = end


def _child_around(node: Tree, start: int, change: Change, before: NDArray[np.int64]) -> tuple[int, Tree, int] | None:
    """The child, its number and its first word, that holds all words of a bracket; None if no child does."""
    for index, (child, (first, last)) in enumerate(zip(node.children, _child_spans(node, start), strict=True)):
        if isinstance(child, Tree) and not child.is_preterminal and before[first] <= change.start and change.end <= before[last]:
            return index, child, first
    return None
