r"""Tables shown: as aligned text, Markdown, CSV, LaTeX (booktabs) or JSON records.

>>> from treegauge.metrics.tables import Table
>>> table = Table("By label", ("label", "gold", "recall"), (("NP", 4, 0.75), ("PP", 2, float("nan"))), percent=("recall",))
>>> print(render(table, "table"))
By label
label  gold  recall
NP        4   75.00
PP        2       -
>>> print(render(table, "latex").splitlines()[4])
NP & 4 & 75.00 \\
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence

from treegauge.errors import UnknownName
from treegauge.metrics.tables import Table, cell_text

__all__ = ["TABLE_FORMATS", "cell_text", "render"]


def render(table: Table, form: str, *, digits: int = 2) -> str:
    """The table as text in a format of :data:`TABLE_FORMATS`; CSV and JSON keep full precision and fractions."""
    if form not in TABLE_FORMATS:
        raise UnknownName("table format", form, TABLE_FORMATS)
    return TABLE_FORMATS[form](table, digits)


def _as_text(table: Table, digits: int) -> str:
    return table.as_text(digits)


def _as_markdown(table: Table, digits: int) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    rule = line(["---:" if right else "---" for right in table.is_numeric])
    lines = [line(table.columns), rule, *map(line, table.texts(digits))]
    heading = [f"**{table.title}**", ""] if table.title else []
    notes = ["", *(f"*{note}*" for note in table.notes)] if table.notes else []
    return "\n".join([*heading, *lines, *notes])


def _as_csv(table: Table, digits: int) -> str:
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
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}


def latex_text(text: str) -> str:
    r"""Text that LaTeX prints as it stands.

    >>> latex_text("PRP$ & 5%")
    'PRP\\$ \\& 5\\%'
    """
    return "".join(_LATEX.get(character, character) for character in text)


def _as_latex(table: Table, digits: int) -> str:
    def line(cells: Sequence[str]) -> str:
        return " & ".join(map(latex_text, cells)) + r" \\"

    layout = "".join("r" if right else "l" for right in table.is_numeric)
    return "\n".join(
        [
            rf"\begin{{tabular}}{{{layout}}}",
            r"\toprule",
            line(table.columns),
            r"\midrule",
            *(line(["--" if cell == "-" else cell for cell in row]) for row in table.texts(digits)),
            r"\bottomrule",
            r"\end{tabular}",
            *(f"% {note}" for note in (table.title, *table.notes) if note),
        ]
    )


def _as_json(table: Table, digits: int) -> str:
    document = {"title": table.title, "columns": table.columns, "rows": table.to_records(), "notes": table.notes}
    return json.dumps(document, ensure_ascii=False, indent=1)


TABLE_FORMATS: dict[str, Callable[[Table, int], str]] = {
    "table": _as_text,
    "markdown": _as_markdown,
    "csv": _as_csv,
    "latex": _as_latex,
    "json": _as_json,
}
"""Format name -> how a table is written in it."""
