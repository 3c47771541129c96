-- Clients that ask to be let in, and the codes and tokens that they were given.

-- name: put_client
-- A client, or what is known of it by now.
INSERT INTO oauth_client (
    id, origin, name, redirects, method, jwks_uri, jwks, scope, created_at, approved_at, vault_id, connection_id
) VALUES (
    :id, :origin, :name, :redirects, :method, :jwks_uri, :jwks, :scope, :created_at, NULL, :vault, :key
)
ON CONFLICT (id) DO UPDATE SET name = excluded.name, redirects = excluded.redirects, method = excluded.method,
    jwks_uri = excluded.jwks_uri, jwks = excluded.jwks, scope = excluded.scope;

-- name: client
-- One client.
SELECT id, name, redirects, method, jwks_uri, jwks, scope, created_at, vault_id, connection_id
FROM oauth_client WHERE id = :id;

-- name: approve_client
-- A person let it in for the first time.
UPDATE oauth_client SET approved_at = :at WHERE id = :id AND approved_at IS NULL;

-- name: unapproved
-- How many clients nobody has let in.
SELECT COUNT(*) FROM oauth_client WHERE approved_at IS NULL;

-- name: evict_clients
-- Those that nobody has let in, but for the newest.
DELETE FROM oauth_client WHERE approved_at IS NULL AND id NOT IN (
    SELECT id FROM oauth_client WHERE approved_at IS NULL ORDER BY created_at DESC, id DESC LIMIT :keep
);

-- name: bound_connections
-- What clients that were registered with a key were let in as.
SELECT c.id FROM connection c
WHERE c.vault_id = :vault AND c.revoked_at IS NULL AND c.id IN (
    SELECT g.connection_id FROM oauth_token g JOIN oauth_client b ON b.id = g.client_id
    WHERE b.vault_id = :vault AND b.connection_id = :key
    UNION SELECT g.connection_id FROM oauth_code g JOIN oauth_client b ON b.id = g.client_id
    WHERE b.vault_id = :vault AND b.connection_id = :key
    UNION SELECT g.connection_id FROM oauth_device g JOIN oauth_client b ON b.id = g.client_id
    WHERE b.vault_id = :vault AND b.connection_id = :key
);

-- name: add_code
-- An authorization code.
INSERT INTO oauth_code (
    secret_hash, client_id, redirect, challenge, vault_id, connection_id, resource, scope, created_at, expires_at, used_at
) VALUES (
    :hash, :client, :redirect, :challenge, :vault, :connection, :resource, :scope, :created_at, :expires_at, :used_at
);

-- name: code
-- One authorization code.
SELECT client_id, redirect, challenge, vault_id, connection_id, resource, scope, created_at, expires_at, used_at
FROM oauth_code WHERE secret_hash = :hash;

-- name: hold_of_code
-- Holds what a code was given for, before the code itself: whoever ends it takes the two in this order.
UPDATE connection SET created_at = created_at
WHERE (vault_id, id) = (SELECT vault_id, connection_id FROM oauth_code WHERE secret_hash = :hash);

-- name: hold_of_device
-- The same for a machine that was let in.
UPDATE connection SET created_at = created_at
WHERE (vault_id, id) = (SELECT vault_id, connection_id FROM oauth_device WHERE secret_hash = :hash);

-- name: use_code
-- Its first use.
UPDATE oauth_code SET used_at = :at WHERE secret_hash = :hash AND used_at IS NULL;

-- name: add_token
-- A token.
INSERT INTO oauth_token (
    secret_hash, kind, client_id, vault_id, connection_id, resource, scope, created_at, expires_at, used_at
) VALUES (
    :hash, :kind, :client, :vault, :connection, :resource, :scope, :created_at, :expires_at, :used_at
);

-- name: token
-- A token with its connection, if the person is still there.
SELECT t.kind, t.client_id, t.vault_id, t.connection_id, t.resource, t.scope, t.created_at, t.expires_at, t.used_at,
    c.id, c.vault_id, c.person_id, c.agent, c.mode, c.toolset, c.project, c.label,
    c.created_at, c.expires_at, c.revoked_at, c.last_used_at, c.hint,
    c.per_minute, c.per_hour, c.per_day, c.at_once, c.memories, c.write_policy,
    c.apart, c.private, c.preset
FROM oauth_token t
JOIN connection c ON c.vault_id = t.vault_id AND c.id = t.connection_id
JOIN person o ON o.vault_id = c.vault_id AND o.id = c.person_id AND o.removed_at IS NULL
WHERE t.secret_hash = :hash AND t.kind = :kind;

-- name: use_refresh
-- The first exchange of a refresh token.
UPDATE oauth_token SET used_at = :at WHERE secret_hash = :hash AND kind = 'refresh' AND used_at IS NULL;

-- name: drop_tokens
-- The tokens of a connection.
DELETE FROM oauth_token WHERE vault_id = :vault AND connection_id = :connection;

-- name: drop_codes
-- Its codes.
DELETE FROM oauth_code WHERE vault_id = :vault AND connection_id = :connection;

-- name: drop_allowed
-- Its machine that was allowed and has not come yet is told no.
UPDATE oauth_device SET decision = 'denied'
WHERE vault_id = :vault AND connection_id = :connection AND decision = 'allowed';

-- name: add_device
-- A machine that waits for its person.
INSERT INTO oauth_device (
    secret_hash, user_code, client_id, resource, scope, created_at, expires_at, decision, vault_id, connection_id,
    polled_at, project, toolset
) VALUES (
    :hash, :user_code, :client, :resource, :scope, :created_at, :expires_at, :decision, :vault, :connection,
    NULL, :project, :toolset
) ON CONFLICT DO NOTHING;

-- name: device
-- One of them, by either of its codes.
SELECT user_code, client_id, resource, scope, created_at, expires_at, decision, vault_id, connection_id, polled_at,
    project, toolset
FROM oauth_device WHERE {column} = :code;

-- name: decide_device
-- What the person said.
UPDATE oauth_device SET decision = :decision, vault_id = :vault, connection_id = :connection, scope = :scope
WHERE user_code = :user_code AND decision = 'waiting';

-- name: poll_device
-- When the machine asked last.
UPDATE oauth_device SET polled_at = :at WHERE secret_hash = :hash;

-- name: redeem_device
-- The allowed one has its tokens.
UPDATE oauth_device SET decision = 'redeemed' WHERE secret_hash = :hash AND decision = 'allowed';

-- name: end_codes
-- What a person allowed and its client never came for: nothing of it is left to be used.
UPDATE connection SET revoked_at = :now WHERE revoked_at IS NULL AND (vault_id, id) IN (
    SELECT vault_id, connection_id FROM oauth_code WHERE expires_at <= :now AND used_at IS NULL
);

-- name: end_devices
-- The same for machines.
UPDATE connection SET revoked_at = :now WHERE revoked_at IS NULL AND (vault_id, id) IN (
    SELECT vault_id, connection_id FROM oauth_device WHERE expires_at <= :now AND decision = 'allowed'
);

-- name: trim_codes
-- Codes that expired.
DELETE FROM oauth_code WHERE expires_at <= :now;

-- name: trim_tokens
-- Tokens that expired.
DELETE FROM oauth_token WHERE expires_at <= :now;

-- name: trim_devices
-- Machines that waited for too long; an hour more, so that those which still ask are told so.
DELETE FROM oauth_device WHERE expires_at <= :now - 3600000000;

-- name: trim_clients
-- Clients that nobody let in.
DELETE FROM oauth_client WHERE approved_at IS NULL AND created_at < :before;
