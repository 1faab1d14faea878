"""Models in files, each opened as the parser of its kind: grammars that were counted, trained or written as text, networks, and
mixtures of them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from treegauge.errors import UnknownName, UsageError
from treegauge.grammar.model import SHIPPED, load_model
from treegauge.grammar.training_sentences import NO_HASHES, UInt64
from treegauge.io.archive import archive_schema
from treegauge.metrics.registry import METRICS
from treegauge.parsing.mixture import MIXTURE_SETTINGS, MixtureParser
from treegauge.parsing.objectives import CRITERIA, LPR, VITERBI, DecodingSetting, settings_from_notes
from treegauge.parsing.parser import Parser, SentenceParser

OWN = "own"
"""The name that stands for the grammar of our own treebank."""
LATENT, NETWORK, MIXTURE = "treegauge-latent", "treegauge-network", "treegauge-mixture"


@dataclass(frozen=True)
class LoadedModel:
    """A model as a parser with the settings that come with it, its notes, and the hashes of its training sentences, empty if
    unknown."""

    name: str
    parser: SentenceParser
    notes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    sentences: UInt64 = field(default_factory=lambda: NO_HASHES)

    @property
    def for_f1(self) -> SentenceParser:
        """The parser, decoding for F1: with the setting that a counted grammar stores, else Viterbi; by posteriors if trained."""
        if not isinstance(self.parser, Parser):
            return self.parser
        setting = self.setting()
        return self.parser.with_settings(objective=setting.objective, options=setting.options)

    def setting(self, purpose: str | None = None) -> DecodingSetting:
        """The setting for one of :data:`CRITERIA`, which the model stores or which is usual for its kind, or for METRIC.RATE. If no
        purpose is given, it is that for F1, but Viterbi for a counted grammar that stores none.

        >>> load_parser("own").setting("recall")
        DecodingSetting(objective='viterbi', lam=None)
        """
        known = settings_from_notes(self.notes)
        if isinstance(self.parser, MixtureParser):
            known = MIXTURE_SETTINGS | {"f1": DecodingSetting(LPR, self.parser.lam)} | known
        elif not isinstance(self.parser, Parser) or (purpose is not None and "method" not in self.notes):
            # Not for learned grammars, whose labels mean nothing; exact match needs whole trees, which a mixture does not have.
            known = {name: MIXTURE_SETTINGS[name] for name in ("recall", "precision")} | {"f1": DecodingSetting(LPR)} | known
        purpose = purpose or "f1"
        if purpose not in CRITERIA and purpose.partition(".")[0].partition(":")[0] not in METRICS:
            raise UnknownName("criterion", purpose, CRITERIA, "METRIC.RATE")
        if purpose in known or (purpose in CRITERIA and isinstance(self.parser, Parser)):
            return known.get(purpose, VITERBI)
        return DecodingSetting(f"mbr:parseval.{CRITERIA[purpose]}" if purpose in CRITERIA else f"mbr:{purpose}")


def is_model(name: str) -> bool:
    """Whether a name stands for a model, by the beginning of the file's content; a text grammar is none."""
    if name == OWN or not os.path.isfile(name):
        return name == OWN
    with open(name, "rb") as stream:
        return stream.read(4) == b"PK\3\4"


def load_parser(
    name: str, *, start: str | None = None, renormalise: bool = False, device: str = "auto", depth: int = 0
) -> LoadedModel:
    """The model in a file of any kind, or :data:`OWN`; a file that is no model is a grammar as text.

    ``start`` and ``renormalise`` are for text: the start symbol, and whether probabilities are scaled to sum to 1. ``device`` is
    for networks, each job of which uses one thread of torch; ``depth`` is the number of mixtures that it is a part of.
    """
    path = str(SHIPPED) if name == OWN else name
    if not is_model(name):
        from treegauge.grammar.grammar_text import read_file

        return LoadedModel(name, Parser(read_file(path, start=start, renormalise=renormalise)))
    if start is not None or renormalise:
        raise UsageError("a model has its start symbol and its probabilities: leave out start=... and renormalise=True")
    schema = archive_schema(path)
    if schema == MIXTURE:
        from treegauge.models.mixtures import load_mixture

        return load_mixture(path, device=device, depth=depth + 1)
    if schema == LATENT:
        from treegauge.grammar.latent.latent_model import load_latent
        from treegauge.parsing.latent.latent_parser import LatentParser

        latent = load_latent(path)
        return LoadedModel(name, LatentParser(latent), latent.notes, latent.sentences)
    if schema == NETWORK:
        from treegauge.neural.backend import torch_module
        from treegauge.neural.network_model import load_network
        from treegauge.neural.network_parser import NetworkParser

        torch_module().set_num_threads(1)
        network = load_network(path)
        return LoadedModel(name, NetworkParser(network, device=device), network.notes, network.sentences)
    counted = load_model(path)
    steps = str(counted.notes.get("steps", ""))
    joined = "keep=joined" in steps or "double" in steps
    tag_words = counted.notes.get("terminals") == "tags"
    return LoadedModel(name, Parser(counted.grammar, tag_words=tag_words, joined=joined), counted.notes, counted.sentences)
