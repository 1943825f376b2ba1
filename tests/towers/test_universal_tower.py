"""Universal words and the towers over them: a map for each language, one vector for a caption whatever is beside."""

import pytest
import torch
from torch import Tensor

from groundling.towers.two_layers import TwoLayerPictureTower
from groundling.towers.universal import ParallelTower, UniversalTower, UniversalWords, average

BOUNDS = [1, 4, 7]  # two languages of three rows
IDS = torch.tensor([[2, 3, 1, 2], [5, 6, 0, 0], [3, 0, 0, 0], [4, 6, 5, 0]], dtype=torch.int32)
LENGTHS = torch.tensor([4, 2, 1, 3])
BY_LANGUAGE = torch.tensor([[0, 2], [1, 3]])


def made(kind: type[UniversalTower] | type[ParallelTower]) -> UniversalTower | ParallelTower:
    torch.manual_seed(0)
    return kind(UniversalWords(BOUNDS, 3, 5, None), 5, 6, 4)


@pytest.mark.parametrize("training", [True, False])
def test_each_row_goes_through_the_map_of_its_language(training: bool) -> None:
    words = made(UniversalTower).words.train(training)
    found = words(IDS)
    for caption, length in enumerate(LENGTHS.tolist()):
        for place in range(length):
            row = int(IDS[caption, place])
            expected = words.universal[0 if row < 4 else 1](words.table[row])
            assert torch.allclose(found[caption, place], expected, atol=1e-6)
    assert (found[IDS == 0] == 0).all()
    assert words.languages(IDS[:, 0]).tolist() == [0, 1, 0, 1]


def test_gradients_are_the_same_whether_the_whole_table_is_mapped_or_some_rows() -> None:
    words = made(UniversalTower).words
    weight = torch.randn(4, 4, 5)
    whole = torch.autograd.grad((words.train()(IDS) * weight).sum(), list(words.parameters()))
    some = torch.autograd.grad((words.eval()(IDS) * weight).sum(), list(words.parameters()))
    assert all(torch.allclose(one, other, atol=1e-5) for one, other in zip(whole, some, strict=True))
    frozen = torch.autograd.grad((words.train()(IDS, frozen=True) * weight).sum(), words.table, allow_unused=True)
    assert frozen == (None,)


@pytest.mark.parametrize("kind", [UniversalTower, ParallelTower])
def test_padding_and_neighbours_do_not_matter(kind) -> None:  # type: ignore[no-untyped-def]
    tower = made(kind).eval()
    together = tower(IDS, LENGTHS)
    assert torch.allclose(together.norm(dim=1), torch.ones(4))
    for caption, length in enumerate(LENGTHS.tolist()):
        alone = tower(IDS[[caption], :length], LENGTHS[[caption]])
        assert torch.allclose(alone[0], together[caption], atol=1e-6)
    order = torch.tensor([3, 0, 2, 1])
    assert torch.allclose(tower(IDS[order], LENGTHS[order]), together[order], atol=1e-6)


@pytest.mark.parametrize("kind", [UniversalTower, ParallelTower])
def test_reading_by_language_is_reading_mixed(kind) -> None:  # type: ignore[no-untyped-def]
    tower = made(kind).eval()
    averages, vectors = tower.read(IDS[BY_LANGUAGE], LENGTHS[BY_LANGUAGE])
    assert torch.allclose(vectors, tower(IDS, LENGTHS)[BY_LANGUAGE], atol=1e-6)
    words = tower.words(IDS)
    for language in range(2):
        for place in range(2):
            row = int(BY_LANGUAGE[language, place])
            mean = words[row, : LENGTHS[row]].mean(dim=0)
            assert torch.allclose(averages[language, place], mean, atol=1e-6)


def test_branches_of_a_parallel_tower_share_nothing() -> None:
    """A loss of the second language's captions moves no weight of the first."""
    tower = made(ParallelTower)
    _, vectors = tower.read(IDS[BY_LANGUAGE], LENGTHS[BY_LANGUAGE])
    names = [name for name, _ in tower.named_parameters()]
    weight = torch.randn(2, 4)
    gradients = torch.autograd.grad((vectors[1] * weight).sum(), list(tower.parameters()))
    for name, gradient in zip(names, gradients, strict=True):
        if ".0." in name:
            assert (gradient == 0).all(), name
        elif "table" in name:
            assert (gradient[:4] == 0).all()
            assert (gradient[4:] != 0).any()
        else:
            assert (gradient != 0).any(), name


def test_pretrained_vectors_are_the_start_and_are_not_saved_twice() -> None:
    start = torch.randn(7, 3)
    words = UniversalWords(BOUNDS, 3, 5, start)
    assert torch.equal(words.table, start)
    with torch.no_grad():
        words.table.add_(1)
    assert words.start is not None
    assert torch.equal(words.start, start)
    assert "start" not in words.state_dict()


def test_the_mean_of_real_words_by_hand() -> None:
    words = torch.tensor([[[1.0, 2.0], [3.0, 4.0], [100.0, 100.0]]])
    assert average(words, torch.tensor([2])).tolist() == [[2.0, 3.0]]


def test_the_picture_tower_is_its_formula() -> None:
    torch.manual_seed(0)
    tower = TwoLayerPictureTower(6, 8, 3, dropout=0.5)
    features = torch.randn(5, 6)
    hidden = tower.project(features)
    normal = (hidden - hidden.mean(0)) / (hidden.var(0, unbiased=False) + 1e-5).sqrt()

    def end(values: Tensor) -> Tensor:
        return torch.nn.functional.normalize(tower.narrow(values), dim=1)

    tower.dropout.p = 0.0
    assert torch.allclose(tower(features), end(normal.clamp(min=0)), atol=1e-5)
    tower.eval()
    one = tower(features)
    assert torch.allclose(one[:2], tower(features[:2]), atol=1e-6)  # outside training a picture stands for itself
