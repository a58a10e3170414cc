"""One market: what it asks and costs, what every agent says of it and why, who holds what, how it ended."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from statistics import median
from typing import Any

import streamlit as st
from markupsafe import Markup

from arena.record.queries.market_history import (
    MarketAccount,
    MarketForecast,
    MarketRound,
    MarketTrade,
    PageVersion,
    PriceHistory,
    read_last_marks,
    read_market_accounts,
    read_market_forecasts,
    read_market_reasons,
    read_market_rounds,
    read_market_trades,
    read_page_versions,
    read_price_history,
    read_resolution_versions,
)
from arena.record.queries.markets import BEGINNING, read_newest_instant
from arena.record.schema.database import Connection
from arena.record.schema.newest import newest_rows
from arena.record.schema.world import QuoteRow
from arena.record.write.listings import QUOTE_FIELDS as PRICED
from arena.record.write.listings import quote_of
from dashboard import html
from dashboard.board import market_table
from dashboard.pages import Address, choice, in_app, listing, long_text, put, section, step, way
from dashboard.record import NULLS, MarketFilter, RecordSource, SeasonOverview, kept, read_market_list, season
from dashboard.words import (
    cents,
    code,
    count,
    dollars,
    flat,
    gained,
    moment,
    money,
    outcome,
    percent,
    plain,
    share,
)
from markets.millionths import ONE, decimal
from markets.model import Market, MarketId, Quote, Resolution
from markets.venue import venue_page
from portfolio.ledger import lot_key
from portfolio.model import Entry, LotKey, Side
from portfolio.money import worth
from portfolio.value import LotProfit, average_price, price_of, profit_by_lot

TITLE = "Market"
NEEDS_A_COHORT = True
HEADED = True
ORDER = None

PRICES = 140
SAID = 800
"""So many prices and so many stated probabilities a chart has at most."""
DEALT = 1_000
"""So many trades are read, the newest."""
ROWS = 30
"""So many agents have a row of the strip: where there are more, the highest and the lowest."""
MANY = 6
"""More cohorts than these are chosen from a list."""
NOBODY = "nobody"

Priced = Mapping[int, tuple[Quote, datetime]]
"""By cohort the price that a market was valued by last, and when that was."""


@dataclass(frozen=True, slots=True)
class MarketPosition:
    """An agent's lot in a cohort, held or closed; `price` is of the side's own share, where it is held.

    `bought` are all shares that were ever bought.
    """

    cohort: int
    agent: str
    side: Side
    lot: LotProfit
    price: int | None
    bought: int


@dataclass(frozen=True, slots=True)
class MarketPage:
    """One market, whole: its newest page and price as of `now`, the record's newest instant."""

    market: Market
    quote: Quote | None
    now: datetime
    pages: tuple[PageVersion, ...]
    ends: tuple[tuple[Resolution, datetime], ...]
    offered: tuple[MarketRound, ...]
    dealt: tuple[MarketTrade, ...]
    positions: tuple[MarketPosition, ...]

    @property
    def closed(self) -> bool:
        """Whether nothing can be bet on it any more."""
        return bool(self.ends) or self.market.closes_at <= self.now

    @property
    def spoken_last(self) -> int:
        """The cohort in whose round it was shown last, the newest of several; 0 where none showed it."""
        shown = ((place.at, place.cohort) for place in self.offered if place.shown)
        return max(shown, default=(BEGINNING, 0))[1]


@dataclass(frozen=True, slots=True)
class LastForecast:
    """What an agent said last of a market in a cohort, in which round, and why."""

    agent: str
    probability: int
    round: MarketRound
    reason: str


@dataclass(frozen=True, slots=True)
class History:
    """A market's prices, and what was said of it in one cohort, as much as a chart can take."""

    prices: PriceHistory
    said: tuple[MarketForecast, ...]
    last: tuple[LastForecast, ...]
    thinned: bool


def read_market_page(
    connection: Connection, market: MarketId, newest: datetime | None = None
) -> MarketPage | None:
    """One market; None if the record knows none of that id. `newest` is the record's newest instant."""
    pages = read_page_versions(connection, market)
    if not pages:
        return None
    now = max(newest or read_newest_instant(connection, BEGINNING), pages[-1].at)
    quoted = newest_rows(connection, QuoteRow, [market], "at", *PRICED).get(market)
    offered, accounts = read_market_rounds(connection, market), read_market_accounts(connection, market)
    first = {account.cohort: account.entrant_id for account in accounts}
    priced = read_last_marks(connection, market, first.values())
    return MarketPage(
        market=pages[-1].market,
        quote=None if quoted is None else quote_of(quoted),
        now=now,
        pages=tuple(pages),
        ends=tuple(read_resolution_versions(connection, market)),
        offered=tuple(offered),
        dealt=tuple(read_market_trades(connection, market, DEALT)),
        positions=tuple(found for account in accounts for found in _positions(account, priced)),
    )


def _positions(account: MarketAccount, priced: Priced) -> Iterator[MarketPosition]:
    """An account's lots; what has no price is valued at its cost, as everywhere."""
    lots: dict[LotKey, list[Entry]] = {}
    for entry in account.entries:
        lots.setdefault(lot_key(entry), []).append(entry)
    quote, at = priced.get(account.cohort, (None, BEGINNING))
    for key, entries in lots.items():
        shares, cost = sum(entry.shares for entry in entries), sum(entry.cost for entry in entries)
        price = price_of(quote, key[1], at, None).value
        value = cost if price is None else worth(shares, price)
        lot = profit_by_lot(entries, {key: value})[key]
        bought = sum(entry.shares for entry in entries if entry.kind == "buy")
        shown = price if shares else None
        yield MarketPosition(account.cohort, account.agent, key[1], lot, shown, bought)


def read_market_history(
    connection: Connection, market: MarketId, cohort: int, offered: Sequence[MarketRound]
) -> History:
    """What a market cost, and what agents said of it in a cohort, over time."""
    places = {place.round_id: place for place in offered if place.shown}
    rounds = [round_id for round_id, place in places.items() if place.cohort == cohort]
    newest = read_market_forecasts(connection, market, rounds[-1:])
    kept = html.thin(rounds, SAID // max(len(newest), 1))
    said = read_market_forecasts(connection, market, kept)
    last = {one.agent: one for one in sorted(said, key=lambda one: places[one.round_id].number)}
    reasons = read_market_reasons(connection, market, {one.round_id for one in last.values()})
    return History(
        read_price_history(connection, market, PRICES),
        tuple(said),
        tuple(
            LastForecast(
                one.agent,
                one.probability,
                places[one.round_id],
                reasons.get((one.agent, one.round_id), ""),
            )
            for one in last.values()
        ),
        len(kept) < len(rounds),
    )


def show(record: RecordSource) -> None:
    """The market that the address names, from the question down to its rules."""
    named = st.query_params.get("market", "")
    page = kept(record, read_market_page, MarketId(named)) if named else None
    if page is None:
        st.title("Market", anchor=False)
        said = f"The record knows no market {code(named[:200])}." if named else "No market is chosen."
        st.info(f"{said} Choose one from the list.", icon=":material/search_off:")
        step("All markets", "markets")
        return
    known = season(record)
    step("← All markets", "markets")
    st.title(plain(page.market.question, most=1_000), anchor=False)
    with st.container(horizontal=True, vertical_alignment="center"):
        cohort = _cohort(page)
        found = kept(record, read_market_history, page.market.id, cohort, page.offered)
        names = [name for name, _ in known.agents if any(one.agent == name for one in found.said)]
        options = {NOBODY: "Highlight an agent"} | {name: name for name in names}
        agent = choice("Agent", "agent", options, NOBODY, "list") if names else NOBODY
    put(market_head(page, found, known, cohort, agent), "head")
    _positions_of(page)
    _trades(page)
    _ends(page)
    _related(record, page.market)
    _texts(page)


def _cohort(page: MarketPage) -> int:
    """One of the cohorts that showed the market; that which did so last, unless another is chosen."""
    numbers = sorted({place.cohort for place in page.offered if place.shown})
    if len(numbers) < 2:
        return numbers[0] if numbers else 0
    options = {str(one): f"Cohort {one}" for one in numbers}
    return int(
        choice(
            "Cohort", "cohort", options, str(page.spoken_last), "list" if len(numbers) > MANY else "switch"
        )
    )


def market_head(
    page: MarketPage,
    found: History,
    known: SeasonOverview,
    cohort: int,
    agent: str = "",
    address: Address = in_app,
) -> Markup:
    """The price and how it went, how the market ended, every agent's last probability, and the reasons."""
    kinds = dict(known.agents)
    stated = sorted(found.last, key=lambda one: (-one.probability, one.agent))
    opinions = [one.probability for one in stated if kinds.get(one.agent) not in NULLS]
    middle = round(median(opinions)) if opinions else None
    price = None if page.quote is None else page.quote.price
    left = [_price_box(page, price), html.tiles(_figures(page, opinions, middle, price))]
    if drawn := price_chart(page, found, known, agent):
        left.append(
            html.box(f"Over time, cohort {cohort}" if cohort else "Over time", drawn, _about_chart(found))
        )
    else:
        said = "Nobody has read a price of this market yet; the next arena round or arena run does."
        left.append(html.box("Over time", below=said))
    if stated:
        title = "What agents said last" if page.ends else "What agents say"
        strip_ = _strip_of(stated, known, price, middle)
        right = [
            html.box(title, strip_, _about_strip(stated, kinds, cohort)),
            _reasons(stated, price, address),
        ]
    else:
        said = "No agent has stated a probability yet; the next arena round may put it before them."
        right = [html.box("What agents say", below=said)]
    return html.columns(Markup().join(left), Markup().join(right), look="lead whole")


def _price_box(page: MarketPage, price: int | None) -> Markup:
    """The price of YES, large, and how the market ended or when it closes."""
    market, quote = page.market, page.quote
    shown = "–" if price is None else cents(price)
    if page.ends:
        said = str(outcome(True, page.ends[-1][0].payout))
        chip, about = html.tag(f"Resolved {said}", said.lower()), "last price of YES"
    elif page.closed:
        chip, about = html.tag("Closed, result awaited", "closed"), "last price of YES"
    else:
        chip, about = html.tag("Open", "open"), "price of YES"
    since = f", {moment(quote.at)}" if quote is not None else ""
    lines = [f"{'Closed' if page.closed else 'Closes'} {moment(market.closes_at)}", *_small_print(page)]
    where = html.venue_link(venue_page(market.id, market.event_id, market.slug, market.event_slug))
    return Markup(
        '<section class="box"><p class="price"><b>{}</b>{}<span class="quiet">{}</span></p>'
        '<p class="quiet">{}{}</p></section>'
    ).format(shown, chip, about + since, " · ".join(lines), where and Markup(" · {}").format(where))


def _small_print(page: MarketPage) -> Iterator[str]:
    market, quote = page.market, page.quote
    if quote is not None and quote.bid is not None and quote.ask is not None:
        yield f"bid {cents(quote.bid)}, ask {cents(quote.ask)}"
    yield f"fee rate {share(market.fee_rate)}" if market.fee_rate else "no fee"
    yield f"tick {cents(market.tick)}"
    if market.category:
        yield flat(market.category)[:300]


def _figures(
    page: MarketPage, opinions: Sequence[int], middle: int | None, price: int | None
) -> Iterator[html.Tile]:
    if middle is not None:
        yield html.Tile(
            _percent(middle),
            f"agents’ median{_from_price(middle, price)}",
            "Without agents that hold no opinion.",
        )
    if len(opinions) > 1:
        apart = (max(opinions) - min(opinions)) / 10_000
        yield html.Tile(
            f"{apart:.0f} pp", "from the lowest to the highest agent", "Without agents that hold no opinion."
        )
    held = sum(position.lot.shares > 0 for position in page.positions)
    traded = f"{DEALT:,} or more" if len(page.dealt) == DEALT else f"{len(page.dealt):,}"
    yield html.Tile(f"{held:,}", f"open positions, {traded} trades in all cohorts", "Of all agents.")
    if page.quote is not None and page.quote.volume is not None:
        yield html.Tile(
            dollars(page.quote.volume // ONE * ONE), "volume at the venue", "What everyone has traded."
        )


def _from_price(middle: int, price: int | None) -> str:
    """How far the median is from the price, in points of percent.

    >>> _from_price(888_557, 885_000), _from_price(470_000, 775_000), _from_price(470_000, None)
    (', within 1 pp of the last price', ', 30 pp below the last price', '')
    """
    if price is None:
        return ""
    apart = round((middle - price) / 10_000)
    if not apart:
        return ", within 1 pp of the last price"
    return f", {abs(apart)} pp {'above' if apart > 0 else 'below'} the last price"


def _strip_of(
    stated: Sequence[LastForecast], known: SeasonOverview, price: int | None, middle: int | None
) -> Markup:
    shown = [*stated[: ROWS // 2], *stated[-ROWS // 2 :]] if len(stated) > ROWS else stated
    kinds, looks = dict(known.agents), known.colours(one.agent for one in shown)
    spots = [
        (one.agent, one.probability / ONE, "grey" if kinds.get(one.agent) in NULLS else looks[one.agent])
        for one in shown
    ]
    says = f"The last probabilities of {count(len(shown), 'agent')}, from the highest to the lowest"
    return html.strip(
        spots, None if price is None else price / ONE, None if middle is None else middle / ONE, says
    )


def _about_strip(stated: Sequence[LastForecast], kinds: Mapping[str, str], cohort: int) -> str:
    said = f"Each agent’s last probability of YES in cohort {cohort}."
    if len(stated) > ROWS:
        said += f" The {ROWS // 2} highest and the {ROWS // 2} lowest of {len(stated):,}."
    if any(kinds.get(one.agent) in NULLS for one in stated):
        said += " Grey: references without an opinion; the median leaves them out."
    return said


def _reasons(stated: Sequence[LastForecast], price: int | None, address: Address) -> Markup:
    """Why they say so, whoever is furthest from the price first."""
    order = sorted(stated, key=lambda one: -abs(one.probability - (price or 0)))
    found = [_quotation(one, price, address) for one in order if one.reason]
    if not found:
        return html.box("Reasons", below="No agent has given a reason for this market.")
    return html.reasons(found)


def _quotation(one: LastForecast, price: int | None, address: Address) -> html.Quotation:
    return html.Quotation(
        who=one.agent,
        did=f"says {_percent(one.probability)}{_from_price(one.probability, price)}",
        why=flat(one.reason),
        where=f"round {one.round.number} of cohort {one.round.cohort}, {moment(one.round.at)}",
        href=address(way("turn", cohort=one.round.cohort, round=one.round.number, agent=one.agent)),
    )


def _percent(millionths: int) -> str:
    return f"{millionths / ONE:.0%}"


def price_chart(page: MarketPage, found: History, known: SeasonOverview, agent: str = "") -> Markup:
    """The price of YES as a step line, the median and the range of agents, and one of them."""
    kinds, rounds = dict(known.agents), {place.round_id: place for place in page.offered}
    by_round: dict[int, list[int]] = {}
    for one in found.said:
        if kinds.get(one.agent) not in NULLS:
            by_round.setdefault(one.round_id, []).append(one.probability)
    times = sorted(
        (rounds[round_id].at.timestamp(), stated)
        for round_id, stated in by_round.items()
        if round_id in rounds
    )
    theirs = sorted(
        (rounds[one.round_id].at.timestamp(), one.probability / 10_000)
        for one in found.said
        if one.agent == agent and one.round_id in rounds
    )
    priced = [
        (one.at.timestamp(), one.price / 10_000) for one in found.prices.points if one.price is not None
    ]
    until = max([min(page.market.closes_at, page.now).timestamp(), *(at for at, _ in [*times, *priced])])
    price = _steps(priced, until)
    middle = _steps([(at, median(stated) / 10_000) for at, stated in times], until)
    lows, highs = (_steps([(at, of(stated) / 10_000) for at, stated in times], until) for of in (min, max))
    band = [(at, low, high) for (at, low), (_, high) in zip(lows, highs, strict=True)]
    shown = [
        html.Line("Price", price, "ink", cents(round(price[-1][1] * 10_000)) if price else ""),
        html.Line("Median", middle, "grey", _end(middle), dashed=True),
        html.Line(agent, _steps(theirs, until), known.colours([agent])[agent], _end(theirs)),
    ]
    says = "The price of YES over time, with the median and the range of agents’ probabilities"
    note = "shaded: from the lowest to the highest agent" if len(band) > 1 else ""
    return html.line_chart(shown, says, "%.0f%", band, note)


def _end(points: Sequence[tuple[float, float]]) -> str:
    return f"{points[-1][1]:.0f}%" if points else ""


def _steps(known: Sequence[tuple[float, float]], until: float) -> list[tuple[float, float]]:
    """Values, each of which holds until the next, the last until an instant.

    >>> _steps([(1, 5.0), (3, 7.0)], 4)
    [(1, 5.0), (3, 5.0), (3, 7.0), (4, 7.0)]
    """
    steps = [point for (_, before), (at, after) in pairwise(known) for point in ((at, before), (at, after))]
    return [*known[:1], *steps, *([(until, known[-1][1])] if known and until > known[-1][0] else [])]


def _about_chart(found: History) -> str:
    said = "The price is that of YES." if found.prices.points else "No price was read."
    if found.prices.thinned or found.thinned:
        said += " More is stored than fits: what is drawn is evenly spaced."
    return said


POSITIONS = {
    "agent": html.words("Agent", "Whose position it is."),
    "cohort": html.number("Cohort", "%d", "An agent has an account of its own in each."),
    "side": html.words("Side", "YES pays $1 a share if the answer is yes, NO if it is no."),
    "bought": html.number("Shares bought", "%.1f", "All that were ever bought."),
    "entry": html.number(
        "Average price ¢", "%.1f", "What a bought share cost on average, in cents, fees included."
    ),
    "held": html.number("Shares held", "%.1f", "What is held now; 0 once all is sold or settled."),
    "cost": html.number(
        "Cost of held", "dollar", "What was paid for the shares that are held, fees included."
    ),
    "average": html.number(
        "Average price ¢", "%.1f", "What a held share cost on average, in cents, fees included."
    ),
    "price": html.number("Now ¢", "%.1f", "What a share of that side is worth at the cohort's newest mark."),
    "value": html.number("Value", "dollar", "The shares held at that price."),
    "paid": html.number("Cost", "dollar", "All that was ever paid for shares of it, fees included."),
    "received": html.number("Payout", "dollar", "What sales and the settlement or refund have brought."),
    "profit": html.number("P/L", "gain", "Total profit or loss: realised, and of what is held."),
}
OF_HELD = ("held", "cost", "average", "price", "value")
"""What is said only where anything is held; there the average price is that of what is held."""


def _positions_of(page: MarketPage) -> None:
    """Every position that was ever held, those still open first."""
    if not section("Positions in all cohorts", page.positions, "No agent has bet on this market."):
        return
    put(positions_table(page.positions), "positions")
    st.caption(plain(about_positions(page.positions)))


def positions_table(held: Sequence[MarketPosition], address: Address = in_app) -> Markup:
    """Every position, those still open first; a row leads to its agent."""
    rows = sorted(held, key=lambda one: (not one.lot.shares, -one.cohort))
    data = [_position(row) for row in rows]
    left_out = ("entry",) if any(position.lot.shares for position in rows) else OF_HELD
    table = html.by_column(data, [key for key in POSITIONS if key not in left_out])
    hrefs = [address(way("agent", agent=row.agent)) for row in rows]
    return html.html_table(table, POSITIONS, "Positions: one row each", hrefs)


def about_positions(held: Sequence[MarketPosition]) -> str:
    """How many they are, and what they have made."""
    total = sum(position.lot.money.total for position in held)
    rows = sum(round(position.lot.money.total, -4) for position in held)
    rounded = " Rows are rounded." if rows != round(total, -4) else ""
    return f"{count(len(held), 'position')}; total P/L {gained(total)}.{rounded}"


def _position(position: MarketPosition) -> dict[str, object]:
    lot, open_ = position.lot, position.lot.shares > 0
    return {
        "agent": position.agent,
        "cohort": position.cohort,
        "side": position.side,
        "bought": money(position.bought),
        "entry": percent(average_price(lot.money.paid, position.bought)),
        "held": money(lot.shares),
        "cost": money(lot.money.cost) if open_ else None,
        "average": percent(average_price(lot.money.cost, lot.shares)),
        "price": percent(position.price),
        "value": money(lot.money.value) if open_ else None,
        "profit": money(lot.money.total),
        "paid": money(lot.money.paid),
        "received": money(lot.money.received),
    }


TRADES = {
    "agent": html.words("Agent", "Who traded."),
    "at": html.time("When", "The round's decision time, in UTC."),
    "cohort": html.number("Cohort", "%d", "The cohort that it played in."),
    "round": html.number("Round", "%d", "The round of that cohort."),
    "did": html.words("Trade", "What was bought or sold."),
    "shares": html.number("Shares", "%.1f", "How many."),
    "price": html.number(
        "Price ¢", "%.1f", "What a share of that side cost or brought on average, before fees."
    ),
    "amount": html.number("Cash", "dollar", "All the cash that moved, fee included."),
    "fee": html.number("Fee", "dollar", "The venue's fee in it."),
}


def _trades(page: MarketPage) -> None:
    """What was bought and sold, the newest first."""
    if page.dealt:
        more = f"the newest {DEALT:,}" if len(page.dealt) == DEALT else f"{len(page.dealt):,}"
        with st.expander(f"Trades: {more}, each leading to its turn"):
            put(trades_table(page.dealt), "trades")


def trades_table(dealt: Sequence[MarketTrade], address: Address = in_app) -> Markup:
    """Trades, a row each, which leads to its turn."""
    data = [
        {
            "agent": deal.agent,
            "at": deal.at,
            "cohort": deal.cohort,
            "round": deal.round,
            "did": f"{'bought' if deal.action == 'buy' else 'sold'} {deal.side}",
            "shares": money(deal.shares),
            "price": deal.price / 10_000,
            "amount": money(deal.amount),
            "fee": money(deal.fee),
        }
        for deal in dealt
    ]
    hrefs = [address(way("turn", cohort=deal.cohort, round=deal.round, agent=deal.agent)) for deal in dealt]
    return html.html_table(html.by_column(data, TRADES), TRADES, "Trades: one row each", hrefs)


def _ends(page: MarketPage) -> None:
    if not page.ends:
        return
    st.subheader("Resolution", anchor=False)
    newest = page.ends[-1][0]
    st.markdown(about_resolution(newest))
    if len(page.ends) == 1:
        return
    whose = (
        "The result has several versions" if any(end.by_hand for end, _ in page.ends) else CORRECTED_ITSELF
    )
    st.markdown(f"{whose}; what was paid before was taken back and paid anew.")
    listing(
        {
            "Version": [end.version for end, _ in page.ends],
            "Outcome": [outcome(True, end.payout) for end, _ in page.ends],
            "Known since": [end.known_at for end, _ in page.ends],
            "Learnt": [learnt_at for _, learnt_at in page.ends],
            "Source": [end.source for end, _ in page.ends],
        },
        "Resolution: one row a version",
        {
            "Known since": html.time("Known since", "From when on it could be known, in UTC."),
            "Learnt": html.time("Learnt", "The decision time at which a cohort asked and was told, in UTC."),
        },
    )


CORRECTED_ITSELF = "The venue has corrected itself"


def about_resolution(found: Resolution) -> str:
    """Return what was paid, since when that is known and from whom, in Markdown."""
    if found.by_hand:
        how = "The decision made by hand was withdrawn" if found.withdrawn else "Settled by hand"
        when = f"on {moment(found.known_at)}, version {found.version}"
        return f"{_paid(found.payout)} {how}: {plain(found.reason, most=600)} ({when})"
    source = f"source {plain(found.source)}, " if found.source else ""
    return f"{_paid(found.payout)} Known since {moment(found.known_at)}, {source}version {found.version}."


def _paid(payout: int | None) -> str:
    said = outcome(True, payout)
    if payout is None:
        return "Refunded: everyone got back what they had paid."
    return f"**{said}**: a share of YES paid {cents(payout)}, a share of NO {cents(ONE - payout)}."


def _related(record: RecordSource, market: Market) -> None:
    others = kept(record, read_market_list, MarketFilter(event=market.event_id))
    lines = [line for line in others.lines if line.market.id != market.id]
    if lines:
        st.subheader("Related markets", anchor=False)
        put(market_table(lines, ("question", "price", "trend", "spread", "status", "closes")), "related")
        step("Search these markets", "markets", event=market.event_id)


FIELDS = {
    "question": "question",
    "rules": "rules",
    "category": "category",
    "event_id": "event",
    "story": "story",
    "opens_at": "opening time",
    "closes_at": "closing time",
    "tick": "tick",
    "fee_rate": "fee rate",
    "min_shares": "smallest trade",
}
"""What a page says, in words."""
WRITTEN: Mapping[str, Callable[[int], str]] = {
    "tick": cents,
    "fee_rate": share,
    "min_shares": lambda shares: f"{decimal(shares):f} shares",
}


def _texts(page: MarketPage) -> None:
    """The rules, and every change of the page, folded away."""
    market = page.market
    with st.expander("The rules, as the venue has them"):
        st.caption(f"Id {code(market.id)}")
        if market.rules.strip():
            long_text(market.rules, "rules")
        else:
            st.caption("The venue gives none.")
    if len(page.pages) > 1:
        with st.expander(f"Earlier versions of its page: {count(len(page.pages), 'version')}"):
            _changes(page)


def _changes(page: MarketPage) -> None:
    """What each version of the page said otherwise than the one before."""
    rows = [change for before, after in pairwise(page.pages) for change in _changed(before, after)]
    listing(
        {
            "When": [at for at, *_ in rows],
            "What": [what for _, what, *_ in rows],
            "Before": [before for *_, before, _ in rows],
            "After": [after for *_, after in rows],
        },
        "Changes of the market's page",
        {
            "When": html.time("When", "When the new page was first read, in UTC."),
            "Before": html.words("Before", long=True),
            "After": html.words("After", long=True),
        },
    )


def _changed(before: PageVersion, after: PageVersion) -> Iterator[tuple[datetime, str, str, str]]:
    for name, what in FIELDS.items():
        old, new = getattr(before.market, name), getattr(after.market, name)
        if old != new:
            yield after.at, what, _text(name, old), _text(name, new)


def _text(name: str, value: Any) -> str:
    if isinstance(value, datetime):
        return moment(value)
    return WRITTEN[name](value) if name in WRITTEN else str(value)
