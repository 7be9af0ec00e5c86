-- The settings that decide whether this connection's statements, and the values in them, get into the server's log.
-- :names the settings; those of extensions that nobody has set or loaded are not there.
SELECT asked.name, coalesce(known.setting, current_setting(asked.name, true)) AS setting
FROM unnest(CAST(:names AS text[])) AS asked (name)
LEFT JOIN pg_settings AS known ON known.name = asked.name
WHERE coalesce(known.setting, current_setting(asked.name, true)) IS NOT NULL
