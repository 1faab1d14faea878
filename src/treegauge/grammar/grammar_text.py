r"""PCFGs as text, in NLTK's format: ``A -> B "word" C [0.3] | D [0.7]``.

* A line has one or several alternatives, each with its probability in brackets, a decimal number or a fraction (NLTK reads no
  fractions). ``#`` starts a comment; a final ``\`` continues a line.
* Words are in double or single quotes; a word with both kinds of quotes, or with a line break, is written ``@"..."`` with JSON's
  escapes.
* Symbols are bare if NLTK can read them, else in backquotes (`` `PRP$` ``, `` `,` ``), in which a backquote is doubled; the
  backquotes are our own addition. Every symbol has rules.
* The first left-hand side is the start symbol, unless a line ``%start S`` names another.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

import numpy as np

from treegauge.errors import EncodingError, FileNote, FormatError, GrammarError, warn
from treegauge.grammar.pcfg import PCFG, Rule
from treegauge.io.sources import Source

_NLTK_SYMBOL = r"[\w/][\w/^<>-]*"
_TOKEN = re.compile(
    rf"""\s*(?:(?P<arrow>->|→)|(?P<bar>\|)|\[\s*(?P<probability>[^\]\s]*)\s*\]|(?P<json>@"(?:[^"\\]|\\.)*")
    |(?P<word>"[^"]*"|“[^”]*”|'[^']*'|‘[^’]*’)|`(?P<quoted>(?:[^`]|``)*)`|(?P<symbol>{_NLTK_SYMBOL}))""",
    re.VERBOSE,
)
_BARE = re.compile(_NLTK_SYMBOL)
_NO_PROBABILITY = (
    "this alternative has no probability in square brackets; for equal ones write [1] after each, and renormalise=True"
)
_CLOSING = {'"': '"', "'": "'", "“": "”", "‘": "’", "[": "]"}
_ADVICE = 'A rule is written  A -> B "word" C [0.3] | D [0.7]  with other symbols in backquotes: `PRP$`.'


class _Token(NamedTuple):
    kind: str
    text: str
    column: int


class _GrammarLine(NamedTuple):
    number: int
    text: str


def read_text(text: str, *, path: str = "", start: str | None = None, renormalise: bool = False) -> PCFG:
    """The grammar in ``text``; an error has the line and the column of the mistake.

    >>> grammar = read_text('NP -> `PRP$` NN [1]\\n`PRP$` -> "its" [1]\\nNN -> "end" [1]')
    >>> grammar.nonterminals
    ('NP', 'PRP$', 'NN')
    >>> read_text('S -> NP VP [0.9')
    Traceback (most recent call last):
    treegauge.errors.FormatError: <input>:1:12: this [ is not closed
      S -> NP VP [0.9
                 ^
      A rule is written  A -> B "word" C [0.3] | D [0.7]  with other symbols in backquotes: `PRP$`.
    """
    rules: list[Rule] = []
    for line in _lines(text):
        if line.text.startswith("%"):
            start = _start(line, path) if start is None else start
        else:
            rules.extend(_rules(line, path))
    known = {rule.lhs for rule in rules}
    if unknown := {x for rule in rules for x, word in zip(rule.rhs, rule.words, strict=True) if not word} - known:
        raise _without_rules(unknown, known, text, path)
    if not rules:
        raise FormatError("no rules", path=path, line=1, column=1, text=text.split("\n", 1)[0], advice=_ADVICE)
    try:
        grammar = PCFG.from_rules(rules, start=start, renormalise=renormalise)
    except GrammarError as error:
        raise FormatError(str(error), path=path) from None
    reached = {grammar.start}
    while more := {x for rule in rules if rule.lhs in reached for x in rule.rhs} & known - reached:
        reached |= more
    if lost := known - reached:
        warn(FileNote(path or "grammar", f"the start symbol {grammar.start} never leads to {', '.join(sorted(lost))}"))
    return grammar


def _without_rules(unknown: set[str], known: set[str], text: str, path: str) -> FormatError:
    """The error for the first symbol of a right-hand side that has no rules: a misspelt symbol, or a word without its quotes."""
    tokens = ((line, token) for line in _lines(text) if line.text[0] != "%" for token in _tokens(line, path))
    line, token = next((line, token) for line, token in tokens if token.kind == "symbol" and token.text in unknown)
    close = get_close_matches(token.text.lower(), [symbol.lower() for symbol in known], n=1)
    meant = next((f"did you mean {symbol!r}? Words" for symbol in sorted(known) if symbol.lower() in close), "words")
    return _error(f"the symbol {token.text!r} has no rules; {meant} are written in quotes", token, line, path)


def _lines(text: str) -> Iterator[_GrammarLine]:
    """The lines that are neither blank nor comments, continued ones joined."""
    pending, first = "", 0
    for number, line in enumerate(text.split("\n"), 1):
        line = line.rstrip()
        if not pending and (not line.strip() or line.lstrip().startswith("#")):
            continue
        first = first if pending else number
        if line.endswith("\\"):
            pending += line[:-1] + " "
        else:
            yield _GrammarLine(first, pending + line)
            pending = ""
    if pending:
        yield _GrammarLine(first, pending)


def _start(line: _GrammarLine, path: str) -> str:
    parts = line.text.split(None, 1)
    tokens = list(_tokens(_GrammarLine(line.number, parts[1]), path)) if parts[0] == "%start" and len(parts) == 2 else []
    if [token.kind for token in tokens] != ["symbol"]:
        raise _error("expected '%start SYMBOL'", _Token("", "", 1), line, path)
    return tokens[0].text


def _tokens(line: _GrammarLine, path: str) -> Iterator[_Token]:
    at, text = 0, line.text
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            rest = text[at:].lstrip()
            if rest[:1] in ("", "#"):
                return
            arrow = "; write ->" if rest.startswith(("-->", "::=", ":=", "=>")) else ""
            problem = f"neither a symbol, a word in quotes nor a probability in square brackets{arrow}"
            if rest[0] in _CLOSING and _CLOSING[rest[0]] not in rest[1:]:
                problem = f"this {rest[0]} is not closed"
            raise _error(problem, _Token("", "", len(text) - len(rest) + 1), line, path)
        kind, column = str(match.lastgroup), match.start(str(match.lastgroup)) + 1
        found = match.group(kind)
        if kind == "word":
            yield _Token("word", found[1:-1], column)
        elif kind == "json":
            yield _Token("word", _unescape(found, column, line, path), column)
        elif kind == "quoted":
            yield _Token("symbol", found.replace("``", "`"), column)
        else:
            yield _Token(kind, found, column)
        at = match.end()


def _unescape(found: str, column: int, line: _GrammarLine, path: str) -> str:
    try:
        return str(json.loads(found[1:]))
    except ValueError:
        raise _error('@"..." is not a JSON string', _Token("", "", column), line, path) from None


def _rules(line: _GrammarLine, path: str) -> Iterator[Rule]:
    tokens = list(_tokens(line, path))
    if tokens[0].kind != "symbol":
        raise _error("a rule starts with a symbol", tokens[0], line, path)
    if len(tokens) < 2 or tokens[1].kind != "arrow":
        blank = ", with a blank before it" if "->" in tokens[0].text else ""
        raise _error(f"expected '->' after the left-hand side{blank}", tokens[min(1, len(tokens) - 1)], line, path)
    rhs: list[_Token] = []
    probability: float | None = None
    for token in [*tokens[2:], _Token("bar", "", len(line.text) + 1)]:
        if token.kind == "bar":
            if probability is None:
                raise _error(_NO_PROBABILITY, token, line, path)
            if not all(each.text for each in rhs) or not rhs:
                raise _error("a right-hand side must not be empty, nor hold an empty word", token, line, path)
            yield Rule(tokens[0].text, tuple(t.text for t in rhs), tuple(t.kind == "word" for t in rhs), probability)
            rhs, probability = [], None
        elif token.kind == "arrow" or probability is not None:
            raise _error("expected '|' or the end of the line", token, line, path)
        elif token.kind == "probability":
            probability = _probability(token, line, path)
        else:
            rhs.append(token)


def _probability(token: _Token, line: _GrammarLine, path: str) -> float:
    number, bar, divisor = token.text.partition("/")
    try:
        value = float(number) / float(divisor) if bar else float(number)
    except (ValueError, ZeroDivisionError):
        value = -1.0
    if not 0 <= value <= 1:
        raise _error(f"[{token.text}] is not a probability between 0 and 1, such as 0.5 or 1/2", token, line, path)
    return value


def _error(problem: str, token: _Token, line: _GrammarLine, path: str) -> FormatError:
    return FormatError(problem, path=path, line=line.number, column=token.column, text=line.text, advice=_ADVICE)


def write_text(grammar: PCFG) -> str:
    """The grammar as text, one rule per line; :func:`read_text` reads it back without loss if every symbol has rules.

    >>> print(write_text(PCFG.from_rules([("NP", ["PRP$"], 1), ("PRP$", ["its"], 1)])), end="")
    %start NP
    NP -> `PRP$` [1]
    `PRP$` -> "its" [1]
    """
    return _format(grammar, _symbol, [f"%start {_symbol(grammar.start)}"])


def write_nltk(grammar: PCFG) -> str:
    """The grammar as text that ``nltk.PCFG.fromstring`` reads. Symbols that NLTK cannot read get other names, listed in comments at
    the top.

    >>> print(write_nltk(PCFG.from_rules([("NP", ["PRP$"], 1), ("PRP$", ["its"], 1)])), end="")
    # PRP_dollar stands for PRP$
    %start NP
    NP -> PRP_dollar [1]
    PRP_dollar -> "its" [1]
    """
    names = nltk_names(grammar.nonterminals)
    for word in grammar.vocabulary:
        if "\n" in word or ('"' in word and "'" in word):
            raise GrammarError(f"NLTK's format cannot hold the word {word!r}: it has both kinds of quotes, or a line break")
    head = [f"# {name} stands for {symbol}" for symbol, name in names.items() if symbol != name]
    return _format(grammar, names.__getitem__, [*head, f"%start {names[grammar.start]}"])


def nltk_names(symbols: Iterable[str]) -> dict[str, str]:
    """A name for each symbol that NLTK can read: the symbol itself if possible, else one made of its characters' names.

    >>> nltk_names(["NP", ",", "-LRB-", "PRP$"])
    {'NP': 'NP', ',': 'comma', '-LRB-': '_LRB-', 'PRP$': 'PRP_dollar'}
    """
    symbols = list(dict.fromkeys(symbols))
    names = {symbol: symbol for symbol in symbols if _BARE.fullmatch(symbol)}
    for symbol in symbols:
        if symbol not in names:
            name = base = _readable(symbol)
            number = 2
            while name in names.values():
                name, number = f"{base}_{number}", number + 1
            names[symbol] = name
    return {symbol: names[symbol] for symbol in symbols}


_CHARACTER_NAMES = {
    "$": "dollar", ",": "comma", ".": "stop", ":": "colon", "`": "backquote", "'": "quote", "#": "hash",
    "@": "at", "|": "bar", "+": "plus", "*": "star", "=": "equals", "(": "open", ")": "close", "?": "question", "!": "bang",
}  # fmt: skip


def _readable(symbol: str) -> str:
    parts: list[str] = []
    for character in symbol:
        if re.match(r"[\w/^<>-]", character):
            parts.append(character)
        else:
            parts.append(("_" if parts else "") + _CHARACTER_NAMES.get(character, f"u{ord(character):04x}"))
    name = "".join(parts)
    return name if _BARE.fullmatch(name) else f"_{name[1:]}"


def _format(grammar: PCFG, symbol: Callable[[str], str], head: list[str]) -> str:
    lines = head
    for rule in grammar.rules:
        right = (_word(x) if word else symbol(x) for x, word in zip(rule.rhs, rule.words, strict=True))
        # Without an exponent, which NLTK cannot read, and with the fewest digits that give the same number again.
        probability = np.format_float_positional(rule.probability, trim="-")
        lines.append(f"{symbol(rule.lhs)} -> {' '.join(right)} [{probability}]")
    return "\n".join(lines) + "\n"


def _symbol(symbol: str) -> str:
    return symbol if _BARE.fullmatch(symbol) else "`" + symbol.replace("`", "``") + "`"


def _word(word: str) -> str:
    if "\n" in word or "\r" in word or ('"' in word and "'" in word):
        return "@" + json.dumps(word)
    return f"'{word}'" if '"' in word else f'"{word}"'


def read_file(path: str | Path, *, start: str | None = None, renormalise: bool = False) -> PCFG:
    """The grammar in a text file (UTF-8)."""
    try:
        with Source(str(path)).open() as stream:
            text = stream.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        advice = "If it was a model, it is damaged: make it again; save a grammar as UTF-8."
        raise EncodingError(f"neither a model nor UTF-8 text: {error.reason}", path=str(path), advice=advice) from None
    if text.lstrip().startswith("("):
        advice = f"treegauge train {path} -o parser.model makes one, in Python treegauge.train({str(path)!r}).save('parser.model')."
        raise FormatError("this is a treebank, not a model", path=str(path), advice=advice)
    if text.strip() and "->" not in text and "→" not in text:
        problem = "this is neither a model nor a grammar, which has rules such as S -> NP VP [1]"
        advice = "A model is a file of induce, train or mix, before the text in a command; own is a small one of treegauge."
        raise FormatError(problem, path=str(path), advice=advice)
    return read_text(text, path=str(path), start=start, renormalise=renormalise)
