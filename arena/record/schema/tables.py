"""The record: facts, written once.

Of facts, only `cohort.ended_at`, `round.done`, failed turns and what a venue said in vain change, and only
quotes that nothing refers to may go. What is at work now is no fact and not in the state hash: claims,
leases, reservations, lanes, jobs, incidents, and whether a cohort is paused or stopped. Neither is what was
worked out from facts.
"""

from typing import Any

from sqlalchemy import (
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.schema import SchemaItem

from arena.record.schema.dialects import BigInt, UtcTime

METADATA = MetaData()


def _table(name: str, *parts: SchemaItem) -> Table:
    return Table(name, METADATA, *parts, sqlite_strict=True)


def _id() -> Column[Any]:
    return Column("id", BigInt, primary_key=True)


def _key(name: str, target: str, **more: Any) -> Column[Any]:
    return Column(name, BigInt, ForeignKey(target), **_told(more))


def _market(**more: Any) -> Column[Any]:
    return _text("market_id", ForeignKey("market.id"), **more)


def _whole(name: str, **more: Any) -> Column[Any]:
    return Column(name, BigInt, **_told(more))


def _text(name: str, *parts: SchemaItem, **more: Any) -> Column[Any]:
    return Column(name, Text, *parts, **_told(more))


def _time(name: str, **more: Any) -> Column[Any]:
    return Column(name, UtcTime, **_told(more))


def _told(more: dict[str, Any]) -> dict[str, Any]:
    """What is said of a column: that something stands in it, unless it may be empty."""
    return {"nullable": False, **more}


PROMPT = _table(
    "prompt",
    _text("hash", primary_key=True),
    _text("text"),
)
"""A prompt template by the hash of its text, as cohorts have frozen it."""

COHORT = _table(
    "cohort",
    _id(),
    _whole("number", unique=True),
    _time("starts_at"),
    _text("frozen"),
    _text("hash"),
    _time("ended_at", nullable=True),
    _time("paused_at", nullable=True),
    _time("stopped_at", nullable=True),
)
"""One start: its rules, universe, schedule and line-up, frozen as one JSON text.

From `stopped_at` on it decides no more and is only tracked; while it is paused it decides nothing.
"""

ENTRANT = _table(
    "entrant",
    _id(),
    _key("cohort_id", "cohort.id"),
    _whole("position"),
    _text("name"),
    _text("kind"),
    _text("settings"),
    UniqueConstraint("cohort_id", "name"),
    UniqueConstraint("cohort_id", "position"),
)
"""An agent in a cohort, with an account of its own."""

MARKET = _table(
    "market",
    _text("id", primary_key=True),
    _time("first_seen_at"),
)
"""A market that was ever seen."""

VERSION = _table(
    "market_version",
    _id(),
    _market(),
    _whole("version"),
    _time("at"),
    _text("event_id", index=True),
    _text("question"),
    _text("rules"),
    _text("category"),
    _time("opens_at"),
    _time("closes_at"),
    _whole("tick"),
    _whole("fee_rate"),
    _whole("min_shares"),
    _text("hash"),
    UniqueConstraint("market_id", "version"),
)
"""What a market's page said, one row each time it changed."""

QUOTE = _table(
    "quote",
    _id(),
    _market(),
    _time("at"),
    _whole("bid", nullable=True),
    _whole("ask", nullable=True),
    _whole("mid", nullable=True),
    _whole("last", nullable=True),
    _whole("volume"),
    _text("book"),
    _text("hash"),
    UniqueConstraint("market_id", "at", "hash"),
)
"""A price and its book, one row each time it changed."""

SNAPSHOT = _table(
    "snapshot",
    _id(),
    _key("cohort_id", "cohort.id"),
    _time("at"),
    _time("taken_at"),
    _text("hash"),
    UniqueConstraint("cohort_id", "at"),
)
"""All that a cohort could know at one instant; `taken_at` is when it was really looked at."""

ITEM = _table(
    "snapshot_item",
    _key("snapshot_id", "snapshot.id", primary_key=True),
    _whole("position", primary_key=True),
    _market(),
    _key("version_id", "market_version.id"),
    _key("quote_id", "quote.id", nullable=True),
    _time("quoted_at", nullable=True),
    _whole("shown"),
    Index("ix_snapshot_item_market_id", "market_id"),
    Index("ix_snapshot_item_quote_id", "quote_id"),
)
"""One market in a snapshot: on offer (`shown` = 1) or only held; its price was true at `quoted_at`."""

RESOLUTION = _table(
    "resolution",
    _id(),
    _market(),
    _whole("version"),
    _time("known_at"),
    _time("learnt_at"),
    _whole("payout", nullable=True),
    _text("source"),
    _text("hash"),
    UniqueConstraint("market_id", "version"),
    CheckConstraint("version >= 1 AND payout BETWEEN 0 AND 1000000", name="possible"),
)
"""How a market ended, by version. `payout` is what a YES share paid; null is a refund.

`known_at` is since when it could be known, `learnt_at` the decision time at which a cohort asked.
"""

ROUND = _table(
    "round",
    _id(),
    _key("cohort_id", "cohort.id"),
    _whole("number"),
    _time("at"),
    _key("snapshot_id", "snapshot.id"),
    _whole("done", default=0),
    UniqueConstraint("cohort_id", "number"),
    UniqueConstraint("cohort_id", "at"),
)
"""One decision time of a cohort. `done` once every turn and mark is in."""

ARTICLE = _table(
    "article",
    _text("hash", primary_key=True),
    _text("source"),
    _text("url"),
    _text("title"),
    _text("text"),
    _time("published_at"),
    _text("dated"),
)
"""An article that some round showed, by the hash of what it says."""

GATHERING = _table(
    "gathering",
    _id(),
    _key("round_id", "round.id"),
    _whole("found"),
    _text("dropped"),
    _text("hash"),
    UniqueConstraint("round_id"),
)
"""That evidence was gathered for a round: how many articles were found, and why some were dropped."""

EVIDENCE = _table(
    "evidence",
    _key("gathering_id", "gathering.id", primary_key=True),
    _whole("position", primary_key=True),
    _market(),
    _text("article", ForeignKey("article.hash")),
    _time("fetched_at"),
)
"""An article that was shown for a market in a round, to every agent that saw the market."""

CLAIM = _table(
    "claim",
    _key("round_id", "round.id", primary_key=True),
    _key("entrant_id", "entrant.id", primary_key=True),
    _whole("token"),
    _text("holder"),
    _time("expires_at"),
)
"""Who is playing a turn: a lease, and a fencing token that grows with every holder."""

LEASE = _table(
    "lease",
    _text("name", primary_key=True),
    _whole("token"),
    _text("holder"),
    _time("expires_at"),
)
"""Who is on duty under a name, such as the scheduler: a claim on something else than a turn."""

LANE = _table(
    "lane",
    _text("provider", primary_key=True),
    _whole("room"),
    _time("paused_until", nullable=True),
)
"""What is known of a provider's limits: how many calls at once, in millionths, and a pause."""

RESERVATION = _table(
    "reservation",
    _id(),
    _key("round_id", "round.id"),
    _key("entrant_id", "entrant.id"),
    _text("provider"),
    _whole("worst", nullable=True),
    _text("holder"),
    _time("made_at"),
    _time("expires_at"),
    Index("ix_reservation_provider", "provider"),
)
"""A call under way: its place at a provider, and the most that it may cost (null: unknown).

It goes when the call is kept. One that has expired was lost with its worker: it takes no place any more,
but goes on counting as spent, for it may have to be paid.
"""

JOB = _table(
    "job",
    _text("name", primary_key=True),
    _time("due_at"),
    _time("started_at"),
    _time("ended_at", nullable=True),
    _whole("failures", default=0),
    _text("note", default=""),
)
"""A job of `arena run`: the time it was last done for, when that began and ended, and how.

`failures` counts those in a row.
"""

INCIDENT = _table(
    "incident",
    _id(),
    _text("kind"),
    _text("subject"),
    _time("at"),
    _text("body"),
    _whole("tries", default=0),
    _time("next_try_at", nullable=True),
    _time("told_at", nullable=True),
    _time("ended_at", nullable=True),
    UniqueConstraint("kind", "subject"),
)
"""Something that the operator should hear of, once, and whether they were told.

One that lasts, such as an outage, has ended once it is over.
"""

ROLLUP = _table(
    "rollup",
    _text("name", primary_key=True),
    _text("basis"),
    _time("made_at"),
    _text("body"),
)
"""What was worked out from the record, and from how much of it; no fact, for it can be had again."""

SPENT = ("cost", "worst")
"""What budgets ask for before each call: in the indices, or every prompt and answer would be read for it."""

CALL = _table(
    "call",
    _id(),
    _key("round_id", "round.id"),
    _key("entrant_id", "entrant.id"),
    _text("stage"),
    _whole("sample"),
    _whole("attempt"),
    _text("messages"),
    _text("prompt_hash"),
    _whole("seed"),
    _text("reply", nullable=True),
    _text("finish"),
    _text("model"),
    _text("fingerprint"),
    _text("rung"),
    _whole("tokens_in"),
    _whole("tokens_out"),
    _whole("cost", nullable=True),
    _whole("worst", nullable=True),
    _whole("latency_ms"),
    _text("error_code", nullable=True),
    _text("error_message", nullable=True),
    _whole("error_retry", default=0),
    _time("made_at"),
    _text("hash"),
    UniqueConstraint("round_id", "entrant_id", "stage", "sample", "attempt"),
    Index("ix_call_made_at", "made_at", *SPENT),
    Index("ix_call_entrant_id", "entrant_id", *SPENT),
    Index("ix_call_round_id", "round_id", *SPENT),
)
"""One attempt to get an answer from a model, word for word."""

TURN = _table(
    "turn",
    _id(),
    _key("round_id", "round.id"),
    _key("entrant_id", "entrant.id"),
    _text("verdict"),
    _text("note"),
    _whole("cash"),
    _text("wishes"),
    _text("code_version"),
    _text("hash"),
    UniqueConstraint("round_id", "entrant_id"),
    Index("ix_turn_verdict", "verdict"),
)
"""One entrant's part of one round. `wishes` are its bets and sales as they were asked for."""

FORECAST = _table(
    "forecast",
    _key("turn_id", "turn.id", primary_key=True),
    _market(primary_key=True),
    _text("stage", primary_key=True),
    _whole("probability"),
    _text("reason"),
    CheckConstraint("probability BETWEEN 0 AND 1000000"),
)
"""The probability of YES that an agent stated for a market in a turn."""

REJECTION = _table(
    "rejection",
    _key("turn_id", "turn.id", primary_key=True),
    _whole("position", primary_key=True),
    _text("code"),
    _text("message"),
    _text("market_id"),
)
"""A wish that was not granted, and why."""

FILL = _table(
    "fill",
    _id(),
    _key("turn_id", "turn.id"),
    _whole("position"),
    _market(),
    _text("side"),
    _text("action"),
    _whole("shares"),
    _whole("amount"),
    _whole("fee"),
    _whole("wanted"),
    _whole("base"),
    _time("quote_at"),
    _text("quote_hash"),
    _whole("fee_rate"),
    _text("left"),
    _text("reason"),
    _text("hash"),
    UniqueConstraint("turn_id", "position"),
    CheckConstraint("shares > 0 AND amount >= 0 AND fee >= 0"),
)
"""What an agent got for one wish. `amount` is all the cash that moved, fee included."""

LEVEL = _table(
    "fill_level",
    _key("fill_id", "fill.id", primary_key=True),
    _whole("position", primary_key=True),
    _whole("price"),
    _whole("shares"),
    _whole("amount"),
    _whole("fee"),
)
"""One price at which part of a fill was done."""

ENTRY = _table(
    "entry",
    _id(),
    _key("entrant_id", "entrant.id"),
    _whole("number"),
    _time("at"),
    _text("kind"),
    _text("market_id"),
    _text("side"),
    _whole("cash"),
    _whole("shares"),
    _whole("cost"),
    _whole("realised"),
    _whole("balance"),
    _whole("held"),
    _text("ref"),
    _text("previous"),
    _text("hash"),
    UniqueConstraint("entrant_id", "number"),
    CheckConstraint("balance >= 0 OR kind IN ('reverse', 'settle', 'refund', 'sell')"),
    CheckConstraint("held >= 0"),
    Index("ix_entry_market_id", "market_id", "entrant_id", "side", "kind", "shares"),
)
"""One line of an entrant's ledger, chained by hash to the line before it."""

MARK = _table(
    "mark",
    _key("entrant_id", "entrant.id", primary_key=True),
    _time("at", primary_key=True),
    _key("snapshot_id", "snapshot.id"),
    _whole("cash"),
    _whole("value"),
    _whole("liquidation"),
    _whole("cost"),
    _whole("realised"),
    _whole("stale"),
    _whole("age"),
    Index("ix_mark_at", "at"),
)
"""Holdings valued at one snapshot: kept for the curves, recomputed by `arena verify`.

`stale` counts the lots whose price is old or missing; `age` is that of the oldest price, in seconds.
"""

SYNC = _table(
    "sync",
    _id(),
    _text("venue"),
    _text("stamp"),
    _whole("number"),
    _time("at"),
    _whole("markets"),
    _text("seen"),
    _text("hash"),
    UniqueConstraint("venue", "number"),
    UniqueConstraint("venue", "at"),
)
"""One reading of a venue's whole catalogue, sealed by hash together with the one before.

`markets` is how many of its markets had a price then; `seen` is the hash of those prices.
"""

SIGHTING = _table(
    "sighting",
    _key("sync_id", "sync.id", primary_key=True),
    _market(primary_key=True),
    _whole("quoted"),
    Index("ix_sighting_market_id", "market_id"),
)
"""A market that a sync found a price of where the one before did not (`quoted` = 1), or no more (0).

A market without a sighting at a sync is as it was: it still has its price, or still has none.
"""

SET_ASIDE = _table(
    "set_aside",
    _id(),
    _text("venue"),
    _text("record"),
    _text("kind"),
    _text("code"),
    _text("reason"),
    _text("raw"),
    _time("first_seen_at"),
    _time("last_seen_at"),
    _whole("times"),
    UniqueConstraint("venue", "record", "kind", "code"),
    Index("ix_set_aside_last_seen_at", "last_seen_at", "venue", "kind", "code"),
)
"""What a venue sent in vain, one row per record and reason: how often, and as it last was."""

PRUNE = _table(
    "prune",
    _id(),
    _whole("number"),
    _time("at"),
    _time("older_than"),
    _whole("quotes"),
    _text("hash"),
    UniqueConstraint("number"),
)
"""Quotes from before `older_than` that nothing refers to were let go: how many, and when."""
