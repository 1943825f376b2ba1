"""CLIP-VE as published, with a tiny random CLIP in a folder: its own vectors of pictures, its text side trained."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file

from conftest import ENGLISH, GERMAN
from groundling.dataset import Dataset
from groundling.encoders.text.pooled import PooledEncoder, PooledSettings
from groundling.encoders.tokenisers.hub import HubTokeniser
from groundling.errors import UserError
from groundling.files import read_json
from groundling.model import Model
from groundling.settings import FeatureSettings
from groundling.training import train
from groundling.vision.from_settings import backbone_of, file_features
from judged_world import judging_recipe, make_judged
from tiny_networks import without_tokeniser

transformers = pytest.importorskip("transformers")

SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}
PREPROCESSOR = {"image_mean": [0.5, 0.4, 0.3], "image_std": [0.2, 0.25, 0.3], "size": {"shortest_edge": 32}} | {
    "crop_size": {"height": 32, "width": 32},
    "do_center_crop": True,
}
WORDS = ["<start>", "<end>", "<unknown>", *ENGLISH, *GERMAN]


def write_tokeniser(folder: Path) -> None:
    """Whole words between a start and an end, as CLIP's tokeniser has them around its pieces."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing

    rows = {word: row for row, word in enumerate(WORDS)}
    made = Tokenizer(WordLevel(rows, unk_token="<unknown>"))  # noqa: S106 (not a password)
    made.pre_tokenizer = Whitespace()
    made.post_processor = TemplateProcessing(
        single="<start> $A <end>", special_tokens=[("<start>", rows["<start>"]), ("<end>", rows["<end>"])]
    )
    special = {"bos_token": "<start>", "eos_token": "<end>", "unk_token": "<unknown>", "pad_token": "<end>"}
    wrapped = transformers.PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=20, **special)
    wrapped.save_pretrained(folder)


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hub") / "clip"
    torch.manual_seed(0)
    text = {**SIZES, "vocab_size": len(WORDS), "max_position_embeddings": 20, "eos_token_id": 1, "bos_token_id": 0}
    config = transformers.CLIPConfig(
        text_config={**text, "pad_token_id": 1, "initializer_factor": 5.0},
        vision_config={**SIZES, "image_size": 32, "patch_size": 8},
        projection_dim=12,
    )
    transformers.CLIPModel(config).save_pretrained(folder)
    (folder / "preprocessor_config.json").write_text(json.dumps(PREPROCESSOR))
    write_tokeniser(folder)
    return folder


def features_of(clip: Path, **others: Any) -> FeatureSettings:
    return FeatureSettings(backbone=f"hf:{clip}", **others)


def test_sentences_are_clip_s_own_vectors_whatever_stands_beside_them(clip: Path) -> None:
    tokeniser = HubTokeniser.build(str(clip), judging_recipe().text)
    tokens = tokeniser.encode(["dog cat tree", "hund", "car"], ["en"] * 3)
    encoder = PooledEncoder(tokeniser, 12, PooledSettings()).eval()
    model = transformers.CLIPModel.from_pretrained(clip).eval()
    ids, lengths = torch.from_numpy(tokens.ids), torch.from_numpy(tokens.lengths)
    with torch.inference_mode():
        together = projected(encoder, ids, lengths)
        alone = torch.cat(
            [projected(encoder, ids[row : row + 1, :size], lengths[row : row + 1]) for row, size in _sizes(tokens)]
        )
        own = [model.get_text_features(input_ids=ids[row : row + 1, :size].long()) for row, size in _sizes(tokens)]
    expected = torch.cat([getattr(found, "pooler_output", found) for found in own])
    assert torch.allclose(together, expected, atol=1e-5)
    assert torch.allclose(alone, expected, atol=1e-5)
    assert torch.allclose(encoder(ids, lengths).norm(dim=1), torch.ones(3), atol=1e-5)


def projected(encoder: PooledEncoder, ids: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """Sentence vectors before they are brought to length one."""
    vectors: torch.Tensor = encoder.project(encoder.pool(encoder.states(ids, lengths), lengths))
    return vectors


def _sizes(tokens: Any) -> list[tuple[int, int]]:
    return list(enumerate(tokens.lengths.tolist()))


@pytest.mark.parametrize("pooling", ["last", "first", "mean"])
def test_pooling_and_padding_of_bert(pooling: Any, tmp_path: Path) -> None:
    torch.manual_seed(0)
    config = transformers.BertConfig(**SIZES, vocab_size=30, max_position_embeddings=20, initializer_range=0.5)
    transformers.BertModel(config).save_pretrained(tmp_path)
    encoder = PooledEncoder(without_tokeniser(tmp_path), 6, PooledSettings(pooling=pooling)).eval()
    ids, lengths = torch.tensor([[2, 7, 8, 3], [2, 9, 3, 0]]), torch.tensor([4, 3])
    model = transformers.BertModel.from_pretrained(tmp_path).eval()
    with torch.inference_mode():
        found = projected(encoder, ids, lengths)
        for row, size in enumerate((4, 3)):
            states = model(input_ids=ids[row : row + 1, :size]).last_hidden_state[0]
            state = {"last": states[-1], "first": states[0], "mean": states.mean(dim=0)}[pooling]
            assert torch.allclose(found[row], encoder.project(state), atol=1e-5)


def test_pictures_are_clip_s_own_vectors(clip: Path, tmp_path: Path) -> None:
    picture = tmp_path / "noise.png"
    noise = np.random.default_rng(0).integers(0, 256, (32, 32, 3), dtype=np.uint8)
    Image.fromarray(noise).save(picture)
    model = transformers.CLIPModel.from_pretrained(clip).eval()
    mean, std = (torch.tensor(PREPROCESSOR[key])[:, None, None] for key in ("image_mean", "image_std"))
    pixels = ((torch.from_numpy(noise).permute(2, 0, 1) / 255 - mean) / std)[None]
    with torch.inference_mode():
        found = model.get_image_features(pixel_values=pixels)
    own = getattr(found, "pooler_output", found)[0].numpy()
    seen = file_features([picture], features_of(clip, projected=True))
    assert np.allclose(seen[0], own, atol=1e-4)
    averaged = file_features([picture], features_of(clip))
    assert averaged.shape == (1, 16)
    cells = file_features([picture], features_of(clip, grid=2))
    assert np.allclose(cells.reshape(4, 16).mean(axis=0), averaged[0], atol=1e-4)


def test_trained_as_published_only_text_and_head_change(clip: Path, tmp_path: Path) -> None:
    world = make_judged(100)
    recipe = judging_recipe(
        {"maximum_steps": 40, "learning_rate": 1e-3},
        text="pretrained",
        encoder=str(clip),
        picture="given",
        dimensions=12,
        train_picture=False,
    )
    run = train(recipe, world, tmp_path / "run", device="cpu")
    weights = load_file(run.weights_file)
    original = transformers.CLIPModel.from_pretrained(clip).state_dict()
    name = "embeddings.token_embedding.weight"
    assert not torch.equal(weights[f"text.encoder.{name}"], original[f"text_model.{name}"])
    assert [key for key in weights if key.startswith("picture.")] == ["picture.width"]
    model = Model.load(run.folder, "cpu")
    assert model.features == 12
    assert model.judges
    facts = read_json(run.facts_file)
    assert facts["parameters_by_part"]["pretrained encoder"] > 1000
    dataset = Dataset(world.corpus, world.features)
    part = dataset.judged().split("dev")
    shares = model.judge_features(part.corpus.texts, part.features, part.corpus.languages.tolist(), part.corpus.owners)
    assert shares.shape == (len(part.corpus), 3)


def test_what_does_not_fit_is_told(clip: Path) -> None:
    with pytest.raises(UserError, match=r"sentences of 12 dimensions, not 16; set system.dimensions=12"):
        PooledEncoder(without_tokeniser(clip), 16, PooledSettings())
    with pytest.raises(UserError, match="pictures have its own size, 32 pixels"):
        backbone_of(features_of(clip, projected=True, size=64))
    with pytest.raises(UserError, match=r"features\.grid: the cells of a picture cannot be averaged"):
        backbone_of(features_of(clip, grid=2, mirror=True))
    with pytest.raises(UserError, match=r"features\.stage is for EfficientNet-Lite"):
        backbone_of(features_of(clip, stage=3))


@pytest.mark.parametrize("kind", ["siglip2", "chinese_clip", "metaclip_2"])
def test_a_pair_that_takes_sentences_in_its_own_way_is_not_read_in_another(kind: str, tmp_path: Path) -> None:
    import tiny_pairs

    tiny_pairs.PAIRS[kind](tmp_path)
    with pytest.raises(UserError, match="whose text side takes its sentences in a way of its own"):
        PooledEncoder(without_tokeniser(tmp_path), 8, PooledSettings())


@pytest.mark.parametrize("kind", ["clip", "bert"])
def test_a_step_looks_at_no_number_on_its_way(kind: str, clip: Path, tmp_path: Path) -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    folder, dimensions = clip, 12
    if kind == "bert":
        folder = tmp_path
        transformers.BertModel(transformers.BertConfig(**SIZES, vocab_size=30)).save_pretrained(folder)
    encoder = PooledEncoder(without_tokeniser(folder), dimensions, PooledSettings()).train()
    with FakeTensorMode(allow_non_fake_inputs=True) as fake:
        ids = fake.from_tensor(torch.tensor([[0, 7, 8, 1, 0, 0], [0, 9, 1, 0, 0, 0]]))
        encoder(ids, fake.from_tensor(torch.tensor([4, 3]))).sum().backward()
