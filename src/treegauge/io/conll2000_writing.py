"""CoNLL-2000 columns from trees of the shape that :mod:`treegauge.io.conll2000` describes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from treegauge.errors import WriteError
from treegauge.io.conll2000 import OUTSIDE, SENTENCE_LABEL
from treegauge.io.node_labels import canonical_label
from treegauge.io.refusal import refusal
from treegauge.trees.brackets import restore_word
from treegauge.trees.treebank import Treebank

__all__ = ["conll2000_text"]

_BLANK = re.compile(r"[ \t\n\r\v\f\0]")
_BRACKETS = {"-LRB-": "(", "-RRB-": ")"}
_SHAPE = (
    "CoNLL-2000 columns hold chunks, not whole trees: a root S over tags and over chunks, and a chunk over tags, as in\n"
    "  (S (NP (DT the) (NN cat)) (VP (VBD sat)) (. .))"
)


def conll2000_text(blocks: Iterable[Treebank]) -> Iterator[bytes]:
    """The trees as columns ``word tag chunk``, a blank line after each."""
    for block in blocks:
        write = _Block(block)
        for index in range(len(block)):
            try:
                yield "\n".join([*write.sentence(index), "", ""]).encode("utf-8")
            except WriteError as error:
                raise refusal(block, index, str(error)) from None
            except UnicodeEncodeError:
                raise refusal(block, index, "a label or word is not text: it holds half of a surrogate pair") from None


class _Block:
    """Writes the sentences of a treebank; each word and label is looked at once."""

    def __init__(self, bank: Treebank) -> None:
        self.bank = bank
        self.words: dict[int, str] = {}
        self.labels: dict[int, str] = {}

    def sentence(self, index: int) -> Iterator[str]:
        bank = self.bank
        nodes = slice(bank.node_offset[index], bank.node_offset[index + 1])
        tokens = slice(bank.token_offset[index], bank.token_offset[index + 1])
        label: list[int] = bank.label[nodes].tolist()
        parent: list[int] = bank.parent[nodes].tolist()
        word: list[int] = bank.word[tokens].tolist()
        above: list[int] = bank.above[tokens].tolist()
        if not word:
            raise WriteError("an empty parse cannot be written as CoNLL-2000 columns, where a sentence has at least one word.")
        is_tagged = bool((bank.tag[tokens] >= 0).all())
        if not is_tagged or above[0] == 0 or bank.labels[label[0]] != SENTENCE_LABEL:
            raise WriteError(_SHAPE)
        chunks = self._chunk_tags([parent[row] for row in above], label, parent)
        if 1 + len(word) + len({parent[row] for row in above} - {0}) != len(label):
            raise WriteError(_SHAPE)
        for word_id, row, chunk_tag in zip(word, above, chunks, strict=True):
            yield f"{self._word(word_id)} {self._label(label[row])} {chunk_tag}"

    def _chunk_tags(self, chunk_rows: list[int], label: list[int], parent: list[int]) -> Iterator[str]:
        before, kind_before = 0, ""
        for row in chunk_rows:
            if row == 0:
                kind = ""
                yield OUTSIDE
            elif parent[row] != 0:
                raise WriteError(_SHAPE)
            elif row == before:
                kind = kind_before
                yield f"I-{kind}"
            else:
                name = self._label(label[row])
                kind = name.removeprefix("I-")
                if not kind or kind.startswith(("B-", "I-")) or (name != kind and kind == kind_before):
                    raise WriteError(
                        f"the chunk {name!r} cannot be told from its neighbour or from a chunk tag in CoNLL-2000 columns."
                    )
                yield name if name != kind else f"B-{kind}"
            before, kind_before = row, kind

    def _word(self, number: int) -> str:
        """The word with brackets as ``-LRB-`` and ``-RRB-``, which is how CoNLL-2000 has them (but not in tags)."""
        if number not in self.words:
            word = self.bank.vocabulary[number]
            text = _column("word", word).replace("(", "-LRB-").replace(")", "-RRB-")
            if restore_word(text) != word:
                raise WriteError(f"the word {word!r} would be read back as {restore_word(text)!r}.\n  Replace it.")
            self.words[number] = text
        return self.words[number]

    def _label(self, number: int) -> str:
        if number not in self.labels:
            label = self.bank.labels[number]
            text = _BRACKETS.get(label, label)
            if canonical_label(text) != label:
                raise WriteError(
                    f"the label {label!r} would be read back as {canonical_label(text)!r}.\n  Give the node another label."
                )
            self.labels[number] = _column("label", text)
        return self.labels[number]


def _column(kind: str, name: str) -> str:
    if not name or _BLANK.search(name):
        raise WriteError(
            f"the {kind} {name!r} cannot be written as a CoNLL-2000 column, where blanks separate columns.\n"
            "  Replace the blank, for example by '_'."
        )
    return name
