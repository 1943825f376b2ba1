"""What `--store milvus:URI` names: where a Milvus is, and how a collection there is kept.

Behind the address of a server may stand settings: `http://HOST:19530?replicas=2&consistency=Bounded&partitions=64`.
"""

from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from pydantic import ValidationError

from groundling.errors import UserError, did_you_mean
from groundling.search.manifest import StoreFacts, place_from
from groundling.search.store import own_name

TOKEN = "MILVUS_TOKEN"  # noqa: S105  # the name of the variable, not a token
SCHEMES = ("http", "https", "tcp")
SETTINGS = {
    "replicas": "copies of the collection in the memory of query nodes",
    "consistency": "Strong, Bounded, Session or Eventually",
    "partitions": "parts that folders, or languages of captions, are spread over",
}


def address_of(uri: str) -> str:
    """A server's address without the settings behind it; a file as it is.

    >>> address_of("http://host:19530?replicas=2"), address_of("photos.db")
    ('http://host:19530', 'photos.db')
    """
    return uri.partition("?")[0] if "://" in uri else uri


def _is_address(uri: str) -> bool:
    parts = urlsplit(uri)
    try:
        return parts.scheme == "unix" or (parts.scheme in SCHEMES and bool(parts.hostname) and parts.port != 0)
    except ValueError:  # the port is no number
        return False


def facts(uri: str, folder: Path, fingerprint: str) -> StoreFacts:
    """Where the vectors of an index in `folder` go: a collection that no other index and no other model has."""
    if "@" in uri:
        raise UserError(f"--store milvus: write no password into the address, set {TOKEN} instead")
    values: dict[str, object] = {"name": "milvus", "collection": own_name(folder, fingerprint), "layout": 2}
    place = Path(uri).expanduser() if uri else folder / "milvus.db"
    if place.suffix != ".db" if "://" not in uri else not _is_address(uri):
        raise UserError(f'--store milvus:{uri}: a server is "http://HOST:19530", a local file ends in ".db"')
    if "://" not in uri:
        return StoreFacts.model_validate({**values, "uri": place_from(folder, place)})
    address, _, behind = uri.partition("?")
    given = dict(parse_qsl(behind, keep_blank_values=True))
    for name in given:
        if name not in SETTINGS:
            known = ", ".join(f"{one} ({about})" for one, about in SETTINGS.items())
            raise UserError(f'--store milvus: "{name}" is none of {known}{did_you_mean(name, SETTINGS)}')
    if "consistency" in given:
        given["consistency"] = given["consistency"].capitalize()
    try:
        return StoreFacts.model_validate({**values, "uri": address, **given})
    except ValidationError as error:
        wrong = error.errors()[0]
        name = str(wrong["loc"][0])
        raise UserError(f'--store milvus: {name}="{given.get(name)}" is not right: {SETTINGS[name]}') from None
