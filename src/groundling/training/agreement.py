"""How well a student agrees with its teacher on held-out sentences: what early stopping looks at."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np
import torch
from torch import Tensor

from groundling.batches import TrainingData
from groundling.batches.translations import Rows, Translations
from groundling.devices import autocast
from groundling.encoders.text.taught import TaughtEncoder
from groundling.objectives.distillation import unexplained
from groundling.systems import Encoders
from groundling.training.validated import Validated

AT_ONCE = 512


@dataclass
class Agreement:
    """The share of the teacher's spread that the student gets right, in percent: 100 × (1 − the loss).

    100 is perfect, 0 no better than saying the same of every sentence. A sentence that can be paired with several known
    ones is paired with the first. The teacher reads them once.

    Attributes:
        data: held-out sentences; those that mean the same have the same owner.
        new: the languages of the student.
        score: "all" for the mean over the new languages, or the code of the one that counts.
    """

    data: TrainingData
    new: Sequence[str]
    precision: str
    score: str
    targets: Tensor | None = field(default=None, init=False)

    @property
    def name(self) -> str:
        return "agreement"

    @torch.inference_mode()
    def __call__(self, encoders: Encoders) -> Validated:
        was_training = encoders.training
        encoders.eval()
        text, data = cast(TaughtEncoder, encoders.text), self.data
        new = [data.codes.index(code) for code in self.new]
        pairs = Translations(data.owners, data.languages, new)
        if self.targets is None:
            partners = pairs.partners(np.arange(len(pairs.captions)))
            self.targets = torch.cat([text.known(*part) for part in self._parts(partners)])
        with autocast(data.ids.device, self.precision):
            said = torch.cat([text.taught(*part) for part in self._parts(pairs.captions)])
        encoders.train(was_training)
        languages, found = data.languages[pairs.captions], {}
        for number in new:
            rows = torch.from_numpy(np.flatnonzero(languages == number)).to(said.device)
            found[data.codes[number]] = 100 * (1 - float(unexplained(said[rows].float(), self.targets[rows].float())))
        score = sum(found.values()) / len(found) if self.score == "all" else found[self.score]
        return Validated(score, found, {"agreement": sum(found.values()) / len(found)})

    def _parts(self, rows: Rows) -> Iterator[tuple[Tensor, Tensor]]:
        """What the encoders read, some hundred captions at a time."""
        for start in range(0, len(rows), AT_ONCE):
            part = rows[start : start + AT_ONCE]
            where = torch.from_numpy(part).to(self.data.ids.device)
            yield self.data.captions(where, int(self.data.lengths[part].max()))
