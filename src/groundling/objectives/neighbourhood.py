"""Neighbourhood constraints: captions of one picture are nearer to each other than to captions of other pictures.

Within a language: Wang et al. 2018 (https://arxiv.org/abs/1704.03470). Between two languages: MULE, Kim et al. 2020
(https://arxiv.org/abs/1909.03493), and SMALR, Burns et al. 2020 (https://arxiv.org/abs/2004.04312, section 3.3).

>>> captions = torch.eye(2)[None]  # one caption of each of two pictures, in one language
>>> neighbourhood(captions.repeat(2, 1, 1), torch.ones(2, 2, dtype=torch.bool), pictures=2).item()  # and in two, alike
0.0
"""

import torch
from torch import Tensor
from torch.nn.functional import normalize

from groundling.objectives.triplets import Distance, distances, worst_triplets


def neighbourhood(
    captions: Tensor,
    real: Tensor,
    pictures: int,
    margin: float = 0.05,
    most: int = 10,
    distance: Distance = "cosine",
    within: bool = True,
    between: bool = True,
    shared: Tensor | None = None,
) -> Tensor:
    """The mean of the costliest triplets within each language, plus that between any two of them.

    Args:
        captions: [languages, captions, d] vectors of any length; caption k is of picture k mod `pictures`.
        real: [languages, captions] which of them are there; the others take no part.
        shared: [languages, captions, pictures] whether a picture has a caption of the same words: its captions are then
            no strangers to this one.

    Between languages the anchor is of one language, and both its partner and the stranger of another, each language in
    its turn.
    """
    vectors = normalize(captions, dim=-1)
    languages, count = real.shape
    of = torch.arange(count, device=real.device) % pictures
    same = of[:, None] == of[None, :]
    itself = torch.eye(count, dtype=torch.bool, device=real.device)
    partners = -(-count // pictures)
    places = (of[:, None] + pictures * torch.arange(partners, device=real.device)).clamp(max=count - 1)
    total = vectors.new_zeros(())
    held = None if shared is None else shared[:, :, of]  # [languages, anchors, others]: by the other's picture
    if within and partners > 1:
        there = real[:, :, None] & real[:, None, :]
        apart = distances(vectors, vectors, distance)
        strangers = ~same & there if held is None else ~same & there & ~(held | held.mT)
        total = total + worst_triplets(apart, same & ~itself & there, strangers, margin, most, partners, places)
    if between and languages > 1:  # [anchor's language, anchors, other language, others]: one matrix product
        flat = vectors.flatten(end_dim=1)
        apart = distances(flat, flat, distance).unflatten(1, real.shape).unflatten(0, real.shape)
        different = ~torch.eye(languages, dtype=torch.bool, device=real.device)[:, None, :, None]
        there = real[:, :, None, None] & real & different
        alike = same[:, None, :]
        strangers = ~alike & there
        if held is not None:
            strangers = strangers & ~(held[:, :, None] | held.permute(2, 0, 1))
        total = total + worst_triplets(apart, alike & there, strangers, margin, most, partners, places[:, None])
    return total
