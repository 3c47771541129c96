-- Scopes of a vault and their aliases. `vault.scopes` counts changes, so that processes know when to read them again.

-- name: version
-- How often the vault's scopes have changed.
SELECT scopes FROM vault WHERE id = :vault;

-- name: all
-- Every scope of the vault.
SELECT id, name, alias_of, audience FROM scope WHERE vault_id = :vault ORDER BY id;

-- name: add
-- A scope, on first use.
INSERT INTO scope (vault_id, name, audience, alias_of, created_at) VALUES (:vault, :name, :audience, NULL, :now)
ON CONFLICT (vault_id, name, audience) DO NOTHING;

-- name: changed
-- Tells every process to read the scopes again.
UPDATE vault SET scopes = scopes + 1 WHERE id = :vault;

-- name: point
-- Makes a scope, and what pointed at it, an alias.
UPDATE scope SET alias_of = :target
WHERE vault_id = :vault AND (id = :scope_id OR alias_of = :scope_id) AND id <> :target;

-- name: unalias
-- Makes a scope a name of its own.
UPDATE scope SET alias_of = NULL WHERE vault_id = :vault AND id = :target;

-- name: members
-- The memories of a scope.
SELECT m.id FROM memory m WHERE m.vault_id = :vault AND m.scope_id = :scope_id ORDER BY m.created_at, m.id;

-- name: twins
-- Active or proposed memories of a scope whose statement the target scope has too: (id, version, id of the one there).
SELECT m.id, m.version, t.id FROM memory m
JOIN memory t ON t.vault_id = m.vault_id AND t.scope_id = :target AND t.label = m.label AND t.kind = m.kind
  AND t.content_key = m.content_key AND t.status IN ('proposed', 'active') AND t.note_id = ''
WHERE m.vault_id = :vault AND m.scope_id = :scope_id AND m.status IN ('proposed', 'active') AND m.note_id = '';

-- name: move
-- Moves memories to another scope.
UPDATE memory SET scope_id = :target WHERE vault_id = :vault AND scope_id = :scope_id;

-- name: move_history
-- Moves their past with them.
UPDATE revision SET scope_id = :target WHERE vault_id = :vault AND scope_id = :scope_id;

-- name: move_notes
-- Moves notes with their blocks.
UPDATE note SET scope_id = :target WHERE vault_id = :vault AND scope_id = :scope_id;

-- name: move_note_history
-- Moves their past with them.
UPDATE note_revision SET scope_id = :target WHERE vault_id = :vault AND scope_id = :scope_id;

-- name: supersede
-- A memory whose statement another memory already makes.
UPDATE memory SET status = 'superseded', superseded_by = :twin, updated_at = :now, version = version + 1
WHERE vault_id = :vault AND id = :id AND version = :version;

-- name: lock
-- Changes nothing and holds the row until the transaction ends, on either engine.
UPDATE scope SET created_at = created_at WHERE vault_id = :vault AND id = :scope_id;
