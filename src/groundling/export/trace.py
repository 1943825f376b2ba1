"""From a PyTorch module to the bytes of an ONNX graph. Needs the extra `onnx`."""

import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from groundling.errors import UserError
from groundling.export.manifest import Side

OPSET = 20
LARGEST = 2**31 - 1  # bytes that protobuf can hold
Examples = Mapping[str, tuple[Tensor, Sequence[str | None]]]  # by input, with the names of the sides that vary


@dataclass(frozen=True)
class Graph:
    data: bytes
    opset: int
    inputs: dict[str, list[Side]]
    outputs: dict[str, list[Side]]


def traced(module: nn.Module, inputs: Examples, output: str, output_side: str) -> Graph:
    """The graph of a module.

    Args:
        module: with one input for each of `inputs`, by name, and one output.
        inputs: an example of each, and the names of its sides that vary (None: as in the example).
        output, output_side: the name of the result and of its first side.
    """
    try:
        import onnx
        import onnxscript  # noqa: F401  # torch's exporter needs it, and says so in many lines
    except ImportError:
        raise UserError("exporting needs onnx and onnxscript: pip install 'groundling[onnx]'") from None
    sides = {side: torch.export.Dim(side, min=1) for _, named in inputs.values() for side in named if side}
    shapes = {
        name: {place: sides[side] for place, side in enumerate(named) if side} for name, (_, named) in inputs.items()
    }
    examples = {name: example for name, (example, _) in inputs.items()}
    with _quiet(), torch.no_grad():
        program = torch.onnx.export(
            module.eval(),
            (),
            kwargs=examples,
            dynamo=True,
            dynamic_shapes=shapes,
            input_names=list(inputs),
            output_names=[output],
            opset_version=OPSET,
            verbose=False,
        )
    if program is None:
        raise RuntimeError("the exporter gave nothing")
    model = _bare(program.model_proto)
    if model.ByteSize() > LARGEST:
        raise UserError("the graph is larger than the 2 GB that one ONNX file can hold, so that it cannot be exported")
    onnx.checker.check_model(model)
    return Graph(
        data=model.SerializeToString(),
        opset=next(entry.version for entry in model.opset_import if not entry.domain),
        inputs={name: _sides(example, named) for name, (example, named) in inputs.items()},
        outputs={output: [output_side, model.graph.output[0].type.tensor_type.shape.dim[1].dim_value]},
    )


def make_graph(module: nn.Module, inputs: Examples, side: str, what: str, output: str = "vectors") -> Graph:
    """The same; what a network that is not ours leads the exporter into is told in a sentence about `what`."""
    try:
        return traced(module, inputs, output, side)
    except UserError:
        raise
    except Exception as error:  # whatever a network that is not ours leads the exporter into
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise UserError(f"{what}: cannot be exported to ONNX ({reason[:200]})") from error


def _bare(model: Any) -> Any:
    """Without the exporter's notes on each node, which name files and lines of the machine it ran on."""
    del model.graph.value_info[:], model.graph.metadata_props[:], model.metadata_props[:]
    parts = (model.graph.node, model.graph.initializer, model.graph.input, model.graph.output)
    for part in (part for several in parts for part in several):
        part.doc_string = ""
        del part.metadata_props[:]
    return model


def _sides(example: Tensor, named: Sequence[str | None]) -> list[Side]:
    return [size if name is None else name for size, name in zip(example.shape, named, strict=True)]


@contextmanager
def _quiet() -> Iterator[None]:
    """The exporter warns of its own inner workings, which the user can do nothing about."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
