"""`arena markets`: what a venue offers, as the record has seen it, and what was rejected of it."""

from collections.abc import Sequence
from datetime import datetime
from itertools import zip_longest
from typing import Any, Literal

from arena.cli.options import Options, argument, command, instant, option
from arena.cli.output import attributes, cents, cents_of, duration, exact, minute, one_line, plain, typed
from arena.cli.page import json_rows, print_table
from arena.cli.page import line_width
from arena.cli.table import TableChoice, TableColumn, exact_at
from arena.clock import now
from arena.errors import ArenaError
from arena.record.queries.cohorts import read_cohorts
from arena.record.queries.markets import (
    BEGINNING,
    KnownMarket,
    filter_markets,
    read_known_ids,
    read_markets,
    read_newest_instant,
    read_price_changes,
)
from arena.record.schema.database import Connection
from arena.record.write.quarantine import StoredQuarantine, read_quarantine
from markets.millionths import ONE, decimal
from markets.model import Level, Market, Quote
from markets.venue import venue_page

LIST_ALL = "arena show markets --status all"
WIDEST = 72
"""The characters of a line of bars."""
BARS = "▁▂▃▄▅▆▇█"


AT = option("As known at this time, in UTC.", "TIME")


def _address(market: Market) -> str | None:
    page = venue_page(market.id, market.event_id, market.slug, market.event_slug)
    return page and page[1]


MARKET = (
    TableColumn("id", "market", value="listing.market.id", narrow="cut middle"),
    TableColumn("question", show=one_line, value="listing.market.question", narrow="cut"),
    TableColumn("event", gives_way=9, value="listing.market.event_id", narrow="cut middle"),
    TableColumn("category", show=one_line, gives_way=3, value="listing.market.category", narrow="cut"),
    TableColumn("mid", "price ¢", cents_of, 0, exact_at("listing.quote.mid")),
    TableColumn("bid", "bid ¢", cents_of, 7, exact_at("listing.quote.bid")),
    TableColumn("ask", "ask ¢", cents_of, 7, exact_at("listing.quote.ask")),
    TableColumn("last", "last ¢", cents_of, 8, exact_at("listing.quote.last")),
    TableColumn("volume", "volume $", ",.0f", 2, exact_at("listing.quote.volume")),
    TableColumn("seen_at", "seen (UTC)", minute, 6, "listing.quote.at"),
    TableColumn("closes_at", "closes", "%Y-%m-%d", 1, "listing.market.closes_at"),
    TableColumn("status", gives_way=4),
    TableColumn("venue_url", "link", gives_way=10, value=lambda seen: _address(seen.listing.market)),
)
PRICES = (
    TableColumn("at", "price since (UTC)", "%Y-%m-%d %H:%M:%S"),
    TableColumn("mid", "mid ¢", cents_of, value=exact_at("mid")),
    TableColumn("bid", "bid ¢", cents_of, value=exact_at("bid")),
    TableColumn("ask", "ask ¢", cents_of, value=exact_at("ask")),
    TableColumn("last", "last ¢", cents_of, value=exact_at("last")),
    TableColumn("volume", value=exact_at("volume")),
)
LEVELS = (TableColumn("price", value=exact_at("price")), TableColumn("shares", value=exact_at("shares")))
ENDS = (
    TableColumn("version"),
    TableColumn("known_at", "known from (UTC)", minute),
    TableColumn("source", show=plain),
    TableColumn("refund", value=lambda end: end.payout is None),
    TableColumn("payout", value=exact_at("payout")),
)
PAID = TableColumn(
    "paid",
    "a YES share",
    value=lambda end: "was refunded" if end.payout is None else f"paid ${exact(end.payout):g}",
)
REJECTED = (
    TableColumn("last_seen_at", "last (UTC)", minute, 3),
    TableColumn("times", show=",d", gives_way=2),
    TableColumn("venue", gives_way=4),
    TableColumn("kind", gives_way=1),
    TableColumn("record", show=one_line, narrow="cut middle"),
    TableColumn("code", gives_way=5),
    TableColumn("reason", show=one_line, narrow="wrap"),
)


@command(table=True)
def list_markets(
    chosen: Options,
    search: str = option("Only with these words in question, rules or id.", "WORDS", default=""),
    category: str = option("Only this category.", "NAME", default=""),
    status: Literal["open", "waiting", "ended", "all"] = option("Open, unresolved or ended.", default="open"),
    limit: int = option("Show at most so many.", default=40, min=1),
    at: str | None = AT,
) -> None:
    """List the markets that the record has seen, with their latest price; most traded first.

    A market is waiting when it has closed, or is no longer quoted, and no resolution is known.

    Example: arena show markets --search "interest rate" --limit 10

    Next: arena show market ID
    """
    with chosen.reading() as connection:
        when = asked(connection, at)
        known = read_markets(connection, when)
    found = filter_markets(known, search, category, status)
    rows = json_rows(MARKET, found[:limit])
    data = {"at": when, "known": len(known), "found": len(found), "markets": rows}
    chosen.answer(data, _say, found, limit, len(known), chosen.table)


def asked(connection: Connection, at: str | None) -> datetime:
    """The instant that was asked for, or the newest: in a made-up world its own."""
    if at is not None:
        return instant(at)
    made_up = any(stored.cohort.stamp != "live" for stored in read_cohorts(connection))
    return read_newest_instant(connection, BEGINNING if made_up else now())


def _say(found: Sequence[KnownMarket], limit: int, known: int, choice: TableChoice) -> None:
    if not found:
        print(f"None of the {known:,} markets in the record matches." if known else "No market is known.")
        print("Next:", typed("markets " + ("list --status all" if known else "sync")))
        return
    print_table(MARKET, found[:limit], choice=choice)
    more = f" of {len(found):,}" if len(found) > limit else ""
    print(f"{min(limit, len(found)):,}{more} markets. Next: {typed('show market ID')}")


@command()
def show(
    chosen: Options,
    market: str = argument("ID", "Its id, as arena show markets shows it."),
    limit: int = option("At most so many price changes.", default=12, min=1),
    at: str | None = AT,
) -> None:
    """Show one market: question, rules, price, book, price history, and how it ended.

    Everything is as last seen. An id's venue may be omitted where it is clear.

    Example: arena show market polymarket:501234

    Next: arena run --sync reads the venue again.
    """
    with chosen.reading() as connection:
        when = asked(connection, at)
        seen = named(connection, market, when)
        quotes = read_price_changes(connection, seen.listing.market.id, when)
    chosen.answer(_market_data(seen, quotes, limit), say_market, seen, quotes, limit, when)


def named(connection: Connection, name: str, at: datetime) -> KnownMarket:
    """The market of that id, or the only one that ends so."""
    known = read_known_ids(connection, at)
    found = [market_id for market_id in known if market_id == name] or [
        market_id for market_id in known if market_id.partition(":")[2] == name
    ]
    if len(found) == 1:
        return read_markets(connection, at, found)[0]
    if found:
        message = f"{len(found)} markets are called {name!r}: {', '.join(found[:5])}"
        raise ArenaError("unclear_market", message, "give the id with its venue")
    near = [market_id for market_id in known if name.casefold() in market_id.casefold()][:5]
    hint = f"did you mean {', '.join(near)}?" if near else f"{LIST_ALL} --search WORDS finds ids"
    raise ArenaError("unknown_market", f"the record has no market {name!r}", hint)


def _market_data(seen: KnownMarket, quotes: Sequence[Quote], limit: int) -> dict[str, Any]:
    market, quote = seen.listing.market, seen.listing.quote
    return json_rows(MARKET, [seen])[0] | {
        **attributes(market, "rules", "opens_at"),
        **{name: exact(getattr(market, name)) for name in ("tick", "fee_rate", "min_shares")},
        "bids": json_rows(LEVELS, quote.bids if quote else ()),
        "asks": json_rows(LEVELS, quote.asks if quote else ()),
        "changes": len(quotes),
        "history": json_rows(PRICES, quotes[-limit:]),
        "resolutions": json_rows(ENDS, seen.ends),
    }


def say_market(seen: KnownMarket, quotes: Sequence[Quote], limit: int, at: datetime) -> None:
    """All of it for people. What a venue wrote is shown as it is, without colours or commands in it."""
    market = seen.listing.market
    print(f"{plain(market.question)}\n{market.id}, {plain(market.category)}, event {plain(market.event_id)}")
    print(f"open {market.opens_at:%Y-%m-%d %H:%M} to {market.closes_at:%Y-%m-%d %H:%M} UTC: {seen.status}")
    if page := venue_page(market.id, market.event_id, market.slug, market.event_slug):
        print(f"at {page[0]}: {page[1]}")
    print(f"steps of {cents(market.tick)}¢, fee rate {decimal(market.fee_rate):.2%}\n")
    print("\n".join(plain(line) for line in market.rules.splitlines()).strip() + "\n")
    _say_price(seen, at)
    _say_history(quotes, limit, at)
    if seen.ends:
        print_table((*ENDS[:2], PAID, ENDS[2]), seen.ends)
    else:
        print("No resolution is known.")
    print(f"Next: {typed('run --sync')}")


def _say_price(seen: KnownMarket, at: datetime) -> None:
    quote = seen.listing.quote
    if quote is None:
        print("No quotes yet.\n")
        return
    parts = {"mid": quote.mid, "bid": quote.bid, "ask": quote.ask, "last": quote.last}
    prices = ", ".join(f"{name} {cents(price)}¢" for name, price in parts.items() if price is not None)
    age = duration(max(0, int((at - quote.at).total_seconds())))
    traded = "unknown volume" if quote.volume is None else f"${quote.volume // ONE:,} traded"
    print(f"{prices or 'no price'}; {traded}; seen {age} ago\n")
    if quote.bids or quote.asks:
        rows = [
            (*_level(bid)[::-1], *_level(ask)) for bid, ask in zip_longest(quote.bids[:10], quote.asks[:10])
        ]
        print_table(("shares", "bid ¢", "ask ¢", "shares"), rows)


def _level(level: Level | None) -> tuple[str, str]:
    return ("", "") if level is None else (cents(level.price), f"{exact(level.shares):,.0f}")


def _say_history(quotes: Sequence[Quote], limit: int, at: datetime) -> None:
    if len(quotes) < 2:
        return
    mids = [quote.mid for quote in quotes if quote.mid is not None]
    line = sparkline(price_points(quotes, at, min(WIDEST, line_width() or WIDEST)))
    if mids:
        since = f"{minute(quotes[0].at)} until now"
        print(f"{line}\n{since}, from {cents(min(mids))} to {cents(max(mids))}¢\n")
    print_table(PRICES[:-1], quotes[: -limit - 1 : -1])
    if len(quotes) > limit:
        print(f"The last {limit:,} of {len(quotes):,} changes; --limit shows more.\n")


def price_points(quotes: Sequence[Quote], until: datetime, count: int) -> list[int | None]:
    """The mid at so many instants, evenly from the first price on: each the newest that was known then."""
    if not quotes:
        return []
    start, found, place = quotes[0].at, list[int | None](), 0
    for step in range(count):
        at = start + (until - start) * step / max(1, count - 1)
        while place + 1 < len(quotes) and quotes[place + 1].at <= at:
            place += 1
        found.append(quotes[place].mid)
    return found


def sparkline(mids: Sequence[int | None]) -> str:
    """Prices as a line of bars, from the lowest to the highest of them; a gap where there is none.

    >>> sparkline([100_000, 200_000, None, 450_000]), sparkline([500_000] * 3)
    ('▁▃ █', '▄▄▄')
    """
    known = [mid for mid in mids if mid is not None]
    low, high = min(known, default=0), max(known, default=ONE)
    if low == high:
        return "".join(" " if mid is None else BARS[3] for mid in mids)
    steps = len(BARS) - 1
    return "".join(" " if mid is None else BARS[(mid - low) * steps // (high - low)] for mid in mids)


@command(table=True)
def rejected(
    chosen: Options,
    venue: str | None = option("Only this venue.", "NAME"),
    kind: Literal["market", "quote", "resolution", "page", "article"] | None = option(
        "Only records of this kind."
    ),
    limit: int = option("Show at most so many.", default=40, min=1),
) -> None:
    """List venue records that could not be used, with the reason and how often; newest first.

    Some are only pending, such as a market whose outcome is disputed. --json shows each record as sent,
    truncated.

    Example: arena show markets --rejected --kind resolution

    Next: arena run --sync tries them again.
    """
    with chosen.reading() as connection:
        found = read_quarantine(connection, venue, kind, limit)
    chosen.answer({"rejected": found}, _say_rejected, found, limit, chosen.table)


def _say_rejected(found: Sequence[StoredQuarantine], limit: int, choice: TableChoice) -> None:
    if not found:
        print(f"Nothing was rejected. Next: {typed('show markets')}")
        return
    print_table(REJECTED, found, choice=choice)
    if len(found) == limit:
        print(f"The newest {limit:,}; --limit shows more, --json what was sent.")
