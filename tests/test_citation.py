"""What people cite is what they installed."""

import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]


def test_version_and_licence_are_those_of_the_package() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    package = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert cited["version"] == package["version"]
    assert (ROOT / package["license"]["file"]).read_text(encoding="utf-8").startswith(f"{cited['license']} License")
