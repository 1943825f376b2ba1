"""groundling words train | inspect | reduce | convert | tokens"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from groundling.cli.output import AsJson, Data, print_json, print_table
from groundling.printable import printable

if TYPE_CHECKING:
    from groundling.words.problems import Problems
    from groundling.words.vectors import WordVectors

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

Vectors = Annotated[Path, typer.Argument(help="Word vectors: .vec, .vec.gz, fastText .bin or .safetensors.")]
MaxWords = Annotated[int, typer.Option(min=1, help="Read the first (most frequent) so many words.")]
Out = Annotated[
    Path, typer.Option("--out", "-o", help="A .safetensors or .bin file (keeps subwords), .vec or .vec.gz.")
]
Half = Annotated[bool, typer.Option("--half", help="Store float16: half the size.")]


def warn_of_problems(found: Sequence["Problems"], most: int = 5) -> None:
    """What had to be left out is never left out in silence: `most` sentences for each file, and how many there are."""
    for problems in found:
        for sentence in [*problems.notes, *problems.sentences[:most]]:
            typer.echo(sentence, err=True)
        if problems.total:
            kinds = ", ".join(f"{count:,} {kind}" for kind, count in problems.counts.most_common())
            typer.echo(f"{problems.path}: {problems.total:,} lines left out ({kinds})", err=True)


@app.command("train")
def train(
    corpus: Annotated[str, typer.Argument(help="A corpus by name, a corpus folder, or a captions table.")],
    language: Annotated[str, typer.Option("--language", "-l", help="The language to train vectors of, by its code.")],
    out: Out,
    dimensions: Annotated[int, typer.Option(help="Numbers per word.")] = 100,
    epochs: Annotated[int, typer.Option(help="Passes over the captions.")] = 20,
    context: Annotated[
        str, typer.Option(help="caption, or picture: all captions of a picture together, where they are short.")
    ] = "caption",
    window: Annotated[int, typer.Option(help="Words on each side that a word has to predict.")] = 10,
    minimum_count: Annotated[int, typer.Option(help="Rarer words get no vector of their own, only subwords.")] = 2,
    shortest: Annotated[int, typer.Option(help="Letters of the shortest piece of a word.")] = 3,
    longest: Annotated[int, typer.Option(help="Letters of the longest piece of a word.")] = 6,
    buckets: Annotated[int, typer.Option(help="Rows that pieces of words are hashed into.")] = 200_000,
    segmentation: Annotated[
        str | None, typer.Option(help="script, whitespace or dictionary; what the corpus says, else script.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the vectors' first values and the negative samples.")] = 0,
    half: Half = False,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Train subword vectors on the training captions of one language (needs the extra `words`)."""
    from groundling.corpus import catalogue
    from groundling.errors import UserError, did_you_mean
    from groundling.settings import check
    from groundling.text.segmentation import SEGMENTERS
    from groundling.words import storage, training

    if segmentation is not None and segmentation not in SEGMENTERS:
        raise UserError(f'--segmentation: "{segmentation}"{did_you_mean(segmentation, SEGMENTERS)}')
    storage.check_name(out)
    values = {
        "dimensions": dimensions,
        "epochs": epochs,
        "context": context,
        "window": window,
        "minimum_count": minimum_count,
        "shortest": shortest,
        "longest": longest,
        "buckets": buckets,
        "seed": seed,
    }
    settings = check(training.WordSettings, values, "groundling words train")
    captions = training.sentences(catalogue.load(corpus, data=data), language, segmentation, context)
    vectors = training.train(captions, settings)
    storage.write(out, vectors, half)
    facts = VectorFacts.of(vectors, out)
    if as_json:
        return print_json({"captions": len(captions), **asdict(facts)})
    print(f"{facts.words:,} words of {len(captions):,} captions, written to {out}, {facts.about_subwords}")


@app.command("inspect")
def inspect(
    file: Vectors,
    nearest: Annotated[
        list[str] | None, typer.Option("--nearest", "-n", help="Show the words nearest to this.")
    ] = None,
    max_words: MaxWords = 200_000,
    as_json: AsJson = False,
) -> None:
    """How many words and dimensions a file has, what is wrong with it, and which words are near to each other."""
    from groundling.words import storage
    from groundling.words.similar import similar

    vectors, problems = storage.read(file, max_words)
    near = {word: similar(vectors, word) for word in nearest or []}
    facts = VectorFacts.of(vectors, file)
    if as_json:
        listed = {word: None if found is None else [list(pair) for pair in found] for word, found in near.items()}
        return print_json({**asdict(facts), **problems.to_json(), "nearest": listed})
    warn_of_problems([problems], most=len(problems.sentences))
    print(f"{facts.words:,} words, {facts.dimensions} dimensions, {facts.about_subwords}")
    for word, found in near.items():
        if found is None:
            typer.echo(f'"{word}" has no vector here', err=True)
        else:
            known = "" if word in vectors else " (not listed; from its pieces)"
            near_words = ", ".join(f"{other} {score:.2f}" for other, score in found)
            print(printable(f"{word}{known}: {near_words}"))


@app.command("reduce")
def reduce_vectors(
    file: Vectors,
    dimensions: Annotated[int, typer.Option(min=1, help="Principal components to keep.")],
    out: Out,
    max_words: MaxWords = 200_000,
    half: Half = False,
    as_json: AsJson = False,
) -> None:
    """Fewer dimensions by principal components, words and subwords alike.

    A .safetensors file is written in blocks of rows, so that a .bin file larger than memory can be reduced; for the
    other formats the rows in fewer dimensions are held in memory.
    """
    from groundling.words import storage
    from groundling.words.reduction import projection

    storage.check_name(out)
    vectors, problems = storage.read(file, max_words)
    warn_of_problems([problems])
    project, kept = projection(vectors, dimensions)
    storage.write(out, vectors, half, project)
    if as_json:
        return print_json({**asdict(VectorFacts.of(vectors, out)), "dimensions": dimensions, "variance_kept": kept})
    from groundling.report.formatted_table import Column, Table

    columns = [Column("", text=True), Column("words", decimals=0), Column("dimensions", decimals=0)]
    rows: list[list[str | int]] = [
        [file.name, len(vectors), vectors.dimensions],
        [out.name, len(vectors), dimensions],
    ]
    note = f"{100 * kept:.1f}% of the variance kept. Written to {out}."
    print_table(Table("", columns, rows, [note]))


@app.command("convert")
def convert(
    file: Vectors,
    out: Annotated[Path, typer.Argument(help="A .safetensors or .bin file (keep subwords), .vec or .vec.gz.")],
    max_words: Annotated[
        int | None, typer.Option(min=1, help="Read the first (most frequent) so many words; all when left out.")
    ] = None,
    fold_case: Annotated[
        bool, typer.Option("--fold-case", help="Words in lower case, as captions are read: `hund` for Hund.")
    ] = False,
    half: Half = False,
    as_json: AsJson = False,
) -> None:
    """Word vectors from one format to another: .vec, fastText's .bin and .safetensors.

    Rows are written in blocks, and vectors of more than 256 MB lie in a file of the cache folder meanwhile: a .bin or
    .vec file that is larger than memory can be converted. A .safetensors file is read into memory.
    """
    from groundling.errors import UserError
    from groundling.text.segmentation import normalise
    from groundling.words import storage

    storage.check_name(out)
    if half and out.suffix != ".safetensors":
        raise UserError("--half: only a .safetensors file holds float16")
    vectors, problems = storage.read(file, max_words)
    warn_of_problems([problems])
    if fold_case:
        vectors = vectors.folded(normalise)
    storage.write(out, vectors, half)
    facts = VectorFacts.of(vectors, out)
    if as_json:
        return print_json(asdict(facts))
    lost = "; subwords have no place in this format" if vectors.subwords is not None and not facts.subwords else ""
    print(f"{facts.words:,} words written to {out}, {facts.about_subwords}{lost}")


@app.command("tokens")
def tokens(
    run: Annotated[Path, typer.Argument(help="The folder of a run of la, hem or smalr.")],
    base: Annotated[str, typer.Option(help="The language that dictionaries translate from.")] = "en",
    dictionaries: Annotated[
        str, typer.Option(help="Files of word pairs, also below --data; {base} and {language} stand for codes.")
    ] = "dictionaries/{base}-{language}.dict.gz",
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Which words share latent tokens: words per token, and how often they translate each other by a dictionary."""
    from groundling.encoders.tokenisers import from_json
    from groundling.encoders.tokenisers.by_language import LanguageTokeniser
    from groundling.errors import UserError
    from groundling.evaluation.latent_tokens import read_dictionaries, token_quality
    from groundling.files import read_json
    from groundling.run import Run

    tokeniser = from_json(read_json(Run.open(run).tokeniser_file))
    if not isinstance(tokeniser, LanguageTokeniser) or not tokeniser.latent:
        raise UserError(f"{run}: has no latent tokens; runs of the systems la, hem and smalr have")
    if base not in tokeniser.latent:
        raise UserError(f"--base {base}: none of the run's languages ({', '.join(tokeniser.latent)})")
    found = token_quality(tokeniser.latent, read_dictionaries(dictionaries, base, tokeniser.latent, data), base)
    if as_json:
        return print_json(found.to_json())
    from groundling.report.formatted_table import Column, Table

    columns = [Column("with", text=True), Column("words", decimals=0), Column("pairs in a token", decimals=0)]
    columns += [Column("translations", "of these, %"), Column("by chance", "of these, %", decimals=2)]
    columns += [Column("pairs listed", decimals=0), Column("in one token", "of these, %")]
    columns += [Column("by chance", "of these, %", decimals=2)]
    rows = [
        [
            code,
            each.words,
            each.pairs,
            each.right,
            each.right_by_chance,
            each.listed,
            each.together,
            each.together_by_chance,
        ]
        for code, each in found.languages.items()
    ]
    note = (
        f"{found.tokens:,} tokens for {found.words:,} words: {found.words_per_token:.1f} each, {found.largest:,} at "
        f"most; {found.shared:.1f}% of them have words of several languages. Pairs: a word of {base} that the "
        "dictionary knows and a word of the other language."
    )
    print_table(Table(f"Words that share latent tokens with {base}", columns, rows, [note]))


@dataclass(frozen=True)
class SubwordFacts:
    """How many vectors of subwords there are, and how many letters these have."""

    rows: int
    shortest: int
    longest: int


@dataclass(frozen=True)
class VectorFacts:
    """What a file of word vectors holds."""

    file: str
    words: int
    dimensions: int
    subwords: SubwordFacts | None

    @property
    def about_subwords(self) -> str:
        found = self.subwords
        return f"{found.rows:,} subwords of {found.shortest} to {found.longest} letters" if found else "no subwords"

    @staticmethod
    def of(vectors: "WordVectors", path: Path) -> "VectorFacts":
        kept = vectors.subwords if path.suffix in (".bin", ".safetensors") else None
        facts = None if kept is None else SubwordFacts(len(kept.table), kept.shortest, kept.longest)
        return VectorFacts(str(path), len(vectors), vectors.dimensions, facts)
