"""The parameters of other people's networks, told apart by side: those of texts, of their words, and of pictures."""

from collections.abc import Iterable

from torch import Tensor

PICTURE = ("vision", "visual")  # in the paths of the picture side, whoever wrote the network
WORDS = ("token_embedding", "word_embedding", "embed_tokens", "shared.")  # tables with a row for each word piece
NEITHER = ("logit_scale", "logit_bias")  # of the loss; no vector is made with them


def sizes_by_side(parameters: Iterable[tuple[str, Tensor]]) -> dict[str, int]:
    """See `Model.parameter_sizes`.

    >>> import torch
    >>> table = {"text_model.embeddings.token_embedding.weight": torch.zeros(5, 2), "logit_scale": torch.zeros(1)}
    >>> sizes_by_side(table.items())
    {'text.words.text_model.embeddings.token_embedding.weight': 10}
    """
    sizes = {}
    for path, parameter in parameters:
        if not path.endswith(NEITHER):
            words = "words." if any(mark in path for mark in WORDS) else ""
            side = "picture." if any(mark in path for mark in PICTURE) else f"text.{words}"
            sizes[side + path] = parameter.numel()
    return sizes
