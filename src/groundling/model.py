"""A trained model: captions and pictures into one space, in any of its languages.

>>> model = Model.load("runs/demo")                                          # doctest: +SKIP
>>> model.score(["a dog", "ein Hund"], ["dog.png"], languages=["en", "de"])  # doctest: +SKIP
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor
from torch.nn.functional import embedding

from groundling import systems
from groundling.calibration import probabilities
from groundling.corpus.entailment import LABELS
from groundling.devices import autocast, pick_device
from groundling.errors import UserError
from groundling.files import read_json
from groundling.run import Run
from groundling.settings import FeatureSettings, Recipe
from groundling.systems import JudgingTowers, System, Towers
from groundling.text import Tokeniser, taught
from groundling.towers import taught as taught_towers
from groundling.towers.cells import CellTower
from groundling.towers.characters import CharacterTower
from groundling.towers.similarity import picture_scores
from groundling.towers.word_memory import WordMemory

Vectors = npt.NDArray[np.float32]


class Model:
    """Towers with the tokeniser and the recipe they were trained with.

    Attributes:
        temperature: what the logits of verdicts are divided by, so that probabilities are as sure as they are right.
    """

    def __init__(
        self, recipe: Recipe, system: System, tokeniser: Tokeniser, towers: Towers, device: torch.device
    ) -> None:
        self.recipe, self.system, self.tokeniser, self.device = recipe, system, tokeniser, device
        self.looks: FeatureSettings | None = recipe.features  # how at picture files; None: nobody knows
        self.temperature = 1.0
        self.towers = towers.to(device).eval()
        self.readers = [
            Reader(part, Towers(text, self.towers.picture), device)
            for part, text in zip(taught.readers(tokeniser), taught_towers.readers(self.towers.text), strict=True)
        ]

    @property
    def features(self) -> int:
        """The length of the feature vectors that its pictures must have."""
        return self.system.features_in(self.towers.state_dict())

    @staticmethod
    def load(run: str | Path, device: str = "auto") -> "Model":
        """The best weights of a run."""
        opened = Run.open(Path(run))
        recipe = opened.recipe()
        system = systems.make(recipe.system)
        saved = read_json(opened.tokeniser_file)
        try:
            tokeniser = system.load_tokeniser(saved)
        except (KeyError, TypeError, ValueError):
            raise UserError(f"{opened.tokeniser_file}: not the tokeniser of a {system.name} model") from None
        try:
            weights = load_file(opened.weights_file)
            towers = system.towers(tokeniser, features=system.features_in(weights))
            towers.load_state_dict(weights)
        except (SafetensorError, KeyError, RuntimeError) as error:
            raise UserError(
                f"{opened.weights_file}: damaged or of another model ({str(error).splitlines()[0]})"
            ) from None
        model = Model(recipe, system, tokeniser, towers, pick_device(device))
        if opened.unknown_backbone_file.exists():
            model.looks = None
        if model.judges:
            model.temperature = opened.temperature()
        return model

    def encode_text(self, texts: Sequence[str], languages: str | Sequence[str], batch_size: int = 512) -> Vectors:
        """[texts, dimensions] unit vectors. `languages` is one code for all texts or one for each."""
        codes = [languages] * len(texts) if isinstance(languages, str) else list(languages)
        if len(codes) != len(texts):
            raise ValueError(f"{len(texts)} texts but {len(codes)} languages")
        if not texts:
            return self.encode_features(self._no_features())
        reader = {code: taught.reader_of(self.tokeniser, code) for code in set(codes)}
        parts: dict[int, list[int]] = {}
        for row, code in enumerate(codes):
            parts.setdefault(reader[code], []).append(row)
        vectors = [
            self.readers[number]([texts[row] for row in rows], [codes[row] for row in rows], batch_size)
            for number, rows in parts.items()
        ]
        if len(vectors) == 1:
            return vectors[0]
        order = np.argsort([row for rows in parts.values() for row in rows])
        return np.concatenate(vectors)[order]

    def encode_features(self, features: Vectors, batch_size: int = 4096) -> Vectors:
        """[pictures, dimensions] unit vectors of pictures given by their backbone's features."""
        if features.shape[1:] != (self.features,):
            raise UserError(
                f"this model looks at pictures through {self.features} features each, but was given "
                f"{' × '.join(map(str, features.shape[1:]))}; use the backbone it was trained with"
            )
        return encode_pictures(self.towers, torch.from_numpy(features), self.device, batch_size).cpu().numpy()

    def encode_pictures(self, paths: Iterable[str | Path]) -> Vectors:
        """[pictures, dimensions] unit vectors of picture files; an unreadable one is an error that names it."""
        from groundling.vision.from_settings import file_features

        return self.encode_features(file_features([Path(path) for path in paths], self.looks))

    def score(self, texts: Sequence[str], pictures: Sequence[str | Path], languages: str | Sequence[str]) -> Vectors:
        """[texts, pictures] similarities: the higher, the better they match.

        Cosines, from −1 to 1, but for models trained with `similarity: order`: theirs are no cosines, nor can they be
        had from a dot product; they run from −1 up to 0, where the text says nothing that the picture lacks.
        """
        self.check_finds()
        captions, seen = self.encode_text(texts, languages), self.encode_pictures(pictures)
        scores = picture_scores(self.system.similarity, torch.from_numpy(captions), torch.from_numpy(seen))
        return cast(Vectors, scores.numpy())

    @property
    def judges(self) -> bool:
        """Whether it can tell if a sentence is true of a picture."""
        return isinstance(self.towers, JudgingTowers)

    def entails(self, texts: Sequence[str], pictures: Sequence[str | Path], languages: str | Sequence[str]) -> Vectors:
        """[n, 3] probabilities that picture i contradicts, leaves open, or shows what text i says (see `LABELS`).

        A picture that several texts are about is looked at once.
        """
        self._check_judges()
        if len(texts) != len(pictures):
            raise ValueError(f"{len(texts)} texts but {len(pictures)} pictures")
        from groundling.vision.from_settings import file_features

        paths = [Path(path) for path in pictures]
        place = {path: row for row, path in enumerate(dict.fromkeys(paths))}
        features = file_features(list(place), self.looks) if place else self._no_features()
        return self.entails_features(texts, features, languages, np.array([place[path] for path in paths], dtype=int))

    def entails_features(
        self,
        texts: Sequence[str],
        features: Vectors,
        languages: str | Sequence[str],
        owners: npt.NDArray[np.int64] | None = None,
    ) -> Vectors:
        """The same for pictures given by their features: row i is of text i, or row `owners[i]` where these are given.

        Texts that are the same in the same language are read once.
        """
        return probabilities(self.verdict_logits(texts, features, languages, owners), self.temperature)

    def verdict_logits(
        self,
        texts: Sequence[str],
        features: Vectors,
        languages: str | Sequence[str],
        owners: npt.NDArray[np.int64] | None = None,
    ) -> Vectors:
        """What these probabilities are made of, before the temperature."""
        self._check_judges()
        codes = [languages] * len(texts) if isinstance(languages, str) else list(languages)
        rows = np.arange(len(features)) if owners is None else owners
        if not len(texts) == len(codes) == len(rows):
            raise ValueError(f"{len(texts)} texts, {len(codes)} languages and {len(rows)} pictures")
        if not texts:
            return np.zeros((0, len(LABELS)), dtype=np.float32)
        keys = list(zip(texts, codes, strict=True))
        place = {key: row for row, key in enumerate(dict.fromkeys(keys))}
        vectors = self.encode_text([text for text, _ in place], [code for _, code in place])
        seen = self.encode_features(features)
        sentences = torch.from_numpy(vectors).to(self.device), torch.tensor([place[key] for key in keys])
        logits = judge(cast(JudgingTowers, self.towers), *sentences, torch.from_numpy(seen).to(self.device), rows)
        return cast(Vectors, logits.cpu().numpy())

    def check_finds(self) -> None:
        """An error where its texts and pictures do not share a space, so that neither can be found by the other."""
        if isinstance(self.towers.picture, CellTower):
            raise UserError("this model judges pictures cell by cell and cannot find them; train one of another system")

    def _check_judges(self) -> None:
        if not self.judges:
            raise UserError(
                f"a model of system {self.system.name} cannot tell whether a sentence is true of a picture; train one "
                f"that can: {', '.join(systems.judging())}"
            )

    def _no_features(self) -> Vectors:
        return np.zeros((0, self.features), dtype=np.float32)


class Reader:
    """One of those who read captions for a model, each its own languages: a tokeniser, and towers with its text tower.

    A model has one; languages that it was taught later have another (see `text.taught`). Each reads its captions by
    themselves, so that old languages are encoded, bit for bit, as before there was another.
    """

    def __init__(self, tokeniser: Tokeniser, towers: Towers, device: torch.device) -> None:
        self.tokeniser, self.towers, self.device = tokeniser, towers, device
        self.words = WordMemory(lambda spellings: spell_words(towers, spellings, device))

    def __call__(self, texts: Sequence[str], codes: Sequence[str], batch_size: int) -> Vectors:
        tokens = self.tokeniser.encode(texts, codes)
        ids, lengths = torch.from_numpy(tokens.ids), torch.from_numpy(tokens.lengths)
        words = None if tokens.spellings is None else self.words(torch.from_numpy(tokens.spellings))
        vectors = encode_captions(self.towers, ids, lengths, self.device, batch_size=batch_size, words=words)
        return vectors.cpu().numpy()


@torch.inference_mode()
def judge(
    towers: JudgingTowers,
    sentences: Tensor,
    sentence_rows: Tensor,
    pictures: Tensor,
    picture_rows: npt.NDArray[np.int64],
    batch_size: int = 8192,
) -> Tensor:
    """[n, 3] logits of pairs of rows of sentences and of pictures, whose vectors are on the towers' device."""
    towers.eval()
    pairs = zip(sentence_rows.split(batch_size), torch.from_numpy(picture_rows).split(batch_size), strict=True)
    parts = [
        towers.verdict(sentences[one.to(sentences.device)], pictures[two.to(sentences.device)]) for one, two in pairs
    ]
    return torch.cat(parts)


@torch.inference_mode()
def spell_words(towers: Towers, spellings: Tensor, device: torch.device, precision: str = "float32") -> Tensor:
    """[words, word dimensions] on the device from [words, characters], for a tower that reads words by characters."""
    towers.eval()
    with autocast(device, precision):
        return cast(CharacterTower, towers.text).spell(spellings.to(device))


@torch.inference_mode()
def encode_captions(
    towers: Towers,
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
    towers.eval()
    order = torch.argsort(lengths, stable=True)
    parts = []
    for rows in order.split(batch_size):
        longest = int(lengths[rows[-1]])
        with autocast(device, precision):
            entries, sizes = ids[rows, :longest].to(device), lengths[rows].to(device)
            if words is None:
                parts.append(towers.text(entries, sizes))
            else:
                parts.append(cast(CharacterTower, towers.text).sentence(embedding(entries, words), sizes))
    sorted_vectors = torch.cat(parts)
    vectors = torch.empty_like(sorted_vectors)
    vectors[order.to(device)] = sorted_vectors
    return vectors


@torch.inference_mode()
def encode_pictures(
    towers: Towers, features: Tensor, device: torch.device, batch_size: int = 4096, precision: str = "float32"
) -> Tensor:
    """[pictures, dimensions] on the device."""
    towers.eval()
    with autocast(device, precision):
        return torch.cat([towers.picture(part.to(device).float()) for part in features.split(batch_size)])
