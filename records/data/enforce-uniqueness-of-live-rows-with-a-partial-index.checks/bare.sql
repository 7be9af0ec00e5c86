CREATE TABLE app_user (email text, name text, deleted_at timestamptz);
CREATE UNIQUE INDEX ux_live ON app_user (email) WHERE deleted_at IS NULL;
INSERT INTO app_user VALUES ('a@x', 'two', NULL)
  ON CONFLICT (email) DO UPDATE SET name = EXCLUDED.name;
