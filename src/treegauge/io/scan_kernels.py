"""The kernel that turns bracketed text into columns in a single pass over its bytes.

It gives the same columns as :mod:`treegauge.io.bracketed_columns`. Text that is not plain (brackets that do not balance, a blank
between a bracket and its label, a zero byte) is left to the NumPy reader.

Labels and words have a table each, four arrays: a row of ``slots`` is a key and a number plus one (0: free); ``starts`` has the
beginning of the bytes of each number in ``pool`` (the next entry is their end); and the pool's eights, the eight bytes from each
byte on as a number. A string of one to seven bytes is its own key; the key of any other is a hash, and then the bytes are compared.

Places in the text are unsigned: Numba would ask at each access whether a signed one is negative, which takes a seventh of the time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treegauge.compilation import Array, scoring_inline, scoring_kernel

_ATOM, _BLANK, _OPEN, _CLOSE, _ZERO = range(5)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_REHASH = np.uint64(0xD6E8FEB86659FD93)
_LONG = np.uint64(0xFFFFFFFFFFFFFF00)
_7, _8, _29, _31, _32, _48, _56 = map(np.uint64, (7, 8, 29, 31, 32, 48, 56))
_NOTHING, _ONE = np.uint64(0), np.uint64(1)
_01S, _21S, _28S, _80S, _FES = (np.uint64(byte * 0x0101010101010101) for byte in (0x01, 0x21, 0x28, 0x80, 0xFE))


@scoring_inline
def _atom(text: Array, eights: Array, begin: Any, kinds: Array) -> Any:
    """The end and the key of the atom that begins at a byte."""
    place = begin
    mixed = _NOTHING
    while place < len(eights):
        word = eights[place]
        # In ``ends`` the highest bit is set for bytes up to 0x20 and for the two brackets; only the lowest such bit is reliable.
        ends = (word - _21S) & ~word
        bracket = (word ^ _28S) & _FES
        ends |= (bracket - _01S) & ~bracket
        ends &= _80S
        if ends == _NOTHING:
            mixed = (mixed ^ word) * _MIX
            mixed ^= mixed >> _29
            place += _8
            continue
        before = (ends & (~ends + _ONE)) >> _7  # the lowest bit of the byte that ends the atom
        below = before - _ONE
        count = ((below & _01S) * _01S) >> _56
        if kinds[text[place + count]] == _ATOM:
            break  # a control character, which does not end an atom
        place += count
        if place - begin < _8:
            return place, word & below
        return place, _long_key(mixed, word & below, place - begin)
    # Near the end of the text, or at a control character.
    mixed = rest = _NOTHING
    place = begin
    shift = 0
    while place < len(text) and kinds[text[place]] == _ATOM:
        rest |= np.uint64(text[place]) << np.uint64(shift)
        place += _ONE
        shift += 8
        if shift == 64:
            mixed = (mixed ^ rest) * _MIX
            mixed ^= mixed >> _29
            rest = _NOTHING
            shift = 0
    return place, rest if place - begin < _8 else _long_key(mixed, rest, place - begin)


@scoring_inline
def _long_key(mixed: Any, rest: Any, size: Any) -> Any:
    """The key of more than seven bytes: a hash whose lowest byte is zero, which that of a shorter atom never is."""
    mixed = (mixed ^ rest ^ (size << _48)) * _MIX
    mixed ^= mixed >> _32
    return (mixed * _REHASH) & _LONG


@scoring_inline
def _home(key: Any, seed: Any, slots: Array) -> Any:
    """The slot where the search for a key begins."""
    return np.int64(((key ^ (key >> _31)) * seed) >> _32) & (len(slots) - 1)


@scoring_inline
def _number(text: Array, eights: Array, begin: Any, end: Any, key: Any, seed: Any, table: Any, count: int) -> Any:
    """The number of a string; a new one gets the number ``count``, or -1 if there is no room for it."""
    slots, starts, pool, pool_eights = table
    slot = _home(key, seed, slots)
    while slots[slot, 1] != _NOTHING:
        if slots[slot, 0] == key:
            found = np.int64(slots[slot, 1]) - 1
            if 0 < end - begin < 8:
                return found
            shift = starts[found] - begin
            if starts[found + 1] - shift == end:
                place, last = begin, end - 8
                while place < last and eights[place] == pool_eights[place + shift]:
                    place += 8
                if begin == end or (place >= last and eights[last] == pool_eights[last + shift]):
                    return found
        slot = (slot + 1) & (len(slots) - 1)
    shift = starts[count] - begin
    if count + 1 == len(starts) or end + shift > len(pool):
        return -1
    slots[slot, 0] = key
    slots[slot, 1] = np.uint64(count + 1)
    for place in range(begin, end):
        pool[place + shift] = text[place]
    starts[count + 1] = end + shift
    return count


@scoring_inline
def _number_words(
    text: Array, eights: Array, waiting: Array, size: int, seed: Any, words: Any, count: int, numbers: Array, first: int
) -> Any:
    """Number the words of a tree; return the number of distinct words, or -1 if there is no room for a new one.

    All slots are looked at before any is compared: the processor then fetches many entries of the large table at the same time.
    """
    for place in range(size):
        waiting[3, place] = words[0][_home(waiting[0, place], seed, words[0]), 1]
    for place in range(size):
        begin, end = np.int64(waiting[1, place]), np.int64(waiting[2, place])
        number = _number(text, eights, begin, end, waiting[0, place], seed, words, count)
        if number < 0:
            return -1
        count += number == count
        numbers[0, first + place] = number
    return count


@scoring_kernel
def scan(
    text: Array,
    eights: Array,
    first_line: int,
    kinds: Array,
    seed: Any,
    columns: Any,
    labels: Any,
    words: Any,
    waiting: Array,
    state: Array,
) -> int:
    """Read the complete trees of a text, and return 0; 1 if the text is not plain, 2 if a table is full.

    ``eights`` are those of the text; ``seed`` is a random odd number. ``columns`` is three arrays: rows of the
    first are label, start, end and parent of the nodes; of the second word, tag and above of the tokens; of the third the numbers
    of nodes and tokens and the line of the trees. ``labels`` and ``words`` are tables. ``state`` has the numbers of labels and of
    distinct words in them, and becomes: these; the same without an incomplete tree; bytes used; nodes; tokens; trees; whether a
    bracket at the margin is nested; brackets left open; whether a closing bracket follows a blank.

    Words are looked up at the end of their tree, all at once; ``waiting`` has room for the key, beginning and end of each of them,
    and for what is found in its slot.
    """
    nodes, tokens, trees = columns
    n_labels, n_distinct = state[0], state[1]
    labels_before = n_labels
    n_nodes = n_words = n_trees = first_node = first_word = 0
    current = -1  # the innermost open node, counted from the tree's first
    depth = used = nested = loose = 0
    place = _NOTHING
    line = tree_line = first_line
    last_event: Any = 0  # 1: a bracket without a label; 2: a word right after such a bracket; 0: anything else
    while place < len(text):
        byte = text[place]
        kind = kinds[byte]
        if kind == _BLANK:
            line += byte == 10
            place += _ONE
        elif kind == _OPEN:
            if last_event == 2 or n_nodes == nodes.shape[1]:
                return 1  # ( NP (...: a blank between a bracket and its label
            if depth == 0:
                first_node, first_word, tree_line = n_nodes, n_words, line
                labels_before = n_labels
            elif place > _NOTHING and text[place - _ONE] == 10:
                nested = 1
            begin = place + _ONE
            place, key = _atom(text, eights, begin, kinds)
            if place == len(text):  # perhaps the text continues within the label, as below within a word
                depth += 1
                break
            number = _number(text, eights, np.int64(begin), np.int64(place), key, seed, labels, n_labels)
            if number < 0:
                return 2
            n_labels += number == n_labels
            nodes[0, n_nodes] = number
            nodes[1, n_nodes] = n_words - first_word
            nodes[3, n_nodes] = current
            is_bare = begin == place
            begin = place + _ONE
            if (  # a tag with its word, as most brackets are, is read at once
                not is_bare
                and depth > 0
                and begin < len(text)
                and text[place] == 32
                and kinds[text[begin]] == _ATOM
                and n_words < tokens.shape[1]
            ):
                end, key = _atom(text, eights, begin, kinds)
                if end < len(text) and text[end] == 41:
                    row = n_words - first_word
                    waiting[0, row], waiting[1, row], waiting[2, row] = key, begin, end
                    tokens[1, n_words], tokens[2, n_words] = number, n_nodes - first_node
                    n_words += 1
                    nodes[2, n_nodes] = n_words - first_word
                    n_nodes += 1
                    place = end + _ONE
                    last_event = 0
                    continue
            current = n_nodes - first_node
            n_nodes += 1
            depth += 1
            last_event = 1 if is_bare else 0
        elif kind == _CLOSE:
            if depth == 0:
                return 1
            if kinds[text[place - _ONE]] == _BLANK:
                loose = 1
            row = first_node + current
            n_here = n_words - first_word
            nodes[2, row] = n_here
            if row == n_nodes - 1 and n_here - nodes[1, row] == 1:
                tokens[1, n_words - 1] = nodes[0, row]
            current = nodes[3, row]
            depth -= 1
            place += _ONE
            last_event = 0
            if depth == 0:
                n_distinct = _number_words(text, eights, waiting, n_here, seed, words, n_distinct, tokens, first_word)
                if n_distinct < 0:
                    return 2
                trees[0, n_trees], trees[1, n_trees], trees[2, n_trees] = n_nodes - first_node, n_here, tree_line
                n_trees += 1
                used = np.int64(place)
        elif kind == _ZERO or depth == 0 or last_event == 2 or n_words == tokens.shape[1]:
            return 1
        else:
            begin = place
            place, key = _atom(text, eights, begin, kinds)
            if place == len(text):
                break
            row = n_words - first_word
            waiting[0, row], waiting[1, row], waiting[2, row] = key, begin, place
            tokens[1, n_words] = -1
            tokens[2, n_words] = current
            n_words += 1
            last_event = 2 if last_event == 1 else 0
    state[0], state[1] = n_labels, n_distinct
    if depth > 0:  # the incomplete tree will be read again
        n_nodes, n_words, n_labels = first_node, first_word, labels_before
    state[2], state[3], state[4], state[5], state[6], state[7] = n_labels, n_distinct, used, n_nodes, n_words, n_trees
    state[8], state[9], state[10] = nested, depth, loose
    return 0
