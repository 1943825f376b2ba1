"""What work of a size costs: memory, disk, hours and money, from what was measured (`groundling plan`)."""

from groundling.plan.estimate import SIZES, Part, Plan, Work, plan

__all__ = ["SIZES", "Part", "Plan", "Work", "plan"]
