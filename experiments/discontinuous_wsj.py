"""Discontinuous parses of Penn Treebank sentences by split trees: train, parse, merge, score.

Traces become discontinuities, as in the discontinuous Penn Treebank of Evang & Kallmeyer (2011): what a trace ``*T*-1``,
``*ICH*-1`` or ``*EXP*-1`` stands for is moved to where the trace is. A grammar is trained on the trees with every node that has
gaps split into its blocks (Boyd 2007), the development sentences are parsed over their gold tags, and the pieces are merged again.

    python experiments/discontinuous_wsj.py TRAIN DEV [--longest 40] [--sentences 400]

writes results/discontinuous_wsj.json beside this script. Only counts and rates leave the treebank.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from pathlib import Path

import treegauge
from treegauge.normalise import count_gaps, pipeline
from treegauge.parsing.parser import Parser, Sentence
from treegauge.tables import plain
from treegauge.trees import Child, Tree, Treebank
from treegauge.trees.discontinuous import PlacedWord, from_placed_words, with_placed_words

RESULTS = Path(__file__).parent / "results"
TRACE = re.compile(r"\*(?:T|ICH|EXP)\*-(\d+)")
INDEX = re.compile(r"[-=](\d+)$")
CLEAN = pipeline("functions,root,redundant")


def discontinuous(tree: Tree, moved: Counter[str] | None = None) -> Tree | None:
    """The tree with fillers where their traces are; other traces, and what they leave empty, are removed."""
    placed = with_placed_words(tree)
    fillers: dict[str, Tree] = {}
    targets: set[str] = set()
    for node in placed.nodes():
        index = INDEX.search(node.label)
        if index and any(tag != "-NONE-" for tag in node.tags):
            fillers.setdefault(index.group(1), node)
        trace = TRACE.fullmatch(str(node.children[0])) if node.label == "-NONE-" and node.is_preterminal else None
        if trace:
            targets.add(trace.group(1))
    wanted = {index: fillers[index] for index in targets if index in fillers}
    made = _moved(placed, wanted)
    if moved is not None:
        moved["traces with fillers"] += len(wanted)
    return None if made is None else from_placed_words(made)


def _moved(tree: Tree, fillers: dict[str, Tree]) -> Tree | None:
    """The tree rebuilt with each filler moved to its first trace; a filler is not moved into itself."""
    at_home = {id(node): index for index, node in fillers.items()}
    done: set[str] = set()

    def make(node: Tree, inside: frozenset[str]) -> list[Child]:
        if node.label == "-NONE-" and node.is_preterminal:
            trace = TRACE.fullmatch(str(node.children[0]))
            index = trace.group(1) if trace else ""
            if index not in fillers or index in inside or index in done:
                return []
            done.add(index)
            filler = fillers[index]
            return [Tree(filler.label, below(filler, inside | {index}))]
        return [Tree(node.label, children)] if (children := below(node, inside)) else []

    def below(node: Tree, inside: frozenset[str]) -> list[Child]:
        children: list[Child] = []
        for child in node.children:
            if isinstance(child, str):
                children.append(child)
            elif id(child) not in at_home:
                children += make(child, inside)
        return children

    made = make(tree, frozenset())
    left = _places(made[0]) if made and isinstance(made[0], Tree) else set[int]()
    words = {word.place for word in _leaves(tree) if not _is_empty(tree, word)}
    if left != words:  # a filler inside of what it would fill, or without a trace that was reached: leave such a tree as it is
        return treegauge.normalise.remove_traces(tree)
    root = made[0]
    return root if isinstance(root, Tree) else None


def _leaves(tree: Tree) -> list[PlacedWord]:
    found: list[PlacedWord] = []
    stack: list[Child] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, PlacedWord):
            found.append(node)
        elif isinstance(node, Tree):
            stack.extend(node.children)
    return found


def _places(tree: Tree) -> set[int]:
    return {word.place for word in _leaves(tree)}


def _is_empty(tree: Tree, word: PlacedWord) -> bool:
    return any(node.label == "-NONE-" and node.is_preterminal and node.children[0] is word for node in tree.nodes())


def converted(path: str, longest: int, moved: Counter[str]) -> Treebank:
    """The discontinuous trees of a file up to a length, with labels cut to categories."""
    found: list[Tree] = []
    for tree in treegauge.read(path):
        made = discontinuous(tree, moved)
        clean = None if made is None else CLEAN(made)
        if clean is not None and 0 < clean.width <= longest:
            found.append(clean)
    return Treebank.from_trees(found)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("train")
    arguments.add_argument("dev")
    arguments.add_argument("--longest", type=int, default=40)
    arguments.add_argument("--sentences", type=int, default=400)
    chosen = arguments.parse_args()
    moved: Counter[str] = Counter()
    train, dev = (converted(path, chosen.longest, moved) for path in (chosen.train, chosen.dev))
    dev = dev[: chosen.sentences]
    rows = {"merged": _parses(train, dev, split=True), "raised": _parses(train, dev, split=False)}
    report = {
        "longest": chosen.longest,
        "moved": dict(moved),
        "train": count_gaps([train])._asdict(),
        "dev": count_gaps([dev])._asdict(),
        "scores": {name: _scores(dev, parses) for name, parses in rows.items()},
    }
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "discontinuous_wsj.json").write_text(json.dumps(plain(report), indent=1) + "\n")
    print(json.dumps(report["scores"], indent=1))


def _parses(train: Treebank, dev: Treebank, *, split: bool) -> Treebank:
    """Viterbi parses over gold tags, by a grammar of split trees, merged again; or by one of raised trees."""
    steps = pipeline("continuous:split,binarise:right:h=1:v=2" if split else "continuous:raise,binarise:right:h=1:v=2")
    undo = pipeline("continuous:split,binarise" if split else "binarise").inverse()
    grammar = treegauge.induce([tree for tree in map(steps, train) if tree is not None], tags=True)
    parser = Parser(grammar, tag_words=True, gold_tags=True)
    parses = [parser.parse(Sentence(tree.words, tree.tags)).tree for tree in dev]
    return Treebank.from_trees([undo(tree) or Tree("") for tree in parses])


def _scores(dev: Treebank, parses: Treebank) -> dict[str, dict[str, float]]:
    results = {name: treegauge.score(dev, parses, metric=name, preset="disco") for name in ("parseval", "discontinuous")}
    return {name: {rate: result.rates[rate] for rate in ("recall", "precision", "f1")} for name, result in results.items()}


if __name__ == "__main__":
    main()
