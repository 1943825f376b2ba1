"""What work of a size costs: memory, disk, hours and money, from what was measured (`groundling plan`)."""

from groundling.plan.estimate import SIZES, Plan, plan
from groundling.plan.work import Part, Work

__all__ = ["SIZES", "Part", "Plan", "Work", "plan"]
