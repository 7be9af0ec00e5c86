-- An API key by its public id, revoked or not; for an unknown id a row as large, so that neither costs more.
-- No parameter may be null.
SELECT
    known.key_id IS NOT NULL AS is_known,
    asked.key_id,
    coalesce(known.mac, decode(repeat('00', 32), 'hex')) AS mac,
    coalesce(known.pepper_id, 'p00000000') AS pepper_id,
    known.daily_quota,
    known.revoked_at
FROM (SELECT CAST(:key_id AS text) AS key_id) AS asked
LEFT JOIN api_key AS known ON known.key_id = asked.key_id
