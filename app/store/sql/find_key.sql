-- An API key by its public id, revoked or not.
-- No parameter may be null.
SELECT key_id, mac, pepper_id, daily_quota, revoked_at
FROM api_key
WHERE key_id = :key_id
