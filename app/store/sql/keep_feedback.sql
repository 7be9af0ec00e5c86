-- Keep feedback, or count it if the same came in at the same time.
-- :record and :comment null: feedback about no record, without words.
INSERT INTO feedback AS kept (feedback_id, received_on, category, record, source, comment, redactions, fingerprint)
VALUES (
    CAST(:feedback_id AS uuid), CAST(now() AT TIME ZONE 'UTC' AS date), :category, CAST(:record AS text), :source,
    CAST(:comment AS text), CAST(:redactions AS jsonb), CAST(:fingerprint AS bytea)
)
ON CONFLICT (received_on, fingerprint) DO UPDATE SET repeats = kept.repeats + 1
