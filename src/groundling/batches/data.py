"""What training reads, as arrays: captions as tokens, pictures as features, both resident on the device."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from groundling.batches.mapped_ids import MappedIds, cut_once, text_numbers
from groundling.corpus import Corpus
from groundling.corpus.parquet_texts import ParquetTexts
from groundling.errors import UserError
from groundling.text import Tokeniser


@dataclass(frozen=True)
class TrainingData:
    """One split of a corpus, ready for batches.

    Attributes:
        ids: [captions, longest] int32 on the device, padded with 0: rows of a table of words or pieces. Those of a
            corpus that lies in files stay in files on a CPU (see `mapped_ids`).
        spellings: [words, letters] int32 on the device where words are read letter by letter: `ids` are its rows. None
            where the text encoder has a table of its own.
        lengths: [captions] on the host (batches are put together there); `device_lengths` is its copy on the device.
        owners: [captions] on the host, the picture of each caption.
        languages: [captions] on the host, a number into `codes`.
        device_owners, device_texts: [captions] on the device, the picture and a number for the text of each caption, by
            which pairs that match in truth can be told.
        features: [pictures, dim] float32 on the device.
        classes: [captions] on the device, for statements that are judged: the place of the label in LABELS.
    """

    ids: Tensor
    device_lengths: Tensor
    device_owners: Tensor
    device_texts: Tensor
    features: Tensor
    lengths: npt.NDArray[np.int64]
    owners: npt.NDArray[np.int64]
    languages: npt.NDArray[np.int64]
    codes: Sequence[str]
    spellings: Tensor | None = None
    classes: Tensor | None = None

    def captions(self, rows: Tensor, longest: int) -> tuple[Tensor, Tensor]:
        """What a text encoder reads: entries [n, longest] (or, spelled out, [n, longest, letters]) and lengths [n]."""
        ids = self.ids[rows, :longest]
        return (ids if self.spellings is None else self.spellings[ids.long()]), self.device_lengths[rows]

    def alike(self, captions: Tensor, others: Tensor) -> Tensor:
        """[n, m] whether two captions match in truth: they are of one picture, or say the same word for word."""
        same_picture = self.device_owners[captions][:, None] == self.device_owners[others][None, :]
        return same_picture | (self.device_texts[captions][:, None] == self.device_texts[others][None, :])

    def part(self, rows: npt.NDArray[np.int64]) -> "TrainingData":
        """Some of the captions, with the pictures that they are of."""
        pictures, owners = np.unique(self.owners[rows], return_inverse=True)
        device = self.ids.device
        wanted, seen = torch.from_numpy(rows).to(device), torch.from_numpy(pictures).to(device)
        return replace(
            self,
            ids=self.ids[wanted],
            device_lengths=self.device_lengths[wanted],
            device_owners=torch.from_numpy(owners).to(device),
            device_texts=self.device_texts[wanted],
            features=self.features[seen],
            lengths=self.lengths[rows],
            owners=owners,
            languages=self.languages[rows],
            classes=None if self.classes is None else self.classes[wanted],
        )

    @staticmethod
    def outline(corpus: Corpus) -> "TrainingData":
        """What a sampler looks at, without words and features: enough to find out whether there are batches at all."""
        codes, languages = np.unique(corpus.languages, return_inverse=True)
        ones = np.ones(len(corpus), dtype=np.int64)
        return TrainingData(
            ids=torch.zeros(len(corpus), 1, dtype=torch.int32),
            device_lengths=torch.from_numpy(ones),
            device_owners=torch.from_numpy(corpus.owners),
            device_texts=torch.zeros(len(corpus), dtype=torch.int64),
            features=torch.zeros(len(corpus.pictures), 1),
            lengths=ones,
            owners=corpus.owners,
            languages=languages.astype(np.int64),
            codes=codes.tolist(),
        )

    @staticmethod
    def build(
        corpus: Corpus,
        features: npt.NDArray[np.float32],
        tokeniser: Tokeniser,
        device: torch.device,
        classes: npt.NDArray[np.int64] | None = None,
    ) -> "TrainingData":
        check_room(features.size * 4, device)
        codes, languages = np.unique(corpus.languages, return_inverse=True)
        if isinstance(corpus.texts, ParquetTexts):
            kept = cut_once(tokeniser, corpus.texts, codes.tolist(), languages)
            mapped, lengths, spellings = MappedIds(kept, device), np.diff(kept.ends), kept.spellings
            # A step that is recorded on a GPU reads no files: there all entries lie in its memory.
            ids = cast(Tensor, mapped) if device.type == "cpu" else mapped.on(device)
            texts = text_numbers(corpus.texts)
        else:
            tokens = tokeniser.encode(corpus.texts, corpus.languages.tolist())
            ids, lengths, spellings = torch.from_numpy(tokens.ids).to(device), tokens.lengths, tokens.spellings
            _, texts = np.unique(np.array(corpus.texts, dtype=object), return_inverse=True)
        return TrainingData(
            ids=ids,
            device_lengths=torch.from_numpy(lengths).to(device),
            device_owners=torch.from_numpy(corpus.owners).to(device),
            device_texts=torch.from_numpy(texts.astype(np.int64)).to(device),
            features=torch.from_numpy(np.ascontiguousarray(features, dtype=np.float32)).to(device),
            lengths=lengths,
            owners=corpus.owners,
            languages=languages.astype(np.int64),
            codes=codes.tolist(),
            spellings=None if spellings is None else torch.from_numpy(spellings).to(device),
            classes=None if classes is None else torch.from_numpy(classes).to(device),
        )


def check_room(size: int, device: torch.device) -> None:
    """An error where features of so many bytes do not fit into the memory of a GPU, where a training has them all."""
    if device.type != "cuda":
        return
    free, _ = torch.cuda.mem_get_info(device)
    if size > free:
        raise UserError(
            f"the features of these pictures, {size / 1e9:.1f} GB, must lie in the memory of the GPU, which has "
            f"{free / 1e9:.1f} GB left, and several GPUs do not share them: train on fewer pictures "
            "(--set corpus.training_pictures=N), or with --device cpu, which reads them from disk"
        )
