"""Settings as data: what a recipe may say."""

from groundling.settings.base import Settings as Settings
from groundling.settings.base import as_saved as as_saved
from groundling.settings.base import check as check
from groundling.settings.base import notice as notice
from groundling.settings.corpus import CorpusSettings as CorpusSettings
from groundling.settings.evaluation import EvaluationSettings as EvaluationSettings
from groundling.settings.features import FeatureSettings as FeatureSettings
from groundling.settings.overrides import assignment as assignment
from groundling.settings.overrides import current_key as current_key
from groundling.settings.overrides import override as override
from groundling.settings.recipe import Recipe as Recipe
from groundling.settings.recipe import merged as merged
from groundling.settings.text import TextSettings as TextSettings
from groundling.settings.training import TrainingSettings as TrainingSettings
from groundling.settings.yaml_files import read_yaml as read_yaml
