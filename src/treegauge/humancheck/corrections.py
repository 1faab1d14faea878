"""Corrected treebanks: the gold trees with the corrections that people accepted.

A correction is a verdict with the mark that the gold tree is wrong: an accepted bracket is inserted into the gold tree, and gold
brackets that it crosses are removed; a rejected exact match is removed. The label of an inserted bracket is the one that people
chose: they judge brackets whatever their labels, so the parser's label is no evidence. The counted words decide where a bracket
begins and ends; punctuation and traces stay where they are. A tree that somebody edited is the last word on its sentence.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import Refused
from treegauge.humancheck.editing import changed_brackets, edited_tree
from treegauge.humancheck.judgements import Judgement, JudgementLog, Person, verdict_rule
from treegauge.humancheck.questions import BracketId, Check, Question, storable
from treegauge.metrics.hogenhout import Verdict
from treegauge.presets import Preset
from treegauge.trees.tree import Child, Tree, rebuild
from treegauge.trees.treebank import Treebank

__all__ = [
    "Change",
    "CorrectedTreebank",
    "correct_tree",
    "correct_treebank",
    "last_edited_tree",
    "post_order_numbers",
    "proposed_tree",
    "treebank_patch",
    "without_long_runs",
    "without_tagged",
]


def post_order_numbers(tree: Tree) -> Iterator[int]:
    """The pre-order number of each node, in post-order: the order in which ``rebuild`` visits them.

    >>> list(post_order_numbers(Tree.parse("(S (NP (D a)) (V b))")))
    [2, 1, 3, 0]
    """
    stack: list[tuple[Tree, int, bool]] = [(tree, 0, False)]
    while stack:
        node, number, done = stack.pop()
        if done:
            yield number
            continue
        stack.append((node, number, True))
        below: list[tuple[Tree, int, bool]] = []
        number += 1
        for child in node.children:
            if isinstance(child, Tree):
                below.append((child, number, False))
                number += child.size
        stack.extend(reversed(below))


def without_tagged(tree: Tree, tags: Collection[str]) -> tuple[Tree, dict[int, int]]:
    """The tree without words of some tags and nodes left empty, and the new number of each remaining node.

    >>> tree, new = without_tagged(Tree.parse("(S (NP (-NONE- *)) (VP (V go)))"), {"-NONE-"})
    >>> print(tree, new)
    (S (VP (V go))) {0: 0, 3: 1, 4: 2}
    """
    if not tags:
        return tree, {number: number for number in range(tree.size)}
    numbers = post_order_numbers(tree)
    remaining: list[int] = []

    def make(node: Tree, children: list[Child]) -> list[Child]:
        number = next(numbers)
        if not children or (node.is_preterminal and node.label in tags):
            return []
        remaining.append(number)
        return [node.replace(children=children)]

    result = rebuild(tree, make)
    return result or Tree(tree.label), {old: new for new, old in enumerate(sorted(remaining))}


def without_long_runs(tree: Tree, longest: int = 60) -> tuple[Tree, list[int], list[int]]:
    """The tree with a placeholder for the middle of runs of more than ``longest`` tagged words below one node.

    Also returns the old numbers of the remaining nodes and words; a placeholder has those of the first word it replaces.

    >>> tree, nodes, words = without_long_runs(Tree("S", [Tree("N", [str(number)]) for number in range(9)]), longest=4)
    >>> print(tree.words, nodes, words)
    ('0', '1', '5 words', '7', '8') [0, 1, 2, 3, 8, 9] [0, 1, 2, 7, 8]
    """
    numbers = post_order_numbers(tree)
    nodes: list[int] = []
    removed_nodes: set[int] = set()
    removed_words: set[int] = set()
    starts = [start for _, start, _ in tree.nodes_with_spans()]

    def make(node: Tree, children: list[Child]) -> list[Child]:
        number = next(numbers)
        nodes.append(number)
        parts: list[Child] = []
        for first, last in _runs(node.children):
            keep = longest // 2
            if last - first <= longest:
                parts.extend(children[first:last])
                continue
            inner = range(first + keep, last - keep)
            parts.extend([*children[first : inner.start], Tree("…", [f"{len(inner)} words"]), *children[inner.stop : last]])
            node_at, word_at = _offsets(node, number, starts[number])
            removed_nodes.update(node_at[index] for index in inner[1:])
            removed_words.update(word_at[index] for index in inner[1:])
        return [node.replace(children=parts)]

    result = rebuild(tree, make)
    assert result is not None
    return result, sorted(set(nodes) - removed_nodes), [word for word in range(tree.width) if word not in removed_words]


def _runs(children: tuple[Child, ...]) -> Iterator[tuple[int, int]]:
    """The longest stretches of children that are all tagged words, or each other child by itself."""
    first = 0
    while first < len(children):
        last = first
        while last < len(children) and isinstance(child := children[last], Tree) and child.is_preterminal:
            last += 1
        last = max(last, first + 1)
        yield first, last
        first = last


def _offsets(node: Tree, number: int, position: int) -> tuple[list[int], list[int]]:
    """The number of each child node, and its first word."""
    nodes: list[int] = []
    words: list[int] = []
    number += 1
    for child in node.children:
        nodes.append(number)
        words.append(position)
        number += child.size if isinstance(child, Tree) else 0
        position += child.width if isinstance(child, Tree) else 1
    return nodes, words


class Change(NamedTuple):
    """A bracket to insert into a tree or (``inserts`` False) to remove; ``start`` and ``end`` are in counted words."""

    start: int
    end: int
    label: str
    inserts: bool


@dataclass(frozen=True)
class CorrectedTreebank:
    """A corrected treebank, the numbers of changed brackets and sentences, and the corrections that are impossible."""

    bank: Treebank
    changes: int
    sentences: int
    refused: tuple[str, ...]


def correct_treebank(
    check: Check, log: JudgementLog, rule: str = "majority", annotators: Sequence[str] = (), *, parser_labels: bool = False
) -> CorrectedTreebank:
    """The gold trees with all current corrections; ``parser_labels`` takes the parser's label where nobody chose one."""
    changes: dict[int, set[Change]] = {}
    edited, refused = _edited_trees(check, log, annotators)
    verdict = verdict_rule(log, rule, annotators)
    for question in check.questions:
        decision = verdict(question.bracket)
        if decision is None or question.bracket.gold in edited:
            continue
        opinions = _agreeing(log, question, decision, annotators)
        if not 2 * sum(opinion.correction for opinion in opinions) > len(opinions) > 0:
            continue
        label = _chosen_label(opinions) or (question.bracket.label if parser_labels else "")
        for sentence in {occurrence.sentence for occurrence in question.occurrences}:
            found = _change(check, question, sentence, decision, label)
            if isinstance(found, str):
                refused.append(
                    f"{check.gold.place(sentence)}: {question.bracket.label} [{storable(' '.join(question.words))}] {found}"
                )
            else:
                changes.setdefault(sentence, set()).add(found)
    trees: list[Tree] = list(check.gold)
    n_changes = n_sentences = 0
    for sentence, wanted in sorted(changes.items()):
        tree = correct_tree(trees[sentence], sorted(wanted), _is_counted(check, sentence), _frame_rule(check.plan.preset))
        if isinstance(tree, str):
            refused.append(f"{check.gold.place(sentence)}: {tree}; the sentence was left as it is")
        else:
            trees[sentence] = tree
            n_changes, n_sentences = n_changes + len(wanted), n_sentences + 1
    for sentence, tree in _sentences_of(check, edited).items():
        n_changes, n_sentences = n_changes + max(map(len, changed_brackets(trees[sentence], tree))), n_sentences + 1
        trees[sentence] = tree
    return CorrectedTreebank(Treebank.from_trees(trees), n_changes, n_sentences, tuple(dict.fromkeys(refused)))


def _edited_trees(check: Check, log: JudgementLog, annotators: Sequence[str]) -> tuple[dict[str, Tree], list[str]]:
    """The edited trees that hold, by the hash of their gold tree, and why others do not.

    An adjudicator's tree holds; else one that more than half of those annotators made who judged the sentence.
    """
    by_gold: dict[str, list[Question]] = {}
    for bracket in log.brackets:
        if bracket in check.number:
            by_gold.setdefault(bracket.gold, []).append(check.questions[check.number[bracket]])
    trees: dict[str, Tree] = {}
    refused: list[str] = []
    for gold, questions in by_gold.items():
        found = _agreed_tree(log, [question.bracket for question in questions], annotators)
        if found is None:
            continue
        sentence = questions[0].occurrences[0].sentence
        try:
            tree = edited_tree(check.gold[sentence], found) if found else None
            problem = "" if tree else "the annotators edited the tree differently; let the adjudicator choose"
        except Refused as error:
            tree, problem = None, str(error).rstrip(".").lower()
        if tree is None:
            refused.append(f"{check.gold.place(sentence)}: {problem}")
        else:
            trees[gold] = tree
    return trees, refused


def _agreed_tree(log: JudgementLog, brackets: Sequence[BracketId], annotators: Sequence[str]) -> str | None:
    """The text of the edited tree that holds for a sentence; empty if people differ, None if nobody edited it."""
    rulings = [one for bracket in brackets for one in log.opinions(bracket, "adjudicator").values()]
    ruled = [one for one in rulings if one.correction and one.correct_tree]
    if ruled and not annotators:
        return max(ruled, key=lambda one: one.seq).correct_tree
    judges: set[str] = set()
    latest: dict[str, Judgement] = {}
    for one in (one for bracket in brackets for one in log.opinions(bracket).values()):
        if annotators and one.annotator not in annotators:
            continue
        if one.verdict != "skipped":
            judges.add(one.annotator)
        if one.correction and one.correct_tree and one.seq >= (latest[one.annotator].seq if one.annotator in latest else 0):
            latest[one.annotator] = one
    if not latest:
        return None
    text, count = Counter(one.correct_tree for one in latest.values()).most_common(1)[0]
    return text if 2 * count > len(judges | set(latest)) else ""


def _sentences_of(check: Check, edited: Mapping[str, Tree]) -> dict[int, Tree]:
    """The edited tree of each sentence that has one."""
    return {
        occurrence.sentence: edited[question.bracket.gold]
        for question in check.questions
        if question.bracket.gold in edited
        for occurrence in question.occurrences
    }


def last_edited_tree(check: Check, log: JudgementLog, person: Person, question: Question) -> str:
    """The text of a person's latest edited tree of a question's sentence; empty if there is none."""
    return max(
        ((one.seq, one.correct_tree) for one in _own_of_sentence(check, log, person, question) if one.correct_tree), default=(0, "")
    )[1]


def _own_of_sentence(check: Check, log: JudgementLog, person: Person, question: Question) -> list[Judgement]:
    """A person's current corrections of the sentence of a question."""
    numbers = check.of_gold[question.bracket.gold]
    found = (log.current(check.questions[number].bracket, person) for number in numbers)
    return [one for one in found if one is not None and one.correction]


def proposed_tree(
    check: Check, log: JudgementLog, person: Person, question: Question, verdict: str, label: str
) -> tuple[Tree, str]:
    """The tree with which a person begins to edit, and the reason if the correction in question cannot be in it.

    It is their latest edited tree of the sentence, or the gold tree with their other corrections of it; with the bracket in
    question inserted or removed where that is possible and a ``label`` is chosen.
    """
    sentence = question.occurrences[0].sentence
    counts, frame = _is_counted(check, sentence), _frame_rule(check.plan.preset)
    text = last_edited_tree(check, log, person, question)
    tree = edited_tree(check.gold[sentence], text) if text else check.gold[sentence]
    if not text:
        own = [one for one in _own_of_sentence(check, log, person, question) if one.bracket != question.bracket]
        found = [
            _change(check, check.questions[check.number[one.bracket]], sentence, Verdict(one.verdict), one.correct_label)
            for one in own
            if one.verdict in ("accepted", "rejected")
        ]
        corrected = correct_tree(tree, sorted(change for change in found if isinstance(change, Change)), counts, frame)
        tree = tree if isinstance(corrected, str) else corrected
    change = _change(check, question, sentence, Verdict.REJECTED if verdict == "rejected" else Verdict.ACCEPTED, label)
    if isinstance(change, str):
        return tree, f"this bracket {change}" if label else ""
    if change.inserts and _has_bracket(tree, change, counts):
        return tree, ""
    corrected = correct_tree(tree, [change], counts, frame)
    return (tree, corrected) if isinstance(corrected, str) else (corrected, "")


def _has_bracket(tree: Tree, change: Change, counts: NDArray[np.bool_]) -> bool:
    """Whether a tree has a bracket with that label over these counted words."""
    before = np.append(0, np.cumsum(counts))
    spans = ((node.label, int(before[start]), int(before[end])) for node, start, end in tree.nodes_with_spans())
    return (change.label, change.start, change.end) in spans


def treebank_patch(before: Treebank, after: Treebank) -> Iterator[str]:
    """The lines of a unified diff from one treebank to another, a tree a line.

    >>> one, two = Treebank.parse("(S (A a) (B b))"), Treebank.parse("(S (NP (A a) (B b)))")
    >>> print("".join(treebank_patch(one, two)), end="")
    --- treebank
    +++ corrected
    @@ -1 +1 @@
    -(S (A a) (B b))
    +(S (NP (A a) (B b)))
    """
    old, new = ([f"{tree}\n" for tree in bank] for bank in (before, after))
    yield from difflib.unified_diff(old, new, "treebank", "corrected", n=0)


def _agreeing(log: JudgementLog, question: Question, decision: Verdict, annotators: Sequence[str]) -> list[Judgement]:
    """The judgements behind a verdict: the adjudicator's ruling, or those of the annotators who agree with it."""
    ruling = None if annotators else log.ruling(question.bracket)
    opinions = [ruling] if ruling is not None else list(log.opinions(question.bracket).values())
    return [
        opinion
        for opinion in opinions
        if opinion.verdict == decision.value and (ruling or not annotators or opinion.annotator in annotators)
    ]


def _chosen_label(opinions: Sequence[Judgement]) -> str:
    """The label that most of those who chose one chose; none if two are equally frequent."""
    labels = Counter(opinion.correct_label for opinion in opinions if opinion.correct_label).most_common(2)
    if not labels or (len(labels) == 2 and labels[0][1] == labels[1][1]):
        return ""
    return labels[0][0]


def _change(check: Check, question: Question, sentence: int, decision: Verdict, label: str) -> Change | str:
    if question.span.blocks or check.gold.has_gaps(sentence):
        return "belongs to a tree with crossing branches, which is not corrected automatically"
    if not question.span.by_gold:
        return "begins or ends inside a word of the treebank, so it cannot be inserted"
    if (question.kind == "EM") == (decision is Verdict.ACCEPTED):
        return f"was {decision.value}, so no correction follows from the mark that the treebank is wrong"
    if question.kind != "EM" and not label:
        return "has no label for the treebank: choose one on the page, or take the parser's (option parser_labels)"
    traces = _tags_left_out(check, traces=True)
    words = [index for index, tag in enumerate(check.gold.tags(sentence)) if tag not in traces]
    before = np.append(0, np.cumsum(_is_counted(check, sentence)[words]))
    start, end = int(before[question.span.start]), int(before[question.span.end])
    return Change(start, end, label or question.bracket.label, question.kind != "EM")


def _frame_rule(preset: Preset) -> Callable[[str], bool]:
    """The rule by which a preset recognises labels that are no brackets, such as TOP."""
    return lambda label: preset.deletes(preset.cut_label(label))


def _tags_left_out(check: Check, *, traces: bool) -> frozenset[str]:
    preset = check.plan.metric.preset_for(check.plan.preset)
    return preset.traces if traces else preset.delete_tags


def _is_counted(check: Check, sentence: int) -> NDArray[np.bool_]:
    """Whether each word of a gold tree, traces included, counts."""
    left_out = _tags_left_out(check, traces=False)
    return np.array([tag not in left_out for tag in check.gold.tags(sentence)], dtype=np.bool_)


def correct_tree(
    tree: Tree, changes: Sequence[Change], counts: NDArray[np.bool_], is_frame: Callable[[str], bool] = lambda label: not label
) -> Tree | str:
    """The tree with brackets inserted and removed, or the reason why that is impossible.

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
    result = _remove(tree, changes, counts, is_frame)
    if isinstance(result, str):
        return result
    # From the outside in, so that each one finds its place inside those before it.
    for change in sorted(inserted, key=lambda change: (change.start - change.end, change)):
        result = _insert(result, change, counts)
    return result


def _remove(tree: Tree, changes: Sequence[Change], counts: NDArray[np.bool_], is_frame: Callable[[str], bool]) -> Tree | str:
    """The tree without the brackets to remove: those named, and those that an inserted one crosses."""
    before = np.append(0, np.cumsum(counts))
    doomed: set[int] = set()
    for number, (node, start, end) in enumerate(tree.nodes_with_spans()):
        first, last = int(before[start]), int(before[end])
        if node.is_preterminal or first == last or is_frame(node.label):
            continue
        for change in changes:
            crosses = first < change.start < last < change.end or change.start < first < change.end < last
            if (change.inserts and crosses) or (not change.inserts and (first, last) == (change.start, change.end)):
                doomed.add(number)
    if 0 in doomed:
        return "a correction would remove the bracket around the whole sentence"
    numbers = post_order_numbers(tree)

    def make(node: Tree, children: list[Child]) -> list[Child]:
        return children if next(numbers) in doomed else [node.replace(children=children)]

    result = rebuild(tree, make)
    assert result is not None
    return result


def _insert(tree: Tree, change: Change, counts: NDArray[np.bool_]) -> Tree:
    """The tree with a bracket around those children, of the lowest node that holds its words, that hold its words."""
    before = np.append(0, np.cumsum(counts))
    path: list[tuple[Tree, int]] = []
    node, start = tree, 0
    while True:
        child = _child_around(node, start, change, before)
        if child is None:
            break
        path.append((node, child[0]))
        node, start = child[1], child[2]
    spans = list(_child_spans(node, start))
    with_words = [index for index, (first, last) in enumerate(spans) if before[first] < before[last]]
    inside = [index for index in with_words if before[spans[index][0]] >= change.start and before[spans[index][1]] <= change.end]
    # Around all words of a node the new bracket takes the punctuation at its edges, too.
    first, last = (0, len(spans)) if inside == with_words else (inside[0], inside[-1] + 1)
    new: Child = Tree(change.label.split("+")[-1], node.children[first:last])
    for label in reversed(change.label.split("+")[:-1]):
        new = Tree(label, [new])
    result = node.replace(children=[*node.children[:first], new, *node.children[last:]])
    for above, index in reversed(path):
        result = above.replace(children=[*above.children[:index], result, *above.children[index + 1 :]])
    return result


def _child_spans(node: Tree, start: int) -> Iterator[tuple[int, int]]:
    for child in node.children:
        end = start + (child.width if isinstance(child, Tree) else 1)
        yield start, end
        start = end


def _child_around(node: Tree, start: int, change: Change, before: NDArray[np.int64]) -> tuple[int, Tree, int] | None:
    """The number, the child and its first word, for the child that holds all words of a bracket; None if there is none."""
    for index, (child, (first, last)) in enumerate(zip(node.children, _child_spans(node, start), strict=True)):
        if isinstance(child, Tree) and not child.is_preterminal and before[first] <= change.start and change.end <= before[last]:
            return index, child, first
    return None
