"""groundling evaluate --consistency, --translate-to, --by-origin; groundling corpus translate."""

from dataclasses import replace
from pathlib import Path

import commands
import numpy as np
import pytest
from commands import assert_one_sentence, call, content

from conftest import ENGLISH, GERMAN, make_recipe, make_world
from groundling.corpus import Corpus, storage
from groundling.dataset import Dataset
from groundling.evaluation.retrieval import evaluate_retrieval
from groundling.model import Model
from groundling.training import train
from groundling.translation.translation_table import write

own_ground = commands.own_ground  # each test in a folder of its own


def translated(corpus: Corpus) -> Corpus:
    """One caption of each picture and language, the German one word for word the English one in another order."""
    one = corpus.keep_captions(corpus.is_first())
    word = dict(zip(ENGLISH, GERMAN, strict=True))
    english = {int(owner): text for owner, code, text in rows_of(one) if code == "en"}
    texts = [
        text if code == "en" else " ".join(word[part] for part in reversed(english[owner].split()))
        for owner, code, text in rows_of(one)
    ]
    return replace(one, texts=texts, origins=np.where(one.languages == "de", "translation", "human"))


def rows_of(corpus: Corpus) -> list[tuple[int, str, str]]:
    return list(zip(corpus.owners.tolist(), corpus.languages.tolist(), corpus.texts, strict=True))


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """corpus/: parallel captions; run/: a model of both languages; english/: one of English only."""
    folder, world = tmp_path_factory.mktemp("translations"), make_world()
    corpus = translated(world.corpus)
    storage.save(corpus, folder / "corpus")
    storage.save(world.corpus, folder / "comparable")
    np.save(folder / "features.npy", world.features)
    (folder / "names.txt").write_text("".join(f"{name}\n" for name in corpus.pictures))
    features = {"array": str(folder / "features.npy"), "names": str(folder / "names.txt")}
    dataset = Dataset(corpus, world.features)
    for name, languages in (("run", None), ("english", ["en"])):
        named = {"name": str(folder / "corpus"), "languages": languages}
        own = {} if languages is None else {"caption_pairs": 0}
        recipe = make_recipe(corpus=named, features=features, training={"maximum_steps": 60}, system=own)
        train(recipe, dataset if languages is None else dataset.only(languages), folder / name, device="cpu")
    word = dict(zip(GERMAN, ENGLISH, strict=True))
    german = [text for _, code, text in rows_of(corpus) if code == "de"]
    lines = [("de", "en", text, " ".join(word[part] for part in text.split())) for text in german]
    write(folder / "table.tsv", lines)
    return folder


def test_an_average_is_that_of_the_scores_and_nothing_is_overwritten(ground: Path) -> None:
    call("evaluate", ground / "run", "--device", "cpu")
    before = content(ground / "run")
    result = call("evaluate", ground / "run", "--consistency", "average", "--json", "--device", "cpu").json
    assert content(ground / "run") == before
    facts = result["consistency"]
    assert (facts["how"], facts["languages"]) == ("average", ["de", "en"])
    assert facts["translated"] == {"de": 100, "en": 100}
    model, corpus = Model.load(ground / "run", "cpu"), storage.load(ground / "corpus").split("test")
    world = make_world()
    pictures = model.encode_features(world.features[world.corpus.splits == "test"]).astype(np.float64)
    vectors = {
        code: model.encode_text([text for _, other, text in rows_of(corpus) if other == code], code).astype(np.float64)
        for code in ("en", "de")
    }
    owners = corpus.owners[corpus.languages == "en"]
    scores = (pictures @ vectors["en"].T + pictures @ vectors["de"].T) / 2
    ranks = [1 + int((scores[:, c] > scores[owner, c]).sum()) for c, owner in enumerate(owners.tolist())]
    for code in ("en", "de"):  # translations of each other: together they ask the same in either language
        found = result["languages"][code]["text_to_image"]
        assert found["mean"] == pytest.approx(np.mean(ranks))
        assert found["R@1"] == pytest.approx(100 * np.mean(np.array(ranks) == 1))
    alone = evaluate_retrieval(model, Dataset(storage.load(ground / "corpus"), world.features)).result.to_json()
    assert result["alone"]["languages"] == alone["languages"]
    table = call("evaluate", ground / "run", "--consistency", "average", "--device", "cpu").out
    assert "mR together" in table
    assert "translations in the corpus" in table


def test_a_learned_mixture_says_what_it_learned(ground: Path) -> None:
    result = call("evaluate", ground / "run", "--consistency", "learned", "--json", "--device", "cpu").json
    facts = result["consistency"]
    assert facts["parameters"] == 2 * 32 + 32
    assert facts["learned_from"] == 50
    assert facts["loss"][1] < facts["loss"][0]
    assert sum(facts["importance"].values()) == pytest.approx(1)
    assert "weight" in call("evaluate", ground / "run", "--consistency", "learned", "--device", "cpu").out


def test_captions_of_the_same_picture_are_no_translations_unless_asked_for(ground: Path) -> None:
    arguments = ["evaluate", ground / "run", "--corpus", ground / "comparable", "--consistency", "average"]
    assert_one_sentence(call(*arguments), "no test caption of corpus world has a translation there")
    result = call(*arguments, "--source", "comparable", "--json").json
    assert result["consistency"]["upper_bound"] is True
    assert "an upper bound, not a result" in " ".join(call(*arguments, "--source", "comparable").out.split())


def test_a_table_translates_some_queries_and_the_others_ask_alone(ground: Path) -> None:
    arguments = ["--corpus", ground / "comparable", "--consistency", "average", "--source", ground / "table.tsv"]
    result = call("evaluate", ground / "run", *arguments, "--json").json
    shares = result["consistency"]["translated"]
    assert shares["en"] == 0  # the table goes one way
    assert 0 < shares["de"] < 100
    assert result["languages"]["en"] == result["alone"]["languages"]["en"]


def test_translated_queries_are_asked_in_english(ground: Path) -> None:
    before = content(ground / "english")
    arguments = ["evaluate", ground / "english", "--translate-to", "en", "--source", ground / "table.tsv"]
    result = call(*arguments, "--json").json
    assert set(result["languages"]) == {"en", "de"}
    assert result["untranslated"] == {}
    # Bag or not, the table gives the English words back to front: as good as English, up to the order of words.
    plain = call("evaluate", ground / "english", "--split", "test", "--captions", "all", "--json").json
    assert result["languages"]["en"] == plain["languages"]["en"]
    assert result["languages"]["de"]["text_to_image"]["R@10"] > 60  # chance is 40
    assert content(ground / "english") == before
    assert_one_sentence(
        call("evaluate", ground / "english", "--translate-to", "de", "--source", ground / "table.tsv"),
        'was trained on en; it cannot be asked in "de"',
    )
    few = ground / "few.tsv"
    few.write_text("de\ten\thund\tdog\n", encoding="utf-8")
    assert_one_sentence(call("evaluate", ground / "english", "--translate-to", "en", "--source", few), "less than 90%")


def test_origins_are_asked_apart(ground: Path) -> None:
    result = call("evaluate", ground / "run", "--by-origin", "--json").json
    plain = call("evaluate", ground / "run", "--captions", "all", "--json").json
    assert {origin: list(part["languages"]) for origin, part in result["origins"].items()} == {
        "human": ["en"],
        "translation": ["de"],
    }
    assert result["origins"]["translation"]["languages"]["de"] == plain["languages"]["de"]
    table = call("evaluate", ground / "run", "--by-origin").out
    assert "captions of origin translation" in table
    assert "Captions: de 25" in table


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--consistency", "mean"], '"mean" is not average or learned'),
        (["--consistency", "average", "--by-origin"], "two questions"),
        (["--source", "own"], "--source goes with"),
        (["--consistency", "learned", "--split", "dev"], "learns on the dev split"),
        (["--consistency", "average", "--source", "nowhere.tsv"], "nowhere.tsv: no such file or folder"),
        (["--vectors", "a", "b", "--by-origin"], "--by-origin goes with a model"),
    ],
)
def test_mistakes_are_one_sentence(ground: Path, arguments: list[str], words: str) -> None:
    assert_one_sentence(call("evaluate", ground / "run", *arguments), words)


def test_a_corpus_is_translated_into_a_folder(ground: Path, own_ground: Path) -> None:
    corpus = storage.load(ground / "corpus")
    only_german = corpus.keep_captions(corpus.languages == "de")
    storage.save(only_german, own_ground / "german")
    said = call("corpus", "translate", "german", "--to", "en", "--source", ground / "table.tsv", "--out", "both")
    assert said.code == 0, said.err
    assert "en: 150 captions translated" in said.out
    both = storage.load(own_ground / "both")
    assert both.counts()["train"] == {"pictures": 100, "de": 100, "en": 100}
    assert set(both.origins[both.languages == "en"]) == {"machine"}
    assert both.root == only_german.root
    # What was translated into what is a source of translations itself.
    again = call("corpus", "translate", "german", "--to", "en", "--source", "both/translations.tsv", "--out", "third")
    assert again.code == 0, again.err
    assert storage.load(own_ground / "third").texts == both.texts
    facts = call(
        *("corpus", "translate", "german", "--to", "en", "--source", ground / "table.tsv", "--out", "f", "--json")
    ).json
    assert facts["made"] == {"en": 150}
    assert facts["short"] == {"en": 150}  # one caption, where five were wanted


def test_a_mistake_in_translating_writes_nothing(ground: Path, own_ground: Path) -> None:
    arguments = ["corpus", "translate", ground / "corpus", "--source", ground / "table.tsv", "--out", "out"]
    assert_one_sentence(call(*arguments, "--to", "fr"), "translates none of the captions")
    assert_one_sentence(call(*arguments, "--to", "french!"), 'language "french!" is not a code')
    assert_one_sentence(call(*arguments, "--to", "fr", "--from", "cs"), 'no captions in "cs"')
    assert not (own_ground / "out").exists()


def test_a_model_of_one_language_has_no_other_to_be_asked_in(ground: Path) -> None:
    answer = call("evaluate", ground / "english", "--consistency", "average", "--source", ground / "table.tsv")
    assert_one_sentence(answer, "knows one language, en, so that there is no other to ask in; --translate-to en")


def test_captions_without_a_translation_are_counted_as_they_are(ground: Path) -> None:
    corpus = storage.load(ground / "corpus")
    lines = (ground / "table.tsv").read_text(encoding="utf-8").splitlines()
    german = [text for _, code, text in rows_of(corpus.split("test")) if code == "de"]
    lost = set(german[: len(german) // 2])
    half = ground / "half.tsv"
    half.write_text("".join(f"{line}\n" for line in lines if line.split("\t")[2] not in lost), encoding="utf-8")
    with half.open("a", encoding="utf-8") as file:
        file.writelines(f"fr\ten\t{text}\t{text}\n" for text in set(german))
    again = corpus.languages == "de"  # the same sentences once more, as French
    both = replace(
        corpus,
        owners=np.concatenate([corpus.owners, corpus.owners[again]]),
        languages=np.concatenate([corpus.languages, np.full(int(again.sum()), "fr")]),
        texts=[*corpus.texts, *(text for _, code, text in rows_of(corpus) if code == "de")],
        origins=np.concatenate([corpus.origins, corpus.origins[again]]),
    )
    storage.save(both, ground / "three")
    arguments = ["evaluate", ground / "english", "--corpus", ground / "three", "--translate-to", "en", "--source", half]
    missing = sum(text in lost for text in german)
    assert call(*arguments, "--json").json["untranslated"] == {"de": missing}
    said = call(*arguments)
    assert f"de was left out: {missing} of its captions have no translation" in said.err
