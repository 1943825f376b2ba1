"""groundling corpus build of shards: what a user types, and what is said of mistakes."""

import io
import tarfile
from pathlib import Path

import commands
from commands import assert_one_sentence, call
from PIL import Image

own_ground = commands.own_ground  # each test in a folder of its own


def write_shard(path: Path, texts: list[str]) -> None:
    path.parent.mkdir(exist_ok=True)
    with tarfile.open(path, "w") as archive:
        for number, text in enumerate(texts):
            file = io.BytesIO()
            Image.new("RGB", (8, 8), (number, len(text), 7)).save(file, "PNG")
            for suffix, data in (("png", file.getvalue()), ("txt", text.encode())):
                member = tarfile.TarInfo(f"{number}.{suffix}")
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))


def test_shards_become_a_corpus(own_ground: Path) -> None:
    write_shard(own_ground / "shards/train-000.tar", ["a dog on the beach", "a cat"])
    write_shard(own_ground / "shards/test-000.tar", ["A dog on the beach!"])
    built = call("corpus", "build", "shards/{train,test}-000.tar", "--language", "en", "--out", "corpus", "--json").json
    assert (built["pictures"], built["captions"], built["problems"]) == (3, 3, [])
    found = call("corpus", "inspect", "corpus", "--json").json
    assert found["splits"]["train"] == {"pictures": 2, "en": 2}
    assert found["leaks"]["captions"]["en"]["test"]["count"] == 1
    again = call("corpus", "build", "shards/train-000.tar", "shards/test-000.tar", "--language", "en", "--out", "two")
    assert again.code == 0 and "Written to two" in again.out


def test_mistakes_are_one_sentence(own_ground: Path) -> None:
    write_shard(own_ground / "shards/0.tar", ["a dog"])
    build = ("corpus", "build", "--out", "corpus")
    assert_one_sentence(call(*build, "shards/0.tar"), "do not say their language; give --language")
    assert_one_sentence(call(*build, "shards/{0..3}.tar"), "1.tar: no such file or folder (and 2 more of 4)")
    assert_one_sentence(call(*build, "shards/0.tar", "--language", "english"), 'language "english" is not a code')
    assert_one_sentence(call("corpus", "inspect", "shards/0.tar"), "shards are made into a corpus first")
    assert_one_sentence(call("corpus", "inspect", "shards/*.tar"), "shards are made into a corpus first")
    assert not (own_ground / "corpus").exists()
