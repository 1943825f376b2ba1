"""Every command that takes a model takes every type of model, or says in one sentence why not."""

import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import commands
import numpy as np
import pytest
from commands import assert_one_sentence, call
from PIL import Image
from safetensors.numpy import load_file
from shapes import COLOURS, SHAPES, draw_shapes, write_table

import groundling
from conftest import make_recipe
from groundling.corpus import catalogue, storage
from groundling.evaluation.ranks import ranks
from groundling.files import read_json
from groundling.model import Model, load
from groundling.vision import cache
from pretrained_folders import save_pair, save_sentence_encoder

sys.path.append(str(Path(__file__).parent.parent / "export"))

from exported import make_model, save, small_backbone_known

from groundling.export.write import export_run

pytest.importorskip("transformers")
pytest.importorskip("onnxruntime")

own_ground = commands.own_ground  # each test in a folder of its own
world_files = commands.world_files
WORDS = ["a", ",", *COLOURS, *SHAPES, *(farbe for farbe, _ in COLOURS.values()), *(f.lower() for f in SHAPES.values())]
TYPES = ("run", "exported", "clip", "siglip", "paired")


@dataclass(frozen=True)
class Ground:
    """Models of all types, and a corpus that the run was made for."""

    folder: Path

    @property
    def corpus(self) -> str:
        return str(self.folder / "shapes")

    def named(self, kind: str) -> list[str]:
        """How a command is told the model."""
        if kind == "paired":
            return [str(self.folder / "clip"), "--text-model", str(self.folder / "text")]
        return [str(self.folder / kind)]

    def asked(self, kind: str) -> list[str]:
        """The same with the corpus, which only a run knows by itself."""
        return [*self.named(kind), *([] if kind == "run" else ["--corpus", self.corpus])]

    def model(self, kind: str) -> Model:
        name, *text = self.named(kind)
        return load(name, text[1] if text else None, "cpu")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("any")
    write_table(folder / "shapes", draw_shapes(folder / "shapes"))
    save_pair(folder / "clip", "CLIP", WORDS)
    save_pair(folder / "siglip", "Siglip", WORDS)
    save_sentence_encoder(folder / "text", WORDS)
    with small_backbone_known():
        recipe = make_recipe(
            corpus={"name": str(folder / "shapes")},
            features={"backbone": "small", "size": 32},
            system={"name": "vse", "dimensions": 16, "word_dimensions": 8},
        )
        model = make_model(recipe.system, catalogue.load(str(folder / "shapes")), recipe)
        export_run(save(model, folder / "run", ["de", "en"]).folder, folder / "exported")
    return folder


@pytest.fixture
def ground(made: Path, tmp_path: Path) -> Iterator[Ground]:
    """The run is each test's own, for its evaluation is kept in it."""
    for path in made.iterdir():
        if path.name == "run":
            shutil.copytree(path, tmp_path / "run")
        else:
            (tmp_path / path.name).symlink_to(path)
    with small_backbone_known():
        yield Ground(tmp_path)


def recalls_by_hand(ground: Ground, kind: str, **options: Any) -> dict[str, float]:
    """R@1 of German and English captions, by the model's own `score` and a sort."""
    model, corpus = ground.model(kind), catalogue.load(ground.corpus).split("test")
    seen = model.encode_pictures([ground.folder / "shapes" / name for name in corpus.pictures])
    found = {}
    for code in ("de", "en"):
        rows = np.flatnonzero(corpus.languages == code).tolist()
        texts = [options.get("prompt", "{}").replace("{}", corpus.texts[row]) for row in rows]
        ours = ranks(seen, model.encode_text(texts, code), corpus.owners[rows])
        found[code] = 100 * float((ours.text_to_image == 1).mean())
    return found


@pytest.mark.parametrize("kind", TYPES)
def test_evaluate_keeps_ranks_of_every_type(ground: Ground, kind: str) -> None:
    folder = ground.folder / "run" if kind == "run" else ground.folder / "answers"
    out = [] if kind == "run" else ["--out", folder]
    result = call("evaluate", *ground.asked(kind), *out, "--json").json
    assert {code: part["text_to_image"]["R@1"] for code, part in result["languages"].items()} == pytest.approx(
        recalls_by_hand(ground, kind)
    )
    kept = load_file(folder / "ranks.safetensors")
    assert {f"{code}.{way}" for code in ("de", "en") for way in ("text_to_image", "image_to_text")} <= set(kept)
    made = read_json(folder / "evaluation.json")["made_from"]
    assert set(made) == {"weights", "corpus", "settings"}
    assert (folder / "report.html").exists()
    if kind != "run":
        assert made["weights"] == ground.model(kind).fingerprint
        assert made["settings"]["corpus"] == {"name": ground.corpus}


@pytest.mark.parametrize("kind", TYPES)
def test_compare_with_a_run(ground: Ground, kind: str) -> None:
    call("evaluate", "run")
    other = "run"
    if kind != "run":
        other = "answers"
        assert call("evaluate", *ground.asked(kind), "--out", other).code == 0
    (found,) = call("compare", "run", other, "--depth", 1, "--samples", 100, "--json").json
    for code, recall in recalls_by_hand(ground, kind).items():
        assert found["languages"][code]["text_to_image"]["run"] == pytest.approx(recall)


@pytest.mark.parametrize("kind", TYPES)
def test_show_draws_a_page(ground: Ground, kind: str) -> None:
    shown = call("show", *ground.asked(kind), "--queries", 2, "--pictures", 2, "--json").json
    assert len(shown["examples"]) == 4
    assert "<img" in Path(shown["page"]).read_text()


@pytest.mark.parametrize("kind", TYPES)
def test_parameters_by_side(ground: Ground, kind: str) -> None:
    said = call("parameters", *ground.named(kind), "--json")
    if kind == "exported":
        assert_one_sentence(said, "its parameters are inside of graphs")
        return
    (found,) = said.json
    assert found["test_time"] == sum(part["test_time"] for part in found["parts"])
    if kind == "run":
        return
    sizes = {part["name"]: part["test_time"] for part in found["parts"]}
    assert sizes["table of word pieces"] == found["for_words"] == 16 * (5 + len(WORDS))
    import transformers

    clip = transformers.AutoModel.from_pretrained(ground.folder / ("siglip" if kind == "siglip" else "clip"))
    seen = sum(value.numel() for name, value in clip.named_parameters() if name.startswith("vis"))
    assert sizes["picture encoder"] == seen
    read = {name: value.numel() for name, value in clip.named_parameters() if name.startswith("text")}
    if kind == "paired":
        text = transformers.AutoModel.from_pretrained(ground.folder / "text")
        read = {name: value.numel() for name, value in text.named_parameters()} | {"dense": 8 * 16}
    assert sizes["text encoder"] + sizes["table of word pieces"] == sum(read.values())
    assert found["trainable"] == 0


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("question", ["--consistency average", "--translate-to en", "--by-origin"])
def test_questions_about_translations(ground: Ground, kind: str, question: str) -> None:
    said = call("evaluate", *ground.asked(kind), *question.split(), "--source", "comparable")
    if question == "--by-origin":
        assert_one_sentence(said, "--source goes with")
        said = call("evaluate", *ground.asked(kind), question)
    assert said.code == 0, said.err


@pytest.mark.parametrize("kind", ["clip", "paired"])
def test_check_compares_captions_with_pictures(ground: Ground, kind: str) -> None:
    table, named = ground.folder / "shapes" / "captions.csv", ground.named(kind)
    found = call("check", "--table", table, "--model", *named, "--prompt", "a {}", "--json").json
    plain = call("check", "--table", table, "--model", *named, "--json").json
    assert len(found["rows"]) == len(plain["rows"]) == 96
    assert found["rows"] != plain["rows"]  # the prompt was read
    assert_one_sentence(
        call("check", "--table", table, "--model", "run", "--text-model", "x"),
        "a separate text encoder goes with a pretrained",
    )


@pytest.mark.parametrize("kind", TYPES)
def test_from_python(ground: Ground, kind: str) -> None:
    result = groundling.evaluate(ground.model(kind), ground.corpus, out="kept")
    found = {code: result.value(code, "text_to_image.R@1") for code in ("de", "en")}
    assert found == pytest.approx(recalls_by_hand(ground, kind))
    assert Path("kept/evaluation.json").exists()


def test_a_pretrained_model_is_asked_what_the_run_was_asked(ground: Ground) -> None:
    call("evaluate", "run")
    (found,) = call("compare", "run", "clip", "--samples", 100, "--json").json
    assert found["run"] == "runs/clip-on-shapes"
    before = Path("runs/clip-on-shapes/ranks.safetensors").stat().st_mtime_ns
    assert call("compare", "run", "clip", "--samples", 100, "--json").json == [found]
    assert Path("runs/clip-on-shapes/ranks.safetensors").stat().st_mtime_ns == before
    assert_one_sentence(call("compare", "clip", "siglip"), "clip: evaluate it first")


def test_another_model_in_the_folder_is_evaluated_again(ground: Ground) -> None:
    model = Path(shutil.copytree(ground.folder / "clip", "changing"))
    arguments = ("evaluate", "changing", "--corpus", ground.corpus, "--out")
    for name in ("one", "two"):
        call(*arguments, name)
    save_pair(model, "CLIP", WORDS, seed=5)
    said = call("compare", "one", "two", "--samples", 100, "--json")
    assert said.err.count("the model has changed since it was evaluated; evaluating it again") == 2
    assert read_json(Path("one/evaluation.json"))["made_from"]["weights"] == load("changing").fingerprint
    shutil.rmtree(model)  # nobody can evaluate it again: what was measured stays
    assert call("compare", "one", "two", "--samples", 100).code == 0


def test_pictures_are_looked_at_once(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    first = call("evaluate", *ground.asked("clip"), "--json").json
    monkeypatch.setattr(cache, "decoded", lambda paths, todo, *_, **__: (one for one in todo if pytest.fail("again")))
    assert call("evaluate", *ground.asked("clip"), "--json").json == first
    monkeypatch.undo()


def test_a_prompt_changes_what_is_read(ground: Ground) -> None:
    prompt = "black circle {} white"
    result = call("evaluate", *ground.asked("clip"), "--prompt", prompt, "--out", "asked", "--json").json
    assert {code: part["text_to_image"]["R@1"] for code, part in result["languages"].items()} == pytest.approx(
        recalls_by_hand(ground, "clip", prompt=prompt)
    )
    assert read_json(Path("asked/evaluation.json"))["made_from"]["settings"]["prompt"] == prompt
    assert_one_sentence(call("evaluate", *ground.asked("clip"), "--prompt", "a photo"), "--prompt")
    assert_one_sentence(call("evaluate", "run", "--prompt", "a {}"), "a prompt goes with a pretrained model")


def test_mistakes_are_one_sentence(ground: Ground, world_files: Path) -> None:
    assert_one_sentence(call("evaluate", "clip"), "clip: name the corpus to ask it about with --corpus")
    assert_one_sentence(call("show", "siglip"), "siglip: name the corpus")
    assert_one_sentence(call("evaluate", *ground.asked("clip"), "--out", "run"), "run: there is a run in it")
    without = call("evaluate", "clip", "--corpus", world_files / "corpus")
    assert_one_sentence(without, "world has no picture files, and clip looks at pictures itself")
    assert_one_sentence(call("evaluate", *ground.asked("clip"), "--unseen-language", "de"), "no run here")
    said = call("evaluate", "run", "--by-origin", "--out", "x")
    assert_one_sentence(said, "--out: what is answered to --by-origin is printed, not kept")


def test_a_picture_that_cannot_be_read_is_left_out(ground: Ground) -> None:
    shutil.copytree(ground.folder / "shapes", "table")
    storage.save(catalogue.load("table"), Path("broken"))
    picture = Path("table/png/red-circle-3.png")
    picture.write_bytes(picture.read_bytes()[:120])
    said = call("evaluate", "clip", "--corpus", "broken")
    assert "png/red-circle-3.png: cannot be read, skipped" in said.err
    assert call("evaluate", "clip", "--corpus", "broken", "--json").json["pictures"] == 11
    Image.new("RGB", (5, 5)).save(picture)
    assert call("evaluate", "clip", "--corpus", "broken", "--json").json["pictures"] == 12


def test_an_exported_judge_is_evaluated_as_its_run(ground: Ground) -> None:
    """Statements with labels, and a run that was never trained: the same predictions, one by one."""
    lines = ["picture,language,text,label,split"]
    for number, (picture, code, text, split) in enumerate(draw_shapes(Path("said"))):
        lines.append(f'{picture},{code},"{text}",{("entailment", "contradiction", "neutral")[number % 3]},{split}')
    Path("said/captions.csv").write_text("\n".join(lines))
    recipe = make_recipe(
        corpus={"name": str(Path("said").absolute())},
        features={"backbone": "small", "size": 32},
        system={"name": "clip_ve", "dimensions": 16, "word_dimensions": 8, "hidden": 6},
    )
    model = make_model(recipe.system, catalogue.load("said").judged(), recipe)
    export_run(save(model, Path("judge"), ["de", "en"]).folder, Path("judge.onnx"))
    ours = call("evaluate", "judge", "--json").json
    theirs = call("evaluate", "judge.onnx", "--corpus", "said", "--out", "answers", "--json").json
    assert ours["task"] == "entailment"
    for code in ("de", "en"):
        assert theirs["languages"][code]["accuracy"] == pytest.approx(ours["languages"][code]["accuracy"])
        assert theirs["languages"][code]["log_loss"] == pytest.approx(ours["languages"][code]["log_loss"], abs=1e-4)
    (found,) = call("compare", "judge", "answers", "--samples", 100, "--json").json
    assert found["languages"]["de"]["verdicts"]["difference"] == 0
    assert_one_sentence(call("show", "judge.onnx", "--corpus", "said"), "judge.onnx judges statements and finds")
