"""Systems by name: `systems.make({"name": "lessons", "dimensions": 512})`.

A further one is a file, and a line here that imports it.
"""

from typing import Any

from groundling.encoders.pair import Encoders as Encoders
from groundling.encoders.pair import JudgingEncoders as JudgingEncoders
from groundling.errors import UserError
from groundling.settings import Recipe, check
from groundling.systems.bag import Bag as Bag
from groundling.systems.base import SYSTEMS as SYSTEMS
from groundling.systems.base import System as System
from groundling.systems.base import register as register
from groundling.systems.bert_gru import BertGRU as BertGRU
from groundling.systems.clip_ve import ClipVE as ClipVE
from groundling.systems.clmr import CLMR as CLMR
from groundling.systems.clseave import Clseave as Clseave
from groundling.systems.clteave import Clteave as Clteave
from groundling.systems.embn import EmbN as EmbN
from groundling.systems.hem import HEM as HEM
from groundling.systems.la import LA as LA
from groundling.systems.lessons import Lessons as Lessons
from groundling.systems.liwe import LIWE as LIWE
from groundling.systems.mule import MULE as MULE
from groundling.systems.par_embn import ParEmbN as ParEmbN
from groundling.systems.parallel import Parallel as Parallel
from groundling.systems.pivot import Pivot as Pivot
from groundling.systems.plan import Context as Context
from groundling.systems.plan import Plan as Plan
from groundling.systems.plan import Start as Start
from groundling.systems.polyglot import Polyglot as Polyglot
from groundling.systems.pretrained import Pretrained as Pretrained
from groundling.systems.smalr import SMALR as SMALR
from groundling.systems.translator import Translator as Translator
from groundling.systems.tuned import Tuned as Tuned
from groundling.systems.tuned_text import TunedText as TunedText
from groundling.systems.vse import VSE as VSE


def judging() -> list[str]:
    """The systems whose models tell if a sentence is true of a picture."""
    return [name for name in SYSTEMS if make({"name": name}).task == "entailment"]


def make(values: dict[str, Any]) -> System:
    """The system that a recipe's `system:` part describes."""
    kind = SYSTEMS[str(values.get("name", "lessons"))]
    return kind(check(kind.Settings, values, f"system {kind.name}"))


def of(recipe: Recipe) -> System:
    """The system of a recipe, which names an earlier run if and only if the system starts from one."""
    system = make(recipe.system)
    if system.needs_start and recipe.start is None:
        raise UserError(f"start: system {system.name} starts from another run here; name its folder, or describe it")
    if recipe.start is not None and not system.takes_start:
        raise UserError(f"start: system {system.name} starts from no other run here; leave it out")
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
    if recipe.described_start is not None:
        values["start"] = meaning(recipe.described_start)
    if recipe.teachers:
        values["teachers"] = [meaning(one) if isinstance(one, Recipe) else one for one in recipe.teachers]
    return {**values, "system": {**system.settings.model_dump(exclude_defaults=True), "name": system.name}}
