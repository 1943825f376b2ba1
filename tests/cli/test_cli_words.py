"""`groundling align` and `groundling words`: a whole journey, and one sentence for every mistake."""

from pathlib import Path

import commands
import numpy as np
import pytest
from commands import Said, assert_one_sentence, call, content

from groundling.files import only_writer
from groundling.words import Subwords, WordVectors, storage
from groundling.words.reduction import reduce
from groundling.words.vectors import unit
from groundling.words.word_map import WordMap

own_ground = commands.own_ground  # each test in a folder of its own
world_files = commands.world_files


@pytest.fixture
def languages(own_ground: Path) -> Path:
    """Two languages that are one, turned and a little blurred, and a dictionary of all words."""
    draw = np.random.default_rng(0)
    one = draw.standard_normal((200, 8)).astype(np.float32)
    turn = np.linalg.qr(draw.standard_normal((8, 8)))[0].astype(np.float32)
    other = one @ turn + 0.1 * draw.standard_normal((200, 8)).astype(np.float32)
    table = draw.standard_normal((30, 8)).astype(np.float32)
    storage.write(own_ground / "a.vec", WordVectors(tuple(f"a{i}" for i in range(200)), one))
    subwords = Subwords(table, 2, 3, 30)
    storage.write(own_ground / "a.safetensors", WordVectors(tuple(f"a{i}" for i in range(200)), one, subwords))
    storage.write(own_ground / "b.vec.gz", WordVectors(tuple(f"b{i}" for i in range(200)), other))
    (own_ground / "d.txt").write_text("".join(f"b{i} @ a{i}\n" for i in range(200)) + "b5 @ nowhere\n")
    (own_ground / "test.txt").write_text("".join(f"a{i} b{i}\n" for i in range(150, 250)))
    return own_ground


@pytest.mark.parametrize("method", ["procrustes", "rcsls"])
def test_align(languages: Path, method: str) -> None:
    found = call("align", "a.vec", "b.vec.gz", "--dictionary", "d.txt", "--method", method, "--json").json
    assert set(found["precision"]) == {"nn", "csls"}
    for by in found["precision"].values():
        assert list(by) == ["1", "5", "10"]
        assert 0.9 <= by["1"] <= by["5"] <= by["10"] <= 1
    assert len(found["objective"]) == (10 if method == "rcsls" else 1)
    assert found["objective"] == sorted(found["objective"], reverse=True)
    coverage = found["coverage"]
    assert (coverage["dictionary"]["pairs"], coverage["dictionary"]["covered"]) == (201, 200)
    assert (coverage["train"]["pairs"], coverage["tested"]["source_words"]) == (160, 40)


def test_align_with_a_test_dictionary_writes_map_and_vectors(languages: Path) -> None:
    arguments = ["align", "a.safetensors", "b.vec.gz", "--dictionary", "d.txt", "--test", "test.txt", "--out", "ab"]
    found = call(*arguments, "--json").json
    coverage = found["coverage"]
    assert coverage["left_out_because_tested"] == 50  # words of the test are not learned from
    assert (coverage["test"]["pairs"], coverage["test"]["covered"], coverage["train"]["pairs"]) == (100, 50, 150)
    before, aligned = storage.load(languages / "a.safetensors"), storage.load(languages / "ab" / "aligned.safetensors")
    matrix = WordMap.load(languages / "ab" / "map.safetensors").matrix
    for word in ("a7", "unheard"):  # pieces are mapped, too
        assert np.allclose(aligned.vector(word), matrix @ before.vector(word), atol=1e-4)  # type: ignore[operator, arg-type]
    said = call(*arguments)
    assert "CSLS" in said.out and "Written to ab" in said.out and "50 pairs were not learned from" in said.out


def test_the_dictionary_may_be_the_other_way_round(languages: Path) -> None:
    found = call("align", "b.vec.gz", "a.vec", "--dictionary", "d.txt", "--json").json
    assert found["coverage"]["dictionary"]["swapped"]
    assert found["precision"]["nn"]["1"] > 0.9


def test_words_written_alike(languages: Path) -> None:
    found = call("align", "a.vec", "a.vec", "--dictionary", "identical", "--method", "procrustes", "--json").json
    assert found["precision"]["nn"]["1"] == 1


def test_reduce_and_inspect(languages: Path) -> None:
    found = call("words", "reduce", "a.safetensors", "--dimensions", 3, "--out", "small.safetensors", "--json").json
    assert (found["words"], found["dimensions"], found["subwords"]["rows"]) == (200, 3, 30)
    assert 0.3 < found["variance_kept"] < 0.9
    assert "200 words, 3 dimensions, 30 subwords" in call("words", "inspect", "small.safetensors").out
    storage.save(languages / "memory.safetensors", reduce(storage.load(languages / "a.safetensors"), 3)[0])
    assert (languages / "small.safetensors").read_bytes() == (languages / "memory.safetensors").read_bytes()
    said = call("words", "reduce", "a.safetensors", "--dimensions", 3, "--out", "small.vec").out
    assert next(line.split()[-2:] for line in said.splitlines() if "small.vec" in line) == ["200", "3"]
    (languages / "broken.vec").write_text("3 2\ndog 1 0\ncat 0.9 0.1\nsun x 2\n")
    said = call("words", "inspect", "broken.vec", "--nearest", "dog", "--nearest", "moon")
    assert "dog: cat 0.99" in said.out
    assert 'broken.vec:4: "x" stands where a number should' in said.err
    assert '"moon" has no vector here' in said.err
    facts = call("words", "inspect", "broken.vec", "-n", "dog", "--json").json
    assert (facts["left_out"], facts["nearest"]["dog"][0][0]) == ({"not a number": 1}, "cat")


def test_train(world_files: Path, own_ground: Path) -> None:
    pytest.importorskip("gensim")
    options = ("--dimensions", 8, "--epochs", 2, "--buckets", 100)
    arguments = ["words", "train", world_files / "corpus", "--language", "de", *options]
    found = call(*arguments, "--out", "de.safetensors", "--json").json
    assert (found["words"], found["captions"], found["dimensions"]) == (10, 200, 8)
    first = (own_ground / "de.safetensors").read_bytes()
    assert call(*arguments, "--out", "de.vec").code == 0
    call(*arguments, "--out", "de.safetensors")
    assert (own_ground / "de.safetensors").read_bytes() == first
    assert storage.read(own_ground / "de.vec")[0].words == storage.load(own_ground / "de.safetensors").words


MISTAKES = {
    "align none.vec b.vec.gz --dictionary d.txt": "none.vec: no such file",
    "align a.vec b.vec.gz --dictionary none.txt": "none.txt: no such file",
    "align a.vec b.vec.gz": "Missing option '--dictionary'",
    "align a.vec b.vec.gz --dictionary d.txt --method svd": "method: input should be 'procrustes' or 'rcsls'",
    "align a.vec b.vec.gz --dictionary d.txt --order up": '--order: "up"',
    "align a.vec b.vec.gz --dictionary d.txt --learning-rate 0": "learning_rate",
    "align a.vec b.vec.gz --dictionary identical": "too few pairs to learn from: 0 of the dictionary's 0 pairs",
    "align a.vec b.vec.gz --dictionary a.vec": "too few pairs to learn from: 0 of the dictionary's 1 pairs",
    "align a.vec b.vec.gz --dictionary d.txt --out d.txt": "d.txt: is a file, where a folder is needed",
    "align a.vec small.vec --dictionary s.txt": "8 dimensions, the target 2",
    "words reduce a.vec --dimensions 9 --out r.vec": "cannot reduce 8 dimensions to 9",
    "words reduce a.vec --dimensions 2 --out r.npy": "r.npy: write word vectors to a name that ends in",
    "words train emojy --language de --out x.vec": "emojy",
    "words train emoji --language de --out x.vec --segmentation words": '--segmentation: "words"',
    "words train emoji --language de --out x.vec --epochs 0": "epochs",
    "words inspect d.txt": "d.txt: holds no word vectors",
}


@pytest.mark.parametrize("arguments", MISTAKES)
def test_mistakes(languages: Path, arguments: str) -> None:
    (languages / "small.vec").write_text("2 2\nb1 1 2\nb2 2 1\n")
    (languages / "s.txt").write_text("a1 b1\na2 b2\n")
    before = content(languages)
    said: Said = call("-q", *arguments.split())
    assert_one_sentence(said, MISTAKES[arguments])
    assert content(languages) == before


def test_an_alignment_does_not_mix_with_another(languages: Path) -> None:
    with only_writer(languages / "ab"):
        said = call("align", "a.vec", "b.vec.gz", "--dictionary", "d.txt", "--out", "ab")
        assert_one_sentence(said, "ab: is being written by another process")
    assert not (languages / "ab").exists()


def test_tokens_of_a_run(world_files: Path) -> None:
    settings = [
        f"features.array={world_files / 'features.npy'}",
        f"features.names={world_files / 'names.txt'}",
        *("system.dimensions=8", "system.word_dimensions=6", "system.universal_dimensions=8", "system.vectors=random"),
        *("system.state_dimensions=8", "system.picture_dimensions=8", "text.minimum_count=1"),
        *("training.batch_size=16", "training.maximum_steps=2", "training.validate_every=2"),
    ]
    corpus = str(world_files / "corpus")
    for system, own in (("la", ["system.latent={tokens: 6, epochs: 1}"]), ("par_embn", [])):
        changes = [part for setting in [*settings, *own] for part in ("--set", setting)]
        assert call("train", "--corpus", corpus, "--system", system, "--out", system, *changes).code == 0
    Path("en-de.txt").write_text("zzz qqq\n")
    found = call("words", "tokens", "la", "--dictionaries", "{base}-{language}.txt", "--json").json
    assert 1 <= found["tokens"] <= 6
    assert found["languages"]["de"]["listed"] == 0
    said = call("words", "tokens", "la", "--dictionaries", "{base}-{language}.txt")
    assert said.code == 0 and "tokens for" in said.out
    assert_one_sentence(call("words", "tokens", "par_embn"), "has no latent tokens")
    assert_one_sentence(call("words", "tokens", "la", "--base", "xx"), "none of the run's languages")
    assert_one_sentence(call("words", "tokens", "la"), "no such file for any language")


def test_align_after_taking_off_the_means(languages: Path) -> None:
    """A shift that all words of a language share tells nothing about them, and hides what does."""
    for name, shift in (("a.vec", 4), ("b.vec.gz", -6)):
        vectors, _ = storage.read(Path(name))
        storage.write(Path(name), WordVectors(vectors.words, vectors.matrix + np.float32(shift)))
    command = ["align", "a.vec", "b.vec.gz", "--dictionary", "d.txt", "--method", "procrustes", "--json"]
    plain, centred = call(*command).json, call(*command, "--centre", "--out", "map").json
    assert centred["precision"]["nn"]["1"] > plain["precision"]["nn"]["1"] + 0.2
    assert {path.name for path in Path("map").glob("*.safetensors")} == {
        *("map.safetensors", "aligned.safetensors", "target.safetensors")
    }
    mapped, target = storage.load(Path("map/aligned.safetensors")), storage.load(Path("map/target.safetensors"))
    assert np.abs(target.matrix.mean(axis=0)).max() < 1e-4
    near = (unit(mapped.matrix) @ unit(target.matrix).T).argmax(axis=1)
    assert (near == np.arange(200)).mean() > 0.9
    again = call("align", "a.vec", "b.vec.gz", "--dictionary", "d.txt", "--map", "map/map.safetensors", "--json").json
    assert again["precision"] == centred["precision"] and again["objective"] == []


def test_a_map_that_is_there_is_tested_and_not_learned(languages: Path) -> None:
    call("align", "a.safetensors", "b.vec.gz", "--dictionary", "d.txt", "--out", "map")
    command = ["align", "map/aligned.safetensors", "b.vec.gz", "--dictionary", "d.txt", "--json"]
    one_space = call(*command, "--map", "identity").json  # as VecMap leaves its two files
    learned = call("align", "a.vec", "b.vec.gz", "--dictionary", "d.txt", "--map", "map/map.safetensors", "--json").json
    assert one_space["precision"] == learned["precision"] and learned["precision"]["nn"]["1"] > 0.8
    Path("small.txt").write_text("1 0\n0 1\n")
    said = call("align", "a.vec", "b.vec.gz", "--dictionary", "d.txt", "--map", "small.txt")
    assert_one_sentence(said, "a map from 2 dimensions cannot take vectors of 8")


def test_words_in_lower_case_as_captions_are(languages: Path) -> None:
    vectors, _ = storage.read(Path("a.vec"))
    storage.write(Path("A.vec"), WordVectors(tuple(word.upper() for word in vectors.words), vectors.matrix))
    command = ["align", "A.vec", "b.vec.gz", "--dictionary", "d.txt"]
    assert call(*command).code == 2
    assert call(*command, "--fold-case", "--json").json["coverage"]["dictionary"]["covered"] == 200
    Path("capitals.txt").write_text("".join(f"A{i} B{i}\na{i} b{i}\n" for i in range(150, 250)))
    found = call(*command, "--fold-case", "--test", "capitals.txt", "--json").json["coverage"]
    assert (found["test"]["pairs"], found["test"]["covered"]) == (100, 50)  # words of the test are folded, too
    assert (found["left_out_because_tested"], found["train"]["pairs"]) == (50, 150)


def test_convert_from_each_format_to_each(languages: Path) -> None:
    for name in ("one.bin", "two.safetensors", "three.vec"):
        before = "a.safetensors" if name == "one.bin" else "one.bin"
        assert call("words", "convert", before, name).code == 0
    first = storage.load(Path("a.safetensors"))
    for name in ("one.bin", "two.safetensors", "three.vec"):
        found, _ = storage.read(Path(name))
        assert found.words == first.words and np.allclose(found.matrix, first.matrix, atol=1e-4)
        assert (found.subwords is None) == (name == "three.vec")
    assert "subwords have no place" in call("words", "convert", "one.bin", "four.vec").out
    assert call("words", "convert", "three.vec", "five.bin", "--json").json["subwords"] is None
    assert_one_sentence(call("words", "convert", "a.vec", "out.npy"), "write word vectors to a name that ends in")
    assert_one_sentence(call("words", "convert", "a.vec", "out.vec", "--half"), "only a .safetensors file")
