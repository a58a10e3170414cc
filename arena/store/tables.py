"""The record: facts, written once.

Of facts, only `cohort.ended_at`, `round.done`, failed turns and what a venue said in vain change, and only
quotes that nothing refers to may go. What is at work now is no fact and not in the state hash: claims,
leases, reservations, lanes, jobs, incidents, and whether a cohort is paused or stopped. Neither is what was
worked out from facts.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, Table, Text, UniqueConstraint
from sqlmodel import Field, SQLModel

from arena.store.types import UtcTime, Whole

STRICT = {"sqlite_strict": True}


def _key(target: str | None = None, *, primary: bool = False, optional: bool = False) -> Any:
    args = [ForeignKey(target)] if target else []
    return Field(
        default=None,
        sa_type=Whole,
        primary_key=primary,
        nullable=optional,
        sa_column_args=args,
    )


def _whole(**more: Any) -> Any:
    return Field(sa_type=Whole, **more)


def _text(**more: Any) -> Any:
    return Field(sa_type=Text, **more)


def _time(**more: Any) -> Any:
    return Field(sa_type=UtcTime, **more)


def _market() -> Any:
    return Field(sa_type=Text, sa_column_args=[ForeignKey("market.id")])


class Prompt(SQLModel, table=True):
    """A prompt template by the hash of its text, as cohorts have frozen it."""

    __table_args__ = (STRICT,)
    hash: str = _text(primary_key=True)
    text: str = _text()


class Cohort(SQLModel, table=True):
    """One start: its rules, universe, schedule and line-up, frozen as one JSON text.

    From `stopped_at` on it decides no more and is only tracked; while it is paused it decides nothing.
    """

    __table_args__ = (STRICT,)
    id: int | None = _key(primary=True)
    number: int = _whole(unique=True)
    starts_at: datetime = _time()
    frozen: str = _text()
    hash: str = _text()
    ended_at: datetime | None = _time(default=None, nullable=True)
    paused_at: datetime | None = _time(default=None, nullable=True)
    stopped_at: datetime | None = _time(default=None, nullable=True)


class Entrant(SQLModel, table=True):
    """An agent in a cohort, with an account of its own."""

    __table_args__ = (
        UniqueConstraint("cohort_id", "name"),
        UniqueConstraint("cohort_id", "position"),
        STRICT,
    )
    id: int | None = _key(primary=True)
    cohort_id: int = _key("cohort.id")
    position: int = _whole()
    name: str = _text()
    kind: str = _text()
    settings: str = _text()


class Market(SQLModel, table=True):
    """A market that was ever seen."""

    __table_args__ = (STRICT,)
    id: str = _text(primary_key=True)
    first_seen_at: datetime = _time()


class MarketVersion(SQLModel, table=True):
    """What a market's page said, one row each time it changed."""

    __tablename__ = "market_version"
    __table_args__ = (UniqueConstraint("market_id", "version"), STRICT)
    id: int | None = _key(primary=True)
    market_id: str = _market()
    version: int = _whole()
    at: datetime = _time()
    event_id: str = _text(index=True)
    question: str = _text()
    rules: str = _text()
    category: str = _text()
    opens_at: datetime = _time()
    closes_at: datetime = _time()
    tick: int = _whole()
    fee_rate: int = _whole()
    min_shares: int = _whole()
    hash: str = _text()


class Quote(SQLModel, table=True):
    """A price and its book, one row each time it changed."""

    __table_args__ = (UniqueConstraint("market_id", "at", "hash"), STRICT)
    id: int | None = _key(primary=True)
    market_id: str = _market()
    at: datetime = _time()
    bid: int | None = _whole(default=None, nullable=True)
    ask: int | None = _whole(default=None, nullable=True)
    mid: int | None = _whole(default=None, nullable=True)
    last: int | None = _whole(default=None, nullable=True)
    volume: int = _whole()
    book: str = _text()
    hash: str = _text()


class Snapshot(SQLModel, table=True):
    """All that a cohort could know at one instant; `taken_at` is when it was really looked at."""

    __table_args__ = (UniqueConstraint("cohort_id", "at"), STRICT)
    id: int | None = _key(primary=True)
    cohort_id: int = _key("cohort.id")
    at: datetime = _time()
    taken_at: datetime = _time()
    hash: str = _text()


class SnapshotItem(SQLModel, table=True):
    """One market in a snapshot: on offer (`shown` = 1) or only held; its price was true at `quoted_at`."""

    __tablename__ = "snapshot_item"
    __table_args__ = (
        Index("ix_snapshot_item_market_id", "market_id"),
        Index("ix_snapshot_item_quote_id", "quote_id"),
        STRICT,
    )
    snapshot_id: int = _key("snapshot.id", primary=True)
    position: int = _whole(primary_key=True)
    market_id: str = _market()
    version_id: int = _key("market_version.id")
    quote_id: int | None = _key("quote.id", optional=True)
    quoted_at: datetime | None = _time(default=None, nullable=True)
    shown: int = _whole()


class Resolution(SQLModel, table=True):
    """How a market ended, by version. `payout` is what a YES share paid; null is a refund.

    `known_at` is since when it could be known, `learnt_at` the decision time at which a cohort asked.
    """

    __table_args__ = (
        UniqueConstraint("market_id", "version"),
        CheckConstraint("version >= 1 AND payout BETWEEN 0 AND 1000000", name="possible"),
        STRICT,
    )
    id: int | None = _key(primary=True)
    market_id: str = _market()
    version: int = _whole()
    known_at: datetime = _time()
    learnt_at: datetime = _time()
    payout: int | None = _whole(default=None, nullable=True)
    source: str = _text()
    hash: str = _text()


class Round(SQLModel, table=True):
    """One decision time of a cohort. `done` once every turn and mark is in."""

    __table_args__ = (UniqueConstraint("cohort_id", "number"), UniqueConstraint("cohort_id", "at"), STRICT)
    id: int | None = _key(primary=True)
    cohort_id: int = _key("cohort.id")
    number: int = _whole()
    at: datetime = _time()
    snapshot_id: int = _key("snapshot.id")
    done: int = _whole(default=0)


class Article(SQLModel, table=True):
    """An article that some round showed, by the hash of what it says."""

    __table_args__ = (STRICT,)
    hash: str = _text(primary_key=True)
    source: str = _text()
    url: str = _text()
    title: str = _text()
    text: str = _text()
    published_at: datetime = _time()
    dated: str = _text()


class Gathering(SQLModel, table=True):
    """That evidence was gathered for a round: how many articles were found, and why some were dropped."""

    __table_args__ = (UniqueConstraint("round_id"), STRICT)
    id: int | None = _key(primary=True)
    round_id: int = _key("round.id")
    found: int = _whole()
    dropped: str = _text()
    hash: str = _text()


class Evidence(SQLModel, table=True):
    """An article that was shown for a market in a round, to every agent that saw the market."""

    __table_args__ = (STRICT,)
    gathering_id: int = _key("gathering.id", primary=True)
    position: int = _whole(primary_key=True)
    market_id: str = _market()
    article: str = Field(sa_type=Text, sa_column_args=[ForeignKey("article.hash")])
    fetched_at: datetime = _time()


class Claim(SQLModel, table=True):
    """Who is playing a turn: a lease, and a fencing token that grows with every holder."""

    __table_args__ = (STRICT,)
    round_id: int = _key("round.id", primary=True)
    entrant_id: int = _key("entrant.id", primary=True)
    token: int = _whole()
    holder: str = _text()
    expires_at: datetime = _time()


class Lease(SQLModel, table=True):
    """Who is on duty under a name, such as the scheduler: a claim on something else than a turn."""

    __table_args__ = (STRICT,)
    name: str = _text(primary_key=True)
    token: int = _whole()
    holder: str = _text()
    expires_at: datetime = _time()


class Lane(SQLModel, table=True):
    """What is known of a provider's limits: how many calls at once, in millionths, and a pause."""

    __table_args__ = (STRICT,)
    provider: str = _text(primary_key=True)
    room: int = _whole()
    paused_until: datetime | None = _time(default=None, nullable=True)


class Reservation(SQLModel, table=True):
    """A call under way: its place at a provider, and the most that it may cost (null: unknown).

    It goes when the call is kept. One that has expired was lost with its worker: it takes no place any more,
    but goes on counting as spent, for it may have to be paid.
    """

    __table_args__ = (
        Index("ix_reservation_provider", "provider"),
        STRICT,
    )
    id: int | None = _key(primary=True)
    round_id: int = _key("round.id")
    entrant_id: int = _key("entrant.id")
    provider: str = _text()
    worst: int | None = _whole(default=None, nullable=True)
    holder: str = _text()
    made_at: datetime = _time()
    expires_at: datetime = _time()


class Job(SQLModel, table=True):
    """A job of `arena run`: the time it was last done for, when that began and ended, and how.

    `failures` counts those in a row.
    """

    __table_args__ = (STRICT,)
    name: str = _text(primary_key=True)
    due_at: datetime = _time()
    started_at: datetime = _time()
    ended_at: datetime | None = _time(default=None, nullable=True)
    failures: int = _whole(default=0)
    note: str = _text(default="")


class Incident(SQLModel, table=True):
    """Something that the operator should hear of, once, and whether they were told.

    One that lasts, such as an outage, has ended once it is over.
    """

    __table_args__ = (UniqueConstraint("kind", "subject"), STRICT)
    id: int | None = _key(primary=True)
    kind: str = _text()
    subject: str = _text()
    at: datetime = _time()
    body: str = _text()
    tries: int = _whole(default=0)
    next_try_at: datetime | None = _time(default=None, nullable=True)
    told_at: datetime | None = _time(default=None, nullable=True)
    ended_at: datetime | None = _time(default=None, nullable=True)


class Rollup(SQLModel, table=True):
    """What was worked out from the record, and from how much of it; no fact, for it can be had again."""

    __table_args__ = (STRICT,)
    name: str = _text(primary_key=True)
    basis: str = _text()
    made_at: datetime = _time()
    body: str = _text()


SPENT = ("cost", "worst")
"""What budgets ask for before each call: in the indices, or every prompt and answer would be read for it."""


class Call(SQLModel, table=True):
    """One attempt to get an answer from a model, word for word."""

    __table_args__ = (
        UniqueConstraint("round_id", "entrant_id", "stage", "sample", "attempt"),
        Index("ix_call_made_at", "made_at", *SPENT),
        Index("ix_call_entrant_id", "entrant_id", *SPENT),
        Index("ix_call_round_id", "round_id", *SPENT),
        STRICT,
    )
    id: int | None = _key(primary=True)
    round_id: int = _key("round.id")
    entrant_id: int = _key("entrant.id")
    stage: str = _text()
    sample: int = _whole()
    attempt: int = _whole()
    messages: str = _text()
    prompt_hash: str = _text()
    seed: int = _whole()
    reply: str | None = _text(default=None, nullable=True)
    finish: str = _text()
    model: str = _text()
    fingerprint: str = _text()
    rung: str = _text()
    tokens_in: int = _whole()
    tokens_out: int = _whole()
    cost: int | None = _whole(default=None, nullable=True)
    worst: int | None = _whole(default=None, nullable=True)
    latency_ms: int = _whole()
    error_code: str | None = _text(default=None, nullable=True)
    error_message: str | None = _text(default=None, nullable=True)
    error_retry: int = _whole(default=0)
    made_at: datetime = _time()
    hash: str = _text()


class Turn(SQLModel, table=True):
    """One entrant's part of one round. `wishes` are its bets and sales as they were asked for."""

    __table_args__ = (
        UniqueConstraint("round_id", "entrant_id"),
        Index("ix_turn_verdict", "verdict"),
        STRICT,
    )
    id: int | None = _key(primary=True)
    round_id: int = _key("round.id")
    entrant_id: int = _key("entrant.id")
    verdict: str = _text()
    note: str = _text()
    cash: int = _whole()
    wishes: str = _text()
    code_version: str = _text()
    hash: str = _text()


class Forecast(SQLModel, table=True):
    """The probability of YES that an agent stated for a market in a turn."""

    __table_args__ = (CheckConstraint("probability BETWEEN 0 AND 1000000"), STRICT)
    turn_id: int = _key("turn.id", primary=True)
    market_id: str = Field(sa_type=Text, primary_key=True, sa_column_args=[ForeignKey("market.id")])
    stage: str = _text(primary_key=True)
    probability: int = _whole()
    reason: str = _text()


class Rejection(SQLModel, table=True):
    """A wish that was not granted, and why."""

    __table_args__ = (STRICT,)
    turn_id: int = _key("turn.id", primary=True)
    position: int = _whole(primary_key=True)
    code: str = _text()
    message: str = _text()
    market_id: str = _text()


class Fill(SQLModel, table=True):
    """What an agent got for one wish. `amount` is all the cash that moved, fee included."""

    __table_args__ = (
        UniqueConstraint("turn_id", "position"),
        CheckConstraint("shares > 0 AND amount >= 0 AND fee >= 0"),
        STRICT,
    )
    id: int | None = _key(primary=True)
    turn_id: int = _key("turn.id")
    position: int = _whole()
    market_id: str = _market()
    side: str = _text()
    action: str = _text()
    shares: int = _whole()
    amount: int = _whole()
    fee: int = _whole()
    wanted: int = _whole()
    base: int = _whole()
    quote_at: datetime = _time()
    quote_hash: str = _text()
    fee_rate: int = _whole()
    left: str = _text()
    reason: str = _text()
    hash: str = _text()


class FillLevel(SQLModel, table=True):
    """One price at which part of a fill was done."""

    __tablename__ = "fill_level"
    __table_args__ = (STRICT,)
    fill_id: int = _key("fill.id", primary=True)
    position: int = _whole(primary_key=True)
    price: int = _whole()
    shares: int = _whole()
    amount: int = _whole()
    fee: int = _whole()


class Entry(SQLModel, table=True):
    """One line of an entrant's ledger, chained by hash to the line before it."""

    __table_args__ = (
        UniqueConstraint("entrant_id", "number"),
        CheckConstraint("balance >= 0 OR kind IN ('reverse', 'settle', 'refund', 'sell')"),
        CheckConstraint("held >= 0"),
        Index("ix_entry_market_id", "market_id", "entrant_id", "side", "kind", "shares"),
        STRICT,
    )
    id: int | None = _key(primary=True)
    entrant_id: int = _key("entrant.id")
    number: int = _whole()
    at: datetime = _time()
    kind: str = _text()
    market_id: str = _text()
    side: str = _text()
    cash: int = _whole()
    shares: int = _whole()
    cost: int = _whole()
    realised: int = _whole()
    balance: int = _whole()
    held: int = _whole()
    ref: str = _text()
    previous: str = _text()
    hash: str = _text()


class Mark(SQLModel, table=True):
    """Holdings valued at one snapshot: kept for the curves, recomputed by `arena verify`.

    `stale` counts the lots whose price is old or missing; `age` is that of the oldest price, in seconds.
    """

    __table_args__ = (Index("ix_mark_at", "at"), STRICT)
    entrant_id: int = _key("entrant.id", primary=True)
    at: datetime = _time(primary_key=True)
    snapshot_id: int = _key("snapshot.id")
    cash: int = _whole()
    value: int = _whole()
    liquidation: int = _whole()
    cost: int = _whole()
    realised: int = _whole()
    stale: int = _whole()
    age: int = _whole()


class Sync(SQLModel, table=True):
    """One reading of a venue's whole catalogue, sealed by hash together with the one before.

    `markets` is how many of its markets had a price then; `seen` is the hash of those prices.
    """

    __table_args__ = (UniqueConstraint("venue", "number"), UniqueConstraint("venue", "at"), STRICT)
    id: int | None = _key(primary=True)
    venue: str = _text()
    stamp: str = _text()
    number: int = _whole()
    at: datetime = _time()
    markets: int = _whole()
    seen: str = _text()
    hash: str = _text()


class Sighting(SQLModel, table=True):
    """A market that a sync found a price of where the one before did not (`quoted` = 1), or no more (0).

    A market without a sighting at a sync is as it was: it still has its price, or still has none.
    """

    __table_args__ = (Index("ix_sighting_market_id", "market_id"), STRICT)
    sync_id: int = _key("sync.id", primary=True)
    market_id: str = Field(sa_type=Text, primary_key=True, sa_column_args=[ForeignKey("market.id")])
    quoted: int = _whole()


class SetAside(SQLModel, table=True):
    """What a venue sent in vain, one row per record and reason: how often, and as it last was."""

    __tablename__ = "set_aside"
    __table_args__ = (
        UniqueConstraint("venue", "record", "kind", "code"),
        Index("ix_set_aside_last_seen_at", "last_seen_at", "venue", "kind", "code"),
        STRICT,
    )
    id: int | None = _key(primary=True)
    venue: str = _text()
    record: str = _text()
    kind: str = _text()
    code: str = _text()
    reason: str = _text()
    raw: str = _text()
    first_seen_at: datetime = _time()
    last_seen_at: datetime = _time()
    times: int = _whole()


class Prune(SQLModel, table=True):
    """Quotes from before `older_than` that nothing refers to were let go: how many, and when."""

    __table_args__ = (UniqueConstraint("number"), STRICT)
    id: int | None = _key(primary=True)
    number: int = _whole()
    at: datetime = _time()
    older_than: datetime = _time()
    quotes: int = _whole()
    hash: str = _text()


def _table(model: type[SQLModel]) -> Table:
    return SQLModel.metadata.tables[str(model.__tablename__)]


PROMPT = _table(Prompt)
COHORT = _table(Cohort)
ENTRANT = _table(Entrant)
MARKET = _table(Market)
VERSION = _table(MarketVersion)
QUOTE = _table(Quote)
SNAPSHOT = _table(Snapshot)
ITEM = _table(SnapshotItem)
RESOLUTION = _table(Resolution)
ROUND = _table(Round)
ARTICLE = _table(Article)
GATHERING = _table(Gathering)
EVIDENCE = _table(Evidence)
CLAIM = _table(Claim)
LEASE = _table(Lease)
LANE = _table(Lane)
RESERVATION = _table(Reservation)
JOB = _table(Job)
INCIDENT = _table(Incident)
ROLLUP = _table(Rollup)
CALL = _table(Call)
TURN = _table(Turn)
FORECAST = _table(Forecast)
REJECTION = _table(Rejection)
FILL = _table(Fill)
LEVEL = _table(FillLevel)
ENTRY = _table(Entry)
MARK = _table(Mark)
SYNC = _table(Sync)
SIGHTING = _table(Sighting)
SET_ASIDE = _table(SetAside)
PRUNE = _table(Prune)
