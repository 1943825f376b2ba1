"""The measured numbers that plans are computed from, each with the command that printed it and the page that says so.

What was not measured is not here, and a plan says so: no number is guessed.
"""

from dataclasses import dataclass

TWO_CORES = "two cores of an AMD EPYC (Zen 4)"
H200 = "one H200"


@dataclass(frozen=True)
class Measured:
    """One number.

    Attributes:
        value: in `unit`.
        what: was measured.
        command: that printed it.
        page: where it stands, from the root of the repository.
        shown: how the page writes it; a test looks for that.
        machine: on which.
    """

    value: float
    unit: str
    what: str
    command: str
    page: str
    shown: str
    machine: str = TWO_CORES


BENCHMARKS = "benchmarks/README.md"

DECODE_WEB = Measured(
    0.0044,
    "core seconds",
    "decoding a JPEG of 640 × 480 pixels and cutting 224 × 224 out of it",
    "python benchmarks/picture_costs.py",
    BENCHMARKS,
    "4.4 ms",
)
DECODE_CAMERA = Measured(
    0.0483,
    "core seconds",
    "the same for a JPEG of 4000 × 3000 pixels",
    "python benchmarks/picture_costs.py",
    BENCHMARKS,
    "48.3 ms",
)
ENCODE = Measured(
    0.0218,
    "core seconds",
    "EfficientNet-Lite0 for one picture of 224 × 224 pixels",
    "python benchmarks/picture_costs.py",
    BENCHMARKS,
    "21.8 ms",
)
ENCODE_ON_GPU = Measured(
    14_906,
    "pictures a second",
    "EfficientNet-Lite0 for decoded pictures of 224 × 224 pixels on a GPU, features stored",
    "python benchmarks/picture_encoding.py",
    BENCHMARKS,
    "14,906",
    H200,
)
FILES_TO_GPU = Measured(
    2_376,
    "pictures a second",
    "the same from JPEG files of 16 kB, with 16 cores",
    "python benchmarks/picture_encoding.py",
    BENCHMARKS,
    "2,376",
    H200,
)
DECODED_FOR_GPU = Measured(
    3_528,
    "pictures a second",
    "decoding these files alone with the same cores",
    "python benchmarks/picture_encoding.py",
    BENCHMARKS,
    "3,528",
    H200,
)
INDEX_ROW = Measured(
    1222,
    "bytes",
    "memory of a picture of an index on disk while that is built",
    "python benchmarks/picture_costs.py",
    BENCHMARKS,
    "1,222 bytes",
)
STEPS_ON_CORES = Measured(
    6.1,
    "steps a second",
    "training `lessons` with batches of 128 captions on cached features",
    "python benchmarks/training.py",
    BENCHMARKS,
    "6.1 steps/s",
)
STEPS_ON_GPU = Measured(
    1038,
    "steps a second",
    "the same on a GPU",
    "python benchmarks/training.py",
    BENCHMARKS,
    "1,038",
    H200,
)
STEP_CAPTIONS = 128  # of both
RANKS = Measured(
    1.77,
    "seconds",
    "exact ranks in both directions of 5,000 pictures × 25,000 captions × 1,024 dimensions",
    "python benchmarks/ranks.py",
    BENCHMARKS,
    "1.77 s",
)
RANKS_PRODUCTS = 5_000 * 25_000 * 1_024  # multiplications of that
RANKS_ON_GPU = Measured(
    0.918,
    "seconds",
    "exact ranks in both directions of 200,000 pictures × 400,000 captions × 512 dimensions",
    "python benchmarks/ranks_gpu.py",
    BENCHMARKS,
    "0.918 s",
    H200,
)
RANKS_ON_GPU_PRODUCTS = 200_000 * 400_000 * 512
EXACT_QUERY = Measured(
    0.0153,
    "seconds",
    "one query among 100,000 × 512 vectors, exact",
    "python benchmarks/search.py",
    BENCHMARKS,
    "15.3 ms",
)
EXACT_NUMBERS = 100_000 * 512  # of that
DISK_BUILD = Measured(
    175,
    "core seconds",
    "building an index on disk of 10,000,000 × 64 vectors",
    "python benchmarks/index_large.py",
    BENCHMARKS,
    "175 s",
)
DISK_ADD = Measured(
    91.1,
    "core seconds",
    "of that, adding each vector to the nearest of 3,162 lists",
    "python benchmarks/index_large.py",
    BENCHMARKS,
    "91.1 s",
)
DISK_QUERY = Measured(
    0.0031,
    "core seconds",
    "one query in that index, with a recall@10 of 0.946",
    "python benchmarks/index_large.py",
    BENCHMARKS,
    "3.10 ms",
)
INDEX_TABLE = Measured(
    1.12,
    "GB",
    "disk of the table of that index: names of 15 characters, digests, sizes and dates",
    "python benchmarks/index_large.py",
    BENCHMARKS,
    "1.12 GB",
)
DISK_OPEN = Measured(
    0.04,
    "GB",
    "memory of its own of a process that has that index open, after 50 queries",
    "python benchmarks/index_large_open.py",
    BENCHMARKS,
    "0.04 GB",
)
DISK_VECTORS, DISK_DIMENSIONS = 10_000_000, 64  # of all five
IVF_BUILD = Measured(
    8.6,
    "core seconds",
    "building an index in memory, `--kind ivf`, of 200,000 × 64 vectors, and measuring its recall",
    "python benchmarks/index_large.py --kind ivf",
    BENCHMARKS,
    "8.6 s",
)
IVF_QUERY = Measured(
    0.00057,
    "core seconds",
    "one query in that index, with a recall@10 of 0.957",
    "python benchmarks/index_large.py --kind ivf",
    BENCHMARKS,
    "0.57 ms",
)
IVF_VECTORS, IVF_DIMENSIONS = 200_000, 64  # of both
MILVUS_ROWS = Measured(
    27_046,
    "rows a second",
    "importing 1,000,000 × 128 vectors into a Milvus of the same machine",
    "python benchmarks/milvus_bulk.py --rounds 1 --rows 1000000",
    BENCHMARKS,
    "27,046",
)
MILVUS_CORES = Measured(
    22.8,
    "core seconds",
    "all of that import, server and client",
    "python benchmarks/milvus_bulk.py --rounds 1 --rows 1000000",
    BENCHMARKS,
    "22.8",
)
MILVUS_VECTORS, MILVUS_DIMENSIONS = 1_000_000, 128  # of both
CORPUS_BUILD = Measured(
    262.0,
    "core seconds",
    "`corpus build` of 10,000,000 captions from Parquet tables",
    "python benchmarks/corpus_rows.py",
    BENCHMARKS,
    "262.0",
)
CORPUS_LEAKS = Measured(
    245.2,
    "core seconds",
    "looking for captions that stand in two splits, word for word and nearly, among them",
    "python benchmarks/corpus_rows.py",
    BENCHMARKS,
    "245.2",
)
CORPUS_MEMORY = Measured(
    3.09,
    "GB",
    "memory that looking for them took",
    "python benchmarks/corpus_rows.py",
    BENCHMARKS,
    "3.09 GB",
)
CORPUS_ROWS = 10_000_000  # of all three
SERVER = Measured(
    702,
    "MB",
    "memory of `groundling serve` with 100,000 × 512 vectors after a minute of 32 clients",
    "python benchmarks/serve.py",
    BENCHMARKS,
    "702 MB",
)
REQUESTS = Measured(
    269,
    "requests a second",
    "text queries over HTTP to the same server, 32 clients on the same cores",
    "python benchmarks/serve.py",
    BENCHMARKS,
    "269",
)

ALL = (
    DECODE_WEB,
    DECODE_CAMERA,
    ENCODE,
    ENCODE_ON_GPU,
    FILES_TO_GPU,
    DECODED_FOR_GPU,
    INDEX_ROW,
    STEPS_ON_CORES,
    STEPS_ON_GPU,
    RANKS,
    RANKS_ON_GPU,
    EXACT_QUERY,
    DISK_BUILD,
    DISK_ADD,
    DISK_QUERY,
    INDEX_TABLE,
    DISK_OPEN,
    IVF_BUILD,
    IVF_QUERY,
    MILVUS_ROWS,
    MILVUS_CORES,
    CORPUS_BUILD,
    CORPUS_LEAKS,
    CORPUS_MEMORY,
    SERVER,
    REQUESTS,
)
