"""How to read: the choices a user has, as one value."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ReadOptions"]


@dataclass(frozen=True)
class ReadOptions:
    """How a treebank is to be read.

    * ``format``: a name of :data:`treegauge.io.FORMATS`, or ``auto``.
    * ``encoding``: of the text; UTF-8 is checked strictly.
    * ``lines``: each line is one sentence, so that a blank line is an empty parse ``()`` and several trees on a line become
      one under an empty root.
    * ``comment``: lines that begin with this are left out.
    * ``functions``: grammatical functions of export and TIGER-XML become part of the label (``NP-SB``).
    * ``features``: their lemmas and morphology become SPMRL features (``NN##lem=Haus##``).
    * ``attach_punctuation``: in the same two formats, punctuation that hangs from the root between the words of a constituent
      becomes part of the smallest such constituent. NEGRA and TIGER attach all punctuation to the root, so that nearly every
      sentence with a comma would be discontinuous by it alone.
    """

    format: str = "auto"
    encoding: str = "utf-8"
    lines: bool = False
    comment: str = ""
    functions: bool = True
    features: bool = False
    attach_punctuation: bool = False
