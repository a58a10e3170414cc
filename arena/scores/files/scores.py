"""The scores of a file of forecasts: every rule that its columns allow, and notes on what is missing."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import numpy as np

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
    yield from _not_scored(table, ended)
    if not ended.any():
        yield "nothing resolved: no question has an outcome of 0 or 1, so there are no scores"
        return
    yield from _of_peers(table, ended)
    yield from _of_skill(table, ended, few)
    if boundless:
        yield "a log score of −∞, null in JSON: somebody gave 0 to what happened"


def _not_scored(table: ForecastTable, ended: Flags) -> Iterator[str]:
    still_open = np.isnan(table.outcome)
    if still_open.any():
        yield f"not scored yet: {_count(table, still_open)} without an outcome"
    parts = ~ended & ~still_open
    if parts.any():
        yield f"not scored: {_count(table, parts)} that ended in a fraction or a refund"


def _of_peers(table: ForecastTable, ended: Flags) -> Iterator[str]:
    pairs = np.unique(table.question[ended] * len(table.forecasters) + table.forecaster[ended])
    if np.bincount(pairs // len(table.forecasters)).max() < 2:
        yield "no peer and relative scores: no question has two forecasters"
    if table.close is None and table.time is not None:
        yield (
            "no column close: baseline, peer and relative take everyone's latest forecast of a question, "
            "not a mean over time"
        )


def _of_skill(table: ForecastTable, ended: Flags, few: bool) -> Iterator[str]:
    if table.market is None:
        yield "no skill and no intervals: they need a column market_probability"
        return
    without = ended & np.isnan(table.market)
    if without.any():
        yield f"not in skill: {_count(table, without)} without a market_probability"
    if not table.event_column:
        yield (
            "no column event: every question is taken for an event of its own, and intervals are too narrow "
            "where questions move together"
        )
    if few:
        yield f"not enough events: nobody has the {ENOUGH_EVENTS:.0f} effective events that an interval needs"


def _count(table: ForecastTable, rows: Flags) -> str:
    forecasts, questions = int(rows.sum()), np.unique(table.question[rows]).size
    said = "1 forecast" if forecasts == 1 else f"{forecasts:,} forecasts"
    return f"{said} on {'1 question' if questions == 1 else f'{questions:,} questions'}"


NO_MARKET = "no market_probability"


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
    rows = [row for name, part in _parts(table, by_category) for row in _rows(part, name, mode, seed)]
    few = all(row.skill_low is None for row in rows)
    return FileScores(
        mode, tuple(rows), tuple(score_notes(table, few, any(row.log == -np.inf for row in rows)))
    )


def without_infinity(row: ForecasterScores) -> ForecasterScores:
    """The row without an infinite log score, which no JSON has."""
    return row if row.log is None or isfinite(row.log) else replace(row, log=None)


def _parts(table: ForecastTable, by_category: bool) -> Iterator[tuple[str | None, ForecastTable]]:
    if not by_category or table.category is None:
        yield None, table
        return
    for number, name in enumerate(table.categories):
        yield name, table.take(np.flatnonzero(table.category == number))


def _rows(table: ForecastTable, category: str | None, mode: Mode, seed: int) -> list[ForecasterScores]:
    ended = table.take(np.flatnonzero(is_scored(table.outcome)))
    lines = _lines(ended, mode)
    gained = _gains(ended, seed)
    order = np.argsort(ended.forecaster, kind="stable")
    edges = np.searchsorted(ended.forecaster[order], np.arange(len(table.forecasters) + 1))
    rows = []
    for place in np.unique(table.forecaster).tolist():
        own = ended.take(order[edges[place] : edges[place + 1]])
        plain = _plain(table.forecasters[place], category, own)
        rows.append(replace(plain, **_against(lines.get(place)), **_skill(gained.get(place), own)))
    return sorted(rows, key=_best_first)


def _plain(name: str, category: str | None, own: ForecastTable) -> ForecasterScores:
    """What a forecaster's own rows say."""
    return ForecasterScores(
        forecaster=name,
        category=category,
        forecasts=own.outcome.size,
        questions=np.unique(own.question).size,
        events=np.unique(own.event).size,
        brier=none_for_nan(brier.score(own.probability, own.outcome, own.question)),
        log=none_for_nan(log.score(own.probability, own.outcome, own.question)),
        **dict.fromkeys(("baseline", "peer", "relative", "coverage")),
        **dict.fromkeys(("skill", "skill_low", "skill_high", "skill_p", "events_effective", "reason")),
    )


def _lines(ended: ForecastTable, mode: Mode) -> dict[int, metaculus.ForecasterMeans]:
    """Metaculus's scores by forecaster; without times the latest forecasts stand side by side."""
    times, rows = times_of(ended), ended
    if times is None and ended.time is not None:
        rows = ended.take(latest(ended, ended.time))
    found = metaculus.score(rows.question, rows.forecaster, rows.probability, rows.outcome, times, mode)
    return {int(line.forecaster): line for line in found.lines}


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


def _against(line: metaculus.ForecasterMeans | None) -> dict[str, Any]:
    if line is None:
        return {}
    return {name: none_for_nan(getattr(line, name)) for name in ("baseline", "peer", "relative", "coverage")}


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
    found = check_season(
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
    return dict(zip(who.tolist(), gains(found, seed), strict=True))


def _skill(gain: Gain | None, own: ForecastTable) -> dict[str, Any]:
    if gain is None:
        return {"reason": NO_MARKET if own.outcome.size else NOTHING}
    return {
        "skill": gain.skill,
        "skill_low": gain.low,
        "skill_high": gain.high,
        "skill_p": gain.p,
        "events_effective": gain.effective,
        "reason": gain.reason,
    }


def _best_first(row: ForecasterScores) -> tuple[float | str, ...]:
    ups = (row.skill_low, row.skill, row.peer, None if row.brier is None else -row.brier)
    return (*(np.inf if value is None else -value for value in ups), row.forecaster)
