"""Weights kept in fewer bits: smaller on disk, computed with in full precision all the same.

Each large array becomes float16, or whole numbers from −127 to 127 with a factor for each row or column, with the steps
that undo it behind it. onnxruntime works these out once, when it reads the graph: what is lost is lost in the weights
alone, and nothing becomes slower.
"""

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Precision = Literal["float32", "half", "int8"]
Array = npt.NDArray[np.float32]
SMALL = 1024  # numbers; biases and the like stay as they are
LARGEST = float(np.finfo(np.float16).max)
STEPS = 127


def reduced(data: bytes, precision: Precision) -> bytes:
    """A graph whose large arrays are kept in this precision."""
    if precision == "float32":
        return data
    import onnx

    replace = _halved if precision == "half" else _in_steps
    model = onnx.load_from_string(data)
    undoing: list[Any] = []
    arrays = list(model.graph.initializer)
    for stored in arrays:
        if stored.data_type == onnx.TensorProto.FLOAT and np.prod(stored.dims) >= SMALL:
            kept, nodes = replace(stored.name, onnx.numpy_helper.to_array(stored))
            if kept:
                stored.CopyFrom(kept[0])
                model.graph.initializer.extend(kept[1:])
                undoing += nodes
    nodes = [*undoing, *model.graph.node]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())


Kept = tuple[list[Any], list[Any]]  # arrays to keep in the place of one, and the nodes that make it of them


def _halved(name: str, values: Array) -> Kept:
    from onnx import TensorProto, helper, numpy_helper

    if np.abs(values).max() > LARGEST:
        return [], []
    half = numpy_helper.from_array(values.astype(np.float16), f"{name}.half")
    return [half], [helper.make_node("Cast", [half.name], [name], to=TensorProto.FLOAT)]


def _in_steps(name: str, values: Array) -> Kept:
    from onnx import TensorProto, helper, numpy_helper

    if not np.isfinite(values).all():
        return [], []
    steps, factors = in_steps(values)
    kept = [numpy_helper.from_array(steps, f"{name}.steps"), numpy_helper.from_array(factors, f"{name}.factors")]
    cast = helper.make_node("Cast", [kept[0].name], [f"{name}.whole"], to=TensorProto.FLOAT)
    return kept, [cast, helper.make_node("Mul", [f"{name}.whole", kept[1].name], [name])]


def in_steps(values: Array) -> tuple[npt.NDArray[np.int8], Array]:
    """Whole numbers and the factors that they are multiplied with: one for each row or one for each column of a
    matrix, whichever is closer; one for each filter of a convolution.

    >>> steps, factors = in_steps(np.array([[0.5, -1.0], [0.001, 0.002]], dtype=np.float32))
    >>> steps.tolist()
    [[64, -127], [64, 127]]
    """
    axes = [tuple(range(1, values.ndim))] + ([(0,)] if values.ndim == 2 else [])

    def along(axis: tuple[int, ...]) -> tuple[float, npt.NDArray[np.int8], Array]:
        factors = (np.abs(values).max(axis=axis, keepdims=True) / STEPS).astype(np.float32)
        steps = np.rint(values / np.where(factors > 0, factors, 1)).astype(np.int8)
        return float(np.square(steps * factors - values).sum()), steps, factors

    _, steps, factors = min((along(axis) for axis in axes), key=lambda found: found[0])
    return steps, factors
