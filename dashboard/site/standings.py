"""The standings whole: every figure of the board, skill against return, P/L and calibration.

A page of a site, and by itself a report. What it says is read in one look at the record.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup

from arena.errors import ArenaError
from arena.record.queries.cohorts import read_cohorts
from arena.record.queries.forecasts import read_forecast_columns
from arena.record.schema.database import Connection
from arena.scores.comparisons import MARKET
from arena.scores.leaderboard import Leaderboard, read_leaderboard
from arena.scores.profiles.calibrations import ForecasterCalibration, agent_calibrations, price_calibration
from arena.scores.verdict import Verdict
from dashboard.board import (
    GROUPS,
    IMPLIED_NOTE,
    BoardLook,
    board_table,
    cohort_label,
    columns_of,
    dashed_note,
    is_provisional,
    over_all_cohorts,
    pnl_lines,
    progress,
    provisional_board,
    says_and_happens,
    stamps,
    unranked_table,
    whole_verdict,
)
from dashboard.html import HALVES, REST, box, calibration_chart, columns, line_chart, quiet, scatter
from dashboard.pages import Address
from dashboard.record import CohortLine, PnlPoint, SeasonOverview, leaderboard_lines, read_season
from dashboard.site.shell import one_file
from dashboard.views.cohort import by_agent, gains, read_equity_curves
from dashboard.words import count, filled, moment, with_true_minus

NAMED = 3
"""So many agents are coloured in a chart, the first of the board."""
MOST_COHORTS = 6
"""The curves of so many cohorts are drawn, the newest."""
MOST_PANELS, POINTS = 12, 2_000
"""Of so many agents it is drawn how well they are calibrated; so many points has a chart of curves."""


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


def gather(connection: Connection, cohort: int | None, board: Leaderboard | None = None) -> ReportFacts:
    """All that is said, of every cohort or of one; with the board given, but for calibration.

    On a site each agent has that on a page of its own.
    """
    stored = read_cohorts(connection)
    if not stored:
        raise no_cohort()
    found = board or read_leaderboard(connection, cohort)
    season = read_season(connection)
    shown = read_forecast_columns(connection, cohort) if board is None else None
    lines = {one.number: one for one in season.cohorts if cohort in (None, one.number)}
    drawn = [one.cohort for one in reversed(stored) if one.cohort.number in lines][:MOST_COHORTS]
    names = [row.agent for row in found.rows if row.kind != MARKET][:MOST_PANELS]
    return ReportFacts(
        cohort=cohort,
        season=season,
        lines=tuple(lines.values()),
        ranking=found,
        verdict=found.verdict if cohort is None else read_leaderboard(connection).verdict,
        curves=tuple(
            (lines[one.number], gains(one, read_equity_curves(connection, one.number, POINTS)))
            for one in drawn
        ),
        calibrations=agent_calibrations(shown, names) if shown else (),
        price=price_calibration(shown) if shown else None,
    )


def no_cohort() -> ArenaError:
    """Why there is nothing to show."""
    hint = "arena round plays the first, arena demo a season"
    return ArenaError("no_cohort", "the record holds no cohort yet", hint)


def report_page(facts: ReportFacts, at: datetime) -> str:
    """The whole of a report, as it was made at an instant."""
    which = f"Cohort {facts.cohort}" if facts.cohort is not None else count(len(facts.lines), "cohort")
    top = Markup("<h1>Paper Arena · {}</h1>").format(which) + quiet(f"Made {moment(at)}.")
    return one_file(f"Paper Arena · {which}", top + Markup("\n").join(standings(facts, lambda _: None)))


def standings(facts: ReportFacts, address: Address) -> Iterator[Markup]:
    """The sentence, the tables, and the charts, in the order of the dashboard."""
    newest, noise = facts.lines[-1], facts.ranking.noise
    yield quiet(f"{cohort_label(newest)}: {progress(newest)}.")
    yield from (Markup('<p class="stamp">{}</p>').format(said) for said in stamps(facts.lines))
    yield Markup('<p class="sentence">{}</p>').format(with_true_minus(_verdict(facts)))
    if noise:
        said = f"Twins, which have the same settings, lie {noise:.4f} apart: that much is noise."
        yield quiet(said)
    lines = leaderboard_lines(facts.ranking)
    names = facts.season.names
    ranked = [line for line in lines if line.is_on_board]
    references = [line for line in lines if line.row.is_reference]
    others = [line for line in lines if not line.is_on_board and not line.row.is_reference]
    if is_provisional(lines) and (ranked or others):
        yield heading("Provisional board")
        yield provisional_board([*ranked, *others], BoardLook(facts.season, {}, {}, address))
    for label, keys in GROUPS.items() if ranked else ():
        yield heading(f"Standings: {label}")
        yield board_table(f"{label}: one row an agent", columns_of(*keys), ranked, names, address)
    for label, keys in GROUPS.items() if references else ():
        yield heading(f"References, not ranked: {label}")
        yield board_table(f"{label} of references", columns_of(*keys), references, names, address)
    if others:
        yield heading("Not ranked")
        yield unranked_table(others, names, address)
    yield quiet(f"* {IMPLIED_NOTE}")
    yield from _charts(facts)


def _verdict(facts: ReportFacts) -> str:
    """The verdict; of a single cohort that of all."""
    if facts.cohort is not None:
        return over_all_cohorts(facts.verdict)
    return "" if facts.verdict is None else whole_verdict(facts.verdict)


def heading(text: str) -> Markup:
    """The heading of a part of a page."""
    return filled("<h2>%s</h2>", text)


def _charts(facts: ReportFacts) -> Iterator[Markup]:
    names = [row.agent for row in facts.ranking.rows if row.kind != MARKET]
    colours = facts.season.colours(facts.season.first(names, NAMED))
    spots = [
        (row.agent, row.skill, row.return_pct, colours.get(row.agent, REST))
        for row in facts.ranking.rows
        if row.skill is not None and row.return_pct is not None
    ]
    if spots:
        said = "Right of the line is closer than the price, above it earns. Luck moves return far more."
        plane = scatter(spots, "Skill against return, a point an agent", "%+.3f", "%+.0f%")
        yield from (heading("Skill against return"), box("Each agent", plane, said))
    if facts.curves:
        more = len(facts.lines) - MOST_COHORTS
        drawn = [_profit(*one, colours, facts.season) for one in facts.curves]
        yield from (heading("Profit and loss"), columns(*drawn))
        if more > 0:
            yield quiet(f"{count(more, 'older cohort')} can be seen in the dashboard.")
    if panels := [one for one in facts.calibrations if one.scored]:
        drawn = [_panel(one, facts) for one in panels]
        yield from (heading("Calibration: what it says, what happens"), columns(*drawn))


def _profit(
    line: CohortLine, points: Sequence[PnlPoint], colours: Mapping[str, str], season: SeasonOverview
) -> Markup:
    """What each account of a cohort has made over time."""
    drawn = pnl_lines(by_agent(points), colours, season.is_reference)
    chart = line_chart(drawn, f"Profit and loss in cohort {line.number}", "%+.0f%", frames=HALVES)
    said = f"{progress(line)}. Open positions at mid{dashed_note(drawn)}."
    return box(cohort_label(line), chart, said if drawn else "No account has been valued yet.")


def _panel(agent: ForecasterCalibration, facts: ReportFacts) -> Markup:
    """One agent's calibration beside that of the price."""
    curves = [(agent.agent, agent.diagram, facts.season.colours([agent.agent])[agent.agent])]
    if facts.price is not None and facts.price.scored:
        curves.append(("price", facts.price.diagram, REST))
    chart = calibration_chart(curves, f"Calibration of {agent.agent}")
    band = "Shaded: where 90 of 100 calibrated forecasters would lie."
    return box(agent.agent, chart, f"{says_and_happens(agent.diagram)}. {band}")
