"""A unique token from the form makes the second submission a no-op that returns the first result."""
import sqlite3

db = sqlite3.connect(":memory:")
db.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, form_token TEXT NOT NULL UNIQUE, item TEXT)")


def submit(form_token, item):
    db.execute(
        "INSERT INTO orders (form_token, item) VALUES (?, ?) ON CONFLICT (form_token) DO NOTHING",
        (form_token, item),
    )
    return db.execute("SELECT id FROM orders WHERE form_token = ?", (form_token,)).fetchone()[0]


first = submit("t-1", "book")
second = submit("t-1", "book")
assert first == second
assert db.execute("SELECT count(*) FROM orders").fetchone()[0] == 1, "order placed twice"
assert submit("t-2", "book") != first
