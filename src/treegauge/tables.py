r"""Tables as values, and their output as aligned text, Markdown, CSV, LaTeX (booktabs), HTML or JSON records.

The module also has the helpers that all output shares: plain values for JSON, numbers and counted nouns as text, names in
British spelling, the width of text in a terminal, and objects in one line.

>>> from treegauge.tables import Table
>>> table = Table("By label", ("label", "gold", "recall"), (("NP", 4, 0.75), ("PP", 2, float("nan"))), percent=("recall",))
>>> print(render(table, "table"))
By label
label  gold  recall
NP        4   75.00
PP        2       -
>>> print(render(table, "latex").splitlines()[5])
NP & 4 & 75.00 \\
"""

from __future__ import annotations

import importlib
import json
import math
import os
import reprlib
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, TypeVar, cast

from treegauge.errors import UsageError, check_name

LONG = 30
"""The number of rows after which a table wider than the terminal continues below with its further columns."""

_JOINER, _EMOJI_STYLE = "\u200d", "\ufe0f"

T = TypeVar("T")

Cell = str | int | float | None
"""The value of a table cell: text, a count, a rate (nan: undefined) or nothing."""


class Average(float):
    """A number that is no share, such as a mean of counts: printed as it is even in a column of percentages.

    >>> cell_text(Average(0.8), percent=True), cell_text(0.8, percent=True)
    ('0.80', '80.00')
    """


class Measured(float):
    """A number with what is printed beside it: its standard deviation over runs, its interval, a mark; the best is in bold.

    >>> cell_text(Measured(0.8563, sd=0.0012), percent=True), cell_text(Measured(0.8, interval=(0.7, 0.9), mark="\N{DAGGER}"))
    ('85.63 ± 0.12', '0.80 [0.70, 0.90]†')
    """

    sd: float | None
    interval: tuple[float, float] | None
    mark: str
    is_best: bool
    is_average: bool

    def __new__(
        cls,
        value: float,
        *,
        sd: float | None = None,
        interval: tuple[float, float] | None = None,
        mark: str = "",
        is_best: bool = False,
        is_average: bool = False,
    ) -> Measured:
        self = super().__new__(cls, value)
        self.sd, self.interval, self.mark, self.is_best, self.is_average = sd, interval, mark, is_best, is_average
        return self

    def with_mark(self, mark: str, *, is_best: bool) -> Measured:
        """The same number, marked, and in bold if it is the best."""
        return Measured(self, sd=self.sd, interval=self.interval, mark=mark, is_best=is_best, is_average=self.is_average)


def over_runs(values: Sequence[float], interval: tuple[float, float] | None = None) -> Cell:
    """The values of several runs as one cell: the mean with its standard deviation, or the value that all runs have.

    >>> over_runs([103, 103]), cell_text(over_runs([80.0, 82.0]))
    (103, '81.00 ± 1.41')
    """
    if len(values) == 1 or (isinstance(values[0], int) and len(set(values)) == 1):
        return Measured(values[0], interval=interval) if interval else values[0]
    mean = math.fsum(values) / len(values)
    return Measured(mean, sd=math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)), interval=interval)


@dataclass(frozen=True)
class Table:
    """Named columns and rows of cells; ``notes`` are printed below the table, a ``caption`` makes it a table of a paper.

    ``percent`` names the columns of rates, which are shown times 100; the cells themselves stay fractions at full precision.

    >>> table = Table("By label", ("label", "gold", "recall"), (("NP", 4, 0.75),), percent=("recall",))
    >>> table.to_records()
    [{'label': 'NP', 'gold': 4, 'recall': 0.75}]
    >>> print(table)
    By label
    label  gold  recall
    NP        4   75.00
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    percent: tuple[str, ...] = ()
    caption: str = ""

    def __repr__(self) -> str:
        title = f" {self.title!r}" if self.title else ""
        return cut(f"<Table{title}: {number_of(len(self.rows), 'row')} of {', '.join(self.columns)}>")

    def to_frame(self) -> Any:
        """The table as a pandas data frame; undefined values are missing ones."""
        return optional_library("pandas", "a data frame").DataFrame(self.to_records(), columns=list(self.columns))

    def to_records(self) -> list[dict[str, Any]]:
        """A dict per row, with None for nan, as JSON requires."""
        return [dict(zip(self.columns, map(plain, row), strict=True)) for row in self.rows]

    def to_dict(self) -> dict[str, Any]:
        """The whole table as plain values for JSON, at full precision."""
        return {"title": self.title, "columns": self.columns, "rows": self.to_records(), "notes": self.notes}

    def column(self, name: str) -> Sequence[Cell]:
        """The cells of one column."""
        index = self.columns.index(name)
        return [row[index] for row in self.rows]

    def texts(self, digits: int = 2) -> list[list[str]]:
        """The cells of each row as text, rates with that many digits after the point."""
        found = self._texts.get(digits)
        if found is None:
            shares = [column in self.percent for column in self.columns]
            found = self._texts[digits] = [
                [cell_text(cell, percent=share, digits=digits) for cell, share in zip(row, shares, strict=True)]
                for row in self.rows
            ]
        return found

    @cached_property
    def _texts(self) -> dict[int, list[list[str]]]:
        """The texts by the number of digits, stored because fitting a table into a width needs them several times."""
        return {}

    def marked(self, digits: int, escape: Callable[[str], str], bold: str) -> Iterator[list[str]]:
        """The cells of each row as escaped text, the best ones in bold."""
        for cells, texts in zip(self.rows, self.texts(digits), strict=True):
            best = (isinstance(cell, Measured) and cell.is_best for cell in cells)
            yield [bold.format(escape(text)) if is_best else escape(text) for is_best, text in zip(best, texts, strict=True)]

    @cached_property
    def is_numeric(self) -> list[bool]:
        """For each column, whether it holds only numbers and is aligned to the right."""
        return [all(not isinstance(row[index], str) for row in self.rows) for index in range(len(self.columns))]

    def __str__(self) -> str:
        return self.as_text()

    def as_text(self, digits: int = 2, width: int | None = None) -> str:
        """The table with its columns aligned by blanks, no wider than ``width`` if possible.

        If a table is too wide, a column of text that is the same in all rows moves into the title; then columns stand closer
        together; then the columns that name the rows become lines above them; then the table continues below, its first columns
        repeated, :data:`LONG` rows at a time.
        """
        if self.caption:
            return replace(self, caption="", notes=(*self.notes, self.caption)).as_text(digits, width)
        if width is None or self._fits(digits, width):
            return "\n".join([*self._heading, *self._lines(digits, "  "), *self.notes])
        table = self._without_constant_columns(digits)
        for headings in range(table._names):
            rest = table._from(headings)
            for gap in ("  ", " "):
                if rest._fits(digits, width, gap):
                    return "\n".join([*table._heading, *table._grouped_lines(digits, gap, headings), *self.notes])
        sections = [replace(table, rows=table.rows[first : first + LONG]) for first in range(0, len(table.rows), LONG)]
        places = table._blocks(digits, width)
        blocks = ["\n".join(section._lines(digits, "  ", shown)) for section in sections for shown in places]
        return "\n".join([*table._heading, "\n\n".join(blocks), *self.notes])

    @property
    def _heading(self) -> list[str]:
        return [self.title] if self.title else []

    def _widths(self, digits: int) -> list[int]:
        """The number of terminal columns that each column needs."""
        return [max(map(terminal_width, column)) for column in zip(self.columns, *self.texts(digits), strict=True)]

    def _fits(self, digits: int, width: int, gap: str = "  ") -> bool:
        widths = self._widths(digits)
        return sum(widths) + len(gap) * (len(widths) - 1) <= width

    def _lines(self, digits: int, gap: str, shown: Sequence[int] | None = None) -> list[str]:
        """The header and the rows as lines, of all columns or of the ``shown`` ones."""
        widths, numeric = self._widths(digits), self.is_numeric
        places = range(len(self.columns)) if shown is None else shown

        def line(row: Sequence[str]) -> str:
            padding = {index: " " * (widths[index] - terminal_width(row[index])) for index in places}
            return gap.join(padding[i] + row[i] if numeric[i] else row[i] + padding[i] for i in places).rstrip()

        return list(map(line, [list(self.columns), *self.texts(digits)]))

    def _from(self, first: int) -> Table:
        """The table without its first columns."""
        return replace(self, columns=self.columns[first:], rows=tuple(row[first:] for row in self.rows))

    def _grouped_lines(self, digits: int, gap: str, headings: int) -> list[str]:
        """The header and the rows as lines; the first ``headings`` columns are a line of their own wherever their text changes."""
        header, *rows = self._from(headings)._lines(digits, gap)
        lines, last = [header], list[str]()
        for row, texts in zip(rows, self.texts(digits), strict=True):
            if texts[:headings] != last:
                last = texts[:headings]
                lines.append(", ".join(f"{name}: {text}" for name, text in zip(self.columns, last, strict=False)))
            lines.append(row)
        return lines

    @property
    def _names(self) -> int:
        """The number of columns at the left that name the rows: those of text, but at least one."""
        numeric = self.is_numeric
        return max(1, numeric.index(True)) if True in numeric else 1

    def _without_constant_columns(self, digits: int) -> Table:
        """The table with its constant columns of text before the first rate moved into the title; one column always stays."""
        texts = self.texts(digits)
        numbers = (index for index in range(len(self.columns)) if any(isinstance(row[index], float) for row in self.rows))
        before = [index for index in range(next(numbers, 0)) if not self.is_numeric[index]]
        constant = [index for index in before if len({row[index] for row in texts}) == 1 < len(texts)]
        constant = constant if len(constant) < len(before) else constant[:-1]
        left = [index for index in range(len(self.columns)) if index not in constant]
        columns, rows = tuple(self.columns[i] for i in left), tuple(tuple(row[i] for i in left) for row in self.rows)
        moved = ", ".join(f"{self.columns[index]}: {texts[0][index]}" for index in constant)
        title = f"{self.title} ({moved})" if moved and self.title else moved or self.title
        return replace(self, title=title, columns=columns, rows=rows)

    def _blocks(self, digits: int, width: int) -> list[list[int]]:
        """The columns of each block: those that name the rows are in every block, the others in one each."""
        widths, left = self._widths(digits), list(range(self._names))
        blocks = [left]
        for index in range(len(left), len(widths)):
            taken = sum(widths[column] + 2 for column in blocks[-1])
            if taken + widths[index] > width and len(blocks[-1]) > len(left):
                blocks.append(left)
            blocks[-1] = [*blocks[-1], index]
        return blocks

    def _repr_html_(self) -> str:
        return self.as_html()

    def as_html(self, digits: int = 2) -> str:
        """The table as HTML, for a notebook or a page; all text is escaped."""
        from html import escape

        style = [' style="text-align: right"' if right else ' style="text-align: left"' for right in self.is_numeric]

        def row(kind: str, cells: Sequence[str]) -> str:
            inside = (f"<{kind}{look}>{cell}</{kind}>" for cell, look in zip(cells, style, strict=True))
            return f"<tr>{''.join(inside)}</tr>"

        above = " ".join(filter(None, [self.title, self.caption]))
        caption = f"<caption>{escape(above)}</caption>" if above else ""
        body = "".join(row("td", cells) for cells in self.marked(digits, escape, "<b>{}</b>"))
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        return f"<table>{caption}<thead>{row('th', list(map(escape, self.columns)))}</thead><tbody>{body}</tbody></table>{notes}"


class HasTable:
    """A value that shows as a table: in notebooks, and as a pandas data frame."""

    def as_table(self) -> Table:
        """The value as a table."""
        raise NotImplementedError

    def to_frame(self) -> Any:
        """The table as a pandas data frame."""
        return self.as_table().to_frame()

    def _repr_html_(self) -> str:
        return self.as_table().as_html()


def optional_library(name: str, purpose: str) -> Any:
    """An optional library that was asked for; a UsageError if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise UsageError(f"{purpose} needs {name}: pip install {name}") from None


def cell_text(cell: Cell, *, percent: bool = False, digits: int = 2) -> str:
    """A cell as text: rates times 100, undefined values as ``-``."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return "-"
    if isinstance(cell, Measured):
        numbers: list[float] = [cell, cell.sd or 0.0, *(cell.interval or ())]
        value, sd, *ends = (cell_text(Average(n) if cell.is_average else float(n), percent=percent, digits=digits) for n in numbers)
        return value + (f" ± {sd}" if cell.sd is not None else "") + (f" [{', '.join(ends)}]" if ends else "") + cell.mark
    if isinstance(cell, float):
        return f"{100 * cell:.{digits}f}" if percent and not isinstance(cell, Average) else f"{cell:.{digits}f}"
    return str(cell)


def plain(value: Any) -> Any:
    """A value that JSON can hold: nan as None, infinities as text, mappings as dicts, other sequences as lists.

    >>> plain({"f1": float("nan"), "z": (1.5, float("inf"))})
    {'f1': None, 'z': [1.5, 'inf']}
    """
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None if math.isnan(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in cast("Sequence[Any]", value)]
    return value


def rounded(value: float) -> Cell:
    """A number rounded to an integer; None if it is undefined.

    >>> rounded(3.7), rounded(math.nan)
    (4, None)
    """
    return None if math.isnan(value) else round(value)


_MOST_DIGITS = 15


def whole_number(text: str) -> int | None:
    """The number that is written in digits; None where it is not, or implausibly long.

    Python takes characters such as ``²`` for digits, but not for numbers, and refuses to make numbers of thousands of digits.

    >>> whole_number("12"), whole_number("-1"), whole_number("²"), whole_number("9" * 5000)
    (12, None, None, None)
    """
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else None


def number_of(number: int | float, noun: str) -> str:
    """A number and the noun it counts, in the plural unless it is one.

    >>> number_of(1, "pair"), number_of(3000, "pair")
    ('1 pair', '3,000 pairs')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def terminal_width(text: str) -> int:
    """The number of terminal columns of a text: two for a wide East Asian character or an emoji, none for a combining mark.

    >>> terminal_width("tree"), terminal_width("木構造"), terminal_width("e\u0301"), terminal_width("👩\u200d🚀")
    (4, 6, 1, 2)
    """
    if text.isascii():
        return len(text)
    total, joined = 0, False
    last = 0
    for character in text:
        if character == _EMOJI_STYLE:
            total += last == 1
            continue
        last = character_width(character)
        total += 0 if joined and last == 2 else last
        joined = character == _JOINER
    return total


@lru_cache(maxsize=4096)
def character_width(character: str) -> int:
    """The number of terminal columns of one character by itself."""
    if unicodedata.category(character) in ("Mn", "Me", "Cf") or "\u1160" <= character <= "\u11ff":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def render(table: Table, form: str, *, digits: int = 2) -> str:
    """The table as text in a format of :data:`TABLE_FORMATS`; CSV and JSON keep full precision and fractions."""
    check_name("table format", form, TABLE_FORMATS)
    return TABLE_FORMATS[form](table, digits)


def render_all(tables: Sequence[Table], form: str, *, digits: int = 2) -> str:
    """Several tables below one another; in JSON they are one document.

    >>> print(render_all([Table("A", ("n",), ((1,),)), Table("B", ("n",), ((2,),))], "csv"))
    n
    1
    <BLANKLINE>
    n
    2
    """
    if form == "json" and len(tables) > 1:
        document = {"schema": "treegauge.tables/2", "tables": [table.to_dict() for table in tables]}
        return json.dumps(document, ensure_ascii=False, indent=1)
    return "\n\n".join(render(table, form, digits=digits) for table in tables)


def _terminal_width() -> int:
    """The width of the terminal; 80 where there is none and ``COLUMNS`` is not set."""
    output = sys.__stdout__
    if not os.environ.get("COLUMNS") and (output is None or output.closed or not output.isatty()):
        return 80
    import shutil

    return shutil.get_terminal_size().columns


def _as_markdown(table: Table, digits: int) -> str:
    def escape(cell: str) -> str:
        return cell.replace("|", "\\|")

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cells) + " |"

    rule = line(["---:" if right else "---" for right in table.is_numeric])
    lines = [line(list(map(escape, table.columns))), rule, *map(line, table.marked(digits, escape, "**{}**"))]
    heading = [f"**{table.title}**", ""] if table.title else []
    notes = ["", *(f"*{note}*" for note in table.notes)] if table.notes else []
    notes += ["", escape(table.caption)] if table.caption else []
    return "\n".join([*heading, *lines, *notes])


def _as_csv(table: Table, digits: int) -> str:
    import csv
    import io

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows([["" if cell is None or cell != cell else cell for cell in row] for row in table.rows])
    return text.getvalue().removesuffix("\n")


_LATEX = {
    **{character: "\\" + character for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "|": r"\textbar{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "±": r"$\pm$",
    "≤": r"$\leq$",
    "†": r"$^\dagger$",
}


def latex_text(text: str) -> str:
    r"""Text escaped so that LaTeX prints it as it is.

    >>> latex_text("PRP$ & 5%")
    'PRP\\$ \\& 5\\%'
    """
    return " ".join("".join(_LATEX.get(character, character) for character in text).split("\n"))


def _as_latex(table: Table, digits: int) -> str:
    def line(cells: Sequence[str]) -> str:
        return " & ".join(cells) + r" \\"

    def escape(cell: str) -> str:
        # A bracket or an asterisk that begins a row would be an option of the line's end before it.
        return "--" if cell == "-" else ("{}" if cell.startswith(("[", "*")) else "") + latex_text(cell)

    layout = "".join("r" if right else "l" for right in table.is_numeric)
    return "\n".join(
        [
            r"% needs \usepackage{booktabs}",
            *([r"\begin{table}", r"\centering"] if table.caption else []),
            rf"\begin{{tabular}}{{{layout}}}",
            r"\toprule",
            line(list(map(latex_text, table.columns))),
            r"\midrule",
            *map(line, table.marked(digits, escape, r"\textbf{{{}}}")),
            r"\bottomrule",
            r"\end{tabular}",
            *([rf"\caption{{{latex_text(table.caption)}}}", r"\end{table}"] if table.caption else []),
            *(f"% {' '.join(note.splitlines())}" for note in (table.title, *table.notes) if note),
        ]
    )


def _as_json(table: Table, digits: int) -> str:
    return json.dumps({"schema": "treegauge.table/2", **table.to_dict()}, ensure_ascii=False, indent=1)


TABLE_FORMATS: dict[str, Callable[[Table, int], str]] = {
    "table": lambda table, digits: table.as_text(digits, _terminal_width()),
    "markdown": _as_markdown,
    "csv": _as_csv,
    "latex": _as_latex,
    "html": Table.as_html,
    "json": _as_json,
}
"""The writer of each table format."""


def comma_separated(text: str | Iterable[str]) -> tuple[str, ...]:
    """The words of an option's value, which may also be given one by one.

    >>> comma_separated("PP, NP,"), comma_separated(["PP", "NP"])
    (('PP', 'NP'), ('PP', 'NP'))
    """
    return tuple(word.strip() for word in text.split(",") if word.strip()) if isinstance(text, str) else tuple(text)


_SPELLINGS = {"labeled": "labelled", "normaliz": "normalis", "binariz": "binaris", "markoviz": "markovis"}
_SPELLINGS.update(color="colour", randomiz="randomis")


def british(name: str) -> str:
    """The name in British spelling, as treegauge has it; American ones are accepted for commands, options, metrics, rates,
    objectives and steps.

    >>> british("labeled-recall"), british("binarize:right"), british("normalise")
    ('labelled-recall', 'binarise:right', 'normalise')
    """
    for american, ours in _SPELLINGS.items():
        name = name.replace(american, ours)
    return name


WIDEST = 120
"""The number of characters at which the repr of an object is cut."""


def concise(cls: type[T]) -> type[T]:
    """Give a dataclass or a named tuple a repr of one line: the fields that are not at their defaults, arrays by kind and shape.

    >>> import numpy as np
    >>> from typing import NamedTuple
    >>> @concise
    ... class Chart(NamedTuple):
    ...     n: int
    ...     scores: np.ndarray
    ...     pruned: bool = False
    >>> Chart(2, np.zeros((3, 3)))
    Chart(n=2, scores=<float64 3×3>)
    """
    cls.__repr__ = _one_line
    return cls


def _one_line(self: Any) -> str:
    """The fields that are not at their defaults, in as much detail as the line holds."""
    given = [(name, item) for name, default in _defaults(self) if not _equal(item := getattr(self, name), default)]
    text = ""
    for widest in (100, 60, 30):
        short = _Short(widest)
        shown = ", ".join(f"{name}={' '.join(short.repr(item).split())}" for name, item in given)
        text = f"{type(self).__name__}({shown})"
        if len(text) <= WIDEST:
            break
    return cut(text, ")")


def cut(text: str, end: str = ">") -> str:
    """The text, cut before its ``end`` where it is too wide for a line.

    >>> cut(f"<Chart of {'many ' * 40}words>")[-20:]
    'many many many m...>'
    """
    return text if len(text) <= WIDEST else f"{text[: WIDEST - len(end) - 3]}...{end}"


class _Short(reprlib.Repr):
    """Values within a line: arrays and tensors by their kind and shape, long text and long lists shortened."""

    def __init__(self, widest: int) -> None:
        super().__init__()
        self.maxother, self.maxstring, self.maxlevel, self.maxdict = widest, min(widest, 40), 2, 2
        self.maxtuple = self.maxlist = 4

    def repr_float(self, value: float, level: int) -> str:
        return f"{value:.6g}"

    def repr_bytes(self, value: bytes, level: int) -> str:
        return f"<{len(value):,} bytes>"

    def repr_instance(self, x: Any, level: int) -> str:
        if hasattr(x, "dtype") and hasattr(x, "shape"):
            return f"<{x.dtype} {'×'.join(map(str, x.shape))}>" if x.shape else f"{float(x):.6g}"
        text = f"<{x.__name__}>" if callable(x) and hasattr(x, "__name__") else repr(x)
        if len(text) <= self.maxother:
            return text
        is_record = is_dataclass(x) or hasattr(x, "_fields")
        return f"{type(x).__name__}(...)" if is_record else f"{text[: self.maxother]}..."


def _defaults(value: Any) -> list[tuple[str, Any]]:
    """The fields that are shown, each with its default."""
    if is_dataclass(value):
        return [(f.name, f.default if f.default_factory is MISSING else f.default_factory()) for f in fields(value) if f.repr]
    usual: Mapping[str, Any] = value._field_defaults
    return [(name, usual.get(name, MISSING)) for name in value._fields]


def _equal(item: object, default: object) -> bool:
    """Whether a field has its default, compared as text, since arrays have no single answer."""
    return type(item) is type(default) and str(item) == str(default)
