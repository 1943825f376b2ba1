"""Weights kept in half precision: half the size on disk, computed with in full precision all the same.

Each large array becomes float16 with a cast behind it, which onnxruntime works out once, when it reads the graph.
"""

import numpy as np

SMALL = 1024  # numbers; biases and the like stay as they are
LARGEST = float(np.finfo(np.float16).max)


def halved(data: bytes) -> bytes:
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    model = onnx.load_from_string(data)
    casts = []
    for stored in model.graph.initializer:
        if stored.data_type != TensorProto.FLOAT or np.prod(stored.dims) < SMALL:
            continue
        values = numpy_helper.to_array(stored)
        if np.abs(values).max() > LARGEST:
            continue
        name = stored.name
        stored.CopyFrom(numpy_helper.from_array(values.astype(np.float16), f"{name}.half"))
        casts.append(helper.make_node("Cast", [f"{name}.half"], [name], to=TensorProto.FLOAT))
    nodes = [*casts, *model.graph.node]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())
