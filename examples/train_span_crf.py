"""Train a small span parser with a tree-CRF on the treebank that comes with treegauge, and decode it for F1.

    pip install 'treegauge[torch]'
    python train_span_crf.py [--epochs 12] [--device cuda] [--save charts.npz]

Words and tags go through a BiLSTM; a span is the difference of its ends; label 0 means "no constituent" and its score is 0. Labels
have no functions (NP-SBJ is NP), as in the scores: a chart should have no finer labels than the metric it is decoded for.
About a minute on a CPU.
"""

from __future__ import annotations

import argparse
import random
import time

import torch
from torch import nn

import treegauge
from treegauge.data import own_treebank
from treegauge.neural import SpanCRF
from treegauge.normalise import pipeline
from treegauge.parsing import SpanChart, tune, write_charts
from treegauge.parsing.span_trees import labelled_spans


class SpanParser(nn.Module):
    """Scores (B, n, n, labels) of the spans of a batch."""

    def __init__(self, words: int, tags: int, labels: int, size: int = 64) -> None:
        super().__init__()
        self.words, self.tags = nn.Embedding(words, size), nn.Embedding(tags, size)
        self.lstm = nn.LSTM(2 * size, size, batch_first=True, bidirectional=True)
        self.hidden = nn.Sequential(nn.Linear(2 * size, 2 * size), nn.LayerNorm(2 * size), nn.ReLU())
        self.label = nn.Linear(2 * size, labels - 1)
        self.dropout = nn.Dropout(0.2)

    def forward(self, words: torch.Tensor, tags: torch.Tensor) -> torch.Tensor:
        """``words`` and ``tags`` (B, n + 2), with a mark at each end."""
        states, _ = self.lstm(self.dropout(torch.cat([self.words(words), self.tags(tags)], -1)))
        forward, backward = states.chunk(2, -1)
        ends = torch.cat([forward[:, :-1], backward[:, 1:]], -1)
        spans = ends[:, None, 1:] - ends[:, :-1, None]
        real = self.label(self.hidden(spans))
        return torch.cat([torch.zeros_like(real[..., :1]), real], -1)


class Vocabulary:
    """Words seen at least twice, tags, and labels (chains such as S::VP are one), with numbers; 0 is padding, 1 unknown."""

    def __init__(self, trees: list[treegauge.Tree]) -> None:
        words = [word.lower() for tree in trees for word in tree.words]
        known = sorted({word for word in words if words.count(word) > 1})
        self.words = {word: i for i, word in enumerate(["<pad>", "<unk>", "<end>", *known])}
        self.tags = {tag: i for i, tag in enumerate(["<pad>", "<unk>", "<end>", *sorted({t for tree in trees for t in tree.tags})])}
        self.labels = ["", *sorted({label for tree in trees for label in labelled_spans(tree, tags=True).values()})]

    def tensors(self, trees: list[treegauge.Tree], device: str) -> tuple[torch.Tensor, torch.Tensor, list[int]]:
        lengths = [len(tree.words) for tree in trees]
        made = torch.zeros(2, len(trees), max(lengths) + 2, dtype=torch.long)
        for i, tree in enumerate(trees):
            made[0, i, : lengths[i] + 2] = torch.tensor([2, *(self.words.get(w.lower(), 1) for w in tree.words), 2])
            made[1, i, : lengths[i] + 2] = torch.tensor([2, *(self.tags.get(t, 1) for t in tree.tags), 2])
        words, tags = made.to(device)
        return words, tags, lengths


def parts() -> tuple[list[treegauge.Tree], list[treegauge.Tree]]:
    """Our own treebank without functions: to train on, and to try the parser on."""
    plain = pipeline("functions")
    return list(plain.apply(own_treebank("train"))), list(plain.apply(own_treebank("dev")))


def train(
    trees: list[treegauge.Tree], epochs: int = 12, batch: int = 16, seed: int = 1, device: str = "cpu"
) -> tuple[SpanParser, Vocabulary]:
    """A parser trained by the likelihood of its trees."""
    torch.manual_seed(seed)
    order = random.Random(seed)
    vocabulary = Vocabulary(trees)
    model = SpanParser(len(vocabulary.words), len(vocabulary.tags), len(vocabulary.labels)).to(device)
    optimiser = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(epochs):
        began, total = time.perf_counter(), 0.0
        shuffled = order.sample(trees, len(trees))
        for first in range(0, len(shuffled), batch):
            some = shuffled[first : first + batch]
            words, tags, lengths = vocabulary.tensors(some, device)
            loss = SpanCRF(model(words, tags), lengths, null=0, labels=vocabulary.labels).loss(some)
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimiser.step()
            total += loss.item() * len(some)
        print(f"epoch {epoch + 1}: {total / len(trees):.3f} nats per sentence, {time.perf_counter() - began:.1f} s", flush=True)
    return model.eval(), vocabulary


@torch.no_grad()
def charts(model: SpanParser, vocabulary: Vocabulary, trees: list[treegauge.Tree], device: str = "cpu") -> list[SpanChart]:
    """The charts of sentences."""
    made: list[SpanChart] = []
    for tree in trees:
        words, tags, _ = vocabulary.tensors([tree], device)
        scores = model(words, tags)[0]
        made.append(SpanChart(scores, null=0, labels=vocabulary.labels, words=tree.words, tags=tree.tags))
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--save", help="write the charts of the development part for `treegauge decode`")
    options = parser.parse_args()
    torch.set_num_threads(1)  # the model is small: further threads would only wait for each other
    to_train, dev = parts()
    model, vocabulary = train(to_train, options.epochs, device=options.device)
    found = charts(model, vocabulary, dev, options.device)
    for objective in ("viterbi", "labelled-recall", "labelled-precision-recall"):
        result = treegauge.score(dev, [chart.argmax(objective).tree for chart in found])
        rates = [100 * result.rates[name] for name in ("recall", "precision", "f1")]
        print(f"{objective:26} recall {rates[0]:.2f} precision {rates[1]:.2f} F1 {rates[2]:.2f}")
    print(tune(found[::2], dev[::2]))
    if options.save:
        scores = [chart.scores for chart in found]
        write_charts(options.save, scores, vocabulary.labels, words=[t.words for t in dev], tags=[t.tags for t in dev], null=[0])


if __name__ == "__main__":
    main()
