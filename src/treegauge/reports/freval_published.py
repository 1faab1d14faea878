"""The printout of FREVAL's authors' program, from the same counts: a row per sentence and size, a block per length limit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from treegauge.metrics.fragments import BySize
from treegauge.metrics.freval import Freval, SizeScore
from treegauge.metrics.freval_published import PublishedSentence

__all__ = ["published_printout"]

_HEADER = "  ID     Len       N         R         P     Matched    GoldFrag    TestFrag    XBkt    Wrds    TgOK    TagAcc    Status"
_TABLE = "   N         R         P        F1        a(n)     Matched    GoldFrag    TestFrag"


def published_printout(sentences: Sequence[PublishedSentence], cutoffs: Sequence[int] = (40, 25)) -> Iterator[str]:
    """The lines that program prints."""
    yield _HEADER
    for sentence in sentences:
        yield from _rows(sentence)
    for cutoff in (None, *cutoffs):
        yield from ("", "")
        title = "All" if cutoff is None else f"len<={cutoff}"
        yield from _block(title, [s for s in sentences if cutoff is None or s.length <= cutoff])


def _rows(sentence: PublishedSentence) -> Iterator[str]:
    accuracy = 100 * sentence.tags / sentence.words if sentence.words else 0.0
    for size in range(1, max(sentence.largest, 1) + 1):
        score = SizeScore(size, sentence.gold.at(size), sentence.test.at(size), sentence.matched.at(size))
        yield (
            f"{sentence.number:4d}{sentence.length:8d}{size:8d}{100 * score.recall:10.2f}{100 * score.precision:10.2f}"
            f"{score.matched:12d}{score.gold:12d}{score.test:12d}"
            f"{sentence.crossing:8d}{sentence.words:8d}{sentence.tags:8d}{accuracy:10.2f}{sentence.status:>10}"
        )


def _block(title: str, sentences: Sequence[PublishedSentence]) -> Iterator[str]:
    valid = [sentence for sentence in sentences if sentence.status == "OK"]
    crossings = [sentence.crossing for sentence in valid]
    words = sum(sentence.words for sentence in valid)
    yield f"=== Summary ({title}) ==="
    yield ""
    yield f"Number of sentence        ={len(sentences):7d}"
    yield f"Number of Error sentence  ={sum(s.status == 'Error' for s in sentences):7d}"
    yield f"Number of Skip  sentence  ={sum(s.status == 'Skip' for s in sentences):7d}"
    yield f"Number of Valid sentence  ={len(valid):7d}"
    yield f"Complete match            ={_percent(sum(s.is_complete_match for s in valid), len(valid)):7.2f}"
    yield f"Average crossing          ={sum(crossings) / len(valid) if valid else 0.0:7.2f}"
    yield f"No crossing               ={_percent(crossings.count(0), len(valid)):7.2f}"
    yield f"2 or less crossing        ={_percent(sum(x <= 2 for x in crossings), len(valid)):7.2f}"
    yield f"Tagging accuracy          ={_percent(sum(s.tags for s in valid), words):7.2f}"
    yield ""
    yield _TABLE
    total = [len(valid), *(sum((getattr(s, side) for s in valid), BySize()) for side in ("gold", "test", "matched"))]
    freval = Freval(matching="published", ranges=(0,))
    scores = freval.by_size(total)
    for score in scores:
        if score.gold and score.test:
            yield (
                f"{score.size:4d}{100 * score.recall:10.2f}{100 * score.precision:10.2f}{_f1(score.recall, score.precision)}"
                f"{1 / len(scores):12.6f}{score.matched:12d}{score.gold:12d}{score.test:12d}"
            )
    rates = freval.rates(total)
    yield "-" * len(_TABLE)
    yield f"    {100 * rates['flr']:10.2f}{100 * rates['flp']:10.2f}{_f1(rates['flr'], rates['flp'])}"
    yield ""


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0


def _f1(recall: float, precision: float) -> str:
    both = recall + precision
    value = 100 * 2 * recall * precision / both if both else math.nan
    return f"{value:10.2f}" if both else f"{'NaN':>10}"
