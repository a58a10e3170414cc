"""The content of a form's files as the cells of a table: a row for each forecast or option."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from arena.errors import ArenaError, count_text
from arena.forms.csv_columns import Cells, Faults, OurColumns, memory_cells
from arena.forms.model import SourceData, SourceForecast, SourceLine, SourceOutcome, SourceQuestion
from arena.scores.files.forecasts import COLUMNS, REQUIRED_COLUMNS

Value = float | str | None


@dataclass
class SourceRows:
    """The columns of a table as they are filled, the place of each row, and what was left out."""

    columns: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    places: list[SourceLine] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    def add(self, place: SourceLine, values: Mapping[str, Value]) -> None:
        """Append a row, with empty texts for columns that it lacks."""
        for name in self.columns.keys() | values.keys():
            column = self.columns[name]
            # A new column is empty in the rows before this one.
            column += [""] * (len(self.places) - len(column))
            column.append(text_of(values.get(name)))
        self.places.append(place)

    def without_empty(self) -> dict[str, list[str]]:
        """Return the columns that aren't empty, and those that a table needs."""
        return {
            name: column
            for name, column in self.columns.items()
            if name in (*REQUIRED_COLUMNS, "probability") or any(column)
        }


def text_of(value: Value) -> str:
    """Return a value as a cell.

    >>> text_of(1.0), text_of("Ann"), text_of(None)
    ('1.0', 'Ann', '')
    """
    return "" if value is None else str(value)


def time_text(time: datetime | None) -> str:
    """Return an instant as a cell."""
    return "" if time is None else time.isoformat()


def newest_outcomes(outcomes: Iterable[SourceOutcome], provisional: bool) -> dict[str, SourceOutcome]:
    """Return the newest outcome of each question, with `provisional` also stand-ins."""
    newest_of: dict[str, SourceOutcome] = {}
    for outcome in outcomes:
        newest = newest_of.get(outcome.question)
        if not outcome.final and not provisional:
            continue
        if newest is None or not _is_known_later(newest.resolved, outcome.resolved):
            newest_of[outcome.question] = outcome
    return newest_of


def _is_known_later(time: datetime | None, other_time: datetime | None) -> bool:
    """Tell whether one instant is known to be later than another."""
    return time is not None and other_time is not None and time > other_time


def source_cells(name: str, data: SourceData, *, provisional: bool) -> tuple[Cells, list[str]]:
    """Return the cells of files' content, and notes on what was left out.

    Times are used only if all rows that need them have them: when forecasts were made, when ended questions
    were resolved, and how long questions were open.
    """
    questions = {question.key: question for question in data.questions}
    outcomes = newest_outcomes(data.outcomes, provisional)
    asked_questions = {forecast.question for forecast in data.forecasts}
    answered_forecasts = filter(is_stated, data.forecasts)
    ended_outcomes = map(outcomes.__getitem__, asked_questions & outcomes.keys())
    is_dated = all(forecast.made is not None for forecast in answered_forecasts)
    is_resolved = all(outcome.resolved is not None for outcome in ended_outcomes)
    lifetime_of = _question_lifetimes(data.forecasts, questions, outcomes) if is_dated else {}

    rows = SourceRows()
    for forecast in data.forecasts:
        question = questions.get(forecast.question, SourceQuestion(forecast.question))
        outcome = outcomes.get(forecast.question)
        lifetime = lifetime_of.get(forecast.question)
        if is_dated and is_stated(forecast) and _is_late(forecast, outcome, lifetime):
            rows.left_out["made after the question ended"] += 1
            continue

        values = _question_values(question, outcome)
        values["forecaster"] = forecast.forecaster
        values["reason"] = forecast.reason
        if lifetime is not None:
            values |= lifetime.values()
        if is_dated:
            values["time"] = time_text(forecast.made)
            values["end"] = time_text(forecast.ends)
        if not is_resolved:
            values.pop("resolved", None)
        for answer in _answer_values(forecast, question):
            rows.add(forecast.place, values | answer)

    if not rows.places:
        raise ArenaError("no_forecasts", f"{name} has no forecasts", "name the files with forecasts as well")
    cells = memory_cells(
        Faults(name), rows.places, rows.without_empty(), OurColumns(REQUIRED_COLUMNS, COLUMNS, {})
    )
    notes = [f"left out: {count_text(count, 'forecast')} {why}" for why, count in rows.left_out.items()]
    return cells, notes


def is_stated(forecast: SourceForecast) -> bool:
    """Tell whether a forecaster answered."""
    has_probability = forecast.probability is not None
    return has_probability or bool(forecast.options or forecast.quantiles or forecast.cdf)


@dataclass(frozen=True, slots=True)
class Life:
    """When a question opened, closed and was to close, and when its spot scores are taken."""

    opened: datetime
    closed: datetime
    planned: datetime
    spot: datetime | None

    def values(self) -> dict[str, Value]:
        """Return the times as columns."""
        return {
            "open": time_text(self.opened),
            "close": time_text(self.closed),
            "scheduled_close": time_text(self.planned),
            "spot": time_text(self.spot),
        }


def _is_late(forecast: SourceForecast, outcome: SourceOutcome | None, lifetime: Life | None) -> bool:
    """Tell whether a forecast was made after its question had closed or been resolved."""
    if lifetime is not None and _is_known_later(forecast.made, lifetime.closed):
        return True
    return outcome is not None and _is_known_later(forecast.made, outcome.resolved)


def _question_lifetimes(
    forecasts: Iterable[SourceForecast],
    questions: Mapping[str, SourceQuestion],
    outcomes: Mapping[str, SourceOutcome],
) -> dict[str, Life]:
    """Return when each question opened and closed, if all of them say so.

    One that was forecast before it is said to have opened was open by then.
    """
    lifetime_of: dict[str, Life] = {}
    for forecast in forecasts:
        name = forecast.question
        question = questions.get(name)
        if question is None or question.opened is None or question.closes is None:
            return {}

        known_lifetime = lifetime_of.get(name)
        opened = question.opened if known_lifetime is None else known_lifetime.opened
        if forecast.made is not None:
            opened = min(opened, forecast.made)
        closed = question.closes
        outcome = outcomes.get(name)
        if outcome is not None and outcome.resolved is not None:
            closed = min(closed, outcome.resolved)
        planned = question.scheduled_close or question.closes
        lifetime_of[name] = Life(opened, closed, planned, question.spot)
    return lifetime_of


def _question_values(question: SourceQuestion, outcome: SourceOutcome | None) -> dict[str, Value]:
    """Return what all rows of a question say of it."""
    values: dict[str, Value] = {
        "question": question.key,
        "outcome": None,
        "event": question.event,
        "category": question.category,
        "title": question.title,
        "low": question.low,
        "high": question.high,
    }
    if question.low is not None:
        values["open_low"] = "yes" if question.open_low else "no"
        values["open_high"] = "yes" if question.open_high else "no"
    if outcome is not None:
        values["outcome"] = outcome.value
        values["resolved"] = time_text(outcome.resolved)
    return values


def _answer_values(forecast: SourceForecast, question: SourceQuestion) -> Sequence[dict[str, Value]]:
    """Return what a forecaster stated: a row, or one for each option."""
    if question.options or forecast.options:
        options = tuple(forecast.options) or question.options
        return [
            {
                "option": option,
                "probability": forecast.options.get(option),
                "market_probability": forecast.odds.get(option),
            }
            for option in options
        ]

    values: dict[str, Value] = {"probability": forecast.probability, "market_probability": forecast.price}
    if forecast.cdf:
        values["cdf"] = " ".join(map(str, forecast.cdf))
    for percent, quantile in forecast.quantiles.items():
        values[f"q{percent}"] = quantile
    return [values]
