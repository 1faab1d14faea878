"""Our treebank keeps its annotation guide: checked with a reader of this file, so that a bug in ours cannot hide one here."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib.resources import files
from typing import NamedTuple

import pytest

DATA = files("treegauge") / "data"
FILES = ("travel.mrg", "news.mrg", "story.mrg")


def names(text: str) -> frozenset[str]:
    return frozenset(text.split())


TAGS = names("CC CD DT EX IN JJ JJR JJS MD NN NNS NNP PDT POS PRP PRP$ RB RBR RBS RP TO UH VB VBD VBG VBN VBP VBZ WDT WP WP$ WRB")
TAGS |= names(", . : `` '' -LRB- -RRB- $ -NONE-")
PHRASES = names("TOP S SINV SQ SBARQ SBAR NP VP PP ADJP ADVP PRT QP WHNP WHADVP WHADJP WHPP UCP PRN INTJ FRAG CONJP")
FUNCTIONS = names("SBJ PRD LGS DTV TPC NOM CLF TMP LOC DIR MNR PRP EXT ADV CLR")
EMPTY = re.compile(r"0|\*|\*U\*|\*\?\*|(?:\*|\*T\*|\*ICH\*|\*EXP\*)-(?P<index>\d+)")
FINITE = names("VBD VBZ VBP MD")


class Node(NamedTuple):
    """A bracket: its label as written, and either children or one word."""

    label: str
    children: list[Node]
    words: list[str]

    @property
    def base(self) -> str:
        return self.label if self.label in TAGS else re.split("[-=]", self.label)[0]

    def walk(self) -> Iterator[Node]:
        todo: list[Node] = [self]
        while todo:
            node = todo.pop()
            yield node
            todo.extend(reversed(node.children))

    def tokens(self) -> list[Node]:
        return [node for node in self.walk() if node.words and node.label != "-NONE-"]


def read(line: str) -> Node:
    """The one tree of a line; ValueError where the brackets do not match or text stands outside them."""
    root = Node("", [], [])
    stack = [root]
    pieces = re.findall(r"\(\s*([^\s()]+)|(\))|([^\s()]+)|(\()", line)
    for label, closing, word, bare in pieces:
        if bare:
            raise ValueError("a bracket without a label")
        if label:
            node = Node(label, [], [])
            stack[-1].children.append(node)
            stack.append(node)
        elif closing:
            stack.pop()
            if not stack:
                raise ValueError("a closing bracket too many")
        else:
            stack[-1].words.append(word)
    if len(stack) != 1 or len(root.children) != 1 or root.words:
        raise ValueError("not exactly one balanced tree")
    return root.children[0]


def shape_problems(tree: Node) -> Iterator[str]:
    """Labels, tags and function tags of the guide; every word alone under a tag; nothing empty, no X over X."""
    for node in tree.walk():
        if node.words:
            if node.label not in TAGS or len(node.words) != 1 or node.children:
                yield f"not a tag over one word: {node.label} {node.words}"
            elif node.label == "-NONE-" and not EMPTY.fullmatch(node.words[0]):
                yield f"unknown empty element: {node.words[0]}"
            continue
        if not node.children:
            yield f"a bracket without anything in it: {node.label}"
        phrase, *rest = re.findall(r"[-=]?[^-=]+", node.label)
        if phrase not in PHRASES:
            yield f"unknown phrase label: {node.label}"
        yield from (f"unknown function tag: {node.label}" for part in rest if part[1:] not in FUNCTIONS and not part[1:].isdigit())
        if len(node.children) == 1 and node.children[0].base == node.base:
            yield f"{node.base} over a single {node.base}"


def index_problems(tree: Node) -> Iterator[str]:
    """Each index is given once and used; each use has an antecedent."""
    given: list[str] = []
    used: set[str] = set()
    for node in tree.walk():
        if node.label == "-NONE-":
            match = EMPTY.fullmatch(node.words[0])
            if match and match["index"]:
                used.add(match["index"])
        elif not node.words:
            given += re.findall(r"-(\d+)", node.label)
            used.update(re.findall(r"=(\d+)", node.label))
    if len(set(given)) != len(given):
        yield f"an index given twice: {given}"
    if set(given) != used:
        yield f"indices given {sorted(given)}, used {sorted(used)}"


def clause_problems(tree: Node) -> Iterator[str]:
    """A clause has a subject and a predicate, and no noun phrase swallows a finite verb phrase."""
    for node in tree.walk():
        labels = [child.label for child in node.children]
        bases = [child.base for child in node.children]
        gapped = any("=" in label for label in labels)
        if node.base == "S" and bases != ["-NONE-"] and bases.count("S") < 2 and not gapped:
            if not any("-SBJ" in label for label in labels):
                yield f"a clause without a subject: {labels}"
            if "VP" not in bases and not any("-PRD" in label for label in labels):
                yield f"a clause without a predicate: {labels}"
        if node.base == "NP":
            for child in node.children:
                if child.base == "VP" and any(verb.label in FINITE for verb in child.children):
                    yield "a finite verb phrase inside a noun phrase"
        if node.base == "SBAR" and "," in bases:
            yield "a comma inside SBAR"


def ending_problems(tree: Node) -> Iterator[str]:
    """The root is TOP over one clause, and the sentence ends with a stop, perhaps inside quotation marks."""
    if tree.label != "TOP" or len(tree.children) != 1:
        yield f"the root is {tree.label} with {len(tree.children)} children"
    tags = [token.label for token in tree.tokens()]
    if tags[-1:] != ["."] and tags[-2:] != [".", "''"]:
        yield f"the sentence ends with {tags[-2:]}"
    if tags.count("``") != tags.count("''"):
        yield "quotation marks do not pair"


CHECKS = (shape_problems, index_problems, clause_problems, ending_problems)


def problems(tree: Node) -> list[str]:
    return [problem for check in CHECKS for problem in check(tree)]


def lines(name: str) -> list[str]:
    return (DATA / name).read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def treebank() -> dict[str, list[Node]]:
    return {name: [read(line) for line in lines(name)] for name in FILES}


def sentence(tree: Node) -> str:
    return " ".join(token.words[0] for token in tree.tokens())


@pytest.mark.parametrize("name", FILES)
def test_every_tree_keeps_the_guide(treebank: dict[str, list[Node]], name: str) -> None:
    found = [f"{name}:{n}: {problem}" for n, tree in enumerate(treebank[name], 1) for problem in problems(tree)]
    assert found == []


@pytest.mark.parametrize("name", FILES)
def test_every_line_is_in_the_one_canonical_spacing(name: str) -> None:
    for n, line in enumerate(lines(name), 1):
        assert line == re.sub(r"\s+", " ", line).replace("( ", "(").replace(" )", ")"), f"{name}:{n}"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("(TOP (S (NP-SBJ (PRP I)) (VP (VBP go)) (. .)))", None),
        ("(TOP (S (NP-SBJ (XX I)) (VP (VBP go)) (. .)))", "not a tag over one word"),
        ("(TOP (S (NP-SBJ (PRP I you)) (VP (VBP go)) (. .)))", "not a tag over one word"),
        ("(TOP (S (NP-SBJ I) (VP (VBP go)) (. .)))", "not a tag over one word"),
        ("(TOP (S (NP-SBJ (PRP I)) (VP (VBP go) (NP)) (. .)))", "a bracket without anything"),
        ("(TOP (S (NP-SBJ (PRP I)) (VX (VBP go)) (. .)))", "unknown phrase label"),
        ("(TOP (S (NP-SUBJ (PRP I)) (VP (VBP go)) (. .)))", "unknown function tag"),
        ("(TOP (S (NP-SBJ (PRP I)) (VP (VP (VBP go))) (. .)))", "VP over a single VP"),
        ("(TOP (S (NP-SBJ (-NONE- *PRO*)) (VP (VBP go)) (. .)))", "unknown empty element"),
        ("(TOP (S (NP-SBJ-1 (PRP I)) (VP (VBP go)) (. .)))", "indices given"),
        ("(TOP (S (NP-SBJ (-NONE- *-1)) (VP (VBP go)) (. .)))", "indices given"),
        ("(TOP (S (NP-SBJ-1 (-NONE- *-1)) (VP (VBP go) (NP-1 (NN it))) (. .)))", "an index given twice"),
        ("(TOP (S (NP (PRP I)) (VP (VBP go)) (. .)))", "without a subject"),
        ("(TOP (S (NP-SBJ (PRP I)) (. .)))", "without a predicate"),
        ("(TOP (S (NP-SBJ (NP (PRP I)) (VP (VBP go))) (. .)))", "inside a noun phrase"),
        (
            "(TOP (S (NP-SBJ (PRP I)) (VP (VBP say) (SBAR (IN that) (, ,) (S (NP-SBJ (PRP I)) (VP (VBP go))))) (. .)))",
            "inside SBAR",
        ),
        ("(TOP (S (NP-SBJ (PRP I)) (VP (VBP go))))", "the sentence ends with"),
        ("(TOP (S (`` ``) (NP-SBJ (PRP I)) (VP (VBP go)) (. .)))", "do not pair"),
        ("(ROOT (S (NP-SBJ (PRP I)) (VP (VBP go)) (. .)))", "the root is ROOT"),
    ],
)
def test_the_checks_see_what_they_are_for(line: str, problem: str | None) -> None:
    found = problems(read(line))
    assert found == [] if problem is None else any(problem in one for one in found)


@pytest.mark.parametrize("line", ["(A (B b)", "(A (B b)))", "(A (B b)) (C c)", "(A (B b)) c", "((B b))", ""])
def test_the_reader_refuses_what_is_not_one_tree(line: str) -> None:
    with pytest.raises(ValueError, match=r"bracket|balanced"):
        read(line)


def test_no_sentence_occurs_twice(treebank: dict[str, list[Node]]) -> None:
    sentences = [sentence(tree) for trees in treebank.values() for tree in trees]
    assert len(set(sentences)) == len(sentences)


def test_it_is_as_large_and_as_rich_as_promised(treebank: dict[str, list[Node]]) -> None:
    trees = [tree for trees in treebank.values() for tree in trees]
    assert len(trees) >= 400
    labels = {part for tree in trees for node in tree.walk() if not node.words for part in re.split("[-=]", node.label)}
    assert labels >= PHRASES | FUNCTIONS
    assert sum(any(node.label == "-NONE-" for node in tree.walk()) for tree in trees) >= 90
    assert max(len(tree.tokens()) for tree in treebank["news.mrg"]) >= 25


def is_dev(index: int) -> bool:
    split = tomllib.loads((DATA / "SPLIT.toml").read_text(encoding="utf-8"))["split"]
    return index % split["every"] == split["remainder"]


def test_the_split_names_every_file_and_both_its_parts_are_used() -> None:
    split = tomllib.loads((DATA / "SPLIT.toml").read_text(encoding="utf-8"))["split"]
    on_disk = sorted(entry.name for entry in DATA.iterdir() if entry.name.endswith(".mrg"))
    assert sorted(split["files"]) == sorted(FILES) == on_disk
    assert 0 <= split["remainder"] < split["every"]
    for name in FILES:
        assert {is_dev(index) for index in range(len(lines(name)))} == {True, False}


def size(trees: list[Node], dev: int) -> list[str]:
    """One row of the guide's table: sentences, train, dev, tokens, mean, longest, with empty elements."""
    lengths = [len(tree.tokens()) for tree in trees]
    traced = sum(any(node.label == "-NONE-" for node in tree.walk()) for tree in trees)
    mean = f"{sum(lengths) / len(trees):.1f}"
    return [str(len(trees)), str(len(trees) - dev), str(dev), str(sum(lengths)), mean, str(max(lengths)), str(traced)]


def test_the_guide_states_the_true_sizes(treebank: dict[str, list[Node]]) -> None:
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines("GUIDE.md") if line.startswith("|")]
    stated = {row[0]: row[2:] for row in rows if row[0] in (*FILES, "all")}
    devs = {name: sum(is_dev(index) for index in range(len(trees))) for name, trees in treebank.items()}
    expected = {name: size(trees, devs[name]) for name, trees in treebank.items()}
    expected["all"] = size([tree for trees in treebank.values() for tree in trees], sum(devs.values()))
    assert stated == expected


def test_the_guide_quotes_real_trees() -> None:
    text = "\n".join(line for name in FILES for line in lines(name))
    quoted = [line.strip() for line in lines("GUIDE.md") if line.startswith("      (")]
    assert len(quoted) >= 5
    assert [example for example in quoted if example not in text] == []
