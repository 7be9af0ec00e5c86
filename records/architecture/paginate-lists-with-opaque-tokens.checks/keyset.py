"""Continue after the last key seen: a deletion between pages loses nothing."""
import sqlite3

db = sqlite3.connect(":memory:")
db.execute("CREATE TABLE book (id INTEGER PRIMARY KEY)")
db.executemany("INSERT INTO book VALUES (?)", [(n,) for n in range(1, 7)])


def page(after, size):
    rows = db.execute("SELECT id FROM book WHERE id > ? ORDER BY id LIMIT ?", (after, size + 1)).fetchall()
    ids = [row[0] for row in rows[:size]]
    return ids, (ids[-1] if len(rows) > size else None)


seen, token = page(0, 2)
db.execute("DELETE FROM book WHERE id = 1")
while token is not None:
    ids, token = page(token, 2)
    seen += ids
assert set(seen) >= {2, 3, 4, 5, 6}, seen
print(seen)
