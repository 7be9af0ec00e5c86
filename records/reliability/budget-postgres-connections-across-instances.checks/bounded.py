"""max_overflow=0 makes pool_size the ceiling of the process."""
from sqlalchemy import create_engine
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import QueuePool


def most_connections(**options):
    """Check out connections until the pool refuses, and count them."""
    engine = create_engine("sqlite:///pool.db", poolclass=QueuePool, pool_timeout=0.05, **options)
    held = []
    try:
        while len(held) < 100:
            held.append(engine.connect())
    except PoolTimeout:
        pass
    count = len(held)
    for connection in held:
        connection.close()
    return count


assert most_connections(pool_size=2, max_overflow=0) == 2
print("2 connections at most")
