"""groundling evaluate: vectors of anybody."""

from pathlib import Path

import commands
import numpy as np
import pytest
from commands import call

own_ground = commands.own_ground  # each test in a folder of its own


def test_vectors_of_anybody_by_hand(own_ground: Path) -> None:
    """Dot products of three pictures (columns) with four captions, and their owners:

    c0 2 0 1 (owner 0, rank 1), c1 0 2 1 (owner 2, rank 2), c2 2 4 3 (owner 1, rank 1), c3 6 2 4 (owner 1, rank 3).
    p0's best own caption has 2, a tie with c2 and less than c3: rank 3. p1's has 4: rank 1. p2's has 1, a tie with c0
    and less than c2 and c3: rank 4. Ties count against the model.
    """
    np.save(own_ground / "P.npy", np.array([[2, 0], [0, 2], [1, 1]], dtype=np.float32))
    np.save(own_ground / "C.npy", np.array([[1, 0], [0, 1], [1, 2], [3, 1]], dtype=np.float32))
    np.save(own_ground / "O.npy", np.array([0, 2, 1, 1]))
    arguments = ["evaluate", "--vectors", "P.npy", "C.npy", "--owners", "O.npy"]
    third = pytest.approx(100 / 3)
    assert call(*arguments, "--json").json == {
        "text_to_image": {"R@1": 50, "R@5": 100, "R@10": 100, "median": 1.5, "mean": 1.75},
        "image_to_text": {"R@1": third, "R@5": 100, "R@10": 100, "median": 3, "mean": pytest.approx(8 / 3)},
        "rsum": pytest.approx(450 + 100 / 3),
        "mR": pytest.approx((450 + 100 / 3) / 6),
        "pictures": 3,
        "captions": 4,
    }
    table = call(*arguments).out
    for number in ("50.0", "33.3", "100.0", "80.6"):
        assert number in table
    assert sorted(path.name for path in own_ground.iterdir()) == ["C.npy", "O.npy", "P.npy"]
