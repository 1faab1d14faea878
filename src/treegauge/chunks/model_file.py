"""A trained set of chunk models as a file: the models' tables, the rules, and the tagger if tags are not taken as given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treegauge.chunks.hmm import HmmTagger
from treegauge.chunks.models import ByContext, ByLength, ByTags, Constant, Grammar, Models, RuleTrie
from treegauge.grammar.archive import read_archive, write_archive

__all__ = ["load_models", "save_models"]

_SCHEMA, _VERSION = "treegauge-chunks", 1


def save_models(path: str | Path, models: Models, tagger: HmmTagger | None, trained_on: str) -> None:
    """Write the models, and the tagger they were trained with (None: gold tags), whole or not at all."""
    names = [tag for children in models.grammar.trie.children for tag in children]
    contexts = [(node, tag, row) for node, rows in models.by_context.contexts.items() for tag, row in rows.items()]
    document: dict[str, Any] = {
        "schema": _SCHEMA,
        "version": _VERSION,
        "categories": list(models.categories),
        "one": models.one.probability,
        "one_corpus": models.one_corpus,
        "trained_on": trained_on,
        "trie_tags": names,
        "context_tags": [tag for _, tag, _ in contexts],
        "tagger": None if tagger is None else tagger.document(),
    }
    arrays: dict[str, NDArray[Any]] = {
        "length_table": models.by_length.table,
        "is_rule": models.grammar.is_rule,
        "rule_probability": models.grammar.probability,
        "trie_children": np.array([len(children) for children in models.grammar.trie.children], dtype=np.int64),
        "trie_targets": np.array([c for children in models.grammar.trie.children for c in children.values()], dtype=np.int64),
        "context_nodes": np.array([node for node, _, _ in contexts], dtype=np.int64),
        "context_probability": np.array([row for _, _, row in contexts]).reshape(len(contexts), len(models.categories)),
    }
    write_archive(path, document, {**arrays, **({} if tagger is None else tagger.arrays())})


def load_models(path: str | Path) -> tuple[Models, HmmTagger | None]:
    """The models and the tagger of a file."""
    document, arrays = read_archive(path, _SCHEMA, _VERSION)
    targets: list[int] = arrays["trie_targets"].tolist()
    counts: list[int] = arrays["trie_children"].tolist()
    edges = iter(zip(list[str](document["trie_tags"]), targets, strict=True))
    trie = RuleTrie()
    trie.children = [dict(next(edges) for _ in range(count)) for count in counts]
    grammar = Grammar(trie, arrays["is_rule"], arrays["rule_probability"])
    contexts: dict[int, dict[str, NDArray[np.float64]]] = {}
    rows = zip(arrays["context_nodes"].tolist(), document["context_tags"], arrays["context_probability"], strict=True)
    for node, tag, row in rows:
        contexts.setdefault(node, {})[tag] = row
    categories = tuple(document["categories"])
    by_length = ByLength(arrays["length_table"])
    models = Models(
        categories,
        Constant(0.5, len(categories)),
        Constant(document["one"], len(categories)),
        by_length,
        ByTags(grammar, by_length),
        ByContext(grammar, contexts, by_length),
        document["one_corpus"],
    )
    tagger = None if document["tagger"] is None else HmmTagger.from_parts(document["tagger"], arrays)
    return models, tagger
