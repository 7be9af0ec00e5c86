-- The settings that decide whether this connection's statements, and the values in them, get into the server's log.
-- :names the settings; those of extensions that are not loaded are not there.
SELECT name, setting
FROM pg_settings
WHERE name = ANY(CAST(:names AS text[]))
