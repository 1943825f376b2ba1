"""English names of the languages that captions come in, and which of them are written from right to left."""

import re
from collections.abc import Sequence

NAMES = {
    "af": "Afrikaans", "am": "Amharic", "ar": "Arabic", "az": "Azerbaijani", "be": "Belarusian", "bg": "Bulgarian",
    "bn": "Bengali", "bs": "Bosnian", "ca": "Catalan", "cs": "Czech", "cy": "Welsh", "da": "Danish", "de": "German",
    "el": "Greek", "en": "English", "es": "Spanish", "et": "Estonian", "eu": "Basque", "fa": "Persian",
    "fi": "Finnish", "fil": "Filipino", "fr": "French", "ga": "Irish", "gl": "Galician", "gu": "Gujarati",
    "ha": "Hausa", "he": "Hebrew", "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian", "hy": "Armenian",
    "id": "Indonesian", "ig": "Igbo", "is": "Icelandic", "it": "Italian", "ja": "Japanese", "jv": "Javanese",
    "ka": "Georgian", "kk": "Kazakh", "km": "Khmer", "kn": "Kannada", "ko": "Korean", "ky": "Kyrgyz", "lo": "Lao",
    "lt": "Lithuanian", "lv": "Latvian", "mi": "Māori", "mk": "Macedonian", "ml": "Malayalam", "mn": "Mongolian",
    "mr": "Marathi", "ms": "Malay", "my": "Burmese", "nb": "Norwegian", "ne": "Nepali", "nl": "Dutch",
    "no": "Norwegian", "pa": "Punjabi", "pl": "Polish", "ps": "Pashto", "pt": "Portuguese", "quz": "Quechua",
    "ro": "Romanian", "ru": "Russian", "sd": "Sindhi", "si": "Sinhala", "sk": "Slovak", "sl": "Slovenian",
    "so": "Somali", "sq": "Albanian", "sr": "Serbian", "sv": "Swedish", "sw": "Swahili", "ta": "Tamil",
    "te": "Telugu", "th": "Thai", "tr": "Turkish", "ug": "Uyghur", "uk": "Ukrainian", "ur": "Urdu", "uz": "Uzbek",
    "vi": "Vietnamese", "yi": "Yiddish", "yo": "Yoruba", "zh": "Chinese", "zu": "Zulu",
    "la": "Latin", "eo": "Esperanto", "lb": "Luxembourgish", "nn": "Norwegian Nynorsk", "oc": "Occitan",
}  # fmt: skip

RIGHT_TO_LEFT = {"ar", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"}
_RIGHT_TO_LEFT_SCRIPTS = {"arab", "hebr", "thaa", "syrc", "nkoo"}


def _parts(code: str) -> list[str]:
    return re.split(r"[-_]", code.lower())


def language_name(code: str) -> str:
    """ "German (de)"; a code we have no name for stands for itself, "pt-BR" is "Portuguese (pt-BR)"."""
    name = NAMES.get(_parts(code)[0])
    return f"{name} ({code})" if name else code


def listed_languages(codes: Sequence[str]) -> str:
    """ "English, German and French"."""
    names = [language_name(code).removesuffix(f" ({code})") for code in codes]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def direction(code: str) -> str:
    """HTML's `dir`: "rtl" where we know it, else "auto": the browser looks at the first strong letter."""
    first, *rest = _parts(code)
    scripts = [part for part in rest if len(part) == 4]
    if scripts:
        return "rtl" if scripts[0] in _RIGHT_TO_LEFT_SCRIPTS else "auto"
    return "rtl" if first in RIGHT_TO_LEFT else "auto"
