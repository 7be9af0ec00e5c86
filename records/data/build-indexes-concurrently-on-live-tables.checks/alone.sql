CREATE TABLE orders (id int, customer_id int);
INSERT INTO orders SELECT g, g % 10 FROM generate_series(1, 1000) g;
CREATE INDEX CONCURRENTLY ix_orders_customer ON orders (customer_id);
DO $$ BEGIN
  ASSERT (SELECT indisvalid FROM pg_index WHERE indexrelid = 'ix_orders_customer'::regclass), 'index is INVALID';
END $$;
