"""Complements: which children of a node its head asks for (Collins 1997, section 2.2), read off before function tags are cut."""

from __future__ import annotations

from treegauge.normalise.heads import head_rules
from treegauge.normalise.labels import function_tags
from treegauge.normalise.rulefile import HeadRules, bare_label
from treegauge.trees import Tree

__all__ = ["ADJUNCT_TAGS", "COMPLEMENTS", "complements"]

COMPLEMENTS: dict[str, frozenset[str]] = {
    "S": frozenset({"NP", "SBAR", "S"}),
    "VP": frozenset({"NP", "SBAR", "S", "VP"}),
    "SBAR": frozenset({"S"}),
}
"""Parent label -> labels of the children that are complements."""

ADJUNCT_TAGS = frozenset({"ADV", "VOC", "BNF", "DIR", "EXT", "LOC", "MNR", "TMP", "CLR", "PRP"})
"""Function tags that no complement has."""


def complements(node: Tree, rules: str | HeadRules = "collins") -> tuple[int, ...]:
    """The indices of the children that are complements of the head; the head itself is none.

    They are the NP, SBAR and S under S, the NP, SBAR, S and VP under VP, and the S under SBAR, unless tagged as adjuncts; and in
    a PP the first child after the head, whatever it is (punctuation, which Collins had removed, is passed over).

    >>> complements(Tree.parse("(S (NP-TMP (NN today)) (NP-SBJ (PRP it)) (VP (VBD rained)))"))
    (1,)
    >>> complements(Tree.parse("(PP (IN since) (ADVP (RB then)))"))
    (1,)
    """
    rules = head_rules(rules)
    if len(node.children) < 2:
        return ()
    parent, head = bare_label(node), rules.head_index(node)
    if parent == "PP":
        after = (i for i in range(head + 1, len(node.children)) if not rules.is_skipped(node.children[i]))
        return tuple(after)[:1]
    wanted = COMPLEMENTS.get(parent, frozenset[str]())
    return tuple(
        i
        for i, child in enumerate(node.children)
        if i != head
        and isinstance(child, Tree)
        and bare_label(child) in wanted
        and ADJUNCT_TAGS.isdisjoint(function_tags(child.label))
    )
