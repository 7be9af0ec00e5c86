-- Keep feedback, or count it if the same came in at the same time.
-- :record, :comment and :caller_outcome null: about no record, without words, without saying what came of it.
INSERT INTO feedback AS kept (
    feedback_id, received_on, category, record, source, comment, redactions, fingerprint, caller_outcome, caller_versions
)
VALUES (
    CAST(:feedback_id AS uuid), CAST(now() AT TIME ZONE 'UTC' AS date), :category, CAST(:record AS text), :source,
    CAST(:comment AS text), CAST(:redactions AS jsonb), CAST(:fingerprint AS bytea), CAST(:caller_outcome AS text),
    CAST(:caller_versions AS jsonb)
)
ON CONFLICT (received_on, fingerprint) DO UPDATE SET repeats = kept.repeats + 1
