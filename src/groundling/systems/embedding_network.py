"""What EmbN, PAR. EmbN, MULE, LA, HEM and SMALR share: two-branch embedding networks over pretrained word vectors.

Wang, Li, Huang and Lazebnik 2018, "Learning two-branch neural networks for image-text matching tasks"
(https://arxiv.org/abs/1704.03470), as used by Kim et al. 2020 (MULE, https://arxiv.org/abs/1909.03493) and Burns et al.
2020 (SMALR, https://arxiv.org/abs/2004.04312). The systems are put together from parts: a vocabulary (`words`), text
branches, the loss against pictures (`objectives.two_branch`) and, from MULE on, the alignment of languages
(`objectives.language_alignment`).
"""

from functools import partial
from typing import ClassVar, cast

from pydantic import Field, PositiveInt
from torch import nn

from groundling.batches import EveryLanguageSampler, Sampler, TrainingData
from groundling.batches.stage import Loss
from groundling.encoders.compact import fold_picture, fold_text, plan
from groundling.encoders.pair import Encoders
from groundling.encoders.picture import PictureChoice
from groundling.encoders.picture.two_layers import TwoLayerPictureEncoder, TwoLayerSettings
from groundling.encoders.text import TextChoice
from groundling.encoders.text.hybrid import HybridWords
from groundling.encoders.text.universal import ParallelEncoder, UniversalEncoder, UniversalSettings
from groundling.encoders.tokenisers.by_language import LanguageTokeniser
from groundling.encoders.tokenisers.hybrid_vocabulary import Assignment, HybridVocabulary
from groundling.encoders.tokenisers.own_vocabulary import OwnVocabulary
from groundling.errors import UserError
from groundling.objectives.language_alignment import AlignedLoss, AlignmentSettings
from groundling.objectives.latent_words import LatentSettings, Pretraining, assign
from groundling.objectives.same_words import picture_texts
from groundling.objectives.two_branch import TwoBranchLoss, TwoBranchSettings, text_of
from groundling.settings import Settings
from groundling.systems.base import System
from groundling.systems.plan import Context
from groundling.text import Tokeniser
from groundling.words.starting_vectors import StartingVectors


class EmbeddingNetworkSettings(Settings):
    """A system's own settings have those of `TwoBranchSettings`, too."""

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
    whiten: bool = Field(
        False,
        description="word vectors of each language, and their principal components, without their mean and with equal "
        "spread in all directions: of vectors trained on few captions a few directions hold most of it. Words are "
        "assigned to latent tokens by whitened vectors in any case: of HEM and SMALR it changes the own words alone, "
        "of LA nothing",
    )
    vector_lines: PositiveInt = Field(200_000, description="words of a vectors file that are read, frequent ones first")
    compact: bool = Field(
        False, description="only what retrieval needs, as `groundling compact` leaves it; not trained"
    )


class EmbeddingNetwork(System):
    folds = True
    kind: ClassVar[type[UniversalEncoder] | type[ParallelEncoder]] = UniversalEncoder  # what reads captions
    settings: EmbeddingNetworkSettings

    # --- the parts that differ

    @property
    def vocabulary(self) -> OwnVocabulary | HybridVocabulary:
        """Every word has a vector of its own, unless a system says otherwise."""
        return OwnVocabulary(self.vectors)

    @property
    def latent(self) -> LatentSettings:
        """How words are assigned to latent tokens, where the vocabulary is a hybrid one."""
        raise NotImplementedError(f"system {self.name} has no latent tokens")

    @property
    def two_branch(self) -> TwoBranchSettings:
        """How captions are compared with pictures."""
        return cast(TwoBranchSettings, self.settings)

    @property
    def alignment(self) -> AlignmentSettings | None:
        """How universal embeddings are aligned across languages; None where they are not."""
        return None

    @property
    def text_encoder(self) -> TextChoice:
        return self.kind, UniversalSettings(state_dimensions=self.settings.state_dimensions)

    @property
    def picture_encoder(self) -> PictureChoice:
        own = self.settings
        seen = TwoLayerSettings(hidden=own.picture_dimensions, dropout=own.dropout, normalise=not own.compact)
        return TwoLayerPictureEncoder, seen

    def branches(self, tokeniser: LanguageTokeniser) -> int:
        """How many GRUs read captions."""
        return 1

    def parts(self, tokeniser: LanguageTokeniser) -> dict[str, nn.Module | nn.Parameter]:
        """What is trained beside the encoders."""
        if self.alignment is None:
            return {}
        return {"adversary": nn.Linear(self.settings.universal_dimensions, len(tokeniser.codes))}

    # --- what they share

    def check(self, context: Context) -> None:
        if self.settings.compact:
            raise UserError(
                "system.compact: such a model cannot be trained; train one without it, then `groundling compact`"
            )
        super().check(context)
        self.vocabulary.check(context.train.corpus, context.data)

    @property
    def vectors(self) -> StartingVectors:
        own = self.settings
        return StartingVectors(own.vectors, own.word_dimensions, own.vector_lines, own.whiten)

    def prepare(self, context: Context) -> None:
        self.vectors.prepare(context.train.corpus, context.recipe.text.segmentation)

    def tokeniser(self, context: Context) -> Tokeniser:
        corpus, text, assign = context.train.corpus, context.recipe.text, partial(self.assign, context)
        return self.vocabulary.tokeniser(corpus, text, context.data, context.saved, assign)

    def encoders(self, tokeniser: Tokeniser, features: int) -> Encoders:
        own, read = self.settings, cast(LanguageTokeniser, tokeniser)
        words = self.folded_words(read) if own.compact else self.words(read)
        look, seen = self.picture_encoder
        picture = look.of(features, own.dimensions, seen)
        settings = UniversalSettings(state_dimensions=own.state_dimensions)
        text = self.kind(read, own.dimensions, settings, words)
        return Encoders(text, picture, **({} if own.compact else self.parts(read)))

    def assign(self, context: Context, words: LanguageTokeniser) -> Assignment:
        """The latent token of every word: learned before the encoders can be made."""
        own, size = self.two_branch, self.settings.universal_dimensions
        how = Pretraining(
            self.latent, size, own.sentences, own.margin, own.most_violated, context.seed, own.mask_false_negatives
        )
        return assign(context.train.corpus, words, how, context.device, context.learn)

    def words(self, tokeniser: LanguageTokeniser) -> HybridWords:
        return HybridWords.of(tokeniser, self.settings.universal_dimensions, self.vocabulary.mapped)

    def sampler(self, context: Context, data: TrainingData) -> Sampler:
        """`training.batch_size` counts pictures."""
        training = context.recipe.training
        align = self.alignment
        # Where one language is short another is long, and one GRU reads them all. Captions of one language are put
        # together by length: EmbN and PAR. EmbN, with a GRU for each, would read a tenth fewer words. A GPU
        # loses with more and smaller calls what it gains with fewer words (MULE on an H200: 10.2 ms against 9.8).
        packing = align is not None and len(data.codes) > 1 and data.features.device.type == "cpu"
        epochs = 0 if align is None else align.align_epochs
        size, seed, pool = training.batch_size, training.seed, training.length_pool
        return EveryLanguageSampler(data, size, seed, self.two_branch.sentences, epochs, pool, packing)

    def loss(self, context: Context, data: TrainingData, sampler: Sampler) -> Loss:
        return self.grounded(sampler) if self.alignment is None else self.aligned(sampler, context)

    def grounded(self, sampler: Sampler) -> TwoBranchLoss:
        drawn = cast(EveryLanguageSampler, sampler)
        easy = drawn.align_steps, round(self.two_branch.easy_epochs * drawn.stream.per_epoch)
        texts = picture_texts(drawn.data) if self.two_branch.mask_false_negatives else None
        return TwoBranchLoss(self.two_branch, easy, texts)

    def aligned(self, sampler: Sampler, context: Context) -> AlignedLoss:
        align = cast(AlignmentSettings, self.alignment)
        steps = align.adversary_steps or context.recipe.training.maximum_steps
        return AlignedLoss(self.grounded(sampler), align.adversary, steps)

    # --- the same model in fewer numbers

    def folded_words(self, tokeniser: LanguageTokeniser) -> HybridWords:
        """The same words in the smallest form (see `encoders.compact`)."""
        own = self.settings
        kept = plan(
            tokeniser.bounds,
            tokeniser.dimensions,
            own.universal_dimensions,
            tokeniser.tokens,
            own.state_dimensions,
            self.branches(tokeniser),
            self.vocabulary.mapped,
        )
        return HybridWords(tokeniser.bounds, tokeniser.dimensions, kept.width, tokeniser.tokens, kept.mapped)

    def folded(self, tokeniser: Tokeniser, encoders: Encoders, features: int) -> Encoders:
        if self.settings.compact:
            return encoders
        small = type(self)(self.settings.model_copy(update={"compact": True})).encoders(tokeniser, features)
        fold_text(text_of(encoders), text_of(small))
        fold_picture(cast(TwoLayerPictureEncoder, encoders.picture), cast(TwoLayerPictureEncoder, small.picture))
        return small
