"""Who is at work on the record, and cohorts that are paused or stopped."""

import sqlalchemy as sa
from alembic import op

import arena.record.schema.dialects

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

COHORT = (
    "OLD.ended_at IS NULL AND NEW.id = OLD.id AND NEW.number = OLD.number AND NEW.starts_at = OLD.starts_at "
    "AND NEW.frozen = OLD.frozen AND NEW.hash = OLD.hash "
    "AND (OLD.stopped_at IS NULL OR (NEW.stopped_at IS NOT NULL AND NEW.stopped_at = OLD.stopped_at))"
)
"""A cohort that has ended stays as it is, and one that was stopped is never started again."""
FROZEN = {
    "cohort": "SELECT 1 FROM cohort WHERE id = NEW.id OR number = NEW.number",
    "entrant": "SELECT 1 FROM entrant WHERE id = NEW.id "
    "OR (cohort_id = NEW.cohort_id AND (position = NEW.position OR name = NEW.name))",
    "prompt": "SELECT 1 FROM prompt WHERE hash = NEW.hash",
}
"""What SQLite's INSERT OR REPLACE would put another row in place of, without asking the guard of deletes."""
REFUSED = "cohort: the record is append-only"


def _whole() -> sa.types.TypeEngine[int]:
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    for name in ("paused_at", "stopped_at"):
        op.add_column("cohort", sa.Column(name, arena.record.schema.dialects.UtcTime(), nullable=True))
    for statement in _guard(op.get_bind().dialect.name):
        op.execute(statement)
    op.create_table(
        "lease",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("token", _whole(), nullable=False),
        sa.Column("holder", sa.Text(), nullable=False),
        sa.Column("expires_at", arena.record.schema.dialects.UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
        sqlite_strict=True,
    )
    op.create_table(
        "lane",
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("room", _whole(), nullable=False),
        sa.Column("paused_until", arena.record.schema.dialects.UtcTime(), nullable=True),
        sa.PrimaryKeyConstraint("provider"),
        sqlite_strict=True,
    )
    op.create_table(
        "reservation",
        sa.Column("id", _whole(), nullable=False),
        sa.Column("round_id", _whole(), nullable=False),
        sa.Column("entrant_id", _whole(), nullable=False),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("worst", _whole(), nullable=True),
        sa.Column("holder", sa.Text(), nullable=False),
        sa.Column("made_at", arena.record.schema.dialects.UtcTime(), nullable=False),
        sa.Column("expires_at", arena.record.schema.dialects.UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(["round_id"], ["round.id"]),
        sa.ForeignKeyConstraint(["entrant_id"], ["entrant.id"]),
        sa.PrimaryKeyConstraint("id"),
        sqlite_strict=True,
    )
    op.create_table(
        "job",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("due_at", arena.record.schema.dialects.UtcTime(), nullable=False),
        sa.Column("started_at", arena.record.schema.dialects.UtcTime(), nullable=False),
        sa.Column("ended_at", arena.record.schema.dialects.UtcTime(), nullable=True),
        sa.Column("failures", _whole(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
        sqlite_strict=True,
    )
    op.create_table(
        "incident",
        sa.Column("id", _whole(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("at", arena.record.schema.dialects.UtcTime(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("tries", _whole(), nullable=False),
        sa.Column("next_try_at", arena.record.schema.dialects.UtcTime(), nullable=True),
        sa.Column("told_at", arena.record.schema.dialects.UtcTime(), nullable=True),
        sa.Column("ended_at", arena.record.schema.dialects.UtcTime(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("kind", "subject"),
        sqlite_strict=True,
    )
    op.create_index("ix_reservation_provider", "reservation", ["provider"])
    op.create_index("ix_turn_verdict", "turn", ["verdict"])
    op.create_index("ix_set_aside_last_seen_at", "set_aside", ["last_seen_at", "venue", "kind", "code"])


def _guard(dialect: str) -> list[str]:
    """The cohort's guard anew: what may change is more than it was."""
    if dialect == "postgresql":
        refuse = f"RAISE EXCEPTION '{REFUSED}';"
        return [
            "CREATE OR REPLACE FUNCTION cohort_no_update() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN IF NOT ({COHORT}) THEN {refuse} END IF; RETURN NEW; END $$"
        ]
    return [
        "DROP TRIGGER cohort_no_update",
        f"CREATE TRIGGER cohort_no_update BEFORE UPDATE ON cohort WHEN NOT ({COHORT}) "
        f"BEGIN SELECT RAISE(ABORT, '{REFUSED}'); END",
        *(_no_replacement(table, same) for table, same in FROZEN.items()),
    ]


def _no_replacement(table: str, same: str) -> str:
    """The words of the constraint come first, for whom they mean that another process was quicker."""
    words = f"UNIQUE constraint failed: {table}: the record is append-only"
    return (
        f"CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table} "
        f"WHEN EXISTS ({same}) BEGIN SELECT RAISE(ABORT, '{words}'); END"
    )


def downgrade() -> None:
    raise NotImplementedError("a record is never taken back to an older schema: restore a backup")
