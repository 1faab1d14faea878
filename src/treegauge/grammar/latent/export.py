"""Conversion of a latent-variable grammar to an ordinary PCFG in which every subcategory is a symbol.

Symbols have names such as ``NP-3`` and appear in trees as their labels. The PCFG allows chains of several unary rules between
phrases, which the latent-variable parser does not. Unknown words are replaced by signatures, as in
:mod:`treegauge.grammar.lexicon`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from treegauge.grammar.latent.grammar import Level
from treegauge.grammar.latent.lexicon import pair_probabilities
from treegauge.grammar.latent.model import LatentModel
from treegauge.grammar.latent.rule_rows import RuleRows
from treegauge.grammar.latent.symbols import PHRASE, BaseGrammar, Int32
from treegauge.grammar.pcfg import PCFG, Rule

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
    start = _start(base)
    symbols = [(A, x) for A in range(base.size) for x in range(int(level.sizes[A]))]
    rules = [
        Rule(start, (subcategory_name(base, *key),), (False,), float(p))
        for key, p in zip(symbols, level.root, strict=True)
        if p > 0
    ]
    rules += _phrase_rules(base, level, level.binary, base.binary)
    rules += _phrase_rules(base, level, level.unary, base.unary)
    rules += _lexical_rules(model, level)
    kept = [rule for rule in rules if rule.probability >= least]
    labels: dict[str, str | None] = {start: base.root}
    for A, x in symbols:
        shows = base.kind[A] == PHRASE or (base.is_tag[A] and bool(base.names[A]))
        labels[subcategory_name(base, A, x)] = base.names[A] if shows else None
    return PCFG.from_rules(kept, start=start, renormalise=True, labels=labels)


def _start(base: BaseGrammar) -> str:
    """A start symbol, which cannot be mistaken for a subcategory because those end in a number."""
    return base.root or START


def _phrase_rules(base: BaseGrammar, level: Level, rows: RuleRows, rules: Int32) -> Iterator[Rule]:
    """The rules between subcategories, from the rows of binary or unary rules."""
    for r, (A, *below) in enumerate(rules.tolist()):
        for q in range(int(rows.first[r]), int(rows.first[r + 1])):
            inner = (int(rows.left[q]), int(rows.right[q]))
            right = tuple(subcategory_name(base, B, x) for B, x in zip(below, inner, strict=False))
            for i, p in enumerate(rows.value[rows.offset[q] : rows.offset[q + 1]].tolist()):
                if p > 0:
                    yield Rule(subcategory_name(base, A, i), right, (False,) * len(right), p)


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
