"""Binarisation: any PCFG as lexical, unary and binary rules over integers, in the columns that the chart kernels read.

Users never see the binarised form. Symbols 0 .. visible-1 are the grammar's own; after them come one symbol for each word that
occurs among other symbols, and one for each *rest* of a long right-hand side: A -> B C D becomes A -> B [C D] and [C D] -> C D.
Rules with the same ending share their rests. The rule A -> B [C D] still identifies the rule that it is the top of, so its
posterior is that of the whole rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.grammar.lexicon import UNKNOWN, signatures
from treegauge.grammar.pcfg import PCFG
from treegauge.trees.columns import Float64, Int32, Int64, offsets

UnaryEdge = tuple[int, int, float]
Row = dict[int, float]
NEVER_ENDING = 1e-12
"""The least probability of leaving a component; below it the component derives nothing, and its rules are in no chain."""


class Closure(NamedTuple):
    """The chains of unary rules: bottom symbol X has the entries ``first[X]:first[X+1]`` of the columns, one for each top A that
    derives it; X itself comes first.

    ``total`` is C(A, X), the sum of the probabilities of all chains; ``best`` is the logarithm of the likeliest chain's; ``chains``
    is the exact number of chains that use no rule inside a cycle.
    """

    first: NDArray[np.int64]
    top: NDArray[np.int32]
    total: NDArray[np.float64]
    best: NDArray[np.float64]
    chains: tuple[int, ...]


def components(n: int, edges: Sequence[tuple[int, int]]) -> list[list[int]]:
    """The strongly connected components of a graph of n nodes, each after all that it can reach (Tarjan 1972, without recursion).

    >>> components(4, [(0, 1), (1, 2), (2, 1), (0, 3)])
    [[1, 2], [3], [0]]
    """
    below: list[list[int]] = [[] for _ in range(n)]
    for a, b in edges:
        below[a].append(b)
    index, low, waiting = [-1] * n, [0] * n, [False] * n
    stack: list[int] = []
    found: list[list[int]] = []
    count = 0
    for root in range(n):
        work = [(root, 0)] if index[root] < 0 else []
        while work:
            node, at = work.pop()
            if at == 0:
                index[node] = low[node] = count
                count += 1
                stack.append(node)
                waiting[node] = True
            if at < len(below[node]):
                work.append((node, at + 1))
                child = below[node][at]
                if index[child] < 0:
                    work.append((child, 0))
                elif waiting[child]:
                    low[node] = min(low[node], index[child])
                continue
            if low[node] == index[node]:
                cut = stack.index(node)
                found.append(sorted(stack[cut:]))
                for member in stack[cut:]:
                    waiting[member] = False
                del stack[cut:]
            if work:
                low[work[-1][0]] = min(low[work[-1][0]], low[node])
    return found


def close(n: int, edges: Sequence[UnaryEdge]) -> Closure:
    """The closure of unary rules (parent, child, probability) over the symbols 0 .. n-1.

    >>> closure = close(2, [(0, 0, 0.5), (0, 1, 0.25)])
    >>> closure.top.tolist(), closure.total.tolist()
    ([0, 1, 0], [2.0, 1.0, 0.5])
    """
    groups = components(n, [(a, b) for a, b, _ in edges])
    sums = _rows(n, edges, groups, _all_chains)
    bests = _rows(n, edges, groups, _likeliest_chains)
    counts = _rows(n, [(a, b, 1) for a, b, _ in edges], groups, lambda group, _, reached: _gather(group, reached, sum))
    by_bottom: list[list[int]] = [[x] for x in range(n)]
    for top in range(n):
        for bottom in sums[top]:
            if bottom != top:
                by_bottom[bottom].append(top)
    pairs = [(top, bottom) for bottom, tops in enumerate(by_bottom) for top in tops]
    return Closure(
        offsets([len(tops) for tops in by_bottom]),
        np.array([top for top, _ in pairs], dtype=np.int32),
        np.array([sums[a][b] for a, b in pairs], dtype=np.float64),
        np.log(np.array([bests[a][b] for a, b in pairs], dtype=np.float64)),
        tuple(int(counts[a].get(b, 0)) for a, b in pairs),
    )


RowSolver = Callable[[list[int], dict[tuple[int, int], float], list[tuple[int, Row]]], list[Row]]


def _rows(n: int, edges: Sequence[UnaryEdge], groups: Sequence[list[int]], solve: RowSolver) -> list[Row]:
    """The rows of the closure C: what each symbol derives, by bottom symbol.

    ``solve`` computes the rows of a component, given its members, its inner edges, and the weighted rows that its members reach by
    edges that leave it.
    """
    rows: list[Row] = [{} for _ in range(n)]
    group_of = {member: number for number, group in enumerate(groups) for member in group}
    inner: list[dict[tuple[int, int], float]] = [{} for _ in groups]
    outer: list[list[tuple[int, int, float]]] = [[] for _ in groups]
    for a, b, p in edges:
        if group_of[a] == group_of[b]:
            inner[group_of[a]][a, b] = p
        else:
            outer[group_of[a]].append((a, b, p))
    for number, group in enumerate(groups):
        reached = [(a, {bottom: p * value for bottom, value in rows[b].items()}) for a, b, p in outer[number]]
        for member, row in zip(group, solve(group, inner[number], reached), strict=True):
            rows[member] = row
    return rows


def _all_chains(group: list[int], inner: dict[tuple[int, int], float], reached: list[tuple[int, Row]]) -> list[Row]:
    below = _gather(group, reached, sum)
    if not inner:
        return below
    place = {member: i for i, member in enumerate(group)}
    loops = np.zeros((len(group), len(group)))
    for (a, b), p in inner.items():
        loops[place[a], place[b]] = p
    if max(abs(np.linalg.eigvals(loops))) > 1 - NEVER_ENDING:
        return below
    closed = np.linalg.inv(np.eye(len(group)) - loops)
    return [_combine(closed[i].tolist(), below, sum) for i in range(len(group))]


def _likeliest_chains(group: list[int], inner: dict[tuple[int, int], float], reached: list[tuple[int, Row]]) -> list[Row]:
    below = _gather(group, reached, max)
    if not inner:
        return below
    best = {(a, a): 1.0 for a in group}
    for (a, b), p in inner.items():
        best[a, b] = max(p, best.get((a, b), 0.0))
    for middle in group:
        for a in group:
            for b in group:
                through = best.get((a, middle), 0.0) * best.get((middle, b), 0.0)
                best[a, b] = max(through, best.get((a, b), 0.0))
    return [_combine([best.get((a, b), 0.0) for b in group], below, max) for a in group]


def _gather(group: list[int], reached: list[tuple[int, Row]], add: Callable[[list[float]], float]) -> list[Row]:
    """The row of each member without inner edges: itself, with weight 1, and what it reaches outside the component."""
    parts: dict[int, dict[int, list[float]]] = {member: {member: [1]} for member in group}
    for member, row in reached:
        for bottom, value in row.items():
            parts[member].setdefault(bottom, []).append(value)
    return [{bottom: add(values) for bottom, values in parts[member].items()} for member in group]


def _combine(weights: list[float], rows: list[Row], add: Callable[[list[float]], float]) -> Row:
    parts: dict[int, list[float]] = {}
    for weight, row in zip(weights, rows, strict=True):
        for bottom, value in row.items():
            parts.setdefault(bottom, []).append(weight * value)
    return {bottom: total for bottom, values in parts.items() if (total := add(values)) > 0}


class BinaryRules(NamedTuple):
    """Binary rules grouped by the pair (left child, right child).

    Symbols that occur as left children have consecutive numbers of their own (``left_id``, -1 for others), and so have right
    children. Left id b has the pairs ``pair_first[b]:pair_first[b+1]``; pair q is (b, ``pair_right[q]``) and has the rules
    ``rule_first[q]:rule_first[q+1]``. Parent A has the rules ``by_parent[by_parent_first[A]:by_parent_first[A+1]]``.
    """

    left_id: Int32
    right_id: Int32
    left_symbol: Int32
    right_symbol: Int32
    pair_first: Int64
    pair_right: Int32
    rule_first: Int64
    parent: Int32
    left: Int32
    right: Int32
    by_parent_first: Int64
    by_parent: Int64


class UnaryRules(NamedTuple):
    """Unary rules, and the strongly connected components of their symbols, each after all that it can reach.

    Component c has the members ``member[member_first[c]:member_first[c+1]]`` and the rules
    ``rule[rule_first[c]:rule_first[c+1]]`` of those members.
    """

    parent: Int32
    child: Int32
    member_first: Int64
    member: Int32
    rule_first: Int64
    rule: Int64
    component: Int32


@dataclass(frozen=True, eq=False)
class BinaryGrammar:
    """The columns of a binarised grammar. ``binary_source`` and ``unary_source`` have the index of the grammar's rule that a rule
    here is, or is the top of, else -1."""

    symbols: tuple[str, ...]
    visible: int
    start: int
    binary: BinaryRules
    binary_probability: Float64
    binary_source: Int64
    unary: UnaryRules
    unary_probability: Float64
    unary_source: Int64
    closure: Closure
    cyclic: NDArray[np.bool_]
    lexicon: dict[str, tuple[Int32, Float64, Int64]]
    derived: dict[object, Any] = field(default_factory=dict[object, Any])
    """Values that parsing derives from these columns once and caches."""

    @property
    def n_symbols(self) -> int:
        return len(self.symbols)

    def word(self, word: str, *, initial: bool = False) -> tuple[Int32, Float64, Int64]:
        """The symbols right above a word, their probabilities, and their rules.

        If the grammar has an unknown word, a word that is not in the lexicon is looked up in lower case if it begins the sentence
        (``initial``), then by its signatures from the finest to the coarsest, and at last as the unknown word.
        """
        found = self.lexicon.get(word)
        if found is None and UNKNOWN in self.lexicon:
            lower = [word.lower()] if initial else []
            names = signatures(word, initial=initial, known=self.lexicon.__contains__)
            found = next(self.lexicon[name] for name in (*lower, *names) if name in self.lexicon)
        return found or (np.zeros(0, np.int32), np.zeros(0), np.zeros(0, np.int64))


class _Symbols:
    """A numbering of symbols: the grammar's own first, then words among symbols and rests of rules in order of first use."""

    def __init__(self, grammar: PCFG) -> None:
        self.names = list(grammar.nonterminals)
        self.ids: dict[object, int] = {name: i for i, name in enumerate(self.names)}

    def of(self, symbol: str, is_word: bool) -> int:
        return self._artificial(("word", symbol), f'"{symbol}"') if is_word else self.ids[symbol]

    def rest(self, ids: tuple[int, ...]) -> int:
        return self._artificial(ids, f"[{' '.join(self.names[i] for i in ids)}]")

    def _artificial(self, key: object, name: str) -> int:
        if key not in self.ids:
            self.ids[key] = len(self.names)
            self.names.append(name)
        return self.ids[key]


def binarise_grammar(grammar: PCFG) -> BinaryGrammar:
    """The binarised form of a grammar.

    >>> from treegauge.grammar.pcfg import PCFG
    >>> binary = binarise_grammar(PCFG.parse('S -> "a" S "b" [0.5] | "a" "b" [0.5]'))
    >>> binary.symbols
    ('S', '"a"', '"b"', '[S "b"]')
    """
    symbols = _Symbols(grammar)
    visible = len(symbols.names)
    unary: list[tuple[int, int, float, int]] = []
    lexical: list[tuple[str, int, float, int]] = []
    binary: list[tuple[int, int, int, float, int]] = []
    rests: set[int] = set()
    for source, rule in enumerate(grammar.rules):
        parent = symbols.ids[rule.lhs]
        if rule.is_lexical:
            lexical.append((rule.rhs[0], parent, rule.probability, source))
        elif rule.is_unary:
            unary.append((parent, symbols.ids[rule.rhs[0]], rule.probability, source))
        else:
            children = [symbols.of(x, word) for x, word in zip(rule.rhs, rule.words, strict=True)]
            binary.extend(_binary_rules(symbols, rests, parent, children, rule.probability, source))
    words = dict.fromkeys(
        x for rule in grammar.rules if len(rule.rhs) > 1 for x, word in zip(rule.rhs, rule.words, strict=True) if word
    )
    lexical.extend((word, symbols.of(word, True), 1.0, -1) for word in words)
    n = len(symbols.names)
    columns, order = _binary_columns(n, binary)
    return BinaryGrammar(
        symbols=tuple(symbols.names),
        visible=visible,
        start=symbols.ids[grammar.start],
        binary=columns,
        binary_probability=np.array([binary[i][3] for i in order], dtype=np.float64),
        binary_source=np.array([binary[i][4] for i in order], dtype=np.int64),
        unary=_unary_columns(n, unary),
        unary_probability=np.array([rule[2] for rule in unary], dtype=np.float64),
        unary_source=np.array([rule[3] for rule in unary], dtype=np.int64),
        closure=close(n, [rule[:3] for rule in unary]),
        cyclic=_cyclic_symbols(n, unary),
        lexicon=_lexicon(lexical),
    )


def _binary_rules(
    symbols: _Symbols, rests: set[int], parent: int, children: list[int], probability: float, source: int
) -> Iterator[tuple[int, int, int, float, int]]:
    """The binary rules (parent, left, right, probability, source) of one rule: its top, and those of its rests that are new."""
    while len(children) > 2:
        rest = symbols.rest(tuple(children[1:]))
        yield parent, children[0], rest, probability, source
        if rest in rests:
            return
        rests.add(rest)
        parent, children, probability, source = rest, children[1:], 1.0, -1
    yield parent, children[0], children[-1], probability, source


def _binary_columns(n: int, rules: list[tuple[int, int, int, float, int]]) -> tuple[BinaryRules, list[int]]:
    """The columns of binary rules over n symbols, and the order in which the given rules are stored there."""
    left_symbol = sorted({rule[1] for rule in rules})
    right_symbol = sorted({rule[2] for rule in rules})
    left_id, right_id = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    left_id[left_symbol] = np.arange(len(left_symbol))
    right_id[right_symbol] = np.arange(len(right_symbol))
    order = sorted(range(len(rules)), key=lambda i: (rules[i][1], rules[i][2], rules[i][0]))
    parent, left, right = (np.array([rules[i][k] for i in order], dtype=np.int32) for k in range(3))
    new_pair = np.ones(len(rules), np.bool_)
    new_pair[1:] = (np.diff(left) != 0) | (np.diff(right) != 0)
    starts = np.flatnonzero(new_pair)
    pair_left = left_id[left[starts]]
    pair_first = np.searchsorted(pair_left, np.arange(len(left_symbol) + 1)).astype(np.int64)
    # A parent's rules are in the order of the grammar, which decides ties.
    by_parent = sorted(range(len(order)), key=lambda k: (int(parent[k]), order[k]))
    columns = BinaryRules(
        left_id=left_id,
        right_id=right_id,
        left_symbol=np.array(left_symbol, np.int32),
        right_symbol=np.array(right_symbol, np.int32),
        pair_first=pair_first,
        pair_right=right_id[right[starts]].astype(np.int32),
        rule_first=np.append(starts, len(rules)).astype(np.int64),
        parent=parent,
        left=left,
        right=right,
        by_parent_first=np.searchsorted(np.sort(parent), np.arange(n + 1)).astype(np.int64),
        by_parent=np.array(by_parent, np.int64),
    )
    return columns, order


def _unary_columns(n: int, rules: list[tuple[int, int, float, int]]) -> UnaryRules:
    involved = {symbol for rule in rules for symbol in rule[:2]}
    groups = [group for group in components(n, [rule[:2] for rule in rules]) if group[0] in involved]
    by_parent: dict[int, list[int]] = {}
    for index, rule in enumerate(rules):
        by_parent.setdefault(rule[0], []).append(index)
    component = np.full(n, -1, np.int32)
    for number, group in enumerate(groups):
        component[group] = number
    inside = [[index for member in group for index in by_parent.get(member, [])] for group in groups]
    return UnaryRules(
        parent=np.array([rule[0] for rule in rules], np.int32),
        child=np.array([rule[1] for rule in rules], np.int32),
        member_first=offsets([len(group) for group in groups]),
        member=np.array([member for group in groups for member in group], np.int32),
        rule_first=offsets([len(indices) for indices in inside]),
        rule=np.array([index for indices in inside for index in indices], np.int64),
        component=component,
    )


def _cyclic_symbols(n: int, rules: list[tuple[int, int, float, int]]) -> NDArray[np.bool_]:
    """The symbols that derive themselves by unary rules."""
    mask = np.zeros(n, np.bool_)
    for group in components(n, [rule[:2] for rule in rules]):
        mask[group] = len(group) > 1
    mask[[rule[0] for rule in rules if rule[0] == rule[1]]] = True
    return mask


def _lexicon(rules: list[tuple[str, int, float, int]]) -> dict[str, tuple[Int32, Float64, Int64]]:
    """The symbols of each word, their probabilities, and the rules that these come from."""
    entries: dict[str, list[tuple[int, float, int]]] = {}
    for word, symbol, probability, source in rules:
        entries.setdefault(word, []).append((symbol, probability, source))
    return {
        word: (
            np.array([entry[0] for entry in found], np.int32),
            np.array([entry[1] for entry in found], np.float64),
            np.array([entry[2] for entry in found], np.int64),
        )
        for word, found in entries.items()
    }
