"""GRUs as ONNX has them, and sentences made with them.

ONNX's GRU is told how long each sequence is and gives the state after that: no padding is read, and none can change a
result, whatever stands beside a caption in its batch. PyTorch's exporter, left to itself, would run over the padding
and pick states afterwards, for a fixed number of captions.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from groundling.encoders.text.bidirectional import BidirectionalSentence
from groundling.encoders.text.mapped import RecurrentSentence
from groundling.encoders.text.max_pooled import MaxSentence
from groundling.encoders.text.students import ProjectedSentence
from groundling.encoders.text.universal import UniversalEncoder
from groundling.errors import UserError


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


def entry(states: Tensor, place: Tensor) -> Tensor:
    """[n, longest, d] and [n] places → [n, d] what stands there."""
    return states.gather(1, place[:, None, None].expand(-1, 1, states.shape[2])).squeeze(1)


class OneWay(nn.Module):
    """Word vectors → state at the last real word → a linear layer, where there is one → unit vector."""

    def __init__(self, recurrent: nn.Module, project: nn.Module | None = None) -> None:
        super().__init__()
        if not isinstance(recurrent, nn.GRU):
            raise TypeError(f"a GRU is needed, not {type(recurrent).__name__}")
        self.last, self.project = LastState(recurrent), nn.Identity() if project is None else project

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        return normalize(self.project(self.last(words, lengths)), dim=-1)


class BothWays(nn.Module):
    """See `encoders.text.bidirectional.BidirectionalSentence`."""

    def __init__(self, sentence: BidirectionalSentence) -> None:
        super().__init__()
        self.onward = LastState(sentence.onward)
        self.ends = isinstance(sentence.back, nn.GRU)
        self.back = LastState(sentence.back, backward=True) if isinstance(sentence.back, nn.GRU) else sentence.back

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        back = self.back(words, lengths) if self.ends else self.back(entry(words, lengths - 1))
        return normalize((self.onward(words, lengths) + back) / 2, dim=-1)


class Largest(nn.Module):
    """See `encoders.text.max_pooled.MaxSentence`."""

    def __init__(self, sentence: MaxSentence) -> None:
        super().__init__()
        self.onward, self.back = EveryState(sentence.onward), EveryState(sentence.back, backward=True)

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        states = torch.cat([self.onward(words, lengths), self.back(words, lengths)], dim=-1)
        padding = (torch.arange(words.shape[1]) >= lengths[:, None])[:, :, None]
        return normalize(states.masked_fill(padding, -2.0).amax(dim=1), dim=-1)  # states lie between −1 and 1


def sentence_graph(sentence: nn.Module) -> nn.Module:
    """A module that traces to what makes a sentence of word vectors [n, longest, d] and lengths [n]."""
    if isinstance(sentence, nn.GRU):
        return OneWay(sentence)
    if isinstance(sentence, RecurrentSentence):
        return OneWay(sentence.recurrent)
    if isinstance(sentence, ProjectedSentence | UniversalEncoder):
        return OneWay(sentence.recurrent, sentence.project)
    if isinstance(sentence, BidirectionalSentence):
        return BothWays(sentence)
    if isinstance(sentence, MaxSentence):
        return Largest(sentence)
    raise UserError(f"a text encoder with {type(sentence).__name__} cannot be exported to ONNX yet")
