"""The loss of batches of mixed languages: captions find their pictures, and each other across languages.

L = InfoNCE(pictures, captions)  +  w · ring(captions)  +  v · ring(sentences without pictures)
  + u · distance of similarity distributions of pictures and captions from those of teachers
  + s · distance of similarity distributions of captions from those of an encoder of sentences
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import cast

import torch
from torch import Tensor, nn

from groundling.batches import DeviceBatch, TrainingData
from groundling.batches.packing import Packing, even_groups
from groundling.encoders.pair import Encoders
from groundling.encoders.text import TextEncoder
from groundling.objectives.caption_ring import caption_ring
from groundling.objectives.similarity_distillation import similarity_distillation

#: Numbers of pictures [n] → their features [n, dim], as training sees them in this step.
Look = Callable[[Encoders, Tensor], Tensor]


@dataclass(frozen=True)
class TeacherVectors:
    """What teachers make of the training captions and pictures: their products are the teachers' similarities.

    Attributes:
        captions: [captions, d]
        pictures: [pictures, d]
    """

    captions: Tensor
    pictures: Tensor


@dataclass(frozen=True)
class MixedLanguageLoss:
    """The loss of batches of the kind "mixed" (see `batches.mixed_languages`).

    Attributes:
        captions: lines of captions that have pictures.
        sentences: lines of captions in each group without pictures.
        look: how pictures are seen in training.
        caption_weight: w, of captions against captions of the same pictures.
        sentence_weight: v, of sentences without pictures.
        teachers: what other models say, if any do.
        teacher_weight: u.
        told: [captions, d] unit vectors that an encoder of sentences has for the training captions, zero where it does
            not know the language; None where there is no such encoder.
        told_weight: s.
    """

    captions: int
    sentences: int
    look: Look
    caption_weight: float = 0.5
    sentence_weight: float = 0.5
    teachers: TeacherVectors | None = None
    teacher_weight: float = 2.0
    told: Tensor | None = None
    told_weight: float = 1.0

    def __call__(self, encoders: Encoders, data: TrainingData, batch: DeviceBatch) -> Tensor:
        pictures, rows = batch.rows[0], batch.rows[1:]
        real, rows = rows >= 0, rows.clamp(min=0)
        vectors = read(encoders.text, data, rows, batch)  # [lines, n, d]
        seen = encoders.picture(self.look(encoders, pictures))
        texts = data.device_texts[rows]
        objective = partial(cast(nn.Module, encoders.objective), step=batch.step)
        with torch.autocast(vectors.device.type, enabled=False):  # in bf16 scores within .004 are one: recalls are lost
            own, said, there = (part[: self.captions] for part in (vectors, texts, real))
            scores = torch.matmul(seen, own.transpose(1, 2))  # [lines, pictures, captions]
            loss: Tensor = objective(scores, said[:, :, None] == said[:, None, :], there)
            loss = loss + self.caption_weight * caption_ring(own, said, there, objective)
            if self.sentences:
                alone, said_alone, there_alone = (self._lines(part[self.captions :]) for part in (vectors, texts, real))
                loss = loss + self.sentence_weight * caption_ring(alone, said_alone, there_alone, objective)
            if self.teachers is not None:
                told = self.teachers.captions[rows[: self.captions]]
                shown = self.teachers.pictures[pictures]
                theirs = torch.matmul(shown, told.transpose(1, 2))
                loss = loss + self.teacher_weight * similarity_distillation(scores, theirs.float(), real=there)
            if self.told is not None:
                theirs = self.told[rows[: self.captions]].float()
                known = there & (theirs != 0).any(dim=-1)
                apart = similarity_distillation(_ring(own), _ring(theirs), real=known & _next(known))
                loss = loss + self.told_weight * apart
        return loss

    def _lines(self, grouped: Tensor) -> Tensor:
        """[groups · sentences, n, …] → [sentences, groups · n, …]: sentences of one meaning in one column."""
        return grouped.unflatten(0, (-1, self.sentences)).transpose(0, 1).flatten(1, 2)


def _next(lines: Tensor) -> Tensor:
    return lines.roll(-1, dims=0)


def _ring(captions: Tensor) -> Tensor:
    """[lines, n, d] → [lines, n, n] similarities of each line with the next one"""
    return torch.matmul(captions, _next(captions).transpose(1, 2))


def read(text: TextEncoder, data: TrainingData, rows: Tensor, batch: DeviceBatch) -> Tensor:
    """[lines, n] captions → [lines, n, d]. Those of similar length are read together, and so hardly any padding: on a
    CPU many groups of them, on a GPU the few that the batch names, whose shapes come again and again."""
    if rows.device.type == "cpu" and data.spellings is None:
        return read_by_length(text, data, rows)
    if batch.packing:
        return read_in_groups(text, data, rows, batch.packing)
    return read_together(text, data, rows, batch.longest)


def read_together(text: nn.Module, data: TrainingData, rows: Tensor, longest: int) -> Tensor:
    vectors: Tensor = text(*data.captions(rows.flatten(), longest))
    return vectors.unflatten(0, rows.shape)


def read_in_groups(text: nn.Module, data: TrainingData, rows: Tensor, packing: Packing) -> Tensor:
    """The longest captions first: those beyond the next group's number, up to the word that their group ends with."""
    flat = rows.flatten()
    order = data.device_lengths[flat].argsort(descending=True, stable=True)
    ends = [*(count for _, count in packing[1:]), 0]
    groups = [(order[first:last], end) for (end, last), first in zip(packing, ends, strict=True)]
    parts = [text(*data.captions(flat[group], end)) for group, end in groups]
    places = torch.cat([group for group, _ in groups]).argsort()
    return torch.cat(parts).index_select(0, places).unflatten(0, rows.shape)


def read_by_length(text: TextEncoder, data: TrainingData, rows: Tensor) -> Tensor:
    flat = rows.flatten()
    lengths, order = data.device_lengths[flat].sort(descending=True, stable=True)
    parts = flat[order].split(even_groups(lengths.tolist()))
    vectors = text.read_groups([data.captions(part, int(data.device_lengths[part[0]])) for part in parts])
    return torch.cat(vectors)[order.argsort()].unflatten(0, rows.shape)
