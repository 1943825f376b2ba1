"""groundling features"""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from groundling.cli.output import AsJson, Data, Ray, print_json, warn_of_reasons, warn_of_skipped


def features(
    corpus: Annotated[
        str,
        typer.Argument(
            help="A corpus by name, a corpus folder, or a captions table. With --ray also tar shards "
            "(shards/{000..999}.tar) or an address (s3://bucket/photos)."
        ),
    ],
    backbone: Annotated[
        str, typer.Option(help="The frozen picture network, by name; hf:NAME or hf:FOLDER.")
    ] = "efficientnet-lite0",
    size: Annotated[int | None, typer.Option(help="Pixels per side; the backbone's own when left out.")] = None,
    whole: Annotated[
        bool, typer.Option("--whole", help="The whole picture rather than its centre (for drawings).")
    ] = False,
    mirror: Annotated[bool, typer.Option("--mirror", help="Average with the features of the mirror image.")] = False,
    crops: Annotated[
        int, typer.Option(help="Average over 2: centre and whole; 10: corners, centre and their mirror images.")
    ] = 1,
    views: Annotated[
        int, typer.Option(help="Features of so many parts of each picture, for systems that train on one at random.")
    ] = 1,
    grid: Annotated[int, typer.Option(help="Features of each cell of a grid of so many rows and columns.")] = 1,
    stage: Annotated[
        int | None, typer.Option(help="EfficientNet-Lite: stop after this stage, 1 to 7; the end when left out.")
    ] = None,
    projected: Annotated[
        bool, typer.Option("--projected", help="hf:, CLIP and its like: the vector that is compared with text.")
    ] = False,
    split: Annotated[str | None, typer.Option(help="For emoji: concept (default) or artist.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first unreadable picture.")] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Also write FOLDER/features.npy and names.txt.")
    ] = None,
    ray: Ray = None,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Compute and cache the picture features of a corpus; what is cached already is not computed again."""
    from groundling.corpus import catalogue
    from groundling.distributed.sources import is_source
    from groundling.errors import UserError
    from groundling.large_arrays import rows_of
    from groundling.settings import FeatureSettings, check
    from groundling.vision.from_settings import comes_with_features, corpus_features, save_array, source_features

    chosen = {"backbone": backbone, "size": size, "mirror": mirror, "crop": not whole, "crops": crops}
    chosen |= {"grid": grid, "stage": stage, "projected": projected, "views": views}
    settings = check(FeatureSettings, chosen, "features")
    if out is not None and views > 1:
        raise UserError("--out writes one vector per picture; leave out --views, or --out")
    started = time.monotonic()
    if is_source(corpus):
        if ray is None:
            raise UserError(f"{corpus}: shards and addresses are read by workers of Ray; add --ray local")
        found = source_features(corpus, settings, ray, strict)
        names, skipped, known_as, made_by = found.names, sorted(found.failed), corpus, backbone
        _refuse_nothing(corpus, names, skipped, found.failed)
        reasons, dimensions = dict(sorted(found.failed.items())), found.dim
        if out is not None:
            save_array(out, found.vectors(names), names)
    else:
        loaded = catalogue.load(corpus, data=data, split=split)
        every, usable = corpus_features(loaded, settings, strict=strict, ray=ray)
        names, skipped = ([str(name) for name in loaded.pictures[some]] for some in (usable, ~usable))
        _refuse_nothing(corpus, names, skipped, {})
        reasons, dimensions, known_as = {}, every.shape[-1], loaded.name
        if out is not None:
            save_array(out, rows_of(every, usable), names)
        made_by = "came with the corpus" if comes_with_features(loaded, settings) else backbone
    facts = {
        "corpus": known_as,
        "backbone": made_by,
        "pictures": len(names),
        "dimensions": int(dimensions),
        "skipped": skipped,
        **({"reasons": reasons} if reasons else {}),
        "seconds": round(time.monotonic() - started, 1),
    }
    if as_json:
        return print_json(facts)
    if reasons:
        warn_of_reasons(reasons)
    else:
        warn_of_skipped(skipped)
    print(
        f"{facts['pictures']} pictures × {facts['dimensions']} ({made_by}), "
        f"{len(skipped)} skipped, {facts['seconds']} s"
    )


def _refuse_nothing(corpus: str, names: Sequence[str], skipped: Sequence[str], reasons: Mapping[str, str]) -> None:
    """Where no picture has features, something larger than a picture is wrong."""
    from groundling.errors import UserError

    if names:
        return
    if not skipped:
        raise UserError(f"{corpus}: no pictures in it")
    why = f"{skipped[0]}: {reasons[skipped[0]]}" if reasons else skipped[0]
    raise UserError(f"{corpus}: none of its {len(skipped)} pictures can be read, the first of them {why}")
