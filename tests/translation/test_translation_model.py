"""A tiny random Marian in a folder: loaded, asked, remembered, killed and asked again."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import groundling
from groundling.errors import UserError
from groundling.translation import by_name, memory
from groundling.translation.languages import token_for
from groundling.translation.memory import Remembered
from groundling.translation.model import Translator
from tiny_networks import save_marian

transformers = pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_marian(tmp_path_factory.mktemp("marian"))


@pytest.fixture(autouse=True)
def short_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundling.translation.model.LONGEST", 12)


def test_texts_are_translated_as_transformers_does_whatever_their_company(folder: Path) -> None:
    translator = Translator(str(folder))
    texts = ["a dog runs", "a cat", "cat sleeps a dog"]
    together = translator.translate(texts, "en", "fr")
    assert together == [translator.translate([text], "en", "fr")[0] for text in texts]
    assert len(set(together)) > 1
    tokeniser = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    asked = tokeniser(">>fra<< a dog runs", return_tensors="pt")["input_ids"]
    made = model.generate(input_ids=asked, num_beams=4, do_sample=False, max_length=None, max_new_tokens=12)
    assert together[0] == tokeniser.decode(made[0], skip_special_tokens=True)


def test_the_language_is_told_in_the_model_s_own_way() -> None:
    assert token_for("fr", {"__fr__", "fr"}) == "__fr__"
    assert token_for("zh", {"zho_Hans"}) == "zho_Hans"
    assert token_for("cs", {"cs_CZ", "fr_XX"}) == "cs_CZ"
    assert token_for("fr", {"cs_CZ", "fr_XX"}) == "fr_XX"
    assert token_for("fr", {">>fra<<"}) == ">>fra<<"
    assert token_for("fr", {"fr", "fra"}) is None  # words, not languages


def test_a_target_language_changes_what_is_asked(folder: Path) -> None:
    translator = Translator(str(folder))
    tokeniser = translator.load("en", "fr").tokeniser
    assert translator.addressed(tokeniser, "en", "fr") == (">>fra<< ", {})
    assert translator.addressed(tokeniser, "en", "cs") == (">>ces<< ", {})
    assert translator.key("en", "fr") != translator.key("en", "cs")


class ManyToMany:
    """The part of NLLB's and M2M-100's tokenisers that languages are told by."""

    def __init__(self, *tokens: str) -> None:
        self.src_lang, self.tokens = "", {token: row for row, token in enumerate(tokens)}

    def get_vocab(self) -> dict[str, int]:
        return self.tokens


def test_models_of_many_languages_are_told_both() -> None:
    nllb, m2m = ManyToMany("eng_Latn", "fra_Latn"), ManyToMany("__en__", "__fr__")
    translator = Translator("many")
    assert translator.addressed(nllb, "en", "fr") == ("", {"forced_bos_token_id": 1})
    assert nllb.src_lang == "eng_Latn"
    assert translator.addressed(m2m, "fr", "en") == ("", {"forced_bos_token_id": 0})
    assert m2m.src_lang == "fr"
    with pytest.raises(UserError, match='does not know the language "cs"'):
        translator.addressed(nllb, "en", "cs")


def test_the_tokenisers_of_nllb_and_m2m_are_understood() -> None:
    pieces = {piece: row for row, piece in enumerate(["<s>", "<pad>", "</s>", "<unk>", "▁", "a", "d", "g", "o"])}
    nllb = transformers.NllbTokenizer(vocab=pieces, merges=[])
    _, options = Translator("nllb").addressed(nllb, "cs", "fr")
    assert nllb.convert_ids_to_tokens(options["forced_bos_token_id"]) == "fra_Latn"
    assert nllb.convert_ids_to_tokens(nllb("a dog")["input_ids"])[0] == "ces_Latn"
    m2m = ManyToMany("a", "dog")
    m2m.lang_token_to_id = {"__en__": 7, "__fr__": 8}  # type: ignore[attr-defined]
    assert Translator("m2m").addressed(m2m, "en", "fr") == ("", {"forced_bos_token_id": 8})


def test_a_model_of_one_pair_refuses_another() -> None:
    class Pair:
        source_lang, target_lang = "en", "de"

        def get_vocab(self) -> dict[str, int]:
            return {}

    assert Translator("pair").addressed(Pair(), "en", "de") == ("", {})
    with pytest.raises(UserError, match="translates en to de, not en to fr"):
        Translator("pair").addressed(Pair(), "en", "fr")


def test_languages_in_the_name_of_a_model(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "opus-en-fr").symlink_to(folder)
    named = by_name(str(tmp_path / "opus-{from}-{to}"))
    assert named.translate(["a dog runs"], "en", "fr") == Translator(str(folder)).translate(["a dog runs"], "en", "fr")
    with pytest.raises(UserError, match="opus-en-cs: no such folder"):
        named.translate(["a dog"], "en", "cs")


def test_what_is_not_a_translation_model_is_refused(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(UserError, match="no translation model is there"):
        Translator(str(tmp_path)).translate(["a"], "en", "fr")
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(UserError, match="no weights in safetensors"):
        Translator(str(tmp_path)).translate(["a"], "en", "fr")
    (tmp_path / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(UserError, match="not a translation model that can be used"):
        Translator(str(tmp_path)).translate(["a"], "en", "fr")


class Backwards:
    """Spells texts backwards, remembers how many, and can kill its own process on the way."""

    name = "backwards"

    def __init__(self, die_after: int | None = None) -> None:
        self.seen, self.die_after = 0, die_after

    def key(self, source: str, target: str) -> str:
        return "0123456789abcdef0123"

    def translate(self, texts: Sequence[str], source: str, target: str) -> list[str | None]:
        self.seen += len(texts)
        if self.die_after is not None and self.seen > self.die_after:
            os.kill(os.getpid(), signal.SIGKILL)
        return [None if text == "?" else text[::-1] for text in texts]


TEXTS = [f"text number {number}" for number in range(100)]


def test_each_text_is_translated_once(tmp_path: Path) -> None:
    source = Backwards()
    remembered = Remembered(source, tmp_path)
    assert remembered.translate(["ab", "?", "ab"], "en", "fr") == ["ba", None, "ba"]
    assert source.seen == 2
    assert Remembered(source, tmp_path).translate(["?", "ab", "c"], "en", "fr") == [None, "ba", "c"]
    assert source.seen == 3
    remembered.translate(["ab"], "en", "de")
    assert source.seen == 4


def test_a_killed_translation_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "import test_translation_model as t; from groundling.translation import memory\n"
        "memory.PART, memory.BATCH = 20, 10\n"
        "memory.Remembered(t.Backwards(die_after=55), Path(sys.argv[1])).translate(t.TEXTS, 'en', 'fr')\n"
    )
    here = Path(__file__).parent
    places = (Path(groundling.__file__).parent.parent, here, here.parent)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, places))}
    command = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(command, env=environment, timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL
    source = Backwards()
    assert Remembered(source, tmp_path).translate(TEXTS, "en", "fr") == [text[::-1] for text in TEXTS]
    assert source.seen == 60  # forty were on disk


def test_damaged_translations_are_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "PART", 200)
    Remembered(Backwards(), tmp_path).translate(TEXTS, "en", "fr")
    (part,) = tmp_path.rglob("*.json")
    part.write_bytes(part.read_bytes().replace(b"txet", b"text"))
    source = Backwards()
    with pytest.warns(UserWarning, match="damaged translations removed"):
        found = Remembered(source, tmp_path).translate(TEXTS, "en", "fr")
    assert found == [text[::-1] for text in TEXTS]
    assert source.seen == 100


def test_what_was_made_before_an_error_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "BATCH", 10)

    class Failing(Backwards):
        def translate(self, texts: Sequence[str], source: str, target: str) -> list[str | None]:
            if self.seen >= 30:
                raise KeyboardInterrupt
            return super().translate(texts, source, target)

    with pytest.raises(KeyboardInterrupt):
        Remembered(Failing(), tmp_path).translate(TEXTS, "en", "fr")
    source = Backwards()
    Remembered(source, tmp_path).translate(TEXTS, "en", "fr")
    assert source.seen == 70


def test_known_translations_need_no_model_and_one_is_held_at_a_time(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for pair in ("en-fr", "en-cs"):
        (tmp_path / pair).symlink_to(folder)
    translator = Translator(str(tmp_path / "{from}-{to}"))
    made = [Remembered(translator, tmp_path / "kept").translate(["a dog"], "en", to) for to in ("fr", "cs")]
    assert len(translator._loaded) == 1
    monkeypatch.setattr(Translator, "load", lambda *_: pytest.fail("loaded though all is known"))
    again = Remembered(Translator(str(tmp_path / "{from}-{to}")), tmp_path / "kept")
    assert [again.translate(["a dog"], "en", to) for to in ("fr", "cs")] == made
