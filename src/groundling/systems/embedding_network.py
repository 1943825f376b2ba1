"""What EmbN, PAR. EmbN and MULE share: two-branch embedding networks over pretrained word vectors.

Wang, Li, Huang and Lazebnik 2018, "Learning two-branch neural networks for image-text matching tasks", as used by Kim
et al. 2020 (MULE) and Burns et al. 2020 (SMALR; seed 001):

    L = L(picture; captions) + 1.5·L(caption; pictures) + .05·neighbourhood + 5e-7·½‖E − E₀‖²,

each the mean of the ten most violated triplets of every anchor.
"""

from collections import Counter
from pathlib import Path
from typing import cast

import torch
from pydantic import Field, PositiveFloat, PositiveInt
from torch import Tensor

from groundling.batches import DeviceBatch, EveryLanguageSampler, Sampler, TrainingData
from groundling.corpus import Corpus
from groundling.dataset import Dataset
from groundling.errors import UserError
from groundling.objectives import distances, neighbourhood, pull, worst_triplets
from groundling.objectives.triplets import Distance
from groundling.settings import Settings, TextSettings, TrainingSettings
from groundling.systems.base import System, Towers
from groundling.systems.starting_vectors import caption_vectors, check_files, starting_table
from groundling.text import Tokeniser
from groundling.text.by_language import LanguageTokeniser, count_words, frequent
from groundling.towers.compact import plan
from groundling.towers.hybrid import HybridWords
from groundling.towers.two_layers import TwoLayerPictureTower
from groundling.towers.universal import ParallelTower, UniversalTower, UniversalWords


class EmbeddingNetworkSettings(Settings):
    dimensions: PositiveInt = Field(512, description="of the shared space")
    word_dimensions: PositiveInt = Field(300, description="of word vectors; a file has its own")
    universal_dimensions: PositiveInt = Field(512, description="of the embedding that each language's words map to")
    state_dimensions: PositiveInt = Field(1024, description="of the recurrent state")
    picture_dimensions: PositiveInt = Field(2048, description="of the hidden layer for pictures")
    dropout: float = Field(0.5, ge=0, lt=1, description="of the hidden layer for pictures")
    vectors: str = Field(
        "captions",
        description="what the word table begins with; captions: vectors trained on the training captions (extra "
        "`words`); a file, {language} standing for the code, as cc.{language}.300.vec.gz; random",
    )
    vector_lines: PositiveInt = Field(200_000, description="words of a vectors file that are read, frequent ones first")
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
    pull_weight: float = Field(5e-7, ge=0, description="of word vectors staying where they began; none if random")
    compact: bool = Field(
        False, description="only what retrieval needs, as `groundling compact` leaves it; not trained"
    )


class EmbeddingNetwork(System):
    """Tokeniser, towers, batches and the loss against pictures."""

    settings: EmbeddingNetworkSettings
    data: Path | None = None  # the folder that files named in settings may lie below; known when training begins
    easy_steps: tuple[int, int] = 0, 0  # after how many steps triplets begin to turn hard, and in how many they do

    def prepare(self, dataset: Dataset, text: TextSettings) -> None:
        self.data = dataset.data
        check_files(self.settings.vectors, dataset.corpus.split("train").all_languages(), self.data)

    def ready(self, corpus: Corpus, text: TextSettings) -> None:
        if self.settings.vectors == "captions":
            for code in corpus.all_languages():
                caption_vectors(corpus, code, self.settings.word_dimensions, text.segmentation)

    def tokeniser(self, corpus: Corpus, settings: TextSettings) -> Tokeniser:
        counts = count_words(corpus.texts, corpus.languages.tolist(), settings)
        return self.with_vectors(self.vocabulary(counts, settings), corpus)

    def vocabulary(self, counts: dict[str, Counter[str]], settings: TextSettings) -> LanguageTokeniser:
        """Every word that is frequent enough in its language."""
        words = {code: frequent(counter, settings.minimum_count) for code, counter in counts.items()}
        if not any(words.values()):
            raise UserError(
                f"text.minimum_count: no word of the training captions occurs {settings.minimum_count} times"
            )
        return LanguageTokeniser(words, settings, self.settings.word_dimensions)

    def with_vectors(
        self, tokeniser: LanguageTokeniser, corpus: Corpus, reduce_to: int | None = None
    ) -> LanguageTokeniser:
        own, text = self.settings, tokeniser.settings
        if own.vectors == "random":
            size = reduce_to or own.word_dimensions
            return LanguageTokeniser(tokeniser.vocabularies, text, size, tokeniser.loans)
        start = starting_table(
            corpus,
            tokeniser.vocabularies,
            own.vectors,
            own.word_dimensions,
            text.segmentation,
            own.vector_lines,
            reduce_to,
            self.data,
        )
        return LanguageTokeniser(tokeniser.vocabularies, text, start.shape[1], tokeniser.loans, start)

    def load_tokeniser(self, saved: dict[str, object]) -> Tokeniser:
        return LanguageTokeniser.from_json(saved)

    def towers(self, tokeniser: Tokeniser, features: int) -> Towers:
        own = self.settings
        assert isinstance(tokeniser, LanguageTokeniser)  # noqa: S101 (for the type checker: made above)
        words = self.folded_words(tokeniser) if own.compact else self.words(tokeniser)
        picture = TwoLayerPictureTower(
            features, own.picture_dimensions, own.dimensions, own.dropout, normalise=not own.compact
        )
        return Towers(self.text_tower(words), picture)

    def folded_words(self, tokeniser: LanguageTokeniser) -> HybridWords:
        """The same words in the smallest form (see `towers.compact`)."""
        own = self.settings
        kept = plan(
            tokeniser.bounds,
            tokeniser.dimensions,
            own.universal_dimensions,
            tokeniser.tokens,
            own.state_dimensions,
            self.branches(tokeniser),
            self.mapped,
        )
        return HybridWords(tokeniser.bounds, tokeniser.dimensions, kept.width, tokeniser.tokens, kept.mapped)

    def branches(self, tokeniser: LanguageTokeniser) -> int:
        """How many GRUs read captions."""
        return 1

    @property
    def mapped(self) -> bool:
        """Whether words have vectors that a map takes to the universal embedding."""
        return True

    def words(self, tokeniser: LanguageTokeniser) -> HybridWords:
        start = None if tokeniser.start is None else torch.from_numpy(tokeniser.start)
        return UniversalWords(tokeniser.bounds, tokeniser.dimensions, self.settings.universal_dimensions, start)

    def text_tower(self, words: HybridWords) -> UniversalTower | ParallelTower:
        return UniversalTower(words, words.width, self.settings.state_dimensions, self.settings.dimensions)

    def sampler(self, data: TrainingData, training: TrainingSettings) -> Sampler:
        """`training.batch_size` counts pictures."""
        return self.every_language(data, training, 0)

    def every_language(
        self, data: TrainingData, training: TrainingSettings, align_epochs: float, stairs: bool = False
    ) -> Sampler:
        self.refuse_compact()
        own = self.settings
        sampler = EveryLanguageSampler(
            data, training.batch_size, training.seed, own.sentences, align_epochs, training.length_pool, stairs
        )
        self.easy_steps = sampler.align_steps, round(own.easy_epochs * sampler.stream.per_epoch)
        return sampler

    def refuse_compact(self) -> None:
        if self.settings.compact:
            raise UserError(
                "system.compact: such a model cannot be trained; train one without it, then `groundling compact`"
            )

    def loss(self, towers: Towers, data: TrainingData, batch: DeviceBatch) -> Tensor:
        ids, lengths, real = self.captions(data, batch)
        _, vectors = text_of(towers).read(ids, lengths)
        return self.grounding(towers, towers.picture(data.features[batch.rows[0]]), vectors, real, batch.step)

    def captions(self, data: TrainingData, batch: DeviceBatch) -> tuple[Tensor, Tensor, Tensor]:
        """Entries [languages, captions, longest], lengths [languages, captions], and which of them are there at all.

        Captions are those of all pictures, then all pictures' second ones, and so on: caption k is of picture k mod n.
        In an empty place the first word of some other caption is read, which then takes part in nothing.
        """
        lines = batch.rows[1:].unflatten(0, (-1, self.settings.sentences)).flatten(1)
        ids, lengths = data.captions(lines.clamp(min=0).flatten(), batch.longest)
        real = lines >= 0
        return ids.unflatten(0, lines.shape), torch.where(real, lengths.unflatten(0, lines.shape), 1), real

    def grounding(self, towers: Towers, seen: Tensor, vectors: Tensor, real: Tensor, step: Tensor) -> Tensor:
        """The losses of captions [languages, captions, d] with pictures [n, d] and with one another, and of the word
        table."""
        own, words = self.settings, text_of(towers).words
        with torch.autocast(vectors.device.type, enabled=False):  # in bf16 scores within .004 are one
            total = self.matching(seen, vectors, real, step) + self.together(vectors, real, len(seen))
            if words.start is not None and words.table is not None and own.pull_weight:
                total = total + own.pull_weight * pull(words.table, words.start)
        return total

    def matching(self, seen: Tensor, vectors: Tensor, real: Tensor, step: Tensor) -> Tensor:
        """Triplets of pictures [n, d] with the captions of each language, both ways.

        From weights drawn at random the most violated ones are cheapest where everything is alike, at the margin each,
        and trainings rest there for long (on F8K-7 for up to all of 30 passes). Not so if all triplets count at first:
        `easy_epochs`.
        """
        own, n = self.settings, len(seen)
        of = torch.arange(real.shape[1], device=real.device) % n
        same = of[:, None] == torch.arange(n, device=real.device)  # [captions, pictures]
        there = real[:, :, None]
        apart = distances(vectors, seen, own.distance)  # [languages, captions, pictures]
        right, wrong = same & there, ~same & there

        def cost(most: int) -> Tensor:
            by_caption = worst_triplets(apart, right, wrong, own.margin, most, 1)
            by_picture = worst_triplets(apart.mT, right.mT, wrong.mT, own.margin, most, own.sentences)
            return own.caption_weight * by_caption + own.picture_weight * by_picture

        worst, (begin, turning) = cost(own.most_violated), self.easy_steps
        if not turning:
            return worst
        hard = ((step - begin) / turning).clamp(0, 1)
        return (1 - hard) * cost(own.sentences * real.shape[1]) + hard * worst

    def together(self, vectors: Tensor, real: Tensor, pictures: int) -> Tensor:
        """The neighbourhood constraints within languages and between them."""
        own = self.settings
        near = neighbourhood(vectors, real, pictures, own.margin, own.most_violated, own.distance)
        return own.neighbourhood_weight * near


def text_of(towers: Towers) -> UniversalTower | ParallelTower:
    """The text tower as what it is, for the type checker."""
    return cast(UniversalTower | ParallelTower, towers.text)
