-- 0011 note_folder: listing a folder, and counting what lies in each, without a look at the notes themselves.

CREATE INDEX note_folder ON note (vault_id, folder, scope_id, status, address_key, id);
