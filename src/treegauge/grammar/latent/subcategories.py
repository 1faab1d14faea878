"""Subcategories for people and for other programs: a grammar as an ordinary PCFG, and a description of what each is for.

In the PCFG every subcategory is a symbol with a name such as ``NP-3``, and appears in trees as its label. The PCFG allows chains of
several unary rules between phrases, which the latent-variable parser does not. Unknown words are replaced by signatures, as in
:mod:`treegauge.grammar.lexicon`. A description has each subcategory's share of its label's uses, its likeliest words or
productions, and its contexts.
"""

from __future__ import annotations

import html
import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from treegauge.errors import UnknownName
from treegauge.grammar.latent.latent_grammar import LatentCounts, Level, pair_probabilities, usage
from treegauge.grammar.latent.latent_model import LatentModel
from treegauge.grammar.latent.rule_rows import INNER, PHRASE, BaseGrammar, Int32, RuleRows, offsets
from treegauge.grammar.pcfg import PCFG, Rule
from treegauge.tables import HasTable, Table

START = "TOP"
LEAST = 1e-6
"""Rules with a smaller probability are left out; the others are renormalised."""


def subcategory_name(base: BaseGrammar, symbol: int, subcategory: int) -> str:
    """The name of a subcategory: the title of its symbol and its number, counted from 0."""
    return f"{base.title(symbol)}-{subcategory}"


def to_pcfg(model: LatentModel, grammar: int = 0, rounds: int | None = None, *, least: float = LEAST) -> PCFG:
    """Convert one grammar of a model, at the level of a round (default: the last), to a PCFG.

    Rules whose probability is below ``least`` are left out.
    """
    base = model.base
    level = model.level(grammar, model.grammars[grammar].rounds if rounds is None else rounds)
    start = base.root or START  # no subcategory, since those end in a number
    symbols = [(A, x) for A in range(base.size) for x in range(int(level.sizes[A]))]
    rules = [
        Rule(start, (subcategory_name(base, *key),), (False,), float(p))
        for key, p in zip(symbols, level.root, strict=True)
        if p > 0
    ]
    rules += _phrase_rules(base, level.binary, base.binary)
    rules += _phrase_rules(base, level.unary, base.unary)
    rules += _lexical_rules(model, level)
    kept = [rule for rule in rules if rule.probability >= least]
    labels: dict[str, str | None] = {start: base.root}
    for A, x in symbols:
        shows = base.kind[A] == PHRASE or (base.is_tag[A] and bool(base.names[A]))
        labels[subcategory_name(base, A, x)] = base.names[A] if shows else None
    return PCFG.from_rules(kept, start=start, renormalise=True, labels=labels)


def _phrase_rules(base: BaseGrammar, rows: RuleRows, rules: Int32) -> Iterator[Rule]:
    """The rules between subcategories, from the rows of binary or unary rules."""
    for A, children, weights in _weighted_rows(rows, rules):
        right = tuple(subcategory_name(base, *child) for child in children)
        for i, p in enumerate(weights):
            if p > 0:
                yield Rule(subcategory_name(base, A, i), right, (False,) * len(right), p)


def _weighted_rows(rows: RuleRows, rules: Int32) -> Iterator[tuple[int, list[tuple[int, int]], list[float]]]:
    """Of each row its symbol, the children with their subcategories, and the weights of the symbol's own subcategories."""
    for r, (A, *below) in enumerate(rules.tolist()):
        for q in range(int(rows.first[r]), int(rows.first[r + 1])):
            children = list(zip(below, (int(rows.left[q]), int(rows.right[q])), strict=False))
            yield A, children, rows.value[rows.offset[q] : rows.offset[q + 1]].tolist()


def _lexical_rules(model: LatentModel, level: Level) -> Iterator[Rule]:
    """The rules from subcategories of tags to words, and to the signatures that stand for unseen words."""
    base, table, known = model.base, model.table, level.emissions
    probability = pair_probabilities(table, level.sizes, known, model.settings.smoothing.lexicon)
    for p, (tag, word) in enumerate(zip(table.pair_tag.tolist(), table.pair_word.tolist(), strict=True)):
        for x, value in enumerate(probability[known.pair_offset[p] : known.pair_offset[p + 1]].tolist()):
            if value > 0:
                yield Rule(subcategory_name(base, tag, x), (table.words[word],), (True,), value)
    if not model.settings.smoothing.lexicon.spelling:
        return
    with np.errstate(divide="ignore", invalid="ignore"):
        unseen = np.where(known.total > 0, known.spelling / known.total, 0.0)
    for tag in np.flatnonzero(base.is_tag).tolist():
        own = unseen[:, int(known.first[tag]) : int(known.first[tag + 1])]
        for s, x in np.argwhere(own > 0).tolist():
            yield Rule(subcategory_name(base, tag, x), (table.names[s],), (True,), float(own[s, x]))


_MOST = 5


@dataclass(frozen=True)
class Subcategory:
    """One subcategory of a label: its number, its share of the label's expected count, its likeliest words or right-hand sides
    (``below``) and the likeliest productions in which it is a child (``above``), each with its probability."""

    label: str
    number: int
    share: float
    below: tuple[tuple[str, float], ...]
    above: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class SubcategoryTable(HasTable):
    """The subcategories of the requested labels, most frequent labels first."""

    rows: tuple[Subcategory, ...] = field(repr=False)

    def as_table(self) -> Table:
        return Table(
            "What subcategories are for",
            ("subcategory", "share", "what it is", "where it stands"),
            tuple(
                (f"{row.label}-{row.number}", f"{100 * row.share:.0f}%", _join_items(row.below), _join_items(row.above[:3]))
                for row in self.rows
            ),
        )

    def __str__(self) -> str:
        return str(self.as_table())


def _join_items(items: Sequence[tuple[str, float]]) -> str:
    return "; ".join(f"{name} {share:.2f}" for name, share in items)


def describe(model: LatentModel, grammar: int = 0, rounds: int | None = None, labels: Collection[str] = ()) -> SubcategoryTable:
    """Describe the subcategories of labels and tags (default: all that were split) by one grammar's expected counts.

    ``grammar`` is the grammar's index in the model; ``rounds`` is the level of its hierarchy (default: the finest).
    """
    base = model.base
    counts = model.counts(grammar, model.grammars[grammar].rounds if rounds is None else rounds)
    used, first = usage(base, counts), offsets(counts.sizes)
    titles = [base.title(A) for A in range(base.size)]
    for label in labels:
        if label not in titles:
            raise UnknownName("label", label, [title for title in titles if title])
    totals = np.add.reduceat(used, first[:-1])
    chosen = [A for A in range(base.size) if (titles[A] in labels if labels else counts.sizes[A] > 1 and base.kind[A] != INNER)]
    chosen.sort(key=lambda A: (-totals[A], titles[A]))
    below, above = _productions(model, counts)
    rows: list[Subcategory] = []
    for A in chosen:
        for x in sorted(range(int(counts.sizes[A])), key=lambda x: -used[first[A] + x]):
            own = int(first[A]) + x
            total = max(float(used[own]), 1e-12)
            share = float(used[own] / max(totals[A], 1e-12))
            rows.append(Subcategory(titles[A], x, share, _likeliest(below[own], total), _likeliest(above[own], total)))
    return SubcategoryTable(tuple(rows))


def _likeliest(found: dict[str, float], total: float) -> tuple[tuple[str, float], ...]:
    best = sorted(found.items(), key=lambda item: (-item[1], item[0]))[:_MOST]
    return tuple((name, count / total) for name, count in best)


def _productions(model: LatentModel, counts: LatentCounts) -> tuple[list[defaultdict[str, float]], list[defaultdict[str, float]]]:
    """Each subcategory's expected counts of its words and right-hand sides, and of the productions in which it is a child."""
    size = int(counts.sizes.sum())
    below, above = ([defaultdict[str, float](float) for _ in range(size)] for _ in range(2))
    base, table, first = model.base, model.table, offsets(counts.sizes).tolist()
    for rows, rules in ((counts.binary, base.binary), (counts.unary, base.unary)):
        for A, children, values in _weighted_rows(rows, rules):
            names = " ".join(subcategory_name(base, *child) for child in children)
            for i, count in enumerate(values):
                below[first[A] + i][names] += count
            for place, (B, x) in enumerate(children):
                right = " ".join("_" if i == place else base.title(C) for i, (C, _) in enumerate(children))
                above[first[B] + x][f"{base.title(A)} -> {right}"] += math.fsum(values)
    offset = table.pair_offsets(counts.sizes)
    for p, (tag, word) in enumerate(zip(table.pair_tag.tolist(), table.pair_word.tolist(), strict=True)):
        values: list[float] = counts.pair[offset[p] : offset[p + 1]].tolist()
        for x, value in enumerate(values):
            if value > 0:
                below[first[tag] + x][table.words[int(word)]] = value
    return below, above


_ROW, _WIDTH, _BAR = 22, 1080, 110
_COLUMNS = (8, 100, 250, 700)
_HEADINGS = ("subcategory", "share", "what it is", "where it stands")


def draw_subcategories(described: SubcategoryTable) -> str:
    """An SVG picture: for each subcategory a bar of its share, its likeliest words or productions, and its contexts."""
    body: list[str] = []
    y, label = _ROW, ""
    for x, heading in zip(_COLUMNS, _HEADINGS, strict=True):
        body.append(f'<text x="{x}" y="{y}" font-weight="bold">{heading}</text>')
    for row in described.rows:
        y += _ROW if row.label == label else _ROW + _ROW // 2
        label = row.label
        body.append(_draw_row(row, y))
    height = y + _ROW // 2
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" viewBox="0 0 {_WIDTH} {height}" '
            f'font-family="sans-serif" font-size="12" role="img" aria-label="Subcategories of labels, their shares, what they are '
            f'and where they stand">',
            f'<rect width="{_WIDTH}" height="{height}" fill="#fff"/>',
            *body,
            "</svg>\n",
        ]
    )


def _draw_row(row: Subcategory, y: int) -> str:
    """The SVG group of one subcategory; its tooltip shows the probabilities."""
    name, bar, is_what, stands = _COLUMNS
    title = html.escape(f"{row.label}-{row.number}: {_join_items(row.below)}\n{_join_items(row.above)}")
    below, above = (html.escape(" \u00b7 ".join(text for text, _ in items)) for items in (row.below, row.above[:2]))
    return (
        f'<g><title>{title}</title><text x="{name}" y="{y}">{html.escape(row.label)}-{row.number}</text>'
        f'<rect x="{bar}" y="{y - 11}" width="{max(1.0, _BAR * row.share):.1f}" height="13" fill="#7a9cc6"/>'
        f'<text x="{bar + 4 + _BAR * row.share:.1f}" y="{y}" fill="#444">{100 * row.share:.0f}%</text>'
        f'<text x="{is_what}" y="{y}">{below}</text><text x="{stands}" y="{y}" fill="#444">{above}</text></g>'
    )
