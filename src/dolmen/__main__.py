"""`python -m dolmen` is `dolmen`."""

from __future__ import annotations


def main() -> None:
    """Starts the command line; nothing else is imported before it knows which command is meant."""
    from dolmen.interfaces.cli.main import main as run

    run()


if __name__ == "__main__":
    main()
