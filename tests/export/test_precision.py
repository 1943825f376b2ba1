"""Weights in fewer bits: close to what they were, row by row or column by column, and small on disk."""

import numpy as np
import pytest

from groundling.export.precision import SMALL, in_steps, reduced

onnx = pytest.importorskip("onnx")


def slowly(values: np.ndarray) -> np.ndarray:
    """Row by row: the largest entry becomes ±127."""
    out = np.zeros_like(values)
    for row, line in enumerate(values):
        factor = np.abs(line).max() / 127
        for column, value in enumerate(line):
            out[row, column] = round(float(value / factor)) * factor if factor else 0
    return out


def test_rows_or_columns_whichever_is_closer() -> None:
    draw = np.random.default_rng(0)
    rows = (draw.standard_normal((9, 7)) * 10.0 ** draw.integers(-3, 3, (9, 1))).astype(np.float32)
    rows[4] = 0
    for values, expected in ((rows, slowly(rows)), (rows.T, slowly(rows).T)):
        steps, factors = in_steps(np.ascontiguousarray(values))
        assert steps.dtype == np.int8
        np.testing.assert_allclose(steps * factors, expected, rtol=1e-5, atol=1e-8)


def test_filters_have_a_factor_each() -> None:
    filters = np.random.default_rng(0).standard_normal((5, 3, 2, 2)).astype(np.float32)
    steps, factors = in_steps(filters)
    assert factors.shape == (5, 1, 1, 1)
    assert np.abs(steps * factors - filters).max() <= np.abs(filters).max() / 254 + 1e-6


@pytest.mark.parametrize(("precision", "share", "error"), [("half", 0.52, 2e-3), ("int8", 0.3, 3e-2)])
def test_a_graph_takes_less_room_and_gives_nearly_the_same(precision: str, share: float, error: float) -> None:
    runtime = pytest.importorskip("onnxruntime")
    draw = np.random.default_rng(0)
    weights = draw.standard_normal((64, 64)).astype(np.float32) / 8
    bias = draw.standard_normal(SMALL - 1).astype(np.float32)[:64]
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Gemm", ["x", "w", "b"], ["y"])],
        "one layer",
        [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [2, 64])],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [2, 64])],
        [onnx.numpy_helper.from_array(weights, "w"), onnx.numpy_helper.from_array(bias, "b")],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 20)], ir_version=10)
    whole = model.SerializeToString()
    small = reduced(whole, precision)
    assert len(small) < share * len(whole)
    assert reduced(whole, "float32") == whole
    x = draw.standard_normal((2, 64)).astype(np.float32)
    given = [runtime.InferenceSession(data).run(None, {"x": x})[0] for data in (whole, small)]
    assert 0 < np.abs(given[0] - given[1]).max() < error
