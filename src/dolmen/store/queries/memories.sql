-- Memories, their tags and their revisions. `{columns}` is the list of store.mapping (`{m_columns}`, `{r_columns}`: of a
-- table), `{values}` its parameters.

-- name: add
-- A new memory; nothing happens when an active or proposed copy of the statement is there.
INSERT INTO memory (vault_id, id, version, content_key, {columns})
VALUES (:vault, :id, :version, :content_key, {values})
ON CONFLICT (vault_id, scope_id, label, kind, content_key) WHERE status IN ('proposed', 'active') AND note_id = ''
DO NOTHING;

-- name: restore
-- An imported memory; nothing happens when its id or an active copy of the statement is there.
INSERT INTO memory (vault_id, id, version, content_key, {columns})
VALUES (:vault, :id, :version, :content_key, {values})
ON CONFLICT DO NOTHING;

-- name: get
-- One memory.
SELECT m.version, m.id, {m_columns} FROM memory m WHERE m.vault_id = :vault AND m.id = :id;

-- name: many
-- Some memories by their ids.
SELECT m.version, m.id, {m_columns} FROM memory m WHERE m.vault_id = :vault AND m.id IN (:ids...);

-- name: any_session
-- Whether some memory of the vault has a session.
SELECT 1 FROM memory WHERE vault_id = :vault AND session <> '' LIMIT 1;

-- name: places
-- The session of some memories, how long they are, and what was written before them in it.
SELECT
    m.id,
    m.session,
    LENGTH(m.text),
    (
        SELECT b.id FROM memory b
        WHERE b.vault_id = m.vault_id AND b.session = m.session AND b.session <> '' AND b.id < m.id
        ORDER BY b.id DESC LIMIT 1
    ),
    (
        SELECT b.id FROM memory b
        WHERE b.vault_id = m.vault_id AND b.session = m.session AND b.session <> '' AND b.id < m.id
        ORDER BY b.id DESC LIMIT 1 OFFSET 1
    )
FROM memory m WHERE m.vault_id = :vault AND m.id IN (:ids...) AND m.session <> '';

-- name: by_content
-- The active or proposed copy of a statement.
SELECT m.version, m.id, {m_columns} FROM memory m
WHERE m.vault_id = :vault AND m.scope_id = :scope_id AND m.label = :label AND m.kind = :kind
  AND m.content_key = :content_key AND m.status IN ('proposed', 'active') AND m.note_id = '';

-- name: twin
-- Another active or proposed copy of the statement that a memory is about to state.
SELECT m.id FROM memory m
WHERE m.vault_id = :vault AND m.scope_id = :scope_id AND m.label = :label AND m.kind = :kind
  AND m.content_key = :content_key AND m.status IN ('proposed', 'active') AND m.note_id = '' AND m.id <> :id;

-- name: keep
-- Copies the stored state into the history, if it still has the version that the writer saw and nobody was faster.
INSERT INTO revision (vault_id, id, version, at, op, change_agent, change_person, change_connection, reason, {columns})
SELECT m.vault_id, m.id, m.version, :at, :op, :agent, :person, :connection, :reason, {m_columns}
FROM memory m
WHERE m.vault_id = :vault AND m.id = :id AND m.version = :version
ON CONFLICT (vault_id, id, version) DO NOTHING;

-- name: replace
-- The new state, if the old one still has the version that the writer saw.
UPDATE memory SET content_key = :content_key, version = version + 1, {assignments}
WHERE vault_id = :vault AND id = :id AND version = :version;

-- name: saying
-- The memories of a scope with this statement: those that stand, and those that do not any more.
SELECT m.version, m.id, {m_columns} FROM memory m
WHERE m.vault_id = :vault AND m.scope_id = :scope_id AND m.content_key = :content_key
  AND m.status IN ('proposed', 'active')
UNION ALL
SELECT m.version, m.id, {m_columns} FROM memory m
WHERE m.vault_id = :vault AND m.scope_id = :scope_id AND m.content_key = :content_key
  AND m.status IN ('superseded', 'deleted');

-- name: note
-- Bookkeeping that makes no revision.
UPDATE memory SET attrs = :attrs WHERE vault_id = :vault AND id = :id;

-- name: note_revision
-- The same in a state that a memory had before.
UPDATE revision SET attrs = :attrs WHERE vault_id = :vault AND id = :id AND version = :version;

-- name: place
-- Where a block of a note stands and what it inherits from its note, without a revision.
UPDATE memory SET content_key = :content_key, {assignments} WHERE vault_id = :vault AND id = :id AND version = :version;

-- name: blocks
-- The memories that are, or were, blocks of a note. The last condition is the index's own, which no engine infers.
SELECT m.version, m.id, {m_columns} FROM memory m
WHERE m.vault_id = :vault AND m.note_id = :note AND m.note_id <> '';

-- name: tag
-- One tag of a memory.
INSERT INTO memory_tag (vault_id, tag, memory_id) VALUES (:vault, :tag, :id) ON CONFLICT DO NOTHING;

-- name: untag
-- All tags of some memories.
DELETE FROM memory_tag WHERE vault_id = :vault AND memory_id IN (:ids...);

-- name: position
-- Where a memory stands in an order, to go on after it.
SELECT {key} FROM memory m {joins} WHERE m.vault_id = :f_vault AND m.id = :after {unseen};

-- name: select
-- The ids of a page, with what they are ordered by.
SELECT m.id, {key} FROM memory m {joins} WHERE {where} {page} ORDER BY {order} LIMIT :limit;

-- name: written_by
-- Memories of a connection.
SELECT COUNT(*) FROM memory WHERE vault_id = :vault AND connection = :connection AND status <> 'deleted';

-- name: count
-- Numbers by a column.
SELECT {by}, COUNT(*) FROM memory m {joins} WHERE {where} {group};

-- name: expired
-- Memories whose expiry has passed while they are active or proposed.
SELECT m.version, m.id, {m_columns} FROM memory m
WHERE m.vault_id = :vault AND m.expires_at <= :now AND m.status IN ('proposed', 'active')
ORDER BY m.expires_at, m.id LIMIT :limit;

-- name: revisions
-- The history of one memory.
SELECT r.version, r.at, r.op, r.change_agent, r.change_person, r.change_connection, r.reason, r.id, {r_columns}
FROM revision r WHERE r.vault_id = :vault AND r.id = :id ORDER BY r.version;

-- name: past
-- States that memories had at a time and no longer have: those before the first change after it.
SELECT r.version, r.id, {r_columns} FROM revision r
WHERE r.vault_id = :vault AND r.id IN (:ids...) AND r.created_at <= :at
  AND r.version = (
      SELECT MIN(x.version) FROM revision x WHERE x.vault_id = r.vault_id AND x.id = r.id AND x.at > :at
  );

-- name: present
-- States that memories had at a time and still have.
SELECT m.version, m.id, {m_columns} FROM memory m
WHERE m.vault_id = :vault AND m.id IN (:ids...) AND m.created_at <= :at
  AND NOT EXISTS (SELECT 1 FROM revision x WHERE x.vault_id = m.vault_id AND x.id = m.id AND x.at > :at);

-- name: stream
-- Every memory of the vault.
SELECT m.version, m.id, {m_columns} FROM memory m WHERE m.vault_id = :vault ORDER BY m.created_at, m.id;

-- name: matching
-- Ids that start or end with a part. `{unseen}` keeps out what the viewer must not see.
SELECT m.id FROM memory m
WHERE m.vault_id = :vault AND (
    (m.id >= :part AND m.id < :beyond) OR substr(m.id, length(m.id) - :length + 1) = :part
) {unseen} LIMIT :limit;

-- name: import_revision
-- One imported revision.
INSERT INTO revision (vault_id, id, version, at, op, change_agent, change_person, change_connection, reason, {columns})
VALUES (
    :vault, :id, :revision, :at, :op, :change_agent, :change_person, :change_connection, :reason, {values}
) ON CONFLICT (vault_id, id, version) DO NOTHING;

-- name: purge_memories
-- The rows themselves.
DELETE FROM memory WHERE vault_id = :vault AND id IN (:ids...);

-- name: purge_revisions
-- Their history.
DELETE FROM revision WHERE vault_id = :vault AND id IN (:ids...);

-- name: purge_links
-- Edges from and to them.
DELETE FROM link WHERE vault_id = :vault AND (source_id IN (:ids...) OR target IN (:ids...));

-- name: purge_keys
-- The idempotency keys that lead to them.
DELETE FROM idempotency WHERE vault_id = :vault AND memory_id IN (:ids...);

-- name: purge_events
-- Recalls that found one of them. `{named}` says which.
DELETE FROM recall_event WHERE vault_id = :vault AND ({named});

-- name: purge_feedback
-- What was said of answers with one of them.
DELETE FROM feedback WHERE vault_id = :vault AND ({named});

-- name: purge_code_refs
-- The code that they mention.
DELETE FROM code_ref WHERE vault_id = :vault AND memory_id IN (:ids...);

-- name: purge_proposals
-- What waits to be done to them.
DELETE FROM proposal WHERE vault_id = :vault AND memory_id IN (:ids...);
