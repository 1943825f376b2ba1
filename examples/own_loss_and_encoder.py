"""A loss and a text encoder of your own, found by name: docs/tutorials/add-a-system.md. Half a minute on one core."""

import itertools
import tempfile
from pathlib import Path
from typing import ClassVar

from PIL import Image
from torch import Tensor, nn
from torch.nn.functional import normalize, softplus

import groundling
from groundling.encoders.padding import average
from groundling.encoders.text import TEXT_ENCODERS, EncoderSettings, TextEncoder
from groundling.objectives import Objective, register


@register
class Logistic(Objective):
    """Σ log(1 + e^(k · (s(wrong) − s(matching)))) / k over all wrong pairs, in both directions."""

    name: ClassVar = "logistic"
    paper: ClassVar = "an example"
    k: float = 20.0

    def __call__(self, scores: Tensor, positives: Tensor | None = None, step: Tensor | None = None) -> Tensor:
        matching = scores.diagonal()  # against itself it adds a constant
        costs = softplus(self.k * (scores - matching[:, None])) + softplus(self.k * (scores - matching))
        return (costs if positives is None else costs.masked_fill(positives, 0)).sum() / self.k


@TEXT_ENCODERS.register("mean_of_words")
class MeanOfWords(TextEncoder):
    """Word vectors → their mean → one linear layer → unit vector."""

    def __init__(self, tokeniser, dimensions: int, settings: EncoderSettings) -> None:
        super().__init__(tokeniser)
        self.words, self.project = nn.Embedding(tokeniser.size, 64), nn.Linear(64, dimensions)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        return normalize(self.project(average(self.words(ids.long()), lengths)).float(), dim=-1)


def main(folder: Path) -> None:
    rows, colours, sizes = [], ("red", "green", "blue", "yellow", "black", "white"), {"small": 20, "large": 50}
    for colour, size, split in itertools.product(colours, sizes, ("train", "dev", "test")):
        picture, name = Image.new("RGB", (64, 64), "grey"), f"{size}-{colour}-{split}.png"
        picture.paste(colour, (len(split), 5, len(split) + sizes[size], 5 + sizes[size]))
        picture.save(folder / name)
        rows.append({"picture": name, "language": "en", "text": f"a {size} {colour} square", "split": split})
    system = {"name": "vse", "dimensions": 64, "text": "mean_of_words", "objective": {"name": "logistic", "k": 10}}
    training = {"maximum_steps": 200, "validate_every": 50, "batch_size": 12, "learning_rate": 0.01}
    settings = {"features": {"size": 64}, "text": {"minimum_count": 1}, "training": training}
    run = groundling.train(corpus=groundling.Corpus.of(rows, folder), system=system, out=folder / "run", **settings)
    print(f"Text→image R@1: {groundling.evaluate(run).value('en', 'text_to_image.R@1'):.0f} %, of 12 pictures")


if __name__ == "__main__":
    main(Path(tempfile.mkdtemp(prefix="groundling-")))
