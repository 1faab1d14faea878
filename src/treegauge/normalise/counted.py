"""A tree as a preset sees it: only what counts when it is scored."""

from __future__ import annotations

import os

from treegauge.normalise.preset import Preset, load_preset
from treegauge.trees import Child, Tree
from treegauge.trees.rebuilding import rebuild

__all__ = ["apply_preset"]


def apply_preset(tree: Tree, preset: str | os.PathLike[str] | Preset = "collins") -> Tree | None:
    """The tree without the words and phrases that a preset deletes, its labels cut; ``None`` if nothing is left.

    ``preset`` is a name or a file, an EVALB ``.prm`` for example. The phrases that stay are the brackets a metric counts, except
    that a deleted root over several phrases stays to hold them together. What a preset says of single brackets among the rest
    (trivial, repeated and redundant ones) is left to the metric.

    >>> tree = Tree.parse("(TOP (S (NP-SBJ (NP (NN rain)) (PRN (, ,))) (VP (VBD fell)) (. .)))")
    >>> print(apply_preset(tree, "collins"))
    (S (NP (NP (NN rain))) (VP (VBD fell)))
    """
    rules = load_preset(preset)

    def make(node: Tree, children: list[Child]) -> list[Child]:
        if node.is_preterminal:
            return [] if node.label in rules.delete_tags else [node.replace(label=rules.cut_tag(node.label))]
        label = rules.cut_label(node.label)
        if rules.deletes(label):
            return children
        return [Tree(label, children)] if children or rules.empty_brackets else []

    return rebuild(tree, make)
