"""What was seen of venues: markets, their pages, prices and ends, syncs, articles, and the quarantine."""

from datetime import datetime

from sqlalchemy import CheckConstraint, Index, UniqueConstraint, text

from arena.record.schema.fields import (
    COUNT,
    DOLLARS,
    FLAG,
    JSON,
    MARKET_ID,
    PRICE,
    SHARE,
    SHARES,
    STRICT,
    TableRow,
    hash_field,
    id_field,
    market_field,
    parent_field,
    text_field,
    time_field,
    whole_field,
)

UNASKED = "unknown, or not asked for"


class MarketRow(TableRow, table=True):
    """Every market that was ever seen."""

    id: str = text_field(MARKET_ID, primary_key=True)
    first_seen_at: datetime = time_field("when a snapshot or a sync first saw it")


class MarketVersionRow(TableRow, table=True):
    """What a market's page said: a row each time it said something else."""

    __table_args__ = (UniqueConstraint("market_id", "version"), STRICT)

    id: int = id_field()
    market_id: str = market_field()
    version: int = whole_field("counts the pages of a market, from 1")
    at: datetime = time_field("when it was first seen so")
    event_id: str = text_field("its event: markets of one event move together", index=True)
    question: str = text_field("what is asked")
    rules: str = text_field("what decides it, in the venue's words")
    category: str = text_field("the venue's category")
    opens_at: datetime = time_field("since when it can be traded")
    closes_at: datetime = time_field("until when it can be traded")
    tick: int = whole_field("the step between prices", PRICE)
    fee_rate: int = whole_field("the fee: rate · shares · p · (1 − p)", SHARE)
    min_shares: int = whole_field("the fewest shares traded", SHARES)
    story: str = text_field("the event's story; without one the event itself", hashed=False, added=("",))
    slug: str = text_field("its name in the venue's addresses", hashed=False, added=("",))
    event_slug: str = text_field("its event's name there", hashed=False, added=("",))
    tags: str = text_field("the venue's tags, with commas between", hashed=False, added=("",))
    form: str = text_field(
        "the kind of question, its options or its range, as JSON; nothing for yes or no",
        hashed=False,
        added=("",),
    )
    hash: str = hash_field("the market and its page")


class QuoteRow(TableRow, table=True):
    """Prices of a YES share: a row each time a price or book changed, in the order of coming."""

    __table_args__ = (
        UniqueConstraint("market_id", "at", "hash"),
        Index(
            "ix_quote_volume_unknown",
            "id",
            sqlite_where=text("volume IS NULL"),
            postgresql_where=text("volume IS NULL"),
        ),
        STRICT,
    )

    id: int = id_field()
    market_id: str = market_field()
    at: datetime = time_field("when it was first seen so")
    bid: int | None = whole_field("the best bid", PRICE, empty="none")
    ask: int | None = whole_field("the best ask", PRICE, empty="none")
    mid: int | None = whole_field("the price that forecasts are compared with", PRICE, empty="none")
    last: int | None = whole_field("that of the last trade", PRICE, empty="unknown")
    volume: int | None = whole_field("traded until then, by the venue's count", DOLLARS, empty="unknown")
    book: str = text_field("bids and asks, the best first: pairs of price and shares in millionths", JSON)
    volume_24h: int | None = whole_field(
        "traded in 24 hours", DOLLARS, empty=UNASKED, hashed=False, added=(None,)
    )
    liquidity: int | None = whole_field(
        "what its book or pool holds", DOLLARS, empty=UNASKED, hashed=False, added=(None,)
    )
    open_interest: int | None = whole_field(
        "what all held shares pay", DOLLARS, empty=UNASKED, hashed=False, added=(None,)
    )
    hash: str = hash_field("the market, its prices and its book")


class ResolutionRow(TableRow, table=True):
    """How markets ended. A correction is a new version; the newest counts."""

    __table_args__ = (
        UniqueConstraint("market_id", "version"),
        CheckConstraint("version >= 1 AND payout BETWEEN 0 AND 1000000", name="possible"),
        STRICT,
    )

    id: int = id_field()
    market_id: str = market_field()
    version: int = whole_field("counts the ends of a market, from 1")
    known_at: datetime = time_field("since when it could be known")
    learnt_at: datetime = time_field("when the arena was told")
    payout: int | None = whole_field(
        "what a YES share paid; NO paid the rest of a dollar",
        PRICE,
        empty="a refund of what shares cost",
    )
    source: str = text_field("who said so: the venue, or `by hand` and the reason")
    answer: str = text_field(
        "what a question came to that isn't of yes or no: an option, a number or a date", added=("",)
    )
    hash: str = hash_field("all other columns")


class SyncRow(TableRow, table=True):
    """Readings of a venue's whole catalogue.

    Each is sealed by hash together with the one before.
    """

    __table_args__ = (UniqueConstraint("venue", "number"), UniqueConstraint("venue", "at"), STRICT)

    id: int = id_field()
    venue: str = text_field("its name in the config")
    stamp: str = text_field("where its markets come from: live, simulated or replay")
    number: int = whole_field("counts the syncs of a venue, from 1")
    at: datetime = time_field("when it was read")
    markets: int = whole_field("markets with a price then", COUNT)
    seen: str = text_field("the SHA-256 of those prices")
    left_out: str = text_field(
        "open markets that are no question, by reason", JSON, hashed=False, added=("{}",)
    )
    rejected: int = whole_field("records quarantined", COUNT, hashed=False, added=(0,))
    hash: str = hash_field("the sync, its sightings, and the sync before")


class SightingRow(TableRow, table=True):
    """Markets that had a price at a sync but not at the one before, or no more.

    A market without a sighting at a sync is as it was: it still has its price, or still has none.
    """

    __table_args__ = (Index("ix_sighting_market_id", "market_id"), STRICT)

    sync_id: int = parent_field("sync.id", primary_key=True)
    market_id: str = market_field(primary_key=True)
    quoted: int = whole_field("whether it has a price now", FLAG)


class ArticleRow(TableRow, table=True):
    """Articles that some round showed to its agents, each once."""

    hash: str = text_field("the SHA-256 of what it says", primary_key=True)
    source: str = text_field("who published it")
    url: str = text_field("its address, or nothing")
    title: str = text_field("its title")
    text: str = text_field("its text, as much as was kept")
    published_at: datetime = time_field("the latest time that its date can mean")
    dated: str = text_field("its date as it was given")


class QuarantineRow(TableRow, table=True):
    """Records of venues and article sources that could not be used: a row for each record and reason.

    Only how often it came, when last, and how it looked then change.
    """

    __tablename__ = "set_aside"
    __table_args__ = (
        UniqueConstraint("venue", "record", "kind", "code"),
        Index("ix_set_aside_last_seen_at", "last_seen_at", "venue", "kind", "code"),
        STRICT,
    )

    id: int = id_field()
    venue: str = text_field("who sent it")
    record: str = text_field("its id there, or its page")
    kind: str = text_field("market, quote, resolution, page or article")
    code: str = text_field("why not, for programs")
    reason: str = text_field("why not, in words")
    raw: str = text_field("what was sent, cut short")
    first_seen_at: datetime = time_field("since when it comes")
    last_seen_at: datetime = time_field("when it came last")
    times: int = whole_field("how often it came", COUNT)


class PruneRow(TableRow, table=True):
    """Deletions of old quotes that nothing refers to."""

    id: int = id_field()
    number: int = whole_field("counts them, from 1", unique=True)
    at: datetime = time_field("when it was done")
    older_than: datetime = time_field("quotes last seen before this were deleted")
    quotes: int = whole_field("how many went", COUNT)
    hash: str = hash_field("all other columns")


class BenchmarkFileRow(TableRow, table=True):
    """Question sets and resolution sets of a benchmark, byte for byte; corrections are new versions."""

    __table_args__ = (UniqueConstraint("kind", "name", "version"), STRICT)

    id: int = id_field()
    kind: str = text_field("questions or resolutions")
    name: str = text_field("the question set, as its files call it")
    version: int = whole_field("counts those of a kind and set, from 1")
    due: str = text_field("the day forecasts are due")
    at: datetime = time_field("when it was kept")
    sha256: str = text_field("the SHA-256 of the file's bytes")
    text: str = text_field("the file, in UTF-8")
    hash: str = hash_field("all other columns")
