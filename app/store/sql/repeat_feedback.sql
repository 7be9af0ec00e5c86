-- Count feedback that says what other feedback of today said; a row comes back if there is any.
-- No parameter may be null.
UPDATE feedback SET repeats = repeats + 1
WHERE received_on = CAST(now() AT TIME ZONE 'UTC' AS date) AND fingerprint = CAST(:fingerprint AS bytea)
RETURNING repeats
