"""Files stay small, packages are packages, both engines have the same schema numbers, and nothing names one machine."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
from pathlib import Path

import pytest

import dolmen

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "dolmen"
MODULES = sorted(SOURCE.rglob("*.py"))

LONGEST = 400
LONGER_FILES: dict[str, str] = {}
"""Files that may be longer, each with its reason."""

OF_ONE_MACHINE = re.compile(
    "|".join(
        (
            r"(?<![\w.:~-])/(?:work|farm|root)/",  # folders of a machine on which somebody develops
            r"/tmp/(?:bash_jobs|research)",
            r"\b(?:pypi|pythonhosted)\.(?:org|io)\b",  # whoever installs uses their own registry
            r"\bregistry\.npmjs\b",
        )
    )
)


def tracked_files() -> list[Path]:
    listed = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True)
    return [path for name in listed.split("\0") if name and (path := ROOT / name).is_file()]


def test_no_file_outgrows_its_room() -> None:
    lengths = {str(path.relative_to(SOURCE)): len(path.read_text().splitlines()) for path in MODULES}
    longer = {name: length for name, length in lengths.items() if length > LONGEST and name not in LONGER_FILES}
    assert longer == {}, "split by theme into a package of the same name, or add a reason to LONGER_FILES"
    assert [name for name in LONGER_FILES if lengths.get(name, 0) <= LONGEST] == []


def test_every_folder_with_modules_is_a_package() -> None:
    folders = {path.parent for path in MODULES}
    assert [
        str(folder.relative_to(SOURCE)) for folder in sorted(folders) if not (folder / "__init__.py").exists()
    ] == []


def test_types_are_published() -> None:
    assert (SOURCE / "py.typed").is_file()


def test_the_version_is_one_number_in_one_place() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", dolmen.__version__)
    assert 'dynamic = ["version"]' in (ROOT / "pyproject.toml").read_text()


def modules_with_all() -> list[str]:
    found = []
    for path in MODULES:
        names = [
            target.id
            for node in ast.parse(path.read_text()).body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        ]
        if "__all__" in names:
            parts = path.relative_to(SOURCE.parent).with_suffix("").parts
            found.append(".".join(parts).removesuffix(".__init__"))
    return found


def test_every_declared_all_is_sorted_complete_and_true() -> None:
    for name in modules_with_all():
        module = importlib.import_module(name)
        assert len(set(module.__all__)) == len(module.__all__), name
        assert [each for each in module.__all__ if not hasattr(module, each)] == [], name


def test_both_engines_have_the_same_schema_numbers() -> None:
    names = [
        [path.name for path in sorted((SOURCE / "store" / engine / "schema").glob("*.sql"))]
        for engine in ("sqlite", "postgres")
    ]
    assert names[0] == names[1]
    assert [int(name[:4]) for name in names[0]] == list(range(1, len(names[0]) + 1))


def test_nothing_names_a_machine_or_a_registry() -> None:
    this = Path(__file__).resolve()
    found = []
    for path in tracked_files():
        if path == this:
            continue
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        found += [f"{path.relative_to(ROOT)}: {match.group()}" for match in OF_ONE_MACHINE.finditer(text)]
    assert found == []


@pytest.mark.parametrize("name", ["serve", "test", "lock"])
def test_the_scripts_can_be_started(name: str) -> None:
    mode = subprocess.check_output(["git", "ls-files", "-s", f"scripts/{name}"], cwd=ROOT, text=True)
    assert mode.startswith("100755 ")


def test_shell_scripts_are_valid_for_any_posix_shell() -> None:
    for name in ("scripts/serve", "scripts/test", "scripts/lock", "scripts/environment.sh", ".ci/run"):
        subprocess.run(["sh", "-n", name], cwd=ROOT, check=True)
        assert "[[" not in (ROOT / name).read_text(), name
