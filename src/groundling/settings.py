"""Settings as data: what a recipe may say. A wrong key is an error that names the key and the nearest one.

A setting that was called otherwise in former times is still read by its old name (`Settings.former`); one line on
standard error then says the new one. Recipes that runs were saved with are read without a word (`as_saved`).
"""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt, ValidationError, model_validator

from groundling.errors import UserError, did_you_mean

_told: set[str] = set()
_saved: ContextVar[bool] = ContextVar("saved", default=False)
LONGEST_YAML, DEEPEST_YAML, MOST_ALIASES = 1_000_000, 20, 10  # of a recipe; ours have none of the last


def notice(old: str, new: str) -> None:
    """Say, once in a process, what a setting is called now."""
    if old not in _told and not _saved.get():
        _told.add(old)
        print(f"groundling: {old} is called {new} now; the old name is still read", file=sys.stderr)


@contextmanager
def as_saved() -> Iterator[None]:
    """Former names are read without a notice: nobody is going to change the recipe of a finished run."""
    before = _saved.set(True)
    try:
        yield
    finally:
        _saved.reset(before)


class Settings(BaseModel):
    """Base of all settings: unknown keys are refused, values cannot change after they were checked.

    Class attributes:
        group: where these settings stand in a recipe, for notices.
        former: what settings were once called → what they are called now.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    group: ClassVar[str] = ""
    former: ClassVar[Mapping[str, str]] = {}

    @model_validator(mode="before")
    @classmethod
    def _by_former_names(cls, values: Any) -> Any:
        return cls.renamed(values)

    @classmethod
    def renamed(cls, values: Any) -> Any:
        """The same values by the names that settings have now."""
        if not isinstance(values, dict) or not any(old in values for old in cls.former):
            return values
        for old, new in cls.former.items():
            if old in values:
                if new in values:
                    raise ValueError(f"{old} is what {new} was once called; leave one of them out")
                notice(f"{cls.group}.{old}".lstrip("."), f"{cls.group}.{new}".lstrip("."))
        return {cls.former.get(key, key): value for key, value in values.items()}


class CorpusSettings(Settings):
    group = "corpus"
    former = {"split": "split_by"}

    name: str = Field(description="a corpus by name (`groundling corpus list`), a corpus folder, or a captions table")
    split_by: str | None = Field(None, description="how the emoji corpus is split: concept or artist")
    languages: list[str] | None = Field(None, min_length=1, description="train and test on these; all when left out")
    captions_from: dict[str, str | list[str]] = Field(
        {}, description="language → the corpus, or several, that its captions come from instead of this one"
    )
    test_on: str | None = Field(None, description="the corpus whose captions are asked in the test split instead")
    text_only: list[str] = Field(
        [],
        description="corpora, or .tsv files of translations, whose training sentences only meet each other: captions "
        "of photos that are not there",
    )
    train_on: Literal["all", "half", "disjoint"] = Field(
        "all", description="half: half of the training pictures; disjoint: an equal part of them for each language"
    )
    training_pictures: PositiveInt | None = Field(
        None, description="train on so many pictures, drawn; fewer are always among more"
    )
    one_caption: bool = Field(False, description="train on one caption, drawn, of each picture and language")
    draw: int = Field(
        0,
        ge=0,
        description="the seed of what train_on, training_pictures and one_caption draw; `seed`: that of the training",
    )


class FeatureSettings(Settings):
    backbone: str = Field(
        "efficientnet-lite0",
        description="the frozen picture network, by name; hf:NAME or hf:FOLDER through transformers",
    )
    size: int | None = Field(None, ge=32, le=1024, description="pixels per side; the backbone's own when left out")
    crop: bool = Field(True, description="cut out the centre, as for photos; false: the whole picture, as for drawings")
    mirror: bool = Field(False, description="average the features of the picture and of its mirror image")
    crops: Literal[1, 2, 10] = Field(
        1,
        description="average the features of several parts; 2: the centre and the whole made square; 10: the four "
        "corners, the centre and their mirror images",
    )
    views: int = Field(
        1,
        ge=1,
        le=64,
        description="features of so many parts of each picture (centre, whole, both ends, then random ones): a system "
        "that can trains on one at random in each step; elsewhere their mean is taken",
    )
    weights: str | None = Field(
        None, description="the folder of a run whose tuned picture network is looked through, not the published one"
    )
    grid: int = Field(1, ge=1, le=8, description="features of each cell of a grid of so many rows and columns")
    stage: int | None = Field(
        None,
        ge=1,
        le=7,
        description="EfficientNet-Lite: stop after this stage, which sees smaller parts; none: the end",
    )
    projected: bool = Field(
        False, description="hf:, CLIP and its like: the vector that is compared with text, not the average over patches"
    )
    array: str | None = Field(None, description="a precomputed .npy array instead of a backbone")
    names: str | None = Field(None, description="the list of picture names that goes with `array`")


class TextSettings(Settings):
    segmentation: Literal["script", "whitespace", "dictionary"] = Field(
        "script",
        description="script: words, characters for Chinese and Japanese; whitespace: already tokenised text; "
        "dictionary: word segmenters for Chinese and Japanese (extra `cjk`)",
    )
    minimum_count: PositiveInt = Field(4, description="rarer training words become the unknown word, per language")
    maximum_length: PositiveInt = Field(60, le=1000, description="longer captions are cut to this many words")


class TrainingSettings(Settings):
    group = "training"
    former = {"score": "validation_language", "measure": "validation_metric"}

    batch_size: int = Field(128, ge=2)
    length_pool: PositiveInt = Field(
        64, description="batches sorted together by caption length; 1 leaves captions of all lengths in a batch"
    )
    learning_rate: PositiveFloat = 2e-4
    decay_after: PositiveInt | None = Field(None, description="divide the learning rate by ten after this many epochs")
    decay_repeats: bool = Field(
        False, description="and again after every further `decay_after` epochs, as released code of VSE++ does"
    )
    decay_to: float = Field(
        1.0, gt=0, le=1, description="decay to this share of the learning rate at the last step, along `decay`"
    )
    decay: Literal["cosine", "linear"] = Field(
        "cosine", description="linear: a straight line down from the end of the warm-up, as transformers' own schedule"
    )
    warm_up: float = Field(0.0, ge=0, lt=1, description="share of the steps over which the learning rate rises from 0")
    optimiser: Literal["adam", "adamw"] = Field("adam", description="adamw: weight decay apart from the gradient")
    weight_decay: float = Field(0.0, ge=0)
    moving_average: float | None = Field(
        None, ge=0, lt=1, description="validate and keep the average of the weights over the steps, decaying so fast"
    )
    clip: PositiveFloat | None = Field(2.0, description="largest norm of the gradient; none: any")
    validate_every: PositiveInt | Literal["epoch"] = Field(
        500, description="steps between two validations, or `epoch`: as many as go once through the captions"
    )
    patience: PositiveInt = Field(10, description="validations without a better score before training stops")
    maximum_steps: PositiveInt = 100_000
    validation_language: str = Field(
        "all", description="what validation looks at: all languages together, or one by its code"
    )
    validation_metric: str = Field(
        "usual",
        description="the metric that validation compares by (`groundling recipes` lists them): usual: rsum of pictures "
        "and captions, accuracy of judged statements; loss: that of statements, which with patience 1 stops training "
        "when it first rises",
    )
    precision: Literal["auto", "bf16", "float32"] = Field("auto", description="auto: bf16 where the device has it")
    encode_at_once: PositiveInt | None = Field(
        None,
        description="captions, or pictures, of a batch that are encoded together; each such part is encoded again for "
        "its gradient, so that memory does not grow with batch_size; none: the whole batch",
    )
    seed: int = Field(0, ge=0)


class EvaluationSettings(Settings):
    captions: Literal["first", "all"] | None = Field(
        None, description="which test captions are queries; the corpus says"
    )
    folds: PositiveInt = Field(
        1, description="average over so many equal parts of the test pictures, each ranked by itself; COCO 1K is 5"
    )


class Recipe(Settings):
    """One experiment: corpus + features + text + system + training."""

    former = {"before": "start"}

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


AnySettings = TypeVar("AnySettings", bound=Settings)


def check(kind: type[AnySettings], values: Any, where: str) -> AnySettings:
    """`values` as settings of this kind; the first thing wrong with them, in one sentence, otherwise."""
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        path = tuple(part for part in first["loc"] if part not in ("Recipe", "str"))  # which of a union's members
        key = ".".join(str(part) for part in path)
        if first["type"] == "extra_forbidden":
            raise UserError(
                f'{where}: unknown setting "{key}"{did_you_mean(str(path[-1]), _keys(kind, path[:-1]))}'
            ) from None
        if first["type"] == "missing":
            raise UserError(f'{where}: setting "{key}" is missing') from None
        raise UserError(f"{where}: {key or 'settings'}: {first['msg'].lower()}, not {_shown(first['input'])}") from None


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


def _keys(kind: type[Settings], path: tuple[int | str, ...]) -> list[str]:
    """The keys that are allowed at `path` inside settings of this kind."""
    for part in path:
        nested = kind.model_fields[str(part)].annotation if str(part) in kind.model_fields else None
        if not (isinstance(nested, type) and issubclass(nested, Settings)):
            return []
        kind = nested
    return list(kind.model_fields)


def override(values: dict[str, Any], assignments: list[str]) -> dict[str, Any]:
    """Recipe values with `--set training.seed=3`-like assignments applied; the value is read as YAML."""
    if not assignments:
        return values
    values = Recipe.renamed(values)
    changed = {key: dict(value) if isinstance(value, dict) else value for key, value in values.items()}
    for text in assignments:
        key, value = assignment(text)
        *groups, last = current_key(key).split(".")
        place = changed
        for group in groups:
            inner = place.get(group)
            if inner is not None and not isinstance(inner, dict):
                raise UserError(f'--set {text}: "{group}" is a value, not a group of settings')
            place[group] = dict(inner or {})
            place = place[group]
        place[last] = value
    return changed


def current_key(key: str) -> str:
    """The key of a recipe, such as "start.training.seed", with the name that its group has now."""
    group, dot, rest = key.partition(".")
    if group in Recipe.former:
        notice(group, Recipe.former[group])
    return f"{Recipe.former.get(group, group)}{dot}{rest}"


def assignment(text: str) -> tuple[str, Any]:
    """ "training.seed=3" → ("training.seed", 3)"""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise UserError(f'--set {text}: write it as key=value, for example "--set training.seed=1"')
    try:
        return key.strip(), load_yaml(value)
    except yaml.YAMLError:
        raise UserError(f"--set {text}: the value is not valid YAML") from None


def load_yaml(text: str) -> Any:
    """YAML of plain values, within limits: a few lines can describe more than any memory holds. Raises YAMLError."""
    if len(text) > LONGEST_YAML:
        raise yaml.YAMLError(f"more than {LONGEST_YAML:,} characters")
    depth = aliases = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        aliases += isinstance(event, yaml.AliasEvent)
        if depth > DEEPEST_YAML or aliases > MOST_ALIASES:
            raise yaml.YAMLError(f"more than {DEEPEST_YAML} levels, or {MOST_ALIASES} aliases")
    return yaml.safe_load(text)


def read_yaml(path: Path) -> dict[str, Any]:
    try:
        values = load_yaml(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path}: no such recipe") from None
    except IsADirectoryError:
        raise UserError(f"{path}: a folder, where a recipe is needed") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    except (yaml.YAMLError, UnicodeDecodeError, ValueError) as error:
        raise UserError(f"{path}: not valid YAML ({' '.join(str(error).split())})") from None
    if not isinstance(values, dict):
        raise UserError(f"{path}: a recipe is a mapping of settings")
    return values
