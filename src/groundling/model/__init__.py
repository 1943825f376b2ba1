"""Models: whatever encodes pictures and texts into one space. `Model.load` finds the kind by name or folder.

A run of ours, a pretrained pair from the hub or a folder, a pretrained picture side with another text side, and an
exported model all answer the same questions (see `protocol.Model`). Nothing here loads torch before a model needs it.
"""

from groundling.model.feature_model import FeatureModel
from groundling.model.loading import load
from groundling.model.protocol import Model
from groundling.model.vectors import Vectors

__all__ = ["FeatureModel", "Model", "Vectors", "load"]
