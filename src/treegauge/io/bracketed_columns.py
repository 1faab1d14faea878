"""From bracketed text to the columns of a treebank, for all nodes and words at once, by NumPy.

First the text becomes *events*: opening brackets, closing brackets and words. A label is not an event of its own: it is the atom
(a run of anything but blanks and brackets) right after an opening bracket.

Then the *nesting* gives the spans and parents of all nodes. Tags, ``(TAG word)``, are more than half of all nodes and cover one
word each; only the others, phrases, take part in the search for partners (a stable sort on depth) and parents.

Last, labels and words are numbered by a dict, and positions are counted from the beginning of each tree.

Brackets inside words may be escaped by a backslash, ``(-LRB- \\()``, as nltk reads them since version 3.10. The Penn Treebank has
no such escape: there ``(SYM \\)`` is a backslash with its tag. So a tree is read with escapes if it contains ``\\(``, which can
mean nothing else, or if its brackets balance only then. Escapes are replaced by two characters that no text has and that take as
many bytes, so that every other byte keeps its place; :func:`treegauge.trees.notation.restore_word` turns them into brackets.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from treegauge.trees.columns import Bytes, Columns, Int32, Int64, Mask, offsets_of
from treegauge.trees.notation import ESCAPED_BRACKETS, restore_label, restore_word
from treegauge.trees.treebank import Origin, Treebank

if TYPE_CHECKING:
    from treegauge.io.scanning import CompiledScanner

_OPEN, _CLOSE = np.uint8(ord("(")), np.uint8(ord(")"))
_TAIL = 1 << 12
_STRETCH = 1 << 16
_MASKS = np.array([(1 << (8 * n)) - 1 for n in range(9)], dtype=np.uint64)
_MULTIPLIER, _SHIFT, _SLOTS = np.uint64(0x9E3779B97F4A7C15), np.uint64(48), 1 << 16
_AT_ONCE = 1 << 13


@dataclass(frozen=True, eq=False)
class Events:
    """The events of a text in order.

    ``position`` is where each begins, ``byte`` its first byte, ``depth`` the number of brackets open after it (negative where too
    many were closed). ``outside`` is true for each byte of the text that is a blank or a bracket.
    """

    data: Bytes
    outside: Mask
    position: Int64
    byte: Bytes
    depth: Int32

    def __len__(self) -> int:
        return len(self.byte)

    @cached_property
    def is_open(self) -> Mask:
        return self.byte == _OPEN

    @cached_property
    def is_close(self) -> Mask:
        return self.byte == _CLOSE

    @cached_property
    def is_word(self) -> Mask:
        return ~(self.is_open | self.is_close)

    @cached_property
    def opens(self) -> Int64:
        """The indices of opening brackets among the events."""
        return np.flatnonzero(self.is_open)

    @cached_property
    def words(self) -> Int64:
        """The indices of words among the events."""
        return np.flatnonzero(self.is_word)

    @cached_property
    def atom_end(self) -> Int64:
        """The end of each atom of the text, be it a label or a word."""
        edge = ~self.outside
        edge[:-1] &= self.outside[1:]
        return np.flatnonzero(edge) + 1

    def end_before(self, event: Int64) -> Int64 | None:
        """The end of the atom before each of some events; None if more than one blank stands before one of them."""
        end = self.position.take(event)
        end -= self.outside.take(end - 1)
        return None if bool(self.outside.take(end - 1).any()) else end

    def complete(self) -> int:
        """The number of events up to the last point at which no bracket is open."""
        for tail in (self.depth[-_TAIL:], self.depth):  # that point is almost always near the end
            outside = np.flatnonzero(tail <= 0)
            if len(outside):
                return len(self) - len(tail) + int(outside[-1]) + 1
        return 0

    def first(self, count: int) -> Events:
        """The first ``count`` events."""
        if count == len(self):
            return self
        return Events(self.data, self.outside, self.position[:count], self.byte[:count], self.depth[:count])

    def balance(self) -> bool:
        """Whether every bracket has its partner and every word is inside one."""
        if not len(self):
            return True
        if self.depth[-1] != 0 or int(self.depth.min()) < 0:
            return False
        return not len(self.words) or int(self.depth.take(self.words).min()) > 0


def find_events(text: bytes) -> Events:
    """The events of a text.

    >>> events = find_events(b"(NP the cat)")
    >>> events.position.tolist(), events.depth.tolist()
    ([0, 4, 8, 11], [1, 1, 1, 0])
    """
    data = np.frombuffer(text, dtype=np.uint8)
    is_bracket = (data - _OPEN) < 2  # unsigned: a smaller byte becomes a large number
    outside = (data - np.uint8(ord("\t"))) < 5  # \t \n \v \f \r
    outside |= data == ord(" ")
    outside |= is_bracket
    edge = ~outside
    edge[1:] &= outside[:-1]
    edge[1:] &= data[:-1] != _OPEN
    edge |= is_bracket
    position = np.flatnonzero(edge)
    byte = data.take(position)
    step = (byte == _OPEN).view(np.int8) - (byte == _CLOSE).view(np.int8)
    return Events(data, outside, position, byte, np.cumsum(step, dtype=np.int32))


def closing_bracket(text: bytes, opening: int) -> int:
    """The position of the bracket that closes the one at ``opening``; -1 if none does.

    The text is looked at in short stretches, so that this takes little memory however many brackets there are.

    >>> closing_bracket(b"(S (N a)) (S", 0), closing_bracket(b"(S (N a)) (S", 10)
    (8, -1)
    """
    depth = 0
    for begin in range(opening, len(text), _STRETCH):
        data = np.frombuffer(text, np.uint8, min(_STRETCH, len(text) - begin), begin)
        is_open, is_close = (data == _OPEN).view(np.int8), (data == _CLOSE).view(np.int8)
        depths = depth + np.cumsum(is_open - is_close, dtype=np.int32)
        closed = np.flatnonzero((depths <= 0) & (is_close > 0))
        if len(closed):
            return begin + int(closed[0])
        depth = int(depths[-1])
    return -1


def is_nested_at_margin(text: bytes) -> bool:
    """Whether the first tree is complete and has brackets at the beginning of its further lines.

    In most files such a bracket begins a new tree, which shows where an unclosed tree should have ended; not in these files.
    """
    if b"\n(" not in text:
        return False
    opening = text.find(b"(")
    closing = closing_bracket(text, opening)
    return closing >= 0 and text.find(b"\n(", opening, closing) >= 0


def begin_at_margin(events: Events) -> bool:
    """Whether every bracket at the beginning of a line begins a tree."""
    opens = events.position[events.is_open & (events.depth > 1)]
    return not bool((events.data.take(opens - 1) == _NEWLINE).any())


class Nesting(NamedTuple):
    """The nesting of the nodes and words of a text, numbered from its first node and word.

    For each node its first word, the word after its last one, and its parent (that of a root is meaningless); the rows of the
    roots; and for each word the node above it, whether that is a tag (None: all are), and how many nodes begin before it.
    """

    start: Int32
    end: Int32
    parent: Int32
    roots: Int64
    above: Int64
    is_tagged: Mask | None
    nodes_before: Int64


def nesting_of(events: Events) -> Nesting:
    """The nesting of a text whose brackets balance."""
    opens, words = events.opens, events.words
    begins_tag = np.zeros(len(events), dtype=np.bool_)
    begins_tag[:-2] = events.is_word[1:-1] & events.is_close[2:]
    is_tag = begins_tag.take(opens)
    tags, phrases = np.flatnonzero(is_tag), np.flatnonzero(~is_tag)
    tag_opens, phrase_opens = opens.take(tags), opens.take(phrases)
    closes_phrase = events.is_close.copy()
    closes_phrase[tag_opens + 2] = False
    phrase_closes = np.flatnonzero(closes_phrase)

    words_before = np.cumsum(events.is_word.view(np.int8), dtype=np.int32)
    first, last = words_before.take(phrase_opens), words_before.take(phrase_closes)
    if len(tags) == len(words):
        tags_before, first_tag, last_tag = words_before, first, last
    else:
        tags_before = _count_before(tag_opens + 1, len(events))
        first_tag, last_tag = tags_before.take(phrase_opens), tags_before.take(phrase_closes)
    level = events.depth.take(phrase_opens)
    by_depth, closes_by_depth = stable_order(level), stable_order(events.depth.take(phrase_closes))
    start = words_before.take(opens)
    end = start + np.int32(1)
    phrase_end = np.empty_like(first)
    phrase_end[by_depth] = last.take(closes_by_depth)
    end[phrases] = phrase_end

    above_phrase = _parents(level, by_depth)
    # The innermost open phrase after each bracket of a phrase: after a closing one, the parent of the phrase it closes.
    closed = np.empty_like(by_depth)
    closed[closes_by_depth] = by_depth
    innermost = np.empty(2 * len(phrases), dtype=np.int32)
    innermost[phrase_opens - (first + 2 * first_tag)] = np.arange(len(phrases), dtype=np.int32)
    innermost[phrase_closes - (last + 2 * last_tag)] = above_phrase.take(closed)
    parent = np.zeros_like(start)
    if len(phrases):
        row = phrases.astype(np.int32)
        parent[phrases] = row.take(above_phrase, mode="clip")
        brackets_before = tag_opens - start.take(tags) - 2 * np.arange(len(tags))
        parent[tags] = row.take(innermost.take(brackets_before - 1, mode="clip"), mode="clip")
    roots = np.flatnonzero(events.depth.take(opens) == 1)

    if len(tags) == len(words):
        return Nesting(start, end, parent, roots, tags, None, tags + 1)
    number = np.arange(len(words))
    is_tagged = np.zeros(len(words), dtype=np.bool_)
    is_tagged[words_before.take(tag_opens)] = True
    above = np.empty(len(words), dtype=np.int64)
    above[is_tagged] = tags
    bare = words[~is_tagged]
    brackets_before = bare - number[~is_tagged] - 2 * tags_before.take(bare)
    above[~is_tagged] = phrases.take(innermost.take(brackets_before - 1))
    # Before a word, the sum of opening and closing brackets is the number of other events; their difference is the depth.
    return Nesting(start, end, parent, roots, above, is_tagged, (words - number + events.depth.take(words)) >> 1)


def _count_before(events: Int64, size: int) -> Int32:
    """For each of ``size`` events, the number of the given ones up to it."""
    mask = np.zeros(size, dtype=np.int8)
    mask[events] = 1
    return np.cumsum(mask, dtype=np.int32)


def stable_order(depth: Int32) -> Int64:
    """The indices in a stable order by depth; NumPy sorts 16-bit integers by radix, which is many times faster."""
    small = len(depth) == 0 or int(depth.max()) < 1 << 16
    return np.argsort(depth.astype(np.uint16) if small else depth, kind="stable")


def _parents(level: Int32, by_depth: Int64) -> Int32:
    """The parent of each phrase (a root gets a meaningless one).

    A phrase deeper than the phrase before it is that phrase's first child. In the order of depth, siblings follow the first of
    them, and share its parent.
    """
    is_first = np.zeros(len(level), dtype=np.bool_)
    is_first[1:] = level[1:] > level[:-1]
    order = by_depth.astype(np.int32)
    place = np.arange(len(level), dtype=np.int32)
    place *= is_first.take(by_depth)
    np.maximum.accumulate(place, out=place)
    parent = np.empty_like(order)
    parent[by_depth] = order.take(place) - np.int32(1)
    return parent


_NEWLINE = np.uint8(ord("\n"))
_SET_OFF = rb"\(([ \t\n\r\v\f]+)([^() \t\n\r\v\f]++)(?=[ \t\n\r\v\f]*[^) \t\n\r\v\f])"


class TextWords:
    """The 64-bit words of eight bytes, little-endian, that begin at each byte of a text; zeros follow the text."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self._aligned = np.zeros(len(text) // 8 + 2, dtype="<u8")
        self._aligned.view(np.uint8)[: len(text)] = np.frombuffer(text, np.uint8)

    def at(self, start: Int64) -> NDArray[np.uint64]:
        """The words that begin at some places, each from the two aligned words that contain it: NumPy gathers others slowly."""
        index = start >> 3
        bits = ((start & 7) << 3).view(np.uint64)
        rest = self._aligned.take(index + 1) << (np.uint64(63) - bits) << np.uint64(1)
        return self._aligned.take(index) >> bits | rest


class _Numbers(dict[bytes, int]):
    """The numbers of names; one that is looked up for the first time is added to the names."""

    def __init__(self, names: list[bytes]) -> None:
        super().__init__()
        self._names = names

    def __missing__(self, name: bytes) -> int:
        self[name] = number = len(self._names)
        self._names.append(name)
        return number


class NameNumbers:
    """Numbers for the distinct slices of some texts, in the order of their first occurrence.

    A dict numbers the slices. In front of it a table of short ones finds nearly all at once: a slot, which the first eight bytes
    determine, has the last slice of at most eight bytes that was looked up there.

    >>> names = NameNumbers()
    >>> names.of(TextWords(b"NP VP NP"), np.array([0, 3, 6]), np.array([2, 5, 8])).tolist(), names.strings
    ([0, 1, 0], [b'NP', b'VP'])
    """

    def __init__(self) -> None:
        self.strings: list[bytes] = []
        self._numbers = _Numbers(self.strings)
        self._slots: NDArray[np.uint64] = np.zeros(_SLOTS, dtype=np.uint64)
        self._slot_numbers: Int32 = np.zeros(_SLOTS, dtype=np.int32)

    def __len__(self) -> int:
        return len(self.strings)

    @property
    def numbers(self) -> dict[bytes, int]:
        """The numbers by name; names that were only added to ``strings``, as the compiled scanner does, get theirs now."""
        if (known := len(self._numbers)) < len(self.strings):
            self._numbers.update(zip(self.strings[known:], count(known), strict=False))
        return self._numbers

    def of(self, words: TextWords, start: Int64, end: Int64, *, utf8: bool = True) -> Int32:
        """The number of each slice ``start:end``; slices must not be empty or contain a zero byte.

        UnicodeDecodeError if a new slice is not UTF-8, unless it need not be; all new ones are then unknown as before.
        """
        known = len(self.strings)
        numbers = [self._some(words, start[k : k + _AT_ONCE], end[k : k + _AT_ONCE]) for k in range(0, len(start), _AT_ONCE)]
        try:
            if utf8:
                b" ".join(self.strings[known:]).decode("utf-8")
        except UnicodeDecodeError:
            while len(self.strings) > known:
                del self._numbers[self.strings.pop()]
            self._slots[:] = 0
            raise
        return np.concatenate([np.zeros(0, np.int32), *numbers])

    def _some(self, words: TextWords, start: Int64, end: Int64) -> Int32:
        length = end - start
        keys = words.at(start) & _MASKS.take(length, mode="clip")
        slot = ((keys ^ keys >> np.uint64(31)) * _MULTIPLIER >> _SHIFT).view(np.int64)
        numbers = self._slot_numbers.take(slot)
        missed = np.flatnonzero((self._slots.take(slot) != keys) | (length > 8))
        if len(missed):
            text, known = words.text, self.numbers
            places = zip(start.take(missed).tolist(), end.take(missed).tolist(), strict=True)
            numbers[missed] = [known[text[low:high]] for low, high in places]
            short = missed[length.take(missed) <= 8]
            self._slots[slot.take(short)] = keys.take(short)
            self._slot_numbers[slot.take(short)] = numbers.take(short)
        return numbers


class Names:
    """The labels and words seen so far, by their bytes; blocks read with the same Names share their numbers.

    ``compiled``: whether the compiled scanner reads the text, which then is ``scanner``.
    """

    def __init__(self, *, compiled: bool = False) -> None:
        self.compiled = compiled
        self.label_numbers, self.word_numbers = NameNumbers(), NameNumbers()
        self._labels: list[str] = []
        self._vocabulary: list[str] = []

    @cached_property
    def scanner(self) -> CompiledScanner:
        from treegauge.io.scanning import CompiledScanner

        return CompiledScanner(self)

    def __len__(self) -> int:
        return len(self.label_numbers) + len(self.word_numbers)

    def labels(self) -> tuple[str, ...]:
        """All labels by number."""
        self._labels += [restore_label(name.decode("utf-8")) for name in self.label_numbers.strings[len(self._labels) :]]
        return tuple(self._labels)

    def vocabulary(self) -> tuple[str, ...]:
        """All words by number."""
        new = [name.decode("utf-8") for name in self.word_numbers.strings[len(self._vocabulary) :]]
        self._vocabulary += [name if name.isalnum() and name.isascii() else restore_word(name) for name in new]
        return tuple(self._vocabulary)


class StringNames(Protocol):
    """A table of labels and words by number."""

    def labels(self) -> tuple[str, ...]: ...
    def vocabulary(self) -> tuple[str, ...]: ...


class TreeColumns(NamedTuple):
    """Some trees as columns, with the numbers of nodes and tokens of each, and their origins."""

    columns: Columns
    n_nodes: Int64
    n_tokens: Int64
    origins: tuple[Origin, ...]


def join_parts(parts: list[TreeColumns], names: StringNames) -> Treebank:
    """One treebank of parts that share their names; the list is emptied, so that memory is freed as early as possible."""
    origins = tuple(origin for part in parts for origin in part.origins)
    node_offset, token_offset = offsets_of([part.n_nodes for part in parts]), offsets_of([part.n_tokens for part in parts])
    columns = [[part.columns[k] for part in parts] for k in range(len(Columns._fields))]
    parts.clear()
    return Treebank(
        names.labels(), names.vocabulary(), *Columns._make(map(_join_column, columns)), node_offset, token_offset, origins
    )


def _join_column(column: list[Int32]) -> Int32:
    joined = column[0] if len(column) == 1 else np.concatenate([np.zeros(0, np.int32), *column])
    column.clear()
    return joined


def part_of(events: Events, names: Names, path: str, first_line: int, *, utf8: bool = True) -> TreeColumns:
    """The columns of the trees of a text whose brackets balance; UnicodeDecodeError if it is not UTF-8, unless it need not be."""
    opens, words = events.opens, events.words
    open_position = events.position.take(opens)
    has_label = ~events.outside.take(open_position + 1)
    every = bool(has_label.all())
    if not every and _has_label_set_off(events, opens[~has_label]):
        return part_of(find_events(_with_labels_at_brackets(events)), names, path, first_line, utf8=utf8)
    nesting = nesting_of(events)

    text = TextWords(events.data.tobytes())
    label_end, word_end = _ends(events, opens, words, has_label, nesting.start, nesting.nodes_before)
    if every:
        label = names.label_numbers.of(text, open_position + 1, label_end, utf8=utf8)
    else:
        first = int(np.argmin(has_label))
        names.label_numbers.of(text, open_position[:first] + 1, label_end[:first], utf8=utf8)  # numbered before the empty label
        label = np.full(len(opens), names.label_numbers.numbers[b""], dtype=np.int32)
        label[has_label] = names.label_numbers.of(text, open_position[has_label] + 1, label_end, utf8=utf8)
    word = names.word_numbers.of(text, events.position.take(words), word_end, utf8=utf8)
    origin = Origin(path, _lines_of(events, open_position.take(nesting.roots), first_line))
    return tree_columns(nesting, label, word, (origin,))


def tree_columns(nesting: Nesting, label: Int32, word: Int32, origins: tuple[Origin, ...]) -> TreeColumns:
    """The columns of trees with that nesting, whose nodes have these labels, and whose words are these; it changes the nesting."""
    start, end, parent, roots, above, is_tagged, _ = nesting
    tag = label.take(above)
    if is_tagged is not None:
        tag[~is_tagged] = -1
    n_nodes = np.diff(roots, append=len(label))
    first_word = start.take(roots)
    n_tokens = np.diff(first_word.astype(np.int64), append=len(word))
    shift = np.repeat(first_word, n_nodes)
    start -= shift
    end -= shift
    parent -= np.repeat(roots.astype(np.int32), n_nodes)
    parent[roots] = -1
    above = above - np.repeat(roots, n_tokens)
    return TreeColumns(Columns(label, start, end, parent, word, tag, above.astype(np.int32)), n_nodes, n_tokens, origins)


def _ends(
    events: Events, opens: Int64, words: Int64, has_label: Mask, words_before: Int32, nodes_before: Int64
) -> tuple[Int64, Int64]:
    """The ends of the labels and of the words, given the number of words before each node and of nodes before each word."""
    every = bool(has_label.all())
    label_end = events.end_before((opens if every else opens[has_label]) + 1)
    word_end = events.end_before(words + 1)
    if label_end is not None and word_end is not None:
        return label_end, word_end
    # Every atom is a label or a word, so the number of labels and words before one is its index among the atoms.
    labels_before = np.concatenate([np.zeros(1, np.int64), np.cumsum(has_label)])
    label_atom = labels_before[:-1] + words_before
    word_atom = np.arange(len(words)) + labels_before.take(nodes_before)
    return events.atom_end.take(label_atom if every else label_atom[has_label]), events.atom_end.take(word_atom)


def _has_label_set_off(events: Events, opens: Int64) -> bool:
    """Whether an opening bracket has its label after a blank, ``( NP ...``; the lone atom of ``( word)`` is not a label."""
    set_off = opens[events.is_word.take(opens + 1)]
    return bool((~events.is_close.take(set_off + 2)).any())


def _with_labels_at_brackets(events: Events) -> bytes:
    """The text with each opening bracket moved to its label."""
    text = events.data[: int(events.position[-1]) + 1].tobytes()
    return re.sub(_SET_OFF, rb"\1(\2", text)


def _lines_of(events: Events, position: Int64, first_line: int) -> Int64:
    """The line of each of some ascending positions."""
    data = events.data[: int(position[-1])] if len(position) else events.data[:0]
    lines = np.arange(first_line, first_line + len(position))
    if int(np.count_nonzero(data == _NEWLINE)) == len(position) - 1 and bool((data.take(position[1:] - 1) == _NEWLINE).all()):
        return lines  # the usual case: each begins its line
    return np.searchsorted(np.flatnonzero(data == _NEWLINE), position) + first_line


_ESCAPED_OPEN, _ESCAPED_CLOSE = (letter.encode() for letter in ESCAPED_BRACKETS)
# Patterns as text: re compiles them on first use, and they are rarely used.
_ESCAPED = rb"\\[()]"
_MARGIN = rb"(?<=\n)(?=\()"
_LINE = rb"(?<=\n)"


def has_escapes(text: bytes) -> bool:
    r"""Whether a text contains ``\(`` or ``\)``."""
    return b"\\" in text and re.search(_ESCAPED, text) is not None


def escape_everywhere(text: bytes) -> bytes:
    r"""The text with every ``\(`` and ``\)`` read as a bracket inside a word."""
    return text.replace(b"\\(", _ESCAPED_OPEN).replace(b"\\)", _ESCAPED_CLOSE)


def as_written(text: bytes) -> bytes:
    """The text with its escaped brackets again, the inverse of :func:`escape_everywhere`."""
    return text.replace(_ESCAPED_OPEN, b"\\(").replace(_ESCAPED_CLOSE, b"\\)")


def read_escapes(text: bytes, *, lines: bool, is_whole: bool = True) -> bytes:
    r"""The text with escaped brackets replaced, tree by tree; trees begin at the margin or, with ``lines``, on each line.

    If the text is not whole, its last tree may be incomplete and so does not balance yet.

    >>> escaped = read_escapes(rb"(S (-LRB- \() (-RRB- \)))", lines=False)
    >>> escaped.count(b"("), escaped.count(b")"), read_escapes(rb"(X (SYM \))", lines=False)
    (3, 3, b'(X (SYM \\))')
    """
    if not has_escapes(text):
        return text
    trees = re.split(_LINE if lines else _MARGIN, text)
    last = len(trees) - 1
    return b"".join(_read_tree(tree, is_whole or number < last) for number, tree in enumerate(trees))


def _read_tree(tree: bytes, is_whole: bool) -> bytes:
    if not has_escapes(tree):
        return tree
    escaped = escape_everywhere(tree)
    if b"\\(" in tree:
        return escaped
    balanced = (reading for reading in (tree, escaped) if find_events(reading).balance())
    return next(balanced, tree if is_whole else escaped)
