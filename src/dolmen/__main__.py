"""`python -m dolmen` is `dolmen`."""

from __future__ import annotations

import sys


def main() -> None:
    """Starts the command line; nothing else is imported before it knows which command is meant."""
    if len(sys.argv) == 3 and sys.argv[1] == "hook" and not sys.argv[2].startswith("-"):
        from dolmen.interfaces.hooks import main as hook

        hook(sys.argv[2])  # agents wait for it: it starts without the command line
    from dolmen.interfaces.cli.main import main as run

    run()


if __name__ == "__main__":
    main()
