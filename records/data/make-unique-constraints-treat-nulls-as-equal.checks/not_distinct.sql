CREATE TABLE node (parent_id int, name text, UNIQUE NULLS NOT DISTINCT (parent_id, name));
INSERT INTO node VALUES (NULL, 'a');
INSERT INTO node VALUES (NULL, 'a') ON CONFLICT (parent_id, name) DO NOTHING;
DO $$ BEGIN ASSERT (SELECT count(*) = 1 FROM node), 'duplicate with NULL stored'; END $$;
