"""Alembic's entry: migrations run on the connection that `database.upgrade` hands over."""

from alembic import context

from arena.record.schema.tables import METADATA

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=METADATA,
    render_as_batch=connection.dialect.name == "sqlite",
)
with context.begin_transaction():
    context.run_migrations()
