"""Low-rank changes of linear layers, through peft (extra `tune`).

Hu et al. 2021, "LoRA: Low-rank adaptation of large language models", https://arxiv.org/abs/2106.09685:
W + (α / r) · B A, with W frozen. A and B are there while training; a model is saved with their sum, so that nobody who
loads it needs peft.
"""

from typing import Any

from torch import Tensor, nn

from groundling.errors import UserError

ALPHA = 2  # α / r: how strongly a change counts


def inject(network: nn.Module, rank: int) -> None:
    """Give every linear layer of a network a change of this rank, and train nothing else."""
    try:
        from peft import LoraConfig, inject_adapter_in_model
    except ImportError:
        raise UserError("adapter lora needs peft: pip install 'groundling[tune]'") from None
    layers = [name for name, part in network.named_modules() if isinstance(part, nn.Linear)]
    inject_adapter_in_model(LoraConfig(r=rank, lora_alpha=ALPHA * rank, target_modules=layers), network)
    for name, parameter in network.named_parameters():
        parameter.requires_grad_("lora_" in name)


def merged(module: nn.Module) -> dict[str, Tensor]:
    """The weights of a module as they would be without the changes apart: under plain names, changes added."""
    state: dict[str, Tensor] = dict(module.state_dict())
    for name, part in module.named_modules():
        layer: Any = part
        if not hasattr(layer, "base_layer") or f"{name}.base_layer.weight" not in state:
            continue
        own = {key: value for key, value in state.items() if key.startswith(f"{name}.")}
        for key in own:
            del state[key]
        base = {key.removeprefix(f"{name}.base_layer."): value for key, value in own.items() if ".base_layer." in key}
        base["weight"] = base["weight"] + layer.get_delta_weight("default").to(base["weight"].dtype)
        state |= {f"{name}.{key}": value for key, value in base.items()}
    return state
