-- Take one unit of today's allowance; `used` is null when nothing was left. The day is the database's, in UTC.
-- :allowance 0 admits nobody; no parameter may be null.
WITH today AS (SELECT now() AT TIME ZONE 'UTC' AS moment),
taken AS (
    INSERT INTO quota_use AS quota (day, subject, used)
    SELECT CAST(today.moment AS date), CAST(:subject AS bytea), 1 FROM today WHERE CAST(:allowance AS integer) > 0
    ON CONFLICT (day, subject) DO UPDATE SET used = quota.used + 1 WHERE quota.used < CAST(:allowance AS integer)
    RETURNING quota.used
)
SELECT
    taken.used,
    CAST(ceil(extract(epoch FROM date_trunc('day', today.moment) + interval '1 day' - today.moment)) AS integer) AS seconds_left
FROM today
LEFT JOIN taken ON true
