"""`arena markets show`: all that the record knows of one market."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.markets_list import as_dict, asked, cents
from arena.cli.options import ConfigFile, Database, Json, options
from arena.cli.output import line_width, print_json, print_table, program
from arena.errors import ArenaError
from markets.millionths import ONE, decimal

if TYPE_CHECKING:
    from arena.record.queries.markets import KnownMarket
    from arena.record.schema.database import Connection
    from markets.model import Level, Quote, Resolution

WIDEST = 72


def show(
    context: typer.Context,
    market: Annotated[str, typer.Argument(metavar="ID", help="Its id, as arena markets list shows it.")],
    limit: Annotated[int, typer.Option(help="So many changes of the price at most.", min=1)] = 12,
    at: Annotated[
        str | None, typer.Option("--at", metavar="TIME", help="As it was known at this time, in UTC.")
    ] = None,
    config: ConfigFile = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Show one market: question, rules, price, book, how the price went, and how it ended.

    All of it is as the record has last seen it. The id may be given without the venue before the colon where
    only one market is called so.

    Example: arena markets show polymarket:501234

    Next: arena markets sync looks again.
    """
    from arena.record.queries.markets import read_price_changes
    from arena.record.schema.database import connect, reading

    engine = connect(options(context, config, database).record(), read_only=True)
    try:
        with reading(engine) as connection:
            when = asked(connection, at)
            seen = named(connection, market, when)
            quotes = read_price_changes(connection, seen.listing.market.id, when)
    finally:
        engine.dispose()
    if as_json:
        print_json(whole(seen, quotes, limit))
    else:
        say(seen, quotes, limit, when)


def named(connection: "Connection", name: str, at: datetime) -> "KnownMarket":
    """The market of that id, or the only one that ends so."""
    from arena.record.queries.markets import read_known_ids, read_markets

    known = read_known_ids(connection, at)
    found = [id for id in known if id == name] or [id for id in known if id.partition(":")[2] == name]
    if len(found) == 1:
        return read_markets(connection, at, found)[0]
    if found:
        message = f"{len(found)} markets are called {name!r}: {', '.join(found[:5])}"
        raise ArenaError("unclear_market", message, "give the id with its venue")
    near = [id for id in known if name.casefold() in id.casefold()][:5]
    hint = (
        f"did you mean {', '.join(near)}?"
        if near
        else "arena markets list --status all --search WORDS finds ids"
    )
    raise ArenaError("unknown_market", f"the record knows no market {name!r}", hint)


def whole(seen: "KnownMarket", quotes: "Sequence[Quote]", limit: int) -> dict[str, Any]:
    """All of it for JSON."""
    from arena.cli.positions import exact

    market, quote = seen.listing.market, seen.listing.quote
    prices = ("bid", "ask", "mid", "last", "volume")
    return as_dict(seen) | {
        "rules": market.rules,
        "opens_at": market.opens_at.isoformat(),
        "tick": exact(market.tick),
        "fee_rate": exact(market.fee_rate),
        "min_shares": exact(market.min_shares),
        "bids": _pairs(quote.bids if quote else ()),
        "asks": _pairs(quote.asks if quote else ()),
        "changes": len(quotes),
        "history": [
            {"at": past.at.isoformat()} | {name: exact(getattr(past, name)) for name in prices}
            for past in quotes[-limit:]
        ],
        "resolutions": [
            {
                "version": end.version,
                "known_at": end.known_at.isoformat(),
                "payout": exact(end.payout),
                "refund": end.payout is None,
                "source": end.source,
            }
            for end in seen.ends
        ],
    }


def _pairs(levels: "Sequence[Level]") -> list[dict[str, float | None]]:
    from arena.cli.positions import exact

    return [{"price": exact(level.price), "shares": exact(level.shares)} for level in levels]


def say(seen: "KnownMarket", quotes: "Sequence[Quote]", limit: int, at: datetime) -> None:
    """All of it for people. What a venue wrote is shown as it is, without colours or commands in it."""
    market = seen.listing.market
    print(f"{plain(market.question)}\n{market.id}, {plain(market.category)}, event {plain(market.event_id)}")
    print(f"open {market.opens_at:%Y-%m-%d %H:%M} to {market.closes_at:%Y-%m-%d %H:%M} UTC: {seen.status}")
    print(f"steps of {cents(market.tick)}¢, fee rate {decimal(market.fee_rate):.2%}\n")
    print("\n".join(plain(line) for line in market.rules.splitlines()).strip() + "\n")
    _say_price(seen, at)
    _say_history(quotes, limit, at)
    _say_ends(seen.ends)
    print(f"Next: {program()} markets sync")


def plain(text: str) -> str:
    """A text on one line, without what a terminal would take for a command."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _say_price(seen: "KnownMarket", at: datetime) -> None:
    from itertools import zip_longest

    from arena.cli.positions import aged

    quote = seen.listing.quote
    if quote is None:
        print("No price of it was ever seen.\n")
        return
    parts = {"mid": quote.mid, "bid": quote.bid, "ask": quote.ask, "last": quote.last}
    prices = ", ".join(f"{name} {cents(price)}¢" for name, price in parts.items() if price is not None)
    age = aged(max(0, int((at - quote.at).total_seconds())))
    print(f"{prices or 'no price'}; ${quote.volume // ONE:,} traded; seen {age} ago\n")
    if quote.bids or quote.asks:
        rows = [
            (*_level(bid)[::-1], *_level(ask)) for bid, ask in zip_longest(quote.bids[:10], quote.asks[:10])
        ]
        print_table(("shares", "bid ¢", "ask ¢", "shares"), rows, right=("shares", "bid ¢", "ask ¢"))


def _level(level: "Level | None") -> tuple[str, str]:
    return ("", "") if level is None else (cents(level.price), f"{decimal(level.shares):,.0f}")


def _say_history(quotes: "Sequence[Quote]", limit: int, at: datetime) -> None:
    from arena.cli.sparkline import price_points, sparkline

    if len(quotes) < 2:
        return
    mids = [quote.mid for quote in quotes if quote.mid is not None]
    line = sparkline(price_points(quotes, at, min(WIDEST, line_width() - 2)))
    if mids:
        first = quotes[0].at
        print(f"{line}\n{first:%Y-%m-%d %H:%M} until now, {cents(min(mids))} to {cents(max(mids))}¢\n")
    rows = [
        (
            f"{past.at:%Y-%m-%d %H:%M:%S}",
            *(cents(price) for price in (past.mid, past.bid, past.ask, past.last)),
        )
        for past in reversed(quotes[-limit:])
    ]
    print_table(("price since (UTC)", "mid ¢", "bid ¢", "ask ¢", "last ¢"), rows,
                right=("mid ¢", "bid ¢", "ask ¢", "last ¢"))  # fmt: skip
    if len(quotes) > limit:
        print(f"The last {limit:,} of {len(quotes):,} changes; --limit shows more.\n")


def _say_ends(ends: "Sequence[Resolution]") -> None:
    if not ends:
        print("Nobody has said how it ended.")
        return
    rows = [(end.version, f"{end.known_at:%Y-%m-%d %H:%M}", _paid(end), plain(end.source)) for end in ends]
    print_table(("version", "known from (UTC)", "a YES share", "source"), rows)


def _paid(end: "Resolution") -> str:
    """What a YES share paid, in words."""
    return "was refunded" if end.payout is None else f"paid ${decimal(end.payout).normalize():f}"
