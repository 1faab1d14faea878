"""Reading treebanks: from files in any format, from strings, and from trees in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import replace
from typing import Any, Unpack, cast

import numpy as np

from treegauge.errors import InputError, TreegaugeError, TreegaugeWarning, UsageError, checked, warn
from treegauge.io.bracketed import bracketed_parts, small_files_part, text_errors, treebank_of_texts
from treegauge.io.bracketed_columns import Names, TreeColumns, join_parts
from treegauge.io.formats import FORMATS, FORMATS_WITH_GAPS, Format, detect_format, format_of, lacks_labels
from treegauge.io.sources import IN_STRINGS, LeftOut, ReadKeywords, ReadOptions, Source, Text, find_sources, is_stream
from treegauge.presets.treebanks import TREEBANKS, TreebankStyle
from treegauge.trees.notation import from_nltk, from_other, is_nltk_tree, is_other_tree
from treegauge.trees.tree import Tree
from treegauge.trees.treebank import Origin, Problem, Treebank

Path = str | os.PathLike[str]

_GROUP_BYTES = 1 << 20


@checked(ReadOptions)
def read(path: object, options: ReadOptions = ReadOptions(), **reading: Unpack[ReadKeywords]) -> Treebank:
    """All trees of a file, directory or glob as one treebank; or of any other value that :func:`as_treebank` takes.

    The fields of :class:`ReadOptions` are keywords, too: ``read("wsj.mrg", encoding="latin-1")``. ``on_error`` says what to do with
    a tree that cannot be read, as ``--on-error`` of every command: ``stop`` raises an error (the default), ``parse-fails`` makes it
    a sentence without a parse, ``repair`` mends it where possible: code fences, numbering, prose, square brackets, and closing
    brackets that are missing or too many. A broken tree ends where the next one begins, or a comment of its treebank.
    ``problems()`` of the treebank lists the broken trees, with the text that was left out.
    """
    options = _with(options, reading)
    bank = read_sources([path], options) if isinstance(path, Source) else as_treebank(path, options)
    if "on_error" in reading and (problems := bank.problems()):
        repaired = sum(bool(problem.repairs) for problem in problems.values())
        done = f"{repaired:,} repaired, {len(problems) - repaired:,} without a parse; problems() of the treebank lists them"
        warn(TreegaugeWarning(f"broken trees among {len(bank):,}: {done}"))
    return bank


def _with(options: ReadOptions, reading: ReadKeywords) -> ReadOptions:
    """The options with some keywords; of another value, an error that says which option it is."""
    if not isinstance(options, ReadOptions):  # type: ignore[reportUnnecessaryIsInstance]
        name = "treebank" if options in TREEBANKS else "format" if options in FORMATS else "encoding"
        raise UsageError(f"options are named: {name}={options!r}")
    return replace(options, **reading) if reading else options


@checked(ReadOptions)
def stream(path: Path | Source, options: ReadOptions = ReadOptions(), **reading: Unpack[ReadKeywords]) -> Iterator[Treebank]:
    """The trees of a file, directory or glob, block by block, in constant memory; options as of :func:`read`."""
    options = _with(options, reading)
    for source in [path] if isinstance(path, Source) else find_sources(path):
        text = Text(source, options)
        yield from _without_errors(_items(detect_format(text, options), text, options))


@checked(ReadOptions)
def check(
    path: Path | Source, options: ReadOptions = ReadOptions(), **reading: Unpack[ReadKeywords]
) -> Iterator[Treebank | InputError]:
    """All readable trees of a file, a block at a time, and all its errors, roughly in the order of the text; options as of
    :func:`read`."""
    options = _with(options, reading)
    for source in [path] if isinstance(path, Source) else find_sources(path):
        try:
            text = Text(source, options)
            yield from _items(detect_format(text, options), text, options)
        except InputError as error:
            yield error


def holds_gaps(value: object, options: ReadOptions = ReadOptions()) -> bool:
    """Whether some trees, given as values or as files, have crossing branches; files in other formats are not read for it.

    >>> holds_gaps("(S (NP (N rain)))")
    False
    """
    if isinstance(value, Treebank | Tree):
        return not value.is_continuous
    if isinstance(value, os.PathLike) or (isinstance(value, str) and not is_text(value)):
        sources = find_sources(cast("Path", value))
        return any(not is_stream(source.name) and _source_holds_gaps(source, options) for source in sources)
    items = cast("list[object]", value) if isinstance(value, list | tuple) else []
    return any(holds_gaps(item, options) for item in items if not isinstance(item, str) or _is_file(item))


def may_hold_trees(path: str, options: ReadOptions) -> bool:
    """Whether a tree, or an answer that may hold one, begins early in a file; plain text and binary files hold none.

    Standard input, which cannot be read again, may hold some.
    """
    from treegauge.io.repairs import answer_starts

    if path == "-" or not os.path.isfile(path):
        return True
    text = Text(Source(path), options)
    return detect_format(text, options).name != "bracketed" or (b"\0" not in text.head and bool(answer_starts(text.head)))


def _source_holds_gaps(source: Source, options: ReadOptions) -> bool:
    text = Text(source, options)
    found = format_of(text, options)  # notes come when the trees are read
    if found.name not in FORMATS_WITH_GAPS:
        return False
    return any(not block.is_continuous for block in _without_errors(_items(found, text, options)))


@checked(ReadOptions)
def as_treebank(value: object, options: ReadOptions = ReadOptions(), **reading: Unpack[ReadKeywords]) -> Treebank:
    """A Treebank made of any value that holds trees.

    The value is a Treebank; a path; a string of bracketed text (its first character is a bracket); a string with an opening bracket
    or several lines, which is one sentence; a Tree, an ``nltk.Tree`` or a tree of another library; or an iterable of such trees, of
    strings (each the bracketed text of one sentence, blank for an empty parse) or of files, if all are there. Trees of other
    libraries have ``label`` and ``children``, as stanza's, or are bracketed text as ``str``. Options are those of :func:`read`.
    Unless ``on_error`` is ``stop``, None (NaN, NA) or a string that is not a tree becomes a sentence without a parse.

    >>> as_treebank(["(S (NP (N rain)))", ""]), as_treebank("(A a) (B b)")
    (<Treebank of 2 trees, 1 token, 4 nodes>, <Treebank of 2 trees, 2 tokens, 2 nodes>)
    """
    if isinstance(value, Treebank):
        return value
    options = _with(options, reading)
    if isinstance(value, str) and _is_bracketed(value):
        data = _utf8(value)
        bank = read_sources([Source("<string>", data)], _string_options(options, data))
        return _styled(_place_numbered_words(bank, options), options)
    if isinstance(value, str) and is_text(value):
        return as_treebank([value], options)
    if isinstance(value, str | os.PathLike):
        return read_sources(find_sources(cast("Path", value)), options)
    if hasattr(value, "columns"):
        raise UsageError(f"expected trees, not a {type(value).__name__}; give a column: df['answer']")
    if _is_tree(value):
        return _styled(Treebank.from_trees([_as_tree(value)]), options)
    if not isinstance(value, _NOT_IN_ORDER) and isinstance(value, Iterable):
        items = list(cast("Iterable[Any]", value))
        if items and all(isinstance(item, os.PathLike) or (isinstance(item, str) and _is_file(item)) for item in items):
            return read_sources([source for item in items for source in find_sources(item)], options)
        return _styled(_from_items(items, options), options)
    raise UsageError(f"expected a treebank, a path, trees in order or bracketed text, not {type(value).__name__}")


_NOT_IN_ORDER: tuple[type, ...] = bytes, bytearray, Mapping, Set
"""Kinds of values that are no sequences of trees, though one can go through them."""


def _is_tree(value: object) -> bool:
    """Whether a value is one tree, of ours or of another library."""
    if isinstance(getattr(value, "tree", value), Tree) or is_nltk_tree(value) or is_other_tree(value):
        return True
    return type(value).__module__ != "builtins" and type(value).__str__ is not object.__str__ and _is_bracketed(str(value))


def _styled(bank: Treebank, options: ReadOptions) -> Treebank:
    """Trees in memory in the style of their treebank."""
    return bank if options.style is None or not options.changes_trees else _style_reader(options.style, options)(bank)


def _style_reader(
    style: TreebankStyle, options: ReadOptions, on_left_out: Callable[[LeftOut], None] | None = None
) -> Callable[[Treebank], Treebank]:
    """The function that puts the blocks of one file in the style of their treebank."""
    from treegauge.io.styles import StyledTrees

    return StyledTrees(style, options, on_left_out).of


def _from_items(items: list[Any], options: ReadOptions) -> Treebank:
    if items and all(isinstance(item, str) for item in items):
        return _from_texts(items, options)
    if options.on_error == "stop":
        return Treebank.from_trees(_as_tree(item, f"item {number} of the list") for number, item in enumerate(items, start=1))
    read = [_tree_and_problem(item, f"tree {number}", options) for number, item in enumerate(items, start=1)]
    problems = {number: problem for number, (_, problem) in enumerate(read) if problem is not None}
    wrong = [number for number in problems if not isinstance(items[number], str)]
    if wrong and not any(isinstance(item, str) or tree.width for item, (tree, _) in zip(items, read, strict=True)):
        raise _wrong_type(items[wrong[0]], f"item {wrong[0] + 1} of the list")  # one wrong item among trees is a bad answer
    bank = Treebank.from_trees(tree for tree, _ in read)
    return replace(bank, origins=(Origin("", np.zeros(len(bank), np.int64), None, problems),))


def _from_texts(texts: list[str], options: ReadOptions) -> Treebank:
    try:
        given = _string_options(options, "\n".join(texts).encode("utf-8", "replace"))
        return _place_numbered_words(treebank_of_texts(texts, IN_STRINGS, given), options)
    except (InputError, UnicodeEncodeError):
        if options.on_error == "stop":
            _raise_first_problem(texts, options)
        raise


def _is_bracketed(text: str) -> bool:
    return text.lstrip().startswith("(")


def _is_file(text: str) -> bool:
    """Whether a string in a list is the name of a file, or of a directory, and no tree."""
    return bool(text.strip()) and not _is_bracketed(text) and os.path.exists(text)


def is_text(value: str) -> bool:
    """Whether a string is not a path: it begins with a bracket, or has one or several lines and is not the name of a file."""
    return _is_bracketed(value) or (("(" in value or "\n" in value.strip()) and not os.path.exists(value))


def _not_bracketed(text: str, place: str) -> UsageError:
    advice = "If this is a list of files, not all are there." if _is_file(text) else 'on_error="repair" reads trees inside prose.'
    return UsageError(f"{place} is not bracketed text: {text[:60]!r}\n  {advice}")


def _raise_first_problem(texts: list[str], options: ReadOptions) -> None:
    """Raise the problem of the first string that is not a tree; reading the whole list reports them in the order of its checks."""
    for number, text in enumerate(texts, start=1):
        if text.strip() and not _is_bracketed(text):
            raise _not_bracketed(text, f"string {number}")
        _utf8(text, f"string {number}")
        for _, error in text_errors([text], IN_STRINGS, _string_options(options), number):
            raise error from None


def _place_numbered_words(bank: Treebank, options: ReadOptions) -> Treebank:
    """The trees as discbracket, if the words of the first one carry their places, ``0=Wen``; else the trees as they are."""
    from treegauge.io.discbracket import first_carries_places, place_words_in_block

    if options.format != "auto" or not first_carries_places(bank):
        return bank
    return next(_without_errors(place_words_in_block(bank, options)), bank)


def _tree_and_problem(value: Any, place: str, options: ReadOptions) -> tuple[Tree, Problem | None]:
    """The tree that a value holds, or an empty one, and the problem with the value, if any."""
    if value is None or (isinstance(value, float) and value != value) or type(value).__name__ == "NAType":  # as pandas has them
        return Tree(""), None
    try:
        if isinstance(value, str):
            bank = _from_texts([value], options)
            problem = bank.problems().get(0)
            return bank[0], None if problem is None else problem._replace(place=place)
        return _as_tree(value, place), None
    except TreegaugeError as error:
        return Tree(""), Problem(place, str(error).splitlines()[0].removeprefix(f"{place}: "))


def _string_options(options: ReadOptions, text: bytes = b"") -> ReadOptions:
    """Options for a text in memory: brackets, with or without labels."""
    is_bare = options.format == "brackets" or (options.format == "auto" and lacks_labels(text))
    return replace(options, format="brackets" if is_bare else "bracketed", encoding="utf-8")


def _utf8(text: str, name: str = "the string") -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise UsageError(f"{name} is not text: it contains half of a surrogate pair") from None


def _as_tree(value: Any, place: str = "item 1 of the list") -> Tree:
    if isinstance(tree := getattr(value, "tree", value), Tree):  # of a parse, too
        return tree
    if is_nltk_tree(value):
        return from_nltk(value)
    if is_other_tree(value):
        return from_other(value)
    if isinstance(value, str) and value.strip() and not _is_bracketed(value):
        raise _not_bracketed(value, place)
    if isinstance(value, str) or _is_tree(value):
        try:
            return Tree.parse(str(value))
        except InputError as error:
            error.path = place
            error.rephrase(str)
            raise
    raise _wrong_type(value, place)


def _wrong_type(value: object, place: str) -> UsageError:
    kind = type(value).__name__
    hint = "; give one of its fields, as in [record['parse'] for record in records]" if kind == "dict" else ""
    hint = "; Tree.from_spans(words, spans) makes a tree of (start, end) pairs" if kind in {"list", "tuple", "set"} else hint
    return UsageError(f"{place}: expected a Tree, an nltk.Tree or bracketed text, not {kind}{hint}")


def read_sources(sources: list[Source], options: ReadOptions) -> Treebank:
    """All trees of some sources as one treebank; bracketed files share one table of names, which saves merging many."""
    done: list[Treebank] = []
    parts: list[TreeColumns] = []
    names = Names()
    for together in _groups(sources, options):
        if together[0][1].name == "bracketed" and not options.changes_trees:
            parts += _bracketed_parts([text for text, _ in together], options, names)
            continue
        if parts:
            done.append(join_parts(parts, names))
            names = Names()
        for text, found in together:
            done.extend(_without_errors(_items(found, text, options)))
    if parts or not done:
        done.append(join_parts(parts, names))
    return Treebank.concatenate(done)


def _groups(sources: list[Source], options: ReadOptions) -> Iterator[list[tuple[Text, Format]]]:
    """The opened sources in order, each with its format; small bracketed files come in groups, others alone."""
    small: list[tuple[Text, Format]] = []
    size = 0
    for source in sources:
        text = Text(source, options)
        found = detect_format(text, options)
        is_small = found.name == "bracketed" and text.is_whole
        if is_small:
            small.append((text, found))
            size += len(text.head)
        if small and (size > _GROUP_BYTES or not is_small):
            yield small
            small, size = [], 0
        if not is_small:
            yield [(text, found)]
    if small:
        yield small


def _bracketed_parts(texts: list[Text], options: ReadOptions, names: Names) -> Iterator[TreeColumns]:
    together = small_files_part(texts, options, names) if len(texts) > 1 else None
    if together is not None:
        yield together
    else:
        for text in texts:
            yield from bracketed_parts(text, options, names)


def _without_errors(items: Iterable[Treebank | InputError]) -> Iterator[Treebank]:
    """The blocks of a text; its first error is raised."""
    for item in items:
        if isinstance(item, InputError):
            raise item
        yield item


def _items(known: Format, text: Text, options: ReadOptions) -> Iterator[Treebank | InputError]:
    """The blocks of a text, in the style of its treebank, and its errors."""
    assert known.reader is not None
    found = known.reader(text, options)
    if options.style is None or not options.changes_trees:
        return found
    styled = _style_reader(options.style, options, text.on_left_out)
    return (item if isinstance(item, InputError) else styled(item) for item in found)
