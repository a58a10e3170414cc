"""Triggers that keep the rows of a table as they were written."""

from alembic import op

REPLACEABLE_TURN = (
    "OLD.status = 'failed' AND NEW.id = OLD.id AND NEW.round_id = OLD.round_id "
    "AND NEW.entrant_id = OLD.entrant_id"
)
"""A turn that failed may be played again; no other one may be changed."""


def guard(table: str, action: str, allowed: str | None = None) -> None:
    """Create a trigger that refuses an action on a table's rows unless a condition allows it."""
    name = f"{table}_no_{action.lower()}"
    refusal = f"'{table}: the record is append-only'"
    if op.get_bind().dialect.name == "postgresql":
        body = f"RAISE EXCEPTION {refusal};"
        if allowed:
            row = "OLD" if action == "DELETE" else "NEW"
            body = f"IF NOT ({allowed}) THEN {body} END IF; RETURN {row};"
        function = f"{name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} END $$"
        op.execute(f"CREATE OR REPLACE FUNCTION {function}")
        target = f'"{table}"'
        effect = f"FOR EACH ROW EXECUTE FUNCTION {name}()"
    else:
        target = f"{table} WHEN NOT ({allowed})" if allowed else table
        effect = f"BEGIN SELECT RAISE(ABORT, {refusal}); END"
    op.execute(f"CREATE TRIGGER {name} BEFORE {action} ON {target} {effect}")


def keep_rows(table: str) -> None:
    """Create triggers that refuse every change of a table's rows, replacing those of the same name."""
    of_table = f" ON {table}" if op.get_bind().dialect.name == "postgresql" else ""
    for action in ("UPDATE", "DELETE"):
        op.execute(f"DROP TRIGGER IF EXISTS {table}_no_{action.lower()}{of_table}")
        guard(table, action)
