-- 0010 sign_in: what a machine without a browser wishes for, and the key that a client was registered with.

ALTER TABLE oauth_device ADD COLUMN project TEXT NOT NULL DEFAULT '';
ALTER TABLE oauth_device ADD COLUMN toolset TEXT NOT NULL DEFAULT '';

-- A client that was registered with a key stays within it: its person, its limits, and its end.
ALTER TABLE oauth_client ADD COLUMN vault_id TEXT NOT NULL DEFAULT '';
ALTER TABLE oauth_client ADD COLUMN connection_id TEXT NOT NULL DEFAULT '';
