"""groundling models"""

from groundling.cli.output import AsJson, print_json, print_words


def models(as_json: AsJson = False) -> None:
    """List short names of pretrained models, with size, licence and languages as their makers state them.

    Every command that takes a model takes such a name, any other name on the hub (OWNER/MODEL), or a folder.
    """
    from dataclasses import asdict

    from groundling.model.catalogue import CATALOGUE

    if as_json:
        return print_json([{**asdict(known), "source": known.source} for known in CATALOGUE])
    rows = [[known.name, known.size, known.licence, known.languages, known.library or "no"] for known in CATALOGUE]
    print_words("", ["name", "size", "licence", "languages", "read by"], rows)
    print()
    for known in CATALOGUE:
        print(f"{known.name}: {known.pictures}" + ("" if known.text is None else f", texts by {known.text}"))
    print()
    for known in CATALOGUE:
        if known.library is None:
            print(f"{known.name}: cannot be loaded, for it {known.refused}")
