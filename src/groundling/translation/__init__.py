"""Captions in other languages: from a table, from parallel captions, or from a translation model."""

from groundling.translation.source import TranslationSource, by_name

__all__ = ["TranslationSource", "by_name"]
