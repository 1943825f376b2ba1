"""BERT+GRU with a tiny random BERT in a folder: frozen or trained, what is saved, and what is refused."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch.nn.functional import normalize

from conftest import ENGLISH, GERMAN, make_recipe, make_world
from groundling import systems
from groundling.dataset import Dataset
from groundling.encoders.text.pretrained import PretrainedEncoder, PretrainedSettings
from groundling.encoders.tokenisers.hub import HubTokeniser, encoder_folder, fingerprint
from groundling.errors import UserError
from groundling.evaluation.retrieval import evaluate_retrieval
from groundling.files import read_json
from groundling.model import Model
from groundling.run import Run
from groundling.settings import TextSettings
from groundling.training import train
from plans import context
from tiny_networks import save_bert, without_tokeniser

transformers = pytest.importorskip("transformers")

ONE = TextSettings(minimum_count=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of one layer that knows the words of the world, as transformers saves it."""
    path = tmp_path_factory.mktemp("encoder")
    return save_bert(path, [*ENGLISH, *GERMAN], initializer_range=0.5)  # large enough for random vectors to differ


def recipe_for(folder: Path, steps: int, **own: Any) -> Any:
    recipe = make_recipe(training={"maximum_steps": steps, "validate_every": min(50, steps)})
    system = {"name": "bert_gru", "encoder": str(folder), "dimensions": 24, "pooling": "ends", **own}
    return recipe.model_copy(update={"system": system})


def trained(folder: Path, world: Dataset, into: Path, steps: int, **own: Any) -> Run:
    return train(recipe_for(folder, steps, **own), world, into, device="cpu")


def test_it_learns_and_its_frozen_encoder_is_not_saved(folder: Path, world: Dataset, tmp_path: Path) -> None:
    run = trained(folder, world, tmp_path / "run", 300)
    names = load_file(run.weights_file).keys()
    assert not [name for name in names if "encoder" in name]
    saved = read_json(run.tokeniser_file)
    assert saved["encoder"] == str(folder)
    assert saved["fingerprint"] == fingerprint(folder)
    model = Model.load(run.folder, "cpu")
    original = transformers.AutoModel.from_pretrained(folder).state_dict()
    kept = model.encoders.text.encoder.state_dict()  # type: ignore[union-attr]
    assert all(torch.equal(kept[name], value) for name, value in original.items())
    result = evaluate_retrieval(model, world).result.to_json()
    for code in ("en", "de"):
        assert result["languages"][code]["text_to_image"]["R@10"] > 70  # chance is 40


def test_a_trainable_encoder_changes_and_is_saved(folder: Path, world: Dataset, tmp_path: Path) -> None:
    run = trained(folder, world, tmp_path / "run", 10, trainable=True)
    weights = load_file(run.weights_file)
    name = "text.encoder.embeddings.word_embeddings.weight"
    original = transformers.AutoModel.from_pretrained(folder).state_dict()["embeddings.word_embeddings.weight"]
    assert not torch.equal(weights[name], original)
    model = Model.load(run.folder, "cpu")
    assert torch.equal(model.encoders.state_dict()[name], weights[name])


def encoder(folder: Path, trainable: bool = False) -> PretrainedEncoder:
    torch.manual_seed(0)
    settings = PretrainedSettings(pooling="ends", trainable=trainable)
    return PretrainedEncoder(without_tokeniser(folder), 12, settings)


def test_a_frozen_encoder_stays_in_evaluation_mode_and_gets_no_gradient(folder: Path) -> None:
    ids, lengths = torch.tensor([[2, 7, 3]]), torch.tensor([3])
    frozen = encoder(folder).train()
    assert not frozen.encoder.training
    assert frozen.sentence.training
    frozen(ids, lengths).sum().backward()
    assert all(parameter.grad is None for parameter in frozen.encoder.parameters())
    assert frozen.sentence.onward.weight_ih_l0.grad is not None
    learning = encoder(folder, trainable=True).train()
    assert learning.encoder.training
    learning(ids, lengths)[:, 0].sum().backward()
    assert learning.encoder.embeddings.word_embeddings.weight.grad.any()  # type: ignore[union-attr]
    assert not learning.eval().encoder.training


def test_padding_and_company_do_not_change_a_caption_and_the_mask_is_transformers_own(folder: Path) -> None:
    made = encoder(folder).eval()
    ids = torch.tensor([[2, 7, 8, 3, 0, 0], [2, 9, 3, 0, 0, 0], [2, 10, 11, 12, 13, 3]])
    lengths = torch.tensor([4, 3, 6])
    with torch.inference_mode():
        together = made(ids, lengths)
        longer = made(torch.cat([ids, torch.zeros(3, 9, dtype=torch.long)], dim=1), lengths)
        alone = torch.cat([made(ids[row : row + 1, : lengths[row]], lengths[row : row + 1]) for row in range(3)])
        plain = transformers.AutoModel.from_pretrained(folder).eval()
        mask = (torch.arange(6) < lengths[:, None]).long()
        states = plain(input_ids=ids, attention_mask=mask).last_hidden_state
        expected = made.sentence(states, lengths)
    assert torch.allclose(together, longer, atol=1e-6)
    assert torch.allclose(together, alone, atol=1e-6)
    assert torch.allclose(together, expected, atol=1e-6)
    assert torch.allclose(normalize(together, dim=1), together, atol=1e-6)


def test_captions_carry_the_symbols_of_the_encoder_and_are_cut_by_pieces(folder: Path) -> None:
    tokeniser = HubTokeniser.build(str(folder), TextSettings(maximum_length=3))
    tokens = tokeniser.encode(["dog cat tree car house", "dog", ""], ["en"] * 3)
    dog = 5
    assert tokens.ids.tolist() == [[2, dog, dog + 1, dog + 2, 3], [2, dog, 3, 0, 0], [2, 3, 0, 0, 0]]
    assert tokens.lengths.tolist() == [5, 3, 2]
    assert len(tokeniser.encode([], [])) == 0


def test_json_there_and_back_and_a_changed_encoder(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    tokeniser = HubTokeniser.build(str(copy), ONE)
    saved = json.loads(json.dumps(tokeniser.to_json()))
    assert HubTokeniser.from_json(saved) == tokeniser
    assert fingerprint(copy) == fingerprint(folder)  # of the files, wherever they are
    (copy / "README.md").write_text("notes")
    assert HubTokeniser.from_json(saved) == tokeniser
    weights = transformers.AutoModel.from_pretrained(copy)
    with torch.no_grad():
        weights.embeddings.word_embeddings.weight[5] += 1
    weights.save_pretrained(copy)
    with pytest.raises(UserError, match=r"not the one this model was trained with \(fingerprint \w{12}, not \w{12}\)"):
        HubTokeniser.from_json(saved)


@pytest.mark.parametrize("trainable", [False, True])
def test_a_run_needs_the_folder_of_its_encoder_no_more(
    trainable: bool, folder: Path, world: Dataset, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    run = trained(copy, world, tmp_path / "run", 2, trainable=trainable)
    before = Model.load(run.folder, "cpu").encode_text(["dog cat"], "en")
    shutil.rmtree(copy)
    assert np.array_equal(Model.load(run.folder, "cpu").encode_text(["dog cat"], "en"), before)
    assert any((run.folder / "pretrained").glob("*/*.safetensors")) is not trainable  # else they are the run's own
    shutil.rmtree(run.folder / "pretrained")  # as in runs of former times
    with pytest.raises(UserError, match=r"copy: no such folder"):
        Model.load(run.folder, "cpu")


def test_what_is_no_encoder(folder: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(UserError, match="no encoder is there"):
        encoder_folder(str(empty))
    pickled = tmp_path / "pickled"
    shutil.copytree(folder, pickled)
    (pickled / "model.safetensors").rename(pickled / "pytorch_model.bin")
    with pytest.raises(UserError, match="no weights in safetensors"):
        encoder_folder(str(pickled))
    damaged = tmp_path / "damaged"
    shutil.copytree(folder, damaged)
    (damaged / "model.safetensors").write_bytes(b"not a safetensors file")
    with pytest.raises(UserError, match="not an encoder that can be used"):
        PretrainedEncoder(without_tokeniser(damaged), 4, PretrainedSettings())
    strange = tmp_path / "strange"
    shutil.copytree(folder, strange)
    (strange / "config.json").write_text('{"model_type": "no-such-model"}')
    with pytest.raises(UserError) as error:
        PretrainedEncoder(without_tokeniser(strange), 4, PretrainedSettings())
    assert "\n" not in str(error.value)


def test_code_of_an_encoder_is_never_run(folder: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    shutil.copytree(folder, trap)
    config = json.loads((trap / "config.json").read_text())
    config |= {"auto_map": {"AutoModel": "evil.Evil", "AutoConfig": "evil.EvilConfig"}, "model_type": "evil"}
    (trap / "config.json").write_text(json.dumps(config))
    sprung = tmp_path / "sprung"
    (trap / "evil.py").write_text(f"open({str(sprung)!r}, 'w')\n")
    with pytest.raises(UserError):
        PretrainedEncoder(without_tokeniser(trap), 4, PretrainedSettings())
    assert not sprung.exists()


def test_a_name_that_the_hub_does_not_give(monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    def nothing(*arguments: Any, **others: Any) -> None:
        raise OSError("no route\nto host")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", nothing)
    system = systems.make({"name": "bert_gru", "encoder": "some/encoder"})
    with pytest.raises(UserError) as error:
        system.tokeniser(context({}, make_world()))
    assert str(error.value) == (
        'encoder "some/encoder" is not a folder and cannot be had from the hub (no route); give the folder of a copy'
    )


@pytest.mark.parametrize("trainable", [False, True])
def test_a_step_looks_at_no_number_on_its_way(folder: Path, trainable: bool) -> None:
    """As a recorded step on a GPU needs it; fake tensors have no values to look at."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    made = encoder(folder, trainable).train()
    with FakeTensorMode(allow_non_fake_inputs=True) as fake:
        ids = fake.from_tensor(torch.tensor([[2, 7, 8, 3, 0, 0], [2, 9, 3, 0, 0, 0]]))
        made(ids, fake.from_tensor(torch.tensor([4, 3]))).sum().backward()
