-- Delete the salts and the counts of days that are over: without the salt, nothing tells whose the counts were.
-- :keep_days is how many days before today are kept.
WITH counts AS (
    DELETE FROM quota_use WHERE day < CAST(now() AT TIME ZONE 'UTC' AS date) - CAST(:keep_days AS integer)
)
DELETE FROM daily_salt WHERE day < CAST(now() AT TIME ZONE 'UTC' AS date) - CAST(:keep_days AS integer)
