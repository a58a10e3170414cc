"""Alembic's entry: migrations run on the connection that `database.upgrade` hands over."""

from alembic import context
from sqlmodel import SQLModel

import arena.store.tables  # noqa: F401  the tables register themselves

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=SQLModel.metadata,
    render_as_batch=connection.dialect.name == "sqlite",
)
with context.begin_transaction():
    context.run_migrations()
