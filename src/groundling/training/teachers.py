"""What teachers, frozen models that were trained before, make of a student's training captions and pictures."""

from collections.abc import Sequence
from pathlib import Path

import torch

from groundling.dataset import Dataset
from groundling.model.trained import TrainedModel
from groundling.model.vectors import Vectors
from groundling.objectives.mixed_languages import TeacherVectors
from groundling.objectives.similarity_distillation import joined
from groundling.progress import bar
from groundling.settings import Recipe


def teacher_vectors(folders: Sequence[Path], recipe: Recipe, train: Dataset, device: torch.device) -> TeacherVectors:
    """Vectors of all teachers side by side, whose products are the mean of their similarities.

    The training captions are read once by each teacher, the training pictures looked at as that teacher looks at them.
    """
    captions, pictures = [], []
    with bar("Asking the teachers", len(folders)) as progress:
        for folder in folders:
            model = TrainedModel.load(folder, str(device))
            captions.append(model.encode_text(train.corpus.texts, train.corpus.languages.tolist()))
            pictures.append(model.encode_features(_features(model, recipe, train)))
            progress.advance()
    together = [joined([torch.from_numpy(part) for part in parts]) for parts in (captions, pictures)]
    return TeacherVectors(*(vectors.half().to(device) for vectors in together))


def _features(model: TrainedModel, recipe: Recipe, train: Dataset) -> Vectors:
    """Of the training pictures as the teacher sees them: those of the student where both look alike."""
    if model.feature_settings is None or model.recipe.features == recipe.features:
        return train.features
    source = recipe.corpus.model_copy(update={"text_only": []})
    seen = Dataset.load(source, model.recipe.features, train.data, splits=("train",))
    row = {name: place for place, name in enumerate(seen.corpus.pictures.tolist())}
    return seen.features[[row[name] for name in train.corpus.pictures.tolist()]]
