"""Light upkeep of the database, and what to tell its administrator."""

from __future__ import annotations

from dolmen.store.postgres.session import PostgresSession
from dolmen.store.sql import queries

OLDEST_SERVER, OLDEST_VECTOR = 15, (0, 8)
"""Major version of PostgreSQL; version of pgvector (the first with iterative scans)."""

_RISKS = {
    "fsync": "fsync is off on the server: a power cut can lose or damage what was acknowledged.",
    "full_page_writes": "full_page_writes is off on the server: a power cut can damage the database.",
    "autovacuum": "autovacuum is off on the server: the database grows and slows down.",
}


def warnings(session: PostgresSession) -> tuple[str, ...]:
    """What is wrong with the server's settings."""
    return tuple(_RISKS[name] for name, _ in session.all(queries("upkeep", "postgres")["safety"]))


def tidy(session: PostgresSession) -> None:
    """Folds counts, drops indexes of models that are gone, and lets the planner look at tables that grew large."""
    sql = queries("upkeep", "postgres")
    for (vault,) in session.all(sql["counted"]):
        session.run(sql["fold"], {"vault": vault})
    for (model,) in session.all(sql["idle_models"]):
        session.script(sql["drop_hnsw"].fill(model=str(int(model))).text)
    for (table,) in session.all(sql["unknown"]):
        session.script(sql["analyze"].fill(table=table).text)
