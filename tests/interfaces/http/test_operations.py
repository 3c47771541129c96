"""Every operation of every door is in the one table; what is not, nobody may do (C-302, C-303, C-316 to C-319)."""

from __future__ import annotations

import pytest
from starlette.routing import Route

from dolmen.domain.errors import DolmenError
from dolmen.domain.operations import (
    ANYBODY,
    OPERATIONS,
    PERSONS,
    PRESET_FAMILIES,
    RESOURCES,
    narrowed,
    permit,
    within_preset,
)
from dolmen.domain.values import PRESETS, SERVED, Actor, Preset
from dolmen.interfaces.http.asgi import create_app
from dolmen.interfaces.http.options import HttpOptions
from dolmen.interfaces.http.quick import _Place
from dolmen.interfaces.http.rest.endpoint import Endpoint
from dolmen.interfaces.mcp.registry import faces
from dolmen.services.journal import JournalBuffer
from dolmen.services.runtime import Runtime
from dolmen.store.opening import open_store


def actor(**changes: object) -> Actor:
    given = {"vault": "v", "person": "p", "agent": "codex", "mode": "admin", "connection": "c"} | changes
    return Actor(**given)  # type: ignore[arg-type]  # fields of Actor, by name


def tools() -> dict[str, str]:
    return {f"{name}.{tool.name}": tool.need for name, face in faces("https://x").items() for tool in face.tools}


def test_every_tool_of_every_toolset_is_in_the_table_with_what_it_asks_for() -> None:
    entered = {name: each.need for name, each in OPERATIONS.items() if name.partition(".")[0] in SERVED}
    assert entered == tools()


def test_every_address_is_in_a_table() -> None:
    store = open_store("sqlite:///:memory:")
    try:
        app = create_app(Runtime(store, None, JournalBuffer(store)), HttpOptions(public_url="https://memory.example"))
    finally:
        store.close()
    found: set[str] = set()
    for route in app.routes:
        assert isinstance(route, Route)
        if route.path.startswith("/mcp") or route.path == "/{path:path}":
            continue  # the tools, each by its name; and what is nowhere
        path = route.path.replace("{path:path}", "{path}")
        if isinstance(route.app, Endpoint):
            methods = set(route.app._handlers)
        elif isinstance(route.app, _Place):
            methods, path = {route.app._method}, path.rstrip("/")  # with and without a slash it is the same place
        else:
            methods = set(route.methods or {"GET"}) - {"HEAD"}
        found |= {f"BOTH {path}"} if methods == {"GET", "POST"} else {f"{method} {path}" for method in methods}
    of_addresses = {name for name in OPERATIONS if "/" in name and name != RESOURCES}
    assert found == of_addresses | set(ANYBODY) | PERSONS


def test_what_is_in_no_table_is_refused_even_to_an_administrator() -> None:
    for name in ("core.purge_everything", "DELETE /api/v1/refs", ""):
        with pytest.raises(DolmenError) as error:
            permit(actor(), name)
        assert error.value.code == "forbidden"


@pytest.mark.parametrize("mode", ["read", "suggest", "write", "admin"])
def test_each_mode_may_what_its_row_says(mode: str) -> None:
    allowed = {"read": {"read"}, "suggest": {"read", "write"}, "write": {"read", "write"}}.get(
        mode, {"read", "write", "admin"}
    )
    for name, operation in OPERATIONS.items():
        if operation.need in allowed:
            permit(actor(mode=mode), name)
        else:
            with pytest.raises(DolmenError) as error:
                permit(actor(mode=mode), name)
            assert error.value.code == ("read-only" if mode == "read" else "forbidden")


ANCHORMIND = {
    "recall-only": "recall context memory_stats graph_explore fragment_history reconstruct_history search_traces "
    "get_skill_guide tool_feedback",
    "write-only": "remember batch_remember forget amend link reflect",
    "audit": "recall context memory_stats graph_explore fragment_history reconstruct_history search_traces",
}


@pytest.mark.parametrize("preset", sorted(ANCHORMIND))
def test_the_presets_hold_the_tools_of_anchorminds_document(preset: Preset) -> None:
    # C-316 to C-318
    own = {name.removeprefix("anchormind.") for name in OPERATIONS if name.startswith("anchormind.")}
    assert {name for name in own if within_preset(preset, f"anchormind.{name}")} == set(ANCHORMIND[preset].split())


def test_onboarding_has_every_operation() -> None:
    assert all(within_preset("onboarding", name) for name in OPERATIONS)
    assert set(PRESET_FAMILIES) == set(PRESETS)


def test_a_preset_narrows_and_never_widens() -> None:
    assert narrowed(actor(), "audit") == "audit"
    assert narrowed(actor(preset="recall-only"), "audit") == "audit"
    assert narrowed(actor(preset="audit"), "onboarding") == "audit"
    with pytest.raises(DolmenError) as error:
        narrowed(actor(preset="audit"), "write-only")
    assert error.value.code == "forbidden"
    with pytest.raises(DolmenError):
        permit(actor(preset="recall-only"), "core.remember")
    with pytest.raises(DolmenError):
        permit(actor(preset="write-only", mode="admin"), "core.recall")
    with pytest.raises(DolmenError):
        permit(actor(preset="write-only"), RESOURCES)
