"""`arena show market`: the markets that the record has seen, and the rejected records."""

from bisect import bisect
from collections.abc import Sequence
from datetime import datetime
from itertools import zip_longest
from typing import Any

from arena.cli.options import Options, parse_instant
from arena.cli.output import (
    Data,
    attributes,
    cents_of,
    cents_text,
    command_line,
    from_millionths,
    minute_text,
    one_line,
    plain,
    plain_lines,
    rough_duration,
)
from arena.cli.page import Page, line_width
from arena.cli.question_answers import (
    answers_data,
    form_data,
    form_words,
    market_answers_blocks,
    newest_of_agents,
    odds_words,
)
from arena.cli.table import Table, TableChoice, TableColumn, counted, from_millionths_at
from arena.clock import now
from arena.record.queries.answers import read_recorded_answers
from arena.record.queries.markets import (
    KnownMarket,
    filter_markets,
    find_market,
    read_markets,
    read_price_changes,
    read_wanted_instant,
)
from arena.record.write.quarantine import StoredQuarantine, read_quarantine
from markets.distributions import form_of
from markets.millionths import ONE, decimal
from markets.model import Level, Market, Quote, Resolution
from markets.venue import venue_page

WIDEST = 72
"""The characters of a line of bars."""
BARS = "▁▂▃▄▅▆▇█"
QUOTED = ("mid", "bid", "ask", "last")
"""The prices of a quote."""


def market_page_at_venue(market: Market) -> tuple[str, str] | None:
    """Return the name and address of a market's page at its venue, if it has one."""
    return venue_page(market.id, market.event_id, market.slug, market.event_slug)


def _venue_url(seen: KnownMarket) -> str | None:
    """Return the address of a market's page at its venue, if it has one."""
    page = market_page_at_venue(seen.listing.market)
    return page and page[1]


def _price_column(
    name: str, gives_way: int = 0, heading: str = "", of: str = "listing.quote."
) -> TableColumn:
    """Return a column of a quote's prices."""
    return TableColumn(name, heading or f"{name} ¢", cents_of, gives_way, from_millionths_at(f"{of}{name}"))


def _json_amount(name: str) -> TableColumn:
    """Return a column of amounts, for JSON only."""
    return TableColumn(name, value=from_millionths_at(name))


def _payout_text(resolution: Resolution) -> str:
    """Return the payout of a YES share, or the answer to a question other than yes or no."""
    if resolution.answer:
        return plain(resolution.answer)
    if resolution.payout is None:
        return "was refunded"
    return f"paid ${from_millionths(resolution.payout):g}"


MARKET = (
    TableColumn("id", "market", value="listing.market.id", narrow="cut middle"),
    TableColumn("question", show=one_line, value="listing.market.question", narrow="cut"),
    TableColumn("event", gives_way=9, value="listing.market.event_id", narrow="cut middle"),
    TableColumn("category", show=one_line, gives_way=3, value="listing.market.category", narrow="cut"),
    _price_column("mid", heading="price ¢"),
    _price_column("bid", 7),
    _price_column("ask", 7),
    _price_column("last", 8),
    TableColumn("volume", "volume $", ",.0f", 2, from_millionths_at("listing.quote.volume")),
    TableColumn("seen_at", "seen (UTC)", minute_text, 6, "listing.quote.at"),
    TableColumn("closes_at", "closes", "%Y-%m-%d", 1, "listing.market.closes_at"),
    TableColumn("status", gives_way=4),
    TableColumn("venue_url", "link", gives_way=10, value=_venue_url),
)
SHOWN_PRICES = (
    TableColumn("at", "price since (UTC)", "%Y-%m-%d %H:%M:%S"),
    *(_price_column(name, of="") for name in QUOTED),
)
PRICES = (*SHOWN_PRICES, _json_amount("volume"))
LEVELS = (_json_amount("price"), _json_amount("shares"))
BOOK = ("shares", "bid ¢", "ask ¢", "shares")
BOOK_ROWS = 10
VERSION = TableColumn("version")
KNOWN_AT = TableColumn("known_at", "known from (UTC)", minute_text)
SOURCE = TableColumn("source", show=plain)
REFUND = TableColumn("refund", value=lambda end: end.payout is None and not end.answer)
ENDS = (VERSION, KNOWN_AT, SOURCE, REFUND, _json_amount("payout"), TableColumn("answer"))
ANSWER = TableColumn("answer", "came to", lambda answer: plain(answer) or "called off")
SHOWN_ENDS = (VERSION, KNOWN_AT, TableColumn("paid", "a YES share", value=_payout_text), SOURCE)
ANSWERED_ENDS = (VERSION, KNOWN_AT, ANSWER, SOURCE)
REJECTED = (
    TableColumn("last_seen_at", "last (UTC)", minute_text, 3),
    counted("times", 2),
    TableColumn("venue", gives_way=4),
    TableColumn("kind", gives_way=1),
    TableColumn("record", show=one_line, narrow="cut middle"),
    TableColumn("code", gives_way=5),
    TableColumn("reason", show=one_line, narrow="wrap"),
)


def list_markets(
    chosen: Options, search: str, category: str, status: str, limit: int, at: str | None
) -> None:
    """Print the markets that the record had seen by a time, with their latest price."""
    with chosen.reading() as connection:
        when = read_wanted_instant(connection, parse_instant(at), now())
        known = read_markets(connection, when)
    matching = filter_markets(known, search, category, status)

    rows = Table(MARKET, matching[:limit], choice=chosen.table_choice)
    data = {"at": when, "known": len(known), "found": len(matching), "markets": rows.data()}
    chosen.print_answer(data, list_page, rows, len(matching), len(known))


def list_page(rows: Table, matching: int, known: int) -> Page:
    """Yield the table of markets, and how many of them are listed."""
    if not known:
        yield "No market is known."
        yield f"Next: {command_line('run --sync')}"
    elif not matching:
        yield f"None of the {known:,} markets in the record is listed: they are not open, or do not match."
        yield f"Next: {command_line('show markets --status all')}"
    else:
        yield rows
        yield f"{len(rows.rows):,} of {matching:,} markets. Next: {command_line('show market ID')}"


def show_market(chosen: Options, name: str, limit: int, at: str | None) -> None:
    """Print one market as last seen by a time, and its newest price changes."""
    with chosen.reading() as connection:
        when = read_wanted_instant(connection, parse_instant(at), now())
        seen = find_market(connection, name, when)
        market = seen.listing.market
        quotes = read_price_changes(connection, market.id, when)
        answers = []
        if market.form:
            recorded = read_recorded_answers(connection, market=market.id)
            by_then = [answer for answer in recorded if answer.at <= when]
            answers = answers_data(connection, newest_of_agents(by_then), when)

    data = _market_data(seen, quotes, limit)
    is_yes_no = not market.form
    if is_yes_no:
        chosen.print_answer(data, market_page, seen, quotes, limit, when, chosen.table_choice)
        return

    data["form"] = form_data(form_of(market.form))
    data["answers"] = answers
    chosen.print_answer(data, question_page, seen, answers, chosen.table_choice)


def question_page(seen: KnownMarket, answers: Sequence[Data], choice: TableChoice) -> Page:
    """Yield a question other than yes or no: what is asked, the agents' answers, and how it resolved."""
    market = seen.listing.market
    form = form_of(market.form)
    yield from _head_lines(seen)
    yield f"asked as {plain(form_words(form))}"
    odds = odds_words(form)
    if odds:
        yield f"the market says {plain(odds)}"
    yield f"\n{plain_lines(market.rules).strip()}\n"

    yield from market_answers_blocks(answers, choice)
    yield from _resolution_blocks(seen.ends, ANSWERED_ENDS)


def _resolution_blocks(resolutions: Sequence[Resolution], columns: Sequence[TableColumn]) -> Page:
    """Yield a table of a market's resolutions, if any are known, and the next command."""
    if resolutions:
        yield Table(columns, resolutions)
        yield f"Next: {command_line('board')}"
    else:
        yield "No resolution is known."
        yield f"Next: {command_line('run --sync')}"


def _head_lines(seen: KnownMarket) -> Page:
    """Yield a market's question, ids, opening times and page."""
    market = seen.listing.market
    yield plain(market.question)
    yield f"{market.id}, {plain(market.category)}, event {plain(market.event_id)}"
    yield f"open {minute_text(market.opens_at)} to {minute_text(market.closes_at)} UTC: {seen.status}"
    page = market_page_at_venue(market)
    if page:
        name, address = page
        yield f"at {name}: {address}"


def _market_data(seen: KnownMarket, quotes: Sequence[Quote], limit: int) -> dict[str, Any]:
    """Return everything known about a market, for JSON."""
    market = seen.listing.market
    bids: Sequence[Level] = ()
    asks: Sequence[Level] = ()
    if seen.listing.quote:
        bids = seen.listing.quote.bids
        asks = seen.listing.quote.asks

    (data,) = Table(MARKET, [seen]).data()
    data |= attributes(market, "rules", "opens_at")
    for name in ("tick", "fee_rate", "min_shares"):
        data[name] = from_millionths(getattr(market, name))
    data["bids"] = Table(LEVELS, bids).data()
    data["asks"] = Table(LEVELS, asks).data()
    data["changes"] = len(quotes)
    data["history"] = Table(PRICES, quotes[-limit:]).data()
    data["resolutions"] = Table((*ENDS, ANSWER) if market.form else ENDS, seen.ends).data()
    return data


def market_page(
    seen: KnownMarket, quotes: Sequence[Quote], limit: int, at: datetime, choice: TableChoice
) -> Page:
    """Yield a market's question, rules, price, history and resolution as plain text."""
    market = seen.listing.market
    yield from _head_lines(seen)
    yield f"steps of {cents_text(market.tick)}¢, fee rate {decimal(market.fee_rate):.2%}\n"
    yield f"{plain_lines(market.rules).strip()}\n"

    yield from _price_blocks(seen.listing.quote, at)
    if len(quotes) > 1:
        yield from _history_blocks(quotes, limit, at, choice)
    yield from _resolution_blocks(seen.ends, SHOWN_ENDS)


def _price_blocks(quote: Quote | None, at: datetime) -> Page:
    """Yield the newest price, the volume, and the book if there is one."""
    if quote is None:
        yield "No quotes yet.\n"
        return

    prices = []
    for name in QUOTED:
        price = getattr(quote, name)
        if price is not None:
            prices.append(f"{name} {cents_text(price)}¢")
    volume = "unknown volume"
    if quote.volume is not None:
        volume = f"${quote.volume // ONE:,} traded"
    seconds_since = (at - quote.at).total_seconds()
    seen = rough_duration(max(0, seconds_since))
    yield f"{', '.join(prices) or 'no price'}; {volume}; seen {seen} ago\n"

    rows = []
    for bid, ask in zip_longest(quote.bids[:BOOK_ROWS], quote.asks[:BOOK_ROWS]):
        bid_price, bid_shares = _level_cells(bid)
        rows.append((bid_shares, bid_price, *_level_cells(ask)))
    if rows:
        yield Table(BOOK, rows)


def _level_cells(level: Level | None) -> tuple[str, str]:
    """Return the price and shares of a level of a book; blanks without a level."""
    if level is None:
        return "", ""
    return cents_text(level.price), f"{from_millionths(level.shares):,.0f}"


def _history_blocks(quotes: Sequence[Quote], limit: int, at: datetime, choice: TableChoice) -> Page:
    """Yield a sparkline, the range of prices, and the newest changes."""
    mids = [quote.mid for quote in quotes if quote.mid is not None]
    if mids:
        width = line_width() or WIDEST
        yield sparkline(price_points(quotes, at, min(WIDEST, width)))
        yield (
            f"{minute_text(quotes[0].at)} until now, "
            f"from {cents_text(min(mids))} to {cents_text(max(mids))}¢\n"
        )

    newest = quotes[-limit:]
    yield Table(SHOWN_PRICES, newest[::-1], choice=choice)
    if len(quotes) > limit:
        yield f"The last {limit:,} of {len(quotes):,} changes; --limit shows more.\n"


def price_points(quotes: Sequence[Quote], until: datetime, count: int) -> list[int | None]:
    """Return the latest known mid at `count` evenly spaced instants from the first quote on."""
    if not quotes:
        return []

    times = [quote.at for quote in quotes]
    start = times[0]
    points = []
    for step in range(count):
        at = start + (until - start) * step / max(1, count - 1)
        points.append(quotes[bisect(times, at) - 1].mid)
    return points


def sparkline(mids: Sequence[int | None]) -> str:
    """Return prices as a line of bars, scaled from the lowest to the highest; a missing price is a gap.

    >>> sparkline([100_000, 200_000, None, 450_000]), sparkline([500_000] * 3)
    ('▁▃ █', '▄▄▄')
    """
    known = [mid for mid in mids if mid is not None]
    low = min(known, default=0)
    span = max(known, default=ONE) - low

    line = ""
    for mid in mids:
        if mid is None:
            line += " "
        elif not span:
            line += BARS[3]
        else:
            line += BARS[(mid - low) * (len(BARS) - 1) // span]
    return line


def list_rejected(chosen: Options, venue: str | None, kind: str | None, limit: int) -> None:
    """Print the newest rejected records of the venues."""
    with chosen.reading() as connection:
        rejected = read_quarantine(connection, venue, kind, limit)
    chosen.print_answer({"rejected": rejected}, rejected_page, rejected, limit, chosen.table_choice)


def rejected_page(rejected: Sequence[StoredQuarantine], limit: int, choice: TableChoice) -> Page:
    """Yield the rejected records with the reasons, or that there are none."""
    if not rejected:
        yield f"Nothing was rejected. Next: {command_line('show markets')}"
        return
    yield Table(REJECTED, rejected, choice=choice)
    if len(rejected) == limit:
        yield f"The newest {limit:,}; --limit shows more, --json what was sent."
