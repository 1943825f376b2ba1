"""What a decoding process shall make of a picture, as JSON: the name of a function, or of a class with plain values.

>>> from groundling.decoding.thumbnail import Thumbnail
>>> work_of(said(Thumbnail(20))) == Thumbnail(20)
True
"""

import importlib
import json
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any

Work = Callable[[bytes], Any]  # bytes of a file → array or bytes; raises PictureError


def said(work: Work | None) -> bytes:
    """A function of a module, or an object of a dataclass whose fields are numbers and texts, or a method of one;
    or a function with some arguments named (`partial`)."""
    if work is None:
        return b"null"
    if isinstance(work, partial) and not work.args:
        return json.dumps({"name": _name(work.func), "keywords": work.keywords}).encode()
    owner = getattr(work, "__self__", work)
    if not is_dataclass(owner):
        return json.dumps({"name": _name(work)}).encode()
    values = {field.name: getattr(owner, field.name) for field in fields(owner)}
    method = "__call__" if owner is work else work.__name__
    return json.dumps({"name": _name(type(owner)), "values": values, "method": method}).encode()


def _name(what: Any) -> list[str]:
    name: str = what.__qualname__
    if "." in name:  # found again by its module and its name, nowhere else
        raise TypeError(f"{name}: pictures are decoded by functions and classes of a module")
    return [what.__module__, name]


def work_of(message: bytes) -> Work | None:
    """What was said, found by its name."""
    order = json.loads(message)
    if order is None:
        return None
    module, name = order["name"]
    found: Any = getattr(importlib.import_module(module), name)
    if "values" not in order:
        return partial(found, **order["keywords"]) if order.get("keywords") else found
    owner = found(**order["values"])
    return owner if order["method"] == "__call__" else getattr(owner, order["method"])
