-- Delete the salts of days that are over: without its salt, nothing tells whose the counts of a day were.
-- :keep_days is how many days before today are kept.
DELETE FROM daily_salt WHERE day < CAST(now() AT TIME ZONE 'UTC' AS date) - CAST(:keep_days AS integer)
