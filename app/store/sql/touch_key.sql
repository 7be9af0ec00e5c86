-- Note that a key was used today, at most once a day; a key that is being written by somebody else is left for the next call.
-- No parameter may be null.
UPDATE api_key SET last_used_on = CAST(now() AT TIME ZONE 'UTC' AS date)
WHERE key_id = (
    SELECT key_id FROM api_key
    WHERE key_id = :key_id AND last_used_on IS DISTINCT FROM CAST(now() AT TIME ZONE 'UTC' AS date)
    FOR NO KEY UPDATE SKIP LOCKED
)
