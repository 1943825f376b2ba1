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
from groundling.devices import autocast, pick_device
from groundling.errors import UserError
from groundling.files import read_json
from groundling.run import Run
from groundling.settings import Recipe
from groundling.systems import System, Towers
from groundling.text import Tokeniser
from groundling.towers.characters import CharacterTower
from groundling.towers.similarity import picture_scores
from groundling.towers.word_memory import WordMemory

Vectors = npt.NDArray[np.float32]


class Model:
    """Towers with the tokeniser and the recipe they were trained with."""

    def __init__(
        self, recipe: Recipe, system: System, tokeniser: Tokeniser, towers: Towers, device: torch.device
    ) -> None:
        self.recipe, self.system, self.tokeniser, self.device = recipe, system, tokeniser, device
        self.towers = towers.to(device).eval()
        self.words = WordMemory(lambda spellings: spell_words(self.towers, spellings, self.device))

    @property
    def features(self) -> int:
        """The length of the feature vectors that its pictures must have."""
        return int(self.towers.state_dict()["picture.project.weight"].shape[1])

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
            towers = system.towers(tokeniser, features=weights["picture.project.weight"].shape[1])
            towers.load_state_dict(weights)
        except (SafetensorError, KeyError, RuntimeError) as error:
            raise UserError(
                f"{opened.weights_file}: damaged or of another model ({str(error).splitlines()[0]})"
            ) from None
        return Model(recipe, system, tokeniser, towers, pick_device(device))

    def encode_text(self, texts: Sequence[str], languages: str | Sequence[str], batch_size: int = 512) -> Vectors:
        """[texts, dimensions] unit vectors. `languages` is one code for all texts or one for each."""
        codes = [languages] * len(texts) if isinstance(languages, str) else list(languages)
        if len(codes) != len(texts):
            raise ValueError(f"{len(texts)} texts but {len(codes)} languages")
        if not texts:
            return self.encode_features(np.zeros((0, self.features), dtype=np.float32))
        tokens = self.tokeniser.encode(texts, codes)
        ids, lengths = torch.from_numpy(tokens.ids), torch.from_numpy(tokens.lengths)
        words = None if tokens.spellings is None else self.words(torch.from_numpy(tokens.spellings))
        vectors = encode_captions(self.towers, ids, lengths, self.device, batch_size=batch_size, words=words)
        return vectors.cpu().numpy()

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

        return self.encode_features(file_features([Path(path) for path in paths], self.recipe.features))

    def score(self, texts: Sequence[str], pictures: Sequence[str | Path], languages: str | Sequence[str]) -> Vectors:
        """[texts, pictures] similarities: the higher, the better they match.

        Cosines, from −1 to 1, but for models trained with `similarity: order`: theirs are no cosines, nor can they be
        had from a dot product; they run from −1 up to 0, where the text says nothing that the picture lacks.
        """
        captions, seen = self.encode_text(texts, languages), self.encode_pictures(pictures)
        scores = picture_scores(self.system.similarity, torch.from_numpy(captions), torch.from_numpy(seen))
        return cast(Vectors, scores.numpy())


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
