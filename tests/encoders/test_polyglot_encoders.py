"""The encoders of our own system: against slow twins, and what training alone does."""

import pytest
import sized
import torch

from groundling.encoders.picture.standardised import StandardisedEncoder, StandardisedSettings
from groundling.encoders.text.projected_max import ProjectedMaxEncoder, ProjectedMaxSettings, masked_words
from groundling.text.vocabulary import UNKNOWN


def test_a_caption_is_its_largest_states_projected_whatever_padding_follows() -> None:
    torch.manual_seed(0)
    settings = ProjectedMaxSettings(word_dimensions=4, hidden=5)
    encoder = ProjectedMaxEncoder(sized.words(12), 7, settings).eval()
    ids, lengths = torch.tensor([[4, 5, 6, 7], [8, 9, 0, 0], [10, 0, 0, 0]]), torch.tensor([4, 2, 1])
    with torch.no_grad():
        found = encoder(ids, lengths)
        longer = encoder(torch.cat([ids, torch.full((3, 5), 11)], dim=1), lengths)
        for row, size in enumerate(lengths.tolist()):
            words = encoder.words(ids[row, :size])[None]
            onward = encoder.sentence.onward(words)[0][0]
            back = encoder.sentence.back(words.flip(1))[0][0]
            pooled = torch.cat([onward.max(dim=0).values, back.max(dim=0).values])
            vector = encoder.sentence.project(pooled)
            torch.testing.assert_close(found[row], vector / vector.norm(), atol=1e-6, rtol=0)
    torch.testing.assert_close(found, longer, atol=1e-6, rtol=0)


def test_known_words_are_masked_in_training_and_symbols_never() -> None:
    torch.manual_seed(0)
    ids = torch.tensor([[1, 7, 8, 9, 2, 0]]).expand(4000, -1)
    masked = masked_words(ids, 0.25)
    assert torch.equal(masked[:, [0, 4, 5]], ids[:, [0, 4, 5]])
    assert ((masked == ids) | (masked == UNKNOWN)).all()
    assert (masked[:, 1:4] == UNKNOWN).float().mean().item() == pytest.approx(0.25, abs=0.02)
    settings = ProjectedMaxSettings(word_dimensions=4, hidden=5, dropout=0.0, word_dropout=0.9)
    encoder, one = ProjectedMaxEncoder(sized.words(12), 7, settings), torch.tensor([[4, 5, 6]]).expand(20, -1)
    assert not torch.allclose(*encoder.train()(one, torch.full((20,), 3)).chunk(2))
    torch.testing.assert_close(*encoder.eval()(one, torch.full((20,), 3)).chunk(2))


def test_features_are_standardised_and_noise_is_for_training_alone() -> None:
    torch.manual_seed(0)
    features = torch.randn(200, 6) * torch.tensor([1e-9, 0.1, 1.0, 10.0, 100.0, 1000.0]) + 5
    encoder = StandardisedEncoder(6, 4, StandardisedSettings(dropout=0.0, noise=0.5))
    encoder.fit(features)
    encoder.eval()
    with torch.no_grad():
        deviation = features.std(dim=0, correction=0).clamp(min=1e-3)
        standard = (features - features.mean(dim=0)) / deviation
        vectors = encoder.project(standard)
        torch.testing.assert_close(encoder(features), vectors / vectors.norm(dim=1, keepdim=True), atol=1e-5, rtol=0)
        torch.testing.assert_close(encoder(features), encoder(features))
        encoder.train()
        assert not torch.allclose(encoder(features), encoder(features))
        encoder.noise = 0.0
        torch.testing.assert_close(encoder(features), encoder(features))
