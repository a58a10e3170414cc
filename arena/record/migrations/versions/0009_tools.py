"""What tools told models: kept as it came, never changed."""

from alembic import op

from arena.record.schema.tables import METADATA

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

TABLE = "tool_result"


def upgrade() -> None:
    connection = op.get_bind()
    METADATA.create_all(connection)
    refuse = f"'{TABLE}: the record is append-only'"
    for action in ("UPDATE", "DELETE"):
        name = f"{TABLE}_no_{action.lower()}"
        if connection.dialect.name == "postgresql":
            body = f"BEGIN RAISE EXCEPTION {refuse}; END"
            op.execute(f"DROP TRIGGER IF EXISTS {name} ON {TABLE}")
            op.execute(
                f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ {body} $$"
            )
            op.execute(
                f"CREATE TRIGGER {name} BEFORE {action} ON {TABLE} FOR EACH ROW EXECUTE FUNCTION {name}()"
            )
        else:
            op.execute(f"DROP TRIGGER IF EXISTS {name}")
            op.execute(
                f"CREATE TRIGGER {name} BEFORE {action} ON {TABLE} BEGIN SELECT RAISE(ABORT, {refuse}); END"
            )


def downgrade() -> None:
    raise NotImplementedError("a record is never taken back to an older schema: restore a backup")
