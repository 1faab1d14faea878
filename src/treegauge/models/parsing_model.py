"""Models in Python: opened from files of every kind, and asked for parses of text.

>>> model = load("own")
>>> model
<model own: PCFG of 14,005 rules, 161 symbols, 1,600 words; decodes with viterbi>
>>> parse = model.parse("I saw the man.")
>>> print(parse.tree)
(S (NP (PRP I)) (VP (VBD saw) (NP (DT the) (NN man))) (. .))
>>> [str(each.tree) for each in model.parse(["It rains.", "Rain fell."])]
['(S (NP (PRP It)) (VP (VBZ rains)) (. .))', '(S (NP (NN Rain)) (VP (VBD fell)) (. .))']
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast, overload

from treegauge.errors import TreegaugeWarning, UnknownName, UsageError, checked, warn
from treegauge.models.loading import LoadedModel, load_parser
from treegauge.parsing.confidence import calibration_from_notes
from treegauge.parsing.input import sentence_of
from treegauge.parsing.mixture import MixtureParser, mixture_of
from treegauge.parsing.objectives import CRITERIA, OBJECTIVES
from treegauge.parsing.parser import ParsedSentence, Sentence, SentenceParser
from treegauge.parsing.posterior_view import Constituent, Parse
from treegauge.parsing.raw_text import split_sentences, tokenise
from treegauge.tables import british, cut, number_of
from treegauge.trees import Tree
from treegauge.trees.notation import FORBIDDEN, restore_word


class ParsingModel:
    """A model that parses text, of any kind: counted, trained, a network or a mixture.

    A sentence is a string, split into words as in the Penn Treebank (``parse --raw``); a tree, whose words without traces are
    parsed (``parse --input trees``); or ``words=``, a list of tokens, with their ``tags=`` if these are to be kept
    (``parse --gold-tags``); a grammar over tags needs them, and finds them in a tree. The objective that trees are decoded
    for is chosen with :meth:`decoding`.
    """

    def __init__(
        self, parser: SentenceParser, name: str = "", notes: Mapping[str, Any] | None = None, files: Sequence[str] = ()
    ) -> None:
        self.notes, self.files = notes or {}, tuple(files)
        calibration = calibration_from_notes(self.notes) or parser.calibration
        self.parser, self.name = parser.with_settings(expected_f1=True, calibration=calibration), name
        parser.check()

    def decoding(self, objective: str, **options: Any) -> ParsingModel:
        """The same model with another decoding objective and its options, such as ``"labelled-precision-recall", lam=0.3``; or
        with its setting for ``"recall"``, ``"precision"``, ``"f1"`` or ``"exact"``, as ``parse --for`` has it."""
        if isinstance(lam := options.get("lam"), int | float) and not 0 <= lam <= 1:
            raise UsageError(f"lam is a posterior, a number from 0 to 1, not {lam!r}")
        if objective in CRITERIA:
            setting = LoadedModel(self.name, self.parser, self.notes).setting(objective)
            objective, options = setting.objective, {**setting.options, **options}
        elif british(str(objective)).partition(":")[0] not in OBJECTIVES:
            raise UnknownName("objective", str(objective), [*OBJECTIVES, "mbr:METRIC", *CRITERIA])
        return ParsingModel(self.parser.with_settings(objective=objective, options=options), self.name, self.notes, self.files)

    @overload
    def parse(self, text: str | Tree) -> ParsedSentence: ...
    @overload
    def parse(self, text: list[str] | tuple[str, ...] | Iterable[Tree]) -> list[ParsedSentence]: ...
    @overload
    def parse(self, *, words: list[list[str]], tags: Sequence[Sequence[str]] | None = None) -> list[ParsedSentence]: ...
    @overload
    def parse(self, *, words: Sequence[str], tags: Sequence[str] | None = None) -> ParsedSentence: ...
    @checked()
    def parse(
        self, text: str | Tree | Iterable[str] | Iterable[Tree] | None = None, *, words: Sequence[Any] | None = None,
        tags: Sequence[Any] | None = None,
    ) -> ParsedSentence | list[ParsedSentence]:  # fmt: skip
        """The parse of a sentence, or the parses of several, in their order: of a list of sentences, of a column of a data frame,
        of the lines of a file, of a treebank, or of lists of tokens.

        Text is split into words as by ``parse --raw``. ``parse.tree`` is the tree, which ``print(parse)`` shows, and
        ``parse.confidence.expected_f1`` says how good it can be expected to be.
        """
        parser = self.parser.with_settings(gold_tags=tags is not None)
        if isinstance(words, list | tuple) and words and all(isinstance(each, list | tuple) for each in words):
            if tags is not None and len(tags) != len(words):
                raise UsageError(f"tags= has {number_of(len(tags), 'sentence')}, but words= {len(words):,}")
            return list(parser.parse_all([*map(self._sentence, itertools.repeat(None), words, tags or itertools.repeat(None))]))
        several = isinstance(text, Iterable) and not isinstance(text, str | bytes | Tree | Mapping) and not hasattr(text, "columns")
        if words is not None or not several:
            return parser.parse(self._sentence(cast("object", text), words, tags))
        given: list[object] = list(cast("Iterable[object]", text))
        sentences = list(map(self._sentence, given))
        if len(given) > 1 and not any(isinstance(each, Tree) or " " in str(each) for each in given):
            warn(TreegaugeWarning("each string of a list is a sentence; the tokens of one sentence are words=[...]"))
        return list(parser.parse_all(sentences))

    @checked()
    def kbest(
        self, text: str | Tree | None = None, k: int = 5, *, words: Sequence[str] | None = None, tags: Sequence[str] | None = None
    ) -> list[Parse]:
        """The k likeliest parses of a sentence, or all if there are fewer; none if there is no parse."""
        if k < 1:
            raise UsageError(f"k must be a whole number of at least 1, not {k!r}")
        parser = self.parser.with_settings(kbest=int(k), gold_tags=tags is not None)
        parser.check()
        return list(parser.parse(self._sentence(text, words, tags)).kbest)

    @checked()
    def posteriors(
        self, text: str | Tree | None = None, *, words: Sequence[str] | None = None, tags: Sequence[str] | None = None,
        least: float = 0.001,
    ) -> list[Constituent]:  # fmt: skip
        """The constituents of a sentence whose posterior is at least ``least``, by their start, the longest first."""
        if not 0 <= least <= 1:
            raise UsageError(f"least must be a number from 0 to 1, not {least!r}")
        sentence, parser = self._sentence(text, words, tags), self.parser.with_settings(gold_tags=tags is not None)
        found = parser.view(sentence).shown_constituents() if sentence.words else []
        return sorted((c for c in found if c.posterior >= least), key=lambda c: (c.start, -c.end, -c.posterior))

    def _sentence(self, text: object, words: object = None, tags: Sequence[Any] | None = None) -> Sentence:
        """A sentence given as text, as a tree or as its words."""
        if (text is None) == (words is None):
            raise UsageError(f"give one sentence: as text, or its tokens as words=[...]{', not both' if words is not None else ''}")
        if words is not None:
            tokens: list[Any] = list(cast("Iterable[Any]", words)) if isinstance(words, Iterable) else [None]
            if isinstance(words, str) or not all(token and isinstance(token, str) for token in tokens):
                raise UsageError("words= is a list of tokens, such as words=['It', 'rains', '.']; text goes without words=")
            if tags is not None and (isinstance(tags, str) or [isinstance(tag, str) for tag in tags] != [True] * len(tokens)):
                raise UsageError("tags= is a list of tags, one for each token of words=")
            return _of_tokens(tokens, tags)
        if tags is not None or (self.parser.reads_tags and isinstance(text, str)):
            raise UsageError("tags= goes with words=[...], and a grammar over tags needs it: parse(words=['It'], tags=['PRP'])")
        if isinstance(text, str):
            if os.path.isfile(text):
                advice = f"its text is pathlib.Path({text!r}).read_text('utf-8')"
                warn(TreegaugeWarning(f"{text} is a file, and its name is parsed; {advice}"))
            sentences = split_sentences(text)
            if len(sentences) > 1:
                advice = "parse(treegauge.parsing.split_sentences(text)) parses each; a line end ends a sentence, too"
                warn(TreegaugeWarning(f"this text has {len(sentences)} sentences, and gets one tree; {advice}"))
            return _of_tokens(itertools.chain.from_iterable(map(tokenise, sentences)))
        if isinstance(text, Sentence | Tree):
            return _of_tokens(*(sentence_of(text.tagged()) if isinstance(text, Tree) else text)[:2])
        if hasattr(text, "__fspath__"):
            raise UsageError(f"a sentence is a string, not a file; its text is pathlib.Path({str(text)!r}).read_text('utf-8')")
        several = f"not of type {type(text).__name__}; only parse takes a list of them, or a column, df['text']"
        raise UsageError(f"a sentence is a string, {several}; else [model.kbest(x) for x in texts]; tokens are words=[...]")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a trained model or a mixture to a file, from which :func:`load` opens it; a mixture's file names its models."""
        from treegauge.grammar.latent.latent_model import LatentModel, save_latent

        kind, options = type(self.parser), self.parser.options
        if self.parser.objective != kind.objective or options not in ({}, {"lam": getattr(self.parser, "lam", None)}):
            chosen = ", ".join([repr(self.parser.objective), *(f"{name}={value!r}" for name, value in options.items())])
            warn(TreegaugeWarning(f"the decoding is not saved with a model: after load, call model.decoding({chosen})"))
        if isinstance(self.parser, MixtureParser):
            from treegauge.models.mixtures import save_mixture

            if len(set(self.files)) < len(self.parser.parts):
                raise UsageError(
                    "a mixture of models in different files can be saved: save them, mix(['a.model', 'b.model']), or copy its file"
                )
            save_mixture(os.fspath(path), self.files, self.parser.shares, self.parser.lam, notes=self.notes)
            return
        model: Any = getattr(self.parser, "model", None)
        if model is None:
            raise UsageError("models of treegauge.train can be saved; a grammar by treegauge.grammar.save_model")
        if isinstance(model, LatentModel):
            save_latent(model, os.fspath(path))
        else:
            from treegauge.neural.network_model import save_network

            save_network(model, os.fspath(path))

    def __repr__(self) -> str:
        objective = " ".join([self.parser.objective, *(f"{name}={value!r}" for name, value in self.parser.options.items())])
        about = self.name if self.name.startswith("mixture of ") else f"model {self.name}".strip() + f": {self.parser.about}"
        return cut(f"<{about}; decodes with {objective}>", f"; decodes with {objective}>")


def _of_tokens(tokens: Iterable[str], tags: Iterable[str] | None = None) -> Sentence:
    """The sentence of these tokens, their brackets restored; those that no tree in a file could hold are refused."""
    words, given = tuple(map(restore_word, tokens)), None if tags is None else tuple(tags)
    for word in filter(FORBIDDEN.search, (*words, *(given or ()))):
        raise UsageError(f"a token or tag has no blank and no zero byte, unlike {word!r}: split it, or leave that character out")
    return Sentence(words, given)


@checked()
def load(path: str | os.PathLike[str], *, device: str = "auto") -> ParsingModel:
    """The model in a file of any kind: of ``treegauge induce``, ``train`` or ``mix``, or a grammar as text; ``"own"`` is the small
    grammar of our own treebank. ``device`` is where a network computes: ``auto``, ``cpu`` or ``cuda``."""
    if not isinstance(path, str | os.PathLike):  # pyright: ignore[reportUnnecessaryIsInstance]
        several = "mix([...]) mixes several" if type(path) in (list, tuple) else "grammar.save_model(grammar, path) writes one"
        raise UsageError(f"load takes the path of a model file, not {type(path).__name__}; treegauge.{several}")
    loaded = load_parser(name := os.fspath(path), device=device)
    return ParsingModel(loaded.for_f1, os.path.basename(name), loaded.notes, [name])


@checked()
def mix(
    models: Sequence[ParsingModel | str | os.PathLike[str]],
    *,
    shares: Sequence[float] | None = None,
    lam: float | None = None,
    device: str = "auto",
) -> ParsingModel:
    """The mixture of models or of their files: the mean of their posteriors, each with its share, decoded with the price ``lam`` of
    a node. ``treegauge mix --tune`` chooses shares and lam; by default shares are equal, and lam is 0.45.

    >>> print(mix(["own", load("own")], shares=[1, 3]).parse("It rains.").tree)
    (S (NP (PRP It)) (VP (VBZ rains)) (. .))
    """
    if isinstance(models, str | os.PathLike) or not isinstance(models, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError("models to mix are a list: mix([a, b])")
    opened = [model if isinstance(model, ParsingModel) else load(model, device=device) for model in models]
    named = {f"model {i} ({model.name})": model.parser for i, model in enumerate(opened, start=1)}
    parser = mixture_of(named, shares, lam)
    names = (f"{model.name or 'a model'} ({share:g})" for model, share in zip(opened, parser.shares, strict=True))
    files = [model.files[0] for model in opened if len(model.files) == 1]
    return ParsingModel(parser, f"mixture of {' and '.join(names)}", files=files)
