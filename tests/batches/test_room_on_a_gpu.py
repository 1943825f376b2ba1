"""Features that a GPU has no room for are one sentence before anything is copied there."""

import pytest
import torch

from groundling.batches.data import TrainingData, check_room
from groundling.dataset import Dataset
from groundling.errors import UserError
from groundling.text import Tokeniser


def test_features_that_do_not_fit_are_named_with_what_to_do(world: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    size, cuda = 4 * world.features.size, torch.device("cuda", 0)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (size - 1, 2 * size))
    nobody: Tokeniser = None  # type: ignore[assignment]  # it is not asked
    with pytest.raises(UserError, match=r"several GPUs do not share them.*corpus\.training_pictures=N.*--device cpu"):
        TrainingData.build(world.corpus, world.features, nobody, cuda)
    check_room(size, torch.device("cpu"))
    check_room(size - 1, cuda)
