"""Questions of a file that are not of yes or no: of several options, a line each, or of a number.

A number is forecast by its cumulative probabilities (`cdf`), by quantiles (`q5`, `q50`, …), by the density at
what happened (`density`), or by a single `value`, which has no density and is only as far off as it is.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import inf, isfinite, nan
from typing import Generic, Literal, TypeVar

import numpy as np

from arena.forms.csv_columns import (
    CellError,
    Cells,
    Flags,
    Floats,
    check_same_by_question,
    is_number,
    number_column,
    parse_outcome,
    parse_positive,
    parse_share,
    parse_time,
)
from arena.scores.rules.autocast import choice as autocast_choice
from arena.scores.rules.autocast import numeric as autocast_numeric
from arena.scores.rules.metaculus import limits
from arena.scores.rules.metaculus.forecasts import Forecasts, MetaculusQuestion, chance_forecasts
from arena.scores.rules.metaculus.question_types import OUTSIDE, continuous, multiple_choice

QUANTILES = tuple(f"q{percent}" for percent in range(1, 100))
SHAPES = ("cdf", "density", "value", *QUANTILES)
BOUNDS = ("low", "high", "open_low", "open_high")
FORM_COLUMNS = ("option", "cdf", "density", "value", *BOUNDS, *QUANTILES)
OTHER = "other"
BUCKETS = 200
"""Into so many equal parts a range is cut where quantiles are given, as the site does."""
SLACK = 1e-6
"""So far the ends of a cdf may be from 0 and 1."""
Kind = Literal["choice", "number"]
Said = TypeVar("Said")


@dataclass(frozen=True, slots=True)
class FormQuestion:
    """A question of several options or of a number, and its forecasts by the name of their forecaster.

    `forecasts` and `lived` are what Metaculus's rules take: None while it is open, or where nobody gave more
    than a value. `who`, `brier` and `distance` have one entry a forecast: half its Brier score over all
    options, or how far its median lies from what happened as a share of the range; NaN where that can't be
    said. `blank` is what knowing nothing scores there.
    """

    name: str
    kind: Kind
    event: str
    category: str | None
    ended: bool
    who: tuple[str, ...] = ()
    brier: Floats = field(default_factory=lambda: np.zeros(0))
    distance: Floats = field(default_factory=lambda: np.zeros(0))
    blank: float = nan
    forecasts: Forecasts | None = None
    lived: MetaculusQuestion | None = None


def parse_value(text: str) -> float:
    """Return a number, or a date as seconds since 1970.

    >>> parse_value("20260104"), parse_value("2026-01-04")
    (20260104.0, 1767484800.0)
    """
    if is_number(text):
        return float(text)
    try:
        return parse_time(text)
    except ValueError:
        raise ValueError("is not a number or a date") from None


def own_event(question: str) -> str:
    """The event of a question that names none."""
    return f"question {question}"


def form_rows(cells: Cells) -> Flags:
    """The rows that are of an option or of a number."""
    found = np.zeros(len(cells), dtype=np.bool_)
    for column in ("option", *SHAPES):
        if column in cells.columns:
            found[cells.columns[column].rows_with(bool)] = True
    return found


@dataclass(frozen=True, slots=True)
class FormForecast(Generic[Said]):
    """What somebody said of a question, since when, and in which row that begins."""

    who: str
    at: float
    row: int
    said: Said


@dataclass(frozen=True, slots=True)
class FormRows:
    """The rows of one question, with the times of all."""

    cells: Cells
    times: Mapping[str, Floats]
    rows: Sequence[int]

    @property
    def first(self) -> int:
        """Where what all of them share can be read."""
        return self.rows[0]

    @property
    def has_life(self) -> bool:
        """Whether it is known when it was open."""
        return "close" in self.times and not {"time", "open"}.isdisjoint(self.times)

    def text(self, column: str, row: int | None = None) -> str:
        """A cell; empty where the file has no such column."""
        column_of = self.cells.columns.get(column)
        return "" if column_of is None else column_of[self.first if row is None else row]

    def number(self, column: str, row: int, parse: Callable[[str], float], hint: str) -> float:
        """A cell as a number."""
        text = self.text(column, row)
        try:
            return parse(self.cells.number_text(text))
        except ValueError as error:
            what = f"{self.cells.shown(column, row)} {error}" if text else "it is empty"
            raise CellError(column, row, what, hint) from None

    def forecasts(self, read: Callable[[list[int]], Said]) -> list[FormForecast[Said]]:
        """What can be read of the rows of each forecast: those of one forecaster at a time."""
        found = defaultdict[tuple[str, float], list[int]](list)
        for row in self.rows:
            at = self.times["time"][row] if "time" in self.times else 0.0
            found[self.text("forecaster", row), float(at)].append(row)
        forecasts = []
        for (who, at), rows in sorted(found.items()):
            with self.cells.noted():
                forecasts.append(FormForecast(who, at, rows[0], read(rows)))
        return forecasts


def read_forms(cells: Cells, times: Mapping[str, Floats]) -> tuple[FormQuestion, ...]:
    """The questions of these rows."""
    question, names = number_column(cells.columns["question"])
    for column in ("outcome", "event", "category", *BOUNDS):
        if column in cells.columns:
            check_same_by_question(cells, question, column, number_column(cells.columns[column])[0])
    for column in ("open", "close", "scheduled_close", "spot"):
        if column in times:
            check_same_by_question(cells, question, column, times[column])
    order = np.argsort(question, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(question[order])) + 1)
    found = []
    for name, rows in zip(names, parts, strict=True):
        with cells.noted():
            found.append(_question(name, FormRows(cells, times, rows.tolist())))
    return tuple(found)


def _question(name: str, own: FormRows) -> FormQuestion:
    kinds = [bool(own.text("option", row)) for row in own.rows]
    if len(set(kinds)) > 1:
        row = own.rows[kinds.index(not kinds[0])]
        raise CellError("option", row, "the same question has options in some lines only", "name one in all")
    found = FormQuestion(
        name=name,
        kind="choice" if kinds[0] else "number",
        event=own.text("event") or own_event(name),
        category=own.text("category") if "category" in own.cells.columns else None,
        ended=bool(own.text("outcome")),
    )
    return _choice(found, own) if kinds[0] else _number(found, own)


def _lived(own: FormRows, starts: Floats) -> MetaculusQuestion:
    """The life of a question; an instant where its times are not known."""
    if not own.has_life:
        return MetaculusQuestion(0.0, 1.0, 1.0)
    times = {name: float(column[own.first]) for name, column in own.times.items()}
    opens, closes, spot = times.get("open", float(starts.min())), times["close"], times.get("spot", nan)
    scheduled = times.get("scheduled_close", closes)
    return MetaculusQuestion(opens, closes, scheduled, spot if isfinite(spot) else None)


def _spans(own: FormRows, forecasts: Sequence[FormForecast[Said]]) -> tuple[Floats, Floats]:
    """From when until when each forecast stood."""
    times = own.times
    if not own.has_life:
        newest = {one.who: one.at for one in forecasts}  # they come in order of time
        stands = np.array([newest[one.who] == one.at for one in forecasts])
        return np.zeros(len(forecasts)), np.where(stands, inf, 0.0)
    start = np.array([one.at if "time" in times else times["open"][own.first] for one in forecasts])
    end = np.array([times["end"][one.row] if "end" in times else nan for one in forecasts])
    following = [other.at if other.who == one.who else inf for one, other in pairwise(forecasts)]
    return start, np.fmin(end, np.array([*following, inf]))


def _choice(found: FormQuestion, own: FormRows) -> FormQuestion:
    ended, named = own.text("outcome"), {own.text("option", row) for row in own.rows}
    has_other = any(name.lower() == OTHER for name in named)
    if ended and has_other:  # an option that nobody had yet is read from "Other"
        named.add(ended)
    names = sorted(named, key=lambda x: (x.lower() == OTHER, x))
    if ended and ended not in names:
        what = f"{ended[:40]!r} is none of the options: {', '.join(names)[:200]}"
        raise CellError("outcome", own.first, what, "write the option that happened, as in the column option")
    if len(names) < 2:
        what = "with a single option there is nothing to forecast"
        raise CellError("option", own.first, what, "give every option a line, the unlikely ones too")
    forecasts = own.forecasts(lambda rows: _options(own, rows, names))
    who = tuple(one.who for one in forecasts)
    if not ended or own.cells.faults.found:
        return replace(found, who=who)
    answer, options = names.index(ended), np.array([one.said for one in forecasts])
    start, end = _spans(own, forecasts)
    given = np.nan_to_num(options)
    given /= given.sum(axis=1, keepdims=True)
    return replace(
        found,
        who=who,
        brier=autocast_choice.each(list(given), [answer] * len(who)),
        distance=np.full(len(who), nan),
        blank=(1 - 1 / len(names)) / 2,
        forecasts=multiple_choice(who, start, options, answer, end),
        lived=_lived(own, start),
    )


def _options(own: FormRows, rows: Sequence[int], names: Sequence[str]) -> list[float]:
    """The probabilities of one forecast; NaN for an option that it does not have."""
    said: dict[str, float] = {}
    for row in rows:
        option = own.text("option", row)
        if option in said:
            raise CellError("option", row, f"{option[:40]!r} appears twice in one forecast", "remove one")
        hint = "write a probability from 0 to 1, such as 0.35 or 35%"
        said[option] = nan
        with own.cells.noted():
            said[option] = own.number("probability", row, parse_share, hint)
    absent = [name for name in names if name not in said]
    if len(said) < 2:
        raise CellError("option", rows[0], "this forecast has one option alone", "give every option a line")
    if absent and (names[-1].lower() != OTHER or names[-1] in absent):
        what = f"this forecast has no line for {absent[0][:40]!r}"
        hint = "give every option a line; only with an option Other may one be left out"
        raise CellError("option", rows[0], what, hint)
    total = sum(said.values())
    if abs(total - 1) > autocast_choice.SLACK:
        what = f"the options of this forecast add up to {total:.4g}, not to 1"
        raise CellError("probability", rows[0], what, "correct its lines")
    return [said.get(name, nan) for name in names]


@dataclass(frozen=True, slots=True)
class NumberRange:
    """The range of a number, and which of its ends are open."""

    low: float
    high: float
    open_low: bool
    open_high: bool

    def share(self, value: float) -> float:
        """Where a value lies, 0 at the lower end and 1 at the upper."""
        return (value - self.low) / (self.high - self.low)


def _range(own: FormRows) -> NumberRange:
    hint = "say where the range of the number begins and ends, in the columns low and high"
    low, high = (
        own.number(column, own.first, parse_value, hint) if own.text(column) else nan
        for column in ("low", "high")
    )
    if low >= high:
        raise CellError("low", own.first, f"the range from {low:g} to {high:g} is empty", hint)
    flag = "write yes or no"
    ends = [
        bool(own.text(column)) and own.number(column, own.first, parse_outcome, flag) == 1
        for column in ("open_low", "open_high")
    ]
    return NumberRange(low, high, *ends)


@dataclass(frozen=True, slots=True)
class NumberForecast:
    """A cdf or none, the density at what happened, and the median as a share of the range."""

    curve: Floats | None
    density: float
    median: float


def _number(found: FormQuestion, own: FormRows) -> FormQuestion:
    ended, asked = own.text("outcome"), _range(own)
    forecasts = own.forecasts(lambda rows: _shape(own, rows, asked))
    who = tuple(one.who for one in forecasts)
    if not ended or own.cells.faults.found:
        return replace(found, who=who)
    exact = all(isfinite(one.said.density) for one in forecasts)
    at = nan if exact else own.number("outcome", own.first, parse_value, "write what it came to")
    truth = asked.share(at)
    spans = _spans(own, forecasts)
    medians, off = np.array([one.said.median for one in forecasts]), np.full(len(who), nan)
    known = np.isfinite(medians) & isfinite(truth)
    if known.any():
        off[known] = autocast_numeric.each(np.clip(medians[known], 0, 1), np.clip(truth, 0, 1))
    return replace(
        found,
        who=who,
        brier=np.full(len(who), nan),
        distance=off,
        blank=float(abs(0.5 - np.clip(truth, 0, 1))),
        forecasts=_densities(asked, truth, forecasts, spans),
        lived=_lived(own, spans[0]),
    )


def _densities(
    asked: NumberRange,
    truth: float,
    forecasts: Sequence[FormForecast[NumberForecast]],
    spans: tuple[Floats, Floats],
) -> Forecasts | None:
    """What each forecast gave to what happened, of those that say so."""
    bounds = asked.open_low + asked.open_high
    chance, chosen = [], []
    ignorance = np.full(len(forecasts), 1 - OUTSIDE * bounds)
    for place, one in enumerate(forecasts):
        curve, density = one.said.curve, one.said.density
        if curve is not None:
            count = curve.size - 1
            bucket = 0 if truth < 0 else count + 1 if truth > 1 else min(int(truth * count + 1e-9) + 1, count)
            try:
                read = continuous([one.who], [0.0], curve, bucket, bounds)
            except ValueError as error:
                column = "outcome" if "beyond" in str(error) else "cdf"
                what = f"{str(error).partition(';')[0]}"
                raise CellError(column, one.row, what, "correct it, or the range") from error
            density, ignorance[place] = read.chance[0], read.ignorance[0]
        if isfinite(density):
            chance.append(density)
            chosen.append(place)
    if not chosen:
        return None
    start, end = (span[chosen] for span in spans)
    found = chance_forecasts([forecasts[place].who for place in chosen], start, chance, end)
    half = np.full(len(chosen), 50.0)
    return replace(found, ignorance=ignorance[chosen], own_points=half, points=50.0, mean=True)


def _shape(own: FormRows, rows: Sequence[int], asked: NumberRange) -> NumberForecast:
    row = rows[0]
    if len(rows) > 1:
        who = own.text("forecaster", row)[:40]
        what = f"{who!r} has forecast the same question in line {own.cells.line(row)}"
        raise CellError("forecaster", rows[1], what, "remove one of them; updates need a column time")
    given = [column for column in ("cdf", "density", "value") if own.text(column, row)]
    quantiles = [column for column in QUANTILES if own.text(column, row)]
    if len(given) + bool(quantiles) > 1 and given != ["density", "value"]:
        both = ", ".join([*given, *quantiles[:1]])
        raise CellError("question", row, f"it is forecast more than once: {both}", "leave one in each line")
    if given == ["cdf"] or quantiles:
        curve = _quantile_curve(own, row, quantiles, asked) if quantiles else _cdf(own, row, asked)
        levels, shares = np.maximum.accumulate(curve), np.linspace(0, 1, curve.size)
        return NumberForecast(curve, nan, float(np.interp(0.5, levels, shares)))
    hint = "write the density at what happened, where the range is 1 wide: a number above 0"
    density = own.number("density", row, parse_positive, hint) if "density" in given else nan
    value = own.number("value", row, parse_value, "write a number or a date") if "value" in given else nan
    return NumberForecast(None, density, asked.share(value))


def _need_range(column: str, row: int, asked: NumberRange) -> None:
    if not isfinite(asked.low) or not isfinite(asked.high):
        what = "it needs the range of the number"
        raise CellError(column, row, what, "add the columns low and high, and open_low and open_high")


def _cdf(own: FormRows, row: int, asked: NumberRange) -> Floats:
    _need_range("cdf", row, asked)
    text = own.text("cdf", row)
    hint = "write cumulative probabilities at equal steps from low to high, such as [0, 0.2, 0.7, 1]"
    try:
        values = json.loads(text) if text.startswith("[") else [float(x) for x in text.split()]
        curve = np.array(values, dtype=np.float64)
    except (ValueError, TypeError, OverflowError, RecursionError):
        raise CellError("cdf", row, f"{text[:40]!r} is no list of numbers", hint) from None
    if curve.ndim != 1 or curve.size < 2 or not np.isfinite(curve).all():
        raise CellError("cdf", row, "it needs a finite value at both ends at least", hint)
    if (np.diff(curve) < 0).any() or curve[0] < 0 or curve[-1] > 1:
        raise CellError("cdf", row, "it does not rise from 0 to 1", hint)
    for closed, off, end in ((not asked.open_low, curve[0], 0), (not asked.open_high, 1 - curve[-1], 1)):
        if closed and off > SLACK:
            what = f"it is {curve[-end]:g} at an end of the range that is closed, not {end}"
            raise CellError("cdf", row, what, "correct it, or say yes in open_low or open_high")
    return curve


def _quantile_curve(own: FormRows, row: int, columns: Sequence[str], asked: NumberRange) -> Floats:
    """The cdf of quantiles: straight between them, with the site's floor.

    Beyond the outermost a closed end takes what is left, evenly; towards an open one the last slope goes on.
    """
    first = columns[0]
    _need_range(first, row, asked)
    if len(columns) < 2:
        raise CellError(
            first, row, "one quantile is not a forecast", "give two at least, such as q10 and q90"
        )
    levels = [int(column[1:]) / 100 for column in columns]
    hint = "write a number or a date"
    values = [asked.share(own.number(column, row, parse_value, hint)) for column in columns]
    for column, low, high in zip(columns[1:], values, values[1:], strict=False):
        if high < low:
            raise CellError(column, row, "it is below a lower quantile", "correct one of them")
    if (values[0] < 0 and not asked.open_low) or (values[-1] > 1 and not asked.open_high):
        raise CellError(first, row, "a quantile lies beyond a closed end", "correct it, or open that end")
    xs, ls = np.array(values), np.array(levels)
    before = xs[0] - ls[0] * (xs[1] - xs[0]) / (ls[1] - ls[0]) if asked.open_low else 0.0
    after = xs[-1] + (1 - ls[-1]) * (xs[-1] - xs[-2]) / (ls[-1] - ls[-2]) if asked.open_high else 1.0
    xs, ls = np.concatenate([[before], xs, [after]]), np.concatenate([[0.0], ls, [1.0]])
    edges = np.linspace(0, 1, BUCKETS + 1)
    return limits.with_floor(np.interp(edges, xs, ls, left=0.0, right=1.0), asked.open_low, asked.open_high)
