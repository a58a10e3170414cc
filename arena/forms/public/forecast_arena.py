"""Files of a Forecast Arena: one line for each entrant and market of a day, and a file of outcomes."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from statistics import fmean

from arena.errors import FileFault
from arena.forms.model import (
    PublishedFigure,
    SourceData,
    SourceFile,
    SourceForecast,
    SourceLine,
    SourceOutcome,
    SourceQuestion,
)
from arena.forms.objects import SourceObject, first_object, quoted_value, read_objects, read_whole

TITLE = "Forecast Arena"
TYPICAL = {"entrant", "slug", "market_prob"}
DAY = re.compile(r"(.*/)?forecasts/\d{4}-\d{2}-\d{2}\.jsonl(\.gz)?")
RESOLUTIONS = "resolutions.json"
CROWD = "crowd"
"""The entrant that repeats the price; the board scores it on the markets on which a model is scored."""


@dataclass(slots=True)
class BoardRows:
    """The content of the lines read so far."""

    questions: dict[str, SourceQuestion] = field(default_factory=dict)
    forecasts: list[SourceForecast] = field(default_factory=list)
    with_model: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class ScoredRow:
    """The squared error of an answer, and how much smaller it is than that of the price."""

    question: str
    error: float
    edge: float | None


def recognise(files: Sequence[SourceFile]) -> str | None:
    """Return what identifies the form in these files; None if nothing does."""
    if any(map(has_typical_lines, files)):
        return "lines with entrant, slug and market_prob"

    return None


def read(files: Sequence[SourceFile]) -> SourceData:
    """Return the content of a board's files: the forecasts of every day, and outcomes if there are any."""
    faults: list[FileFault] = []
    rows = BoardRows()
    outcomes: list[SourceOutcome] = []
    unknown = 0

    for file in files:
        if is_day(file):
            for line in read_objects(file, "rows", faults):
                add_row(line, rows)
        elif is_resolutions(file):
            unknown += read_outcomes(file, outcomes, faults)

    notes = []
    no_outcomes = ""

    if unknown:
        notes.append(f"markets that closed without an outcome so far, and count as open: {unknown}")
    if not any(map(is_resolutions, files)):
        no_outcomes = f"no {RESOLUTIONS} is among the files"

    entrants = dict.fromkeys(forecast.forecaster for forecast in rows.forecasts)

    return SourceData(
        questions=tuple(rows.questions.values()),
        outcomes=tuple(outcomes),
        forecasts=tuple(rows.forecasts),
        published=tuple(published_figures(rows, outcomes)),
        outside=tuple(entrant for entrant in entrants if entrant not in rows.with_model),
        notes=tuple(notes),
        no_outcomes=no_outcomes,
        faults=tuple(faults),
    )


def is_day(file: SourceFile) -> bool:
    """Tell whether a file holds the forecasts of a day, judged by its name or its first lines."""
    return DAY.fullmatch(file.name) is not None or has_typical_lines(file)


def has_typical_lines(file: SourceFile) -> bool:
    """Tell whether the first lines of a file have an entrant and a market."""
    return first_object(file).keys() >= TYPICAL


def is_resolutions(file: SourceFile) -> bool:
    """Tell whether a file holds the outcomes, judged by its name."""
    return PurePosixPath(file.name).name == RESOLUTIONS


def add_row(line: SourceObject, rows: BoardRows) -> None:
    """Add a line: the market, and an entrant's forecast of it."""
    slug = line.needed("slug", "name the market")
    entrant = line.needed("entrant", "name the entrant")
    price = line.probability("market_prob")
    probability = line.probability("prob")

    question = SourceQuestion(
        slug,
        title=line.text("question"),
        event=line.text("event_id"),
        closes=line.time("end_date"),
    )

    if line.text("status") == "skip":
        probability = None

    forecast = SourceForecast(
        slug,
        entrant,
        line.place,
        made=line.time("ts"),
        probability=probability,
        price=price,
        reason=line.text("rationale"),
    )

    if not slug or not entrant:
        return

    # Older lines lack the event; a later one of the same market may name it.
    if slug not in rows.questions or not rows.questions[slug].event:
        rows.questions[slug] = question

    rows.forecasts.append(forecast)

    if line.text("model"):
        rows.with_model.add(entrant)


def read_outcomes(file: SourceFile, outcomes: list[SourceOutcome], faults: list[FileFault]) -> int:
    """Add the outcomes of markets; return the number of markets that closed without one."""
    unknown = 0
    value = read_whole(file, faults)

    if value is not None and not isinstance(value, dict):
        what = f"{quoted_value(value)} is not an object"
        faults.append(FileFault(file.name, "", what, "write an outcome for each market's slug", line=1))

    if not isinstance(value, dict):
        return 0

    for number, (slug, fields) in enumerate(value.items(), 1):
        place = SourceLine(file.name, number, "markets")
        market = SourceObject({slug: fields}, place, faults).inner(slug)
        outcome = market.number("outcome", hint="write 1 for yes, 0 for no")
        resolved = market.time("resolved_at")

        if outcome is not None and not 0 <= outcome <= 1:
            market.note_fault("outcome", f"{outcome:g} is not from 0 to 1", "write 1 for yes, 0 for no")
        elif outcome is not None:
            outcomes.append(SourceOutcome(slug, outcome, resolved, place))
        elif "outcome" in market.fields:
            unknown += market.fields["outcome"] is None

    return unknown


def published_figures(rows: BoardRows, outcomes: Iterable[SourceOutcome]) -> list[PublishedFigure]:
    """Return each entrant's Brier score and alpha as the board computes them."""
    scored = scored_rows(rows, outcomes)
    answered_by_models: set[str] = set()
    figures = []

    for entrant in rows.with_model:
        answered_by_models.update(row.question for row in scored.get(entrant, ()))

    for entrant, answered in scored.items():
        counted = answered
        over = "that it answered and that ended"

        # The board scores the crowd only on what a model answered too.
        if entrant == CROWD:
            counted = [row for row in answered if row.question in answered_by_models]
            over = "that a model answered and that ended"
        if not counted:
            continue

        how = f"mean of (prob − outcome)² over the {len(counted)} rows {over}"
        brier = fmean(row.error for row in counted)
        figures.append(PublishedFigure(entrant, "Brier", brier, how))

        # The crowd has no edge over itself; any other has one if each row has the price.
        edges = [row.edge for row in counted if row.edge is not None]
        if entrant != CROWD and len(edges) == len(counted):
            how = f"mean of (market_prob − outcome)² − (prob − outcome)² over the {len(counted)} rows {over}"
            figures.append(PublishedFigure(entrant, "alpha", fmean(edges), how))

    return figures


def scored_rows(rows: BoardRows, outcomes: Iterable[SourceOutcome]) -> dict[str, list[ScoredRow]]:
    """Return the answers of each entrant to questions with an outcome."""
    outcome_of_question = {outcome.question: outcome.value for outcome in outcomes}
    scored: dict[str, list[ScoredRow]] = defaultdict(list)

    for forecast in rows.forecasts:
        outcome = outcome_of_question.get(forecast.question)

        if not isinstance(outcome, float) or forecast.probability is None:
            continue

        error = (forecast.probability - outcome) ** 2
        edge_over_price = None

        if forecast.price is not None:
            edge_over_price = (forecast.price - outcome) ** 2 - error

        scored[forecast.forecaster].append(ScoredRow(forecast.question, error, edge_over_price))

    return scored
