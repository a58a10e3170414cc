"""What the pages of a site show, each drawn by the functions that draw it in the dashboard."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from markupsafe import Markup

from arena.record.queries.cohorts import read_cohorts, read_prompts, read_rounds
from arena.record.queries.markets import BEGINNING, read_last_shown, read_newest_instant
from arena.record.schema.database import Connection
from arena.scores.cache import CacheEntry
from arena.scores.comparisons import COMPARISONS, Comparisons
from arena.scores.leaderboard import Leaderboard, read_leaderboard
from arena.scores.profiles.calibrations import CALIBRATIONS
from arena.scores.profiles.detailed_profile import FIGURES, PROFILE
from arena.scores.verdict import Verdict
from dashboard.board import (
    METACULUS_SAID,
    RATINGS,
    BoardLook,
    BoardTable,
    board_tables,
    headline,
    is_provisional,
    market_table,
    metaculus_table,
    money_table,
    over_all_cohorts,
    progress,
    ratings,
    stamps,
)
from dashboard.html import bold, columns, folded, lines, pills, points, quiet, tiles
from dashboard.pages import Address
from dashboard.record import (
    PAGE_ROWS,
    LeaderboardLine,
    MarketFilter,
    MarketLine,
    PnlPoint,
    SeasonOverview,
    all_markets,
    cache_note,
    leaderboard_lines,
    market_lines,
    read_market_list,
    read_season,
    read_summed_curves,
)
from dashboard.site.market_states import MarketState, read_market_states
from dashboard.site.standings import gather, heading, standings
from dashboard.views import agent, arena, cohort, glossary, how, market
from dashboard.views.agent import Holding, holdings_table, read_all_holdings
from dashboard.views.markets import PILLS
from dashboard.views.turn import find_turn, read_attempts, read_call_texts, read_newest_turns
from dashboard.words import count, day, filled, moment, rules, with_true_minus
from markets.model import MarketId

Draw = Callable[[Address], Iterator[str | Markup]]
"""A page that is told where links lead: its heading, then its parts."""


TRADES = 100
"""So many trades of a market are listed."""


@dataclass(frozen=True)
class SeasonSite:
    """A season as it is published, in one look at the record. What files don't ask for is not read."""

    connection: Connection
    with_prompts: bool = False

    @cached_property
    def known(self) -> SeasonOverview:
        """Cohorts and agents."""
        return read_season(self.connection)

    @cached_property
    def board(self) -> Leaderboard:
        """The leaderboard of all, as `arena board` has it."""
        return read_leaderboard(self.connection, None)

    @cached_property
    def lines(self) -> tuple[LeaderboardLine, ...]:
        """Its rows, each with what luck and calibration come to."""
        figures = FIGURES.read(self.connection)
        briefs = {} if figures is None else {one.agent: one for one in figures.value}
        return leaderboard_lines(self.board, briefs)

    @cached_property
    def curves(self) -> dict[str, tuple[PnlPoint, ...]]:
        """What all accounts of each agent together had made, over time."""
        return read_summed_curves(self.connection, [name for name, _ in self.known.agents], arena.INSTANTS)

    @cached_property
    def holdings(self) -> dict[str, tuple[Holding, ...]]:
        """What each agent holds now."""
        return read_all_holdings(self.connection)

    @cached_property
    def comparisons(self) -> CacheEntry[Comparisons] | None:
        """Every agent against the market, with its evidence over time: read once for all of them."""
        return COMPARISONS.read(self.connection)

    @cached_property
    def states(self) -> dict[MarketId, MarketState]:
        """Every market that agents were shown, the newest first, and what its page is made of."""
        shown = {
            market_id: last_round
            for some in read_last_shown(self.connection)
            for market_id, last_round in some.items()
        }
        return read_market_states(self.connection, shown)

    @cached_property
    def events(self) -> dict[str, list[MarketId]]:
        """The markets of each event."""
        found = defaultdict[str, list[MarketId]](list)
        for market_id, state in self.states.items():
            found[state.event_id].append(market_id)
        return found

    @cached_property
    def market_lines(self) -> dict[MarketId, MarketLine]:
        """Every market as lists have it."""
        return {line.market.id: line for line in market_lines(self.connection, all_markets(self.connection))}

    @cached_property
    def now(self) -> datetime:
        """The newest instant of the record."""
        return read_newest_instant(self.connection, BEGINNING)

    @cached_property
    def newest_round(self) -> datetime | None:
        """When was decided last."""
        begun = (
            one.at
            for stored in read_cohorts(self.connection)
            for one in read_rounds(self.connection, stored.id)
        )
        return max(begun, default=None)


def home(season: SeasonSite, address: Address) -> Iterator[str | Markup]:
    """The verdict, the race, what was decided last, and the short board."""
    known, board, shown, newest = season.known, season.board, season.lines, season.newest_round
    title, rest = headline(board.verdict or Verdict())
    yield title
    when = f" Newest round: {moment(newest)}." if newest else ""
    yield quiet(" ".join([arena.what_this_is(known, board) + when, *stamps(known.cohorts)]))
    yield quiet(with_true_minus(rest)) if rest else ""
    players = arena.racing(known, shown)
    drawn = {name: season.curves[name] for name in players if name in season.curves}
    colours = known.colours(known.first(players, arena.NAMED))
    decisions = arena.decisions(arena.read_newest_decisions(season.connection), address)
    yield arena.opening(arena.race(known, drawn, colours, shown), board, decisions)
    equity = {name: [point.percent for point in line] for name, line in drawn.items()}
    look = BoardLook(known, equity, colours, address)
    yield from _board(board_tables(shown, look, provisional=is_provisional(shown)))


def _board(tables: Sequence[BoardTable]) -> Iterator[Markup]:
    """The tables of a board under their headings."""
    for one in tables:
        if one.heading:
            yield heading(one.heading)
        yield one.table


def all_agents(season: SeasonSite, address: Address) -> Iterator[str | Markup]:
    """The standings whole, each row of which leads to its agent."""
    yield "All agents"
    yield from standings(gather(season.connection, None, season.board), address)


def one_cohort(season: SeasonSite, asked: int | None, address: Address) -> Iterator[str | Markup]:
    """Its money beside its calibration, then standings and rules.

    Without a number it is the one that tells most, with the way to all others.
    """
    known, connection = season.known, season.connection
    number = asked or cohort.read_cohort_returns(connection).telling
    page = cohort.read_cohort_page(connection, number)
    curves = cohort.by_agent(cohort.read_cohort_curves(connection, number))
    yield cohort.heading(number, known, curves)
    if asked is None:
        yield cohort.cohort_pills(cohort.read_cohort_returns(connection), number, address)
    yield quiet(" ".join([f"{day(page.line.starts_at)}: {progress(page.line)}.", *stamps([page.line])]))
    if page.board is not None:
        yield quiet(with_true_minus(over_all_cohorts(season.board.verdict)))
    if page.board is not None and not page.board.is_current and page.line.ended_at is None:
        yield quiet(cache_note(page.board))
    colours = known.colours(known.first(cohort.by_gain(curves), cohort.NAMED))
    calibration = CALIBRATIONS.read(connection, number)
    if calibration is not None and page.line.ended_at is not None:
        calibration = replace(calibration, is_current=True)  # that others go on changes nothing of it
    money = cohort.money_box(curves, colours, "dollars", known)
    yield columns(money, cohort.calibration_box(calibration, "stated", colours))
    if page.board is None:
        yield money_table(page.money, known.names, address)
    else:
        every = leaderboard_lines(page.board.value)
        equity = {name: [point.dollars for point in line] for name, line in curves.items()}
        look = BoardLook(known, equity, colours, address)
        tables = board_tables(every, look, cohort.COHORT_COLUMNS, provisional=is_provisional(every))
        yield from _board(tables)
        table, said = ratings(every, [page.line])
        yield folded(RATINGS, table + quiet(lines(said)))
        if page.board.value.metaculus:
            table = metaculus_table(page.board.value.metaculus, known.names, address)
            yield folded("By Metaculus's scores", table + quiet(METACULUS_SAID))
    frozen = points(rules(page.cohort)) + cohort.line_up(page.cohort, address)
    yield folded("How this cohort plays: rules and line-up, frozen at its start", frozen)
    if page.changed:
        yield folded(f"What differs from cohort {page.before}", points(page.changed))


def one_agent(season: SeasonSite, name: str, address: Address) -> Iterator[str | Markup]:
    """Its ranks and verdict, equity beside calibration, evidence, its cohorts, and what it holds."""
    yield name
    known, connection, curve = season.known, season.connection, season.curves[name]
    stays, entry = agent.read_agent_page(connection, name), PROFILE.read(connection, name)
    evidence = agent.evidence_of(season.comparisons, name)
    found = None if entry is None else entry.value
    line = agent.line_of_agent(season.lines, name)
    yield agent.chips(name, stays, line, known)
    yield filled("<p>%s</p>", bold(agent.verdict_of(line)))
    numbers = {stay.cohort for stay in stays}
    yield from map(quiet, stamps(line for line in known.cohorts if line.number in numbers))
    yield quiet(cache_note(entry, agent.LATER)) if entry is None or not entry.is_current else ""
    look = known.colours([name])[name]
    yield tiles(agent.figures(stays, found, line, curve, known.is_simulated, look))
    yield columns(agent.equity(curve, found, look), agent.calibration(found, look))
    yield agent.evidence_chart(evidence, look)
    yield heading("Cohort by cohort")
    yield agent.cohort_by_cohort(stays, found, address)
    if held := season.holdings.get(name):
        yield heading("Open positions")
        yield holdings_table(held, address)
    if season.with_prompts:
        yield from _prompts(connection, name, stays[-1].setup.prompts)


def _prompts(connection: Connection, name: str, hashes: Mapping[str, str]) -> Iterator[Markup]:
    """The prompts that an agent is asked by, and what was asked and answered in its newest turn."""
    texts = read_prompts(connection, tuple(hashes.values()))
    shown = {f"Prompt {prompt}": texts.get(text_hash, "") for prompt, text_hash in hashes.items()}
    for newest in read_newest_turns(connection, 1, name):
        turn = find_turn(connection, newest.cohort, newest.round, name)
        where = f"cohort {newest.cohort}, round {newest.round}"
        for number, call in enumerate(read_attempts(connection, turn) if turn else (), start=1):
            said = read_call_texts(connection, call.id)
            for message in said.messages:
                shown[f"Call {number} of {where}: {message.role}"] = message.content
            shown[f"Call {number} of {where}: answer"] = said.reply or "–"
    if shown:
        yield heading("Prompts and answers")
    for title, text in shown.items():
        yield folded(title, filled('<p class="text">%s</p>', text))


def list_file(key: str, page: int = 1) -> str:
    """The file of a list of markets.

    >>> list_file("all"), list_file("all", 2), list_file("soon")
    ('markets.html', 'markets-2.html', 'markets-soon.html')
    """
    return "markets" + ("" if key == "all" else f"-{key}") + ("" if page == 1 else f"-{page}") + ".html"


def every_market(season: SeasonSite, place: int, address: Address) -> Iterator[str | Markup]:
    """One of the pages that have all markets together, counted from 0."""
    every, start = list(season.market_lines.values()), PAGE_ROWS * place
    shown, last = every[start : start + PAGE_ROWS], min(start + PAGE_ROWS, len(every))
    said = f"Markets {start + 1:,}–{last:,} of {len(every):,}, those shown to agents most recently first."
    around = {"← Previous page": place, "Next page →": place + 2 if last < len(every) else 0}
    steps = [
        filled('<a href="%s">%s</a>', list_file("all", page), label) for label, page in around.items() if page
    ]
    yield from _markets("all", shown, said if every else "No market was shown yet.", address)
    yield filled("<p>%s</p>", Markup(" · ").join(steps)) if steps else ""


def some_markets(season: SeasonSite, key: str, address: Address) -> Iterator[str | Markup]:
    """The markets of one sort."""
    _, status, order = PILLS[key]
    found = read_market_list(season.connection, MarketFilter(status=status, order=order))
    among = "" if found.whole else ", chosen among those that agents were shown most recently"
    said = f"{count(len(found.lines), 'market')}{among}." if found.lines else "No market is so now."
    yield from _markets(key, found.lines, said, address)


def _markets(key: str, shown: Sequence[MarketLine], said: str, address: Address) -> Iterator[str | Markup]:
    """A list of markets under the ways to the others."""
    yield "Markets"
    yield pills([(label, list_file(one), one == key) for one, (label, *_) in PILLS.items()], "Show")
    yield quiet(said)
    yield market_table(shown, address=address) if shown else ""


def one_market(season: SeasonSite, market_id: MarketId, address: Address) -> Iterator[str | Markup]:
    """Its price, what every agent says and why, who held it, how it ended, and its rules."""
    connection, now = season.connection, season.now
    page = market.read_market_page(connection, market_id, now)
    assert page is not None, market_id
    yield page.market.question
    if page.market.closes_at > now and not page.ends:
        page = replace(page, now=_newest(page))  # what is drawn holds until its own next change
    found = market.read_market_history(connection, market_id, page.spoken_last, page.offered)
    yield market.market_head(page, found, season.known, page.spoken_last, address=address)
    if page.positions:
        yield heading("Positions")
        yield market.positions_table(page.positions, address)
        yield quiet(market.about_positions(page.positions))
    if page.dealt:
        of = f"the newest {TRADES} of {len(page.dealt):,}" if len(page.dealt) > TRADES else len(page.dealt)
        yield folded(f"Trades: {of}", market.trades_table(page.dealt[:TRADES], address))
    if page.ends:
        yield heading("Resolution")
        yield filled("<p>%s</p>", bold(market.about_resolution(page.ends[-1][0])))
    others = [one for one in season.events[season.states[market_id].event_id] if one != market_id]
    if related := [season.market_lines[one] for one in others[:PAGE_ROWS]]:
        yield heading("Related markets")
        yield market_table(related, ("question", "status", "closes"), address)
    if page.market.rules.strip():
        rules = filled('<p class="text">%s</p>', page.market.rules)
        yield folded("The rules, as the venue has them", rules)


def _newest(page: market.MarketPage) -> datetime:
    """When something was last read or said of it."""
    known = [page.pages[-1].at, *(place.at for place in page.offered[-1:])]
    return max([*known, page.quote.at] if page.quote else known)


def how_it_works(season: SeasonSite, address: Address) -> Iterator[str | Markup]:
    """What is played, and what the figures mean."""
    yield "How it works"
    yield how.how_it_works(how.read_newest(season.connection), address)


def all_words(_season: SeasonSite, _address: Address) -> Iterator[str | Markup]:
    """The glossary."""
    yield "Glossary"
    yield glossary.glossary(glossary.words())
