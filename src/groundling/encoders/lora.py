"""Low-rank changes of linear layers, through peft (extra `tune`).

Hu et al. 2021, "LoRA: Low-rank adaptation of large language models", https://arxiv.org/abs/2106.09685:
W + (α / r) · B A, with W frozen. A and B are there while training; a model is saved with their sum, so that nobody who
loads it needs peft.

PyTorch's own attention, which open_clip's text side is made of, is no linear layer, and reads the weights of the one
inside it by itself: its weights are changed where they are read (`torch.nn.utils.parametrize`).
"""

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from groundling.errors import UserError

ALPHA = 2  # α / r: how strongly a change counts


def inject(network: nn.Module, rank: int) -> None:
    """Give every linear layer and every attention of a network a change of this rank, and train nothing else."""
    try:
        from peft import LoraConfig, inject_adapter_in_model
    except ImportError:
        raise UserError("adapter lora needs peft: pip install 'groundling[tune]'") from None
    attentions = [part for part in network.modules() if isinstance(part, nn.MultiheadAttention)]
    inside = {id(part.out_proj) for part in attentions}
    layers = [name for name, part in network.named_modules() if isinstance(part, nn.Linear) and id(part) not in inside]
    inject_adapter_in_model(LoraConfig(r=rank, lora_alpha=ALPHA * rank, target_modules=layers), network)
    for part in attentions:
        if part.in_proj_weight is None:
            raise UserError("adapter lora: not for attention whose queries and keys have other sizes; use full")
        for module, weight in ((part, "in_proj_weight"), (part.out_proj, "weight")):
            parametrize.register_parametrization(module, weight, _LowRank(getattr(module, weight), rank))
    for name, parameter in network.named_parameters():
        parameter.requires_grad_("lora_" in name)


class _LowRank(nn.Module):
    """W → W + (α / r) · B A, which begins as W."""

    def __init__(self, weight: Tensor, rank: int) -> None:
        super().__init__()
        self.lora_a = nn.Parameter(weight.new_empty(rank, weight.shape[1]))
        self.lora_b = nn.Parameter(weight.new_zeros(weight.shape[0], rank))
        nn.init.kaiming_uniform_(self.lora_a, a=math.sqrt(5))

    def forward(self, weight: Tensor) -> Tensor:
        return weight + ALPHA * self.lora_b @ self.lora_a


@torch.no_grad()
def merged(module: nn.Module) -> dict[str, Tensor]:
    """The weights of a module as they would be without the changes apart: under plain names, changes added."""
    state: dict[str, Tensor] = dict(module.state_dict())
    for name, part in module.named_modules():
        layer: Any = part
        if parametrize.is_parametrized(part):
            for weight, changes in layer.parametrizations.items():
                if hasattr(changes[0], "lora_a"):  # others, such as the norm of a weight, are the model's own
                    prefix = f"{name}.parametrizations.{weight}."
                    state = {key: value for key, value in state.items() if not key.startswith(prefix)}
                    state[f"{name}.{weight}"] = getattr(layer, weight)
            continue
        if not hasattr(layer, "base_layer") or f"{name}.base_layer.weight" not in state:
            continue
        own = {key: value for key, value in state.items() if key.startswith(f"{name}.")}
        for key in own:
            del state[key]
        base = {key.removeprefix(f"{name}.base_layer."): value for key, value in own.items() if ".base_layer." in key}
        base["weight"] = base["weight"] + layer.get_delta_weight("default").to(base["weight"].dtype)
        state |= {f"{name}.{key}": value for key, value in base.items()}
    return state
