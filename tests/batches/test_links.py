"""Which words belong together, for every pair of captions that can be drawn."""

import numpy as np
import torch

from conftest import make_world
from groundling.batches import TrainingData
from groundling.batches.links import Links
from groundling.batches.translations import Rows, Translations
from groundling.encoders.tokenisers.words import WordTokeniser
from groundling.settings import TextSettings


def test_every_pair_gets_back_what_was_found_for_it() -> None:
    corpus = make_world(70).split("train").corpus
    tokeniser = WordTokeniser.build(corpus.texts, corpus.languages.tolist(), TextSettings(minimum_count=1))
    data = TrainingData.build(corpus, np.zeros((len(corpus.pictures), 0), np.float32), tokeniser, torch.device("cpu"))
    pairs = Translations(data.owners, data.languages, [data.codes.index("de")])
    ids = data.ids.numpy()
    asked: list[tuple[int, int]] = []

    def find(captions: Rows, partners: Rows) -> np.ndarray:
        """Anything that depends on the words of both."""
        asked.extend(zip(captions.tolist(), partners.tolist(), strict=True))
        found = (ids[captions][:, :, None] * 7 + ids[partners][:, None, :]) % 3 == 0
        return np.asarray(found & (ids[captions] > 0)[:, :, None] & (ids[partners] > 0)[:, None, :])

    links = Links(data, pairs, find)
    texts = {(corpus.texts[one], corpus.texts[two]) for one, two in asked}
    assert len(texts) == len(asked)  # each once
    draw = np.random.default_rng(0)
    for _ in range(5):
        places = draw.integers(0, len(pairs.captions), 16)
        captions, partners = pairs.captions[places], pairs.partners(places, draw.random(16))
        expected = find(captions, partners)
        for longest in (5, 3, 8):  # cut, or with more padding than there is
            found = links.matrix(torch.from_numpy(captions), torch.from_numpy(partners), longest)
            wide = np.zeros((16, longest, longest))
            least = min(longest, expected.shape[1])
            wide[:, :least, :least] = expected[:, :least, :least]
            assert np.array_equal(found.numpy(), wide)
