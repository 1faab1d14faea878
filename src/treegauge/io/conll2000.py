"""CoNLL-2000 columns, ``word tag chunk``, as trees of two levels.

The columns on the left are the tree on the right::

    He        PRP  B-NP       (S (NP (PRP He))
    reckons   VBZ  B-VP          (VP (VBZ reckons))
    the       DT   B-NP          (NP (DT the) (NN deficit))
    deficit   NN   I-NP          (. .))
    .         .    O

A chunk is a node above the tags of its words; words outside chunks hang from ``S``. A chunk that begins with ``I-X`` where ``B-X``
is usual gets the label ``I-X``, so that writing gives back the same columns. A blank line ends a sentence. Only trees of this shape
can be written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from treegauge.errors import FormatError, InputError, WriteError
from treegauge.io.bracketed_columns import NameNumbers
from treegauge.io.diagnosis import encoding_error, error_at
from treegauge.io.label_parts import canonical_label
from treegauge.io.sources import ReadOptions, Text, TextPosition, is_comment
from treegauge.io.writing import NOT_TEXT, refusal
from treegauge.tables import number_of
from treegauge.trees.columns import Int32, Mask
from treegauge.trees.notation import restore_word
from treegauge.trees.tree import Tree
from treegauge.trees.treebank import Origin, Problem, Treebank

OUTSIDE, SENTENCE_LABEL = "O", "S"
_CHUNK_TAG = re.compile(r"O|[BI]-(?![BI]-).+")
_BLANK_LINE = re.compile(rb"\n[ \t\r\v\f]*\n")
_LARGEST_SENTENCE_BYTES = 64 << 20
_FIELDS_ADVICE = "Each line is a word, its tag and its chunk tag; a blank line ends a sentence."
_TAG_ADVICE = "Chunk tags are O, B-X or I-X, as in B-NP."


def read_conll2000(text: Text, options: ReadOptions) -> Iterator[Treebank | InputError]:
    """All trees of a file of columns, in blocks, and all its errors."""
    rest, line, enough = b"", 1, 0
    for chunk, is_last in text.chunks():
        rest += chunk
        if not is_last and len(rest) < enough:
            continue
        used = len(rest) if is_last else _end_of_sentences(rest)
        if used:
            yield from _check_block(rest[:used], text.name, line, options)
        line += rest.count(b"\n", 0, used)
        rest = rest[used:]
        enough = 0 if used else 2 * len(rest)
        if len(rest) > _LARGEST_SENTENCE_BYTES:
            raise FormatError(
                f"a sentence of more than {_LARGEST_SENTENCE_BYTES >> 20} MB", path=text.name, line=line, advice=_FIELDS_ADVICE
            )


def _end_of_sentences(text: bytes) -> int:
    """The end of the last blank line; 0 if there is none."""
    end = text.rfind(b"\n\n")
    if end >= 0:
        return end + 2
    *_, last = 0, *(match.end() for match in _BLANK_LINE.finditer(text))
    return last


def _check_block(text: bytes, path: str, first_line: int, options: ReadOptions) -> Iterator[Treebank | InputError]:
    """The trees of complete sentences and their errors; sentences with errors are left out, or become empty parses."""
    lines = text.split(b"\n") if options.comment else []
    comments = [number for number, line in enumerate(lines) if is_comment(line, options)]
    for number in comments:
        lines[number] = b""
    text = b"\n".join(lines) if comments else text
    treebank = _read_block(text, comments, path, first_line)
    if treebank is None:
        errors, text = _errors_and_good_lines(text.split(b"\n"), comments, path, first_line)
        treebank = _read_block(text, comments, path, first_line)
        assert treebank is not None, "the careful reader lets through what the fast one refuses"
        if options.on_error == "stop":
            yield from (error for of_sentence in errors.values() for error in of_sentence)
        else:
            treebank = _with_broken(treebank, path, {line: of_sentence[0] for line, of_sentence in errors.items()})
    if len(treebank):
        yield treebank


def _errors_and_good_lines(
    lines: list[bytes], comments: list[int], path: str, first_line: int
) -> tuple[dict[int, list[InputError]], bytes]:
    """All errors, by the first line of their sentence, and the text with the lines of these sentences blank."""
    errors: dict[int, list[InputError]] = {}
    left_out = set(comments)
    sentence: list[int] = []
    of_sentence: list[InputError] = []
    for number, line in enumerate([*lines, b""]):
        if line.strip():
            sentence.append(number)
            error = _line_error(line, path, first_line + number)
            if error is not None:
                of_sentence.append(error)
        elif number not in left_out:
            if of_sentence:
                errors[first_line + sentence[0]] = of_sentence
                of_sentence[0].left_out = b"\n".join(lines[bad] for bad in sentence)
                for bad in sentence:
                    lines[bad] = b""
            sentence, of_sentence = [], []
    return errors, b"\n".join(lines)


def _with_broken(good: Treebank, path: str, errors: Mapping[int, InputError]) -> Treebank:
    """The trees with an empty parse for each broken sentence, in the order of the lines."""
    problems = {number: Problem(e.place, e.problem, e.advice, text=e.left_out) for number, e in enumerate(errors.values())}
    empty = replace(
        Treebank.from_trees([Tree("")] * len(errors)), origins=(Origin(path, np.array(list(errors), np.int64), None, problems),)
    )
    both = Treebank.concatenate([good, empty])
    lines = np.concatenate([origin.line for origin in both.origins])
    return both.take(np.argsort(lines, kind="stable"))


def _line_error(line: bytes, path: str, number: int) -> InputError | None:
    if (error := encoding_error(line, path, TextPosition(number, 0))) is not None:
        return error
    fields = line.split()
    if len(fields) != 3:
        problem = f"{number_of(len(fields), 'column')} instead of 3"
        return error_at(FormatError, problem, path, TextPosition(number, 0), line, 0, _FIELDS_ADVICE)
    tag = fields[2].decode("utf-8")
    if not _CHUNK_TAG.fullmatch(tag):
        return error_at(
            FormatError, f"{tag!r} is not a chunk tag", path, TextPosition(number, 0), line, line.rindex(fields[2]), _TAG_ADVICE
        )
    return None


def _read_block(text: bytes, comments: list[int], path: str, first_line: int) -> Treebank | None:
    """The trees of complete sentences, by NumPy; None if one of them has an error."""
    data = np.frombuffer(text, dtype=np.uint8)
    is_blank = ((data - np.uint8(ord("\t"))) < 5) | (data == ord(" "))
    start = np.flatnonzero(~is_blank & np.concatenate([[True], is_blank])[: len(data)])
    newlines = np.flatnonzero(data == ord("\n"))
    line = np.searchsorted(newlines, start)
    n_fields = np.bincount(line, minlength=len(newlines) + 1)
    if b"\0" in text or not bool(((n_fields == 0) | (n_fields == 3)).all()):
        return None
    separators = n_fields == 0
    separators[comments] = False
    word_line = line[0::3]
    paragraph = np.cumsum(separators)[word_line]
    begins_sentence = np.diff(paragraph, prepend=-1) != 0
    fields, names = text.split(), (NameNumbers(), NameNumbers(), NameNumbers())
    word, tag, chunk = (np.fromiter(map(known.numbers.__getitem__, fields[k::3]), np.int32) for k, known in enumerate(names))
    try:
        words, tags, chunk_tags = ([name.decode("utf-8") for name in known.strings] for known in names)
    except UnicodeDecodeError:
        return None
    if not all(map(_CHUNK_TAG.fullmatch, chunk_tags)):
        return None
    origin = Origin(path, word_line[begins_sentence] + first_line)
    return _treebank(word, tag, chunk, words, tags, chunk_tags, begins_sentence, origin)


def _treebank(
    word: Int32, tag: Int32, chunk: Int32, words: list[str], tags: list[str], chunk_tags: list[str], first: Mask, origin: Origin
) -> Treebank:
    """The trees of sentences given as columns of numbers, with the strings behind the numbers.

    A tree has a row for the sentence, one for each chunk (before its first word), and one for each tag. ``first`` is true for each
    word that begins a sentence.
    """
    vocabulary, word_of = _distinct(map(restore_word, words))
    types = [canonical_label(name.partition("-")[2]) for name in chunk_tags]
    chunk_type = _distinct(types)[1][chunk]
    is_inside = np.array([name != OUTSIDE for name in chunk_tags], dtype=np.bool_)[chunk]
    is_i = np.array([name.startswith("I-") for name in chunk_tags], dtype=np.bool_)[chunk]
    goes_on = is_i & ~first & np.roll(is_inside, 1) & (chunk_type == np.roll(chunk_type, 1))
    opens = is_inside & ~goes_on
    opening, opener = np.unique(chunk[opens], return_inverse=True)
    opening_tags: list[int] = opening.tolist()
    chunk_labels = ["I-" + types[k] if chunk_tags[k].startswith("I-") else types[k] for k in opening_tags]
    labels, label_of = _distinct([SENTENCE_LABEL, *map(canonical_label, tags), *chunk_labels])
    tag_label = label_of[1 + tag]

    token = np.arange(len(word))
    sentences = np.flatnonzero(first)
    tag_row = np.cumsum(1 + opens + first) - 1
    chunk_row, sentence_row = tag_row[opens] - 1, tag_row[first] - 1 - opens[first]
    n_nodes = int(tag_row[-1]) + 1 if len(word) else 0
    n_tokens = np.diff(sentences, append=len(word))
    row_shift, token_shift = np.repeat(sentence_row, n_tokens), np.repeat(sentences, n_tokens)
    stops = np.append(np.flatnonzero(~goes_on), len(word))
    chunk_end = stops[np.searchsorted(stops, token[opens]) + 1]
    # The row of the chunk of each word: that of the chunk opened last.
    chunk_above = np.maximum.accumulate(np.where(opens, tag_row - 1, 0)) - row_shift

    label, start, end, parent = (np.zeros(n_nodes, dtype=np.int32) for _ in range(4))
    label[tag_row], label[sentence_row] = tag_label, label_of[0]
    label[chunk_row] = label_of[1 + len(tags) + opener]
    start[tag_row], start[chunk_row] = token - token_shift, (token - token_shift)[opens]
    end[tag_row], end[chunk_row], end[sentence_row] = start[tag_row] + 1, chunk_end - token_shift[opens], n_tokens
    parent[sentence_row], parent[tag_row] = -1, np.where(is_inside, chunk_above, 0)
    return Treebank(
        labels,
        vocabulary,
        *(label, start, end, parent),
        *(word_of[word], tag_label, (tag_row - row_shift).astype(np.int32)),
        np.append(sentence_row, n_nodes),
        np.append(sentences, len(word)),
        (origin,),
    )


def _distinct(names: Iterable[str]) -> tuple[tuple[str, ...], Int32]:
    """The distinct names, and the number of each."""
    numbers: dict[str, int] = {}
    ids = [numbers.setdefault(name, len(numbers)) for name in names]
    return tuple(numbers), np.array(ids, dtype=np.int32)


_BLANK = re.compile(r"[ \t\n\r\v\f\0]")
_BRACKETS = {"-LRB-": "(", "-RRB-": ")"}
_SHAPE = (
    "CoNLL-2000 columns hold chunks, not whole trees: a root S over tags and over chunks, and a chunk over tags, as in\n"
    "  (S (NP (DT the) (NN cat)) (VP (VBD sat)) (. .))"
)


def conll2000_text(blocks: Iterable[Treebank]) -> Iterator[bytes]:
    """The trees as columns ``word tag chunk``, each followed by a blank line."""
    for block in blocks:
        write = _ColumnWriter(block)
        for index in range(len(block)):
            try:
                yield "\n".join([*write.sentence(index), "", ""]).encode("utf-8")
            except WriteError as error:
                raise refusal(block, index, str(error)) from None
            except UnicodeEncodeError:
                raise refusal(block, index, NOT_TEXT) from None


class _ColumnWriter:
    """Writes the sentences of a treebank; each distinct word and label is checked once."""

    def __init__(self, bank: Treebank) -> None:
        self.bank = bank
        self.words: dict[int, str] = {}
        self.labels: dict[int, str] = {}

    def sentence(self, index: int) -> Iterator[str]:
        """The lines of one sentence; WriteError if its tree has another shape."""
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
        """The word with brackets as ``-LRB-`` and ``-RRB-``, as CoNLL-2000 has them in words, but not in tags."""
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
    """The word or label, unless it is empty or has a blank, which is refused."""
    if not name or _BLANK.search(name):
        raise WriteError(
            f"the {kind} {name!r} cannot be written as a CoNLL-2000 column, where blanks separate columns.\n"
            "  Replace the blank, for example by '_'."
        )
    return name
