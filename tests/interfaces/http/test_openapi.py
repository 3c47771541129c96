"""The published OpenAPI document, and what schemathesis finds when it calls everything in it with odd values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import hypothesis
import pytest
import schemathesis
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.interfaces.conftest import Serve
from tests.interfaces.http.test_oauth_flow import BASE

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
OPERATIONS = [
    ("GET", "/api/v1/refs"),
    ("POST", "/api/v1/refs/check"),
    ("GET", "/api/v1/mirror"),
    ("GET", "/api/v1/mirror/notes"),
    ("POST", "/api/v1/mirror/read"),
    ("POST", "/api/v1/mirror/write"),
    ("GET", "/quick"),
    ("GET", "/quick/recall"),
    ("GET", "/quick/read"),
    ("POST", "/quick/propose"),
    ("GET", "/health"),
    ("GET", "/metrics"),
    ("POST", "/oauth/token"),
    ("POST", "/oauth/device_authorization"),
    ("POST", "/oauth/revoke"),
    ("POST", "/oauth/register"),
    ("GET", "/.well-known/oauth-authorization-server"),
]


def test_the_document_is_published_and_names_every_call(serve: Serve) -> None:
    served = serve(public_url=BASE)
    answer = served.http.get(served.base + "/api/v1/openapi.json")
    assert answer.status_code == 200
    found = answer.json()
    assert found["openapi"] == "3.1.0"
    named = [(method.upper(), path) for path, methods in found["paths"].items() for method in methods]
    assert sorted(named) == sorted(OPERATIONS)
    without = serve().http.get(f"{serve().base}/api/v1/openapi.json").json()
    assert not [path for path in without["paths"] if "oauth" in path]


@pytest.mark.slow
@pytest.mark.parametrize("credential", ["none", "a key"])
def test_no_odd_value_breaks_a_call(serve: Serve, credential: str) -> None:
    """Every call, with and without a key: no failure of the server, and only answers that the document names."""
    served = serve(public_url=BASE, rate_limit=0, failures=0)
    headers: Mapping[str, str] = {"authorization": f"Bearer {served.key('codex')}"} if credential == "a key" else {}
    schema = schemathesis.openapi.from_dict(served.http.get(served.base + "/api/v1/openapi.json").json())
    called = [(method, path) for method, path in OPERATIONS if calls(schema[path][method], served.base, headers)]
    assert called == OPERATIONS


def wrong(operation: Any) -> Any:
    """Values that the document does not allow, where it leaves any out."""
    if not operation.query and not operation.body:
        return hypothesis.strategies.nothing()
    return operation.as_strategy(generation_mode=GenerationMode.NEGATIVE)


def calls(operation: Any, base: str, headers: Mapping[str, str]) -> int:
    """How often it was called; each answer was as the document says."""
    number = 0

    @hypothesis.settings(max_examples=25, deadline=None, database=None, phases=[hypothesis.Phase.generate])
    @hypothesis.given(case=operation.as_strategy(generation_mode=GenerationMode.POSITIVE) | wrong(operation))
    def call(case: schemathesis.Case) -> None:
        nonlocal number
        case.call_and_validate(base_url=base, headers=dict(headers), checks=CHECKS, timeout=20)
        number += 1

    call()
    return number
