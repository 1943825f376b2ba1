"""The same translation models as in `model`, converted for CTranslate2, which is made for speed on a CPU.

A folder that `ct2-transformers-converter` wrote, with the tokeniser's files beside it (`--copy_files`), or such a
repository of the hub. Needs the extra `ctranslate2`. Its model.bin is a format of its own, not a pickle.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from groundling import hub
from groundling.errors import UserError
from groundling.translation import model
from groundling.translation.model import Loaded, Translator

MODEL = "model.bin"
FILES = (MODEL, "config.json", "*vocabulary.json", "*vocabulary.txt", "generation_config.json", *hub.TOKENISER, "*.spm")


def is_converted(folder: Path) -> bool:
    return (folder / MODEL).is_file() and any(folder.glob("*vocabulary.*"))


class CTranslator(Translator):
    """Beam search as in `Translator`; how a language is told to a model is the same, too."""

    def translate(self, texts: Sequence[str], source: str, target: str) -> list[str | None]:
        if not texts:
            return []
        loaded = self.load(source, target)
        tokeniser = loaded.tokeniser
        before, options = self.addressed(tokeniser, source, target)
        ids = tokeniser([before + text for text in texts], truncation=True, max_length=model.LONGEST)["input_ids"]
        first = [tokeniser.convert_ids_to_tokens(token) for token in options.values()]  # the language to write
        made = loaded.model.translate_batch(
            [tokeniser.convert_ids_to_tokens(row) for row in ids],
            target_prefix=[first] * len(ids) if first else None,
            beam_size=model.BEAMS,
            max_decoding_length=model.LONGEST,
            min_decoding_length=0,
        )
        rows = [tokeniser.convert_tokens_to_ids(answer.hypotheses[0][len(first) :]) for answer in made]
        answers = tokeniser.batch_decode(rows, skip_special_tokens=True)
        return [" ".join(answer.split()) or None for answer in answers]

    def fingerprint_of(self, name: str) -> str:
        return hub.fingerprint(_folder(name), FILES)

    def load(self, source: str, target: str) -> Loaded:
        name = self.name_for(source, target)
        if name not in self._loaded:
            folder = _folder(name)
            self._loaded.clear()
            self._loaded[name] = Loaded(_tokeniser(name, folder), self._engine(name, folder))
        return self._loaded[name]

    def _engine(self, name: str, folder: Path) -> Any:
        try:
            import ctranslate2
        except ImportError:
            raise UserError(f"{name}: needs ctranslate2: pip install 'groundling[ctranslate2]'") from None
        try:
            return ctranslate2.Translator(str(folder), device=self.device)
        except (RuntimeError, ValueError) as error:
            raise UserError(f"{name}: not a CTranslate2 model that can be used ({hub.first_line(error)})") from None


def _tokeniser(name: str, folder: Path) -> Any:
    library = hub.transformers("converted translation model")
    try:
        return library.AutoTokenizer.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
    except Exception as error:  # whatever missing files lead transformers into
        raise UserError(
            f"{name}: its tokeniser cannot be read ({hub.first_line(error)}); convert the model with --copy_files and "
            "the names of the tokeniser's files"
        ) from None


def _folder(name: str) -> Path:
    folder = Path(name).expanduser()
    if not folder.is_dir():
        folder = hub.download(name, FILES, "translation model")
    if not is_converted(folder):
        raise UserError(
            f"{name}: no CTranslate2 model is there (a folder with {MODEL}, which ct2-transformers-converter writes)"
        )
    return folder
