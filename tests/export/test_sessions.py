"""A graph may be whole and break only when it runs: with words that it has no row for, or with damaged numbers."""

from pathlib import Path

import numpy as np
import pytest

from groundling.errors import UserError
from groundling.export.sessions import Session

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")


def test_a_graph_that_breaks_when_it_runs_is_one_sentence(tmp_path: Path) -> None:
    from onnx import TensorProto, helper, numpy_helper

    from groundling.checksums import sha256
    from groundling.export.manifest import GraphFile

    table = numpy_helper.from_array(np.eye(3, dtype=np.float32), "table")
    rows = helper.make_tensor_value_info("rows", TensorProto.INT64, ["n"])
    found = helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["n", 3])
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "rows"], ["vectors"])], "g", [rows], [found], [table]
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (tmp_path / "text.onnx").write_bytes(made.SerializeToString())
    inputs, outputs = {"rows": ["n"]}, {"vectors": ["n", 3]}
    stored = GraphFile.model_validate(
        {
            "name": "text.onnx",
            "sha256": sha256(tmp_path / "text.onnx"),
            "opset": 17,
            "inputs": inputs,
            "outputs": outputs,
        }
    )
    session = Session(tmp_path, stored)
    np.testing.assert_array_equal(session(rows=np.array([2], dtype=np.int64)), [[0, 0, 1]])
    with pytest.raises(UserError, match=r"text\.onnx: does not run .* export the model again") as raised:
        session(rows=np.array([7], dtype=np.int64))
    assert "\n" not in str(raised.value)
