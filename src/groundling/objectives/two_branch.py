"""The losses of two-branch embedding networks over captions in several languages.

Wang, Li, Huang and Lazebnik 2018, "Learning two-branch neural networks for image-text matching tasks"
(https://arxiv.org/abs/1704.03470), as used by Kim et al. 2020 (MULE, https://arxiv.org/abs/1909.03493) and Burns et al.
2020 (SMALR, https://arxiv.org/abs/2004.04312):

    L = L(picture; captions) + 1.5·L(caption; pictures) + .05·neighbourhood + 5e-7·½‖E − E₀‖²,

each the mean of the ten most violated triplets of every anchor.
"""

from dataclasses import dataclass
from typing import cast

import torch
from pydantic import Field, PositiveFloat, PositiveInt
from torch import Tensor

from groundling.batches import DeviceBatch, TrainingData
from groundling.encoders.pair import Encoders
from groundling.encoders.text.universal import UniversalWordsEncoder
from groundling.objectives.neighbourhood import neighbourhood
from groundling.objectives.pull import pull
from groundling.objectives.same_words import shared_words
from groundling.objectives.triplets import Distance, distances, worst_triplets
from groundling.settings import Settings


class TwoBranchSettings(Settings):
    sentences: PositiveInt = Field(2, description="captions of a picture in each language, in one step")
    margin: PositiveFloat = Field(0.05, description="of all triplets")
    most_violated: PositiveInt = Field(10, description="triplets of an anchor that count")
    easy_epochs: float = Field(
        5,
        ge=0,
        description="passes over which triplets with pictures turn from all to the most violated ones; 0: at once, as "
        "published",
    )
    distance: Distance = Field("cosine", description="euclidean: as in the released code")
    picture_weight: float = Field(1.0, ge=0, description="of a picture's triplets, in which captions compete")
    caption_weight: float = Field(1.5, ge=0, description="of a caption's triplets, in which pictures compete")
    neighbourhood_weight: float = Field(0.05, ge=0, description="of captions of one picture lying together")
    mask_false_negatives: bool = Field(
        False, description="a picture that has a caption of the same words is no wrong one for a caption"
    )
    pull_weight: float = Field(5e-7, ge=0, description="of word vectors staying where they began; none if random")


@dataclass(frozen=True)
class TwoBranchLoss:
    """The loss of batches that `EveryLanguageSampler` draws.

    Attributes:
        easy: after how many steps triplets begin to turn from all to the most violated ones, and in how many they do.
        texts: [pictures, most] numbers of the texts that each picture has (`same_words`), where captions of other
            pictures that say the same shall not be pushed away.
    """

    own: TwoBranchSettings
    easy: tuple[int, int] = 0, 0
    texts: Tensor | None = None

    def __call__(self, encoders: Encoders, data: TrainingData, batch: DeviceBatch) -> Tensor:
        ids, lengths, real = self.captions(data, batch)
        _, vectors = text_of(encoders).read(ids, lengths)
        seen, shared = encoders.picture(data.features[batch.rows[0]]), self.shared(data, batch)
        return self.grounding(encoders, seen, vectors, real, batch.step, shared)

    def captions(self, data: TrainingData, batch: DeviceBatch) -> tuple[Tensor, Tensor, Tensor]:
        """Entries [languages, captions, longest], lengths [languages, captions], and which of them are there at all.

        Captions are those of all pictures, then all pictures' second ones, and so on: caption k is of picture k mod n.
        In an empty place the first word of some other caption is read, which then takes part in nothing.
        """
        lines = batch.rows[1:].unflatten(0, (-1, self.own.sentences)).flatten(1)
        ids, lengths = data.captions(lines.clamp(min=0).flatten(), batch.longest)
        real = lines >= 0
        return ids.unflatten(0, lines.shape), torch.where(real, lengths.unflatten(0, lines.shape), 1), real

    def shared(self, data: TrainingData, batch: DeviceBatch) -> Tensor | None:
        """[languages, captions, pictures] whether a picture of the batch has a caption, in any language, of the same
        words; None where false negatives are not looked for."""
        if self.texts is None:
            return None
        lines = batch.rows[1:].unflatten(0, (-1, self.own.sentences)).flatten(1)
        return shared_words(data, self.texts, batch.rows[0], lines)

    def grounding(
        self,
        encoders: Encoders,
        seen: Tensor,
        vectors: Tensor,
        real: Tensor,
        step: Tensor,
        shared: Tensor | None = None,
    ) -> Tensor:
        """The losses of captions [languages, captions, d] with pictures [n, d] and with one another, and of the word
        table."""
        words = text_of(encoders).words
        with torch.autocast(vectors.device.type, enabled=False):  # in bf16 scores within .004 are one
            total = self.matching(seen, vectors, real, step, shared)
            total = total + self.together(vectors, real, len(seen), shared)
            if words.start is not None and words.table is not None and self.own.pull_weight:
                total = total + self.own.pull_weight * pull(words.table, words.start)
        return total

    def matching(
        self, seen: Tensor, vectors: Tensor, real: Tensor, step: Tensor, shared: Tensor | None = None
    ) -> Tensor:
        """Triplets of pictures [n, d] with the captions of each language, both ways.

        From weights drawn at random the most violated ones are cheapest where everything is alike, at the margin each,
        and trainings rest there for long (on F8K-7 for up to all of 30 passes). Not so if all triplets count at first:
        `easy_epochs`.
        """
        own, n = self.own, len(seen)
        of = torch.arange(real.shape[1], device=real.device) % n
        same = of[:, None] == torch.arange(n, device=real.device)  # [captions, pictures]
        captions = torch.arange(n, device=real.device)[:, None] + n * torch.arange(own.sentences, device=real.device)
        there = real[:, :, None]
        apart = distances(vectors, seen, own.distance)  # [languages, captions, pictures]
        right, wrong = same & there, ~same & there
        if shared is not None:
            wrong = wrong & ~shared

        def cost(most: int) -> Tensor:
            by_caption = worst_triplets(apart, right, wrong, own.margin, most, 1, of[:, None])
            by_picture = worst_triplets(apart.mT, right.mT, wrong.mT, own.margin, most, own.sentences, captions)
            return own.caption_weight * by_caption + own.picture_weight * by_picture

        worst, (begin, turning) = cost(own.most_violated), self.easy
        if not turning:
            return worst
        hard = ((step - begin) / turning).clamp(0, 1)
        return (1 - hard) * cost(own.sentences * real.shape[1]) + hard * worst

    def together(self, vectors: Tensor, real: Tensor, pictures: int, shared: Tensor | None = None) -> Tensor:
        """The neighbourhood constraints within languages and between them."""
        own = self.own
        near = neighbourhood(vectors, real, pictures, own.margin, own.most_violated, own.distance, shared=shared)
        return own.neighbourhood_weight * near


def text_of(encoders: Encoders) -> UniversalWordsEncoder:
    """The text encoder as what it is, for the type checker."""
    return cast(UniversalWordsEncoder, encoders.text)
