"""Tensors in other files are found wherever a graph can have them, however their lengths are written."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx")

import onnx
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from groundling.export.external_data import NotProtobuf, has_external_data


def tensor(elsewhere: bool, name: str = "w") -> Any:
    made = numpy_helper.from_array(np.arange(6, dtype=np.float32), name)
    if elsewhere:
        made.data_location = TensorProto.EXTERNAL
        entry = made.external_data.add()
        entry.key, entry.value = "location", "../../etc/passwd"
    return made


def graph(nodes: list, initialisers: list = (), sparse: list = ()) -> Any:
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    made = helper.make_graph(nodes, "g", [], [out], list(initialisers))
    made.sparse_initializer.extend(sparse)
    return made


def constant(elsewhere: bool) -> Any:
    return helper.make_node("Constant", [], ["y"], value=tensor(elsewhere))


def sparse(elsewhere: bool) -> Any:
    made = onnx.SparseTensorProto()
    made.values.CopyFrom(tensor(elsewhere))
    return made


def models(elsewhere: bool) -> dict[str, Any]:
    inner = graph([constant(elsewhere)])
    branch = helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=graph([constant(False)]))
    several = helper.make_node("Odd", [], ["y"], values=[tensor(False), tensor(elsewhere)])
    made = {
        "initialiser": helper.make_model(graph([], [tensor(False, "a"), tensor(elsewhere)])),
        "constant": helper.make_model(graph([constant(elsewhere)])),
        "branch": helper.make_model(graph([branch])),
        "list": helper.make_model(graph([several])),
        "sparse": helper.make_model(graph([], sparse=[sparse(elsewhere)])),
    }
    function = helper.make_function("own", "f", [], ["y"], [constant(elsewhere)], [helper.make_opsetid("", 18)])
    made["function"] = helper.make_model(graph([]), functions=[function])
    training = helper.make_model(graph([]))
    training.training_info.add().algorithm.CopyFrom(graph([constant(elsewhere)]))
    made["training"] = training
    return made


@pytest.mark.parametrize("where", models(False))
def test_wherever_a_tensor_can_be(where: str) -> None:
    assert not has_external_data(models(False)[where].SerializeToString())
    assert has_external_data(models(True)[where].SerializeToString())


def long_varint(value: int, size: int = 5) -> bytes:
    """A number in more bytes than it needs, which protobuf reads all the same."""
    parts = [(value >> (7 * place)) & 0x7F for place in range(size)]
    return bytes([*(part | 0x80 for part in parts[:-1]), parts[-1]])


def test_lengths_that_are_written_in_another_way_do_not_hide_it() -> None:
    """The key "location" behind a length of five bytes: what a search for its usual bytes passed."""
    entry = b"\x0a" + long_varint(8) + b"location" + b"\x12" + long_varint(6) + b"secret"
    external = long_varint(13 << 3 | 2) + long_varint(len(entry)) + entry
    body = b"\x08\x06\x10\x01\x42\x01w" + external + b"\x70\x01"
    initialiser = long_varint(5 << 3 | 2) + long_varint(len(body)) + body
    model = b"\x08\x08" + long_varint(7 << 3 | 2, 3) + long_varint(len(initialiser)) + initialiser
    parsed = onnx.ModelProto.FromString(model)
    assert parsed.graph.initializer[0].external_data[0].key == "location"
    assert b"\x0a\x08location" not in model
    assert has_external_data(model)


def test_what_is_no_protobuf_is_refused() -> None:
    whole = models(False)["branch"].SerializeToString()
    for data in (b"not a graph", b"\xff" * 30, b"\x3a\xff\xff\xff\xff\x0f", whole + b"\x0b", b"\x3b"):
        with pytest.raises(NotProtobuf):
            has_external_data(data)
    deep = b""
    for _ in range(300):  # graphs within graphs
        attribute = b"\x32" + long_varint(len(deep)) + deep
        node = b"\x2a" + long_varint(len(attribute)) + attribute
        deep = b"\x0a" + long_varint(len(node)) + node
    with pytest.raises(NotProtobuf):
        has_external_data(b"\x3a" + long_varint(len(deep)) + deep)


@settings(deadline=None, max_examples=300)
@given(st.binary(max_size=200), st.integers(0, 5000), st.sampled_from(sorted(models(False))))
def test_any_bytes_are_answered(noise: bytes, place: int, where: str) -> None:
    whole = models(True)[where].SerializeToString()
    place %= len(whole)
    for data in (noise, whole[:place] + noise + whole[place:], whole[:place] + noise):
        try:
            found = has_external_data(data)
        except NotProtobuf:
            continue
        try:
            parsed = onnx.ModelProto.FromString(data)
        except Exception:  # noqa: S112 (only what onnx reads must be told apart)
            continue
        if any(one.data_location for one in parsed.graph.initializer):
            assert found


def test_a_graph_of_ours_has_none(tmp_path: Path) -> None:
    made = helper.make_model(graph([], [numpy_helper.from_array(np.zeros(10**6, dtype=np.float32), "w")]))
    assert not has_external_data(made.SerializeToString())
