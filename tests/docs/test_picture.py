from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest

from docs import picture

pytestmark = pytest.mark.slow

WORD = re.compile(r"[^\W\d_]{3,}")
REF = re.compile(r"[0-9a-f]{8}")


def test_the_picture_in_the_readme_is_what_the_demo_prints() -> None:
    """Refs, ages and scores change from run to run; the words do not."""
    svg = picture.PICTURE.read_text(encoding="utf-8")
    drawn = unescape(" ".join(t for t in re.findall(r"<text[^>]*>([^<]*)</text>", svg) if not REF.fullmatch(t)))
    now = " ".join(re.sub(r"\x1b\[[0-9;]*m", "", line) for line in picture.printed()[: picture.LINES])
    assert set(WORD.findall(drawn)) - {"dolmen", "demo"} <= set(WORD.findall(now))
    assert str(Path("docs/pictures/demo.svg")) in Path("README.md").read_text(encoding="utf-8")
