"""A label and its parts: NEGRA and TIGER keep category, function, morphology and lemma apart; a tree has one label.

They are joined as the SPMRL treebanks join them, ``NN-SB##lem=Haus|case=nom##``, and taken apart again on writing.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from treegauge.errors import WriteError
from treegauge.io.options import ReadOptions
from treegauge.trees.brackets import restore_label

__all__ = ["NONE", "LabelParts", "canonical_label", "join_label", "split_label"]

NONE = "--"
_FEATURES = re.compile(r"(.*?)##(.+)##", re.DOTALL)
_BLANK = re.compile(r"[\s\0]")
_BRACKET_TAGS = {"(": "-LRB-", ")": "-RRB-"}
_EVERYTHING = ReadOptions(functions=True, features=True)


class LabelParts(NamedTuple):
    """The columns of an export file that make up a label; ``--`` is none."""

    tag: str
    function: str = NONE
    morphology: str = NONE
    lemma: str = NONE


def canonical_label(label: str) -> str:
    """A label as a bracketed file would give it back: a tag that is a mere bracket has its Penn Treebank name.

    >>> canonical_label("("), canonical_label("$("), canonical_label("X-RRB-")
    ('-LRB-', '$(', 'X)')
    """
    return _BRACKET_TAGS.get(label) or restore_label(label)


def join_label(parts: LabelParts, options: ReadOptions) -> str:
    """The label made of these parts.

    >>> join_label(LabelParts("NN", "SB", "Nom.Sg", "Haus"), ReadOptions(features=True))
    'NN-SB##lem=Haus|morph=Nom.Sg##'
    """
    label = "" if parts.tag == NONE else parts.tag
    if options.functions and parts.function != NONE:
        label += "-" + parts.function
    if options.features:
        features = [] if parts.lemma == NONE else ["lem=" + parts.lemma]
        if parts.morphology != NONE:
            features.append(parts.morphology if "=" in parts.morphology else "morph=" + parts.morphology)
        label += f"##{'|'.join(features)}##" if features else ""
    return canonical_label(label)


def split_label(label: str, has_lemma: bool) -> LabelParts:
    """The parts that :func:`join_label` makes this label of; what cannot be taken apart so stays in the tag.

    >>> split_label("NP-SBJ-1", has_lemma=False)
    LabelParts(tag='NP', function='SBJ-1', morphology='--', lemma='--')
    >>> split_label("-NONE-", has_lemma=False)
    LabelParts(tag='-NONE-', function='--', morphology='--', lemma='--')
    """
    for parts in (_all_parts(label, has_lemma), LabelParts(label or NONE)):
        if all(part and not _BLANK.search(part) for part in parts) and join_label(parts, _EVERYTHING) == label:
            return parts
    raise WriteError(
        f"the label {label!r} cannot be written in this format, where blanks separate columns, '--' is no label and a bracket is "
        "-LRB- or -RRB-.\n  Give the node another label."
    )


def _all_parts(label: str, has_lemma: bool) -> LabelParts:
    match = _FEATURES.fullmatch(label)
    base, features = match.groups() if match else (label, NONE)
    tag, _, function = base.partition("-")
    lemma = NONE
    if has_lemma and features.startswith("lem="):
        lemma, _, features = features.removeprefix("lem=").partition("|")
        features = features or NONE
    morphology = features.removeprefix("morph=")
    return LabelParts(tag, function or NONE, morphology if "=" not in morphology else features, lemma)
