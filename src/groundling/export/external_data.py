"""Whether an ONNX graph keeps tensors in other files: told from its bytes, read as protobuf and nothing else.

Ours never do, and a graph from elsewhere must not make a library open files of its choice. A search for the word
"location" can be evaded, for protobuf writes one length in many ways; so the messages are walked as the schema has
them (onnx.proto3), and whatever is not protobuf is refused.
"""

from collections.abc import Iterator
from typing import NamedTuple

# Message → field → the message in it. What leads to no tensor is left out.
SCHEMA: dict[str, dict[int, str]] = {
    "Model": {7: "Graph", 20: "Training", 25: "Function"},
    "Training": {1: "Graph", 2: "Graph"},
    "Graph": {1: "Node", 5: "Tensor", 15: "Sparse"},
    "Function": {7: "Node", 11: "Attribute"},
    "Node": {5: "Attribute"},
    "Attribute": {5: "Tensor", 6: "Graph", 10: "Tensor", 11: "Graph", 22: "Sparse", 23: "Sparse"},
    "Sparse": {1: "Tensor", 2: "Tensor"},
    "Tensor": {},
}
EXTERNAL_DATA, DATA_LOCATION = 13, 14  # of a tensor
DEEPEST = 100  # graphs within graphs
_VARINT, _EIGHT, _BYTES, _FOUR = 0, 1, 2, 5  # how a field is written


class NotProtobuf(Exception):
    pass


class Field(NamedTuple):
    number: int
    kind: int
    value: int
    start: int
    end: int


def has_external_data(model: bytes) -> bool:
    """Whether any tensor of an ONNX model lies in another file. Raises NotProtobuf."""
    view = memoryview(model)
    waiting = [("Model", 0, len(model), 0)]
    while waiting:
        message, start, end, depth = waiting.pop()
        if depth > DEEPEST:
            raise NotProtobuf
        for field in _fields(view, start, end):
            if message == "Tensor" and (
                field.number == EXTERNAL_DATA or (field.number == DATA_LOCATION and field.value)
            ):
                return True
            inner = SCHEMA[message].get(field.number)
            if inner is not None:
                if field.kind != _BYTES:
                    raise NotProtobuf
                waiting.append((inner, field.start, field.end, depth + 1))
    return False


def _fields(view: memoryview, place: int, end: int) -> Iterator[Field]:
    while place < end:
        key, place = _varint(view, place, end)
        number, kind = key >> 3, key & 7
        value, start = 0, place
        if kind == _VARINT:
            value, place = _varint(view, place, end)
        elif kind == _BYTES:
            length, start = _varint(view, place, end)
            place = start + length
        elif kind in (_EIGHT, _FOUR):
            place += 8 if kind == _EIGHT else 4
        else:
            raise NotProtobuf  # groups are in no ONNX file
        if place > end or not number:
            raise NotProtobuf
        yield Field(number, kind, value, start, place)


def _varint(view: memoryview, place: int, end: int) -> tuple[int, int]:
    """A number in up to ten bytes, also where fewer would do; and where it ends."""
    value = 0
    for shift in range(0, 70, 7):
        if place >= end:
            break
        byte = view[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & (2**64 - 1), place
    raise NotProtobuf
