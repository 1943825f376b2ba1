"""Low-rank changes: nothing else is trained, they begin as nothing, and what is saved is the network with their sum."""

import copy

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.parametrizations import weight_norm

from groundling.encoders import lora

pytest.importorskip("peft")


class Block(nn.Module):
    """A layer as open_clip has them: PyTorch's attention, then two linear ones."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.wide, self.narrow = nn.Linear(8, 16), nn.Linear(16, 8)

    def forward(self, x: Tensor) -> Tensor:
        seen = x + self.attention(x, x, x, need_weights=False)[0]
        made: Tensor = seen + self.narrow(self.wide(seen).relu())
        return made


class Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.block = Block()

    def forward(self, x: Tensor) -> Tensor:
        made: Tensor = self.block(x)
        return made


def test_every_matrix_is_changed_by_a_low_rank_and_saved_as_the_sum() -> None:
    plain, x, rank = Network(), torch.randn(4, 5, 8), 2
    network = copy.deepcopy(plain)
    lora.inject(network, rank)
    torch.testing.assert_close(network(x), plain(x))  # it begins as it was
    assert lora.merged(network).keys() == plain.state_dict().keys()
    trained = [name for name, value in network.named_parameters() if value.requires_grad]
    assert trained and all("lora_" in name for name in trained)
    optimiser = torch.optim.AdamW([value for value in network.parameters() if value.requires_grad], lr=0.05)
    for _ in range(5):
        optimiser.zero_grad()
        network(x).square().sum().backward()
        optimiser.step()
    found = lora.merged(network)
    for name, before in plain.state_dict().items():
        change = found[name] - before
        if name.endswith("weight"):  # queries, keys and values; what comes out of attention; both linear layers
            assert change.abs().max() > 1e-3, name
            assert torch.linalg.matrix_rank(change, atol=1e-4) <= rank, name
        else:
            assert not change.any(), name
    again = Network()
    again.load_state_dict(found)
    torch.testing.assert_close(again(x), network(x), atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(again.eval()(x), network.eval()(x), atol=1e-5, rtol=1e-4)


def test_the_norm_of_a_weight_is_the_models_own_and_stays_as_it_is() -> None:
    module = nn.Sequential(weight_norm(nn.Linear(3, 2)))
    found = lora.merged(module)
    assert found.keys() == module.state_dict().keys()
    assert any("parametrizations" in name for name in found)
