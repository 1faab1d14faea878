"""The network of a span parser: words and their characters, bidirectional LSTMs, scores of labelled spans, and tags as a second
task.

A span is the difference of its two fenceposts, whose values are the states of the LSTMs on both sides (Gaddy, Stern & Klein 2018),
and a product of its first and its last, so that its ends are weighed together as in a biaffine scorer (Dozat & Manning 2017). The
scores are those of an n-ary span CRF in which "no constituent" scores 0.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treegauge.neural.backend import Tensor
from treegauge.neural.pretrained_encoder import PretrainedEncoder
from treegauge.neural.sentence_batches import MOST_CHARACTERS, Batch
from treegauge.neural.span_crf import SpanCRF

if TYPE_CHECKING:
    from treegauge.neural.network_model import NetworkSettings

torch: Any = importlib.import_module("torch")
nn: Any = importlib.import_module("torch.nn")
packed_sequence: Any = importlib.import_module("torch.nn.utils.rnn").PackedSequence

ROWS = 1 << 15
"""The number of spans that are scored at once if no gradients are wanted."""


class SpanNetwork(nn.Module):
    """Scores of labelled spans and of tags; ``sizes`` are those of a :class:`~treegauge.neural.sentence_batches.Vocabulary`.

    Given vectors of words, which training does not change, and the outputs of a pretrained ``encoder`` are read beside the words.
    """

    def __init__(self, shape: NetworkSettings, sizes: tuple[int, int, int, int], encoder: PretrainedEncoder | None = None) -> None:
        nn.Module.__init__(self)
        words, characters, tags, labels = sizes
        hidden, spans, of_character, widths = shape.hidden, shape.spans, shape.characters, shape.convolutions
        self.words = nn.Embedding(words, shape.words)
        self.characters = nn.Embedding(characters, of_character, padding_idx=0)
        self.spelling = nn.LSTM(of_character, of_character, bidirectional=True)
        self.convolutions = nn.ModuleList(nn.Conv1d(of_character, of_character, k, padding=k // 2) for k in widths)
        self.tokeniser = encoder
        self.encoder: Any = None if encoder is None else encoder.build()
        self.register_buffer("vectors", torch.zeros(1, shape.vectors), persistent=False)
        read = shape.words + (2 + len(widths)) * of_character + shape.vectors
        read += self.encoder.config.hidden_size if encoder else 0
        self.recurrent = nn.ModuleList(
            nn.LSTM(2 * hidden if layer else read, hidden, bidirectional=True) for layer in range(shape.layers)
        )
        self.fenceposts = nn.Linear(2 * hidden, spans, bias=False)
        self.factors = nn.Linear(2 * hidden, 2 * spans)
        self.bias = nn.Parameter(torch.zeros(spans))
        self.norm = nn.LayerNorm(spans)
        self.labels = nn.Linear(spans, labels)
        self.tag_hidden = nn.Linear(2 * hidden, spans)
        self.tags = nn.Linear(spans, tags)

    def forward(self, batch: Batch, dropout: Dropout | None = None) -> tuple[Tensor, Tensor]:
        """The scores of each span's labels (spans, labels), and of each word's tags (words, tags)."""
        drop = dropout or no_dropout
        read = [self.words(batch.words), self._spelled(batch)[batch.spelling], self.vectors[batch.vectors]]
        x = drop(torch.cat([*read, self._encoded(batch)] if self.encoder else read, -1), batch)
        for layer in self.recurrent:
            x = drop(layer(packed_sequence(x, batch.steps))[0].data, batch)
        forward, backward = x.chunk(2, -1)
        sides = torch.cat([forward[batch.before], backward[batch.after]], -1)
        fenceposts, (first, last) = self.fenceposts(sides), self.factors(sides).chunk(2, -1)
        rows = ROWS if not torch.is_grad_enabled() else len(batch.left)
        parts = zip(batch.left.split(rows), batch.right.split(rows), strict=True)
        spans = (fenceposts[j] - fenceposts[i] + first[i] * last[j] + self.bias for i, j in parts)
        scores = [self.labels(drop(self.norm(each).relu())) for each in spans]
        of_tags = drop(self.tag_hidden(x[batch.position]).relu())
        return scores[0] if len(scores) == 1 else torch.cat(scores), self.tags(of_tags)

    def _spelled(self, batch: Batch) -> Tensor:
        """The values of each spelling: the last states of its characters, and the largest values of their convolutions."""
        read = self.characters(batch.spellings)
        _, (states, _) = self.spelling(packed_sequence(read.flatten(0, 1)[batch.letters], batch.letter_steps))
        # Every word is followed by padding, so that its values do not depend on the longest word beside it.
        padded = nn.functional.pad(read.transpose(1, 2), (0, MOST_CHARACTERS))
        return torch.cat([states[0], states[1], *(c(padded).relu().amax(-1) for c in self.convolutions)], -1)

    def _encoded(self, batch: Batch) -> Tensor:
        """The mean of the encoder's outputs for the sub-words of each position; 0 at marks. Training uses mixed precision on a GPU
        and the encoder's own dropout."""
        training, is_real = torch.is_grad_enabled(), batch.windows >= 0
        self.encoder.train(training)
        mixed = training and is_real.is_cuda and torch.cuda.is_bf16_supported()
        with torch.autocast(is_real.device.type, torch.bfloat16, enabled=mixed):
            given = torch.where(is_real, batch.windows, self.encoder.config.pad_token_id or 0)
            made = self.encoder(input_ids=given, attention_mask=is_real.long()).last_hidden_state
        made = made.float().flatten(0, 1)[batch.outputs]
        total = made.new_zeros(len(batch.words), made.shape[-1]).index_add(0, batch.inputs, made)
        return total / torch.bincount(batch.inputs, minlength=len(total)).clamp_min(1)[:, None]


def no_dropout(x: Tensor, batch: Batch | None = None) -> Tensor:
    """The values themselves."""
    return x


class Dropout:
    """A function that sets a share of values to 0 and scales the rest, with random numbers from a seed: whole columns of a
    sentence if rows are the positions of a ``batch``, else single values."""

    def __init__(self, share: float, seed: int, device: str) -> None:
        self.share, self.random = share, torch.Generator(device).manual_seed(seed)

    def __call__(self, x: Tensor, batch: Batch | None = None) -> Tensor:
        if not self.share:
            return x
        kept = x.new_empty(len(x) if batch is None else len(batch.lengths), x.shape[-1])
        kept = kept.bernoulli_(1 - self.share, generator=self.random) / (1 - self.share)
        return x * (kept if batch is None else kept[batch.sentence])


def load_weights(network: Any, weights: Mapping[str, NDArray[Any]]) -> Any:
    """The network with these weights."""
    network.load_state_dict({name: torch.from_numpy(array).float() for name, array in weights.items()})
    return network


def load_vectors(network: Any, values: NDArray[np.float16]) -> Any:
    """The network with these given vectors, and zeros for words without one."""
    network.vectors = torch.cat([torch.zeros(1, values.shape[1]), torch.from_numpy(values).float()]).to(network.bias.device)
    return network


def weight_shapes(
    settings: NetworkSettings, sizes: tuple[int, int, int, int], encoder: PretrainedEncoder | None
) -> dict[str, tuple[int, ...]]:
    """The shape of each weight of a network, which is not built for this."""
    with torch.device("meta"):
        return {name: tuple(weight.shape) for name, weight in SpanNetwork(settings, sizes, encoder).state_dict().items()}


def to_device(arrays: Sequence[NDArray[Any]], device: str) -> list[Tensor]:
    """Arrays of whole numbers as tensors on a device, sent in one piece."""
    flat = torch.from_numpy(np.concatenate([array.reshape(-1) for array in arrays]))
    if device != "cpu":
        flat = flat.pin_memory().to(device, non_blocking=True)
    parts = flat.split([array.size for array in arrays])
    return [part.view(array.shape) for part, array in zip(parts, arrays, strict=True)]


def on_device(batch: Batch, device: str) -> Batch:
    """The batch with its indices as tensors on a device."""
    chosen, lengths, steps, letter_steps, *indices = batch
    return Batch(chosen, lengths, torch.from_numpy(steps), torch.from_numpy(letter_steps), *to_device(indices, device))


def tree_distribution(scores: Tensor, batch: Batch, dtype: Any = None) -> SpanCRF:
    """The distribution over the trees of a batch, whose one label stands for all: its score is their log-sum."""
    B, n = len(batch.lengths), int(batch.lengths[0])
    real = scores.logsumexp(-1) if dtype is None else scores.to(dtype).logsumexp(-1)
    cells = real.new_zeros(B * n * n).index_copy(0, batch.cell, real).view(B, n, n)
    return SpanCRF(torch.stack([torch.zeros_like(cells), cells], -1), batch.lengths, null=0, root=False)
