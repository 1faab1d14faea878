"""A report as one HTML page: it makes no requests, escapes all text, and its content policy allows only its own script."""

from __future__ import annotations

import base64
import hashlib
import json
import string
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from treegauge import __version__
from treegauge.alignment.brackets import Brackets
from treegauge.alignment.pairing import Pair
from treegauge.alignment.words import is_deleted, without_traces
from treegauge.metrics.breakdowns import Breakdown
from treegauge.metrics.breakdowns.constituent_counts import class_names
from treegauge.metrics.breakdowns.error_analysis import Repair, explain
from treegauge.metrics.breakdowns.repair_forest import KINDS
from treegauge.metrics.references import REFERENCES, Reference, references_of
from treegauge.metrics.registry import find_metric
from treegauge.presets import Preset
from treegauge.reports.explanations import DEFINITIONS, FIGURES_EXPLAINED, Explanation, explain_table
from treegauge.reports.figures import Figure, figure_svg, marker, series_class
from treegauge.reports.report_contents import ranked_systems, rate_text, report_figures, section_tables, summarise
from treegauge.reports.reporting import Report, candidates
from treegauge.reports.tree_diff import CODES, NAMES
from treegauge.scoring.paper_table import rate_heading
from treegauge.significance.tabulation import headline
from treegauge.tables import number_of, render, terminal_width
from treegauge.trees import Tree
from treegauge.trees.drawing import MARKS, draw_svg, fold_settled, legend_svg
from treegauge.trees.drawing.marks import ems
from treegauge.trees.drawing.svg import Metrics
from treegauge.trees.treebank import Treebank

_TEMPLATES = Path(__file__).parent / "templates"
_STATIC_SENTENCES, _LONGEST_STATIC = 3, 40
_AROUND = 12
_HALF = 540.0
_NARROW = 340.0
_MOST_NOTES = 200
_MOST_EXAMPLES = 2


def report_page(report: Report) -> str:
    """The whole page."""
    style, script = _asset("report.css"), _asset("report.js")
    left_out = [report.left_out] if report.left_out else []
    page = _environment().get_template("report.html")
    return page.render(
        report=report,
        zip=zip,
        render=render,
        version=__version__,
        policy=_policy(style, script),
        style=Markup(style),
        script=Markup(script),
        data=Markup(_inert(json.dumps(_data(report), ensure_ascii=False, separators=(",", ":")))),
        sentences=Markup(f"[{','.join(map(_inert, report.sentences.documents))}]"),
        cards=list(_cards(report)),
        warnings=list(dict.fromkeys([*left_out, *report.comparison.warnings, *report.comparison.overall.warnings])),
        answer=summarise(report),
        sections=_sections(report),
        static=[Markup(picture) for picture in _static_trees(report)],
        legend=Markup(legend_svg(NAMES, stylesheet=False, width=1000)),
        narrow_legend=Markup(legend_svg(NAMES, stylesheet=False, width=int(_NARROW))),
        examples=_examples(report),
        kinds=KINDS,
        notes=report.notes[:_MOST_NOTES],
        n_notes=len(report.notes),
        citations=_citations(report),
        explain_table=explain_table,
        several=len(report.comparison.overall.pairs) > 1,
        number_of=number_of,
        definitions={name: found for name, found in DEFINITIONS.items() if name != "checked" or report.checked},
        metrics={metric: find_metric(metric).summary for metric, _ in report.comparison.overall.names},
    )


@cache
def _environment() -> Environment:
    loader = FileSystemLoader(_TEMPLATES)
    return Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )


@cache
def _asset(name: str) -> str:
    return (_TEMPLATES / name).read_text("utf-8")


def _policy(style: str, script: str) -> str:
    """A content security policy that allows this style sheet and this script, by their hashes, and nothing else."""
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _inert(document: str) -> str:
    """JSON that cannot end the HTML element around it."""
    return document.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _data(report: Report) -> dict[str, Any]:
    """The data that the page's script needs besides the sentences."""
    found = report.sentences
    return {
        "systems": list(report.systems),
        "labels": list(found.labels),
        "classes": _label_classes(report),
        "kinds": list(found.kinds),
        "marks": {code: MARKS[name]._asdict() for code, name in zip(CODES, NAMES, strict=True)},
        "metrics": Metrics.of(14)._asdict(),
        **_character_sizes(report),
    }


def _label_classes(report: Report) -> list[str]:
    """The name in the tables of each label in the trees: cut as the preset says, with the labels that count as equal."""
    classes: dict[str, str] = {}
    for found in report.marks.values():
        names = class_names(found.pair)
        classes |= {label: names[number] for label, number in zip(found.pair.gold.labels, found.pair.classes.tolist(), strict=True)}
    cut = (report.preset.cut_label(label) for label in report.sentences.labels)
    return [classes.get(label, label) for label in cut]


def _character_sizes(report: Report) -> dict[str, dict[str, int]]:
    """The widths of all characters of the trees, so that the script places text where :mod:`treegauge.trees.drawing` does."""
    signs = "".join(mark.symbol for mark in MARKS.values()) + string.printable + "•…\ufffd"
    characters = {*signs, *"".join(report.sentences.labels), *report.sentences.characters}
    drawable = sorted(character for character in characters if not "\ud800" <= character <= "\udfff")
    columns = {character: terminal_width(character) for character in drawable}
    return {
        "widths": {character: ems(character) for character in drawable},
        "columns": {character: width for character, width in columns.items() if width != 1},
    }


def _cards(report: Report) -> Iterator[tuple[str, ...]]:
    """For the top of the page, the best system first: its class and sign, and its headline rate: value, name and interval."""
    group = report.comparison.overall
    name = headline(group)
    for system in ranked_systems(report):
        number = report.systems.index(system)
        text = rate_text(name, group.rates[system][name].value, group.rates[system][name].interval)
        value, _, interval = text.partition(" ")
        sign = Markup(f'<svg class="sign" width="14" height="14" aria-hidden="true">{marker(number, 7, 7)}</svg>')
        yield system, series_class(number), sign, value, rate_heading(name, [name]), interval


def _sections(report: Report) -> Mapping[str, Mapping[str, Sequence[Any]]]:
    """The charts and tables of every section, by its name in the template."""
    of_section = section_tables(report)
    figures = report_figures(report, of_section)
    return {name: {"charts": list(_charts(figures.get(name, []))), "tables": shown} for name, shown in of_section.items()}


def _charts(figures: Sequence[Figure]) -> Iterator[tuple[Figure, Explanation, Markup, Markup]]:
    """The charts of a section: figure, explanation, and the picture for wide and for narrow screens; two stand side by side."""
    for figure in figures:
        wide = figure_svg(figure) if len(figures) == 1 else figure_svg(figure, _HALF)
        yield figure, FIGURES_EXPLAINED[figure.name], Markup(wide), Markup(figure_svg(figure, _NARROW))


class _Example(NamedTuple):
    """An error of a system in its sentence: what is wrong, and the words around it."""

    number: int
    system: str
    what: str
    before: str
    inside: str
    after: str
    is_listed: bool


def _examples(report: Report) -> Mapping[str, list[_Example]]:
    """Examples of each kind of error: one of each system, in different sentences if there are enough, ordinary ones first, and
    among these such as can be told in words."""
    every: Mapping[str, Breakdown] = report.breakdowns.get("errors", {}) if report.marks else {}
    used: set[int] = set()
    found: dict[str, list[_Example]] = {}
    for key in dict.fromkeys(key for errors in every.values() for key in errors.keys):
        for system, errors in every.items():
            pair = report.marks[system].pair
            length = np.zeros(len(pair.alignment.test), dtype=np.int64)
            length[pair.index] = pair.gold.length
            if len(found.get(str(key[0]), ())) == _MOST_EXAMPLES:
                continue
            sentences = [int(place.rows[0, 0]) for place in candidates(errors.places.get(key, ()), length)]
            examples = {sentence: _example(report, system, sentence, str(key[0])) for sentence in sentences}
            if not examples:
                continue
            chosen = min(examples, key=lambda one: (one in used, *_oddity(report.gold.words(one)), not examples[one].what))
            used.add(chosen)
            found.setdefault(str(key[0]), []).append(examples[chosen])
    return found


def _oddity(words: Sequence[str]) -> tuple[bool, bool]:
    """Whether most long words are in capitals, as in a heading; whether no full stop or the like is at the end."""
    long = [word for word in words if len(word) > 1 and word.isalpha()]
    return 2 * sum(word.isupper() for word in long) > len(long), not {*words[-2:]} & {*".?!。？！।؟"}


def _example(report: Report, system: str, sentence: int, kind: str) -> _Example:
    pair = report.marks[system].pair.only(np.array([sentence]))
    (found,) = explain(pair)
    repair = next(repair for repair in found.repairs if repair.kind == kind)
    words = _counted_words(report.gold, report.preset, sentence)
    # If gold and test are tokenised differently, places count the common pieces of both, which can be more than the words.
    start, end = (repair.start, repair.end) if repair.end <= len(words) else (0, len(words))
    before, after = words[max(start - _AROUND, 0) : start], words[end : end + _AROUND]
    listed = {report.marks[report.systems[0]].pair.index[row].item() for row in report.sentences.rows}
    return _Example(
        report.number_of(sentence),
        system,
        _what_is_wrong(repair, pair, found.sentence, words),
        " ".join((["…"] if start > _AROUND else []) + before),
        " ".join(_shortened(words[start:end], _AROUND)),
        " ".join(after + (["…"] if end + _AROUND < len(words) else [])),
        sentence in listed,
    )


def _what_is_wrong(repair: Repair, pair: Pair, row: int, words: Sequence[str]) -> str:
    """An error in words: for a phrase in the wrong place, where it is attached and where it should be; empty if the
    bracket around it is over the same words in both trees."""
    if repair.action == "relabel":
        return "labelled {}, should be {}".format(*repair.what.split(" -> "))
    if repair.action != "move":
        return {"add": f"missed {repair.what}", "remove": f"spurious {repair.what}"}[repair.action] if repair.what else ""
    test, gold = (_bracket_around(brackets, row, repair.start, repair.end) for brackets in (pair.test, pair.gold))
    if test[1:] == gold[1:]:
        return ""
    inside = (
        f"{label} “{' '.join(_shortened(words[start:end], 3))}”" if label else "the root" for label, start, end in (test, gold)
    )
    return "{} attached to {}, should be attached to {}".format(repair.what, *inside)


def _bracket_around(brackets: Brackets, row: int, start: int, end: int) -> tuple[str, int, int]:
    """Label, start and end of the innermost bracket of a sentence that holds some words and more; no label if there is none."""
    rows = range(int(brackets.offset[row]), int(brackets.offset[row + 1]))
    spans = ((int(brackets.start[at]), int(brackets.end[at]), at) for at in rows)
    around = [(last - first, -at, first, last) for first, last, at in spans if first <= start and end <= last]
    _, at, first, last = min((one for one in around if one[0] > end - start), default=(0, 0, 0, 0))
    label: str = brackets.labels[int(brackets.label[-at])] if last else ""
    return label, first, last


def _shortened(words: Sequence[str], at_each_end: int) -> list[str]:
    """The words, or the first and the last of them."""
    return [*words] if len(words) <= 2 * at_each_end else [*words[:at_each_end], "…", *words[-at_each_end:]]


def _counted_words(gold: Treebank, preset: Preset, sentence: int) -> list[str]:
    """The words of a sentence that count under a preset."""
    bank = without_traces(gold[sentence : sentence + 1], preset)
    deleted: list[bool] = is_deleted(bank, preset).tolist()
    return [word for word, is_deleted in zip(bank.words(0), deleted, strict=True) if not is_deleted]


def _static_trees(report: Report) -> Iterator[str]:
    """Pictures of the first sentences of readable length, for browsers without scripts."""
    if not report.marks:
        return
    length = report.marks[report.systems[0]].pair.gold.length
    rows = [row for row in report.sentences.rows if length[row] <= _LONGEST_STATIC][:_STATIC_SENTENCES]
    for row in rows:
        for number, (system, found) in enumerate(report.marks.items()):
            sentence = int(found.pair.index[row])
            partner = int(found.pair.alignment.test[sentence])
            if number == 0:
                yield _picture("gold", report.gold[sentence], found.of_gold(row), f"static{row}g-")
            if partner >= 0 and found.of_test(row):
                yield _picture(system, report.banks[system][partner], found.of_test(row), f"static{row}-{number}-")


def _picture(name: str, tree: Tree, marks: Mapping[int, str], prefix: str) -> str:
    folded = fold_settled(tree, marks)
    return draw_svg(tree, marks, id_prefix=prefix, title=name, folded=folded, legend=False, stylesheet=False)


def _citations(report: Report) -> list[str]:
    """BibTeX of the program and of every metric in the report."""
    own = Reference("treegauge", "misc", ("{The treegauge authors}",), "treegauge", 2026, note=f"Version {__version__}")
    names = dict.fromkeys(metric for metric, _ in report.comparison.overall.names)
    papers = {reference.key: reference for name in names for reference in references_of(name)}
    for used in ("hogenhout1996", "kummerfeld2012"):
        papers.setdefault(used, REFERENCES[used])
    return [own.bibtex(), *(reference.bibtex() for reference in papers.values())]
