"""PARSEVAL's counts of plain sentences, from columns in one pass: the compiled twin of :mod:`treegauge.metrics.parseval`.

A sentence is plain if gold and test have the same words in the same positions, all of them tagged, and if EVALB, where its result
is wanted, certainly scores it as we do or certainly refuses it. All others are marked and left to the NumPy code. The tables of
labels and words come from :mod:`treegauge.metrics.plain_counter`.

Columns of ``out``: whether the sentence is not plain, matched, gold, test and unlabelled matched brackets, crossing, words, tags,
length, EVALB's status, and EVALB's matched, gold and test brackets.
"""

from __future__ import annotations

from typing import Any

from treegauge.compilation import Array, scoring_inline, scoring_kernel

# Rows of a table of labels: class of a phrase (-1: it does not count), the same for EVALB, class of a tag, bits.
_OURS, _EVALBS, _TAG, _BITS = range(4)
# Bits: the token is dropped by its own side; it is deleted if gold has the tag; it is not part of the length; EVALB deletes it;
# ours and EVALB's class of the phrase differ.
_DROPPED, _DELETED, _FREE, _EVALB_DELETED, _DISPUTED = 1, 2, 4, 8, 16
_ERROR, _SKIP = 1, 2
_FAR = 1 << 30
_MANY = 1 << 16
"""The largest number of pairs of brackets on one span that are compared here; a sentence with more is not plain."""


@scoring_inline
def _brackets(side: Any, sentence: int, which: int, room: Array, positions: int, column: int) -> Any:
    """Write the brackets that count into ``room``; return their number, and the number of phrases that EVALB counts differently."""
    label, start, end, _, tag, above, nodes, tokens, table, _ = side
    first, first_token = nodes[sentence], tokens[sentence]
    count = disputed = 0
    for row in range(first, nodes[sentence + 1]):
        begin, behind = start[row], end[row]
        if behind - begin == 1:
            token = first_token + begin
            if above[token] == row - first and tag[token] >= 0:
                continue
        number = label[row]
        bits = table[_BITS, number]
        disputed += (bits & _DISPUTED) != 0
        of_class = table[which, number]
        low, high = room[positions, begin], room[positions, behind]
        if of_class >= 0 and low < high:
            room[column, count] = low
            room[column + 1, count] = high
            room[column + 2, count] = of_class
            count += 1
    return count, disputed


@scoring_inline
def _matches(room: Array, n_gold: int, n_test: int) -> Any:
    """The numbers of matched brackets, by class and of any class; both sides are sorted by start, longer brackets first."""
    matched = unlabelled = 0
    ours = theirs = 0
    while ours < n_gold and theirs < n_test:
        start, other_start = room[2, ours], room[5, theirs]
        end, other_end = room[3, ours], room[6, theirs]
        if start < other_start or (start == other_start and end > other_end):
            ours += 1
            continue
        if start != other_start or end != other_end:
            theirs += 1
            continue
        behind, other_behind = ours + 1, theirs + 1
        while behind < n_gold and room[2, behind] == start and room[3, behind] == end:
            behind += 1
        while other_behind < n_test and room[5, other_behind] == start and room[6, other_behind] == end:
            other_behind += 1
        if (behind - ours) * (other_behind - theirs) > _MANY:
            return -1, 0
        unlabelled += min(behind - ours, other_behind - theirs)
        while ours < behind:
            for place in range(theirs, other_behind):
                if room[7, place] == room[4, ours]:
                    room[7, place] = -1
                    matched += 1
                    break
            ours += 1
        theirs = other_behind
    return matched, unlabelled


@scoring_inline
def _crossing(room: Array, n_gold: int, n_test: int, words: int) -> int:
    """The number of test brackets that cross a gold bracket: the innermost around one of their edges ends or starts inside."""
    # room: 8 start and 9 end of the innermost gold bracket strictly around each edge, 10 the brackets that are open.
    n_open = row = 0
    for edge in range(words + 1):
        while n_open and room[3, room[10, n_open - 1]] <= edge:
            n_open -= 1
        if n_open:
            room[8, edge] = room[2, room[10, n_open - 1]]
            room[9, edge] = room[3, room[10, n_open - 1]]
        else:
            room[8, edge] = -1
            room[9, edge] = _FAR
        while row < n_gold and room[2, row] == edge:
            room[10, n_open] = row
            n_open += 1
            row += 1
    count = 0
    for place in range(n_test):
        start, end = room[5, place], room[6, place]
        count += room[9, start] < end or room[8, end] > start
    return count


@scoring_kernel
def count(gold: Any, test: Any, same_word: Array, asks_evalb: bool, may_repair: bool, room: Array, out: Array) -> None:
    """Count all sentences; ``same_word`` is, for each test word, the gold word with the same bytes, or -1.

    ``gold`` and ``test`` are each the columns label, start, end, word, tag and above, the offsets of nodes and of tokens, the table
    of labels, and the number of each word.
    """
    _, _, _, gold_word, gold_tag, _, gold_nodes, gold_tokens, gold_table, gold_numbers = gold
    _, _, _, test_word, test_tag, _, _, test_tokens, test_table, test_numbers = test
    for sentence in range(len(gold_nodes) - 1):
        out[0, sentence] = 1
        first_gold, last_gold = gold_tokens[sentence], gold_tokens[sentence + 1]
        first_test, last_test = test_tokens[sentence], test_tokens[sentence + 1]
        ours, theirs = first_gold, first_test
        words = tags = length = 0
        kept_gold = kept_test = doubts = compared = 0
        is_plain = True
        # room: 0 gold positions, 1 test positions, then the columns start, end, class of gold and of test brackets, and edges.
        while True:
            while ours < last_gold and gold_tag[ours] >= 0 and gold_table[_BITS, gold_tag[ours]] & _DROPPED:
                length += (gold_table[_BITS, gold_tag[ours]] & _FREE) == 0
                room[0, ours - first_gold] = words
                ours += 1
            while theirs < last_test and test_tag[theirs] >= 0 and test_table[_BITS, test_tag[theirs]] & _DROPPED:
                room[1, theirs - first_test] = words
                theirs += 1
            if ours == last_gold or theirs == last_test:
                break
            tag, other = gold_tag[ours], test_tag[theirs]
            word, other_word = gold_word[ours], test_word[theirs]
            if tag < 0 or other < 0 or gold_numbers[word] != test_numbers[other_word]:
                is_plain = False
                break
            bits, other_bits = gold_table[_BITS, tag], test_table[_BITS, other]
            room[0, ours - first_gold] = words
            room[1, theirs - first_test] = words
            length += (bits & _FREE) == 0
            compared += 1
            if not bits & _DELETED:
                words += 1
                tags += gold_table[_TAG, tag] == test_table[_TAG, other]
            is_deleted, is_other_deleted = bits & _EVALB_DELETED, other_bits & _EVALB_DELETED
            kept_gold += is_deleted == 0
            kept_test += is_other_deleted == 0
            doubts += is_deleted != is_other_deleted
            doubts += is_deleted == 0 and same_word[other_word] != word
            ours += 1
            theirs += 1
        if not is_plain or ours < last_gold or theirs < last_test or compared == 0:
            continue
        room[0, last_gold - first_gold] = words
        room[1, last_test - first_test] = words
        status = 0
        if asks_evalb:
            if kept_gold != kept_test and not may_repair:
                status = _ERROR
            if kept_test == 0:
                status = _SKIP
            if status == 0 and doubts:
                continue
        n_gold, disputed_gold = _brackets(gold, sentence, _OURS, room, 0, 2)
        n_test, disputed_test = _brackets(test, sentence, _OURS, room, 1, 5)
        matched, unlabelled = _matches(room, n_gold, n_test)
        if matched < 0:
            continue
        out[1, sentence], out[2, sentence], out[3, sentence], out[4, sentence] = matched, n_gold, n_test, unlabelled
        out[5, sentence] = _crossing(room, n_gold, n_test, words)
        out[6, sentence], out[7, sentence], out[8, sentence] = words, tags, length
        out[9, sentence] = status
        if disputed_gold + disputed_test:
            n_gold, _ = _brackets(gold, sentence, _EVALBS, room, 0, 2)
            n_test, _ = _brackets(test, sentence, _EVALBS, room, 1, 5)
            matched, unlabelled = _matches(room, n_gold, n_test)
        if matched < 0:
            continue
        out[10, sentence], out[11, sentence], out[12, sentence] = matched, n_gold, n_test
        out[0, sentence] = 0
