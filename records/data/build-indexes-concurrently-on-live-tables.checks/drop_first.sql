CREATE TABLE person (email text);
INSERT INTO person VALUES ('a@x'), ('a@x');
\set ON_ERROR_STOP off
CREATE UNIQUE INDEX CONCURRENTLY ux_person_email ON person (email);
\set ON_ERROR_STOP on
DELETE FROM person WHERE ctid = (SELECT min(ctid) FROM person);
DROP INDEX CONCURRENTLY ux_person_email;
CREATE UNIQUE INDEX CONCURRENTLY ux_person_email ON person (email);
DO $$ BEGIN
  ASSERT (SELECT indisvalid FROM pg_index WHERE indexrelid = 'ux_person_email'::regclass), 'index is INVALID';
END $$;
