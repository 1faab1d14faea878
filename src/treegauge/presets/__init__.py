"""Presets: which brackets and tokens count when trees are scored, as a value with a name.

Presets are files: EVALB's own ``.prm``, or TOML for what ``.prm`` cannot express; ``treegauge score --show-preset NAME`` prints
one.

>>> collins = load_preset("collins")
>>> sorted(collins.delete_tags & collins.delete_labels)[:3]
["''", ',', '-NONE-']
>>> load_preset("default").delete_labels - collins.delete_labels == {"ROOT", "S1", "VROOT", ""}
True
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any, NamedTuple, cast

from treegauge.errors import FormatError, InputError, UnknownName, UsageError, check_name
from treegauge.presets.prm import KEYWORDS, Parameters, disco_keywords, parse_prm
from treegauge.presets.treebanks import PUNCTUATION, TREEBANKS
from treegauge.tables import concise

__all__ = ["FALLBACK", "EvalbFile", "Preset", "for_treebank", "load_preset", "preset_names", "preset_text"]

FALLBACK = "FALLBACK"
"""The function tag on the root of a tree that replaces a missing parse: ``S-FALLBACK``. It informs readers, and is never part of a
label that is compared, whatever the preset."""
_FOLDER = os.path.dirname(__file__)
_MOST_BYTES = 1 << 24
_MOST_BASES = 50
_PRM_ADVICE = "A line is a keyword and a value, as in DELETE_LABEL TOP; the preset collins is a whole file to look at."


@concise
class EvalbFile(NamedTuple):
    """The content of an EVALB parameter file, with its name."""

    name: str
    parameters: Parameters


@dataclass(frozen=True)
class Preset:
    """The rules for what counts: tokens, brackets, and labels that are the same.

    * ``delete_tags``: words with such a tag (in the *gold* tree, for ``score``) are left out, and spans close up over them.
    * ``delete_labels``: phrases with such a label, after cutting, do not count; their children do.
    * ``delete_tags_for_length``: words left out of the sentence length (for cutoffs and length buckets).
    * ``equal_labels``, ``equal_words``: pairs that count as equal.
    * ``labelled``: whether labels must agree for a match.
    * ``cutoff_length``: the length of the second block of EVALB's summary.
    * ``cut_labels_at``, ``cut_tags_at``: characters at whose first occurrence a phrase label or a tag is cut.
    * ``function_before``: a mark behind the function of a label or tag, as in ``SUBJ+np``; what follows the last is compared.
    * ``trivial_spans``: whether one-word spans and the whole sentence count.
    * ``duplicate_spans``: whether a bracket that occurs twice counts twice (PARSEVAL) or once.
    * ``redundant_nodes``: whether the lower node of X -> X, a node over one child of its own label, counts.
    * ``empty_gold``: whether a sentence without gold brackets counts, or is left out.
    * ``empty_brackets``: whether a phrase without words, or all of whose words are left out, counts.
    * ``delete_words``: words of such a form are left out, whatever their tag.
    * ``delete_root_preterminals``: whether words whose tag hangs from the root of the gold tree are left out.

    ``ignored`` lists settings of a parameter file that have no effect here; ``parameters`` is the parameter file with which EVALB
    comes closest to this preset.
    """

    name: str = "none"
    delete_tags: frozenset[str] = frozenset()
    delete_labels: frozenset[str] = frozenset()
    delete_tags_for_length: frozenset[str] = frozenset()
    equal_labels: tuple[tuple[str, str], ...] = ()
    equal_words: tuple[tuple[str, str], ...] = ()
    labelled: bool = True
    cutoff_length: int = 40
    cut_labels_at: str = "-="
    cut_tags_at: str = ""
    trivial_spans: bool = True
    duplicate_spans: bool = True
    redundant_nodes: bool = True
    empty_gold: bool = True
    empty_brackets: bool = False
    delete_words: frozenset[str] = frozenset()
    delete_root_preterminals: bool = False
    function_before: str = ""
    ignored: tuple[str, ...] = ()
    parameters: EvalbFile | None = field(default=None, compare=False, repr=False)

    def __repr__(self) -> str:
        return f"<Preset {self.name}>"

    def cut_label(self, label: str) -> str:
        """A phrase label as it is compared: without the mark of a fallback, and cut at the first of ``cut_labels_at``.

        >>> load_preset("none").cut_label("S-FALLBACK"), load_preset("none").cut_label("NP-SBJ")
        ('S', 'NP-SBJ')
        """
        return _cut(self._without_function(label), self.cut_labels_at)

    def cut_tag(self, tag: str) -> str:
        """A tag as it is compared."""
        return _cut(self._without_function(tag), self.cut_tags_at)

    def _without_function(self, label: str) -> str:
        return label.rpartition(self.function_before)[2] or label if self.function_before else label

    def deletes(self, label: str) -> bool:
        """Whether a phrase with this label, already cut, does not count: by its own label or an equal one, as in EVALB."""
        return label in self.delete_labels or any(
            (label == a and b in self.delete_labels) or (label == b and a in self.delete_labels) for a, b in self.equal_labels
        )

    @property
    def traces(self) -> frozenset[str]:
        """The tags of words that are not text: they are left out of scoring and of length, and are not punctuation.

        >>> load_preset("induction").traces
        frozenset({'-NONE-'})
        """
        return (self.delete_tags & self.delete_tags_for_length) - PUNCTUATION

    def options(self) -> dict[str, Any]:
        """Every setting as plain data, for signatures."""
        return {
            item.name: sorted(cast("frozenset[str]", value)) if isinstance(value := getattr(self, item.name), frozenset) else value
            for item in fields(self)
            if item.name not in _NOT_SETTINGS
        }


_NOT_SETTINGS = frozenset({"ignored", "parameters"})


def _cut(label: str, at: str) -> str:
    label = label.removesuffix(f"-{FALLBACK}")
    for character in at:
        label = label.partition(character)[0]
    return label


def preset_names() -> list[str]:
    """The presets that come with treegauge."""
    return sorted(file.rpartition(".")[0] for file in os.listdir(_FOLDER) if file.endswith((".prm", ".toml")))


def preset_text(name: str) -> str:
    """The text of the file of a preset."""
    return _read(_path(name)).decode("utf-8", "replace")


def load_preset(name: str | os.PathLike[str] | Preset, treebank: str = "") -> Preset:
    """The preset of that name, or of a ``.prm`` or ``.toml`` file; ``treebank`` or ``NAME+TREEBANK`` adapts it to a treebank.

    A preset that is adapted to a treebank already stays as it is.

    >>> sorted(load_preset("collins+ctb").delete_tags - load_preset("collins").delete_tags)
    ['PU']
    """
    if not isinstance(cast("object", name), str | os.PathLike | Preset):
        raise UsageError(f"preset must be the name of a preset, a file or a Preset, not {name!r}")
    preset = name if isinstance(name, Preset) else _of_name(os.fspath(name))
    _, plus, adapted_to = preset.name.rpartition("+")
    return preset if not treebank or (plus and adapted_to in TREEBANKS) else for_treebank(preset, treebank)


def _of_name(text: str) -> Preset:
    """The preset of a name or path, with or without a treebank, ``NAME+TREEBANK``."""
    base, plus, treebank = text.rpartition("+")
    if plus and treebank in TREEBANKS and not os.path.exists(text):
        return for_treebank(_load(base), treebank)
    return _load(text)


def for_treebank(preset: Preset, treebank: str) -> Preset:
    """The preset adapted to a treebank: it treats its punctuation, traces and roots like those of the Penn Treebank.

    >>> for_treebank(load_preset("spmrl"), "negra").delete_tags
    frozenset()
    """
    check_name("treebank", treebank, TREEBANKS)
    penn, other = TREEBANKS["ptb"], TREEBANKS[treebank]

    def also(labels: frozenset[str], *kinds: str) -> frozenset[str]:
        added = [getattr(other, kind) for kind in kinds if not labels.isdisjoint(getattr(penn, kind))]
        return labels.union(*added)

    return replace(
        preset,
        name=f"{preset.name}+{treebank}",
        delete_tags=also(preset.delete_tags, "punctuation", "traces"),
        delete_labels=also(preset.delete_labels, "roots"),
        delete_tags_for_length=also(preset.delete_tags_for_length, "punctuation", "traces"),
        function_before=(other.function_mark if preset.cut_labels_at else "") or preset.function_before,
        parameters=preset.parameters if treebank == "ptb" else None,
    )


def _load(name: str, builds_on: tuple[str, ...] = ()) -> Preset:
    """The preset of a name or path; ``builds_on`` are the files that build on it, one on the other.

    A user's file is read each time, since it may have changed.
    """
    path = _path(name)
    if os.path.dirname(path) == _FOLDER:
        return _shipped_preset(path)
    if path in builds_on:
        raise FormatError(f"the preset builds on itself: {' -> '.join((*builds_on, path))}", path=path)
    if len(builds_on) == _MOST_BASES:
        raise FormatError(f"the preset builds on more than {_MOST_BASES} others, each on the next", path=builds_on[0])
    return _parse_file(path, path, builds_on)


@cache
def _shipped_preset(path: str) -> Preset:
    return _parse_file(path, os.path.basename(path).rpartition(".")[0], ())


def _parse_file(path: str, name: str, builds_on: tuple[str, ...]) -> Preset:
    data = _read(path)
    return _from_toml(data, name, path, (*builds_on, path)) if path.endswith(".toml") else _from_prm(data, name, path)


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(f"the preset cannot be read: {why}", path=path.replace("\0", "\\0")) from None
    if len(data) > _MOST_BYTES:
        raise InputError(f"larger than {_MOST_BYTES:,} bytes: this is not a preset", path=path)
    return data


def _path(name: str) -> str:
    for suffix in (".toml", ".prm"):
        if os.path.isfile(path := os.path.join(_FOLDER, name + suffix)) and os.sep not in name:
            return path
    if name.endswith((".prm", ".toml")) or os.sep in name or os.path.exists(name):
        return name
    raise UnknownName("preset", name, preset_names(), "a file .prm or .toml")


def _from_prm(data: bytes, name: str, path: str) -> Preset:
    settings, remarks, rest = disco_keywords(data)
    parameters, messages = parse_prm(rest)
    known = settings or remarks or any(line.split(maxsplit=1)[0] in KEYWORDS for line in rest.splitlines() if line.strip())
    if messages and not known:
        raise FormatError("this is not an EVALB parameter file: no line has one of its keywords", path=path, advice=_PRM_ADVICE)
    ignored = [f"{path}:{message.line}: {message.text.decode('utf-8', 'replace')}" for message in messages]
    ignored += [f"{path}:{line}: {text}" for line, text in remarks]
    preset = from_parameters(parameters, name)
    file = None if settings else EvalbFile(os.path.splitext(os.path.basename(name))[0] + ".prm", parameters)
    return replace(preset, ignored=(*preset.ignored, *ignored), parameters=file, **settings)


def from_parameters(parameters: Parameters, name: str) -> Preset:
    """The preset of EVALB parameters; its ``ignored`` names the settings that change no score."""
    deleted = frozenset(_text(parameters.delete_labels))
    unset = Parameters()
    ignored = {
        "DEBUG": parameters.debug != unset.debug,
        "MAX_ERROR": parameters.max_error != unset.max_error,
        "QUOTE_LABEL": bool(parameters.quote_labels),
    }
    return Preset(
        name=name,
        delete_tags=deleted,
        delete_labels=deleted,
        delete_tags_for_length=frozenset(_text(parameters.delete_labels_for_length)),
        equal_labels=tuple((a.decode("utf-8", "replace"), b.decode("utf-8", "replace")) for a, b in parameters.equal_labels),
        equal_words=tuple((a.decode("utf-8", "replace"), b.decode("utf-8", "replace")) for a, b in parameters.equal_words),
        labelled=parameters.labelled,
        cutoff_length=parameters.cutoff_length,
        ignored=tuple(keyword for keyword, was_set in ignored.items() if was_set),
    )


def _text(labels: Iterable[bytes]) -> list[str]:
    return [label.decode("utf-8", "replace") for label in labels]


def _from_toml(data: bytes, name: str, path: str, builds_on: tuple[str, ...]) -> Preset:
    import tomllib

    try:
        table = tomllib.loads(data.decode("utf-8"))
    except RecursionError:
        raise FormatError("not a preset: lists in lists, too deep to read", path=path) from None
    except ValueError as error:  # of TOML, of UTF-8, or a number of thousands of digits
        raise FormatError(f"not a TOML file: {error}", path=path) from None
    base = _base(table.pop("base"), path, builds_on) if "base" in table else Preset()
    known = {item.name for item in fields(Preset)} - {"name"} - _NOT_SETTINGS
    settings: dict[str, Any] = {name: getattr(base, name) for name in known}
    for key, value in table.items():
        if key not in known:
            raise UnknownName(f"setting in {path}", key, [*known, "base"])
        settings[key] = _setting(key, value, settings[key], path)
    # EVALB's parameters stay useful only if nothing but the deleted labels differs from the base.
    parameters = base.parameters if set(table) <= {"delete_labels"} else None
    return Preset(name=name, parameters=parameters, **settings)


def _base(value: object, path: str, builds_on: tuple[str, ...]) -> Preset:
    if not isinstance(value, str):
        raise FormatError(f"base is the name of a preset, not {_short_repr(value)}", path=path)
    return _load(value, builds_on)


def _setting(key: str, value: object, before: object, path: str) -> object:
    """A TOML value converted to the type of its field; lists are added to those of the base."""
    made = _converted(value, before)
    if made is None:
        raise FormatError(f"{key} cannot be {_short_repr(value)}: it is {_kind(before)}", path=path)
    return made


def _converted(value: object, before: object) -> object:
    # The types must be the same: in Python a truth value is an integer, too.
    if isinstance(value, (str, int)) and type(value) is type(before):
        return value
    if isinstance(before, frozenset) and (labels := _strings(value)) is not None:
        return cast("frozenset[str]", before).union(labels)
    if isinstance(before, tuple) and isinstance(value, list):
        pairs = [_strings(pair) for pair in cast("list[object]", value)]
        if all(pair is not None and len(pair) == 2 for pair in pairs):
            return (*cast("tuple[object, ...]", before), *(tuple(pair) for pair in pairs if pair is not None))
    return None


def _strings(value: object) -> list[str] | None:
    """The value if it is a list of strings, else None."""
    items = cast("list[object]", value) if isinstance(value, list) else [None]
    found = [item for item in items if isinstance(item, str)]
    return found if len(found) == len(items) else None


def _short_repr(value: object) -> str:
    text = repr(value) if not isinstance(value, int) or value.bit_length() < 400 else "a very large number"
    return text if len(text) <= 80 else f"{text[:77]}..."


def _kind(before: object) -> str:
    if isinstance(before, bool):
        return "true or false"
    if isinstance(before, int):
        return "a number"
    if isinstance(before, str):
        return "text in quotes"
    return "a list of labels" if isinstance(before, frozenset) else "a list of pairs"
