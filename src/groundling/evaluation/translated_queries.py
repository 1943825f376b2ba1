"""Queries that are translated first, and asked in the one language that a model knows ("Trans. to En")."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from groundling.errors import UserError
from groundling.evaluation.loading import LoadedRun, load_run
from groundling.evaluation.query_translations import find_translations
from groundling.evaluation.results import TranslatedResult

ENOUGH = 0.9  # of a language's captions


def evaluate_translated(
    folder: Path,
    target: str,
    source: str,
    split: str = "test",
    captions: str | None = None,
    corpus: str | None = None,
    data: Path | None = None,
    device: str = "auto",
    folds: int | None = None,
) -> TranslatedResult:
    """An evaluation of the captions of every language, translated to `target`.

    Captions in `target` itself are asked as they are. What has no translation is left out; `untranslated` counts it by
    language. A language of which less than `ENOUGH` is translated is left out altogether: the fewer captions compete,
    the better a model looks. The run's folder is left as it is.
    """
    loaded = load_run(folder, corpus, data, device, every_language=True)
    return ask_translated(loaded, target, source, split, captions, data, folds)


def ask_translated(
    loaded: LoadedRun,
    target: str,
    source: str,
    split: str = "test",
    captions: str | None = None,
    data: Path | None = None,
    folds: int | None = None,
) -> TranslatedResult:
    """The same of a run that is loaded, with captions in every language."""
    if target not in loaded.trained:
        raise UserError(
            f'{loaded.run.folder} was trained on {", ".join(loaded.trained)}; it cannot be asked in "{target}"'
        )
    part = loaded.dataset.split(split)
    queries, parts = loaded.queries(part.corpus, split, captions, folds)
    kept = part.corpus.is_query(captions or loaded.model.recipe.evaluation.captions)
    found = find_translations(part.corpus, [target], source, data, loaded.model.device.type)
    texts = [versions[0] for versions, asks in zip(found.texts, kept, strict=True) if asks]
    there = np.array([text is not None for text in texts])
    missing = {code: int((~there & (queries.languages == code)).sum()) for code in sorted(queries.all_languages())}
    for code in queries.all_languages():
        if there[queries.languages == code].mean() < ENOUGH:
            there &= queries.languages != code
    told = [text or "" for text, asks in zip(texts, there, strict=True) if asks]
    asked = replace(queries.keep_captions(there), texts=told)
    if not (asked.languages != target).any():
        raise UserError(
            f'{found.source}: translates to "{target}" less than {ENOUGH:.0%} of the {split} captions of each language '
            f"of corpus {asked.name}; give another --source"
        )
    pictures = loaded.model.encode_features(part.features)
    result = loaded.measure(asked, pictures, loaded.model.encode_text(asked.texts, target), split, parts)
    untranslated = {code: count for code, count in missing.items() if count}
    return TranslatedResult(replace(result, skipped=loaded.dataset.skipped), target, found.source, untranslated)
