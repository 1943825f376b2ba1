"""What a system is given when a training begins (`Context`), and what it answers (`Plan`)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from groundling import hub
from groundling.batches import TrainingData
from groundling.batches.stage import Learn, Stage
from groundling.corpus.pairs import SentencePairs
from groundling.corpus.pairs.cached_vectors import Ask, CachedVectors
from groundling.dataset import Dataset
from groundling.encoders.pair import Encoders
from groundling.encoders.text.base import spelled_out
from groundling.files import cache_folder
from groundling.objectives.mixed_languages import TeacherVectors
from groundling.settings import Recipe
from groundling.text import Tokeniser

if TYPE_CHECKING:
    from groundling.systems.base import System

#: How a training is validated: rsum of pictures and captions, how well statements are judged, or how well a student
#: agrees with its teacher.
Validation = Literal["retrieval", "entailment", "agreement"]

AT_ONCE = 512  # sentences that a teacher reads


NO_CORPUS = "none"  # the name of a corpus in the recipe of what was trained on none


@dataclass(frozen=True)
class PretrainedPictures:
    """The picture side of a pretrained model that a run looks through.

    Attributes:
        model: what it was asked for by.
        folder: where its files are.
        fingerprint: of what decides its vectors.
    """

    model: str
    folder: Path
    fingerprint: str

    def keep(self, run: Path) -> dict[str, str]:
        """Copy it into a run; what to write down of it. The text side may have brought the same files already."""
        inside = hub.copy_name(self.model, hub.fingerprint(self.folder, hub.ALL))
        there = [copy for copy in (run / hub.KEPT).glob("*") if hub.fingerprint(copy, hub.ALL)[:8] == inside[-8:]]
        inside = there[0].name if there else inside
        hub.keep(self.folder, run / hub.KEPT / inside, hub.ALL)
        return {"model": self.model, "inside": inside, "fingerprint": self.fingerprint}


@dataclass(frozen=True)
class Start:
    """A finished training that another one starts from.

    Attributes:
        languages: those that it was trained on; none where nobody can list them.
        recipe: what it was trained by.
        ask: texts and the language of each → their vectors.
        fingerprint: of all that decides these vectors.
        pictures: what looks at pictures, where that is the picture side of a pretrained model.
    """

    system: "System"
    tokeniser: Tokeniser
    encoders: Encoders
    languages: tuple[str, ...]
    recipe: Recipe
    ask: Ask
    fingerprint: str
    pictures: PretrainedPictures | None = None

    def vectors(self, pairs: SentencePairs) -> CachedVectors:
        """What it says of known sentences, asked for once and kept."""
        return CachedVectors(pairs, self.ask, cache_folder() / "teacher-vectors" / self.fingerprint[:32])

    def unscaled_vectors(self, pairs: SentencePairs) -> CachedVectors:
        """The same before they are brought to unit length."""
        text = self.encoders.text

        def ask(texts: Sequence[str], languages: Sequence[str]) -> npt.NDArray[np.float32]:
            where, parts = next(text.parameters()).device, []
            for start in range(0, len(texts), AT_ONCE):
                some = slice(start, start + AT_ONCE)
                entries, lengths = spelled_out(text.tokenise(texts[some], languages[some]))
                with torch.inference_mode():
                    vectors = text.eval().unscaled(entries.to(where), lengths.to(where))
                parts.append(vectors.float().cpu().numpy())
            return np.concatenate(parts)

        return CachedVectors(pairs, ask, cache_folder() / "teacher-vectors" / f"{self.fingerprint[:32]}-unscaled")


@dataclass(frozen=True)
class Context:
    """All that a system may know of a training.

    Attributes:
        train, dev: what it learns from and is validated on (see `System.material`).
        learn: trains what has to be learned before the encoders can be made.
        start: the training that this one starts from.
        teachers: what other models make of the training captions and pictures, where the recipe names any.
        saved: the tokeniser, as JSON, of a training that was stopped and now goes on; None where it begins.
    """

    recipe: Recipe
    train: Dataset
    dev: Dataset
    device: torch.device
    learn: Learn
    start: Start | None = None
    saved: Mapping[str, Any] | None = None
    teachers: TeacherVectors | None = None

    @property
    def data(self) -> Path | None:
        """The folder that files named in settings may lie below."""
        return self.train.data

    @property
    def seed(self) -> int:
        return self.recipe.training.seed


@dataclass(frozen=True)
class Plan:
    """A training, ready to run: what is trained is the module of its stage, the encoders.

    Attributes:
        system: that made the plan.
        dev_features: the features of the dev pictures, where the encoders have a picture network that changes.
        sample: a caption in each language, where what is trained on does not have them all.
        languages: that the model will read, where neither captions nor the tokeniser tell.
    """

    system: "System"
    tokeniser: Tokeniser
    stage: Stage
    validation: Validation
    dev_features: Callable[[Encoders], Tensor] | None = None
    sample: TrainingData | None = None
    languages: list[str] | None = None

    @property
    def encoders(self) -> Encoders:
        return cast(Encoders, self.stage.module)

    @property
    def data(self) -> TrainingData:
        return self.stage.data
