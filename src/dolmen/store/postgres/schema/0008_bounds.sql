-- 0008 bounds: how much a connection may ask for, and its own write policy. NULL: what its door or its vault says.

ALTER TABLE connection ADD COLUMN per_minute bigint;
ALTER TABLE connection ADD COLUMN per_hour bigint;
ALTER TABLE connection ADD COLUMN per_day bigint;
ALTER TABLE connection ADD COLUMN at_once bigint;
ALTER TABLE connection ADD COLUMN memories bigint;
ALTER TABLE connection ADD COLUMN write_policy text COLLATE "C" CHECK (write_policy IN ('conflicts', 'review', 'direct'));
