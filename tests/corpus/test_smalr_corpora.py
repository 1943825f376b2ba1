"""The corpora of SMALR: what people wrote for Multi30K, and folders that their user has translated."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import make_world
from groundling.corpus import Corpus, catalogue, storage
from groundling.corpus.formats import multi30k
from groundling.errors import UserError


def test_a_corpus_that_was_made_is_found_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"smalr/multi30k: no such folder.* groundling corpus translate multi30k-four"):
        catalogue.load("smalr-multi30k", tmp_path)
    world = make_world().corpus
    storage.save(world, tmp_path / "smalr" / "multi30k")
    assert catalogue.load("smalr-multi30k", tmp_path).texts == world.texts


def test_four_languages_of_multi30k(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """English and German of task 2; French and Czech of task 1, marked as translations; as they were written."""
    asked = []

    def read(data: Path, task: int, **options: Any) -> Corpus:
        asked.append((task, options))
        codes = ["en", "de"] if task == 2 else ["en", "de", "fr", "cs"]
        return Corpus(
            name=f"task{task}",
            pictures=np.array(["a.jpg"]),
            splits=np.array(["train"]),
            owners=np.zeros(len(codes), dtype=np.int64),
            languages=np.array(codes),
            texts=[f"{code} {task}" for code in codes],
            origins=np.array(["human" if task == 2 or code == "en" else "translation" for code in codes]),
        )

    monkeypatch.setattr(multi30k, "read", read)
    found = catalogue.load("multi30k-four", tmp_path)
    assert asked == [(2, {"text": "raw"}), (1, {"text": "raw"})]
    assert found.name == "multi30k-four"
    written = dict(zip(found.languages.tolist(), zip(found.texts, found.origins.tolist(), strict=True), strict=True))
    assert written == {
        "en": ("en 2", "human"),
        "de": ("de 2", "human"),
        "fr": ("fr 1", "translation"),
        "cs": ("cs 1", "translation"),
    }
