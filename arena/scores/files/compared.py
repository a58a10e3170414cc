"""The comparisons of a file: who is closer than the price, and who than whom, with the uncertainty.

They are based on yes/no questions, and on a row for each option of multiple choice questions.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.forms.csv_columns import Floats, Ints
from arena.scores.files.forecasts import TIME_COLUMNS, ForecastTable
from arena.scores.files.question_forms import OptionForecasts
from arena.scores.rules._columns import different, is_scored
from arena.scores.rules.comparisons.copies import find_copies
from arena.scores.rules.comparisons.duel_evidence import (
    SECONDS_OF_A_WEEK,
    DuelRows,
    PairEvidence,
    compare_pairs,
    compare_with_price,
    price_bars,
)
from arena.scores.rules.comparisons.evidence import Evidence, EvidenceRows, evidence
from arena.scores.rules.comparisons.gain import Gain, gains
from arena.scores.rules.comparisons.season_rows import SeasonForecasts, check_season

LARGE = 1e8
"""Plain numbers up to here are days; larger ones are seconds since 1970."""


def compared_rows(table: ForecastTable) -> ForecastTable:
    """Return the rows that comparisons are based on, in which each option is a yes/no question.

    `option_of` has the question of each option. Without multiple choice questions it is the table itself.
    """
    if all(form.options is None for form in table.forms):
        return table

    forecaster_numbers = {name: place for place, name in enumerate(table.forecasters)}
    event_numbers = {name: place for place, name in enumerate(table.events)}
    questions = list(table.questions)
    option_parts = defaultdict[str, list[NDArray[Any]]](list)
    for form in table.forms:
        if form.options is None:
            continue
        who = np.array([forecaster_numbers[name] for name in form.who], dtype=np.int64)
        event = event_numbers.setdefault(form.event, len(event_numbers))
        columns = _option_columns(form.options, who)
        first_number = len(questions)
        row_count = form.options.shares.size
        columns["event"] = np.full(row_count, event)
        columns["question"] = first_number + np.repeat(np.arange(form.options.count), who.size)
        columns["option_of"] = np.full(row_count, first_number)
        for column, values in columns.items():
            option_parts[column].append(values)
        questions += [form.name] * form.options.count

    all_columns: dict[str, Any] = {"option_of": np.concatenate([table.question, *option_parts["option_of"]])}
    for column in ("question", "forecaster", "probability", "outcome", "event", "market", *TIME_COLUMNS):
        values = getattr(table, column)
        if values is not None:
            all_columns[column] = np.concatenate([values, *option_parts[column]])
    return replace(
        table,
        **all_columns,
        questions=tuple(questions),
        events=tuple(event_numbers),
        category=None,
        reason=None,
        forms=(),
    )


def _option_columns(options: OptionForecasts, who: Ints) -> dict[str, NDArray[Any]]:
    """Return the columns of each option in turn, for all forecasts of the question."""
    outcome = np.full(options.count, np.nan)
    if options.answer is not None:
        outcome = (np.arange(options.count) == options.answer).astype(np.float64)

    columns = {
        "forecaster": np.tile(who, options.count),
        "probability": options.shares.T.ravel(),
        "outcome": np.repeat(outcome, who.size),
        "market": options.odds.T.ravel(),
    }
    for column, values in options.times.items():
        columns[column] = np.tile(values, options.count)
    return columns


@dataclass(frozen=True, slots=True)
class FileComparisons:
    """The comparisons of a file's forecasters with the price, if there is one.

    `evidence` is the capital of a bet on each forecaster's skill, and `copies` names whom one copies.
    """

    gains: Mapping[str, Gain]
    evidence: Mapping[str, float]
    copies: Mapping[str, str]


def compare_file(rows: ForecastTable, ranked: Ints, outside: Collection[str] = ()) -> FileComparisons:
    """Return the comparison of each ranked forecaster with the price, on the rows that have one.

    Among forecasters who say the same, none counts as copying one who is `outside`.
    """
    is_ended = is_scored(rows.outcome)
    has_price = ~np.isnan(_price_of(rows))
    if rows.market is None or (is_ended.any() and not (is_ended & has_price).any()):
        return FileComparisons({}, {}, _copies_without_prices(rows.where(is_ended), ranked, outside))

    # A missing answer counts as agreement with the price.
    season = _season(_with_missing_as_agreement(rows.where(is_ended & has_price), ranked))
    capital_of = {name: _evidence(rows, name).now for name in season.agents}
    gain_of = {gain.agent: gain for gain in gains(season)}
    return FileComparisons(gain_of, capital_of, _find_copies(season, outside))


def _find_copies(season: SeasonForecasts, outside: Collection[str]) -> Mapping[str, str]:
    """Return who copies whom; those outside come last, because the first of a group is the one copied."""
    return find_copies(season, sorted(season.agents, key=lambda name: name in outside)).of


def _copies_without_prices(ended: ForecastTable, ranked: Ints, outside: Collection[str]) -> Mapping[str, str]:
    """Return who copies whom among the ranked, without prices that could be copied."""
    ranked_rows = ended.where(np.isin(ended.forecaster, ranked))
    # A price half the scale away from each forecast, so that nobody seems to copy it.
    far_price = np.where(
        ranked_rows.probability < 0.5, ranked_rows.probability + 0.5, ranked_rows.probability - 0.5
    )
    return _find_copies(_season(replace(ranked_rows, market=far_price)), outside)


def compared_pairs(
    rows: ForecastTable, outside: Collection[str]
) -> tuple[Sequence[PairEvidence], Sequence[PairEvidence] | None]:
    """Return the evidence of each pair of entries, and of each entry against the price, if there is one."""
    is_entry = ~np.isin(rows.forecasters, list(outside))
    entered = rows.where(is_entry[rows.forecaster])
    stated = _duel_rows(entered)
    pairs = compare_pairs(stated, rows.owners)
    if entered.market is None:
        return pairs, None

    priced = _duel_rows(entered.where(~np.isnan(entered.market)))
    return pairs, compare_with_price(priced, price_bars(stated, rows.owners))


def _season(priced: ForecastTable) -> SeasonForecasts:
    """Return the rows of a table, all of which have ended and have a price, as a season."""
    events_used, event = different(priced.event)
    agents_used, agent = different(priced.forecaster)
    made, _ = _made_and_known_times(priced)
    return check_season(
        [priced.forecasters[place] for place in agents_used.tolist()],
        [priced.events[place] for place in events_used.tolist()],
        agent=agent,
        instant=np.unique(made, return_inverse=True)[1],
        market=priced.question,
        event=event,
        forecast=priced.probability,
        reference=_price_of(priced),
        outcome=priced.outcome,
        question=priced.option_of,
    )


def _evidence(rows: ForecastTable, name: str) -> Evidence:
    """Return the evidence that a forecaster is closer than the price."""
    made, known_time = _made_and_known_times(rows)
    price = _price_of(rows)
    own_rows = np.flatnonzero((rows.forecaster == rows.forecasters.index(name)) & ~np.isnan(price))
    return evidence(
        EvidenceRows(
            story=rows.event[own_rows],
            market=rows.question[own_rows],
            made=made[own_rows],
            known=np.where(known_time[own_rows] <= rows.as_of, known_time[own_rows], np.inf),
            forecast=rows.probability[own_rows],
            price=price[own_rows],
            payout=rows.outcome[own_rows],
            question=None if rows.option_of is None else rows.option_of[own_rows],
        )
    )


def _duel_rows(rows: ForecastTable) -> DuelRows:
    """Return all forecasters' rows for duels; a missing price is −1."""
    made, known = _made_and_known_times(rows)
    return DuelRows(
        agents=rows.forecasters,
        agent=rows.forecaster,
        instant=np.unique(made, return_inverse=True)[1],
        market=rows.question,
        story=rows.event,
        made=made,
        known=np.where(known <= rows.as_of, known, np.inf),
        forecast=rows.probability,
        price=np.nan_to_num(_price_of(rows), nan=-1.0),
        payout=rows.outcome,
        week=SECONDS_OF_A_WEEK / _seconds_of_unit(rows),
        question=rows.option_of,
    )


def _with_missing_as_agreement(priced: ForecastTable, ranked: Ints) -> ForecastTable:
    """Return the rows of the ranked, with agreement to the price filled in where they have none."""
    question = priced.question
    own_rows = np.flatnonzero(np.isin(priced.forecaster, ranked, kind="table"))
    forecaster = priced.forecaster[own_rows]
    forecasters, line = different(forecaster)

    # Which of the forecasters (lines) answered which question (columns).
    is_answered = np.zeros((forecasters.size, len(priced.questions)), dtype=np.bool_)
    is_answered[line, question[own_rows]] = True
    first_rows = np.flatnonzero(np.diff(question, prepend=-1))
    silent_line, unanswered = np.nonzero(~is_answered[:, question[first_rows]])

    # A missing answer gets the price in the question's first row.
    filled_rows = first_rows[unanswered]
    if own_rows.size == question.size and not filled_rows.size:
        return priced

    price = _price_of(priced)
    rows = priced.take(np.concatenate([own_rows, filled_rows]))
    forecaster = np.concatenate([forecaster, forecasters[silent_line]])
    probability = np.concatenate([priced.probability[own_rows], price[filled_rows]])
    return replace(rows, forecaster=forecaster, probability=probability)


def _price_of(rows: ForecastTable) -> Floats:
    """Return the prices of the rows; NaN where there is none."""
    if rows.market is None:
        return np.full(rows.outcome.size, np.nan)
    return rows.market


def _made_and_known_times(rows: ForecastTable) -> tuple[Floats, Floats]:
    """Return when each forecast was made, and from when its outcome counts: infinity while it is open.

    That is when it was resolved, or else closed, and not before its scheduled close; without either, after
    the last forecast of the file. A question resolved without an outcome was annulled, and is not open.
    """
    made = rows.time
    if made is None:
        made = np.zeros(rows.outcome.size)

    is_open = np.isnan(rows.outcome)
    ends = rows.close
    if rows.resolved is not None:
        is_open = np.isnan(rows.resolved)
        ends = rows.resolved
    if ends is None:
        ends = np.full(made.size, made.max(initial=0.0))
    elif rows.scheduled_close is not None:
        ends = np.maximum(ends, np.nan_to_num(rows.scheduled_close, nan=-np.inf))
    known = np.where(is_open, np.inf, ends)
    return made, known


def _seconds_of_unit(rows: ForecastTable) -> float:
    """Return the number of seconds in the unit of the times."""
    if rows.dated or rows.time is None:
        return 1.0
    if rows.time.max(initial=0.0) >= LARGE:
        return 1.0
    return 86_400.0


def time_in_file_form(time: float, table: ForecastTable) -> str:
    """Return a time as the file writes its own: as a date, or as a plain number."""
    if table.dated and table.time is not None:
        return datetime.fromtimestamp(time, UTC).isoformat()
    return f"{time:g}"
