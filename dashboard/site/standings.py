"""The full standings: every figure of the board, skill against return, P/L and calibration.

A page of a site, and by itself a report. What it says is read in one look at the record.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from markupsafe import Markup

from arena.errors import ArenaError
from arena.record.queries.cohorts import read_cohorts
from arena.record.queries.forecasts import read_forecast_columns
from arena.record.schema.database import Connection
from arena.scores.all_kinds import read_season_verdict
from arena.scores.comparisons import MARKET
from arena.scores.leaderboard import Leaderboard, read_leaderboard
from arena.scores.profiles.calibrations import ForecasterCalibration, agent_calibrations, price_calibration
from arena.scores.verdict import Verdict
from dashboard.board import (
    CALIBRATION,
    GROUPS,
    IMPLIED_NOTE,
    NOT_RANKED,
    REFERENCES,
    SHADED,
    BoardLook,
    board_parts,
    board_table,
    cohort_label,
    columns_of,
    dashed_note,
    is_any_known,
    is_provisional,
    one_valuation_box,
    only_valuation,
    over_all_cohorts,
    pnl_lines,
    progress,
    season_board,
    stamps,
    unranked_table,
    whole_verdict,
    without_ranks,
)
from dashboard.charts import MARKET_PRICE, calibration_chart, line_chart, scatter
from dashboard.cohorts import curves_of, profit_points, read_equity_curves
from dashboard.html import beside, box, quiet
from dashboard.pages import Address
from dashboard.pictures import REST
from dashboard.record import (
    CohortLine,
    Colours,
    LeaderboardLine,
    PnlPoint,
    SeasonOverview,
    leaderboard_lines,
    read_season,
)
from dashboard.site.shell import one_file
from dashboard.words import count, filled, moment, with_true_minus

NAMED = 3
"""Agents with a colour in a chart, the first of the board."""
MOST_COHORTS = 6
"""The newest cohorts, whose curves are drawn."""
MOST_PANELS = 12
POINTS = 2_000
"""The most agents with a calibration diagram, and the most points in a chart of curves."""


@dataclass(frozen=True, slots=True)
class ReportFacts:
    """A season, or one cohort of it: `cohort` is its number, `verdict` that of the whole record.

    Curves stand newest first.
    """

    cohort: int | None
    season: SeasonOverview
    lines: tuple[CohortLine, ...]
    ranking: Leaderboard
    verdict: Verdict | None
    curves: tuple[tuple[CohortLine, tuple[PnlPoint, ...]], ...]
    calibrations: tuple[ForecasterCalibration, ...]
    price: ForecasterCalibration | None

    @property
    def agent_lines(self) -> tuple[LeaderboardLine, ...]:
        """Return the rows of the board; over all cohorts each has its agent's part of the verdict."""
        if self.cohort is not None:
            return leaderboard_lines(self.ranking)
        return leaderboard_lines(self.ranking, verdict=self.verdict)


def gather(connection: Connection, cohort: int | None, board: Leaderboard | None = None) -> ReportFacts:
    """Return the standings of every cohort or of one; with the board given, without calibration.

    On a site each agent has that on a page of its own.
    """
    season = read_season(connection)
    if not season.cohorts:
        raise no_cohort()
    ranking = board or read_leaderboard(connection, cohort)
    whole = ranking if cohort is None else None
    verdict = read_season_verdict(connection, whole)

    lines = {line.number: line for line in season.cohorts if cohort in (None, line.number)}
    curves: list[tuple[CohortLine, tuple[PnlPoint, ...]]] = []
    for stored in reversed(read_cohorts(connection)):
        number = stored.cohort.number
        if number in lines and len(curves) < MOST_COHORTS:
            worth = read_equity_curves(connection, number, POINTS)
            curves.append((lines[number], profit_points(stored.cohort, worth)))

    facts = ReportFacts(cohort, season, tuple(lines.values()), ranking, verdict, tuple(curves), (), None)
    if board is not None:
        return facts
    forecasts = read_forecast_columns(connection, cohort)
    return replace(
        facts,
        calibrations=agent_calibrations(forecasts, _agent_names(facts)[:MOST_PANELS]),
        price=price_calibration(forecasts),
    )


def _agent_names(facts: ReportFacts) -> list[str]:
    """Return the names of all agents except the market itself, in the order of the board."""
    return [line.row.agent for line in facts.agent_lines if line.row.kind != MARKET]


def no_cohort() -> ArenaError:
    """Return why there is nothing to show."""
    hint = "arena run --round plays the first, arena demo a season"
    return ArenaError("no_cohort", "the record holds no cohort yet", hint)


def report_page(facts: ReportFacts, at: datetime) -> str:
    """Return the whole of a report, as it was made at an instant."""
    which = count(len(facts.lines), "cohort")
    if facts.cohort is not None:
        which = f"Cohort {facts.cohort}"
    top = filled("<h1>Paper Arena · %s</h1>", which) + quiet(f"Made {moment(at)}.")
    return one_file(f"Paper Arena · {which}", top + Markup("\n").join(standings(facts, lambda _: None)))


def standings(facts: ReportFacts, address: Address) -> Iterator[Markup]:
    """Yield the sentence, the tables, and the charts, in the order of the dashboard."""
    newest = facts.lines[-1]
    yield quiet(f"{cohort_label(newest)}: {progress(newest)}.")
    for stamp in stamps(facts.lines):
        yield filled('<p class="stamp">%s</p>', stamp)
    yield filled('<p class="sentence">%s</p>', with_true_minus(_verdict(facts)))
    noise = facts.ranking.noise
    if noise:
        yield quiet(f"Twins, which have the same settings, lie {noise:.4f} apart: that much is noise.")

    yield from _standing_tables(facts, address)
    if is_any_known(facts.agent_lines, columns_of("brier_implied")):
        yield quiet(f"* {IMPLIED_NOTE}")
    yield from _standing_charts(facts)


def _verdict(facts: ReportFacts) -> str:
    """Return the verdict; for a single cohort that of the whole record."""
    if facts.cohort is not None:
        return over_all_cohorts(facts.verdict)
    return whole_verdict(facts.verdict)


def _standing_tables(facts: ReportFacts, address: Address) -> Iterator[Markup]:
    """Yield every figure of ranked agents and references, then the agents without a rank.

    The provisional board has what there is to say of references while no agent has a result.
    """
    lines = facts.agent_lines
    names = facts.season.names
    parts = board_parts(lines)
    provisional = is_provisional(lines)
    if provisional:
        yield heading("Provisional board")
        yield season_board(lines, BoardLook(facts.season, {}, {}, address), provisional=True)

    for label, keys in GROUPS.items():
        columns = list(columns_of(*keys))
        if provisional:
            columns = without_ranks(columns)
        if is_any_known(parts.ranked, columns):
            yield heading(f"Standings: {label}")
            yield board_table(f"{label}: one row an agent", columns, parts.ranked, names, address)
    has_details = bool(parts.ranked) or not provisional
    for label, keys in GROUPS.items():
        shown = without_ranks(columns_of(*keys))
        if has_details and is_any_known(parts.references, shown):
            yield heading(f"{REFERENCES}: {label}")
            yield board_table(f"{label} of references", shown, parts.references, names, address)
    if parts.unranked:
        yield heading(NOT_RANKED)
        yield unranked_table(parts.unranked, names, address)


def heading(text: str) -> Markup:
    """Return the heading of a part of a page."""
    return filled("<h2>%s</h2>", text)


def _standing_charts(facts: ReportFacts) -> Iterator[Markup]:
    """Yield skill against return, P/L and calibration."""
    colours = facts.season.colours(facts.season.first(_agent_names(facts), NAMED))
    spots = [
        (row.agent, row.skill, row.return_pct, colours.get(row.agent, REST))
        for row in facts.ranking.rows
        if row.skill is not None and row.return_pct is not None
    ]
    if spots:
        text = "Across: skill, closer than the price to the right. Up: return, which luck moves far more."
        plane = scatter(spots, "Skill against return, a point an agent", "%+.3f")
        yield heading("Skill against return")
        yield box("Each agent", plane, text)

    if facts.curves:
        yield heading("Profit and loss")
        yield beside(*(_profit_box(*curve, colours, facts.season) for curve in facts.curves))
        older = len(facts.lines) - MOST_COHORTS
        if older > 0:
            yield quiet(f"{count(older, 'older cohort')} can be seen in the dashboard.")

    panels = [_calibration_panel(agent, facts) for agent in facts.calibrations if agent.scored]
    if panels:
        yield heading(CALIBRATION)
        yield beside(*panels)


def _profit_box(
    line: CohortLine, points: Sequence[PnlPoint], colours: Colours, season: SeasonOverview
) -> Markup:
    """Return the profit of each account of a cohort over time."""
    curves = curves_of(points)
    drawn = pnl_lines(curves, colours, season.is_reference)
    if not drawn:
        return box(cohort_label(line), below="No account has been valued yet.")
    at = only_valuation(curves)
    if at is not None:
        return one_valuation_box(cohort_label(line), drawn, at)
    chart = line_chart(drawn, f"Profit and loss in cohort {line.number}", "%+.0f%")
    return box(cohort_label(line), chart, f"{progress(line)}. Open positions at mid{dashed_note(drawn)}.")


def _calibration_panel(agent: ForecasterCalibration, facts: ReportFacts) -> Markup:
    """Return one agent's calibration beside that of the price."""
    name = agent.agent
    curves = [(name, agent.diagram, facts.season.colours([name])[name])]
    if facts.price is not None and facts.price.scored:
        curves.append((MARKET_PRICE, facts.price.diagram, REST))
    return box(name, calibration_chart(curves, f"Calibration of {name}", is_named=False), SHADED)
