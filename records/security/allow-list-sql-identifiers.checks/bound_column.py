"""Binding the column name compares a constant: no error, and no sorting."""
from sqlalchemy import create_engine, text

engine = create_engine("sqlite://")
with engine.begin() as connection:
    connection.execute(text("CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT)"))
    connection.execute(text("INSERT INTO items (name) VALUES ('pear'), ('apple'), ('mango')"))
    names = list(connection.scalars(text("SELECT name FROM items ORDER BY :sort"), {"sort": "name"}))
assert names == sorted(names), f"rows came back unsorted: {names}"
