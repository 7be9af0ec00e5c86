-- INSERT ... ON CONFLICT DO UPDATE tells the row on every major; MERGE can do so from 17 on.
CREATE TABLE hits (page text PRIMARY KEY, n int NOT NULL);
INSERT INTO hits VALUES ('/a', 1);
DO $$
DECLARE told int;
BEGIN
    INSERT INTO hits AS h VALUES ('/a', 1) ON CONFLICT (page) DO UPDATE SET n = h.n + EXCLUDED.n RETURNING n INTO STRICT told;
    ASSERT told = 2;
    BEGIN
        EXECUTE 'MERGE INTO hits AS h USING (VALUES (''/a'')) AS v (page) ON h.page = v.page '
            'WHEN MATCHED THEN UPDATE SET n = h.n + 1 RETURNING h.n' INTO STRICT told;
        ASSERT current_setting('server_version_num')::int >= 170000, 'MERGE told a row before 17';
        ASSERT told = 3;
    EXCEPTION WHEN syntax_error THEN
        ASSERT current_setting('server_version_num')::int < 170000, 'MERGE could not tell its row';
    END;
END $$;
