"""From facts to the page: text is escaped whatever it says, pictures stand inside, and nothing is loaded."""

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from arena.scores.comparisons import MARKET
from arena.scores.profiles.calibrations import ForecasterCalibration
from dashboard.board import bars, cells, cohort_label, config, progress, says_and_happens, stamps, who
from dashboard.columns import UNRANKED, LeaderboardColumn, with_bar
from dashboard.html import box, html_table
from dashboard.record import LeaderboardLine
from dashboard.report.columns import COLUMNS
from dashboard.report.facts import MOST_COHORTS, ReportCurves, ReportFacts
from dashboard.svg import CHOSEN, HALVES, REST, Line, calibration_chart, line_chart, scatter
from dashboard.words import count, moment, with_true_minus, written

HOME = Path(__file__).parent
TABLE = HOME.parent / "assets" / "arena.css"
NAMED = 3
"""So many agents are coloured in a chart, the first of the board."""
Told = Callable[[int, int], None]
"""Told how many charts of how many are drawn."""


@dataclass(frozen=True, slots=True)
class ReportSection:
    """A heading, and the charts under it."""

    title: str
    charts: list[Markup]


def render(facts: ReportFacts, at: datetime, told: Told) -> str:
    """The whole file."""
    css = "".join(file.read_text("utf-8") for file in (HOME / "page.css", TABLE))
    around = Environment(autoescape=True, undefined=StrictUndefined)  # nosec
    which = f"Cohort {facts.cohort}" if facts.cohort is not None else count(len(facts.lines), "cohort")
    noise = facts.ranking.noise
    lines = [LeaderboardLine(row) for row in facts.ranking.rows]
    columns = with_bar(COLUMNS, facts.ranking.bar)
    return around.from_string((HOME / "page.html").read_text("utf-8")).render(
        title=f"Paper Arena · {which}",
        said=f"{_progress(facts)}. Made {moment(at)}.",
        stamps=stamps(facts.lines),
        sentence=with_true_minus(facts.ranking.sentence),
        noise=noise and f"Twins, which have the same settings, lie {noise:.4f} apart: that much is noise.",
        tables=[
            ("Standings", columns, [line for line in lines if line.is_on_board]),
            ("Not ranked", UNRANKED, [line for line in lines if not line.is_on_board]),
        ],
        table=lambda title, shown, of: _table(title, shown, of, facts),
        sections=list(_sections(facts, told)),
        css=Markup(css),  # noqa: S704 - our own file
        policy=_policy(css),
    )


def _table(
    title: str, shown: Sequence[LeaderboardColumn], lines: Sequence[LeaderboardLine], facts: ReportFacts
) -> Markup:
    data = who([line.row.agent for line in lines], facts.looks)
    for key, values in cells(lines, shown).items():
        data[key] = values
        if key == "skill":
            data["bar"] = bars([line.row for line in lines])
    return html_table(data, config(shown), f"{title}: one row an agent")


def _policy(css: str) -> str:
    """What a browser may do with the file: show its one style, and nothing else."""
    style = b64encode(sha256(css.encode()).digest()).decode()
    shut = "default-src 'none'; base-uri 'none'; form-action 'none'"
    return f"{shut}; style-src 'sha256-{style}'"


def _progress(facts: ReportFacts) -> str:
    newest = facts.lines[-1]
    return f"{cohort_label(newest)}: {progress(newest)}"


def _sections(facts: ReportFacts, told: Told) -> Iterator[ReportSection]:
    """The charts, in the order of the dashboard."""
    names = [row.agent for row in facts.ranking.rows if row.agent in facts.looks]
    looks = dict(zip([name for name in names if name != MARKET], CHOSEN[:NAMED], strict=False))
    panels = [one for one in facts.calibrations if one.scored]
    whole = len(facts.curves) + len(panels)
    spots = [
        (row.agent, row.skill, row.return_pct, looks.get(row.agent, REST))
        for row in facts.ranking.rows
        if row.skill is not None and row.return_pct is not None
    ]
    if spots:
        said = "Right of the line beats the price, above it earns. Luck moves return far more than skill."
        plane = scatter(spots, "Skill against return, a point an agent", "%+.3f", "%+.0f%")
        yield ReportSection("Skill against return", [box("Each agent", plane, said)])
    if facts.curves:
        drawn = list[Markup]()
        for place, one in enumerate(facts.curves, start=1):
            told(place, whole)
            drawn.append(_profit(one, facts, looks))
        yield ReportSection("Profit and loss", drawn)
    if panels:
        shown = [_panel(one, facts, looks.get(one.agent, "c4")) for one in panels]
        told(whole, whole)
        yield ReportSection("Calibration: what it says, what happens", shown)


def _profit(one: ReportCurves, facts: ReportFacts, looks: Mapping[str, str]) -> Markup:
    """What each account of a cohort has made over time."""
    title, more = cohort_label(one.line), len(facts.lines) - MOST_COHORTS
    rest = f" {count(more, 'older cohort')} can be seen in the dashboard." if more > 0 else ""
    found: dict[str, list[tuple[float, float]]] = {}
    for point in one.points:
        found.setdefault(point.agent, []).append((point.at.timestamp(), point.percent))
    drawn = [
        Line(name, points, looks.get(name, REST), written(points[-1][1], "%+.1f%"), name == MARKET)
        for name, points in found.items()
    ]
    chart = line_chart(drawn, f"Profit and loss in cohort {one.line.number}", "%+.0f%", frames=HALVES)
    said = f"{progress(one.line)}. Open positions at mid." if drawn else "No account has been valued yet."
    return box(title, chart, said + (rest if one is facts.curves[-1] else ""))


def _panel(agent: ForecasterCalibration, facts: ReportFacts, look: str) -> Markup:
    """One agent's calibration beside that of the price."""
    curves = [(agent.agent, agent.diagram, look)]
    if facts.price.scored:
        curves.append(("price", facts.price.diagram, REST))
    chart = calibration_chart(curves, f"Calibration of {agent.agent}")
    band = "Shaded: where 90 of 100 calibrated forecasters would lie."
    return box(agent.agent, chart, f"It {says_and_happens(agent.diagram, agent.scored)}. {band}")
