CREATE TABLE post (id int, d date NOT NULL);
INSERT INTO post VALUES (1, '2026-01-02'), (2, '2026-01-01'), (3, '2026-01-01');
DO $$ BEGIN
  ASSERT (SELECT count(*) = 2 FROM post WHERE (d, id) < (date '2026-01-02', 1)), 'rows were dropped';
END $$;
