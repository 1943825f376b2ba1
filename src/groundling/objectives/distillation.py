"""A student says what its teacher says, in another language.

CLSEAVE (Xu 2024, "CLSEAVE: A method for cross-lingual transfer learning in visual entailment", section 3.3) takes the
mean squared error to the teacher's sentence vector before that is brought to unit length (`squared_error`, with the
setting `distance: mse`). Here both vectors have unit length unless told: everything that reads them, cosine or
entailment head, looks at their direction alone, so that a student that learned lengths too would spend itself on what
is thrown away.

>>> import torch
>>> teacher = torch.eye(2)
>>> unexplained(teacher, teacher).item(), unexplained(torch.full((2, 2), 0.5), teacher).item()  # the same; their mean
(0.0, 1.0)
"""

from torch import Tensor

LEAST = 1e-8  # variance to divide by, where all sentences are one


def squared_distance(student: Tensor, teacher: Tensor) -> Tensor:
    """[n, dimensions] twice → the mean over sentences of ‖s − t‖², which is 2 − 2·cosine for unit vectors.

    Summed over dimensions, not averaged: 0 is the same, 2 unrelated and 4 the opposite whatever the dimensions are. The
    mean squared error of the paper is this divided by their number. No gradient reaches the teacher.
    """
    return (student - teacher.detach()).square().sum(dim=-1).mean()


def squared_error(student: Tensor, teacher: Tensor) -> Tensor:
    """The mean squared error over sentences and dimensions, of vectors of any length: the loss as published."""
    return (student - teacher.detach()).square().mean()


def spread(teacher: Tensor) -> Tensor:
    """[n, dimensions] → the mean squared distance from their mean: what is lost by saying the same of everything."""
    teacher = teacher.detach()
    return (teacher - teacher.mean(dim=0)).square().sum(dim=-1).mean().clamp(min=LEAST)


def unexplained(student: Tensor, teacher: Tensor) -> Tensor:
    """The squared distance as a share of the teacher's spread: 0 is the same, 1 no better than its mean.

    Ranking losses often leave all captions in a narrow cone, cosines above .99, where distances that matter are of the
    order of 1e-4. As shares they can be read, and their gradients are not lost beside the optimiser's rounding.
    """
    return squared_distance(student, teacher) / spread(teacher)
