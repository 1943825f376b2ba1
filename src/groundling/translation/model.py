"""A translation model that `transformers` can load, from the hub or from a folder. Needs the extra `hub`.

Models of one language pair (Marian), of one language into several (Marian with `>>fra<<` before the text), and of many
languages into many (M2M-100, NLLB, mBART).
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from groundling import hub
from groundling.errors import UserError
from groundling.translation.languages import token_for

FILES = (*hub.WEIGHTS, "generation_config.json", *hub.TOKENISER, "*.spm")
BEAMS = 4
LONGEST = 128  # word pieces of a text, and of its translation; captions are far shorter


@dataclass(frozen=True)
class Loaded:
    """A model with its tokeniser."""

    tokeniser: Any
    model: Any


class Translator:
    """Translates with beam search, without chance: the same text has the same translation each time."""

    def __init__(self, name: str, device: str = "cpu") -> None:
        """`{from}` and `{to}` in the name stand for the languages: Helsinki-NLP/opus-mt-{from}-{to}."""
        self.name, self.device = name, device
        self._fingerprints: dict[str, str] = {}
        self._loaded: dict[str, Loaded] = {}  # the last one only: ten languages have ninety pairs, each with its model

    def key(self, source: str, target: str) -> str:
        described = f"{self.fingerprint(source, target)} {source} {target} {BEAMS} {LONGEST}"
        return hashlib.sha256(described.encode()).hexdigest()

    def translate(self, texts: Sequence[str], source: str, target: str) -> list[str | None]:
        if not texts:
            return []
        import torch

        loaded = self.load(source, target)
        tokeniser, model = loaded.tokeniser, loaded.model
        before, options = self.addressed(tokeniser, source, target)
        inputs = tokeniser(
            [before + text for text in texts], return_tensors="pt", padding=True, truncation=True, max_length=LONGEST
        )
        inputs = {name: inputs[name].to(self.device) for name in ("input_ids", "attention_mask")}
        with torch.inference_mode():
            made = model.generate(
                **inputs, **options, num_beams=BEAMS, do_sample=False, max_length=None, max_new_tokens=LONGEST
            )
        answers = tokeniser.batch_decode(made, skip_special_tokens=True)
        return [" ".join(answer.split()) or None for answer in answers]

    def addressed(self, tokeniser: Any, source: str, target: str) -> tuple[str, dict[str, int]]:
        """What is written before each text, and how generation is told the language it should write."""
        vocabulary = {**tokeniser.get_vocab(), **getattr(tokeniser, "lang_token_to_id", {})}  # M2M-100's are apart
        if getattr(tokeniser, "src_lang", None) is not None:  # many to many
            tokens = {code: token_for(code, vocabulary) for code in (source, target)}
            for code, token in tokens.items():
                if token is None:
                    raise UserError(f'{self.name}: this model does not know the language "{code}"')
            from_token = str(tokens[source])
            tokeniser.src_lang = source if from_token.startswith("__") else from_token
            return "", {"forced_bos_token_id": vocabulary[tokens[target]]}
        token = token_for(target, vocabulary)
        if token is not None and token.startswith(">>"):
            return f"{token} ", {}
        for code, known in ((source, "source_lang"), (target, "target_lang")):
            fixed = getattr(tokeniser, known, None)
            if isinstance(fixed, str) and fixed and fixed != code:
                raise UserError(
                    f"{self.name}: this model translates {tokeniser.source_lang} to {tokeniser.target_lang}, not "
                    f"{source} to {target}; write {{from}} and {{to}} in its name where there is one for each pair"
                )
        return "", {}

    def name_for(self, source: str, target: str) -> str:
        return self.name.replace("{from}", source).replace("{to}", target)

    def fingerprint(self, source: str, target: str) -> str:
        """Of the files of a model, which need not be loaded where all its translations are known."""
        name = self.name_for(source, target)
        if name not in self._fingerprints:
            self._fingerprints[name] = self.fingerprint_of(name)
        return self._fingerprints[name]

    def fingerprint_of(self, name: str) -> str:
        return hub.fingerprint(hub.model_folder(name, FILES, "translation model"), FILES)

    def load(self, source: str, target: str) -> Loaded:
        name = self.name_for(source, target)
        if name not in self._loaded:
            folder = hub.model_folder(name, FILES, "translation model")
            self._loaded.clear()
            library = hub.transformers("translation model")
            try:
                tokeniser = library.AutoTokenizer.from_pretrained(
                    folder, trust_remote_code=False, local_files_only=True
                )
                model = library.AutoModelForSeq2SeqLM.from_pretrained(
                    folder, use_safetensors=True, trust_remote_code=False, local_files_only=True
                )
            except ImportError as error:
                raise UserError(f"{name}: cannot be loaded ({hub.first_line(error)})") from None
            except Exception as error:  # whatever the wrong files lead transformers into
                raise UserError(f"{name}: not a translation model that can be used ({hub.first_line(error)})") from None
            self._loaded[name] = Loaded(tokeniser, model.to(self.device).eval())
        return self._loaded[name]
