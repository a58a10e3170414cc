"""Boards as tables and as files."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from arena.errors import VERDICTS, times_text
from arena.scores.comparisons import MARKET
from arena.scores.leaderboard import LeaderboardRow
from arena.scores.profiles.detailed_profile import ProfileFigures
from arena.scores.rules.reliability.diagram import ReliabilityDiagram
from dashboard.blocks import tag
from dashboard.columns import Figure, LeaderboardColumn, place
from dashboard.html_table import HtmlCell, HtmlColumn, html_table, number, picture, words
from dashboard.links import Address, Way, in_app, way
from dashboard.model import LeaderboardLine, SeasonOverview
from dashboard.numbers import written
from dashboard.palette import AgentLook
from dashboard.svg import REST, Scale, before_band, cell_scale, interval, sparkline

BY_CHANCE = 0.05
"""Chance alone makes a miscalibration as large less often than this: then it is called one."""
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How text starts that a spreadsheet takes for a formula."""


def bars(rows: Sequence[LeaderboardRow]) -> list[Markup | None]:
    """Every row's skill with its interval, on one scale."""
    return intervals([(row.skill, row.skill_low, row.skill_high) for row in rows])


def intervals(spans: Sequence[tuple[float | None, float | None, float | None]]) -> list[Markup | None]:
    """Values with their intervals, where they have one, on one scale."""
    scale = cell_scale([_span(*span) for span in spans])
    return [None if value is None else interval(value, low, high, "c1", scale) for value, low, high in spans]


def _span(*values: float | None) -> tuple[float, float]:
    known = [value for value in values if value is not None]
    return min(known, default=0.0), max(known, default=0.0)


def bands(lines: Sequence[LeaderboardLine]) -> list[Markup | None]:
    """Every profit before the band of what luck alone would make of the same bets, on one scale."""
    money = [(x.luck.pnl, x.luck.low or 0, x.luck.high or 0) if x.luck else None for x in lines]
    scale = cell_scale([_span(*one) for one in money if one])
    return [None if one is None else before_band(*one, "c1", scale) for one in money]


def cells(rows: Sequence[Any], columns: Iterable[LeaderboardColumn]) -> dict[str, list[Figure]]:
    """The figures of a table, column by column; None where nothing can be said yet."""
    return {column.key: [_cell_of(row, column) for row in rows] for column in columns}


def _cell_of(row: Any, column: LeaderboardColumn) -> Figure:
    value = column.of(row)
    return value * column.times if isinstance(value, float | int) and column.times != 1 else value


def who(names: Sequence[str], looks: Mapping[str, AgentLook]) -> dict[str, list[Any]]:
    """The first two columns: every agent's mark and its name."""
    return {
        "look": [looks[name].badge if name in looks else None for name in names],
        "agent": list(names),
    }


def agent_ways(names: Sequence[str], looks: Mapping[str, AgentLook]) -> list[Way | None]:
    """To every agent's page; a market that nobody plays has none."""
    return [way("agent", agent=name) if name in looks else None for name in names]


def config(columns: Iterable[LeaderboardColumn]) -> dict[str, HtmlColumn]:
    """What each column of a board is called, says, and how it is written."""
    return {
        "agent": words("Agent", "The market is the price itself."),
        "bar": picture(
            "95% interval", "Point: skill. Bar: it holds the true skill in 95% of seasons. Line: the price."
        ),
        "luck": picture(
            "P/L and luck",
            "Point: profit. Grey: 95% of skill-less seasons with the same bets. Line: no gain.",
        ),
    } | {column.key: HtmlColumn(column.label, column.help, column.format) for column in columns}


def as_csv(agents: Sequence[str], rows: Sequence[Any], columns: Sequence[LeaderboardColumn]) -> str:
    """All figures, unrounded, as a file. Text that a spreadsheet would run as a formula is quoted."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("agent", *(column.key for column in columns)))
    for agent, row in zip(agents, rows, strict=True):
        writer.writerow([_cell(value) for value in (agent, *(column.of(row) for column in columns))])
    return text.getvalue()


def _cell(value: Figure) -> Figure:
    """A cell as it can be opened anywhere.

    >>> _cell("=1+1"), _cell(-0.5), _cell(None)
    ("'=1+1", -0.5, '')
    """
    if isinstance(value, str) and value.startswith(FORMULA):
        return f"'{value}"
    return "" if value is None else value


def calibration_words(brief: ProfileFigures | None) -> tuple[str, str]:
    """How well what an agent is sure of comes true, in words, and what is to be known of that."""
    if brief is None:
        return "being computed", ""
    if brief.sure is None:
        return "–", "gives no side 70%"
    sure, p = brief.sure, brief.miscalibration_p
    verdict = verdict_on(sure.said, sure.came, p)
    return f"says {sure.said:.0%}, happens {sure.came:.0%}", f"{verdict}, n = {sure.forecasts:,}"


def verdict_on(said: float, came: float, p: float | None) -> str:
    """Whether a forecaster is further off than chance would have it, and to which side."""
    if p is None or not p < BY_CHANCE:
        return "no more off than chance"
    return "too sure" if said > came else "not sure enough"


def says_and_happens(found: ReliabilityDiagram, n: int) -> str:
    """What happens where it says about 80%, or what it says nearest to that."""
    point = min(found.points, key=lambda point: abs(point.forecast - 0.8))
    verdict = verdict_on(point.forecast, point.recalibrated, found.null.p_value)
    return f"says {point.forecast:.0%}, happens {point.recalibrated:.0%} (n = {n:,}): {verdict}"


def short_board(
    lines: Sequence[LeaderboardLine],
    known: SeasonOverview,
    equity: Mapping[str, Sequence[float]],
    colours: Mapping[str, str],
    bar: float,
    more: Sequence[LeaderboardColumn] = (),
    address: Address = in_app,
) -> Markup:
    """The short board: how good, how sure, what it earned, whether it means what it says, what it cost.

    `more` are columns in place of the last two, which are known of all cohorts together alone.
    """
    rows = [line.row for line in lines]
    scale = cell_scale(
        [
            (min(row.skill, row.skill_low or row.skill), max(row.skill, row.skill_high or row.skill))
            for row in rows
            if row.skill is not None
        ]
    )
    agents = [row.agent for row in rows]
    look = {name: colours.get(name, REST) for name in agents}
    money = " (invented)" if known.is_invented else ""
    data: dict[str, list[object]] = {
        "rank": [
            Markup('<span class="rank">{}</span>').format("" if r.kind == MARKET else place(r)) for r in rows
        ],
        "agent": [HtmlCell(name, name, known.about(name)) for name in agents],
        "skill": [_skill(line, look[line.row.agent], scale) for line in lines],
        "verdict": [_verdict(line, bar) for line in lines],
        "brier_implied": [row.brier_implied for row in rows],
        "pnl": [row.pnl for row in rows],
        "equity": [sparkline(equity.get(name, ()), look[name]) for name in agents],
    }
    if more:
        data |= {key: [*values] for key, values in cells(lines, more).items()}
    else:
        data["calibration"] = [_calibration(line) for line in lines]
        data["skill_per_dollar"] = [row.skill_per_dollar for row in rows]
    shown = {
        "rank": HtmlColumn("Rank", format="picture"),
        "agent": words(
            "Agent", "Before it the places that it may really hold; below, who made it or its rule."
        ),
        "skill": number(
            "Skill, 95% interval", "%+.4f", "Brier points better than the price; in order of the low end."
        ),
        "verdict": words(
            "Verdict",
            f"Below: what a bet on its skill has made of 1; proven needs {times_text(bar)}.",
        ),
        "brier_implied": number("Implied Brier", "%.3f", "The founding text's score; lower is better."),
        "pnl": number("P/L", "gain", "Profit or loss in play dollars, open positions at mid."),
        "equity": HtmlColumn("Equity", "All its accounts together, over time.", "picture"),
        "calibration": words("Calibration", "Of forecasts that gave one side 70% or more."),
        "skill_per_dollar": number(f"Skill per ${money}", "%+.4f", "Skill divided by what its calls cost."),
    }
    shown |= {column.key: HtmlColumn(column.label, column.help, column.format) for column in more}
    kinds = dict(known.agents)
    hrefs = [address(way("agent", agent=name)) if name in kinds else None for name in agents]
    return html_table(data, shown, "Leaderboard: one row an agent", hrefs, sortable=True)


def _skill(line: LeaderboardLine, look: str, scale: Scale) -> HtmlCell:
    row = line.row
    if row.skill is None:
        return HtmlCell("–", None, row.reason or "")
    drawn = interval(row.skill, row.skill_low, row.skill_high, look, scale)
    shown = Markup('<span class="pair">{} {}</span>').format(written(row.skill, "%+.4f"), drawn)
    if row.kind == MARKET:
        return HtmlCell(shown, row.skill, "by definition", "two")
    if row.skill_low is None or row.skill_high is None:
        return HtmlCell(shown, row.skill, row.reason or "", "two")
    span = f"{written(row.skill_low, '%+.4f')} to {written(row.skill_high, '%+.4f')}"
    return HtmlCell(shown, row.skill, span, "two")


def _verdict(line: LeaderboardLine, bar: float) -> HtmlCell:
    row = line.row
    if row.kind == MARKET:
        return HtmlCell("", "")
    if row.copies:
        return HtmlCell(tag("copy", "copy"), "copy", f"of {row.copies}")
    below = "" if row.evidence is None else f"{times_text(row.evidence)} of {times_text(bar)}"
    if row.verdict == "none":
        return (
            HtmlCell(tag("behind", "none"), "behind", below) if row.skill_low is not None else HtmlCell("–")
        )
    return HtmlCell(tag(VERDICTS[row.verdict], row.verdict), row.verdict, below)


def _calibration(line: LeaderboardLine) -> HtmlCell:
    if line.row.kind == MARKET and line.brief is None:
        return HtmlCell("–")
    said, below = calibration_words(line.brief)
    return HtmlCell(said, said, below, "two")
