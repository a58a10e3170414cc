"""What was seen of venues: markets and their pages, prices, ends, syncs, and what made no sense."""

from sqlalchemy import select

from arena.exports.table import (
    COUNT,
    DOLLARS,
    FLAG,
    ITS_SYNC,
    JSON,
    PRICE,
    SHARE,
    SHARES,
    fact_table,
    field,
    in_cohorts,
    in_snapshots,
    of_round,
)
from arena.record.schema.tables import (
    ARTICLE,
    EVIDENCE,
    GATHERING,
    ITEM,
    MARKET,
    PRUNE,
    QUOTE,
    RESOLUTION,
    SET_ASIDE,
    SIGHTING,
    SYNC,
    VERSION,
)

MARKET_ID = "the market: venue, a colon, and its id at the venue"
HASH = "the SHA-256 that seals the row: {}"

MARKETS = fact_table(
    "markets",
    "Every market that was ever seen.",
    MARKET,
    (
        field(MARKET.c.id, MARKET_ID, name="market_id"),
        field(MARKET.c.first_seen_at, "when a snapshot or a sync first saw it"),
    ),
    ["market_id"],
    order=(MARKET.c.id,),
    some=in_snapshots(MARKET.c.id, ITEM.c.market_id),
)
PAGES = fact_table(
    "market_pages",
    "What a market's page said: a row each time it said something else.",
    VERSION,
    (
        field(VERSION.c.market_id, MARKET_ID),
        field(VERSION.c.version, "counts the pages of a market, from 1", name="page"),
        field(VERSION.c.at, "when it was first seen so"),
        field(VERSION.c.event_id, "the event that the market is about: markets of one event move together"),
        field(VERSION.c.question, "what is asked"),
        field(VERSION.c.rules, "what decides it, in the venue's words"),
        field(VERSION.c.category, "the venue's category"),
        field(VERSION.c.opens_at, "from when it can be traded"),
        field(VERSION.c.closes_at, "until when it can be traded"),
        field(VERSION.c.tick, "the step between two prices", PRICE),
        field(VERSION.c.fee_rate, "the venue's fee: rate · shares · p · (1 − p)", SHARE),
        field(VERSION.c.min_shares, "the fewest shares that are dealt in", SHARES),
        field(VERSION.c.hash, HASH.format("the market and all that its page said")),
    ),
    ["market_id", "page"],
    order=(VERSION.c.market_id, VERSION.c.version),
    some=in_snapshots(VERSION.c.market_id, ITEM.c.market_id),
)
QUOTES = fact_table(
    "quotes",
    "Prices of a YES share: a row each time a market's price or book changed, in the order of coming.",
    QUOTE,
    (
        field(QUOTE.c.market_id, MARKET_ID),
        field(QUOTE.c.at, "when it was first seen so"),
        field(QUOTE.c.bid, "the best price that somebody bids", PRICE, "nobody bids"),
        field(QUOTE.c.ask, "the best price that somebody asks", PRICE, "nobody offers a share"),
        field(QUOTE.c.mid, "the price that a forecast is compared with", PRICE, "the venue gave none"),
        field(QUOTE.c.last, "the price of the last trade", PRICE, "none is known"),
        field(QUOTE.c.volume, "what was traded, as the venue counts it", DOLLARS),
        field(QUOTE.c.book, "bids and asks as pairs of price and shares in millionths, the best first", JSON),
        field(QUOTE.c.hash, HASH.format("the market, its prices and its book, but not the time")),
    ),
    ["market_id", "at", "hash"],
    order=(QUOTE.c.market_id, QUOTE.c.at, QUOTE.c.id),
    some=in_snapshots(QUOTE.c.id, ITEM.c.quote_id),
    bulk=500,
)
RESOLUTIONS = fact_table(
    "resolutions",
    "How markets ended. A venue that changes its mind makes a new version; the newest counts.",
    RESOLUTION,
    (
        field(RESOLUTION.c.market_id, MARKET_ID),
        field(RESOLUTION.c.version, "counts the ends of a market, from 1"),
        field(RESOLUTION.c.known_at, "since when it could be known"),
        field(RESOLUTION.c.learnt_at, "the time at which the arena was told"),
        field(
            RESOLUTION.c.payout,
            "what a YES share paid; a NO share paid the rest of a dollar",
            PRICE,
            "a refund: every share pays back what it cost",
        ),
        field(RESOLUTION.c.source, "who said so"),
        field(RESOLUTION.c.hash, HASH.format("all other columns")),
    ),
    ["market_id", "version"],
    order=(RESOLUTION.c.market_id, RESOLUTION.c.version),
    some=in_snapshots(RESOLUTION.c.market_id, ITEM.c.market_id),
)
SHOWN = select(EVIDENCE.c.article).select_from(
    of_round(GATHERING).join(EVIDENCE, EVIDENCE.c.gathering_id == GATHERING.c.id)
)
ARTICLES = fact_table(
    "articles",
    "Articles that some round showed to its agents, each once.",
    ARTICLE,
    (
        field(ARTICLE.c.hash, "the SHA-256 of what it says, by which it is named", name="article"),
        field(ARTICLE.c.source, "who published it"),
        field(ARTICLE.c.url, "its address, or nothing"),
        field(ARTICLE.c.title, "its title"),
        field(ARTICLE.c.text, "its text, as much as was kept"),
        field(ARTICLE.c.published_at, "the latest time that its date can mean"),
        field(ARTICLE.c.dated, "its date as it was given"),
    ),
    ["article"],
    order=(ARTICLE.c.hash,),
    some=lambda numbers: ARTICLE.c.hash.in_(SHOWN.where(in_cohorts(numbers))),
    bulk=200,
)
SYNCS = fact_table(
    "syncs",
    "Readings of a venue's whole catalogue.",
    SYNC,
    (
        field(SYNC.c.venue, "the venue by its name in the config"),
        field(SYNC.c.number, "counts the syncs of a venue, from 1", name="sync"),
        field(SYNC.c.stamp, "where its markets come from: live, simulated or replay"),
        field(SYNC.c.at, "when it was read"),
        field(SYNC.c.markets, "how many of its markets had a price then", COUNT),
        field(SYNC.c.seen, "the SHA-256 of those prices"),
        field(SYNC.c.hash, HASH.format("the sync, its sightings, and the sync before")),
    ),
    ["venue", "sync"],
    order=(SYNC.c.venue, SYNC.c.number),
)
SIGHTINGS = fact_table(
    "sightings",
    "Markets that a sync found a price of where the one before did not, or found none of any more.",
    SIGHTING,
    (
        field(SYNC.c.venue, "the venue by its name in the config"),
        field(SYNC.c.number, "the number of the sync", name="sync"),
        field(SIGHTING.c.market_id, MARKET_ID),
        field(SIGHTING.c.quoted, "whether it has a price now", FLAG),
    ),
    ["venue", "sync", "market_id"],
    path=SIGHTING.join(SYNC, SIGHTING.c.sync_id == SYNC.c.id),
    order=(SYNC.c.venue, SYNC.c.number, SIGHTING.c.market_id),
    parents=(ITS_SYNC,),
)
REJECTED = fact_table(
    "set_asides",
    "What venues and sources of articles sent in vain: one row for each record and reason.",
    SET_ASIDE,
    (
        field(SET_ASIDE.c.venue, "who sent it"),
        field(SET_ASIDE.c.record, "the record's own id there, or the page where it has none"),
        field(SET_ASIDE.c.kind, "what it was to be: market, quote, resolution, page or article"),
        field(SET_ASIDE.c.code, "why not, for programs"),
        field(SET_ASIDE.c.reason, "why not, in words"),
        field(SET_ASIDE.c.raw, "what was sent, cut short"),
        field(SET_ASIDE.c.first_seen_at, "since when it comes"),
        field(SET_ASIDE.c.last_seen_at, "when it came last"),
        field(SET_ASIDE.c.times, "how often it came", COUNT),
    ),
    ["venue", "record", "kind", "code"],
    order=(SET_ASIDE.c.id,),
)
PRUNES = fact_table(
    "prunes",
    "How often old quotes were let go on which nothing stood, and how many.",
    PRUNE,
    (
        field(PRUNE.c.number, "counts them, from 1", name="prune"),
        field(PRUNE.c.at, "when it was done"),
        field(PRUNE.c.older_than, "before when a quote had to be seen to go"),
        field(PRUNE.c.quotes, "how many went", COUNT),
        field(PRUNE.c.hash, HASH.format("all other columns")),
    ),
    ["prune"],
    order=(PRUNE.c.number,),
)
