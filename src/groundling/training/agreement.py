"""How well a student agrees with its teacher on held-out sentences: what early stopping looks at."""

from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from groundling.batches.distillation import DistillationData
from groundling.devices import autocast
from groundling.objectives.distillation import unexplained
from groundling.systems import Encoders
from groundling.training.validated import Validated

AT_ONCE = 512


@dataclass
class Agreement:
    """The share of the teacher's spread that the student gets right, in percent: 100 × (1 − the loss).

    100 is perfect, 0 no better than saying the same of every sentence. A sentence that can be paired with several known
    ones is paired with the first.

    Attributes:
        data: held-out sentences.
        language: "all" for the mean over the new languages, or the code of the one that counts.
        unscaled: squared and absolute errors are those of vectors before they are brought to unit length.

    The mean over sentences of both errors, each summed over dimensions, is told beside: Figure 4.1 and Tables A.2 and
    A.3 of the thesis.
    """

    data: DistillationData
    precision: str
    language: str
    unscaled: bool = False
    targets: Tensor = field(init=False, repr=False)

    def __post_init__(self) -> None:
        partners = self.data.pairs.partner(np.arange(len(self.data.pairs)))
        self.targets = torch.from_numpy(self.data.teach(partners, None)).to(self.data.features.device)

    @property
    def name(self) -> str:
        return "agreement"

    @torch.inference_mode()
    def __call__(self, encoders: Encoders) -> Validated:
        was_training, data = encoders.training, self.data
        encoders.eval()
        with autocast(data.features.device, self.precision):
            said = self._said(encoders).float()
        encoders.train(was_training)
        targets, wrong = self.targets, said - self.targets
        errors = {
            "squared_error": float(wrong.square().sum(dim=-1).mean()),
            "absolute_error": float(wrong.abs().sum(dim=-1).mean()),
        }
        if self.unscaled:
            said, targets = normalize(said, dim=-1), normalize(targets, dim=-1)
        found = {}
        for number in np.unique(data.languages).tolist():
            rows = torch.from_numpy(np.flatnonzero(data.languages == number)).to(said.device)
            found[data.codes[number]] = 100 * (1 - float(unexplained(said[rows], targets[rows])))
        score = sum(found.values()) / len(found) if self.language == "all" else found[self.language]
        return Validated(score, found, {"agreement": sum(found.values()) / len(found), **errors})

    def _said(self, encoders: Encoders) -> Tensor:
        """[sentences, dimensions] as the student has them; those of one length are read together."""
        data, learner = self.data, encoders.text.learner()
        student = learner.unscaled if self.unscaled else learner
        order, parts = np.argsort(data.lengths, kind="stable"), []
        for start in range(0, len(order), AT_ONCE):
            rows = order[start : start + AT_ONCE]
            entries = torch.from_numpy(data.tokens.padded(rows, int(data.lengths[rows].max())))
            where = data.features.device
            parts.append(student(entries.to(where), torch.from_numpy(data.lengths[rows]).to(where)))
        return torch.cat(parts)[torch.from_numpy(np.argsort(order)).to(parts[0].device)]
