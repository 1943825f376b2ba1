"""manifest.json of an exported model: what it is, how it was checked, and the checksums of the files beside it."""

import hashlib
from pathlib import Path
from typing import Literal

from pydantic import Field

from groundling.errors import UserError
from groundling.export.precision import Precision
from groundling.files import check_checksum, read_json
from groundling.settings import Settings, check

FORMAT = 1
FILE = "manifest.json"
KIND = "groundling-onnx"
Side = int | str  # of an input or output: a fixed size, or the name of one that varies


class ExportedFile(Settings):
    name: str = Field(pattern=r"^\w+\.(json|onnx)$")
    sha256: str


class GraphFile(ExportedFile):
    """A graph, and what goes in and comes out."""

    opset: int
    inputs: dict[str, list[Side]]
    outputs: dict[str, list[Side]]


class ReaderFiles(Settings):
    """One of those who read captions (see `model.Reader`): languages that a model was taught later have another."""

    languages: list[str] = Field(description="those that nobody else reads; none: all that are left")
    tokeniser: ExportedFile
    text: GraphFile


class PreprocessingSettings(Settings):
    """How a picture becomes pixels (see `vision.preprocessing.Preprocessing`); colours are normalised in the graph."""

    like: Literal["groundling", "transformers", "torchvision"] = Field(
        "groundling", description="whose arithmetic it is: resizing and cutting in one step, or one after the other"
    )

    size: int
    resize: int
    mirror: bool
    crops: Literal[1, 2, 10]
    stretch: bool
    resample: Literal["bicubic", "bilinear"]
    views: int = 1


class Agreement(Settings):
    """How far the graphs were from PyTorch when they were exported, over some captions and pictures drawn for it.

    `text`, `picture` and `backbone` are the largest differences of an entry of a unit vector, `verdict` of a
    probability; `cosine` is the smallest cosine of a vector with the one that PyTorch gave.
    """

    tolerance: float
    text: float
    picture: float
    backbone: float | None = None
    verdict: float | None = None
    cosine: float


class RecallKept(Settings):
    """Recall on the test split of a corpus, text to picture and back, over all languages: mean of R@1, 5 and 10.

    `pytorch` is the model's own, `exported` that of what was exported from it.
    """

    corpus: str
    pytorch: float
    exported: float


class Manifest(Settings):
    format: Literal[1]
    kind: Literal["groundling-onnx"]
    groundling: str
    source: Literal["run", "pretrained"] = Field("run", description="what it was exported from")
    corpus: str = Field("", description="what a run was trained on")
    recipe: str
    system: str
    similarity: str
    languages: list[str]
    dimensions: int = Field(ge=1, description="of the vectors of captions")
    picture_dimensions: int = Field(ge=1, description="the same, but where pictures are judged cell by cell")
    features: int = Field(ge=1, description="the length of a picture's features")
    backbone_name: str
    looking: PreprocessingSettings | None = Field(
        None, description="absent where the model was trained on an array of features"
    )
    fingerprint: str = Field(description="of the run; an index asks for the model that has it")
    text_fingerprint: str = Field("", description="of the run's text side; exports had none before")
    picture_fingerprint: str = Field("", description="of the run's picture side; exports had none before")
    weights: Precision
    readers: list[ReaderFiles] = Field(min_length=1)
    picture: GraphFile
    backbone: GraphFile | None = None
    # The entailment head; its file and this key are called so in all exports that there are.
    verdict: GraphFile | None = Field(None, description="for models that tell whether a sentence is true of a picture")
    accuracy: dict[str, float] = Field(
        {}, description="by language: of 100 test statements, how many the run judged right, where it was tested"
    )
    words_alone: dict[str, float] = Field(
        {}, description="by language: the same by the words of the statements, without a picture"
    )
    agreement: Agreement
    recall: RecallKept | None = Field(None, description="where a corpus was named, or that of the run was at hand")


def read(folder: Path) -> Manifest:
    """The manifest in a folder; one that holds no exported model is named."""
    path = folder / FILE
    if not path.is_file():
        raise UserError(f"{folder}: not an exported model (there is no {FILE}); make one with `groundling export`")
    values = check_checksum(read_json(path), path)
    if not isinstance(values, dict) or values.get("kind") != KIND:
        what = "an index" if isinstance(values, dict) and "entries" in values else "something else"
        raise UserError(f"{folder}: not an exported model ({FILE} is that of {what})")
    if values.get("format") != FORMAT:
        raise UserError(f"{path}: format {values.get('format')}, and this groundling reads {FORMAT}; export it again")
    return check(Manifest, values, str(path))


def read_verified(folder: Path, stored: ExportedFile) -> bytes:
    """A file that is exactly what was written."""
    path = folder / stored.name
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; the exported model is not whole, export it again") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    if hashlib.sha256(data).hexdigest() != stored.sha256:
        raise UserError(f"{path}: damaged (not the file that {FILE} describes); export the model again")
    return data
