"""The least that a memory server can be: one FTS5 table behind the SDK's own server class. Measured beside Dolmen.

What it takes is what the protocol, the SDK, the client and SQLite take; the difference is what Dolmen does for a
memory: rules, deduplication, history, languages, meaning. `python -m bench.latency.peer FILE [PORT]`: over HTTP on
PORT, else over stdio.
"""

from __future__ import annotations

import re
import sqlite3
import sys
from collections.abc import Iterable
from pathlib import Path

_WORD = re.compile(r"\w+")


class PlainFts:
    """Texts in SQLite's own full-text table: each stored in a transaction that reaches the disk, found by any word."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._db.execute("pragma journal_mode=wal")
        self._db.execute("pragma synchronous=full")
        self._db.execute("create virtual table if not exists memory using fts5(text, tokenize='porter unicode61')")

    def store(self, text: str) -> int:
        return int(self._db.execute("insert into memory(text) values (?)", (text,)).lastrowid or 0)

    def store_all(self, texts: Iterable[str]) -> None:
        self._db.execute("begin")
        self._db.executemany("insert into memory(text) values (?)", ((text,) for text in texts))
        self._db.execute("commit")

    def search(self, query: str, limit: int = 10) -> list[tuple[int, str]]:
        words = dict.fromkeys(word.lower() for word in _WORD.findall(query))
        any_of = " OR ".join(f'"{word}"' for word in words)
        return list(
            self._db.execute(
                "select rowid, text from memory where memory match ? order by bm25(memory) limit ?", (any_of, limit)
            )
        )

    def close(self) -> None:
        self._db.close()


def main(file: str, port: str | None = None) -> None:
    from mcp.server import MCPServer

    table = PlainFts(Path(file))
    server = MCPServer("plain-fts5", log_level="WARNING")

    @server.tool()
    def store(text: str) -> dict[str, int]:
        return {"id": table.store(text)}

    @server.tool()
    def search(query: str) -> dict[str, list[dict[str, int | str]]]:
        return {"found": [{"id": id, "text": text} for id, text in table.search(query)]}

    if port is None:
        server.run("stdio")
    else:
        server.run("streamable-http", port=int(port), stateless_http=True, json_response=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
