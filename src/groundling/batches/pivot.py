"""Pictures with one caption in each language (Gella et al. 2017), where the picture stands between the languages.

A pass goes through all pictures once, in an order of its own. Each time a picture comes, every language shows another
of its captions until all had their turn; then they are shuffled and begin anew. With five English and five German
captions to a picture, five passes use every caption once, and the pairs that meet change from round to round.
"""

import numpy as np

from groundling.batches.data import TrainingData
from groundling.batches.position import Position
from groundling.batches.sampler import Batch
from groundling.batches.stream import Rows, Stream
from groundling.errors import UserError


class PivotSampler(Position):
    """Batches of the kind "pivot": pictures, then for each language (in the order of `data.codes`) a caption of each.

    Pictures that lack a language are left out. Batch k is a pure function of the seed and k.
    """

    def __init__(self, data: TrainingData, batch_size: int, seed: int, pool: int = 64) -> None:
        self.data, self.seed = data, seed
        captions = np.zeros((len(data.codes), len(data.features)), dtype=np.int64)
        np.add.at(captions, (data.languages, data.owners), 1)
        self.pictures = np.flatnonzero((captions > 0).all(axis=0))
        if not len(self.pictures):
            raise UserError(
                f"no training picture has captions in all of {', '.join(data.codes)}: "
                "choose languages that share pictures with corpus.languages"
            )
        self.languages = [
            _Turns(np.flatnonzero(data.languages == number), data.owners, self.pictures, [seed, 1, number])
            for number in range(len(data.codes))
        ]
        self.captions_per_picture = float(captions[:, self.pictures].mean())  # in one language
        self.stream = Stream(len(self.pictures), batch_size, self._lengths, [seed, 0], pool)
        self.drawn = [0]
        self._chosen: tuple[int, Rows] = (-1, np.empty((0, 0), dtype=np.int64))

    def batch(self, step: int) -> Batch:
        """The next batch; `state` is the place between two of them."""
        number = self.drawn[0] // self.stream.per_epoch
        if self._chosen[0] != number:
            self._chosen = (number, np.stack([turns.captions(number) for turns in self.languages]))
        places = self.stream.batch(self.drawn[0])
        self.drawn[0] += 1
        captions = self._chosen[1][:, places]
        rows = np.concatenate([self.pictures[None, places], captions])
        return Batch("pivot", rows, int(self.data.lengths[captions].max()))

    def _lengths(self, places: Rows) -> Rows:
        """The longest caption that a picture shows in this pass."""
        longest: Rows = self.data.lengths[self._chosen[1][:, places]].max(axis=0)
        return longest

    def epoch(self) -> float:
        """How often the captions have been gone through, all languages together: five to a picture take five passes."""
        return self.drawn[0] / self.stream.per_epoch / self.captions_per_picture


class _Turns:
    """Which of its captions in one language each picture shows in which pass.

    Args:
        captions: the rows of this language.
        owners: the picture of each caption of any language.
        pictures: the pictures that matter; each has a caption here.
        key: names the random order (seed, language).
    """

    def __init__(self, captions: Rows, owners: Rows, pictures: Rows, key: list[int]) -> None:
        captions = captions[np.isin(owners[captions], pictures)]
        captions = captions[np.argsort(owners[captions], kind="stable")]
        _, starts, counts = np.unique(owners[captions], return_index=True, return_counts=True)
        self.key, self.pictures = key, len(pictures)
        # Pictures with equally many captions together: where they stand in `pictures`, and their captions [n, count].
        self.groups: list[tuple[Rows, Rows]] = []
        for count in np.unique(counts):
            places = np.flatnonzero(counts == count)
            self.groups.append((places, captions[starts[places, None] + np.arange(count)]))

    def captions(self, number: int) -> Rows:
        """One caption for each picture in the pass of this number."""
        chosen = np.empty(self.pictures, dtype=np.int64)
        for places, captions in self.groups:
            turn, place = divmod(number, captions.shape[1])
            random = np.random.default_rng([*self.key, captions.shape[1], turn]).random(captions.shape)
            chosen[places] = np.take_along_axis(captions, np.argsort(random, axis=1)[:, [place]], axis=1)[:, 0]
        return chosen
