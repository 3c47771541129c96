"""The generated pages are what the code says today."""

from __future__ import annotations

import importlib.util
from types import ModuleType

from tests.docs.markdown import ROOT


def generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_generated_page_is_what_its_generator_gives() -> None:
    module = generate()
    for name in module.GENERATORS:
        page = ROOT / "docs" / name
        assert page.is_file(), f"run: python docs/generate.py (for docs/{name})"
        assert page.read_text() == module.page(name), f"run: python docs/generate.py (docs/{name} differs)"


def test_every_page_that_says_it_is_generated_has_a_generator() -> None:
    module = generate()
    marked = {
        str(page.relative_to(ROOT / "docs"))
        for page in (ROOT / "docs").rglob("*.md")
        if page.read_text().startswith(module.MARK)
    }
    assert marked == set(module.GENERATORS)
