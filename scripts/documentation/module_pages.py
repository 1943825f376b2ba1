"""The reference of the packages whose parts are meant to be used, or written, by others: every module of each."""

import pkgutil
from importlib import import_module

PACKAGES = (
    *("corpus", "text", "vision", "words", "translation", "batches", "encoders", "objectives", "systems", "model"),
    *("evaluation", "training", "export", "search", "checking", "serve", "registry", "settings"),
)


def page(name: str) -> str:
    package = import_module(f"groundling.{name}")
    inside = pkgutil.iter_modules(package.__path__) if hasattr(package, "__path__") else ()
    names = [f"groundling.{name}.{module.name}" for module in inside if not module.name.startswith("_")]
    parts = [f"# groundling.{name}", str(package.__doc__ or "")]
    return "\n\n".join([*parts, *(f"::: {each}" for each in names or [f"groundling.{name}"])]) + "\n"
