"""One builder at a time: a lock that the system takes back by itself when a process dies, however it dies."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from groundling.errors import UserError


@contextmanager
def only_builder(folder: Path) -> Iterator[None]:
    """Holds the folder of an index; another build of it is refused meanwhile."""
    import fcntl

    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except (FileExistsError, NotADirectoryError):
        raise UserError(f"{folder}: is a file, where a folder is needed; choose another name") from None
    except OSError as error:
        raise UserError(f"{folder}: may not be written to ({error.strerror}); choose another folder") from None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UserError(f"{folder}: is being built by another process; wait until that has ended") from None
        yield
    finally:
        os.close(handle)
