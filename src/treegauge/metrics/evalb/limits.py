"""EVALB's fixed sizes, and what to say where a sentence is beyond them.

EVALB checks none of its arrays: beyond them its output is whatever the memory happened to hold. treegauge has no such
limits, scores the sentence, and remarks that EVALB's own number would have meant nothing.
"""

from __future__ import annotations

from treegauge.metrics.evalb.reading import Sentence
from treegauge.normalise.prm import Parameters

__all__ = ["BRACKETS", "LABEL", "LINE", "QUOTES", "TEXT", "WORD", "WORDS", "parameter_remarks", "sentence_remarks", "text_remark"]

LINE = 4999
"""Bytes of a line, newline included."""
WORDS = 200
BRACKETS = 200
WORD = 99
LABEL = 29
QUOTES = 20
TEXT = 999
"""Bytes of a bracket's text in the DEBUG 2 trace."""

_LIST = 100
_QUOTE_LABELS = 20


def sentence_remarks(side: bytes, number: int, sentence: Sentence) -> tuple[bytes, ...]:
    r"""What EVALB could not have held of a sentence; ``side`` is ``gold`` or ``test``.

    >>> sentence_remarks(b"gold", 7, Sentence(b"(S)\n", longest_label=30))
    (b'gold line 7: a label of 30 bytes where EVALB holds 29; its own result is undefined here, this one is not',)
    """
    sizes = (
        (len(sentence.words), WORDS, b"%d words"),
        (len(sentence.labels), BRACKETS, b"%d brackets"),
        (sentence.longest_word, WORD, b"a word of %d bytes"),
        (sentence.longest_label, LABEL, b"a label of %d bytes"),
        (len(sentence.quotes), QUOTES, b"%d quote terminals"),
    )
    remarks = [
        b"%s line %d: %s where EVALB holds %d; its own result is undefined here, this one is not"
        % (side, number, what % size, limit)
        for size, limit, what in sizes
        if size > limit
    ]
    if len(sentence.line) > LINE:
        remarks.insert(
            0,
            b"%s line %d: %d bytes are read whole; EVALB would cut the line at %d and pair the rest with the next one"
            % (side, number, len(sentence.line), LINE),
        )
    return tuple(remarks)


def parameter_remarks(parameters: Parameters) -> tuple[bytes, ...]:
    """What EVALB could not have held of the parameters."""
    lists = (
        (b"DELETE_LABEL", len(parameters.delete_labels), _LIST),
        (b"DELETE_LABEL_FOR_LENGTH", len(parameters.delete_labels_for_length), _LIST),
        (b"QUOTE_LABEL", len(parameters.quote_labels), _QUOTE_LABELS),
        (b"EQ_LABEL", len(parameters.equal_labels), _LIST),
        (b"EQ_WORD", len(parameters.equal_words), _LIST),
    )
    remarks = [
        b"%d %s lines where EVALB holds %d; its own results are undefined, these are not" % (size, keyword, limit)
        for keyword, size, limit in lists
        if size > limit
    ]
    longest = max((len(word) for pair in parameters.equal_labels + parameters.equal_words for word in pair), default=0)
    if longest > LABEL:
        remarks.append(
            b"an EQ_LABEL or EQ_WORD value of %d bytes where EVALB holds %d; its own results are undefined, these are not"
            % (longest, LABEL)
        )
    return tuple(remarks)


def text_remark(number: int) -> bytes:
    """What to say of a bracket whose text overflows the buffer of the DEBUG 2 trace."""
    return b"line %d: a traced bracket of more than %d bytes; EVALB's own trace is undefined here" % (number, TEXT)
