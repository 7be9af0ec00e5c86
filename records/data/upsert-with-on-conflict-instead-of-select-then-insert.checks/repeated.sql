CREATE TABLE hits (page text PRIMARY KEY, n int NOT NULL);
INSERT INTO hits AS h (page, n) VALUES ('/a', 1), ('/a', 2), ('/b', 5)
  ON CONFLICT (page) DO UPDATE SET n = h.n + EXCLUDED.n;
