"""Queries that are translated first, and asked in the one language that a model knows ("Trans. to En")."""

from dataclasses import replace

import numpy as np

from groundling.errors import UserError
from groundling.evaluation.loading import LoadedModel
from groundling.evaluation.query_translations import find_translations
from groundling.evaluation.results import TranslatedResult

ENOUGH = 0.9  # of a language's captions


def ask_translated(loaded: LoadedModel, target: str, source: str) -> TranslatedResult:
    """An evaluation of the captions of every language, translated to `target`.

    Captions in `target` itself are asked as they are. What has no translation is left out; `untranslated` counts it by
    language. A language of which less than `ENOUGH` is translated is left out altogether: the fewer captions compete,
    the better a model looks.
    """
    if loaded.model.languages and target not in loaded.model.languages:
        raise UserError(
            f'{loaded.model.name} was trained on {", ".join(loaded.languages)}; it cannot be asked in "{target}"'
        )
    part = loaded.part()
    queries, kept = loaded.queries(part.corpus), loaded.asks(part.corpus)
    found = find_translations(part.corpus, [target], source, loaded.data, loaded.device.type)
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
            f'{found.source}: translates to "{target}" less than {ENOUGH:.0%} of the {loaded.split} captions of each '
            f"language of corpus {asked.name}; give another --source"
        )
    pictures = loaded.model.encode_features(part.features)
    vectors = loaded.model.encode_text(asked.texts, target)
    result = loaded.measure(asked, pictures, lambda code: vectors[asked.languages == code])
    untranslated = {code: count for code, count in missing.items() if count}
    return TranslatedResult(result, target, found.source, untranslated)
