"""Files that are either the old one or the new one, whole: written under a temporary name, synced, renamed."""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from groundling.errors import UserError

LOCK = "lock"  # the file that tells that a folder is being written


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """A temporary path beside `path` to write to; renamed over it if the block succeeds, removed if it does not."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    except (FileExistsError, NotADirectoryError):
        raise UserError(f"{path.parent}: is a file, where a folder is needed; choose another name") from None
    except PermissionError:
        raise UserError(f"{path.parent}: may not be written to; choose another folder") from None
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.chmod(0o644)  # mkstemp's 0600 would hide results from colleagues
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Holds a folder that is written to; another process that wants to is refused meanwhile.

    The system takes the lock back by itself when a process dies, however it dies.
    """
    from filelock import FileLock, Timeout

    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / LOCK, timeout=0, mode=0o644)
        lock.acquire()
    except (FileExistsError, NotADirectoryError):
        raise UserError(f"{folder}: is a file, where a folder is needed; choose another name") from None
    except Timeout:
        raise UserError(f"{folder}: is being written by another process; wait until that has ended") from None
    except OSError as error:
        raise UserError(f"{folder}: may not be written to ({error.strerror}); choose another folder") from None
    try:
        yield
    finally:
        lock.release()


def write_text(path: Path, text: str) -> None:
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path, value: Any) -> None:
    write_text(path, json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False) + "\n")


def read_json(path: Path) -> Any:
    """The JSON in `path`; a missing or damaged file is the user's to know about, by name."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise UserError(f"{path}: is a folder, where a JSON file is needed") from None
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UserError(f"{path}: not valid JSON ({error})") from None


def cache_folder() -> Path:
    """Where rendered pictures and features are kept between runs: $GROUNDLING_CACHE, or the user's cache folder."""
    own = os.environ.get("GROUNDLING_CACHE")
    if own:
        return Path(own).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "groundling"
