"""Plans: worked by hand from the measured numbers, which stand on their pages; docs/scale.md is what is printed."""

import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from commands import assert_one_sentence, call

from groundling import large_arrays
from groundling.plan import Work, measured, plan
from groundling.plan.estimate import EXACT_UP_TO, HELD_UP_TO, advice, decode_seconds
from groundling.plan.plan_table import hours, parts_table, size, total_cost

ROOT = Path(__file__).parents[2]
WORK = Work(pictures=3_600_000, captions=18_432_000, cores=10)


def parts(work: Work = WORK) -> dict:
    return {part.what: part for part in plan(work).parts}


def test_hours_are_the_measured_seconds_times_the_work() -> None:
    found = parts()
    assert found["encode pictures"].core_hours == pytest.approx(1000 * (0.0044 + 0.0218))
    assert found["encode pictures"].hours == pytest.approx(100 * (0.0044 + 0.0218))
    assert found["train"].hours == pytest.approx(10 * 18_432_000 / 128 / 6.1 / 3600)
    assert found["train"].core_hours == pytest.approx(2 * found["train"].hours)
    with_gpu = parts(replace(WORK, gpus=8))["train"]
    assert with_gpu.gpu_hours == with_gpu.hours == pytest.approx(1_440_000 / 1038 / 3600)
    assert with_gpu.core_hours is None and "was not measured" in with_gpu.note
    # 5,000 pictures with 25,600 captions × 512, of 5,000 × 25,000 × 1,024 in 1.77 s on two cores
    assert found["evaluate"].core_hours == pytest.approx(2 * 1.77 * 1.024 / 2 / 3600)
    # and of 200,000 × 400,000 × 512 in 0.918 s on a GPU
    with_gpu = parts(replace(WORK, gpus=8))["evaluate"]
    assert with_gpu.gpu_hours == with_gpu.hours == pytest.approx(0.918 / 40 * 25.6 / 400 / 3600)
    assert with_gpu.core_hours is None
    assert found["index, exact"].query == pytest.approx(36 * 0.0153)
    # 0.36 of ten million vectors, of 8 times as many numbers, with 0.36 ** 0.5 as many lists to compare each with
    disk = found["index, on disk"]
    assert disk.core_hours == disk.hours == pytest.approx((91.1 * 0.36**1.5 + (175 - 91.1) * 0.36) * 8 / 3600)
    ten_times = parts(replace(WORK, pictures=36_000_000))["index, on disk"]
    assert 10 * disk.hours < ten_times.hours < 10**1.5 * disk.hours
    # 18,432,000 captions, of ten million in 262 + 245.2 s
    # 18 times as many vectors of 8 times as many numbers, and 18 ** 0.5 times as many lists
    assert found["index, approximate"].hours == pytest.approx(8.6 * 18**1.5 * 8 / 3600)
    assert found["build the corpus"].core_hours == pytest.approx(507.2 * 1.8432 / 3600)
    # 3.6 times as many rows of 4 times as many numbers as a million of 128 at 27,046 a second
    assert found["index, Milvus"].hours == pytest.approx(3_600_000 * 4 / 27_046 / 3600)
    assert found["index, Milvus"].core_hours == pytest.approx(22.8 * 3.6 * 4 / 3600)


def test_encoding_on_gpus_takes_as_long_as_the_slower_of_decoding_and_the_network() -> None:
    one = parts(replace(WORK, gpus=1))["encode pictures"]
    assert one.core_hours == pytest.approx(1000 * 0.0044)  # decoding alone
    assert one.gpu_hours == pytest.approx(1000 / 14_906)
    slowed = 3_528 / 2_376  # cores have other things to do
    assert one.hours == pytest.approx(100 * 0.0044 * slowed) and one.hours < parts()["encode pictures"].hours
    assert "98 would keep up" in one.note  # 14,906 × 0.0044 × slowed = 97.4
    assert parts(replace(WORK, gpus=2))["encode pictures"].hours == one.hours
    many = replace(WORK, cores=1000)
    with_one, with_two = (parts(replace(many, gpus=gpus))["encode pictures"] for gpus in (1, 2))
    assert with_one.hours == pytest.approx(1000 / 14_906) and with_two.hours == pytest.approx(500 / 14_906)
    assert with_one.note == "" and "--ray" in with_two.note


def test_features_that_exceed_the_memory_of_a_gpu_are_not_trained_on_there() -> None:
    work = replace(WORK, gpus=8, gpu_memory=3_600_000 * 4 * 1280)
    assert parts(work)["train"].hours is not None
    large = parts(replace(work, pictures=3_600_001))["train"]
    assert large.hours is large.gpu_hours is None and large.memory == 3_600_001 * 4 * 1280
    assert "do not share" in large.note and "fewer than 3,600,000 pictures" in large.note
    assert parts(replace(work, pictures=3_600_001, gpus=0))["train"].hours is not None  # mapped into memory
    row = call("plan", "--markdown").out.rstrip().splitlines()[-1]
    assert "100,000,000" in row and "does not fit a GPU" in row
    assert "does not fit" not in call("plan", "--gpu-memory", "600", "--markdown").out


def test_bytes_are_those_of_the_formats() -> None:
    found = parts()
    assert found["cache features"].disk == 3_600_000 * (4 * 1280 + 32)
    table = 3_600_000 * 112  # bytes of a name of 15 characters, a digest, a size and two dates
    assert found["index, on disk"].disk == pytest.approx(3_600_000 * (2 * 512 + 128 + 8) + table)
    assert found["index, on disk"].memory == found["index, Milvus"].memory == 3_600_000 * 1222
    for kind in ("exact", "approximate", "Milvus"):
        assert found[f"index, {kind}"].disk == pytest.approx(3_600_000 * 4 * 512 + table)
    for kind in ("exact", "approximate", "Milvus", "on disk"):
        assert found[f"index, {kind}"].journal == 3_600_000 * 4 * 512
    assert any(
        "until it is built, 7.4 GB of vectors wait in a journal" in note for note in parts_table(plan(WORK)).notes
    )
    assert found["index, exact"].memory == 3_600_000 * (2 * 4 * 512 + 1222)
    assert found["build the corpus"].memory == pytest.approx(3.09e9 * 1.8432)
    # 18 GB of features are mapped into memory; on a GPU they must lie in its own
    assert found["cache features"].memory is found["train"].memory is None
    assert parts(replace(WORK, gpus=1))["train"].memory == 3_600_000 * 4 * 1280
    small = parts(replace(WORK, pictures=100_000))
    assert small["cache features"].memory == small["train"].memory == 100_000 * 4 * 1280
    assert HELD_UP_TO == large_arrays.LARGE
    alone = 702e6 - 4 * 512 * 100_000
    assert found["serve, in memory"].memory == pytest.approx(alone + 3_600_000 * 4 * 512)
    assert found["serve, from disk"].memory == pytest.approx(alone + 0.04e9)
    assert "4.6 GB are mapped" in found["serve, from disk"].note


def test_decoding_goes_through_both_points_that_were_measured() -> None:
    assert decode_seconds(0.64 * 0.48) == pytest.approx(0.0044)
    assert decode_seconds(12) == pytest.approx(0.0483)
    assert decode_seconds(6) == pytest.approx(0.0044 + (0.0483 - 0.0044) * (6 - 0.3072) / (12 - 0.3072))
    assert decode_seconds(1e-6) > 0


def test_costs_are_computed_only_where_there_are_prices() -> None:
    assert all(part.cost is None for part in plan(WORK).parts)
    assert "cost" not in [column.name for column in parts_table(plan(WORK)).columns]
    priced = replace(WORK, gpus=1, gpu_price=3.0)
    found = parts(priced)
    assert found["train"].cost == pytest.approx(3 * found["train"].gpu_hours)
    assert found["encode pictures"].cost is None  # cores have no price
    assert "cost" in [column.name for column in parts_table(plan(priced)).columns]
    assert parts(replace(WORK, core_price=0.5))["encode pictures"].cost == pytest.approx(500 * 0.0262)


def test_a_machine_is_paid_by_the_clock_and_only_the_index_that_is_advised() -> None:
    made = plan(replace(WORK, gpus=1, machine_price=4.0))
    for part in made.parts:
        assert part.cost == (None if part.hours is None else pytest.approx(4 * part.hours))
    done = {part.what: part for part in made.done}
    assert "index, approximate" in done and "index, on disk" not in done and "index, exact" not in done
    assert total_cost(made) == pytest.approx(4 * sum(part.hours for part in done.values() if part.hours is not None))
    (note,) = [note for note in parts_table(made).notes if "prices" in note]
    assert note.endswith("build the corpus; encode pictures; train; evaluate; index, approximate.")
    assert " 110 without training " in call("plan", "--machine-hour", "4", "--markdown").out


def test_advice_follows_what_an_index_does_by_itself() -> None:
    from groundling.search import store

    assert EXACT_UP_TO == store.EXACT_UP_TO
    assert "exact" in advice(EXACT_UP_TO)
    assert "ivf" in advice(EXACT_UP_TO + 1)
    assert "faiss-disk" in advice(10**7) and "faiss-disk" in advice(10**8)
    assert "milvus" in advice(10**8 + 1)


@pytest.mark.parametrize("one", measured.ALL, ids=lambda one: one.what)
def test_each_number_stands_on_its_page_under_its_command(one: measured.Measured) -> None:
    page = (ROOT / one.page).read_text(encoding="utf-8")
    place = page.index(f"    {one.command}")
    section = page[place : page.index("\n## ", place)]
    assert re.search(rf"(?<![\d,.]){re.escape(one.shown)}(?![\d])", section)
    number = float(re.match(r"[\d.,]+", one.shown)[0].replace(",", ""))
    assert one.value == pytest.approx(number / 1000 if " ms" in one.shown else number)
    assert (ROOT / one.command.split()[1]).is_file()


def test_the_page_is_what_the_command_prints() -> None:
    page = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    shown = re.findall(r"^<!-- (groundling plan.*?) -->\n", page, re.MULTILINE)
    assert len(shown) == 3
    for command in shown:
        said = call(*shlex.split(command)[1:])
        assert said.code == 0
        assert f"<!-- {command} -->\n{said.out.rstrip()}\n" in page
    for one in measured.ALL:
        assert f"| {one.what} | {one.shown}" in page


def test_the_command_for_programs_and_people() -> None:
    made = call("plan", "--pictures", "1e7", "--captions", "5e7", "--gpus", "8", "--json").json
    assert made["work"]["pictures"] == 10**7 and made["work"]["captions"] == 5 * 10**7
    assert {"value", "unit", "command", "page"} <= made["constants"][0].keys()
    assert len(call("plan", "--json").json) == 5
    assert "cache features" in call("plan", "--pictures", "2000").out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--pictures", "0"], "--pictures: from 1"),
        (["--pictures", "nan"], "--pictures: from 1"),
        (["--pictures", "10", "--captions", "-5"], "--captions: from 1"),
        (["--pictures", "10", "--cores", "0"], "--cores: at least 1"),
        (["--pictures", "10", "--gpus", "-1"], "--gpus cannot be less than 0"),
        (["--pictures", "10", "--gpu-hour", "-1"], "--gpu-hour: a price of 0 or more, not -1"),
        (["--gpu-hour", "inf"], "--gpu-hour: a price of 0 or more, not inf"),
        (["--cpu-hour", "nan"], "--cpu-hour: a price of 0 or more, not nan"),
        (["--machine-hour", "inf"], "--machine-hour: a price of 0 or more, not inf"),
        (["--machine-hour", "-1"], "--machine-hour: a price of 0 or more, not -1"),
        (["--pictures", "10", "--megapixels", "nan"], "--megapixels: more than 0 is needed, not nan"),
        (["--megapixels", "inf"], "--megapixels: more than 0 is needed, not inf"),
        (["--gpu-memory", "0"], "--gpu-memory: more than 0 is needed, not 0"),
        (["--machine-hour", "4", "--cpu-hour", "1"], "--machine-hour is the price of all there is"),
        (["--captions", "10"], "--captions goes with --pictures"),
    ],
)
def test_mistakes_are_one_sentence(arguments: list[str], words: str) -> None:
    assert_one_sentence(call("plan", *arguments), words)


def test_numbers_for_people() -> None:
    assert [size(value) for value in (None, 5e3, 52e6, 2.05e9, 2e11, 1.5e12)] == [
        "–",
        "5 kB",
        "52 MB",
        "2 GB",
        "200 GB",
        "1.5 TB",
    ]
    assert [hours(value) for value in (None, 0.001, 0.456, 45.4)] == ["–", "under 0.01", "0.46", "45"]
