"""Transforms of trees: pure functions from Tree to Tree, their inverses, and pipelines of them.

A transform returns ``None`` if it leaves nothing of a tree. Transforms that can be undone keep what they need for it in the labels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from treegauge._lazy import lazy_names

if TYPE_CHECKING:
    from treegauge.normalise.continuous import GapCounts, attach_punctuation, count_gaps, merge_nodes, raise_nodes, split_nodes
    from treegauge.normalise.heads import (
        HEAD_RULES,
        HeadRules,
        complements,
        head_index,
        head_positions,
        head_rules,
        head_tag,
        head_word,
    )
    from treegauge.normalise.labels import (
        ROOT_LABELS,
        add_root,
        base_label,
        evalb_label,
        function_tags,
        relabel,
        remove_added_root,
        remove_redundant,
        remove_root,
        split_features,
        strip_features,
        strip_functions,
    )
    from treegauge.normalise.markovisation import (
        annotate_parents,
        binarise,
        binarise_goodman,
        mh,
        mrl,
        remove_parents,
        unbinarise,
        unbinarise_goodman,
        unmh,
        unmrl,
    )
    from treegauge.normalise.pipelines import STEPS, Pipeline, pipeline
    from treegauge.normalise.pruning import (
        PUNCTUATION,
        TRACE_TAGS,
        apply_preset,
        chain_labels,
        collapse_unaries,
        drop_double,
        drop_empty,
        drop_one_word,
        drop_punctuation,
        expand_unaries,
        hogenhout,
        keep_short,
        remove_traces,
        sentence_length,
    )
else:
    __getattr__ = lazy_names(__name__)

__all__ = [
    "HEAD_RULES",
    "PUNCTUATION",
    "ROOT_LABELS",
    "STEPS",
    "TRACE_TAGS",
    "GapCounts",
    "HeadRules",
    "Pipeline",
    "add_root",
    "annotate_parents",
    "apply_preset",
    "attach_punctuation",
    "base_label",
    "binarise",
    "binarise_goodman",
    "chain_labels",
    "collapse_unaries",
    "complements",
    "count_gaps",
    "drop_double",
    "drop_empty",
    "drop_one_word",
    "drop_punctuation",
    "evalb_label",
    "expand_unaries",
    "function_tags",
    "head_index",
    "head_positions",
    "head_rules",
    "head_tag",
    "head_word",
    "hogenhout",
    "keep_short",
    "merge_nodes",
    "mh",
    "mrl",
    "pipeline",
    "raise_nodes",
    "relabel",
    "remove_added_root",
    "remove_parents",
    "remove_redundant",
    "remove_root",
    "remove_traces",
    "sentence_length",
    "split_features",
    "split_nodes",
    "strip_features",
    "strip_functions",
    "unbinarise",
    "unbinarise_goodman",
    "unmh",
    "unmrl",
]
