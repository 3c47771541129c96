"""Imports point down, and the domain stands on the standard library alone."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "dolmen"
MODULES = sorted(SOURCE.rglob("*.py"))

LAYERS = ("domain", "settings", "store", "models", "markdown", "services", "client", "app", "interfaces", "__main__")
"""From the lowest up; import-linter checks the order of neighbours, this only what a type may name."""

IMPURE = frozenset(
    {"asyncio", "http", "io", "logging", "multiprocessing", "os", "pathlib", "random", "secrets", "select", "shutil"}
    | {"signal", "socket", "sqlite3", "ssl", "subprocess", "sys", "tempfile", "threading", "time", "urllib", "uuid"}
)
"""Of the standard library, what does input or output, reads the clock or is random: none of it in the domain."""
PURE = frozenset({"urllib.parse"})
"""Parts of those that only compute."""


def test_every_contract_of_import_linter_holds(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("importlinter.cli._configure_logging", lambda _: None)  # it silences everybody's loggers
    code = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True, no_logo=True)
    assert code == 0, capsys.readouterr().out


@pytest.mark.parametrize("module", sorted((SOURCE / "domain").rglob("*.py")), ids=lambda path: path.stem)
def test_the_domain_imports_only_itself_and_pure_parts_of_the_standard_library(module: Path) -> None:
    allowed = sys.stdlib_module_names - IMPURE
    foreign = [
        name
        for name, _ in imports(module)
        if name.partition(".")[0] not in allowed and name not in PURE and name.split(".")[:2] != ["dolmen", "domain"]
    ]
    assert foreign == []


@pytest.mark.parametrize("module", sorted((SOURCE / "domain").rglob("*.py")), ids=lambda path: path.stem)
def test_the_domain_reads_no_clock(module: Path) -> None:
    read = [
        ast.unparse(node)
        for node in ast.walk(ast.parse(module.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("now", "today")
        # `now(UTC)` of a datetime reads the clock; `tx.now` and a function argument called now do not.
        if ast.unparse(node.func.value).endswith(("datetime", "date"))
    ]
    assert read == []


def test_types_are_named_downwards_too_apart_from_the_application() -> None:
    """import-linter leaves out imports for type checkers; upwards they may name `dolmen.app` alone."""
    upward = [
        f"{module.relative_to(SOURCE)}: {name}"
        for module in MODULES
        for name, for_types in imports(module)
        if for_types and name.startswith("dolmen.") and name != "dolmen.app"
        if layer(name) > layer(".".join(("dolmen", *module.relative_to(SOURCE).with_suffix("").parts)))
    ]
    assert upward == []


def layer(name: str) -> int:
    part = name.split(".")[1]
    return LAYERS.index(part) if part in LAYERS else 0


def imports(module: Path) -> Iterator[tuple[str, bool]]:
    """The absolute names that a module imports, and whether only a type checker sees the import."""
    tree = ast.parse(module.read_text())
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, id(node) in for_types) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}:{node.lineno}: imports are absolute"
            yield node.module or "", id(node) in for_types


def test_git_is_called_in_one_place() -> None:
    """Only there it is kept from running what a repository's own settings name."""
    calls = [path for path in MODULES if re.search(r"""\[\s*f?["']git["'/ ]""", path.read_text(encoding="utf-8"))]
    assert calls == []
