"""The input of scoring: the trees, in blocks that can be read more than once, and the request, which decides what is counted.

Large files are read in a separate thread, a few blocks ahead. To be read again, the blocks of a file are kept, or, in a stream, the
file itself is opened again.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from treegauge import io
from treegauge.alignment.pairing import Pair
from treegauge.alignment.words import MATCH_WORDS
from treegauge.engines import IN_PROCESS, Engine
from treegauge.errors import InputError, MismatchError, UsageError, check_name
from treegauge.io.reading import is_text
from treegauge.io.sources import CHUNK_BYTES, ON_ERROR, ReadOptions, find_sources, is_stream
from treegauge.metrics.metric import Metric
from treegauge.metrics.registry import find_metric
from treegauge.presets import Preset, load_preset
from treegauge.scoring.evalb_view import evalb_parameters
from treegauge.tables import comma_separated
from treegauge.trees.notation import is_nltk_tree
from treegauge.trees.tree import Tree
from treegauge.trees.treebank import Int64, Treebank

if TYPE_CHECKING:
    from treegauge.metrics.breakdowns import Breakdown


BlockT = TypeVar("BlockT")

SMALLEST_BYTES = 16 << 20
"""Kernels are used for two files of at least this size together; smaller ones are counted sooner than Numba is imported."""


class Trees:
    """The trees of some files, as one treebank, or trees ``in_memory``, which have no files.

    With ``keep``, blocks are kept once read, otherwise files are read again.
    """

    def __init__(self, paths: Sequence[str], options: ReadOptions, *, keep: bool, in_memory: Treebank | None = None) -> None:
        self.name = paths[0] if paths else "<trees>"
        self.paths: tuple[str, ...] = tuple(paths)
        self.can_be_read_again = keep or not any(map(is_stream, paths))
        self._options, self._keep = options, keep
        self._kept = [] if in_memory is None else [in_memory]
        self._rest: Generator[Treebank] | None = None
        self._is_complete = in_memory is not None

    def blocks(self) -> Iterator[Treebank]:
        """The trees, block by block, from the beginning."""
        if not self._keep:
            self.close()
        if self._rest is None and not self._is_complete:
            self._rest = _open_blocks(self.paths, self._options)
        yield from self._kept
        try:
            while self._rest is not None and (block := next(self._rest, None)) is not None:
                if self._keep:
                    self._kept.append(block)
                yield block
            self._is_complete = self._keep
        except InputError:
            self.close()
            raise
        self.close()

    def whole(self) -> Treebank:
        """All trees as one treebank."""
        return Treebank.concatenate(list(self.blocks()) or [Treebank.from_trees([])])

    def line_by_line(self) -> Trees | None:
        """The same file with a sentence on each line, so that a blank line is a failed parse; None for other kinds of input."""
        bracketed = self._options.format in ("auto", "bracketed")
        if self._options.lines or not bracketed or len(self.paths) != 1 or is_stream(self.paths[0]):
            return None
        return Trees(self.paths, replace(self._options, lines=True), keep=self._keep)

    def close(self) -> None:
        """Stop reading, and forget the blocks of a file that was not read to its end."""
        if self._rest is not None:
            self._rest.close()
            self._rest = None
            if not self._is_complete:
                self._kept = []


def _open_blocks(paths: Sequence[str], options: ReadOptions) -> Generator[Treebank]:
    """The blocks of some files, read ahead in a thread if the files are large, or not regular files."""
    blocks = (block for path in paths for block in io.stream(path, options))
    is_small = all(map(os.path.isfile, paths)) and sum(map(os.path.getsize, paths)) <= CHUNK_BYTES
    return blocks if is_small else read_ahead(blocks)


def read_ahead(blocks: Iterator[BlockT]) -> Generator[BlockT]:
    """The blocks, each made by another thread while the one before is processed."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, blocks, None)
        while (block := coming.result()) is not None:
            coming = pool.submit(next, blocks, None)
            yield block


TreebankLike = str | os.PathLike[str] | Tree | Sequence[Any] | Iterator[Any]
"""A path, bracketed text, a Treebank, a Tree, or a sequence or iterator of Tree, of nltk trees or of strings."""


def second_system(function: str) -> UsageError:
    """The error for systems that are given one by one."""
    return UsageError(f"{function} takes all systems together, as in {function}(gold, {{'mine': a, 'other': b}}, metric='freval')")


def path_of(trees: TreebankLike) -> str | None:
    """The path, if ``trees`` is one: a path object, or a string that is not text."""
    if isinstance(trees, os.PathLike):
        return os.fspath(trees)
    return trees if isinstance(trees, str) and trees.strip() and not is_text(trees) else None


def runs_of(trees: TreebankLike) -> dict[str, TreebankLike]:
    """The runs of a system by name, if it is a list of files, of Treebanks or of lists of trees, or ``runs:GLOB``; otherwise one
    without a name.

    Runs are named by their files or by numbers.

    >>> list(runs_of([["(S (N a))"], ["(S (V a))"]])), list(runs_of(["(S (N a))", "(S (V a))"]))
    (['1', '2'], [''])
    """
    if isinstance(trees, str) and trees.startswith("run:") and not os.path.exists(trees):
        raise UsageError(f"{trees}: the runs of a system are written runs:{trees.removeprefix('run:')}")
    if isinstance(trees, str) and trees.startswith("runs:") and not os.path.exists(trees):
        trees = [source.name for source in find_sources(trees.removeprefix("runs:"))]
    runs: list[TreebankLike] = list(trees) if isinstance(trees, list | tuple) and all(map(_is_run, trees)) else []
    paths = [path_of(run) for run in runs]
    is_text = any(isinstance(run, str) for run in runs) and not any(path is not None and os.path.exists(path) for path in paths)
    is_text = is_text and not all(path is not None and _FILE_NAME.fullmatch(path) for path in paths)
    if not runs or is_text:  # text that is neither a tree nor a file is a parse that cannot be read
        return {"": trees}
    if len(runs) == 1:
        return {"": runs[0]}
    files = [path for path in paths if path is not None]
    if len(set(map(os.path.realpath, files))) < len(files):
        raise UsageError(f"a file is given twice as a run; each run is a file of its own: {', '.join(files)}")
    stems = [os.path.splitext(os.path.basename(os.path.normpath(path)))[0] for path in files]
    names = stems if len(set(stems)) == len(runs) else [str(number) for number in range(1, len(runs) + 1)]
    return dict(zip(names, runs, strict=True))


_FILE_NAME = re.compile(r"[^()]*\.\w+")
"""A list of names like these is a list of files, even if all of them are missing."""


def _is_run(item: Any) -> bool:
    """Whether an item of a list stands for a whole treebank, not for one tree."""
    if isinstance(item, str | os.PathLike):
        return path_of(cast("TreebankLike", item)) is not None
    is_spans = isinstance(item, list) and any(type(part) is tuple for part in cast("list[object]", item)[:1])
    return isinstance(item, Treebank | list | tuple) and not is_spans and not is_nltk_tree(cast("object", item))


def trees_of(trees: TreebankLike, options: ReadOptions, *, keep: bool) -> Trees:
    """The trees that are given in any form; ``keep`` as in :class:`Trees`."""
    path = path_of(trees)
    if path is None:
        return Trees((), options, keep=True, in_memory=io.as_treebank(trees, options))
    return Trees([source.name for source in find_sources(path)], options, keep=keep)


def paired_files(gold: str, test: str) -> list[tuple[str, str]] | None:
    """The files of two directories or globs, paired by name; None if one side is a single file or standard input."""
    if is_stream(gold) or is_stream(test):
        if gold == test:
            raise UsageError("gold and test cannot both be standard input or the same pipe")
        return None
    if os.path.isfile(gold) or os.path.isfile(test):
        return None
    gold_files, test_files = ([source.name for source in find_sources(path)] for path in (gold, test))
    if not (_is_several(gold) and _is_several(test)):
        return None
    for naming in (_relative_name, _relative_stem):
        ours = {naming(gold, file): file for file in gold_files}
        theirs = {naming(test, file): file for file in test_files}
        unique = len(ours) == len(gold_files) and len(theirs) == len(test_files)
        if unique and set(ours) == set(theirs):
            return [(ours[name], theirs[name]) for name in ours]
    ours, theirs = ({_relative_name(path, file) for file in files} for path, files in ((gold, gold_files), (test, test_files)))
    lines = [f"  only in {gold}: {name}" for name in sorted(ours - theirs)]
    lines += [f"  only in {test}: {name}" for name in sorted(theirs - ours)]
    raise MismatchError("\n".join(["gold and test are paired by file name, but these files have no counterpart:", *lines]))


def _is_several(path: str) -> bool:
    return os.path.isdir(path) or (glob.has_magic(path) and not os.path.exists(path))


def _relative_name(folder: str, file: str) -> str:
    """The path of a file relative to its directory, or the base name of a file that a glob found, without compression suffix."""
    name = os.path.relpath(file, folder) if os.path.isdir(folder) else os.path.basename(file)
    for suffix in (".gz", ".bz2", ".xz"):
        name = name.removesuffix(suffix)
    return name


def _relative_stem(folder: str, file: str) -> str:
    return os.path.splitext(_relative_name(folder, file))[0]


ON_MISMATCH = ("align", "error", "skip", "edit", "evalb")
PAIR = ("order", "text")
MetricLike = str | Metric
PresetLike = str | os.PathLike[str] | Preset


def no_progress(done: int) -> None:
    """Ignore progress."""


def check_cutoff(cutoff: int | None) -> None:
    """Refuse a length that is negative."""
    if cutoff is not None and cutoff < 0:
        raise UsageError(f"cutoff is a number of words, 0 or more, not {cutoff}")


@dataclass(frozen=True, eq=False)
class Request:
    """Everything that decides what is counted, and how; most of it is explained in :func:`treegauge.score`.

    * ``names``: the metrics as the caller wrote them, for the results. ``reading``: how files are read. ``engine``: where
      blocks are counted.
    * ``preset``: None if each metric uses its own; ``cutoff``: the length of the longest short sentence (None: the preset's).
    * ``keep``: whether rows and trees are kept; a stream keeps neither. ``sentences``: whether single sentences will be looked at;
      if not, kernels may count large files. ``trees``: whether trees are kept along with the rows; ``only``: the gold sentences
      (in order, from 0) whose trees are kept, if not all of them. ``places``: whether the place of each gold sentence is kept.
    * ``progress``: a function that is called with the number of sentences counted since the last call.
    * ``thinned``: a function that makes the breakdown of a block smaller, which otherwise holds the places of all wrong brackets.
    * ``among``: the gold sentences that breakdowns count, if not all of them.
    """

    metrics: tuple[Metric, ...]
    preset: Preset | None = None
    cutoff: int | None = None
    on_mismatch: str = "align"
    match_words: str = "exact"
    keep: bool = True
    breakdowns: tuple[str, ...] = ()
    progress: Callable[[int], None] = field(default=no_progress, repr=False)
    sentences: bool = True
    on_error: str = "parse-fails"
    pair: str = "order"
    treebank: str = ""
    trees: bool = True
    places: bool = True
    only: tuple[int, ...] | None = None
    thinned: Callable[[Breakdown, Pair], Breakdown] | None = None
    among: Int64 | None = None
    names: tuple[str, ...] = ()
    reading: ReadOptions = ReadOptions()
    engine: Engine = IN_PROCESS

    @classmethod
    def of(
        cls,
        metrics: Sequence[MetricLike],
        preset: PresetLike | None,
        *,
        breakdowns: str | Sequence[str] = (),
        reading: ReadOptions = ReadOptions(),
        on_error: str | None = None,
        progress: Callable[[int], None] | None = None,
        **options: Any,
    ) -> Request:
        """The request of a call of :func:`treegauge.score`, with metrics and preset by name.

        Reading stops at the first tree that cannot be read, unless told otherwise; in scoring such a test tree is a failed parse.
        """
        return cls(
            metrics=tuple(find_metric(each) if isinstance(each, str) else each for each in metrics),
            names=tuple(each if isinstance(each, str) else each.name for each in metrics),
            preset=None if preset is None else load_preset(preset),
            breakdowns=comma_separated(breakdowns),
            reading=reading,
            on_error=on_error or ("parse-fails" if reading.on_error == "stop" else reading.on_error),
            progress=progress or no_progress,
            **options,
        )

    @property
    def test_reading(self) -> ReadOptions:
        """The options for reading test files."""
        return replace(self.reading, on_error=self.on_error)

    def __post_init__(self) -> None:
        # Files are read in the style of the treebank whose punctuation is left out, and the other way round.
        object.__setattr__(self, "treebank", self.treebank or self.reading.treebank)
        object.__setattr__(self, "reading", replace(self.reading, treebank=self.reading.treebank or self.treebank))
        check_name("value of pair", self.pair, PAIR)
        check_name("value of on_error", self.on_error, ON_ERROR[:3])
        check_name("value of on_mismatch", self.on_mismatch, ON_MISMATCH)
        check_name("value of match_words", self.match_words, MATCH_WORDS)
        check_cutoff(self.cutoff)
        if self.on_mismatch == "edit":
            self._check_edit()
        if self.on_mismatch == "evalb":
            for metric in self.metrics:
                evalb_parameters(self.preset_of(metric))
            if others := [metric.name for metric in self.metrics if not metric.compared_with_evalb]:
                raise UsageError(f'on_mismatch="evalb" applies to the metric parseval only, not to {", ".join(others)}')
            if self.breakdowns:
                raise UsageError('on_mismatch="evalb" has no breakdowns: choose another value, such as on_mismatch="align"')

    def _check_edit(self) -> None:
        """Refuse options that cannot be combined with alignment by edit distance."""
        if self.match_words == "length":
            raise UsageError('on_mismatch="edit" aligns by words, and match_words="length" ignores them: leave out one of the two')
        if any("judgements" in metric.options for metric in self.metrics):
            raise UsageError(
                'people judge brackets over all words of a gold sentence, not over shared ones: leave out on_mismatch="edit"'
            )

    def preset_of(self, metric: Metric) -> Preset:
        """The preset of a metric's score: the one in the request, or the metric's own, with the cutoff length of the request."""
        preset = load_preset(metric.preset if self.preset is None else self.preset, self.treebank)
        return preset if self.cutoff is None else replace(preset, cutoff_length=self.cutoff)
