"""How translation models call languages: M2M-100 says __fr__, NLLB fra_Latn, mBART fr_XX, Marian >>fra<<."""

from collections.abc import Container

NLLB = {
    "af": "afr_Latn",
    "ar": "arb_Arab",
    "bg": "bul_Cyrl",
    "bn": "ben_Beng",
    "ca": "cat_Latn",
    "cs": "ces_Latn",
    "cy": "cym_Latn",
    "da": "dan_Latn",
    "de": "deu_Latn",
    "el": "ell_Grek",
    "en": "eng_Latn",
    "es": "spa_Latn",
    "et": "est_Latn",
    "eu": "eus_Latn",
    "fa": "pes_Arab",
    "fi": "fin_Latn",
    "fr": "fra_Latn",
    "ga": "gle_Latn",
    "gl": "glg_Latn",
    "he": "heb_Hebr",
    "hi": "hin_Deva",
    "hr": "hrv_Latn",
    "hu": "hun_Latn",
    "id": "ind_Latn",
    "is": "isl_Latn",
    "it": "ita_Latn",
    "ja": "jpn_Jpan",
    "ko": "kor_Hang",
    "lt": "lit_Latn",
    "lv": "lvs_Latn",
    "ms": "zsm_Latn",
    "nl": "nld_Latn",
    "no": "nob_Latn",
    "pl": "pol_Latn",
    "pt": "por_Latn",
    "ro": "ron_Latn",
    "ru": "rus_Cyrl",
    "sk": "slk_Latn",
    "sl": "slv_Latn",
    "sr": "srp_Cyrl",
    "sv": "swe_Latn",
    "sw": "swh_Latn",
    "ta": "tam_Taml",
    "te": "tel_Telu",
    "th": "tha_Thai",
    "tr": "tur_Latn",
    "uk": "ukr_Cyrl",
    "ur": "urd_Arab",
    "vi": "vie_Latn",
    "zh": "zho_Hans",
}
COUNTRIES = {"cs": "CZ", "et": "EE", "hi": "IN", "ja": "XX", "ko": "KR", "lt": "LT", "lv": "LV", "zh": "CN"}  # mBART's


def token_for(code: str, vocabulary: Container[str]) -> str | None:
    """The token that stands for a language in a model's vocabulary; None where there is none."""
    three = NLLB.get(code, "")
    country = COUNTRIES.get(code, "XX")
    forms = [f"__{code}__", three, f"{code}_{country}", f">>{code}<<", f">>{three[:3]}<<"]
    return next((form for form in forms if form and form in vocabulary), None)
