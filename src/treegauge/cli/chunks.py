"""``treegauge chunks``: train chunk models, measure them by entropy, score any chunker."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from treegauge.chunks import entropy as chunk_entropy
from treegauge.chunks.corpus import SCHEMES, ChunkedSentence, ChunkFile, MarkFile, categories_of, chunk_file, read_chunks
from treegauge.chunks.models import load_models, save_models, train_models, with_gold_tags
from treegauge.chunks.tagger import CertainTags, HmmTagger
from treegauge.cli._group import INPUT, Command, OutputFile
from treegauge.cli._options import format_option, progress, reading_options
from treegauge.errors import MismatchError, UsageError
from treegauge.io.sources import ReadOptions
from treegauge.tables import TABLE_FORMATS, number_of, plain, render, render_all


@click.group(
    epilog="""\b
Examples:
  treegauge chunks train part1.txt part2.txt -o chunks.model
  treegauge chunks entropy chunks.model test.txt
  treegauge chunks score gold.txt chunker.txt"""
)
def command() -> None:
    """Chunks: train Abney's models, measure them by entropy, score any chunker as conlleval does.

    Files are CoNLL-2000 columns (word, tag, chunk), or treebanks, from which chunks are derived: pieces of phrases up to the head.
    """


@command.command("train", cls=Command)
@click.argument("first", type=INPUT)
@click.argument("second", required=False, type=INPUT)
@click.option("-o", "--output", required=True, type=OutputFile(dir_okay=False, path_type=Path), help="The model file to write.")
@click.option("--tags", type=click.Choice(["gold", "tagger"]), default="gold", show_default=True,
              help="Use the tags of the files, or the posteriors of a trigram tagger trained on them.")  # fmt: skip
@reading_options
def train_tagger(first: str, second: str | None, output: Path, tags: str, options: ReadOptions) -> None:
    """Train all models: rules from the file FIRST, their probabilities from SECOND (without it, from FIRST again).

    \b
    Examples:
      treegauge chunks train part1.txt part2.txt -o chunks.model
      treegauge chunks train wsj/ -o chunks.model --tags tagger
    """
    if str(output) == "-":
        raise UsageError("name the model file: -o chunks.model")
    corpora = [read_chunks(path, options) for path in (first, second) if path is not None]
    every = [sentence for corpus in corpora for sentence in corpus]
    tagger = HmmTagger.train([(sentence.words, sentence.tags) for sentence in every]) if tags == "tagger" else None
    tagged = [_tag(corpus, tagger) for corpus in corpora]
    models = train_models(tagged[0], tagged[1] if second is not None else None, categories_of(every))
    save_models(output, models, tagger, ", ".join(path for path in (first, second) if path is not None))
    if models.one_corpus:
        click.echo("one corpus only: rules and their probabilities come from the same sentences", err=True)
    sizes = f"{number_of(len(every), 'sentence')}, {number_of(models.grammar.n_rules, 'rule')}"
    click.echo(f"{sizes}, {len(models.categories)} categories -> {output}", err=True)


@command.command(cls=Command)
@click.argument("model", type=INPUT)
@click.argument("test", type=INPUT)
@click.option("--eps", default=1e-6, show_default=True, help="Probabilities are clipped to [eps, 1-eps].")
@click.option("--expected", type=click.Choice(["covered", "candidates", "true"]), default="covered", show_default=True,
              help="Basis of the expected share in the blame table.")  # fmt: skip
@click.option("--candidates", type=INPUT, metavar="FILE",
              help="Measure another chunker: lines `category start end probability`; MODEL is then `-`.")  # fmt: skip
@click.option("--marginals", type=INPUT, metavar="FILE",
              help="The same from an IOB tagger: lines `word mark=probability ...`; MODEL is then `-`.")  # fmt: skip
@click.option("--blame-figure", "blame_file", type=OutputFile(dir_okay=False, path_type=Path),
              help="Draw the blame as a figure (.svg, .pdf, .png).")  # fmt: skip
@format_option(TABLE_FORMATS)
@reading_options
def entropy(
    model: str, test: str, eps: float, expected: str, candidates: str | None, marginals: str | None, blame_file: Path | None,
    form: str, options: ReadOptions,
) -> None:  # fmt: skip
    """Measure the models in MODEL on TEST: bits per candidate and sentence, expected precision and recall, blame, coverage.

    \b
    Examples:
      treegauge chunks entropy chunks.model test.txt
      treegauge chunks entropy chunks.model test.txt --blame-figure blame.svg
      treegauge chunks entropy - test.txt --candidates probabilities.txt
    """
    if not 0 < eps < 0.5:
        raise UsageError(f"--eps {eps:g}: it must lie between 0 and 0.5")
    if candidates is not None or marginals is not None:
        with chunk_file(test, options) as sentences:
            result = _other_chunker(candidates, marginals or "", sentences, eps)
        measures = chunk_entropy.chunker_table(result.counts["chunker"])
        tables = [chunk_entropy.blame_table(result, "chunker", expected)]
    else:
        models, tagger = load_models(model)
        with chunk_file(test, options) as sentences, progress("measuring", None) as advance:
            categories = categories_of(sentences)
            tagged = (
                (sentence, tagger.lattice(sentence.words) if tagger else CertainTags(sentence.tags)) for sentence in sentences
            )
            result = chunk_entropy.evaluate(models, tagged, categories=categories, eps=eps, advance=advance)
        measures = chunk_entropy.measure_table(result)
        blame = chunk_entropy.blame_table(result, "G", expected)
        tables = [blame, chunk_entropy.coverage_table(result), chunk_entropy.sensitivity_table(result)]
    digits = 5 if form == "table" and candidates is None and marginals is None else 2
    if form == "json":
        click.echo(render_all([measures, *tables], form))
    else:
        click.echo(render(measures, form, digits=digits) + "\n\n" + render_all(tables, form))
    if blame_file is not None:
        from treegauge.reports.figures import blame_figure
        from treegauge.reports.plots import write_figure

        (path,) = write_figure(blame_figure(tables[0]), blame_file)
        click.echo(f"wrote {path}", err=True)


@command.command("score", cls=Command)
@click.argument("gold", type=INPUT)
@click.argument("test", required=False, type=INPUT)
@click.option(
    "--scheme",
    type=click.Choice(["auto", *SCHEMES], case_sensitive=False),
    default="auto",
    show_default=True,
    help="How marks are read. conlleval: IOB1, IOB2, IOE1, IOE2; auto: bioes for a column with S (or U, L) marks, else conlleval.",
)
@format_option(("conlleval", "json"))
@reading_options
def score_chunks(gold: str, test: str | None, scheme: str, form: str, options: ReadOptions) -> None:
    """Score the chunks of TEST against GOLD with conlleval's numbers.

    Without TEST, the last two columns of GOLD are the gold and the test marks, as conlleval reads them. With TEST, the last
    column of each file is its marks. Marks are taken as they stand, so that accuracy is conlleval's, too.

    \b
    Examples:
      treegauge chunks score gold.txt chunker.txt
      treegauge chunks score word-tag-gold-test.txt
      treegauge chunks score gold.txt chunker.txt --format json
    """
    if gold == test == "-":
        raise UsageError("gold and test cannot both be standard input")
    with chunk_file(gold, options) as ours, chunk_file(gold if test is None else test, options) as theirs:
        files = [MarkFile(ours, 2)] if test is None else [MarkFile(ours), MarkFile(theirs)]
        columns = (sentence.columns for sentence in files[0]) if test is None else _paired_columns(*files)
        schemes = [file.scheme() if scheme == "auto" else scheme for file in files]
        scores = chunk_entropy.ChunkScores.of(((one[0], one[1]) for one in columns), (schemes[0], schemes[-1]))
    if form == "conlleval":
        for line in chunk_entropy.conlleval_printout(scores):
            click.echo(line)
        return
    categories = sorted(scores.true | scores.found)
    document: dict[str, Any] = {
        "schema": "treegauge.chunks/2",
        "schemes": {"gold": schemes[0], "test": schemes[-1]},
        "words": scores.words,
        "accuracy": plain(scores.accuracy),
        "all": _rates(scores, None),
        "by_category": {category: _rates(scores, category) for category in categories},
    }
    click.echo(json.dumps(document, ensure_ascii=False, indent=1))


def _tag(sentences: Sequence[Any], tagger: Any) -> list[Any]:
    if tagger is None:
        return with_gold_tags(sentences)
    tagged: list[Any] = []
    with progress("reading tags", len(sentences)) as advance:
        for sentence in sentences:
            tagged.append((sentence, tagger.lattice(sentence.words)))
            advance()
    return tagged


def _paired_columns(gold: MarkFile, test: MarkFile) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """The gold and test marks of each sentence; at the end, an error if words differ or one file has more sentences."""
    other_words = ""
    pairs = _side_by_side(gold, test, lambda ours, theirs: f"{gold.name} has {ours} sentences and {test.name} has {theirs}")
    for number, (ours, theirs) in enumerate(pairs, 1):
        if ours.words != theirs.words and not other_words:
            other_words = f"sentence {number} has different words in {gold.name} and {test.name}: {' '.join(ours.words)[:60]}"
        if not other_words:
            yield ours.columns[0], theirs.columns[0]
    if other_words:
        raise MismatchError(other_words)


A = TypeVar("A")
B = TypeVar("B")


def _side_by_side(first: Iterable[A], second: Iterable[B], unequal: Callable[[int, int], str]) -> Iterator[tuple[A, B]]:
    """The items of two files side by side; at the end, an error with the message for their numbers if these differ."""
    numbers = [0, 0]
    for pair in itertools.zip_longest(first, second):
        numbers = [number + (item is not None) for number, item in zip(numbers, pair, strict=True)]
        if numbers[0] == numbers[1]:
            yield pair
    if numbers[0] != numbers[1]:
        raise MismatchError(unequal(*numbers))


def _rates(scores: Any, category: str | None) -> dict[str, Any]:
    rates = {"precision": scores.precision(category), "recall": scores.recall(category), "f1": scores.f1(category)}
    return {**scores.counts(category), **plain(rates)}


def _other_chunker(candidates: str | None, marginals: str, sentences: ChunkFile, eps: float) -> Any:
    """The entropy of another chunker, from its candidates with their probabilities or from the marginals of its marks."""
    categories = categories_of(sentences)
    if candidates is not None:
        found = _all_given(candidates, chunk_entropy.read_candidates, sentences)
        probabilities = (chunk_entropy.from_candidates(len(sentence), one, categories) for sentence, one in found)
    else:
        found = _all_given(marginals, chunk_entropy.read_marginals, sentences)
        probabilities = (
            chunk_entropy.from_iob_marginals(_fitting(marginals, sentence, one), categories) for sentence, one in found
        )
    return chunk_entropy.Evaluation(categories, {"chunker": chunk_entropy.entropy_of(sentences, probabilities, categories, eps)})


def _fitting(path: str, sentence: ChunkedSentence, found: Any) -> Any:
    if len(sentence) != len(found):
        raise MismatchError(f"{path}: a sentence does not have as many words as in the test file")
    return found


def _all_given(
    path: str, reader: Callable[[Iterable[str], str], Iterator[Any]], sentences: ChunkFile
) -> Iterator[tuple[ChunkedSentence, Any]]:
    """Each sentence with the entry of a file for it; an error at the end if their numbers differ."""
    with click.open_file(path, encoding="utf-8", errors="backslashreplace") as lines:
        entries = reader(lines, path)
        yield from _side_by_side(sentences, entries, lambda n, given: f"{path} is for {given} sentences, the test file has {n}")
