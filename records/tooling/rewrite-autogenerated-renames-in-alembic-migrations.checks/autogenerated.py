import sqlalchemy as sa
from alembic.autogenerate import produce_migrations
from alembic.migration import MigrationContext
from alembic.operations import Operations


def schema(column):
    metadata = sa.MetaData()
    sa.Table("person", metadata, sa.Column("id", sa.Integer, primary_key=True), sa.Column(column, sa.String(50)))
    return metadata


engine = sa.create_engine("sqlite://")
with engine.begin() as connection:
    schema("full_name").create_all(connection)
    connection.execute(sa.text("INSERT INTO person (full_name) VALUES ('Ann')"))
    context = MigrationContext.configure(connection)
    op = Operations(context)

    for table in produce_migrations(context, schema("display_name")).upgrade_ops.ops:
        for operation in table.ops:
            op.invoke(operation)
    value = connection.scalar(sa.text("SELECT display_name FROM person"))
    assert value == "Ann", "the name was lost"
