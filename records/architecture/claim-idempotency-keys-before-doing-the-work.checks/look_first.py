"""Looking the key up first leaves a gap in which both deliveries find nothing."""
import sqlite3
import threading

PATH = "look.db"
with sqlite3.connect(PATH) as db:
    db.executescript(
        "DROP TABLE IF EXISTS seen; DROP TABLE IF EXISTS charge;"
        "CREATE TABLE seen (client TEXT, key TEXT);"
        "CREATE TABLE charge (id INTEGER PRIMARY KEY, amount INTEGER);"
    )
looked = threading.Barrier(2)


def handle():
    db = sqlite3.connect(PATH, timeout=5)
    known = db.execute("SELECT 1 FROM seen WHERE client = 'acme' AND key = 'k1'").fetchone()
    looked.wait()
    if not known:
        with db:
            db.execute("INSERT INTO charge (amount) VALUES (100)")
            db.execute("INSERT INTO seen VALUES ('acme', 'k1')")
    db.close()


threads = [threading.Thread(target=handle) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
with sqlite3.connect(PATH) as db:
    charges = db.execute("SELECT count(*) FROM charge").fetchone()[0]
assert charges == 1, f"charged {charges} times for one key"
