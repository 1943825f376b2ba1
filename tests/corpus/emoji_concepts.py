"""The concepts that every test of the emoji corpus looks at."""

from groundling.corpus.builtin.emoji_names import read_concepts

CONCEPTS = read_concepts()
KEYS = [concept.key for concept in CONCEPTS]
NAMES = {concept.key: {language: texts[0] for language, texts in concept.captions.items()} for concept in CONCEPTS}
