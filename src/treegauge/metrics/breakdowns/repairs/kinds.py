"""What an error is called: by what a repair moves, and where it stands.

After Kummerfeld, Hall, Curran & Klein 2012, Parser Showdown at the Wall Street Corral, whose kinds these are; the rules are our
own. Labels and tags are the Penn Treebank's; what is not known falls to ``other attachment``, ``missing node`` or ``extra node``.
"""

from __future__ import annotations

from collections.abc import Sequence

from treegauge.metrics.breakdowns.repairs.forest import Node

__all__ = ["KINDS", "category", "kind_of_move", "kind_of_node"]

KINDS: dict[str, str] = {
    "PP attachment": "a prepositional phrase hangs from the wrong node",
    "NP attachment": "a noun phrase hangs from the wrong node",
    "VP attachment": "a verb phrase or a verb hangs from the wrong node",
    "clause attachment": "a clause hangs from the wrong node",
    "modifier attachment": "an adverb or adjective, or a phrase of one, hangs from the wrong node",
    "other attachment": "something else hangs from the wrong node",
    "coordination": "a conjunct is too short, too long or missing: a conjunction stands beside or in what is moved",
    "NP-internal structure": "words are grouped wrongly inside a noun phrase",
    "unary": "a node over a single phrase is missing or too many",
    "single-word phrase": "a phrase over one word is missing or too many",
    "different label": "the span is right, its label is not",
    "missing node": "another bracket is missing",
    "extra node": "another bracket is too many",
    "no parse": "the sentence has no test tree, or one over other words",
}
"""Kind -> what it means."""

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
    """The sort of phrase a label or tag belongs to; function tags do not matter.

    >>> category("NP-SBJ"), category("VBD"), category("-LRB-"), category("FRAG")
    ('NP', 'VP', 'punctuation', 'other')
    """
    return _CATEGORY.get(name) or _CATEGORY.get(name.partition("-")[0].partition("=")[0]) or "other"


def kind_of_move(run: Sequence[Node], phrase: str, source: Node, target: Node, beside: Sequence[Node]) -> str:
    """The kind of a repair that moves a run of siblings.

    ``phrase`` is the label that gold gives the run (``""``: it has no phrase of its own), ``beside`` are the neighbours that
    the run leaves and gets.
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
