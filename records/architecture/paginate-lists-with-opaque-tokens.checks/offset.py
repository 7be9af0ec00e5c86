"""With LIMIT/OFFSET the rows move up by one, and the client never sees one of them."""
import sqlite3

db = sqlite3.connect(":memory:")
db.execute("CREATE TABLE book (id INTEGER PRIMARY KEY)")
db.executemany("INSERT INTO book VALUES (?)", [(n,) for n in range(1, 7)])
seen = []
for number in range(3):
    rows = db.execute("SELECT id FROM book ORDER BY id LIMIT 2 OFFSET ?", (2 * number,)).fetchall()
    seen += [row[0] for row in rows]
    if number == 0:
        db.execute("DELETE FROM book WHERE id = 1")
missed = {2, 3, 4, 5, 6} - set(seen)
assert not missed, f"rows skipped between pages: {sorted(missed)}"
