"""Batches of captions and pictures through the encoders of a system, as tensors: what training and models share."""

from typing import cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn.functional import embedding

from groundling.devices import autocast
from groundling.encoders.text import SpellingEncoder
from groundling.systems import JudgingEncoders


@torch.inference_mode()
def judge(
    encoders: JudgingEncoders,
    sentences: Tensor,
    sentence_rows: Tensor,
    pictures: Tensor,
    picture_rows: npt.NDArray[np.int64],
    batch_size: int = 8192,
) -> Tensor:
    """[n, 3] logits of pairs of rows of sentences and of pictures, whose vectors are on the encoders' device."""
    encoders.eval()
    pairs = zip(sentence_rows.split(batch_size), torch.from_numpy(picture_rows).split(batch_size), strict=True)
    parts = [
        encoders.head(sentences[one.to(sentences.device)], pictures[two.to(sentences.device)]) for one, two in pairs
    ]
    return torch.cat(parts)


@torch.inference_mode()
def spell_words(encoder: nn.Module, spellings: Tensor, device: torch.device, precision: str = "float32") -> Tensor:
    """[words, word dimensions] on the device from [words, letters], for an encoder that spells words out."""
    encoder.eval()
    with autocast(device, precision):
        return cast(SpellingEncoder, encoder).spell(spellings.to(device))


@torch.inference_mode()
def encode_captions(
    encoder: nn.Module,
    ids: Tensor,
    lengths: Tensor,
    device: torch.device,
    precision: str = "float32",
    batch_size: int = 512,
    words: Tensor | None = None,
) -> Tensor:
    """[captions, dimensions] on the device. Captions go through in order of length and come back in their own order.

    With `words`, [words, word dimensions] on the device, the `ids` are its rows: words that were spelled out before.
    """
    encoder.eval()
    order = torch.argsort(lengths, stable=True)
    parts = []
    for rows in order.split(batch_size):
        longest = int(lengths[rows[-1]])
        with autocast(device, precision):
            entries, sizes = ids[rows, :longest].to(device), lengths[rows].to(device)
            if words is None:
                parts.append(encoder(entries, sizes))
            else:
                parts.append(cast(SpellingEncoder, encoder).sentences(embedding(entries, words), sizes))
    sorted_vectors = torch.cat(parts)
    vectors = torch.empty_like(sorted_vectors)
    vectors[order.to(device)] = sorted_vectors
    return vectors


@torch.inference_mode()
def encode_pictures(
    encoder: nn.Module, features: Tensor, device: torch.device, batch_size: int = 4096, precision: str = "float32"
) -> Tensor:
    """[pictures, dimensions] on the device."""
    encoder.eval()
    with autocast(device, precision):
        return torch.cat([encoder(part.to(device).float()) for part in features.split(batch_size)])
