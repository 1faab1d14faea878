"""A trigram HMM tagger whose posteriors weight the tag sequences of a span.

P(tags, words) = prod P(t_k | t_{k-2}, t_{k-1}) P(w_k | t_k). Transitions are estimated by deleted interpolation of uni-, bi- and
trigram frequencies, and unknown words by their suffixes, both as in Brants 2000. Backward and forward sums give, for a sentence,
the exact posterior of every tag given the two before it.

A tag lattice holds the possible tag sequences of a sentence with their probabilities: certain for gold tags, uncertain for the
posteriors of a tagger. It gives the tags with which a sequence can begin at word ``i``, and those with which it can continue.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

SENTENCE_END = "</s>"

TagState = tuple[str, ...]
"""The tags so far that a lattice needs to continue: none if they are certain, the last two for a trigram tagger."""


class TagLattice(Protocol):
    """The posterior distribution over tag sequences of one sentence."""

    def __len__(self) -> int: ...

    def first(self, word: int) -> Sequence[tuple[str, float, TagState]]:
        """The tags of a word with their probabilities, and the state after each."""
        ...

    def following(self, word: int, state: TagState) -> Sequence[tuple[str, float, TagState]]:
        """The tags of ``word`` given the tags before it; past the last word, the end of the sentence."""
        ...


class CertainTags:
    """One tag per word, with probability 1.

    >>> CertainTags(["DT", "NN"]).following(2, ())
    [('</s>', 1.0, ())]
    """

    def __init__(self, tags: Sequence[str]) -> None:
        self._choices: list[list[tuple[str, float, TagState]]] = [[(tag, 1.0, ())] for tag in (*tags, SENTENCE_END)]

    def __len__(self) -> int:
        return len(self._choices) - 1

    def first(self, word: int) -> Sequence[tuple[str, float, TagState]]:
        return self._choices[word]

    def following(self, word: int, state: TagState) -> Sequence[tuple[str, float, TagState]]:
        return self._choices[word]


Array = NDArray[np.float64]

_START = "<s>"
_LONGEST_SUFFIX = 6
_RARE = 10
"""The suffixes of words with at most this frequency are counted."""

_NEGLIGIBLE = 1e-3
"""Tags less probable than this, given the words and the tags before, are left out of a lattice."""


class HmmTagger:
    """A trigram tagger trained on tagged sentences.

    >>> tagger = HmmTagger.train([(["the", "cat", "sat"], ["DT", "NN", "VBD"]), (["a", "dog", "sat"], ["DT", "NN", "VBD"])])
    >>> tagger.lattice(["the", "dog", "sat"]).best()
    ['DT', 'NN', 'VBD']
    """

    def __init__(self, tags: Sequence[str], transition: Array, emission: dict[str, Array], suffixes: _Suffixes) -> None:
        self.tags = tuple(tags)
        self._transition = transition
        self._emission = emission
        self._suffixes = suffixes

    def __repr__(self) -> str:
        return f"<HmmTagger of {len(self.tags)} tags, {len(self._emission)} words>"

    @classmethod
    def train(cls, sentences: Iterable[tuple[Sequence[str], Sequence[str]]]) -> HmmTagger:
        """Estimate from (words, tags) pairs."""
        corpus = [(list(words), list(tags)) for words, tags in sentences]
        names = sorted({tag for _, tags in corpus for tag in tags})
        number = {tag: index for index, tag in enumerate([*names, _START, SENTENCE_END])}
        by_word: dict[str, Counter[int]] = defaultdict(Counter)
        for words, tags in corpus:
            for word, tag in zip(words, tags, strict=True):
                by_word[word][number[tag]] += 1
        tag_counts = np.zeros(len(names))
        for counts in by_word.values():
            for tag, count in counts.items():
                tag_counts[tag] += count
        emission = {word: _dense_row(counts, len(names)) / tag_counts for word, counts in by_word.items()}
        transition = _interpolate([[number[tag] for tag in tags] for _, tags in corpus], number, len(names))
        return cls(names, transition, emission, _Suffixes.train(by_word, tag_counts))

    def document(self) -> dict[str, Any]:
        """The tagger's part of a model file: names."""
        keys = list(self._suffixes.counts)
        return {"tags": list(self.tags), "words": list(self._emission), "suffixes": [[int(upper), end] for upper, end in keys]}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The tagger's part of a model file: arrays."""
        return {
            "tagger_transition": self._transition,
            "tagger_emission": np.array(list(self._emission.values())),
            "tagger_prior": self._suffixes.prior,
            "tagger_suffixes": np.array(list(self._suffixes.counts.values())),
        }

    @classmethod
    def from_parts(cls, document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> HmmTagger:
        """The tagger that a model file stores."""
        emission = dict(zip(document["words"], arrays["tagger_emission"], strict=True))
        keys = [(bool(upper), end) for upper, end in document["suffixes"]]
        suffixes = _Suffixes(arrays["tagger_prior"], dict(zip(keys, arrays["tagger_suffixes"], strict=True)))
        return cls(document["tags"], arrays["tagger_transition"], emission, suffixes)

    def emission(self, word: str) -> Array:
        """P(word | tag) for every tag, up to a factor that is the same for all tags."""
        known = self._emission.get(word)
        return known if known is not None else self._suffixes.emission(word)

    def lattice(self, words: Sequence[str]) -> PosteriorTags:
        """The posterior over tag sequences of a sentence."""
        return PosteriorTags(self.tags, self._transition, [self.emission(word) for word in words])


def _dense_row(counts: Counter[int], size: int) -> Array:
    row = np.zeros(size)
    for index, count in counts.items():
        row[index] = count
    return row


def _interpolate(corpus: Sequence[Sequence[int]], number: dict[str, int], n_tags: int) -> Array:
    """P(c | a, b) for tags a, b (or start) and c (or end), by deleted interpolation."""
    start, end, size = number[_START], number[SENTENCE_END], n_tags + 2
    trigrams = np.zeros((size, size, size))
    for tags in corpus:
        padded = [start, start, *tags, end]
        for a, b, c in zip(padded, padded[1:], padded[2:], strict=False):
            trigrams[a, b, c] += 1
    bigrams, unigrams = trigrams.sum(axis=0), trigrams.sum(axis=(0, 1))
    contexts2, contexts1, total = trigrams.sum(axis=2), bigrams.sum(axis=1), max(unigrams.sum(), 1.0)
    weights = np.zeros(3)
    for a, b, c in np.argwhere(trigrams > 0):
        count = trigrams[a, b, c]
        # Each trigram votes, with its count, for the order that predicts it best when it is left out.
        left_out = [
            (unigrams[c] - 1) / (total - 1) if total > 1 else 0.0,
            (bigrams[b, c] - 1) / (contexts1[b] - 1) if contexts1[b] > 1 else 0.0,
            (count - 1) / (contexts2[a, b] - 1) if contexts2[a, b] > 1 else 0.0,
        ]
        weights[int(np.argmax(left_out))] += count
    weights /= max(weights.sum(), 1.0)
    by_unigram = unigrams / total
    by_bigram = np.divide(bigrams, contexts1[:, None], out=np.zeros_like(bigrams), where=contexts1[:, None] > 0)
    by_trigram = np.divide(trigrams, contexts2[:, :, None], out=np.zeros_like(trigrams), where=contexts2[:, :, None] > 0)
    return weights[0] * by_unigram + weights[1] * by_bigram + weights[2] * by_trigram


class _Suffixes:
    """P(tag | suffix) of rare words, each suffix smoothed by the next shorter one."""

    def __init__(self, prior: Array, counts: dict[tuple[bool, str], Array]) -> None:
        self.prior, self.counts = prior, counts
        self._weight = float(np.std(prior, ddof=1)) if len(prior) > 1 else 1.0

    @classmethod
    def train(cls, by_word: dict[str, Counter[int]], tag_counts: Array) -> _Suffixes:
        counts: dict[tuple[bool, str], Array] = defaultdict(lambda: np.zeros(len(tag_counts)))
        for word, tags in by_word.items():
            if tags.total() <= _RARE:
                row = _dense_row(tags, len(tag_counts))
                for length in range(min(_LONGEST_SUFFIX, len(word)) + 1):
                    counts[_suffix(word, length)] += row
        return cls(tag_counts / max(tag_counts.sum(), 1.0), dict(counts))

    def emission(self, word: str) -> Array:
        """P(tag | suffix) / P(tag), which is P(suffix | tag) up to a factor."""
        posterior = self.prior
        for length in range(min(_LONGEST_SUFFIX, len(word)) + 1):
            row = self.counts.get(_suffix(word, length))
            if row is None:
                break
            posterior = (row / row.sum() + self._weight * posterior) / (1 + self._weight)
        return np.divide(posterior, self.prior, out=np.zeros_like(posterior), where=self.prior > 0)


def _suffix(word: str, length: int) -> tuple[bool, str]:
    return word[:1].isupper(), word[len(word) - length :]


class PosteriorTags:
    """The :class:`TagLattice` of a sentence by a trigram tagger."""

    def __init__(self, tags: Sequence[str], transition: Array, emissions: Sequence[Array]) -> None:
        start, end = len(tags), len(tags) + 1
        possible = [np.array([start]), np.array([start]), *(np.flatnonzero(row > 0) for row in emissions), np.array([end])]
        names = [*tags, _START, SENTENCE_END]
        self._n = len(emissions)
        # Index k + 2 is word k: two starts come before the sentence, its end after it.
        self._names = [[names[index] for index in indices] for indices in possible]
        self._number = [{name: place for place, name in enumerate(word)} for word in self._names]
        factors = [*(row[row > 0] / row.max() for row in emissions), np.ones(1)]
        steps = [transition[np.ix_(possible[k], possible[k + 1], possible[k + 2])] * factor for k, factor in enumerate(factors)]
        self._conditional = _conditionals(steps)
        self._pairs = _pair_posteriors(self._conditional[: self._n])

    def __len__(self) -> int:
        return self._n

    def best(self) -> list[str]:
        """The most probable tag of each word on its own."""
        return [self._names[k + 2][int(self._pairs[k].sum(axis=0).argmax())] for k in range(self._n)]

    def first(self, word: int) -> Sequence[tuple[str, float, TagState]]:
        return _likely(self._names[word + 2], self._pairs[word].sum(axis=0), ())

    def following(self, word: int, state: TagState) -> Sequence[tuple[str, float, TagState]]:
        conditional = self._conditional[word]
        last = self._number[word + 1][state[-1]]
        if len(state) == 2:
            shares = conditional[self._number[word][state[0]], last]
        else:
            # Only the last tag is known: take the average over the tag before it.
            weight = self._pairs[word - 1][:, last]
            shares = weight @ conditional[:, last] / weight.sum()
        return _likely(self._names[word + 2], shares, state[-1:])


def _conditionals(steps: Sequence[Array]) -> list[Array]:
    """P(tag of word k | the two tags before it, all words), from P(tag, word | the two tags before it) of each word.

    Going backward, ``after`` is the sum over all continuations, scaled so that long sentences do not underflow.
    """
    conditionals: list[Array] = []
    after = np.ones(steps[-1].shape[1:])
    for step in reversed(steps):
        joint = step * after
        total = joint.sum(axis=2)
        conditionals.append(np.divide(joint, total[:, :, None], out=np.zeros_like(joint), where=total[:, :, None] > 0))
        after = total / total.max()
    return conditionals[::-1]


def _pair_posteriors(conditionals: Sequence[Array]) -> list[Array]:
    """P(tags of words k-1 and k | all words) for each word k."""
    pairs: list[Array] = []
    before = np.ones((1, 1))
    for conditional in conditionals:
        before = np.einsum("ab,abc->bc", before, conditional)
        pairs.append(before)
    return pairs


def _likely(names: Sequence[str], shares: Array, state: TagState) -> list[tuple[str, float, TagState]]:
    return [(name, share, (*state, name)) for name, share in zip(names, shares.tolist(), strict=True) if share >= _NEGLIGIBLE]
