"""groundling models"""

from groundling.cli.output import AsJson, print_json, print_words


def models(as_json: AsJson = False) -> None:
    """List the models that are here, and short names of pretrained ones, with size, licence and languages as their
    makers state them.

    Here are runs in runs/, exported models (*.onnx) in this folder and those of a release in the cache's models/.
    Every command that takes a model takes such a name, any other name on the hub (OWNER/MODEL), or a folder.
    """
    from dataclasses import asdict

    from groundling.model.catalogue import CATALOGUE
    from groundling.model.nearby import nearby_models, photo_model

    if as_json:
        return print_json([{**asdict(known), "source": known.source} for known in CATALOGUE])
    here = nearby_models()
    if not any(one.photographs for one in here):
        print(f"No model of photographs is here yet. One that needs no hub: {photo_model()}.\n")
    if here:
        print("Here, the best for photographs first (`groundling index` takes it where none is named):")
        for one in here:
            print(f"  {one.about}")
        print()
    rows = [[known.name, known.size, known.licence, known.languages, known.library or "no"] for known in CATALOGUE]
    print_words("", ["name", "size", "licence", "languages", "read by"], rows)
    print()
    for known in CATALOGUE:
        print(f"{known.name}: {known.pictures}" + ("" if known.text is None else f", texts by {known.text}"))
    print()
    for known in CATALOGUE:
        if known.library is None:
            print(f"{known.name}: cannot be loaded, for it {known.refused}")
