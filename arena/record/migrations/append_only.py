"""Triggers by which a table that came later keeps its rows as they were written."""

from alembic import op


def keep_rows(table: str) -> None:
    """Refuse every change of the table's rows, also where a trigger of the name is there already."""
    refuse = f"'{table}: the record is append-only'"
    for action in ("UPDATE", "DELETE"):
        name, on = f"{table}_no_{action.lower()}", f"BEFORE {action} ON {table}"
        if op.get_bind().dialect.name == "postgresql":
            body = f"BEGIN RAISE EXCEPTION {refuse}; END"
            made = f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ {body} $$"
            op.execute(f"DROP TRIGGER IF EXISTS {name} ON {table}")
            op.execute(made)
            op.execute(f"CREATE TRIGGER {name} {on} FOR EACH ROW EXECUTE FUNCTION {name}()")
        else:
            op.execute(f"DROP TRIGGER IF EXISTS {name}")
            op.execute(f"CREATE TRIGGER {name} {on} BEGIN SELECT RAISE(ABORT, {refuse}); END")
