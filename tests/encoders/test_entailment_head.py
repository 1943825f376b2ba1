"""The entailment head against a twin written from its description, and what switching to evaluation does to it."""

import torch
from torch import Tensor
from torch.nn.functional import normalize

from groundling.corpus.entailment import LABELS
from groundling.encoders.entailment import CLASSES, EntailmentHead
from groundling.objectives.entailment import entailment_loss


def filled(dimensions: int, hidden: int = 5) -> EntailmentHead:
    torch.manual_seed(3)
    head = EntailmentHead(dimensions, hidden)
    with torch.no_grad():
        for module in head.modules():
            if isinstance(module, torch.nn.BatchNorm1d):
                assert module.running_mean is not None and module.running_var is not None
                module.running_mean.normal_()
                module.running_var.uniform_(0.5, 2)
                module.weight.normal_()
                module.bias.normal_()
    return head


def slow(head: EntailmentHead, sentence: Tensor, picture: Tensor) -> list[float]:
    """One pair, in evaluation, number by number."""
    weights = {name: value.tolist() for name, value in head.state_dict().items()}
    h = [x / sum(y * y for y in sentence.tolist()) ** 0.5 for x in sentence.tolist()]
    p = [x / sum(y * y for y in picture.tolist()) ** 0.5 for x in picture.tolist()]
    pairs = list(zip(h, p, strict=True))
    joined = [*h, *p, *(abs(a - b) for a, b in pairs), *(a * b for a, b in pairs)]

    def normed(values: list[float], name: str) -> list[float]:
        parts = (weights[f"layers.{name}.{key}"] for key in ("running_mean", "running_var", "weight", "bias"))
        return [(x - m) / (v + 1e-5) ** 0.5 * w + b for x, m, v, w, b in zip(values, *parts, strict=True)]

    def layer(values: list[float], name: str) -> list[float]:
        rows, bias = weights[f"layers.{name}.weight"], weights[f"layers.{name}.bias"]
        return [sum(w * x for w, x in zip(row, values, strict=True)) + b for row, b in zip(rows, bias, strict=True)]

    values = layer(normed(joined, "0"), "2")
    values = layer([max(0.0, x) for x in values], "4")
    return layer(normed([max(0.0, x) for x in values], "6"), "8")


def test_the_head_is_what_the_thesis_describes() -> None:
    head = filled(4).eval()
    sentences, pictures = torch.randn(6, 4), torch.randn(6, 4)
    expected = torch.tensor([slow(head, s, p) for s, p in zip(sentences, pictures, strict=True)])
    assert torch.allclose(head(sentences, pictures), expected, atol=1e-5)


def test_its_sizes_are_the_published_ones() -> None:
    shapes = [tuple(parameter.shape) for parameter in EntailmentHead(512).parameters() if parameter.ndim == 2]
    assert shapes == [(128, 2048), (128, 128), (3, 128)]
    assert len(LABELS) == CLASSES
    assert {module.p for module in EntailmentHead(8).modules() if isinstance(module, torch.nn.Dropout)} == {0.1}


def test_lengths_of_vectors_do_not_matter() -> None:
    head = filled(4).eval()
    sentences, pictures = torch.randn(5, 4), torch.randn(5, 4)
    assert torch.allclose(head(sentences, pictures), head(7 * sentences, normalize(pictures, dim=1)), atol=1e-5)


def test_evaluation_switches_all_dropout_off_and_looks_at_no_other_row() -> None:
    head = filled(4)
    sentences, pictures = torch.randn(8, 4), torch.randn(8, 4)
    head.train()
    assert not torch.equal(head(sentences, pictures), head(sentences, pictures))
    head.eval()
    together = head(sentences, pictures)
    assert torch.equal(together, head(sentences, pictures))
    assert torch.allclose(together[2:3], head(sentences[2:3], pictures[2:3]), atol=1e-6)


def test_gradients_reach_both_vectors() -> None:
    head = filled(3).eval()
    sentences, pictures = (torch.randn(4, 3, requires_grad=True) for _ in range(2))
    loss = entailment_loss(head(sentences, pictures), torch.tensor([0, 1, 2, 1]))
    loss.backward()
    assert sentences.grad is not None and sentences.grad.abs().sum() > 0
    assert pictures.grad is not None and pictures.grad.abs().sum() > 0


def test_the_loss_by_hand() -> None:
    logits = torch.tensor([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    expected = (torch.tensor(3.0).log() - torch.tensor(1 / (torch.e**2 + 2)).log()) / 2
    assert torch.allclose(entailment_loss(logits, torch.tensor([1, 2])), expected)
