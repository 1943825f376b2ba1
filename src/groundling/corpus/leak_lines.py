"""In words what `leaks` found."""

from collections.abc import Iterator

from groundling.corpus.leaks import SHORT, FileLeaks, Leaks
from groundling.corpus.near_duplicates import HELD_OUT, FeatureLeaks

_SHOWN = 10  # pairs of pictures; JSON has them all


def leak_lines(found: Leaks) -> list[str]:
    lines = [*_caption_lines(found), *_near_lines(found)]
    by_content, by_feature = found.pictures_by_content, found.pictures_by_feature
    lines += [*_file_lines(by_content), *_feature_lines(by_feature, files=by_content is not None)]
    if not found.any():
        lines.append("Nothing of dev or test was found in train by what was compared")
    return lines


def _caption_lines(found: Leaks) -> Iterator[str]:
    generic = False
    for split in HELD_OUT:
        for language, splits in found.captions.items():
            counts = splits[split]
            if counts.count:
                generic |= counts.generic > 0
                among = f" ({counts.generic:,} of them generic)" if counts.generic else ""
                yield (
                    f"{split}: {counts.count:,} of {counts.of:,} {language} captions are also in train{among}, "
                    f'such as "{counts.examples[0]}"'
                )
    if generic:
        yield (
            f"Generic: at most {SHORT} words (characters, where a script has no spaces), or said of several pictures "
            "in train"
        )


def _near_lines(found: Leaks) -> Iterator[str]:
    for split in HELD_OUT:
        for language, splits in found.near.items():
            if splits[split].count:
                one, other = splits[split].examples[0]
                yield (
                    f"{split}: {splits[split].count:,} more {language} captions are nearly in train (at least "
                    f'{found.near_threshold:.0%} of letter triples in common), such as "{one}" beside "{other}"'
                )


def _file_lines(found: FileLeaks | None) -> Iterator[str]:
    if found is None:
        yield "Picture files were not compared: the corpus has none"
        return
    for split in HELD_OUT:
        here = found.splits[split]
        if here.count:
            such = " and ".join(here.examples[0])
            yield f"{split}: {here.count:,} pictures are also in train (the same file), such as {such}"
    if found.missing_files:
        yield f"{found.missing_files:,} picture files are not there and were not compared"


def _feature_lines(found: FeatureLeaks | None, files: bool) -> Iterator[str]:
    if found is None:
        how = "--features FOLDER, where `groundling features CORPUS --out FOLDER` has written them"
        yield f"Picture features were not compared: give {how if files else '--features ARRAY.npy and --names LIST'}"
        return
    checked = found.checked
    for split in HELD_OUT:
        here, nearest = found.splits[split], found.splits[split].nearest
        if here.count:
            yield (
                f"{split}: {here.count:,} of {checked[split]:,} pictures look the same as one of "
                f"{checked['train']:,} in train (cosine of features at least {found.threshold:g}; "
                f"{here.identical:,} have the very same features):"
            )
            yield from (f"  {pair.cosine:.6f}  {pair.picture} and {pair.train}" for pair in here.pairs[:_SHOWN])
            if here.count > _SHOWN:
                yield f"  … and {here.count - _SHOWN:,} more, all in --json"
        elif checked[split] and checked["train"]:
            yield (
                f"{split}: none of {checked[split]:,} pictures looks the same as one of {checked['train']:,} in train "
                "by its features"
                + (
                    f"; the nearest, cosine {nearest.cosine:.3f}, are {nearest.picture} and {nearest.train}"
                    if nearest
                    else ""
                )
            )
    without = ((found.without_features, "no features"), (found.without_direction, "features that are zero or broken"))
    for names, reason in without:
        if names:
            yield f"{len(names):,} pictures have {reason} and were not compared, such as {names[0]}"
