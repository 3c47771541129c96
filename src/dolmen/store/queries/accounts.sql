-- Vaults, persons, connections and the vault's settings.

-- name: vaults
-- Every vault.
SELECT id, name FROM vault ORDER BY created_at, id;

-- name: add_vault
-- A vault; nothing happens when it is there, or another of that name.
INSERT INTO vault (id, name, created_at, scopes) VALUES (:vault, :name, :now, 0) ON CONFLICT DO NOTHING;

-- name: add_person
-- A person of a vault.
INSERT INTO person (vault_id, id, name, role, created_at, removed_at) VALUES (:vault, :id, :name, :role, :now, NULL);

-- name: made_at
-- When a vault was made.
SELECT created_at FROM vault WHERE id = :vault;

-- name: owner
-- The first owner of a vault.
SELECT id FROM person WHERE vault_id = :vault AND role = 'owner' AND removed_at IS NULL ORDER BY created_at, id LIMIT 1;

-- name: add_connection
-- A credential, by the hash of its secret.
INSERT INTO connection (
    vault_id, id, person_id, agent, mode, toolset, project, label, hint, secret_hash,
    created_at, expires_at, revoked_at, last_used_at,
    per_minute, per_hour, per_day, at_once, memories, write_policy, apart, private, preset
) VALUES (
    :vault, :id, :person, :agent, :mode, :toolset, :project, :label, :hint, :secret_hash,
    :created_at, :expires_at, :revoked_at, :last_used_at,
    :per_minute, :per_hour, :per_day, :at_once, :memories, :write_policy, :apart, :private, :preset
);

-- name: by_secret
-- The connection of a credential, if its person is still there.
SELECT
    c.id, c.vault_id, c.person_id, c.agent, c.mode, c.toolset, c.project, c.label,
    c.created_at, c.expires_at, c.revoked_at, c.last_used_at, c.hint,
    c.per_minute, c.per_hour, c.per_day, c.at_once, c.memories, c.write_policy,
    c.apart, c.private, c.preset
FROM connection c
JOIN person o ON o.vault_id = c.vault_id AND o.id = c.person_id AND o.removed_at IS NULL
WHERE c.secret_hash = :secret_hash;

-- name: connections
-- The connections of a vault.
SELECT
    c.id, c.vault_id, c.person_id, c.agent, c.mode, c.toolset, c.project, c.label,
    c.created_at, c.expires_at, c.revoked_at, c.last_used_at, c.hint,
    c.per_minute, c.per_hour, c.per_day, c.at_once, c.memories, c.write_policy,
    c.apart, c.private, c.preset
FROM connection c WHERE c.vault_id = :vault ORDER BY c.created_at, c.id;

-- name: revoke
-- Ends a connection that was not ended before.
UPDATE connection SET revoked_at = :at WHERE vault_id = :vault AND id = :id AND revoked_at IS NULL;

-- name: hold
-- Changes nothing and holds the row until the transaction ends, on either engine.
UPDATE connection SET created_at = created_at WHERE vault_id = :vault AND id = :id AND revoked_at IS NULL;

-- name: touch
-- When a connection was last used.
UPDATE connection SET last_used_at = :at WHERE vault_id = :vault AND id = :id;

-- name: bound
-- The limits and the write policy of a connection.
UPDATE connection SET per_minute = :per_minute, per_hour = :per_hour, per_day = :per_day, at_once = :at_once,
    memories = :memories, write_policy = :write_policy
WHERE vault_id = :vault AND id = :id;

-- name: mates
-- The keys of the groups of a key.
SELECT DISTINCT o.connection_id
FROM key_group_member m JOIN key_group_member o ON o.vault_id = m.vault_id AND o.group_id = m.group_id
WHERE m.vault_id = :vault AND m.connection_id = :id;

-- name: add_group
-- A group of keys.
INSERT INTO key_group (vault_id, id, name, created_at) VALUES (:vault, :id, :name, :now)
ON CONFLICT (vault_id, name) DO NOTHING;

-- name: groups
-- The groups of a vault with their keys, one row a key; a group without any has one row.
SELECT g.id, g.name, m.connection_id
FROM key_group g LEFT JOIN key_group_member m ON m.vault_id = g.vault_id AND m.group_id = g.id
WHERE g.vault_id = :vault ORDER BY g.name, m.connection_id;

-- name: drop_group
-- A group ends; its keys stay.
DELETE FROM key_group WHERE vault_id = :vault AND id = :id;

-- name: drop_members
-- And so do its memberships.
DELETE FROM key_group_member WHERE vault_id = :vault AND group_id = :id;

-- name: join_group
-- A key comes into a group.
INSERT INTO key_group_member (vault_id, group_id, connection_id) VALUES (:vault, :group, :id) ON CONFLICT DO NOTHING;

-- name: leave_group
-- A key leaves a group.
DELETE FROM key_group_member WHERE vault_id = :vault AND group_id = :group AND connection_id = :id;

-- name: rename_vault
-- Another name.
UPDATE vault SET name = :name WHERE id = :vault;

-- name: empty_table
-- Everything of a vault in one table.
DELETE FROM {table} WHERE vault_id = :vault;

-- name: drop_vault
-- The vault itself, when nothing is left in it.
DELETE FROM vault WHERE id = :vault;

-- name: unbind_clients
-- Clients that were registered with a key of the vault.
DELETE FROM oauth_client WHERE vault_id = :vault;

-- name: setting
-- One setting of the vault.
SELECT value FROM vault_setting WHERE vault_id = :vault AND key = :key;

-- name: settings
-- All of them.
SELECT key, value FROM vault_setting WHERE vault_id = :vault ORDER BY key;

-- name: set
-- Sets one.
INSERT INTO vault_setting (vault_id, key, value) VALUES (:vault, :key, :value)
ON CONFLICT (vault_id, key) DO UPDATE SET value = excluded.value;
