"""The standings of a report: which figures, in which form, and what they say."""

from dataclasses import dataclass

from arena.scores.leaderboard import LeaderboardRow


@dataclass(frozen=True, slots=True)
class ReportColumn:
    """A figure: of which field, under what name, in what form, and what it says."""

    key: str
    label: str
    form: str
    help: str


COLUMNS = (
    ReportColumn(
        "skill", "Skill", "+.4f", "Market Brier minus stated Brier, same forecasts; above 0 beats the price."
    ),
    ReportColumn("skill_low", "from", "+.4f", "In 95% of seasons the true skill is at least this."),
    ReportColumn("skill_high", "to", "+.4f", "And at most this. A dash: too few events to say."),
    ReportColumn("ties", "Tie group", "", "Agents that share a letter can't be told apart yet."),
    ReportColumn(
        "brier_stated", "Stated", ".4f", "Brier score of the probabilities it stated; lower is better."
    ),
    ReportColumn("brier_market", "Market", ".4f", "Brier score of the price, on the same forecasts."),
    ReportColumn(
        "brier_anchored", "Anchored", ".4f", "Brier score of its bets, read as moves from the price."
    ),
    ReportColumn(
        "brier_implied", "Implied", ".4f", "Brier score of its bets, read as confidence by stake alone."
    ),
    ReportColumn("forecasts", "Forecasts", ",d", "Resolved: one a market shown and turn, skips included."),
    ReportColumn(
        "events", "Events", ",d", "Among its resolved forecasts. Markets of one event move together."
    ),
    ReportColumn(
        "coverage", "Coverage", ".0%", "Share of the markets shown for which it stated a probability."
    ),
    ReportColumn("pnl", "P/L $", "+,.2f", "Profit or loss in dollars, open positions at mid."),
    ReportColumn(
        "return_pct", "Return %", "+.2f", "Profit or loss in percent of the bankrolls it was given."
    ),
    ReportColumn("win_rate", "Win", ".0%", "Share of its resolved bets whose side won."),
    ReportColumn("bets", "Bets", ",d", "Accepted, resolved or not."),
    ReportColumn("cost_usd", "Cost $", ".4f", "What all its calls cost; a dash when a price is unknown."),
    ReportColumn(
        "cost_per_forecast", "Per forecast $", ".6f", "Cost of all calls a probability that it stated."
    ),
)


def cells(row: LeaderboardRow) -> list[str]:
    """The figures of an agent as they are written; a dash where nothing can be said."""
    return [_letters(row.ties) if c.key == "ties" else _cell(getattr(row, c.key), c.form) for c in COLUMNS]


def _cell(value: float | int | None, form: str) -> str:
    return "–" if value is None else format(value, form)


def _letters(groups: tuple[int, ...]) -> str:
    """Tie groups as letters.

    >>> _letters((1, 2)), _letters((27,)), _letters(())
    ('a b', '27', '–')
    """
    return " ".join(chr(96 + group) if group <= 26 else str(group) for group in groups) or "–"
