"""`arena markets list`: the markets of the record."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.options import ConfigFile, Database, Json, options
from arena.cli.output import line_width, print_json, print_table, program
from markets.millionths import ONE

if TYPE_CHECKING:
    from arena.record.queries.markets import KnownMarket
    from arena.record.schema.database import Connection

FEWEST = 20
"""The characters that a question has at least."""


class MarketState(StrEnum):
    """How it stands with a market."""

    OPEN = "open"
    WAITING = "waiting"
    ENDED = "ended"
    ALL = "all"


def list_markets(
    context: typer.Context,
    search: Annotated[str, typer.Option(help="Only those with these words.", metavar="WORDS")] = "",
    category: Annotated[str, typer.Option(help="Only those of this category.", metavar="NAME")] = "",
    status: Annotated[
        MarketState, typer.Option(help="Open, closed and waiting for its end, or ended.")
    ] = MarketState.OPEN,
    limit: Annotated[int, typer.Option(help="So many at most.", min=1)] = 40,
    at: Annotated[
        str | None, typer.Option("--at", metavar="TIME", help="As it was known at this time, in UTC.")
    ] = None,
    config: ConfigFile = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """List the markets that the record has seen, with the price that was seen last; most traded first.

    Words are looked for in question, rules and id, whatever their capitals. A market is waiting when it has
    closed, or its venue shows no price of it any more, and nobody has said how it ended.

    Example: arena markets list --search "interest rate" --limit 10

    Next: arena markets show ID
    """
    from arena.record.queries.markets import filter_markets, read_markets
    from arena.record.schema.database import connect, reading

    engine = connect(options(context, config, database).record(), read_only=True)
    try:
        with reading(engine) as connection:
            when = asked(connection, at)
            known = read_markets(connection, when)
    finally:
        engine.dispose()
    found = filter_markets(known, search, category, status.value)
    if as_json:
        some = [as_dict(seen) for seen in found[:limit]]
        print_json({"at": when.isoformat(), "known": len(known), "found": len(found), "markets": some})
    else:
        say(found, limit, len(known), when)


def asked(connection: "Connection", at: str | None) -> datetime:
    """The instant that was asked for, or the newest."""
    from arena.cli.options import instant
    from arena.clock import now
    from arena.record.queries.markets import read_newest_instant

    return read_newest_instant(connection, now()) if at is None else instant(at)


def as_dict(seen: "KnownMarket") -> dict[str, Any]:
    """A market for JSON: dollars and prices as numbers, times in UTC."""
    from arena.cli.positions import exact

    market, quote = seen.listing.market, seen.listing.quote
    prices = ("bid", "ask", "mid", "last", "volume")
    return {
        "id": market.id,
        "event": market.event_id,
        "question": market.question,
        "category": market.category,
        "status": seen.status,
        "closes_at": market.closes_at.isoformat(),
        **{name: None if quote is None else exact(getattr(quote, name)) for name in prices},
        "seen_at": None if quote is None else quote.at.isoformat(),
    }


def say(found: "Sequence[KnownMarket]", limit: int, known: int, at: datetime) -> None:
    """The markets as a table that fits the terminal."""
    from arena.cli.positions import room, shortened

    if not found:
        print(
            f"None of the {known:,} markets in the record is so." if known else "The record knows no market."
        )
        print(f"Next: {program()} markets " + ("list --status all" if known else "sync"))
        return
    cells = cells_of(found[:limit], at)
    width = max(FEWEST, room(cells, line_width()))
    cells["question"] = [shortened(text, width) for text in cells["question"]]
    print_table(list(cells), list(zip(*cells.values(), strict=True)), right=("price", "spread", "volume $"))
    more = f" of {len(found):,}" if len(found) > limit else ""
    print(f"{min(limit, len(found)):,}{more}; prices in cents. Next: {program()} markets show ID")


def cells_of(found: "Sequence[KnownMarket]", at: datetime) -> dict[str, list[str]]:
    """The columns of the table."""
    from arena.cli.positions import aged, shortened

    quotes = [seen.listing.quote for seen in found]
    return {
        "market": [shortened(seen.listing.market.id, 40) for seen in found],
        "question": [seen.listing.market.question for seen in found],
        "category": [shortened(seen.listing.market.category, 16) for seen in found],
        "price": [cents(quote.mid) if quote else "" for quote in quotes],
        "spread": [_spread(quote.bid, quote.ask) if quote else "" for quote in quotes],
        "volume $": [f"{quote.volume // ONE:,}" if quote else "" for quote in quotes],
        "seen": [aged(int((at - quote.at).total_seconds())) if quote else "" for quote in quotes],
        "closes": [f"{seen.listing.market.closes_at:%Y-%m-%d}" for seen in found],
        "status": [seen.status for seen in found],
    }


def cents(price: int | None) -> str:
    """A price in cents, as far as it has decimals.

    >>> cents(405_000), cents(1_000), cents(None)
    ('40.5', '0.1', '')
    """
    return "" if price is None else f"{price / 10_000:.2f}".rstrip("0").rstrip(".")


def _spread(bid: int | None, ask: int | None) -> str:
    return "" if bid is None or ask is None else cents(ask - bid)
