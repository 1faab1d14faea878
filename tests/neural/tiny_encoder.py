"""A tiny encoder with random weights, saved as transformers saves one."""

from __future__ import annotations

import importlib
import string
from pathlib import Path
from typing import Any

WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "the",
    "cat",
    "milk",
    *string.ascii_lowercase,
    *(f"##{c}" for c in string.ascii_lowercase),
]


def save_encoder(folder: Path, positions: int = 24, **settings: Any) -> Path:
    """Save a BERT of two layers and its tokeniser, which splits most words into letters; the folder."""
    torch, transformers, tokenizers = map(importlib.import_module, ("torch", "transformers", "tokenizers"))
    numbers = {word: number for number, word in enumerate(WORDS)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordPiece(numbers, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    special = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special).save_pretrained(folder)
    sizes = {"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
    config = transformers.BertConfig(vocab_size=len(WORDS), max_position_embeddings=positions, **{**sizes, **settings})
    with torch.random.fork_rng():
        torch.manual_seed(1)
        transformers.BertModel(config).save_pretrained(folder)
    return folder
