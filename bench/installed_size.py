"""What the default installation takes on disk: `python bench/installed_size.py [--extra postgres] [--json]`.

Installs requirements/run.txt and the project into a throw-away environment with pip, bytecode included as pip leaves
it, and adds up the files of each package. Not counted: Python itself, pip and setuptools. MB are 1,000,000 bytes. Exit
code 1 when the default takes more than LIMIT_MB.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMIT_MB = 300
NOT_OURS = ("pip", "setuptools", "flit_core")

READ_SIZES = """
import importlib.metadata, json, os
sizes = {}
for dist in importlib.metadata.distributions():
    files = {os.path.realpath(dist.locate_file(file)) for file in dist.files or ()}
    sizes[f"{dist.name} {dist.version}"] = sum(os.path.getsize(file) for file in files if os.path.isfile(file))
print(json.dumps(sizes))
"""


def install(folder: Path, level: str) -> Path:
    """Make an environment in FOLDER with everything that a user of LEVEL has; returns its Python."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*pip, "--require-hashes", "-r", ROOT / "requirements" / f"{level}.txt"], check=True)
    subprocess.run([*pip, "--no-index", "--no-build-isolation", ROOT], check=True)
    return python


def measure(level: str) -> dict[str, int]:
    """Bytes per package, largest first, of what LEVEL installs."""
    with tempfile.TemporaryDirectory() as folder:
        python = install(Path(folder) / "venv", level)
        found = json.loads(
            subprocess.run([python, "-c", READ_SIZES], check=True, capture_output=True, text=True).stdout
        )
    own = {name: size for name, size in found.items() if name.split()[0].replace("-", "_") not in NOT_OURS}
    return dict(sorted(own.items(), key=lambda item: -item[1]))


def table(sizes: dict[str, int], shown: int = 12) -> str:
    """A Markdown table of the largest packages, the rest in one line, and the sum."""
    rows = list(sizes.items())
    rest = rows[shown:]
    lines = ["| package | MB |", "|---|---|"]
    lines += [f"| {name} | {size / 1e6:.1f} |" for name, size in rows[:shown]]
    lines.append(f"| {len(rest)} others | {sum(size for _, size in rest) / 1e6:.1f} |")
    lines.append(f"| **all** | **{sum(sizes.values()) / 1e6:.1f}** |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description="What the default installation takes on disk.")
    parser.add_argument("--extra", choices=["postgres"], help="with this extra")
    parser.add_argument("--json", action="store_true", help="bytes per package as JSON")
    arguments = parser.parse_args()
    sizes = measure(arguments.extra or "run")
    print(json.dumps(sizes, indent=2) if arguments.json else table(sizes))
    return int(not arguments.extra and sum(sizes.values()) > LIMIT_MB * 1e6)


if __name__ == "__main__":
    raise SystemExit(main())
