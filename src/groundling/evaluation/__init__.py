"""How good a model is: ranks, recalls, and whether a difference is more than chance."""
