CREATE TABLE line (amount numeric(14, 2) NOT NULL);
INSERT INTO line SELECT 0.10 FROM generate_series(1, 10);
DO $$ BEGIN
  ASSERT (SELECT sum(amount) = 1.00 FROM line), 'total is ' || (SELECT sum(amount) FROM line);
END $$;
