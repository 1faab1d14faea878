"""The formats of the parts that commands write with ``--shard``: for each command, how the results of its shards are saved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from treegauge.engines.parts import PartFormat
from treegauge.errors import UnknownName
from treegauge.io.archive import ArrayStore

if TYPE_CHECKING:
    from treegauge.grammar.tree_counts import TreeCounts
    from treegauge.learning.loop import StartResult
    from treegauge.parsing.shards import ParseRecord

__all__ = ["part_format"]

_IN_PARTS = ("score", "freval", "parse", "induce", "learn")


def part_format(command: str) -> PartFormat:
    """The format of a command's parts: counts of systems, parses in order, counts of trees, or learned grammars."""
    if command in ("score", "freval"):
        from treegauge.scoring.shard_files import load_counts, load_plan, save_counts, save_plan

        return PartFormat(save_counts, load_counts, save_plan, load_plan)
    if command not in _IN_PARTS:
        raise UnknownName("command with parts", command, _IN_PARTS)
    of_command = {"parse": (_save_parses, _load_parses), "induce": (_save_tree_counts, _load_tree_counts)}
    return PartFormat(*of_command.get(command, (_save_start, _load_start)))


def _save_parses(parses: list[ParseRecord], store: ArrayStore) -> Any:
    return parses


def _load_parses(data: Iterable[Any], store: ArrayStore) -> list[ParseRecord]:
    from treegauge.parsing.expected import ExpectedCounts
    from treegauge.parsing.parser import Sentence
    from treegauge.parsing.shards import ParseRecord

    def sentence(words: list[str], tags: list[str] | None) -> Sentence:
        return Sentence(tuple(words), None if tags is None else tuple(tags))

    return [
        ParseRecord(
            text,
            fallback,
            None if given is None else sentence(*given),
            too_long,
            None if expected is None else ExpectedCounts(*expected),
            tuple(unknown_words[0]) if unknown_words else (),
        )
        for text, fallback, given, too_long, expected, *unknown_words in data
    ]


_COUNTERS = ("left_out", "rules", "roots", "tokens", "nodes")


def _save_tree_counts(counts: TreeCounts | str, store: ArrayStore) -> Any:
    if isinstance(counts, str):
        return counts
    return {
        "trees": counts.trees,
        "flat": counts.flat,
        "stored": counts.stored,
        **{name: [[key, number] for key, number in getattr(counts, name).items()] for name in _COUNTERS},
    }


def _load_tree_counts(data: Any, store: ArrayStore) -> TreeCounts | str:
    from treegauge.grammar.lexicon import Token
    from treegauge.grammar.tree_counts import TreeCounts
    from treegauge.trees.tree import Production

    if isinstance(data, str):
        return data
    left_out, roots, nodes = (Counter(dict(data[name])) for name in ("left_out", "roots", "nodes"))
    rules = Counter({Production(lhs, tuple(rhs), tuple(words)): number for (lhs, rhs, words), number in data["rules"]})
    tokens = Counter({Token(*key): number for key, number in data["tokens"]})
    return TreeCounts(data["trees"], left_out, rules, roots, tokens, nodes, data["flat"], data["stored"])


def _save_start(start: StartResult, store: ArrayStore) -> Any:
    from treegauge.learning.loop import pack_grammar

    name = f"grammar{len(store.arrays)}"
    grammar = pack_grammar(start.grammar, name, store.arrays)
    return {"history": start.history, "skipped": start.skipped, "grammar": grammar, "name": name}


def _load_start(data: Any, store: ArrayStore) -> StartResult:
    from treegauge.learning.loop import StartResult, unpack_grammar

    grammar = unpack_grammar(data["grammar"], data["name"], store.arrays)
    if grammar is None:
        raise ValueError("no grammar")
    return StartResult(tuple(data["history"]), grammar, data["skipped"])
