"""What groundling is made of: an SBOM (CycloneDX 1.6) and a list of licences, of the environment that runs this.

    python scripts/supply_chain/sbom.py [--out build]     # build/sbom.cdx.json, build/licences.md

Names, versions, licences and what needs what are those that the installed packages declare; SHA-256 of their files come
from locks/. Nothing is asked of the network.
"""

import argparse
import json
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import lock
from packaging.requirements import Requirement

LONGEST = 60  # characters of a licence's name; what is longer is its text
UNKNOWN = "says no licence"
CLASSIFIER = "License :: OSI Approved :: "


def installed() -> dict[str, metadata.Distribution]:
    """Normal name → package."""
    found = {lock.normal(one.metadata["Name"]): one for one in metadata.distributions() if one.metadata["Name"]}
    return dict(sorted(found.items()))


def licence(package: metadata.Distribution) -> str:
    """As the package says: an SPDX expression, its classifiers, or the name in its oldest field."""
    about = package.metadata
    if about.get("License-Expression"):
        return str(about["License-Expression"])
    lines = about.get_all("Classifier", [])
    classified = dict.fromkeys(line.removeprefix(CLASSIFIER) for line in lines if line.startswith(CLASSIFIER))
    if classified:
        return " or ".join(classified)
    said = (about.get("License") or "").strip()
    first = said.splitlines()[0].strip() if said else ""
    return first if 0 < len(first) <= LONGEST and first.upper() != "UNKNOWN" else UNKNOWN


def needs(package: metadata.Distribution, known: dict[str, metadata.Distribution]) -> Iterator[str]:
    """What a package needs here; for groundling itself, with all its extras."""
    own = lock.normal(package.metadata["Name"]) == "groundling"
    extras = ["", *(package.metadata.get_all("Provides-Extra", []) if own else [])]
    for line in package.requires or []:
        requirement = Requirement(line)
        name = lock.normal(requirement.name)
        marker = requirement.marker
        if name in known and (marker is None or any(marker.evaluate({"extra": extra}) for extra in extras)):
            yield name


def reference(package: metadata.Distribution) -> str:
    return f"pkg:pypi/{lock.normal(package.metadata['Name'])}@{package.version}"


def component(name: str, package: metadata.Distribution, hashes: dict[str, list[str]]) -> dict[str, Any]:
    said, spdx = licence(package), package.metadata.get("License-Expression")
    made = {
        "type": "application" if name == "groundling" else "library",
        "bom-ref": reference(package),
        "name": name,
        "version": package.version,
        "purl": reference(package),
        "licenses": [{"expression": said} if spdx else {"license": {"name": said}}],
    }
    # CycloneDX has hashes of one file; a release has several, one of which was installed: they are named as such.
    files = [{"name": "locked-sha256", "value": one} for one in hashes.get(name, [])]
    return {**made, "properties": files} if files else made


def sbom(packages: dict[str, metadata.Distribution]) -> dict[str, Any]:
    hashes = {**lock.hashes(lock.DEMO), **lock.hashes(lock.TOOLS)}
    own = packages["groundling"]
    others = [component(name, package, hashes) for name, package in packages.items() if name != "groundling"]
    needed = [
        {
            "ref": reference(package),
            "dependsOn": sorted({reference(packages[name]) for name in needs(package, packages)}),
        }
        for package in packages.values()
    ]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid4()}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": component("groundling", own, {}),
        },
        "components": others,
        "dependencies": needed,
    }


def licences(packages: dict[str, metadata.Distribution]) -> str:
    """A table, by licence."""
    rows = sorted((licence(package), name, package.version) for name, package in packages.items())
    lines = [f"| {said.replace('|', '/')} | {name} | {version} |" for said, name, version in rows]
    return "\n".join(["| licence | package | version |", "|---|---|---|", *lines, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description="Write an SBOM and a list of licences of this environment.")
    parser.add_argument("--out", type=Path, default=Path("build"))
    out = parser.parse_args().out
    packages = installed()
    out.mkdir(parents=True, exist_ok=True)
    text = json.dumps(sbom(packages), ensure_ascii=False, indent=1)
    (out / "sbom.cdx.json").write_text(text + "\n", encoding="utf-8")
    (out / "licences.md").write_text(licences(packages), encoding="utf-8")
    unknown = [name for name, package in packages.items() if licence(package) == UNKNOWN]
    print(
        f"{len(packages)} packages: {out}/sbom.cdx.json, {out}/licences.md; {UNKNOWN}: {', '.join(unknown) or 'none'}"
    )


if __name__ == "__main__":
    main()
