"""One agent over all its cohorts: ranks, verdict, equity and calibration, then details in tabs."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import accumulate, chain, pairwise
from math import ceil, isnan, log10
from typing import Any, Literal

import streamlit as st
from markupsafe import Markup

from arena.cohorts.diff import AgentSetup, agent_setup, setting_in_words, setup_differences
from arena.errors import times_text
from arena.record.queries.calls import CALL_TOTALS
from arena.record.queries.cohorts import read_cohorts, read_prompts
from arena.record.schema.cohort import EntrantRow, RoundRow
from arena.record.schema.database import Connection
from arena.record.schema.newest import newest_rows
from arena.record.schema.statements import batches
from arena.record.schema.turn import CallRow, FillRow, ForecastRow, RejectionRow, TurnRow
from arena.record.schema.typed import case, clause, col, func, read_objects, select, select_fields
from arena.record.schema.world import MarketVersionRow
from arena.scores.cache import CacheEntry
from arena.scores.comparisons import COMPARISONS, Comparisons, CurvePoint
from arena.scores.profiles.agent_profile import ProfitOrigin
from arena.scores.profiles.calibrations import CALIBRATIONS
from arena.scores.profiles.detailed_profile import (
    PROFILE,
    DetailedProfile,
    ExplainedForecast,
    NotableForecasts,
    explain_forecasts,
)
from arena.scores.rules.comparisons.events import ENOUGH_EVENTS
from arena.scores.rules.comparisons.gain import Gain
from arena.scores.rules.metaculus.table import COMMUNITY
from arena.scores.rules.money.event_exposure import EventExposure
from arena.scores.rules.money.luck import Luck
from arena.scores.rules.money.profit_split import ProfitSplit
from arena.scores.rules.reliability.calibration_slices import CalibrationSlice as Calibrated
from arena.scores.rules.reliability.reading import WHERE_SURE
from arena.scores.rules.statements.blind_forecasts import BlindEffect
from dashboard.board import (
    CALIBRATION,
    METACULUS_TITLE,
    RATINGS,
    calibration_words,
    closer_span,
    draw_span,
    leading,
    progress,
    show_metaculus,
    show_ratings,
    span_scale,
    span_text,
    stamps,
)
from dashboard.charts import LONG, Line, calibration_chart, columns_chart, line_chart
from dashboard.cohorts import (
    Curves,
    Holding,
    MoneyLook,
    asked_cohort,
    by_gain,
    calibration_box,
    cohort_calibration_box,
    cohort_lines,
    cohort_strip,
    curves_of,
    holdings_table,
    money_box,
    read_cohort_curves,
    read_cohort_positions,
    read_cohort_returns,
    read_holdings,
    rounds_of,
    turns_of,
)
from dashboard.html import (
    EMPTY,
    NOTHING,
    HtmlColumn,
    Quotation,
    Rows,
    Tile,
    beside,
    box,
    columns_of_table,
    gain_look,
    html_table,
    meanings,
    quiet,
    quotes,
    tag,
    tiles,
)
from dashboard.pages import (
    Address,
    choice,
    in_app,
    link,
    no_such,
    on_demand,
    options_of,
    put,
    put_section,
    put_table,
    show_cached,
    staying,
    subheading,
    way,
    way_to_agent,
)
from dashboard.pictures import CHOSEN, Scale, step_bar
from dashboard.questions import (
    MOST_ANSWERS,
    AgentAnswer,
    answer_picture,
    answer_words,
    end_words,
    read_agent_answers,
)
from dashboard.record import (
    CohortLine,
    Colours,
    LeaderboardLine,
    Lines,
    PnlPoint,
    RecordSource,
    SeasonOverview,
    by_leaderboard,
    read_account_spans,
    read_cached,
    read_equity_at,
    read_event_questions,
    read_leaderboard_page,
    read_round_times,
    read_summed_curves,
    season,
)
from dashboard.words import (
    count,
    day,
    dollars,
    escaped,
    filled,
    flat,
    gained,
    in_dollars,
    moment,
    plain,
    settings,
    written,
)
from markets.distributions import form_of
from markets.millionths import ONE


@dataclass(frozen=True, slots=True)
class CallSums:
    """Calls of an entrant that one model answered, or that ended in one error; costs in millionths.

    The cost is of those calls whose cost is known; of `unknown` calls it isn't.
    """

    entrant_id: int
    model: str
    fingerprint: str
    error: str | None
    calls: int
    tokens_in: int
    tokens_out: int
    cost: int
    unknown: int
    first_at: datetime
    last_at: datetime


def read_call_sums(connection: Connection, entrant_ids: Collection[int]) -> list[CallSums]:
    """Return the calls of these entrants by what answered or failed, oldest first within an entrant."""
    is_answered = col(CallRow.error_code).is_(None)
    model = case((is_answered, CallRow.model), else_="")
    fingerprint = case((is_answered, CallRow.fingerprint), else_="")
    first_at = func.min(CallRow.made_at)
    columns = {"model": model, "fingerprint": fingerprint, "error": CallRow.error_code}
    times = {"first_at": first_at, "last_at": func.max(CallRow.made_at)}
    is_asked = col(CallRow.entrant_id).in_(entrant_ids)
    query = (
        select_fields(CallSums, CallRow, **columns, **CALL_TOTALS, **times)
        .where(is_asked)
        .group_by(CallRow.entrant_id, model, fingerprint, CallRow.error_code)
        .order_by(CallRow.entrant_id, first_at)
    )
    return read_objects(CallSums, connection.execute(query))


Counted = Literal["turns", "fills", "rejections", "forecasts"]
COUNTED_COLUMNS: dict[Counted, tuple[Any, Any]] = {
    "turns": (TurnRow, TurnRow.status),
    "fills": (FillRow, FillRow.action),
    "rejections": (RejectionRow, RejectionRow.code),
    "forecasts": (ForecastRow, ForecastRow.stage),
}
OWN_TURNS = EntrantRow.__table__.join(RoundRow, clause(RoundRow.cohort_id == EntrantRow.cohort_id)).join(
    TurnRow, clause((TurnRow.round_id == RoundRow.id) & (TurnRow.entrant_id == EntrantRow.id))
)


def read_counts(
    connection: Connection, counted: Counted, entrant_ids: Collection[int]
) -> dict[int, dict[str, int]]:
    """Count each value, by entrant.

    Turns are counted by how they ended, fills by whether they bought or sold, rejections by their reason and
    forecasts by their stage.
    """
    row, column = COUNTED_COLUMNS[counted]
    source = OWN_TURNS if row is TurnRow else OWN_TURNS.join(row, row.turn_id == TurnRow.id)
    is_asked = col(EntrantRow.id).in_(entrant_ids)
    query = (
        select(EntrantRow.id, column, func.count())
        .select_from(source)
        .where(is_asked)
        .group_by(EntrantRow.id, column)
        .order_by(EntrantRow.id, column)
    )
    counts: dict[int, dict[str, int]] = {}
    rows = connection.execute(query)
    for entrant_id, value, times in rows:
        counts.setdefault(entrant_id, {})[value] = times
    return counts


def read_held_events(connection: Connection, market_ids: Sequence[str]) -> dict[str, str]:
    """Return by event the question of the first of these markets that belongs to it."""
    questions: dict[str, str] = {}
    for batch in batches(market_ids):
        rows = newest_rows(connection, MarketVersionRow, batch, "version", "event_id", "question")
        for market in batch:
            row = rows[market]
            questions.setdefault(row.event_id, row.question)
    return questions


def read_questions(connection: Connection, market_ids: Sequence[str]) -> dict[str, str]:
    """Return the question of each market, as its page said last."""
    questions: dict[str, str] = {}
    for batch in batches(market_ids):
        rows = newest_rows(connection, MarketVersionRow, batch, "version", "question")
        questions |= {market: row.question for market, row in rows.items()}
    return questions


@dataclass(frozen=True, slots=True)
class AgentCohort:
    """An agent in one cohort: how it is set up, what was changed, how its turns ended, and what it has made.

    `pnl` is None before the first mark and where nobody bets. `statuses` counts turns, `refused` orders.
    """

    cohort: int
    starts_at: datetime
    ended: bool
    bankroll: int
    pnl: int | None
    bets: int
    sales: int
    forecasts: int
    statuses: dict[str, int]
    refused: dict[str, int]
    setup: AgentSetup
    changed: tuple[str, ...]
    answers: tuple[CallSums, ...]


AgentCohorts = Sequence[AgentCohort]
"""An agent over all its cohorts, oldest first."""


@dataclass(frozen=True, slots=True)
class EvidenceCurve:
    """What a bet on an agent's skill has made of 1, and the capital that a verdict against the price needs.

    References have no verdict, and so no `bar`.
    """

    points: tuple[CurvePoint, ...] = ()
    bar: float | None = None


def read_agent_evidence(connection: Connection, name: str) -> EvidenceCurve:
    """Return the evidence of an agent from the newest cached comparisons; empty if it has none."""
    return evidence_of(COMPARISONS.read(connection), name)


def evidence_of(entry: CacheEntry[Comparisons] | None, name: str) -> EvidenceCurve:
    """Return the evidence of an agent from the cached comparisons of all."""
    if entry is None:
        return EvidenceCurve()
    return EvidenceCurve(entry.value.evidence.get(name, ()), entry.value.bars.get(name))


def read_agent_page(connection: Connection, name: str) -> tuple[AgentCohort, ...]:
    """Return everything that the record itself has on an agent."""
    stored_cohorts = [stored for stored in read_cohorts(connection) if name in stored.entrant_ids]
    ids = [stored.entrant_ids[name] for stored in stored_cohorts]
    spans = read_account_spans(connection, ids)
    last_instants = [(span.entrant_id, span.last_at) for span in spans]
    equities = read_equity_at(connection, last_instants)
    newest_equity = {equity.entrant_id: equity.total for equity in equities}
    call_sums_of: dict[int, list[CallSums]] = {entrant_id: [] for entrant_id in ids}
    for sums in read_call_sums(connection, ids):
        call_sums_of[sums.entrant_id].append(sums)
    statuses = read_counts(connection, "turns", ids)
    actions = read_counts(connection, "fills", ids)
    refused = read_counts(connection, "rejections", ids)
    stages = read_counts(connection, "forecasts", ids)

    agent_cohorts = []
    previous_setup = None
    for stored, entrant_id in zip(stored_cohorts, ids, strict=True):
        cohort = stored.cohort
        entrant = next(entrant for entrant in cohort.entrants if entrant.name == name)
        setup = agent_setup(cohort, entrant)
        differences = setup_differences(previous_setup or setup, setup)
        changed = [setting_in_words(entrant_id, *values) for entrant_id, values in differences.items()]
        previous_setup = setup

        trade_counts = actions.get(entrant_id, {})
        pnl = None
        if cohort.rules.money and entrant_id in newest_equity:
            pnl = newest_equity[entrant_id] - cohort.bankroll
        forecasts = stages.get(entrant_id, {}).get("final", 0)
        agent_cohorts.append(
            AgentCohort(
                cohort=cohort.number,
                starts_at=cohort.starts_at,
                ended=stored.ended_at is not None,
                bankroll=cohort.bankroll,
                pnl=pnl,
                bets=trade_counts.get("buy", 0),
                sales=trade_counts.get("sell", 0),
                forecasts=forecasts,
                statuses=statuses.get(entrant_id, {}),
                refused=refused.get(entrant_id, {}),
                setup=setup,
                changed=tuple(changed),
                answers=tuple(call_sums_of[entrant_id]),
            )
        )
    return tuple(agent_cohorts)


TITLE = "Agents"
NEEDS_A_COHORT = True
HEADED = True
ORDER = 3

TABS = {"record": "Record", "forecasts": "Forecasts", "money": "Money", "setup": "Set-up"}
LATER = "The profile of its forecasts and money"
NEEDED = "A verdict against the price needs {}, and a mean gain three standard errors above 0."
FAR = (1e-3, 1e6)
"""The range in which evidence is drawn; values beyond it are drawn at its edge."""


def show(source: RecordSource) -> None:
    """Show an agent over all its cohorts, or in one: its verdict, profit, positions and forecasts."""
    overview = season(source)
    names = options_of(by_leaderboard(source))
    no_such("agent", [st.query_params.get("agent")], names)
    top = st.container()
    controls = st.container(horizontal=True, gap="medium", vertical_alignment="bottom")
    with controls:
        default_name = next(iter(names))
        name = choice("Agent", "agent", names, default_name, "list")
        returns = read_cached(source, read_cohort_returns, name)
        # An address may still name a cohort of the agent that was shown before.
        all_cohorts = {str(cohort.number) for cohort in overview.cohorts}
        number = asked_cohort(returns, all_cohorts)
        cohort_bars = cohort_strip(
            returns, number, partial(way_to_agent, name), OWN_RETURNS, bar_address=staying
        )
        put(cohort_bars, "cohorts")

    agent_cohorts = read_cached(source, read_agent_page, name)
    lines = read_cached(source, read_leaderboard_page).lines
    line = line_of_agent(lines, name)
    with top:
        st.title(plain(name), anchor=False)
        put(ranks_and_description(name, agent_cohorts, line, overview), "chips")
    if number is None:
        _show_all_cohorts(source, name, agent_cohorts, line, overview)
    else:
        _show_one_cohort(source, name, number, line, overview)

    with st.container(horizontal=True, gap="medium"):
        if len(names) > 1:
            link("Duel against another", "duel", a=name)
        link("All its turns", "turn", agent=name)
        link("All agents", "arena")


OWN_RETURNS = "Cohorts, with the return of this agent"


def _show_all_cohorts(
    source: RecordSource,
    name: str,
    agent_cohorts: AgentCohorts,
    line: LeaderboardLine | None,
    overview: SeasonOverview,
) -> None:
    """Show an agent over all its cohorts, then the part that is asked for."""
    cached = read_cached(source, PROFILE.read, name)
    details = show_cached(cached, LATER)
    curves = read_cached(source, read_summed_curves, [name])
    points = curves[name]
    st.markdown(verdict_of(line))
    cohorts = cohorts_of(agent_cohorts, overview)
    about_cohorts = " ".join(stamps(cohorts))
    st.caption(leading(about_cohorts))
    colours = overview.colours([name])
    colour = colours[name]

    put(tiles(figures(agent_cohorts, line, overview)), "figures")
    if overview.has_money:
        show_held(read_cached(source, read_holdings, name))

    numbers = [agent_cohort.cohort for agent_cohort in agent_cohorts]
    times = read_cached(source, read_round_times)
    own_rounds = [item for item in times if item.cohort in numbers]
    rounds = [(item.at.timestamp(), f"{item.cohort}&round={item.number}") for item in own_rounds]
    money_look = MoneyLook(
        overview, colours, href_of=lambda name: way("turn", agent=name, cohort="").href, rounds=rounds
    )
    charts = calibration(details, colours)
    if overview.has_money:
        money_chart = equity(name, points, details, money_look)
        charts = beside(money_chart, charts)
    put(charts, "charts")

    tabs = {part: label for part, label in TABS.items() if part != "money" or overview.has_money}
    part = choice("Part", "part", tabs, "record")
    if part == "record":
        put(evidence_chart(read_cached(source, read_agent_evidence, name), colour), "evidence")
        subheading("Cohort by cohort")
        put(cohort_by_cohort(agent_cohorts, details), "cohort by cohort")
        _show_other_scores(source, name, line, cohorts)
    elif part == "forecasts":
        show_answers(read_cached(source, read_agent_answers, name))
        if details is not None:
            _show_judged_forecasts(source, details, colour, has_money=overview.has_money)
    elif part == "money":
        _show_money(source, details)
    elif part == "setup":
        show_costs(agent_cohorts, overview.is_simulated)
        show_failures(agent_cohorts)
        hashes = list(agent_cohorts[-1].setup.prompts.values())
        show_setup(agent_cohorts, read_cached(source, read_prompts, hashes))


def _show_judged_forecasts(
    source: RecordSource, details: DetailedProfile, look: str, *, has_money: bool
) -> None:
    """Show its notable forecasts, then its skill and calibration in parts."""
    name = details.profile.agent
    notable = read_cached(source, explain_forecasts, name, details.best, details.worst)
    put(notable_boxes(notable, name, has_money=has_money), "notable")

    deals = tuple(deal.market_id for deal in details.profile.bargains)
    questions = read_cached(source, read_questions, deals)
    show_forecasts(details, questions, look, has_money=has_money)


def _show_one_cohort(
    source: RecordSource, name: str, number: int, line: LeaderboardLine | None, overview: SeasonOverview
) -> None:
    """Show an agent in one cohort: its profit among the others, its calibration and its positions."""
    verdict = verdict_of(line)
    if verdict:
        st.markdown("Over all cohorts: " * (not overview.is_reference(name)) + verdict)
    cohort = overview.cohort(number)
    progress_text = f"Cohort {number}, started {day(cohort.starts_at)}: {progress(cohort)}."
    status_text = " ".join([progress_text, *stamps([cohort])])
    st.caption(leading(status_text))

    page = read_cached(source, read_leaderboard_page, number)
    entry = read_cached(source, CALIBRATIONS.read, number)
    lines = cohort_lines(page.board.value, entry) if page.board else ()
    cohort_line = line_of_agent(lines, name)
    points = read_cached(source, read_cohort_curves, number)
    curves = curves_of(points)
    colour = overview.colours([name])[name]
    shown_figures = cohort_figures(name, cohort_line, curves if cohort.rules.money else {})
    put(tiles(shown_figures), "figures")
    times = read_cached(source, read_round_times)
    rounds = rounds_of(times, number)
    money_look = MoneyLook(overview, {name: colour}, href_of=turns_of(number), rounds=rounds)
    shown_markets = cohort_line.row.shown if cohort_line else None
    calibration_markup = cohort_calibration_box(entry, {name: colour}, cohort, shown_markets)
    if not cohort.rules.money:
        put(calibration_markup, "charts")
        link(f"All of cohort {number}", "cohort", cohort=number)
        return
    put(beside(money_box(curves, money_look), calibration_markup), "charts")

    positions = read_cached(source, read_cohort_positions, number, name)
    if put_section(f"Positions in cohort {number}", positions, "It has held none.", empty_icon=FINE):
        put(holdings_table(positions, says="Positions"), "table of positions")
    link(f"All of cohort {number}", "cohort", cohort=number)


def cohort_figures(name: str, line: LeaderboardLine | None, curves: Curves) -> list[Tile]:
    """Return an agent's profit in a cohort, its place among all accounts, its skill and its bets.

    Where nobody bets there are no curves, and no figures of money.
    """
    tiles_shown = []
    if name in curves:
        last = curves[name][-1]
        profit_text = written(last.dollars, "gain")
        percent_text = written(last.percent, "%+.1f%")
        label = f"profit or loss, {percent_text}"
        tiles_shown.append(Tile(profit_text, label, "Open positions at mid.", gain_look(last.dollars)))
        rank = 1 + by_gain(curves).index(name)
        rank_text = f"{rank:,} of {len(curves):,}"
        tiles_shown.append(
            Tile(rank_text, "by profit, references too", "Its place, the highest profit first.")
        )
    tiles_shown += [_closer_tile(line), _calibration_tile(line)]
    if line is not None and curves:
        sales = count(line.row.sold, "sale")
        tiles_shown.append(Tile(f"{line.row.bets:,}", f"bets, {sales}", "Accepted bets."))
    return tiles_shown


OPEN = 4
"""Open positions shown at once."""


def largest_first(holdings: Iterable[Holding]) -> list[Holding]:
    """Return open positions by what they are worth, the largest first."""
    return sorted(holdings, key=lambda holding: -holding.position.money.value)


def show_held(holdings: Sequence[Holding]) -> None:
    """Show the largest open positions as last marked, and the others on demand."""
    if not holdings:
        put(quiet("No open positions."), "open positions")
        return
    ordered = largest_first(holdings)
    value = 0
    gain = 0
    for holding in holdings:
        value += holding.position.money.value
        gain += holding.position.money.unrealised
    positions_text = count(len(holdings), "open position")
    value_text = in_dollars(value / ONE)
    summary = quiet(f"{positions_text} worth {value_text} at mid, {gained(gain)} since they were bought.")
    put(summary + holdings_table(ordered[:OPEN]), "open positions")

    smaller_positions = ordered[OPEN:]
    if smaller_positions:
        on_demand(
            count(len(smaller_positions), "more position"),
            "more open positions",
            partial(_more_held, smaller_positions),
        )


def _more_held(holdings: Sequence[Holding]) -> None:
    """Show open positions that come after the largest."""
    put(holdings_table(holdings, says="More open positions"), "more open positions")


def _show_other_scores(
    source: RecordSource, name: str, line: LeaderboardLine | None, cohorts: Sequence[CohortLine]
) -> None:
    """Show its ratings, and its scores by Metaculus's rules."""
    if line is not None:
        on_demand(RATINGS, "ratings", partial(show_ratings, [line], cohorts))

    board = read_cached(source, read_leaderboard_page).board
    if board is None:
        return
    scores = [score for score in board.value.metaculus if score.agent in (name, COMMUNITY)]
    if any(score.agent == name for score in scores):
        on_demand(METACULUS_TITLE, "Metaculus", partial(show_metaculus, scores, ()))


def cohorts_of(agent_cohorts: AgentCohorts, overview: SeasonOverview) -> list[CohortLine]:
    """Return the cohorts that an agent plays in."""
    numbers = {agent_cohort.cohort for agent_cohort in agent_cohorts}
    return [line for line in overview.cohorts if line.number in numbers]


def line_of_agent(lines: Lines, name: str) -> LeaderboardLine | None:
    """Return its line of the leaderboard, if it has one."""
    for line in lines:
        if line.row.agent == name:
            return line
    return None


def ranks_and_description(
    name: str, agent_cohorts: AgentCohorts, line: LeaderboardLine | None, overview: SeasonOverview
) -> Markup:
    """Return the possible ranks of an agent, unless any is possible, and what kind of agent it is."""
    cohorts = count(len(agent_cohorts), "cohort")
    description = f"{overview.about(name)} · in {cohorts}"
    if line is None or line.verdict is None or line.verdict.rank_low is None:
        return quiet(description)
    verdict = line.verdict
    if len(verdict.untold) == verdict.entries - 1:
        return quiet(description)

    noun = "ranks"
    if verdict.rank_low == verdict.rank_high:
        noun = "rank"
    ranks = tag(f"{noun} {verdict.rank_text} of {verdict.entries}", "none")
    return quiet(filled("%s %s", ranks, description))


def verdict_of(line: LeaderboardLine | None) -> str:
    """Return its verdict, among the others and against the price, in Markdown."""
    if line is None or line.verdict is None:
        return ""
    verdict = line.verdict
    told = leading(verdict.sentence)
    against_price = leading(verdict.price_sentence)
    sentences = [f"**{told}**", against_price, verdict.guarantee]
    return " ".join(filter(None, sentences))


def figures(
    agent_cohorts: AgentCohorts, line: LeaderboardLine | None, overview: SeasonOverview
) -> list[Tile]:
    """Return the main figures: profit if agents bet, skill, calibration and cost."""
    shown = [_closer_tile(line), _calibration_tile(line), _cost_tile(agent_cohorts, overview.is_simulated)]
    if overview.has_money:
        return [_profit_tile(agent_cohorts), *shown]
    return shown


def _closer_tile(line: LeaderboardLine | None) -> Tile:
    """Return how much closer its forecasts are than the price, with the interval."""
    closer = EMPTY
    label = "closer than the price"
    if line is not None:
        percent_closer, low, high = closer_span(line.row)
        interval_text = span_text(low, high, "%+.1f%")
        if percent_closer is not None:
            closer = written(percent_closer, "%+.1f%")
        if interval_text is not None:
            label += f", 95% {interval_text}"
    explanation = "Its skill in percent of the price's Brier score, on the same forecasts; above 0 is closer."
    return Tile(closer, label, explanation)


def _profit_tile(agent_cohorts: AgentCohorts) -> Tile:
    """Return the profit of all its accounts, in dollars and relative to their bankrolls."""
    total_profit = 0
    total_bankroll = 0
    for agent_cohort in agent_cohorts:
        if agent_cohort.pnl is not None:
            total_profit += agent_cohort.pnl
            total_bankroll += agent_cohort.bankroll
    if not total_bankroll:
        return Tile(EMPTY, "profit or loss, all cohorts")
    share = 100 * total_profit / total_bankroll
    earned = written(share, "%+.1f%")
    label = f"profit or loss, {earned} of what it was given"
    amount = written(total_profit / ONE, "gain")
    look = gain_look(total_profit / ONE)
    return Tile(amount, label, "Open positions at mid.", look)


def _calibration_tile(line: LeaderboardLine | None) -> Tile:
    """Return how often its confident forecasts come true."""
    brief = line.brief if line else None
    meant = "Sides that it gives 70% or more: its average forecast, and how often they win."
    text, below = calibration_words(brief)
    if brief is None or brief.sure is None:
        return Tile(text, below or "calibration", meant)
    return Tile(brief.sure.short, f"{WHERE_SURE.lower()}: {below}", meant)


def _cost_tile(agent_cohorts: AgentCohorts, is_simulated: bool) -> Tile:
    """Return what its calls cost, and for how many forecasts."""
    forecasts = count(_forecasts(agent_cohorts), "forecast")
    label = f"{forecasts} stated; it calls no model"
    if _total(agent_cohorts, "calls"):
        label = f"cost of {forecasts} stated" + " (simulated)" * is_simulated
    return Tile(cost(agent_cohorts), label, "All its calls to models.")


def _forecasts(agent_cohorts: AgentCohorts) -> int:
    """Return how many forecasts it stated."""
    return sum(agent_cohort.forecasts for agent_cohort in agent_cohorts)


def _total(agent_cohorts: AgentCohorts, name: str) -> int:
    """Return the sum of a figure of all its calls."""
    return sum(getattr(sums, name) for sums in _answers(agent_cohorts))


def _answers(agent_cohorts: AgentCohorts) -> list[CallSums]:
    """Return the calls of all cohorts."""
    return list(chain.from_iterable(agent_cohort.answers for agent_cohort in agent_cohorts))


def equity(name: str, points: Sequence[PnlPoint], details: DetailedProfile | None, look: MoneyLook) -> Markup:
    """Return the profit of all its accounts over time, with the range that luck alone would explain."""
    if details is None or details.profile.money is None:
        return money_box({name: points}, look)
    luck = details.profile.money.luck
    return money_box({name: points}, replace(look, lucks={name: luck}), extra_sentence=luck_words(luck))


def luck_words(luck: Luck) -> str:
    """Say how its bets would end by luck alone; skill is judged by forecasts only.

    >>> luck_words(Luck(0, 0, 0.98, -53_000_000_000, 37_000_000_000, 25, 9))
    'By luck alone, 95 of 100 seasons with these bets end from −$53k to +$37k. The verdict goes by forecasts.'
    """
    if luck.low is None or luck.high is None:
        return f"Nothing can be said of luck: {luck.reason}."
    low, high = written(luck.low / ONE, "short"), written(luck.high / ONE, "short")
    return f"By luck alone, 95 of 100 seasons with these bets end from {low} to {high}. {BY_FORECASTS}"


BY_FORECASTS = "The verdict goes by forecasts."


def calibration(details: DetailedProfile | None, colours: Colours) -> Markup:
    """Return one large calibration diagram, with a summary in words."""
    if details is None:
        return box(CALIBRATION, below="being computed")
    profile = details.profile
    nothing = UNRESOLVED if any(details.histogram) else UNSTATED
    return calibration_box({profile.agent: profile.calibration}, colours, nothing, is_named=False)


def evidence_chart(evidence: EvidenceCurve, look: str) -> Markup:
    """Draw the capital of a bet on its skill and its bar on a log scale; nothing without any evidence."""
    if not evidence.points:
        return NOTHING

    first_at = evidence.points[0][0]
    last_at, newest = evidence.points[-1]
    if first_at == last_at:
        explanation = "What a bet on its skill has made of 1 by its first outcomes: a chart needs later ones."
        return box("Evidence", meanings({"now": times_text(newest)}, "facts"), explanation)

    points = [(at, _power(capital)) for at, capital in evidence.points]
    lines = [Line("now", points, look, times_text(newest))]
    explanation = "What a bet on its skill has made of 1, as outcomes came in."
    if evidence.bar is not None:
        needed_power = _power(evidence.bar)
        needed_text = f"×{ceil(evidence.bar):,}"
        lines.append(
            Line(
                "needed",
                [(first_at, needed_power), (last_at, needed_power)],
                "grey",
                needed_text,
                dashed=True,
            )
        )
        explanation += f" {NEEDED.format(needed_text)}"
    chart = line_chart(lines, "Evidence over time", "power", height=LONG)
    return box("Evidence", chart, explanation)


def _power(capital: float) -> float:
    """Return the power of ten of a capital within the range that is drawn."""
    return log10(min(max(capital, FAR[0]), FAR[1]))


def cohort_by_cohort(
    agent_cohorts: AgentCohorts, details: DetailedProfile | None, address: Address = in_app
) -> Markup:
    """Return its record, a row a cohort, the newest first; without skill if it is not ranked."""
    gains: dict[str, Gain] = {}
    calibrated: dict[str, Calibrated] = {}
    if details is not None:
        calibrated = {part.label: part for part in details.calibrated.get("cohort", ())}
        if details.profile.gain is not None:
            gains = {part.slice: part.gain for part in details.slices.get("cohort", ())}

    rows = []
    for agent_cohort in reversed(agent_cohorts):
        name = f"cohort {agent_cohort.cohort}"
        row = _cohort_row(agent_cohort, gains.get(name), calibrated.get(name))
        href = address(way("cohort", cohort=agent_cohort.cohort))
        rows.append(row | {"href": href})
    return html_table(rows, columns_of_table("agent's cohorts"), "Its record, a row a cohort")


def _cohort_row(
    agent_cohort: AgentCohort, gain: Gain | None, calibrated: Calibrated | None
) -> dict[str, object]:
    """Return the row of an agent in one cohort."""
    turns = sum(agent_cohort.statuses.values())
    row = {
        "Cohort": agent_cohort.cohort,
        "Started": day(agent_cohort.starts_at),
        "Brier": calibrated and calibrated.parts.brier,
        "Stated": agent_cohort.forecasts,
        "Turns": turns,
        "State": "ended" if agent_cohort.ended else "playing",
    }
    if gain is not None:
        row |= {"Skill": gain.skill, "from": gain.low, "to": gain.high, "Events": gain.events}
    if agent_cohort.pnl is not None:
        row |= {"P/L": agent_cohort.pnl / ONE, "Return %": 100 * agent_cohort.pnl / agent_cohort.bankroll}
        row |= {"Bets": agent_cohort.bets, "Sales": agent_cohort.sales}
    return row


def _show_money(source: RecordSource, details: DetailedProfile | None) -> None:
    """Show where its profit came from, and its exposure."""
    if details is not None:
        show_split(details)
        stakes = details.profile.at_stake
        holdings = read_cached(source, read_holdings, details.profile.agent)
        held = [holding.position.market_id for holding in largest_first(holdings)]
        events = [exposure.event for exposure in stakes]
        # Stakes are computed from time to time, and may be on events in which it holds nothing any more.
        questions = read_cached(source, read_event_questions, events) | read_cached(
            source, read_held_events, held
        )
        show_stakes(stakes, questions)


TURNS = {
    "partly": "Turns that brought less than was asked for",
    "malformed": "Turns whose answer could not be used",
    "declined": "Turns that the model refused",
    "failed": "Turns without an answer",
    "late": "Turns that came after their window",
    "out": "Turns without money to bet",
    "waiting": "Turns that waited for the key of its model",
}
"""Turns that did not go as they should, in words."""


def cost(agent_cohorts: AgentCohorts) -> str:
    """Say what its calls cost in dollars, and whether some of the cost is unknown."""
    spent = _total(agent_cohorts, "cost") / ONE
    text = in_dollars(spent)
    if _total(agent_cohorts, "unknown"):
        text += " or more"
    return text


def show_costs(agent_cohorts: AgentCohorts, is_simulated: bool) -> None:
    """Show what its calls cost, for each forecast and in tokens."""
    if not put_section(
        "Cost", _answers(agent_cohorts), "It calls no model, so it costs nothing.", empty_icon=FINE
    ):
        return

    unknown = _total(agent_cohorts, "unknown")
    forecasts = _forecasts(agent_cohorts)
    cost_per_forecast = EMPTY
    if forecasts and not unknown:
        spent = _total(agent_cohorts, "cost") / ONE
        cost_per_forecast = in_dollars(spent / forecasts)
    calls = f"{_total(agent_cohorts, 'calls'):,}"
    tokens_in = f"{_total(agent_cohorts, 'tokens_in'):,}"
    tokens_out = f"{_total(agent_cohorts, 'tokens_out'):,}"
    _metrics(
        ("Cost", cost(agent_cohorts), "What all its calls cost, failed ones too."),
        ("Per forecast", cost_per_forecast, "All of it, spread over the probabilities that it stated."),
        ("Calls", calls, "Attempts to get an answer."),
        ("Tokens in", tokens_in, "Of prompts."),
        ("Tokens out", tokens_out, "Of answers, thinking included."),
    )
    if is_simulated:
        st.caption("These dollars are simulated, as is all of this season.")
    if unknown:
        unknown_calls = count(unknown, "call")
        st.caption(f"The cost of {unknown_calls} is unknown: `price` in the config says it.")


def _metrics(*shown: tuple[str, str, str]) -> None:
    """Show figures beside each other: label, value and help of each."""
    with st.container(horizontal=True, gap="medium"):
        for label, value, meant in shown:
            st.metric(label, value, help=meant, width="content")


def show_failures(agent_cohorts: AgentCohorts) -> None:
    """Show what went wrong, by kind: turns, calls, orders."""
    rows = list(_failure_rows(agent_cohorts))
    number = sum(sum(agent_cohort.statuses.values()) for agent_cohort in agent_cohorts)
    turns = count(number, "turn")
    if put_section("Failures", rows, f"None in {turns}.", f"Of {turns}, all cohorts together.", FINE):
        put_table(rows, columns_of_table("failures"), "Failures by kind")


def _failure_rows(agent_cohorts: AgentCohorts) -> Iterator[dict[str, object]]:
    """Yield what went wrong, its code, and how often: the most frequent of each first."""
    turns = Counter[str]()
    calls = Counter[str]()
    orders = Counter[str]()
    for agent_cohort in agent_cohorts:
        turns.update(agent_cohort.statuses)
        orders.update(agent_cohort.refused)
    for sums in _answers(agent_cohorts):
        if sums.error is not None:
            calls[sums.error] += sums.calls

    for kind, times in turns.most_common():
        if kind in TURNS:
            yield {"What": TURNS[kind], "Kind": kind, "Times": times}
    counted_failures = {"Calls that ended in an error": calls, "Bets and sales that were refused": orders}
    for what, numbers in counted_failures.items():
        for kind, times in numbers.most_common():
            yield {"What": what, "Kind": kind.replace("_", " "), "Times": times}


def show_setup(agent_cohorts: AgentCohorts, texts: Mapping[str, str]) -> None:
    """Show its settings and their changes by cohort, the reported model names, and its prompts."""
    below = "Frozen at the start of each cohort; another model under the same name is another agent."
    subheading("Settings and reported model", below)
    put_table(_settings_rows(agent_cohorts), columns_of_table("settings"), "Settings by cohort")
    answered = [sums.last_at for sums in _answers(agent_cohorts) if sums.model]
    if answered:
        newest = moment(max(answered))
        st.caption(f"Last answer {newest}.")
    _show_prompts(agent_cohorts[-1].setup.prompts, texts)


def _settings_rows(agent_cohorts: AgentCohorts) -> Rows:
    """Yield an agent's settings and the models that answered, with fingerprints, newest cohort first."""
    for agent_cohort in reversed(agent_cohorts):
        models: dict[str, None] = {}
        for sums in agent_cohort.answers:
            if sums.fingerprint and sums.model:
                models[f"{sums.model} ({sums.fingerprint})"] = None
            elif sums.model:
                models[sums.model] = None
        changed = "; ".join(agent_cohort.changed)
        shown = settings(agent_cohort.setup.settings)
        yield {
            "Cohort": agent_cohort.cohort,
            "From": day(agent_cohort.starts_at),
            "Changed": changed,
            "Model as reported": ", ".join(models),
            "Kind": agent_cohort.setup.kind,
            "Settings": shown,
        }


def _show_prompts(prompts: Mapping[str, str], texts: Mapping[str, str]) -> None:
    """Show its prompts."""
    nothing = "It follows a rule and has no prompt."
    below = "As frozen by the newest cohort; fields in braces are filled in for each turn."
    if not put_section("Prompt", prompts, nothing, below, ":material/info:"):
        return

    for at, (name, digest) in enumerate(prompts.items(), start=1):
        with st.expander("The text" if len(prompts) == 1 else f"Text {at} of {len(prompts)}"):
            st.text(f"{name}, sha256 {digest[:12]}…")
            prompt = texts.get(digest, "")
            st.code(prompt, language=None, wrap_lines=True)


BY = {"category": "Category", "horizon": "Horizon", "price": "Price", "cohort": "Cohort"}
MEANT = {
    "category": "The subject of the market, in the venue's words.",
    "horizon": "The time left until the market was due to close.",
    "price": "The price of YES when the agent was asked.",
    "cohort": "The cohort of the forecast.",
}
WAITING = ":material/hourglass_empty:"
FINE = ":material/check:"
UNSTATED = "It has stated no probability yet."
UNRESOLVED = "No market that it forecast has resolved yet."


def show_answers(answered: Sequence[AgentAnswer]) -> None:
    """Show its answers to questions of other kinds than yes or no, newest first."""
    if not answered:
        return
    below = f"The newest {len(answered):,}." if len(answered) == MOST_ANSWERS else ""
    subheading("Answers to questions of other kinds", below)
    rows = map(_answer_row, answered)
    put_table(rows, columns_of_table("answers of an agent"), "Answers: one row each")


def _answer_row(answered: AgentAnswer) -> dict[str, object]:
    """Return the row of an answer."""
    form = form_of(answered.form)
    turn = way("turn", cohort=answered.cohort, round=answered.round, agent=answered.agent)
    return {
        "question": answered.question,
        "picture": answer_picture(form, answered.distribution, CHOSEN[0], answered.answer or ""),
        "said": answer_words(form, answered.distribution),
        "outcome": end_words(answered.form, answered.answer) if answered.answer is not None else None,
        "cohort": answered.cohort,
        "round": answered.round,
        "at": answered.at,
        "href": turn.href,
    }


def show_forecasts(
    details: DetailedProfile, questions: Mapping[str, str], look: str, *, has_money: bool
) -> None:
    """Show skill and calibration, their parts, coherence and blind answers."""
    by = choice("In parts by", "by", BY, "category")
    _show_skill_parts(details, by)
    if has_money:
        _show_bet_calibration(details, look)
    calibrated = details.calibrated.get(by, ())
    _show_calibration_parts(calibrated, by)

    explanation = "How often it stated each probability of YES, resolved or not."
    if put_section("What it states", any(details.histogram), UNSTATED, explanation, WAITING):
        bin_count = len(details.histogram)
        edges = [100 * (place / bin_count) for place in range(bin_count + 1)]
        chart = columns_chart(edges, details.histogram, "How often it stated each probability", "%.0f%")
        put(chart, "histogram")
    _show_coherence(details, questions)
    _show_blind_effect(details.profile.blind)


def _show_skill_parts(details: DetailedProfile, by: str) -> None:
    """Show its skill in parts of the season."""
    parts = details.slices.get(by, ())
    known_gains = {part.slice: part.gain for part in parts if part.gain.skill is not None}
    why_empty = "It appears with the first resolved market."
    if known_gains:
        why_empty = "An agent without a rank has no skill figure."
    below = f"{MEANT[by]} Right of the line is closer than the price; bars are 95% intervals."
    without_interval = sum(gain.low is None for gain in known_gains.values())
    if without_interval:
        below += f" Hollow: too few events, no interval ({without_interval} of {len(known_gains)})."
    is_shown = known_gains and details.profile.gain is not None
    if not put_section("Skill in parts", is_shown, why_empty, below, WAITING):
        return

    put_table(_gain_rows(known_gains), columns_of_table("skill in parts"), f"Skill by {by}")


def _gain_rows(gains: Mapping[str, Gain]) -> Rows:
    """Yield its skill in parts, in figures and as a picture."""
    spans = {part: (gain.skill, gain.low, gain.high) for part, gain in gains.items()}
    scale = span_scale(spans.values())
    for part, gain in gains.items():
        drawn = draw_span(spans[part], scale)
        yield {
            "Part": part,
            "Skill": gain.skill,
            "Drawn": drawn,
            "From": gain.low,
            "To": gain.high,
            "Events": gain.events,
        }


def _show_bet_calibration(details: DetailedProfile, look: str) -> None:
    """Show the calibration of its bets, read as moves from the price paid and by stake alone."""
    subheading("Calibration of its bets")
    drawn = []
    for title, diagram in (("Anchored", details.anchored), ("Implied", details.implied)):
        if diagram.points:
            chart = calibration_chart([(title, diagram, look)], f"Calibration, {title}", is_named=False)
            drawn.append(box(title, chart))
    if not drawn:
        st.info("It has no resolved bet yet.", icon=WAITING)
        return
    st.caption("Anchored: bets as a move from the price paid. Implied: bets by stake alone.")
    put(beside(*drawn), "readings")


def _show_calibration_parts(parts: Sequence[Calibrated], by: str) -> None:
    """Show its calibration in parts of the season."""
    if not parts:
        return
    label = BY[by]
    st.markdown(f"**Calibration by {label.lower()}**")
    columns = {label: HtmlColumn(label, kept=True), **columns_of_table("calibration in parts")}
    put_table(_calibrated_rows(parts, by), columns, f"Calibration by {by}")


def _calibrated_rows(parts: Sequence[Calibrated], by: str) -> Rows:
    """Yield its calibration in parts, beside what chance alone would show."""
    for part in parts:
        yield {
            BY[by]: part.label,
            "Brier": part.parts.brier,
            "Miscalibration": part.parts.miscalibration,
            "By chance": part.null.expected,
            "p": part.null.p_value,
            "Discrimination": part.parts.discrimination,
            "Forecasts": part.forecasts,
            "Markets": part.markets,
        }


def _show_coherence(details: DetailedProfile, questions: Mapping[str, str]) -> None:
    """Show how far its probabilities contradict each other, and what that would cost."""
    coherence = details.profile.coherence
    nothing = f"Nothing to judge: {coherence.reason or 'no event with several markets'}."
    if not put_section("Coherence", coherence.loss is not None, nothing, empty_icon=WAITING):
        return

    text = f"A trader who bets against its probabilities wins a sure ${coherence.loss:.4f} per $1 on average"
    if coherence.market is not None:
        text += f"; against the prices it would be ${coherence.market:.4f}"
    text += f". {coherence.incoherent:,} of {count(coherence.events, 'event')} contradict themselves."
    st.markdown(
        escaped(text),
        help="Probabilities of one event's outcomes should add up, and a wider claim be no less likely.",
    )

    rows = []
    for deal in details.profile.bargains:
        trade = "sell YES"
        if deal.buy:
            trade = "buy YES"
        market = questions.get(deal.market_id, deal.market_id)
        rows.append({"Trade": trade, "At": deal.price * 100, "Market": market})
    if rows and coherence.worst:
        st.caption(escaped(f"The worst gives away ${coherence.worst:.4f} per $1, by these trades:"))
        put_table(rows, columns_of_table("sure profit"), "The trades that make the sure profit")


def _show_blind_effect(effect: BlindEffect) -> None:
    """Show what seeing the price changed in its forecasts."""
    if not effect.rows:
        return
    subheading("Before and after it saw the price")

    pull = _known(effect.pull, "%.0f%", 100)
    copied = _known(effect.copied, "%.0f%", 100)
    skill_before = _known(effect.blind_skill, "%+.4f")
    skill_after = _known(effect.final_skill, "%+.4f")
    correlation = _known(effect.blind_price, "%.2f")
    _metrics(
        ("Moved to the price", pull, "Share of the way to the price that it went."),
        ("Copied it", copied, "Answers that ended within half a cent of the price."),
        ("Skill before", skill_before, "Brier points better than the price, blind."),
        ("Skill after", skill_after, "The same, once it had seen the price."),
        ("Correlation with it", correlation, "Of blind answers with the price."),
        ("Answers", f"{effect.rows:,}", "With a probability before and after."),
    )


def _known(value: float | None, form: str, times: int = 1) -> str:
    """Return a figure times a factor, or a dash if it is unknown."""
    if value is None:
        return EMPTY
    return written(times * value, form)


def notable_boxes(
    notable: NotableForecasts, name: str, address: Address = in_app, *, has_money: bool = True
) -> Markup:
    """Return its best and its worst forecasts against the price, each with the reason that it gave."""
    boxes = []
    for title, forecasts in (("Best forecasts", notable.best), ("Worst forecasts", notable.worst)):
        if forecasts:
            quotations = quotes(
                _quotation(forecast, name, address, has_money=has_money) for forecast in forecasts
            )
            boxes.append(box(title, quotations))
    if not boxes:
        return NOTHING
    return beside(*boxes)


def _quotation(explained: ExplainedForecast, name: str, address: Address, *, has_money: bool) -> Quotation:
    """Return a forecast with its price, the end of the market, and its reason."""
    forecast = explained.forecast
    ended = "YES" if forecast.outcome else "NO"
    place_parts = ["nothing staked"] if has_money else []
    if forecast.staked:
        amount = dollars(forecast.staked)
        place_parts = [f"{amount} on {forecast.side}"]
    place_text = f"cohort {forecast.cohort}, round {forecast.round}"
    brier_gain = written(forecast.gain, "%+.3f")
    place_parts += [f"{brier_gain} Brier points against the price", place_text]
    turn = way("turn", cohort=forecast.cohort, round=forecast.round, agent=name)
    return Quotation(
        who=forecast.question,
        did=f"said {forecast.forecast:.0%}, price {forecast.price:.0%}, ended {ended}",
        why=flat(explained.reason),
        where=" · ".join(place_parts),
        href=address(turn),
    )


PARTS = (
    ("edge", "Edge", "What quarter-Kelly stakes should earn at mid, by the share of claims that came true."),
    ("spread", "Spread", "What it paid over the mid, or got below it."),
    ("fee", "Fees", "Of the venue."),
    ("sizing", "Sizing", "What staking more or less than quarter-Kelly should add."),
    ("exit", "Selling early", "What selling brought, compared with holding on."),
    ("luck", "Luck", "What is left: what happened, less what was to be expected."),
)
"""The parts of a profit, in order."""


def show_split(details: DetailedProfile) -> None:
    """Show the parts that add up to its profit, and the realised share of its edge."""
    money = details.profile.money
    nothing = "It has made no bet yet, so there is no profit to split."
    below = "Each part starts where the one above it ended; together they are the profit, to the cent."
    has_bet = money is not None and (money.split.pnl or money.luck.events)
    if not put_section("Where the profit came from", has_bet, nothing, below, WAITING) or money is None:
        return
    _show_profit_parts(money.split)
    st.markdown("\n".join(f"- {escaped(sentence)}" for sentence in _edge_sentences(money)))


def _show_profit_parts(split: ProfitSplit) -> None:
    """Show the parts, each from where the one before it ended, and their sum."""
    # What is left over by rounding, a few millionths, is no luck.
    amounts = [round(getattr(split, key) / ONE, 4) for key, _, _ in PARTS]
    cumulated_ends = list(accumulate(amounts, initial=0.0))
    profit = split.pnl / ONE
    scale = span_scale([*pairwise(cumulated_ends), (0.0, profit)])

    rows = []
    for (_, label, meant), amount, start in zip(PARTS, amounts, cumulated_ends, strict=False):
        rows.append(_part_row(label, amount, meant, start, scale))
    total = _part_row("P/L", profit, "The sum of the parts.", 0.0, scale)
    rows.append(total)
    put_table(rows, columns_of_table("profit"), "The parts of the profit, and their sum")


def _part_row(label: str, amount: float, meant: str, start: float, scale: Scale) -> dict[str, object]:
    """Return the row of a part of the profit, drawn from its start."""
    look = "loss"
    if amount >= 0:
        look = "gain"
    drawn = step_bar(start, start + amount, look, scale)
    return {"Part": label, "Amount": amount, "Drawn": drawn, "What it is": meant}


def _edge_sentences(money: ProfitOrigin) -> list[str]:
    """Say which share of the edge was realised, and how large the largest drawdown was."""
    sentences = []
    proven = money.proven
    if not isnan(proven.share):
        events = count(proven.events, "event")
        precision = f"({events}: too few to tell)"
        if proven.events >= ENOUGH_EVENTS:
            precision = f"± {1.96 * proven.error:.0%} ({events})"
        share_text = written(100 * proven.share, "%.0f%")
        sentences.append(f"Realised {share_text} {precision} of the edge it claimed.")
    if money.drawdown is not None and money.drawdown.amount:
        drawdown = money.drawdown
        amount = dollars(round(drawdown.amount, -6))
        sentences.append(f"Max drawdown {amount} ({drawdown.share:.1%}), in one cohort.")
    return sentences


def show_stakes(exposures: Sequence[EventExposure], questions: Mapping[str, str]) -> None:
    """Show how each event can still change its open accounts, the worst first."""
    if not exposures:
        return
    subheading("At stake by event", "What the worst and the best end of an event would change.")
    put_table(
        _stake_rows(exposures, questions), columns_of_table("at stake"), "What is at stake, a row an event"
    )


def _stake_rows(exposures: Sequence[EventExposure], questions: Mapping[str, str]) -> Rows:
    """Yield a row for each event at stake."""
    for exposure in exposures:
        question = questions.get(exposure.event, exposure.event)
        yield {
            "Event": question,
            "Markets": exposure.markets,
            "Value $": exposure.value / ONE,
            "Worst $": exposure.worst / ONE,
            "Best $": exposure.best / ONE,
            "Share %": 100 * exposure.share,
            "href": way("markets", event=exposure.event).href,
        }
