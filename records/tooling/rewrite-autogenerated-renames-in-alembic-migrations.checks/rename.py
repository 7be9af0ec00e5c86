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

    with op.batch_alter_table("person") as batch:
        batch.alter_column("full_name", new_column_name="display_name")
    value = connection.scalar(sa.text("SELECT display_name FROM person"))
    assert value == "Ann", "the name was lost"
    assert produce_migrations(context, schema("display_name")).upgrade_ops.is_empty()
