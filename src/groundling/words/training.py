"""Subword vectors from a corpus's own captions, for languages whose published vectors cannot be had.

Skip-gram with negative sampling and character n-grams (Bojanowski et al. 2017), trained by gensim, whose inner loop is
compiled. With one worker the result depends on nothing but captions, settings and seed.
"""

import hashlib
import json
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field, PositiveInt

from groundling.corpus import Corpus
from groundling.errors import UserError, did_you_mean
from groundling.files import cache_folder
from groundling.progress import bar
from groundling.settings import Settings
from groundling.text.segmentation import words
from groundling.words import storage
from groundling.words.subwords import Subwords, piece_hashes
from groundling.words.vectors import WordVectors


class WordSettings(Settings):
    """How subword vectors are trained."""

    dimensions: int = Field(100, ge=2, le=2000)
    epochs: PositiveInt = 20
    context: Literal["caption", "picture"] = Field(
        "caption",
        description="a word's neighbours are those of its caption; or of all captions of its picture, one after "
        "another, for captions of a word or two",
    )
    window: PositiveInt = Field(10, description="words on each side that a word has to predict")
    minimum_count: PositiveInt = Field(2, description="rarer words get no vector of their own, only subwords")
    shortest: PositiveInt = Field(3, description="letters of the shortest piece of a word")
    longest: PositiveInt = Field(6, description="letters of the longest piece of a word")
    buckets: PositiveInt = Field(200_000, le=10_000_000, description="rows that pieces are hashed into")
    seed: int = Field(0, ge=0, le=2**32 - 1)


def sentences(
    corpus: Corpus, language: str, segmentation: str | None = None, context: str = "caption"
) -> list[list[str]]:
    """The words of a language's training captions; test captions must not shape what is tested on them.

    One list for each caption, or, with the context "picture", for all captions of a picture together.
    """
    if language not in corpus.all_languages():
        raise UserError(
            f'{corpus.name} has no captions in "{language}"{did_you_mean(language, corpus.all_languages())}'
        )
    training = corpus.split("train").only([language])
    cut = segmentation or corpus.info.segmentation or "script"
    found = [words(text, language, cut) for text in training.texts]
    if context == "caption":
        return found
    together: dict[int, list[str]] = {}
    for owner, caption in zip(training.owners.tolist(), found, strict=True):
        together.setdefault(owner, []).extend(caption)
    return list(together.values())


def trained(captions: Sequence[list[str]], settings: WordSettings) -> WordVectors:
    """What `train` makes of these captions, kept between runs: the same words and settings are trained once."""
    path = _place(captions, settings)
    if not path.exists():
        storage.save(path, train(captions, settings))
    return storage.load(path)


def trained_words(captions: Sequence[list[str]], settings: WordSettings) -> WordVectors:
    """The vector of every word of these captions, rare ones from their pieces, and no pieces for others.

    Kept in a file of its own, in float16: a tenth of what `trained` keeps, small enough to be taken to a machine that
    has no gensim, where it is found by the same name.
    """
    whole = _place(captions, settings)
    path = whole.with_name(f"seen-{whole.name}")
    if not path.exists():
        if max(Counter(word for caption in captions for word in caption).values(), default=0) < settings.minimum_count:
            return WordVectors((), np.zeros((0, settings.dimensions), dtype=np.float32))  # too few to learn from
        vectors = trained(captions, settings)
        listed = [word for word, _ in Counter(word for caption in captions for word in caption).most_common()]
        table, found = vectors.lookup(listed)
        known = tuple(word for word, there in zip(listed, found, strict=True) if there)
        storage.save(path, WordVectors(known, table[found]), half=True)
    return storage.load(path)


def _place(captions: Sequence[list[str]], settings: WordSettings) -> Path:
    """The file of what these captions and settings make."""
    content = json.dumps([settings.model_dump(), captions], ensure_ascii=False)
    return cache_folder() / "words" / f"{hashlib.sha256(content.encode()).hexdigest()[:32]}.safetensors"


def train(captions: Sequence[list[str]], settings: WordSettings) -> WordVectors:
    """Words by falling frequency with their vectors, and the n-gram rows that training has touched."""
    if settings.shortest > settings.longest:
        raise UserError(
            f"pieces of {settings.shortest} to {settings.longest} letters cannot be; the shortest comes first"
        )
    model = _gensim_model(captions, settings)
    listed = tuple(model.wv.index_to_key)
    seen = {
        value % settings.buckets for word in listed for value in piece_hashes(word, settings.shortest, settings.longest)
    }
    kept = np.array(sorted(seen), dtype=np.int64)
    table = np.asarray(model.wv.vectors_ngrams, dtype=np.float32)[kept]
    subwords = Subwords(table, settings.shortest, settings.longest, settings.buckets, kept) if len(kept) else None
    return WordVectors(listed, np.array(model.wv.vectors, dtype=np.float32), subwords)


def _gensim_model(captions: Sequence[list[str]], settings: WordSettings) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its dependencies' deprecations are not the user's
            from gensim.models import FastText
            from gensim.models.callbacks import CallbackAny2Vec
    except ImportError:
        raise UserError("training word vectors needs gensim: pip install 'groundling[words]'") from None

    model = FastText(
        sg=1,
        negative=5,
        workers=1,
        vector_size=settings.dimensions,
        window=settings.window,
        min_count=settings.minimum_count,
        min_n=settings.shortest,
        max_n=settings.longest,
        bucket=settings.buckets,
        seed=settings.seed,
    )
    model.build_vocab(captions)
    if not len(model.wv):
        raise UserError(f"no word occurs {settings.minimum_count} times in {len(captions):,} captions")
    with bar("Training word vectors", settings.epochs) as progress:

        class Watcher(CallbackAny2Vec):  # type: ignore[misc]
            def on_epoch_end(self, model: Any) -> None:
                progress.advance()

        model.train(captions, total_examples=len(captions), epochs=settings.epochs, callbacks=[Watcher()])
    return model
