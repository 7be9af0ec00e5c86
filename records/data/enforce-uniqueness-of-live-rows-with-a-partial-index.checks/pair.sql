CREATE TABLE app_user (email text, deleted_at timestamptz, UNIQUE (email, deleted_at));
INSERT INTO app_user VALUES ('a@x', NULL);
INSERT INTO app_user VALUES ('a@x', NULL) ON CONFLICT DO NOTHING;
DO $$ BEGIN ASSERT (SELECT count(*) = 1 FROM app_user), 'two live rows'; END $$;
