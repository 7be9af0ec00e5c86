CREATE FUNCTION plan_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text; plan text := '';
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP plan := plan || line || E'\n'; END LOOP;
  RETURN plan;
END $$;

CREATE TABLE person (id bigint, email text);
INSERT INTO person SELECT g, 'User' || g || '@x' FROM generate_series(1, 20000) g;
CREATE INDEX ix_person_email ON person (email);
ANALYZE person;
DO $$ DECLARE plan text := plan_of('SELECT id FROM person WHERE lower(email) = ''user5@x''');
BEGIN ASSERT plan LIKE '%ix_person_email%', plan; END $$;
