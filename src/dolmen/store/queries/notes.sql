-- Notes. `{columns}` is the list of repositories.notes (`{n_columns}`: of a table), `{values}` its parameters.

-- name: add
-- A new note; nothing happens when its id or address is taken.
INSERT INTO note (vault_id, id, version, address_key, name_key, title_key, audience, {columns})
SELECT v.id, :id, :version, :address_key, :name_key, :title_key, :audience, {values}
FROM vault v
WHERE v.id = :vault AND NOT EXISTS (
    SELECT 1 FROM note_alias a
    WHERE a.vault_id = v.id AND a.address_key = :address_key AND a.audience = :audience AND :status <> 'deleted'
)
ON CONFLICT DO NOTHING;

-- name: get
-- One note. `{unseen}` keeps out what the viewer must not see.
SELECT n.version, n.id, {n_columns} FROM note n WHERE n.vault_id = :vault AND n.id = :id {unseen};

-- name: known
-- Which of these are notes, whoever may see them.
SELECT id FROM note WHERE vault_id = :vault AND id IN (:ids...);

-- name: many
-- Some notes.
SELECT n.version, n.id, {n_columns} FROM note n WHERE n.vault_id = :vault AND n.id IN (:ids...);

-- name: at_address
-- The live note at an address, else the one that was deleted there last. By its last part, which has an index for both.
-- Of several audiences' live ones, the one that was there first: nobody takes an address away from another note.
SELECT n.version, n.id, {n_columns} FROM note n
WHERE n.vault_id = :vault AND n.name_key = :name_key AND n.address_key = :address_key {unseen}
ORDER BY CASE WHEN n.status = 'deleted' THEN 1 ELSE 0 END,
    CASE WHEN n.status = 'deleted' THEN -n.updated_at ELSE n.created_at END, n.id
LIMIT 1;

-- name: moved_from
-- The note that was moved away from an address.
SELECT n.version, n.id, {n_columns}
FROM note_alias a JOIN note n ON n.vault_id = a.vault_id AND n.id = a.note_id
WHERE a.vault_id = :vault AND a.address_key = :address_key {unseen}
ORDER BY n.created_at, n.id
LIMIT 1;

-- name: named
-- Live notes by their names, with the number of the name that they were found by.
SELECT n.address_key, n.name_key, n.title_key, '', {lines}
FROM note n WHERE n.vault_id = :vault AND n.status <> 'deleted' AND (
    n.address_key IN (:keys...) OR n.name_key IN (:keys...) OR n.title_key IN (:keys...)
);

-- name: once_named
-- Live notes by addresses that they had.
SELECT '', '', '', a.address_key, {lines}
FROM note_alias a JOIN note n ON n.vault_id = a.vault_id AND n.id = a.note_id
WHERE a.vault_id = :vault AND a.address_key IN (:keys...) AND n.status <> 'deleted';

-- name: other
-- Another note of the same audience that has, or had, an address.
SELECT n.id FROM note n
WHERE n.vault_id = :vault AND n.address_key = :address_key AND n.audience = :audience AND n.status <> 'deleted'
  AND n.id <> :id
UNION ALL
SELECT a.note_id FROM note_alias a
WHERE a.vault_id = :vault AND a.address_key = :address_key AND a.audience = :audience AND a.note_id <> :id;

-- name: elsewhere
-- The note of the same audience that was moved away from an address, if it is another one.
SELECT a.note_id FROM note_alias a
WHERE a.vault_id = :vault AND a.address_key = :address_key AND a.audience = :audience AND a.note_id <> :id;

-- name: take_back
-- A note that was just added.
DELETE FROM note WHERE vault_id = :vault AND id = :id;

-- name: keep
-- Copies the stored state into the history, if it still has the version that the writer saw and nobody was faster.
INSERT INTO note_revision (
    vault_id, id, version, at, op, change_agent, change_person, change_connection, reason, {columns}
)
SELECT n.vault_id, n.id, n.version, :at, :op, :change_agent, :change_person, :change_connection, :reason, {n_columns}
FROM note n
WHERE n.vault_id = :vault AND n.id = :id AND n.version = :version
ON CONFLICT (vault_id, id, version) DO NOTHING;

-- name: replace
-- The new state, if the old one still has the version that the writer saw.
UPDATE note SET version = version + 1, address_key = :address_key, name_key = :name_key, title_key = :title_key,
    audience = :audience, {assignments}
WHERE vault_id = :vault AND id = :id AND version = :version;

-- name: lock
-- Changes nothing and holds the row until the transaction ends, on either engine.
UPDATE note SET version = version WHERE vault_id = :vault AND id = :id;

-- name: rewrite
-- Other words in place.
UPDATE note SET address_key = :address_key, name_key = :name_key, title_key = :title_key, {assignments}
WHERE vault_id = :vault AND id = :id;

-- name: rewrite_revision
-- Other words in the past.
UPDATE note_revision SET reason = :reason, {assignments}
WHERE vault_id = :vault AND id = :id AND version = :version;

-- name: alias
-- An address that a note had.
INSERT INTO note_alias (vault_id, address_key, audience, note_id) VALUES (:vault, :address_key, :audience, :id)
ON CONFLICT (vault_id, address_key, audience) DO NOTHING;

-- name: share_alias
-- The addresses that a note had, for those who may see it from now on.
INSERT INTO note_alias (vault_id, address_key, audience, note_id)
SELECT vault_id, address_key, :audience, note_id FROM note_alias WHERE vault_id = :vault AND note_id = :id
ON CONFLICT (vault_id, address_key, audience) DO NOTHING;

-- name: unshare_alias
-- And not for the others.
DELETE FROM note_alias WHERE vault_id = :vault AND note_id = :id AND audience <> :audience;

-- name: unalias
-- An address that the note has again.
DELETE FROM note_alias WHERE vault_id = :vault AND address_key = :address_key AND note_id = :id;

-- name: aliases
-- Every address that a note had.
SELECT a.address_key, a.note_id
FROM note_alias a JOIN note n ON n.vault_id = a.vault_id AND n.id = a.note_id
WHERE a.vault_id = :vault {unseen} ORDER BY a.address_key;

-- name: position
-- Where a note stands in an order, to go on after it.
SELECT {key} FROM note m WHERE m.vault_id = :f_vault AND m.id = :after {unseen};

-- name: select
-- A page of a listing.
SELECT {lines} FROM note m WHERE {where} {page} ORDER BY {order} LIMIT :limit;

-- name: folders
-- Numbers by folder.
SELECT m.folder, COUNT(*) FROM note m WHERE {where} GROUP BY m.folder;

-- name: revisions
-- The history of one note.
SELECT r.version, r.at, r.op, r.change_agent, r.change_person, r.change_connection, r.reason, r.id, {r_columns}
FROM note_revision r WHERE r.vault_id = :vault AND r.id = :id ORDER BY r.version;

-- name: past
-- The state that a note had at a time and no longer has: the one before the first change after it.
SELECT r.version, r.id, {r_columns} FROM note_revision r
WHERE r.vault_id = :vault AND r.id = :id AND r.at > :at ORDER BY r.version LIMIT 1;

-- name: stream
-- Every note of the vault.
SELECT n.version, n.id, {n_columns} FROM note n WHERE n.vault_id = :vault ORDER BY n.id;

-- name: import_revision
-- One imported revision.
INSERT INTO note_revision (
    vault_id, id, version, at, op, change_agent, change_person, change_connection, reason, {columns}
)
VALUES (
    :vault, :id, :version, :at, :op, :change_agent, :change_person, :change_connection, :reason, {values}
) ON CONFLICT (vault_id, id, version) DO NOTHING;

-- name: purge_note
-- The rows themselves.
DELETE FROM note WHERE vault_id = :vault AND id IN (:ids...);

-- name: purge_note_revision
-- Their history.
DELETE FROM note_revision WHERE vault_id = :vault AND id IN (:ids...);

-- name: purge_note_alias
-- The addresses that they had.
DELETE FROM note_alias WHERE vault_id = :vault AND note_id IN (:ids...);

-- name: purge_proposal
-- What waits to be done to them.
DELETE FROM proposal WHERE vault_id = :vault AND note_id IN (:ids...);
