"""Connections to a Milvus, and to which one.

An index that somebody else made may name any address, and any file. Only one that the user has named, with --store or
in $MILVUS_URI, is ever connected to, or a file inside the folder of the index; and nobody else gets the token.
"""

import logging
import os
from pathlib import Path
from typing import Any

from groundling.errors import UserError
from groundling.hub import first_line
from groundling.search import milvus_address
from groundling.search.manifest import StoreFacts
from groundling.search.milvus_address import TOKEN, address_of

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


def connect(folder: Path, store: StoreFacts) -> Any:
    try:
        from pymilvus import MilvusClient
    except ImportError:
        raise UserError("this index is in a Milvus: pip install 'groundling[milvus]'") from None
    uri, token = _address(str(store.uri), folder), ""
    if "://" in uri:
        _check_allowed(uri, folder)
        token = os.environ.get(TOKEN, "")
    else:
        if not Path(uri).is_relative_to(folder.resolve()) or not uri.endswith(".db"):
            _check_allowed(uri, folder)
        Path(uri).parent.mkdir(parents=True, exist_ok=True)
    for name in ("pymilvus", "pymilvus.milvus_client"):  # it would print pages of what we say in a sentence
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        return MilvusClient(uri, token=token)
    except Exception as error:  # gRPC, Milvus Lite and the file system have each their own
        alone = "" if "://" in uri else "; a file is for one process at a time"
        raise UserError(f"Milvus at {uri} cannot be reached ({first_line(error)}){alone}") from None
