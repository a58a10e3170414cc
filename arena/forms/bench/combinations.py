"""Combinations of two questions, derived from their parts: resolutions, and forecasts as if independent.

- Value: the product of both resolutions, or of the stand-in for a market that is still open; for a question
  that is to resolve NO, 1 minus that.
- Resolved: if both questions are, or if one is in the way that makes the product 0.
- Forecast: the product of the forecasts on both questions. The paper derives people's forecasts this way,
  which assumes independence and so puts people at a disadvantage.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from arena.forms.bench.model import (
    Asked,
    BenchForecast,
    BenchQuestion,
    BenchResolution,
    ForecastFile,
    QuestionSet,
    ResolutionSet,
    is_combination,
    joint_probability,
)

Dated = Mapping[str, BenchResolution]
"""The resolutions of one question by their dates."""


def with_combinations(resolved: ResolutionSet, asked: QuestionSet) -> ResolutionSet:
    """Return a resolution set completed with the combinations of a question set."""
    existing = {(row.source, row.id) for row in resolved.rows}
    resolutions_by_date: dict[tuple[str, str], dict[str, BenchResolution]] = defaultdict(dict)
    for row in resolved.rows:
        resolutions_by_date[row.source, row.id][row.date] = row

    rows = list(resolved.rows)
    for question in asked.questions:
        if not question.combined:
            continue
        first, second = [resolutions_by_date[question.source, part["id"]] for part in question.parts]
        for name, directions in question.ways.items():
            if (question.source, name) not in existing:
                rows.extend(_combined_rows(question, name, directions, first, second))
    return replace(resolved, rows=tuple(rows))


def _combined_rows(
    question: BenchQuestion, name: str, directions: Sequence[int], first: Dated, second: Dated
) -> Iterator[BenchResolution]:
    """Yield the resolution of a combination in one pair of directions, at each date known for both."""
    for date in sorted(first.keys() | second.keys()):
        if question.is_market:  # a market keeps the last value that was noted
            part_resolutions = [_newest(first, date), _newest(second, date)]
        else:
            part_resolutions = [first.get(date), second.get(date)]

        known_resolutions = [end for end in part_resolutions if end is not None]
        if len(known_resolutions) < len(part_resolutions):
            continue
        value = joint_probability([end.value for end in known_resolutions], directions)
        if value is not None:
            yield BenchResolution(
                question.source, name, date, value, _is_resolved(known_resolutions, directions)
            )


def _newest(rows: Dated, until: str) -> BenchResolution | None:
    """Return the newest resolution up to a date."""
    dates = sorted(rows)
    place = bisect_right(dates, until)
    return rows[dates[place - 1]] if place else None


def _is_resolved(ends: Sequence[BenchResolution], directions: Sequence[int]) -> bool:
    """Tell whether the joint outcome of two questions is certain."""
    if all(end.resolved for end in ends):
        return True

    for end, direction in zip(ends, directions, strict=True):
        value_that_fails = 0.0 if direction == 1 else 1.0
        if end.resolved and end.value == value_that_fails:
            return True
    return False


def combined_answers(answers: Mapping[Asked, float], asked: QuestionSet) -> dict[Asked, float]:
    """Return answers completed with combinations, derived from the parts as if independent."""
    completed = dict(answers)
    for question in asked.questions:
        if not question.combined:
            continue
        for source, name, day in question.asked:
            parts = [answers.get((source, part["id"], day)) for part in question.parts]
            share = joint_probability(parts, question.ways[name])
            if share is not None:
                completed.setdefault((source, name, day), share)
    return completed


def has_combinations(rows: Iterable[BenchForecast]) -> bool:
    """Tell whether some forecasts are on combinations."""
    return any(is_combination(row.id) for row in rows)


def without_combinations(filed: ForecastFile) -> ForecastFile:
    """Return a file without its forecasts on combinations, which are counted."""
    kept = tuple(row for row in filed.rows if not is_combination(row.id))
    left_out = len(filed.rows) - len(kept)
    return replace(filed, rows=kept, combinations=filed.combinations + left_out)
