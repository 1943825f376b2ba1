"""What is installed is pinned and locked, and workflows run nothing that can change under them."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from site_scripts import ROOT

sys.path.append(str(ROOT / "scripts" / "supply_chain"))

import lock
import sbom

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_locks_are_those_of_the_constraints() -> None:
    assert list(lock.problems()) == []  # else: make lock INDEX=https://HOST/simple


def test_a_lock_that_does_not_fit_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digest = "0" * 64
    files = {
        "CONSTRAINTS": "one==1.0\nTwo_x==2.0\ntorch==2.13.0\nfour==4\n",
        "DEMO": f"one==1.0 \\\n    --hash=sha256:{digest}\n",
        "TOOLS": f"two-x==2.1 \\\n    --hash=sha256:{digest}\none==1.0\nfive==5\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        monkeypatch.setattr(lock, name, tmp_path / name)
    monkeypatch.setattr(lock.pinned, "__defaults__", (tmp_path / "CONSTRAINTS",))
    assert list(lock.problems()) == [
        "one is in both locks",
        "five: nothing in constraints.txt, 5 in locks/",
        "four: 4 in constraints.txt, nothing in locks/",
        "two-x: 2.0 in constraints.txt, 2.1 in locks/",
        "TOOLS: one has no hash",
        "TOOLS: five has no hash",
    ]


def test_hashes_of_the_files_that_fit_our_systems_are_taken(tmp_path: Path) -> None:
    names = {
        "a_b-1.0-py3-none-any.whl": True,
        "a_b-1.0.tar.gz": True,
        "a_b-1.0-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl": True,
        "a_b-1.0-cp38-abi3-macosx_11_0_arm64.whl": True,
        "a_b-1.0-cp312-cp312-win_amd64.whl": True,
        "a_b-1.0-cp313-cp313t-manylinux_2_28_x86_64.whl": False,
        "a_b-1.0-cp311-cp311-musllinux_1_2_x86_64.whl": False,
        "a_b-1.0-pp311-pypy311_pp73-manylinux_2_28_x86_64.whl": False,
        "a_b-1.0.1-py3-none-any.whl": False,
        "a_b-1.0.1.tar.gz": False,
        "a_b-1.0rc1-py3-none-any.whl": False,
    }
    lines = [f'<a href="../files/{name}#sha256={number:064x}">{name}</a>' for number, name in enumerate(names)]
    (tmp_path / "a-b").mkdir()
    (tmp_path / "a-b" / "index.html").write_text("\n".join(lines))
    server = subprocess.Popen(
        [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", tmp_path],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert server.stdout is not None
        port = re.search(r"port (\d+)", server.stdout.readline())
        assert port is not None
        found = lock.files(f"http://127.0.0.1:{port[1]}", "a-b", "1.0")
    finally:
        server.terminate()
        server.wait()
    assert found == [f"{number:064x}" for number, fits in enumerate(names.values()) if fits]


def test_no_file_names_a_host_and_torch_is_said_to_be_missing() -> None:
    for path in (lock.CONSTRAINTS, lock.DEMO, lock.TOOLS):
        text = path.read_text(encoding="utf-8")
        assert "://" not in text
        assert "--index" not in text
        assert "--find-links" not in text
    assert lock.pinned()["torch"] == "2.13.0"
    for path in (lock.DEMO, lock.TOOLS):
        assert "torch is not here, on purpose" in path.read_text(encoding="utf-8")


def test_whatever_pyproject_asks_for_is_pinned() -> None:
    asked = [*PYPROJECT["project"]["dependencies"], *PYPROJECT["build-system"]["requires"]]
    asked += [one for extra in PYPROJECT["project"]["optional-dependencies"].values() for one in extra]
    names = {lock.normal(re.split(r"[\[<>=!~; ]", one)[0]) for one in asked}
    assert names <= lock.pinned().keys()


def test_the_demo_needs_no_more_than_its_lock() -> None:
    """Otherwise pip would take the rest by version alone."""
    missing = lock.needed(lock.EXTRAS) - lock.pinned(lock.DEMO).keys() - lock.UNLOCKED
    assert missing == set()
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert f"'.[{','.join(lock.EXTRAS)}]'" in makefile
    for name in ("demo", "tools"):
        assert f"$(LOCKED) locks/{name}.txt" in makefile
    assert "--require-hashes" in makefile


def steps(workflow: Any) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_run_what_was_read_and_may_do_little(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    workflow = yaml.safe_load(text)
    used = [step["uses"] for step in steps(workflow) if "uses" in step]
    assert used
    for action in used:
        assert re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}", action), action
        assert re.search(rf"{re.escape(action)} # v\d+\.\d+\.\d+$", text, re.MULTILINE), f"{action}: of which version?"
    assert workflow["permissions"] == {"contents": "read"}
    assert "secrets." not in text
    assert "pull_request_target" not in text
    for step in steps(workflow):
        assert "${{" not in step.get("run", ""), "text of others would become a command"
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] <= 40


def test_vulnerabilities_end_a_build_and_releases_are_signed() -> None:
    security, release = (
        yaml.safe_load((ROOT / f".github/workflows/{name}.yml").read_text()) for name in ("security", "release")
    )
    assert "make audit" in [step.get("run") for step in security["jobs"]["audit"]["steps"]]
    assert "pip-audit --strict" in (ROOT / "Makefile").read_text(encoding="utf-8")
    build, publish = release["jobs"]["build"], release["jobs"]["publish"]
    assert any("attest-build-provenance@" in step.get("uses", "") for step in build["steps"])
    assert build["permissions"] == {"contents": "read", "id-token": "write", "attestations": "write"}
    assert publish["permissions"] == {"id-token": "write"}
    assert publish["environment"] == "release"
    last = publish["steps"][-1]
    assert last["uses"].startswith("pypa/gh-action-pypi-publish@")
    assert last["with"] == {"attestations": True}  # no password: the publisher is trusted
    updates = yaml.safe_load((ROOT / ".github/dependabot.yml").read_text())["updates"]
    assert {one["package-ecosystem"] for one in updates} == {"pip", "github-actions"}


def test_sbom_and_licences_name_all_that_is_installed(tmp_path: Path) -> None:
    packages = sbom.installed()
    made = json.loads(json.dumps(sbom.sbom(packages)))
    assert (made["bomFormat"], made["specVersion"]) == ("CycloneDX", "1.6")
    assert made["metadata"]["component"]["name"] == "groundling"
    named = {one["name"]: one for one in made["components"]}
    assert named.keys() == packages.keys() - {"groundling"}
    pins = lock.pinned()
    assert len(named.keys() & pins.keys()) > 40
    numpy = named["numpy"]
    assert numpy["purl"] == f"pkg:pypi/numpy@{packages['numpy'].version}"
    assert "BSD-3-Clause" in numpy["licenses"][0]["expression"]
    if pins["numpy"] == packages["numpy"].version:
        assert {one["value"] for one in numpy["properties"]} == set(lock.hashes(lock.DEMO)["numpy"])
    known = {one["bom-ref"] for one in (*made["components"], made["metadata"]["component"])}
    needs = {one["ref"]: one["dependsOn"] for one in made["dependencies"]}
    assert needs.keys() == known
    assert all(set(needed) <= known for needed in needs.values())
    own = needs[made["metadata"]["component"]["bom-ref"]]
    assert {"numpy", "faiss-cpu", "hypothesis"} <= {one.split("/")[1].split("@")[0] for one in own}
    table = sbom.licences(packages)
    assert all(f"| {name} |" in table for name in packages)


def test_what_is_promised_names_all_who_are_not_trusted() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    for who in ("Pictures", "Indexes", "Runs", "Recipes", "Exported models", "Models of the hub", "Clients"):
        assert f"| **{who}" in text
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for command in set(re.findall(r"`make (\w+)", text)):
        assert re.search(rf"^{command}:", makefile, re.MULTILINE), command
