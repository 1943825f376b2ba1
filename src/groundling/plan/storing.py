"""Indexes of all kinds, and serving them."""

from groundling.plan import measured
from groundling.plan.amounts import figures, seconds
from groundling.plan.work import FLOAT, Part, Work

COPIES = 2  # of all vectors while a FAISS file is made: an array of them, and the index; before, they are in a journal
HALF, LIST_NUMBER = 2, 8  # bytes of an index on disk: of a number, and of a vector's place


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
    times = work.pictures * work.dimensions / (measured.MILVUS_VECTORS * measured.MILVUS_DIMENSIONS)
    note = (
        "imported (--bulk) by a Milvus on two cores, which then searches exactly; its own memory, and lists or graphs: "
        "not measured here; memory is that of who fills it"
    )
    return Part(
        "index, Milvus",
        "--store milvus:URI",
        memory=rows,
        disk=vectors_bytes(work),
        core_hours=measured.MILVUS_CORES.value * times / 3600,
        hours=measured.MILVUS_VECTORS / measured.MILVUS_ROWS.value * times / 3600,
        note=note,
    )


def serving(work: Work) -> Part:
    without = measured.SERVER.value * 1e6 - FLOAT * measured.EXACT_NUMBERS
    rate = measured.REQUESTS.value * measured.EXACT_NUMBERS / (work.pictures * work.dimensions)
    note = f"at most {figures(min(rate, measured.REQUESTS.value))} exact answers a second on two cores"
    return Part("serve", "one process, exact", memory=without + vectors_bytes(work), note=note)


def vectors_bytes(work: Work) -> int:
    return work.pictures * work.dimensions * FLOAT
