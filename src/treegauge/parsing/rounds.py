"""The derivation of the best licensed tree, read off the table of :mod:`treegauge.parsing.licensed`."""

from __future__ import annotations

from treegauge.parsing.derivations import Grid
from treegauge.parsing.licensed import Licensed, Parts, best_production
from treegauge.parsing.outside import Outer

__all__ = ["licensed_steps"]


def licensed_steps(mode: int, grid: Grid, outer: Outer, made: Licensed, parts: Parts, root: int, n: int) -> list[int]:
    """The steps of the best tree (see :mod:`treegauge.parsing.derivations`), from the entry of its root."""
    n_symbols, n_unary = len(grid.binary.left_id), len(grid.unary.parent)
    steps: list[int] = []
    stack = [(root, 0, n)]
    while stack:
        entry, s, t = stack.pop()
        way_out, rule = int(made.exit[entry]), int(made.exit_rule[entry])
        X, out = int(grid.chart.symbol[entry]), int(grid.chart.symbol[way_out])
        over_word = rule < 0 and bool(made.over_word[way_out])
        steps.extend(n_symbols + u for u in _round(grid, parts, X, out, over_word and not parts.preterminals))
        if rule >= 0:
            steps.append(n_symbols + rule)
            stack.append((_entry(grid, s, t, int(grid.unary.child[rule])), s, t))
        elif over_word:
            steps.append(out)
        else:
            k, r = best_production(mode, out, s, t, grid, outer, parts, made)
            steps.append(n_symbols + n_unary + k)
            stack.append((_entry(grid, r, t, int(grid.binary.right[k])), r, t))
            stack.append((_entry(grid, s, r, int(grid.binary.left[k])), s, r))
    return steps


def _entry(grid: Grid, s: int, t: int, X: int) -> int:
    first, last = int(grid.chart.first[s, t]), int(grid.chart.last[s, t])
    return first + grid.chart.symbol[first:last].tolist().index(X)


def _round(grid: Grid, parts: Parts, start: int, end: int, last_does_not_count: bool) -> list[int]:
    """The unary rules of a walk from start to end that collects all of a cycle: its members, and its rules where
    they count."""
    unary = grid.unary
    c = int(unary.component[start])
    if c < 0:
        return []
    rules = [int(u) for u in unary.rule[unary.rule_first[c] : unary.rule_first[c + 1]] if unary.component[unary.child[u]] == c]
    if not rules:
        return []
    members = {int(x) for x in unary.member[unary.member_first[c] : unary.member_first[c + 1]]}
    # A node counts once it has been left by a rule; the last one counts too, unless it is a preterminal left out.
    wanted = {x for x in members if parts.node[x] >= 0}
    unused = {u for u in rules if parts.unary[u] >= 0}
    if not last_does_not_count:
        wanted.discard(end)
    path: list[int] = []
    at = start
    while unused or wanted or at != end:
        goals = wanted | {int(unary.parent[u]) for u in unused} or {end}
        leg = _shortest(grid, rules, at, goals)
        at = int(unary.child[leg[-1]]) if leg else at
        if not leg:
            leg = [next(u for u in sorted(rules, key=lambda u: u not in unused) if int(unary.parent[u]) == at)]
            at = int(unary.child[leg[0]])
        path += leg
        unused.difference_update(leg)
        wanted.difference_update(int(unary.parent[u]) for u in leg)
    return path


def _shortest(grid: Grid, rules: list[int], start: int, goals: set[int]) -> list[int]:
    """The shortest chain of rules from a symbol to one of the goals; empty if it is one itself."""
    came: dict[int, list[int]] = {start: []}
    queue = [start]
    for at in queue:
        if at in goals:
            return came[at]
        for u in rules:
            child = int(grid.unary.child[u])
            if int(grid.unary.parent[u]) == at and child not in came:
                came[child] = [*came[at], u]
                queue.append(child)
    raise AssertionError("the members of a component reach each other")
