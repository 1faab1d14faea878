"""Training of networks: by the likelihood of trees and tags, until the F1 on a slice of the training trees has stopped rising.

All random numbers of a step depend on the seed and on the number of the step alone, and a checkpoint holds weights, moments of the
optimiser and the best weights so far; so a run that was killed at any moment is resumed to the same result. The slice is chosen by
a hash of words, and its trees are only parsed: after every epoch, and at the end to choose lam.
"""

from __future__ import annotations

import hashlib
import math
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.engines import in_threads
from treegauge.errors import TreegaugeWarning, UsageError
from treegauge.grammar.training_sentences import STEPS, hold_out_by_words, sentence_hashes, training_trees, without_traces
from treegauge.io.checkpoints import CheckpointFolder
from treegauge.neural.backend import as_numpy, fast_products, torch_module
from treegauge.neural.network_model import WITH_ENCODER, NetworkModel, NetworkSettings, chosen_device, half_precision
from treegauge.neural.network_view import NetworkView, network_views
from treegauge.neural.pretrained_encoder import PretrainedEncoder
from treegauge.neural.sentence_batches import UNKNOWN, Batch, Vocabulary, encode_sentences, make_batch, span_row, vocabulary_of
from treegauge.neural.word_vectors import WordVectors
from treegauge.parsing.confidence import expected_counts, fit_calibration
from treegauge.parsing.free_objectives import labelled_precision_recall
from treegauge.parsing.span_trees import labelled_spans
from treegauge.scoring.evaluation import evaluator
from treegauge.trees.columns import Int64
from treegauge.trees.tree import Tree

SHARE, ENOUGH, LARGEST_SHARE = 0.03, 100, 0.25
"""The slice has this share of the trees, or this many trees if the share has fewer, but no larger share than the last number."""
FEWEST = 20
"""With fewer trees there is no slice."""
LAMS = (0.3, 0.35, 0.4, 0.45, 0.5)
USUAL_LAM = 0.45
NEAR = 0.005
"""Epochs whose F1 on the slice differ by less are taken as equally good."""
MOST_WORDS = 150
"""Longer sentences are not trained on."""
FULL_EPOCH = 3000
"""The number of trees that an epoch sees at least, unless its passes are given."""
WARM_UP = 200
"""The most steps in which the learning rate rises; with a pretrained encoder it is a tenth of all steps."""
LARGEST_NORM = 5.0
PARTS = 2
"""The number of parts of a batch that threads of a CPU work on; their gradients are added in a fixed order. With an encoder, which
draws its own random numbers, a batch is one part."""
SENTENCES = 20
"""Losses are summed over the sentences of a batch and divided by this number."""


class TrainingReport(NamedTuple):
    """A report: how often the trees were seen, and how often they will be; the share of the training that is done; the loss per
    sentence, in nats; and where the slice was parsed F1 on it, nan if there is no slice."""

    epoch: int
    epochs: int
    done: float
    loss: float
    f1: float | None = None


class BatchPart(NamedTuple):
    """A part of a batch with the right answers: the tag of each word, and the rows of scores and the labels of constituents."""

    batch: Batch
    tags: Any
    rows: Any
    labels: Any


def train_network(
    trees: Sequence[Tree],
    settings: NetworkSettings | None = None,
    *,
    trained_on: str = "",
    steps: str = STEPS,
    device: str = "auto",
    jobs: int = 1,
    tune: bool = True,
    vectors: WordVectors | None = None,
    encoder: tuple[PretrainedEncoder, Mapping[str, NDArray[Any]]] | None = None,
    checkpoint: str | Path | None = None,
    every: float | None = None,
    resume: bool = False,
    on_report: Callable[[TrainingReport], None] = lambda _: None,
    save: Callable[[NetworkModel], None] = lambda _: None,
) -> NetworkModel:
    """Train a network on trees, after normalising them by ``steps``.

    The state is written to the folder ``checkpoint`` after each epoch, and every ``every`` seconds (default: 60, and 600 with an
    encoder, whose state is large); ``resume`` continues from it. The folder is removed at the end, after ``save`` was called with
    the model. ``jobs`` is the number of threads of a CPU, which does not change the result. Without ``tune`` there is no slice: the
    network is that of the last epoch, with the usual lam. ``vectors`` are vectors of words that the network reads beside its own,
    ``encoder`` a pretrained encoder with its weights, which are trained, too. ``trained_on`` identifies the trees (default: their
    SHA-256).
    """
    settings, device = settings or (WITH_ENCODER if encoder else NetworkSettings()), chosen_device(device)
    settings = replace(settings, vectors=vectors.values.shape[1] if vectors else 0)
    if not trees:
        raise UsageError("there are no trees to train on")
    digest = trained_on or hashlib.sha256("\n".join(map(str, trees)).encode("utf-8", "surrogatepass")).hexdigest()
    rest, held = list(trees), list[Tree]()
    if tune and len(trees) >= FEWEST:
        rest, held = hold_out_by_words(rest, max(SHARE, min(LARGEST_SHARE, ENOUGH / len(trees))), "early stopping")
    plan = {**asdict(settings), "convolutions": list(settings.convolutions), "tune": tune, "device": device, "trees": digest}
    given = {"embeddings": [*vectors.words, vectors.values] if vectors else [], "encoder": encoder[1].values() if encoder else []}
    checkpoints = CheckpointFolder(checkpoint, {**plan, **{name: _digest(each) for name, each in given.items()}}, resume=resume)
    parsed = [tree for tree in without_traces(held) if tree.width <= MOST_WORDS]
    torch, workers = torch_module(), max(1, jobs) if device == "cpu" else 2
    # An encoder's dropout uses torch's own generators, which are as before at the end.
    own_randomness = torch.random.fork_rng(devices=[torch.cuda.current_device()] if device == "cuda" else [])
    # Trees of the first epochs look wrong in many ways, which need not be said.
    unsaid = warnings.catch_warnings(action="ignore", category=TreegaugeWarning)
    with _one_thread(), fast_products(), own_randomness, unsaid, ThreadPoolExecutor(workers) as pool:
        run = _Training(rest, parsed, steps, settings, device, pool, vectors, encoder)
        checkpoints.read_state("network", run.restore, most_parts=1 << 14)
        run.train(checkpoints, every if every is not None else 600.0 if encoder else 60.0, on_report)
        model = replace(run.result(), trained_on=digest, sentences=sentence_hashes(trees))
    save(model)
    checkpoints.remove()
    return model


@contextmanager
def _one_thread() -> Generator[None]:
    """A context in which an operation of torch uses one thread: on a CPU, threads work on parts of a batch."""
    torch = torch_module()
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _digest(parts: Iterable[str | NDArray[Any]]) -> str:
    """A hash of words and arrays."""
    made = hashlib.sha256()
    for part in parts:
        made.update(part.encode("utf-8", "surrogatepass") + b"\0" if isinstance(part, str) else part.tobytes())
    return made.hexdigest()


class _Training:
    """A network in training: its trees as arrays, the optimiser, and how far it is."""

    def __init__(
        self, trees: Sequence[Tree], gold: Sequence[Tree], steps: str, settings: NetworkSettings, device: str,
        pool: ThreadPoolExecutor, vectors: WordVectors | None, encoder: tuple[PretrainedEncoder, Mapping[str, NDArray[Any]]] | None,
    ) -> None:  # fmt: skip
        from treegauge.neural.span_network import SpanNetwork, load_vectors, load_weights

        torch = torch_module()
        given, root = training_trees(trees, steps)
        self.steps, self.settings, self.device, self.gold, self.pool = steps, settings, device, gold, pool
        self.trees = [tree for tree in given if tree.width <= MOST_WORDS] or given[:1]
        self.encoder = None if encoder is None else encoder[0]
        self.vocabulary = vocabulary_of(self.trees, root, vectors.words if vectors else ())
        self.vectors = vectors.values if vectors else np.zeros((0, 0), np.float16)
        self.encoded = encode_sentences(self.vocabulary, [tree.words for tree in self.trees], self.encoder)
        self.unknown = settings.unknown / (settings.unknown + np.bincount(self.encoded.words)[self.encoded.words])
        self.tags, self.rows, self.labels = _answers(self.vocabulary, self.trees)
        torch.manual_seed(settings.seed)
        self.network = load_vectors(SpanNetwork(settings, self.vocabulary.sizes, self.encoder), self.vectors).to(device)
        pretrained: list[Any] = []
        if encoder is not None:
            load_weights(self.network.encoder, encoder[1])
            pretrained = list(self.network.encoder.parameters())
        own = [each for name, each in self.network.named_parameters() if not name.startswith("encoder.")]
        self.parameters, self.rates = own + pretrained, (settings.rate, settings.encoder_rate)
        groups = [{"params": some} for some in (own, pretrained) if some]
        self.optimiser = torch.optim.AdamW(groups, lr=settings.rate, betas=(0.9, 0.95), weight_decay=0.01, fused=True)
        self.passes = settings.passes or max(1, round(FULL_EPOCH / len(self.trees)))
        self.epoch, self.at, self.step, self.total = 0, 0, 0, 0.0
        self.history: list[tuple[float, float | None]] = []
        self.best: dict[str, NDArray[np.float16]] = {}

    @property
    def weights(self) -> dict[str, NDArray[np.float32]]:
        """The weights now."""
        return {name: as_numpy(weight).copy() for name, weight in self.network.state_dict().items()}

    def train(self, checkpoints: CheckpointFolder, every: float, on_report: Callable[[TrainingReport], None]) -> None:
        """Train until the last epoch, or until the F1 on the slice has not risen for a third of them. The weights that are kept are
        the latest whose F1 is near the best: the slice is too small to tell them apart, and later ones are better elsewhere."""
        epochs = self.settings.epochs
        while self.epoch < epochs and self.epoch - self._best_epoch() <= max(3, epochs // 3):
            loss = self._train_epoch(checkpoints, every, on_report)
            f1 = self._f1(self._views(), USUAL_LAM) if self.gold else None
            self.history.append((loss, f1))
            self.epoch, self.at, self.total = self.epoch + 1, 0, 0.0
            if self._best_epoch(NEAR) == self.epoch:
                self.best = half_precision(self.weights)
            self._save(checkpoints)
            on_report(self._report(loss, math.nan if f1 is None else f1))

    def _best_epoch(self, near: float = 0.0) -> int:
        """The latest number of epochs after which the F1 on the slice was best, or so ``near`` to it; without a slice the last."""
        f1 = [value for _, value in self.history if value is not None]
        return max((number for number, value in enumerate(f1, 1) if value >= max(f1) - near), default=self.epoch)

    def _train_epoch(self, checkpoints: CheckpointFolder, every: float, on_report: Callable[[TrainingReport], None]) -> float:
        """Train from the batch at which the epoch is; its loss per sentence."""
        torch, saved = torch_module(), time.monotonic()
        batches, words = self._batches()
        total = torch.full((), self.total, dtype=torch.float64, device=self.device)
        for parts in self._prepared(batches[self.at :], words):
            done = (self.epoch + self.at / len(batches)) / self.settings.epochs
            tenth = 1 + self.settings.epochs * len(batches) // 10
            warm = min(1.0, (self.step + 1) / (tenth if self.encoder else min(WARM_UP, tenth)))
            for group, rate in zip(self.optimiser.param_groups, self.rates, strict=False):
                group["lr"] = rate * warm * (0.02 + 0.49 * (1 + math.cos(math.pi * done)))
            total += self._train_batch(parts)
            self.at, self.step = self.at + 1, self.step + 1
            if time.monotonic() - saved >= every:
                self.total = _finite(float(total))
                self._save(checkpoints)
                on_report(self._report(self.total / sum(map(len, batches[: self.at])), None, self.at / len(batches)))
                saved = time.monotonic()
        return _finite(float(total)) / sum(map(len, batches))

    def _report(self, loss: float, f1: float | None, part: float = 0.0) -> TrainingReport:
        """A report after whole epochs and a part of the next."""
        done, epochs = self.epoch + part, self.settings.epochs
        return TrainingReport(math.ceil(done * self.passes), epochs * self.passes, done / epochs, loss, f1)

    def _batches(self) -> tuple[list[Int64], Int64]:
        """The sentences of each batch of the epoch, of similar lengths, in random order; and the words, some of them unknown."""
        rng = np.random.default_rng([self.settings.seed, self.epoch])
        lengths, made = self.encoded.lengths, list[Int64]()
        for _ in range(self.passes):
            order = np.argsort(lengths + rng.random(len(lengths)) * 3, kind="stable")
            number = (np.cumsum(lengths[order]) - lengths[order]) // self.settings.tokens
            made += np.split(order, np.flatnonzero(np.diff(number)) + 1)
        words = np.where(rng.random(len(self.unknown)) < self.unknown, UNKNOWN, self.encoded.words)
        return [made[i] for i in rng.permutation(len(made))], words

    def _prepared(self, batches: Sequence[Int64], words: Int64) -> Iterator[list[BatchPart]]:
        """The parts of each batch: on a CPU several, which threads work on; on a GPU one, prepared in advance."""
        if self.device == "cpu":
            parts = 1 if self.encoder else PARTS
            for chosen in batches:
                yield [self._part(chosen[k::parts], words) for k in range(min(parts, len(chosen)))]
        else:
            for part in in_threads(lambda chosen: self._part(chosen, words), batches, 2, ahead=2):
                yield [part]

    def _part(self, chosen: Int64, words: Int64) -> BatchPart:
        from treegauge.neural.span_network import on_device, to_device

        batch = make_batch(self.encoded, chosen, words)
        sizes = batch.lengths * (batch.lengths + 1) // 2
        own = [int(i) for i in batch.chosen]
        rows = [self.rows[i] + begin for i, begin in zip(own, np.cumsum(sizes) - sizes, strict=True)]
        found = [[self.tags[i] for i in own], rows, [self.labels[i] for i in own]]
        return BatchPart(on_device(batch, self.device), *to_device([np.concatenate(each) for each in found], self.device))

    def _train_batch(self, parts: Sequence[BatchPart]) -> Any:
        """One step of the optimiser; the loss of the batch's constituents."""
        torch = torch_module()
        seeds = np.random.SeedSequence([self.settings.seed, self.step]).generate_state(len(parts))
        (total, gradients), *others = self.pool.map(self._gradients, parts, seeds.tolist())
        for loss, more in others:
            total = total + loss
            torch._foreach_add_(gradients, more)
        for parameter, gradient in zip(self.parameters, gradients, strict=True):
            parameter.grad = gradient
        torch.nn.utils.clip_grad_norm_(self.parameters, LARGEST_NORM)
        self.optimiser.step()
        return total

    def _gradients(self, part: BatchPart, seed: int) -> tuple[Any, list[Any]]:
        """The loss of a part's constituents, and the gradients of all losses."""
        from treegauge.neural.span_network import Dropout, tree_distribution

        torch = torch_module()
        if self.encoder is not None:
            torch.manual_seed(seed)
        scores, tags = self.network(part.batch, Dropout(self.settings.dropout, seed, self.device))
        loss = tree_distribution(scores, part.batch).log_partition.sum() - scores[part.rows, part.labels].sum()
        of_tags = torch.nn.functional.cross_entropy(tags, part.tags, reduction="sum")
        whole = (loss + self.settings.tag_weight * of_tags) / SENTENCES
        return loss.detach(), list(torch.autograd.grad(whole, self.parameters, materialize_grads=True))

    def _views(self) -> list[NetworkView]:
        return network_views(self.network, self.vocabulary, USUAL_LAM, [tree.words for tree in self.gold])

    def _f1(self, views: Sequence[NetworkView], lam: float) -> float:
        """F1 on the slice; 0 if its trees have no brackets."""
        trees = [labelled_precision_recall(view, lam=lam).tree for view in views]
        found = evaluator("parseval").compute(predictions=trees, references=list(self.gold))["f1"]
        return 0.0 if math.isnan(found) else float(found)

    def result(self) -> NetworkModel:
        """The model with the best weights, and the lam that is best for them."""
        from treegauge.neural.span_network import load_weights

        weights = self.best or half_precision(self.weights)
        load_weights(self.network, weights)
        views = self._views()
        by_lam = {lam: self._f1(views, lam) for lam in LAMS} if views else {}
        lam = max(by_lam, key=lambda each: by_lam[each]) if by_lam else USUAL_LAM
        trees = [labelled_precision_recall(view, lam=lam).tree for view in views]
        expected = [expected_counts(view, tree) for view, tree in zip(views, trees, strict=True)]
        notes = {
            "method": "span CRF over bidirectional LSTMs of words and characters",
            "steps": self.steps,
            "device": self.device,
            "trees": len(self.trees),
            "slice": len(self.gold),
            "f1": by_lam.get(lam),
            "best_epoch": self._best_epoch(NEAR),
            "history": [list(each) for each in self.history],
            "calibration": fit_calibration(trees, expected, self.gold),
        }
        return NetworkModel(self.vocabulary, self.settings, weights, lam, notes=notes, vectors=self.vectors, encoder=self.encoder)

    def _save(self, checkpoints: CheckpointFolder) -> None:
        state = self.optimiser.state_dict()["state"]
        moments = {f"{name}.{i}": as_numpy(value) for i, own in state.items() for name, value in own.items()}
        document = {"epoch": self.epoch, "at": self.at, "step": self.step, "total": self.total, "history": self.history}
        now, best = (
            {f"{kind}.{name}": each for name, each in some.items()} for kind, some in (("now", self.weights), ("best", self.best))
        )
        checkpoints.write_state("network", document, {**now, **best, **moments})

    def restore(self, document: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        """Continue from a checkpoint, the inverse of :meth:`_save`."""
        from treegauge.neural.span_network import load_weights

        torch = torch_module()
        self.epoch, self.at, self.step = (int(document[name]) for name in ("epoch", "at", "step"))
        if min(self.epoch, self.at, self.step) < 0:
            raise ValueError("a number of steps is negative")
        self.total = float(document["total"])
        self.history = [(float(loss), None if f1 is None else float(f1)) for loss, f1 in document["history"]]
        named = {
            kind: {name.removeprefix(f"{kind}."): each for name, each in arrays.items() if name.startswith(f"{kind}.")}
            for kind in ("now", "best")
        }
        self.best = named["best"]
        load_weights(self.network, named["now"])
        state: dict[int, dict[str, Any]] = {}
        for name, each in arrays.items():
            field, _, number = name.partition(".")
            if number.isdecimal():
                state.setdefault(int(number), {})[field] = torch.from_numpy(each)
        self.optimiser.load_state_dict({"state": state, "param_groups": self.optimiser.state_dict()["param_groups"]})


def _finite(loss: float) -> float:
    """The loss, if it is a number."""
    if not math.isfinite(loss):
        raise UsageError("training diverged: the loss is not a number; try a smaller learning rate")
    return loss


def _answers(vocabulary: Vocabulary, trees: Sequence[Tree]) -> tuple[list[Int64], list[Int64], list[Int64]]:
    """For each tree the tags of its words, and the rows and labels of its constituents."""
    tag, label = ({name: i for i, name in enumerate(names)} for names in (vocabulary.tags, vocabulary.labels))
    tags = [np.array([tag[each] for each in tree.tags], np.int64) for tree in trees]
    spans = [labelled_spans(tree, tags=True) for tree in trees]
    rows = [np.array([span_row(tree.width, *span) for span in own], np.int64) for tree, own in zip(trees, spans, strict=True)]
    return tags, rows, [np.array([label[each] for each in own.values()], np.int64) for own in spans]
