"""The record: facts and the triggers that keep them as they were written."""

import sqlalchemy as sa
from alembic import op

import arena.record.schema.dialects

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


FACTS = (
    "prompt",
    "entrant",
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
    "fill",
    "fill_level",
    "entry",
    "sync",
    "sighting",
    "prune",
)
"""Never changed and never deleted."""

GUARDED = {
    "cohort": "OLD.ended_at IS NULL AND NEW.id = OLD.id AND NEW.number = OLD.number "
    "AND NEW.starts_at = OLD.starts_at AND NEW.frozen = OLD.frozen AND NEW.hash = OLD.hash",
    "round": "OLD.done = 0 AND NEW.id = OLD.id AND NEW.cohort_id = OLD.cohort_id "
    "AND NEW.number = OLD.number AND NEW.at = OLD.at AND NEW.snapshot_id = OLD.snapshot_id",
    "turn": "OLD.verdict = 'failed' AND NEW.id = OLD.id AND NEW.round_id = OLD.round_id "
    "AND NEW.entrant_id = OLD.entrant_id",
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


def _triggers(dialect: str) -> list[str]:
    rules: list[tuple[str, str, str | None]] = [(table, "UPDATE", None) for table in FACTS]
    rules += [(table, "UPDATE", allowed) for table, allowed in GUARDED.items()]
    rules += [(table, "DELETE", None) for table in (*FACTS, "cohort", "round", "turn", "set_aside")]
    rules.append(("quote", "DELETE", PRUNED))
    make = _postgresql if dialect == "postgresql" else _sqlite
    return [statement for rule in rules for statement in make(*rule)]


def _sqlite(table: str, action: str, allowed: str | None) -> list[str]:
    when = f" WHEN NOT ({allowed})" if allowed else ""
    return [
        f"CREATE TRIGGER {table}_no_{action.lower()} BEFORE {action} ON {table}{when} "
        f"BEGIN SELECT RAISE(ABORT, '{table}: the record is append-only'); END"
    ]


def _postgresql(table: str, action: str, allowed: str | None) -> list[str]:
    name, row = f"{table}_no_{action.lower()}", "OLD" if action == "DELETE" else "NEW"
    refuse = f"RAISE EXCEPTION '{table}: the record is append-only';"
    body = f"IF NOT ({allowed}) THEN {refuse} END IF; RETURN {row};" if allowed else refuse
    return [
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} END $$",
        f'CREATE TRIGGER {name} BEFORE {action} ON "{table}" FOR EACH ROW EXECUTE FUNCTION {name}()',
    ]


def upgrade() -> None:
    op.create_table(
        "cohort",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("starts_at", arena.record.schema.dialects.UtcTime(), nullable=False),
        sa.Column("frozen", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("ended_at", arena.record.schema.dialects.UtcTime(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("number"),
        sqlite_strict=True,
    )
    op.create_table(
        "market",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("first_seen_at", arena.record.schema.dialects.UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sqlite_strict=True,
    )
    op.create_table(
        "prompt",
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("hash"),
        sqlite_strict=True,
    )
    op.create_table(
        "entrant",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("cohort_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("position", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["cohort_id"],
            ["cohort.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("cohort_id", "name"),
        sa.UniqueConstraint("cohort_id", "position"),
        sqlite_strict=True,
    )
    op.create_table(
        "market_version",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("market_id", sa.Text(), nullable=False),
        sa.Column("version", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at", arena.record.schema.dialects.UtcTime(), nullable=False),
        sa.Column("event_id", sa.Text(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("rules", sa.Text(), nullable=False),
        sa.Column("category", sa.Text(), nullable=False),
        sa.Column("opens_at", arena.record.schema.dialects.UtcTime(), nullable=False),
        sa.Column("closes_at", arena.record.schema.dialects.UtcTime(), nullable=False),
        sa.Column("tick", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("fee_rate", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("min_shares", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["market_id"],
            ["market.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("market_id", "version"),
        sqlite_strict=True,
    )
    with op.batch_alter_table("market_version", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_market_version_event_id"), ["event_id"], unique=False)

    op.create_table(
        "quote",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("market_id", sa.Text(), nullable=False),
        sa.Column("at", arena.record.schema.dialects.UtcTime(), nullable=False),
        sa.Column("bid", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("ask", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("mid", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("last", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("volume", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("book", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["market_id"],
            ["market.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("market_id", "at", "hash"),
        sqlite_strict=True,
    )
    op.create_table(
        "resolution",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("market_id", sa.Text(), nullable=False),
        sa.Column("version", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("known_at", arena.record.schema.dialects.UtcTime(), nullable=False),
        sa.Column("learnt_at", arena.record.schema.dialects.UtcTime(), nullable=False),
        sa.Column("payout", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["market_id"],
            ["market.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("market_id", "version"),
        sa.CheckConstraint("version >= 1 AND payout BETWEEN 0 AND 1000000", name="possible"),
        sqlite_strict=True,
    )
    op.create_table(
        "snapshot",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("cohort_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at", arena.record.schema.dialects.UtcTime(), nullable=False),
        sa.Column("taken_at", arena.record.schema.dialects.UtcTime(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["cohort_id"],
            ["cohort.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("cohort_id", "at"),
        sqlite_strict=True,
    )
    op.create_table(
        "entry",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("entrant_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at", arena.record.schema.dialects.UtcTime(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("market_id", sa.Text(), nullable=False),
        sa.Column("side", sa.Text(), nullable=False),
        sa.Column("cash", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("shares", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("cost", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("realised", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("balance", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("held", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("ref", sa.Text(), nullable=False),
        sa.Column("previous", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.CheckConstraint("balance >= 0 OR kind IN ('reverse', 'settle', 'refund', 'sell')"),
        sa.CheckConstraint("held >= 0"),
        sa.ForeignKeyConstraint(
            ["entrant_id"],
            ["entrant.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("entrant_id", "number"),
        sqlite_strict=True,
    )
    op.create_table(
        "mark",
        sa.Column("entrant_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at", arena.record.schema.dialects.UtcTime(), nullable=False),
        sa.Column("snapshot_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("cash", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("value", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("liquidation", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("cost", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("realised", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("stale", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("age", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(
            ["entrant_id"],
            ["entrant.id"],
        ),
        sa.ForeignKeyConstraint(
            ["snapshot_id"],
            ["snapshot.id"],
        ),
        sa.PrimaryKeyConstraint("entrant_id", "at"),
        sqlite_strict=True,
    )
    with op.batch_alter_table("mark", schema=None) as batch_op:
        batch_op.create_index("ix_mark_at", ["at"], unique=False)

    op.create_table(
        "round",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("cohort_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at", arena.record.schema.dialects.UtcTime(), nullable=False),
        sa.Column("snapshot_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("done", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(
            ["cohort_id"],
            ["cohort.id"],
        ),
        sa.ForeignKeyConstraint(
            ["snapshot_id"],
            ["snapshot.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("cohort_id", "at"),
        sa.UniqueConstraint("cohort_id", "number"),
        sqlite_strict=True,
    )
    op.create_table(
        "snapshot_item",
        sa.Column("snapshot_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("position", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("market_id", sa.Text(), nullable=False),
        sa.Column("version_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("quote_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("quoted_at", arena.record.schema.dialects.UtcTime(), nullable=True),
        sa.Column("shown", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(
            ["market_id"],
            ["market.id"],
        ),
        sa.ForeignKeyConstraint(
            ["quote_id"],
            ["quote.id"],
        ),
        sa.ForeignKeyConstraint(
            ["snapshot_id"],
            ["snapshot.id"],
        ),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["market_version.id"],
        ),
        sa.PrimaryKeyConstraint("snapshot_id", "position"),
        sqlite_strict=True,
    )
    op.create_table(
        "article",
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("published_at", arena.record.schema.dialects.UtcTime(), nullable=False),
        sa.Column("dated", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("hash"),
        sqlite_strict=True,
    )
    op.create_table(
        "gathering",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("round_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("found", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("dropped", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["round_id"],
            ["round.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("round_id"),
        sqlite_strict=True,
    )
    op.create_table(
        "evidence",
        sa.Column("gathering_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("position", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("market_id", sa.Text(), nullable=False),
        sa.Column("article", sa.Text(), nullable=False),
        sa.Column("fetched_at", arena.record.schema.dialects.UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["article"],
            ["article.hash"],
        ),
        sa.ForeignKeyConstraint(
            ["gathering_id"],
            ["gathering.id"],
        ),
        sa.ForeignKeyConstraint(
            ["market_id"],
            ["market.id"],
        ),
        sa.PrimaryKeyConstraint("gathering_id", "position"),
        sqlite_strict=True,
    )
    op.create_table(
        "call",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("round_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("entrant_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("stage", sa.Text(), nullable=False),
        sa.Column("sample", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("attempt", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("messages", sa.Text(), nullable=False),
        sa.Column("prompt_hash", sa.Text(), nullable=False),
        sa.Column("seed", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("reply", sa.Text(), nullable=True),
        sa.Column("finish", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("rung", sa.Text(), nullable=False),
        sa.Column("tokens_in", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("tokens_out", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("cost", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("worst", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("latency_ms", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("error_code", sa.Text(), nullable=True),
        sa.Column("error_message", sa.Text(), nullable=True),
        sa.Column("error_retry", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("made_at", arena.record.schema.dialects.UtcTime(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["entrant_id"],
            ["entrant.id"],
        ),
        sa.ForeignKeyConstraint(
            ["round_id"],
            ["round.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("round_id", "entrant_id", "stage", "sample", "attempt"),
        sqlite_strict=True,
    )
    op.create_table(
        "claim",
        sa.Column("round_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("entrant_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("token", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("holder", sa.Text(), nullable=False),
        sa.Column("expires_at", arena.record.schema.dialects.UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["entrant_id"],
            ["entrant.id"],
        ),
        sa.ForeignKeyConstraint(
            ["round_id"],
            ["round.id"],
        ),
        sa.PrimaryKeyConstraint("round_id", "entrant_id"),
        sqlite_strict=True,
    )
    op.create_table(
        "turn",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("round_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("entrant_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("verdict", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("cash", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("wishes", sa.Text(), nullable=False),
        sa.Column("code_version", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["entrant_id"],
            ["entrant.id"],
        ),
        sa.ForeignKeyConstraint(
            ["round_id"],
            ["round.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("round_id", "entrant_id"),
        sqlite_strict=True,
    )
    op.create_table(
        "fill",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("turn_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("position", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("market_id", sa.Text(), nullable=False),
        sa.Column("side", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("shares", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("amount", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("fee", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("wanted", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("base", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("quote_at", arena.record.schema.dialects.UtcTime(), nullable=False),
        sa.Column("quote_hash", sa.Text(), nullable=False),
        sa.Column("fee_rate", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("left", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.CheckConstraint("shares > 0 AND amount >= 0 AND fee >= 0"),
        sa.ForeignKeyConstraint(
            ["market_id"],
            ["market.id"],
        ),
        sa.ForeignKeyConstraint(
            ["turn_id"],
            ["turn.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("turn_id", "position"),
        sqlite_strict=True,
    )
    op.create_table(
        "forecast",
        sa.Column("turn_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("market_id", sa.Text(), nullable=False),
        sa.Column("stage", sa.Text(), nullable=False),
        sa.Column("probability", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.CheckConstraint("probability BETWEEN 0 AND 1000000"),
        sa.ForeignKeyConstraint(
            ["market_id"],
            ["market.id"],
        ),
        sa.ForeignKeyConstraint(
            ["turn_id"],
            ["turn.id"],
        ),
        sa.PrimaryKeyConstraint("turn_id", "market_id", "stage"),
        sqlite_strict=True,
    )
    op.create_table(
        "rejection",
        sa.Column("turn_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("position", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("market_id", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["turn_id"],
            ["turn.id"],
        ),
        sa.PrimaryKeyConstraint("turn_id", "position"),
        sqlite_strict=True,
    )
    op.create_table(
        "fill_level",
        sa.Column("fill_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("position", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("price", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("shares", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("amount", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("fee", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(
            ["fill_id"],
            ["fill.id"],
        ),
        sa.PrimaryKeyConstraint("fill_id", "position"),
        sqlite_strict=True,
    )
    op.create_table(
        "sync",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("venue", sa.Text(), nullable=False),
        sa.Column("stamp", sa.Text(), nullable=False),
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at", arena.record.schema.dialects.UtcTime(), nullable=False),
        sa.Column("markets", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("seen", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("venue", "at"),
        sa.UniqueConstraint("venue", "number"),
        sqlite_strict=True,
    )
    op.create_table(
        "sighting",
        sa.Column("sync_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("market_id", sa.Text(), nullable=False),
        sa.Column("quoted", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(
            ["market_id"],
            ["market.id"],
        ),
        sa.ForeignKeyConstraint(
            ["sync_id"],
            ["sync.id"],
        ),
        sa.PrimaryKeyConstraint("sync_id", "market_id"),
        sqlite_strict=True,
    )
    op.create_table(
        "set_aside",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("venue", sa.Text(), nullable=False),
        sa.Column("record", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("raw", sa.Text(), nullable=False),
        sa.Column("first_seen_at", arena.record.schema.dialects.UtcTime(), nullable=False),
        sa.Column("last_seen_at", arena.record.schema.dialects.UtcTime(), nullable=False),
        sa.Column("times", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("venue", "record", "kind", "code"),
        sqlite_strict=True,
    )
    op.create_table(
        "prune",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at", arena.record.schema.dialects.UtcTime(), nullable=False),
        sa.Column("older_than", arena.record.schema.dialects.UtcTime(), nullable=False),
        sa.Column("quotes", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("number"),
        sqlite_strict=True,
    )
    op.create_index("ix_sighting_market_id", "sighting", ["market_id"])
    op.create_index("ix_call_made_at", "call", ["made_at", "cost", "worst"])
    op.create_index("ix_call_entrant_id", "call", ["entrant_id", "cost", "worst"])
    op.create_index("ix_call_round_id", "call", ["round_id", "cost", "worst"])
    op.create_index("ix_snapshot_item_market_id", "snapshot_item", ["market_id"])
    op.create_index("ix_snapshot_item_quote_id", "snapshot_item", ["quote_id"])
    for statement in _triggers(op.get_bind().dialect.name):
        op.execute(statement)


def downgrade() -> None:
    raise NotImplementedError("a record is never taken back to an older schema: restore a backup")
