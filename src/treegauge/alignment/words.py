"""Words and tokens: when two words are the same, and which tokens a preset deletes.

Words are compared in one of four ways. ``exact``: brackets, slashes and quotation marks may be escaped or written differently, and
all else must be the same. ``case``: upper and lower case are the same too. ``loose``: so are Unicode normal forms, HTML entities
and other escapes, kinds of quotation marks and dashes, and invisible characters; ``<unk>`` equals any word. ``length``: any word
equals any other, so that sentences match if they have the same number of words.

A treebank without some of its tokens keeps all its nodes; spans close up. Traces are not words: a gold tree with traces and a parse
without them are trees of the same sentence.
"""

from __future__ import annotations

import re
import unicodedata
from collections import deque

import numpy as np

from treegauge.errors import check_name
from treegauge.presets import Preset
from treegauge.trees.treebank import Int32, Mask, Treebank

MATCH_WORDS = ("exact", "case", "loose", "length")
"""The ways of comparing words, from the strictest to the loosest."""

_PLAIN = {
    "-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}",
    "``": '"', "''": '"', "“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "`": "'",
    "\\/": "/", "\\*": "*", "\\(": "(", "\\)": ")",
}  # fmt: skip

_VARIABLE = frozenset("".join(_PLAIN.values()))


def plain_word(word: str) -> str:
    r"""A word without escapes and with quotation marks of one kind.

    >>> plain_word("-LCB-"), plain_word(r"1\/2"), plain_word("``"), plain_word("don’t")
    ('{', '1/2', '"', "don't")
    """
    if word.isalnum():
        return word
    for written, plain in _PLAIN.items():
        if written in word:
            word = word.replace(written, plain)
    return word


# Strings rather than compiled patterns: re compiles and caches each when it is first used, and most runs use none.
_BRACKET = r"(?i)-[lr][rsc]b-"
_UNKNOWN = r"(?i)[<\[(*_@$-]*(unk|unknown|oov)[>\])*_@$-]*|unk-[\w-]+"
_ESCAPED = r"\\(?=[^\w\s])"
INVISIBLE = r"[\s\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\ufe0e\ufe0f]"
_QUOTES = "[\"'`´ʼ“”„‟‘’‚‛«»‹›「」『』《》〈〉＂＇]+"
_DASHES = "[-‐‑‒–—―−]+"


def is_unknown_word(word: str) -> bool:
    """Whether a word is a placeholder for words that a parser does not know.

    >>> [is_unknown_word(word) for word in ("<unk>", "[UNK]", "UNK", "UNK-LC-ing", "trunk")]
    [True, True, True, True, False]
    """
    return re.fullmatch(_UNKNOWN, word) is not None


def loose_word(word: str) -> str:
    r"""A word in a form in which case, normal form, escapes, quotation marks, dashes and invisible characters no longer differ.

    >>> loose_word("Caf\u0065\u0301") == loose_word("CAFÉ"), loose_word("&quot;"), loose_word(r"\("), loose_word("S.\u00a0A.")
    (True, "'", '(', 's.a.')
    """
    if word.isascii() and word.isalnum():
        return word.lower()
    import html

    plain = plain_word(_with_brackets(re.sub(_ESCAPED, "", html.unescape(word))))
    bare = re.sub(INVISIBLE, "", unicodedata.normalize("NFKC", re.sub(_QUOTES, "'", plain)))
    return unicodedata.normalize("NFC", re.sub(_DASHES, "-", re.sub(_QUOTES, "'", bare)).casefold()) or word


def _with_brackets(word: str) -> str:
    """A word with escaped brackets in upper case again (``-lrb-`` becomes ``-LRB-``)."""
    return re.sub(_BRACKET, lambda found: found[0].upper(), word) if "-" in word else word


def matched_word(word: str, match_words: str = "exact") -> str:
    """A word in the form in which it is compared with others.

    >>> matched_word("Rain"), matched_word("Rain", "case"), matched_word("Rain", "length"), matched_word("-lrb-", "case")
    ('Rain', 'rain', '', '(')
    """
    match match_words:
        case "case":
            return plain_word(_with_brackets(word)).casefold()
        case "loose":
            return loose_word(word)
        case "length":
            return ""
        case _:
            return plain_word(word)


def sentence_text(words: list[str], match_words: str = "exact") -> str:
    """The characters of a sentence, however it is tokenised; ``length`` compares them as ``exact`` does, to tell sentences apart.

    >>> sentence_text(["ca", "n’t"]) == sentence_text(["can", "'t"])
    True
    """
    form = "exact" if match_words == "length" else match_words
    return "".join(matched_word(word, form) for word in words)


def letters(text: str) -> str:
    """The text that identifies a sentence: its letters and digits, or all of it if it has none."""
    return "".join(filter(str.isalnum, text)) or text


class WordNumbers:
    """Numbers for words: the same number for words that are the same, or that the preset treats as equal.

    One object serves any number of treebanks; a vocabulary that was numbered recently is not numbered again.

    >>> numbers = WordNumbers(Preset(equal_words=(("colour", "color"),)))
    >>> numbers.of(("``", "colour")).tolist(), numbers.of(("color", "red", "''")).tolist()
    ([2, 0], [0, 3, 2])
    """

    def __init__(self, preset: Preset, match_words: str = "exact") -> None:
        check_name("value of match_words", match_words, MATCH_WORDS)
        self.match_words = match_words
        self._numbers: dict[str, int] = {}
        for word, other in _representatives(preset.equal_words, match_words).items():
            self._numbers[word] = self._numbers.setdefault(other, len(self._numbers))
        self._equal = frozenset(self._numbers)
        self._written: dict[str, int] = {}  # twice the number, plus one if other spellings have the same number
        self._recent: deque[tuple[tuple[str, ...], Int32, Mask]] = deque(maxlen=4)

    def of(self, vocabulary: tuple[str, ...]) -> Int32:
        """The number of each word of a vocabulary."""
        return self._number_words(vocabulary)[1]

    def has_variants(self, vocabulary: tuple[str, ...]) -> Mask:
        """For each word, whether other spellings may have the same number."""
        return self._number_words(vocabulary)[2]

    def is_unknown(self, vocabulary: tuple[str, ...]) -> Mask:
        """For each word, whether it matches any word, as placeholders do in loose matching."""
        if self.match_words != "loose":
            return np.zeros(max(len(vocabulary), 1), dtype=np.bool_)
        return np.array([is_unknown_word(word) for word in vocabulary] or [False], dtype=np.bool_)

    def _number_words(self, vocabulary: tuple[str, ...]) -> tuple[tuple[str, ...], Int32, Mask]:
        for known in self._recent:
            if known[0] is vocabulary:
                return known
        written, numbers, equal, is_exact = self._written, self._numbers, self._equal, self.match_words == "exact"
        for word in vocabulary:
            if word not in written:
                if is_exact and word.isalnum() and word not in equal:  # nearly all words
                    written[word] = 2 * numbers.setdefault(word, len(numbers))
                else:
                    written[word] = self._number(word)
        found = np.array(list(map(written.__getitem__, vocabulary)) or [0], dtype=np.int32)
        entry = vocabulary, found >> 1, (found & 1).astype(np.bool_)
        self._recent.append(entry)
        return entry

    def _number(self, word: str) -> int:
        plain = matched_word(word, self.match_words)
        may_vary = self.match_words != "exact" or plain in self._equal or not _VARIABLE.isdisjoint(plain)
        return 2 * self._numbers.setdefault(plain, len(self._numbers)) + may_vary


def _representatives(pairs: tuple[tuple[str, str], ...], match_words: str = "exact") -> dict[str, str]:
    """For each word of the pairs, one word that stands for all words equal to it, directly or through others.

    >>> _representatives((("a", "b"), ("b", "c")))
    {'a': 'a', 'b': 'a', 'c': 'a'}
    """
    groups: dict[str, dict[str, None]] = {}
    for pair in pairs:
        first, second = (matched_word(word, match_words) for word in pair)
        joined = groups.get(first, {first: None}) | groups.get(second, {second: None})
        for word in joined:
            groups[word] = joined
    return {word: min(group) for word, group in groups.items()}


def has_tag(bank: Treebank, tags: frozenset[str]) -> Mask:
    """For each token, whether its tag is one of ``tags``; a word without a tag of its own has none.

    >>> has_tag(Treebank.parse("(S (NP (NN cats)) (VP (V sleep)) (. .))"), frozenset({"."})).tolist()
    [False, False, True]
    """
    return np.array([*(label in tags for label in bank.labels), False], dtype=np.bool_).take(bank.tag)


def is_deleted(bank: Treebank, preset: Preset) -> Mask:
    """For each token, whether a preset leaves it out of scoring, by its tag, its form or its place under the root.

    >>> bank = Treebank.parse("(S (UH um) (NP (NN rain)) (. .))")
    >>> is_deleted(bank, Preset(delete_words=frozenset({"um"}))).tolist()
    [True, False, False]
    >>> is_deleted(bank, Preset(delete_root_preterminals=True)).tolist()
    [True, False, True]
    """
    deleted = has_tag(bank, preset.delete_tags)
    if preset.delete_words:
        forms = {plain_word(word) for word in preset.delete_words}
        deleted |= np.array([plain_word(word) in forms for word in bank.vocabulary] or [False], dtype=np.bool_).take(bank.word)
    if preset.delete_root_preterminals:
        first = np.repeat(bank.node_offset[:-1], np.diff(bank.token_offset))
        deleted |= (bank.tag >= 0) & (bank.parent.take(bank.above + first) == 0)
    return deleted


def without_tokens(bank: Treebank, left_out: Mask) -> Treebank:
    """The treebank without the marked tokens; a node that has no words left spans nothing.

    >>> bank = Treebank.parse("(S (NP (-NONE- *)) (VP (V go) (. .)))")
    >>> without_tokens(bank, has_tag(bank, frozenset({"-NONE-"}))).words(0)
    ['go', '.']
    """
    if not left_out.any():
        return bank
    kept = np.flatnonzero(~left_out)
    position = np.zeros(len(left_out) + 1, dtype=np.int64)
    np.cumsum(~left_out, out=position[1:])
    return bank.over_tokens(kept, position)


def without_traces(bank: Treebank, preset: Preset) -> Treebank:
    """The treebank without the tokens that a preset leaves out of both scoring and length (``-NONE-``).

    The tags of the treebank itself decide, since no parser tags a word so. Nodes that have no words left span nothing.

    >>> from treegauge.presets import load_preset
    >>> bank = Treebank.parse("(S (NP (-NONE- *)) (VP (V go) (. .)))")
    >>> without_traces(bank, load_preset("collins")).words(0)
    ['go', '.']
    """
    traces = preset.traces
    return without_tokens(bank, has_tag(bank, traces)) if not traces.isdisjoint(bank.labels) else bank
