"""Networks of one layer with random weights, in a folder as transformers saves them: what a hub would give."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from groundling.encoders.tokenisers.hub import HubTokeniser
from groundling.settings import TextSettings

MARIAN_WORDS = ["a", "dog", "cat", "runs", "sleeps", "un", "chien", "chat", "court", "dort", ">>fra<<", ">>ces<<"]


def save_bert(folder: Path, words: Sequence[str], size: int = 16, **more: Any) -> Path:
    """A BERT that knows these words; pieces that go on in a word begin with ##."""
    transformers = pytest.importorskip("transformers")
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]
    transformers.BertTokenizerFast(vocab={word: row for row, word in enumerate(vocabulary)}).save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=size,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=40,
        **more,
    )
    transformers.BertModel(config).save_pretrained(folder)
    return folder


def save_marian(folder: Path) -> Path:
    """As published Marian models are: the padding symbol, which decoding starts with, comes last."""
    transformers, tokenizers = pytest.importorskip("transformers"), pytest.importorskip("tokenizers")
    rows = {word: row for row, word in enumerate(["</s>", "<unk>", *MARIAN_WORDS, "<pad>"])}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(rows, unk_token="<unk>"))  # noqa: S106 (not a password)
    made.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    made.post_processor = tokenizers.processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 0)])
    names = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    transformers.PreTrainedTokenizerFast(tokenizer_object=made, **names).save_pretrained(folder)
    torch.manual_seed(3)
    padding = rows["<pad>"]
    config = transformers.MarianConfig(
        vocab_size=len(rows),
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=16,
        decoder_ffn_dim=16,
        max_position_embeddings=300,
        init_std=1.0,
        pad_token_id=padding,
        eos_token_id=0,
        decoder_start_token_id=padding,
        forced_eos_token_id=None,
    )
    model = transformers.MarianMTModel(config)
    model.generation_config.bad_words_ids = [[padding]]  # as published models have it: padding is never an answer
    model.save_pretrained(folder)
    return folder


def without_tokeniser(folder: Path) -> HubTokeniser:
    """An encoder's folder as encoders are given it; nothing is read with it."""
    return HubTokeniser(str(folder), folder, "", TextSettings(), None)
