"""What is planned: the work, and the parts that it has."""

from dataclasses import dataclass

FLOAT = 4  # bytes of a number
WEB, CAMERA = 0.64 * 0.48, 4.0 * 3.0  # millions of pixels that decoding was measured with
GPU_MEMORY = 141e9  # bytes, of an H200


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
        gpu_memory: bytes of one GPU.
        gpu_price, core_price: of an hour of computing of one; None: unknown, and no cost is computed.
        machine_price: of an hour by the clock of all that there is, instead of these two.
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
    gpu_memory: float = GPU_MEMORY
    gpu_price: float | None = None
    core_price: float | None = None
    machine_price: float | None = None


@dataclass(frozen=True)
class Part:
    """One thing to do, and what it needs; None: not measured here, or nothing of the kind.

    Attributes:
        what: is done.
        how: and with what.
        memory, disk: bytes.
        journal: bytes of disk more until it is done.
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
    journal: float | None = None
    core_hours: float | None = None
    gpu_hours: float | None = None
    hours: float | None = None
    cost: float | None = None
    query: float | None = None
    note: str = ""
