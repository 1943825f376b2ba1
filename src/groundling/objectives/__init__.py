"""Losses. Those over the similarities of a batch are found by their names: `OBJECTIVES`.

A further one is a file, and a line here that imports it.
"""

from groundling.objectives.contrastive import Contrastive as Contrastive
from groundling.objectives.hardening_hinges import HardeningHinges as HardeningHinges
from groundling.objectives.info_nce import InfoNCE as InfoNCE
from groundling.objectives.max_of_hinges import MaxOfHinges as MaxOfHinges
from groundling.objectives.objective import OBJECTIVES as OBJECTIVES
from groundling.objectives.objective import Objective as Objective
from groundling.objectives.objective import register as register
from groundling.objectives.sum_of_hinges import SumOfHinges as SumOfHinges
