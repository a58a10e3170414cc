"""Questions of a file other than yes/no: multiple choice, with one line an option, or numeric.

A number is forecast by its cumulative probabilities (`cdf`), by quantiles (`q5`, `q50`, …), by the density at
the outcome (`density`), or by a single `value`, which has no density and is scored by its distance only.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import ceil, inf, isfinite, nan
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
PRICE = "market_probability"
BUCKETS = 200
"""The number of equal parts of a range if quantiles are given, as on the site."""
EDGE = 1e-10
"""A value this close above the edge of two parts still belongs to the lower one, as on the site."""
SLACK = 1e-6
"""How far the ends of a cdf may be from 0 and 1."""
Kind = Literal["choice", "number"]
Content = TypeVar("Content")


@dataclass(frozen=True, slots=True)
class OptionForecasts:
    """The forecasts of a multiple choice question, one a row, with the market's odds.

    `shares` and `odds` have a column for each option and add up to 1; odds are NaN where the market has none,
    and `margin` is by how much they exceeded 1 in the file. `answer` is the index of the option that
    happened, None while the question is open. `times` has the times of each forecast, by column, and
    `reasons` its reason.
    """

    names: tuple[str, ...]
    shares: Floats
    odds: Floats
    margin: Floats
    answer: int | None
    times: Mapping[str, Floats]
    reasons: tuple[str, ...]

    @property
    def count(self) -> int:
        """Return the number of options."""
        return int(self.shares.shape[1])


@dataclass(frozen=True, slots=True)
class FormQuestion:
    """A multiple choice or numeric question with its forecasts, keyed by forecaster.

    `forecasts` and `lived` are the arguments of Metaculus's rules: None while the question is open, or if
    nobody gave more than a value. `who`, `brier` and `distance` have one entry a forecast: half its Brier
    score over all options, or the distance of its median from the outcome as a share of the range; NaN where
    it is undefined. `forecasters` are all who were asked, including those who didn't answer. `blank` is the
    score of knowing nothing, and `form_kind` the kind of a season's question. A question `called_off` was
    resolved without an outcome.
    """

    name: str
    kind: Kind
    event: str
    category: str | None
    ended: bool
    forecasters: frozenset[str]
    who: tuple[str, ...] = ()
    brier: Floats = field(default_factory=lambda: np.zeros(0))
    distance: Floats = field(default_factory=lambda: np.zeros(0))
    blank: float = nan
    forecasts: Forecasts | None = None
    lived: MetaculusQuestion | None = None
    options: OptionForecasts | None = None
    form_kind: str = ""
    called_off: bool = False


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
    """Return the event of a question that names none, in a file in which others do."""
    return f"question {question}"


def silent_rows(cells: Cells) -> Flags:
    """Return the rows that state nothing: neither a probability nor anything numeric."""
    is_silent = np.ones(len(cells), dtype=np.bool_)
    for column in ("probability", *SHAPES):
        if column in cells.columns:
            is_silent[cells.columns[column].rows_with(bool)] = False
    return is_silent


def form_rows(cells: Cells) -> Flags:
    """Return the rows of options or numbers, including those that leave such a question unanswered."""
    is_form = np.zeros(len(cells), dtype=np.bool_)
    columns = [column for column in FORM_COLUMNS if column in cells.columns]
    if not columns:
        return is_form

    is_silent = silent_rows(cells)
    for column in columns:
        filled_rows = cells.columns[column].rows_with(bool)
        if column in BOUNDS:
            # A range alone doesn't make a number of a question that has a probability.
            filled_rows = filled_rows[is_silent[filled_rows]]
        is_form[filled_rows] = True

    # A row that states nothing belongs to a form if other rows of its question do.
    question = cells.columns["question"].code
    is_form |= is_silent & np.isin(question, question[is_form])
    return is_form


@dataclass(frozen=True, slots=True)
class FormForecasts(Generic[Content]):
    """The forecasts of a question by forecaster and time: who, when, the first row, and the content."""

    who: list[str] = field(default_factory=list)
    at: list[float] = field(default_factory=list)
    row: list[int] = field(default_factory=list)
    content: list[Content] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class FormRows:
    """The rows of one question, with the times of all rows."""

    cells: Cells
    times: Mapping[str, Floats]
    rows: Sequence[int]

    @property
    def first(self) -> int:
        """Return a row from which the cells that all rows share can be read."""
        return self.rows[0]

    @property
    def has_life(self) -> bool:
        """Tell whether it is known when the question was open."""
        return "close" in self.times and not {"time", "open"}.isdisjoint(self.times)

    def text(self, column: str, row: int) -> str:
        """Return a cell; an empty text if the file lacks the column."""
        texts = self.cells.columns.get(column)
        return "" if texts is None else texts[row]

    def shared(self, column: str) -> str:
        """Return a cell that is the same in all rows."""
        return self.text(column, self.first)

    def number(self, column: str, row: int, parse: Callable[[str], float], hint: str) -> float:
        """Return a cell as a number; raise `CellError` if it is invalid."""
        text = self.text(column, row)
        try:
            return parse(self.cells.number_text(text))
        except ValueError as error:
            what = "it is empty"
            if text:
                what = f"{self.cells.shown(column, row)} {error}"
            raise CellError(column, row, what, hint) from None

    def time(self, column: str, default: float) -> float:
        """Return a time of the question, or the default."""
        times = self.times.get(column)
        return default if times is None else float(times[self.first])

    def is_unanswered(self, row: int) -> bool:
        """Tell whether a row states nothing about the question."""
        return not any(self.text(column, row) for column in ("option", "probability", *SHAPES))

    def forecasts(self, read_content: Callable[[list[int]], Content | None]) -> FormForecasts[Content]:
        """Return the non-empty results of reading the rows of each forecast."""
        times = self.times.get("time")
        rows_of = defaultdict[tuple[str, float], list[int]](list)
        for row in self.rows:
            at = 0.0
            if times is not None:
                at = float(times[row])
            rows_of[self.text("forecaster", row), at].append(row)

        forecasts: FormForecasts[Content] = FormForecasts()
        for (who, at), rows in sorted(rows_of.items()):
            with self.cells.noted():
                content = read_content(rows)
                if content is not None:
                    forecasts.who.append(who)
                    forecasts.at.append(at)
                    forecasts.row.append(rows[0])
                    forecasts.content.append(content)
        return forecasts


def read_forms(cells: Cells, times: Mapping[str, Floats]) -> tuple[FormQuestion, ...]:
    """Return the questions of these rows, noting what is wrong with them as faults of the cells."""
    question, names = number_column(cells.columns["question"])
    for column in ("outcome", "event", "category", *BOUNDS):
        if column in cells.columns:
            check_same_by_question(cells, question, column, number_column(cells.columns[column])[0])
    for column in ("open", "close", "scheduled_close", "resolved", "spot"):
        if column in times:
            check_same_by_question(cells, question, column, times[column])

    order = np.argsort(question, kind="stable")
    rows_by_question = np.split(order, np.flatnonzero(np.diff(question[order])) + 1)
    questions = []
    for name, rows in zip(names, rows_by_question, strict=True):
        with cells.noted():
            questions.append(_question(name, FormRows(cells, times, rows.tolist())))
    return tuple(questions)


def _question(name: str, question_rows: FormRows) -> FormQuestion:
    """Return a question with the forecasts in its rows."""
    answered = [row for row in question_rows.rows if not question_rows.is_unanswered(row)]
    with_option = [row for row in answered if question_rows.text("option", row)]
    if with_option and len(with_option) < len(answered):
        other_rows = set(answered) ^ set(with_option)
        what = "the same question has options in some lines only"
        raise CellError("option", min(other_rows), what, "name one in all")

    event = name
    if "event" in question_rows.cells.columns:
        event = question_rows.shared("event") or own_event(name)
    category = None
    if "category" in question_rows.cells.columns:
        category = question_rows.shared("category")
    is_ended = bool(question_rows.shared("outcome"))
    question = FormQuestion(
        name=name,
        kind="number",
        event=event,
        category=category,
        ended=is_ended,
        forecasters=frozenset(question_rows.text("forecaster", row) for row in question_rows.rows),
        called_off=not is_ended and isfinite(question_rows.time("resolved", nan)),
    )
    if with_option:
        return _choice_question(replace(question, kind="choice"), question_rows)
    return _number_question(question, question_rows)


def _lifetime(question_rows: FormRows, starts: Floats) -> MetaculusQuestion:
    """Return the lifetime of a question; a nominal one if its times are unknown."""
    if not question_rows.has_life:
        return MetaculusQuestion(0.0, 1.0, 1.0)

    closes = question_rows.time("close", nan)
    spot = question_rows.time("spot", nan)
    return MetaculusQuestion(
        opens=question_rows.time("open", float(starts.min())),
        closes=closes,
        scheduled=question_rows.time("scheduled_close", closes),
        spot=spot if isfinite(spot) else None,
    )


def _standing_times(question_rows: FormRows, forecasts: FormForecasts[Content]) -> tuple[Floats, Floats]:
    """Return the times from which and until which each forecast stood."""
    who = np.array(forecasts.who)
    is_followed = np.append(who[1:] == who[:-1], False)
    if not question_rows.has_life:
        # Without times only the last forecast stands: the others end when they start.
        return np.zeros(who.size), np.where(is_followed, 0.0, inf)

    start = np.array(forecasts.at)
    if "time" not in question_rows.times:
        start = question_rows.times["open"][forecasts.row]
    own_end = np.full(who.size, nan)
    if "end" in question_rows.times:
        own_end = question_rows.times["end"][forecasts.row]

    # `fmin` takes the other time where one is NaN.
    next_start = np.where(is_followed, np.roll(forecasts.at, -1), inf)
    return start, np.fmin(own_end, next_start)


def _choice_question(question: FormQuestion, question_rows: FormRows) -> FormQuestion:
    """Return a multiple choice question with its forecasts."""
    happened = question_rows.shared("outcome")
    names = _option_names(question_rows, happened)
    forecasts = question_rows.forecasts(lambda rows: _option_forecast(question_rows, rows, names))
    if question_rows.cells.faults.found or not forecasts.who:
        return question

    probabilities = np.array([forecast.given for forecast in forecasts.content])

    # Where a forecast lacks an option it gives it nothing; the rest is scaled to add up to 1.
    shares = np.nan_to_num(probabilities)
    shares /= shares.sum(axis=1, keepdims=True)

    answer = None
    if happened:
        answer = names.index(happened)
    question = replace(
        question,
        who=tuple(forecasts.who),
        options=OptionForecasts(
            names=tuple(names),
            shares=shares,
            odds=np.array([forecast.odds for forecast in forecasts.content]),
            margin=np.array([forecast.margin for forecast in forecasts.content]),
            answer=answer,
            times={column: values[forecasts.row] for column, values in question_rows.times.items()},
            reasons=tuple(question_rows.text("reason", row) for row in forecasts.row),
        ),
    )
    if answer is None:
        return question

    start, end = _standing_times(question_rows, forecasts)
    count = len(forecasts.who)
    return replace(
        question,
        brier=autocast_choice.each(list(shares), [answer] * count),
        distance=np.full(count, nan),
        blank=(1 - 1 / len(names)) / 2,
        forecasts=multiple_choice(forecasts.who, start, probabilities, answer, end),
        lived=_lifetime(question_rows, start),
    )


def _option_names(question_rows: FormRows, happened: str) -> list[str]:
    """Return the options of a question, "yes" first and "Other" last."""
    options = {question_rows.text("option", row) for row in question_rows.rows} - {""}
    has_other = OTHER in map(str.lower, options)
    if happened and has_other:  # "Other" stands for an option that nobody had yet
        options.add(happened)

    names = option_order(options)
    if happened and happened not in names:
        what = f"{happened[:40]!r} is none of the options: {', '.join(names)[:200]}"
        raise CellError(
            "outcome", question_rows.first, what, "write the option that happened, as in the column option"
        )
    if len(names) < 2:
        what = "with a single option there is nothing to forecast"
        raise CellError(
            "option", question_rows.first, what, "give every option a line, the unlikely ones too"
        )
    return names


def option_order(options: Iterable[str]) -> list[str]:
    """Return options in the order in which they are scored: "yes" first and "Other" last."""
    return sorted(options, key=lambda name: (name.lower() == OTHER, name.lower() != "yes", name))


@dataclass(frozen=True, slots=True)
class OptionForecast:
    """The probabilities of one forecast, NaN for options it lacks, and the market's odds.

    Odds are scaled to add up to 1, NaN if the market has none; `margin` is by how much they exceeded 1.
    """

    given: Floats
    odds: Floats
    margin: float


def _option_forecast(
    question_rows: FormRows, rows: Sequence[int], names: Sequence[str]
) -> OptionForecast | None:
    """Return one forecast; None if the probability of an option is empty, which makes it unanswered."""
    probability_of: dict[str, float] = {}
    hint = "write a probability from 0 to 1, such as 0.35 or 35%"
    for row in rows:
        if not question_rows.text("probability", row):
            return None
        option = question_rows.text("option", row)
        if option in probability_of:
            raise CellError("option", row, f"{option[:40]!r} appears twice in one forecast", "remove one")
        probability_of[option] = nan
        with question_rows.cells.noted():
            probability_of[option] = question_rows.number("probability", row, parse_share, hint)

    _check_option_forecast(probability_of, rows[0], names)
    odds = _market_odds(question_rows, rows, names)
    odds_total = float(odds.sum())
    if odds_total == 0:
        hint = "write the price of each option, or leave all of them empty"
        raise CellError(PRICE, rows[0], "the prices of all options are 0", hint)
    probabilities = np.array([probability_of.get(name, nan) for name in names])
    return OptionForecast(probabilities, odds / odds_total, margin=odds_total - 1)


def _market_odds(question_rows: FormRows, rows: Sequence[int], names: Sequence[str]) -> Floats:
    """Return the market's price of each option next to a forecast; NaN unless each has one."""
    odds = np.zeros(len(names))
    hint = "write the price of each option from 0 to 1, or leave all of them empty"
    for row in rows:
        if not question_rows.text(PRICE, row):
            return np.full(len(names), nan)
        odds[names.index(question_rows.text("option", row))] = question_rows.number(
            PRICE, row, parse_share, hint
        )
    return odds


def _check_option_forecast(probability_of: Mapping[str, float], row: int, names: Sequence[str]) -> None:
    """Raise `CellError` if a forecast lacks options, or if its probabilities don't add up to 1."""
    if len(probability_of) < 2:
        raise CellError("option", row, "this forecast has one option alone", "give every option a line")

    # "Other", which comes last, stands for options that the forecast lacks.
    absent = [name for name in names if name not in probability_of]
    if absent and (names[-1].lower() != OTHER or names[-1] in absent):
        what = f"this forecast has no line for {absent[0][:40]!r}"
        hint = "give every option a line; only with an option Other may one be left out"
        raise CellError("option", row, what, hint)

    total = sum(probability_of.values())
    if abs(total - 1) > autocast_choice.SLACK:
        what = f"the options of this forecast add up to {total:.4g}, not to 1"
        raise CellError("probability", row, what, "correct its lines")


@dataclass(frozen=True, slots=True)
class NumberRange:
    """The range of a number, and which of its ends are open."""

    low: float
    high: float
    open_low: bool
    open_high: bool

    def share(self, value: float) -> float:
        """Return the position of a value: 0 at the lower end, 1 at the upper."""
        return (value - self.low) / (self.high - self.low)

    def excludes(self, share: float) -> bool:
        """Tell whether a position lies beyond a closed end."""
        return (share < 0 and not self.open_low) or (share > 1 and not self.open_high)

    def bucket(self, share: float, count: int) -> int:
        """Return the number of the equal bucket that contains a position, as the site counts them.

        0 is below the range, one more than `count` above it. An edge belongs to the lower bucket.

        >>> asked = NumberRange(0, 100, open_low=True, open_high=True)
        >>> [asked.bucket(share, 4) for share in (0, 0.1, 0.25, 0.26, 1, -1, 2)]
        [1, 1, 1, 2, 4, 0, 5]
        """
        if share < 0:
            return 0
        if share > 1:
            return count + 1
        return max(ceil(share * count - EDGE), 1)


def _number_range(question_rows: FormRows) -> NumberRange:
    """Return the range of a number; its ends are NaN if the file doesn't give them."""
    hint = "say where the range of the number begins and ends, in the columns low and high"
    low = _range_end(question_rows, "low", hint)
    high = _range_end(question_rows, "high", hint)
    if low >= high:
        raise CellError("low", question_rows.first, f"the range from {low:g} to {high:g} is empty", hint)
    return NumberRange(
        low, high, _is_open_end(question_rows, "open_low"), _is_open_end(question_rows, "open_high")
    )


def _range_end(question_rows: FormRows, column: str, hint: str) -> float:
    """Return an end of the range."""
    if not question_rows.shared(column):
        return nan
    return question_rows.number(column, question_rows.first, parse_value, hint)


def _is_open_end(question_rows: FormRows, column: str) -> bool:
    """Tell whether an end of the range is open."""
    return (
        bool(question_rows.shared(column))
        and question_rows.number(column, question_rows.first, parse_outcome, "write yes or no") == 1
    )


@dataclass(frozen=True, slots=True)
class NumberForecast:
    """A numeric forecast: its cdf, if any, its density at the outcome, and its median as a share."""

    curve: Floats | None
    density: float
    median: float


def _number_question(question: FormQuestion, question_rows: FormRows) -> FormQuestion:
    """Return a numeric question with its forecasts."""
    number_range = _number_range(question_rows)
    forecasts = question_rows.forecasts(lambda rows: _number_forecast(question_rows, rows, number_range))
    question = replace(question, who=tuple(forecasts.who))
    if not question.ended or question_rows.cells.faults.found:
        return question

    outcome_share = nan
    density = np.array([forecast.density for forecast in forecasts.content])
    if not density.size or not np.isfinite(density).all():
        # Densities are given at the outcome, so that the outcome itself is needed for others only.
        outcome_share = number_range.share(
            question_rows.number("outcome", question_rows.first, parse_value, "write what it came to")
        )

    outcome_in_range = np.clip(outcome_share, 0, 1)
    question = replace(question, blank=float(abs(0.5 - outcome_in_range)))
    if not density.size:
        return question

    median = np.array([forecast.median for forecast in forecasts.content])
    distance = np.full(median.size, nan)
    has_distance = np.isfinite(median) & isfinite(outcome_share)
    if has_distance.any():
        distance[has_distance] = autocast_numeric.each(np.clip(median[has_distance], 0, 1), outcome_in_range)

    start, end = _standing_times(question_rows, forecasts)
    return replace(
        question,
        brier=np.full(median.size, nan),
        distance=distance,
        forecasts=_densities_at_outcome(number_range, outcome_share, forecasts, start, end),
        lived=_lifetime(question_rows, start),
    )


def _densities_at_outcome(
    number_range: NumberRange,
    outcome_share: float,
    forecasts: FormForecasts[NumberForecast],
    start: Floats,
    end: Floats,
) -> Forecasts | None:
    """Return the densities that forecasts gave to the outcome; None if no forecast has one."""
    open_ends = number_range.open_low + number_range.open_high
    ignorance = np.full(start.size, 1 - OUTSIDE * open_ends)
    density = np.full(start.size, nan)
    for place, forecast in enumerate(forecasts.content):
        density[place] = forecast.density
        if forecast.curve is not None:
            of_cdf = _density_of_cdf(number_range, outcome_share, forecasts.row[place], forecast.curve)
            density[place] = of_cdf.chance[0]
            ignorance[place] = of_cdf.ignorance[0]

    known_rows = np.flatnonzero(np.isfinite(density))
    if not known_rows.size:
        return None
    who = np.array(forecasts.who)[known_rows]
    known_forecasts = chance_forecasts(who, start[known_rows], density[known_rows], end[known_rows])
    half = np.full(known_rows.size, 50.0)  # as on the site, numbers count half
    return replace(known_forecasts, ignorance=ignorance[known_rows], own_points=half, points=50.0, mean=True)


def _density_of_cdf(number_range: NumberRange, outcome_share: float, row: int, cdf: Floats) -> Forecasts:
    """Return the density that a cdf gave to the outcome; raise `CellError` if it is 0."""
    if number_range.excludes(outcome_share):
        hint = "correct it, or say yes in open_low or open_high"
        raise CellError("outcome", row, "it lies beyond an end of the range that is closed", hint)

    bucket = number_range.bucket(outcome_share, cdf.size - 1)
    bucket_shares = np.diff(cdf, prepend=0.0, append=1.0)
    if bucket_shares[bucket] <= 0:
        raise CellError("cdf", row, "it gives no probability to what happened", "correct it, or the outcome")
    open_ends = number_range.open_low + number_range.open_high
    return continuous([""], [0.0], cdf, bucket, open_ends)


def _number_forecast(
    question_rows: FormRows, rows: Sequence[int], number_range: NumberRange
) -> NumberForecast | None:
    """Return one numeric forecast; None if it is left empty."""
    row = rows[0]
    if len(rows) > 1:
        who = question_rows.text("forecaster", row)[:40]
        what = f"{who!r} has forecast the same question in {question_rows.cells.beside(row, rows[1])}"
        raise CellError("forecaster", rows[1], what, "remove one of them; updates need a column time")
    if question_rows.is_unanswered(row):
        return None

    single_columns = [column for column in ("cdf", "density", "value") if question_rows.text(column, row)]
    quantiles = [column for column in QUANTILES if question_rows.text(column, row)]
    # A density may come with a value, which is then its median.
    ways = len(single_columns) + bool(quantiles)
    if ways > 1 and single_columns != ["density", "value"]:
        columns_given = ", ".join([*single_columns, *quantiles[:1]])
        raise CellError(
            "question", row, f"it is forecast more than once: {columns_given}", "leave one in each line"
        )

    if quantiles:
        return _forecast_of_cdf(_cdf_of_quantiles(question_rows, row, quantiles, number_range))
    if single_columns == ["cdf"]:
        return _forecast_of_cdf(_parse_cdf(question_rows, row, number_range))

    density = nan
    if "density" in single_columns:
        hint = "write the density at what happened, where the range is 1 wide: a number above 0"
        density = question_rows.number("density", row, parse_positive, hint)
    value = nan
    if "value" in single_columns:
        value = question_rows.number("value", row, parse_value, "write a number or a date")
    return NumberForecast(curve=None, density=density, median=number_range.share(value))


def _forecast_of_cdf(cdf: Floats) -> NumberForecast:
    """Return a forecast given by its cdf."""
    [median] = curve_medians(cdf[None])
    return NumberForecast(curve=cdf, density=nan, median=float(median))


def curve_medians(curves: Floats) -> Floats:
    """Return the median of each cdf, as a share of the range."""
    levels = np.maximum.accumulate(curves, axis=1)
    edges = np.linspace(0, 1, curves.shape[1])
    row = np.arange(curves.shape[0])
    # The last edge at which no more than a half is reached; −1 if there is none.
    last_edge_below = np.count_nonzero(levels <= 0.5, axis=1) - 1
    edge = np.clip(last_edge_below, 0, edges.size - 2)

    # Between two edges a cdf is linear.
    rise = levels[row, edge + 1] - levels[row, edge]
    slope = (edges[1] - edges[0]) / np.where(rise > 0, rise, 1.0)
    median = edges[edge] + slope * (0.5 - levels[row, edge])

    # A median beyond an end of the range is placed at that end.
    median = np.where(last_edge_below < 0, 0.0, median)
    medians: Floats = np.where(last_edge_below == edges.size - 1, 1.0, median)
    return medians


def _check_has_range(column: str, row: int, number_range: NumberRange) -> None:
    """Raise `CellError` if the range of the number is unknown."""
    if not isfinite(number_range.low) or not isfinite(number_range.high):
        what = "it needs the range of the number"
        raise CellError(column, row, what, "add the columns low and high, and open_low and open_high")


def _parse_cdf(question_rows: FormRows, row: int, number_range: NumberRange) -> Floats:
    """Return the cdf of a row; raise `CellError` if it is invalid."""
    _check_has_range("cdf", row, number_range)
    text = question_rows.text("cdf", row)
    hint = "write cumulative probabilities at equal steps from low to high, such as [0, 0.2, 0.7, 1]"
    try:
        values = text.split()
        if text.startswith("["):
            values = json.loads(text)
        cdf = np.array(values, dtype=np.float64)
    except (ValueError, TypeError, OverflowError, RecursionError):
        raise CellError("cdf", row, f"{text[:40]!r} is no list of numbers", hint) from None

    if cdf.ndim != 1 or cdf.size < 2 or not np.isfinite(cdf).all():
        raise CellError("cdf", row, "it needs a finite value at both ends at least", hint)
    if (np.diff(cdf) < 0).any() or cdf[0] < 0 or cdf[-1] > 1:
        raise CellError("cdf", row, "it does not rise from 0 to 1", hint)
    for is_open, end_value, closed_value in (
        (number_range.open_low, cdf[0], 0),
        (number_range.open_high, cdf[-1], 1),
    ):
        if not is_open and abs(end_value - closed_value) > SLACK:
            what = f"it is {end_value:g} at an end of the range that is closed, not {closed_value}"
            raise CellError("cdf", row, what, "correct it, or say yes in open_low or open_high")
    return cdf


def _cdf_of_quantiles(
    question_rows: FormRows, row: int, columns: Sequence[str], number_range: NumberRange
) -> Floats:
    """Return the cdf of quantiles: linear between them, with the site's floor.

    Beyond the outermost quantiles, a closed end receives the rest evenly; towards an open one, the last slope
    continues.
    """
    first_column = columns[0]
    _check_has_range(first_column, row, number_range)
    if len(columns) < 2:
        what = "one quantile is not a forecast"
        raise CellError(first_column, row, what, "give two at least, such as q10 and q90")

    levels = [int(column[1:]) / 100 for column in columns]
    hint = "write a number or a date"
    values = [number_range.share(question_rows.number(column, row, parse_value, hint)) for column in columns]
    for column, (low, high) in zip(columns[1:], pairwise(values), strict=True):
        if high < low:
            raise CellError(column, row, "it is below a lower quantile", "correct one of them")
    if number_range.excludes(values[0]) or number_range.excludes(values[-1]):
        raise CellError(
            first_column, row, "a quantile lies beyond a closed end", "correct it, or open that end"
        )

    curves = quantile_curves(levels, np.array([values]), number_range.open_low, number_range.open_high)
    curve: Floats = curves[0]
    return curve


def quantile_curves(levels: Sequence[float], values: Floats, open_low: bool, open_high: bool) -> Floats:
    """Return the cdf of each row of quantiles, which are given at `levels` as shares of the range.

    Cdfs are linear between the quantiles, and have the site's floor.
    """
    count = values.shape[0]
    # Where each cdf reaches 0 and 1: at closed ends, or else on along the outermost slopes.
    start = np.zeros(count)
    if open_low:
        slope = (values[:, 1] - values[:, 0]) / (levels[1] - levels[0])
        start = values[:, 0] - levels[0] * slope
    end = np.ones(count)
    if open_high:
        slope = (values[:, -1] - values[:, -2]) / (levels[-1] - levels[-2])
        end = values[:, -1] + (1 - levels[-1]) * slope

    knots = np.column_stack([start, values, end])
    shares = np.array([0.0, *levels, 1.0])
    edges = np.linspace(0, 1, BUCKETS + 1)

    # The segment between two knots that each edge lies in; −1 before the first knot.
    segment = np.full((count, edges.size), -1)
    for column in knots.T:
        segment += column[:, None] <= edges

    last = shares.size - 1
    clipped_segment = np.clip(segment, 0, last - 1)
    segment_low = np.take_along_axis(knots, clipped_segment, axis=1)
    segment_high = np.take_along_axis(knots, clipped_segment + 1, axis=1)
    width = np.where(segment_high > segment_low, segment_high - segment_low, 1.0)
    slope = (shares[clipped_segment + 1] - shares[clipped_segment]) / width
    curves = shares[clipped_segment] + slope * (edges - segment_low)
    curves = np.where(segment < 0, 0.0, curves)
    curves = np.where(segment == last, 1.0, curves)
    floored: Floats = limits.with_floor(curves, open_low, open_high)
    return floored
