"""groundling corpus list | build | inspect"""

from pathlib import Path
from typing import Annotated

import typer

from groundling.cli.output import AsJson, Data, print_json, print_table, print_words

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

Name = Annotated[
    str, typer.Argument(help="A corpus by name, a corpus folder, or a captions table (JSONL, CSV, Parquet).")
]


@app.command("list")
def list_corpora(as_json: AsJson = False) -> None:
    """The corpora that are known by name."""
    from groundling.corpus import catalogue

    known = catalogue.names()
    if as_json:
        return print_json([{"name": name, "description": about, "needs": needs} for name, about, needs in known])
    print_words("Corpora", ["name", "what it is", "needs"], [list(row) for row in known])


@app.command("build")
def build(
    source: Name,
    out: Annotated[Path, typer.Option("--out", "-o", help="The corpus folder to write.")],
    split: Annotated[str | None, typer.Option(help="For emoji: concept (default) or artist.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first bad row or unreadable picture.")] = False,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Check pictures and captions and write them as a corpus folder.

    Bad rows and unreadable pictures are listed and left out; with --strict they stop the build and nothing is written.
    """
    from groundling.corpus import catalogue, inspect, storage

    corpus, problems = catalogue.load_with_report(source, data=data, split=split, strict=strict)
    storage.save(corpus, out)
    if as_json:
        return print_json({"folder": str(out), "problems": problems, **inspect.describe(corpus)})
    for problem in problems[:20]:
        typer.echo(problem, err=True)
    if problems:
        more = f" ({len(problems) - 20} more not shown)" if len(problems) > 20 else ""
        typer.echo(f"{len(problems)} problems, left out{more}", err=True)
    _print_counts(corpus.counts(), corpus.name)
    print(f"Written to {out}")


@app.command("inspect")
def inspect_corpus(
    source: Name,
    split: Annotated[str | None, typer.Option(help="For emoji: concept (default) or artist.")] = None,
    features: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER|ARRAY.npy",
            help="Compare pictures by these features: a folder that `groundling features --out` wrote, or an array "
            "with --names; those that came with the corpus when left out.",
        ),
    ] = None,
    names: Annotated[Path | None, typer.Option(help="With --features ARRAY.npy: the list of its pictures.")] = None,
    threshold: Annotated[
        float, typer.Option(min=0, max=1, help="The cosine of features from which two pictures count as the same.")
    ] = 0.999,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Counts by split and language, lengths, origins, and what leaks from the training into the test split.

    Captions are compared without case, punctuation and Unicode variants, pictures by the bytes of their files and by
    their features, where there are any; what was not compared is said.
    """
    from groundling.corpus import catalogue, inspect
    from groundling.corpus.leaks import leaks
    from groundling.vision.from_settings import array_rows

    pair = _array_and_names(features, names)
    corpus = catalogue.load(source, data=data, split=split)
    vectors, rows = array_rows(corpus, pair)
    facts = {**inspect.describe(corpus), "leaks": leaks(corpus, vectors, rows, threshold)}
    if as_json:
        return print_json(facts)
    _print_counts(corpus.counts(), corpus.name)
    for line in inspect.summary(facts):
        print(line)


def _array_and_names(features: Path | None, names: Path | None) -> tuple[Path, Path] | None:
    from groundling.errors import UserError

    if features is not None and names is None and features.is_dir():
        return features / "features.npy", features / "names.txt"
    if features is None and names is None:
        return None
    if features is None or names is None:
        raise UserError("--features ARRAY.npy and --names LIST go together: the array, and the list of its pictures")
    return features, names


@app.command("words")
def words(
    source: Name,
    minimum_count: Annotated[int, typer.Option(min=1, help="Count words with at least so many occurrences.")] = 4,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Sizes of the languages' vocabularies in the training captions, and how many words they share."""
    from groundling.corpus import catalogue
    from groundling.text.overlap import overlap

    found = overlap(catalogue.load(source, data=data), minimum_count)
    if as_json:
        return print_json(found)
    from groundling.report.tables import Column, Table

    codes = list(found["words"])
    rows: list[list[str | int | float | None]] = []
    for at, one in enumerate(codes):
        shared = [found["jaccard"].get(f"{one}-{other}") for other in codes[at + 1 :]]
        rows.append([one, found["words"][one], *[None] * at, 1.0, *shared])
    headings = [Column("", text=True), Column("words", decimals=0), *(Column(code, decimals=2) for code in codes)]
    note = f"{found['sum']:,} words in all languages, {found['union']:,} different ones."
    print_table(Table(f"Words of {source} and their overlap (Jaccard)", headings, rows, [note]))


def _print_counts(counts: dict[str, dict[str, int]], name: str) -> None:
    from groundling.report.tables import Column, Table

    columns = list(dict.fromkeys(column for row in counts.values() for column in row))
    rows: list[list[str | int]] = [
        [split, *(row.get(column, 0) for column in columns)] for split, row in counts.items()
    ]
    headings = [Column("split", text=True), *(Column(column, decimals=0) for column in columns)]
    print_table(Table(f"Corpus {name}: pictures, and captions by language", headings, rows))
