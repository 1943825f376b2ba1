"""groundling corpus list | build | inspect"""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from groundling.cli.output import AsJson, Data, Device, language_code, print_json, print_table, print_words, warn
from groundling.printable import printable

if TYPE_CHECKING:
    from groundling.corpus.inspect_statements import StatementFacts

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


class Check(StrEnum):
    """How closely pictures are looked at while a corpus is built."""

    DECODE = "decode"
    EXIST = "exist"
    NONE = "none"


Name = Annotated[
    str,
    typer.Argument(help="A corpus by name, a corpus folder, or a captions table (JSONL, CSV, Parquet, COCO's JSON)."),
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
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE...",
            help="A corpus by name, a folder, a captions table, or shards: WebDataset or img2dataset tar files "
            "('shards/{000..999}.tar'), Parquet, a folder that Hugging Face's datasets saved, an imagefolder.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The corpus folder to write.")],
    split: Annotated[str | None, typer.Option(help="For emoji: concept (default) or artist.")] = None,
    language: Annotated[
        str | None, typer.Option(help="For shards: the language of captions that do not say theirs, for example en.")
    ] = None,
    check: Annotated[
        Check,
        typer.Option(
            help="For shards: look at every pixel of each picture, only whether its file is there, or at nothing."
        ),
    ] = Check.DECODE,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first bad row or unreadable picture.")] = False,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Check pictures and captions and write them as a corpus folder.

    Bad rows and unreadable pictures are listed and left out; with --strict they stop the build and nothing is written.
    Shards, and tables of 64 MB or more, are read row by row and written to shards: they may be larger than memory.
    """
    from dataclasses import asdict

    from groundling.corpus import catalogue, inspect, storage
    from groundling.corpus.building import HasStatements, build
    from groundling.corpus.inspect_statements import describe_statements
    from groundling.errors import UserError

    known, source = language_code(language) if language else "", catalogue.streamed(sources)
    if len(sources) > 1 and source is None:
        raise UserError("several names are those of shards; give one corpus or table at a time")
    if source is not None:
        try:
            problems = build(source, out, known, check.value, strict).sentences()
        except HasStatements:
            source = None
    if source is None:
        corpus, problems = catalogue.load_with_report(sources[0], data=data, split=split, strict=strict)
        storage.save(corpus, out)
    else:
        corpus = storage.load(out)
    if as_json:
        return print_json({"folder": str(out), "problems": problems, **asdict(inspect.describe(corpus))})
    for problem in problems[:20]:
        warn(problem)
    if problems:
        more = f" ({len(problems) - 20} more not shown)" if len(problems) > 20 else ""
        typer.echo(f"{len(problems)} problems, left out{more}", err=True)
    _print_counts(corpus.counts(), corpus.name)
    _print_labels(describe_statements(corpus))
    if corpus.info.note:
        print(printable(corpus.info.note))
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
        float,
        typer.Option(
            min=0,
            max=1,
            help="The cosine of features from which two pictures count as the same. Below 0.99 all pairs are "
            "compared, however many there are.",
        ),
    ] = 0.999,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Counts by split and language, lengths, origins, and what leaks from the training into the test split.

    Captions are compared without case, punctuation and Unicode variants, pictures by the bytes of their files and by
    their features, where there are any; what was not compared is said. Of statements with labels it shows the balance
    of labels, and how often a classifier is right that sees their words but no picture.
    """
    from dataclasses import asdict

    from groundling.corpus import catalogue, inspect
    from groundling.corpus.caption_keys import CaptionKeys
    from groundling.corpus.inspect_statements import statement_leaks
    from groundling.corpus.leaks import leaks
    from groundling.evaluation.text_only import text_only
    from groundling.vision.from_settings import array_rows

    pair = _array_and_names(features, names)
    corpus = catalogue.load(source, data=data, split=split)
    vectors, rows = array_rows(corpus, pair)
    words_alone = text_only(corpus) if corpus.statements is not None else {}
    keys = CaptionKeys.of(corpus)
    facts, found = inspect.describe(corpus, keys), leaks(corpus, vectors, rows, threshold, keys)
    repeated = statement_leaks(corpus, words_alone)
    if as_json:
        leaked = {"leaks": found.to_json(), "statement_leaks": None if repeated is None else asdict(repeated)}
        return print_json({**asdict(facts), **leaked})
    _print_counts(corpus.counts(), corpus.name)
    _print_labels(facts.statements)
    for line in inspect.summary(facts, found, repeated):
        print(printable(line))


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
    from dataclasses import asdict

    from groundling.corpus import catalogue
    from groundling.text.overlap import overlap

    found = overlap(catalogue.load(source, data=data), minimum_count)
    if as_json:
        return print_json(asdict(found))
    from groundling.report.formatted_table import Column, Table

    codes = list(found.words)
    rows: list[list[str | int | float | None]] = []
    for at, one in enumerate(codes):
        shared = [found.jaccard.get(f"{one}-{other}") for other in codes[at + 1 :]]
        rows.append([one, found.words[one], *[None] * at, 1.0, *shared])
    headings = [Column("", text=True), Column("words", decimals=0), *(Column(code, decimals=2) for code in codes)]
    note = f"{found.sum:,} words in all languages, {found.union:,} different ones."
    print_table(Table(f"Words of {source} and their overlap (Jaccard)", headings, rows, [note]))


@app.command("translate")
def translate(
    source_corpus: Name,
    to: Annotated[str, typer.Option(help="The languages that captions are translated to, for example fr,cs.")],
    source: Annotated[
        str,
        typer.Option(
            help="Where translations come from: a table (.tsv), hub:NAME, ctranslate2:NAME or a model's folder, "
            "corpus:NAME."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The corpus folder to write.")],
    at_least: Annotated[int, typer.Option(min=1, help="So many captions for every picture and language.")] = 5,
    languages: Annotated[
        str | None, typer.Option("--from", help="Translate from these, the first preferred; when left out, en first.")
    ] = None,
    test_too: Annotated[
        bool,
        typer.Option("--test-too", help="Also translate for dev and test where people's captions are (--by-origin)."),
    ] = False,
    statements: Annotated[
        bool, typer.Option("--statements", help="Translate statements with labels, all of them, instead of captions.")
    ] = False,
    device: Device = "auto",
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Add machine-translated captions, marked as such, until every picture has enough in every language.

    Dev and test of a language that has captions there are left alone. What a model translates is kept: a translation
    that was stopped goes on where it was.
    """
    from groundling.corpus import catalogue, storage
    from groundling.devices import pick_device
    from groundling.translation import by_name, fill, translation_table

    codes = [language_code(code) for code in to.split(",")]
    known = None if languages is None else [language_code(code) for code in languages.split(",")]
    corpus = catalogue.load(source_corpus, data=data)
    translator = by_name(source, data, str(pick_device(device)))
    if statements:
        filled = fill.fill_statements(corpus, translator, codes, known)
    else:
        filled = fill.fill(corpus, translator, codes, at_least, known, test_too)
    storage.save(filled.corpus, out)
    translation_table.write(out / "translations.tsv", filled.lines)
    if as_json:
        return print_json({"folder": str(out), "source": translator.name, "made": filled.made, "short": filled.short})
    _print_counts(filled.corpus.counts(), filled.corpus.name)
    for code in codes:
        missing, what = filled.short[code], "statement" if statements else "caption"
        left = "without a translation" if statements else f"pictures have fewer than {at_least}"
        told = f"{filled.made[code]:,} {what}{'' if filled.made[code] == 1 else 's'} translated"
        print(f"{code}: {told}{f'; {missing:,} {left}' if missing else ''}")
    print(f"Written to {out}, and what was translated into what to {out / 'translations.tsv'}")


def _print_counts(counts: dict[str, dict[str, int]], name: str) -> None:
    from groundling.report.formatted_table import Column, Table

    columns = list(dict.fromkeys(column for row in counts.values() for column in row))
    rows: list[list[str | int]] = [
        [split, *(row.get(column, 0) for column in columns)] for split, row in counts.items()
    ]
    headings = [Column("split", text=True), *(Column(column, decimals=0) for column in columns)]
    print_table(Table(f"Corpus {name}: pictures, and captions by language", headings, rows))


def _print_labels(found: "StatementFacts | None") -> None:
    if found is None:
        return
    from groundling.corpus.entailment import LABELS
    from groundling.corpus.inspect_statements import label_rows
    from groundling.report.formatted_table import Column, Table

    headings = [Column("split", text=True), Column("languages", text=True)]
    headings += [Column(label, decimals=0) for label in LABELS]
    print_table(Table("Statements by label", headings, label_rows(found)))
