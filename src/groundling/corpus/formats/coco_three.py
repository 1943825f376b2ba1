"""What people wrote about COCO's pictures in three languages: COCO (en), COCO-CN (zh) and YJ Captions (ja)."""

from pathlib import Path

from groundling.corpus.corpus import Corpus
from groundling.corpus.formats import coco_annotations, coco_cn, coco_splits, karpathy
from groundling.corpus.formats.builder import Builder
from groundling.corpus.formats.checks import BadRow
from groundling.corpus.formats.coco_pictures import CocoPictures, parts
from groundling.corpus.formats.precomputed import features_in
from groundling.corpus.formats.text_lines import first_file
from groundling.corpus.info import CorpusInfo
from groundling.errors import UserError

LANGUAGES = ("en", "zh", "ja")
FOLDERS = ("train2014", "val2014")
JAPANESE = "yjcaptions26k_clean.json"
THEIR_SPLITS = "Splits: the lists of Kim et al. (2020)."
OUR_SPLITS = (
    "Splits: drawn here by the rule of Kim et al. (2020), whose lists are not in mule/coco/; "
    "their test pictures are others."
)


def read(data: Path) -> Corpus:
    """The captions in data/coco, data/coco-cn and data/yjcaptions; splits of Kim et al. where data/mule/coco has them.

    Pictures that none of their lists names are left out. So are blank captions. Both are counted in `info`.
    """
    pictures = CocoPictures()
    _english(data, pictures)
    _chinese(data, pictures)
    _japanese(data, pictures)
    splits = coco_splits.listed(data / "mule" / "coco", pictures)
    note = OUR_SPLITS if splits is None else THEIR_SPLITS
    if splits is None:
        splits = coco_splits.drawn(pictures, LANGUAGES)
    builder = Builder("coco-three")
    for number, picture in pictures.by_number.items():
        if number not in splits:
            continue
        row = builder.picture(picture.name, splits[number])
        for language in LANGUAGES:
            for text in picture.captions.get(language, ()):
                builder.caption(row, language, text)
    unlisted = len(pictures.by_number) - len(splits)
    skipped = {"rows": pictures.blank, "pictures": unlisted, "captions": 0} if unlisted or pictures.blank else None
    places = (data / "coco", data / "karpathy", data)
    root = next((place for place in places if any((place / folder).is_dir() for folder in FOLDERS)), None)
    return builder.corpus(
        None if root is None else root.resolve(),
        CorpusInfo(note=note, skipped=skipped, features=features_in(*places[:2])),
    )


def _english(data: Path, pictures: CocoPictures) -> None:
    """Karpathy's file, or COCO's own two, which have the same captions."""
    if (path := karpathy.file(data, "coco")) is not None:
        corpus = karpathy.read(data, "coco")
        pictures.blank += (corpus.info.skipped or {}).get("rows", 0)
        try:
            rows = [pictures.add(*parts(name)) for name in corpus.pictures.tolist()]
        except BadRow as problem:
            raise UserError(f"{path.name}: {problem}") from None
        for owner, text in zip(corpus.owners.tolist(), corpus.texts, strict=True):
            pictures.caption(rows[owner], "en", text)
        return
    for folder in FOLDERS:
        name = f"captions_{folder}.json"
        path = first_file((data / "coco" / "annotations", data / "coco"), name)
        if path is None:
            raise UserError(
                f"{data / 'coco' / 'annotations' / name}: no such file; unpack COCO's annotations_trainval2014.zip in "
                f"coco/, or put Karpathy's {karpathy.FILES['coco']} there"
            )
        for place, number, text in coco_annotations.read(path):
            try:
                pictures.caption(pictures.add(folder, number), "en", text)
            except BadRow as problem:
                raise UserError(f"{place}: {problem}") from None


def _chinese(data: Path, pictures: CocoPictures) -> None:
    folder = data / "coco-cn"
    path = first_file((folder, folder / coco_cn.RELEASE), coco_cn.FILE)
    if path is None:
        raise UserError(f"{folder / coco_cn.FILE}: no such file; unpack COCO-CN's {coco_cn.RELEASE}.tar.gz in coco-cn/")
    for line, name, text in coco_cn.read(path):
        try:
            pictures.caption(pictures.find(name), "zh", text)
        except BadRow as problem:
            raise UserError(f"{path.name}:{line}: {problem}") from None


def _japanese(data: Path, pictures: CocoPictures) -> None:
    folder = data / "yjcaptions"
    path = first_file([folder], JAPANESE)
    if path is None:
        raise UserError(f"{folder / JAPANESE}: no such file; unpack YJ Captions' yjcaptions26k.zip in yjcaptions/")
    for place, number, text in coco_annotations.read(path):
        try:
            pictures.caption(pictures.find(str(number)), "ja", text)
        except BadRow as problem:
            raise UserError(f"{place}: {problem}") from None
