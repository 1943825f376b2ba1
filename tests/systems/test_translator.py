"""The translator: what each way to begin begins with, what is trained, and that a run needs nothing but itself."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from conftest import ENGLISH, GERMAN, make_recipe
from groundling import systems
from groundling.batches import DeviceBatch
from groundling.dataset import Dataset
from groundling.encoders.text.mapped import MappedEncoder, MappedSettings
from groundling.encoders.tokenisers.vectors import VectorTokeniser
from groundling.errors import UserError
from groundling.model import Model
from groundling.model.encoding import encode_captions
from groundling.run import Run
from groundling.settings import Recipe, TextSettings
from groundling.systems import Encoders, Plan
from groundling.training import train
from groundling.training.contexts import load_start
from groundling.training.planned import planned
from groundling.words import Subwords, WordVectors, storage
from groundling.words.word_map import WordMap
from power_cut import assert_goes_on_exactly

WORD = 8  # dimensions; the ten words span them, so that one rotation fits them all


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Maps are kept between runs; not between those of tests and of whoever runs them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GROUNDLING_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """English vectors at random, and German ones that are the same, turned by a rotation; pieces turn with them."""
    folder, draw = tmp_path_factory.mktemp("words"), np.random.default_rng(5)
    turn = np.linalg.qr(draw.standard_normal((WORD, WORD)))[0]
    english = draw.standard_normal((len(ENGLISH), WORD))
    pieces = draw.standard_normal((5000, WORD))
    for code, names, change in (("en", ENGLISH, np.eye(WORD)), ("de", GERMAN, turn)):
        matrix, table = ((part @ change.T).astype(np.float32) for part in (english, pieces))
        storage.save(folder / f"{code}.safetensors", WordVectors(tuple(names), matrix, Subwords(table, 3, 5, 5000)))
    pairs = zip(ENGLISH, GERMAN, strict=True)
    (folder / "en-de.txt").write_text("".join(f"{one} {other}\n" for one, other in pairs))
    return folder


def recipe(words: Path, language: str, start: str = "scratch", **system: Any) -> Recipe:
    values: dict[str, Any] = {
        "name": "translator",
        "word_dimensions": WORD,
        "start": start,
        "vectors": {code: str(words / f"{code}.safetensors") for code in ("en", "de")},
        "alignment": {"method": "procrustes"},
        "dictionary": str(words / "en-de.txt"),
        **system,
    }
    source = {"system": {"start": "scratch", "freeze": []}, "corpus": {"languages": ["en"]}}
    return make_recipe(
        corpus={"name": "world", "languages": [language]},
        system=values,
        training={"maximum_steps": 60},
        start=None if start == "scratch" else source,
    )


@pytest.fixture(scope="module")
def english(words: Path, world: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source: English, trained to the end."""
    folder = tmp_path_factory.mktemp("runs") / "english"
    chosen = recipe(words, "en")
    train(chosen, world.under(chosen.corpus), folder, device="cpu")
    return folder


def begun(chosen: Recipe, world: Dataset, source: Path) -> tuple[Plan, Any, Encoders]:
    """A training before its first step."""
    torch.manual_seed(chosen.training.seed)
    start = load_start(source, "cpu") if systems.of(chosen).needs_start else None
    plan = planned(chosen, world.under(chosen.corpus).split("train"), start=start)
    return plan, plan.tokeniser, plan.encoders


def encoded(tokeniser: Any, encoders: Encoders, texts: list[str], code: str) -> np.ndarray:  # type: ignore[type-arg]
    tokens = tokeniser.encode(texts, [code] * len(texts))
    spelled = encoders.text.spell(torch.from_numpy(tokens.spellings))  # type: ignore[operator]
    ids, lengths = torch.from_numpy(tokens.ids), torch.from_numpy(tokens.lengths)
    return encode_captions(encoders.text, ids, lengths, torch.device("cpu"), words=spelled.detach()).numpy()


def captions(world: Dataset, code: str) -> list[str]:
    return list(world.split("test").corpus.only([code]).texts)


# --- what it begins with


def test_aligned_with_itself_a_language_is_read_as_the_source_reads_it(
    words: Path, world: Dataset, english: Path
) -> None:
    chosen = recipe(words, "en", "aligned", dictionary="identical")
    _, tokeniser, encoders = begun(chosen, world, english)
    texts = [*captions(world, "en"), "dogfish boathouse", "", "cat"]
    model = Model.load(english, "cpu")
    assert np.allclose(encoded(tokeniser, encoders, texts, "en"), model.encode_text(texts, "en"), atol=1e-5)
    seen = world.split("test").features
    assert torch.equal(encoders.picture(torch.from_numpy(seen)), model.encoders.picture(torch.from_numpy(seen)))


def test_with_the_pictures_alone_the_text_encoder_is_new_and_has_no_map(
    words: Path, world: Dataset, english: Path
) -> None:
    """The control of T1: the same picture encoder, and nothing of the text encoder."""
    _, _, encoders = begun(recipe(words, "de", "pictures"), world, english)
    assert isinstance(encoders.text, MappedEncoder) and encoders.text.map is None
    theirs, ours = load_file(english / "best.safetensors"), encoders.state_dict()
    assert torch.equal(ours["picture.project.weight"], theirs["picture.project.weight"])
    sentence = [name for name in ours if name.startswith("text.sentence") and "weight" in name]
    assert sentence and not any(torch.equal(ours[name], theirs[name]) for name in sentence)


def test_a_map_that_was_learned_elsewhere(words: Path, world: Dataset, english: Path, tmp_path: Path) -> None:
    """The map of `align --out`, three times as long, or a matrix as text, reads as the one that is learned here."""
    _, _, learned = begun(recipe(words, "de", "aligned"), world, english)
    assert isinstance(learned.text, MappedEncoder) and learned.text.map is not None
    wanted = learned.text.map.weight.detach().numpy()
    WordMap(3 * wanted, {}).save(tmp_path / "map.safetensors")
    (tmp_path / "map.txt").write_text("\n".join(" ".join(map(str, row)) for row in wanted.tolist()) + "\n")
    for name in ("map.safetensors", "map.txt"):
        chosen = recipe(words, "de", "aligned", dictionary=None, map=str(tmp_path / name))
        _, _, encoders = begun(chosen, world, english)
        assert isinstance(encoders.text, MappedEncoder) and encoders.text.map is not None
        assert np.allclose(encoders.text.map.weight.detach().numpy(), wanted, atol=1e-3), name
    WordMap(np.eye(3, dtype=np.float32), {}).save(tmp_path / "small.safetensors")
    with pytest.raises(UserError, match=r"a map of 3 × 3, and system\.word_dimensions is 8"):
        begun(recipe(words, "de", "aligned", dictionary=None, map=str(tmp_path / "small.safetensors")), world, english)


def test_vectors_that_are_in_one_space_need_no_map(words: Path, world: Dataset, english: Path, tmp_path: Path) -> None:
    """As VecMap leaves its two files."""
    known = storage.load(words / "en.safetensors")
    storage.save(tmp_path / "de.safetensors", WordVectors(tuple(GERMAN), known.matrix, known.subwords))
    vectors = {"en": str(words / "en.safetensors"), "de": str(tmp_path / "de.safetensors")}
    chosen = recipe(words, "de", "aligned", vectors=vectors, dictionary=None, map="identity")
    _, tokeniser, encoders = begun(chosen, world, english)
    ours = encoded(tokeniser, encoders, GERMAN, "de")
    assert np.allclose(ours, Model.load(english, "cpu").encode_text(ENGLISH, "en"), atol=1e-5)


@pytest.mark.parametrize("setting", [{"centre": True}, {"seed": 1}, {"test_share": 0.5}], ids=str)
def test_settings_of_align_that_do_nothing_here_are_refused(words: Path, setting: dict[str, Any]) -> None:
    """Vectors are centred whatever a recipe says, and all pairs are learned from."""
    with pytest.raises(UserError, match=f'unknown setting "alignment.{next(iter(setting))}"'):
        systems.of(recipe(words, "de", "aligned", alignment=setting))


def test_words_of_a_file_are_folded_as_captions_are(words: Path, world: Dataset, english: Path, tmp_path: Path) -> None:
    german = storage.load(words / "de.safetensors")
    capitals = WordVectors(tuple(word.capitalize() for word in german.words), german.matrix)
    storage.save(tmp_path / "de.safetensors", capitals)
    vectors = {"en": str(words / "en.safetensors"), "de": str(tmp_path / "de.safetensors")}
    _, tokeniser, _ = begun(recipe(words, "de", vectors=vectors, fold_case=True), world, english)
    assert set(tokeniser.words) == set(german.words)
    with pytest.raises(UserError):
        begun(recipe(words, "de", "aligned", vectors=vectors), world, english)  # no pair of the dictionary is there


@pytest.mark.parametrize("method", ["procrustes", "rcsls"])
def test_aligned_a_renamed_language_is_read_as_its_translation(
    method: str, words: Path, world: Dataset, english: Path
) -> None:
    """Of a language that is English in other words, word for word; only directions count for RCSLS."""
    alignment = {"method": method, "neighbours": 2, "iterations": 3}
    _, tokeniser, encoders = begun(recipe(words, "de", "aligned", alignment=alignment), world, english)
    german = captions(world, "de")
    translated = [" ".join(ENGLISH[GERMAN.index(word)] for word in text.split()) for text in german]
    ours, theirs = encoded(tokeniser, encoders, german, "de"), Model.load(english, "cpu").encode_text(translated, "en")
    if method == "procrustes":
        assert np.allclose(ours, theirs, atol=0.01)  # vectors are kept in float16
    assert (ours @ theirs.T).argmax(axis=1).tolist() == (theirs @ theirs.T).argmax(axis=1).tolist()
    new = Model.load(english, "cpu").encode_text(["dog"], "en") @ encoded(tokeniser, encoders, ["hund"], "de").T
    assert new > 0.95


def test_the_map_keeps_the_length_of_words_on_average(words: Path, world: Dataset, english: Path) -> None:
    """RCSLS stretches; the encoder has been trained on vectors of length one."""
    alignment = {"method": "rcsls", "neighbours": 2, "iterations": 10, "learning_rate": 5.0}
    _, _, encoders = begun(recipe(words, "de", "aligned", alignment=alignment), world, english)
    spelled = encoders.text.spell(torch.arange(1, 11)[:, None])  # type: ignore[operator]
    assert spelled.norm(dim=1).mean().item() == pytest.approx(1, abs=1e-3)


def test_with_the_encoder_alone_the_map_is_a_random_rotation(words: Path, world: Dataset, english: Path) -> None:
    _, _, encoders = begun(recipe(words, "de", "encoder"), world, english)
    text = encoders.text
    assert isinstance(text, MappedEncoder) and text.map is not None
    weight = text.map.weight.detach()
    assert torch.allclose(weight @ weight.T, torch.eye(WORD), atol=1e-5)
    assert not torch.allclose(weight, torch.eye(WORD), atol=0.1)
    theirs = load_file(english / "best.safetensors")
    for name, value in encoders.state_dict().items():
        if name.startswith(("text.sentence", "picture")):
            assert torch.equal(value, theirs[name])
    _, _, scratch = begun(recipe(words, "de"), world, english)
    assert isinstance(scratch.text, MappedEncoder) and scratch.text.map is None
    assert not torch.equal(scratch.state_dict()["picture.project.weight"], theirs["picture.project.weight"])


# --- the encoder, and what is trained


def slow(encoder: MappedEncoder, spellings: Tensor, lengths: Tensor) -> Tensor:
    """f(M·t)/‖f(M·t)‖ word by word in double precision, from the equations of a GRU."""
    gru, rows = encoder.sentence.recurrent, []
    assert encoder.map is not None
    w_i, w_h, b_i, b_h = (p.double() for p in (gru.weight_ih_l0, gru.weight_hh_l0, gru.bias_ih_l0, gru.bias_hh_l0))
    for caption, length in zip(spellings, lengths.tolist(), strict=True):
        state = torch.zeros(w_h.shape[1], dtype=torch.float64)
        for word in caption[:length]:
            t = encoder.words.weight[word[word != 0]].double().sum(dim=0)
            t = t / t.norm() if len(word[word != 0]) else t
            (r_i, z_i, n_i), (r_h, z_h, n_h) = (
                (w @ x + b).chunk(3) for w, x, b in ((w_i, encoder.map.weight.double() @ t, b_i), (w_h, state, b_h))
            )
            z = torch.sigmoid(z_i + z_h)
            state = (1 - z) * torch.tanh(n_i + torch.sigmoid(r_i + r_h) * n_h) + z * state
        rows.append(state / state.norm())
    return torch.stack(rows)


def test_the_encoder_and_the_gradient_of_its_map_are_those_of_the_equations() -> None:
    torch.manual_seed(0)
    table = torch.randn(9, 5).half()
    table[0] = 0
    tokeniser = VectorTokeniser(tuple("abcdefgh"), None, TextSettings(), 5, table.numpy())
    encoder = MappedEncoder(tokeniser, 7, MappedSettings())
    spellings = torch.tensor([[[1, 0], [2, 3], [4, 0]], [[5, 6], [7, 0], [0, 0]]], dtype=torch.int32)
    lengths, aim = torch.tensor([3, 2]), torch.randn(2, 7)
    found, expected = encoder(spellings, lengths), slow(encoder, spellings, lengths)
    assert torch.allclose(found.double(), expected, atol=1e-5)
    assert encoder.map is not None
    for vectors in (found, expected):
        vectors.mul(aim).sum().backward()
        assert encoder.map.weight.grad is not None
        if vectors is found:
            gradient, encoder.map.weight.grad = encoder.map.weight.grad, None
    assert torch.allclose(gradient, encoder.map.weight.grad, atol=1e-4)
    assert gradient.abs().max() > 1e-3
    padded = torch.cat([spellings, torch.zeros(2, 2, 2, dtype=torch.int32)], dim=1)
    assert torch.allclose(encoder(padded, lengths), found, atol=1e-6)


PARTS = {"map": "text.map", "encoder": "text.sentence", "pictures": "picture"}


@pytest.mark.parametrize("frozen", [[], ["map"], ["encoder"], ["encoder", "pictures"]], ids=str)
def test_what_is_frozen_stays_and_all_else_is_trained(
    frozen: list[str], words: Path, world: Dataset, english: Path
) -> None:
    plan, _, encoders = begun(recipe(words, "de", "aligned", freeze=frozen), world, english)
    started = {name: value.clone() for name, value in encoders.state_dict().items()}
    sampler, optimiser = plan.stage.sampler, torch.optim.Adam(encoders.parameters(), lr=1e-2)
    for step in range(3):
        batch = sampler.batch(step)
        placed = DeviceBatch(batch.kind, torch.from_numpy(batch.rows), batch.longest, torch.tensor(float(step)))
        optimiser.zero_grad()
        plan.stage.loss(encoders, plan.data, placed).backward()
        optimiser.step()
    for name, value in encoders.state_dict().items():
        stays = name == "text.words.weight" or any(name.startswith(PARTS[part]) for part in frozen)
        assert torch.equal(value, started[name]) == stays, name


def test_it_learns(words: Path, world: Dataset, english: Path) -> None:
    model = Model.load(english, "cpu")
    test = world.under(recipe(words, "en").corpus).split("test")
    scores = model.encode_text(test.corpus.texts, "en") @ model.encode_features(test.features).T
    right = scores[np.arange(len(scores)), test.corpus.owners]
    assert ((scores > right[:, None]).sum(axis=1) < 5).mean() > 0.7  # five of 25 by chance: 0.2


# --- runs


def test_a_run_needs_no_files_of_vectors_and_no_run_before_it(
    words: Path, world: Dataset, english: Path, tmp_path: Path
) -> None:
    copied = tmp_path / "words"
    copied.mkdir()
    for file in words.iterdir():
        (copied / file.name).write_bytes(file.read_bytes())
    chosen = recipe(copied, "de", "aligned")
    run = train(chosen, world.under(chosen.corpus), tmp_path / "run", device="cpu", start=english)
    texts = ["hund katze", "hundeboot", "犬", ""]  # known, made of known pieces, of none, and nothing
    first = Model.load(run.folder, "cpu").encode_text(texts, "de")
    for file in copied.iterdir():
        file.unlink()
    again = Model.load(run.folder, "cpu")
    assert np.array_equal(again.encode_text(texts, "de"), first)
    assert np.allclose(again.encode_text([texts[1]], "de")[0], first[1], atol=1e-6)  # whatever else is asked
    assert not np.allclose(first[1], first[0], atol=0.01)
    assert np.allclose(first[2], first[3], atol=1e-6)  # a word that is left out


def test_stopped_and_resumed_it_ends_in_the_same_weights(
    words: Path, world: Dataset, english: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = recipe(words, "de", "aligned", freeze=["pictures"])
    dataset = world.under(chosen.corpus)
    resumed = assert_goes_on_exactly(chosen, dataset, tmp_path, monkeypatch, start=english)
    assert Run(tmp_path / "whole").recipe() == resumed.recipe() == chosen


# --- mistakes

MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    "nothing to freeze": ({"freeze": ["map"]}, "nothing is known that could be frozen"),
    "nothing left": ({"start": "encoder", "freeze": ["map", "encoder", "pictures"]}, "nothing is left to train"),
    "no dictionary": ({"start": "aligned", "dictionary": None}, "needs a dictionary"),
    "dictionary and map": ({"start": "aligned", "dictionary": "d.txt", "map": "m.txt"}, "one of them alone"),
    "a new encoder": ({"start": "pictures", "freeze": ["encoder"]}, "only pictures are known"),
    "three": ({"start": "aligned", "dictionary": ["a", "b", "c"]}, "two that share a language"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_settings_that_cannot_be(case: str) -> None:
    values, sentence = MISTAKES[case]
    with pytest.raises(UserError, match=sentence):
        systems.make({"name": "translator", **values})


def test_mistakes_in_data_and_files(words: Path, world: Dataset, english: Path, tmp_path: Path) -> None:
    chosen = recipe(words, "de", "aligned", dictionary="nowhere.txt")
    with pytest.raises(UserError, match=r"nowhere.txt: no such file, neither here nor below the data folder"):
        begun(chosen, world, english)
    (tmp_path / "fr.txt").write_text("cheval caballo\nchien perro\n")
    with pytest.raises(UserError, match=r"fr.txt: 0 of 2 pairs have vectors in both languages"):
        begun(recipe(words, "de", "aligned", dictionary=str(tmp_path / "fr.txt")), world, english)
    with pytest.raises(UserError, match=r"has 8 dimensions, and system\.word_dimensions is 13"):
        begun(recipe(words, "de", word_dimensions=13), world, english)
    with pytest.raises(UserError, match="its text or picture encoder has another size"):
        begun(recipe(words, "de", "encoder", dimensions=25), world, english)
    two = make_recipe(corpus={"name": "world"}, system=recipe(words, "de").system)
    with pytest.raises(UserError, match=r"reads one language, and there are captions in de, en"):
        begun(two, world, english)


def test_a_run_before_is_there_if_and_only_if_it_is_needed(words: Path) -> None:
    chosen = recipe(words, "de", "encoder")
    with pytest.raises(UserError, match="system translator starts from another run"):
        systems.of(chosen.model_copy(update={"start": None}))
    with pytest.raises(UserError, match="system lessons starts from no other run"):
        systems.of(make_recipe(start="runs/other"))
