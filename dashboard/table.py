"""Boards as tables and as files."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from arena.scores.leaderboard import LeaderboardRow
from arena.scores.slices import Slice
from dashboard.charts.bars import Scale, band, interval, scale_of
from dashboard.columns import Figure, LeaderboardColumn
from dashboard.html_table import HtmlColumn, picture, words
from dashboard.links import Way, way
from dashboard.model import LeaderboardLine
from dashboard.palette import MARKET, AgentLook

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How text starts that a spreadsheet takes for a formula."""


def bars(rows: Sequence[LeaderboardRow], looks: Mapping[str, AgentLook]) -> list[Markup | None]:
    """Every row's skill with its interval, on one scale."""
    scale = scale_of([_span(row.skill, row.skill_low, row.skill_high) for row in rows])
    return [_bar(r.skill, r.skill_low, r.skill_high, colour_of(r.agent, looks), scale) for r in rows]


def part_bars(found: Sequence[Slice], looks: Mapping[str, AgentLook]) -> list[Markup | None]:
    """The same of a part of the season."""
    gains = [part.gain for part in found]
    scale = scale_of([_span(gain.skill, gain.low, gain.high) for gain in gains])
    return [_bar(g.skill, g.low, g.high, colour_of(g.agent, looks), scale) for g in gains]


def _span(*values: float | None) -> tuple[float, float]:
    known = [value for value in values if value is not None]
    return min(known, default=0.0), max(known, default=0.0)


def bands(lines: Sequence[LeaderboardLine], looks: Mapping[str, AgentLook]) -> list[Markup | None]:
    """Every profit before the band of what luck alone would make of the same bets, on one scale."""
    money = [(x.luck.pnl, x.luck.low or 0, x.luck.high or 0) if x.luck else None for x in lines]
    scale = scale_of([_span(*one) for one in money if one])
    colours = [colour_of(line.row.agent, looks) for line in lines]
    return [
        None if one is None else band(*one, colour, scale) for one, colour in zip(money, colours, strict=True)
    ]


def colour_of(agent: str, looks: Mapping[str, AgentLook]) -> str:
    """An agent's colour; that of the market for the price that nobody plays."""
    return looks[agent].colour if agent in looks else MARKET


def _bar(
    skill: float | None, low: float | None, high: float | None, colour: str, scale: Scale
) -> Markup | None:
    return None if skill is None else interval(skill, low, high, colour, scale)


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
