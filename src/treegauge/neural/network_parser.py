"""A parser with a trained network, which gives the same kind of results as :class:`treegauge.parsing.parser.Parser`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from treegauge.errors import MismatchError
from treegauge.neural.network_model import NetworkModel, chosen_device
from treegauge.neural.network_view import NetworkView, network_views
from treegauge.parsing.objectives import check_objective
from treegauge.parsing.parser import BatchParser, ParsedSentence, Sentence, fallback, mark_fallback
from treegauge.parsing.posterior_view import PosteriorView
from treegauge.parsing.spellings import Spellings, spellings_of
from treegauge.trees.tree import Tree

DEFAULT = "labelled-precision-recall"
MOST_WORDS = 400
"""Longer sentences are not parsed."""


@dataclass(frozen=True)
class NetworkParser(BatchParser):
    """A network with an objective: ``parser.parse(sentence)``."""

    model: NetworkModel
    objective: str = DEFAULT
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    device: str = "auto"

    def check(self) -> None:
        """Raise an error for an unusable objective, option or device before the first sentence is parsed."""
        check_objective(self.objective, self.options, NetworkView.gives)
        chosen_device(self.device)

    @property
    def forks(self) -> bool:
        """Neither torch's threads nor a GPU can be used in copies of the process."""
        return False

    @property
    def about(self) -> str:
        """The size of the network."""
        return repr(self.model).strip("<>")

    @property
    def spellings(self) -> Spellings:
        """The words that the network has seen, in lower case."""
        return spellings_of(self.model.vocabulary.words, self.model.derived)

    @property
    def phrase_labels(self) -> frozenset[str]:
        """The labels of phrases, not of words, that its trees can have."""
        return frozenset(self.model.vocabulary.phrase_labels)

    def output_tree(self, tree: Tree, sentence: Sentence) -> Tree:
        """The tree itself, which has the sentence's own tags if these are to be kept."""
        return tree

    def view(self, sentence: Sentence) -> PosteriorView:
        """The posteriors of one sentence."""
        PosteriorView.checked_words(sentence.words, MOST_WORDS)
        (view,) = self.views([sentence])
        if view is None:
            raise MismatchError("a sentence without words has no parse")
        return view

    def views(self, sentences: Sequence[Sentence]) -> list[PosteriorView | None]:
        """The posteriors of several sentences, computed together; None for those that have no words or too many."""
        usable = [i for i, sentence in enumerate(sentences) if 0 < len(sentence.words) <= MOST_WORDS]
        found: list[PosteriorView | None] = [None] * len(sentences)
        for i, view in zip(usable, self._network_views([sentences[i] for i in usable]), strict=True):
            found[i] = view
        return found

    def _network_views(self, sentences: Sequence[Sentence]) -> list[NetworkView]:
        tags = [self.given_tags(sentence) for sentence in sentences]
        network = self.model.network(self.device)
        words = [self.spellings(sentence.words) for sentence in sentences]
        return network_views(network, self.model.vocabulary, self.model.lam, words, tags)

    def result(self, view: PosteriorView | None, sentence: Sentence) -> ParsedSentence:
        """The best tree of one sentence, or the fallback if it has no words or too many."""
        if view is not None:
            return self.parsed(view, view.argmax(self.objective, **self.options), sentence, view.log_partition)
        return replace(self.too_long(sentence), too_long=bool(sentence.words))

    def fallback_tree(self, sentence: Sentence) -> Tree:
        """The right-branching tree of a sentence, with its own tags if these are to be kept, or those of its pieces."""
        tags = self.given_tags(sentence) or [tag for piece in _pieces(sentence) for tag in self._likely_tags(piece)]
        return mark_fallback(fallback(sentence.words, tags, root=self.model.vocabulary.root or "S"))

    def _likely_tags(self, sentence: Sentence) -> list[str]:
        (view,) = self._network_views([sentence])
        return [view.tag_posteriors(i)[0][0] or "X" for i in range(view.n)]


def _pieces(sentence: Sentence) -> list[Sentence]:
    return [Sentence(sentence.words[i : i + MOST_WORDS]) for i in range(0, len(sentence.words), MOST_WORDS)]
