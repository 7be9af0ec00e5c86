-- Take one unit of today's allowance; `used` is null when nothing was left. The day is the database's, in UTC.
-- :allowance 0 admits nobody. :day null: whichever day it is; else nothing is taken on any other. :subject is not null.
WITH today AS (SELECT now() AT TIME ZONE 'UTC' AS moment, CAST(now() AT TIME ZONE 'UTC' AS date) AS day),
taken AS (
    INSERT INTO quota_use AS quota (day, subject, used)
    SELECT today.day, CAST(:subject AS bytea), 1
    FROM today
    WHERE CAST(:allowance AS integer) > 0 AND today.day = coalesce(CAST(:day AS date), today.day)
    ON CONFLICT (day, subject) DO UPDATE SET used = quota.used + 1 WHERE quota.used < CAST(:allowance AS integer)
    RETURNING quota.used
)
SELECT
    today.day,
    taken.used,
    CAST(ceil(extract(epoch FROM date_trunc('day', today.moment) + interval '1 day' - today.moment)) AS integer) AS seconds_left
FROM today
LEFT JOIN taken ON true
