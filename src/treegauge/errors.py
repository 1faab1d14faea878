"""All exceptions that treegauge raises on purpose, and :func:`checked`, which names the argument that is wrong.

::

    TreegaugeError                 exit code 5
    ├── CheckFailed                1   a check that was asked for failed (--fail-under)
    ├── UsageError                 2   the request itself is wrong
    │   ├── UnknownName            2   no metric, preset, format ... of that name; lists the valid ones
    │   ├── MissingExtra           2   an optional dependency is not installed; names the extra
    │   ├── GrammarError           2   rules that are not a probabilistic grammar
    │   ├── NoTree                 2   the scores and constraints of a span chart leave no tree
    │   └── RequestError           2   a request to the page of treegauge check that it cannot serve
    ├── InputError                 3   something cannot be read; carries file:line:column
    │   ├── BracketError           3   brackets do not balance, or text stands outside them
    │   ├── EncodingError          3   the bytes are not text in the declared encoding
    │   ├── FormatError            3   a line or element does not follow its format
    │   ├── ModelError             3   a model file is damaged, or of another version
    │   └── Discontinuous          3   a tree with crossing branches, where continuous ones are needed
    ├── WriteError                 3   a tree that the output format cannot hold
    ├── EngineError                3   the workers that were asked for cannot be reached
    ├── ShardFailed                5   work failed on a worker at every try; names the sentences
    └── MismatchError              4   gold and test do not fit together
        ├── NoParse                4   the grammar has no parse for a sentence
        └── TooLong                4   a sentence has more words than a chart can hold

A :class:`TreegaugeWarning` is no error: the result is there, but something about the input looks wrong.

The command line prints the message and leaves with the exit code; a traceback means a bug. A message names an option as it is
written in Python, ``match_words="case"`` or ``encoding=...``; the command line shows the flag instead, ``--match-words case``.
Notes on files are warnings, :class:`FileNote`; the command line lists them on stderr.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Collection, Generator, Iterable
from contextlib import contextmanager
from dataclasses import fields
from numbers import Integral, Real
from typing import Any, NoReturn, ParamSpec, TypeVar

from treegauge._lazy import advice_on, lack_of


class TreegaugeError(Exception):
    """The base of all errors that treegauge raises on purpose."""

    exit_code = 5

    def __reduce__(self) -> tuple[Any, ...]:
        # An error that comes from a worker process is restored as it was, not made anew from its message.
        return _restore, (type(self), self.args, self.__dict__)

    def rephrase(self, change: Callable[[str], str]) -> None:
        """Change what the error says; the command line names its own flags so."""
        self.args = (change(str(self)), *self.args[1:])


def _restore(kind: type[TreegaugeError], args: tuple[Any, ...], state: dict[str, Any]) -> TreegaugeError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


class TreegaugeWarning(UserWarning):
    """A result that may not be what it looks like, because something is wrong with the input: the remarks that the command line
    prints."""


def warn(warning: TreegaugeWarning) -> None:
    """Warn at the line of the user's own code: the last one that called the package."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and str(frame.f_globals.get("__name__", "")).startswith("treegauge."):
        frame, level = frame.f_back, level + 1
    warnings.warn(warning, stacklevel=level)


class CheckFailed(TreegaugeError):
    """A check the user asked for (such as ``--fail-under f1=0.9``) failed."""

    exit_code = 1


class UsageError(TreegaugeError):
    """The request is wrong, whatever the data: an impossible option or combination."""

    exit_code = 2


class UnknownName(UsageError):
    """No metric, preset, format ... has that name.

    >>> raise UnknownName("preset", "colins", ["collins", "new"])
    Traceback (most recent call last):
    treegauge.errors.UnknownName: unknown preset 'colins'; did you mean 'collins'? Valid: collins, new

    ``otherwise`` names what else is accepted, at the end of the list: "collins, new, or a file". ``hint`` says what is meant by a
    name that is known elsewhere, by default what ``advice.toml`` has for it, and stands in place of the list.
    """

    def __init__(self, kind: str, name: str, valid: Iterable[str], otherwise: str = "", *, hint: str = "") -> None:
        self.kind, self.name, self.valid = kind, name, sorted(valid)
        import difflib

        as_given = {each.lower(): each for each in self.valid}
        close = [as_given[each] for each in difflib.get_close_matches(name.lower(), as_given, n=1)]
        listed = ", ".join(self.valid) + (f", or {otherwise}" if otherwise else "")
        listed = f"did you mean {close[0]!r}? Valid: {listed}" if close else f"valid: {listed}"
        shown = name if len(name) <= 80 else f"{name[:60]}..."
        meant = hint or advice_on(kind.partition(" or ")[0]).get(name.lower().replace("_", "-"))
        super().__init__(f"unknown {kind} {shown!r}; {meant or listed}")


def check_name(kind: str, name: object, valid: Collection[str]) -> None:
    """Raise an :class:`UnknownName`, unless the name is one of the valid ones."""
    if name not in valid:
        raise UnknownName(kind, str(name), valid)


class MissingExtra(UsageError):
    """An optional dependency is missing; the message names the extra that installs it."""

    def __init__(self, purpose: str, extra: str) -> None:
        self.extra = extra
        super().__init__(f"{purpose} needs the extra [{extra}]: pip install 'treegauge[{extra}]' (in its repository '.[{extra}]')")


class GrammarError(UsageError):
    """Rules that are not a probabilistic grammar: a probability out of range, or a sum that is not 1."""


class NoTree(UsageError):
    """The scores, allowed spans and required spans of a chart leave no tree, so there is no best one either."""


class RequestError(UsageError):
    """A request to the page of ``treegauge check`` that it cannot serve; ``status`` is the HTTP status code."""

    def __init__(self, message: str, status: int = 400) -> None:
        self.status = status
        super().__init__(message)


_MOST_TEXT_SHOWN = 100


class FileNote(TreegaugeWarning):
    """A note on a file, for example that its encoding was found, not given, or that a killed run has left it."""

    def __init__(self, path: str, what: str) -> None:
        self.path, self.what = path, what
        super().__init__(path, what)

    def __str__(self) -> str:
        return f"{self.path}: {self.what}"


class InputError(TreegaugeError):
    r"""Input that cannot be read: the place, the problem, the text with a caret, and advice.

    ``line`` and ``column`` are 1-based, columns in characters; either may be absent. ``text`` is the line or, if it is very long,
    the part of it that begins at ``first_column``.

    >>> error = InputError("closing bracket without an opening one", path="wsj.mrg", line=1, column=17,
    ...                    text="(S (NP (NN a))) )", advice="Each tree needs as many '(' as ')'.")
    >>> print(error)
    wsj.mrg:1:17: closing bracket without an opening one
      (S (NP (NN a))) )
                      ^
      Each tree needs as many '(' as ')'.
    """

    exit_code = 3

    def __init__(
        self,
        problem: str,
        *,
        path: str = "",
        line: int | None = None,
        column: int | None = None,
        text: str | None = None,
        first_column: int = 1,
        advice: str = "",
    ) -> None:
        self.problem, self.path, self.line, self.column = problem, path, line, column
        self.text, self.first_column, self.advice = text, first_column, advice
        super().__init__(self.message())

    @property
    def place(self) -> str:
        """``file:line:column``, as far as known."""
        return ":".join(str(part) for part in (self.path or "<input>", self.line, self.column) if part is not None)

    def message(self) -> str:
        """The text of the error: place and problem, the line with a caret, and advice."""
        lines = [f"{self.place}: {self.problem}"]
        if self.text is not None and self.column is not None:
            lines += [f"  {line}" for line in _excerpt(self.text, self.column - self.first_column + 1, self.first_column > 1)]
        if self.advice:
            lines.append(f"  {self.advice}")
        return "\n".join(lines)

    def rephrase(self, change: Callable[[str], str]) -> None:
        """Change problem and advice, but not the text that is quoted."""
        self.problem, self.advice = change(self.problem), change(self.advice)
        self.args = (self.message(),)


def _excerpt(text: str, column: int, is_cut: bool) -> list[str]:
    """The part of a line around a column, and a line with a caret under it; control characters become ``?``."""
    text = text.rstrip("\r\n").expandtabs(1)
    first = max(0, min(column - 1 - _MOST_TEXT_SHOWN // 2, len(text) - _MOST_TEXT_SHOWN))
    last = first + _MOST_TEXT_SHOWN
    shown = "".join(c if c.isprintable() else "?" for c in text[first:last])
    before = "..." if first or is_cut else ""
    after = "..." if last < len(text) else ""
    return [before + shown + after, " " * (len(before) + column - 1 - first) + "^"]


class BracketError(InputError):
    """Brackets do not balance, or text stands outside them."""


class EncodingError(InputError):
    """The bytes are not text in the declared encoding."""


class FormatError(InputError):
    """A line, column or element does not follow its file format."""


class ModelError(InputError):
    """A model file that is not one of ours, is damaged, or was written by another version."""


@contextmanager
def refusing_damage(path: str, what: str, kind: type[InputError] = FormatError, *, advice: str = "") -> Generator[None]:
    """Turn any error that the content of a file causes into one of ours: the file is damaged, or not ``what`` it should be.

    zipfile, zlib, JSON, NumPy and SQLite raise errors of many kinds, and so does what is made of parts that do not fit together.
    """
    try:
        yield
    except (InputError, MissingExtra):
        raise
    except Exception as error:
        problem = f"this file is damaged, or is not {what} ({type(error).__name__}: {str(error)[:200]})"
        raise kind(problem, path=path, advice=advice) from None


@contextmanager
def refusing_unreadable(path: str) -> Generator[None]:
    """Turn an error of the system into one of ours, which names the file that cannot be read."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {getattr(error, 'strerror', None) or error}", path=path) from None


@contextmanager
def refusing_unwritable(path: str) -> Generator[None]:
    """The same for a file or folder that cannot be written."""
    try:
        yield
    except OSError as error:
        raise WriteError(f"{path}: cannot be written: {error.strerror or error}") from None


class Discontinuous(InputError):
    """A constituent with a gap, where continuous trees are needed."""


class WriteError(TreegaugeError):
    """A tree that the output format cannot hold, such as a word with a space in bracketed text."""

    exit_code = 3


class EngineError(TreegaugeError):
    """The requested workers cannot be reached: there is no scheduler at that address, or the connection is lost."""

    exit_code = 3


class ShardFailed(TreegaugeError):
    """Work on some sentences failed on a worker at every try; there is no result without them."""


class MismatchError(TreegaugeError):
    """Gold and test do not fit together: different sentences, different numbers of them, or different words."""

    exit_code = 4


class NoParse(MismatchError):
    """The grammar has no parse for a sentence, so there is no best one either."""


class TooLong(MismatchError):
    """A sentence has more words than a chart can hold."""


P = ParamSpec("P")
T = TypeVar("T")

_KINDS: dict[str, tuple[type | tuple[type, ...], str]] = {
    "int": (Integral, "a whole number"),
    "float": (Real, "a number"),
    "bool": (Integral, "True or False"),
    "str": (str, "text"),
    "Sequence[float]": (Iterable, "a list of numbers"),
}
"""The kinds of arguments that are checked, by their annotation: what they are an instance of, and what the message calls them."""


def checked(*options: type) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """A decorator that checks the keywords of each call; the fields of the dataclasses ``options`` are keywords, too. What
    ``advice.toml`` has on an argument is said to who gives it, or more than the only one that needs no name.

    >>> @checked()
    ... def resample(rounds: int = 100) -> int:
    ...     return rounds
    >>> resample(round=5)
    Traceback (most recent call last):
    treegauge.errors.UnknownName: unknown argument of resample 'round'; did you mean 'rounds'? Valid: rounds
    >>> resample(rounds="x")
    Traceback (most recent call last):
    treegauge.errors.UsageError: rounds must be a whole number, not 'x'
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        code: Any = function.__code__  # type: ignore[attr-defined]
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        kinds = {field.name: str(field.type) for each in options for field in fields(each)}
        kinds |= {name: str(function.__annotations__.get(name, "")) for name in names if name != "self"}

        @functools.wraps(function)
        def call(*args: P.args, **keywords: P.kwargs) -> T:
            if len(args) > code.co_argcount and not code.co_flags & inspect.CO_VARARGS:
                taken = ", ".join(name for name in names[: code.co_argcount] if name != "self")
                named = " and ".join(f"{name}=" for name in names[code.co_argcount :])
                known = advice_on(f"argument of {function.__name__}")
                said = f"{taken}; all others by name" if taken else named or "; ".join(("nothing", *known.values()))
                raise UsageError(known.get(taken, f"{function.__name__} takes {said}"))
            for name, value in zip(names[: code.co_argcount], args, strict=False):
                if kinds.get(name) not in ("str", "str | None"):  # functions say more of a text that is none
                    check_kind(name, value, kinds.get(name, ""))
            for name, value in keywords.items():
                if options or not code.co_flags & inspect.CO_VARKEYWORDS:  # without options, the function checks further keywords
                    check_name(f"argument of {function.__name__}", name, kinds)
                check_kind(name, value, kinds.get(name, ""))
            return function(*args, **keywords)

        return call

    return decorate


def hinting(cls: type[T]) -> type[T]:
    """A class decorator: the error for an attribute that the class lacks says what ``advice.toml`` has to write for it.

    >>> @hinting
    ... class Tree: ...
    >>> Tree().leaves
    Traceback (most recent call last):
    AttributeError: 'Tree' object has no attribute 'leaves'; write tree.words
    """

    def missing(self: object, name: str) -> NoReturn:
        raise AttributeError(f"{cls.__name__!r} object {lack_of(name, cls.__name__)}", name=name, obj=self)

    cls.__getattr__ = missing  # type: ignore[attr-defined]
    return cls


def check_kind(name: str, value: object, kind: str) -> None:
    """Raise a UsageError that names the argument if its value is not of the kind that its annotation says."""
    expected, called = _KINDS.get(kind.removesuffix(" | None"), (object, ""))
    is_none = value is None and kind.endswith(" | None")
    if not is_none and not isinstance(value, expected) and not (kind == "bool" and type(value).__name__.startswith("bool")):
        raise UsageError(f"{name} must be {called}, not {value!r}")
