"""What the text index of a record is over, as a generated column of the database."""

from __future__ import annotations

# Title above what the owner says people ask, above what to do, above the rest. The configuration is named because
# a generated column may not depend on a session's setting.
SEARCH_TEXT = """
    setweight(to_tsvector('english'::regconfig, title), 'A'::"char")
    || setweight(jsonb_to_tsvector('english'::regconfig, body -> 'symptoms', '["string"]'::jsonb), 'B'::"char")
    || setweight(
        to_tsvector('english'::regconfig, (body ->> 'summary') || ' ' || (body ->> 'recommendation')), 'B'::"char"
    )
    || setweight(
        to_tsvector('english'::regconfig, (body ->> 'rationale') || ' ' || COALESCE(body ->> 'examples', '')),
        'C'::"char"
    )
    || setweight(jsonb_to_tsvector('english'::regconfig, body -> 'conditions', '["string"]'::jsonb), 'D'::"char")
    || setweight(jsonb_to_tsvector('english'::regconfig, body -> 'exceptions', '["string"]'::jsonb), 'D'::"char")
    || setweight(jsonb_to_tsvector('english'::regconfig, body -> 'pitfalls', '["string"]'::jsonb), 'D'::"char")
    || setweight(
        jsonb_to_tsvector('english'::regconfig, body -> 'verification_checks', '["string"]'::jsonb), 'D'::"char"
    )
"""
