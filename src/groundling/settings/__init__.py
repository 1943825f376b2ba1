"""Settings as data: what a recipe may say."""

from groundling.settings.base import Settings, as_saved, check, notice
from groundling.settings.corpus import CorpusSettings
from groundling.settings.evaluation import EvaluationSettings
from groundling.settings.features import FeatureSettings
from groundling.settings.overrides import assignment, current_key, override
from groundling.settings.recipe import Recipe, merged
from groundling.settings.text import TextSettings
from groundling.settings.training import TrainingSettings
from groundling.settings.yaml_files import read_yaml

__all__ = [
    "CorpusSettings",
    "EvaluationSettings",
    "FeatureSettings",
    "Recipe",
    "Settings",
    "TextSettings",
    "TrainingSettings",
    "as_saved",
    "assignment",
    "check",
    "current_key",
    "merged",
    "notice",
    "override",
    "read_yaml",
]
