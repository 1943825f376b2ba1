"""Opening an index again and again while another process brings it up to date: the old one or the new one, always."""

import shutil
import subprocess
import sys
import time

from torture.results import Row
from torture.workshop import Workshop

WRITER = """
import sys
from pathlib import Path
from PIL import Image
from groundling.search import index_request, indexing
out, stop = Path("updated"), Path("stop-updating")
model = index_request.load("run")
index_request.load = lambda *_, **__: model
indexing.index_pictures(Path("changing"), out, "run")
print("built", flush=True)
extra, count = Path("changing/extra.png"), 0
while not stop.exists():
    extra.unlink() if extra.exists() else Image.new("RGB", (40, 40), (count % 256, 9, 9)).save(extra)
    indexing.index_pictures(None, out, update=True)
    count += 1
print(count, flush=True)
"""


def opened(shop: Workshop, seconds: float) -> Row:
    from groundling.search import Index

    row = Row("updates", "index opened while it is updated")
    shutil.copytree(shop.folder / "shapes" / "png", shop.folder / "changing")
    command = [sys.executable, "-c", WRITER]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    process = subprocess.Popen(command, cwd=shop.folder, env=shop.environment, **pipes)
    assert process.stdout is not None
    assert process.stdout.readline() == "built\n"
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            count = len(Index.open(shop.folder / "updated"))
        except Exception as error:
            row.count(f"{type(error).__name__}: {error}")
        else:
            row.count(None if count in (48, 49) else f"{count} pictures")
    (shop.folder / "stop-updating").touch()
    updates = int(process.communicate(timeout=120)[0])
    row.figures = {"opens": row.tried, "updates": updates}
    row.note = f"{row.tried:,} opens during {updates:,} updates"
    return row
