"""A parser with a latent-variable model, which gives the same kind of results as :class:`treegauge.parsing.parser.Parser`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from treegauge.errors import TooLong
from treegauge.grammar.latent.latent_model import LatentModel
from treegauge.parsing.latent.latent_forest import MOST_WORDS, LatentForest, word_columns
from treegauge.parsing.latent.passes import base_words
from treegauge.parsing.objectives import check_objective
from treegauge.parsing.parser import FALLBACK, ParsedSentence, Sentence, SentenceParser, check_sentence, fallback, mark_fallback
from treegauge.parsing.spellings import Spellings, spellings_of
from treegauge.tables import concise
from treegauge.trees.tree import Child, Tree

DEFAULT = "labelled-precision-recall"


@concise
@dataclass(frozen=True)
class LatentParser(SentenceParser):
    """A latent-variable model with an objective: ``parser.parse(sentence)``.

    ``exact`` turns pruning off, except for sentences with too many parses. ``gold_tags`` keeps a sentence's own tags. A sentence
    without a parse is parsed in the fewest pieces that have one each, and its root is marked like that of every fallback.
    """

    model: LatentModel
    objective: str = DEFAULT
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    exact: bool = False

    def check(self) -> None:
        """Raise an error for an unknown objective or option before the first sentence is parsed."""
        check_objective(self.objective, self.options)

    @property
    def about(self) -> str:
        """The size of the model."""
        return repr(self.model).strip("<>")

    @property
    def spellings(self) -> Spellings:
        """The words that the model has seen."""
        return spellings_of(self.model.table.words, self.model.derived)

    @property
    def phrase_labels(self) -> frozenset[str]:
        """The labels of phrases, not of words, that its trees can have."""
        return frozenset(self.model.base.labels)

    def without_pruning(self) -> LatentParser:
        """The same parser with pruning turned off."""
        return replace(self, exact=True)

    def parse(self, sentence: Sentence) -> ParsedSentence:
        """The best tree of one sentence, or the fallback if it has no parse or too many words for a chart."""
        check_sentence(sentence)
        try:
            forest = self.view(sentence)
            if not forest.has_parse:
                return ParsedSentence(sentence, self._parse_pieces(forest, sentence), math.nan, -math.inf, True)
        except TooLong:
            if self.exact and len(sentence.words) <= MOST_WORDS:
                return replace(replace(self, exact=False).parse(sentence), pruned=True)
            return self.too_long(sentence)
        return self.parsed(forest, forest.argmax(self.objective, **self.options), sentence, forest.log_partition)

    def view(self, sentence: Sentence) -> LatentForest:
        """The parses of a sentence that pruning leaves."""
        known, given = set(self.model.base.tags), self.given_tags(sentence)
        tags = None if given is None else [{tag} if tag in known else None for tag in given]
        return LatentForest(self.model, self.spellings(sentence.words), tags=tags, exact=self.exact)

    def _parse_pieces(self, forest: LatentForest, sentence: Sentence) -> Tree:
        """The fewest pieces of the sentence that have a parse each, under one root; a word without a parse is below its tag."""
        n = forest.n
        if not n:
            return Tree("")
        has_parse = forest.parsable_spans()
        fewest, cut = [0] + [n + 1] * n, [0] * (n + 1)
        for t in range(1, n + 1):
            for s in range(t):
                if (has_parse[s, t] or t == s + 1) and fewest[s] + 1 < fewest[t]:
                    fewest[t], cut[t] = fewest[s] + 1, s
        bounds = [n]
        while bounds[-1]:
            bounds.append(cut[bounds[-1]])
        children: list[Child] = []
        for s, t in zip(bounds[:0:-1], bounds[-2::-1], strict=True):
            children.extend(self._piece(sentence, s, t))
        root = self.model.base.root or "S"
        return Tree(f"{root}-{FALLBACK}", children)

    def _piece(self, sentence: Sentence, s: int, t: int) -> list[Child]:
        part = Sentence(sentence.words[s:t], None if sentence.tags is None else sentence.tags[s:t])
        forest = self.view(part)
        if not forest.has_parse:
            tags = self.given_tags(part) or self._likely_tags(part)
            return [Tree(tag, [word]) for tag, word in zip(tags, part.words, strict=True)]
        tree = self.shown_tree(forest.argmax(self.objective, **self.options).tree, part)
        return list(tree.children) if tree.label == self.model.base.root else [tree]

    def fallback_tree(self, sentence: Sentence) -> Tree:
        """The right-branching tree of a sentence, with its own tags if these are to be kept, else the likeliest ones."""
        tags = self.given_tags(sentence) or self._likely_tags(sentence)
        return mark_fallback(fallback(sentence.words, tags, root=self.model.base.root or "S"))

    def _likely_tags(self, sentence: Sentence) -> list[str]:
        """The likeliest tag of each word, regardless of context."""
        base, level = self.model.base, self.model.base_level
        rows = base_words(word_columns(self.model, self.spellings(sentence.words)), level, base.is_tag, 0.0)
        total = np.zeros(base.size)
        total[base.is_tag] = level.emissions.total
        return [base.names[int(tag)] or "X" for tag in (rows * total).argmax(axis=1)]
