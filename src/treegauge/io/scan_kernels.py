"""Kernels that turn bracketed text into columns in a single pass over its bytes.

They give the same columns as :mod:`treegauge.io.bracketed_columns`. The functions are plain Python over arrays, compiled by
:mod:`treegauge.compiled`. Text that is not plain (brackets that do not balance, a blank between a bracket and its label, a zero
byte) is left to the NumPy reader.

A table of strings is five arrays. A row of ``slots`` is a key and a number plus one (0: free); ``keys`` has the key of each number;
``starts`` has the beginning of its bytes in ``pool`` (the next entry is their end); ``marks`` is 1 for strings with a character
that may be written in several ways, and 3 for those that contain ``RB-``. A string of one to seven bytes is its own key; the key
of any other is a hash, and then the bytes are compared.

``state`` holds: bytes used, nodes, words, trees, labels, bytes of labels, distinct words, bytes of distinct words, the last line,
whether a bracket at the margin is nested, brackets left open, and whether a closing bracket follows a blank.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any
"""An array inside a kernel, where an index gives a number."""

_ATOM, _BLANK, _OPEN, _CLOSE, _ZERO = range(5)
SPECIAL = b"'\"()[]{}/*`\\\xe2\xc2"
"""Every character that may be written in several ways contains one of these bytes; ``-LRB-`` and the like are found apart."""

_MIX = np.uint64(0x9E3779B97F4A7C15)
_REHASH = np.uint64(0xD6E8FEB86659FD93)
_LONG = np.uint64(0xFFFFFFFFFFFFFF00)
_3, _8, _29, _31, _32, _48, _64 = map(np.uint64, (3, 8, 29, 31, 32, 48, 64))
_NOTHING, _ONE = np.uint64(0), np.uint64(1)
_01S, _21S, _28S, _80S, _FES = (np.uint64(byte * 0x0101010101010101) for byte in (0x01, 0x21, 0x28, 0x80, 0xFE))

_TABLE = "uint64[:,::1], uint64[::1], int64[::1], uint8[::1], uint8[::1]"
KERNELS = {
    "scan": "int64(uint8[::1], int64, uint8[::1], uint64[::1], int32[:,::1], int32[:,::1], int64[:,::1], "
    f"{_TABLE}, {_TABLE}, uint64[:,::1], int64[::1])",
    "add_strings": f"int64(uint8[::1], int64[::1], uint8[::1], uint64[::1], int32[::1], {_TABLE}, int64[::1], int64)",
    "find_strings": f"int64(uint8[::1], int64[::1], int64[::1], uint64[::1], int32[::1], {_TABLE})",
    "spell": "int64(uint8[::1], int64[::1], int64, int64, uint8[::1])",
    "settle": "int64(uint64[::1], int64, uint64[:,::1], uint64[::1])",
}


def scan(
    text: Array,
    first_line: int,
    kinds: Array,
    seed: Array,
    nodes: Array,
    words: Array,
    trees: Array,
    label_slots: Array,
    label_keys: Array,
    label_starts: Array,
    label_pool: Array,
    label_marks: Array,
    word_slots: Array,
    word_keys: Array,
    word_starts: Array,
    word_pool: Array,
    word_marks: Array,
    waiting: Array,
    state: Array,
) -> int:
    """Read the complete trees of a text, and return 0; return 1 if the text is not plain.

    The rows of ``nodes`` are label, start, end and parent; those of ``words`` are word, tag and above; those of ``trees`` are the
    numbers of nodes and tokens, and the line.

    Words are looked up at the end of their tree, all at once: the processor then fetches many entries of the large table at the
    same time, instead of waiting for each between brackets that it cannot predict. ``waiting`` has the key, beginning and end of
    each word that is not yet looked up.
    """
    size = len(text)
    n_nodes = n_words = n_trees = 0
    n_labels, n_distinct = state[4], state[6]
    labels_before, distinct_before = n_labels, n_distinct
    first_node = first_word = 0
    current = -1  # the innermost open node, counted from the tree's first
    depth = 0
    line = first_line
    tree_line = first_line
    used = 0
    last_event: Any = 0  # 1: a bracket without a label; 2: a word right after such a bracket; 0: anything else
    nested = loose = 0
    n_waiting = 0
    place = 0
    while place < size:
        byte = text[place]
        kind = kinds[byte]
        if kind == _BLANK:
            if byte == 10:
                line += 1
            place += 1
        elif kind == _OPEN:
            if last_event == 2:
                return 1  # ( NP (...: a blank between a bracket and its label
            if depth == 0:
                first_node, first_word = n_nodes, n_words
                labels_before, distinct_before = n_labels, n_distinct
                tree_line = line
            elif place > 0 and text[place - 1] == 10:
                nested = 1
            if n_nodes >= nodes.shape[1]:
                return 1
            begin = place + 1
            place, key = _atom(text, begin, size, kinds)
            number = _number(
                text, begin, place, key, seed, kinds, label_slots, label_keys, label_starts, label_pool, label_marks, n_labels
            )
            if number == n_labels:
                n_labels += 1
            is_bare = begin == place
            nodes[0, n_nodes] = number
            nodes[1, n_nodes] = n_words - first_word
            nodes[3, n_nodes] = current
            if (  # a tag with its word, as most brackets are, is read at once
                depth > 0
                and not is_bare
                and place < size - 2
                and text[place] == 32
                and kinds[text[place + 1]] == _ATOM
                and n_words < words.shape[1]
                and n_waiting < waiting.shape[1]
            ):
                begin = place + 1
                end, key = _atom(text, begin, size, kinds)
                if end < size and text[end] == 41:
                    prefetch(word_slots, _home(key, seed, word_slots))
                    waiting[0, n_waiting], waiting[1, n_waiting], waiting[2, n_waiting] = key, np.uint64(begin), np.uint64(end)
                    n_waiting += 1
                    words[1, n_words] = number
                    words[2, n_words] = n_nodes - first_node
                    n_words += 1
                    nodes[2, n_nodes] = n_words - first_word
                    n_nodes += 1
                    place = end + 1
                    last_event = 0
                    continue
            current = n_nodes - first_node
            n_nodes += 1
            depth += 1
            last_event = 1 if is_bare else 0
        elif kind == _CLOSE:
            if depth == 0:
                return 1
            if kinds[text[place - 1]] == 1:
                loose = 1
            row = first_node + current
            n_here = n_words - first_word
            nodes[2, row] = n_here
            if row == n_nodes - 1 and n_here - nodes[1, row] == 1:
                words[1, n_words - 1] = nodes[0, row]
            current = nodes[3, row]
            depth -= 1
            place += 1
            last_event = 0
            if depth == 0:
                n_distinct = _number_words(
                    text, seed, kinds, words, n_words, waiting, n_waiting,
                    word_slots, word_keys, word_starts, word_pool, word_marks, n_distinct,
                )  # fmt: skip
                n_waiting = 0
                trees[0, n_trees] = n_nodes - first_node
                trees[1, n_trees] = n_words - first_word
                trees[2, n_trees] = tree_line
                n_trees += 1
                used = place
        elif kind == _ZERO:
            return 1
        else:
            if depth == 0 or last_event == 2 or n_words >= words.shape[1]:
                return 1
            begin = place
            place, key = _atom(text, begin, size, kinds)
            if n_waiting == waiting.shape[1]:
                n_distinct = _number_words(
                    text, seed, kinds, words, n_words, waiting, n_waiting,
                    word_slots, word_keys, word_starts, word_pool, word_marks, n_distinct,
                )  # fmt: skip
                n_waiting = 0
            prefetch(word_slots, _home(key, seed, word_slots))
            waiting[0, n_waiting], waiting[1, n_waiting], waiting[2, n_waiting] = key, np.uint64(begin), np.uint64(place)
            n_waiting += 1
            words[1, n_words] = -1
            words[2, n_words] = current
            n_words += 1
            last_event = 2 if last_event == 1 else 0
    if depth > 0:  # the names of an incomplete tree are removed, since it will be read again
        _forget(labels_before, n_labels, seed, label_slots, label_keys)
        _forget(distinct_before, n_distinct, seed, word_slots, word_keys)
        n_nodes, n_words, n_labels, n_distinct = first_node, first_word, labels_before, distinct_before
    state[0], state[1], state[2], state[3] = used, n_nodes, n_words, n_trees
    state[4], state[5], state[6], state[7] = n_labels, label_starts[n_labels], n_distinct, word_starts[n_distinct]
    state[8], state[9], state[10], state[11] = line, nested, depth, loose
    return 0


def _number_words(
    text: Array,
    seed: Array,
    kinds: Array,
    words: Array,
    n_words: int,
    waiting: Array,
    n_waiting: int,
    slots: Array,
    keys: Array,
    starts: Array,
    pool: Array,
    marks: Array,
    count: int,
) -> int:
    """Number the words that are waiting, and return the number of distinct words."""
    first = n_words - n_waiting
    for place in range(n_waiting):
        key, begin, end = waiting[0, place], np.int64(waiting[1, place]), np.int64(waiting[2, place])
        number = _number(text, begin, end, key, seed, kinds, slots, keys, starts, pool, marks, count)
        if number == count:
            count += 1
        words[0, first + place] = number
    return count


def _atom(text: Array, begin: int, size: int, kinds: Array) -> Any:
    """The end and the key of the atom that begins at a byte; the key is its bytes if they are at most seven, else their hash."""
    place = begin
    mixed = _NOTHING
    while place + 8 <= size:
        word = load_word(text, place)
        # In ``ends`` the highest bit is set for bytes up to 0x20 and for the two brackets; only the lowest such bit is reliable.
        ends = (word - _21S) & ~word
        bracket = (word ^ _28S) & _FES
        ends |= (bracket - _01S) & ~bracket
        ends &= _80S
        if ends == _NOTHING:
            mixed = (mixed ^ word) * _MIX
            mixed ^= mixed >> _29
            place += 8
            continue
        count = trailing_zeros(ends) >> _3
        if kinds[text[place + np.int64(count)]] == 0:
            break  # a control character, which does not end an atom
        word &= (_ONE << (count << _3)) - _ONE
        place += np.int64(count)
        if place - begin < 8:
            return place, word
        return place, _long_key(mixed, word, place - begin)
    end = place
    while end < size and kinds[text[end]] == 0:
        end += 1
    return end, _key(text, begin, end)


def _key(text: Array, begin: int, end: int) -> Any:
    """The key of the atom between two bytes."""
    mixed = key = _NOTHING
    shift = _NOTHING
    for place in range(begin, end):
        key |= np.uint64(text[place]) << shift
        shift += _8
        if shift == _64:
            mixed = (mixed ^ key) * _MIX
            mixed ^= mixed >> _29
            key = shift = _NOTHING
    return key if end - begin < 8 else _long_key(mixed, key, end - begin)


def _long_key(mixed: Any, rest: Any, size: Any) -> Any:
    """The key of more than seven bytes: a hash whose lowest byte is zero, which that of a shorter atom never is."""
    mixed = (mixed ^ rest ^ (np.uint64(size) << _48)) * _MIX
    mixed ^= mixed >> _32
    return (mixed * _REHASH) & _LONG


def load_word(text: Array, place: int) -> Any:
    """Eight bytes as a number, the first byte lowest; compiled, this is one instruction."""
    return np.uint64(int.from_bytes(bytes(text[place : place + 8]), "little"))


def prefetch(slots: Array, slot: Any) -> int:
    """Fetch a slot that will be looked up later; compiled, this is one instruction that does not wait."""
    return 0


def trailing_zeros(word: Any) -> Any:
    """The number of zero bits below the lowest set bit; compiled, this is one instruction."""
    return np.uint64((int(word) & -int(word)).bit_length() - 1)


def _home(key: Any, seed: Array, slots: Array) -> Any:
    """The slot where the search for a key begins; ``seed`` is a random odd number."""
    return np.int64(((key ^ (key >> _31)) * seed[0]) >> _32) & (len(slots) - 1)


def _number(
    text: Array,
    begin: Any,
    end: Any,
    key: Any,
    seed: Array,
    kinds: Array,
    slots: Array,
    keys: Array,
    starts: Array,
    pool: Array,
    marks: Array,
    count: int,
) -> Any:
    """The number of a string; a new one is added to the table with the number ``count``."""
    slot = _home(key, seed, slots)
    while slots[slot, 1] != _NOTHING:
        if slots[slot, 0] == key:
            found = np.int64(slots[slot, 1]) - 1
            if 0 < end - begin < 8 or _is_same(text, begin, end, found, starts, pool):
                return found
        slot = (slot + 1) & (len(slots) - 1)
    slots[slot, 0] = key
    slots[slot, 1] = np.uint64(count + 1)
    keys[count] = key
    behind = starts[count]
    mark = 0
    before = one_before = 0
    for place in range(begin, end):
        byte = text[place]
        pool[behind] = byte
        behind += 1
        mark |= kinds[256 + byte]
        if byte == 45 and before == 66:  # B- is in -LRB-, -LSB- and the like, RB- in -LRB- and -RRB- alone
            mark |= 3 if one_before == 82 else 1
        one_before = before
        before = byte
    starts[count + 1] = behind
    marks[count] = mark
    return count


def _is_same(text: Array, begin: int, end: int, number: Any, starts: Array, pool: Array) -> bool:
    """Whether a string equals the one of that number, which has the same key."""
    size = end - begin
    first = starts[number]
    if starts[number + 1] - first != size:
        return False
    place = 0
    while place + 8 <= size and load_word(pool, first + place) == load_word(text, begin + place):
        place += 8
    while place < size and pool[first + place] == text[begin + place]:
        place += 1
    return place == size


def _forget(known: int, count: int, seed: Array, slots: Array, keys: Array) -> int:
    """Remove the numbers from ``known`` on, the last first, so that every search still finds those before."""
    for number in range(count - 1, known - 1, -1):
        slot = _home(keys[number], seed, slots)
        while np.int64(slots[slot, 1]) != number + 1:
            slot = (slot + 1) & (len(slots) - 1)
        slots[slot, 1] = _NOTHING
    return 0


def add_strings(
    text: Array,
    ends: Array,
    kinds: Array,
    seed: Array,
    numbers: Array,
    slots: Array,
    keys: Array,
    starts: Array,
    pool: Array,
    marks: Array,
    state: Array,
    place_in_state: int,
) -> int:
    """Find the numbers of strings that follow each other in ``text``; new ones are added to the table."""
    count = state[place_in_state]
    begin = 0
    for index in range(len(ends)):
        key = _key(text, begin, ends[index])
        number = _number(text, begin, ends[index], key, seed, kinds, slots, keys, starts, pool, marks, count)
        if number == count:
            count += 1
        numbers[index] = number
        begin = ends[index]
    state[place_in_state] = count
    state[place_in_state + 1] = starts[count]
    return 0


def find_strings(
    pool: Array,
    starts: Array,
    wanted: Array,
    seed: Array,
    numbers: Array,
    other_slots: Array,
    other_keys: Array,
    other_starts: Array,
    other_pool: Array,
    other_marks: Array,
) -> int:
    """Find the numbers in one table of the strings ``wanted`` of another; -1 for those that are not there."""
    for index in wanted:
        begin, end = starts[index], starts[index + 1]
        key = _key(pool, begin, end)
        slot = _home(key, seed, other_slots)
        numbers[index] = -1
        while other_slots[slot, 1] != _NOTHING:
            found = np.int64(other_slots[slot, 1]) - 1
            if other_slots[slot, 0] == key and _is_same(pool, begin, end, found, other_starts, other_pool):
                numbers[index] = found
                break
            slot = (slot + 1) & (len(other_slots) - 1)
    return 0


def spell(pool: Array, starts: Array, first: int, last: int, spelled: Array) -> int:
    """Write the strings ``first:last``, each after its length, ``3:the``, and return the number of bytes."""
    place = 0
    for number in range(first, last):
        size = starts[number + 1] - starts[number]
        power = 1
        while power * 10 <= size:
            power *= 10
        while power:
            spelled[place] = 48 + (size // power) % 10
            place += 1
            power //= 10
        spelled[place] = 58
        place += 1
        for behind in range(starts[number], starts[number + 1]):
            spelled[place] = pool[behind]
            place += 1
    return place


def settle(seed: Array, count: int, slots: Array, keys: Array) -> int:
    """Put the first ``count`` keys into empty slots."""
    for number in range(count):
        slot = _home(keys[number], seed, slots)
        while slots[slot, 1] != _NOTHING:
            slot = (slot + 1) & (len(slots) - 1)
        slots[slot, 0] = keys[number]
        slots[slot, 1] = np.uint64(number + 1)
    return 0
