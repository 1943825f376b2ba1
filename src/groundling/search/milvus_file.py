"""What is particular about a Milvus that is a file: Milvus Lite, a server inside this very process."""

import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from typing import Any

from groundling.errors import UserError
from groundling.files import disk_problem, make_folder, problems_of
from groundling.hub import first_line

WARNING = b"WARNING clustering "  # how FAISS begins it


def connect(path: Path) -> Any:
    from pymilvus import MilvusClient

    try:
        from milvus_lite.exceptions import DataDirLockedError
    except ImportError:
        raise UserError(f"{path}: a Milvus file needs Milvus Lite: pip install 'groundling[milvus]'") from None

    with problems_of(path.parent):
        make_folder(path.parent)
    log, told = logging.getLogger("milvus_lite.server_manager"), _Told()
    log.addHandler(told)
    log.propagate = False  # it prints a page of why, and raises that it failed
    try:
        return MilvusClient(str(path), token="")
    except Exception as error:
        why = told.errors[0] if told.errors else error
        if isinstance(why, DataDirLockedError):
            raise UserError(
                f"{path}: is open in another process, and a Milvus file is for one at a time; wait until that has ended"
            ) from None
        raise UserError(
            disk_problem(why, path)
            or f"{path}: cannot be opened as a Milvus file ({first_line(why)}); choose another name"
        ) from None
    finally:
        log.removeHandler(told)
        log.propagate = True


class _Told(logging.Handler):
    """The errors that are logged."""

    def __init__(self) -> None:
        super().__init__()
        self.errors: list[Exception] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and isinstance(record.exc_info[1], Exception):
            self.errors.append(record.exc_info[1])


def remove(path: Path) -> None:
    """Stop the server of a file that nobody needs, and remove it."""
    from milvus_lite.server_manager import server_manager_instance

    server_manager_instance.release_server(str(path))
    shutil.rmtree(path, ignore_errors=True)


@contextmanager
def no_warnings_of_few_points() -> Iterator[None]:
    """FAISS writes to standard error when a list has few rows. Milvus Lite makes lists of every partition by itself, a
    folder of some pictures is one, and a user can do nothing about it; the recall that is measured tells what matters.

    What Python writes there, as progress, is not held up; what libraries write otherwise comes after.
    """
    sys.stderr.flush()
    with tempfile.TemporaryFile() as held, os.fdopen(os.dup(2), "w", buffering=1, encoding="utf-8") as real:
        os.dup2(held.fileno(), 2)
        try:
            with redirect_stderr(real):
                yield
        finally:
            os.dup2(real.fileno(), 2)
            held.seek(0)
            for line in held:
                if not line.startswith(WARNING):
                    os.write(2, line)
