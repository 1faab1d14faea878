"""Scores as text: tables, Markdown, LaTeX, HTML, CSV, JSON, a line of JSON per sentence, or EVALB's own layout.

Beside the scores: sentences that gold and test do not share, and sentences behind the rows of a breakdown.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from treegauge.alignment.notes import REMARKS, Note, misfits, with_advice
from treegauge.errors import UsageError
from treegauge.metrics.evalb import UNPAIRED, VALID
from treegauge.scoring.result import (
    EVERY_RATE,
    RateLayout,
    Result,
    Scores,
    numbered_from_1,
    one_of_each_system,
    shown_rate,
    tables_of,
    tidy_table,
)  # fmt: skip
from treegauge.tables import Cell, Table, render
from treegauge.trees.treebank import Treebank

if TYPE_CHECKING:
    from treegauge.metrics.breakdowns.constituent_counts import Place


MOST_NOTES = 10
"""The number of notes of one kind that are listed; further ones are counted."""
_EXAMPLES = 3
"""The same where one remark explains most of them."""
_LONGEST_EXAMPLE = 100
"""The largest number of characters of a sentence shown as an example."""

_COUNTED = {
    "broken": "trees that cannot be read",
    "repaired": "trees that were repaired",
    "no-parse": "sentences without a parse",
    "text-differs": "sentences whose words differ",
    "edited": "sentences whose words were aligned by edit distance",
    "missing": "gold sentences without a test sentence",
    "extra": "test sentences without a gold sentence",
    "evalb": "remarks of EVALB",
    "punctuation": "remarks on punctuation",
}


def notes_by_system(results: Sequence[Result]) -> dict[str, Sequence[Note]]:
    """The notes on each system or run, whatever the metric."""
    return {result.label: result.notes for result in one_of_each_system(results)}


def listed_notes(notes: Mapping[str, Sequence[Note]], hint: str = "") -> Iterator[str]:
    """A line for each of the first notes of every kind, and the number of further ones, with a hint on how to see them."""
    for system, every in notes.items():
        who = f"{system}: " if len(notes) > 1 else ""
        remarks = [note for note in every if note.kind in REMARKS]
        for kind, title in _COUNTED.items():
            of_kind = [note for note in every if note.kind == kind]
            is_rule = kind in ("text-differs", "edited") and any(remark.kind == "all-words" for remark in remarks)
            most = _EXAMPLES if is_rule else MOST_NOTES
            shown = of_kind if len(of_kind) <= most + 1 else of_kind[:most]
            yield from (f"{who}{note.text}" for note in shown)
            if len(of_kind) > len(shown):
                yield f"{who}and {len(of_kind) - len(shown):,} more {title} ({len(of_kind):,} in all{hint})"
        recut = sum(note.kind == "characters" for note in every)
        if recut:
            yield f"{who}sentences with the same text but different tokenisation, aligned by characters: {recut}"
        yield from (f"{who}warning: {with_advice(remark)}" for remark in remarks)


def misfits_in(notes: Mapping[str, Sequence[Note]], *, listed: bool = True) -> list[str]:
    """A line for each system with missing or extra sentences, or with trees that cannot be read.

    The lines refer to :func:`listed_notes` as printed above them if these are ``listed``.
    """
    above = " (listed above)" if listed else ""
    found = ((system, note) for system, every in notes.items() for note in misfits(every))
    return [f"{system}: {with_advice(note._replace(what=note.what + above))}" for system, note in found]


def score_text(
    results: Sequence[Result], form: str, *, per_sentence: bool = False, examples: int = 0, layout: RateLayout = EVERY_RATE
) -> Iterator[str]:
    """The results in a format of :data:`SCORE_FORMATS`, piece by piece; each piece ends in a newline."""
    yield from SCORE_FORMATS[form](results, per_sentence, examples, layout)


def _as_tables(form: str) -> Callable[[Sequence[Result], bool, int, RateLayout], Iterator[str]]:
    def pieces(results: Sequence[Result], per_sentence: bool, examples: int, layout: RateLayout) -> Iterator[str]:
        tables = [_sentence_table(result) for result in results] if per_sentence else []
        blocks = [render(table, form, digits=layout.digits) for table in [*tables, *tables_of(results, layout)]]
        for result in one_of_each_system(results):
            for name, counted in result.breakdowns.items():
                table = counted.table
                title = f"{result.label}: {table.title}" if len(results) > 1 else table.title
                shown = replace(table, title=title, percent=table.percent if layout.percent else ())
                blocks.append(render(shown, form, digits=layout.digits))
                if examples:
                    blocks.append("\n".join(_example_lines(result, name, examples)))
        yield "\n\n".join(block for block in blocks if block) + "\n"

    return pieces


def _example_lines(result: Result, breakdown: str, most: int) -> Iterator[str]:
    """The first ``most`` brackets behind each row of a breakdown, each on a line with its place and its sentence."""
    counted = result.breakdowns[breakdown]
    for key, cells in zip(counted.keys, counted.table.rows, strict=True):
        places = counted.examples(key, most)
        if places:
            yield f"{counted.table.title}, {_row_name(cells, counted.table.columns, key)}:"
            yield from (f"  {_example_line(result, place)}" for place in places)


def _row_name(cells: tuple[object, ...], columns: tuple[str, ...], key: tuple[str | int, ...]) -> str:
    """The name of a row: its first cells, as many as its key has parts."""
    named = zip(columns[: len(key)], cells, strict=False)
    return ", ".join(f"{column} {cell}" for column, cell in named)


def _example_line(result: Result, place: Place) -> str:
    """One bracket: its place, whether it is missed or spurious, and its sentence with the bracket marked."""
    where = result.scored_sentences.places[place.sentence]
    what = f": {'missed' if place.side == 'gold' else 'spurious'} {place.label}" if place.label else ""
    if result.trees is None:
        return f"{where}{what}"
    words = _words(result.trees.gold, place.sentence, result.signature.preset.delete_tags)
    recut = any(note.sentence == place.sentence and note.kind in ("characters", "edited") for note in result.notes)
    if not place.label or recut:
        return f"{where}{what}: {_cut(' '.join(words))}"
    with_bracket = [*words[: place.start], "[" + " ".join(words[place.start : place.end]) + "]", *words[place.end :]]
    return f"{where}{what}: {_cut(' '.join(with_bracket), around=' '.join(words[: place.start]))}"


def _words(blocks: Sequence[Treebank], sentence: int, left_out: frozenset[str]) -> list[str]:
    """The words of a sentence in some blocks of trees, without those whose tag is left out."""
    for block in blocks:
        if sentence < len(block):
            tagged = zip(block.words(sentence), block.tags(sentence), strict=True)
            return [word for word, tag in tagged if tag not in left_out or not tag]
        sentence -= len(block)
    raise IndexError(sentence)


def _cut(text: str, around: str = "") -> str:
    """A text cut to the length of a line, so that what follows its beginning ``around`` can be seen."""
    if len(text) <= _LONGEST_EXAMPLE:
        return text
    first = max(0, min(len(around) - _LONGEST_EXAMPLE // 3, len(text) - _LONGEST_EXAMPLE))
    last = first + _LONGEST_EXAMPLE
    return f"{'...' if first else ''}{text[first:last]}{'...' if last < len(text) else ''}"


def _sentence_table(result: Result) -> Table:
    """A row per sentence: its place, its length, the main rate and its counts, without those that only sums need."""
    counts = [name for name in result.columns if name != "sentences" and not name.endswith(("_sum", "_defined"))]
    rows: list[tuple[Cell, ...]] = []
    for record in result.per_sentence():
        rate = record.get("rates", {}).get(result.headline)
        shown = None if rate is None else shown_rate(result.headline, rate)
        rows.append((record["place"], record["length"], shown, *_cells(record["counts"][name] for name in counts)))
    return Table(f"{result.label}: {result.metric}", ("sentence", "length", result.headline, *counts), tuple(rows))


def _cells(counts: Iterable[Any]) -> list[Cell]:
    return [count if isinstance(count, (int, float)) else " ".join(map(str, count)) for count in counts]


def _as_csv(results: Sequence[Result], per_sentence: bool, examples: int, layout: RateLayout) -> Iterator[str]:
    """A row for each rate, or for each sentence, at full precision."""
    if not per_sentence:
        yield render(tidy_table(results), "csv") + "\n"
        return
    if len({result.metric for result in results}) > 1:
        raise UsageError("sentences as CSV have a column for each count, so there can be one metric at a time")
    with_runs = any(result.run for result in results)
    columns = ("system", *(("run",) if with_runs else ()), "sentence", "place", "length", *results[0].columns)
    rows: list[tuple[Cell, ...]] = []
    for result in results:
        for record in result.per_sentence():
            counts = _cells(record["counts"].values())
            who = (result.system, result.run) if with_runs else (result.system,)
            rows.append((*who, record["sentence"] + 1, record["place"], record["length"], *counts))
    yield render(Table("", columns, tuple(rows)), "csv") + "\n"


def _as_json(results: Sequence[Result], per_sentence: bool, examples: int, layout: RateLayout) -> Iterator[str]:
    together = results[0] if len(results) == 1 else Scores(results)
    yield together.to_json(per_sentence=per_sentence) + "\n"


def _as_json_lines(results: Sequence[Result], per_sentence: bool, examples: int, layout: RateLayout) -> Iterator[str]:
    """A line per sentence."""
    for result in results:
        for record in numbered_from_1(result.per_sentence()):
            line = {"system": result.system, **({"run": result.run} if result.run else {}), "metric": result.metric, **record}
            yield json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n"


def _as_evalb(results: Sequence[Result], per_sentence: bool, examples: int, layout: RateLayout) -> Iterator[str]:
    if len(results) != 1 or results[0].metric != "parseval":
        raise UsageError("EVALB's layout shows one system by the metric parseval")
    yield evalb_layout(results[0])


def evalb_layout(result: Result) -> str:
    """EVALB's table and summary of a result; a sentence that was left out is shown as an error or, without a parse, as skipped.

    A sentence without a parse whose gold brackets count as missed counts here as in the other formats (``Totals.add_unparsed``).
    """
    from treegauge.metrics.evalb.program import HEADER, Totals, row, summary
    from treegauge.metrics.evalb.scoring import SentenceResult

    sentences = result.scored_sentences
    columns = [result.columns.index(name) for name in ("matched", "gold", "test", "crossing", "words", "tags")]
    counted = dict(zip(sentences.index.tolist(), sentences.rows[:, columns].astype(int).tolist(), strict=True))
    parsed = dict(zip(sentences.index.tolist(), (sentences.rows[:, result.columns.index("parsed")] > 0).tolist(), strict=True))
    everything, short = Totals(), Totals()
    cutoff = result.short.length or 0
    rows: list[bytes] = []
    for number, (length, status) in enumerate(zip(sentences.length.tolist(), sentences.status.tolist(), strict=True)):
        if status == UNPAIRED:
            break
        line = SentenceResult(number + 1, length, status, *(counted[number] if status == VALID else ()))
        for totals in (everything, short) if length <= cutoff else (everything,):
            if status == VALID and not parsed[number]:
                totals.add_unparsed(line)
            else:
                totals.add(line)
        rows.append(row(line[:9]))
    return (HEADER + b"".join(rows) + summary(everything, short, cutoff)).decode()


SCORE_FORMATS: dict[str, Callable[[Sequence[Result], bool, int, RateLayout], Iterator[str]]] = {
    **{form: _as_tables(form) for form in ("table", "markdown", "latex", "html")},
    "json": _as_json,
    "jsonl": _as_json_lines,
    "csv": _as_csv,
    "evalb": _as_evalb,
}
"""The functions that write scores, by the name of the format."""
