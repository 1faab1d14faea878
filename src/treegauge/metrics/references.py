"""The papers behind metrics, tests and models, as BibTeX; page numbers are given only if a second source confirmed them."""

from __future__ import annotations

from typing import NamedTuple

from treegauge.errors import UnknownName
from treegauge.metrics.registry import METRICS, find_metric


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
    journal: str = ""
    volume: str = ""
    address: str = ""
    pages: str = ""
    note: str = ""

    def bibtex(self) -> str:
        """The entry for a bibliography; letters outside ASCII are not escaped."""
        fields = {
            "author": " and ".join(self.authors),
            "title": self.title,
            "booktitle": self.booktitle,
            "journal": self.journal,
            "volume": self.volume,
            "address": self.address,
            "year": str(self.year),
            "pages": self.pages,
            "note": self.note,
        }
        lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if value]
        return f"@{self.kind}{{{self.key},\n" + ",\n".join(lines) + "\n}"

    def __str__(self) -> str:
        people = [author.partition(",")[0] for author in self.authors]
        who = " & ".join(people) if len(people) < 3 else f"{people[0]} et al."
        return f"{who} ({self.year}), {self.title.replace('{', '').replace('}', '')}"


REFERENCES: dict[str, Reference] = {
    reference.key: reference
    for reference in (
        Reference(
            key="black1991",
            kind="inproceedings",
            authors=(
                *("Black, Ezra", "Abney, Steven", "Flickenger, Dan", "Gdaniec, Claudia", "Grishman, Ralph", "Harrison, Philip"),
                *("Hindle, Donald", "Ingria, Robert", "Jelinek, Frederick", "Klavans, Judith", "Liberman, Mark"),
                *("Marcus, Mitchell", "Roukos, Salim", "Santorini, Beatrice", "Strzalkowski, Tomek"),
            ),
            title="A Procedure for Quantitatively Comparing the Syntactic Coverage of {English} Grammars",
            booktitle="Speech and Natural Language: Proceedings of a Workshop Held at Pacific Grove, California",
            year=1991,
            pages="306--311",
        ),
        Reference(
            key="pereira1992",
            kind="inproceedings",
            authors=("Pereira, Fernando", "Schabes, Yves"),
            title="Inside-Outside Reestimation from Partially Bracketed Corpora",
            booktitle="30th Annual Meeting of the Association for Computational Linguistics",
            address="Newark, Delaware",
            year=1992,
            pages="128--135",
        ),
        Reference(
            key="abney1993",
            kind="inproceedings",
            authors=("Abney, Steven",),
            title="Measures and Models for Phrase Recognition",
            booktitle="Human Language Technology: Proceedings of a Workshop Held at Plainsboro, New Jersey",
            year=1993,
        ),
        Reference(
            key="goodman1996",
            kind="inproceedings",
            authors=("Goodman, Joshua",),
            title="Parsing Algorithms and Metrics",
            booktitle="34th Annual Meeting of the Association for Computational Linguistics",
            address="Santa Cruz, California",
            year=1996,
            pages="177--183",
        ),
        Reference(
            key="goodman1996dop",
            kind="inproceedings",
            authors=("Goodman, Joshua",),
            title="Efficient Algorithms for Parsing the {DOP} Model",
            booktitle="Conference on Empirical Methods in Natural Language Processing",
            year=1996,
        ),
        Reference(
            key="hogenhout1996",
            kind="inproceedings",
            authors=("Hogenhout, Wide R.", "Matsumoto, Yuji"),
            title="Towards a More Careful Evaluation of Broad Coverage Parsing Systems",
            booktitle="{COLING} 1996: The 16th International Conference on Computational Linguistics",
            address="Copenhagen",
            year=1996,
        ),
        Reference(
            key="collins1997",
            kind="inproceedings",
            authors=("Collins, Michael",),
            title="Three Generative, Lexicalised Models for Statistical Parsing",
            booktitle="35th Annual Meeting of the Association for Computational Linguistics "
            "and 8th Conference of the European Chapter",
            address="Madrid",
            year=1997,
            pages="16--23",
        ),
        Reference(
            key="sekine1997evalb",
            kind="misc",
            authors=("Sekine, Satoshi", "Collins, Michael John"),
            title="{EVALB}: Bracket Scoring Program",
            year=1997,
            note="Later versions with David Ellis (2006) and Don Blaheta (2008)",
        ),
        Reference(
            key="sampson2003",
            kind="article",
            authors=("Sampson, Geoffrey", "Babarczy, Anna"),
            title="A Test of the Leaf-Ancestor Metric for Parse Accuracy",
            journal="Natural Language Engineering",
            volume="9(4)",
            year=2003,
        ),
        Reference(
            key="simaan2003",
            kind="inproceedings",
            authors=("Sima'an, Khalil",),
            title="On Maximizing Metrics for Syntactic Disambiguation",
            booktitle="Eighth International Conference on Parsing Technologies",
            address="Nancy",
            year=2003,
        ),
        Reference(
            key="boyd2007",
            kind="inproceedings",
            authors=("Boyd, Adriane",),
            title="Discontinuity Revisited: An Improved Conversion to Context-Free Representations",
            booktitle="Linguistic Annotation Workshop",
            address="Prague",
            year=2007,
        ),
        Reference(
            key="maier2010",
            kind="inproceedings",
            authors=("Maier, Wolfgang",),
            title="Direct Parsing of Discontinuous Constituents in {German}",
            booktitle="{NAACL} {HLT} 2010 First Workshop on Statistical Parsing of Morphologically-Rich Languages",
            address="Los Angeles",
            year=2010,
        ),
        Reference(
            key="kummerfeld2012",
            kind="inproceedings",
            authors=("Kummerfeld, Jonathan K.", "Hall, David", "Curran, James R.", "Klein, Dan"),
            title="Parser Showdown at the {Wall Street} Corral: An Empirical Investigation of Error Types in Parser Output",
            booktitle="2012 Joint Conference on Empirical Methods in Natural Language Processing "
            "and Computational Natural Language Learning",
            address="Jeju Island",
            year=2012,
            pages="1048--1059",
        ),
        Reference(
            key="bastings2014",
            kind="inproceedings",
            authors=("Bastings, Jasmijn", "Sima'an, Khalil"),
            title="All Fragments Count in Parser Evaluation",
            booktitle="Ninth International Conference on Language Resources and Evaluation ({LREC}'14)",
            address="Reykjavik",
            year=2014,
        ),
        Reference(
            key="kim2019",
            kind="inproceedings",
            authors=("Kim, Yoon", "Dyer, Chris", "Rush, Alexander M."),
            title="Compound Probabilistic Context-Free Grammars for Grammar Induction",
            booktitle="57th Annual Meeting of the Association for Computational Linguistics",
            address="Florence",
            year=2019,
            pages="2369--2385",
        ),
        Reference(
            key="yang2021",
            kind="inproceedings",
            authors=("Yang, Songlin", "Zhao, Yanpeng", "Tu, Kewei"),
            title="{PCFG}s Can Do Better: Inducing Probabilistic Context-Free Grammars with Many Symbols",
            booktitle="2021 Conference of the North {A}merican Chapter of the Association for Computational Linguistics",
            address="Online",
            year=2021,
            pages="1487--1498",
        ),
        Reference(
            key="post2018",
            kind="inproceedings",
            authors=("Post, Matt",),
            title="A Call for Clarity in Reporting {BLEU} Scores",
            booktitle="Third Conference on Machine Translation: Research Papers",
            address="Brussels",
            year=2018,
            pages="186--191",
        ),
    )
}
"""Key -> publication."""

_MORE = {"parseval": ("sekine1997evalb",), "induction": ("yang2021",)}
"""Further references of a metric."""
_OTHERS = {"evalb": ("sekine1997evalb", "black1991"), "errors": ("kummerfeld2012",)}
"""The references of EVALB and of the breakdown by kind of error."""


def references_of(name: str) -> list[Reference]:
    """The references of a metric (``goodman``, ``freval:published``), ``evalb`` or ``errors``, or one reference by its key.

    >>> [reference.key for reference in references_of("parseval")]
    ['black1991', 'sekine1997evalb']
    """
    if name in REFERENCES:
        return [REFERENCES[name]]
    base = name.partition(":")[0]
    if base in METRICS:
        return [REFERENCES[key] for key in (find_metric(name).reference, *_MORE.get(base, ()))]
    if name in _OTHERS:
        return [REFERENCES[key] for key in _OTHERS[name]]
    raise UnknownName("metric or reference", name, [*METRICS, *_OTHERS, *REFERENCES])
