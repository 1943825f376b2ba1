import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from groundling.cli import main
from groundling.errors import UserError
from groundling.evaluation.compare import compare
from groundling.files import write_json
from groundling.run import Run


def make_run(
    folder: Path, text_to_image: list[int], image_to_text: list[int], owners: list[int], code: str = "en"
) -> Run:
    folder.mkdir()
    arrays = {"text_to_image": text_to_image, "image_to_text": image_to_text, "owners": owners}
    write_json(folder / "evaluation.json", {})
    save_file({f"{code}.{name}": np.array(values) for name, values in arrays.items()}, folder / "ranks.safetensors")
    return Run(folder)


def test_differences_by_hand(tmp_path: Path) -> None:
    """Four captions of two pictures, and a third picture without captions, which is no query."""
    base = make_run(tmp_path / "a", [1, 12, 30, 11], [1, 20, 0], [0, 0, 1, 1])
    run = make_run(tmp_path / "b", [1, 10, 10, 11], [1, 10, 0], [0, 0, 1, 1])
    found = compare(run, base, samples=2000).languages["en"]
    words, pictures = found["text_to_image"], found["image_to_text"]
    assert (words.baseline, words.run, words.difference) == (25, 75, 50)
    assert words.low == words.high == 50  # both pictures gain one of two captions: every draw says the same
    assert (pictures.baseline, pictures.run, pictures.difference) == (50, 100, 50)
    assert (pictures.low, pictures.high) == (0, 100)
    assert words.p == pytest.approx(0.5, abs=0.05)  # two coins, both the same way: 2 of 4


def test_a_run_against_itself_differs_by_nothing(tmp_path: Path) -> None:
    draw = np.random.default_rng(0).integers(1, 40, 60).tolist()
    run = make_run(tmp_path / "a", draw, draw[:30], [row // 2 for row in range(60)])
    for found in compare(run, run, samples=500).languages["en"].values():
        assert found.difference == found.low == found.high == 0
        assert found.p == 1


def test_a_clear_gain_is_told_from_chance(tmp_path: Path) -> None:
    owners = list(range(200))
    base = make_run(tmp_path / "a", [50] * 200, [50] * 200, owners)
    run = make_run(tmp_path / "b", [1] * 40 + [50] * 160, [50] * 200, owners)
    found = compare(run, base, samples=2000).languages["en"]
    assert found["text_to_image"].low > 10
    assert found["text_to_image"].p < 0.001
    assert found["image_to_text"].p == 1


def test_runs_that_cannot_be_compared_are_named(tmp_path: Path) -> None:
    one = make_run(tmp_path / "a", [1, 2], [1, 2], [0, 1])
    with pytest.raises(UserError, match="not tested on the same en captions"):
        compare(one, make_run(tmp_path / "b", [1, 2], [1, 2], [1, 0]))
    with pytest.raises(UserError, match="not tested on the same en captions"):
        compare(one, make_run(tmp_path / "c", [1, 2], [1, 2, 0], [0, 1]))
    with pytest.raises(UserError, match="no language in common"):
        compare(one, make_run(tmp_path / "d", [1, 2], [1, 2], [0, 1], code="de"))
    with pytest.raises(UserError, match=r"evaluate it first: groundling evaluate .*nothing"):
        compare(one, Run(tmp_path / "nothing"))
    (tmp_path / "a" / "ranks.safetensors").write_bytes(b"rubbish")
    with pytest.raises(UserError, match=r"ranks\.safetensors: damaged"):
        compare(one, one)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, ranks in (("a", [1, 12]), ("b", [1, 1])):
        make_run(tmp_path / name, ranks, ranks, [0, 1])
    arguments = ["compare", str(tmp_path / "a"), str(tmp_path / "b"), "--samples", "100"]
    with pytest.raises(SystemExit) as stopped:
        main([*arguments, "--json"])
    assert stopped.value.code == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["languages"]["en"]["text_to_image"]["difference"] == 50
    with pytest.raises(SystemExit):
        main(arguments)
    assert "50.0" in capsys.readouterr().out
    with pytest.raises(SystemExit) as stopped:
        main(arguments[:2])
    assert stopped.value.code == 2
    assert "at least two models" in capsys.readouterr().err
