"""The score that early stopping looks at: the sum of the six recalls on the validation pictures, over languages."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from groundling.batches import TrainingData
from groundling.corpus import Corpus
from groundling.errors import UserError, did_you_mean
from groundling.evaluation.ranks import ranks
from groundling.evaluation.recalls import recalls
from groundling.evaluation.scores import SCORES
from groundling.model import encode_captions, encode_pictures, spell_words
from groundling.systems import Towers


@dataclass(frozen=True)
class Validation:
    """The dev split on the device.

    Attributes:
        score: "all" for the sum over all languages, or the code of the one language that counts.
        similarity: how the system compares captions and pictures.
    """

    data: TrainingData
    precision: str
    score: str
    similarity: str = "cosine"

    def __post_init__(self) -> None:
        check_score(self.score, self.data.codes)

    def __call__(self, towers: Towers) -> tuple[float, dict[str, float]]:
        """The score, and rsum by language."""
        device = self.data.features.device
        was_training = towers.training
        pictures = encode_pictures(towers, self.data.features, device, precision=self.precision)
        data, words = self.data, None
        if data.spellings is not None:  # each word once
            words = spell_words(towers, data.spellings, device, self.precision)
        captions = encode_captions(
            towers, data.ids, data.device_lengths, device, self.precision, batch_size=1024, words=words
        )
        by_language = {}
        for number, code in enumerate(self.data.codes):
            rows = np.flatnonzero(self.data.languages == number)
            chosen, owners = captions[torch.from_numpy(rows).to(device)], self.data.owners[rows]
            found = ranks(pictures, chosen, owners, score=SCORES[self.similarity])
            by_language[code] = float(recalls(found)["rsum"])
        towers.train(was_training)
        return (sum(by_language.values()) if self.score == "all" else by_language[self.score]), by_language


def check_score(score: str, codes: Sequence[str]) -> None:
    if score != "all" and score not in codes:
        raise UserError(f'training.score: no dev captions in "{score}"{did_you_mean(score, codes)}')


def check_languages(train: Corpus, dev: Corpus) -> None:
    """Every language must be there to train on and to validate on."""
    if not len(train):
        raise UserError(f"corpus {train.name} has no training captions")
    if not len(dev):
        raise UserError(f"corpus {train.name} has no dev captions; early stopping needs a dev split")
    missing = sorted(set(train.all_languages()) - set(dev.all_languages()))
    if missing:
        raise UserError(f"corpus {train.name} has training but no dev captions in {', '.join(missing)}")
