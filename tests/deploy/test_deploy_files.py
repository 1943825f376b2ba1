"""What lies in deploy/ fits the package: its needs, its options, its paths. Linters of their kinds look at the rest."""

import http.server
import inspect
import json
import os
import re
import subprocess
import sys
import threading
import tomllib
from pathlib import Path
from typing import Any, get_args

import yaml
from packaging.requirements import Requirement

from groundling.cli.index import index as make_index
from groundling.cli.serve import serve

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[<>=\[;# ]", line, maxsplit=1)[0].lower() for line in requirements}


def test_the_server_image_has_what_an_exported_model_needs_and_no_torch() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    needed = names(project["dependencies"] + extras["search"] + extras["serve"] + extras["heic"]) - {"torch"}
    lines = [line for line in (DEPLOY / "serve-requirements.txt").read_text().splitlines() if line[:1] not in ("#", "")]
    assert names(lines) == needed | {"onnxruntime", "pymilvus"}
    assert "pymilvus" in names(extras["milvus"])


def requirements(file: Path) -> list[Requirement]:
    """What a file of requirements asks for itself, without what it takes from others."""
    lines = [line.split(" #")[0].strip() for line in file.read_text().splitlines()]
    return [Requirement(line) for line in lines if line and line[0] not in "#-"]


def pinned() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    return {name.lower(): version for name, _, version in (line.partition("==") for line in lines) if version}


def test_constraints_can_be_met_by_what_images_install() -> None:
    """botocore, which s3fs brings, refuses python-dateutil 3 and 4."""
    pins = pinned()
    for file in DEPLOY.glob("*-requirements.txt"):
        for one in requirements(file):
            version = pins.get(one.name.lower())
            assert version is None or one.specifier.contains(version), f"{file.name}: {one}, constraints.txt: {version}"
    bulk = {one.name: str(one.specifier) for one in requirements(DEPLOY / "bulk-requirements.txt")}
    assert bulk["python-dateutil"] == "<3.0.0"  # of botocore
    assert bulk["s3fs"] == f"=={pins['fsspec']}"  # each release asks for the fsspec of its own number
    assert f"'s3fs{bulk['s3fs']}'" in (DEPLOY / "train.Dockerfile").read_text()


class Healthy(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/health" else 404)
        self.end_headers()

    def log_message(self, *_: object) -> None: ...


def test_a_container_is_healthy_while_its_port_answers_whichever_that_is() -> None:
    text = (DEPLOY / "serve.Dockerfile").read_text()
    check = re.search(r"^HEALTHCHECK .*\\\n +CMD (\[.+\])$", text, re.MULTILINE)
    assert check is not None and "GROUNDLING_PORT=8000" in text
    python, *arguments = json.loads(check[1])
    assert python == "python"

    def healthy(port: int) -> bool:
        environment = {**os.environ, "GROUNDLING_PORT": str(port)}
        return subprocess.run([sys.executable, *arguments], env=environment, capture_output=True).returncode == 0

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Healthy) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port = server.server_address[1]
        assert healthy(port)
        server.shutdown()
    assert not healthy(port)


def variables() -> dict[str, str]:
    """Environment variable → parameter of `groundling serve`."""
    found = {}
    for name, parameter in inspect.signature(serve).parameters.items():
        for about in get_args(parameter.annotation)[1:]:
            if getattr(about, "envvar", None):
                found[about.envvar] = name
    return found


def test_variables_of_images_and_manifests_are_read_by_somebody() -> None:
    elsewhere = {"GROUNDLING_TOKEN", "GROUNDLING_CACHE", "GROUNDLING_DATA", "MILVUS_URI", "MILVUS_TOKEN"}
    for file in (*DEPLOY.rglob("*.Dockerfile"), *DEPLOY.rglob("*.yaml"), ROOT / "docs" / "guides" / "deploy.md"):
        for variable in re.findall(r"\b(?:GROUNDLING|MILVUS)_[A-Z_]+\b", file.read_text()):
            assert variable in variables() or variable in elsewhere, f"{file.name}: {variable}"
    assert set(variables()) <= set(re.findall(r"GROUNDLING_[A-Z_]+", (ROOT / "docs/guides/deploy.md").read_text()))


def test_containers_have_no_rights_and_write_nowhere_but_tmp() -> None:
    server = next(yaml.safe_load_all((DEPLOY / "kubernetes" / "server.yaml").read_text()))
    pod: dict[str, Any] = server["spec"]["template"]["spec"]
    container = pod["containers"][0]
    assert pod["securityContext"]["runAsNonRoot"] and container["securityContext"]["readOnlyRootFilesystem"]
    assert {mount["mountPath"] for mount in container["volumeMounts"] if not mount.get("readOnly")} == {"/tmp"}  # noqa: S108 (in the container)
    composed = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]["server"]
    assert composed["read_only"] and composed["cap_drop"] == ["ALL"]
    assert all(port.startswith("127.0.0.1:") for port in composed["ports"])
    for file in DEPLOY.glob("*.Dockerfile"):
        assert re.search(r"^USER 10001$", file.read_text(), re.MULTILINE), file.name


def manifests(name: str) -> dict[tuple[str, str], dict[str, Any]]:
    """The objects of one file, by kind and name."""
    found = yaml.safe_load_all((DEPLOY / "kubernetes" / name).read_text())
    return {(one["kind"], one["metadata"]["name"]): one for one in found}


def test_who_builds_an_index_and_who_serves_it_call_the_milvus_by_one_name() -> None:
    """An index names the address of its Milvus: one that was built with another cannot be served."""
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    served = services["server"]["environment"]["MILVUS_URI"]
    assert services["index"]["command"] == ["--store", f"milvus:{served}"]
    assert served == "http://milvus:19530" and "milvus" in services
    port = manifests("milvus.yaml")["Service", "milvus"]["spec"]["ports"][0]["port"]
    job = manifests("ray.yaml")["Job", "groundling-index"]["spec"]["template"]["spec"]["containers"][0]
    assert f"--store milvus:http://milvus:{port} " in job["args"][0]


def test_a_bulk_import_goes_into_the_bucket_that_the_milvus_reads() -> None:
    services = yaml.safe_load((DEPLOY / "compose.minio.yaml").read_text())["services"]
    index, milvus, minio = (services[name] for name in ("index", "milvus", "minio"))
    bucket, address = (milvus["environment"][f"MINIO_{name}"] for name in ("BUCKET_NAME", "ADDRESS"))
    before = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    assert index["command"] == [*before["index"]["command"], "--bulk", f"s3://{bucket}/imports"]
    assert index["environment"]["AWS_ENDPOINT_URL"] == f"http://{address}" and address.split(":")[0] in services
    asked = index["environment"], milvus["environment"], minio["environment"]
    keys = [("AWS_ACCESS_KEY_ID", "MINIO_ACCESS_KEY_ID", "MINIO_ROOT_USER")]
    keys += [("AWS_SECRET_ACCESS_KEY", "MINIO_SECRET_ACCESS_KEY", "MINIO_ROOT_PASSWORD")]
    for names in keys:
        assert len({environment[name] for environment, name in zip(asked, names, strict=True)}) == 1
    image = (DEPLOY / index["build"]["args"]["REQUIREMENTS"]).read_text()
    assert "--requirement serve-requirements.txt" in image.splitlines()
    assert {"fsspec", "s3fs"} <= {one.name for one in requirements(DEPLOY / index["build"]["args"]["REQUIREMENTS"])}
    assert "bulk" in inspect.signature(make_index).parameters

    job = manifests("ray.yaml")["Job", "groundling-index"]["spec"]["template"]["spec"]["containers"][0]
    assert '${BULK:+--bulk "$BULK"}' in job["args"][0] and job["envFrom"][0]["secretRef"]["optional"]
    port = manifests("minio.yaml")["Service", "minio"]["spec"]["ports"][0]["port"]
    assert f"minio:{port}" == address and f"minio:{port}" in (ROOT / "docs" / "guides" / "deploy.md").read_text()
    allowed = manifests("minio.yaml")["NetworkPolicy", "minio"]["spec"]["ingress"][0]["from"]
    labels = {one["podSelector"]["matchLabels"]["app"] for one in allowed}
    assert labels == {"milvus", "groundling-ray"}


def test_images_have_the_extras_of_what_is_run_in_them() -> None:
    installed = re.search(r"'\.\[(.+)\]'", (DEPLOY / "train.Dockerfile").read_text())
    assert installed is not None and {"ray", "milvus", "search"} <= set(installed[1].split(","))


def test_nobody_else_reaches_a_ray_or_a_milvus() -> None:
    """Ray's processes exchange pickles; each asks for the token, and only they are let through to each other."""
    ray = manifests("ray.yaml")
    for key in (
        ("Deployment", "groundling-ray-head"),
        ("Deployment", "groundling-ray-worker"),
        ("Job", "groundling-index"),
    ):
        template = ray[key]["spec"]["template"]
        settings = {one["name"]: one for one in template["spec"]["containers"][0]["env"]}
        assert (
            settings["RAY_AUTH_MODE"]["value"] == "token" and "secretKeyRef" in settings["RAY_AUTH_TOKEN"]["valueFrom"]
        )
        assert template["metadata"]["labels"]["app"] == "groundling-ray"
    for policy in (ray["NetworkPolicy", "groundling-ray"], manifests("milvus.yaml")["NetworkPolicy", "milvus"]):
        sources = [one for rule in policy["spec"]["ingress"] for one in rule["from"]]
        assert sources and all(one["podSelector"]["matchLabels"]["app"].startswith("groundling") for one in sources)


def test_files_that_images_copy_are_there() -> None:
    for file in DEPLOY.glob("*.Dockerfile"):
        for line in re.findall(r"^COPY (?!--from)(.+) \S+$", file.read_text(), re.MULTILINE):
            for source in line.split():
                assert (ROOT / source).exists(), f"{file.name}: {source}"
