"""schemathesis asks everything that the OpenAPI allows, and much that it does not."""

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("faiss")
pytest.importorskip("fastapi")
pytest.importorskip("schemathesis")

import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance
from served import Collection, collection, red_checker, square

from groundling.serve.access import Access
from groundling.serve.uploads import MEDIA_TYPES

for media_type in MEDIA_TYPES:  # bytes that are a picture; what is none is tested by hand
    schemathesis.openapi.media_type(media_type, some.sampled_from([square(kind=kind) for kind in ("PNG", "JPEG")]))

WITHOUT_PARAMETERS = ("/about", "/health", "/ready", "/metrics")
HOSTS = Access(names=frozenset({"testserver"}))


@pytest.fixture(scope="module")
def squares(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    with collection(tmp_path_factory.mktemp("openapi"), pictures=4) as made:
        yield made


@pytest.fixture(scope="module")
def api(squares: Collection) -> Any:
    """Pictures and captions, and a model that judges."""
    return schemathesis.openapi.from_asgi("/openapi.json", squares.app(HOSTS, checker=red_checker()))


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize(
    "operation",
    [
        *("GET /search", "GET /similar", "POST /similar", "GET /captions", "POST /captions", "GET /check"),
        *(
            "POST /check",
            "GET /pictures/{id}",
            "GET /pictures/{id}/about",
            "GET /about",
            "GET /health",
            "GET /ready",
            "GET /metrics",
            "POST /session",
        ),
    ],
)
def test_every_operation_keeps_to_its_description(api: Any, operation: str, mode: GenerationMode) -> None:
    method, path = operation.split()
    asked = api[path][method]
    if mode is GenerationMode.NEGATIVE and path in WITHOUT_PARAMETERS:
        return

    @given(case=asked.as_strategy(generation_mode=mode))
    @settings(max_examples=15, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    def ask(case: Any) -> None:
        # A sentence in a language that the model does not know is described as well as any other, but not judged.
        case.call_and_validate(excluded_checks=[positive_data_acceptance] if path == "/check" else [])

    ask()


def test_everything_that_goes_wrong_is_described_as_a_problem(squares: Collection) -> None:
    with squares.client(HOSTS) as client:
        described = client.get("/openapi.json").json()
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            told = operation["responses"]["default"]["content"]
            assert list(told) == ["application/problem+json"], (method, path)
            assert "422" not in operation["responses"]
    assert set(described["paths"]) == {
        *("/search", "/similar", "/captions", "/check", "/pictures/{id}", "/pictures/{id}/about"),
        *("/about", "/health", "/ready", "/metrics", "/session", "/sample", "/examples", "/fit"),
    }
