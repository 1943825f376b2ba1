"""Systems by name: `systems.make({"name": "lessons", "dimensions": 512})`."""

from typing import Any

from groundling.encoders.pair import Encoders, JudgingEncoders
from groundling.errors import UserError, did_you_mean
from groundling.settings import Recipe, check
from groundling.systems.bag import Bag
from groundling.systems.base import System
from groundling.systems.bert_gru import BertGRU
from groundling.systems.clip_ve import ClipVE
from groundling.systems.clmr import CLMR
from groundling.systems.clseave import Clseave
from groundling.systems.clteave import Clteave
from groundling.systems.embn import EmbN
from groundling.systems.hem import HEM
from groundling.systems.la import LA
from groundling.systems.lessons import Lessons
from groundling.systems.liwe import LIWE
from groundling.systems.mule import MULE
from groundling.systems.par_embn import ParEmbN
from groundling.systems.parallel import Parallel
from groundling.systems.pivot import Pivot
from groundling.systems.plan import Context, Plan, Start
from groundling.systems.polyglot import Polyglot
from groundling.systems.smalr import SMALR
from groundling.systems.translator import Translator
from groundling.systems.vse import VSE

SYSTEMS: dict[str, type[System]] = {
    system.name: system
    for system in (
        VSE,
        Lessons,
        Bag,
        Polyglot,
        CLMR,
        LIWE,
        BertGRU,
        Pivot,
        Parallel,
        EmbN,
        ParEmbN,
        MULE,
        LA,
        HEM,
        SMALR,
        Translator,
        ClipVE,
        Clseave,
        Clteave,
    )
}


def get(name: str) -> type[System]:
    if name not in SYSTEMS:
        raise UserError(f'no system is called "{name}"{did_you_mean(name, SYSTEMS)}')
    return SYSTEMS[name]


def judging() -> list[str]:
    """The systems whose models tell if a sentence is true of a picture."""
    return [name for name in SYSTEMS if make({"name": name}).task == "entailment"]


def make(values: dict[str, Any]) -> System:
    """The system that a recipe's `system:` part describes."""
    kind = get(str(values.get("name", "lessons")))
    return kind(check(kind.Settings, values, f"system {kind.name}"))


def of(recipe: Recipe) -> System:
    """The system of a recipe, which names an earlier run if and only if the system starts from one."""
    system = make(recipe.system)
    if system.needs_start and recipe.before is None:
        raise UserError(
            f"before: system {system.name} starts from an earlier run here; name its folder, or describe it"
        )
    if recipe.before is not None and not system.takes_start:
        raise UserError(f"before: system {system.name} starts from no earlier run here; leave it out")
    if recipe.teachers and not system.takes_teachers:
        raise UserError(f"teachers: system {system.name} learns from no teachers; leave them out")
    if recipe.corpus.text_only and not system.reads_text_only:
        raise UserError(f"corpus.text_only: system {system.name} learns nothing from sentences without pictures")
    return system


def meaning(recipe: Recipe) -> dict[str, Any]:
    """What a recipe asks for, however it is written: names and defaults left out, the system's settings checked.

    Two recipes that mean the same train the same model.
    """
    system = make(recipe.system)
    values = recipe.model_dump(exclude={"name", "title", "system"}, exclude_defaults=True)
    if isinstance(recipe.before, Recipe):
        values["before"] = meaning(recipe.before)
    if recipe.teachers:
        values["teachers"] = [meaning(one) if isinstance(one, Recipe) else one for one in recipe.teachers]
    return {**values, "system": {**system.settings.model_dump(exclude_defaults=True), "name": system.name}}


__all__ = [
    "SYSTEMS",
    "Context",
    "Encoders",
    "JudgingEncoders",
    "Plan",
    "Start",
    "System",
    "get",
    "make",
    "meaning",
    "of",
]
