"""The pre-training of HEM: which latent token each word of each language is, and where the tokens begin.

Burns et al. 2020, SMALR (https://arxiv.org/abs/2004.04312, section 3.1). A caption is the mean of its words' latent
tokens; captions of one picture, in whatever languages, are brought together by triplets, the most violated ones of each
anchor. See `encoders.text.latent` for how tokens are chosen. All words take part, the frequent ones too: they say what
a rare one stands beside. So the result does not depend on how many words keep a vector of their own, and is kept
between runs.
"""

import hashlib
import json
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from pydantic import Field, PositiveFloat, PositiveInt
from safetensors.numpy import load_file, save_file
from torch import Tensor
from torch.nn.functional import embedding

from groundling.batches import DeviceBatch, EveryLanguageSampler, TrainingData
from groundling.batches.stage import Learn, Stage
from groundling.corpus import Corpus
from groundling.encoders.padding import average
from groundling.encoders.text.latent import LatentVocabulary
from groundling.encoders.tokenisers.by_language import LanguageTokeniser
from groundling.encoders.tokenisers.hybrid_vocabulary import Assignment
from groundling.files import atomic_path, cache_folder
from groundling.objectives.neighbourhood import neighbourhood
from groundling.objectives.same_words import picture_texts, shared_words
from groundling.settings import Settings, TrainingSettings

VERSION = 2  # of what is computed here; results of an earlier one are not used


class LatentSettings(Settings):
    """How words are assigned to latent tokens."""

    tokens: PositiveInt = Field(40_000, description="to choose from, but not more than there are words")
    epochs: PositiveFloat = Field(10, description="passes through the pictures")
    batch_size: PositiveInt = Field(128, description="pictures in a step, each with `sentences` of every language")
    learning_rate: PositiveFloat = 1e-3
    exploration: float = Field(0.2, ge=0, le=1, description="how often a word is not its best token (the paper's p)")
    best: PositiveInt = Field(20, description="tokens that it then is one of (the paper's M)")


class LatentTokenSettings(Settings):
    """Of systems whose rare words share latent tokens."""

    latent: LatentSettings = Field(LatentSettings(), description="how words are assigned to latent tokens")


@dataclass(frozen=True)
class Pretraining:
    """All that the result depends on, beside captions and word vectors.

    Attributes:
        dimensions: of a latent token.
        sentences: captions of a picture in each language, in one step.
        margin, most: of the triplets.
        mask_false_negatives: captions of a picture that has one of the same words are no strangers to a caption.
    """

    settings: LatentSettings
    dimensions: int
    sentences: int
    margin: float
    most: int
    seed: int
    mask_false_negatives: bool = False


def assign(
    corpus: Corpus, tokeniser: LanguageTokeniser, how: Pretraining, device: torch.device, learn: Learn
) -> Assignment:
    """Learned once for the same captions, word vectors (`tokeniser.start`) and settings, then read from a file."""
    no_features = np.zeros((len(corpus.pictures), 1), dtype=np.float32)
    data = TrainingData.build(corpus, no_features, tokeniser, device)
    assert tokeniser.start is not None  # noqa: S101 (for the type checker)
    values = [VERSION, how.settings.model_dump(), {**how.__dict__, "settings": None}, tokeniser.bounds]
    key = hashlib.sha256(json.dumps(values).encode())
    for part in (data.ids.cpu().numpy(), data.owners, data.languages, tokeniser.start):
        key.update(np.ascontiguousarray(part).data)
    path = cache_folder() / "words" / f"latent-{key.hexdigest()[:32]}.safetensors"
    if not path.exists():
        learned = learn_tokens(data, torch.from_numpy(tokeniser.start), tokeniser.bounds, how, learn)
        if not path.exists():  # of trainings side by side all take what the first has learned: on a GPU two differ
            with atomic_path(path) as temporary:
                save_file({"numbers": learned.numbers, "vectors": learned.vectors}, temporary)
    found = load_file(path)
    return Assignment(found["numbers"], found["vectors"])


def learn_tokens(data: TrainingData, vectors: Tensor, bounds: list[int], how: Pretraining, learn: Learn) -> Assignment:
    """Args:
    vectors: [rows, d] word vectors.
    bounds: where the rows of each language begin, and where the last ones end.
    """
    settings, device = how.settings, data.features.device
    tokens = min(settings.tokens, bounds[-1] - bounds[0])
    with torch.random.fork_rng([device] if device.type == "cuda" else []):  # what follows must not depend on a file
        torch.manual_seed(how.seed)
        latent = LatentVocabulary(vectors, bounds, tokens, how.dimensions, settings.exploration, settings.best)
        latent.to(device)
        sampler = EveryLanguageSampler(data, settings.batch_size, how.seed, how.sentences)
        training = TrainingSettings(
            batch_size=max(2, settings.batch_size),
            learning_rate=settings.learning_rate,
            maximum_steps=max(1, round(settings.epochs * sampler.stream.per_epoch)),
            clip=None,
            precision="float32",
            seed=how.seed,
        )
        loss = partial(caption_loss, how, picture_texts(data) if how.mask_false_negatives else None)
        learn(Stage("latent words", latent, data, sampler, loss, training, recordable=False))
    used, numbers = torch.unique(latent.assignments(), return_inverse=True)
    return Assignment(numbers.cpu().numpy(), latent.latent.detach()[used].cpu().numpy())


def caption_loss(
    how: Pretraining, texts: Tensor | None, latent: LatentVocabulary, data: TrainingData, batch: DeviceBatch
) -> Tensor:
    """Triplets of captions, each the mean of its words' tokens, within languages and between them.

    A batch is one of `EveryLanguageSampler`: its rows are [1 + languages · sentences, pictures]. `texts` are those of
    each picture (`picture_texts`), where pictures of the same words are not to be pushed apart.
    """
    rows = batch.rows
    lines = rows[1:].unflatten(0, (-1, how.sentences)).flatten(1)  # [languages, captions]
    ids, lengths = data.captions(lines.clamp(min=0).flatten(), batch.longest)
    words, places = ids.unique(return_inverse=True)
    padding = int((words == 0).sum())
    vectors = latent(words[padding:])
    vectors = torch.cat([vectors.new_zeros(padding, vectors.shape[1]), vectors])
    read = embedding(places, vectors).unflatten(0, lines.shape)  # its gradient is many times as fast as an index's
    means = average(read, lengths.unflatten(0, lines.shape))
    shared = None if texts is None else shared_words(data, texts, rows[0], lines)
    return neighbourhood(means, lines >= 0, rows.shape[1], how.margin, how.most, shared=shared)
