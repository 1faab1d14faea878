"""Chunks: Abney's models 0 to S of chunk candidates, the entropy of chunk recognition, and conlleval's scores."""

from __future__ import annotations

from treegauge.chunks.corpus import (
    NULL,
    Chunk,
    ChunkedSentence,
    categories_of,
    chunk_trees,
    chunks_of_iob,
    chunks_of_tree,
    iob_of_chunks,
    read_chunks,
    truth,
)
from treegauge.chunks.entropy import (
    ChunkScores,
    EntropyCounts,
    Evaluation,
    conlleval_printout,
    entropy_of,
    evaluate,
    from_candidates,
    from_iob_marginals,
)
from treegauge.chunks.models import Models, SequenceModel, load_models, save_models, train_models, with_gold_tags
from treegauge.chunks.tagger import HmmTagger

__all__ = [
    "NULL",
    "Chunk",
    "ChunkScores",
    "ChunkedSentence",
    "EntropyCounts",
    "Evaluation",
    "HmmTagger",
    "Models",
    "SequenceModel",
    "categories_of",
    "chunk_trees",
    "chunks_of_iob",
    "chunks_of_tree",
    "conlleval_printout",
    "entropy_of",
    "evaluate",
    "from_candidates",
    "from_iob_marginals",
    "iob_of_chunks",
    "load_models",
    "read_chunks",
    "save_models",
    "train_models",
    "truth",
    "with_gold_tags",
]
