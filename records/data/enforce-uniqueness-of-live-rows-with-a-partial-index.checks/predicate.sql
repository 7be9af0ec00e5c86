CREATE TABLE app_user (email text, name text, deleted_at timestamptz);
CREATE UNIQUE INDEX ux_live ON app_user (email) WHERE deleted_at IS NULL;
INSERT INTO app_user VALUES ('a@x', 'old', now());
INSERT INTO app_user VALUES ('a@x', 'one', NULL);
INSERT INTO app_user VALUES ('a@x', 'two', NULL)
  ON CONFLICT (email) WHERE deleted_at IS NULL DO UPDATE SET name = EXCLUDED.name;
DO $$ BEGIN
  ASSERT (SELECT array_agg(name) = '{two}' FROM app_user WHERE deleted_at IS NULL), 'live rows differ';
END $$;
