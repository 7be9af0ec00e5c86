-- Move a key to a newer pepper unless somebody else has.
-- No parameter may be null.
UPDATE api_key SET mac = CAST(:mac AS bytea), pepper_id = :pepper_id
WHERE key_id = :key_id AND pepper_id = :old_pepper_id
