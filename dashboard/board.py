"""Boards and lists of markets: their figures, what leads them in words, as tables and as files."""

import csv
import io
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

import streamlit as st
from markupsafe import Markup, escape

from arena.errors import natural_key
from arena.record.model.cohort import later_models_words
from arena.record.queries.accounts import AccountEquity
from arena.record.queries.markets import ListedMarket
from arena.scores.comparisons import MARKET
from arena.scores.leaderboard import LeaderboardRow, percent_of_price
from arena.scores.metaculus_scores import MetaculusScores
from arena.scores.profiles.detailed_profile import ProfileFigures
from arena.scores.rules.reliability.reading import AS_BY_CHANCE, FEW_SURE
from arena.scores.verdict import EARLY_ORDERS, INTERVAL_ORDER, RANK_ORDER, Verdict, is_early
from dashboard.charts import Line
from dashboard.html import (
    EMPTY,
    NOTHING,
    Columns,
    HtmlCell,
    HtmlColumn,
    Rows,
    board_of,
    box,
    columns_of_table,
    folded,
    html_table,
    linked,
    meanings,
    quiet,
    tag,
    venue_cell,
)
from dashboard.long_names import short_forms
from dashboard.pages import Address, in_app, put, way
from dashboard.pictures import CHOSEN, REST, Scale, before_band, cell_scale, interval, small_scale, sparkline
from dashboard.questions import end_words
from dashboard.record import (
    CohortLine,
    Colours,
    ForecastSpread,
    LeaderboardLine,
    Lines,
    MarketLine,
    MarketStatus,
    PnlPoint,
    SeasonOverview,
)
from dashboard.words import count, day, filled, flat, money, outcome, percent, plain, with_true_minus, written
from markets.millionths import ONE
from markets.venue import venue_page
from portfolio.rules import DEPTH_UNKNOWN, SEED, UNLIMITED

Figure = float | int | str | None
Span = tuple[float | None, float | None, float | None]
"""A value and the ends of its interval, where they are known."""


FEW_FIGURES = 3
"""Agents whose figures are shown if none is coloured."""


def pnl_values(points: Sequence[PnlPoint], unit: str = "percent") -> list[tuple[float, float]]:
    """Return the profit of an account at each instant, in `dollars` or in `percent`."""
    return [(point.at.timestamp(), getattr(point, unit)) for point in points]


def equity_values(curves: Mapping[str, Sequence[PnlPoint]], unit: str) -> dict[str, list[float]]:
    """Return the profit of agents over time, in `dollars` or in `percent`, as boards draw it."""
    values = {}
    for name, points in curves.items():
        values[name] = [getattr(point, unit) for point in points]
    return values


def dashed_note(lines: Sequence[Line]) -> str:
    """Return the note below curves of agents, if some use no model."""
    return "; dashed: references" * any(line.dashed for line in lines)


def pnl_lines(
    curves: Mapping[str, Sequence[PnlPoint]],
    colours: Colours,
    is_dashed: Callable[[str], bool],
    unit: str = "percent",
    end_format: str = "%+.1f%",
    href_of: Callable[[str], str | None] = lambda _: None,
) -> list[Line]:
    """Return the profit of agents as lines, each with its last value and the link of its marks."""
    lines = []
    for name, points in curves.items():
        if points:
            values = pnl_values(points, unit)
            colour = colours.get(name, REST)
            end_text = written(values[-1][1], end_format)
            lines.append(Line(name, values, colour, end_text, is_dashed(name), href_of(name) or ""))
    return lines


def only_valuation(curves: Mapping[str, Sequence[PnlPoint]]) -> datetime | None:
    """Return when accounts were valued if that was only once, which makes no line."""
    instants = {point.at for points in curves.values() for point in points}
    if len(instants) != 1:
        return None
    return instants.pop()


def one_valuation_box(title: str, lines: Sequence[Line], at: datetime, extra_sentence: str = "") -> Markup:
    """Return the profit of the coloured agents in figures, after a single valuation.

    `extra_sentence` is said below it.
    """
    listed_lines = [line for line in lines if line.look != REST] or lines[:FEW_FIGURES]
    names = short_forms([line.name for line in listed_lines], 30)
    figures = {names[line.name]: line.end for line in listed_lines}
    note = f"Valued once, on {day(at)}: a chart needs two valuations. Open positions at mid. {extra_sentence}"
    return box(title, meanings(figures, "facts"), note.strip())


@dataclass(frozen=True, slots=True)
class LeaderboardColumn:
    """A figure of agents: its key, its column in a table, and how to find it in a line of a board."""

    key: str
    column: HtmlColumn
    of: Callable[[Any], Figure]

    @property
    def times(self) -> int:
        """Return the factor of the figure in tables: shares are shown in percent."""
        if self.key in SHARES:
            return 100
        return 1

    def shown(self, line: Any) -> Figure:
        """Return the figure as tables show it."""
        figure = self.of(line)
        if isinstance(figure, float | int):
            return figure * self.times
        return figure


def rank_cell(line: LeaderboardLine) -> str:
    """Return the possible ranks of an agent, or why it has none."""
    if line.verdict is not None and line.verdict.rank_text:
        return line.verdict.rank_text
    if line.row.is_reference:
        return "reference"
    if line.row.copies:
        return "copy"
    return line.row.why_not or ""


def closer_span(row: LeaderboardRow) -> Span:
    """Return how much closer than the price an agent is in percent, with the ends of the interval."""
    price_brier = row.brier_market
    return (
        percent_of_price(row.skill, price_brier),
        percent_of_price(row.skill_low, price_brier),
        percent_of_price(row.skill_high, price_brier),
    )


def closer_scale(lines: Lines) -> Scale:
    """Return a common scale for how much closer than the price agents are, with their intervals."""
    return span_scale(closer_span(line.row) for line in lines)


def span_text(low: float | None, high: float | None, form: str) -> str | None:
    """Return an interval in figures, or None if its ends are unknown."""
    if low is None or high is None:
        return None
    return f"{written(low, form)} to {written(high, form)}"


SHARES = ("luck_percentile", "win_rate", "coverage", "coverage_in_time", "distance")
FOUND: Mapping[str, Callable[[Any], Figure] | str] = {
    "ranks": rank_cell,
    "better": "verdict.better_text",
    "price": lambda line: None if line.row.price == "none" else line.row.price,
    "closer": lambda line: closer_span(line.row)[0],
    "interval": lambda line: span_text(line.row.skill_low, line.row.skill_high, "%+.4f"),
    "luck_percentile": "luck.percentile",
    "luck_low": lambda line: money(line.luck.low) if line.luck else None,
    "luck_high": lambda line: money(line.luck.high) if line.luck else None,
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
"""How figures are found that aren't in the row of a line under their own key."""
APART = ("why_not", "implied_band", "implied_skill", "return_band", "stated_skill", "skill_ratio")
"""Figures that are no columns of a leaderboard."""


def columns_of(*keys: str) -> tuple[LeaderboardColumn, ...]:
    """Return some of the columns, in the given order."""
    columns = columns_of_table("leaderboard")
    return tuple(
        LeaderboardColumn(key, columns[key], _figure_getter(FOUND.get(key, f"row.{key}"))) for key in keys
    )


def _figure_getter(path: Callable[[Any], Figure] | str) -> Callable[[Any], Figure]:
    """Return a function that follows names through a line, to None where one of them is None."""
    if not isinstance(path, str):
        return path
    names = path.split(".")

    def of(line: Any) -> Figure:
        for name in names:
            if line is None:
                return None
            line = getattr(line, name)
        figure: Figure = line
        return figure

    return of


COLUMNS = columns_of(*(key for key in columns_of_table("leaderboard") if key not in APART))
"""All columns of a leaderboard."""
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
"""The columns that a leaderboard shows at first, and all by subject: each table fits a screen."""


def without_ranks(columns: Iterable[LeaderboardColumn]) -> list[LeaderboardColumn]:
    """Return the columns that apply to references, and to agents before enough has resolved for ranks."""
    return [column for column in columns if column.key != "ranks"]


UNRANKED = columns_of("why_not", "brier_implied", "pnl", "return_pct", "win_rate", "cost_usd")
"""The columns of an agent without a rank."""
RATINGS = "Ratings and Brier skill scores"
RATED = columns_of(
    *("brier_implied", "implied_band", "implied_skill", "return_pct", "return_band", "stated_skill"),
    "skill_ratio",
)
"""An agent rated by its implied Brier score and return, and its Brier skill."""

PART_COLUMNS = tuple(
    LeaderboardColumn(key, column, _figure_getter(f"gain.{key.removeprefix('skill_')}"))
    for key, column in columns_of_table("parts of the season").items()
    if key not in ("agent", "bar")
)
"""The columns of an agent in a part of the season."""

STAMPS = {
    "simulated": "Simulated season: play money on made-up markets, whose true odds are known.",
    "replay": "Replay: not evidence of skill.",
    UNLIMITED: "Profit and loss: fills are unlimited, whatever a market could have taken.",
    DEPTH_UNKNOWN: "Profit and loss: depth unknown where the venue did not say how much was traded.",
}
"""The remarks on a record whose markets are not live, and on its money."""
MADE_UP = "Simulated season: made-up questions, whose true odds are known."


def cohort_label(line: CohortLine) -> str:
    """Return a cohort as lists name it."""
    return f"Cohort {line.number} · {day(line.starts_at)}"


def progress(line: CohortLine) -> str:
    """Say how far a cohort has come."""
    text = f"{line.played} of {count(line.rounds, 'round')} decided"
    if line.unfinished:
        text += f", {line.unfinished} with turns that failed or are to come"

    waits = "open positions are still tracked" if line.rules.money else "questions are still open"
    if line.ended_at is not None:
        text += f", ended {day(line.ended_at)}"
        if line.corrected_at:
            text += f", then corrected on {day(line.corrected_at)}"
    elif line.stopped:
        text += f", ended by hand, {waits}"
    elif line.played == line.rounds:
        text += f", {waits}"
    elif line.paused:
        text += ", paused"
    return text


def leading(sentence: str) -> str:
    """Return a sentence of the verdict in Markdown: it names agents, whose names may be anything."""
    return plain(with_true_minus(sentence), most=2_000)


def headline(verdict: Verdict) -> tuple[str, str]:
    """Return the first sentence of a verdict, which is the heading of a board, and the rest.

    How sure that is stands below the board.

    >>> headline(Verdict("ann forecasts better than bob. It copies nobody.", "That holds."))
    ('ann forecasts better than bob.', 'It copies nobody.')
    """
    first_sentence, full_stop, other_sentences = verdict.sentence.partition(". ")
    return first_sentence + full_stop.rstrip(), other_sentences


def whole_verdict(verdict: Verdict | None) -> str:
    """Return the whole verdict of a season, or nothing without one."""
    if verdict is None:
        return ""
    return f"{verdict.sentence} {verdict.guarantee}".strip()


def over_all_cohorts(verdict: Verdict | None) -> str:
    """Return the verdict of the whole record, as the page of a single cohort words it."""
    if verdict is None:
        return ""
    return f"Over all cohorts: {verdict.sentence}"


def stamps(lines: Sequence[CohortLine]) -> list[str]:
    """Return the remarks on cohorts: that they are not live, which models played, and the depth."""
    remark_keys: set[str] = set()
    later_models: dict[str, date | None] = {}
    for line in lines:
        remark_keys |= {line.stamp, line.depth} if line.rules.money else {line.stamp}
        later_models |= line.later_models

    remarks = STAMPS
    later_models_note = later_models_words(later_models)
    if not any(line.rules.money for line in lines):
        remarks = STAMPS | {"simulated": MADE_UP}
    if later_models_note:
        remarks = remarks | {"replay": f"Replay: not evidence of skill; {flat(later_models_note)}."}
    return [text for mark, text in remarks.items() if mark in remark_keys]


READINGS: dict[str, str] = {"stated": "Stated", "anchored": "Anchored", "implied": "Implied"}
MEANT = {
    "stated": "Stated: the probabilities that the agents gave, for every market shown.",
    "anchored": "Anchored: bets read as a move away from the price paid; a full stake is certainty.",
    "implied": "Implied: bets read as confidence by stake alone, whatever the price.",
}
"""What each reading takes for the probability that an agent had in mind."""

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How text starts that a spreadsheet takes for a formula."""


def span_scale(spans: Iterable[Sequence[float | None]]) -> Scale:
    """Return a common scale for values and their intervals, where they are known."""
    ranges = []
    for span in spans:
        values = [value for value in span if value is not None]
        ranges.append((min(values, default=0.0), max(values, default=0.0)))
    return cell_scale(ranges)


def draw_span(span: Span, scale: Scale) -> Markup:
    """Draw a value with its interval, or nothing if it is unknown."""
    value, low, high = span
    if value is None:
        return NOTHING
    return interval(value, low, high, "c1", scale)


def figures_of(line: Any, columns: Iterable[LeaderboardColumn]) -> dict[str, Figure]:
    """Return the figures of a row by their keys, None for those still unknown."""
    return {column.key: column.shown(line) for column in columns}


def is_any_known(lines: Lines, columns: Sequence[LeaderboardColumn]) -> bool:
    """Tell whether any of these figures is known for anyone, and is not 0."""
    return any(any(figures_of(line, columns).values()) for line in lines)


def board_columns(columns: Iterable[LeaderboardColumn]) -> Columns:
    """Return the columns of a board: agents first, and pictures beside the figures that they draw."""
    drawn = columns_of_table("leaderboard drawn")
    pictures = {"closer": "bar", "pnl": "luck"}
    table_columns = {"agent": drawn["agent"]}
    for column in columns:
        table_columns[column.key] = column.column
        picture = pictures.get(column.key)
        if picture:
            table_columns[picture] = drawn[picture]
    return table_columns


def as_csv(agents: Sequence[str], rows: Sequence[Any], columns: Sequence[LeaderboardColumn]) -> str:
    """Return all figures, unrounded, as a file. Text that a spreadsheet would run as a formula is quoted."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    header = ("agent", *(column.key for column in columns))
    writer.writerow(header)
    for agent, row in zip(agents, rows, strict=True):
        writer.writerow(map(_csv_cell, (agent, *(column.of(row) for column in columns))))
    return text.getvalue()


def _csv_cell(value: Figure) -> Figure:
    """Return a cell that is safe to open in any spreadsheet.

    >>> _csv_cell("=1+1"), _csv_cell(-0.5), _csv_cell(None)
    ("'=1+1", -0.5, '')
    """
    if isinstance(value, str) and value.startswith(FORMULA):
        return f"'{value}"
    if value is None:
        return ""
    return value


IMPLIED_NOTE = "Stakes read as confidence. Lower is better for every Brier score, higher for skill."
"""The note below a board of all figures."""
CALIBRATION = "Calibration: what it says, what happens"
SHADED = "Dots: tenths of the scale. Shaded: where 90 of 100 calibrated forecasters would lie."


def calibration_words(figures: ProfileFigures | None) -> tuple[str, str]:
    """Say how often an agent's confident forecasts come true, and how reliable that is."""
    if figures is None:
        return "being computed", ""
    if figures.miscalibration is None:
        return EMPTY, "no resolved answer yet"
    confident = figures.sure
    if confident is None:
        return EMPTY, FEW_SURE
    return confident.text, f"{confident.judged(figures.miscalibration_p)}, n = {confident.forecasts:,}"


TOOLS = " · tools"
"""The mark of an agent with tools."""
REFERENCE_WORDS = {
    MARKET: "the price itself",
    "constant": "states one probability for every market",
    "favourite": "states the price, and backs favourites",
    "kelly": "bets on another agent’s forecasts",
    "naive": "states the price or, without one, past rates",
    "oracle": "knows the true odds, less the noise of its config",
    "random": "states random probabilities",
}
"""What each kind of reference is."""
REFERENCES = "References, not ranked"
"""The heading of the references wherever they stand."""
REFERENCES_ARE = f"{REFERENCES}: what the agents are measured by"
REFERENCE_TABLE = "References, which are not ranked"
NOT_RANKED = "Not ranked"


@dataclass(frozen=True, slots=True)
class BoardParts:
    """The lines of a board in three parts, each in the order of the board."""

    ranked: list[LeaderboardLine]
    references: list[LeaderboardLine]
    unranked: list[LeaderboardLine]


def board_parts(lines: Lines) -> BoardParts:
    """Separate ranked agents from the references and from agents without a rank."""
    parts = BoardParts([], [], [])
    for line in lines:
        if line.row.is_reference:
            parts.references.append(line)
        elif line.row.ranked:
            parts.ranked.append(line)
        else:
            parts.unranked.append(line)
    return parts


def is_provisional(lines: Lines) -> bool:
    """Tell whether there are agents, and too few events have resolved for ranks, as `arena board` has it."""
    has_agents = any(not line.row.is_reference for line in lines)
    return has_agents and is_early(line.row.events for line in lines)


@dataclass(frozen=True, slots=True)
class BoardLook:
    """What is drawn on a board beside its figures: equity over time and colours, by agent."""

    overview: SeasonOverview
    equity: Mapping[str, Sequence[float]]
    colours: Colours
    address: Address = in_app

    def colour_of(self, agent: str) -> str:
        """Return the colour of an agent."""
        return self.colours.get(agent, REST)

    def page(self, agent: str) -> str | None:
        """Return where the page of an agent is, or None for one without a page."""
        return agent_page(agent, self.overview.names, self.address)


def agent_page(agent: str, names: Container[str], address: Address = in_app) -> str | None:
    """Return where the page of an agent is; None for one without, such as a market that nobody plays."""
    if agent not in names:
        return None
    return address(way("agent", agent=agent))


def season_board(
    lines: Lines, look: BoardLook, extra_columns: Sequence[str] = (), *, provisional: bool
) -> Markup:
    """Return the board, a row of one line an agent: ranked agents, references, agents without a rank.

    A provisional board has every agent in the order of the lines. `extra_columns` are the names of further
    figures of a row that it shows.
    """
    if not lines:
        return NOTHING

    parts = board_parts(lines)
    scale = closer_scale([*parts.ranked, *parts.references])
    listed = [line for line in parts.ranked if not line.row.copies]
    copies = [line for line in parts.ranked if line.row.copies]
    unranked = parts.unranked
    if provisional:
        listed = [line for line in lines if not line.row.is_reference]
        copies = []
        unranked = []

    groups = {}
    first_title = ""
    if provisional:
        has_money = any(line.row.pnl is not None for line in listed)
        first_title = EARLY_ORDERS[has_money].removesuffix(".")
    lines_by_title = {first_title: listed, REFERENCES_ARE: parts.references, NOT_RANKED: unranked}
    for title, group_lines in lines_by_title.items():
        rows = []
        for line in group_lines:
            figures = _early_cells(line) if provisional else _judged_cells(line, look, scale)
            rows.append(_common_cells(line, look, extra_columns) | figures)
        if rows:
            groups[title] = rows

    note = "" if provisional else _board_notes(listed, look)
    columns = _board_columns([] if provisional else listed, look)
    table = board_of(groups, columns, "Leaderboard: one row an agent", note)
    return table + _copies_line(copies, look)


def _board_columns(lines: Lines, look: BoardLook) -> Columns:
    """Return the columns of the board, without those that have no value in any row."""
    columns = dict(columns_of_table("short board"))
    agent_help = WITH_RANKS
    if not any(line.verdict is not None and line.verdict.rank_text for line in lines):
        del columns["rank"]
        agent_help = MADE
    columns["agent"] = replace(columns["agent"], help=agent_help)
    if look.overview.is_simulated:
        columns["cost_usd"] = replace(columns["cost_usd"], label="Cost (simulated)")
    return columns


def _board_notes(lines: Lines, look: BoardLook) -> str:
    """Say how agents are sorted, how sure the verdict is, and whose equity is not drawn."""
    order_note = INTERVAL_ORDER
    guarantee = ""
    drawn_count = 0
    for line in lines:
        drawn_count += line.row.agent in look.equity
        if line.verdict is not None:
            order_note = RANK_ORDER
            guarantee = guarantee or line.verdict.guarantee

    equity_note = ""
    if drawn_count not in (0, len(lines)):
        equity_note = f"Equity is drawn for the first {drawn_count}."
    return " ".join(filter(None, (order_note, guarantee, equity_note)))


def _copies_line(lines: Lines, look: BoardLook) -> Markup:
    """Return in one line how many agents repeat another's forecasts, with the names folded away."""
    links_by_original: dict[str, list[Markup]] = defaultdict(list)
    for line in lines:
        name = line.row.agent
        page = look.page(name)
        links_by_original[str(line.row.copies)].append(linked(escape(name), page))
    if not links_by_original:
        return NOTHING

    details = NOTHING
    for original, copies in links_by_original.items():
        names = Markup(", ").join(copies)
        details += quiet(filled("%s: %s", original, names))
    agents_text = count(len(lines), "agent")
    return folded(f"{agents_text} with the forecasts of another, one entry with it", details)


MADE = "Beside it, who made it or its rule."
WITH_RANKS = "Before it the ranks that it may have; beside it, who made it or its rule."
"""The help of the column of agents; on the board of a single cohort nobody has ranks."""


def _common_cells(line: LeaderboardLine, look: BoardLook, extra_columns: Sequence[str]) -> dict[str, object]:
    """Return the cells of an agent on every board: its name, profit and cost."""
    row = line.row
    description = look.overview.about(row.agent) + TOOLS * bool(row.tools)
    if row.is_reference:
        description = REFERENCE_WORDS.get(row.kind, row.kind)
    elif row.why_not and row.resolved:
        description = row.why_not
    elif row.turns and not row.answered:
        description = "no usable answer yet"

    equity = look.equity.get(row.agent, ())
    equity_picture = sparkline(equity, look.colour_of(row.agent)) or None
    values: dict[str, object] = {
        "agent": HtmlCell(row.agent, row.agent, description),
        "pnl": row.pnl,
        "return_pct": row.return_pct,
        "equity": equity_picture,
        "cost_usd": row.cost_usd,
        "href": look.page(row.agent),
    }
    for key in extra_columns:
        values[key] = getattr(row, key)
    return values


def _early_cells(line: LeaderboardLine) -> dict[str, object]:
    """Return the cells of an agent before there are intervals."""
    row = line.row
    distance = None
    if row.distance is not None:
        distance = 100 * row.distance
    return {"invested": row.invested, "distance": distance, "answered": row.answered}


def _judged_cells(line: LeaderboardLine, look: BoardLook, scale: Scale) -> dict[str, object]:
    """Return an agent's ranks, skill, number of agents it beats, and calibration."""
    rank_markup = None
    better_than_cell = HtmlCell("")
    if line.verdict is not None:
        rank_markup = filled('<span class="rank">%s</span>', line.verdict.rank_text)
        if line.verdict.entries > 1:
            better_than_cell = HtmlCell(line.verdict.better_text, line.verdict.better_text)
    return {
        "rank": rank_markup,
        "closer": _closer_cell(line.row, look, scale),
        "better": better_than_cell,
        "calibration": _calibration_cell(line.brief),
    }


NO_INTERVAL = "no interval yet: too few events"
"""The remark on a figure that rests on too few events."""


def _closer_cell(row: LeaderboardRow, look: BoardLook, scale: Scale) -> HtmlCell | None:
    """Return how much closer than the price an agent is, with its interval drawn and in a tooltip."""
    middle, low, high = closer_span(row)
    if middle is None:
        return None

    interval_text = span_text(low, high, "%+.1f%") or NO_INTERVAL
    if row.kind == MARKET:
        interval_text = "0 by definition"
    interval_picture = interval(middle, low, high, look.colour_of(row.agent), scale)
    template = '<span class="pair" title="95%%: %s">%s %s</span>'
    closer_text = written(middle, "%+.1f%")
    cell = filled(template, interval_text, closer_text, interval_picture)
    return HtmlCell(cell, middle)


def _calibration_cell(brief: ProfileFigures | None) -> HtmlCell | None:
    """Return an agent's confident forecasts and how often they come true, with a word for the bias."""
    if brief is None or brief.sure is None:
        return None
    text = brief.sure.short
    bias = brief.sure.judged(brief.miscalibration_p)
    return HtmlCell(text, text, "" if bias == AS_BY_CHANCE else bias)


BASE = (
    "Implied confidence is a bet's share of the largest one allowed. Here that is taken from the cash at the "
    f"start of a decision; the rules “{SEED.name}” take it at the time of the bet."
)


def show_ratings(lines: Lines, cohorts: Iterable[CohortLine]) -> None:
    """Show the ratings of agents, with remarks."""
    table, sentences = ratings(lines, cohorts)
    put(table, "ratings")
    for sentence in sentences:
        st.caption(sentence)


def ratings(lines: Lines, cohorts: Iterable[CohortLine]) -> tuple[Markup, list[str]]:
    """Return a table of ratings, a row an agent, with remarks."""
    rows = [{"agent": line.row.agent, **figures_of(line, RATED)} for line in lines]
    sentences = ["Brier skill is the share of the reference's error that is gone: above 0 beats it."]
    if any(line.rules.base != SEED.base for line in cohorts):
        sentences.append(BASE)
    table = html_table(rows, board_columns(RATED), f"{RATINGS}, a row an agent")
    return table, sentences


METACULUS_TITLE = "By Metaculus's scores"
METACULUS_SAID = (
    "Rows marked “outside” are in no comparison: agents without a view of their own, and the community, "
    "which is the recency-weighted median of all others."
)


def show_metaculus(scores: Iterable[MetaculusScores], names: Container[str]) -> None:
    """Show Metaculus's scores, and who is left out of their comparisons."""
    put(metaculus_table(scores, names), "Metaculus's scores")
    st.caption(METACULUS_SAID)


def metaculus_table(
    scores: Iterable[MetaculusScores], names: Container[str], address: Address = in_app
) -> Markup:
    """Return Metaculus's scores, a row each, which leads to the agent's page."""
    rows = _metaculus_rows(scores, names, address)
    return html_table(rows, columns_of_table("metaculus"), "Metaculus's scores, a row an agent")


def _metaculus_rows(scores: Iterable[MetaculusScores], names: Container[str], address: Address) -> Rows:
    """Yield the scores of agents, and of the community."""
    for score in scores:
        yield {
            "agent": HtmlCell(score.agent, score.agent, "outside" * score.outside),
            "Peer": score.peer,
            "Peer 95%": span_text(score.peer_low, score.peer_high, "%+.2f"),
            "Baseline": score.baseline,
            "Spot peer": score.spot_peer,
            "Relative": score.relative,
            "Coverage": 100 * score.coverage,
            "Questions": f"{score.questions:,} of {score.asked:,}",
            "href": agent_page(score.agent, names, address),
        }


def money_table(
    accounts: Iterable[AccountEquity], names: Container[str], address: Address = in_app
) -> Markup:
    """Return one row an agent, with its money alone."""
    accounts_by_agent: dict[str, list[AccountEquity]] = defaultdict(list)
    for account in accounts:
        accounts_by_agent[account.agent].append(account)

    rows = []
    for agent, agent_accounts in accounts_by_agent.items():
        href = agent_page(agent, names, address)
        rows.append(_money_row(agent_accounts) | {"agent": agent, "href": href})
    rows.sort(key=lambda row: (row["pnl"] is None, -(row["pnl"] or 0), natural_key(row["agent"])))
    columns = board_columns(columns_of("pnl", "return_pct", "cohorts", "kind"))
    return html_table(rows, columns, "What each agent has gained")


def _money_row(agent_accounts: Sequence[AccountEquity]) -> dict[str, Any]:
    """Return the profit of an agent's accounts that were ever valued, and their number."""
    gain = 0
    bankrolls = 0
    for account in agent_accounts:
        if account.total is not None:
            gain += account.total - account.given
            bankrolls += account.given

    row: dict[str, Any] = {
        "pnl": None,
        "return_pct": None,
        "cohorts": len(agent_accounts),
        "kind": agent_accounts[-1].kind,
    }
    if bankrolls:
        row |= {"pnl": gain / ONE, "return_pct": 100 * gain / bankrolls}
    return row


def unranked_table(lines: Lines, names: Container[str], address: Address = in_app) -> Markup:
    """Return one row an agent without a rank: no skill and no rank, only bets and cost."""
    return board_table("Agents that are not ranked, and why", UNRANKED, lines, names, address)


def board_table(
    description: str,
    columns: Sequence[LeaderboardColumn],
    lines: Lines,
    names: Container[str],
    address: Address = in_app,
) -> Markup:
    """Return a row an agent, which leads to its page, with these figures and their pictures."""
    scale = closer_scale(lines)
    lucky = [line.luck for line in lines if line.luck]
    money_scale = span_scale((luck.pnl, luck.low, luck.high) for luck in lucky)

    rows = []
    for line in lines:
        luck = line.luck
        closer_bar = draw_span(closer_span(line.row), scale)
        href = agent_page(line.row.agent, names, address)
        luck_bar = luck and before_band(luck.pnl, luck.low or 0, luck.high or 0, money_scale)
        rows.append(
            {
                "agent": line.row.agent,
                "bar": closer_bar,
                "luck": luck_bar,
                "href": href,
                **figures_of(line, columns),
            }
        )
    return html_table(rows, board_columns(columns), description)


def market_table(lines: Iterable[MarketLine], keys: Sequence[str] = (), address: Address = in_app) -> Markup:
    """Return markets, a row each, which leads to its page; with the columns of `keys`, or with all."""
    columns = columns_of_table("markets")
    if keys:
        columns = {key: column for key, column in columns.items() if key in keys or key == "venue"}
    return html_table(_market_rows(lines, address), columns, "Markets: one row each")


def _market_rows(lines: Iterable[MarketLine], address: Address) -> Rows:
    """Yield the rows of markets in lists."""
    for line in lines:
        market = line.market
        venue_address = venue_page(market.id, market.event_id, market.slug, market.event_slug)
        market_way = way("market", market=market.id)
        row: dict[str, object] = {
            "question": market.question,
            "price": percent(line.price),
            "trend": sparkline(line.prices, CHOSEN[0]),
            "status": status_cell(line.status, market),
            "closes": market.closes_at,
            "held": line.interest.held,
            "trades": line.interest.trades,
            "volume": money(line.volume),
            "venue": venue_cell(venue_address),
            "href": address(market_way),
        }

        spread = line.spread
        if spread is not None and not market.form:
            row["median"] = percent(spread.median)
            row["range"] = _forecast_range(spread, line.price)
            if spread.agents > 1:
                row["spread"] = percent(spread.high - spread.low)
        yield row


def _forecast_range(spread: ForecastSpread, price: int | None) -> Markup:
    """Draw the agents' probabilities, from none to certain, around the price."""
    if price is None:
        return NOTHING
    low_gap = spread.low - price
    high_gap = spread.high - price
    median_gap = spread.median - price
    scale = small_scale(-price, ONE - price)
    return interval(median_gap, low_gap, high_gap, CHOSEN[0], scale)


def status_cell(status: MarketStatus, market: ListedMarket) -> HtmlCell:
    """Return the status of a market in a word: how it resolved, once it has."""
    shown_status = {"waiting": "closed"}.get(status, status)
    if market.ended and market.form:
        answer = end_words(market.form, market.answer) or ""
        return HtmlCell(tag(answer[:40], "yes" if market.answer else "refund"), answer)
    text = outcome(market.ended, market.payout) or shown_status
    if text.endswith("¢"):
        text = f"paid {text}"
    return HtmlCell(tag(text, text.lower()), text)
