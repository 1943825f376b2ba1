"""checksums.json: what the files of a folder were when they were written, so that a damaged one is known for it.

It is written last. A file that it does not name is not vouched for: folders from before have none.
"""

import hashlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from groundling.errors import UserError
from groundling.files import cache_folder, check_checksum, read_json, with_checksum, write_json

FILE = "checksums.json"
LARGE = 2**23  # bytes of a file from which it is remembered to have been compared


class Checksums(BaseModel):
    model_config = ConfigDict(extra="forbid")
    format: int = 1
    sha256: dict[str, str] = {}


def read(folder: Path) -> Checksums:
    path = folder / FILE
    if not path.exists():
        return Checksums()
    try:
        return Checksums.model_validate(check_checksum(read_json(path), path))
    except ValidationError:
        raise UserError(
            f"{path}: damaged (it is not what was written); remove it to use the folder unchecked"
        ) from None


def seal(folder: Path, files: Iterable[Path]) -> None:
    """Note what these files are now, beside those that were noted before."""
    known = read(folder)
    for file in files:
        name = file.relative_to(folder).as_posix()
        if file.exists():
            known.sha256[name] = sha256(file)
        else:
            known.sha256.pop(name, None)
    write_json(folder / FILE, with_checksum(known.model_dump()))


def forget(folder: Path, files: Iterable[Path]) -> None:
    """Vouch for these files no more; they are about to be written anew."""
    known = read(folder)
    names = {file.relative_to(folder).as_posix() for file in files}
    if names & known.sha256.keys():
        left = {name: digest for name, digest in known.sha256.items() if name not in names}
        write_json(folder / FILE, with_checksum(known.model_copy(update={"sha256": left}).model_dump()))


def verify(folder: Path, file: Path) -> Path:
    """The file, if it is what it was when it was noted. Raises UserError that names it."""
    expected = read(folder).sha256.get(file.relative_to(folder).as_posix())
    if expected is not None and file.exists() and not is_unchanged(file, expected):
        raise UserError(
            f"{file}: damaged (not the file that {FILE} describes); make it again, or remove {FILE} if you changed it"
        )
    return file


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_unchanged(file: Path, expected: str) -> bool:
    """Whether the content is the expected one. A large file that was, and was not touched since, is not read again."""
    known = Remembered(file, expected)
    if known.before():
        return True
    if sha256(file) != expected:
        return False
    known.keep()
    return True


class Remembered:
    """That a large file was found to be as it should be. It must be looked at again once it was touched.

    `what` it was looked at for, where that is more than its checksum.
    """

    def __init__(self, file: Path, expected: str, what: str = "") -> None:
        status = file.stat() if file.exists() else None
        self._large = status is not None and status.st_size >= LARGE
        facts = (status.st_ino, status.st_size, status.st_mtime_ns) if status is not None else ()
        about = ":".join(map(str, (file.resolve(), *facts, expected, *([what] if what else []))))
        name = hashlib.sha256(about.encode("utf-8", "surrogateescape")).hexdigest()[:32]
        self._note = cache_folder() / "verified" / name

    def before(self) -> bool:
        return self._large and self._note.exists()

    def keep(self) -> None:
        if self._large:
            with suppress(OSError):
                self._note.parent.mkdir(parents=True, exist_ok=True)
                self._note.touch()
