-- 0004 session order: what was written before a memory in its session.

DROP INDEX memory_session;
CREATE INDEX memory_session ON memory (vault_id, session, id) WHERE session <> '';
