import pytest
import sized
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

from groundling.encoders.picture.linear import LinearPictureEncoder
from groundling.encoders.text.bag import BagEncoder, BagSettings
from groundling.encoders.text.recurrent import RecurrentEncoder, RecurrentSettings

IDS = torch.tensor([[1, 5, 6, 2, 0, 0], [1, 7, 2, 0, 0, 0], [1, 4, 5, 6, 7, 2]])
LENGTHS = torch.tensor([4, 3, 6])


def text_encoders() -> list[nn.Module]:
    torch.manual_seed(0)
    return [recurrent(), bag(0.5).eval()]


def recurrent() -> RecurrentEncoder:
    return RecurrentEncoder(sized.words(9), 16, RecurrentSettings(word_dimensions=8))


def bag(dropout: float) -> BagEncoder:
    return BagEncoder(sized.ngrams(9), 16, BagSettings(word_dimensions=8, dropout=dropout))


@pytest.mark.parametrize("encoder", text_encoders(), ids=["recurrent", "bag"])
def test_padding_and_company_do_not_change_a_caption(encoder: nn.Module) -> None:
    together = encoder(IDS, LENGTHS)
    longer = encoder(torch.cat([IDS, torch.zeros(3, 20, dtype=torch.long)], dim=1), LENGTHS)
    alone = torch.cat([encoder(IDS[row : row + 1, : LENGTHS[row]], LENGTHS[row : row + 1]) for row in range(3)])
    order = torch.tensor([2, 0, 1])
    assert torch.allclose(together, longer, atol=1e-6)
    assert torch.allclose(together, alone, atol=1e-6)
    assert torch.allclose(together[order], encoder(IDS[order], LENGTHS[order]), atol=1e-6)
    assert torch.allclose(together.norm(dim=1), torch.ones(3))


def test_the_recurrent_encoder_is_the_packed_one() -> None:
    torch.manual_seed(0)
    encoder = recurrent()
    packed = pack_padded_sequence(encoder.words(IDS), LENGTHS, batch_first=True, enforce_sorted=False)
    _, last = encoder.recurrent(packed)
    assert torch.allclose(encoder(IDS, LENGTHS), nn.functional.normalize(last[0], dim=-1), atol=1e-6)


def test_the_bag_is_the_mean_of_its_pieces() -> None:
    torch.manual_seed(0)
    encoder = bag(0.0)
    mean = encoder.pieces.weight[torch.tensor([1, 7, 2])].mean(dim=0)
    assert torch.allclose(encoder(IDS, LENGTHS)[1], nn.functional.normalize(encoder.project(mean), dim=-1), atol=1e-6)


def test_pictures_do_not_depend_on_the_scale_of_their_features() -> None:
    encoder = LinearPictureEncoder(6, 4)
    features = torch.rand(3, 6)
    assert torch.allclose(encoder(features), encoder(7 * features), atol=1e-6)
    assert torch.allclose(encoder(features).norm(dim=1), torch.ones(3))
