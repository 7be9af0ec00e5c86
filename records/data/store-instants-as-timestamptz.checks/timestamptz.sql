SET TimeZone = 'UTC';
CREATE TABLE event (at timestamptz NOT NULL);
INSERT INTO event VALUES ('2026-01-01 10:00:00+05');
DO $$ BEGIN
  ASSERT (SELECT at = '2026-01-01 05:00:00Z'::timestamptz FROM event), 'offset was lost';
END $$;
SET TimeZone = 'Asia/Tokyo';
DO $$ BEGIN
  ASSERT (SELECT at = '2026-01-01 05:00:00Z'::timestamptz FROM event), 'depends on the session';
END $$;
