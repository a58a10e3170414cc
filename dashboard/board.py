"""Boards and lists of markets: their figures, what leads them in words, as tables and as files."""

import csv
import io
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import streamlit as st
from markupsafe import Markup

from arena.record.model.cohort import later_models_words
from arena.record.queries.accounts import AccountEquity
from arena.record.queries.markets import ForecastSpread, ListedMarket
from arena.scores.comparisons import MARKET
from arena.scores.leaderboard import LeaderboardRow, percent_of_price
from arena.scores.metaculus_scores import MetaculusScores
from arena.scores.profiles.detailed_profile import ProfileFigures
from arena.scores.rules.reliability.diagram import ReliabilityDiagram
from arena.scores.verdict import MIN_COVERAGE, Verdict
from dashboard import html
from dashboard.pages import Address, in_app, put, way
from dashboard.record import (
    CohortLine,
    LeaderboardLine,
    MarketLine,
    MarketStatus,
    PnlPoint,
    SeasonOverview,
)
from dashboard.words import count, day, money, outcome, percent, plain, with_true_minus, written
from markets.millionths import ONE
from markets.venue import venue_page
from portfolio.rules import DEPTH_UNKNOWN, SEED, UNLIMITED

Figure = float | int | str | None


def pnl_values(points: Sequence[PnlPoint], unit: str = "percent") -> list[tuple[float, float]]:
    """What an account had made at each instant, in `dollars` or in `percent`."""
    return [(one.at.timestamp(), one.dollars if unit == "dollars" else one.percent) for one in points]


def dashed_note(lines: Sequence[html.Line]) -> str:
    """What follows below curves of agents, if some are of no model."""
    return "; dashed: references" if any(line.dashed for line in lines) else ""


def pnl_lines(
    curves: Mapping[str, Sequence[PnlPoint]],
    colours: Mapping[str, str],
    dashed: Callable[[str], bool],
    unit: str = "percent",
    end: str = "%+.1f%",
) -> list[html.Line]:
    """What agents have made as lines, each with its end in figures."""
    drawn = {name: pnl_values(points, unit) for name, points in curves.items() if points}
    return [
        html.Line(name, line, colours.get(name, html.REST), written(line[-1][1], end), dashed(name))
        for name, line in drawn.items()
    ]


@dataclass(frozen=True, slots=True)
class LeaderboardColumn:
    """A figure: its words, how it is written and found in a row, and what the table multiplies it by.

    `format` is "text" for words, "times" for evidence, and else as Streamlit writes numbers.
    """

    key: str
    label: str
    format: str
    help: str
    of: Callable[[Any], Figure]

    @property
    def times(self) -> int:
        """Shares are shown in percent."""
        return 100 if self.key in SHARES else 1


def ranks(line: LeaderboardLine) -> str:
    """The ranks that an agent may have, or why it has none."""
    if line.told is not None and line.told.rank_text:
        return line.told.rank_text
    if line.row.is_reference:
        return "reference"
    return "copy" if line.row.copies else line.row.why_not or ""


def closer_span(row: LeaderboardRow) -> tuple[float | None, float | None, float | None]:
    """By how many percent an agent is closer than the price, and the ends of the interval of that."""
    price = row.brier_market
    middle, low, high = (percent_of_price(x, price) for x in (row.skill, row.skill_low, row.skill_high))
    return middle, low, high


def _interval(row: LeaderboardRow) -> str | None:
    low, high = row.skill_low, row.skill_high
    return None if low is None or high is None else " to ".join(written(x, "%+.4f") for x in (low, high))


Finder = Callable[[Any], Figure] | str
"""How a figure is found in a line: by a function, or by names that lead to it."""
SHARES = ("luck_percentile", "win_rate", "coverage", "coverage_in_time", "distance")
HEADS = {
    "ranks": ("Rank", "text"),
    "better": ("Better than", "text"),
    "price": ("Against the price", "text"),
    "closer": ("Closer than the price %", "%+.1f"),
    "skill_low": ("Skill from", "%+.4f"),
    "skill": ("Skill", "%+.4f"),
    "interval": ("Skill, 95% interval", "text"),
    "evidence": ("Evidence", "times"),
    "copies": ("Copies", "text"),
    "brier_implied": ("Implied Brier*", "%.4f"),
    "pnl": ("P/L", "gain"),
    "invested": ("Open positions $", "dollar"),
    "distance": ("From the price %", "%.1f"),
    "luck_percentile": ("Above luck %", "%.0f"),
    "return_pct": ("Return %", "%+.1f"),
    "brier_stated": ("Brier stated", "%.4f"),
    "brier_market": ("Brier market", "%.4f"),
    "brier_anchored": ("Brier anchored", "%.4f"),
    "miscalibration": ("Miscalibration", "%.4f"),
    "miscalibration_p": ("Chance of that", "p"),
    "win_rate": ("Win %", "%.0f"),
    "events": ("Events", "localized"),
    "coverage": ("Coverage %", "%.0f"),
    "cost_usd": ("Cost $", "%.2f"),
    "skill_per_dollar": ("Skill per $", "%+.4f"),
    "cost_per_forecast": ("Cost per forecast $", "%.6f"),
    "peer": ("Peer", "%+.2f"),
    "baseline": ("Baseline", "%+.2f"),
    "spot_peer": ("Spot peer", "%+.2f"),
    "relative": ("Relative", "%+.3f"),
    "coverage_in_time": ("Coverage in time %", "%.0f"),
    "skill_high": ("Skill to", "%+.4f"),
    "events_effective": ("Effective events", "%.1f"),
    "luck_low": ("Luck from $", "dollar"),
    "luck_high": ("Luck to $", "dollar"),
    "shown": ("Shown", "localized"),
    "answered": ("Answered", "localized"),
    "resolved": ("Resolved", "localized"),
    "bets": ("Bets", "localized"),
    "sold": ("Sales", "localized"),
    "cohorts": ("Cohorts", "localized"),
    "turns": ("Turns", "localized"),
    "malformed": ("Malformed", "localized"),
    "failed": ("Failed", "localized"),
    "late": ("Late", "localized"),
    "retried": ("Retried", "localized"),
    "unscored": ("Unscored", "localized"),
    "early": ("Early", "localized"),
    "kind": ("Kind", "text"),
    "tools": ("Tools", "text"),
    "note": ("Note", "long"),
    "why_not": ("Why not", "text"),
    "implied_band": ("Rating", "text"),
    "implied_skill": ("Against 0.25", "%+.2f"),
    "return_band": ("Return rating", "text"),
    "stated_skill": ("Stated against 0.25", "%+.2f"),
    "skill_ratio": ("Stated against the market", "%+.2f"),
}
"""All that is said of an agent: what a column is called, and how its figures are written."""
HELP = {
    "ranks": "The ranks that the told pairs allow.",
    "better": "Of how many others it is told to be better.",
    "price": "Told to be better or worse than the price; open where that is not told.",
    "closer": "Skill in percent of the price's own Brier score; > 0 is closer to what happened.",
    "skill_low": "The low end of its 95% interval, at one look.",
    "skill": "The price's Brier score minus its own, on the same forecasts; > 0 is closer.",
    "interval": "At one look, it holds the true skill in 95% of seasons.",
    "evidence": "What a bet on its skill has made of 1.",
    "copies": "Whose forecasts it repeats: together they are one entry.",
    "brier_implied": "Bets read as confidence by stake alone; lower is better.",
    "pnl": "Profit or loss in dollars, open positions at mid.",
    "invested": "What its open positions are worth, at mid.",
    "distance": "How far its forecasts lie from the prices, on average, in points of percent.",
    "luck_percentile": "Share of skill-less seasons with the same bets that earn less; from 20 events on.",
    "return_pct": "Profit or loss in percent of the bankrolls it was given.",
    "brier_stated": "The mean over markets of the squared error of what it stated; lower is better.",
    "brier_market": "The same of the price, on its forecasts; lower is better.",
    "brier_anchored": "Bets read as a move from the price paid; lower is better.",
    "miscalibration": "By how much its Brier score would fall if what it calls 70% came true 70% of the "
    "time; 0 is best.",
    "miscalibration_p": "How likely a calibrated forecaster would look as far off; under 0.05 it is more "
    "than chance.",
    "win_rate": "Share of its resolved bets whose side won.",
    "events": "Among its resolved forecasts. Markets of one event move together.",
    "coverage": f"Share of what resolved that it answered; ranked from {MIN_COVERAGE:.0%} on.",
    "cost_usd": "What its calls cost, in dollars; a dash when a price is unknown.",
    "skill_per_dollar": "Skill divided by cost.",
    "cost_per_forecast": "That of all its calls, spread over the probabilities that it stated, resolved or "
    "not.",
    "peer": "Metaculus's peer score: points better than the other agents over time.",
    "baseline": "Metaculus's baseline score: points better than 50%.",
    "spot_peer": "The peer score of what stood when a market closed.",
    "relative": "Against the median of the other agents, in powers of two.",
    "coverage_in_time": "Share of the lives of the markets that ended for which a forecast of its stood.",
    "skill_high": "The high end of its 95% interval.",
    "events_effective": "Events, counted by what they can tell: what an interval is made of.",
    "luck_low": "Where 95% of seasons end that have the same bets and no skill: from here.",
    "luck_high": "Where they end: to here.",
    "shown": "Markets shown to it, one a market and turn.",
    "answered": "Of these, those with a usable probability.",
    "resolved": "Of those shown, those that ended YES or NO.",
    "bets": "Accepted, resolved or not.",
    "sold": "Of positions, before their market ended.",
    "cohorts": "That it plays in.",
    "turns": "Decisions asked of it.",
    "malformed": "Turns whose answer could not be used, or was refused; they count as skips.",
    "failed": "Turns without any answer; they count as unanswered.",
    "late": "Turns that came after their window; they count as unanswered.",
    "retried": "Turns that were tried again after they had failed.",
    "unscored": "Forecasts that ended in a fraction or refund: paid, no score.",
    "early": "Forecasts older than the release of their model: no evidence, no score.",
    "kind": "What decides: a language model, or a rule.",
    "tools": "What it could look things up with before it answered.",
    "note": "What its figures are not worth, and why.",
    "why_not": f"An agent is ranked if it answers {MIN_COVERAGE:.0%} of what resolves.",
    "implied_band": "Of the implied Brier score, from Exceptional to Very Poor.",
    "implied_skill": "Brier skill: 1 − implied Brier ÷ 0.25, the score of a coin.",
    "return_band": "Of the return, from Exceptional to Very Poor.",
    "stated_skill": "Brier skill of what it stated: 1 − its Brier ÷ 0.25.",
    "skill_ratio": "1 − stated Brier ÷ the price's, same forecasts.",
}
"""What each of them means."""
FOUND: Mapping[str, Finder] = {
    "ranks": ranks,
    "better": "told.better_text",
    "price": lambda line: None if line.row.price == "none" else line.row.price,
    "closer": lambda line: closer_span(line.row)[0],
    "interval": lambda line: _interval(line.row),
    "luck_percentile": "luck.percentile",
    "luck_low": lambda line: None if line.luck is None else line.luck.low / ONE,
    "luck_high": lambda line: None if line.luck is None else line.luck.high / ONE,
    "miscalibration": "brief.miscalibration",
    "miscalibration_p": "brief.miscalibration_p",
    "peer": "metaculus.peer",
    "baseline": "metaculus.baseline",
    "spot_peer": "metaculus.spot_peer",
    "relative": "metaculus.relative",
    "coverage_in_time": "metaculus.coverage",
    "tools": lambda line: ", ".join(line.row.tools),
    "note": "note",
}
"""Those that do not stand in the row under their own key."""
APART = ("why_not", "implied_band", "implied_skill", "return_band", "stated_skill", "skill_ratio")
"""What no leaderboard has among its columns."""


def columns_of(*keys: str) -> tuple[LeaderboardColumn, ...]:
    """Some of the columns, in the order asked for."""
    return tuple(
        LeaderboardColumn(key, *HEADS[key], HELP[key], _finder(FOUND.get(key, f"row.{key}"))) for key in keys
    )


def _finder(found: Finder) -> Callable[[Any], Figure]:
    """Names lead nowhere where one of them does."""
    if not isinstance(found, str):
        return found
    names = found.split(".")

    def of(line: Any) -> Figure:
        for name in names:
            line = None if line is None else getattr(line, name)
        figure: Figure = line
        return figure

    return of


COLUMNS = columns_of(*(key for key in HEADS if key not in APART))
"""All that a leaderboard says of an agent."""
SHORT = (
    *("ranks", "closer", "better", "brier_stated", "pnl", "return_pct", "miscalibration"),
    *("brier_implied", "events", "cost_usd"),
)
VERDICT = (
    *("ranks", "better", "price", "closer", "skill", "interval", "events", "events_effective", "evidence"),
    "copies",
)
SCORES = (
    *("brier_stated", "brier_market", "brier_anchored", "brier_implied", "miscalibration"),
    *("miscalibration_p", "peer", "baseline", "spot_peer", "relative", "coverage_in_time"),
)
PROFIT = (
    *("pnl", "invested", "luck_low", "luck_high", "luck_percentile", "return_pct", "win_rate"),
    *("bets", "sold"),
)
ANSWERS = ("shown", "answered", "coverage", "resolved", "distance", "unscored", "early", "note")
TURNS = (
    *("cohorts", "turns", "malformed", "failed", "late", "retried"),
    *("cost_usd", "skill_per_dollar", "cost_per_forecast", "kind", "tools"),
)
GROUPS = {"Verdict": VERDICT, "Scores": SCORES, "Profit": PROFIT, "Answers": ANSWERS, "Turns and cost": TURNS}
"""What a leaderboard shows at first, and all that it has by subject: each table fits a screen."""


def reference_columns(columns: Iterable[LeaderboardColumn]) -> list[LeaderboardColumn]:
    """Return the columns that say something of references, which have no ranks."""
    return [column for column in columns if column.key != "ranks"]


UNRANKED = columns_of("why_not", "brier_implied", "pnl", "return_pct", "win_rate", "cost_usd")
"""What is said of an agent that is not ranked."""


RATINGS = "Ratings and Brier skill scores"
RATED = columns_of(
    *("brier_implied", "implied_band", "implied_skill", "return_pct", "return_band", "stated_skill"),
    "skill_ratio",
)
"""An agent rated by its implied Brier score and return, and its Brier skill."""


PART_HEADS = HEADS | {
    "reason": ("Note", "long"),
    "rows": ("Resolved forecasts", "localized"),
    "markets": ("Markets", "localized"),
    "effective": ("Effective events", "%.1f"),
}
PART_HELP = {
    "reason": "Why there is no interval, where there is none.",
    "skill": "The price's Brier score minus its own, in this part of the season alone.",
    "skill_low": "The low end of the interval that holds the true one in 95% of seasons.",
    "skill_high": "The high end of that interval.",
    "rows": "In this part.",
    "markets": "Resolved ones in this part.",
    "events": "Resolved ones in this part.",
    "effective": "Events, counted by what they can tell.",
}
PART_FOUND: Mapping[str, Finder] = {
    "reason": lambda part: part.gain.reason or "",
    "skill_low": "gain.low",
    "skill_high": "gain.high",
}
PART_COLUMNS = tuple(
    LeaderboardColumn(key, *PART_HEADS[key], help_text, _finder(PART_FOUND.get(key, f"gain.{key}")))
    for key, help_text in PART_HELP.items()
)
"""What is said of an agent in a part of the season."""

STAMPS = {
    "simulated": "Simulated season: play money on made-up markets, whose true odds are known.",
    "replay": "Replay: not evidence of skill.",
    UNLIMITED: "Profit and loss: fills are unlimited, whatever a market could have taken.",
    DEPTH_UNKNOWN: "Profit and loss: depth unknown where the venue did not say how much was traded.",
}
"""What has to be said of a record whose markets are not live, and of its money."""


def cohort_label(line: CohortLine) -> str:
    """A cohort in a list."""
    return f"Cohort {line.number} · {day(line.starts_at)}"


def progress(line: CohortLine) -> str:
    """How far a cohort is."""
    rest = f", {line.unfinished} with turns that failed or are to come" if line.unfinished else ""
    rounds = f"{line.played} of {count(line.rounds, 'round')} decided{rest}"
    if line.ended_at is not None:
        corrected = f", then corrected on {day(line.corrected_at)}" if line.corrected_at else ""
        return f"{rounds}, ended {day(line.ended_at)}{corrected}"
    if line.stopped:
        return f"{rounds}, ended by hand, open positions are still tracked"
    if line.played == line.rounds:
        return f"{rounds}, open positions are still tracked"
    return f"{rounds}, paused" if line.paused else rounds


def leading(sentence: str) -> str:
    """A sentence of the verdict in Markdown: it names agents, whose names may be anything."""
    return plain(with_true_minus(sentence), most=2_000)


def headline(verdict: Verdict) -> tuple[str, str]:
    """The first sentence of a verdict, which is the heading of a board, and all that follows it.

    >>> headline(Verdict("ann forecasts better than bob. It copies nobody.", "That holds."))
    ('ann forecasts better than bob.', 'It copies nobody. That holds.')
    """
    first, point, rest = verdict.sentence.partition(". ")
    return first + point.rstrip(), f"{rest} {verdict.guarantee}".strip()


def whole_verdict(verdict: Verdict) -> str:
    """All that the verdict says of a season."""
    return " ".join(headline(verdict)).strip()


def over_all_cohorts(verdict: Verdict | None) -> str:
    """The verdict of the whole record, as a single cohort's page says it."""
    return "" if verdict is None else f"Over all cohorts: {verdict.sentence}"


def stamps(lines: Iterable[CohortLine]) -> list[str]:
    """What has to be said first of cohorts: that they were not played live, by which models, and of depth."""
    lines = list(lines)
    found = {said for line in lines for said in (line.stamp, line.depth)}
    later = later_models_words({m: day for line in lines for m, day in line.later_models.items()})
    words = {"replay": f"Replay: not evidence of skill; {plain(later)}."} if later else {}
    return [text for said, text in (STAMPS | words).items() if said in found]


Reading = Literal["stated", "anchored", "implied"]
READINGS: dict[str, str] = {"stated": "Stated", "anchored": "Anchored", "implied": "Implied"}
MEANT = {
    "stated": "Stated: the probabilities that the agents gave, for every market shown.",
    "anchored": "Anchored: bets read as a move away from the price paid; a full stake is certainty.",
    "implied": "Implied: bets read as confidence by stake alone, whatever the price.",
}
"""What each reading takes for the probability that an agent had in mind."""

BY_CHANCE = 0.05
"""Chance alone makes a miscalibration as large less often than this: then it is called one."""
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How text starts that a spreadsheet takes for a formula."""


def bars(rows: Sequence[LeaderboardRow]) -> list[Markup | None]:
    """By how much every agent is closer than the price, with the interval of that, on one scale."""
    return intervals([closer_span(row) for row in rows])


def intervals(spans: Sequence[tuple[float | None, float | None, float | None]]) -> list[Markup | None]:
    """Values with their intervals, where they have one, on one scale."""
    scale = html.cell_scale([_span(*span) for span in spans])
    return [
        None if value is None else html.interval(value, low, high, "c1", scale) for value, low, high in spans
    ]


def _span(*values: float | None) -> tuple[float, float]:
    known = [value for value in values if value is not None]
    return min(known, default=0.0), max(known, default=0.0)


def bands(lines: Sequence[LeaderboardLine]) -> list[Markup | None]:
    """Every profit before the band of what luck alone would make of the same bets, on one scale."""
    money = [(x.luck.pnl, x.luck.low or 0, x.luck.high or 0) if x.luck else None for x in lines]
    scale = html.cell_scale([_span(*one) for one in money if one])
    return [None if one is None else html.before_band(*one, "c1", scale) for one in money]


def cells(rows: Sequence[Any], columns: Iterable[LeaderboardColumn]) -> dict[str, list[Figure]]:
    """The figures of a table, column by column; None where nothing can be said yet."""
    return {column.key: [_cell_of(row, column) for row in rows] for column in columns}


def _cell_of(row: Any, column: LeaderboardColumn) -> Figure:
    value = column.of(row)
    return value * column.times if isinstance(value, float | int) and column.times != 1 else value


def config(columns: Iterable[LeaderboardColumn]) -> dict[str, html.HtmlColumn]:
    """What each column of a board is called, says, and how it is written."""
    return {
        "agent": html.words("Agent"),
        "bar": html.picture(
            "95% interval", "Point: closer than the price. Bar: the interval, at one look. Line: the price."
        ),
        "luck": html.picture(
            "P/L and luck",
            "Point: profit. Grey: 95% of skill-less seasons with the same bets. Line: no gain.",
        ),
    } | {column.key: html.HtmlColumn(column.label, column.help, column.format) for column in columns}


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


IMPLIED_NOTE = "Stakes read as confidence. Lower is better for every Brier score, higher for skill."
"""What stands below a board of all figures."""


def calibration_words(brief: ProfileFigures | None) -> tuple[str, str]:
    """How well what an agent is sure of comes true, in words, and what is to be known of that."""
    if brief is None:
        return "being computed", ""
    if brief.miscalibration is None:
        return "–", "no resolved answer yet"
    if brief.sure is None:
        return "–", FEW_SURE
    sure, p = brief.sure, brief.miscalibration_p
    verdict = verdict_on(sure.said, sure.came, p)
    return f"says {sure.said:.0%}, happens {sure.came:.0%}", f"{verdict}, n = {sure.forecasts:,}"


FEW_SURE = "70% sure of a side in fewer than 20 events"


def verdict_on(said: float, came: float, p: float | None) -> str:
    """Whether a forecaster is further off than chance would have it, and to which side."""
    if p is None or not p < BY_CHANCE:
        return "no more off than chance"
    return "too sure" if said > came else "not sure enough"


def says_and_happens(found: ReliabilityDiagram) -> str:
    """Say how often a side came true of which it was 70% sure or more."""
    sure = found.sure
    if sure is None:
        return FEW_SURE
    verdict = verdict_on(sure.said, sure.came, found.null.p_value)
    return (
        f"YES or NO at 70% or more, {sure.said:.0%} on average, came true {sure.came:.0%} of the time: "
        f"{verdict} ({count(sure.forecasts, 'forecast')} on {count(sure.events, 'event')})"
    )


TOOLS = " · tools"
"""The mark of an agent that could look things up."""


TOLD_ORDER = "In the order of the ranks told, then of the low end of the interval."
ORDER = "In the order of the low end of the interval."
PROVISIONAL = "Provisional, in the order of profit: too little has resolved for any interval."
REFERENCE_WORDS = {
    MARKET: "the price itself",
    "constant": "states the same probability for every market",
    "favourite": "states the price, and backs favourites",
    "kelly": "bets on what another agent states",
    "naive": "states the price or, without one, past rates",
    "oracle": "knows the true odds of the simulator, up to noise",
    "random": "states random probabilities",
}
"""What each kind of reference is."""


REFERENCES = "References, not ranked"
"""The heading of the references wherever they stand."""


@dataclass(frozen=True, slots=True)
class BoardParts:
    """The lines of a board in three parts, each in the order of the board."""

    ranked: list[LeaderboardLine]
    references: list[LeaderboardLine]
    unranked: list[LeaderboardLine]

    @property
    def players(self) -> list[LeaderboardLine]:
        """Return all lines but those of references."""
        return [*self.ranked, *self.unranked]


def board_parts(lines: Iterable[LeaderboardLine]) -> BoardParts:
    """Part the agents that are ranked from the references and from the agents that are not ranked."""
    parts = BoardParts([], [], [])
    for line in lines:
        if line.row.is_reference:
            parts.references.append(line)
        elif line.row.ranked:
            parts.ranked.append(line)
        else:
            parts.unranked.append(line)
    return parts


@dataclass(frozen=True, slots=True)
class BoardTable:
    """A table of a board: its heading, empty for the first one, and the table itself."""

    heading: str
    table: Markup


def show_board(tables: Iterable[BoardTable]) -> None:
    """The tables of a board, one below the other."""
    for one in tables:
        if one.heading:
            st.subheader(one.heading, anchor=False)
        put(one.table, one.heading or "board")


def is_provisional(lines: Sequence[LeaderboardLine]) -> bool:
    """Whether there are agents, but no interval of any of them yet, and nothing is told."""
    rows = [line.row for line in lines if not line.row.is_reference]
    is_known = any(row.skill_low is not None or row.better_than or row.worse_than for row in rows)
    return bool(rows) and not is_known


@dataclass(frozen=True, slots=True)
class BoardLook:
    """What is drawn on a board beside its figures: equity over time and colours, by agent."""

    known: SeasonOverview
    equity: Mapping[str, Sequence[float]]
    colours: Mapping[str, str]
    address: Address = in_app

    def of(self, agent: str) -> str:
        """The colour of an agent."""
        return self.colours.get(agent, html.REST)


def board_tables(
    lines: Sequence[LeaderboardLine],
    look: BoardLook,
    more: Sequence[LeaderboardColumn] = (),
    *,
    provisional: bool,
) -> list[BoardTable]:
    """The board, then the references, then the agents that are not ranked.

    A provisional board has every agent. `more` are columns in place of the last ones, which are known of
    all cohorts together alone.
    """
    parts = board_parts(lines)

    found = []
    if provisional and parts.players:
        found.append(BoardTable("", provisional_board(parts.players, look)))
    elif parts.ranked:
        found.append(BoardTable("", short_board(parts.ranked, look, more)))
    if parts.references:
        found.append(BoardTable(REFERENCES, reference_table(parts.references, look)))
    if parts.unranked and not provisional:
        table = unranked_table(parts.unranked, look.known.names, look.address)
        found.append(BoardTable("Not ranked", table))
    return found


def provisional_board(lines: Sequence[LeaderboardLine], look: BoardLook) -> Markup:
    """Before there are intervals: what each agent has made, what it holds, and how far it is from the price.

    It is in the order of profit.
    """
    lines = sorted(lines, key=lambda line: (line.row.pnl is None, -(line.row.pnl or 0), line.row.agent))
    shown = columns_of("pnl", "invested", "distance", "answered", "shown", "why_not", "cost_usd")
    data: dict[str, list[Any]] = {"agent": _agent_cells(lines, look), **cells(lines, shown)}
    hrefs = agent_hrefs([line.row.agent for line in lines], look.known.names, look.address)
    return html.html_table(data, config(shown), "Provisional board", hrefs) + html.quiet(PROVISIONAL)


def _agent_cells(lines: Sequence[LeaderboardLine], look: BoardLook) -> list[html.HtmlCell]:
    """Return the names of agents, below each who made it or its rule."""
    found = []
    for line in lines:
        about = look.known.about(line.row.agent) + TOOLS * bool(line.row.tools)
        found.append(html.HtmlCell(line.row.agent, line.row.agent, about))
    return found


MADE = "Below, who made it or its rule."
WITH_RANKS = "Before it the ranks that it may have; below, who made it or its rule."
"""What the column of agents says; on the board of a single cohort nobody has ranks."""


def short_board(
    lines: Sequence[LeaderboardLine], look: BoardLook, more: Sequence[LeaderboardColumn] = ()
) -> Markup:
    """The agents that are ranked: what is told of each, how close it is, what it earned, what it cost.

    `more` are columns in place of those that are known of all cohorts together alone.
    """
    agents = [line.row.agent for line in lines]
    scale = html.cell_scale([_span(*closer_span(line.row)) for line in lines])
    is_told = any(line.told is not None for line in lines)

    data: dict[str, list[Any]] = {
        "rank": [_rank(line) for line in lines],
        "agent": _agent_cells(lines, look),
        "closer": [_closer(line.row, look.of(line.row.agent), scale) for line in lines],
        "better": [_better(line) for line in lines],
        "brier_stated": [line.row.brier_stated for line in lines],
        "pnl": [line.row.pnl for line in lines],
        "equity": [html.sparkline(look.equity.get(name, ()), look.of(name)) for name in agents],
    }
    if not more:
        data["calibration"] = [_calibration(line) for line in lines]
    data["brier_implied"] = [line.row.brier_implied for line in lines]
    data |= cells(lines, more)
    if not more:
        data["cost_usd"] = [line.row.cost_usd for line in lines]

    hrefs = agent_hrefs(agents, look.known.names, look.address)
    agent = html.words("Agent", WITH_RANKS if is_told else MADE)
    columns = config(more) | _short_columns(look) | {"agent": agent}
    table = html.html_table(data, columns, "Leaderboard: one row an agent", hrefs)
    return table + html.quiet(_board_notes(agents, look, is_told))


def _short_columns(look: BoardLook) -> dict[str, html.HtmlColumn]:
    """What the columns of the short board are called and say."""
    simulated = " (simulated)" if look.known.is_simulated else ""
    return {
        "rank": html.HtmlColumn("Rank", format="picture"),
        "closer": html.number(
            "Closer than the price, 95% interval",
            "%+.1f%",
            "Skill in percent of the price's Brier score; the interval is at one look.",
        ),
        "better": html.words("Better than", HELP["better"]),
        "brier_stated": html.number("Brier", "%.4f", HELP["brier_stated"]),
        "pnl": html.number("P/L", "gain", "Profit or loss in play dollars, open positions at mid."),
        "equity": html.picture("Equity", "All its accounts together, over time."),
        "calibration": html.words("Calibration", "Of forecasts that gave YES or NO 70% or more."),
        "brier_implied": html.number("Implied Brier*", "%.3f", HELP["brier_implied"]),
        "cost_usd": html.number(f"Cost{simulated}", "dollar", HELP["cost_usd"]),
    }


def _board_notes(agents: Sequence[str], look: BoardLook, is_told: bool) -> str:
    """What has to be said below the short board."""
    notes = [TOLD_ORDER if is_told else ORDER, f"* {IMPLIED_NOTE}"]
    drawn = sum(name in look.equity for name in agents)
    if drawn not in (0, len(agents)):
        notes.append(f"Equity is drawn for the first {drawn}.")
    return " ".join(notes)


def _rank(line: LeaderboardLine) -> Markup | None:
    if line.told is None:
        return None
    return Markup('<span class="rank">{}</span>').format(line.told.rank_text)


NO_INTERVAL = "no interval yet"
"""Below a figure that rests on too few events; the note on the full leaderboard says how many it takes."""


def _closer(row: LeaderboardRow, look: str, scale: html.Scale) -> html.HtmlCell:
    """By how much an agent is closer than the price, with its interval drawn and below it in figures."""
    middle, low, high = closer_span(row)
    if middle is None:
        return html.HtmlCell("–", None, NO_INTERVAL if row.reason else "")
    drawn = html.interval(middle, low, high, look, scale)
    shown = Markup('<span class="pair">{} {}</span>').format(written(middle, "%+.1f%"), drawn)
    if row.kind == MARKET:
        return html.HtmlCell(shown, middle, "by definition", "two")
    if low is None or high is None:
        return html.HtmlCell(shown, middle, NO_INTERVAL if row.reason else "", "two")
    return html.HtmlCell(shown, middle, f"{written(low, '%+.1f%')} to {written(high, '%+.1f%')}", "two")


def _better(line: LeaderboardLine) -> html.HtmlCell:
    if line.row.copies:
        return html.HtmlCell("–", "", f"copies {html.shortened(line.row.copies, 24)}")
    text = "" if line.told is None else line.told.better_text
    return html.HtmlCell(text, text)


def _calibration(line: LeaderboardLine) -> html.HtmlCell:
    said, below = calibration_words(line.brief)
    return html.HtmlCell(said, said, below, "two")


def reference_table(lines: Sequence[LeaderboardLine], look: BoardLook) -> Markup:
    """What the agents are measured by, a row each, with a word on what it is."""
    scale = html.cell_scale([_span(*closer_span(line.row)) for line in lines])
    names = [line.row.agent for line in lines]
    data: dict[str, list[Any]] = {
        "agent": [html.HtmlCell(name, name) for name in names],
        "what": [REFERENCE_WORDS.get(line.row.kind, line.row.kind) for line in lines],
        "closer": [_closer(line.row, look.of(line.row.agent), scale) for line in lines],
        "brier_stated": [line.row.brier_stated for line in lines],
        "pnl": [line.row.pnl for line in lines],
    }
    columns = _short_columns(look) | {"agent": html.words("Agent"), "what": html.words("What it is")}
    hrefs = agent_hrefs(names, look.known.names, look.address)
    return html.html_table(data, columns, "References, which are not ranked", hrefs)


BASE = (
    "Implied confidence is a bet's share of the largest one allowed. Here that is taken from the cash at the "
    f"start of a decision; the rules “{SEED.name}” take it at the time of the bet."
)


def show_ratings(lines: Sequence[LeaderboardLine], cohorts: Sequence[CohortLine]) -> None:
    """A row an agent; and where the rules take implied confidence from another base."""
    table, said = ratings(lines, cohorts)
    put(table, "ratings")
    for sentence in said:
        st.caption(sentence)


def ratings(lines: Sequence[LeaderboardLine], cohorts: Sequence[CohortLine]) -> tuple[Markup, list[str]]:
    """The same as markup: the table, and what has to be said of it."""
    data = {"agent": [line.row.agent for line in lines]} | cells(lines, RATED)
    says = f"{RATINGS}, a row an agent"
    table = html.html_table(data, config(RATED), says)
    said = ["Brier skill is the share of the reference's error that is gone: above 0 beats it."]
    said += [BASE] if any(line.rules.base != SEED.base for line in cohorts) else []
    return table, said


METACULUS = {
    "agent": html.words("Agent"),
    "Peer": html.number(
        "Peer",
        "%+.2f",
        "Points better than the other agents over a market's life: 100 × ln of the ratio of chances.",
    ),
    "Peer 95%": html.words("95% interval", "By event."),
    "Baseline": html.number(
        "Baseline", "%+.2f", "Points better than always 50%; 100 is being certain, and right."
    ),
    "Spot peer": html.number("Spot peer", "%+.2f", "The peer score of what stood when the market closed."),
    "Relative": html.number(
        "Relative", "%+.3f", "Against the median of the others; 1 is twice its probability."
    ),
    "Coverage": html.number(
        "Coverage", "%.0f%", "The share of the markets' lives for which a forecast of its stood."
    ),
    "Questions": html.words("Questions", "How many of the markets that ended it forecast."),
}
METACULUS_SAID = (
    "Nobody is compared with those outside: agents without a view of their own, and the community, which is "
    "the recency-weighted median of all others."
)


def metaculus_table(
    scores: Sequence[MetaculusScores], known: Container[str], address: Address = in_app
) -> Markup:
    """Metaculus's scores of agents and of their community, a row each, which leads to the agents' pages."""
    data: dict[str, list[Any]] = {key: [] for key in METACULUS}
    for one in scores:
        span = (
            "–"
            if one.peer_low is None or one.peer_high is None
            else f"{written(one.peer_low, '%+.2f')} to {written(one.peer_high, '%+.2f')}"
        )
        name = html.HtmlCell(one.agent, one.agent, "outside" if one.outside else "")
        row = (name, one.peer, span, one.baseline, one.spot_peer, one.relative, 100 * one.coverage)
        for key, value in zip(METACULUS, (*row, f"{one.questions:,} of {one.asked:,}"), strict=True):
            data[key].append(value)
    hrefs = agent_hrefs([one.agent for one in scores], known, address)
    return html.html_table(data, METACULUS, "Metaculus's scores, a row an agent", hrefs)


def money_table(
    accounts: Sequence[AccountEquity], known: Container[str], address: Address = in_app
) -> Markup:
    """One row an agent, with its money alone."""
    mine: dict[str, list[AccountEquity]] = {}
    for account in accounts:
        mine.setdefault(account.agent, []).append(account)
    rows = sorted(map(_earned, mine.values()), key=lambda row: (row[1] is None, -(row[1] or 0), row[0]))
    keys = ("pnl", "return_pct", "cohorts", "kind")
    data = {key: [row[n] for row in rows] for n, key in enumerate(("agent", *keys))}
    shown = config(columns_of(*keys))
    hrefs = agent_hrefs([row[0] for row in rows], known, address)
    return html.html_table(data, shown, "What each agent has gained", hrefs)


def _earned(own: Sequence[AccountEquity]) -> tuple[str, float | None, float | None, int, str]:
    """An agent, the gain of its accounts that were ever valued, that in percent, how many, and its kind."""
    valued = [(one.total - one.given, one.given) for one in own if one.total is not None]
    gain, given = sum(gain for gain, _ in valued), sum(given for _, given in valued)
    dollars, share = gain / ONE if valued else None, 100 * gain / given if given else None
    return own[-1].agent, dollars, share, len(own), own[-1].kind


def unranked_table(
    lines: Sequence[LeaderboardLine], known: Container[str], address: Address = in_app
) -> Markup:
    """One row an agent, which leads to the agent's page: no skill and no rank, only bets and cost."""
    return board_table("Agents that are not ranked, and why", UNRANKED, lines, known, address)


def board_table(
    says: str,
    columns: Sequence[LeaderboardColumn],
    lines: Sequence[LeaderboardLine],
    known: Container[str],
    address: Address = in_app,
) -> Markup:
    """A row an agent, which leads to its page, with such figures and the interval drawn beside the first."""
    names = [line.row.agent for line in lines]
    data: dict[str, list[Any]] = {"agent": [*names]}
    for key, values in cells(lines, columns).items():
        data[key] = values
        if key == "closer":
            data["bar"] = bars([line.row for line in lines])
        if key == "pnl":
            data["luck"] = bands(lines)
    return html.html_table(data, config(columns), says, agent_hrefs(names, known, address))


def agent_hrefs(names: Sequence[str], known: Container[str], address: Address = in_app) -> list[str | None]:
    """Where every agent's page is; a market that nobody plays has none."""
    return [address(way("agent", agent=name)) if name in known else None for name in names]


MARKET_COLUMNS = {
    "question": html.words("Question", "What the market asks, by its newest page."),
    "price": html.number("Price ¢", "%.1f", "What YES costs now, in cents: the mid, else the last trade."),
    "trend": html.picture(
        "30 days", "The price over the last 30 days before now, or before the market closed."
    ),
    "median": html.number("Median %", "%.0f", "The median of what agents stated in the newest round."),
    "range": html.picture(
        "Agents and price", "Bar: from the lowest to the highest agent. Point: their median. Line: the price."
    ),
    "spread": html.number(
        "Range pp",
        "%.0f",
        "Between the lowest and the highest probability that agents stated in the newest round, in points "
        "of percent; without agents that hold no opinion (market, constant, random, favourite).",
    ),
    "status": html.words("Status", "Open; closed while the result is awaited; or how it resolved."),
    "closes": html.time("Closes", "When the market closes, in UTC.", "day"),
    "held": html.number("Positions", "localized", "Open positions: an agent's on one side, in each cohort."),
    "trades": html.number("Trades", "localized", "Purchases and sales of all agents in all cohorts."),
    "venue": html.words("Venue", "Leads to what the venue itself says of the market."),
    "volume": html.number("Volume $", "compact", "What everyone has traded at the venue, in dollars."),
}
"""The columns of the list. Related markets have some of them, and one is there for known venues alone."""
LISTED_MARKET = tuple(key for key in MARKET_COLUMNS if key != "venue")


def market_table(
    lines: Sequence[MarketLine], keys: Sequence[str] = LISTED_MARKET, address: Address = in_app
) -> Markup:
    """Markets, a row each, which leads to its page."""
    data = html.by_column([_row(line) for line in lines], keys)
    markets = (line.market for line in lines)
    data |= html.venue_cells(venue_page(x.id, x.event_id, x.slug, x.event_slug) for x in markets)
    hrefs = [address(way("market", market=line.market.id)) for line in lines]
    return html.html_table(data, MARKET_COLUMNS, "Markets: one row each", hrefs)


def _row(line: MarketLine) -> dict[str, object]:
    market, spread = line.market, line.spread
    several = spread if spread is not None and spread.agents > 1 else None
    return {
        "question": market.question,
        "price": percent(line.price),
        "trend": html.sparkline(line.prices, html.CHOSEN[0]),
        "median": percent(spread.median) if spread else None,
        "range": _range(spread, line.price),
        "spread": percent(several.high - several.low) if several else None,
        "status": status_cell(line.status, market),
        "closes": market.closes_at,
        "held": line.interest.held,
        "trades": line.interest.trades,
        "volume": money(line.volume),
    }


def _range(spread: ForecastSpread | None, price: int | None) -> Markup | None:
    """What agents say, from none to certain, around the price."""
    if spread is None or price is None:
        return None
    low, middle, high = (value - price for value in (spread.low, spread.median, spread.high))
    return html.interval(
        middle, low, high, html.CHOSEN[0], html.Scale(-price, ONE - price, 7, html.SMALL[0] - 7)
    )


def status_cell(status: MarketStatus, market: ListedMarket) -> html.HtmlCell:
    """How a market stands, in a word: how it resolved, once it has."""
    said = outcome(market.ended, market.payout) or {"waiting": "closed"}.get(status, status)
    said = f"paid {said}" if said.endswith("¢") else said
    return html.HtmlCell(html.tag(said, said.lower()), said)
