"""The tree editor on the page: after each edit, the corrected tree as a picture and its changes in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from markupsafe import Markup

from treegauge.errors import RequestError, WriteError
from treegauge.humancheck.corrections import last_edited_tree, proposed_tree
from treegauge.humancheck.editing import Bracket, brackets_of, changed_brackets, edit_tree, edited_tree
from treegauge.humancheck.judgements import Person
from treegauge.humancheck.questions import Question
from treegauge.humancheck.session import Session
from treegauge.humancheck.web.pictures import is_right_to_left
from treegauge.trees.drawing import draw_svg
from treegauge.trees.tree import Tree

_MOST_NODES = 1500


class _ChangedBracket(NamedTuple):
    """A bracket that was removed or is new."""

    label: str
    words: str


def _in_words(bracket: Bracket, words: tuple[str, ...]) -> _ChangedBracket:
    return _ChangedBracket(bracket.label, " … ".join(" ".join(words[start:end]) for start, end in bracket.blocks))


class TreeEditor:
    """The part of the page in which a tree is edited; ``render`` fills a template."""

    def __init__(self, session: Session, render: Callable[..., str]) -> None:
        self.session, self._render = session, render

    def start(self, person: Person, question: Question, label: str, verdict: str, begin: str) -> str:
        """The tree to begin with: the person's own so far or, as ``begin`` tells, the treebank's or that of a named annotator."""
        session = self.session
        gold = self._gold(question)
        problem = ""
        if begin == "treebank":
            tree = gold
        elif begin:
            text = self._trees_of_others(person, question).get(begin, "")
            tree = edited_tree(gold, text) if text else gold
        else:
            tree, problem = proposed_tree(session.check, session.log, person, question, verdict, label)
        return self._show(person, question, tree, self._first_node(question, tree), problem)

    def edit(self, person: Person, question: Question, text: str, name: str, label: str, node: int, last: int) -> str:
        """The tree after the edit ``name``; ``show`` changes nothing."""
        tree = edited_tree(self._gold(question), text)
        if name == "show":
            return self._show(person, question, tree, self._first_node(question, tree), "")
        found = edit_tree(tree, name, node, last, label, has_gaps=self.session.check.has_gaps)
        return self._show(person, question, found.tree, found.node, "")

    def _gold(self, question: Question) -> Tree:
        gold = self.session.check.gold[question.occurrences[0].sentence]
        if gold.size > _MOST_NODES:
            raise RequestError(f"A tree of more than {_MOST_NODES} nodes cannot be edited here.")
        return gold

    def _trees_of_others(self, person: Person, question: Question) -> dict[str, str]:
        """The trees that annotators made of the sentence, for the adjudicator."""
        if person.role != "adjudicator":
            return {}
        check, log = self.session.check, self.session.log
        found = {name: last_edited_tree(check, log, Person("annotator", name), question) for name in log.names()}
        return {name: text for name, text in found.items() if text}

    def _first_node(self, question: Question, tree: Tree) -> int:
        """The lowest node over the bracket in question, where editing begins."""
        words = [index for index, tag in enumerate(tree.tags) if tag not in self._traces()]
        span = question.span
        if not span.by_gold or span.end > len(words) or span.start == span.end:
            return 0
        asked = {words[at] for first, last in span.blocks or ((span.start, span.end),) for at in range(first, last)}
        nodes = (blocks for _, blocks in tree.nodes_with_blocks())
        holding = [number for number, blocks in enumerate(nodes) if asked <= {at for block in blocks for at in range(*block)}]
        return max(holding, default=0)

    def _traces(self) -> frozenset[str]:
        preset = self.session.check.plan.metric.preset_for(self.session.check.plan.preset)
        return preset.delete_tags & preset.delete_tags_for_length

    def _show(self, person: Person, question: Question, tree: Tree, node: int, problem: str) -> str:
        gold = self._gold(question)
        removed, new = changed_brackets(gold, tree)
        direction: Literal["ltr", "rtl"] = "rtl" if is_right_to_left(gold.words) else "ltr"
        nodes = zip(tree.nodes(), brackets_of(tree), strict=True)
        marks = {number: "spurious" for number, (one, bracket) in enumerate(nodes) if bracket in new and not one.is_preterminal}
        options: dict[str, Any] = {"id_prefix": "new-", "title": "Corrected tree", "legend": False, "stylesheet": False}
        try:
            text = str(tree)
        except WriteError as error:
            raise RequestError(str(error).splitlines()[0]) from None
        return self._render(
            "edited.html",
            text=text,
            node=node,
            is_gold=tree == gold,
            picture=Markup(draw_svg(tree, marks, direction=direction, **options)),
            problem=problem,
            removed=[_in_words(bracket, gold.words) for bracket in removed],
            new=[_in_words(bracket, gold.words) for bracket in new],
            others=list(self._trees_of_others(person, question)),
            has_gaps=self.session.check.has_gaps,
        )
