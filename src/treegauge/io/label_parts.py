"""Labels made of parts: NEGRA, TIGER and Alpino keep category, function, morphology and lemma apart, while a tree has one label.

The parts are joined as in the SPMRL treebanks, ``NN-SB##lem=Haus|case=nom##``, and separated again on writing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from treegauge.errors import WriteError
from treegauge.io.sources import LeftOut, ReadOptions
from treegauge.trees.notation import restore_label

NONE = "--"
_FEATURES = re.compile(r"(.*?)##(.+)##", re.DOTALL)
_BLANK = re.compile(r"[\s\0]")
_ENDING, _ESCAPED = re.compile(r"[|\0-\x20]|#(?=#|$)|%(?=[0-9A-F]{2})"), re.compile("%([0-9A-F]{2})")
_BRACKET_TAGS = {"(": "-LRB-", ")": "-RRB-"}
_EVERYTHING = ReadOptions(functions=True, features=True)


class LabelParts(NamedTuple):
    """The columns of an export file that make up a label; ``--`` stands for none."""

    tag: str
    function: str = NONE
    morphology: str = NONE
    lemma: str = NONE


def canonical_label(label: str) -> str:
    """A label as it is read from a bracketed file: a tag that is a single bracket gets its Penn Treebank name.

    >>> canonical_label("("), canonical_label("$("), canonical_label("X-RRB-")
    ('-LRB-', '$(', 'X)')
    """
    return _BRACKET_TAGS.get(label) or restore_label(label)


def join_label(parts: LabelParts, options: ReadOptions) -> str:
    """The label made of the parts that the options ask for.

    >>> join_label(LabelParts("NN", "SB", "Nom.Sg", "Haus"), ReadOptions(features=True))
    'NN-SB##lem=Haus|morph=Nom.Sg##'
    """
    label = "" if parts.tag == NONE else parts.tag
    if options.functions and parts.function != NONE:
        label += "-" + parts.function
    if options.features:
        features = [] if parts.lemma == NONE or options.features == "morphology" else [lemma_feature(parts.lemma)]
        if parts.morphology != NONE:
            features.append(parts.morphology if "=" in parts.morphology else "morph=" + parts.morphology)
        label += f"##{'|'.join(features)}##" if features else ""
    return canonical_label(label)


def lemma_feature(lemma: str) -> str:
    """The feature that holds a lemma, in which characters that end a feature or a label are written as ``%7C``.

    >>> lemma_feature("ab|fahren"), lemma_feature("10%")
    ('lem=ab%7Cfahren', 'lem=10%')
    """
    return "lem=" + _ENDING.sub(lambda found: f"%{ord(found[0]):02X}", lemma)


def parts_left_out(parts: Iterable[LabelParts], options: ReadOptions) -> LeftOut:
    """The numbers of lemmas and of morphological features that :func:`join_label` leaves out of labels."""
    if options.features is True:
        return LeftOut()
    given = [(part.lemma != NONE, part.morphology != NONE and not options.features) for part in parts]
    return LeftOut(lemmas=sum(lemma for lemma, _ in given), features=sum(morphology for _, morphology in given))


@lru_cache(maxsize=1 << 14)
def split_label(label: str, has_lemma: bool, has_blanks: bool = False) -> LabelParts:
    """The parts of which :func:`join_label` makes this label; a label without such parts is a tag as a whole.

    ``has_blanks``: parts may contain blanks, as in XML.

    >>> split_label("NP-SBJ-1", has_lemma=False)
    LabelParts(tag='NP', function='SBJ-1', morphology='--', lemma='--')
    >>> split_label("-NONE-", has_lemma=False)
    LabelParts(tag='-NONE-', function='--', morphology='--', lemma='--')
    """
    for parts in (_all_parts(label, has_lemma), LabelParts(label or NONE)):
        has_forbidden = any(not part or ("\0" in part if has_blanks else _BLANK.search(part)) for part in parts)
        if not has_forbidden and join_label(parts, _EVERYTHING) == label:
            return parts
    why = "'--' is not a label and a bracket is -LRB- or -RRB-"
    why = why if has_blanks else f"blanks separate columns, {why}"
    advice = f"Give the node another label: treegauge normalise, step labels:{label}=NEW"
    raise WriteError(f"the label {label!r} cannot be written in this format, where {why}.\n  {advice}")


def _all_parts(label: str, has_lemma: bool) -> LabelParts:
    match = _FEATURES.fullmatch(label)
    base, features = match.groups() if match else (label, NONE)
    tag, _, function = base.partition("-") if base[:1] != "-" else (base, "", "")
    lemma = NONE
    if has_lemma and features.startswith("lem="):
        lemma, _, features = features.removeprefix("lem=").partition("|")
        lemma, features = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), lemma), features or NONE
    morphology = features.removeprefix("morph=")
    return LabelParts(tag, function or NONE, morphology if "=" not in morphology else features, lemma)


def node_parts(label: str, *, is_root: bool) -> LabelParts:
    """The category and function of a node's label, for formats in which nodes have no morphology and roots no function.

    >>> node_parts("NP-SB", is_root=False), node_parts("NP-SB", is_root=True).tag
    (LabelParts(tag='NP', function='SB', morphology='--', lemma='--'), 'NP-SB')
    """
    parts = split_label(label, has_lemma=False, has_blanks=True)
    if parts.morphology == NONE and not (is_root and parts.function != NONE):
        return parts
    whole = LabelParts(label)
    if join_label(whole, _EVERYTHING) != label:
        raise WriteError(f"the label {label!r} cannot be written in this format.\n  Give the node another label.")
    return whole
