"""Without the ping the first user of the dead connection gets the error."""
from sqlalchemy import create_engine, text
from sqlalchemy.pool import QueuePool


def stale_engine(**options):
    """An engine whose one pooled connection has been cut behind its back, as a restart or a firewall does."""
    engine = create_engine("sqlite:///stale.db", poolclass=QueuePool, pool_size=1, max_overflow=0, **options)
    with engine.connect() as connection:
        connection.execute(text("SELECT 1"))
        raw = connection.connection.driver_connection
    raw.close()
    return engine


with stale_engine().connect() as connection:
    connection.scalar(text("SELECT 41 + 1"))
