-- 0010 sign_in: what a machine without a browser wishes for, and the key that a client was registered with.

ALTER TABLE oauth_device ADD COLUMN project text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE oauth_device ADD COLUMN toolset text COLLATE "C" NOT NULL DEFAULT '';

-- A client that was registered with a key stays within it: its person, its limits, and its end.
ALTER TABLE oauth_client ADD COLUMN vault_id text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE oauth_client ADD COLUMN connection_id text COLLATE "C" NOT NULL DEFAULT '';
