"""Indexes of all kinds, and serving them."""

from groundling.plan import measured
from groundling.plan.amounts import figures, seconds, size
from groundling.plan.work import FLOAT, Part, Work

COPIES = 2  # of all vectors while a FAISS file is made: an array of them, and the index; before, they are in a journal
HALF, LIST_NUMBER = 2, 8  # bytes of an index on disk: of a number, and of a vector's place


def exact_index(work: Work) -> Part:
    vectors = vectors_bytes(work)
    query = measured.EXACT_QUERY.value * work.pictures * work.dimensions / measured.EXACT_NUMBERS
    return Part(
        "index, exact",
        "--kind exact",
        memory=COPIES * vectors + rows_held(work),
        disk=vectors + table_bytes(work),
        journal=vectors,
        query=query,
        note=f"a query takes {seconds(query)} on two cores",
    )


def ivf_index(work: Work) -> Part:
    """There are 4 √n lists, and every vector is compared with the centre of each: the work grows with n √n."""
    vectors = vectors_bytes(work)
    times = (work.pictures / measured.IVF_VECTORS) ** 1.5 * work.dimensions / measured.IVF_DIMENSIONS
    build = measured.IVF_BUILD.value * times / 3600
    note = (
        "one core, once pictures are encoded; a query among "
        f"{measured.IVF_VECTORS:,} × {measured.IVF_DIMENSIONS} took {seconds(measured.IVF_QUERY.value)} of a core"
    )
    return Part(
        "index, approximate",
        "--kind ivf",
        memory=COPIES * vectors + rows_held(work),
        disk=vectors + table_bytes(work),
        journal=vectors,
        core_hours=build,
        hours=build,
        note=note,
    )


def disk_index(work: Work) -> Part:
    """Half precision, product codes of a byte for four numbers, and the number of each vector in its list.

    There are √n lists, and every vector that is added is compared with the centre of each, so that adding grows with
    n √n; finding the centres with 48 vectors for each, writing, and measuring the recall against all grow with n.
    """
    vectors, numbers = work.pictures / measured.DISK_VECTORS, work.dimensions / measured.DISK_DIMENSIONS
    adding = measured.DISK_ADD.value * vectors**1.5
    rest = (measured.DISK_BUILD.value - measured.DISK_ADD.value) * vectors
    build = (adding + rest) * numbers / 3600
    return Part(
        "index, on disk",
        "--store faiss-disk",
        memory=rows_held(work),
        disk=disk_bytes(work),
        journal=vectors_bytes(work),
        core_hours=build,
        hours=build,
        note=f"one core, once pictures are encoded; {disk_query()}",
    )


def milvus_index(work: Work) -> Part:
    times = work.pictures * work.dimensions / (measured.MILVUS_VECTORS * measured.MILVUS_DIMENSIONS)
    note = (
        "imported (--bulk) by a Milvus on two cores, which then searches exactly; its own memory, and lists or graphs: "
        "not measured here; memory is that of who fills it"
    )
    return Part(
        "index, Milvus",
        "--store milvus:URI",
        memory=rows_held(work),
        disk=vectors_bytes(work) + table_bytes(work),
        journal=vectors_bytes(work),
        core_hours=measured.MILVUS_CORES.value * times / 3600,
        hours=measured.MILVUS_VECTORS / measured.MILVUS_ROWS.value * times / 3600,
        note=note,
    )


def serving_exact(work: Work) -> Part:
    rate = measured.REQUESTS.value * measured.EXACT_NUMBERS / (work.pictures * work.dimensions)
    note = f"at most {figures(min(rate, measured.REQUESTS.value))} exact answers a second on two cores"
    return Part("serve, in memory", "one process, exact", memory=server_alone() + vectors_bytes(work), note=note)


def serving_from_disk(work: Work) -> Part:
    note = (
        f"{disk_query()}; {size(disk_bytes(work))} are mapped, and read where a query looks; a server of that size was "
        "not measured, only the search"
    )
    return Part(
        "serve, from disk",
        "one process, --store faiss-disk",
        memory=server_alone() + measured.DISK_OPEN.value * 1e9,
        note=note,
    )


def disk_query() -> str:
    took = seconds(measured.DISK_QUERY.value)
    return f"a query among {measured.DISK_VECTORS:,} × {measured.DISK_DIMENSIONS} took {took} of a core"


def server_alone() -> float:
    """Without the vectors that it had."""
    return measured.SERVER.value * 1e6 - FLOAT * measured.EXACT_NUMBERS


def disk_bytes(work: Work) -> float:
    """Of the files of an index on disk."""
    return work.pictures * (HALF * work.dimensions + work.dimensions // 4 + LIST_NUMBER) + table_bytes(work)


def table_bytes(work: Work) -> float:
    """The names and digests of all pictures, which every index has."""
    return measured.INDEX_TABLE.value * 1e9 * work.pictures / measured.DISK_VECTORS


def rows_held(work: Work) -> float:
    """What a build has in memory of all pictures."""
    return measured.INDEX_ROW.value * work.pictures


def vectors_bytes(work: Work) -> int:
    return work.pictures * work.dimensions * FLOAT
