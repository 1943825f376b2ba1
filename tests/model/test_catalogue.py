"""Short names of pretrained models, and what happens where there is no network."""

import re
from pathlib import Path
from typing import Any

import pytest

from groundling.errors import UserError
from groundling.model import load
from groundling.model.catalogue import CATALOGUE, NAMES, known_model


def test_names_are_one_each_and_say_what_is_known() -> None:
    assert len(NAMES) == len(CATALOGUE)
    for known in CATALOGUE:
        assert "/" not in known.name and re.fullmatch(r"[\w.-]+/[\w.-]+", known.pictures)
        assert known.size and known.licence and known.languages  # "not known" where nobody says
        assert (known.library is None) == bool(known.refused)


def test_a_short_name_stands_for_both_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def download(name: str, *more: Any) -> Path:
        asked.append(name)
        raise UserError("no network")

    monkeypatch.setattr("groundling.hub.download", download)
    for name in ("clip-multilingual", "siglip2-base"):
        with pytest.raises(UserError, match="no network"):
            load(name)
    assert asked == ["sentence-transformers/clip-ViT-B-32", "google/siglip2-base-patch16-224"]


def test_names_that_cannot_be_loaded_say_why() -> None:
    for name, words in {
        "jina-clip-v2": "code that comes with a model is never run",
        "nllb-clip": "language of every text",
        "siglip2-bas": r'did you mean "siglip2-base"',
    }.items():
        with pytest.raises(UserError, match=words):
            load(name)
    assert known_model("m-clip").text == "M-CLIP/XLM-Roberta-Large-Vit-B-32"


def test_a_folder_goes_before_a_short_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("transformers")
    monkeypatch.chdir(tmp_path)
    Path("siglip2-base").mkdir()
    with pytest.raises(UserError, match="no model is there"):
        load("siglip2-base")


def test_without_a_network_there_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    huggingface_hub = pytest.importorskip("huggingface_hub")

    def offline(*arguments: Any, **more: Any) -> str:
        raise OSError("the hub is not there\nand a lot more")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", offline)
    for text in (None, "owner/text"):
        with pytest.raises(UserError) as said:
            load("owner/model", text)
        assert str(said.value) == (
            'pretrained model "owner/model" is not a folder and cannot be had from the hub (the hub is not there); '
            "give the folder of a copy"
        )


def test_weights_of_pytorch_are_fetched_only_where_there_are_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from groundling.model.snapshot import model_folder

    asked: list[bool] = []

    def download(name: str, files: tuple[str, ...], *more: Any) -> Path:
        assert "README.md" in files  # which says under which licence it is
        asked.append("pytorch_model.bin" in files)
        return tmp_path

    monkeypatch.setattr("groundling.hub.download", download)
    (tmp_path / "config.json").write_text("{}")
    model_folder("owner/model")
    assert asked == [False, True]
    (tmp_path / "model.safetensors").write_bytes(b"")
    model_folder("owner/model")
    assert asked == [False, True, False]
