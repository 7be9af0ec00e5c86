CREATE TABLE orders (id int, customer_id int);
BEGIN;
CREATE INDEX CONCURRENTLY ix_orders_customer ON orders (customer_id);
COMMIT;
