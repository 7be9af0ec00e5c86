-- The raw texts of a collection beside the product's tables, in a scratch database; made anew if there.
-- Takes no parameter.
DROP TABLE IF EXISTS bench_text;
CREATE TABLE bench_text (id text COLLATE "C" PRIMARY KEY, words tsvector NOT NULL);
