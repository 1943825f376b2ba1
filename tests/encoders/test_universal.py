"""Universal words and the encoders over them: a map for each language, one vector for a caption whatever is beside."""

import pytest
import sized
import torch
from torch import Tensor

from groundling.encoders.padding import average
from groundling.encoders.picture.two_layers import TwoLayerPictureEncoder, TwoLayerSettings
from groundling.encoders.text.hybrid import HybridWords
from groundling.encoders.text.universal import ParallelEncoder, UniversalEncoder, UniversalSettings

IDS = torch.tensor([[2, 3, 1, 2], [5, 6, 0, 0], [3, 0, 0, 0], [4, 6, 5, 0]], dtype=torch.int32)
LENGTHS = torch.tensor([4, 2, 1, 3])
BY_LANGUAGE = torch.tensor([[0, 2], [1, 3]])


def made(kind: type[UniversalEncoder] | type[ParallelEncoder]) -> UniversalEncoder | ParallelEncoder:
    torch.manual_seed(0)
    settings = UniversalSettings(universal_dimensions=5, state_dimensions=6)
    return kind(sized.by_language([3, 3], 3), 4, settings)  # rows 1 to 3 and 4 to 6


@pytest.mark.parametrize("training", [True, False])
def test_each_row_goes_through_the_map_of_its_language(training: bool) -> None:
    words = made(UniversalEncoder).words.train(training)
    found = words(IDS)
    for caption, length in enumerate(LENGTHS.tolist()):
        for place in range(length):
            row = int(IDS[caption, place])
            expected = words.universal[0 if row < 4 else 1](words.table[row])
            assert torch.allclose(found[caption, place], expected, atol=1e-6)
    assert (found[IDS == 0] == 0).all()
    assert words.languages(IDS[:, 0]).tolist() == [0, 1, 0, 1]


def test_gradients_are_the_same_whether_the_whole_table_is_mapped_or_some_rows() -> None:
    words = made(UniversalEncoder).words
    weight = torch.randn(4, 4, 5)
    whole = torch.autograd.grad((words.train()(IDS) * weight).sum(), list(words.parameters()))
    some = torch.autograd.grad((words.eval()(IDS) * weight).sum(), list(words.parameters()))
    assert all(torch.allclose(one, other, atol=1e-5) for one, other in zip(whole, some, strict=True))
    frozen = torch.autograd.grad((words.train()(IDS, frozen=True) * weight).sum(), words.table, allow_unused=True)
    assert frozen == (None,)


@pytest.mark.parametrize("kind", [UniversalEncoder, ParallelEncoder])
def test_padding_and_neighbours_do_not_matter(kind) -> None:  # type: ignore[no-untyped-def]
    encoder = made(kind).eval()
    together = encoder(IDS, LENGTHS)
    assert torch.allclose(together.norm(dim=1), torch.ones(4))
    for caption, length in enumerate(LENGTHS.tolist()):
        alone = encoder(IDS[[caption], :length], LENGTHS[[caption]])
        assert torch.allclose(alone[0], together[caption], atol=1e-6)
    order = torch.tensor([3, 0, 2, 1])
    assert torch.allclose(encoder(IDS[order], LENGTHS[order]), together[order], atol=1e-6)


@pytest.mark.parametrize("kind", [UniversalEncoder, ParallelEncoder])
def test_reading_by_language_is_reading_mixed(kind) -> None:  # type: ignore[no-untyped-def]
    encoder = made(kind).eval()
    averages, vectors = encoder.read(IDS[BY_LANGUAGE], LENGTHS[BY_LANGUAGE])
    assert torch.allclose(vectors, encoder(IDS, LENGTHS)[BY_LANGUAGE], atol=1e-6)
    words = encoder.words(IDS)
    for language in range(2):
        for place in range(2):
            row = int(BY_LANGUAGE[language, place])
            mean = words[row, : LENGTHS[row]].mean(dim=0)
            assert torch.allclose(averages[language, place], mean, atol=1e-6)


def test_branches_of_a_parallel_encoder_share_nothing() -> None:
    """A loss of the second language's captions moves no weight of the first."""
    encoder = made(ParallelEncoder)
    _, vectors = encoder.read(IDS[BY_LANGUAGE], LENGTHS[BY_LANGUAGE])
    names = [name for name, _ in encoder.named_parameters()]
    weight = torch.randn(2, 4)
    gradients = torch.autograd.grad((vectors[1] * weight).sum(), list(encoder.parameters()))
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
    words = HybridWords([1, 4, 7], 3, 5, start=start)
    assert torch.equal(words.table, start)
    with torch.no_grad():
        words.table.add_(1)
    assert words.start is not None
    assert torch.equal(words.start, start)
    assert "start" not in words.state_dict()


def test_the_mean_of_real_words_by_hand() -> None:
    words = torch.tensor([[[1.0, 2.0], [3.0, 4.0], [100.0, 100.0]]])
    assert average(words, torch.tensor([2])).tolist() == [[2.0, 3.0]]


def test_the_picture_encoder_is_its_formula() -> None:
    torch.manual_seed(0)
    encoder = TwoLayerPictureEncoder(6, 3, TwoLayerSettings(hidden=8, dropout=0.5))
    features = torch.randn(5, 6)
    hidden = encoder.project(features)
    normal = (hidden - hidden.mean(0)) / (hidden.var(0, unbiased=False) + 1e-5).sqrt()

    def end(values: Tensor) -> Tensor:
        return torch.nn.functional.normalize(encoder.narrow(values), dim=1)

    encoder.dropout.p = 0.0
    assert torch.allclose(encoder(features), end(normal.clamp(min=0)), atol=1e-5)
    encoder.eval()
    one = encoder(features)
    assert torch.allclose(one[:2], encoder(features[:2]), atol=1e-6)  # outside training a picture stands for itself
