"""Transforms of trees: pure functions from Tree to Tree, their inverses, and pipelines of them.

A transform returns ``None`` if it leaves nothing of a tree. Transforms that can be undone keep what they need for it in the labels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from treegauge._lazy import lazy_names

if TYPE_CHECKING:
    from treegauge.normalise.continuous import (
        GapCounts as GapCounts,
        attach_punctuation as attach_punctuation,
        count_gaps as count_gaps,
        merge_nodes as merge_nodes,
        raise_nodes as raise_nodes,
        split_nodes as split_nodes,
    )
    from treegauge.normalise.heads import (
        HEAD_RULES as HEAD_RULES,
        HeadRules as HeadRules,
        complements as complements,
        head_index as head_index,
        head_positions as head_positions,
        head_rules as head_rules,
        head_tag as head_tag,
        head_word as head_word,
    )
    from treegauge.normalise.labels import (
        ROOT_LABELS as ROOT_LABELS,
        add_root as add_root,
        base_label as base_label,
        evalb_label as evalb_label,
        function_tags as function_tags,
        relabel as relabel,
        remove_added_root as remove_added_root,
        remove_redundant as remove_redundant,
        remove_root as remove_root,
        split_features as split_features,
        strip_features as strip_features,
        strip_functions as strip_functions,
    )
    from treegauge.normalise.markovisation import (
        annotate_parents as annotate_parents,
        binarise as binarise,
        binarise_goodman as binarise_goodman,
        mh as mh,
        mrl as mrl,
        remove_parents as remove_parents,
        unbinarise as unbinarise,
        unbinarise_goodman as unbinarise_goodman,
        unmh as unmh,
        unmrl as unmrl,
    )
    from treegauge.normalise.pipelines import STEPS as STEPS, Pipeline as Pipeline, pipeline as pipeline
    from treegauge.normalise.pruning import (
        PUNCTUATION as PUNCTUATION,
        TRACE_TAGS as TRACE_TAGS,
        apply_preset as apply_preset,
        chain_labels as chain_labels,
        collapse_unaries as collapse_unaries,
        drop_double as drop_double,
        drop_empty as drop_empty,
        drop_one_word as drop_one_word,
        drop_punctuation as drop_punctuation,
        expand_unaries as expand_unaries,
        hogenhout as hogenhout,
        keep_short as keep_short,
        remove_traces as remove_traces,
        sentence_length as sentence_length,
    )
else:
    __getattr__, __dir__ = lazy_names(__name__)
