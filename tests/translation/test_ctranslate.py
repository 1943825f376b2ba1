"""A tiny random Marian, converted for CTranslate2: the same translations as those of transformers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from groundling.errors import UserError
from groundling.translation import by_name
from groundling.translation.ctranslate import CTranslator
from groundling.translation.memory import Remembered
from groundling.translation.model import Translator
from tiny_networks import save_marian

ctranslate2 = pytest.importorskip("ctranslate2")
transformers = pytest.importorskip("transformers")

TEXTS = ["a dog runs", "a cat", "cat sleeps a dog", "runs"]
COPIED = ["tokenizer.json", "tokenizer_config.json"]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_marian(tmp_path_factory.mktemp("marian"))


@pytest.fixture(scope="module")
def converted(original: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ct2") / "model"
    ctranslate2.converters.TransformersConverter(str(original), copy_files=COPIED).convert(str(folder))
    return folder


@pytest.fixture(autouse=True)
def short_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundling.translation.model.LONGEST", 12)


@pytest.mark.parametrize("target", ["fr", "cs"])
def test_translations_are_those_of_transformers(
    original: Path, converted: Path, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Word by word; beams of several are ended by rules of each program's own."""
    monkeypatch.setattr("groundling.translation.model.BEAMS", 1)
    fast = CTranslator(str(converted)).translate(TEXTS, "en", target)
    assert fast == Translator(str(original)).translate(TEXTS, "en", target)
    assert len(set(fast)) > 1
    assert CTranslator(str(converted)).translate([], "en", target) == []


def test_a_converted_model_is_found_by_folder_and_by_name(converted: Path, tmp_path: Path) -> None:
    expected = CTranslator(str(converted)).translate(["a dog runs"], "en", "fr")
    (tmp_path / "opus-en-fr").symlink_to(converted)
    for name in (str(converted), f"ctranslate2:{converted}", f"ctranslate2:{tmp_path}/opus-{{from}}-{{to}}"):
        found = by_name(name)
        assert isinstance(found, Remembered)
        assert isinstance(found.source, CTranslator)
        assert found.translate(["a dog runs"], "en", "fr") == expected


def test_a_language_that_goes_first_is_told_and_taken_off_again() -> None:
    """M2M-100 and NLLB write the language before the translation, and CTranslate2 gives it back with it."""

    class Tokeniser:
        src_lang = ""
        words = ("eng_Latn", "fra_Latn", "a", "un")

        def get_vocab(self) -> dict[str, int]:
            return {word: row for row, word in enumerate(self.words)}

        def __call__(self, texts: Sequence[str], **options: Any) -> dict[str, list[list[int]]]:
            return {"input_ids": [[self.words.index(self.src_lang), self.words.index(text)] for text in texts]}

        def convert_ids_to_tokens(self, ids: Any) -> Any:
            return self.words[ids] if isinstance(ids, int) else [self.words[row] for row in ids]

        def convert_tokens_to_ids(self, tokens: Sequence[str]) -> list[int]:
            return [self.words.index(token) for token in tokens]

        def batch_decode(self, rows: Sequence[Sequence[int]], skip_special_tokens: bool) -> list[str]:
            return [" ".join(self.words[row] for row in rows_of) for rows_of in rows]

    class Engine:
        def translate_batch(self, tokens: Any, target_prefix: Any, **options: Any) -> list[Any]:
            assert tokens == [["eng_Latn", "a"]]

            class Answer:
                hypotheses = ([*target_prefix[0], "un"],)

            return [Answer()]

    translator = CTranslator("nllb")
    translator._loaded["nllb"] = translator_parts(Tokeniser(), Engine())
    assert translator.translate(["a"], "en", "fr") == ["un"]


def translator_parts(tokeniser: Any, engine: Any) -> Any:
    from groundling.translation.model import Loaded

    return Loaded(tokeniser, engine)


def test_what_is_no_converted_model_is_refused(tmp_path: Path, original: Path, converted: Path) -> None:
    with pytest.raises(UserError, match="no CTranslate2 model is there"):
        CTranslator(str(original)).translate(["a"], "en", "fr")
    bare = tmp_path / "bare"
    bare.mkdir()
    for path in converted.iterdir():
        if path.name not in COPIED:
            (bare / path.name).write_bytes(path.read_bytes())
    with pytest.raises(UserError, match="--copy_files"):
        CTranslator(str(bare)).translate(["a"], "en", "fr")
    broken = tmp_path / "broken"
    broken.mkdir()
    for path in converted.iterdir():
        (broken / path.name).write_bytes(path.read_bytes()[: 40 if path.name == "model.bin" else None])
    with pytest.raises(UserError, match="not a CTranslate2 model that can be used"):
        CTranslator(str(broken)).translate(["a"], "en", "fr")


def test_other_weights_are_remembered_apart(converted: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for path in converted.iterdir():
        (other / path.name).write_bytes(path.read_bytes())
    assert CTranslator(str(other)).key("en", "fr") == CTranslator(str(converted)).key("en", "fr")
    data = bytearray((other / "model.bin").read_bytes())
    data[-1] ^= 1
    (other / "model.bin").write_bytes(bytes(data))
    assert CTranslator(str(other)).key("en", "fr") != CTranslator(str(converted)).key("en", "fr")
