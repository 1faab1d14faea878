"""Training in Python: grammars or a network, from trees, with the options of the command line."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields, replace
from inspect import signature
from typing import Any

from treegauge.errors import UnknownName, UsageError, check_kind, checked
from treegauge.grammar.training_sentences import STEPS, hold_out_by_words
from treegauge.io import ReadOptions, as_treebank
from treegauge.models.parsing_model import ParsingModel
from treegauge.normalise.pipelines import label_pipeline, pipeline


@checked()
def train(
    trees: object, *, neural: bool = False, quick: bool = False, embeddings: str | os.PathLike[str] | None = None,
    encoder: str | os.PathLike[str] | None = None, hold_out: float = 0.0, tune: bool = True, seed: int = 1, jobs: int = 1,
    device: str = "auto", checkpoint: str | os.PathLike[str] | None = None, resume: bool = False, **settings: Any,
) -> ParsingModel:  # fmt: skip
    """A model trained on trees, in any form that :func:`treegauge.as_treebank` accepts; options as of ``treegauge train``.

    ``tune=False`` is ``--no-tune``, and options for reading are those of :func:`treegauge.read`. Further ``settings`` are those of
    the training: ``grammars`` and ``rounds``, or of a network ``epochs``, ``hidden``, ``layers`` and the others.
    """
    reading = {each.name: settings.pop(each.name) for each in fields(ReadOptions) if each.name in settings}
    bank, options = as_treebank(trees, **reading), ReadOptions(**reading)
    if options.style and options.style.function_mark:
        bank = pipeline("functions", options.treebank).apply(bank)
    bank = hold_out_by_words(list(bank), hold_out)[0]
    steps = str(label_pipeline(STEPS, options.treebank))
    run: dict[str, Any] = {"steps": steps, "checkpoint": checkpoint and os.fspath(checkpoint), "resume": resume}
    if not neural and encoder is None:
        if embeddings is not None:
            raise UsageError("grammars are trained without vectors: embeddings=... goes with neural=True")
        from treegauge.learning.latent.latent_training import QUICK as QUICK_GRAMMARS, TrainingSettings, train_latent
        from treegauge.parsing.latent.latent_parser import LatentParser

        changes = {"seed": seed, "jobs": jobs} | ({} if tune else {"tuning_grammars": 0}) | settings
        model = train_latent(bank, _changed(QUICK_GRAMMARS if quick else TrainingSettings(), changes), **run)
        return ParsingModel(LatentParser(model), notes=model.notes)
    from treegauge.neural.network_model import QUICK, WITH_ENCODER, NetworkSettings
    from treegauge.neural.network_parser import NetworkParser
    from treegauge.neural.network_training import train_network
    from treegauge.neural.pretrained_encoder import read_encoder
    from treegauge.neural.sentence_batches import word_forms
    from treegauge.neural.word_vectors import read_vectors

    usual = QUICK if quick else WITH_ENCODER if encoder is not None else NetworkSettings()
    changes = {"seed": seed} | ({"passes": 1} if "epochs" in settings else {}) | settings
    if embeddings is not None:
        run["vectors"] = read_vectors(
            os.fspath(embeddings), {form for tree in bank for word in tree.words for form in word_forms(word)}
        )
    if encoder is not None:
        run["encoder"] = read_encoder(os.fspath(encoder))
    network = train_network(bank, _changed(usual, changes), device=device, jobs=jobs, tune=tune, **run)
    return ParsingModel(NetworkParser(network, device=device), notes=network.notes)


def _changed(usual: Any, changes: Mapping[str, Any]) -> Any:
    """The settings with some changed; an unknown one, or one of the wrong kind, is an error."""
    from treegauge.learning.latent.latent_training import TrainingSettings
    from treegauge.neural.network_model import NetworkSettings

    kinds = {each.name: str(each.type) for each in fields(usual)}
    for name, value in changes.items():
        if name not in kinds:
            others = {each.name for kind in (NetworkSettings, TrainingSettings) for each in fields(kind)}
            with_network = "without" if isinstance(usual, NetworkSettings) else "only with"
            valid = {*kinds, *[*signature(train).parameters][1:-1], *(each.name for each in fields(ReadOptions))}
            raise UnknownName(
                "argument of train", name, valid, hint=f"it goes {with_network} neural=True" if name in others else ""
            )
        check_kind(name, value, kinds[name])
    return replace(usual, **changes)
