-- Delete the salts of days that are over: without its salt, nothing tells whose the counts of a day were.
-- :minutes is how long after midnight a clock may still be set back before it.
DELETE FROM daily_salt
WHERE day < CAST(now() AT TIME ZONE 'UTC' - make_interval(mins => CAST(:minutes AS integer)) AS date)
