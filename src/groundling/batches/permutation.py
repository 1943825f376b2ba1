"""A shuffled order of n items that is computed where it is needed and never stored.

A small Feistel network permutes the next power of four; places outside the range are walked through again until they
fall inside ("cycle walking", Black and Rogaway 2002). The order of 10 billion caption pairs costs no memory, and the
place in it is one number, which makes resuming exact.
"""

import numpy as np
import numpy.typing as npt

ROUNDS = 4


def shuffled(places: npt.NDArray[np.int64], items: int, key: list[int]) -> npt.NDArray[np.int64]:
    """Which items stand at these places of the order that `key` (seed, epoch, …) names."""
    half = np.uint64(max(1, ((items - 1).bit_length() + 1) // 2))
    mask = np.uint64((1 << int(half)) - 1)
    round_keys = np.random.SeedSequence(key).generate_state(ROUNDS, np.uint64).astype(np.uint64)
    result = places.astype(np.uint64)
    outside = np.arange(len(result))
    while len(outside):
        moved = _feistel(result[outside], round_keys, half, mask)
        result[outside] = moved
        outside = outside[moved >= items]
    return result.astype(np.int64)


def _feistel(
    values: npt.NDArray[np.uint64], round_keys: npt.NDArray[np.uint64], half: np.uint64, mask: np.uint64
) -> npt.NDArray[np.uint64]:
    left, right = values >> half, values & mask
    for round_key in round_keys:
        left, right = right, left ^ (_mix(right + round_key) & mask)
    return (left << half) | right


def _mix(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """An avalanche: every input bit reaches every output bit (the finaliser of SplitMix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
