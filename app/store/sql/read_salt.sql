-- Today's salt, today being the database's UTC day; no row when it has not been made.
-- Takes no parameter.
SELECT day, salt
FROM daily_salt
WHERE day = CAST(now() AT TIME ZONE 'UTC' AS date)
