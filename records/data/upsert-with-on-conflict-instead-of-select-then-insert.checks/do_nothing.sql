-- DO NOTHING tells no row when the key exists.
CREATE TABLE hits (page text PRIMARY KEY, n int NOT NULL);
INSERT INTO hits VALUES ('/a', 1);
DO $$
DECLARE told int;
BEGIN
    INSERT INTO hits VALUES ('/a', 1) ON CONFLICT (page) DO NOTHING RETURNING n INTO STRICT told;
END $$;
