"""The PostgreSQL adapter: everything that is kept, and the only place where SQL is spoken."""
