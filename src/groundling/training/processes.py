"""One training in several processes, on one machine or many, each with a share of every batch.

Every process knows the whole batch, because batch k is a function of k. It encodes its share of the captions and
pictures; the vectors of all shares are gathered, so that every process computes the same loss over the whole batch,
with all its negatives (as in CLIP, Radford et al. 2021, https://arxiv.org/abs/2103.00020, section 2.5). The gradient of
a gathered vector, which is the same in all p processes, is multiplied by p where it was encoded, and gradients of
weights are averaged:

    ∂L/∂w = 1/p · sum over processes of (p · ∂L/∂w by its share of the vectors  +  ∂L/∂w by whatever all compute alike)

so that any number of processes takes the steps that one would take, up to the order of sums and the draws of dropout.
Processes find each other by the environment that `torchrun` sets, and that `groundling train --processes` sets as well.
"""

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar, cast

import torch
import torch.distributed as dist
from torch import Tensor, nn

from groundling.batches.packing import effort
from groundling.devices import pick_device
from groundling.errors import UserError
from groundling.run import Run
from groundling.training.by_rows import Forward, by_rows, of_rows

Value = TypeVar("Value")
LARGE = 2**16  # numbers of a gradient that is a message of its own
PATIENCE = timedelta(hours=24)  # the first process may be computing features while the others wait


def asked() -> bool:
    """Whether somebody has started this process as one of several."""
    return int(os.environ.get("WORLD_SIZE", "1")) > 1


def count() -> int:
    together: int = dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1
    return together


def number() -> int:
    return dist.get_rank() if count() > 1 else 0


def first() -> bool:
    """Whether this is the process that writes files and talks."""
    return not asked() or os.environ.get("RANK", "0") == "0"


@contextmanager
def joined(device: str = "auto") -> Iterator[str]:
    """The processes of this training meet, if there are several. Gives the device that this one computes on."""
    if not asked() or count() > 1:
        yield device
        return
    place = pick_device(device)
    if place.type == "cuda" and ":" not in device:
        device = f"cuda:{int(os.environ.get('LOCAL_RANK', '0')) % torch.cuda.device_count()}"
        torch.cuda.set_device(torch.device(device))
    local = int(os.environ.get("LOCAL_WORLD_SIZE", os.environ["WORLD_SIZE"]))
    crowded = place.type == "cuda" and local > torch.cuda.device_count()  # NCCL wants a GPU for each
    try:
        dist.init_process_group("nccl" if place.type == "cuda" and not crowded else "gloo", timeout=PATIENCE)
    except (RuntimeError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(f"the processes of this training do not find each other ({reason}); use torchrun") from None
    try:
        yield device
    finally:
        dist.destroy_process_group()


@contextmanager
def place_of(run: Run) -> Iterator[Run]:
    """Where this process writes: the first into the run, which it holds, the others where nobody looks."""
    if first():
        with run.writing():
            yield run
        return
    with tempfile.TemporaryDirectory(prefix="groundling-") as folder:
        for file in (run.recipe_file, run.tokeniser_file, *run.folder.glob("checkpoint*.safetensors")):
            if file.exists():  # to go on from the same place; the first cannot take a step before all are there
                (Path(folder) / file.name).symlink_to(file.resolve())
        yield Run(Path(folder))


def wait() -> None:
    """Until all processes are here."""
    if count() > 1:
        dist.barrier()


@contextmanager
def first_before_others() -> Iterator[None]:
    """What the first process leaves in a cache is there when the others look for it."""
    if not first():
        dist.barrier()
    yield
    if count() > 1 and first():
        dist.barrier()


def told_by_first(find: Callable[[], Value]) -> Value:
    """What the first process finds; the others do not look for themselves."""
    if count() == 1:
        return find()
    told = [find() if first() else None]
    dist.broadcast_object_list(told, src=0)
    return cast(Value, told[0])


def average_gradients(module: nn.Module) -> None:
    """Every process has the mean of all gradients.

    Large ones are sent from where they lie, several at a time, so that one is added up while another is under way; all
    small ones are one message.
    """
    gradients = [parameter.grad for parameter in module.parameters() if parameter.grad is not None]
    if count() == 1 or not gradients:
        return
    large = [gradient for gradient in gradients if gradient.numel() >= LARGE and gradient.is_contiguous()]
    whole = {id(gradient) for gradient in large}
    small = [gradient for gradient in gradients if id(gradient) not in whole]
    sent = [dist.all_reduce(gradient, async_op=True) for gradient in large]
    if small:
        flat = torch.cat([gradient.flatten() for gradient in small])
        dist.all_reduce(flat)
        for gradient, part in zip(small, flat.split([gradient.numel() for gradient in small]), strict=True):
            gradient.copy_(part.view_as(gradient))
    for message in sent:
        message.wait()
    torch._foreach_div_(gradients, float(count()))


@contextmanager
def shared(module: nn.Module) -> Iterator[None]:
    """Inside, the encoders of a module read only this process's share of what they are given in training."""
    with nullcontext() if count() == 1 else by_rows(module, _own_share, _own_groups):
        yield


def _own_share(forward: Forward, rows: int, given: Sequence[Any]) -> Tensor:
    size = -(-rows // count())
    device = given[0].device
    # A last share that is too small begins again at the first row, so that all are equally large.
    mine = (torch.arange(size, device=device) + number() * size).remainder(rows)
    with _own_draws(device):
        vectors = forward(*of_rows(given, rows, mine))
    return cast(Tensor, _Gather.apply(vectors))[:rows]  # type: ignore[no-untyped-call]


def _own_groups(forward: Forward, groups: Sequence[Sequence[Any]]) -> list[Tensor]:
    """Whole groups are dealt out, if there are enough: half a group takes a core more than half the time."""
    if len(groups) < count():
        return [_own_share(forward, len(group[0]), group) for group in groups]
    shares: list[list[int]] = [[] for _ in range(count())]
    loads = [0] * count()
    efforts = [effort(*group[0].shape[:2]) for group in groups]
    for place in sorted(range(len(groups)), key=efforts.__getitem__, reverse=True):
        least = loads.index(min(loads))  # the largest that is left goes to whoever has the least to read
        shares[least].append(place)
        loads[least] += efforts[place]
    sizes = [[len(groups[place][0]) for place in share] for share in shares]
    with _own_draws(groups[0][0].device):
        own = torch.cat([forward(*groups[place]) for place in shares[number()]])
    most = max(map(sum, sizes))
    filled = torch.cat([own, own.new_zeros(most - len(own), *own.shape[1:])])  # all send as much
    gathered = cast(Tensor, _Gather.apply(filled)).split(most)  # type: ignore[no-untyped-call]
    found: dict[int, Tensor] = {}
    for part, share, rows in zip(gathered, shares, sizes, strict=True):
        found.update(zip(share, part[: sum(rows)].split(rows), strict=True))
    return [found[place] for place in range(len(groups))]


@contextmanager
def _own_draws(device: torch.device) -> Iterator[None]:
    """Dropout is drawn anew in each process; what all draw together after it is the same in all."""
    seed = int(torch.randint(2**31, ()))
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed + number())
        yield


class _Gather(torch.autograd.Function):
    """[m, …] of each process → [processes · m, …] in all of them; gradients go back to where vectors came from.

    All processes compute the same loss from the same vectors, and so know the sum of its gradients without asking.
    """

    @staticmethod
    def forward(ctx: Any, own: Tensor) -> Tensor:
        parts = [torch.empty_like(own, memory_format=torch.contiguous_format) for _ in range(count())]
        dist.all_gather(parts, own.contiguous())
        return torch.cat(parts)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        return gradients[0].chunk(count())[number()] * count()
