"""Memory, disk, hours and cost of encoding, training, evaluating, indexing and serving so many pictures and captions.

Sizes of files follow from their formats; times are measured ones (`measured`), in proportion to the work. Where nothing
was measured there is no number, and a note says so.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from groundling.errors import UserError
from groundling.plan import measured

SIZES = (10**4, 10**5, 10**6, 10**7, 10**8)
CORES_MEASURED = 2  # of `measured.TWO_CORES`
COPIES = 2  # of all vectors while a FAISS file is made: an array of them, and the index; before, they are in a journal
HALF, LIST_NUMBER = 2, 8  # bytes of an index on disk: of a number, and of a vector's place
FLOAT, KEY = 4, 32  # bytes of a number, and of the SHA-256 that features are found by
HELD_UP_TO = 4 * 2**30  # bytes of features, `vision.large_arrays.LARGE`; more are mapped into memory
EXACT_UP_TO = 250_000  # `search.store.EXACT_UP_TO`, which a test compares: importing it would load NumPy and Arrow
WEB, CAMERA = 0.64 * 0.48, 4.0 * 3.0  # millions of pixels that decoding was measured with


@dataclass(frozen=True)
class Work:
    """What is to be done, and with what.

    Attributes:
        pictures, captions: how many there are.
        gpus, cores: how many there are to do it with.
        dimensions: of the space that pictures and captions share.
        features: numbers that the backbone makes of a picture.
        megapixels: of a picture file.
        epochs: how often a training sees each caption.
        test_pictures: how many pictures an evaluation ranks, with their share of the captions.
        gpu_price, core_price: of an hour of one; None: unknown, and no cost is computed.
    """

    pictures: int
    captions: int
    gpus: int = 0
    cores: int = 16
    dimensions: int = 512
    features: int = 1280
    megapixels: float = WEB
    epochs: int = 10
    test_pictures: int = 5000
    gpu_price: float | None = None
    core_price: float | None = None


@dataclass(frozen=True)
class Part:
    """One thing to do, and what it needs; None: not measured here, or nothing of the kind.

    Attributes:
        what: is done.
        how: and with what.
        memory, disk: bytes.
        core_hours, gpu_hours: of computing.
        hours: until it is done, where the work is spread evenly over all there is.
        cost: of these hours.
        query: seconds until one question is answered.
        note: what to know.
    """

    what: str
    how: str
    memory: float | None = None
    disk: float | None = None
    core_hours: float | None = None
    gpu_hours: float | None = None
    hours: float | None = None
    cost: float | None = None
    query: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Plan:
    """`use` says in a few words which way of searching fits; `constants` are the numbers that were computed with."""

    work: Work
    use: str
    parts: list[Part]
    constants: list[measured.Measured] = field(default_factory=lambda: list(measured.ALL))


def plan(work: Work) -> Plan:
    """The parts of a piece of work, in the order in which they are done."""
    for name in ("pictures", "captions", "cores", "dimensions", "features", "epochs", "test_pictures"):
        if getattr(work, name) < 1:
            raise UserError(f"--{name.replace('_', '-')}: at least 1 is needed, not {getattr(work, name)}")
    if work.gpus < 0 or not work.megapixels > 0:
        raise UserError("--gpus cannot be less than 0, and --megapixels must be more")
    for option, price in (("--gpu-hour", work.gpu_price), ("--cpu-hour", work.core_price)):
        if price is not None and not price >= 0:
            raise UserError(f"{option} cannot be less than 0")
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
    hours = both * work.captions / measured.CORPUS_ROWS / 3600
    memory = measured.CORPUS_MEMORY.value * 1e9 * work.captions / measured.CORPUS_ROWS
    how = "and look for leaks between splits"
    return Part("build the corpus", how, memory=memory, core_hours=hours, hours=hours, note="one core")


def encoding(work: Work) -> Part:
    decode = decode_seconds(work.megapixels) * work.pictures / 3600
    network = measured.ENCODE.value * work.pictures / 3600
    note = "the network on a GPU: not measured here; hours are those of the cores alone" if work.gpus else ""
    both = decode + network
    how = f"EfficientNet-Lite0, {share(decode, both)} of it decoding"
    return Part("encode pictures", how, core_hours=both, hours=both / work.cores, note=note)


def decode_seconds(megapixels: float) -> float:
    """Of one core: a straight line through the two that were measured."""
    web, camera = measured.DECODE_WEB.value, measured.DECODE_CAMERA.value
    return max(web / 2, web + (camera - web) * (megapixels - WEB) / (CAMERA - WEB))


def caching(work: Work) -> Part:
    size = work.pictures * (FLOAT * work.features + KEY)
    held = features_held(work)
    note = "mapped into memory" if held is None else ""
    return Part("cache features", f"{work.features} numbers each", memory=held, disk=size, note=note)


def features_held(work: Work) -> float | None:
    """Bytes of the features of all pictures; None where they are mapped into memory instead of held there."""
    size = work.pictures * FLOAT * work.features
    return size if size < HELD_UP_TO else None


def training(work: Work) -> Part:
    steps = work.epochs * work.captions / measured.STEP_CAPTIONS
    how = f"lessons, {work.epochs} epochs"
    if not work.gpus:
        on_two = steps / measured.STEPS_ON_CORES.value / 3600
        note = "measured on two cores; how far it gains from more: not measured here"
        return Part(
            "train", how, memory=features_held(work), core_hours=CORES_MEASURED * on_two, hours=on_two, note=note
        )
    hours = steps / measured.STEPS_ON_GPU.value / 3600
    note = "features lie in the memory of each GPU" + (
        "; how far it gains from more than one: not measured here, hours are those of one" if work.gpus > 1 else ""
    )
    memory = work.pictures * FLOAT * work.features
    return Part("train", how, memory=memory, gpu_hours=hours, hours=hours, note=note)


def ranking(work: Work) -> Part:
    pictures = min(work.pictures, work.test_pictures)
    captions = max(1, round(work.captions * pictures / work.pictures))
    products = pictures * captions * work.dimensions
    memory = FLOAT * work.dimensions * (pictures + captions)
    how = f"exact ranks, {pictures:,} × {captions:,}"
    if work.gpus:  # one of them
        hours = measured.RANKS_ON_GPU.value * products / measured.RANKS_ON_GPU_PRODUCTS / 3600
        return Part("evaluate", how, memory=memory, gpu_hours=hours, hours=hours)
    core_hours = CORES_MEASURED * measured.RANKS.value * products / measured.RANKS_PRODUCTS / 3600
    return Part("evaluate", how, memory=memory, core_hours=core_hours, hours=core_hours / work.cores)


def exact_index(work: Work) -> Part:
    vectors, rows = vectors_bytes(work), measured.INDEX_ROW.value * work.pictures
    query = measured.EXACT_QUERY.value * work.pictures * work.dimensions / measured.EXACT_NUMBERS
    note = f"a query takes {seconds(query)} on two cores"
    return Part("index, exact", "--kind exact", memory=COPIES * vectors + rows, disk=vectors, query=query, note=note)


def ivf_index(work: Work) -> Part:
    """There are 4 √n lists, and every vector is compared with the centre of each: the work grows with n √n."""
    vectors, rows = vectors_bytes(work), measured.INDEX_ROW.value * work.pictures
    times = (work.pictures / measured.IVF_VECTORS) ** 1.5 * work.dimensions / measured.IVF_DIMENSIONS
    build = measured.IVF_BUILD.value * times / 3600
    note = (
        "one core, once pictures are encoded; a query among "
        f"{measured.IVF_VECTORS:,} × {measured.IVF_DIMENSIONS} took {seconds(measured.IVF_QUERY.value)} of a core"
    )
    return Part(
        "index, approximate",
        "--kind ivf",
        memory=COPIES * vectors + rows,
        disk=vectors,
        core_hours=build,
        hours=build,
        note=note,
    )


def disk_index(work: Work) -> Part:
    """Half precision, product codes of a byte for four numbers, and the number of each vector in its list."""
    disk = work.pictures * (HALF * work.dimensions + work.dimensions // 4 + LIST_NUMBER)
    numbers = work.pictures * work.dimensions / (measured.DISK_VECTORS * measured.DISK_DIMENSIONS)
    build = measured.DISK_BUILD.value * numbers / 3600
    note = (
        "one core, once pictures are encoded; a query among "
        f"{measured.DISK_VECTORS:,} × {measured.DISK_DIMENSIONS} took {seconds(measured.DISK_QUERY.value)} of a core"
    )
    return Part(
        "index, on disk",
        "--store faiss-disk",
        memory=measured.INDEX_ROW.value * work.pictures,
        disk=disk,
        core_hours=build,
        hours=build,
        note=note,
    )


def milvus_index(work: Work) -> Part:
    rows = measured.INDEX_ROW.value * work.pictures
    note = "time, and memory of the Milvus: not measured here; memory is that of who fills it"
    return Part("index, Milvus", "--store milvus:URI", memory=rows, disk=vectors_bytes(work), note=note)


def serving(work: Work) -> Part:
    without = measured.SERVER.value * 1e6 - FLOAT * measured.EXACT_NUMBERS
    rate = measured.REQUESTS.value * measured.EXACT_NUMBERS / (work.pictures * work.dimensions)
    note = f"at most {figures(min(rate, measured.REQUESTS.value))} exact answers a second on two cores"
    return Part("serve", "one process, exact", memory=without + vectors_bytes(work), note=note)


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
    serving,
)


def vectors_bytes(work: Work) -> int:
    return work.pictures * work.dimensions * FLOAT


def _priced(part: Part, work: Work) -> Part:
    """With its cost, where all hours that it needs have a price."""
    needed = [(part.core_hours, work.core_price), (part.gpu_hours, work.gpu_price)]
    asked = [(hours, price) for hours, price in needed if hours is not None]
    if not asked or any(price is None for _, price in asked):
        return part
    return replace(part, cost=sum(hours * price for hours, price in asked if price is not None))


def share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f} %"


def figures(value: float) -> str:
    """Two figures that count, for people.

    >>> [figures(value) for value in (0.01234, 1.26, 34567.0)]
    ['0.012', '1.3', '35,000']
    """
    rounded = float(f"{value:.2g}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"


def seconds(value: float) -> str:
    return f"{figures(1000 * value)} ms" if value < 1 else f"{figures(value)} s"
