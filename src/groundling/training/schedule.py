"""The learning rate at a step."""

import math

from groundling.settings import TrainingSettings


def learning_rate(settings: TrainingSettings, step: int, epoch: float) -> float:
    """A tenth after `decay_after` epochs (the decay of VSE++), once or again and again.

    A cosine, or a straight line, down to `decay_to` of it at the last step; before, a straight line up from zero over
    the share `warm_up` of the steps, at whose end the straight line down begins.
    """
    rate = settings.learning_rate
    if settings.decay_after is not None and epoch >= settings.decay_after:
        rate /= 10 ** (epoch // settings.decay_after) if settings.decay_repeats else 10
    if settings.decay_to < 1:
        done = min(step / settings.maximum_steps, 1.0)
        left = (1 + math.cos(math.pi * done)) / 2
        if settings.decay == "linear":
            left = min(1.0, (1 - done) / (1 - settings.warm_up))
        rate *= settings.decay_to + (1 - settings.decay_to) * left
    if settings.warm_up > 0:
        rate *= min(1.0, (step + 1) / (settings.warm_up * settings.maximum_steps))
    return rate
