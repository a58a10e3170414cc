"""The scores of a file of forecasts: every rule that its columns allow, and notes on what is missing."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import isfinite, nan

import numpy as np

from arena.errors import count_text
from arena.scores.files.csv_columns import Flags, Floats, Ints
from arena.scores.files.forecasts import ForecastTable
from arena.scores.rules import brier, log
from arena.scores.rules._columns import is_scored, none_for_nan
from arena.scores.rules.comparisons.events import ENOUGH_EVENTS
from arena.scores.rules.comparisons.evidence import EvidenceRows, evidence
from arena.scores.rules.comparisons.gain import NOTHING
from arena.scores.rules.comparisons.lead import MIN_COVERAGE, VerdictName
from arena.scores.rules.comparisons.season_rows import check_season
from arena.scores.rules.comparisons.standings import Standings, standings
from arena.scores.rules.metaculus import table as metaculus
from arena.scores.rules.metaculus.question import Mode


def score_notes(table: ForecastTable, few: bool, boundless: bool) -> Iterator[str]:
    """Sentences about a table's scores: `few` if nobody has an interval, `boundless` if a log score is −∞."""
    ended = is_scored(table.outcome)
    still_open = np.isnan(table.outcome)
    if still_open.any():
        yield f"not scored yet: {_count_text(table, still_open)} without an outcome"
    parts = ~ended & ~still_open
    if parts.any():
        yield f"not scored: {_count_text(table, parts)} that ended in a fraction or a refund"
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
        yield f"not in skill: {_count_text(table, without)} without a market_probability"
    if not table.event_column:
        yield (
            "no column event: every question counts as its own event, so intervals are too narrow "
            "where questions move together"
        )
    if table.time is None or (table.resolved is None and table.close is None):
        yield (
            "no columns time and resolved: every outcome counts only after the last forecast, so evidence is "
            "looked at once and nobody can be proven"
        )
    if few:
        yield f"not enough events: nobody has the {ENOUGH_EVENTS:.0f} effective events that an interval needs"


def _count_text(table: ForecastTable, rows: Flags) -> str:
    questions = np.unique(table.question[rows]).size
    return f"{count_text(int(rows.sum()), 'forecast')} on {count_text(questions, 'question')}"


NO_MEANS = metaculus.ForecasterMeans("", 0, nan, nan, nan, nan)
"""Of who has none of Metaculus's scores."""


@dataclass(frozen=True, slots=True)
class ForecasterScores:
    """A forecaster's scores; None where nothing can be said, and `reason` says why there is no interval.

    `brier` and `log` are means over questions of each question's mean; `baseline`, `peer` and `relative` are
    Metaculus's, `coverage` the share of the questions' lives that they rest on. `ranked` says whether enough
    of the questions that ended were forecast for the forecaster to be ranked, and `why_not` why not. `skill`
    is the market's Brier score less the forecaster's where a price is known, and the true one lies between
    `skill_low` and `skill_high` in 95% of cases. `evidence` is the capital of a bet on it, `evidence_reached`
    when that first came up to the bar, in the file's own times, and `verdict` what follows; `copies` is whose
    forecasts these are.
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
    ranked: bool
    why_not: str | None
    skill: float | None = None
    skill_low: float | None = None
    skill_high: float | None = None
    skill_p: float | None = None
    skill_low_by_week: float | None = None
    verdict: VerdictName = "none"
    evidence: float | None = None
    evidence_reached: str | float | None = None
    copies: str | None = None
    events_effective: float | None = None
    weeks: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class FileScores:
    """The rows, best first, in which mode they were scored, and what there is to know about them.

    `sentence` says who leads, and `leader` is its name where it is proven; `bar` is what evidence must reach.
    Where every category is scored by itself there is no sentence over all of them.
    """

    mode: Mode
    sentence: str | None
    leader: str | None
    bar: float | None
    rows: tuple[ForecasterScores, ...]
    notes: tuple[str, ...]


def score_file(
    table: ForecastTable,
    mode: Mode = "exact",
    by_category: bool = False,
    seed: int = 0,
    min_coverage: float = MIN_COVERAGE,
) -> FileScores:
    """Everyone's scores; with categories, within each of them.

    The best is first: by the lower end of the skill's interval, where there is one, else by peer score, else
    by Brier score. Who is not ranked comes last.
    """
    parts: list[tuple[str | None, ForecastTable]] = [(None, table)]
    if by_category and table.category is not None:
        own = [np.flatnonzero(table.category == number) for number in range(len(table.categories))]
        parts = [(name, table.take(rows)) for name, rows in zip(table.categories, own, strict=True)]
    scored = [(name, part, _standings(part, seed, min_coverage)) for name, part in parts]
    rows = [
        row for name, part, found in scored for row in _forecaster_rows(part, name, mode, found, min_coverage)
    ]
    few = all(row.skill_low is None for row in rows)
    whole = scored[0][2] if len(scored) == 1 and scored[0][0] is None else None
    return FileScores(
        mode,
        None if whole is None else whole.lead.sentence,
        None if whole is None else whole.lead.leader,
        None if whole is None else whole.lead.bar,
        tuple(rows),
        tuple(score_notes(table, few, any(row.log == -np.inf for row in rows))),
    )


def without_infinity(row: ForecasterScores) -> ForecasterScores:
    """The row without an infinite log score, which no JSON has."""
    return row if row.log is None or isfinite(row.log) else replace(row, log=None)


def _forecaster_rows(
    table: ForecastTable, category: str | None, mode: Mode, found: Standings | None, min_coverage: float
) -> list[ForecasterScores]:
    ended = table.take(np.flatnonzero(is_scored(table.outcome)))
    means, ranked = _metaculus_means(ended, mode), _ranked(ended, min_coverage).tolist()
    order = np.argsort(ended.forecaster, kind="stable")
    edges = np.searchsorted(ended.forecaster[order], np.arange(len(table.forecasters) + 1))
    asked = np.unique(ended.question).size
    rows = []
    for place in np.unique(table.forecaster).tolist():
        own = ended.take(order[edges[place] : edges[place + 1]])
        mean, answered = means.get(place, NO_MEANS), np.unique(own.question).size
        row = ForecasterScores(
            forecaster=table.forecasters[place],
            category=category,
            forecasts=own.outcome.size,
            questions=answered,
            events=np.unique(own.event).size,
            brier=none_for_nan(brier.score(own.probability, own.outcome, own.question)),
            log=none_for_nan(log.score(own.probability, own.outcome, own.question)),
            baseline=none_for_nan(mean.baseline),
            peer=none_for_nan(mean.peer),
            relative=none_for_nan(mean.relative),
            coverage=none_for_nan(mean.coverage),
            ranked=place in ranked,
            why_not=None,
        )
        rows.append(_judged(row, found, table.dated, asked))
    return sorted(rows, key=_rank_key)


def _judged(row: ForecasterScores, found: Standings | None, dated: bool, asked: int) -> ForecasterScores:
    """The row with how sure its skill is, or why it is not ranked."""
    if not row.ranked:
        if not row.questions:
            return replace(row, why_not="no forecast that is scored" if asked else NOTHING, reason=NOTHING)
        return replace(row, why_not=f"covers {row.questions / asked:.0%} of the questions")
    if found is None or row.forecaster not in found.verdicts:
        return replace(row, reason="no market_probability")
    gain = next(gain for gain in found.gains if gain.agent == row.forecaster)
    verdict = found.verdicts[row.forecaster]
    return replace(
        row,
        skill=gain.skill,
        skill_low=gain.low,
        skill_high=gain.high,
        skill_p=gain.p,
        skill_low_by_week=gain.low_by_week,
        verdict=verdict.name,
        evidence=verdict.evidence,
        evidence_reached=_time_text(verdict.reached, dated),
        copies=verdict.copies,
        events_effective=gain.effective,
        weeks=gain.weeks,
        reason=gain.reason,
    )


def _time_text(at: float | None, dated: bool) -> str | float | None:
    """A time as the file has it."""
    return datetime.fromtimestamp(at, UTC).isoformat() if dated and at is not None else at


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


def _standings(table: ForecastTable, seed: int, min_coverage: float) -> Standings | None:
    """Everyone who is ranked against the market, on the rows with a price; None without any price."""
    ended = table.take(np.flatnonzero(is_scored(table.outcome)))
    if table.market is None or ended.market is None or (ended.market.size and np.isnan(ended.market).all()):
        return None
    ranked = _ranked(ended, min_coverage)
    unranked = np.unique(table.forecaster).size - ranked.size if ended.market.size else 0
    priced = ended.take(np.flatnonzero(~np.isnan(ended.market) & np.isin(ended.forecaster, ranked)))
    if priced.market is None:
        return None
    used, event = np.unique(priced.event, return_inverse=True)
    who, agent = np.unique(priced.forecaster, return_inverse=True)
    names = [priced.forecasters[place] for place in who.tolist()]
    made, known = _times(table)
    season = check_season(
        names,
        [priced.events[place] for place in used.tolist()],
        agent=agent,
        instant=np.unique(_times(priced)[0], return_inverse=True)[1],
        market=priced.question,
        event=event,
        forecast=priced.probability,
        reference=priced.market,
        outcome=priced.outcome,
        known=_times(priced, table)[1] * _seconds(table),
    )
    priced_rows = ~np.isnan(table.market)
    capital = {}
    for place, name in zip(who.tolist(), names, strict=True):
        own = np.flatnonzero((table.forecaster == place) & priced_rows)
        capital[name] = evidence(
            EvidenceRows(
                story=table.event[own],
                market=table.question[own],
                made=made[own],
                known=known[own],
                forecast=table.probability[own],
                price=table.market[own],
                payout=table.outcome[own],
            )
        )
    return standings(season, capital, seed=seed, unranked=unranked, pairs=False)


def _ranked(ended: ForecastTable, min_coverage: float) -> Ints:
    """Who has forecast enough of the questions that ended."""
    pairs = np.unique(ended.forecaster * len(ended.questions) + ended.question) // len(ended.questions)
    answered = np.bincount(pairs, minlength=len(ended.forecasters))
    asked = np.unique(ended.question).size
    return np.flatnonzero((answered > 0) & (answered >= min_coverage * asked))


def _times(table: ForecastTable, whole: ForecastTable | None = None) -> tuple[Floats, Floats]:
    """When each forecast was made, and from when on its outcome counts: infinite while it is open.

    That is when it was resolved, or else closed, and not before it was to close; without either, after the
    last forecast of the whole file.
    """
    made = np.zeros(table.outcome.size) if table.time is None else table.time
    ends = table.close if table.resolved is None else table.resolved
    if ends is None:
        every = made if whole is None or whole.time is None else whole.time
        ends = np.full(made.size, every.max(initial=0.0))
    elif table.scheduled_close is not None:
        ends = np.maximum(ends, np.nan_to_num(table.scheduled_close, nan=-np.inf))
    return made, np.where(np.isnan(table.outcome), np.inf, ends)


LARGE = 1e8
"""Plain numbers up to here are days; larger ones are seconds since 1970."""


def _seconds(table: ForecastTable) -> float:
    """How many seconds the unit of the table's times has."""
    if table.dated or table.time is None:
        return 1.0
    return 1.0 if table.time.max(initial=0.0) >= LARGE else 86_400.0


def _rank_key(row: ForecasterScores) -> tuple[float | str, ...]:
    ups = (row.skill_low, row.skill, row.peer, None if row.brier is None else -row.brier)
    return (not row.ranked, *(np.inf if value is None else -value for value in ups), row.forecaster)
