"""One experiment, and what it starts from: all groups of settings together."""

from typing import Any, ClassVar

from pydantic import Field, model_validator

from groundling.settings.base import Settings
from groundling.settings.corpus import CorpusSettings
from groundling.settings.evaluation import EvaluationSettings
from groundling.settings.features import FeatureSettings
from groundling.settings.text import TextSettings
from groundling.settings.training import TrainingSettings


class Recipe(Settings):
    """One experiment: corpus + features + text + system + training."""

    former: ClassVar = {"before": "start"}

    title: str = ""
    name: str = Field("run", pattern=r"^[\w.+-]+$")
    corpus: CorpusSettings
    features: FeatureSettings = FeatureSettings()
    text: TextSettings = TextSettings()
    system: dict[str, Any] = Field({"name": "lessons"}, description="name of the system and its own settings")
    training: TrainingSettings = TrainingSettings()
    evaluation: EvaluationSettings = EvaluationSettings()
    start: "Recipe | str | None" = Field(
        None,
        description="the training that this one starts from: the folder of its run, or what differs from this recipe "
        "in it (it is then trained first)",
    )
    teachers: "list[Recipe | str]" = Field(
        [],
        description="trainings whose models teach this one what they find similar: folders of runs, or what differs "
        "from this recipe in them (they are then trained first)",
    )

    @property
    def described_start(self) -> "Recipe | None":
        """What it starts from, where that is trained first."""
        return self.start if isinstance(self.start, Recipe) else None

    @property
    def described_teachers(self) -> "list[Recipe]":
        return [one for one in self.teachers if isinstance(one, Recipe)]

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, values: Any) -> Any:
        """What a training starts from, and its teachers, say only what is different there."""
        values = cls.renamed(values)
        if not isinstance(values, dict):
            return values
        own = {key: value for key, value in values.items() if key not in ("title", "name", "start", "teachers")}
        done = dict(values)
        corpus, training = values.get("corpus"), values.get("training")
        if isinstance(corpus, dict) and corpus.get("draw") == "seed":
            seed = training.get("seed", 0) if isinstance(training, dict) else 0
            drawn = corpus.get("train_on", "all") != "all" or any(map(corpus.get, ("training_pictures", "one_caption")))
            done["corpus"] = {**corpus, "draw": seed if drawn else 0}  # tables share trainings that draw nothing
        if isinstance(values.get("start"), dict):
            done["start"] = _described(own, cls.renamed(values["start"]))
        if isinstance(values.get("teachers"), list):
            done["teachers"] = [
                _described(own, cls.renamed(teacher)) if isinstance(teacher, dict) else teacher
                for teacher in values["teachers"]
            ]
        return done


def _described(own: dict[str, Any], different: dict[str, Any]) -> Any:
    """Another recipe by what is different in it; another system has none of this one's settings."""
    system = different.get("system")
    if isinstance(system, dict) and system.get("name", _name(own)) != _name(own):
        own = {**own, "system": {}}
    return merged(own, different)


def _name(values: dict[str, Any]) -> Any:
    system = values.get("system")
    return system.get("name") if isinstance(system, dict) else None


def merged(old: Any, new: Any) -> Any:
    """Groups of settings merge key by key; anything else is replaced."""
    if not isinstance(old, dict) or not isinstance(new, dict):
        return new
    return {**old, **{key: merged(old[key], value) if key in old else value for key, value in new.items()}}
