-- Keep a new salt for today unless another server was first; a row comes back only to the one that made it.
-- No parameter may be null.
INSERT INTO daily_salt (day, salt)
VALUES (CAST(now() AT TIME ZONE 'UTC' AS date), CAST(:salt AS bytea))
ON CONFLICT (day) DO NOTHING
RETURNING day
