"""Temperature scaling: by hand, against a grid, and what must not change."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from groundling.calibration import FEWEST, HIGHEST, fit_temperature, log_loss, probabilities, why_not


def drawn(sharper: float, seed: int = 0, count: int = 5000) -> tuple[np.ndarray, np.ndarray]:
    """Classes drawn from what honest logits say, and these logits made sharper."""
    draw = np.random.default_rng(seed)
    honest = draw.normal(0, 2, (count, 3))
    shares = np.exp(honest) / np.exp(honest).sum(axis=1, keepdims=True)
    classes = (draw.random(count)[:, None] > shares.cumsum(axis=1)).sum(axis=1).clip(max=2)
    return sharper * honest, classes


def test_two_logits_by_hand() -> None:
    # e² : e⁰ at temperature 1, and e¹ : e⁰ at 2
    assert probabilities([[2.0, 0.0]])[0, 0] == pytest.approx(1 / (1 + math.exp(-2)))
    assert probabilities([[2.0, 0.0]], 2.0)[0, 0] == pytest.approx(1 / (1 + math.exp(-1)))
    assert log_loss([[2.0, 0.0]], [1], 2.0) == pytest.approx(math.log(1 + math.e))
    # Logits say 4 : 0 each time and are right in three of four cases: 4/T must be ln 3.
    logits, classes = np.tile([4.0, 0.0], (FEWEST, 1)), np.arange(FEWEST) % 4 == 0
    assert fit_temperature(logits, classes) == pytest.approx(4 / math.log(3), rel=1e-12)
    assert probabilities(logits, fit_temperature(logits, classes))[0, 0] == pytest.approx(0.75)


@pytest.mark.parametrize("sharper", [0.2, 0.7, 1.0, 4.2, 30.0])
def test_no_temperature_of_a_grid_has_a_smaller_loss(sharper: float) -> None:
    logits, classes = drawn(sharper)
    fitted = fit_temperature(logits, classes)
    assert fitted == pytest.approx(sharper, rel=0.05)
    least = log_loss(logits, classes, fitted)
    assert all(log_loss(logits, classes, fitted * factor) > least for factor in (0.999, 1.001))
    assert all(log_loss(logits, classes, float(other)) >= least for other in np.geomspace(0.02, 90, 400))


def test_scaled_logits_have_a_scaled_temperature_and_the_same_probabilities() -> None:
    logits, classes = drawn(2.0, count=500)
    once, again = fit_temperature(logits, classes), fit_temperature(3 * logits + 7, classes)
    assert again == pytest.approx(3 * once, rel=1e-9)
    np.testing.assert_allclose(probabilities(logits, once), probabilities(3 * logits + 7, again), rtol=1e-5)


@settings(max_examples=200, deadline=None)
@given(
    arrays(np.float32, st.tuples(st.integers(1, 6), st.just(3)), elements=st.floats(-60, 60, width=32)),
    st.floats(0.01, 100),
)
def test_no_prediction_changes(logits: np.ndarray, temperature: float) -> None:
    found = probabilities(logits, temperature)
    assert (found.argmax(axis=1) == logits.argmax(axis=1)).all()
    assert (found >= 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-6)


def test_no_prediction_changes_where_rounding_makes_labels_equal() -> None:
    logits = np.array([[1.0, np.nextafter(np.float32(1), np.float32(2)), 0.0]], dtype=np.float32)
    for temperature in (1.0, 5.0, 100.0):
        assert probabilities(logits, temperature).argmax() == 1
    assert probabilities([[1.0, 1.0, 1.0]], 3.0).argmax() == 0  # equal they are, and the first is the answer


def test_the_order_of_labels_stays_what_it_was() -> None:
    logits, _ = drawn(3.0, count=50)
    assert (probabilities(logits).argsort(axis=1) == probabilities(logits, 4.0).argsort(axis=1)).all()


def test_where_nothing_can_be_told_it_is_1() -> None:
    logits, classes = drawn(5.0, count=FEWEST)
    assert fit_temperature(logits, classes) != 1
    assert fit_temperature(logits[:-1], classes[:-1]) == 1
    assert why_not(logits[:-1], classes[:-1]) == "fewer than 100 statements"
    assert fit_temperature(logits, np.zeros(FEWEST, dtype=int)) == 1
    assert why_not(logits, np.zeros(FEWEST, dtype=int)) == "statements of one label only"
    assert fit_temperature(logits, logits.argmax(axis=1)) == 1
    assert why_not(logits, logits.argmax(axis=1)) == "no prediction is wrong"
    assert why_not(logits, classes) is None
    with pytest.raises(ValueError, match="same statements"):
        fit_temperature(logits, classes[1:])


def test_a_model_that_is_worse_than_a_guess_gets_flat_probabilities() -> None:
    logits, classes = drawn(1.0, count=500)
    fitted = fit_temperature(-logits, classes)
    assert fitted == HIGHEST
    assert np.abs(probabilities(-logits, fitted) - 1 / 3).max() < 0.05


def test_large_logits_do_not_overflow() -> None:
    assert probabilities([[1e4, -1e4, 0.0]]).tolist() == [[1.0, 0.0, 0.0]]
    logits, classes = drawn(5000.0, count=300)
    assert math.isfinite(fit_temperature(logits, classes))
