"""The SDK is loaded without the halves that a server never uses, and works as ever for whoever asks for them."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow


def run(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip()


def test_a_server_does_not_load_the_client() -> None:
    """B202: a tenth of a second and more, and ten megabytes, that every agent session would pay for."""
    loaded = run("import sys, dolmen.interfaces.mcp.server; print('mcp.client' in sys.modules)")
    assert loaded == "False"


def test_what_was_left_out_is_there_for_whoever_asks() -> None:
    said = run(
        "import dolmen.interfaces.mcp.server, mcp, mcp.server\n"
        "from mcp import Client, types\n"
        "from mcp.server import MCPServer, Server\n"
        "print(Client.__name__, types.Tool.__name__, MCPServer.__name__, Server is mcp.server.lowlevel.Server)\n"
        "print(hasattr(mcp, 'nothing_like_this'))"
    )
    assert said == "Client Tool MCPServer True\nFalse"


def test_the_whole_sdk_may_have_been_loaded_before() -> None:
    assert run("import mcp, dolmen.interfaces.mcp.server as s; print(s.sdk.Server is mcp.server.Server)") == "True"


def test_garbage_is_collected_again_after_loading() -> None:
    assert run("import gc, dolmen.interfaces.mcp.server; print(gc.isenabled())") == "True"
