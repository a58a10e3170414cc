"""The leaderboard as a table and as a file."""

import csv
import io
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from arena.leaderboard import Row
from dashboard.palette import Look

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How text starts that a spreadsheet takes for a formula."""


@dataclass(frozen=True, slots=True)
class Column:
    """A figure of the leaderboard: its words, how it is written, and what it is multiplied by."""

    key: str
    label: str
    format: str
    help: str
    times: int = 1


COLUMNS = (
    Column(
        "skill",
        "Skill",
        "%+.4f",
        "Market Brier minus stated Brier, on the same forecasts; > 0 beats the price.",
    ),
    Column("brier_stated", "Brier stated", "%.4f", "Mean squared error of what it stated; lower is better."),
    Column(
        "brier_market", "Brier market", "%.4f", "The same of the price, on its forecasts; lower is better."
    ),
    Column(
        "brier_anchored",
        "Brier anchored",
        "%.4f",
        "Bets read as a move from the price paid; lower is better.",
    ),
    Column(
        "brier_implied", "Brier implied", "%.4f", "Bets read as confidence by stake alone; lower is better."
    ),
    Column("forecasts", "Forecasts", "localized", "Resolved: one a market shown and turn, skips included."),
    Column(
        "events", "Events", "localized", "Among its resolved forecasts. Markets of one event move together."
    ),
    Column(
        "coverage", "Coverage %", "%.0f", "Share of the markets shown for which it stated a probability.", 100
    ),
    Column("pnl", "P/L $", "dollar", "Profit or loss in dollars, open positions at mid."),
    Column("return_pct", "Return %", "%+.1f", "Profit or loss in percent of the bankrolls it was given."),
    Column("win_rate", "Win %", "%.0f", "Share of its resolved bets whose side won.", 100),
    Column("bets", "Bets", "localized", "Accepted, resolved or not."),
    Column("sold", "Sales", "localized", "Of positions, before their market ended."),
    Column("cost_usd", "Cost $", "%.2f", "What its calls cost, in dollars; a dash when a price is unknown."),
    Column(
        "cost_per_forecast",
        "Cost per forecast $",
        "%.6f",
        "That of all its calls, spread over the probabilities that it stated, resolved or not.",
    ),
    Column("cohorts", "Cohorts", "localized", "That it plays in."),
    Column("turns", "Turns", "localized", "Decisions asked of it."),
    Column(
        "malformed", "Malformed", "localized", "Turns whose answer could not be used; they count as skips."
    ),
    Column("failed", "Failed", "localized", "Turns without any answer; they count for nothing."),
    Column(
        "unscored", "Unscored", "localized", "Forecasts that ended in a fraction or refund: paid, no score."
    ),
)

BRIEF = (
    "skill",
    "brier_stated",
    "brier_market",
    "pnl",
    "return_pct",
    "win_rate",
    "bets",
    "forecasts",
    "cost_usd",
)
"""The figures of a cohort's standings."""


def show_board(rows: Sequence[Row], looks: Mapping[str, Look], only: Collection[str] = ()) -> None:
    """One row an agent, in the order given; a dash where nothing can be said yet."""
    columns = [column for column in COLUMNS if not only or column.key in only]
    data: dict[str, list[Any]] = {
        "look": [looks[row.agent].badge if row.agent in looks else None for row in rows],
        "agent": [row.agent for row in rows],
    }
    data |= {column.key: [_figure(row, column) for row in rows] for column in columns}
    data["kind"] = [row.kind for row in rows]
    st.dataframe(
        data,
        hide_index=True,
        placeholder="–",
        height="content",
        column_config=_config(columns),
        alt="Leaderboard: one row an agent",
    )


def _config(columns: Iterable[Column]) -> dict[str, Any]:
    named = {
        "look": st.column_config.ImageColumn(
            "", width=28, pinned=True, help="The agent's mark in every chart."
        ),
        "agent": st.column_config.TextColumn("Agent", pinned=True, help="The market is the price itself."),
        "kind": st.column_config.TextColumn("Kind", help="What decides: a language model, or a rule."),
    }
    return named | {column.key: _number(column) for column in columns}


def _number(column: Column) -> Any:
    return st.column_config.NumberColumn(
        column.label, help=column.help, format=column.format, alignment="right"
    )


def _figure(row: Row, column: Column) -> float | int | None:
    value: float | int | None = getattr(row, column.key)
    return value if value is None or column.times == 1 else value * column.times


def as_csv(rows: Iterable[Row]) -> str:
    """All figures, unrounded, as a file. Text that a spreadsheet would run as a formula is quoted."""
    keys = ("agent", "kind", *(column.key for column in COLUMNS))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(keys)
    writer.writerows([_cell(getattr(row, key)) for key in keys] for row in rows)
    return text.getvalue()


def _cell(value: Any) -> Any:
    """A cell as it can be opened anywhere.

    >>> _cell("=1+1"), _cell(-0.5), _cell(None)
    ("'=1+1", -0.5, '')
    """
    if isinstance(value, str) and value.startswith(FORMULA):
        return f"'{value}"
    return "" if value is None else value
