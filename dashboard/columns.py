"""The figures of a board: what each is called, how it is found and written, and what it says."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from arena.errors import VERDICTS, tie_letters, times_text
from arena.scores.comparisons import MARKET
from arena.scores.leaderboard import LeaderboardRow
from arena.scores.rules.comparisons.lead import MIN_COVERAGE
from arena.scores.rules.comparisons.weeks import ENOUGH_WEEKS
from arena.scores.slices import Slice
from dashboard.record import LeaderboardLine
from dashboard.words import written
from markets.millionths import ONE

Figure = float | int | str | None


@dataclass(frozen=True, slots=True)
class LeaderboardColumn:
    """A figure: its words, how it is found in a row and written, and what the table multiplies it by.

    `format` is "text" for words, "times" for evidence, and else as Streamlit writes numbers.
    """

    key: str
    label: str
    format: str
    help: str
    of: Callable[[Any], Figure]
    times: int = 1


def _own(name: str) -> Callable[[LeaderboardLine], Figure]:
    def of(line: LeaderboardLine) -> Figure:
        found: Figure = getattr(line.row, name)
        return found

    return of


def _score(key: str, label: str, format: str, help: str, times: int = 1) -> LeaderboardColumn:
    return LeaderboardColumn(key, label, format, help, _own(key), times)


def place(row: LeaderboardRow) -> str:
    """The places that an agent may hold, or why it has none."""
    if row.kind == MARKET:
        return "price"
    if row.why_not or row.reason:
        return row.why_not or row.reason or ""
    if row.place_best is None or row.place_worst is None:
        return "none yet"
    best, worst = row.place_best, row.place_worst
    return str(best) if best == worst else f"{best}–{worst}"


def _interval(row: LeaderboardRow) -> str | None:
    low, high = row.skill_low, row.skill_high
    return None if low is None or high is None else " to ".join(written(x, "%+.4f") for x in (low, high))


def _luck(of: Callable[[Any], float | None]) -> Callable[[LeaderboardLine], Figure]:
    return lambda line: None if line.luck is None else of(line.luck)


def _brief(name: str) -> Callable[[LeaderboardLine], Figure]:
    def of(line: LeaderboardLine) -> Figure:
        found: Figure = getattr(line.brief, name) if line.brief else None
        return found

    return of


def _money(name: str) -> Callable[[Any], float]:
    return lambda luck: float(getattr(luck, name)) / ONE


COLUMNS = (
    LeaderboardColumn(
        "place",
        "Place",
        "text",
        "The places that it may really hold, as far as chance can be told from skill.",
        lambda line: place(line.row),
    ),
    _score("skill_low", "Skill from", "%+.4f", "The low end of its 95% interval: the board is in its order."),
    _score(
        "skill",
        "Skill",
        "%+.4f",
        "The price's Brier score minus its own, on the same forecasts; > 0 beats it.",
    ),
    LeaderboardColumn(
        "interval",
        "95% interval",
        "text",
        "It holds the true skill in 95% of seasons.",
        lambda line: _interval(line.row),
    ),
    LeaderboardColumn(
        "verdict",
        "Verdict",
        "text",
        "Proven: above the price by event and by week, evidence at {bar}. Ahead: by event alone.",
        lambda line: VERDICTS[line.row.verdict],
    ),
    _score("evidence", "Evidence", "times", "What a bet on its skill has made of 1; proven needs {bar}."),
    LeaderboardColumn(
        "ties",
        "Tied",
        "text",
        "Agents that share a letter can't be told apart yet.",
        lambda line: tie_letters(line.row.ties),
    ),
    _score("copies", "Copies", "text", "Whose forecasts it repeats: together they are one entry."),
    _score(
        "brier_implied",
        "Implied Brier*",
        "%.4f",
        "The founding text's score: bets read as confidence by stake alone; lower is better.",
    ),
    _score("pnl", "P/L", "gain", "Profit or loss in dollars, open positions at mid."),
    LeaderboardColumn(
        "luck_percentile",
        "Better than %",
        "%.0f",
        "Share of skill-less seasons with the same bets that earn less; from 3 to 97 the profit is no news.",
        _luck(lambda luck: luck.percentile),
        100,
    ),
    _score("return_pct", "Return %", "%+.1f", "Profit or loss in percent of the bankrolls it was given."),
    _score(
        "brier_stated",
        "Brier stated",
        "%.4f",
        "The mean over markets of the squared error of what it stated; lower is better.",
    ),
    _score(
        "brier_market", "Brier market", "%.4f", "The same of the price, on its forecasts; lower is better."
    ),
    _score(
        "brier_anchored",
        "Brier anchored",
        "%.4f",
        "Bets read as a move from the price paid; lower is better.",
    ),
    LeaderboardColumn(
        "miscalibration",
        "Miscalibration",
        "%.4f",
        "By how much its Brier score would fall if what it calls 70% came true 70% of the time; 0 is best.",
        _brief("miscalibration"),
    ),
    LeaderboardColumn(
        "miscalibration_p",
        "Chance of that",
        "%.3f",
        "How likely a calibrated forecaster would look as far off; under 0.05 it is more than chance.",
        _brief("miscalibration_p"),
    ),
    _score("win_rate", "Win %", "%.0f", "Share of its resolved bets whose side won.", 100),
    _score(
        "events", "Events", "localized", "Among its resolved forecasts. Markets of one event move together."
    ),
    _score("weeks", "Weeks", "localized", f"In which its markets resolved; proven needs {ENOUGH_WEEKS}."),
    _score(
        "skill_low_by_week", "From, by week", "%+.4f", "The low end where weeks are compared, not events."
    ),
    _score(
        "coverage",
        "Coverage %",
        "%.0f",
        f"Share of what resolved that it answered; ranked from {MIN_COVERAGE:.0%} on.",
        100,
    ),
    _score("cost_usd", "Cost $", "%.2f", "What its calls cost, in dollars; a dash when a price is unknown."),
    _score("skill_per_dollar", "Skill per $", "%+.4f", "Skill divided by cost."),
    _score(
        "cost_per_forecast",
        "Cost per forecast $",
        "%.6f",
        "That of all its calls, spread over the probabilities that it stated, resolved or not.",
    ),
    _score("skill_high", "Skill to", "%+.4f", "The high end of its 95% interval."),
    _score("skill_p", "Chance", "%.3f", "How likely a skill as far from 0 would be if there were none."),
    _score(
        "events_effective",
        "Events that count",
        "%.1f",
        "Events, counted by what they can tell: what an interval is made of.",
    ),
    LeaderboardColumn(
        "luck_low",
        "Luck from $",
        "dollar",
        "Where 95% of seasons end that have the same bets and no skill: from here.",
        _luck(_money("low")),
    ),
    LeaderboardColumn("luck_high", "Luck to $", "dollar", "Where they end: to here.", _luck(_money("high"))),
    _score("shown", "Shown", "localized", "Markets shown to it, one a market and turn."),
    _score("answered", "Answered", "localized", "Of these, those with a usable probability."),
    _score("resolved", "Resolved", "localized", "Of those shown, those that ended YES or NO."),
    _score("bets", "Bets", "localized", "Accepted, resolved or not."),
    _score("sold", "Sales", "localized", "Of positions, before their market ended."),
    _score("cohorts", "Cohorts", "localized", "That it plays in."),
    _score("turns", "Turns", "localized", "Decisions asked of it."),
    _score(
        "malformed",
        "Malformed",
        "localized",
        "Turns whose answer could not be used, or was refused; they count as skips.",
    ),
    _score("failed", "Failed", "localized", "Turns without any answer; they count as unanswered."),
    _score("late", "Late", "localized", "Turns that came after their window; they count as unanswered."),
    _score("retried", "Retried", "localized", "Turns that were tried again after they had failed."),
    _score(
        "unscored", "Unscored", "localized", "Forecasts that ended in a fraction or refund: paid, no score."
    ),
    _score(
        "early",
        "Early",
        "localized",
        "Forecasts older than the release of their model: no evidence, no score.",
    ),
    _score("kind", "Kind", "text", "What decides: a language model, or a rule."),
    LeaderboardColumn(
        "tools",
        "Tools",
        "text",
        "What it could look things up with before it answered.",
        lambda line: ", ".join(line.row.tools),
    ),
    LeaderboardColumn(
        "note", "Note", "text", "What its figures are not worth, and why.", lambda line: line.note
    ),
)
"""All that a leaderboard says of an agent."""
OF_ALL = frozenset(("miscalibration", "miscalibration_p", "luck_low", "luck_high", "luck_percentile"))
"""What is only known of all cohorts together."""

SHORT = (
    *("place", "skill", "verdict", "evidence", "brier_implied", "pnl", "return_pct", "miscalibration"),
    *("events", "cost_usd", "skill_per_dollar"),
)
"""The figures that a leaderboard shows at first: how good, how sure, what it earned, and what it cost."""


def columns_of(*keys: str) -> tuple[LeaderboardColumn, ...]:
    """Some of the columns, in the order asked for."""
    by_key = {column.key: column for column in COLUMNS}
    return tuple(by_key[key] for key in keys)


UNRANKED = (
    _score(
        "why_not", "Why not", "text", f"An agent is ranked if it answers {MIN_COVERAGE:.0%} of what resolves."
    ),
    *columns_of("brier_implied", "pnl", "return_pct", "win_rate", "cost_usd"),
)
"""What is said of an agent that is not ranked."""


def with_bar(columns: Iterable[LeaderboardColumn], bar: float) -> tuple[LeaderboardColumn, ...]:
    """The columns, whose words name the bar for evidence."""
    return tuple(replace(column, help=column.help.format(bar=times_text(bar))) for column in columns)


FOUNDING = (
    *columns_of("brier_implied"),
    _score("implied_band", "In words", "text", "The founding text's word for such a Brier score."),
    _score(
        "implied_skill",
        "Against 0.25",
        "%+.2f",
        "Brier skill: 1 − implied Brier ÷ 0.25, the score of a coin.",
    ),
    *columns_of("return_pct"),
    _score("return_band", "Return in words", "text", "The founding text's word for such a return."),
    _score(
        "stated_skill",
        "Stated against 0.25",
        "%+.2f",
        "Brier skill of what it stated: 1 − its Brier ÷ 0.25.",
    ),
    _score(
        "skill_ratio", "Stated against the market", "%+.2f", "1 − stated Brier ÷ the price's, same forecasts."
    ),
)
"""The founding text's scores of an agent."""


def _gain(name: str) -> Callable[[Slice], Figure]:
    def of(part: Slice) -> Figure:
        found: Figure = getattr(part.gain, name)
        return found

    return of


PART_COLUMNS = (
    LeaderboardColumn(
        "reason",
        "Said",
        "text",
        "Why there is no interval, where there is none.",
        lambda part: part.gain.reason or "",
    ),
    LeaderboardColumn(
        "skill",
        "Skill",
        "%+.4f",
        "The price's Brier score minus its own, in this part of the season alone.",
        _gain("skill"),
    ),
    LeaderboardColumn(
        "skill_low",
        "Skill from",
        "%+.4f",
        "The low end of the interval that holds the true one in 95% of seasons.",
        _gain("low"),
    ),
    LeaderboardColumn("skill_high", "Skill to", "%+.4f", "The high end of that interval.", _gain("high")),
    LeaderboardColumn(
        "skill_p",
        "Chance",
        "%.3f",
        "How likely a skill as far from 0 would be if there were none.",
        _gain("p"),
    ),
    LeaderboardColumn("rows", "Resolved forecasts", "localized", "In this part.", _gain("rows")),
    LeaderboardColumn("markets", "Markets", "localized", "Resolved ones in this part.", _gain("markets")),
    LeaderboardColumn("events", "Events", "localized", "Resolved ones in this part.", _gain("events")),
    LeaderboardColumn(
        "effective",
        "Events that count",
        "%.1f",
        "Events, counted by what they can tell.",
        _gain("effective"),
    ),
)
"""What is said of an agent in a part of the season."""
