"""Parts of which encoders build the graphs that they become in ONNX: the same sums, for any number of captions.

A text graph reads `ids` [captions, longest] and `lengths` [captions], and where words are spelled out `spellings`
[words, letters], whose rows `ids` then are (see `text.tokens.Tokens`).

ONNX's GRU is told how long each sequence is and gives the state after that: no padding is read, and none can change a
result, whatever stands beside a caption in its batch. PyTorch's exporter, left to itself, would run over the padding
and pick states afterwards, for a fixed number of captions.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding


class Listed(nn.Module):
    """Words of a table, and a sentence of them."""

    def __init__(self, words: nn.Module, sentence: nn.Module) -> None:
        super().__init__()
        self.words, self.sentence = words, sentence

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        vectors: Tensor = self.sentence(self.words(ids), lengths)
        return vectors


class Spelled(nn.Module):
    """Words from their spelling, each once, and sentences of them."""

    def __init__(self, spell: nn.Module, sentence: nn.Module) -> None:
        super().__init__()
        self.spell, self.sentence = spell, sentence

    def forward(self, ids: Tensor, lengths: Tensor, spellings: Tensor) -> Tensor:
        vectors: Tensor = self.sentence(embedding(ids, self.spell(spellings)), lengths)
        return vectors


class LastState(nn.Module):
    """[n, longest, inputs] and [n] lengths → [n, dimensions] the state of an `nn.GRU` after so many entries.

    With `backward` the GRU reads each sequence from its last real entry to its first. Only for tracing: what comes
    out in PyTorch has the right shape and no meaning.
    """

    weights: Tensor
    recurrent_weights: Tensor
    biases: Tensor

    def __init__(self, recurrent: nn.GRU, backward: bool = False) -> None:
        super().__init__()
        self.dimensions, self.direction = recurrent.hidden_size, "reverse" if backward else "forward"
        self.register_buffer("weights", _reordered(recurrent, "weight_ih_l0"))
        self.register_buffer("recurrent_weights", _reordered(recurrent, "weight_hh_l0"))
        biases = [_reordered(recurrent, name) for name in ("bias_ih_l0", "bias_hh_l0")]
        self.register_buffer("biases", torch.cat(biases, dim=1))

    def forward(self, entries: Tensor, lengths: Tensor) -> Tensor:
        return self.run(entries, lengths)[1][0]

    def run(self, entries: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """What ONNX gives: states [longest, 1, n, dimensions] and the last ones [1, n, dimensions]."""
        n, longest = entries.shape[:2]
        states, last = torch.onnx.ops.symbolic_multi_out(
            "GRU",
            (entries.transpose(0, 1), self.weights, self.recurrent_weights, self.biases, lengths.to(torch.int32)),
            # As in PyTorch, the new state's recurrent part is multiplied before it is reset.
            {"hidden_size": self.dimensions, "linear_before_reset": 1, "direction": self.direction},
            dtypes=(torch.float32, torch.float32),
            shapes=((longest, 1, n, self.dimensions), (1, n, self.dimensions)),
        )
        return states, last


class EveryState(LastState):
    """The same, but the states after each of the entries: [n, longest, dimensions]."""

    def forward(self, entries: Tensor, lengths: Tensor) -> Tensor:
        return self.run(entries, lengths)[0].squeeze(1).transpose(0, 1)


def _reordered(recurrent: nn.GRU, name: str) -> Tensor:
    """PyTorch stacks the gates reset, update, new; ONNX update, reset, new."""
    reset, update, new = recurrent.get_parameter(name).detach().float().chunk(3)
    return torch.cat([update, reset, new])[None]
