"""The state of simulated repairs: a test tree that can be changed, and the gold brackets that it still lacks; and kinds of errors.

The kind of an error depends on the nodes that a repair moves, and on where they are. The kinds are those of Kummerfeld, Hall,
Curran & Klein 2012, Parser Showdown at the Wall Street Corral; the rules are our own. They know the labels and tags of the Penn
Treebank; other errors are ``other attachment``, ``missing node`` or ``extra node``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.alignment.brackets import Brackets


class Node:
    """A phrase or a token of the tree under repair.

    ``label`` is the class of the label (-1: a token or the artificial root), ``name`` the label or tag itself. ``wrong``: its
    bracket is not in the gold tree. ``row`` is its row among the test brackets (-1: a token, or a node that a repair added).
    """

    __slots__ = ("children", "end", "label", "name", "parent", "row", "start", "wrong")

    def __init__(self, label: int, name: str, start: int, end: int, row: int = -1, wrong: bool = False) -> None:
        self.label, self.name, self.start, self.end, self.row, self.wrong = label, name, start, end, row, wrong
        self.parent: Node = self
        self.children: list[Node] = []

    @property
    def is_token(self) -> bool:
        return not self.children

    @property
    def span(self) -> tuple[int, int]:
        return self.start, self.end

    def place(self) -> int:
        """The index among the siblings."""
        return self.parent.children.index(self)


class RepairForest:
    """The brackets of one sentence as nodes under an artificial root, which is never wrong and never changes."""

    def __init__(
        self, test: Brackets, classes: NDArray[np.integer], sentence: int, wrong: NDArray[np.bool_], tags: list[str]
    ) -> None:
        self.root = Node(-1, "", 0, len(tags))
        self.tokens = [Node(-1, tag, place, place + 1) for place, tag in enumerate(tags)]
        first, last = int(test.offset[sentence]), int(test.offset[sentence + 1])
        rows = slice(first, last)
        numbers: list[int] = test.label[rows].tolist()
        names = [test.labels[number] for number in numbers]
        self.phrases = [
            Node(label, name, start, end, row, is_wrong)
            for label, name, start, end, row, is_wrong in zip(
                classes[test.label[rows]].tolist(),
                names,
                test.start[rows].tolist(),
                test.end[rows].tolist(),
                range(first, last),
                wrong[rows].tolist(),
                strict=True,
            )
        ]
        self._attach_all(test, sentence, first)

    def _attach_all(self, test: Brackets, sentence: int, first: int) -> None:
        """Give every node its parent; children come in the order of their starts."""
        tokens = slice(int(test.token_offset[sentence]), int(test.token_offset[sentence + 1]))
        parents: list[int] = test.parent[first : first + len(self.phrases)].tolist()
        above: list[int] = test.above[tokens].tolist()
        waiting = iter(zip(self.tokens, above, strict=True))
        token = next(waiting, None)
        # Phrases are in pre-order: the tokens before a phrase are attached before it.
        for phrase, parent in zip(self.phrases, parents, strict=True):
            while token is not None and token[0].start < phrase.start:
                self._add(token[0], token[1] - first if token[1] >= 0 else -1)
                token = next(waiting, None)
            self._add(phrase, parent - first if parent >= 0 else -1)
        while token is not None:
            self._add(token[0], token[1] - first if token[1] >= 0 else -1)
            token = next(waiting, None)

    def _add(self, node: Node, parent: int) -> None:
        node.parent = self.root if parent < 0 else self.phrases[parent]
        node.parent.children.append(node)

    def move(self, run: list[Node], target: Node) -> None:
        """Move a run of siblings to another node, at the place given by its position; the caller updates the spans."""
        siblings, first = run[0].parent.children, run[0].place()
        del siblings[first : first + len(run)]
        place = sum(child.start < run[0].start for child in target.children)
        target.children[place:place] = run
        for node in run:
            node.parent = target

    def wrap(self, run: list[Node], gold: Gold) -> Node:
        """A new node with a gold bracket's label over a run of siblings."""
        node = Node(gold.label, gold.name, run[0].start, run[-1].end)
        parent, first = run[0].parent, run[0].place()
        node.parent, node.children = parent, run
        parent.children[first : first + len(run)] = [node]
        for child in run:
            child.parent = node
        self.phrases.append(node)
        return node

    def splice_out(self, node: Node) -> None:
        """Remove a node; its children take its place."""
        place = node.place()
        node.parent.children[place : place + 1] = node.children
        for child in node.children:
            child.parent = node.parent
        self.phrases = [phrase for phrase in self.phrases if phrase is not node]

    def run(self, start: int, end: int) -> list[Node] | None:
        """The highest siblings that cover exactly ``[start, end)``; None if a node crosses its edges."""
        node = self.tokens[start]
        while node.parent is not self.root and node.parent.start >= start and node.parent.end <= end:
            node = node.parent
        siblings, first = node.parent.children, node.place()
        last = first
        while last < len(siblings) and siblings[last].end < end:
            last += 1
        return siblings[first : last + 1] if last < len(siblings) and siblings[last].end == end else None


class Gold(NamedTuple):
    """A missing gold bracket: the class and the name of its label, and its row."""

    label: int
    name: str
    row: int


class MissingBrackets:
    """The gold brackets that are still missing, by span."""

    def __init__(self, gold: Brackets, classes: NDArray[np.integer], rows: NDArray[np.integer]) -> None:
        self.by_span: dict[tuple[int, int], list[Gold]] = {}
        numbers: list[int] = gold.label[rows].tolist()
        for label, number, start, end, row in zip(
            classes[gold.label[rows]].tolist(),
            numbers,
            gold.start[rows].tolist(),
            gold.end[rows].tolist(),
            rows.tolist(),
            strict=True,
        ):
            self.by_span.setdefault((start, end), []).append(Gold(label, gold.labels[number], row))

    def __bool__(self) -> bool:
        return bool(self.by_span)

    def __iter__(self) -> Iterator[tuple[tuple[int, int], Gold]]:
        return ((span, bracket) for span, brackets in self.by_span.items() for bracket in brackets)

    def edges(self) -> set[int]:
        """The positions at which missing brackets begin or end."""
        return {edge for span in self.by_span for edge in span}

    def find(self, start: int, end: int, label: int, claimed: Sequence[int]) -> Gold | None:
        """A missing bracket of that span and label that is not among the claimed rows."""
        for bracket in self.by_span.get((start, end), ()):
            if bracket.label == label and bracket.row not in claimed:
                return bracket
        return None

    def find_span(self, start: int, end: int, claimed: Sequence[int]) -> Gold | None:
        """A missing bracket of that span with any label."""
        for bracket in self.by_span.get((start, end), ()):
            if bracket.row not in claimed:
                return bracket
        return None

    def take(self, start: int, end: int, row: int) -> Gold:
        """Remove a bracket from the missing ones, and return it."""
        brackets = self.by_span[start, end]
        taken = next(bracket for bracket in brackets if bracket.row == row)
        brackets.remove(taken)
        if not brackets:
            del self.by_span[start, end]
        return taken


KINDS: dict[str, str] = {
    "PP attachment": "a prepositional phrase is attached to the wrong node",
    "NP attachment": "a noun phrase is attached to the wrong node",
    "VP attachment": "a verb phrase or a verb is attached to the wrong node",
    "clause attachment": "a clause is attached to the wrong node",
    "modifier attachment": "an adverb or adjective, or a phrase of one, is attached to the wrong node",
    "other attachment": "something else is attached to the wrong node",
    "coordination": "a conjunct is too short, too long or missing: a conjunction stands beside or in what is moved",
    "NP-internal structure": "words are grouped wrongly inside a noun phrase",
    "unary": "a node over a single phrase is missing or superfluous",
    "single-word phrase": "a phrase over one word is missing or superfluous",
    "different label": "the span is right, its label is not",
    "missing node": "another bracket is missing",
    "extra node": "another bracket is superfluous",
    "no parse": "the sentence has no test tree, or one over different words",
}
"""Kind -> its meaning."""

_CATEGORIES = {
    "PP": "PP WHPP IN TO APPR",
    "NP": "NP NX NAC NML WHNP QP NN NNS NNP NNPS PRP WP EX CD FW $ NE DT WDT PDT PRP$ WP$ POS",
    "VP": "VP VB VBD VBG VBN VBP VBZ MD",
    "clause": "S SBAR SINV SQ SBARQ RRC",
    "modifier": "ADVP ADJP WHADVP WHADJP PRT AP AVP JJ JJR JJS RB RBR RBS WRB RP",
    "conjunction": "CC CONJP KON",
    "punctuation": ", . : `` '' -LRB- -RRB- HYPH NFP",
}
_CATEGORY = {name: category for category, names in _CATEGORIES.items() for name in names.split()}
_INSIDE_NP = frozenset({"NX", "NAC", "NML", "QP"})


def category(name: str) -> str:
    """The category of phrase to which a label or tag belongs; function tags do not matter.

    >>> category("NP-SBJ"), category("VBD"), category("-LRB-"), category("FRAG")
    ('NP', 'VP', 'punctuation', 'other')
    """
    return _CATEGORY.get(name) or _CATEGORY.get(name.partition("-")[0].partition("=")[0]) or "other"


def kind_of_move(run: Sequence[Node], phrase: str, source: Node, target: Node, beside: Sequence[Node]) -> str:
    """The kind of a repair that moves a run of siblings.

    ``phrase`` is the label of the gold phrase over the run (``""``: there is none), ``beside`` are its neighbours before and after
    the move.
    """
    words = [found for node in run if (found := category(node.name)) != "punctuation"] or ["other"]
    if "conjunction" in (words[0], words[-1]) or any(category(node.name) == "conjunction" for node in beside):
        return "coordination"
    if phrase:
        return _attachment(category(phrase))
    inside = category(source.name) == category(target.name) == "NP"
    if inside and all(node.is_token for node in run) and words[0] not in ("PP", "VP"):
        return "NP-internal structure"
    if words[0] == "PP" and run[0].is_token and {"clause", "VP"} & set(words):
        return "clause attachment"
    return _attachment(words[0])


def _attachment(found: str) -> str:
    if found == "conjunction":
        return "coordination"
    return f"{found if found != 'punctuation' else 'other'} attachment"


def kind_of_node(name: str, children: Sequence[Node], parent: Node, *, missing: bool) -> str:
    """The kind of a repair that only adds or removes a node over these children of ``parent``."""
    first, last = children[0], children[-1]
    if (len(children) == 1 and not first.is_token) or (parent.label >= 0 and (first.start, last.end) == parent.span):
        return "unary"
    if last.end - first.start == 1:
        return "single-word phrase"
    if any(category(child.name) == "conjunction" for child in children):
        return "coordination"
    if name in _INSIDE_NP or (category(parent.name) == "NP" and all(child.is_token for child in children)):
        return "NP-internal structure"
    return "missing node" if missing else "extra node"
