"""The content of a site's pages, drawn by the same functions as in the dashboard."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from markupsafe import Markup, escape

from arena.record.queries.cohorts import read_cohorts, read_prompts, read_rounds
from arena.record.queries.markets import (
    BEGINNING,
    ShowingRound,
    read_last_shown,
    read_newest_instant,
)
from arena.record.schema.database import Connection
from arena.scores.all_kinds import AllKinds, all_kinds_of
from arena.scores.cache import CacheEntry
from arena.scores.comparisons import COMPARISONS, Comparisons
from arena.scores.leaderboard import Leaderboard, read_leaderboard
from arena.scores.profiles.calibrations import CALIBRATIONS, CohortCalibrations
from arena.scores.profiles.detailed_profile import FIGURES, PROFILE, explain_forecasts
from arena.scores.verdict import Verdict
from dashboard.board import (
    METACULUS_SAID,
    METACULUS_TITLE,
    RATINGS,
    BoardLook,
    equity_values,
    headline,
    is_provisional,
    market_table,
    metaculus_table,
    money_table,
    only_valuation,
    over_all_cohorts,
    progress,
    ratings,
    season_board,
    stamps,
    status_cell,
)
from dashboard.cohorts import (
    CohortReturns,
    Holding,
    Leads,
    MoneyLook,
    by_gain,
    calibration_box,
    cohort_calibration_box,
    cohort_lines,
    cohort_strip,
    curves_of,
    holdings_table,
    money_box,
    read_all_holdings,
    read_cohort_curves,
    read_cohort_returns,
    read_diagrams,
)
from dashboard.html import EMPTY, NOTHING, beside, bold, bullets, folded, lines, linked, pills, quiet, tiles
from dashboard.kinds_board import all_kinds_boxes, costs_of
from dashboard.pages import Address, way
from dashboard.record import (
    PAGE_ROWS,
    Colours,
    LeaderboardLine,
    MarketFilter,
    MarketLine,
    PnlPoint,
    SeasonOverview,
    all_markets,
    cache_note,
    leaderboard_lines,
    market_lines,
    read_failed_turns,
    read_market_list,
    read_season,
    read_summed_curves,
)
from dashboard.site.addresses import event_file, file_name
from dashboard.site.market_states import MarketState, read_market_states
from dashboard.site.standings import gather, heading, standings
from dashboard.views import agent, arena, cohort, glossary, how, market
from dashboard.views.markets import AMONG, PILLS, around_page
from dashboard.views.turn import find_turn, read_attempts, read_call_texts, read_newest_turns
from dashboard.words import (
    DONE,
    cents,
    count,
    day,
    dollars,
    filled,
    gained,
    moment,
    rounded_percent,
    rules,
    with_true_minus,
    written,
)
from markets.millionths import ONE
from markets.model import MarketId

Parts = Iterator[str | Markup]
Draw = Callable[[Address], Parts]
"""A page that is given its addresses: its heading, then its parts."""


TRADES = 100
"""The most trades of a market in a list."""


@dataclass(frozen=True)
class SeasonSite:
    """A season as it is published, in one snapshot of the record, of which only what files need is read.

    `address` is that at which it will stand, where that is known.
    """

    connection: Connection
    with_prompts: bool = False
    address: str = ""

    @cached_property
    def overview(self) -> SeasonOverview:
        """Return cohorts and agents."""
        return read_season(self.connection)

    @cached_property
    def board(self) -> Leaderboard:
        """Return the leaderboard of all, as `arena board` has it."""
        return read_leaderboard(self.connection, None)

    @cached_property
    def all_kinds(self) -> AllKinds | None:
        """Return the scores of questions of all kinds, or None if all are of yes or no."""
        return all_kinds_of(self.connection)

    @cached_property
    def verdict(self) -> Verdict | None:
        """Return the verdict of the whole record."""
        return self.all_kinds.report.verdict if self.all_kinds else self.board.verdict

    @cached_property
    def lines(self) -> tuple[LeaderboardLine, ...]:
        """Return its rows, each with its luck and calibration."""
        return leaderboard_lines(self.board, FIGURES.read(self.connection), self.verdict)

    @cached_property
    def curves(self) -> dict[str, tuple[PnlPoint, ...]]:
        """Return the profit of all accounts of each agent together, over time."""
        return read_summed_curves(self.connection, self.overview.kinds, arena.INSTANTS)

    @cached_property
    def returns(self) -> CohortReturns:
        """Return the return of each cohort."""
        return read_cohort_returns(self.connection)

    @cached_property
    def holdings(self) -> dict[str, list[Holding]]:
        """Return the open positions of each agent."""
        return read_all_holdings(self.connection)

    @cached_property
    def comparisons(self) -> CacheEntry[Comparisons] | None:
        """Return every agent against the price, with its evidence over time, read once for all of them."""
        return COMPARISONS.read(self.connection)

    @cached_property
    def states(self) -> dict[MarketId, MarketState]:
        """Return every market that agents were shown, newest first, with the state of its page."""
        shown: dict[MarketId, ShowingRound] = {}
        for some in read_last_shown(self.connection):
            shown |= some
        return read_market_states(self.connection, shown)

    @cached_property
    def events(self) -> dict[str, list[MarketId]]:
        """Return the markets of each event."""
        markets = defaultdict[str, list[MarketId]](list)
        for market_id, state in self.states.items():
            markets[state.event_id].append(market_id)
        return markets

    @cached_property
    def market_places(self) -> dict[str, str]:
        """Return the address of each market on the page of its event, by the file it would have."""
        places = {}
        for market_id, state in self.states.items():
            name = file_name(market_id)
            places[f"markets/{name}.html"] = f"{event_file(state.event_id)}#{name}"
        return places

    @cached_property
    def market_lines(self) -> dict[MarketId, MarketLine]:
        """Return every market as lists have it."""
        return {line.market.id: line for line in market_lines(self.connection, all_markets(self.connection))}

    @cached_property
    def now(self) -> datetime:
        """Return the newest instant of the record."""
        return read_newest_instant(self.connection, BEGINNING)

    @cached_property
    def newest_round(self) -> datetime | None:
        """Return the latest decisions."""
        newest = None
        for stored in read_cohorts(self.connection):
            for begun in read_rounds(self.connection, stored.id):
                newest = max(newest or begun.at, begun.at)
        return newest


def home(season: SeasonSite, address: Address) -> Parts:
    """Yield the verdict, the cohorts, money beside calibration, the board, and the latest decisions."""
    overview = season.overview
    connection = season.connection
    board = season.board
    title, rest = headline(season.verdict or Verdict())
    yield arena.short_names(title, overview.names)
    sentences = [arena.what_this_is(overview, board), *stamps(overview.cohorts)]
    if season.newest_round:
        sentences.insert(1, f"Newest round: {moment(season.newest_round)}.")
    text = arena.short_names(rest, overview.names)
    yield arena.lead(text, sentences)
    yield cohort_strip(season.returns, None, cohort.page_of, address=address)

    lines = season.lines
    names = arena.drawn_agents(overview, lines)
    drawn = {name: season.curves[name] for name in names if name in season.curves}
    colours = overview.colours(overview.first(names, arena.NAMED))
    if arena.have_all_failed(lines):
        failed = read_failed_turns(connection, arena.FAILURES, tuple(arena.WHY))
        yield arena.failures_box(failed, lines, overview, address)
    else:
        drawing = MoneyLook(
            overview, colours, href_of=_leads(address), lucks=arena.lucks_of(lines), height=arena.HIGH
        )
        charts = _calibration_or_positions(season, colours, address)
        if overview.has_money and only_valuation(drawn) is None:
            charts = beside(money_box(drawn, drawing), charts, look="halves first")
        yield charts

    earned = drawn if overview.has_money else {}
    look = BoardLook(overview, equity_values(earned, "percent"), colours, address)
    costs = None
    if season.all_kinds is not None and not overview.has_money:
        costs = costs_of(lines)
    else:
        yield season_board(lines, look, provisional=is_provisional(lines))
    yield all_kinds_boxes(season.all_kinds, overview, address, costs)
    decisions = arena.read_newest_decisions(connection, arena.copies_of(lines))
    yield arena.decisions_boxes(decisions, address)


def _leads(address: Address) -> Leads:
    """Return the function from a line to the link of its marks: its agent's page."""
    return lambda name: address(way("agent", agent=name))


def _calibration_or_positions(season: SeasonSite, colours: Colours, address: Address) -> Markup:
    """Return the calibration of agents or, until something has resolved, their positions."""
    if arena.is_before_results(season.lines):
        positions = arena.read_held_markets(season.connection)
        if positions.markets:
            return arena.positions_box(positions, address)
    diagrams = read_diagrams(season.connection, list(colours))
    return calibration_box(diagrams, colours, arena.uncalibrated(season.lines), height=arena.LOW)


def all_agents(season: SeasonSite, address: Address) -> Parts:
    """Yield the full standings, each row of which leads to its agent."""
    yield "All agents"
    yield from standings(gather(season.connection, None, season.board), address)


def one_cohort(season: SeasonSite, asked_number: int | None, address: Address) -> Parts:
    """Yield a cohort's money beside its calibration, then standings and rules.

    Without a number it is the one that tells most, with the way to all others.
    """
    overview = season.overview
    connection = season.connection
    number = asked_number or season.returns.telling
    page = cohort.read_cohort_page(connection, number)
    points = read_cohort_curves(connection, number)
    curves = curves_of(points)
    yield cohort.heading(page.line, overview, curves)
    progress_text = f"{day(page.line.starts_at)}: {progress(page.line)}."
    yield quiet(" ".join([progress_text, *stamps([page.line])]))
    if page.board is not None:
        yield quiet(with_true_minus(over_all_cohorts(season.verdict)))
        if page.line.ended_at is None:
            yield quiet(cache_note(page.board))
    if asked_number is None:
        yield cohort_strip(season.returns, number, cohort.page_of, address=address)

    colours = overview.colours(overview.first(by_gain(curves), cohort.NAMED))
    calibration = CALIBRATIONS.read(connection, number)
    if calibration is not None and page.line.ended_at is not None:
        calibration = replace(calibration, is_current=True)  # that others go on changes nothing of it
    money_look = MoneyLook(overview, colours, href_of=_leads(address))
    charts = cohort_calibration_box(calibration, colours, page.line, page.shown)
    if page.cohort.rules.money:
        charts = beside(money_box(curves, money_look, cohort.not_valued(page.line)), charts)
    yield charts
    drawn_curves = curves if page.cohort.rules.money else {}
    look = BoardLook(overview, equity_values(drawn_curves, "dollars"), colours, address)
    yield from _cohort_standings(page, calibration, look, all_kinds_of(connection, number))

    frozen = bullets(rules(page.cohort)) + cohort.line_up(page.cohort, address)
    yield folded(cohort.FROZEN, frozen)
    if page.changed:
        yield folded(f"What differs from cohort {page.before}", bullets(page.changed))


def _cohort_standings(
    page: cohort.CohortPage,
    calibration: CacheEntry[CohortCalibrations] | None,
    look: BoardLook,
    all_kinds: AllKinds | None,
) -> Iterator[Markup]:
    """Yield the board of a cohort, and the other scores of its agents."""
    names = look.overview.names
    if page.board is None:
        yield money_table(page.money, names, look.address)
        return

    lines_with_calibration = cohort_lines(page.board.value, calibration)
    has_money = page.cohort.rules.money
    if all_kinds is None or has_money:
        extra_columns = cohort.ALSO if has_money else ("resolved",)
        yield season_board(
            lines_with_calibration, look, extra_columns, provisional=is_provisional(lines_with_calibration)
        )
    costs = None if has_money else costs_of(lines_with_calibration)
    yield all_kinds_boxes(all_kinds, look.overview, look.address, costs)
    table, sentences = ratings(lines_with_calibration, [page.line])
    yield folded(RATINGS, table + quiet(lines(sentences)))
    if page.board.value.metaculus:
        table = metaculus_table(page.board.value.metaculus, names, look.address)
        yield folded(METACULUS_TITLE, table + quiet(METACULUS_SAID))


def one_agent(season: SeasonSite, name: str, address: Address) -> Parts:
    """Yield an agent's ranks and verdict, equity and calibration, evidence, cohorts, and positions."""
    overview = season.overview
    connection = season.connection
    curve = season.curves[name]
    agent_cohorts = agent.read_agent_page(connection, name)
    line = agent.line_of_agent(season.lines, name)
    yield name
    yield agent.ranks_and_description(name, agent_cohorts, line, overview)
    yield filled("<p>%s</p>", bold(agent.verdict_of(line)))
    yield from map(quiet, stamps(agent.cohorts_of(agent_cohorts, overview)))

    entry = PROFILE.read(connection, name)
    yield quiet(cache_note(entry, agent.LATER))
    details = entry.value if entry else None
    colours = overview.colours([name])
    yield tiles(agent.figures(agent_cohorts, line, overview))

    charts = agent.calibration(details, colours)
    if overview.has_money:
        equity = agent.equity(name, curve, details, MoneyLook(overview, colours))
        charts = beside(equity, charts)
    yield charts
    yield agent.evidence_chart(agent.evidence_of(season.comparisons, name), colours[name])

    yield heading("Cohort by cohort")
    yield agent.cohort_by_cohort(agent_cohorts, details, address)
    if details is not None:
        notable = explain_forecasts(connection, name, details.best, details.worst)
        yield agent.notable_boxes(notable, name, address, has_money=overview.has_money)
    held = season.holdings.get(name)
    if held:
        yield heading("Open positions")
        yield holdings_table(held, address)
    if season.with_prompts:
        yield from _prompt_parts(connection, name, agent_cohorts[-1].setup.prompts)


def _prompt_parts(connection: Connection, name: str, hashes: Mapping[str, str]) -> Iterator[Markup]:
    """Yield an agent's prompts, and the question and answer of its newest turn."""
    texts = read_prompts(connection, tuple(hashes.values()))
    texts_by_title = {f"Prompt {prompt}": texts.get(text_hash, "") for prompt, text_hash in hashes.items()}
    for newest in read_newest_turns(connection, 1, name):
        turn = find_turn(connection, newest.cohort, newest.round, name)
        if turn is None:  # its round is hidden for now
            continue
        for number, call in enumerate(read_attempts(connection, turn), start=1):
            asked = read_call_texts(connection, call.id)
            title = f"Call {number} of cohort {newest.cohort}, round {newest.round}"
            for message in asked.messages:
                texts_by_title[f"{title}: {message.role}"] = message.content
            texts_by_title[f"{title}: answer"] = asked.reply or EMPTY

    if texts_by_title:
        yield heading("Prompts and answers")
    for title, text in texts_by_title.items():
        yield folded(title, filled(TEXT, text))


TEXT = '<p class="text">%s</p>'


def list_file(key: str, page: int = 1) -> str:
    """Return the file of a list of markets.

    >>> list_file("all"), list_file("all", 2), list_file("soon")
    ('markets.html', 'markets-2.html', 'markets-soon.html')
    """
    name = "markets"
    if key != "all":
        name += f"-{key}"
    if page != 1:
        name += f"-{page}"
    return f"{name}.html"


def every_market(season: SeasonSite, page_index: int, address: Address) -> Parts:
    """Yield one of the pages with all events, counted from 0, each by its newest market."""
    event_lines = [season.market_lines[market_ids[0]] for market_ids in season.events.values()]
    start = PAGE_ROWS * page_index
    end = min(start + PAGE_ROWS, len(event_lines))
    text = "No market was shown yet."
    if event_lines:
        shown_range = f"Events {start + 1:,}–{end:,} of {len(event_lines):,}"
        text = f"{shown_range}, those shown to agents most recently first."
        text += f" Each leads to all its markets; together they are {len(season.states):,}."
    yield from _market_list("all", event_lines[start:end], text, address)

    page_links = []
    pages = around_page(page_index + 1, end < len(event_lines))
    for label, page in pages.items():
        file = list_file("all", page)
        page_links.append(filled('<a href="%s">%s</a>', file, label))
    if page_links:
        yield filled("<p>%s</p>", Markup(" · ").join(page_links))


def some_markets(season: SeasonSite, key: str, address: Address) -> Parts:
    """Yield the markets of one sort."""
    _, status, order = PILLS[key]
    listed = read_market_list(season.connection, MarketFilter(status=status, order=order))
    text = "No market has this status now."
    if listed.lines:
        text = f"{count(len(listed.lines), 'market')}{AMONG * (not listed.whole)}."
    yield from _market_list(key, listed.lines, text, address)


def _market_list(key: str, shown: Sequence[MarketLine], text: str, address: Address) -> Parts:
    """Yield a list of markets below the links to the others."""
    yield "Markets"
    ways = [(label, list_file(other), other == key) for other, (label, *_) in PILLS.items()]
    yield pills(ways, "Show")
    yield quiet(text)
    if shown:
        yield market_table(shown, address=address)


def one_event(season: SeasonSite, event_id: str, address: Address) -> Parts:
    """Yield the markets of an event, each with an anchor; several are folded."""
    market_ids = season.events[event_id]
    questions = [season.market_lines[market_id].market.question for market_id in market_ids]
    title = questions[0]
    if len(questions) > 1:
        title = f"{title} · {count(len(questions) - 1, 'related market')}"
    yield title

    for number, (market_id, question) in enumerate(zip(market_ids, questions, strict=True)):
        parts = Markup("\n").join(filter(None, _market_parts(season, market_id, address)))
        # Charts of several markets have the same names: each gets the number of its market before it.
        parts = Markup(parts.replace(' id="', f' id="{number}-'))  # noqa: S704 - markup before and after
        inside = filled('<div class="parts" id="%s">%s</div>', file_name(market_id), parts)
        if len(questions) == 1:
            yield inside
            continue
        line = season.market_lines[market_id]
        status = status_cell(line.status, line.market).shown
        yield filled(MARKET, question, status, inside)


MARKET = '<details class="market"><summary>%s%s</summary>%s</details>'


def _market_parts(season: SeasonSite, market_id: MarketId, address: Address) -> Parts:
    """Yield a market's price, forecasts and reasons, positions, result and rules."""
    connection = season.connection
    page = market.read_market_page(connection, market_id, season.now)
    assert page is not None, market_id
    if page.market.closes_at > season.now and not page.resolutions:
        page = replace(page, now=_newest(page))  # what is drawn holds until its own next change
    history = market.read_market_history(connection, market_id, page.last_showing_cohort, page.rounds)
    overview = season.overview
    if page.market.form:
        yield market.question_head(page, history, overview, page.last_showing_cohort, address=address)
    else:
        drawn = _forecast_meters(history, overview)
        yield market.market_head(
            page, history, overview, page.last_showing_cohort, address=address, forecasts_picture=drawn
        )

    if page.positions:
        yield heading("Positions")
        yield bullets(_position_text(position, address) for position in page.positions)
        yield quiet(market.about_positions(page.positions))
    if page.trades:
        title = f"Trades: {len(page.trades)}"
        if len(page.trades) > TRADES:
            title = f"Trades: the newest {TRADES} of {len(page.trades):,}"
        trades = bullets(map(_trade_text, page.trades[:TRADES]))
        yield folded(title, trades)
    if page.resolutions:
        yield heading("Resolution")
        resolution = page.resolutions[-1][0]
        yield filled("<p>%s</p>", bold(market.about_resolution(resolution, page.market.form)))
    if page.market.rules.strip():
        rules_text = filled(TEXT, page.market.rules)
        yield folded(market.RULES, rules_text)


METER = '<li class="%s"><label>%s <meter value="%s"></meter> <span>%s</span></label></li>'


def _forecast_meters(history: market.History, overview: SeasonOverview) -> Markup:
    """Return the last forecast of each agent, from the highest to the lowest."""
    meters = NOTHING
    for forecast in market.last_stated(history):
        share = forecast.probability / ONE
        look = "" if overview.has_opinion(forecast.agent) else "rest"
        text = rounded_percent(forecast.probability)
        meters += filled(METER, look, forecast.agent, round(share, 2), text)
    return filled('<ul class="meters">%s</ul>', meters)


def _position_text(position: market.MarketPosition, address: Address) -> Markup:
    """Say what an agent bought in a cohort, what it holds, and its profit."""
    made = position.lot.money
    bought = written(position.bought / ONE, "localized")
    text = f", cohort {position.cohort}: {bought} {position.side}"
    text += f" for {dollars(made.paid)}"
    if position.lot.shares:
        held = written(position.lot.shares / ONE, "localized")
        text += f", holds {held}"
    href = address(way("agent", agent=position.agent))
    name = linked(escape(position.agent), href)
    return filled("%s%s, %s", name, text, gained(made.total))


def _trade_text(trade: market.MarketTrade) -> str:
    """Say who traded what, when and at which price."""
    shares = written(trade.shares / ONE, "localized")
    trade_words = f"{DONE[trade.action]} {shares} {trade.side}"
    at = f"{day(trade.at)}, cohort {trade.cohort}"
    price = cents(round(trade.price))
    return f"{at}: {trade.agent} {trade_words} at {price}, {dollars(trade.amount)}"


def _newest(page: market.MarketPage) -> datetime:
    """Return when a market was last read or forecast."""
    instants = [page.pages[-1].at, *(place.at for place in page.rounds[-1:])]
    if page.quote:
        instants.append(page.quote.at)
    return max(instants)


def not_found(_season: SeasonSite, address: Address) -> Parts:
    """Yield a note that there is nothing at an address, and links to what there is."""
    yield "No such page"
    leads_on = linked(Markup("The leaderboard"), address(way("arena")))
    yield filled("<p>There is nothing here. %s leads on.</p>", leads_on)


def how_it_works(season: SeasonSite, address: Address) -> Parts:
    """Yield how it works, and what the figures mean."""
    yield how.TITLE
    yield how.how_it_works(how.read_newest(season.connection), address)


def all_words(_season: SeasonSite, _address: Address) -> Parts:
    """Yield the glossary."""
    yield glossary.TITLE
    yield glossary.glossary(glossary.words())
