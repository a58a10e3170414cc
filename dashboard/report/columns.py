"""The standings of a report: which figures, and how they are written."""

from collections.abc import Iterable

from arena.errors import times_text
from dashboard.columns import LeaderboardColumn, columns_of
from dashboard.model import LeaderboardLine

COLUMNS = columns_of(
    *("place", "skill_low", "skill", "interval", "verdict", "evidence", "ties", "copies"),
    *(
        "brier_implied",
        "brier_stated",
        "brier_market",
        "brier_anchored",
        "shown",
        "answered",
        "resolved",
        "events",
        "weeks",
    ),
    *("coverage", "pnl", "return_pct", "win_rate", "bets", "cost_usd", "skill_per_dollar"),
    "cost_per_forecast",
)


def cells(line: LeaderboardLine, columns: Iterable[LeaderboardColumn]) -> list[str]:
    """The figures of an agent as they are written; a dash where nothing can be said."""
    return [_cell(line, column) for column in columns]


def _cell(line: LeaderboardLine, column: LeaderboardColumn) -> str:
    value = column.of(line)
    if value is None or isinstance(value, str):
        return value or "–"
    if column.format == "times":
        return times_text(value)
    forms = {"localized": "{:,}", "dollar": "{:+,.2f}"}
    value *= column.times
    return forms[column.format].format(value) if column.format in forms else column.format % value
