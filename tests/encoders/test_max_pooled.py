"""The largest state over the words, from both ends: against a slow twin, and whatever padding stands beside."""

import sized
import torch

from groundling.encoders.text.max_pooled import MaxPooledEncoder, MaxPooledSettings


def test_it_is_the_largest_state_of_both_directions_without_padding() -> None:
    torch.manual_seed(0)
    encoder = MaxPooledEncoder(sized.words(9), 7, MaxPooledSettings(word_dimensions=4)).eval()
    ids = torch.tensor([[1, 2, 3, 4], [5, 6, 0, 0], [7, 0, 0, 0]])
    lengths = torch.tensor([4, 2, 1])
    with torch.no_grad():
        found = encoder(ids, lengths)
        longer = encoder(torch.cat([ids, torch.full((3, 5), 8)], dim=1), lengths)
        for row, size in enumerate(lengths.tolist()):
            words = encoder.words(ids[row, :size])[None]
            onward = encoder.sentence.onward(words)[0][0]
            back = encoder.sentence.back(words.flip(1))[0][0]
            largest = torch.cat([onward.max(dim=0).values, back.max(dim=0).values])
            assert torch.allclose(found[row], largest / largest.norm(), atol=1e-6)
    assert torch.allclose(found, longer, atol=1e-6)


def test_order_matters_and_every_word_is_reached() -> None:
    torch.manual_seed(0)
    encoder = MaxPooledEncoder(sized.words(9), 8, MaxPooledSettings(word_dimensions=4))
    length = torch.tensor([3])
    one, other = encoder(torch.tensor([[1, 2, 3]]), length), encoder(torch.tensor([[3, 2, 1]]), length)
    assert not torch.allclose(one, other, atol=1e-3)
    one.square().mul(torch.arange(8)).sum().backward()
    assert encoder.words.weight.grad is not None
    assert encoder.words.weight.grad.abs().sum(dim=1)[1:4].min() > 0
    assert encoder.words.weight.grad.abs().sum(dim=1)[4:].max() == 0
