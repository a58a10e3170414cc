"""The record: the tables as the code declares them, and the triggers that keep facts as they were written."""

from alembic import op

from arena.record.migrations.append_only import REPLACEABLE_TURN, guard
from arena.record.schema.tables import METADATA

revision = "0005"
down_revision = None

FACTS = (
    "prompt",
    "entrant",
    "replacement",
    "market",
    "market_version",
    "snapshot",
    "snapshot_item",
    "resolution",
    "article",
    "gathering",
    "evidence",
    "call",
    "forecast",
    "rejection",
    "attempt",
    "second_quote",
    "fill",
    "fill_level",
    "entry",
    "sync",
    "sighting",
    "prune",
    "head",
)
"""Never changed and never deleted."""

GUARDED = {
    "cohort": "OLD.ended_at IS NULL AND NEW.id = OLD.id AND NEW.number = OLD.number "
    "AND NEW.starts_at = OLD.starts_at AND NEW.frozen = OLD.frozen AND NEW.hash = OLD.hash "
    "AND (OLD.stopped_at IS NULL OR (NEW.stopped_at IS NOT NULL AND NEW.stopped_at = OLD.stopped_at))",
    "round": "OLD.done = 0 AND NEW.id = OLD.id AND NEW.cohort_id = OLD.cohort_id "
    "AND NEW.number = OLD.number AND NEW.at = OLD.at AND NEW.snapshot_id = OLD.snapshot_id",
    "turn": REPLACEABLE_TURN,
    "set_aside": "NEW.id = OLD.id AND NEW.venue = OLD.venue AND NEW.record = OLD.record "
    "AND NEW.kind = OLD.kind AND NEW.code = OLD.code AND NEW.first_seen_at = OLD.first_seen_at "
    "AND NEW.last_seen_at >= OLD.last_seen_at AND NEW.times > OLD.times",
    "quote": None,
}
"""Changed only as the condition allows; deleted never, but for quotes."""

PRUNED = (
    "EXISTS (SELECT 1 FROM prune JOIN quote AS later ON later.market_id = OLD.market_id "
    "WHERE OLD.at < prune.older_than AND later.at < prune.older_than "
    "AND (later.at > OLD.at OR (later.at = OLD.at AND later.id > OLD.id)))"
)
"""A quote may go once it is said so, if another follows it that stays. Foreign keys keep what is used."""


FROZEN = {
    "cohort": "SELECT 1 FROM cohort WHERE id = NEW.id OR number = NEW.number",
    "entrant": "SELECT 1 FROM entrant WHERE id = NEW.id "
    "OR (cohort_id = NEW.cohort_id AND (position = NEW.position OR name = NEW.name))",
    "prompt": "SELECT 1 FROM prompt WHERE hash = NEW.hash",
}
"""What SQLite's INSERT OR REPLACE would put another row in place of, without asking the guard of deletes."""


def _no_replacement(table: str) -> str:
    """Put the words of the constraint first, for whom they mean that another process came first."""
    words = f"UNIQUE constraint failed: {table}: the record is append-only"
    return (
        f"CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table} "
        f"WHEN EXISTS ({FROZEN[table]}) BEGIN SELECT RAISE(ABORT, '{words}'); END"
    )


def upgrade() -> None:
    connection = op.get_bind()
    METADATA.create_all(connection, checkfirst=False)  # to look for each takes as long as to make it
    for table, allowed in (dict.fromkeys(FACTS) | GUARDED).items():
        guard(table, "UPDATE", allowed)
    for table in (*FACTS, "cohort", "round", "turn", "set_aside"):
        guard(table, "DELETE")
    guard("quote", "DELETE", PRUNED)
    if connection.dialect.name == "sqlite":
        for table in FROZEN:
            op.execute(_no_replacement(table))
