"""What a decoding process is told to do: by name, with plain values, and nothing else."""

import json
from functools import partial

import pytest

from groundling.decoding.thumbnail import Thumbnail
from groundling.decoding.work import said, work_of
from groundling.vision.picture_cache import decode_small
from groundling.vision.preprocessing import Preprocessing, Upright

CUT = Preprocessing(24, resize=30, crops=2)


@pytest.mark.parametrize("work", [Thumbnail(20, or_png=True), Upright(8), CUT, decode_small, None])
def test_it_is_the_same_on_the_other_side(work: object) -> None:
    assert work_of(said(work)) == work  # type: ignore[arg-type]


def test_a_method_goes_with_its_object() -> None:
    again = work_of(said(CUT.pixels))
    assert getattr(again, "__self__", None) == CUT and getattr(again, "__name__", "") == "pixels"


def test_named_arguments_go_along() -> None:
    again = work_of(said(partial(decode_small, side=7)))
    assert isinstance(again, partial) and (again.func, again.keywords) == (decode_small, {"side": 7})


def test_it_is_plain_json() -> None:
    order = json.loads(said(Upright(8)))
    assert order == {
        "name": ["groundling.vision.preprocessing", "Upright"],
        "values": {"side": 8},
        "method": "__call__",
    }


def test_what_has_no_name_is_refused() -> None:
    with pytest.raises(TypeError, match="functions and classes of a module"):
        said(lambda data: data)
