"""The papers behind metrics, tests and models, as BibTeX; page numbers are given only if a second source confirmed them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import resources
from typing import NamedTuple

from treegauge.errors import UnknownName
from treegauge.metrics.registry import METRICS, find_metric
from treegauge.tables import british, concise


@concise
class Reference(NamedTuple):
    """A publication: who, what, where, when.

    >>> print(REFERENCES["goodman1996"].bibtex())
    @inproceedings{goodman1996,
      author = {Goodman, Joshua},
      title = {Parsing Algorithms and Metrics},
      booktitle = {34th Annual Meeting of the Association for Computational Linguistics},
      address = {Santa Cruz, California},
      year = {1996},
      pages = {177--183}
    }
    """

    key: str
    kind: str
    authors: tuple[str, ...]
    title: str
    year: int
    booktitle: str = ""
    publisher: str = ""
    journal: str = ""
    volume: str = ""
    address: str = ""
    pages: str = ""
    note: str = ""

    def bibtex(self) -> str:
        """The entry for a bibliography; letters outside ASCII are not escaped."""
        names = ("title", "booktitle", "journal", "volume", "publisher", "address", "year", "pages", "note")
        fields = {"author": " and ".join(self.authors), **{name: getattr(self, name) for name in names}}
        lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if value]
        return f"@{self.kind}{{{self.key},\n" + ",\n".join(lines) + "\n}"

    def __str__(self) -> str:
        people = [author.partition(",")[0] for author in self.authors]
        who = " & ".join(people) if len(people) < 3 else f"{people[0]} et al."
        return f"{who} ({self.year}), {self.title}".translate({ord("{"): None, ord("}"): None})


def _read_references() -> Iterator[Reference]:
    """The entries of ``references.bib``, in which every field stands on a line of its own."""
    text = (resources.files("treegauge.metrics") / "references.bib").read_text(encoding="utf-8")
    for kind, key, body in re.findall(r"@(\w+)\{(\w+),\n(.*?)\n\}", text, re.DOTALL):
        fields = dict[str, str](re.findall(r"^  (\w+) = \{(.*)\},?$", body, re.MULTILINE))
        authors, year = tuple(fields.pop("author").split(" and ")), int(fields.pop("year"))
        yield Reference(key, kind, authors, fields.pop("title"), year, **fields)


REFERENCES: dict[str, Reference] = {reference.key: reference for reference in _read_references()}
"""Key -> publication."""

_MORE = {"parseval": ("sekine1997evalb",), "induction": ("yang2021",)}
"""Further references of a metric."""
_OTHERS = {
    "evalb": ("sekine1997evalb", "black1991"), "errors": ("kummerfeld2012",), "chunk-entropy": ("abney1993",),
    "treegauge": ("treegauge2026",), "significance": ("noreen1989", "yeh2000", "efron1993", "holm1979"),
    "randomisation": ("noreen1989", "yeh2000"), "bootstrap": ("efron1993",), "holm": ("holm1979",), "runs": ("satterthwaite1946",),
}  # fmt: skip
"""The references of EVALB, of the breakdown by kind of error, of the entropy of chunks, of treegauge itself, and of tests."""


def references_of(name: str) -> list[Reference]:
    """The references of a metric (``goodman``, ``freval:published``), of a test, ``evalb`` or ``errors``, or one by its key.

    >>> [reference.key for reference in references_of("parseval")]
    ['black1991', 'sekine1997evalb']
    """
    if name in REFERENCES:
        return [REFERENCES[name]]
    base = name.partition(":")[0]
    if base in METRICS:
        return [REFERENCES[key] for key in (find_metric(name).reference, *_MORE.get(base, ()))]
    if british(name) in _OTHERS:
        return [REFERENCES[key] for key in _OTHERS[british(name)]]
    raise UnknownName("metric or reference", name, [*METRICS, *_OTHERS, *REFERENCES])
