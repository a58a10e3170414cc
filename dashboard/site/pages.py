"""What the pages of a site show, each drawn by the functions that draw it in the dashboard."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from markupsafe import Markup

from arena.record.queries.cohorts import read_prompts
from arena.record.queries.turns import find_turn, read_attempts, read_call_texts, read_newest_turns
from arena.record.schema.database import Connection
from arena.scores.leaderboard import Leaderboard
from arena.scores.profiles.calibrations import CALIBRATIONS
from arena.scores.profiles.detailed_profile import PROFILE
from dashboard.board import (
    METACULUS_SAID,
    RATINGS,
    UNRANKED,
    board_table,
    columns_of,
    headline,
    market_table,
    metaculus_table,
    money_table,
    progress,
    ratings,
    short_board,
    stamps,
)
from dashboard.html import bold, columns, folded, lines, pills, points, quiet, tiles
from dashboard.pages import Address
from dashboard.record import (
    LeaderboardLine,
    MarketLine,
    PnlPoint,
    SeasonOverview,
    cache_note,
    leaderboard_lines,
)
from dashboard.site.standings import ReportFacts, heading, standings
from dashboard.views import agent, arena, cohort, glossary, how, market
from dashboard.views.agent import Holding, holdings_table
from dashboard.views.markets import PILLS
from dashboard.words import day, filled, moment, rules, with_true_minus
from markets.model import MarketId

Draw = Callable[[Address], Iterator[str | Markup]]
"""A page that is told where links lead: its heading, then its parts."""


TRADES = 100
"""So many trades of a market are listed."""


def home(
    connection: Connection,
    known: SeasonOverview,
    board: Leaderboard,
    shown: Sequence[LeaderboardLine],
    curves: Mapping[str, Sequence[PnlPoint]],
    newest: datetime | None,
    address: Address,
) -> Iterator[str | Markup]:
    """The verdict, the race, what was decided last, and the short board."""
    yield headline(board)
    when = f" Newest round: {moment(newest)}." if newest else ""
    yield quiet(" ".join([arena.what_this_is(known, board) + when, *stamps(known.cohorts)]))
    yield quiet(with_true_minus(board.sentence))
    players = arena.racing(known, shown)
    drawn = {name: curves[name] for name in players if name in curves}
    colours = known.colours(players[: arena.NAMED])
    decisions = arena.decisions(arena.read_newest_decisions(connection), address)
    yield arena.opening(arena.race(known, drawn, colours, shown), board, decisions)
    equity = {name: [point.percent for point in line] for name, line in drawn.items()}
    ranked = [line for line in shown if line.is_on_board]
    yield short_board(ranked, known, equity, colours, board.bar, address=address)
    yield from _unranked(shown, known, address)


def _unranked(shown: Sequence[LeaderboardLine], known: SeasonOverview, address: Address) -> Iterator[Markup]:
    others = [line for line in shown if not line.is_on_board]
    if others:
        yield heading("Not ranked")
        says = "Agents that are not ranked, and why"
        yield board_table(says, UNRANKED, others, known.names, address)


def all_agents(facts: ReportFacts, address: Address) -> Iterator[str | Markup]:
    """The standings whole, each row of which leads to its agent."""
    yield "All agents"
    yield from standings(facts, address)


def one_cohort(
    connection: Connection, known: SeasonOverview, number: int, address: Address, with_pills: bool
) -> Iterator[str | Markup]:
    """Its money beside its calibration, then standings and rules; with the way to all others, or without."""
    page = cohort.read_cohort_page(connection, number)
    curves = cohort.by_agent(cohort.read_cohort_curves(connection, number))
    yield cohort.heading(number, cohort.playing(known, curves), page.line.ended_at is not None)
    if with_pills:
        yield cohort.cohort_pills(cohort.read_cohort_returns(connection), number, address)
    yield quiet(" ".join([f"{day(page.line.starts_at)}: {progress(page.line)}.", *stamps([page.line])]))
    if page.board is not None:
        yield quiet(with_true_minus(page.board.value.sentence))
    if page.board is not None and not page.board.is_current and page.line.ended_at is None:
        yield quiet(cache_note(page.board))
    players = cohort.by_gain(cohort.playing(known, curves))
    colours = known.colours(players[: cohort.NAMED])
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
        more = columns_of("return_pct", "bets", "resolved")
        ranked = [line for line in every if line.is_on_board]
        yield short_board(ranked, known, equity, colours, page.board.value.bar, more, address)
        yield from _unranked(every, known, address)
        table, said = ratings(every, [page.line])
        yield folded(RATINGS, table + quiet(lines(said)))
        if page.board.value.metaculus:
            table = metaculus_table(page.board.value.metaculus, known.names, address)
            yield folded("By Metaculus's scores", table + quiet(METACULUS_SAID))
    frozen = points(rules(page.cohort)) + cohort.line_up(page.cohort, address)
    yield folded("How this cohort plays: rules and line-up, frozen at its start", frozen)
    if page.changed:
        yield folded(f"What differs from cohort {page.before}", points(page.changed))


def one_agent(
    connection: Connection,
    known: SeasonOverview,
    ranked: Sequence[LeaderboardLine],
    curve: Sequence[PnlPoint],
    held: Sequence[Holding],
    evidence: agent.AgentEvidence | None,
    name: str,
    address: Address,
) -> Iterator[str | Markup]:
    """Its rank and verdict, equity beside calibration, evidence, its cohorts, and what it holds."""
    yield name
    stays, entry = agent.read_agent_page(connection, name), PROFILE.read(connection, name)
    found = None if entry is None else entry.value
    line = agent.line_of_agent(ranked, name)
    yield agent.chips(name, stays, ranked, known)
    yield filled("<p>%s</p>", bold(agent.said_of(stays, found, line, evidence)))
    numbers = {stay.cohort for stay in stays}
    yield from map(quiet, stamps(line for line in known.cohorts if line.number in numbers))
    yield quiet(cache_note(entry, agent.LATER)) if entry is None or not entry.is_current else ""
    look = known.colours([name])[name]
    yield tiles(agent.figures(stays, found, line, curve, known.is_simulated, look))
    yield columns(agent.equity(curve, found, look), agent.calibration(found, look))
    yield agent.evidence_chart(evidence, look)
    yield heading("Cohort by cohort")
    yield agent.cohort_by_cohort(stays, found, address)
    if held:
        yield heading("Open positions")
        yield holdings_table(held, address)


def prompts_of(connection: Connection, name: str) -> Iterator[Markup]:
    """The prompts that an agent is asked by, and what was asked and answered in its newest turn."""
    hashes = agent.read_agent_page(connection, name)[-1].setup.prompts
    texts = read_prompts(connection, tuple(hashes.values()))
    shown = {f"Prompt {prompt}": texts.get(hash, "") for prompt, hash in hashes.items()}
    for newest in read_newest_turns(connection, 1, name):
        turn = find_turn(connection, newest.cohort, newest.round, name)
        for number, call in enumerate(read_attempts(connection, turn) if turn else (), start=1):
            said, where = (
                read_call_texts(connection, call.id),
                f"cohort {newest.cohort}, round {newest.round}",
            )
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


def some_markets(
    key: str, shown: Sequence[MarketLine], said: str, around: Mapping[str, str], address: Address
) -> Iterator[str | Markup]:
    """Markets of one sort, and the ways to the other lists."""
    yield "Markets"
    yield pills([(label, list_file(one), one == key) for one, (label, *_) in PILLS.items()], "Show")
    yield quiet(said)
    if shown:
        yield market_table(shown, address=address)
    steps = [filled('<a href="%s">%s</a>', href, label) for label, href in around.items()]
    yield filled("<p>%s</p>", Markup(" · ").join(steps)) if steps else ""


def one_market(
    connection: Connection,
    known: SeasonOverview,
    id: MarketId,
    now: datetime,
    related: Sequence[MarketLine],
    address: Address,
) -> Iterator[str | Markup]:
    """Its price, what every agent says and why, who held it, how it ended, and its rules."""
    page = market.read_market_page(connection, id, now)
    assert page is not None, id
    yield page.market.question
    if page.market.closes_at > now and not page.ends:
        page = replace(page, now=_newest(page))  # what is drawn holds until its own next change
    found = market.read_market_history(connection, id, page.spoken_last, page.offered)
    yield market.market_head(page, found, known, page.spoken_last, address=address)
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
    if related:
        yield heading("Related markets")
        yield market_table(related, ("question", "status", "closes"), address)
    if page.market.rules.strip():
        rules = filled('<p class="text">%s</p>', page.market.rules)
        yield folded("The rules, as the venue has them", rules)


def _newest(page: market.MarketPage) -> datetime:
    """When something was last read or said of it."""
    known = [page.pages[-1].at, *(place.at for place in page.offered[-1:])]
    return max([*known, page.quote.at] if page.quote else known)


def how_it_works(connection: Connection, address: Address) -> Iterator[str | Markup]:
    """What is played, and what the figures mean."""
    yield "How it works"
    yield how.how_it_works(how.read_newest(connection), address)


def all_words(_: Address) -> Iterator[str | Markup]:
    """The glossary."""
    yield "Glossary"
    yield glossary.glossary(glossary.words())
