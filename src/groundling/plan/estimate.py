"""Memory, disk, hours and cost of encoding, training, evaluating, indexing and serving so many pictures and captions.

Sizes of files follow from their formats; times are measured ones (`measured`), in proportion to the work. Where nothing
was measured there is no number, and a note says so.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from groundling.errors import UserError
from groundling.plan import measured
from groundling.plan.amounts import hours, share, size
from groundling.plan.storing import disk_index, exact_index, ivf_index, milvus_index, serving_exact, serving_from_disk
from groundling.plan.work import CAMERA, FLOAT, WEB, Part, Work

KEY = 32  # bytes of the SHA-256 that features are found by
SIZES = (10**4, 10**5, 10**6, 10**7, 10**8)
CORES_MEASURED = 2  # of `measured.TWO_CORES`
HELD_UP_TO = 4 * 2**30  # bytes of features, `large_arrays.LARGE`; more are mapped into memory
EXACT_UP_TO = 250_000  # `search.store.EXACT_UP_TO`, which a test compares: importing it would load NumPy and Arrow


@dataclass(frozen=True)
class Plan:
    """`use` says in a few words which way of searching fits; `constants` are the numbers that were computed with."""

    work: Work
    use: str
    parts: list[Part]
    constants: list[measured.Measured] = field(default_factory=lambda: list(measured.ALL))

    @property
    def done(self) -> list[Part]:
        """The parts that are done by who follows the advice: one index of all."""
        return [part for part in self.parts if not part.what.startswith("index") or part.how in self.use]


def plan(work: Work) -> Plan:
    """The parts of a piece of work, in the order in which they are done."""
    for name in ("pictures", "captions", "cores", "dimensions", "features", "epochs", "test_pictures"):
        if getattr(work, name) < 1:
            raise UserError(f"--{name.replace('_', '-')}: at least 1 is needed, not {getattr(work, name)}")
    if work.gpus < 0:
        raise UserError("--gpus cannot be less than 0")
    for option, amount in (("--megapixels", work.megapixels), ("--gpu-memory", work.gpu_memory)):
        if not 0 < amount < math.inf:
            raise UserError(f"{option}: more than 0 is needed, not {amount:g}")
    prices = {"--gpu-hour": work.gpu_price, "--cpu-hour": work.core_price, "--machine-hour": work.machine_price}
    for option, price in prices.items():
        if price is not None and not 0 <= price < math.inf:
            raise UserError(f"{option}: a price of 0 or more, not {price:g}")
    if work.machine_price is not None and (work.gpu_price, work.core_price) != (None, None):
        raise UserError("--machine-hour is the price of all there is; leave out --gpu-hour and --cpu-hour")
    parts = [part(work) for part in PARTS]
    return Plan(work, advice(work.pictures), [_priced(part, work) for part in parts])


def advice(pictures: int) -> str:
    """Which index to use for so many pictures."""
    if pictures <= EXACT_UP_TO:
        return "--kind exact, one machine"
    if pictures < 10**7:
        return "--kind ivf, one machine that holds all vectors"
    if pictures <= 10**8:
        return "--store faiss-disk, one machine"
    return "--store milvus:URI, a cluster"


def preparing(work: Work) -> Part:
    both = measured.CORPUS_BUILD.value + measured.CORPUS_LEAKS.value
    taken = both * work.captions / measured.CORPUS_ROWS / 3600
    memory = measured.CORPUS_MEMORY.value * 1e9 * work.captions / measured.CORPUS_ROWS
    how = "and look for leaks between splits"
    return Part("build the corpus", how, memory=memory, core_hours=taken, hours=taken, note="one core")


def encoding(work: Work) -> Part:
    decode = decode_seconds(work.megapixels) * work.pictures / 3600
    if work.gpus:
        return encoding_on_gpus(work, decode)
    both = decode + measured.ENCODE.value * work.pictures / 3600
    how = f"EfficientNet-Lite0, {share(decode, both)} of it decoding"
    return Part("encode pictures", how, core_hours=both, hours=both / work.cores)


def encoding_on_gpus(work: Work, decode: float) -> Part:
    """Cores decode while GPUs compute: the slower of both says how long it takes.

    From files fewer pictures came through than the cores alone decode: they read and hash them, too.
    """
    network = work.pictures / measured.ENCODE_ON_GPU.value / 3600
    through = decode * measured.DECODED_FOR_GPU.value / measured.FILES_TO_GPU.value
    enough = math.ceil(through / network * work.gpus)
    note = f"cores that decode are the limit; {enough:,} would keep up" if enough > work.cores else ""
    if work.gpus > 1:
        note = "; ".join(filter(None, [note, "more than one GPU by --ray, which was not run on GPUs"]))
    return Part(
        "encode pictures",
        "EfficientNet-Lite0 on GPUs, decoding on cores",
        core_hours=decode,
        gpu_hours=network,
        hours=max(network / work.gpus, through / work.cores),
        note=note,
    )


def decode_seconds(megapixels: float) -> float:
    """Of one core: a straight line through the two that were measured."""
    web, camera = measured.DECODE_WEB.value, measured.DECODE_CAMERA.value
    return max(web / 2, web + (camera - web) * (megapixels - WEB) / (CAMERA - WEB))


def caching(work: Work) -> Part:
    held = features_held(work)
    copied = f"up to twice {size(features_bytes(work))} of disk more while a process uses them, mapped into its memory"
    return Part(
        "cache features",
        f"{work.features} numbers each",
        memory=held,
        disk=work.pictures * KEY + features_bytes(work),
        note=copied if held is None else "",
    )


def features_bytes(work: Work) -> int:
    return work.pictures * FLOAT * work.features


def features_held(work: Work) -> float | None:
    """Bytes of the features of all pictures; None where they are mapped into memory instead of held there."""
    return features_bytes(work) if features_bytes(work) < HELD_UP_TO else None


def training(work: Work) -> Part:
    steps = work.epochs * work.captions / measured.STEP_CAPTIONS
    how = f"lessons, {work.epochs} epochs"
    on_two, memory = steps / measured.STEPS_ON_CORES.value / 3600, features_bytes(work)
    if not work.gpus:
        note = "measured on two cores; how far it gains from more: not measured here"
        return Part(
            "train", how, memory=features_held(work), core_hours=CORES_MEASURED * on_two, hours=on_two, note=note
        )
    if memory > work.gpu_memory:
        note = (
            f"does not fit: features lie in the memory of each GPU ({work.gpu_memory / 1e9:g} GB), and several do not "
            f"share them. Train on fewer than {int(work.gpu_memory / (FLOAT * work.features)):,} pictures "
            f"(--set corpus.training_pictures=N), or with --device cpu: {hours(on_two)} hours on two cores"
        )
        return Part("train", how, memory=memory, note=note)
    taken = steps / measured.STEPS_ON_GPU.value / 3600
    note = "features lie in the memory of each GPU" + (
        "; what more than one gain was not measured, hours are those of one" if work.gpus > 1 else ""
    )
    return Part("train", how, memory=memory, gpu_hours=taken, hours=taken, note=note)


def ranking(work: Work) -> Part:
    pictures = min(work.pictures, work.test_pictures)
    captions = max(1, round(work.captions * pictures / work.pictures))
    products = pictures * captions * work.dimensions
    memory = FLOAT * work.dimensions * (pictures + captions)
    how = f"exact ranks, {pictures:,} × {captions:,}"
    if work.gpus:  # one of them
        taken = measured.RANKS_ON_GPU.value * products / measured.RANKS_ON_GPU_PRODUCTS / 3600
        return Part("evaluate", how, memory=memory, gpu_hours=taken, hours=taken)
    core_hours = CORES_MEASURED * measured.RANKS.value * products / measured.RANKS_PRODUCTS / 3600
    return Part("evaluate", how, memory=memory, core_hours=core_hours, hours=core_hours / work.cores)


PARTS: tuple[Callable[[Work], Part], ...] = (
    preparing,
    encoding,
    caching,
    training,
    ranking,
    exact_index,
    ivf_index,
    disk_index,
    milvus_index,
    serving_exact,
    serving_from_disk,
)


def _priced(part: Part, work: Work) -> Part:
    """With its cost, where all hours that it needs have a price."""
    if work.machine_price is not None:
        return part if part.hours is None else replace(part, cost=part.hours * work.machine_price)
    needed = [(part.core_hours, work.core_price), (part.gpu_hours, work.gpu_price)]
    asked = [(hours, price) for hours, price in needed if hours is not None]
    if not asked or any(price is None for _, price in asked):
        return part
    return replace(part, cost=sum(hours * price for hours, price in asked if price is not None))
