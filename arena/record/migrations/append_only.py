"""Triggers that keep the rows of a table as they were written."""

from alembic import op

REPLACEABLE_TURN = (
    "OLD.status = 'failed' AND NEW.id = OLD.id AND NEW.round_id = OLD.round_id "
    "AND NEW.entrant_id = OLD.entrant_id"
)
"""A turn that failed may be played again; no other one may be changed."""


def guard(table: str, action: str, allowed: str | None = None) -> None:
    """Refuse to change or to delete the table's rows, but where a condition allows it."""
    name, refusal = f"{table}_no_{action.lower()}", f"'{table}: the record is append-only'"
    if op.get_bind().dialect.name == "postgresql":
        refuse, row = f"RAISE EXCEPTION {refusal};", "OLD" if action == "DELETE" else "NEW"
        body = f"IF NOT ({allowed}) THEN {refuse} END IF; RETURN {row};" if allowed else refuse
        function = f"{name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} END $$"
        op.execute(f"CREATE OR REPLACE FUNCTION {function}")
        on, what = f'"{table}"', f"FOR EACH ROW EXECUTE FUNCTION {name}()"
    else:
        on = f"{table} WHEN NOT ({allowed})" if allowed else table
        what = f"BEGIN SELECT RAISE(ABORT, {refusal}); END"
    op.execute(f"CREATE TRIGGER {name} BEFORE {action} ON {on} {what}")


def keep_rows(table: str) -> None:
    """Refuse every change of the table's rows, also where a trigger of the name is there already."""
    of_table = f" ON {table}" if op.get_bind().dialect.name == "postgresql" else ""
    for action in ("UPDATE", "DELETE"):
        op.execute(f"DROP TRIGGER IF EXISTS {table}_no_{action.lower()}{of_table}")
        guard(table, action)
