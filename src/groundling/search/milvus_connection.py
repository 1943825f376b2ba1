"""Connections to a Milvus, and to which one.

An index that somebody else made may name any address, and any file. Only one that the user has named, with --store or
in $MILVUS_URI, is ever connected to, or a file inside the folder of the index; and nobody else gets the token.
"""

import importlib
import logging
import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from groundling.errors import UserError
from groundling.files import no_empty_folders
from groundling.search import milvus_address, milvus_file
from groundling.search.manifest import StoreFacts
from groundling.search.milvus_address import TOKEN, address_of
from groundling.search.store import Unavailable

ADDRESSES = "MILVUS_URI"  # the variable that names addresses, with commas between them

_named: set[str] = set()


def allow(store: str) -> None:
    """The user has named this address or file, as `milvus:URI`."""
    _named.add(_address(store.removeprefix("milvus:")))


def _address(uri: str, folder: Path = Path()) -> str:
    """An address without its settings; of a file, where it is whichever way it is written."""
    return address_of(uri) if "://" in uri else str((folder / Path(uri).expanduser()).resolve())


def _check_allowed(uri: str, folder: Path) -> None:
    others = (other.strip() for other in os.environ.get(ADDRESSES, "").split(",") if other.strip())
    if uri not in {*_named, *map(_address, others)}:
        raise UserError(
            f"{folder}: this index names a Milvus at {uri}, which you have not; if you know it, say so with "
            f"--store milvus:{uri} or {ADDRESSES}={uri}"
        )


def facts(uri: str, folder: Path, fingerprint: str) -> StoreFacts:
    """Where the vectors of an index in `folder` go, which the user has herewith named."""
    made = milvus_address.facts(uri, folder, fingerprint)
    allow(uri or str(folder / "milvus.db"))
    return made


@contextmanager
def connected(folder: Path, store: StoreFacts) -> Iterator[Any]:
    """A connection while it is needed. A file that was not there before is gone again where nothing came into it."""
    file = file_of(folder, store)
    if file is None or file.exists():
        with closing(connect(folder, store)) as client:
            yield client
        return
    with no_empty_folders(file):
        client = connect(folder, store)
        try:
            yield client
        finally:
            unused = not client.list_collections()
            client.close()
            if unused:
                milvus_file.remove(file)


def file_of(folder: Path, store: StoreFacts) -> Path | None:
    """Where the file of a Milvus Lite is; None for a server."""
    return Path(_address(str(store.uri), folder)) if store.for_one_process else None


def connect(folder: Path, store: StoreFacts) -> Any:
    try:
        importlib.import_module("pymilvus")
    except ImportError:
        raise UserError("this index is in a Milvus: pip install 'groundling[milvus]'") from None
    for name in ("pymilvus", "pymilvus.milvus_client"):  # it would print pages of what we say in a sentence
        logging.getLogger(name).setLevel(logging.CRITICAL)
    file = file_of(folder, store)
    if file is None:
        return _connect_to_server(folder, _address(str(store.uri)))
    if not file.is_relative_to(folder.resolve()) or file.suffix != ".db":
        _check_allowed(str(file), folder)
    return milvus_file.connect(file)


def _connect_to_server(folder: Path, uri: str) -> Any:
    from pymilvus import MilvusClient

    _check_allowed(uri, folder)
    token = os.environ.get(TOKEN, "")
    try:
        return MilvusClient(uri, token=token)
    except Exception as error:  # its own, gRPC's, and those of wrong addresses
        raise Unavailable(_not_let_in(uri, token) if _is_refusal(error) else _no_answer(uri)) from None


def _is_refusal(error: Exception) -> bool:
    """Whether there is a server that wants to know who asks; what the library says is the same as if there was none."""
    from grpc import RpcError, StatusCode

    cause = error.__cause__
    return isinstance(cause, RpcError) and cause.code() in (StatusCode.UNAUTHENTICATED, StatusCode.PERMISSION_DENIED)


def _not_let_in(uri: str, token: str) -> str:
    why = f"refuses the token in {TOKEN}; set it to" if token else f"wants a token; set {TOKEN} to"
    return f"Milvus at {uri} {why} USER:PASSWORD, or to the API key of a cloud"


def _no_answer(uri: str) -> str:
    return f"Milvus at {uri} does not answer; check that it runs and that the address is right, as http://HOST:19530"


def said(error: Exception) -> str:
    """What a server or its library says of a problem, in one line and without the names of classes around it."""
    details = getattr(error, "details", None)  # of gRPC
    text = str(details() if callable(details) else getattr(error, "message", error)).strip()
    return (text.splitlines() or [type(error).__name__])[0]
