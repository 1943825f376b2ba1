"""Files that are either the old one or the new one, whole: written under a temporary name, synced, renamed.

A folder that is being written has one writer. What a killed one left behind is removed by the next.
"""

import contextlib
import errno
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tokenize import TokenError
from typing import Any

from groundling.errors import UserError

LOCK = ".lock"  # the file that tells that a folder is being written
PART = ".part"  # how a file is called until it is whole
CHECKSUM = "checksum"  # in a JSON file that vouches for itself
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NOT_OURS = (errno.EROFS, errno.EACCES, errno.EPERM)


#: What numpy raises for a damaged .npy file: it takes its header for one of Python 2, and parses it as Python.
DAMAGED_ARRAY = (
    ValueError,
    TypeError,
    KeyError,
    EOFError,
    OverflowError,
    SyntaxError,
    TokenError,
    RecursionError,
    MemoryError,
)


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """A temporary path beside `path` to write to; renamed over it if the block succeeds, removed if it does not."""
    with problems_of(path.parent):
        make_folder(path.parent)
        handle, name = _held_file(path)
    temporary = Path(name)
    try:
        with problems_of(path.parent):
            yield temporary
            with temporary.open("rb+") as file:
                os.fsync(file.fileno())
            temporary.chmod(0o644)  # mkstemp's 0600 would hide results from colleagues
            temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
        os.close(handle)


def make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        file = next((one for one in folder.parents if one.is_file()), folder)
        raise UserError(f"{file}: is a file, where a folder is needed; choose another name") from None
    except FileNotFoundError as error:  # of a place where there are no folders to be made, as /proc
        raise UserError(f"{folder}: cannot be made ({error.strerror}); choose another name") from None


def _held_file(path: Path) -> tuple[int, str]:
    """A new file beside `path`, locked as long as its handle is open: so it is told from one that was left behind."""
    while True:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=PART, dir=path.parent)
        if _lock(handle) and os.fstat(handle).st_nlink:
            return handle, name
        os.close(handle)  # somebody who tidied up was quicker


def _lock(handle: int) -> bool:
    """Whether nobody else holds a file; then we do, until the handle is closed or the process ends."""
    try:
        import fcntl
    except ImportError:  # not a Unix: nothing is taken for left behind there
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """A temporary folder beside `folder`, renamed to it if the block succeeds, removed if it does not."""
    with problems_of(folder.parent):
        make_folder(folder.parent)
        remove_leftovers(folder.parent, folder.name)
        refuse_existing(folder)
        place = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=PART, dir=folder.parent))
    try:
        with only_writer(place), problems_of(folder.parent):
            yield place
            place.chmod(0o755)
            (place / LOCK).unlink(missing_ok=True)
            refuse_existing(folder)
            place.rename(folder)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def make_once(folder: Path, make: Callable[[Path], None]) -> None:
    """A folder of the cache: `make` is given a temporary one to fill, as of `new_folder`, where it is not there yet.

    Of several processes that want the same one at the same time the first makes it, and the others wait for it.
    """
    from filelock import FileLock

    if _filled(folder):
        return
    with problems_of(folder.parent):
        make_folder(folder.parent)
        turn = FileLock(folder.parent / f".{folder.name}{LOCK}", mode=0o644)
        turn.acquire()
    try:
        if not _filled(folder):
            with new_folder(folder) as place:
                make(place)
    finally:
        with contextlib.suppress(OSError):
            Path(turn.lock_file).unlink()  # while it is held: who waits for it notices, and makes a new one
        turn.release()


def _filled(folder: Path) -> bool:
    return folder.is_dir() and any(folder.iterdir())


def refuse_existing(folder: Path) -> None:
    """An error where something is there already; an empty folder is nothing."""
    if folder.is_dir() and not any(folder.iterdir()):
        return
    if folder.exists() or folder.is_symlink():
        raise UserError(f"{folder}: is there already; choose another name, or remove it first")


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Holds a folder that is written to; another process that wants to is refused meanwhile.

    The system takes the lock back by itself when a process dies, however it dies. What a dead one left half written is
    removed.
    """
    from filelock import FileLock, Timeout

    with no_empty_folders(folder / LOCK):
        with problems_of(folder):
            make_folder(folder)
            lock = FileLock(folder / LOCK, timeout=0, mode=0o644)
            try:
                lock.acquire()
            except Timeout:
                raise UserError(f"{folder}: is being written by another process; wait until that has ended") from None
        try:
            remove_leftovers(folder)
            yield
        finally:
            with contextlib.suppress(OSError):
                (folder / LOCK).unlink()  # while it is held: who waits for it notices, and makes a new one
            lock.release()


@contextmanager
def no_empty_folders(path: Path) -> Iterator[None]:
    """Folders above `path` that are made meanwhile, and into which nothing has come, are gone again in the end."""
    new = [folder for folder in path.parents if not folder.exists()]
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # the first that is not empty ends it
            for folder in new:
                folder.rmdir()


def remove_leftovers(folder: Path, name: str = "") -> None:
    """Removes what killed processes left half written: all of a folder, or what was to be called `name`."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(f".{name}") and entry.name.endswith(PART) and not entry.is_symlink():
                with contextlib.suppress(OSError):
                    _remove_if_dead(Path(entry.path))


def _remove_if_dead(path: Path) -> None:
    held = path / LOCK if path.is_dir() else path
    if held.exists():
        handle = os.open(held, os.O_RDWR)
        try:
            if not _lock(handle):
                return
            _remove(path)
        finally:
            os.close(handle)
    else:
        _remove(path)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def problems_of(folder: Path) -> Iterator[None]:
    """A full disk, or a folder that may not be written to, is the user's to know about, in one sentence."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:  # libraries tell of a full disk each in its own way
        sentence = disk_problem(error, folder)
        if sentence is None:
            raise
        raise UserError(sentence) from None


def disk_problem(error: BaseException, folder: Path | None = None) -> str | None:
    """What to tell of an error that is about the disk, or about a name on it; None for any other."""
    number = getattr(error, "errno", None)
    said = str(error)
    place = getattr(error, "filename", None) or folder or "the disk"
    if number in _NO_ROOM or "No space left on device" in said or "File too large" in said:
        return f"{place}: no room is left there; make some and give the command once more"
    if number == errno.ENAMETOOLONG:
        return f"{place}: is too long a name; choose a shorter one"
    if number in _NOT_OURS or "Read-only file system" in said:
        return f"{place}: may not be written to ({os.strerror(number or errno.EROFS)}); choose another folder"
    if isinstance(error, OSError) and "requested and" in said and "written" in said:  # NumPy's words for a full disk
        return f"{place}: no room is left there; make some and give the command once more"
    return None


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
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UserError(f"{path}: not valid JSON ({error})") from None


def with_checksum(value: dict[str, Any]) -> dict[str, Any]:
    """The same with a checksum of all of it, for files that vouch for others and have nobody to vouch for them."""
    return {**value, CHECKSUM: _checksum(value)}


def check_checksum(value: Any, path: Path) -> Any:
    """What `with_checksum` was given. A file that was changed is named; one from before has no checksum."""
    if not isinstance(value, dict) or CHECKSUM not in value:
        return value
    rest = {key: part for key, part in value.items() if key != CHECKSUM}
    if _checksum(rest) != value[CHECKSUM]:
        raise UserError(f"{path}: damaged (it is not what was written); make it again")
    return rest


def _checksum(value: dict[str, Any]) -> str:
    plain = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()


def cache_folder() -> Path:
    """Where rendered pictures and features are kept between runs: $GROUNDLING_CACHE, or the user's cache folder."""
    own = os.environ.get("GROUNDLING_CACHE")
    if own:
        return Path(own).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "groundling"
