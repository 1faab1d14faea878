"""Chunks: Abney's models 0 to S of chunk candidates, the entropy of chunk recognition, and conlleval's scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treegauge._lazy import lazy_names

if TYPE_CHECKING:
    from treegauge.chunks.corpus import (
        NULL as NULL,
        Chunk as Chunk,
        ChunkedSentence as ChunkedSentence,
        categories_of as categories_of,
        chunk_trees as chunk_trees,
        chunks_of_iob as chunks_of_iob,
        chunks_of_tree as chunks_of_tree,
        iob_of_chunks as iob_of_chunks,
        read_chunks as read_chunks,
        truth as truth,
    )
    from treegauge.chunks.entropy import (
        ChunkScores as ChunkScores,
        EntropyCounts as EntropyCounts,
        Evaluation as Evaluation,
        conlleval_printout as conlleval_printout,
        entropy_of as entropy_of,
        evaluate as evaluate,
        from_candidates as from_candidates,
        from_iob_marginals as from_iob_marginals,
    )
    from treegauge.chunks.models import (
        Models as Models,
        SequenceModel as SequenceModel,
        load_models as load_models,
        save_models as save_models,
        train_models as train_models,
        with_gold_tags as with_gold_tags,
    )
    from treegauge.chunks.tagger import HmmTagger as HmmTagger
else:
    __getattr__, __dir__ = lazy_names(__name__)
