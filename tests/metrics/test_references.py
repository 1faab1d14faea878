"""Papers: every metric has one, and every entry is well-formed BibTeX."""

from __future__ import annotations

import re

import pytest

from treegauge import UnknownName, __version__, find_metric, metric_names
from treegauge.metrics.references import REFERENCES, references_of


@pytest.mark.parametrize("metric", metric_names())
def test_every_metric_has_a_reference(metric: str) -> None:
    assert find_metric(metric).reference in REFERENCES
    assert references_of(metric)[0].key == find_metric(metric).reference


@pytest.mark.parametrize("key", REFERENCES)
def test_entries_are_well_formed(key: str) -> None:
    reference = REFERENCES[key]
    assert reference.key == key
    assert str(reference.year) in key
    assert all(", " in author or author == "{The treegauge authors}" for author in reference.authors)
    entry = reference.bibtex()
    assert entry.count("{") == entry.count("}")
    assert re.fullmatch(r"@(inproceedings|article|book|misc)\{\w+,\n(  \w+ = \{.+\},?\n)+\}", entry)
    assert reference.kind == "misc" or reference.booktitle or reference.journal or reference.publisher


def test_other_names() -> None:
    assert [reference.key for reference in references_of("evalb")] == ["sekine1997evalb", "black1991"]
    assert [reference.key for reference in references_of("errors")] == ["kummerfeld2012"]
    assert [reference.key for reference in references_of("abney1993")] == ["abney1993"]
    assert [reference.key for reference in references_of("randomization")] == ["noreen1989", "yeh2000"]
    assert [reference.key for reference in references_of("holm")] == ["holm1979"]
    assert {"noreen1989", "efron1993", "holm1979"} <= {reference.key for reference in references_of("significance")}
    with pytest.raises(UnknownName, match="did you mean 'goodman"):
        references_of("goodmann")


def test_treegauge_itself() -> None:
    (own,) = references_of("treegauge")
    assert "author = {{The treegauge authors}}," in own.bibtex()
    assert str(own).startswith("The treegauge authors (2026)")
    assert own.note == f"Python package, version {__version__}"
