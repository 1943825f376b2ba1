"""The reference of the packages whose parts are meant to be used, or written, by others: every module of each."""

import pkgutil
from importlib import import_module

PACKAGES = (
    *("corpus", "text", "vision", "words", "translation", "batches", "encoders", "objectives", "systems", "model"),
    *("evaluation", "training", "export", "search", "checking", "serve", "registry", "settings"),
)


def page(name: str) -> str:
    package = import_module(f"groundling.{name}")
    inside = pkgutil.walk_packages(getattr(package, "__path__", []), f"groundling.{name}.")
    names = [module.name for module in inside if not module.ispkg and "._" not in module.name]
    parts = [f"# groundling.{name}", str(package.__doc__ or "")]
    return "\n\n".join([*parts, *(f"::: {each}" for each in names or [f"groundling.{name}"])]) + "\n"
