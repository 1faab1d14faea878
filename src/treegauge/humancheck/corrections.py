"""Corrected treebanks: the gold trees with the corrections that people accepted.

A correction is a verdict together with the mark that the gold tree is wrong. An accepted bracket is inserted into the gold tree,
and gold brackets that it crosses are removed; a rejected exact match is removed. The label of an inserted bracket is the one that
people chose: they judge brackets whatever their labels, so the parser's label is no evidence. The counted words determine where a
bracket begins and ends, and where it has gaps; punctuation and traces stay where they are. If somebody edited the tree, the edited
tree replaces all other corrections of its sentence.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import RequestError
from treegauge.humancheck.editing import changed_brackets, edited_tree
from treegauge.humancheck.judgements import BracketId, Judgement, JudgementLog, Person, storable, verdict_rule
from treegauge.humancheck.questions import Check, Question
from treegauge.metrics.hogenhout import Verdict
from treegauge.presets import Preset
from treegauge.trees.discontinuous import WordPlaces, blocks_of, from_placed_words, walk, with_placed_words
from treegauge.trees.drawing.layout import parents_of
from treegauge.trees.tree import Child, Tree, rebuild
from treegauge.trees.treebank import Treebank


def post_order_numbers(tree: Tree) -> Iterator[int]:
    """The pre-order number of each node, in post-order: the order in which ``rebuild`` visits them.

    >>> list(post_order_numbers(Tree.parse("(S (NP (D a)) (V b))")))
    [2, 1, 3, 0]
    """
    begun: list[int] = []
    for number, parent in enumerate(parents_of(tree)):
        while begun and begun[-1] != parent:
            yield begun.pop()
        begun.append(number)
    yield from reversed(begun)


class BracketChange(NamedTuple):
    """A bracket to insert into a tree or (``inserts`` False) to remove; ``start`` and ``end`` are in counted words.

    ``blocks`` are its spans where it has gaps.
    """

    start: int
    end: int
    label: str
    inserts: bool
    blocks: tuple[tuple[int, int], ...] = ()


def correct_tree(
    tree: Tree,
    changes: Sequence[BracketChange],
    counts: NDArray[np.bool_],
    is_frame: Callable[[str], bool] = lambda label: not label,
) -> Tree | str:
    """The tree with brackets inserted and removed, or the reason why that is impossible.

    ``counts`` tells for each word whether it counts, ``is_frame`` whether a label (such as TOP) is not a bracket at all.

    >>> tree = Tree.parse("(S (NP (N I)) (VP (V saw) (NP (D the) (N man)) (PP (P with) (NP (D a) (N hat)))))")
    >>> everything = np.ones(7, dtype=np.bool_)
    >>> print(correct_tree(tree, [BracketChange(2, 7, "NP", True)], everything))
    (S (NP (N I)) (VP (V saw) (NP (NP (D the) (N man)) (PP (P with) (NP (D a) (N hat))))))
    >>> print(correct_tree(tree, [BracketChange(5, 7, "NP", False)], everything))
    (S (NP (N I)) (VP (V saw) (NP (D the) (N man)) (PP (P with) (D a) (N hat))))
    >>> print(correct_tree(Tree.parse("(S (A a) (B b) (C c))"), [BracketChange(0, 3, "X", True, ((0, 1), (2, 3)))], everything[:3]))
    (S (X (A 0=a) (C 2=c)) (B 1=b))
    """
    covers = {change: _Cover(change, counts) for change in changes}
    inserted = [change for change in changes if change.inserts]
    for one, other in combinations(inserted, 2):
        common = int((covers[one].mask & covers[other].mask).sum())
        if 0 < common < min(covers[one].size, covers[other].size):
            return f"the accepted brackets {one.label} and {other.label} cross each other"
        if common == covers[one].size == covers[other].size and one.label != other.label:
            return f"the same words were accepted as {one.label} and as {other.label}"
    result = _remove(tree, covers, is_frame)
    if isinstance(result, str):
        return result
    # From the outside in, so that each one finds its place inside those before it.
    for change in sorted(inserted, key=lambda change: (-covers[change].size, change)):
        result = _insert(result, change.label, covers[change])
    return result


class _Cover:
    """The counted words of a bracket to insert or remove (``mask``), to be compared with those of other brackets."""

    def __init__(self, change: BracketChange, counts: NDArray[np.bool_]) -> None:
        number = np.cumsum(counts) - 1
        spans = change.blocks or ((change.start, change.end),)
        within = [(start <= number) & (number < end) for start, end in spans]
        self.mask = counts & np.logical_or.reduce(within)
        self.size = int(self.mask.sum())
        self._counts = counts
        self._own, self._all = (np.append(0, np.cumsum(mask)) for mask in (self.mask, counts))

    def shared(self, places: WordPlaces) -> tuple[int, int]:
        """The number of counted words at some places, and the number of those among them that the bracket covers."""
        if isinstance(places, range):
            first, last = places.start, places.stop
            return int(self._all[last] - self._all[first]), int(self._own[last] - self._own[first])
        return int(self._counts[list(places)].sum()), int(self.mask[list(places)].sum())

    def crosses(self, places: WordPlaces) -> bool:
        """Whether the bracket and the words at some places overlap, neither within the other."""
        n_words, common = self.shared(places)
        return 0 < common < min(n_words, self.size)

    def equals(self, places: WordPlaces) -> bool:
        """Whether the bracket covers just the counted words at some places."""
        return self.shared(places) == (self.size, self.size)

    def is_inside(self, places: WordPlaces) -> bool:
        """Whether the bracket covers all counted words at some places, and there is at least one."""
        n_words, common = self.shared(places)
        return 0 < n_words == common


def _remove(tree: Tree, covers: Mapping[BracketChange, _Cover], is_frame: Callable[[str], bool]) -> Tree | str:
    """The tree without the brackets to be removed: those named, and those that an inserted one crosses."""
    doomed: set[int] = set()
    nodes = [(node, places) for node, places, _ in walk(tree) if isinstance(node, Tree)]
    for number, (node, places) in enumerate(nodes):
        if node.is_preterminal or is_frame(node.label):
            continue
        if any(cover.crosses(places) if change.inserts else cover.equals(places) for change, cover in covers.items()):
            doomed.add(number)
    if 0 in doomed:
        return "a correction would remove the bracket around the whole sentence"
    numbers = post_order_numbers(tree)

    def make(node: Tree, children: list[Child]) -> list[Child]:
        return children if next(numbers) in doomed else [Tree(node.label, children)]

    return _rebuilt(tree, make)


def _insert(tree: Tree, label: str, cover: _Cover) -> Tree:
    """The tree with a bracket inserted below the lowest node over its words, around those children that are within it."""
    found, number, lowest = list[tuple[WordPlaces, int]](), -1, 0
    for node, places, parent in walk(tree):
        found.append((places, parent))
        if isinstance(node, Tree):
            number += 1
            if not node.is_preterminal and cover.shared(places)[1] == cover.size:
                lowest = number
    parts = [places for places, parent in found if parent == lowest]
    chosen = _parts_inside(parts, cover)
    numbers = post_order_numbers(tree)

    def make(node: Tree, children: list[Child]) -> list[Child]:
        if next(numbers) != lowest:
            return [Tree(node.label, children)]
        new: list[Child] = [child for child, is_chosen in zip(children, chosen, strict=True) if is_chosen]
        for name in reversed(label.split("+")):
            new = [Tree(name, new)]
        first = chosen.index(True)
        rest = [child for child, is_chosen in zip(children[first:], chosen[first:], strict=True) if not is_chosen]
        return [Tree(node.label, [*children[:first], *new, *rest])]

    return _rebuilt(tree, make)


def _parts_inside(parts: Sequence[WordPlaces], cover: _Cover) -> list[bool]:
    """Whether each child of a node is within a new bracket.

    A child without counted words is within it if its neighbours on both sides are; if all other children are, it always is.
    """
    counted = [index for index, places in enumerate(parts) if cover.shared(places)[0]]
    inside = {index for index in counted if cover.is_inside(parts[index])}
    if len(inside) == len(counted):
        return [True] * len(parts)
    chosen: list[bool] = []
    for index in range(len(parts)):
        at = bisect_left(counted, index)
        is_counted = at < len(counted) and counted[at] == index
        beside = [index] if is_counted else [*counted[max(at - 1, 0) : at], *counted[at : at + 1]]
        chosen.append((is_counted or len(beside) == 2) and inside.issuperset(beside))
    return chosen


def _rebuilt(tree: Tree, make: Callable[[Tree, list[Child]], list[Child]]) -> Tree:
    """The tree rebuilt from the bottom by ``make``, with its words in their places."""
    made = rebuild(with_placed_words(tree), make)
    assert made is not None
    return from_placed_words(made)


def is_in_tree(change: BracketChange, tree: Tree, counts: NDArray[np.bool_]) -> bool:
    """Whether a tree has the bracket that a change would insert: its label over its counted words."""
    cover = _Cover(change, counts)
    nodes = ((node, places) for node, places, _ in walk(tree) if isinstance(node, Tree))
    return any(node.label == change.label and cover.equals(places) for node, places in nodes)


@dataclass(frozen=True)
class CorrectedTreebank:
    """A corrected treebank, the numbers of changed brackets and sentences, and messages on corrections that are impossible."""

    bank: Treebank
    changes: int
    sentences: int
    refused: tuple[str, ...]


def correct_treebank(
    check: Check, log: JudgementLog, rule: str = "majority", annotators: Sequence[str] = (), *, parser_labels: bool = False
) -> CorrectedTreebank:
    """The gold trees with all current corrections; ``parser_labels`` takes the parser's label where nobody chose one."""
    changes: dict[int, set[BracketChange]] = {}
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
    """The edited trees to use, by the hash of their gold tree, and messages on those that cannot be used.

    An adjudicator's tree is used, or else the tree that more than half of the annotators who judged the sentence have made.
    """
    by_gold: dict[str, list[Question]] = {}
    for bracket in log.brackets:
        if bracket in check.number:
            by_gold.setdefault(bracket.gold, []).append(check.questions[check.number[bracket]])
    trees: dict[str, Tree] = {}
    refused: list[str] = []
    for gold, questions in by_gold.items():
        found, problem = _agreed_tree(log, [question.bracket for question in questions], annotators)
        if not found and not problem:
            continue
        sentence = questions[0].occurrences[0].sentence
        try:
            tree = edited_tree(check.gold[sentence], found) if found else None
        except RequestError as error:
            tree, problem = None, str(error).rstrip(".").lower()
        if tree is None:
            refused.append(f"{check.gold.place(sentence)}: {problem}")
        else:
            trees[gold] = tree
    return trees, refused


def _agreed_tree(log: JudgementLog, brackets: Sequence[BracketId], annotators: Sequence[str]) -> tuple[str, str]:
    """The text of the edited tree to use for a sentence, or the reason why no edited tree is used; neither if nobody edited it."""
    rulings = [one for bracket in brackets for one in log.opinions(bracket, "adjudicator").values()]
    ruled = [one for one in rulings if one.correction and one.correct_tree]
    if ruled and not annotators:
        return max(ruled, key=lambda one: one.seq).correct_tree, ""
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
        return "", ""
    texts = Counter(one.correct_tree for one in latest.values())
    text, count = texts.most_common(1)[0]
    n_judges = len(judges | set(latest))
    if 2 * count > n_judges:
        return text, ""
    if len(texts) > 1:
        return "", "the annotators edited the tree differently; let the adjudicator choose"
    return "", f"{count} of {n_judges} annotators edited the tree, not more than half; let the adjudicator choose"


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
    """The tree with which a person begins to edit, and the reason if the correction in question cannot be made in it.

    It is their latest edited tree of the sentence, or else the gold tree with their other corrections of it. The bracket in
    question is inserted or removed if that is possible and a ``label`` is chosen.
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
        corrected = correct_tree(tree, sorted(change for change in found if isinstance(change, BracketChange)), counts, frame)
        tree = tree if isinstance(corrected, str) else corrected
    change = _change(check, question, sentence, Verdict.REJECTED if verdict == "rejected" else Verdict.ACCEPTED, label)
    if isinstance(change, str):
        return tree, f"this bracket {change}" if label else ""
    if change.inserts and is_in_tree(change, tree, counts):
        return tree, ""
    corrected = correct_tree(tree, [change], counts, frame)
    return (tree, corrected) if isinstance(corrected, str) else (corrected, "")


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
    """The label chosen most often; empty if none was chosen, or if two were chosen equally often."""
    labels = Counter(opinion.correct_label for opinion in opinions if opinion.correct_label).most_common(2)
    if not labels or (len(labels) == 2 and labels[0][1] == labels[1][1]):
        return ""
    return labels[0][0]


def _change(check: Check, question: Question, sentence: int, decision: Verdict, label: str) -> BracketChange | str:
    """The change of a gold tree that follows from a verdict with a correction, or the reason why there is none."""
    if not question.span.by_gold:
        return "begins or ends inside a word of the treebank, so it cannot be inserted"
    if (question.kind == "EM") == (decision is Verdict.ACCEPTED):
        return f"was {decision.value}, so no correction follows from the mark that the treebank is wrong"
    if question.kind != "EM" and not label:
        return "has no label for the treebank: choose one on the page, or take the parser's with parser_labels=True"
    traces = check.plan.metric.preset_for(check.plan.preset).traces
    words = [index for index, tag in enumerate(check.gold.tags(sentence)) if tag not in traces]
    before = np.append(0, np.cumsum(_is_counted(check, sentence)[words]))
    spans = question.span.blocks or ((question.span.start, question.span.end),)
    places = [at for first, last in spans for at in range(int(before[first]), int(before[last]))]
    blocks = tuple((block.start, block.end) for block in blocks_of(places)) if places else ((0, 0),)
    change = BracketChange(blocks[0][0], blocks[-1][1], label or question.bracket.label, question.kind != "EM")
    return change._replace(blocks=blocks) if len(blocks) > 1 else change


def _frame_rule(preset: Preset) -> Callable[[str], bool]:
    """A function that tells whether a label, such as TOP, is not a bracket under a preset."""
    return lambda label: preset.deletes(preset.cut_label(label))


def _is_counted(check: Check, sentence: int) -> NDArray[np.bool_]:
    """Whether each word of a gold tree, traces included, counts."""
    left_out = check.plan.metric.preset_for(check.plan.preset).delete_tags
    return np.array([tag not in left_out for tag in check.gold.tags(sentence)], dtype=np.bool_)
