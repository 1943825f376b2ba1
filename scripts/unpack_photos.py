"""Photos that were packed into a few arrays, as a folder of picture files again.

Usage: python scripts/unpack_photos.py PACKED NAMES.txt FOLDER

PACKED holds part0.npy, part1.npy … (the bytes of picture files one after another, uint8) and len0.npy, len1.npy …
(their lengths); NAMES.txt names them in the same order, one a line. Each becomes FOLDER/NAME, whatever its format:
pictures are told by their content. A file that is there already with the right length is left as it is.
"""

import sys
from pathlib import Path

import numpy as np


def unpack(packed: Path, names: list[str], folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    done = 0
    for number in range(len(list(packed.glob("part*.npy")))):
        data = np.load(packed / f"part{number}.npy", mmap_mode="r")
        ends = np.cumsum(np.load(packed / f"len{number}.npy")).tolist()
        for start, end in zip([0, *ends], ends, strict=False):
            if done == len(names):
                raise SystemExit(f"unpack_photos: more photos in {packed} than the {done} names")
            path = folder / names[done]
            if not path.is_file() or path.stat().st_size != end - start:
                path.write_bytes(data[start:end].tobytes())
            done += 1
    if done != len(names):
        raise SystemExit(f"unpack_photos: {done} photos in {packed}, but {len(names)} names")
    return done


if __name__ == "__main__":
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    listed = [line for line in Path(sys.argv[2]).read_text(encoding="utf-8").split("\n") if line]
    print(f"{unpack(Path(sys.argv[1]), listed, Path(sys.argv[3]))} photos")
