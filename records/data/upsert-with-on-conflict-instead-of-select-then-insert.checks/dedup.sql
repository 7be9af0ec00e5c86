CREATE TABLE hits (page text PRIMARY KEY, n int NOT NULL);
INSERT INTO hits VALUES ('/a', 1);
INSERT INTO hits AS h (page, n)
  SELECT page, sum(n) FROM (VALUES ('/a', 1), ('/a', 2), ('/b', 5)) v(page, n) GROUP BY page
  ON CONFLICT (page) DO UPDATE SET n = h.n + EXCLUDED.n;
DO $$ BEGIN
  ASSERT (SELECT n = 4 FROM hits WHERE page = '/a') AND (SELECT n = 5 FROM hits WHERE page = '/b'), 'wrong counts';
END $$;
