"""From facts to the page: text is escaped whatever it says, pictures stand inside, and nothing is loaded."""

from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from dashboard.charts.calibration import PANEL, calibration
from dashboard.charts.curves import pnl_curves
from dashboard.charts.intervals import skill_intervals
from dashboard.columns import UNRANKED, LeaderboardColumn, with_bar
from dashboard.html_table import html_table
from dashboard.lead import cohort_label, progress, stamps
from dashboard.model import LeaderboardLine
from dashboard.report.columns import COLUMNS
from dashboard.report.facts import MOST_COHORTS, ReportCurves, ReportFacts
from dashboard.report.pictures import Picture, drawn
from dashboard.table import cells, config, who
from dashboard.times import moment
from dashboard.words import count

HOME = Path(__file__).parent
TABLE = HOME.parent / "assets" / "arena.css"
WIDE = 1120
"""How wide a chart is that has a line to itself, in pixels, axes and all."""
Told = Callable[[int, int], None]
"""Told how many pictures of how many are drawn."""


@dataclass(frozen=True, slots=True)
class ReportSection:
    """A heading, what to know about the pictures under it, and the pictures."""

    title: str
    words: str
    pictures: list[Picture]


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
        sentence=facts.ranking.sentence,
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
    data = who([line.row.agent for line in lines], facts.looks) | cells(lines, shown)
    return html_table(data, config(shown), f"{title}: one row an agent")


def _policy(css: str) -> str:
    """What a browser may do with the file: show its pictures and its one style, and nothing else."""
    style = b64encode(sha256(css.encode()).digest()).decode()
    shut = "default-src 'none'; base-uri 'none'; form-action 'none'"
    return f"{shut}; img-src data:; style-src 'sha256-{style}'"


def _progress(facts: ReportFacts) -> str:
    newest = facts.lines[-1]
    return f"{cohort_label(newest)}: {progress(newest)}"


def _sections(facts: ReportFacts, told: Told) -> Iterator[ReportSection]:
    """The charts, in the order of the dashboard."""
    rows, looks = facts.ranking.rows, facts.looks
    scored = any(row.skill is not None for row in rows)
    panels = facts.calibrations if any(one.scored for one in facts.calibrations) else ()
    whole = scored + len(facts.curves) + len(panels)
    if scored:
        skill = drawn(skill_intervals(rows, looks).properties(width=WIDE - 260), "Skill of each agent", WIDE)
        told(1, whole)
        yield ReportSection("Skill, and how sure it is", "Right of the line beats the price.", [skill])
    for place, one in enumerate(facts.curves, start=1):
        told(scored + place, whole)
        yield _profit(one, facts)
    if panels:
        words = (
            "What they stated. On the diagonal, what was called 70% likely came true 70% of the time. A line "
            "that stays in the shaded band is no further off than chance would have it in 90 of 100 seasons. "
            "Dashed grey is the price of every market shown."
        )
        yield ReportSection("Calibration", words, list(_panels(facts, whole - len(panels), told)))


def _profit(one: ReportCurves, facts: ReportFacts) -> ReportSection:
    title = f"Profit and loss, {cohort_label(one.line)}"
    if not one.points:
        return ReportSection(title, "No account has been valued yet.", [])
    more = len(facts.lines) - MOST_COHORTS
    newest = one is facts.curves[-1] and more > 0
    rest = f" {count(more, 'older cohort')} can be seen in the dashboard." if newest else ""
    chart = pnl_curves(one.points, one.rounds, facts.looks, "percent").properties(width=WIDE - 80)
    words = f"{progress(one.line)}. Open positions at mid; thin upright lines are rounds.{rest}"
    return ReportSection(title, words, [drawn(chart, f"Profit and loss in cohort {one.line.number}", WIDE)])


def _panels(facts: ReportFacts, before: int, told: Told) -> Iterator[Picture]:
    found = facts.calibrations
    for place, agent in enumerate(found, start=1):
        told(before + place, before + len(found))
        panel = calibration(agent, facts.price, facts.looks[agent.agent])
        yield drawn(panel, f"Calibration of {agent.agent}", PANEL[0] + 60)
