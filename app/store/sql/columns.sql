-- Every column of our tables, by table and name; also those that the login may not read.
-- :schema text.
SELECT class.relname, attribute.attname
FROM pg_catalog.pg_attribute AS attribute
JOIN pg_catalog.pg_class AS class ON class.oid = attribute.attrelid
WHERE class.relnamespace = (SELECT namespace.oid FROM pg_catalog.pg_namespace AS namespace WHERE namespace.nspname = :schema)
    AND class.relkind IN ('r', 'p') AND attribute.attnum > 0 AND NOT attribute.attisdropped
