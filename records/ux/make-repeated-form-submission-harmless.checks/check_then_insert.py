"""Looking first and inserting afterwards lets two simultaneous submissions both through."""
import sqlite3

db = sqlite3.connect(":memory:")
db.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, form_token TEXT NOT NULL, item TEXT)")


def submit(form_token, item):
    seen = db.execute("SELECT id FROM orders WHERE form_token = ?", (form_token,)).fetchone()
    yield  # the other request runs here
    if seen is None:
        db.execute("INSERT INTO orders (form_token, item) VALUES (?, ?)", (form_token, item))


clicks = [submit("t-1", "book"), submit("t-1", "book")]
for click in clicks:
    next(click)
for click in clicks:
    next(click, None)
assert db.execute("SELECT count(*) FROM orders").fetchone()[0] == 1, "order placed twice"
