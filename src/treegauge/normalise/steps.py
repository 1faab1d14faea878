"""The normalising steps by name: the transform, parameters and inverse of each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, get_args

from treegauge.errors import UsageError
from treegauge.normalise.annotation import SPLITS, USUAL_SPLITS, annotate
from treegauge.normalise.continuous import attach_punctuation, merge_nodes, raise_nodes, split_nodes
from treegauge.normalise.heads import head_rules
from treegauge.normalise.labels import (
    ROOT_LABELS,
    add_root,
    remove_added_root,
    remove_redundant,
    remove_root,
    strip_features,
    strip_functions,
)
from treegauge.normalise.markovisation import (
    Direction,
    annotate_parents,
    binarise,
    binarise_goodman,
    mh,
    mrl,
    remove_parents,
    unbinarise,
    unbinarise_goodman,
    unmh,
    unmrl,
)
from treegauge.normalise.pruning import (
    PUNCTUATION,
    TRACE_TAGS,
    Keep,
    apply_preset,
    collapse_unaries,
    drop_double,
    drop_empty,
    drop_one_word,
    drop_punctuation,
    expand_unaries,
    hogenhout,
    keep_short,
    remove_traces,
)
from treegauge.presets import load_preset
from treegauge.trees import Tree

Transform = Callable[[Tree], Tree | None]
StepValues = Mapping[str, Any]


@dataclass(frozen=True)
class Parameter:
    """A parameter of a step: its name, its default as text, its meaning, and the function that turns text into a value."""

    name: str
    default: str
    help: str
    read: Callable[[str], Any]

    def value(self, step: str, text: str) -> Any:
        """The value that a text stands for; UsageError if it is not valid for this parameter of ``step``."""
        try:
            return self.read(text)
        except ValueError:
            raise UsageError(f"{step}:{self.name}={text} is not valid; {self.name} is {self.help}") from None


@dataclass(frozen=True)
class Step:
    """A named transform: ``do(values)`` is the function for these values of its parameters, ``undo(values)`` its inverse, if any.

    A step that ``filters`` rejects whole trees and leaves the others unchanged.
    """

    name: str
    help: str
    do: Callable[[StepValues], Transform]
    undo: Callable[[StepValues], Transform | None] | None = None
    parameters: tuple[Parameter, ...] = ()
    filters: bool = False

    @property
    def signature(self) -> str:
        """The text of the step with all its parameters at their defaults."""
        return ":".join([self.name, *(f"{parameter.name}={parameter.default}" for parameter in self.parameters)])


def _choice(*choices: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in choices:
            raise ValueError(text)
        return text

    return read


def _yes_or_no(text: str) -> bool:
    return _choice("yes", "no")(text) == "yes"


def _at_least(least: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        number = int(text)
        if number < least:
            raise ValueError(text)
        return number

    return read


def _siblings(text: str) -> int | None:
    return None if text == "inf" else _at_least(0)(text)


def _tags(named: Mapping[str, Collection[str]]) -> Callable[[str], Collection[str]]:
    def read(text: str) -> Collection[str]:
        if not text.split():
            raise ValueError(text)
        return named.get(text) or frozenset(text.split())

    return read


def _splits(text: str) -> Collection[str]:
    named = {"usual": USUAL_SPLITS, "none": ()}
    names = named.get(text, tuple(text.split()))
    if not set(names) <= set(SPLITS) or not (names or text == "none"):
        raise ValueError(text)
    return names


_PUNCTUATION_TAGS = Parameter(
    "tags", "ptb", f"{' or '.join(PUNCTUATION)}, or tags in quotes with blanks between", _tags(PUNCTUATION)
)
_RULES = Parameter("rules", "collins", "the head rules: collins, left, right or a rule file", head_rules)
_UPWARDS = "how many labels upwards a phrase remembers, itself included (a number from 1)"

_ALL = (
    Step(
        "traces",
        "remove traces and the brackets they empty",
        lambda values: partial(remove_traces, tags=values["tags"]),
        parameters=(
            Parameter("tags", "-NONE-", "the tags of traces, in quotes with blanks between", _tags({"-NONE-": TRACE_TAGS})),
        ),
    ),
    Step(
        "functions",
        "cut function tags and indices from labels: NP-SBJ-1 becomes NP",
        lambda values: partial(strip_functions, tags=values["tags"], evalb=values["evalb"]),
        parameters=(
            Parameter("tags", "yes", "whether preterminals are cut too (yes or no)", _yes_or_no),
            Parameter("evalb", "no", "whether -LRB- is cut to the empty label, as EVALB does (yes or no)", _yes_or_no),
        ),
    ),
    Step("features", "cut SPMRL features, ##...##, from labels", lambda values: strip_features),
    Step("redundant", "remove X -> X, a node over one child of its own label", lambda values: remove_redundant),
    Step(
        "root",
        "remove a root that only holds the sentence together",
        lambda values: partial(remove_root, labels=values["labels"]),
        parameters=(
            Parameter(
                "labels",
                "usual",
                "usual (empty, TOP, ROOT, S1, VROOT), or labels in quotes with blanks between",
                _tags({"usual": ROOT_LABELS}),
            ),
        ),
    ),
    Step(
        "add-root",
        "put a root on top",
        lambda values: partial(add_root, label=values["label"]),
        lambda values: partial(remove_added_root, label=values["label"]),
        (Parameter("label", "TOP", "the new root's label", str),),
    ),
    Step(
        "punctuation",
        "drop punctuation by its tags, and the brackets this empties",
        lambda values: partial(drop_punctuation, tags=values["tags"]),
        parameters=(_PUNCTUATION_TAGS,),
    ),
    Step(
        "attach-punctuation",
        "put punctuation that hangs from the root below the lowest phrase around it",
        lambda values: attach_punctuation,
    ),
    Step(
        "continuous",
        "make trees with crossing branches continuous: raise what is outside a node's head block, or split a node into its blocks",
        lambda values: raise_nodes if values["how"] == "raise" else split_nodes,
        lambda values: merge_nodes if values["how"] == "split" else None,
        (Parameter("how", "raise", "raise, or split (VP*1 VP*2), which can be undone", _choice("raise", "split")),),
    ),
    Step("empty", "drop brackets over no word, recursively", lambda values: drop_empty),
    Step(
        "double",
        "one bracket for each span, with all its labels: NP over NX becomes NP+NX",
        lambda values: drop_double,
        lambda values: expand_unaries,
    ),
    Step("one-word", "drop brackets over one word (tags stay)", lambda values: drop_one_word),
    Step(
        "hogenhout",
        "punctuation, empty, double, one-word, as Hogenhout & Matsumoto 1996",
        lambda values: partial(hogenhout, tags=values["tags"], one_word=values["one-word"]),
        parameters=(_PUNCTUATION_TAGS, Parameter("one-word", "yes", "whether one-word brackets go (yes or no)", _yes_or_no)),
    ),
    Step(
        "preset",
        "what counts for a score: words and phrases that the preset deletes go, labels are cut",
        lambda values: partial(apply_preset, preset=values["preset"]),
        parameters=(Parameter("preset", "collins", "a preset or a .prm or .toml file", load_preset),),
    ),
    Step(
        "unaries",
        "collapse unary chains; a joined label (S+VP) can be undone",
        lambda values: partial(collapse_unaries, keep=values["keep"], tags=values["tags"]),
        lambda values: expand_unaries if values["keep"] == "joined" else None,
        (
            Parameter("keep", "top", "the label that is kept: top, bottom or joined", _choice(*get_args(Keep))),
            Parameter("tags", "yes", "whether a chain over one word collapses into its tag (yes or no)", _yes_or_no),
        ),
    ),
    Step(
        "parents",
        "annotate phrases with the labels above them: NP^S",
        lambda values: partial(annotate_parents, v=values["v"], tags=values["tags"]),
        lambda values: remove_parents,
        (
            Parameter("v", "2", _UPWARDS, _at_least(1)),
            Parameter("tags", "no", "whether preterminals are annotated too (yes or no)", _yes_or_no),
        ),
    ),
    Step(
        "binarise",
        "at most two children to a node: (VP a b c) becomes (VP a (VP|a b c))",
        lambda values: partial(binarise, **values),
        lambda values: unbinarise,
        (
            Parameter("direction", "right", "right, left or head", _choice(*get_args(Direction))),
            Parameter("h", "2", "how many siblings a new node remembers (a number from 0, or inf)", _siblings),
            Parameter("v", "1", _UPWARDS, _at_least(1)),
            _RULES,
        ),
    ),
    Step(
        "xcont",
        "Goodman's binarisation: (X a b c) becomes (X a (X_Cont b c))",
        lambda values: binarise_goodman,
        lambda values: unbinarise_goodman,
    ),
    Step(
        "annotate",
        "split labels by context as Klein & Manning 2003 do, and binarise; reads the function tags and cuts them",
        lambda values: partial(annotate, **values),
        lambda values: unbinarise,
        (
            Parameter("direction", "right", "right, left or head", _choice(*get_args(Direction))),
            Parameter("h", "1", "how many siblings a new node remembers (a number from 0)", _at_least(0)),
            Parameter("v", "2", _UPWARDS, _at_least(1)),
            Parameter(
                "splits",
                "usual",
                f"usual, none, or names in quotes with blanks between, of {', '.join(SPLITS)}",
                _splits,
            ),
            _RULES,
        ),
    ),
    Step("mrl", "Sima'an's right linearisation (MRL parser), the same as xcont", lambda values: mrl, lambda values: unmrl),
    Step(
        "mh",
        "Sima'an's MH parser: no unaries, mother and head tag in the labels, linearised around heads; it needs the function tags "
        "for telling complements and cuts them; undone to the unary-free tree",
        lambda values: partial(mh, rules=values["rules"]),
        lambda values: unmh,
        (_RULES,),
    ),
    Step(
        "length",
        "keep only sentences of at most N words, traces not counted",
        lambda values: partial(keep_short, longest=values["longest"]),
        parameters=(Parameter("longest", "40", "a number of words (from 0)", _at_least(0)),),
        filters=True,
    ),
)
STEPS: dict[str, Step] = {step.name: step for step in _ALL}
"""Every step by name, in the usual order of application."""

ALIASES: dict[str, tuple[str, str]] = {
    "goodman": ("traces,unaries:top,xcont", "Goodman 1996, section 5.2.1"),
    "freval": ("traces,functions,redundant", "the cleaning of Bastings & Sima'an 2014, section 4"),
}
"""Name -> the pipeline that it stands for, and the source of that."""
