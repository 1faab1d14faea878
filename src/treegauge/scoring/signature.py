"""Signature: everything that could change a score, as a value and as one line of text (after sacreBLEU, Post 2018).

Two scores are comparable if their signatures differ only in what was to be compared.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, cast

from treegauge.errors import FormatError
from treegauge.presets import Preset, load_preset, preset_names
from treegauge.presets.treebanks import TREEBANKS
from treegauge.tables import cut

_TEXTS = frozenset({"preset", "on_mismatch", "match_words", "on_error", "gold", "test", "version"})


@dataclass(frozen=True)
class Signature:
    """The signature of a score: the metric with its options, the preset with all its settings, the data, the version.

    ``gold`` and ``test`` are the first twelve digits of the SHA-256 of the trees, ``skipped`` is the number of sentences left out,
    and ``repairs`` are the numbers of repairs to test trees, by kind.

    >>> signature = Signature("parseval", {}, load_preset("default"), sentences=3, gold="12e4", test="0abc", version="0.2.0")
    >>> str(signature)
    'parseval|preset:default@71bebc|on_mismatch:align|sentences:3|skipped:0|gold:12e4|test:0abc|version:0.2.0'
    >>> Signature.parse(str(signature)) == signature
    True
    """

    metric: str
    options: Mapping[str, Any]
    preset: Preset
    on_mismatch: str = "align"
    match_words: str = "exact"
    on_error: str = "parse-fails"
    repairs: Mapping[str, int] = field(default_factory=dict[str, int])
    sentences: int = 0
    skipped: int = 0
    gold: str = ""
    test: str = ""
    seed: int | None = None
    version: str = field(default="")

    def __repr__(self) -> str:
        return cut(f"<Signature {self}>")

    def __post_init__(self) -> None:
        # The folder of a preset's file, and the settings of the file that were ignored, do not affect the score.
        name = re.split(r"[\\/]", self.preset.name)[-1]
        object.__setattr__(self, "preset", replace(self.preset, name=name, ignored=(), parameters=None))
        object.__setattr__(self, "options", json.loads(json.dumps(dict(self.options), default=list)))

    def __hash__(self) -> int:
        return hash(str(self))

    def to_dict(self) -> dict[str, Any]:
        """Plain data, which can be written as JSON."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        values["preset"] = {"name": self.preset.name, **_plain(self.preset.options())}
        values["text"] = str(self)
        return values

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Signature:
        """The signature that :meth:`to_dict` gave as plain data."""
        settings = dict(data["preset"])
        name = str(settings.pop("name"))
        known = {item.name for item in fields(cls)} - {"preset"}
        return cls(
            preset=_with_settings(Preset(name=name), settings), **{key: value for key, value in data.items() if key in known}
        )

    def __str__(self) -> str:
        """One line: the preset by name, and each of its settings that differs from treegauge's preset of that name."""
        parts: dict[str, Any] = {f"metric.{key}": value for key, value in self.options.items()}
        parts["preset"] = f"{self.preset.name}@{_fingerprint(self.preset)}"
        base = _plain(_base(self.preset.name).options())
        settings = _plain(self.preset.options())
        parts |= {f"preset.{key}": value for key, value in settings.items() if key != "name" and value != base[key]}
        parts["on_mismatch"] = self.on_mismatch
        parts |= {"match_words": self.match_words} if self.match_words != "exact" else {}
        parts |= {"on_error": self.on_error, "repairs": dict(self.repairs)} if self.on_error == "repair" else {}
        parts |= {"sentences": self.sentences, "skipped": self.skipped, "gold": self.gold, "test": self.test}
        parts |= {} if self.seed is None else {"seed": self.seed}
        parts["version"] = self.version
        words = (f"{_escape(key)}:{_escape(value) if key in _TEXTS else _encode(value)}" for key, value in parts.items())
        return "|".join([_escape(self.metric), *words])

    @classmethod
    def parse(cls, text: str) -> Signature:
        """The signature that a line stands for; a FormatError if it is no signature, or names an unknown preset."""
        metric, *pieces = text.strip().split("|")
        values: dict[str, Any] = {}
        for piece in pieces:
            key, colon, value = piece.partition(":")
            if not colon:
                raise FormatError(f"not a signature: {piece!r} has no value", text=text, path="<signature>")
            key = _unescape(key)
            values[key] = _unescape(value) if key in _TEXTS else _decode(value)
        try:
            options = {key.removeprefix("metric."): values.pop(key) for key in list(values) if key.startswith("metric.")}
            settings = {key.removeprefix("preset."): values.pop(key) for key in list(values) if key.startswith("preset.")}
            preset = _preset(str(values.pop("preset")), settings, str(values["version"]))
            return cls(_unescape(metric), options, preset, **values)
        except (KeyError, TypeError) as error:
            raise FormatError(f"not a signature of treegauge: {error}", path="<signature>") from None


def _with_settings(preset: Preset, settings: Mapping[str, Any]) -> Preset:
    """The preset with some settings, given as plain data, changed."""
    known = {item.name for item in fields(Preset)} - {"name", "ignored", "parameters"}
    if unknown := set(settings) - known:
        raise FormatError(f"a preset has no setting {', '.join(sorted(unknown))}", path="<signature>")
    return replace(preset, **{key: _setting(value, getattr(preset, key)) for key, value in settings.items()})


def _setting(value: Any, like: Any) -> Any:
    """A plain value in the type of its field."""
    if isinstance(like, frozenset):
        return frozenset(str(item) for item in value)
    if isinstance(like, tuple):
        return tuple((str(first), str(second)) for first, second in value)
    return value


def _base(name: str) -> Preset:
    """The preset to which settings are compared: treegauge's preset of that name, or the defaults."""
    base, _, treebank = name.partition("+")
    is_known = base in preset_names() and (name == base or treebank in TREEBANKS)
    return load_preset(name) if is_known else Preset()


def _preset(text: str, settings: Mapping[str, Any], version: str) -> Preset:
    name, _, fingerprint = text.rpartition("@")
    preset = replace(_with_settings(_base(name), settings), name=name, ignored=(), parameters=None)
    if _fingerprint(preset) != fingerprint:
        raise FormatError(
            f"the preset {name!r} of treegauge {version} had different settings from the preset of this version",
            path="<signature>",
            advice="The JSON of a result holds them in full.",
        )
    return preset


def _fingerprint(preset: Preset) -> str:
    unset = Preset().options()
    settings = {key: value for key, value in preset.options().items() if key != "name" and value != unset[key]}
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:6]


def _plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    return cast("dict[str, Any]", json.loads(json.dumps(dict(settings))))


def _encode(value: Any) -> str:
    """A value as text; a string that would be read as another JSON value is written as JSON."""
    is_plain = isinstance(value, str) and value and not _is_json(value)
    return _escape(value if is_plain else json.dumps(value, separators=(",", ":")))


def _escape(text: str) -> str:
    """Text with blanks, bars, colons and per cent signs escaped."""
    return re.sub(r"[\s|:%]", lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), text)


def _unescape(text: str) -> str:
    """The inverse of :func:`_escape`."""
    from urllib.parse import unquote

    return unquote(text)


def _decode(encoded: str) -> Any:
    text = _unescape(encoded)
    return json.loads(text) if _is_json(text) else text


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
