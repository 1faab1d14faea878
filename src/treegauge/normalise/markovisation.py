"""Binarisation with horizontal and vertical markovisation, Goodman's ``X_Cont``, parent annotation, and their exact inverses.

A node made by binarisation has the label ``A|B|C``: it is part of a node A whose children B and C were split off. Labels of the
treebank that contain ``|``, ``^`` or a backslash are escaped (:mod:`treegauge.normalise.labels`), so that none is misread.

:func:`annotate` also splits labels by context (Klein & Manning 2003), because a relative-frequency grammar of plain labels ignores
too much of it. Each label gets marks that distinguish its uses: ``NP^S`` for an NP under S, ``VP^S^VBZ`` for a finite verb phrase.
Marks that begin with ``=`` are about the word itself (``VBZ^VP^=be``). :func:`unbinarise` undoes both.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from treegauge.errors import UsageError, check_name
from treegauge.normalise.heads import HeadRules, bare_label, complements, head_rules
from treegauge.normalise.labels import (
    base_label,
    escape_marks,
    function_tags,
    join_marked,
    relabel,
    splice,
    split_marked,
    strip_functions,
    unescape_marks,
)
from treegauge.trees import Child, Tree
from treegauge.trees.discontinuous import on_placed
from treegauge.trees.tree import fold

Direction = Literal["right", "left", "head"]
SIBLING, PARENT, CONT = "|", "^", "_Cont"
_MARKS = SIBLING + PARENT


@on_placed
def binarise(
    tree: Tree, direction: Direction = "right", *, h: int | None = 2, v: int = 1, rules: str | HeadRules = "collins"
) -> Tree:
    """The tree with at most two children under each node; :func:`unbinarise` undoes it exactly.

    Children are split off one at a time: from the left (``right`` branching), from the right (``left``), or from the outside
    towards the head child, left before right (``head``; head rules are applied to the labels as given). The label of a new node
    includes the ``h`` children split off last (``None``: all), that of a phrase its ``v - 1`` nearest ancestors (Klein & Manning
    2003).

    >>> tree = Tree.parse("(VP (VBD gave) (NP (PRP him)) (NP (DT a) (NN cat)) (NP (NN today)))")
    >>> print(binarise(tree, h=1))
    (VP (VBD gave) (VP|VBD (NP (PRP him)) (VP|NP (NP (DT a) (NN cat)) (NP (NN today)))))
    >>> print(binarise(tree, "head", h=0, v=2))
    (VP (VP| (VP| (VBD gave) (NP^VP (PRP him))) (NP^VP (DT a) (NN cat))) (NP^VP (NN today)))
    """
    check_name("direction of binarisation", direction, get_args(Direction))
    if v < 1 or (h is not None and h < 0):
        raise UsageError(f"h must be at least 0 and v at least 1, not h={h}, v={v}")
    find_head = _find_head(direction, rules)

    def combine(node: Tree, children: list[Tree | str], above: Sequence[Tree]) -> Tree:
        label = _label_with_ancestors(node, above, 1 if node.is_preterminal else v, _MARKS)
        if len(children) < 3:
            return Tree(label, children)
        names = [child if isinstance(child, str) else child.label for child in node.children]
        return _with_siblings(label, children, names, find_head(node), h)

    return fold(tree, combine)


def _with_siblings(
    label: str, children: Sequence[Child], names: Sequence[str], last: int, h: int | None, around: Sequence[str] = ()
) -> Tree:
    """The node with at most two children; each new label includes ``around`` and the names of the ``h`` children split off last."""
    order = split_order(len(children), last)

    def label_after(step: int) -> str:
        remembered = [escape_marks(names[i], _MARKS) for i in order[0 if h is None else max(0, step - h) : step]]
        return join_marked(SIBLING, [label, *around, *(remembered or [""])])

    return linearise(label, children, last, label_after)


def _find_head(direction: Direction, rules: str | HeadRules) -> Callable[[Tree], int]:
    """The function that gives the child of a node that is never split off."""
    if direction == "head":
        return head_rules(rules).head_index
    return (lambda node: len(node.children) - 1) if direction == "right" else (lambda node: 0)


def unbinarise(tree: Tree) -> Tree:
    """The tree that :func:`binarise` was given: new nodes are spliced out, and ancestors cut from the labels.

    >>> print(unbinarise(Tree.parse("(VP (VBD gave) (VP|VBD (NP^VP (PRP him)) (NP^VP (DT a) (NN cat))))")))
    (VP (VBD gave) (NP (PRP him)) (NP (DT a) (NN cat)))
    """
    return splice(tree, SIBLING, _own)


@on_placed
def binarise_goodman(tree: Tree) -> Tree:
    """The tree with X -> A B C D as X -> A X_Cont, X_Cont -> B X_Cont, X_Cont -> C D (Goodman 1996, Figure 3).

    >>> print(binarise_goodman(Tree.parse("(X (A a) (B b) (C c) (D d))")))
    (X (A a) (X_Cont (B b) (X_Cont (C c) (D d))))
    """

    def combine(node: Tree, children: list[Tree | str], above: Sequence[Tree]) -> Tree:
        label = escape_marks(node.label, [CONT])
        made = join_marked(CONT, [label, ""])
        return linearise(label, children, len(children) - 1, lambda step: made)

    return fold(tree, combine)


def unbinarise_goodman(tree: Tree) -> Tree:
    """The tree that :func:`binarise_goodman` was given, or the tree that a parse with ``X_Cont`` stands for.

    >>> print(unbinarise_goodman(Tree.parse("(X (A a) (X_Cont (B b) (X_Cont (C c) (D d))))")))
    (X (A a) (B b) (C c) (D d))
    """
    return splice(tree, CONT, unescape_marks)


@on_placed
def annotate_parents(tree: Tree, v: int = 2, *, tags: bool = False) -> Tree:
    """The tree with each phrase's ``v - 1`` nearest ancestors in its label; ``tags`` annotates preterminals too.

    >>> print(annotate_parents(Tree.parse("(S (NP (PRP it)) (VP (VBD rained)))")))
    (S (NP^S (PRP it)) (VP^S (VBD rained)))
    """
    if v < 1:
        raise UsageError(f"v must be at least 1, not v={v}")

    def combine(node: Tree, children: list[Tree | str], above: Sequence[Tree]) -> Tree:
        return Tree(_label_with_ancestors(node, above, 1 if node.is_preterminal and not tags else v, PARENT), children)

    return fold(tree, combine)


def remove_parents(tree: Tree) -> Tree:
    """The tree that :func:`annotate_parents` was given.

    >>> print(remove_parents(Tree.parse("(S (NP^S (PRP it)) (VP^S (VBD rained)))")))
    (S (NP (PRP it)) (VP (VBD rained)))
    """
    return relabel(tree, _own)


def linearise(label: str, children: Sequence[Child], head: int, label_after: Callable[[int], str]) -> Tree:
    """A binary tree over the children: those left of the head are split off from the left, then the others from the right.

    ``label_after(step)`` is the label of the node that remains after ``step`` children were split off.

    >>> print(linearise("A", ["L2", "L1", "H", "R1", "R2"], 2, lambda step: f"@{step}"))
    (A L2 (@1 L1 (@2 (@3 H R1) R2)))
    """
    if len(children) < 3:
        return Tree(label, children)
    order = split_order(len(children), head)
    rest = children[head]
    for step in range(len(order) - 1, -1, -1):
        child = children[order[step]]
        rest = Tree(label_after(step) if step else label, (child, rest) if order[step] < head else (rest, child))
    assert isinstance(rest, Tree)
    return rest


def split_order(n: int, head: int) -> list[int]:
    """The order in which :func:`linearise` splits off all of ``n`` children but the head.

    >>> split_order(5, 2)
    [0, 1, 4, 3]
    """
    return [*range(head), *range(n - 1, head, -1)]


def _label_with_ancestors(node: Tree, above: Sequence[Tree], v: int, marks: str) -> str:
    """The node's label and those of its ``v - 1`` nearest ancestors, the nearest first."""
    ancestors = reversed(above[-(v - 1) :]) if v > 1 else ()
    return join_marked(PARENT, [escape_marks(each.label, marks) for each in (node, *ancestors)])


def _own(label: str) -> str:
    """The label without its ancestors."""
    return unescape_marks(split_marked(label, PARENT)[0])


MOTHER, HEAD, FRAME, COMPLEMENT = "^", "~", "|", "+"
_MH_MARKS = MOTHER + HEAD + FRAME + COMPLEMENT


mrl, unmrl = binarise_goodman, unbinarise_goodman
"""The right linearisation of Sima'an's MRL parser is Goodman's."""


@dataclass(slots=True)
class _HeadedNode:
    """A node of the unary-free tree: its head child, the tag of its head word, and the labels of its complements by child."""

    label: str
    children: list[_HeadedNode | str]
    head: int
    tag: str
    complements: dict[int, str]
    is_tag: bool = False
    mother: str = ""


@on_placed
def mh(tree: Tree, rules: str | HeadRules = "collins", before: str = "") -> Tree:
    """The tree without unary productions, labels extended by mother and head tag, linearised around the head with frames.

    A -> L2 L1 H R1 R2 becomes A -> L2 @, @ -> L1 @, @ -> @ R2, @ -> H R1. Heads and complements are found in the tree as given,
    with its function tags and unary productions. Then function tags are cut, and a unary chain keeps its top label (over one word,
    the tag; an empty label is passed over). Traces, and a root that is not a constituent, should be removed before. Functions
    before a mark ``before`` are cut first; tags then stay whole.

    >>> tree = Tree.parse("(S (NP-SBJ (PRP he)) (VP (VBD gave) (NP (PRP her)) (NP (NN tea)) (NP-TMP (NN today))))")
    >>> print(mh(tree).pretty(80))
    (S^~VBD
      (PRP he)
      (VP^S~VBD
        (VP^S~VBD||NP+NP (VP^S~VBD||NP (VBD gave) (PRP her)) (NN tea))
        (NN today)))
    >>> print(unmh(mh(tree)))
    (S (PRP he) (VP (VBD gave) (PRP her) (NN tea) (NN today)))
    """
    rules = head_rules(rules)
    tree = strip_functions(tree, before=before) if before else tree
    root = fold(tree, lambda node, children, above: _unary_free(node, children, rules, cut_tags=not before))
    return _linear_tree(root)


def unmh(tree: Tree) -> Tree:
    """The unary-free n-ary tree of an MH tree, with plain labels."""
    return splice(tree, FRAME, lambda label: unescape_marks(split_marked(label, MOTHER)[0]))


def _unary_free(node: Tree, children: list[_HeadedNode | str], rules: HeadRules, *, cut_tags: bool) -> _HeadedNode:
    label = base_label(node.label) if cut_tags or not node.is_preterminal else node.label
    if node.is_preterminal:
        return _HeadedNode(label, children, 0, label, {}, is_tag=True)
    if not children:
        return _HeadedNode(label, [], 0, "", {})
    if len(children) == 1:
        (only,) = children
        assert isinstance(only, _HeadedNode)
        only.label = only.label if only.is_tag or not label else label
        return only
    head = rules.head_index(node)
    head_child = children[head]
    tag = "" if isinstance(head_child, str) else head_child.tag
    frame = {i: bare_label(node.children[i]) for i in complements(node, rules)}
    return _HeadedNode(label, children, head, tag, frame)


def _linear_tree(root: _HeadedNode) -> Tree:
    """The binary tree with extended labels, built bottom-up."""
    downwards = [root]
    for node in downwards:
        for child in node.children:
            if isinstance(child, _HeadedNode):
                child.mother = node.label
                downwards.append(child)
    built: dict[int, Tree] = {}
    for node in reversed(downwards):
        children = [child if isinstance(child, str) else built.pop(id(child)) for child in node.children]
        built[id(node)] = _tree(node, children)
    return built[id(root)]


def _tree(node: _HeadedNode, children: Sequence[Child]) -> Tree:
    label = escape_marks(node.label, _MH_MARKS)
    if node.is_tag:
        return Tree(label, children)
    extended = join_marked(
        HEAD, [join_marked(MOTHER, [label, escape_marks(node.mother, _MH_MARKS)]), escape_marks(node.tag, _MH_MARKS)]
    )
    order = split_order(len(children), node.head)
    wanted = [(step, i) for step, i in enumerate(order) if i in node.complements]

    def label_after(step: int) -> str:
        inside = [i for split_at, i in wanted if split_at >= step]
        sides = [i for i in inside if i < node.head], [i for i in inside if i > node.head]
        frames = (sorted(escape_marks(node.complements[i], _MH_MARKS) for i in side) for side in sides)
        return join_marked(FRAME, [extended, *(join_marked(COMPLEMENT, frame) for frame in frames)])

    return linearise(extended, children, node.head, label_after)


WORD = "="
"""The mark of what depends on the word itself."""
ROOT = "ROOT"
"""The label used as the parent of a root."""
_FINITE = frozenset({"VBZ", "VBD", "VBP", "MD"})
_BE = frozenset(["be", "am", "is", "are", "was", "were", "been", "being", "'s", "'re", "'m", "’s", "’re", "’m", "ai"])
_HAVE = frozenset(["have", "has", "had", "having", "'ve", "'d", "’ve", "’d"])
_DO = frozenset(["do", "does", "did"])


class Phrase(NamedTuple):
    """A finished node: its new tree, the tag of its head word, whether it holds a verb, and whether it ends in an NP."""

    tree: Tree
    head_tag: str
    has_verb: bool
    ends_in_np: bool


class NodeContext(NamedTuple):
    """A node in its context, from which its marks are computed.

    ``label`` is its bare label, ``functions`` its function tags, ``above`` the bare labels above it (that of the parent first),
    ``children`` those of its children, ``head`` the index of its head child. For a tag, ``children`` is ``["only"]`` if it is its
    parent's only child.
    """

    node: Tree
    label: str
    functions: tuple[str, ...]
    above: Sequence[str]
    children: Sequence[str]
    head: int
    phrase: Phrase

    @property
    def parent(self) -> str:
        return self.above[0] if self.above else ROOT

    @property
    def grandparent(self) -> str:
        return self.above[1] if len(self.above) > 1 else ROOT

    @property
    def word(self) -> str:
        return str(self.node.children[0]).lower()


@dataclass(frozen=True)
class LabelSplit:
    """A split of labels: its name, a description, whether it splits tags, and the function that gives a node's mark (or ``""``)."""

    name: str
    help: str
    of_tags: bool
    mark: Callable[[NodeContext], str]


def _auxiliary(context: NodeContext) -> str:
    if not context.label.startswith("V"):
        return ""
    return next((f"={name}" for name, forms in (("be", _BE), ("have", _HAVE), ("do", _DO)) if context.word in forms), "")


def _finiteness(context: NodeContext) -> str:
    tag = context.phrase.head_tag
    return "VBF" if tag in _FINITE else tag


def _over_tags(context: NodeContext) -> bool:
    return all(isinstance(child, str) or child.is_preterminal for child in context.node.children)


_TAGS = (
    LabelSplit("tag-pa", "tags know their parent", True, lambda p: p.parent),
    LabelSplit("in", "IN knows its grandparent", True, lambda p: p.grandparent if p.label == "IN" else ""),
    LabelSplit("aux", "be, have and do differ from other verbs", True, _auxiliary),
    LabelSplit(
        "cc", "'but' and '&' differ from other conjunctions", True,
        lambda p: f"={p.word}" if p.label == "CC" and p.word in ("but", "&") else "",
    ),
    LabelSplit("percent", "% differs from other nouns", True, lambda p: "=%" if p.word == "%" else ""),
    LabelSplit(
        "alone", "a determiner or adverb that is its parent's only child is marked", True,
        lambda p: "U" if p.label in ("DT", "RB") and p.children == ["only"] else "",
    ),
    LabelSplit("not", "'not' differs from other adverbs", True, lambda p: "=not" if p.word in ("not", "n't", "n’t") else ""),
    LabelSplit(
        "punctuation", "marks with the same tag differ", True,
        lambda p: f"={p.word}" if not p.label[:1].isalpha() or p.label == "HYPH" else "",
    ),
)  # fmt: skip
_PHRASES = (
    LabelSplit("unary", "a phrase over one child is marked", False, lambda p: "U" if len(p.children) == 1 else ""),
    LabelSplit("tmp", "temporal NPs are marked", False, lambda p: "TMP" if p.label == "NP" and "TMP" in p.functions else ""),
    LabelSplit("sbj", "subjects are marked", False, lambda p: "SBJ" if p.label == "NP" and "SBJ" in p.functions else ""),
    LabelSplit("poss", "possessive NPs are marked", False, lambda p: "P" if p.label == "NP" and p.children[-1] == "POS" else ""),
    LabelSplit("base-np", "NPs over tags only are marked", False, lambda p: "B" if p.label == "NP" and _over_tags(p) else ""),
    LabelSplit("vp", "VPs know the tag of their head", False, lambda p: _finiteness(p) if p.label == "VP" else ""),
    LabelSplit(
        "sentence", "clauses know the tag of their head", False,
        lambda p: _finiteness(p) if p.label in ("S", "SBAR", "SINV", "SQ") else "",
    ),
    LabelSplit(
        "verb", "phrases that hold a verb are marked", False,
        lambda p: "v" if p.label not in ("VP", "S", "SBAR", "SINV", "SQ") and p.phrase.has_verb else "",
    ),
    LabelSplit(
        "right-np", "NPs that end in an NP are marked", False, lambda p: "R" if p.label == "NP" and p.phrase.ends_in_np else "",
    ),
    LabelSplit(
        "gapped", "an S without a subject before its head is marked", False,
        lambda p: "G" if p.label == "S" and not {"NP", "SBAR"} & set(p.children[: p.head]) else "",
    ),
    LabelSplit(
        "coordinated", "phrases with a conjunction inside are marked", False, lambda p: "C" if "CC" in p.children[1:] else "",
    ),
)  # fmt: skip
SPLITS: dict[str, LabelSplit] = {split.name: split for split in (*_TAGS, *_PHRASES)}
"""The splits by name, after Klein & Manning (2003, Figure 8) as far as they have them."""
USUAL_SPLITS = ("tag-pa", "in", "aux", "cc", "percent", "alone", "vp", "verb", "gapped")


@on_placed
def annotate(
    tree: Tree,
    direction: Direction = "right",
    *,
    h: int = 1,
    v: int = 2,
    splits: Collection[str] = USUAL_SPLITS,
    rules: str | HeadRules = "collins",
    before: str = "",
) -> Tree:
    """The tree with its labels split and at most two children to a node; function tags are used, then cut.

    The label of a phrase includes its ``v - 1`` nearest ancestors; that of a node made by the binarisation includes the ``h``
    siblings split off last and, with ``direction="head"``, the head child. ``splits`` are names of :data:`SPLITS`.
    Functions before a mark ``before`` are cut first; tags then stay whole.

    >>> tree = Tree.parse("(S (NP-SBJ (PRP it)) (VP (VBD was) (ADJP-PRD (JJ wet)) (NP-TMP (NN today))))")
    >>> print(annotate(tree, "head", splits=["aux", "vp"]))
    (S^ROOT (NP^S (PRP it)) (VP^S^VBF (VP^S^VBF|VBD|NP (VBD^=be was) (ADJP^VP (JJ wet))) (NP^VP (NN today))))
    """
    if v < 1 or h < 0:
        raise UsageError(f"h must be at least 0 and v at least 1, not h={h}, v={v}")
    for name in splits:
        check_name("split of labels", name, SPLITS)
    find = head_rules(rules)
    tree, plain = (strip_functions(tree, before=before), str) if before else (tree, base_label)
    of_tags = [split for split in _TAGS if split.name in splits]
    of_phrases = [split for split in _PHRASES if split.name in splits]

    def combine(node: Tree, values: list[Phrase | str], above: Sequence[Tree]) -> Phrase:
        label, upwards = plain(node.label), [plain(each.label) for each in reversed(above[-max(v, 3) :])]
        if node.is_preterminal:
            blank = Phrase(node, label, label.startswith("VB") or label == "MD", False)
            only = ["only"] if above and len(above[-1].children) == 1 else []
            marks = _marks(of_tags, NodeContext(node, label, (), upwards, only, 0, blank))
            return blank._replace(tree=Tree(_join_labels([label, *marks]), [str(node.children[0])]))
        names = [child if isinstance(child, str) else plain(child.label) for child in node.children]
        head = find.head_index(node) if names else 0
        below = [value if isinstance(value, Phrase) else Phrase(node, "", False, False) for value in values]
        found = Phrase(
            node,
            below[head].head_tag if below else "",
            any(each.has_verb for each in below),
            bool(below) and (names[-1] == "NP" or below[-1].ends_in_np),
        )
        context = NodeContext(node, label, function_tags(node.label), upwards, names, head, found)
        known = [*upwards, *[ROOT] * v][: v - 1]
        own = _join_labels([label, *known, *_marks(of_phrases, context)])
        children: list[Child] = [value if isinstance(value, str) else value.tree for value in values]
        last = head if direction == "head" else len(children) - 1 if direction == "right" else 0
        around = [escape_marks(names[head], _MARKS)] if direction == "head" and names else []
        return found._replace(tree=_with_siblings(own, children, names, last, h, around))

    return fold(tree, combine).tree


def _marks(splits: Sequence[LabelSplit], context: NodeContext) -> list[str]:
    return [mark for split in splits if (mark := split.mark(context))]


def _join_labels(pieces: Sequence[str]) -> str:
    return join_marked(PARENT, [escape_marks(piece, _MARKS) for piece in pieces])


def lexical_tag(label: str) -> str:
    """A tag with the marks that depend on its word, without those that depend on its context.

    >>> lexical_tag("VBZ^VP^=be"), lexical_tag("NN^NP"), lexical_tag("NN")
    ('VBZ^=be', 'NN', 'NN')
    """
    if PARENT not in label:
        return label
    own, *marks = split_marked(label, PARENT)
    return PARENT.join([own, *(mark for mark in marks if mark.startswith(WORD))])
