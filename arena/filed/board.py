"""The board of a file of forecasts: every rule that its columns allow, and in notes what they don't."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import numpy as np

from arena.filed.notes import notes
from arena.filed.reading import Floats, Ints
from arena.filed.table import Table
from arena.scoring import brier, log
from arena.scoring._columns import scored
from arena.scoring.comparing.gain import NOTHING, Gain, gains
from arena.scoring.comparing.rows import season
from arena.scoring.metaculus import table as metaculus
from arena.scoring.metaculus.question import Mode

NO_MARKET = "no market_probability"


@dataclass(frozen=True, slots=True)
class Row:
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
class Board:
    """The rows, best first, in which mode they were scored, and what there is to know about them."""

    mode: Mode
    rows: tuple[Row, ...]
    notes: tuple[str, ...]


def board(table: Table, mode: Mode = "exact", by_category: bool = False, seed: int = 0) -> Board:
    """Everyone's scores; with categories, within each of them.

    The best is first: by the lower end of the skill's interval, where there is one, else by peer score, else
    by Brier score.
    """
    rows = [row for name, part in _parts(table, by_category) for row in _rows(part, name, mode, seed)]
    few = all(row.skill_low is None for row in rows)
    return Board(mode, tuple(rows), tuple(notes(table, few, any(row.log == -np.inf for row in rows))))


def finite(row: Row) -> Row:
    """The row without an infinite log score, which no JSON has."""
    return row if row.log is None or isfinite(row.log) else replace(row, log=None)


def _parts(table: Table, by_category: bool) -> Iterator[tuple[str | None, Table]]:
    if not by_category or table.category is None:
        yield None, table
        return
    for number, name in enumerate(table.categories):
        yield name, table.take(np.flatnonzero(table.category == number))


def _rows(table: Table, category: str | None, mode: Mode, seed: int) -> list[Row]:
    ended = table.take(np.flatnonzero(scored(table.outcome)))
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


def _plain(name: str, category: str | None, own: Table) -> Row:
    """What a forecaster's own rows say."""
    return Row(
        forecaster=name,
        category=category,
        forecasts=own.outcome.size,
        questions=np.unique(own.question).size,
        events=np.unique(own.event).size,
        brier=known(brier.score(own.probability, own.outcome, own.question)),
        log=known(log.score(own.probability, own.outcome, own.question)),
        **dict.fromkeys(("baseline", "peer", "relative", "coverage")),
        **dict.fromkeys(("skill", "skill_low", "skill_high", "skill_p", "events_effective", "reason")),
    )


def _lines(ended: Table, mode: Mode) -> dict[int, metaculus.Line]:
    """Metaculus's scores by forecaster; without times the latest forecasts stand side by side."""
    times, rows = times_of(ended), ended
    if times is None and ended.time is not None:
        rows = ended.take(latest(ended, ended.time))
    found = metaculus.score(rows.question, rows.forecaster, rows.probability, rows.outcome, times, mode)
    return {int(line.forecaster): line for line in found.lines}


def times_of(table: Table) -> metaculus.Times | None:
    """The times of forecasts and questions, if they are enough for a mean over time."""
    time = table.open if table.time is None else table.time
    if time is None or table.close is None:
        return None
    return metaculus.Times(time, table.close, table.open, table.scheduled_close)


def latest(table: Table, time: Floats) -> Ints:
    """The row of each forecaster's last word on each question."""
    order = np.lexsort((time, table.forecaster, table.question))
    asked, who = table.question[order], table.forecaster[order]
    last = np.append((asked[1:] != asked[:-1]) | (who[1:] != who[:-1]), True)[: order.size]
    return np.sort(order[last])


def _against(line: metaculus.Line | None) -> dict[str, Any]:
    if line is None:
        return {}
    return {name: known(getattr(line, name)) for name in ("baseline", "peer", "relative", "coverage")}


def _gains(ended: Table, seed: int) -> dict[int, Gain]:
    """Everyone against the market, on the rows where its price is known."""
    if ended.market is None:
        return {}
    priced = ended.take(np.flatnonzero(~np.isnan(ended.market)))
    if priced.market is None or not priced.market.size:
        return {}
    used, event = np.unique(priced.event, return_inverse=True)
    who, agent = np.unique(priced.forecaster, return_inverse=True)
    at = np.zeros(event.size) if priced.time is None else priced.time
    found = season(
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


def _skill(gain: Gain | None, own: Table) -> dict[str, Any]:
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


def known(value: float) -> float | None:
    """A number, or None for NaN."""
    return None if np.isnan(value) else value


def _best_first(row: Row) -> tuple[float | str, ...]:
    ups = (row.skill_low, row.skill, row.peer, None if row.brier is None else -row.brier)
    return (*(np.inf if value is None else -value for value in ups), row.forecaster)
