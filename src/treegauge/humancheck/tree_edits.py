"""Edited trees, with the pre-order numbers of the nodes that remain."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from treegauge.trees.tree import Child, Tree, rebuild

__all__ = ["post_order_numbers", "without_long_runs", "without_tagged"]


def post_order_numbers(tree: Tree) -> Iterator[int]:
    """The pre-order number of each node, in post-order: the order in which ``rebuild`` visits them.

    >>> list(post_order_numbers(Tree.parse("(S (NP (D a)) (V b))")))
    [2, 1, 3, 0]
    """
    stack: list[tuple[Tree, int, bool]] = [(tree, 0, False)]
    while stack:
        node, number, done = stack.pop()
        if done:
            yield number
            continue
        stack.append((node, number, True))
        below: list[tuple[Tree, int, bool]] = []
        number += 1
        for child in node.children:
            if isinstance(child, Tree):
                below.append((child, number, False))
                number += child.size
        stack.extend(reversed(below))


def without_tagged(tree: Tree, tags: Collection[str]) -> tuple[Tree, dict[int, int]]:
    """The tree without words of some tags and nodes left empty, and the new number of each remaining node.

    >>> tree, new = without_tagged(Tree.parse("(S (NP (-NONE- *)) (VP (V go)))"), {"-NONE-"})
    >>> print(tree, new)
    (S (VP (V go))) {0: 0, 3: 1, 4: 2}
    """
    if not tags:
        return tree, {number: number for number in range(tree.size)}
    numbers = post_order_numbers(tree)
    remaining: list[int] = []

    def make(node: Tree, children: list[Child]) -> list[Child]:
        number = next(numbers)
        if not children or (node.is_preterminal and node.label in tags):
            return []
        remaining.append(number)
        return [node.replace(children=children)]

    result = rebuild(tree, make)
    return result or Tree(tree.label), {old: new for new, old in enumerate(sorted(remaining))}


def without_long_runs(tree: Tree, longest: int = 60) -> tuple[Tree, list[int], list[int]]:
    """The tree with a placeholder for the middle of runs of more than ``longest`` tagged words below one node.

    Also returns the old numbers of the remaining nodes and words; a placeholder has those of the first word it replaces.

    >>> tree, nodes, words = without_long_runs(Tree("S", [Tree("N", [str(number)]) for number in range(9)]), longest=4)
    >>> print(tree.words, nodes, words)
    ('0', '1', '5 words', '7', '8') [0, 1, 2, 3, 8, 9] [0, 1, 2, 7, 8]
    """
    numbers = post_order_numbers(tree)
    nodes: list[int] = []
    removed_nodes: set[int] = set()
    removed_words: set[int] = set()
    starts = [start for _, start, _ in tree.nodes_with_spans()]

    def make(node: Tree, children: list[Child]) -> list[Child]:
        number = next(numbers)
        nodes.append(number)
        parts: list[Child] = []
        for first, last in _runs(node.children):
            keep = longest // 2
            if last - first <= longest:
                parts.extend(children[first:last])
                continue
            inner = range(first + keep, last - keep)
            parts.extend([*children[first : inner.start], Tree("…", [f"{len(inner)} words"]), *children[inner.stop : last]])
            node_at, word_at = _offsets(node, number, starts[number])
            removed_nodes.update(node_at[index] for index in inner[1:])
            removed_words.update(word_at[index] for index in inner[1:])
        return [node.replace(children=parts)]

    result = rebuild(tree, make)
    assert result is not None
    return result, sorted(set(nodes) - removed_nodes), [word for word in range(tree.width) if word not in removed_words]


def _runs(children: tuple[Child, ...]) -> Iterator[tuple[int, int]]:
    """The longest stretches of children that are all tagged words, or each other child by itself."""
    first = 0
    while first < len(children):
        last = first
        while last < len(children) and isinstance(child := children[last], Tree) and child.is_preterminal:
            last += 1
        last = max(last, first + 1)
        yield first, last
        first = last


def _offsets(node: Tree, number: int, position: int) -> tuple[list[int], list[int]]:
    """The number of each child node, and its first word."""
    nodes: list[int] = []
    words: list[int] = []
    number += 1
    for child in node.children:
        nodes.append(number)
        words.append(position)
        number += child.size if isinstance(child, Tree) else 0
        position += child.width if isinstance(child, Tree) else 1
    return nodes, words
