"""One market: its question and price, forecasts and reasons, positions, trades and result."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import chain, pairwise, starmap
from statistics import median
from typing import Any

import streamlit as st
from markupsafe import Markup

from agents.model import USABLE_STATUSES
from arena.errors import natural_key
from arena.record.queries.cohorts import PLACE, read_hidden_rounds, read_learnt_resolutions
from arena.record.queries.markets import BEGINNING, read_newest_instant
from arena.record.schema.cohort import CohortRow, EntrantRow, RoundRow, SnapshotItemRow, SnapshotRow
from arena.record.schema.database import Connection
from arena.record.schema.ledger import EntryRow, MarkRow
from arena.record.schema.newest import keyed_instants, keyed_instants_parameter, newest_rows
from arena.record.schema.statements import attributes_of
from arena.record.schema.turn import FillLevelRow, FillRow, ForecastRow, TurnRow
from arena.record.schema.typed import (
    Double,
    Text,
    aliased,
    clause,
    col,
    columns_of,
    func,
    joined,
    read_objects,
    select,
    select_fields,
    sql_cast,
)
from arena.record.schema.world import MarketVersionRow, QuoteRow
from arena.record.write.listings import PAGE_FIELDS, quote_of
from arena.record.write.listings import QUOTE_FIELDS as PRICED
from dashboard.board import market_table
from dashboard.charts import MEDIAN, YES_PRICE, Line, evenly_spaced, line_chart, probability_strip
from dashboard.html import (
    EMPTY,
    NOTHING,
    Quotation,
    Rows,
    Tile,
    beside,
    box,
    columns_of_table,
    html_table,
    reasons_box,
    tag,
    tiles,
    venue_link,
)
from dashboard.pages import (
    Address,
    Widget,
    choice,
    heading,
    in_app,
    long_text,
    nothing_found,
    on_demand,
    options_of,
    put,
    put_section,
    put_table,
    put_view_link,
    subheading,
    way,
    way_to_turn,
)
from dashboard.questions import (
    GivenAnswer,
    answer_words,
    answers_table,
    asked_box,
    end_words,
    form_words,
    is_answer,
    odds_of,
)
from dashboard.record import MarketFilter, RecordSource, SeasonOverview, read_cached, read_market_list, season
from dashboard.words import (
    DONE,
    cents,
    code,
    count,
    dollars,
    filled,
    flat,
    gained,
    moment,
    money,
    outcome,
    percent,
    plain,
    rounded_percent,
    share,
)
from markets.distributions import QuestionForm, form_of, question_kind
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
"""The most prices and stated probabilities in a chart, which has no more rounds than prices.

Together these are fewer instants than a chart draws, as a step line needs every one.
"""
DEALT = 1_000
"""Trades that are read, the newest first."""
ROWS = 30
"""Agents with a row of the strip; of more, the highest and the lowest."""
MANY = 6
"""With more cohorts than this, a list replaces the switch."""
NOBODY = "nobody"
RULES = "The rules, as the venue has them"

EVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class PageVersion:
    """What a market's page said from an instant on."""

    version: int
    at: datetime
    market: Market


def read_page_versions(connection: Connection, market: MarketId) -> list[PageVersion]:
    """Return every version of a market's page, oldest first; none for an unknown market."""
    columns = columns_of(MarketVersionRow, ("version", "at", *PAGE_FIELDS))
    is_asked = MarketVersionRow.market_id == market
    query = select(*columns).where(is_asked).order_by(MarketVersionRow.version)

    versions = []
    for row in connection.execute(query):
        page = Market(market, **attributes_of(row, *PAGE_FIELDS))
        versions.append(PageVersion(row.version, row.at, page))
    return versions


def read_resolution_versions(connection: Connection, market: MarketId) -> list[tuple[Resolution, datetime]]:
    """Return every version of how a market ended, oldest first, with the time a cohort learnt of it."""
    return read_learnt_resolutions(connection, [market], EVER)


@dataclass(frozen=True, slots=True)
class MarketRound:
    """A round whose snapshot had a market: on offer if `shown`, else only because it was held."""

    round_id: int
    cohort: int
    number: int
    at: datetime
    shown: bool


def read_market_rounds(connection: Connection, market: MarketId) -> list[MarketRound]:
    """Return the rounds that a market was in, oldest first."""
    # By cohort and time: there is no index from a snapshot to its round.
    is_round = (RoundRow.cohort_id == SnapshotRow.cohort_id) & (RoundRow.at == SnapshotRow.at)
    shown = SnapshotItemRow.shown == 1
    is_held = SnapshotItemRow.market_id == market
    source = joined(SnapshotItemRow, SnapshotRow).join(RoundRow, clause(is_round)).join(CohortRow)
    query = (
        select_fields(MarketRound, RoundRow, round_id=RoundRow.id, cohort=CohortRow.number, shown=shown)
        .select_from(source)
        .where(is_held)
        .order_by(RoundRow.at, CohortRow.number)
    )
    return read_objects(MarketRound, connection.execute(query))


@dataclass(frozen=True, slots=True)
class MarketForecast:
    """A probability that an agent gave a market in a round, in millionths; or its distribution, as text."""

    round_id: int
    agent: str
    probability: int
    distribution: str = ""


STATED = joined(EntrantRow, TurnRow, ForecastRow)


def read_market_forecasts(
    connection: Connection, market: MarketId, rounds: Collection[int]
) -> list[MarketForecast]:
    """Return the forecasts of a market in these rounds, except in rounds that are still hidden."""
    is_asked = col(TurnRow.round_id).in_({*rounds} - read_hidden_rounds(connection))
    is_usable = col(TurnRow.status).in_(USABLE_STATUSES)
    is_final = ForecastRow.stage == "final"
    query = (
        select_fields(MarketForecast, TurnRow, ForecastRow, agent=EntrantRow.name)
        .select_from(STATED)
        .where(is_asked, is_usable)
        .where(ForecastRow.market_id == market, is_final)
        .order_by(TurnRow.round_id, EntrantRow.position)
    )
    return read_objects(MarketForecast, connection.execute(query))


def read_market_reasons(
    connection: Connection, market: MarketId, rounds: Collection[int]
) -> dict[tuple[str, int], str]:
    """Return the reasons for forecasts of a market in these rounds, by agent and round."""
    is_asked = col(TurnRow.round_id).in_({*rounds} - read_hidden_rounds(connection))
    is_final = ForecastRow.stage == "final"
    has_reason = ForecastRow.reason != ""
    query = (
        select(EntrantRow.name, TurnRow.round_id, ForecastRow.reason)
        .select_from(STATED)
        .where(is_asked, ForecastRow.market_id == market)
        .where(is_final, has_reason)
    )
    return {(agent, round_id): reason for agent, round_id, reason in connection.execute(query)}


@dataclass(frozen=True, slots=True)
class MarketTrade:
    """An agent's purchase or sale in a market in a round, with the price of that side's share."""

    cohort: int
    round: int
    at: datetime
    agent: str
    side: str
    action: str
    shares: int
    amount: int
    fee: int
    price: float


AVERAGE_PRICE = func.sum(FillLevelRow.price * 1.0 * FillLevelRow.shares) / func.sum(FillLevelRow.shares)
FILL_PRICE = select(AVERAGE_PRICE).where(FillLevelRow.fill_id == FillRow.id).scalar_subquery()


def read_market_trades(connection: Connection, market: MarketId, most: int) -> list[MarketTrade]:
    """Return the trades in a market, newest first."""
    # The ledger's lines about a market lead to the turns behind them, so no other fill is looked at.
    is_round = (RoundRow.cohort_id == EntrantRow.cohort_id) & (RoundRow.at == EntryRow.at)
    is_turn = (TurnRow.round_id == RoundRow.id) & (TurnRow.entrant_id == EntrantRow.id)
    is_trade = col(EntryRow.kind).in_(("buy", "sell"))
    turns = (
        select(TurnRow.id)
        .select_from(joined(EntryRow, EntrantRow))
        .join(RoundRow, is_round)
        .join(TurnRow, is_turn)
        .where(EntryRow.market_id == market, is_trade)
    )

    price = sql_cast(FILL_PRICE, Double)
    is_of_turn = col(FillRow.turn_id).in_(turns)
    newest_first = col(RoundRow.at).desc()
    query = (
        select_fields(MarketTrade, FillRow, **PLACE, price=price)
        .select_from(joined(FillRow, TurnRow, EntrantRow, RoundRow, CohortRow))
        .where(is_of_turn, FillRow.market_id == market)
        .order_by(newest_first, col(CohortRow.number).desc())
        .order_by(EntrantRow.position, FillRow.position)
    )
    return read_objects(MarketTrade, connection.execute(query.limit(most)))


@dataclass(frozen=True, slots=True)
class MarketAccount:
    """An entrant that ever held a market: its ids, and the lines of its ledger about this market."""

    entrant_id: int
    cohort: int
    agent: str
    entries: tuple[Entry, ...]


ENTRY_FIELDS = tuple(Entry.__dataclass_fields__)


def read_market_accounts(connection: Connection, market: MarketId) -> list[MarketAccount]:
    """Return everyone who ever held a market: newest cohorts first, in line-up order."""
    columns = columns_of(EntryRow, ENTRY_FIELDS)
    query = (
        select(EntrantRow.id, CohortRow.number, EntrantRow.name, *columns)
        .select_from(joined(EntryRow, EntrantRow, CohortRow))
        .where(EntryRow.market_id == market)
        .order_by(col(CohortRow.number).desc(), EntrantRow.position, EntryRow.number)
    )
    accounts: dict[tuple[int, int, str], list[Entry]] = defaultdict(list)
    for entrant_id, cohort, agent, *values in connection.execute(query):
        fields = zip(ENTRY_FIELDS, values, strict=True)
        entry = Entry(**dict(fields))
        accounts[entrant_id, cohort, agent].append(entry)
    return [MarketAccount(*key, tuple(entries)) for key, entries in accounts.items()]


def read_last_marks(
    connection: Connection, market: MarketId, entrants: Iterable[int]
) -> dict[int, tuple[Quote, datetime]]:
    """Return the price at which a market was last valued, and when, by cohort.

    `entrants` names one entrant of each cohort.
    """
    newest_first = col(MarkRow.at).desc()
    newest = (
        select(MarkRow.snapshot_id)
        .where(MarkRow.entrant_id == EntrantRow.id)
        .order_by(newest_first)
        .limit(1)
        .correlate(EntrantRow)
        .scalar_subquery()
    )

    price_columns = columns_of(QuoteRow, PRICED)
    is_named = col(EntrantRow.id).in_(list(entrants))
    query = (
        select(CohortRow.number, SnapshotRow.taken_at, SnapshotItemRow.market_id, SnapshotItemRow.quoted_at)
        .add_columns(*price_columns)
        .select_from(joined(EntrantRow, CohortRow))
        .join(SnapshotRow, SnapshotRow.id == newest)
        .join(SnapshotItemRow, SnapshotItemRow.snapshot_id == SnapshotRow.id)
        .join(QuoteRow, SnapshotItemRow.quote_id == QuoteRow.id)
        .where(is_named, SnapshotItemRow.market_id == market)
    )
    marks = {}
    for row in connection.execute(query):
        quote = quote_of(row, row.quoted_at)
        marks[row.number] = (quote, row.taken_at)
    return marks


@dataclass(frozen=True, slots=True)
class StoredPrice:
    """The price of YES from an instant on, in millionths; a side that nobody offered is None."""

    at: datetime
    bid: int | None
    ask: int | None
    mid: int | None
    last: int | None

    @property
    def price(self) -> int | None:
        """Return the mid or, where there is none, the price of the last trade."""
        return self.last if self.mid is None else self.mid


@dataclass(frozen=True, slots=True)
class PriceHistory:
    """A market's prices, oldest first; `thinned` where more were stored than are here."""

    points: tuple[StoredPrice, ...]
    thinned: bool


def read_price_history(connection: Connection, market: str, most: int) -> PriceHistory:
    """Return every price of a market, or those that stood at `most` instants, evenly spaced over its time."""
    query = select_fields(StoredPrice, QuoteRow).order_by(QuoteRow.at, QuoteRow.id)
    is_asked = QuoteRow.market_id == market
    times = select(QuoteRow.at).where(is_asked).order_by(QuoteRow.at)
    one_too_many = connection.scalar(times.offset(most).limit(1))
    if one_too_many is None:
        rows = connection.execute(query.where(is_asked))
        points = tuple(read_objects(StoredPrice, rows))
        return PriceHistory(points, thinned=False)

    ends = select(func.min(QuoteRow.at), func.max(QuoteRow.at)).where(is_asked)
    first, last = connection.execute(ends).one()
    pairs = [(market, first + place * (last - first) / (most - 1)) for place in range(most - 1)]
    pairs.append((market, last))

    asked = keyed_instants(connection.dialect.name, Text)
    quote = aliased(QuoteRow, name="one")
    newest = (
        select(quote.id)
        .where(quote.market_id == asked.c.key, quote.at <= asked.c.at)
        .order_by(col(quote.at).desc(), col(quote.id).desc())
        .limit(1)
    )
    chosen = select(newest.correlate(asked).scalar_subquery()).select_from(asked)
    parameters = keyed_instants_parameter(connection, pairs)
    is_chosen = col(QuoteRow.id).in_(chosen)
    rows = connection.execute(query.where(is_chosen), parameters)
    points = tuple(read_objects(StoredPrice, rows))
    return PriceHistory(points, thinned=True)


Priced = Mapping[int, tuple[Quote, datetime]]
"""The price at which a market was last valued, and when, by cohort."""


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
    resolutions: tuple[tuple[Resolution, datetime], ...]
    rounds: tuple[MarketRound, ...]
    trades: tuple[MarketTrade, ...]
    positions: tuple[MarketPosition, ...]

    @property
    def closed(self) -> bool:
        """Tell whether no more bets on it are possible."""
        return bool(self.resolutions) or self.market.closes_at <= self.now

    @property
    def last_showing_cohort(self) -> int:
        """Return the cohort that showed it last, or 0 if none did."""
        shown = ((place.at, place.cohort) for place in self.rounds if place.shown)
        return max(shown, default=(BEGINNING, 0))[1]


@dataclass(frozen=True, slots=True)
class LastForecast:
    """An agent's last forecast of a market in a cohort, with its round and reason."""

    agent: str
    probability: int
    round: MarketRound
    reason: str
    distribution: str = ""


@dataclass(frozen=True, slots=True)
class History:
    """A market's prices and its forecasts in one cohort, thinned to what a chart can show."""

    prices: PriceHistory
    forecasts: tuple[MarketForecast, ...]
    last_forecasts: tuple[LastForecast, ...]
    thinned: bool


def read_market_page(
    connection: Connection, market: MarketId, newest: datetime | None = None
) -> MarketPage | None:
    """Return one market; None if the record has none of that id. `newest` is the record's newest instant."""
    pages = read_page_versions(connection, market)
    if not pages:
        return None

    newest_quote_row = newest_rows(connection, QuoteRow, [market], "at", *PRICED).get(market)
    accounts = read_market_accounts(connection, market)
    entrant_of_cohort = {account.cohort: account.entrant_id for account in accounts}
    last_marks = read_last_marks(connection, market, entrant_of_cohort.values())
    positions: list[MarketPosition] = []
    for account in accounts:
        positions += _positions(account, last_marks)

    newest = newest or read_newest_instant(connection, BEGINNING)
    resolutions = tuple(read_resolution_versions(connection, market))
    rounds = tuple(read_market_rounds(connection, market))
    trades = tuple(read_market_trades(connection, market, DEALT))
    return MarketPage(
        market=pages[-1].market,
        quote=None if newest_quote_row is None else quote_of(newest_quote_row),
        now=max(newest, pages[-1].at),
        pages=tuple(pages),
        resolutions=resolutions,
        rounds=rounds,
        trades=trades,
        positions=tuple(positions),
    )


def _positions(account: MarketAccount, last_marks: Priced) -> Iterator[MarketPosition]:
    """Yield an account's lots; those without a price are valued at cost, as everywhere."""
    lots: dict[LotKey, list[Entry]] = {}
    for entry in account.entries:
        lots.setdefault(lot_key(entry), []).append(entry)

    quote, at = last_marks.get(account.cohort, (None, BEGINNING))
    for key, entries in lots.items():
        shares = 0
        bought = 0
        value = 0
        for entry in entries:
            shares += entry.shares
            value += entry.cost
            if entry.kind == "buy":
                bought += entry.shares

        side = key[1]
        last_price = price_of(quote, side, at, None).value
        if last_price is not None:
            value = worth(shares, last_price)
        profits = profit_by_lot(entries, {key: value})
        lot_profit = profits[key]
        shown_price = last_price if shares else None
        yield MarketPosition(account.cohort, account.agent, side, lot_profit, shown_price, bought)


def read_market_history(
    connection: Connection, market: MarketId, cohort: int, market_rounds: Sequence[MarketRound]
) -> History:
    """Return a market's prices and a cohort's forecasts of it over time, and each agent's last forecast."""
    shown_rounds = {
        round_shown.round_id: round_shown
        for round_shown in market_rounds
        if round_shown.shown and round_shown.cohort == cohort
    }
    rounds = list(shown_rounds)
    newest_forecasts = read_market_forecasts(connection, market, rounds[-1:])
    most_rounds = min(SAID // max(len(newest_forecasts), 1), PRICES)
    drawn_rounds = evenly_spaced(rounds, most_rounds)
    forecasts = read_market_forecasts(connection, market, drawn_rounds)

    newest_forecast_of = {}
    by_round = sorted(forecasts, key=lambda forecast: shown_rounds[forecast.round_id].number)
    for forecast in by_round:
        newest_forecast_of[forecast.agent] = forecast

    last_rounds = {stated.round_id for stated in newest_forecast_of.values()}
    reasons = read_market_reasons(connection, market, last_rounds)
    last_forecasts = []
    for agent, forecast in newest_forecast_of.items():
        reason = reasons.get((agent, forecast.round_id), "")
        round_shown = shown_rounds[forecast.round_id]
        last_forecasts.append(
            LastForecast(agent, forecast.probability, round_shown, reason, forecast.distribution)
        )

    prices = read_price_history(connection, market, PRICES)
    is_thinned = len(drawn_rounds) < len(rounds)
    return History(prices, tuple(forecasts), tuple(last_forecasts), is_thinned)


def show(record: RecordSource) -> None:
    """Show the market that the address names, from the question down to its rules."""
    asked_id = st.query_params.get("market", "")
    page = None
    why_nothing = "No market is chosen."
    if asked_id:
        page = read_cached(record, read_market_page, MarketId(asked_id))
        why_nothing = f"The record knows no market {code(asked_id[:200])}."
    if page is None:
        heading(TITLE)
        nothing_found(f"{why_nothing} Choose one from the list.")
        put_view_link("All markets", "markets")
        return

    overview = season(record)
    put_view_link("← All markets", "markets")
    question = plain(page.market.question, most=1_000)
    heading(question)
    with st.container(horizontal=True, vertical_alignment="center"):
        cohort = _ask_cohort(page)
        history = read_cached(record, read_market_history, page.market.id, cohort, page.rounds)
        forecasting_agents = {forecast.agent for forecast in history.forecasts}
        options = options_of(filter(forecasting_agents.__contains__, overview.kinds))
        agent = NOBODY
        if options:
            agent = choice("Agent", "agent", {NOBODY: "Highlight an agent"} | options, NOBODY, "list")

    if page.market.form:
        put(question_head(page, history, overview, cohort, agent), "head")
    else:
        put(market_head(page, history, overview, cohort, agent), "head")
        _show_positions(page)
        _show_trades_on_demand(page)
    _show_resolutions(page)
    _show_related_markets(record, page.market)
    _show_rules_and_changes(page)


def _ask_cohort(page: MarketPage) -> int:
    """Return the chosen cohort among those that showed the market, by default the last to do so."""
    numbers = sorted({place.cohort for place in page.rounds if place.shown})
    if len(numbers) < 2:
        return page.last_showing_cohort
    options = {str(number): f"Cohort {number}" for number in numbers}
    widget: Widget = "list" if len(numbers) > MANY else "switch"
    newest = str(page.last_showing_cohort)
    chosen = choice("Cohort", "cohort", options, newest, widget)
    return int(chosen)


def last_stated(history: History) -> list[LastForecast]:
    """Return the last forecast of each agent, from the highest to the lowest."""
    return sorted(
        history.last_forecasts, key=lambda forecast: (-forecast.probability, natural_key(forecast.agent))
    )


def market_head(
    page: MarketPage,
    history: History,
    overview: SeasonOverview,
    cohort: int,
    agent: str = "",
    address: Address = in_app,
    forecasts_picture: Markup = NOTHING,
) -> Markup:
    """Return the price and its history, the result, and every agent's last forecast with its reason.

    `forecasts_picture` replaces the dashboard's picture of the last forecasts.
    """
    last_forecasts = last_stated(history)
    opinions = [forecast.probability for forecast in last_forecasts if overview.has_opinion(forecast.agent)]
    median_probability = round(median(opinions)) if opinions else None
    price = page.quote.price if page.quote else None

    title = "Over time"
    if cohort:
        title = f"Over time, cohort {cohort}"
    chart = price_chart(page, history, overview, agent)
    about_chart = _about_chart(history)
    over_time = box(title, chart, about_chart)
    if not chart:
        why = "Nobody has read a price of this market yet; “arena run --round” or “arena run” reads one."
        over_time = box("Over time", below=why)
    price_box = _price_box(page, price)
    figures = tiles(_figures(page, opinions, median_probability, price))
    left = price_box + figures + over_time

    if last_forecasts:
        title = "What agents say"
        if page.resolutions:
            title = "What agents said last"
        about_forecasts = _about_stated(last_forecasts, overview, cohort)
        if not forecasts_picture:
            forecasts_picture = _strip_of(last_forecasts, overview, price, median_probability)
            if len(last_forecasts) > ROWS:
                about_forecasts += (
                    f" The {ROWS // 2} highest and the {ROWS // 2} lowest of {len(last_forecasts):,}."
                )
        right = box(title, forecasts_picture, about_forecasts)
        reasons = _reasons(last_forecasts, price, address)
        if len(last_forecasts) > MANY_ROWS:
            left += reasons
        else:
            right += reasons
    else:
        right = box("What agents say", below=_why_unstated(page))
    return beside(left, right, look="lead whole")


def _why_unstated(page: MarketPage) -> str:
    """Say that nobody has forecast a market, and whether anybody still can."""
    if page.resolutions:
        return "No agent stated a probability before it ended."
    return "No agent has stated a probability yet; the next round may show it to them."


def question_head(
    page: MarketPage,
    history: History,
    overview: SeasonOverview,
    cohort: int,
    agent: str = "",
    address: Address = in_app,
) -> Markup:
    """Return a question of another kind than yes or no, and every agent's last answer with its reason."""
    form = form_of(page.market.form)
    answer = page.resolutions[-1][0].answer if page.resolutions else ""
    left = _question_box(page, form, answer)
    right = NOTHING
    if form.options:
        right = box("Options", asked_box(form, answer), ODDS_MEANT if form.odds else "")

    valid_answers = [
        forecast for forecast in history.last_forecasts if is_answer(form, forecast.distribution)
    ]
    valid_answers.sort(key=lambda forecast: natural_key(forecast.agent))
    if not valid_answers:
        return beside(left, right + box("What agents say", below=UNANSWERED), look="lead whole")
    colours = overview.colours(forecast.agent for forecast in valid_answers)
    answers = []
    for forecast in valid_answers:
        colour = colours[forecast.agent] if agent in ("", NOBODY, forecast.agent) else "rest"
        href = address(way("agent", agent=forecast.agent))
        answers.append(GivenAnswer(forecast.agent, forecast.distribution, colour, href))
    market_odds = odds_of(form)
    if market_odds is not None:
        answers.insert(0, GivenAnswer(MARKET_ODDS, market_odds.text, "grey"))

    title = "What agents said last" if page.resolutions else "What agents say"
    about_answers = f"Each agent’s last answer in cohort {cohort}." + MARKED * bool(answer)
    table = answers_table(form, answers, answer, f"{title}: one row each")
    reasons = [
        _quotation(forecast, answer_words(form, forecast.distribution), address)
        for forecast in valid_answers
        if forecast.reason
    ]
    if reasons:
        right += reasons_box(reasons)
    answers_box = box(title, table, about_answers)
    return beside(left + answers_box, right, look="lead whole") if right else left + answers_box


UNANSWERED = "No agent has answered yet; the next round may ask it."
ODDS_MEANT = "Odds: the market’s chance of each option."
MARKET_ODDS = "market odds"
MARKED = " The dot marks what happened."


def _question_box(page: MarketPage, form: QuestionForm, answer: str) -> Markup:
    """Return a question's result, or its possible answers, and when it closes."""
    market = page.market
    status = tag("Open", "open")
    if page.resolutions:
        status = tag("Resolved", "yes") if answer else tag("Called off", "refund")
    elif page.closed:
        status = tag("Closed, result awaited", "closed")

    shown = end_words(market.form, answer) if page.resolutions else question_kind(form.kind).TITLE
    closes = f"{'Closed' if page.closed else 'Closes'} {moment(market.closes_at)}"
    small_print = " · ".join(filter(None, (closes, flat(market.category)[:300])))
    return filled(PRICE_BOX, shown, status, form_words(form), small_print, _at_venue(market))


def _at_venue(market: Market) -> Markup:
    """Return a link to the market's page at its venue, after a dot, or nothing without one."""
    link = venue_link(venue_page(market.id, market.event_id, market.slug, market.event_slug))
    return filled(" · %s", link) if link else NOTHING


MANY_ROWS = 12
"""With more agents than this, the picture is as high as the whole other column."""
PRICE_BOX = (
    '<section class="box"><p class="price"><b>%s</b>%s<span class="quiet">%s</span></p>'
    '<p class="quiet">%s%s</p></section>'
)


def _price_box(page: MarketPage, price: int | None) -> Markup:
    """Return the price of YES, large, and the market's result or its closing time."""
    market = page.market
    about = "last price of YES"
    if page.resolutions:
        payout = page.resolutions[-1][0].payout
        ended = outcome(True, payout)
        result = str(ended)
        status = tag(f"Resolved {result}", result.lower())
    elif page.closed:
        status = tag("Closed, result awaited", "closed")
    else:
        status = tag("Open", "open")
        about = "price of YES"
    if page.quote is not None:
        about += f", {moment(page.quote.at)}"

    shown = EMPTY if price is None else cents(price)
    small_print = " · ".join(_small_print(page))
    return filled(PRICE_BOX, shown, status, about, small_print, _at_venue(market))


def _small_print(page: MarketPage) -> Iterator[str]:
    """Yield the market's closing time, trading costs and category."""
    market = page.market
    quote = page.quote
    yield f"{'Closed' if page.closed else 'Closes'} {moment(market.closes_at)}"
    if quote is not None and quote.bid is not None and quote.ask is not None:
        yield f"bid {cents(quote.bid)}, ask {cents(quote.ask)}"
    yield f"fee rate {share(market.fee_rate)}" if market.fee_rate else "no fee"
    yield f"tick {cents(market.tick)}"
    if market.category:
        yield flat(market.category)[:300]


OPINIONS = "Without agents that hold no opinion."


def _figures(
    page: MarketPage, opinions: Sequence[int], median_probability: int | None, price: int | None
) -> Iterator[Tile]:
    """Yield the figures of all forecasts, positions and trades."""
    if median_probability is not None:
        median_text = f"agents’ median{_distance_from_price(median_probability, price)}"
        yield Tile(rounded_percent(median_probability), median_text, OPINIONS)
    if len(opinions) > 1:
        distance = max(opinions) - min(opinions)
        percentage_points = distance / 10_000
        yield Tile(f"{percentage_points:.0f} pp", "from the lowest to the highest agent", OPINIONS)

    held = sum(position.lot.shares > 0 for position in page.positions)
    traded = f"{len(page.trades):,}"
    if len(page.trades) == DEALT:
        traded += " or more"
    yield Tile(f"{held:,}", f"open positions, {traded} trades in all cohorts", "Of all agents.")
    if page.quote is not None and page.quote.volume is not None:
        volume = dollars(page.quote.volume // ONE * ONE)
        yield Tile(volume, "volume at the venue", "What everyone has traded.")


def _distance_from_price(probability: int, price: int | None) -> str:
    """Say how far the median is from the price, in percentage points.

    >>> _distance_from_price(888_557, 885_000), _distance_from_price(470_000, 775_000)
    (', within 1 pp of the last price', ', 30 pp below the last price')
    >>> _distance_from_price(470_000, None)
    ''
    """
    if price is None:
        return ""
    percentage_points = round((probability - price) / 10_000)
    if not percentage_points:
        return ", within 1 pp of the last price"
    direction = "above" if percentage_points > 0 else "below"
    return f", {abs(percentage_points)} pp {direction} the last price"


def _strip_of(
    forecasts: Sequence[LastForecast],
    overview: SeasonOverview,
    price: int | None,
    median_probability: int | None,
) -> Markup:
    """Draw every agent's last probability, or the highest and lowest of many."""
    if len(forecasts) > ROWS:
        forecasts = [*forecasts[: ROWS // 2], *forecasts[-ROWS // 2 :]]
    colours = overview.colours(forecast.agent for forecast in forecasts)
    rows = []
    for forecast in forecasts:
        colour = "grey"
        if overview.has_opinion(forecast.agent):
            colour = colours[forecast.agent]
        probability = forecast.probability / ONE
        rows.append((forecast.agent, probability, colour))

    agents = count(len(forecasts), "agent")
    label = f"The last probabilities of {agents}, from the highest to the lowest"
    return probability_strip(rows, money(price), money(median_probability), label)


def _about_stated(stated: Sequence[LastForecast], overview: SeasonOverview, cohort: int) -> str:
    """Describe the picture of forecasts."""
    text = f"Each agent’s last probability of YES in cohort {cohort}."
    if not all(overview.has_opinion(forecast.agent) for forecast in stated):
        text += " Grey: references without an opinion; the median leaves them out."
    return text


def _reasons(forecasts: Sequence[LastForecast], price: int | None, address: Address) -> Markup:
    """Return the agents' reasons, those furthest from the price first."""
    reference = price or 0
    furthest_first = sorted(forecasts, key=lambda forecast: -abs(forecast.probability - reference))
    quotations = []
    for forecast in furthest_first:
        if forecast.reason:
            probability_text = rounded_percent(forecast.probability) + _distance_from_price(
                forecast.probability, price
            )
            quotations.append(_quotation(forecast, probability_text, address))
    if not quotations:
        return box("Reasons", below="No agent has given a reason for this market.")
    return reasons_box(quotations)


def _quotation(forecast: LastForecast, answer_text: str, address: Address) -> Quotation:
    """Return a forecast, as it is `answer_text` in words, with its reason."""
    market_round = forecast.round
    turn = way("turn", cohort=market_round.cohort, round=market_round.number, agent=forecast.agent)
    return Quotation(
        who=forecast.agent,
        did=f"says {answer_text}",
        why=flat(forecast.reason),
        where=f"round {market_round.number} of cohort {market_round.cohort}, {moment(market_round.at)}",
        href=address(turn),
    )


Steps = Sequence[tuple[float, float]]
"""Values in percent, each from an instant on."""


def price_chart(page: MarketPage, history: History, overview: SeasonOverview, agent: str = "") -> Markup:
    """Draw the price of YES as a step line, the median and the range of agents, and one of them."""
    probabilities_at: dict[float, list[float]] = {}
    agent_points = []
    for name, at, value in _stated_points(page, history):
        if overview.has_opinion(name):
            probabilities_at.setdefault(at, []).append(value)
        if name == agent:
            agent_points.append((at, value))

    end = min(page.market.closes_at, page.now)
    until = max([end.timestamp(), *probabilities_at])
    price_points = []
    for point in history.prices.points:
        if point.price is not None:
            at = point.at.timestamp()
            until = max(until, at)
            price_points.append((at, point.price / 10_000))
    price = _step_points(price_points, until)
    lows = []
    highs = []
    medians = []
    for at, values in sorted(probabilities_at.items()):
        lows.append((at, min(values)))
        highs.append((at, max(values)))
        medians.append((at, median(values)))

    low_steps = _step_points(lows, until)
    high_steps = _step_points(highs, until)
    edges = zip(low_steps, high_steps, strict=True)
    band = [(at, low, high) for (at, low), (_, high) in edges]

    price_text = ""
    if price:
        last_price = round(price[-1][1] * 10_000)
        price_text = cents(last_price)

    median_line = _stated_line(MEDIAN, medians, "grey", until)
    look = overview.colours([agent])[agent]
    lines = [
        Line(YES_PRICE, price, "ink", price_text),
        median_line,
        _stated_line(agent, sorted(agent_points), look, until),
    ]
    label = "The price of YES over time, with the median and the range of agents’ probabilities"
    note = "Shaded: from the lowest to the highest agent" * (len(band) > 1)
    return line_chart(lines, label, "%.0f%", band, note)


def _stated_points(page: MarketPage, history: History) -> Iterator[tuple[str, float, float]]:
    """Yield each forecast as agent, time and probability in percent."""
    time_of_round = {place.round_id: place.at.timestamp() for place in page.rounds}
    for forecast in history.forecasts:
        if forecast.round_id in time_of_round:
            at = time_of_round[forecast.round_id]
            yield forecast.agent, at, forecast.probability / 10_000


def _stated_line(name: str, points: Steps, look: str, until: float) -> Line:
    """Return forecasts over time as a line, dashed for the median, which is grey."""
    end_text = ""
    if points:
        end_text = f"{points[-1][1]:.0f}%"
    return Line(name, _step_points(points, until), look, end_text, dashed=look == "grey")


def _step_points(values: Steps, until: float) -> list[tuple[float, float]]:
    """Return steps: each value holds until the next, the last until an instant.

    >>> _step_points([(1, 5.0), (3, 7.0)], 4)
    [(1, 5.0), (3, 5.0), (3, 7.0), (4, 7.0)]
    """
    steps = list(values[:1])
    for (_, value_before), (at, value_after) in pairwise(values):
        steps += [(at, value_before), (at, value_after)]
    if values and until > values[-1][0]:
        steps.append((until, values[-1][1]))
    return steps


def _about_chart(history: History) -> str:
    """Say what is missing from the chart."""
    text = "No price was read." * (not history.prices.points)
    if history.prices.thinned or history.thinned:
        text += " More is stored than fits: what is drawn is evenly spaced."
    return text


OF_HELD = ("held", "cost", "average", "price", "value")
"""Columns only for positions still held, whose average price is that of the shares held."""


def _show_positions(page: MarketPage) -> None:
    """Show every position that was ever held, those still open first."""
    if not put_section("Positions in all cohorts", page.positions, "No agent has bet on this market."):
        return
    put(positions_table(page.positions), "positions")
    st.caption(plain(about_positions(page.positions)))


def positions_table(held: Sequence[MarketPosition]) -> Markup:
    """Return every position, those still open first; a row leads to its agent."""
    left_out: tuple[str, ...] = OF_HELD
    if any(position.lot.shares for position in held):
        left_out = ("entry",)
    columns = {key: x for key, x in columns_of_table("positions").items() if key not in left_out}
    return html_table(_position_rows(held), columns, "Positions: one row each")


def about_positions(positions: Sequence[MarketPosition]) -> str:
    """Say how many positions there are, and their total profit."""
    total = 0
    sum_of_rounded = 0
    for position in positions:
        total += position.lot.money.total
        sum_of_rounded += round(position.lot.money.total, -4)
    positions_text = count(len(positions), "position")
    text = f"{positions_text}; total P/L {gained(total)}."
    if sum_of_rounded != round(total, -4):
        text += " Rows are rounded."
    return text


def _position_rows(positions: Sequence[MarketPosition]) -> Rows:
    """Yield a row for each position, those still open first."""
    for position in sorted(positions, key=lambda position: (not position.lot.shares, -position.cohort)):
        shares = position.lot.shares
        profit = position.lot.money
        entry_price = percent(average_price(profit.paid, position.bought))
        average = percent(average_price(profit.cost, shares))
        row = {
            "agent": position.agent,
            "cohort": position.cohort,
            "side": position.side,
            "bought": money(position.bought),
            "entry": entry_price,
            "held": money(shares),
            "average": average,
            "price": percent(position.price),
            "profit": money(profit.total),
            "paid": money(profit.paid),
            "received": money(profit.received),
            "href": way("agent", agent=position.agent).href,
        }
        if shares > 0:
            row |= {"cost": money(profit.cost), "value": money(profit.value)}
        yield row


def _show_trades_on_demand(page: MarketPage) -> None:
    """Show the trades, newest first."""
    if page.trades:
        many = f"{len(page.trades):,}"
        if len(page.trades) == DEALT:
            many = f"the newest {many}"
        on_demand(f"Trades: {many}, each leading to its turn", "trades", partial(_show_trades, page.trades))


def _show_trades(dealt: Sequence[MarketTrade]) -> None:
    """Show trades, a row each, which leads to its turn."""
    put(html_table(_trade_rows(dealt), columns_of_table("trades"), "Trades: one row each"), "trades")


def _trade_rows(dealt: Sequence[MarketTrade]) -> Rows:
    """Yield a row for each trade."""
    for trade in dealt:
        yield {
            "agent": trade.agent,
            "at": trade.at,
            "cohort": trade.cohort,
            "round": trade.round,
            "did": f"{DONE[trade.action]} {trade.side}",
            "shares": money(trade.shares),
            "price": trade.price / 10_000,
            "amount": money(trade.amount),
            "fee": money(trade.fee),
            "href": way_to_turn(trade).href,
        }


def _show_resolutions(page: MarketPage) -> None:
    """Show how the market ended, and whether that was corrected."""
    if not page.resolutions:
        return
    subheading("Resolution")
    newest = page.resolutions[-1][0]
    form = page.market.form
    st.markdown(about_resolution(newest, form))
    if len(page.resolutions) == 1:
        return

    whose = "The venue has corrected the result"
    if any(end.by_hand for end, _ in page.resolutions):
        whose = "The result has several versions"
    paid = "" if form else "; earlier payouts were reversed and paid again"
    st.markdown(f"{whose}{paid}.")
    put_table(_resolution_rows(page), columns_of_table("resolutions"), "Resolution: one row a version")


def _resolution_rows(page: MarketPage) -> Rows:
    """Yield a row for each version of the result."""
    for end, learnt_at in page.resolutions:
        yield {
            "Version": end.version,
            "Outcome": end_words(page.market.form, end.answer) or outcome(True, end.payout),
            "Known since": end.known_at,
            "Learnt": learnt_at,
            "Source": end.source,
        }


def about_resolution(resolution: Resolution, form: str = "") -> str:
    """Return the payout or answer, since when it is known, and its source, in Markdown."""
    result = _payout_text(resolution.payout)
    if form:
        result = f"**{plain(end_words(form, resolution.answer) or '')}**."
    if resolution.by_hand:
        how = "Settled by hand"
        if resolution.withdrawn:
            how = "The decision made by hand was withdrawn"
        when = f"on {moment(resolution.known_at)}, version {resolution.version}"
        reason = plain(resolution.reason, most=600)
        return f"{result} {how}: {reason} ({when})"
    since = moment(resolution.known_at)
    if resolution.source:
        since += f", source {plain(resolution.source)}"
    return f"{result} Known since {since}, version {resolution.version}."


def _payout_text(payout: int | None) -> str:
    """Say what a share paid, in Markdown."""
    if payout is None:
        return "Refunded: everyone got back what they had paid."
    yes = cents(payout)
    no = cents(ONE - payout)
    shares = f"a share of YES paid {yes}, a share of NO {no}"
    result = outcome(True, payout)
    return f"**{result}**: {shares}."


def _show_related_markets(record: RecordSource, market: Market) -> None:
    """Show the other markets of the same event."""
    of_event = MarketFilter(event=market.event_id)
    others = read_cached(record, read_market_list, of_event)
    lines = [line for line in others.lines if line.market.id != market.id]
    if lines:
        subheading("Related markets")
        put(market_table(lines, ("question", "price", "trend", "spread", "status", "closes")), "related")
        put_view_link("Search these markets", "markets", event=market.event_id)


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
"""The fields of a page, by name."""
WRITTEN: Mapping[str, Callable[[int], str]] = {
    "tick": cents,
    "fee_rate": share,
    "min_shares": lambda shares: f"{decimal(shares):f} shares",
}


def _show_rules_and_changes(page: MarketPage) -> None:
    """Show the rules, and every change of the page, folded away."""
    market = page.market
    with st.expander(RULES):
        st.caption(f"Id {code(market.id)}")
        if market.rules.strip():
            long_text(market.rules, "rules")
        else:
            st.caption("The venue gives none.")
    if len(page.pages) > 1:
        versions = count(len(page.pages), "version")
        with st.expander(f"Earlier versions of its page: {versions}"):
            _changes(page)


def _changes(page: MarketPage) -> None:
    """Show what changed with each version of the page."""
    changes = starmap(_page_changes, pairwise(page.pages))
    rows = list(chain.from_iterable(changes))
    put_table(rows, columns_of_table("changes of a page"), "Changes of the market's page")


def _page_changes(before: PageVersion, after: PageVersion) -> Iterator[dict[str, object]]:
    """Yield the changes between two versions of a page."""
    for name, what in FIELDS.items():
        old = getattr(before.market, name)
        new = getattr(after.market, name)
        if old != new:
            before_text = _text(name, old)
            after_text = _text(name, new)
            yield {"When": after.at, "What": what, "Before": before_text, "After": after_text}


def _text(name: str, value: Any) -> str:
    """Return a field of a page as text."""
    if isinstance(value, datetime):
        return moment(value)
    if name in WRITTEN:
        return WRITTEN[name](value)
    return str(value)
