"""ForecastBench's forecasts with their resolutions: a CSV in the columns in which it joins them."""

from collections.abc import Mapping, Sequence

from arena.errors import FileFault
from arena.forms.bench.model import HALVES, MARKET_SOURCES, probability_or_none
from arena.forms.model import (
    SourceData,
    SourceFile,
    SourceForecast,
    SourceLine,
    SourceOutcome,
    SourceQuestion,
)
from arena.forms.objects import header_names, read_rows

NEEDED = frozenset({"source", "id", "forecast", "resolved_to"})
"""Columns that identify such a table."""
NAMES = ("user_id", "model", "forecaster")
"""Columns that may name the forecaster; the first that is not empty counts."""
DAYS = ("forecast_due_date", "resolution_date", "horizon")
"""Columns that distinguish questions with the same id."""
OPEN = frozenset({"false", "0", "no"})


def is_joined_table(file: SourceFile) -> bool:
    """Tell whether a file has the columns of such a table."""
    return header_names(file) >= NEEDED


def read_joined(files: Sequence[SourceFile]) -> SourceData:
    """Return the forecasts of such tables with the outcomes of their questions."""
    questions: dict[str, SourceQuestion] = {}
    outcomes: dict[str, SourceOutcome] = {}
    forecasts = []
    faults: list[FileFault] = []

    for file in files:
        for row in read_rows(file, faults, fill_for_missing=""):
            cells = row.fields
            place = row.place
            probability, value = _shares(place, cells, faults)
            key = _key(cells)
            is_market = cells["source"] in MARKET_SOURCES
            if key not in questions:
                event = f"{cells['source']} {cells['id']}"
                questions[key] = SourceQuestion(key, event=event, category=HALVES[is_market])
            if value is not None:
                is_final = cells.get("resolved", "").lower() not in OPEN
                outcomes[key] = SourceOutcome(key, value, place=place, final=is_final)

            name = next((cells[column] for column in NAMES if cells.get(column)), file.name)
            price = probability_or_none(cells.get("market_value_on_due_date")) if is_market else None
            forecasts.append(SourceForecast(key, name, place, probability=probability, price=price))

    return SourceData(
        questions=tuple(questions.values()),
        outcomes=tuple(outcomes.values()),
        forecasts=tuple(forecasts),
        faults=tuple(faults),
    )


def _key(cells: Mapping[str, str]) -> str:
    """Return a question's key: its round, source and id, and the date or horizon of a data question."""
    days = [cells.get(name, "") for name in DAYS]
    if cells["source"] in MARKET_SOURCES:
        days[1:] = []
    parts = [days[0], cells["source"], cells["id"], *days[1:]]
    return " ".join(filter(None, parts))


def _shares(
    place: SourceLine, cells: Mapping[str, str], faults: list[FileFault]
) -> tuple[float | None, float | None]:
    """Return a row's forecast and resolution; values that are no probability are noted as faults."""
    values = []
    for column in ("forecast", "resolved_to"):
        text = cells[column]
        value = probability_or_none(text)
        if value is None and text:
            what = f"{text[:40]!r} is not a number from 0 to 1"
            hint = "correct the cell or remove the line"
            faults.append(place.fault(column, what, hint))
        values.append(value)
    return values[0], values[1]
