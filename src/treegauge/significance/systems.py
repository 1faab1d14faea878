"""Systems: a treebank and several parsers' trees of it, brought to the sentences that all of them share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import reduce

import numpy as np

from treegauge import __version__
from treegauge.errors import MismatchError
from treegauge.metrics.base import Metric, Rows, adapted
from treegauge.metrics.hogenhout import Hogenhout, Judgements
from treegauge.metrics.preparation import Pair, prepare
from treegauge.metrics.signature import Signature
from treegauge.normalise.preset import Preset
from treegauge.significance.cautions import evalb_cautions, unpaired_cautions
from treegauge.significance.paired import Paired
from treegauge.trees.treebank import Int64, Treebank

__all__ = ["Systems"]


class Systems:
    """Gold and test trees, prepared once for every preset that a metric asks for.

    ``kept`` are the gold sentences on which all systems are compared: all of them, unless ``on_mismatch`` is ``skip``.
    """

    def __init__(
        self,
        gold: Treebank,
        banks: Mapping[str, Treebank],
        preset: Preset,
        on_mismatch: str,
        judgements: Mapping[str, Judgements],
    ) -> None:
        self.gold, self.banks, self.preset, self.on_mismatch, self.judgements = gold, banks, preset, on_mismatch, judgements
        self._prepared: dict[Preset, dict[str, Pair]] = {}
        self._rows: dict[Metric, list[Rows]] = {}
        pairs = list(self._pairs(preset).values())
        self.kept: Int64 = reduce(np.intersect1d, [pair.index for pair in pairs])
        if not len(self.kept):
            raise MismatchError("there is no sentence of the treebank on which all systems can be compared")
        self.length = pairs[0].gold.length[np.isin(pairs[0].index, self.kept)]

    @property
    def names(self) -> list[str]:
        return list(self.banks)

    def __len__(self) -> int:
        return len(self.banks)

    def _pairs(self, preset: Preset) -> dict[str, Pair]:
        if preset not in self._prepared:
            banks = self.banks.items()
            self._prepared[preset] = {name: prepare(self.gold, bank, preset, on_mismatch=self.on_mismatch) for name, bank in banks}
        return self._prepared[preset]

    def pairs(self, metric: Metric) -> dict[str, Pair]:
        """Each system against the treebank, as the metric wants it, on the sentences that all systems have."""
        pairs = self._pairs(adapted(metric, self.preset))
        return {name: _restricted(pair, self.kept) for name, pair in pairs.items()}

    def judged(self, metric: Hogenhout, system: str) -> Hogenhout:
        """The metric with the judgements of a system, if any were given."""
        return replace(metric, judgements=self.judgements.get(system, Judgements())) if self.judgements else metric

    def paired(self, metric: Metric) -> Paired:
        """The rows of all systems."""
        if not isinstance(metric, Hogenhout):
            return Paired.of(metric, self.rows(metric))
        pairs = self.pairs(metric)
        judged = {system: self.judged(metric, system) for system in pairs}
        # Verdicts decide what is counted; the rates of the counts are the same for all.
        return Paired.of(judged[self.names[0]], [judged[system].rows(pair) for system, pair in pairs.items()])

    def rows(self, metric: Metric) -> list[Rows]:
        """The rows of each system, counted once."""
        if metric not in self._rows:
            self._rows[metric] = [metric.rows(pair) for pair in self.pairs(metric).values()]
        return self._rows[metric]

    def cautions(self) -> list[str]:
        """What to know about sentences that do not fit or would be dropped."""
        pairs = self._pairs(self.preset)
        return [
            *unpaired_cautions(pairs, self.kept, len(self.gold)),
            *evalb_cautions(self.gold, self.banks, pairs, self.preset),
        ]

    def digests(self) -> dict[str, str]:
        """The first digits of the trees' hashes: of gold, and of each system under its name."""
        return {"": self.gold.sha256()[:12], **{name: bank.sha256()[:12] for name, bank in self.banks.items()}}

    def signature(self, metric: Metric, system: str, digests: Mapping[str, str], seed: int) -> str:
        """The signature of a system's score by a metric."""
        signature = Signature(
            metric=metric.name,
            options=metric.options,
            preset=adapted(metric, self.preset),
            on_mismatch=self.on_mismatch,
            sentences=len(self.kept),
            skipped=len(self.gold) - len(self.kept),
            gold=digests[""],
            test=digests[system],
            seed=seed,
            version=__version__,
        )
        return str(signature)


def _restricted(pair: Pair, kept: Int64) -> Pair:
    """The pair reduced to some gold sentences."""
    if len(pair.index) == len(kept):
        return pair
    rows = np.flatnonzero(np.isin(pair.index, kept))
    return replace(pair, gold=pair.gold.take(rows), test=pair.test.take(rows), index=pair.index[rows])
