"""Abney 1993: the entropy of phrase recognition by models 0 to S, and the categories that cause it.

The sentences are dealt out in turn to three corpora: rules come from the first, their probabilities from the second, and the third
is measured. Any treebank or CoNLL-2000 file will do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from treegauge.chunks.corpus import ChunkedSentence, categories_of, chunked_sentences
from treegauge.chunks.entropy import Evaluation, blame_table, coverage_table, evaluate, measures_of, sensitivity_table
from treegauge.chunks.models import Tagged, train_models, with_gold_tags
from treegauge.chunks.tagger import HmmTagger
from treegauge.errors import UsageError
from treegauge.experiments.experiment import Corpus, Experiment, ExperimentReport, Work, own_corpus, setting
from treegauge.experiments.paper_comparison import paper_table
from treegauge.reports.figures import blame_figure
from treegauge.tables import Cell, Table

_COLUMNS = ("b/c", "b/s", "log10 parses/sentence", "EP %", "ER %")
PAPER: dict[tuple[str, ...], Sequence[Cell]] = {
    ("0",): (1.0, 8880.0, 2670.0, 0.129, 50.0),
    ("1",): (0.0142, 126.0, 38.0, 0.129, 0.132),
    ("XK",): (0.00795, 70.6, 21.0, 5.5, 5.6),
    ("G",): (0.00381, 33.8, 10.0, 47.3, 48.2),
    ("C",): (0.00336, 29.8, 9.0, 54.5, 58.7),
    ("S",): (None, 14.1, 4.0, 74.1, 75.6),
}
PAPER_BLAME: dict[str, tuple[float, float]] = {
    "NP": (39.0, 18.7),
    "PP": (21.1, 7.2),
    "VP": (19.0, 4.4),
    "Null": (7.5, -8.4),
    "ADJP": (3.9, 1.4),
    "other": (9.5, -23.4),
}


@dataclass(frozen=True)
class Settings:
    """The options of the experiment."""

    tags: str = setting("tagger", "tagger: posteriors of a trigram tagger trained on the first two corpora; gold: tags as given")
    eps: float = setting(1e-6, "Probabilities are clipped to [eps, 1-eps].")


def run(corpus: Corpus, settings: Settings, work: Work) -> ExperimentReport:
    """The report: models trained on the first two corpora, measured on the third."""
    sentences = chunked_sentences(corpus.bank)
    if len(sentences) < 3 or settings.tags not in ("tagger", "gold"):
        raise UsageError(f"the experiment needs at least 3 sentences ({len(sentences)} given) and tags `tagger` or `gold`")
    parts = [sentences[number::3] for number in range(3)]
    if not work.engine.in_process:
        work.report("this experiment is one piece, less than a minute for CoNLL-2000: it runs in this process")
    work.report(f"{len(parts[0])} sentences for rules, {len(parts[1])} for their probabilities, {len(parts[2])} to measure")
    tagged = _tag(parts, settings.tags)
    models = train_models(tagged[0], tagged[1], categories_of(sentences))
    work.report(f"{models.grammar.n_rules} rules")
    evaluation = evaluate(models, tagged[2], eps=settings.eps)
    blame = blame_table(evaluation)
    return ExperimentReport(
        tables=[_measures(evaluation), _blame(blame), coverage_table(evaluation), sensitivity_table(evaluation)],
        notes=_notes(parts, settings, evaluation),
        figures=[blame_figure(blame)],
        data={
            "blame": [list(row) for row in blame.rows],
            "impossible": {name: counts.impossible for name, counts in evaluation.counts.items()},
            "rules": models.grammar.n_rules,
        },
    )


def _tag(parts: Sequence[Sequence[ChunkedSentence]], tags: str) -> list[list[Tagged]]:
    if tags == "gold":
        return [with_gold_tags(part) for part in parts]
    tagger = HmmTagger.train([(sentence.words, sentence.tags) for part in parts[:2] for sentence in part])
    return [[(sentence, tagger.lattice(sentence.words)) for sentence in part] for part in parts]


def _measures(evaluation: Evaluation) -> Table:
    ours: dict[tuple[str, ...], Sequence[Cell]] = {
        (name,): (*bits, 100 * precision, 100 * recall)
        for name, counts in evaluation.counts.items()
        for *bits, precision, recall, _ in (measures_of(counts),)
    }
    s = evaluation.sequences
    bits = s.finite_bits_per_sentence
    ours["S",] = (None, bits, bits * math.log10(2), 100 * s.precision, 100 * s.recall)
    return paper_table(
        "Entropy of phrase recognition; for S precision and recall of the best sequence",
        ("model",),
        _COLUMNS,
        _round(PAPER),
        _round(ours),
        notes=(
            f"Bits of S are a mean over the sentences whose true sequence is possible: {s.impossible} are left out, while XK, G "
            "and C pay for each impossible event. So its bits are not quite comparable with theirs.",
        ),
    )


def _round(rows: dict[tuple[str, ...], Sequence[Cell]]) -> dict[tuple[str, ...], Sequence[Cell]]:
    """The same rows with bits per candidate as text, because two decimal places would hide them."""
    return {key: (f"{row[0]:.5f}" if isinstance(row[0], float) else row[0], *row[1:]) for key, row in rows.items()}


def _blame(blame: Table) -> Table:
    """The blame by the paper's categories; categories that it does not name are `other`."""
    ours: dict[str, list[float]] = {}
    for category, share, _, excess in blame.rows:
        row = ours.setdefault(str(category) if category in PAPER_BLAME else "other", [0.0, 0.0])
        row[0] += 100 * float(share or 0)
        row[1] += 100 * float(excess or 0)
    paper: dict[tuple[str, ...], Sequence[Cell]] = {(name,): values for name, values in PAPER_BLAME.items()}
    return paper_table(
        "Blame: share of the entropy of model G", ("category",), ("%H", "%H - E(%H)"), paper, {(k,): v for k, v in ours.items()}
    )


def _notes(parts: Sequence[Sequence[ChunkedSentence]], settings: Settings, evaluation: Evaluation) -> list[str]:
    bits = [counts.clipped_bits_per_sentence for counts in evaluation.counts.values()]
    bits.append(evaluation.sequences.finite_bits_per_sentence)
    order = "as in the paper" if all(a > b for a, b in pairwise(bits)) else "NOT as in the paper"
    counts = evaluation.counts["G"]
    missed = 1 - float(counts.covered_true.sum()) / counts.n_true if counts.n_true else math.nan
    total = float(counts.clipped_bits.sum())
    unexplained = 1 - float(counts.clipped_bits_covered.sum()) / total if total else math.nan
    candidates = evaluation.counts["0"].n_candidates / max(len(parts[2]), 1)
    impossible = {name: counts.impossible for name, counts in evaluation.counts.items() if counts.impossible}
    return [
        f"Outcome: the order of the models, 0 > 1 > XK > G > C > S in bits per sentence, is {order}.",
        f"Not covered by the grammar of model G: {missed:.1%} of the true chunks (paper: 4% of the candidates, which we read as "
        f"true chunks), which cause {unexplained:.1%} of its entropy together with the uncovered candidates that are not chunks "
        "(paper: 19%). The expected share of a category in the blame table is its share of the covered candidates.",
        f"Corpus: the paper had 28 categories and 8,880 candidates per sentence; here {len(evaluation.categories)} categories and "
        f"{candidates:,.0f}.",
        f"Tags: {'posteriors of a trigram HMM tagger' if settings.tags == 'tagger' else 'gold'}; the paper used Church's tagger.",
        f"Events of probability 0, clipped to {settings.eps:g}: {impossible or 'none'}; the paper does not say what it did with "
        "them. The last table shows how the bits move with eps.",
    ]


EXPERIMENT = Experiment(
    "abney-tables", "Abney 1993: the entropy of phrase recognition, and who is to blame", "abney1993", Settings, run, own_corpus
)
