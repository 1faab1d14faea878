"""What a set of parameters decides about tags, labels and words.

EQ_LABEL and EQ_WORD pairs hold in both directions but not transitively: with ``A B`` and ``B C``, A and C differ.
"""

from __future__ import annotations

from collections.abc import Iterable

from treegauge.normalise.prm import Parameters, cut_label

__all__ = ["Rules"]

_QUOTES = frozenset({b"'", b'"', b"/"})


class Rules:
    """The parameters, prepared for asking.

    >>> rules = Rules(Parameters(delete_labels=(b"TOP", b"PRT"), equal_labels=((b"ADVP", b"PRT"),)))
    >>> rules.counted_label(b"NP-SBJ"), rules.counted_label(b"TOP"), rules.counted_label(b"ADVP")
    (b'NP', None, None)
    >>> rules.same_label(b"ADVP", b"PRT")
    True
    """

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = parameters
        self.deleted_tags = frozenset(parameters.delete_labels)
        self.not_in_length = frozenset(parameters.delete_labels_for_length)
        self._quote_tags = frozenset(parameters.quote_labels)
        self._equal_labels = _partners(parameters.equal_labels)
        self._equal_words = _partners(parameters.equal_words)
        self._counted: dict[bytes, bytes | None] = {}

    def is_quote(self, tag: bytes, word: bytes) -> bool:
        """Whether a terminal may be put back by the quote repair."""
        return word in _QUOTES and tag in self._quote_tags

    def same_label(self, gold: bytes, test: bytes) -> bool:
        """Whether two labels, or two tags, are equal or an EQ_LABEL pair."""
        return gold == test or test in self._equal_labels.get(gold, ())

    def same_word(self, gold: bytes, test: bytes) -> bool:
        """Whether two words are equal or an EQ_WORD pair."""
        return gold == test or test in self._equal_words.get(gold, ())

    def labels_like(self, label: bytes) -> frozenset[bytes]:
        """A label and its EQ_LABEL partners."""
        return self._equal_labels.get(label) or frozenset((label,))

    def counted_label(self, label: bytes) -> bytes | None:
        """The label after cutting; ``None`` if it, or a label equal to it, is deleted."""
        try:
            return self._counted[label]
        except KeyError:
            cut = cut_label(label)
            counted = cut if self.deleted_tags.isdisjoint(self.labels_like(cut)) else None
            self._counted[label] = counted
            return counted

    def label_classes(self) -> dict[bytes, bytes] | None:
        """A representative for each label with partners, or ``None`` where the pairs are no equivalence."""
        for label, like in self._equal_labels.items():
            if any(self._equal_labels[other] != like for other in like):
                return None
            assert label in like
        return {label: min(like) for label, like in self._equal_labels.items()}


def _partners(pairs: Iterable[tuple[bytes, bytes]]) -> dict[bytes, frozenset[bytes]]:
    """Each string of a pair with itself and everything it is paired with."""
    partners: dict[bytes, set[bytes]] = {}
    for first, second in pairs:
        partners.setdefault(first, {first}).add(second)
        partners.setdefault(second, {second}).add(first)
    return {string: frozenset(others) for string, others in partners.items()}
