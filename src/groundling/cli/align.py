"""groundling align"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from groundling.cli.output import AsJson, Device, print_json, print_table
from groundling.cli.words import MaxWords, warn_of_problems

if TYPE_CHECKING:
    from groundling.words.alignment import Alignment
    from groundling.words.dictionary import Pair
    from groundling.words.vectors import WordVectors

METHODS = "procrustes or rcsls."


def align(
    source: Annotated[Path, typer.Argument(help="Word vectors to map: .vec, .vec.gz, .bin or .safetensors.")],
    target: Annotated[Path, typer.Argument(help="Word vectors of the language to map them to.")],
    dictionary: Annotated[
        str, typer.Option(help="Pairs of words (.gz too), or `identical`: words that both languages write alike.")
    ],
    existing: Annotated[
        str | None,
        typer.Option(
            "--map",
            help="Test this map and learn none: map.safetensors of --out, a matrix as text (fastText's), or `identity` "
            "for vectors that are in one space already (VecMap's).",
        ),
    ] = None,
    centre: Annotated[
        bool, typer.Option("--centre", help="Take the mean of each language's words off its vectors first.")
    ] = False,
    fold_case: Annotated[
        bool, typer.Option("--fold-case", help="Words in lower case, as captions are read: `hund` for Hund.")
    ] = False,
    method: Annotated[str, typer.Option(help=METHODS)] = "rcsls",
    test: Annotated[
        Path | None, typer.Option(help="Pairs to test on; a fifth of the dictionary's words when left out.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for the map, the mapped vectors and the result.")
    ] = None,
    max_words: MaxWords = 200_000,
    iterations: Annotated[int, typer.Option(min=1, help="Steps of RCSLS.")] = 10,
    learning_rate: Annotated[float, typer.Option(help="First step size of RCSLS.")] = 1.0,
    neighbours: Annotated[int, typer.Option(min=1, help="Nearest neighbours for RCSLS and CSLS.")] = 10,
    max_neg: Annotated[
        int | None, typer.Option(min=1, help="RCSLS looks for neighbours among the first so many words; all.")
    ] = None,
    spectral: Annotated[
        bool, typer.Option("--spectral", help="Keep RCSLS's map from making any vector longer.")
    ] = False,
    order: Annotated[
        str, typer.Option(help="Of the dictionary: as-written, swapped, or auto: whichever fits more words.")
    ] = "auto",
    seed: Annotated[int, typer.Option(min=0, help="Of the words that are drawn for the test.")] = 0,
    half: Annotated[bool, typer.Option("--half", help="Store mapped vectors in float16.")] = False,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Map the words of one language into the space of another with a bilingual dictionary.

    Prints how often a right translation is the nearest, or among the 5 or 10 nearest words of the other language, for
    words that were not learned from: by cosine (nn) and by CSLS.
    """
    import numpy as np

    from groundling.devices import pick_device
    from groundling.errors import UserError, did_you_mean
    from groundling.settings import check
    from groundling.text.segmentation import normalise
    from groundling.words import alignment, storage
    from groundling.words.dictionary import identical, read_pairs
    from groundling.words.word_map import WordMap, read_map

    if order not in ("auto", "as-written", "swapped"):
        raise UserError(f'--order: "{order}"{did_you_mean(order, ("auto", "as-written", "swapped"))}')
    values = {
        "method": method,
        "iterations": iterations,
        "learning_rate": learning_rate,
        "neighbours": neighbours,
        "max_neg": max_neg,
        "spectral": spectral,
        "centre": centre,
        "seed": seed,
    }
    settings = check(alignment.AlignSettings, values, "groundling align")
    if out is not None and out.exists() and not out.is_dir():
        raise UserError(f"{out}: is a file, where a folder is needed; choose another name")
    place = pick_device(device)
    words_a, problems_a = storage.read(source, max_words)
    words_b, problems_b = storage.read(target, max_words)
    if fold_case:
        words_a, words_b = (words.folded(normalise) for words in (words_a, words_b))
    alignment.check_sizes(words_a, words_b)
    given = None
    if existing == "identity":
        given = WordMap(np.eye(words_a.dimensions, dtype=np.float32), {"method": "identity"})
    elif existing is not None:
        given = read_map(Path(existing))
        given.check(words_a)
        if len(given.matrix) != words_b.dimensions:
            raise UserError(f"{existing}: maps to {len(given.matrix)} dimensions; the target has {words_b.dimensions}")
    if given is not None:
        method = f"{given.about.get('method', 'the map')} of {existing}" if existing != "identity" else "identity"
    problems = [problems_a, problems_b]
    if dictionary == "identical":
        pairs = identical(words_a, words_b)
    else:
        pairs, more = read_pairs(Path(dictionary))
        problems.append(more)
    test_pairs = None
    if test is not None:
        test_pairs, more = read_pairs(test)
        problems.append(more)
    if fold_case:
        pairs, test_pairs = _folded(pairs), None if test_pairs is None else _folded(test_pairs)
    prepared = alignment.prepare_pairs(pairs, test_pairs, words_a, words_b, settings, order)  # type: ignore[arg-type]
    warn_of_problems(problems)
    found = alignment.align(words_a, words_b, prepared, settings, place, given)
    result = {
        "precision": found.precision,
        "objective": found.objective,
        "coverage": found.coverage.to_json(),
        "method": method,
        "words": {"source": len(words_a), "target": len(words_b), "dimensions": words_a.dimensions},
    }
    if out is not None:
        _write(out, words_a, words_b, found, half, {**result, "source": str(source), "target": str(target)})
    if as_json:
        return print_json(result)
    _show(found, method, f"{source.name} → {target.name}")
    if out is not None:
        centred = ", target.safetensors (the target less its mean)" if found.word_map.mean is not None else ""
        print(f"Written to {out}: map.safetensors, aligned.safetensors{centred}, alignment.json")


def _folded(pairs: "list[Pair]") -> "list[Pair]":
    """In lower case, as the vectors' words are then; pairs that have become one count once."""
    from groundling.text.segmentation import normalise

    return list(dict.fromkeys((normalise(one), normalise(other)) for one, other in pairs))


def _write(
    out: Path, vectors: "WordVectors", target: "WordVectors", found: "Alignment", half: bool, result: dict[str, Any]
) -> None:
    from groundling.files import only_writer, write_json
    from groundling.words import storage
    from groundling.words.alignment import mean_of_words

    with only_writer(out):  # map, vectors and facts of one alignment, never of two
        found.word_map.save(out / "map.safetensors")
        found.word_map.check(vectors)
        storage.save(out / "aligned.safetensors", vectors, half, found.word_map.rows)
        if found.word_map.mean is not None:  # what mapped words lie among
            mean = mean_of_words(target)
            storage.save(out / "target.safetensors", target, half, lambda rows: rows - mean)
        write_json(out / "alignment.json", result)


def _show(found: "Alignment", method: str, languages: str) -> None:
    from groundling.report.formatted_table import Column, Table

    coverage = found.coverage
    given, tested = coverage.dictionary, coverage.tested
    columns = [Column("retrieval by", text=True), *(Column(f"P@{depth}", best="high") for depth in ("1", "5", "10"))]
    names = {"nn": "cosine (nn)", "csls": "CSLS"}
    rows: list[list[str | float]] = [
        [names[key], *(100 * value for value in shares.values())] for key, shares in found.precision.items()
    ]
    notes = [
        f"{given.covered:,} of {given.pairs:,} pairs have vectors in both languages"
        + (" (dictionary turned round)." if given.swapped else "."),
        f"Learned from {coverage.train.pairs:,} pairs, tested on {tested.source_words:,} other words "
        f"({tested.pairs:,} pairs), percent.",
    ]
    if coverage.left_out_because_tested:
        notes.append(f"{coverage.left_out_because_tested:,} pairs were not learned from: their words are tested.")
    if found.objective and method == "rcsls":
        notes.append("Objective: " + " ".join(f"{value:.4f}" for value in found.objective))
    print_table(Table(f"{languages}, {method}", columns, rows, notes))
