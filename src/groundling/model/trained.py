"""A run of ours as a model: the best weights of a training, with its tokeniser and its recipe."""

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from groundling import hub, systems
from groundling.dataset import Dataset
from groundling.devices import pick_device
from groundling.encoders.picture import features_in
from groundling.encoders.text import TextEncoder
from groundling.encoders.text.word_memory import WordMemory
from groundling.errors import UserError
from groundling.files import read_json
from groundling.model.encoding import encode_captions, encode_pictures, judge, spell_words
from groundling.model.feature_extractor import BackboneExtractor, FeatureExtractor
from groundling.model.feature_model import FeatureModel
from groundling.model.fingerprint import run_fingerprint, side_fingerprint
from groundling.model.pair_extractor import PairExtractor
from groundling.model.pictures import Picture, as_list
from groundling.model.prompt import refuse_options
from groundling.model.sides import PictureSide
from groundling.model.vectors import Owners, Vectors
from groundling.run import Run
from groundling.settings import CorpusSettings, EvaluationSettings, FeatureSettings, Recipe, as_saved
from groundling.systems import Encoders, JudgingEncoders, Start, System
from groundling.systems.plan import NO_CORPUS
from groundling.text import Tokeniser
from groundling.vision.tuned import NETWORK, PREFIX


class TrainedModel(FeatureModel):
    """Encoders with the tokeniser and the recipe they were trained with. The backbone is loaded with the first picture.

    Attributes:
        feature_settings: how it looks at picture files; None where nobody knows.
        run: the folder that it was loaded from; None for one that was just trained.
    """

    kind = "run"

    def __init__(
        self, recipe: Recipe, system: System, tokeniser: Tokeniser, encoders: Encoders, device: torch.device
    ) -> None:
        self.recipe, self.system, self.tokeniser, self.device = recipe, system, tokeniser, device
        self.feature_settings: FeatureSettings | None = recipe.features
        self.temperature = 1.0
        self.encoders = encoders.to(device).eval()
        self.readers = [Reader(encoder, device) for encoder in self.encoders.text.readers()]
        self.name, self.similarity = recipe.name, system.similarity
        self.languages = list(recipe.corpus.languages or [])

    @staticmethod
    def load(
        run: str | os.PathLike[str], device: str = "auto", text: str | None = None, prompt: str | None = None
    ) -> "TrainedModel":
        """The best weights of a run. Its text side is its own."""
        opened = Run.open(Path(run).expanduser())
        refuse_options(str(opened.folder), text, prompt)
        recipe = opened.recipe()
        with as_saved():
            system = systems.make(recipe.system)
        saved = hub.placed(read_json(opened.verified(opened.tokeniser_file)), opened.folder)
        try:
            with as_saved():
                system = system.resolved(saved)
            tokeniser = system.load_tokeniser(saved)
        except (KeyError, TypeError, ValueError):
            raise UserError(f"{opened.tokeniser_file}: not the tokeniser of a {system.name} model") from None
        try:
            weights = load_file(opened.verified(opened.weights_file))
            encoders = system.encoders(tokeniser, features=features_in(weights))
            encoders.load_state_dict({name: value for name, value in weights.items() if not name.startswith(PREFIX)})
        except (SafetensorError, KeyError, RuntimeError) as error:
            raise UserError(
                f"{opened.weights_file}: damaged or of another model ({str(error).splitlines()[0]})"
            ) from None
        if any(name.startswith(PREFIX) for name in weights) or (opened.folder / NETWORK).exists():
            own = recipe.features.model_copy(update={"weights": str(opened.folder.resolve())})  # a network of its own
            recipe = recipe.model_copy(update={"features": own})
        model = TrainedModel(recipe, system, tokeniser, encoders, pick_device(device))
        model.run, model.name = opened, os.fspath(run)
        model.languages = opened.languages() or model.languages
        if opened.unknown_backbone_file.exists():
            model.feature_settings = None
        if model.judges:
            model.temperature = opened.temperature()
        return model

    def as_start(self) -> Start:
        languages = tuple(self.languages)
        return Start(
            self.system,
            self.tokeniser,
            self.encoders,
            languages,
            self.recipe,
            self.encode_text,
            self.text_fingerprint,
            self.extractor.kept,
        )

    # What it is

    @property
    def system_name(self) -> str:
        return self.system.name

    @property
    def parameter_sizes(self) -> dict[str, int]:
        return {path: parameter.numel() for path, parameter in self.encoders.named_parameters()}

    @property
    def corpus(self) -> CorpusSettings | None:
        """A pretrained pair that was taught has met none."""
        return None if self.recipe.corpus.name == NO_CORPUS else self.recipe.corpus

    @property
    def evaluation(self) -> EvaluationSettings:
        return self.recipe.evaluation

    def dataset(
        self, corpus: CorpusSettings, data: Path | None = None, splits: Collection[str] | None = None
    ) -> Dataset:
        return self.extractor.dataset(self, corpus, data, splits)

    @property
    def features(self) -> int:
        """The length of the feature vectors that its pictures must have."""
        return self.encoders.picture.features

    @cached_property
    def dimensions(self) -> int:
        return int(self.encode_features(np.zeros((1, self.features), dtype=np.float32)).shape[1])

    @property
    def backbone(self) -> str:  # type: ignore[override]  # that of its extractor
        return self.extractor.backbone

    @property
    def batch(self) -> int:  # type: ignore[override]  # as above
        return self.extractor.batch

    @property
    def takes_features(self) -> bool:  # type: ignore[override]  # as above
        return self.extractor.takes_features

    @cached_property
    def fingerprint(self) -> str:
        if self.run is None:
            raise ValueError("a model that was not saved has no fingerprint")
        return run_fingerprint(self.run, self.recipe.features.model_copy(update={"weights": None}))

    @cached_property
    def text_fingerprint(self) -> str:
        return side_fingerprint(self.tokeniser.to_json(), self.encoders.state_dict(), "text.")

    @cached_property
    def picture_fingerprint(self) -> str:
        return self.extractor.fingerprint(self.encoders.state_dict())

    @property
    def judges(self) -> bool:
        return self.encoders.judges

    @property
    def accuracy(self) -> dict[str, float]:
        return self.run.accuracy() if self.run is not None and self.judges else {}

    @property
    def words_alone(self) -> dict[str, float]:
        return self.run.words_alone() if self.run is not None and self.judges else {}

    @property
    def finds(self) -> bool:
        return self.encoders.picture.comparable

    def check_judges(self) -> None:
        if not self.judges:
            raise UserError(
                f"a model of system {self.system.name} cannot tell whether a sentence is true of a picture; train one "
                f"that can: {', '.join(systems.judging())}"
            )

    # Texts

    @property
    def segmentation(self) -> str:
        return self.tokeniser.settings.segmentation

    @cached_property
    def vocabulary(self) -> frozenset[str] | None:
        return self.tokeniser.all_words()

    def _encode_text(self, texts: Sequence[str], languages: Sequence[str], batch_size: int) -> Vectors:
        if not texts:
            return self.encode_features(np.zeros((0, self.features), dtype=np.float32))
        reader = {code: self.tokeniser.reader_of(code) for code in set(languages)}
        parts: dict[int, list[int]] = {}
        for row, code in enumerate(languages):
            parts.setdefault(reader[code], []).append(row)
        vectors = [
            self.readers[number]([texts[row] for row in rows], [languages[row] for row in rows], batch_size)
            for number, rows in parts.items()
        ]
        if len(vectors) == 1:
            return vectors[0]
        order = np.argsort([row for rows in parts.values() for row in rows])
        return np.concatenate(vectors)[order]

    # Pictures

    @cached_property
    def extractor(self) -> FeatureExtractor:
        """What looks at the pictures: a backbone by name, or a side of a pretrained pair that the run has a copy of."""
        if self.run is not None and self.run.pictures_file.exists():
            return PairExtractor(self.run, self.recipe.features.weights, self.device)
        known = self.feature_settings is not None
        return BackboneExtractor(self.name, self.recipe.features, known, self.features)

    @property
    def pictures(self) -> PictureSide | None:
        """The side of a pretrained model that it looks at pictures with; None where a backbone does."""
        return self.extractor.pictures

    @property
    def preparation(self) -> Callable[[bytes], npt.NDArray[Any]]:
        return self.extractor.preparation

    def features_of(self, prepared: Sequence[npt.NDArray[Any]]) -> Vectors:
        return self.extractor.features_of(prepared)

    def picture_features(self, pictures: Picture | Iterable[Picture]) -> Vectors:
        """[pictures, features]; those of files are kept where the extractor keeps them."""
        given = as_list(pictures)
        paths = [Path(one).expanduser() for one in given if isinstance(one, str | Path)]
        kept = self.extractor.features_of_files(paths) if given and len(paths) == len(given) else None
        return super().picture_features(given) if kept is None else kept

    def encode_features(self, features: Vectors, batch_size: int = 4096) -> Vectors:
        """[pictures, dimensions] unit vectors of pictures given by their backbone's features."""
        if features.shape[1:] != (self.features,):
            raise UserError(
                f"this model looks at pictures through {self.features} features each, but was given "
                f"{' × '.join(map(str, features.shape[1:]))}; use the backbone it was trained with"
            )
        return encode_pictures(self.encoders.picture, torch.from_numpy(features), self.device, batch_size).cpu().numpy()

    # Both

    def _logits(self, texts: Sequence[str], codes: Sequence[str], features: Vectors, rows: Owners) -> Vectors:
        """Texts that are the same in the same language are read once."""
        keys = list(zip(texts, codes, strict=True))
        place = {key: row for row, key in enumerate(dict.fromkeys(keys))}
        vectors = self.encode_text([text for text, _ in place], [code for _, code in place])
        seen = self.encode_features(features)
        sentences = torch.from_numpy(vectors).to(self.device), torch.tensor([place[key] for key in keys])
        logits = judge(cast(JudgingEncoders, self.encoders), *sentences, torch.from_numpy(seen).to(self.device), rows)
        return cast(Vectors, logits.cpu().numpy())


class Reader:
    """One of those who read captions for a model, each its own languages.

    A model has one; languages that it was taught later have another (see `tokenisers.taught`). Each reads its captions
    by themselves, so that old languages are encoded, bit for bit, as before there was another.
    """

    def __init__(self, encoder: TextEncoder, device: torch.device) -> None:
        self.encoder, self.tokeniser, self.device = encoder, encoder.tokeniser, device
        self.words = WordMemory(lambda spellings: spell_words(encoder, spellings, device))

    def __call__(self, texts: Sequence[str], codes: Sequence[str], batch_size: int) -> Vectors:
        tokens = self.tokeniser.encode(texts, codes)
        ids, lengths = torch.from_numpy(tokens.ids), torch.from_numpy(tokens.lengths)
        words = None if tokens.spellings is None else self.words(torch.from_numpy(tokens.spellings))
        vectors = encode_captions(self.encoder, ids, lengths, self.device, batch_size=batch_size, words=words)
        return vectors.cpu().numpy()
