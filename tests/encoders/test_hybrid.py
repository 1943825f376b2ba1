"""Hybrid words: maps for some languages, plain rows for others, tokens that all share; and how tokens are chosen."""

import pytest
import torch

from groundling.encoders.text.hybrid import HybridWords
from groundling.encoders.text.latent import LatentVocabulary, whitened
from groundling.words import starting_vectors

BOUNDS = [1, 4, 6]  # rows 1–3 and 4–5, then two tokens: rows 6 and 7
IDS = torch.tensor([[2, 7, 1], [5, 6, 0], [7, 0, 0]], dtype=torch.int32)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("mapped", [(True, True), (False, True), (True, False), (False, False)])
def test_every_row_comes_from_its_place(mapped: tuple[bool, bool], training: bool) -> None:
    torch.manual_seed(0)
    start, latent = torch.randn(6, 3), torch.randn(2, 4)
    words = HybridWords(BOUNDS, 3, 4, 2, mapped, start, latent).train(training)
    found = words(IDS)
    assert (found[IDS == 0] == 0).all()
    for row in (6, 7):
        assert torch.equal(found[row == IDS], latent[row - 6].expand(int((row == IDS).sum()), 4))
    for number, row in ((0, 2), (0, 1), (1, 5)):
        if mapped[number]:
            linear = words.map(number)
            assert linear is not None
            expected = linear(start[row])
        else:
            assert words.latent is not None
            expected = words.latent[row - 1 if number == 0 else row - 4 + (0 if mapped[0] else 3)]
        assert torch.allclose(found[row == IDS], expected.expand(1, 4), atol=1e-6)
    assert torch.allclose(words.whole()[IDS.long()], found, atol=1e-6)
    sizes = {name: tuple(value.shape) for name, value in words.state_dict().items() if "universal" not in name}
    rows = [size for size, has_map in zip((3, 2), mapped, strict=True) if has_map]
    assert sizes == {
        **({"table": (1 + sum(rows), 3)} if rows else {}),
        "latent": (5 - sum(rows) + 2, 4),
    }


def test_frozen_tables_leave_the_maps_to_learn() -> None:
    words = HybridWords(BOUNDS, 3, 4, 2)
    parameters = list(words.parameters())
    gradients = torch.autograd.grad(words(IDS, frozen=True).square().sum(), parameters, allow_unused=True)
    learned = {name for (name, _), value in zip(words.named_parameters(), gradients, strict=True) if value is not None}
    assert learned == {f"universal.{number}.{part}" for number in (0, 1) for part in ("weight", "bias")}


@pytest.mark.parametrize("mapped", [(True, True), (False, True), (False, False)])
def test_a_gpu_that_maps_whole_tables_has_the_gradients_of_a_cpu_that_maps_what_is_asked_for(
    mapped: tuple[bool, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.manual_seed(0)
    words = HybridWords(BOUNDS, 3, 4, 2, mapped).double()
    ids = torch.tensor([[2, 2, 7], [0, 1, 7]])  # none of the second language

    def gradients() -> list[torch.Tensor]:
        weights = torch.arange(24, dtype=torch.float64).reshape(2, 3, 4)
        return list(torch.autograd.grad((words(ids).square() * weights).sum(), list(words.parameters())))

    asked = gradients()
    monkeypatch.setattr(HybridWords, "on_gpu", staticmethod(lambda ids: True))
    for one, other in zip(asked, gradients(), strict=True):
        assert torch.allclose(one, other)


def vocabulary(exploration: float = 0.0, tokens: int = 6, best: int = 3) -> LatentVocabulary:
    torch.manual_seed(0)
    vectors = torch.randn(9, 5)
    return LatentVocabulary(vectors, [1, 5, 9], tokens, 4, exploration, best)


def scores(latent: LatentVocabulary, row: int) -> torch.Tensor:
    own = latent.maps[0 if row < 5 else 1]
    return latent.weight @ (own @ latent.vectors[row]) + latent.bias


def test_a_word_is_the_token_that_scores_best() -> None:
    latent = vocabulary()
    with torch.no_grad():
        latent.maps += 0.3 * torch.randn_like(latent.maps)
        latent.bias += 0.1 * torch.randn_like(latent.bias)
    rows = torch.tensor([1, 3, 4, 5, 8])
    best = [int(scores(latent, row).argmax()) for row in rows.tolist()]
    assert torch.allclose(latent(rows), latent.latent[best])
    assert latent.assignments()[rows].tolist() == best


def test_vectors_of_a_language_are_whitened_and_of_length_one() -> None:
    torch.manual_seed(0)
    plain = 3 + torch.randn(81, 5) * torch.tensor([30.0, 5.0, 1.0, 1.0, 0.2])  # row 0 is padding, then two languages
    found = whitened(plain, [1, 41, 81])
    for rows, own in ((found[1:41], plain[1:41]), (found[41:], plain[41:])):
        centred = (own - own.mean(dim=0)).double()
        values, directions = torch.linalg.eigh(centred.T @ centred)
        expected = centred @ directions @ torch.diag(values**-0.5) @ directions.T
        assert torch.allclose(rows.double(), expected / expected.norm(dim=1, keepdim=True), atol=1e-3)
    assert torch.equal(whitened(plain[:1], [1, 1, 1]), plain[:1] / plain[:1].norm())  # no words at all


def test_vectors_that_are_whitened_before_are_no_other_to_latent_tokens() -> None:
    """So `system.whiten` does not change which words share a token."""
    torch.manual_seed(0)
    plain = 3 + torch.randn(400, 5) * torch.tensor([30.0, 5.0, 1.0, 1.0, 0.2])
    before = torch.from_numpy(starting_vectors.whitened(plain.numpy()))
    assert not torch.allclose(before, plain, atol=1)
    assert torch.allclose(whitened(before, [0, 400]), whitened(plain, [0, 400]), atol=1e-4)


def test_scores_learn_as_if_the_word_were_the_mean_of_the_best() -> None:
    """The gradient of a mean weighted by the softmax of three scores, for scores; of the chosen token, for tokens."""
    latent = vocabulary()
    weight = torch.randn(1, 4)
    parameters = [latent.weight, latent.bias, latent.maps, latent.latent]
    found = torch.autograd.grad((latent(torch.tensor([6])) * weight).sum(), parameters)
    own = scores(latent, 6)
    best = own.topk(3).indices
    mean = own[best].softmax(dim=0) @ latent.latent.detach()[best]
    expected = torch.autograd.grad((mean * weight).sum(), parameters[:3])
    assert all(torch.allclose(one, other, atol=1e-6) for one, other in zip(found[:3], expected, strict=True))
    only = torch.zeros_like(latent.latent)
    only[best[0]] = weight[0]
    assert torch.equal(found[3], only)


def test_exploration_draws_among_the_best() -> None:
    latent = vocabulary(exploration=0.3)
    row = torch.tensor([7])
    best = scores(latent, 7).topk(3).indices.tolist()
    counts = dict.fromkeys(range(6), 0)
    torch.manual_seed(1)
    with torch.no_grad():
        for _ in range(3000):
            chosen = (latent(row) == latent.latent).all(dim=1).nonzero().item()
            counts[int(chosen)] += 1
    assert sum(counts[token] for token in best) == 3000
    assert counts[best[0]] / 3000 == pytest.approx(0.8, abs=0.03)  # .7 + .3 / 3
    assert counts[best[2]] / 3000 == pytest.approx(0.1, abs=0.03)
