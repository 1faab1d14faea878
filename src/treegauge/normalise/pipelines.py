"""The normalising steps by name, and pipelines of them as text: ``traces,functions,unaries:joined,binarise:right:h=2:v=1``.

Steps are separated by commas; after a step's name come its parameters, each after a colon, by position or as ``name=value``.
A value in double quotes may hold commas, colons and blanks: ``punctuation:"$, $."``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, get_args

import numpy as np

from treegauge.errors import UnknownName, UsageError, check_name
from treegauge.normalise import labels, markovisation, pruning
from treegauge.normalise.continuous import attach_punctuation, merge_nodes, raise_nodes, split_nodes
from treegauge.normalise.heads import head_rules
from treegauge.presets import load_preset
from treegauge.presets.treebanks import PUNCTUATION, TREEBANKS
from treegauge.tables import british, cut
from treegauge.trees import Tree, Treebank
from treegauge.trees.treebank import pick_origins

Transform = Callable[[Tree], Tree | None]
StepValues = Mapping[str, Any]


@dataclass(frozen=True)
class Parameter:
    """A parameter of a step: its name, its default as text, its meaning, and the function that turns text into a value.

    ``of_treebank`` gives the default, as text, for the trees of a treebank with this name.
    """

    name: str
    default: str
    help: str
    read: Callable[[str], Any]
    of_treebank: Callable[[str], str] | None = None

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
    named = {"usual": markovisation.USUAL_SPLITS, "none": ()}
    names = named.get(text, tuple(text.split()))
    if not set(names) <= set(markovisation.SPLITS) or not (names or text == "none"):
        raise ValueError(text)
    return names


def _renamings(text: str) -> dict[str, str]:
    """The labels and what to call them: ``PRT=ADVP WHNP=NP``."""
    found = {old: new for old, _, new in (pair.partition("=") for pair in text.split())}
    if not found or not all(old and new for old, new in found.items()):
        raise ValueError(text)
    return found


def _bound(transform: Callable[..., Tree | None]) -> Callable[[StepValues], Transform]:
    """A function that passes the values of a step's parameters to a transform, as its arguments of the same names."""
    return lambda values: partial(transform, **values) if values else transform


def _punctuation(text: str) -> Collection[str]:
    """The tags of a treebank's punctuation, or those that a text has; a name that is neither is refused."""
    named = {name: style.punctuation for name, style in TREEBANKS.items()} | pruning.PUNCTUATION
    if text.islower() and text.isalpha() and text not in named and text not in PUNCTUATION:
        raise ValueError(text)
    return _tags(named)(text)


_PUNCTUATION_HELP = "evalb, a treebank's name (by default that of treebank=...), or tags in quotes with blanks between"
_MARKS = Parameter("tags", "ptb", _PUNCTUATION_HELP, _punctuation, str)
_BEFORE_HELP = "the mark between a function and the label after it, as + in SUBJ+np (by default that of treebank=..., if any)"
_BEFORE = Parameter("before", "", _BEFORE_HELP, str, lambda treebank: TREEBANKS[treebank].function_mark)
_RENAMINGS = Parameter("new", "PRT=ADVP", "pairs OLD=NEW, as in labels:PRT=ADVP:WHNP=NP", _renamings)
_TRACES_HELP = "the tags of traces, in quotes with blanks between"
_TRACE_TAGS = Parameter("tags", "-NONE-", _TRACES_HELP, _tags({"-NONE-": pruning.TRACE_TAGS}))
_ROOTS_HELP = "usual (empty, TOP, ROOT, S1, VROOT), a treebank's name (for its own, too), or labels in quotes with blanks between"
_ROOT_LABELS = {name: style.roots | labels.ROOT_LABELS for name, style in TREEBANKS.items()} | {"usual": labels.ROOT_LABELS}
_ROOTS = Parameter("labels", "usual", _ROOTS_HELP, _tags(_ROOT_LABELS), str)
_NEW_ROOT = Parameter("label", "TOP", "the new root's label", str)
_DIRECTION = Parameter("direction", "right", "right, left or head", _choice(*get_args(markovisation.Direction)))
_RULES = Parameter("rules", "collins", "the head rules: collins, left, right or a rule file", head_rules)
_UPWARDS = "how many labels upwards a phrase remembers, itself included (a number from 1)"
_SPLITS = f"usual, none, or names in quotes with blanks between, of {', '.join(markovisation.SPLITS)}"
_LONGEST = Parameter("longest", "40", "a number of words (from 0)", _at_least(0))

_ALL = (
    Step("traces", "remove traces and the brackets they empty", _bound(pruning.remove_traces), parameters=(_TRACE_TAGS,)),
    Step(
        "functions",
        "cut function tags and indices from labels: NP-SBJ-1 becomes NP",
        _bound(labels.strip_functions),
        parameters=(
            Parameter("tags", "yes", "whether preterminals are cut too (yes or no)", _yes_or_no),
            Parameter("evalb", "no", "whether -LRB- is cut to the empty label, as EVALB does (yes or no)", _yes_or_no),
            _BEFORE,
        ),
    ),
    Step(
        "labels",
        "rename phrases and tags: PRT becomes ADVP",
        lambda values: partial(labels.relabel, new=lambda label: values["new"].get(label, label), tags=values["tags"]),
        parameters=(_RENAMINGS, Parameter("tags", "yes", "whether tags are renamed too (yes or no)", _yes_or_no)),
    ),
    Step("features", "cut SPMRL features, ##...##, from labels", _bound(labels.strip_features)),
    Step("redundant", "remove X -> X, a node over one child of its own label", _bound(labels.remove_redundant)),
    Step("root", "remove a root that only holds the sentence together", _bound(labels.remove_root), parameters=(_ROOTS,)),
    Step("add-root", "put a root on top", _bound(labels.add_root), _bound(labels.remove_added_root), (_NEW_ROOT,)),
    Step("punctuation", "drop punctuation, and the brackets this empties", _bound(pruning.drop_punctuation), parameters=(_MARKS,)),
    Step("attach-punctuation", "put punctuation from the root below the lowest phrase around it", _bound(attach_punctuation)),
    Step(
        "continuous",
        "make trees with crossing branches continuous: raise what is outside a node's head block, or split a node into its blocks",
        lambda values: raise_nodes if values["how"] == "raise" else split_nodes,
        lambda values: merge_nodes if values["how"] == "split" else None,
        (Parameter("how", "raise", "raise, or split (VP*1 VP*2), which can be undone", _choice("raise", "split")),),
    ),
    Step("empty", "drop brackets over no word, recursively", _bound(pruning.drop_empty)),
    Step(
        "double",
        "one bracket for each span, with all its labels: NP over NX becomes NP+NX",
        _bound(pruning.drop_double),
        lambda values: pruning.expand_unaries,
    ),
    Step("one-word", "drop brackets over one word (tags stay)", _bound(pruning.drop_one_word)),
    Step(
        "hogenhout",
        "punctuation, empty, double, one-word, as Hogenhout & Matsumoto 1996",
        lambda values: partial(pruning.hogenhout, tags=values["tags"], one_word=values["one-word"]),
        parameters=(_MARKS, Parameter("one-word", "yes", "whether one-word brackets go (yes or no)", _yes_or_no)),
    ),
    Step(
        "preset",
        "keep only what a preset scores: no deleted words and phrases, labels cut",
        _bound(pruning.apply_preset),
        parameters=(Parameter("preset", "collins", "a preset or a .prm or .toml file", load_preset),),
    ),
    Step(
        "unaries",
        "collapse unary chains; a joined label (S+VP) can be undone",
        _bound(pruning.collapse_unaries),
        lambda values: pruning.expand_unaries if values["keep"] == "joined" else None,
        (
            Parameter("keep", "top", "top, bottom or joined: the label that is kept", _choice(*get_args(pruning.Keep))),
            Parameter("tags", "yes", "whether a chain over one word collapses into its tag (yes or no)", _yes_or_no),
        ),
    ),
    Step(
        "parents",
        "annotate phrases with the labels above them: NP^S",
        _bound(markovisation.annotate_parents),
        lambda values: markovisation.remove_parents,
        (
            Parameter("v", "2", _UPWARDS, _at_least(1)),
            Parameter("tags", "no", "whether preterminals are annotated too (yes or no)", _yes_or_no),
        ),
    ),
    Step(
        "binarise",
        "at most two children to a node: (VP a b c) becomes (VP a (VP|a b c))",
        _bound(markovisation.binarise),
        lambda values: markovisation.unbinarise,
        (
            _DIRECTION,
            Parameter("h", "2", "how many siblings a new node remembers (a number from 0, or inf)", _siblings),
            Parameter("v", "1", _UPWARDS, _at_least(1)),
            _RULES,
        ),
    ),
    Step(
        "xcont",
        "Goodman's binarisation: (X a b c) becomes (X a (X_Cont b c))",
        _bound(markovisation.binarise_goodman),
        lambda values: markovisation.unbinarise_goodman,
    ),
    Step(
        "annotate",
        "split labels by context as Klein & Manning 2003 do, and binarise; reads the function tags and cuts them",
        _bound(markovisation.annotate),
        lambda values: markovisation.unbinarise,
        (
            _DIRECTION,
            Parameter("h", "1", "how many siblings a new node remembers (a number from 0)", _at_least(0)),
            Parameter("v", "2", _UPWARDS, _at_least(1)),
            Parameter("splits", "usual", _SPLITS, _splits),
            _RULES,
            _BEFORE,
        ),
    ),
    Step(
        "mh",
        "Sima'an's MH parser: no unaries, mother and head tag in the labels, linearised around heads; it needs the function tags "
        "to identify complements, then cuts them; undoing gives the tree without unaries",
        _bound(markovisation.mh),
        lambda values: markovisation.unmh,
        (_RULES, _BEFORE),
    ),
    Step("length", "keep only sentences of at most N words, without traces", _bound(pruning.keep_short), None, (_LONGEST,), True),
)
STEPS: dict[str, Step] = {step.name: step for step in _ALL}
"""Every step by name, in the usual order of application."""

ALIASES: dict[str, tuple[str, str]] = {
    "goodman": ("traces,unaries:top,xcont", "Goodman 1996, section 5.2.1"),
    "mrl": ("xcont", "the right linearisation of Sima'an's MRL parser"),
    "freval": ("traces,functions,redundant", "the cleaning of Bastings & Sima'an 2014, section 4"),
}
"""Name -> the pipeline that it stands for, and the source of that."""

_PIECE = re.compile(r'"[^"]*"|[^"]')
_COUNTING: dict[Transform, Callable[[Tree, Counter[str]], Tree]] = {
    transform: transform for transform in (attach_punctuation, merge_nodes, raise_nodes, split_nodes)
}
_PLAIN = re.compile(r"[^,:=\"\s]+")


@dataclass(frozen=True)
class BoundStep:
    """A step with the values of its parameters."""

    step: Step
    values: Mapping[str, str]
    forward: Transform
    backward: Transform | None

    def __str__(self) -> str:
        """The step as text, with the parameters that differ from their defaults."""
        given = [
            f"{p.name}={self.values[p.name]}" if _PLAIN.fullmatch(self.values[p.name]) else f'{p.name}="{self.values[p.name]}"'
            for p in self.step.parameters
            if self.values[p.name] != p.default
        ]
        return ":".join([self.step.name, *given])


@dataclass(frozen=True)
class Pipeline:
    """Steps one after the other: a function from a tree to a tree, or to ``None`` if nothing is left of it.

    >>> clean = pipeline("traces,functions,redundant")
    >>> print(clean(Tree.parse("(S (NP-SBJ (NP (NN rain))) (VP (VBD fell) (NP (-NONE- *T*-1))))")))
    (S (NP (NN rain)) (VP (VBD fell)))
    >>> print(clean)
    traces,functions,redundant
    """

    steps: tuple[BoundStep, ...]
    undoing: bool = False

    def __repr__(self) -> str:
        return cut(f"<Pipeline {self}>")

    def __str__(self) -> str:
        written = ",".join(str(step) for step in (reversed(self.steps) if self.undoing else self.steps))
        return f"undo of {written}" if self.undoing else written

    def __call__(self, tree: Tree) -> Tree | None:
        if not isinstance(tree, Tree):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"a pipeline is called with one Tree, not {type(tree).__name__}: pipeline.apply(trees) takes several")
        return self.trace(tree)[0]

    def trace(self, tree: Tree) -> tuple[Tree | None, BoundStep | None]:
        """The transformed tree, or None and the step that left nothing of it."""
        current = tree
        for step in self.steps:
            transform = step.backward if self.undoing else step.forward
            assert transform is not None
            made = transform(current)
            if made is None:
                return None, step
            current = made
        return current, None

    def apply(self, trees: object, gone: Counter[str] | None = None) -> Treebank:
        """The normalised trees, in order, of a treebank, an iterable of trees, or any other value that holds trees, each with the
        origin of the tree it was made from.

        A tree that a filter rejects is left out; one of which a step leaves nothing becomes the empty parse ``()``, so that later
        trees keep their numbers. ``gone`` counts both by step.

        >>> gone = Counter()
        >>> trees = [Tree.parse("(S (NN rain) (. .))"), Tree.parse("(X (. .))"), Tree.parse("(S (A a) (B b) (C c))")]
        >>> for tree in pipeline("punctuation,length:2").apply(trees, gone):
        ...     print(tree)
        (S (NN rain))
        ()
        >>> dict(gone)
        {'punctuation': 1, 'length:longest=2': 1}
        """
        from treegauge.io import as_treebank

        bank = as_treebank(trees)
        numbered = list(self._apply_numbered(bank, gone))
        made = Treebank.from_trees(tree for _, tree in numbered)
        origins = pick_origins(bank.origins, np.array([index for index, _ in numbered], dtype=np.int64))
        return replace(made, origins=tuple(origins))

    def stream(self, trees: Iterable[Tree], gone: Counter[str] | None = None) -> Iterator[Tree]:
        """The normalised trees as :meth:`apply` gives them, made one at a time."""
        return (tree for _, tree in self._apply_numbered(trees, gone))

    def with_counter(self, changes: Counter[str]) -> Pipeline:
        """The same pipeline, which also counts in ``changes`` what its steps do to crossing branches and punctuation.

        >>> from treegauge.trees import parse_discbracket
        >>> changes = Counter()
        >>> split = pipeline("continuous:split").with_counter(changes)
        >>> print(split(parse_discbracket("(S (VP (NP 0=Wen) (V 2=kennt)) (PPER 1=er))")), dict(changes))
        (S (VP*1 (NP Wen)) (PPER er) (VP*2 (V kennt))) {'split': 1, 'pieces': 2}
        """

        def bound(step: BoundStep) -> BoundStep:
            backward = None if step.backward is None else _counting(step.backward, changes)
            return replace(step, forward=_counting(step.forward, changes), backward=backward)

        return replace(self, steps=tuple(map(bound, self.steps)))

    def _apply_numbered(self, trees: Iterable[Tree], gone: Counter[str] | None) -> Iterator[tuple[int, Tree]]:
        for index, tree in enumerate(trees):
            made, step = self.trace(tree)
            if step is not None and gone is not None and tree.width:
                gone[str(step)] += 1
            if made is not None:
                yield index, made
            elif step is not None and not step.step.filters:
                yield index, Tree("")

    def inverse(self) -> Pipeline:
        """The pipeline that undoes this one; :class:`~treegauge.errors.UsageError` names the steps that cannot be undone.

        >>> undo = pipeline("unaries:joined,binarise").inverse()
        >>> print(undo(Tree.parse("(S+VP (A a) (S+VP|A (B b) (C c)))")))
        (S (VP (A a) (B b) (C c)))
        """
        if self.undoing:
            return Pipeline(self.steps[::-1])
        lossy = [str(step) for step in self.steps if step.backward is None]
        if lossy:
            raise UsageError(
                f"cannot be undone: {', '.join(lossy)} (what it removes is not in the tree any more)\n"
                "  Give only the steps that can be undone."
            )
        return Pipeline(self.steps[::-1], undoing=True)


def _counting(transform: Transform, changes: Counter[str]) -> Transform:
    known = _COUNTING.get(transform)
    return transform if known is None else lambda tree: known(tree, changes)


def pipeline(text: str | Iterable[str], treebank: str = "") -> Pipeline:
    """The pipeline that a text, or a list of steps, describes; for what it does not say, the style of the treebank decides.

    >>> print(pipeline("traces, unaries:bottom, binarise:left:h=inf"))
    traces,unaries:keep=bottom,binarise:direction=left:h=inf
    >>> pipeline("trace")
    Traceback (most recent call last):
    treegauge.errors.UnknownName: unknown normalising step 'trace'; did you mean 'traces'? Valid: ...
    """
    if not isinstance(text, str):
        text = ",".join(text)
    if treebank and treebank not in TREEBANKS:
        raise UnknownName("treebank", treebank, TREEBANKS)
    if text.count('"') % 2:
        raise UsageError(f"a double quote is not closed in the steps {text!r}")
    steps: list[BoundStep] = []
    for written in _split(text, ","):
        name, *arguments = _split(written, ":")
        name = name.strip()
        if name in ALIASES and arguments:
            raise UsageError(f"{name} stands for {ALIASES[name][0]} and takes no parameters: {written.strip()!r}")
        steps += pipeline(ALIASES[name][0], treebank).steps if name in ALIASES else [_bind(name, arguments, treebank)]
    return Pipeline(tuple(steps))


def label_pipeline(text: str, treebank: str) -> Pipeline:
    """The pipeline that a text describes; of the style of the treebank only the mark behind functions, if it has one, decides.

    >>> print(label_pipeline("root,functions", "floresta"), label_pipeline("root,functions", "alpino"))
    root:labels=floresta,functions:before=+ root,functions
    """
    return pipeline(text, treebank if treebank and TREEBANKS[treebank].function_mark else "")


def _split(text: str, separator: str) -> list[str]:
    """The text between separators outside double quotes."""
    pieces = [""]
    for match in _PIECE.finditer(text):
        if match.group() == separator:
            pieces.append("")
        else:
            pieces[-1] += match.group()
    return pieces


def _bind(name: str, arguments: Iterable[str], treebank: str) -> BoundStep:
    if not name:
        raise UsageError("a step without a name: commas separate steps, as in traces,functions")
    name = british(name)
    if "=" in name:
        raise UsageError(f"{name!r} is not a step: colons separate the parameters of a step, as in labels:PRT=ADVP:WHNP=NP")
    if name not in STEPS:
        raise UnknownName("normalising step", name, [*STEPS, *ALIASES])
    step = STEPS[name]
    values = {each.name: each.of_treebank(treebank) if treebank and each.of_treebank else each.default for each in step.parameters}
    positional, pairs = iter(step.parameters), list[str]()
    for argument in arguments:
        key, given, value = argument.partition("=") if not argument.lstrip().startswith('"') else ("", "", argument)
        if _RENAMINGS in step.parameters and given and key not in values:
            pairs.append(argument)
            key, value = _RENAMINGS.name, " ".join(pairs)
        elif not given:
            parameter = next(positional, None)
            if parameter is None:
                raise UsageError(f"too many parameters for {name}: {argument!r} is one more than {step.signature} has")
            key, value = parameter.name, argument
        key = key.strip()
        check_name(f"parameter of {name}", key, values)
        values[key] = value.strip().strip('"')
    if treebank and "preset" in values and "+" not in values["preset"]:
        values["preset"] += f"+{treebank}"
    meant = {parameter.name: parameter.value(name, values[parameter.name]) for parameter in step.parameters}
    return BoundStep(step, values, step.do(meant), step.undo(meant) if step.undo else None)
