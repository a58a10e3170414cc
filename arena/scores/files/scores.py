"""The scores of a file of forecasts: every rule that its columns allow, and notes on what is missing."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import isfinite, nan

import numpy as np

from arena.errors import count_text
from arena.scores.files.csv_columns import Flags, Floats, Ints
from arena.scores.files.forecasts import ForecastTable
from arena.scores.rules import brier, log
from arena.scores.rules._columns import is_scored, none_for_nan
from arena.scores.rules.comparisons.events import ENOUGH_EVENTS
from arena.scores.rules.comparisons.gain import NOTHING, Gain, gains
from arena.scores.rules.comparisons.season_rows import check_season
from arena.scores.rules.metaculus import table as metaculus
from arena.scores.rules.metaculus.question import Mode


def score_notes(table: ForecastTable, few: bool, boundless: bool) -> Iterator[str]:
    """Sentences about a table's scores: `few` if nobody has an interval, `boundless` if a log score is −∞."""
    ended = is_scored(table.outcome)
    still_open = np.isnan(table.outcome)
    if still_open.any():
        yield f"not scored yet: {_count(table, still_open)} without an outcome"
    parts = ~ended & ~still_open
    if parts.any():
        yield f"not scored: {_count(table, parts)} that ended in a fraction or a refund"
    if not ended.any():
        yield "nothing resolved: no question has an outcome of 0 or 1, so there are no scores"
        return
    yield from _peer_notes(table, ended)
    yield from _skill_notes(table, ended, few)
    if boundless:
        yield "a log score of −∞ (null in JSON): someone gave probability 0 to what happened"


def _peer_notes(table: ForecastTable, ended: Flags) -> Iterator[str]:
    pairs = np.unique(table.question[ended] * len(table.forecasters) + table.forecaster[ended])
    if np.bincount(pairs // len(table.forecasters)).max() < 2:
        yield "no peer and relative scores: no question has two forecasters"
    if table.close is None and table.time is not None:
        yield (
            "no column close: baseline, peer and relative use everyone's latest forecast of a question, "
            "not a mean over time"
        )


def _skill_notes(table: ForecastTable, ended: Flags, few: bool) -> Iterator[str]:
    if table.market is None:
        yield "no skill and no intervals: they need a column market_probability"
        return
    without = ended & np.isnan(table.market)
    if without.any():
        yield f"not in skill: {_count(table, without)} without a market_probability"
    if not table.event_column:
        yield (
            "no column event: every question counts as its own event, so intervals are too narrow "
            "where questions move together"
        )
    if few:
        yield f"not enough events: nobody has the {ENOUGH_EVENTS:.0f} effective events that an interval needs"


def _count(table: ForecastTable, rows: Flags) -> str:
    questions = np.unique(table.question[rows]).size
    return f"{count_text(int(rows.sum()), 'forecast')} on {count_text(questions, 'question')}"


ALONE = metaculus.ForecasterMeans("", 0, nan, nan, nan, nan)
NO_GAIN = Gain("", 0, 0, 0, nan, None, None, None, None, None, "no market_probability")
"""Of who has none of Metaculus's scores, and of who has no row with a price."""


@dataclass(frozen=True, slots=True)
class ForecasterScores:
    """A forecaster's scores; None where nothing can be said, and `reason` says why there is no interval.

    `brier` and `log` are means over questions of each question's mean; `baseline`, `peer` and `relative` are
    Metaculus's, `coverage` the share of the questions' lives that they rest on. `skill` is the market's Brier
    score less the forecaster's where a price is known, and the true one lies between `skill_low` and
    `skill_high` in 95% of cases.
    """

    forecaster: str
    category: str | None
    forecasts: int
    questions: int
    events: int
    brier: float | None
    log: float | None
    baseline: float | None
    peer: float | None
    relative: float | None
    coverage: float | None
    skill: float | None
    skill_low: float | None
    skill_high: float | None
    skill_p: float | None
    events_effective: float | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class FileScores:
    """The rows, best first, in which mode they were scored, and what there is to know about them."""

    mode: Mode
    rows: tuple[ForecasterScores, ...]
    notes: tuple[str, ...]


def score_file(
    table: ForecastTable, mode: Mode = "exact", by_category: bool = False, seed: int = 0
) -> FileScores:
    """Everyone's scores; with categories, within each of them.

    The best is first: by the lower end of the skill's interval, where there is one, else by peer score, else
    by Brier score.
    """
    parts: list[tuple[str | None, ForecastTable]] = [(None, table)]
    if by_category and table.category is not None:
        own = [np.flatnonzero(table.category == number) for number in range(len(table.categories))]
        parts = [(name, table.take(rows)) for name, rows in zip(table.categories, own, strict=True)]
    rows = [row for name, part in parts for row in _rows(part, name, mode, seed)]
    few = all(row.skill_low is None for row in rows)
    return FileScores(
        mode, tuple(rows), tuple(score_notes(table, few, any(row.log == -np.inf for row in rows)))
    )


def without_infinity(row: ForecasterScores) -> ForecasterScores:
    """The row without an infinite log score, which no JSON has."""
    return row if row.log is None or isfinite(row.log) else replace(row, log=None)


def _rows(table: ForecastTable, category: str | None, mode: Mode, seed: int) -> list[ForecasterScores]:
    ended = table.take(np.flatnonzero(is_scored(table.outcome)))
    means, gained = _metaculus_means(ended, mode), _gains(ended, seed)
    order = np.argsort(ended.forecaster, kind="stable")
    edges = np.searchsorted(ended.forecaster[order], np.arange(len(table.forecasters) + 1))
    rows = []
    for place in np.unique(table.forecaster).tolist():
        own = ended.take(order[edges[place] : edges[place + 1]])
        mean, gain = means.get(place, ALONE), gained.get(place, NO_GAIN)
        row = ForecasterScores(
            forecaster=table.forecasters[place],
            category=category,
            forecasts=own.outcome.size,
            questions=np.unique(own.question).size,
            events=np.unique(own.event).size,
            brier=none_for_nan(brier.score(own.probability, own.outcome, own.question)),
            log=none_for_nan(log.score(own.probability, own.outcome, own.question)),
            baseline=none_for_nan(mean.baseline),
            peer=none_for_nan(mean.peer),
            relative=none_for_nan(mean.relative),
            coverage=none_for_nan(mean.coverage),
            skill=gain.skill,
            skill_low=gain.low,
            skill_high=gain.high,
            skill_p=gain.p,
            events_effective=none_for_nan(gain.effective),
            reason=gain.reason if own.outcome.size else NOTHING,
        )
        rows.append(row)
    return sorted(rows, key=_best_first)


def _metaculus_means(ended: ForecastTable, mode: Mode) -> dict[int, metaculus.ForecasterMeans]:
    """Metaculus's scores by forecaster; without times the latest forecasts stand side by side."""
    times, rows = times_of(ended), ended
    if times is None and ended.time is not None:
        rows = ended.take(latest(ended, ended.time))
    scores = metaculus.score(rows.question, rows.forecaster, rows.probability, rows.outcome, times, mode)
    return {int(line.forecaster): line for line in scores.lines}


def times_of(table: ForecastTable) -> metaculus.TableTimes | None:
    """The times of forecasts and questions, if they are enough for a mean over time."""
    time = table.open if table.time is None else table.time
    if time is None or table.close is None:
        return None
    return metaculus.TableTimes(time, table.close, table.open, table.scheduled_close)


def latest(table: ForecastTable, time: Floats) -> Ints:
    """The row of each forecaster's last word on each question."""
    order = np.lexsort((time, table.forecaster, table.question))
    asked, who = table.question[order], table.forecaster[order]
    last = np.append((asked[1:] != asked[:-1]) | (who[1:] != who[:-1]), True)[: order.size]
    return np.sort(order[last])


def _gains(ended: ForecastTable, seed: int) -> dict[int, Gain]:
    """Everyone against the market, on the rows where its price is known."""
    if ended.market is None:
        return {}
    priced = ended.take(np.flatnonzero(~np.isnan(ended.market)))
    if priced.market is None or not priced.market.size:
        return {}
    used, event = np.unique(priced.event, return_inverse=True)
    who, agent = np.unique(priced.forecaster, return_inverse=True)
    at = np.zeros(event.size) if priced.time is None else priced.time
    season = check_season(
        [priced.forecasters[place] for place in who.tolist()],
        [priced.events[place] for place in used.tolist()],
        agent=agent,
        instant=np.unique(at, return_inverse=True)[1],
        market=priced.question,
        event=event,
        forecast=priced.probability,
        reference=priced.market,
        outcome=priced.outcome,
    )
    return dict(zip(who.tolist(), gains(season, seed), strict=True))


def _best_first(row: ForecasterScores) -> tuple[float | str, ...]:
    ups = (row.skill_low, row.skill, row.peer, None if row.brier is None else -row.brier)
    return (*(np.inf if value is None else -value for value in ups), row.forecaster)
