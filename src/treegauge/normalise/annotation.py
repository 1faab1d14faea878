"""Labels split by context, in binarised trees, from which a plain PCFG learns to parse well (Klein & Manning 2003).

A relative-frequency grammar of plain labels ignores too much of the context. Here each label gets marks that distinguish its
uses: ``NP^S`` for an NP under S, ``VP^S^VBZ`` for a finite verb phrase. Marks that begin with ``=`` are about the word itself
(``VBZ^VP^=be``). :func:`~treegauge.normalise.markovisation.unbinarise` undoes both.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from treegauge.errors import UnknownName, UsageError
from treegauge.normalise.heads import HeadRules, head_rules
from treegauge.normalise.labels import base_label, escape_marks, function_tags, join_marked, split_marked
from treegauge.normalise.markovisation import Direction, linearise, split_order
from treegauge.trees import Child, Tree
from treegauge.trees.discontinuous import on_placed
from treegauge.trees.tree import fold

PARENT, SIBLING, WORD = "^", "|", "="
_MARKS = PARENT + SIBLING
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
        "punctuation", "marks of one tag are told apart", True,
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
) -> Tree:
    """The tree with its labels split and at most two children to a node; function tags are used, then cut.

    The label of a phrase includes its ``v - 1`` nearest ancestors; that of a node made by the binarisation includes the ``h``
    siblings split off last and, with ``direction="head"``, the head child. ``splits`` are names of :data:`SPLITS`.

    >>> tree = Tree.parse("(S (NP-SBJ (PRP it)) (VP (VBD was) (ADJP-PRD (JJ wet)) (NP-TMP (NN today))))")
    >>> print(annotate(tree, "head", splits=["aux", "vp"]))
    (S^ROOT (NP^S (PRP it)) (VP^S^VBF (VP^S^VBF|VBD|NP (VBD^=be was) (ADJP^VP (JJ wet))) (NP^VP (NN today))))
    """
    if v < 1 or h < 0:
        raise UsageError(f"h must be at least 0 and v at least 1, not h={h}, v={v}")
    for name in splits:
        if name not in SPLITS:
            raise UnknownName("split of labels", name, SPLITS)
    find = head_rules(rules)
    of_tags = [split for split in _TAGS if split.name in splits]
    of_phrases = [split for split in _PHRASES if split.name in splits]

    def combine(node: Tree, values: list[Phrase | str], above: Sequence[Tree]) -> Phrase:
        label, upwards = base_label(node.label), [base_label(each.label) for each in reversed(above[-max(v, 3) :])]
        if node.is_preterminal:
            blank = Phrase(node, label, label.startswith("VB") or label == "MD", False)
            only = ["only"] if above and len(above[-1].children) == 1 else []
            marks = _marks(of_tags, NodeContext(node, label, (), upwards, only, 0, blank))
            return blank._replace(tree=Tree(_join_labels([label, *marks]), [str(node.children[0])]))
        names = [child if isinstance(child, str) else base_label(child.label) for child in node.children]
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
        return found._replace(tree=_binary(own, children, names, direction, head, h))

    return fold(tree, combine).tree


def _marks(splits: Sequence[LabelSplit], context: NodeContext) -> list[str]:
    return [mark for split in splits if (mark := split.mark(context))]


def _join_labels(pieces: Sequence[str]) -> str:
    return join_marked(PARENT, [escape_marks(piece, _MARKS) for piece in pieces])


def _binary(label: str, children: Sequence[Child], names: Sequence[str], direction: Direction, head: int, h: int) -> Tree:
    if len(children) < 3:
        return Tree(label, children)
    last = head if direction == "head" else len(children) - 1 if direction == "right" else 0
    order = split_order(len(children), last)
    escaped = [escape_marks(name, _MARKS) for name in names]
    around = [escaped[head]] if direction == "head" else []

    def step_label(step: int) -> str:
        gone = [escaped[i] for i in order[max(0, step - h) : step]]
        return join_marked(SIBLING, [label, *around, *(gone or [""])])

    return linearise(label, children, last, step_label)


def lexical_tag(label: str) -> str:
    """A tag with the marks that depend on its word, without those that depend on its context.

    >>> lexical_tag("VBZ^VP^=be"), lexical_tag("NN^NP"), lexical_tag("NN")
    ('VBZ^=be', 'NN', 'NN')
    """
    if PARENT not in label:
        return label
    own, *marks = split_marked(label, PARENT)
    return PARENT.join([own, *(mark for mark in marks if mark.startswith(WORD))])
