"""Two deliveries of one request race; the unique key lets only one of them do the work."""
import sqlite3
import threading

PATH = "claim.db"
with sqlite3.connect(PATH) as db:
    db.executescript(
        "DROP TABLE IF EXISTS seen; DROP TABLE IF EXISTS charge;"
        "CREATE TABLE seen (client TEXT, key TEXT, PRIMARY KEY (client, key));"
        "CREATE TABLE charge (id INTEGER PRIMARY KEY, amount INTEGER);"
    )
start = threading.Barrier(2)


def handle():
    db = sqlite3.connect(PATH, timeout=5)
    start.wait()
    with db:
        claimed = db.execute("INSERT INTO seen VALUES ('acme', 'k1') ON CONFLICT DO NOTHING").rowcount
        if claimed:
            db.execute("INSERT INTO charge (amount) VALUES (100)")
    db.close()


threads = [threading.Thread(target=handle) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
with sqlite3.connect(PATH) as db:
    charges = db.execute("SELECT count(*) FROM charge").fetchone()[0]
assert charges == 1, charges
print("charged once")
