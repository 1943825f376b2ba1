"""A language read with the encoder of another, through a map between their words.

Fangyu Liu, Rémi Lebret and Karl Aberer, "Visually grounded cross-lingual transfer learning" (poster):

    s(i, t) = cos(f(M·t), g(i)),   sum of hinges, margin .2,

with the word vectors t of a sentence, frozen; M, the TRANSLATOR, a matrix from the words of the new language to those
of the language that f was trained on; f a recurrent encoder; g the picture encoder. Four ways to begin (`start`):

    scratch   FS  f and g at random, no M. The source language, which has no need of M, is trained in this way, too
    pictures      g from the run that it starts from, f at random, no M: the control that is not the poster's, without
                  which nobody knows whether T1 owes its gain to the known text encoder or to the known picture encoder
    encoder   T1  f and g from the run that it starts from, M a random rotation
    aligned   T2  the same, M learned from a dictionary (SVD, then RCSLS) before any picture is seen

**The run that it starts from.** A recipe names it (`start: runs/german`) or says how it differs (`start: {corpus:
{languages: [de]}, system: {start: scratch}}`); the second is trained first, by tables once for all entries and each
seed. It belongs to the recipe and not to the system, since any system may start from any other's run.

**Word vectors.** From files (`vectors: {fr: cc.fr.300.bin}`), or, for languages without one, trained on all training
captions of that language in the corpus: text only, whatever `corpus.training_pictures` leaves to learn from with
pictures. A run keeps the vectors it needs (see `tokenisers.vectors`), so the files may go. RCSLS compares directions,
so all vectors have length one, and M is scaled to keep it so for the words of the dictionary, on average.

>>> from groundling import systems
>>> systems.make({"name": "translator", "start": "encoder"}).needs_start
True
"""

from pathlib import Path
from typing import Any, ClassVar, Literal, cast

import numpy as np
import torch
from pydantic import Field, PositiveInt, model_validator
from torch import Tensor

from groundling.corpus import Corpus
from groundling.encoders.pair import Encoders
from groundling.encoders.text import TextChoice
from groundling.encoders.text.mapped import MappedEncoder, MappedSettings
from groundling.encoders.tokenisers.vectors import VectorTokeniser
from groundling.errors import UserError
from groundling.objectives import SumOfHinges
from groundling.objectives.objective import AnyObjective
from groundling.systems.base import register
from groundling.systems.plan import Context, Start
from groundling.systems.vse import VSE, VSESettings
from groundling.text import Tokeniser
from groundling.words import WordVectors
from groundling.words.alignment import MapSettings
from groundling.words.sources import dictionary_pairs, find_file, map_between, word_vectors
from groundling.words.training import WordSettings
from groundling.words.vectors import Matrix, unit
from groundling.words.word_map import read_map

WITHOUT_MAP = ("scratch", "pictures")  # a new text encoder learns to read its words as they are


class TranslatorSettings(VSESettings):
    name: Literal["translator"] = "translator"  # type: ignore[assignment]
    objective: AnyObjective = SumOfHinges()
    text: None = Field(None, description="nothing: word vectors and the map between them are what this system is")  # type: ignore[assignment]
    start: Literal["scratch", "pictures", "encoder", "aligned"] = Field(
        "scratch",
        description="scratch (FS): at random; pictures: the picture encoder from the recipe's `start`; encoder (T1): "
        "its text encoder, too; aligned (T2): and the map from the dictionary",
    )
    freeze: list[Literal["map", "encoder", "pictures"]] = Field(
        [], description="parts that are not trained any further; nothing as published"
    )
    vectors: dict[str, str] = Field(
        {},
        description="language → file of word vectors (.vec, .vec.gz, .bin, .safetensors), also below --data; trained "
        "on the corpus's own training captions when left out",
    )
    fold_case: bool = Field(
        False, description="words of such files in lower case, as captions are read: `hund` has the vector of Hund"
    )
    words: WordSettings = Field(WordSettings(dimensions=300), description="how vectors are trained on captions")
    max_words: PositiveInt = Field(20_000, description="words of the vectors that the run keeps, beside its captions'")
    subwords: bool = Field(True, description="keep the pieces of these words, too; otherwise new words are left out")
    dictionary: str | list[str] | None = Field(
        None,
        description="for aligned: a file of word pairs, also below --data; two that share a language; or `identical`",
    )
    map: str | None = Field(
        None,
        description="for aligned, in place of a dictionary: the map of `groundling align --centre --out` (vectors lose "
        "their mean here), or a matrix as text, also below --data; or `identity` for vectors in one space (VecMap's)",
    )
    alignment: MapSettings = Field(
        MapSettings(), description="how the map is learned; the vectors of both languages have lost their mean already"
    )

    @model_validator(mode="before")
    @classmethod
    def _fit(cls, values: Any) -> Any:
        """Vectors that are trained have the dimensions that are asked for; without M there is nothing to align."""
        if not isinstance(values, dict):
            return values
        words = values.get("words", {})
        if isinstance(words, dict):
            words = {**words, "dimensions": values.get("word_dimensions", 300)}
        without = ("dictionary", "map", "alignment") if values.get("start", "scratch") in WITHOUT_MAP else ()
        return {**{key: value for key, value in values.items() if key not in without}, "words": words}

    @model_validator(mode="after")
    def _possible(self) -> "TranslatorSettings":
        if self.start == "scratch" and self.freeze:
            raise ValueError("with start: scratch nothing is known that could be frozen")
        if self.start == "pictures" and set(self.freeze) - {"pictures"}:
            raise ValueError("with start: pictures only pictures are known and could be frozen")
        if len(set(self.freeze)) == 3:
            raise ValueError("with map, encoder and pictures frozen nothing is left to train")
        if self.start == "aligned" and (self.dictionary is None) == (self.map is None):
            raise ValueError("start: aligned needs a dictionary, or `identical`, or a map, and one of them alone")
        if isinstance(self.dictionary, list) and len(self.dictionary) != 2:
            raise ValueError("one dictionary, or two that share a language")
        return self


@register
class Translator(VSE):
    name = "translator"
    paper = "Liu, Lebret and Aberer (Visually grounded cross-lingual transfer learning)"
    Settings: ClassVar = TranslatorSettings
    settings: TranslatorSettings

    @property
    def needs_start(self) -> bool:
        return self.settings.start != "scratch"

    def check(self, context: Context) -> None:
        super().check(context)
        self._vectors(context)
        self._dictionaries(context)
        self._map(context)

    def _map(self, context: Context) -> Matrix | None:
        """A map that was learned elsewhere."""
        if self.settings.map is None:
            return None
        size = self.settings.word_dimensions
        if self.settings.map == "identity":
            return np.eye(size, dtype=np.float32)
        path = find_file(self.settings.map, context.data)
        matrix = read_map(path).matrix
        if matrix.shape != (size, size):
            shape = " × ".join(map(str, matrix.shape))
            raise UserError(f"{path}: a map of {shape}, and system.word_dimensions is {size}")
        return matrix

    def _vectors(self, context: Context) -> WordVectors:
        """Of all training captions of its language, whatever part of the corpus it learns from; kept between runs."""
        own, dataset, text = self.settings, context.train, context.recipe.text
        language = _only_language(dataset.corpus)
        whole = dataset.corpus if dataset.whole is None else dataset.whole
        file = own.vectors.get(language)
        found = None if file is None else find_file(file, context.data)
        return word_vectors(whole, language, own.words, text.segmentation, found, own.fold_case)

    def _dictionaries(self, context: Context) -> list[Path] | Literal["identical"] | None:
        own = self.settings
        if own.dictionary is None:
            return None
        if own.dictionary == "identical":
            return "identical"
        listed = [own.dictionary] if isinstance(own.dictionary, str) else own.dictionary
        return [find_file(name, context.data) for name in listed]

    def tokeniser(self, context: Context) -> Tokeniser:
        own, corpus, text = self.settings, context.train.corpus, context.recipe.text
        languages = corpus.languages.tolist()
        return VectorTokeniser.build(
            self._vectors(context), corpus.texts, languages, text, most=own.max_words, subwords=own.subwords
        )

    @property
    def text_encoder(self) -> TextChoice:
        return MappedEncoder, MappedSettings(mapped=self.settings.start not in WITHOUT_MAP)

    def encoders(self, tokeniser: Tokeniser, features: int) -> Encoders:
        encoders = super().encoders(tokeniser, features)
        text = cast(MappedEncoder, encoders.text)
        parts = {"map": text.map, "encoder": text.sentence, "pictures": encoders.picture}
        for name in self.settings.freeze:
            cast(torch.nn.Module, parts[name]).requires_grad_(False)
        return encoders

    def warm_start(self, encoders: Encoders, tokeniser: Tokeniser, context: Context, start: Start) -> None:
        if start.system.name != self.name:
            raise UserError(f"start: a run of system translator is needed, not of {start.system.name}")
        theirs, ours = cast(MappedEncoder, start.encoders.text), cast(MappedEncoder, encoders.text)
        try:
            if self.settings.start != "pictures":
                ours.sentence.load_state_dict(theirs.sentence.state_dict())
            encoders.picture.warm_start(start.encoders.picture)
        except (RuntimeError, ValueError):
            raise UserError(
                "start: its text or picture encoder has another size; dimensions, word_dimensions and features must "
                "be the same in both recipes"
            ) from None
        dictionaries, given = self._dictionaries(context), self._map(context)
        if given is not None:
            assert ours.map is not None  # noqa: S101 (checked with the settings)
            words = unit(ours.vectors(_each(cast(VectorTokeniser, tokeniser).words, ours)).detach().cpu().numpy())
            length = np.linalg.norm(words @ given.T, axis=1).mean()  # words shall be as long as the encoder knows them
            with torch.no_grad():
                ours.map.weight.copy_(torch.from_numpy(given / np.float32(max(length, 1e-9))))
        elif self.settings.start == "aligned":
            known, new = cast(VectorTokeniser, start.tokeniser).words, cast(VectorTokeniser, tokeniser).words
            assert ours.map is not None and dictionaries is not None  # noqa: S101 (checked with the settings)
            device = ours.words.weight.device
            with torch.no_grad():
                target = WordVectors(known, theirs.spell(_each(known, theirs)).cpu().numpy())
                source = WordVectors(new, ours.vectors(_each(new, ours)).cpu().numpy())
                pairs = dictionary_pairs(dictionaries, source, target)
                found = map_between(source, target, pairs, self.settings.alignment, device)
                ours.map.weight.copy_(torch.from_numpy(found))


def _each(words: tuple[str, ...], encoder: MappedEncoder) -> Tensor:
    """[words, 1]: the row of each listed word."""
    return torch.arange(1, 1 + len(words), device=encoder.words.weight.device)[:, None]


def _only_language(corpus: Corpus) -> str:
    languages = corpus.all_languages()
    if len(languages) != 1:
        raise UserError(
            f"system translator reads one language, and there are captions in {', '.join(languages) or 'none'}; "
            "set corpus.languages to one of them"
        )
    return languages[0]
