"""What the tests of reports share: systems that make known mistakes, trees that mean harm, a page taken apart."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

from treegauge.data import own_treebank
from treegauge.presets import load_preset
from treegauge.scoring.baselines import baseline_for
from treegauge.trees import Tree, Treebank

GOLD = own_treebank("dev", ("travel",))
SYSTEMS = {name: baseline_for(name, GOLD, load_preset("default")) for name in ("oracle-binary", "right-branching")}

HOSTILE_NAME = "</script><script>alert('name')</script>"
HOSTILE_WORDS = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "<!--<script>",
    "'\"&lt;",
    "\u202eשלום",
    "مرحبا",
    "👩\u200d🚀",
    "\x00",
    "{{7*7}}",
]
HOSTILE = Treebank.from_trees(
    [
        Tree("S", [Tree("<b>", [Tree("X", [word]), Tree("\"Y' onclick=alert(1)", [word])]) for word in HOSTILE_WORDS]),
        Tree("S", [Tree("N", ["שלום"]), Tree("VP", [Tree("V", ["עולם"])])]),
        Tree("S", [Tree("NP", [Tree("N", [f"word{number}"]) for number in range(100)]) for _ in range(100)]),
        Tree("", []),
    ]
)
FLAT = Treebank.from_trees([Tree(tree.label, [Tree(tag or "X", [word]) for word, tag in tree.tagged()]) for tree in HOSTILE])


@dataclass
class Page(HTMLParser):
    """A page taken apart: its elements, the texts of some of them, and what is wrong with its nesting."""

    elements: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    texts: dict[str, list[str]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    _open: list[str] = field(default_factory=list)

    VOID = frozenset({"meta", "link", "input", "br", "hr", "img"})

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    @classmethod
    def of(cls, text: str) -> Page:
        page = cls()
        page.feed(text)
        page.close()
        page.errors += [f"<{name}> is never closed" for name in page._open]
        return page

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self._open.append(tag)
            self.texts.setdefault(tag, []).append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.errors.append(f"</{tag}> closes something else")

    def handle_data(self, data: str) -> None:
        for tag in set(self._open):
            self.texts[tag][-1] += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def data(self) -> dict[str, Any]:
        return json.loads(self.texts["script"][0])

    @property
    def sentences(self) -> list[dict[str, Any]]:
        return json.loads(self.texts["script"][1])
