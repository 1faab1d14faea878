"""Settings of decoding that suit a grammar: the objective and its lam, chosen on trees that the grammar was not counted from.

For F1 and for exact match the best setting is chosen; for recall and for precision the best among those whose F1 is at least
that of Viterbi, so that neither is bought with towers of labels or with empty trees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from treegauge.errors import MismatchError, UsageError
from treegauge.grammar.pcfg import PCFG
from treegauge.parsing.parser import Parser, Sentence
from treegauge.scoring.evaluation import score
from treegauge.trees.tree import Tree

__all__ = ["CRITERIA", "DecodingSetting", "choose_settings", "from_notes", "held_out", "to_notes", "tuning_sentences"]

CRITERIA = {"f1": "f1", "exact": "exact_match", "recall": "recall", "precision": "precision"}
"""The purposes of a setting, and the rate that measures each."""
MOST_SENTENCES, MOST_WORDS, LEAST_TREES = 500, 40, 50
_EVERY = 10


class DecodingSetting(NamedTuple):
    """An objective with its lam, if it takes one."""

    objective: str
    lam: float | None = None

    @property
    def options(self) -> dict[str, float]:
        """The options of the objective."""
        return {} if self.lam is None else {"lam": self.lam}

    def __str__(self) -> str:
        return self.objective if self.lam is None else f"{self.objective} --lam {self.lam:g}"


VITERBI = DecodingSetting("viterbi")
SETTINGS = (
    VITERBI,
    *(DecodingSetting("labelled-recall", lam) for lam in (0.2, 0.35, 0.5)),
    *(DecodingSetting("labelled-precision-recall", lam) for lam in (0.15, 0.25, 0.35, 0.45, 0.5, 0.6, 0.7, 0.8)),
    *(DecodingSetting("labelled-recall-licensed", lam) for lam in (0.35, 0.5)),
)


@dataclass(frozen=True)
class Chosen:
    """The settings by what they are for, and the rates of all that were tried."""

    best: dict[str, DecodingSetting]
    rates: dict[DecodingSetting, dict[str, float]] = field(default_factory=dict[DecodingSetting, dict[str, float]], repr=False)
    sentences: int = 0


def held_out(trees: Sequence[Tree]) -> tuple[list[Tree], list[Tree]]:
    """All trees but each tenth, and those."""
    apart = [tree for i, tree in enumerate(trees) if i % _EVERY == _EVERY - 1]
    return [tree for i, tree in enumerate(trees) if i % _EVERY != _EVERY - 1], apart


def tuning_sentences(trees: Iterable[Tree]) -> list[Tree]:
    """The trees of at most 40 words, at most 500 of them, spread over all."""
    short = [tree for tree in trees if 0 < tree.width <= MOST_WORDS]
    step = max(1, -(-len(short) // MOST_SENTENCES))
    return short[::step]


def choose_settings(
    grammar: PCFG,
    gold: Sequence[Tree],
    *,
    tag_words: bool = False,
    joined: bool = False,
    advance: Callable[[], None] = lambda: None,
) -> Chosen:
    """Parse sentences with every setting, and choose by the rates of their trees."""
    if not gold:
        raise MismatchError("no tree to tune on")
    sentences = [Sentence(tree.words, tree.tags) for tree in gold]
    rates: dict[DecodingSetting, dict[str, float]] = {}
    for setting in SETTINGS:
        parser = Parser(grammar, setting.objective, setting.options, tag_words=tag_words, joined=joined)
        parsed = [one.scored_tree for one in parser.parse_all(sentences)]
        rates[setting] = dict(score(gold, parsed, metric="parseval").rates)
        advance()
    best: dict[str, DecodingSetting] = {}
    for criterion, rate in CRITERIA.items():
        least = rates[VITERBI]["f1"] if criterion in ("recall", "precision") else 0.0
        allowed = [setting for setting in SETTINGS if rates[setting]["f1"] >= least]
        best[criterion] = max(allowed, key=lambda setting: rates[setting][rate])
    return Chosen(best, rates, len(gold))


def to_notes(chosen: Chosen) -> dict[str, Any]:
    """The settings as a model file stores them."""
    return {
        "sentences": chosen.sentences,
        "best": {name: list(setting) for name, setting in chosen.best.items()},
    }


def from_notes(notes: Mapping[str, Any]) -> dict[str, DecodingSetting]:
    """The settings of a model file; none if it has none."""
    try:
        best: Mapping[str, Any] = notes.get("settings", {}).get("best", {})
        return {
            str(name): DecodingSetting(str(objective), None if lam is None else float(lam))
            for name, (objective, lam) in best.items()
        }
    except (AttributeError, KeyError, TypeError, ValueError):
        raise UsageError("the settings of this model cannot be read: make it again with treegauge induce") from None
