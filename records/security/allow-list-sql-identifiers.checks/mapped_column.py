"""A sort key mapped to a column sorts; a name that is not in the map is refused."""
from sqlalchemy import Column, Integer, MetaData, String, Table, create_engine, insert, select

items = Table("items", MetaData(), Column("id", Integer, primary_key=True), Column("name", String))
SORTABLE = {"name": items.c.name, "newest": items.c.id.desc()}


def listing(connection, sort):
    if sort not in SORTABLE:
        raise ValueError("unknown sort key")
    return list(connection.scalars(select(items.c.name).order_by(SORTABLE[sort])))


engine = create_engine("sqlite://")
with engine.begin() as connection:
    items.create(connection)
    connection.execute(insert(items), [{"name": "pear"}, {"name": "apple"}, {"name": "mango"}])
    assert listing(connection, "name") == ["apple", "mango", "pear"]
    try:
        listing(connection, "name; select 1")
    except ValueError as error:
        print("refused:", error)
    else:
        raise AssertionError("an unknown sort key was accepted")
