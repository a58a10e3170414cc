"""What every forecaster of a file scored on each question: one row for the two, a column for each score."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from arena.errors import ArenaError
from arena.forms.bench.model import HALVES
from arena.forms.csv_columns import Flags, Floats, Ints
from arena.scores.files.forecasts import ForecastTable
from arena.scores.files.question_forms import FormQuestion
from arena.scores.rules import log
from arena.scores.rules._columns import different, is_scored, none_for_nan, runs
from arena.scores.rules.autocast import combined
from arena.scores.rules.comparisons import interval, wild_bootstrap
from arena.scores.rules.comparisons.events import ENOUGH_EVENTS, EventSums
from arena.scores.rules.comparisons.mean_interval import MeanIntervals, mean_intervals
from arena.scores.rules.forecastbench import adjusted_brier, brier_index
from arena.scores.rules.forecastbench.panel import MOST_CELLS, Panel
from arena.scores.rules.metaculus import table as metaculus
from arena.scores.rules.metaculus.forecasts import Mode

MEANS = ("brier", "log", "baseline", "peer", "relative", "spot_baseline", "spot_peer")
"""The scores whose means have an interval."""
NAMES = ("brier", "log", *metaculus.SCORES, "distance")
KNOWS_NOTHING = 0.25
"""The Brier score of even odds, which a missing answer on a yes/no question counts as."""


@dataclass(frozen=True, slots=True)
class QuestionScores:
    """A row for each forecaster and question, sorted by question; NaN where there is no such score.

    Questions of yes or no come first, numbered as in the table, then its forms; the community, where it is
    scored, is one more forecaster. `asked` marks the questions that are scored, `blank` is what knowing
    nothing scores on each.
    """

    who: Ints
    question: Ints
    event: Ints
    events: tuple[str, ...]
    values: Mapping[str, Floats]
    rows: Ints
    forecasters: tuple[str, ...]
    asked: Flags
    blank: Floats
    kind: NDArray[np.str_]

    def means(self, name: str) -> MeanIntervals:
        """Return everyone's mean of a score, with its interval."""
        return mean_intervals(self.who, self.event, self.values[name], len(self.forecasters))

    def counts(self, event: bool = False) -> Ints:
        """Return how many questions, or events, each forecaster is scored on."""
        if not event or len(self.events) == self.asked.size:
            return np.bincount(self.who, minlength=len(self.forecasters))

        size = len(self.events)
        pairs, _ = different(self.who * size + self.event)
        return np.bincount(pairs // size, minlength=len(self.forecasters))

    def kinds(self, kind: str) -> int:
        """Return how many of the questions that are scored are of a kind."""
        return int(np.count_nonzero(self.asked & (self.kind == kind)))


def settled(table: ForecastTable, *, provisional: bool) -> Floats:
    """Return what each row is scored against; NaN where that is nothing.

    Provisionally a fraction is, and while a question is open its last price in the file, by forecasts made
    before it.
    """
    outcome = table.outcome
    if not provisional:
        return np.where(is_scored(outcome), outcome, np.nan)
    market = table.market
    time = table.time
    if market is None or time is None:
        return outcome

    is_open = np.isnan(outcome)
    priced = np.flatnonzero(is_open & ~np.isnan(market))
    question = table.question[priced]
    order = np.lexsort((market[priced], time[priced], question))
    is_last = np.diff(question[order], append=-1) != 0
    last = priced[order[is_last]]

    price = np.full(len(table.questions), np.nan)
    at = np.full(price.size, np.nan)
    question = table.question[last]
    price[question] = market[last]
    at[question] = time[last]
    is_earlier = time < at[table.question]
    return np.where(is_open & is_earlier, price[table.question], outcome)


@dataclass(frozen=True, slots=True)
class ScoredCells:
    """Who, on which question, of which event, and the scores: a row for each."""

    who: Ints
    question: Ints
    event: Ints
    values: Mapping[str, Floats]


def score_questions(
    table: ForecastTable,
    mode: Mode,
    outside: tuple[str, ...] = (),
    *,
    provisional: bool = False,
    community: bool = False,
) -> QuestionScores:
    """Return every score of everyone on every question that has ended."""
    names = table.forecasters
    if community:
        names = (*names, metaculus.COMMUNITY)
    places = dict(zip(names, range(len(names)), strict=True))
    events = dict(zip(table.events, range(len(table.events)), strict=True))

    against = settled(table, provisional=provisional)
    parts = _yes_no_cells(table, against, mode, outside, community=community)
    rows = np.bincount(table.forecaster[~np.isnan(against)], minlength=len(names))
    questions = len(table.questions)
    asked = np.zeros(questions + len(table.forms), dtype=np.bool_)
    asked[parts[0].question] = True
    asked[[own.place for own in table.unanswered]] = True
    blank = np.full(asked.size, KNOWS_NOTHING)
    kind = np.full(asked.size, "yes_no")

    for number, form in enumerate(table.forms, questions):
        asked[number] = form.ended
        blank[number] = form.blank
        kind[number] = form.kind
        if form.ended:
            event = events.setdefault(form.event, len(events))
            scores = _form_scores(form, mode, outside, community=community)
            parts.append(_form_cells(scores, number, event, places))
            for name in form.who:
                rows[places[name]] += 1

    cells = _joined(parts)
    return QuestionScores(
        who=cells.who,
        question=cells.question,
        event=cells.event,
        events=tuple(events),
        values=cells.values,
        rows=rows,
        forecasters=names,
        asked=asked,
        blank=blank,
        kind=kind,
    )


def _form_cells(
    scores: Mapping[str, Mapping[str, float]], number: int, event: int, places: Mapping[str, int]
) -> ScoredCells:
    """Return the cells of a question, by the scores of each forecaster."""
    who = np.array([places[name] for name in scores], dtype=np.int64)
    size = who.size
    values = {score: np.full(size, np.nan) for score in NAMES}
    for row, own in enumerate(scores.values()):
        for score, value in own.items():
            column = values[score]
            column[row] = value

    question = np.full(size, number)
    events = np.full(size, event)
    return ScoredCells(who, question, events, values)


def _joined(parts: Sequence[ScoredCells]) -> ScoredCells:
    """Return all cells, sorted by question and forecaster."""
    if len(parts) == 1:
        return parts[0]

    who = np.concatenate([part.who for part in parts])
    question = np.concatenate([part.question for part in parts])
    event = np.concatenate([part.event for part in parts])
    order = np.lexsort((who, question))
    values = {}
    for score in NAMES:
        column = np.concatenate([part.values[score] for part in parts])
        values[score] = column[order]
    return ScoredCells(who[order], question[order], event[order], values)


def _yes_no_cells(
    table: ForecastTable, against: Floats, mode: Mode, outside: tuple[str, ...], *, community: bool
) -> list[ScoredCells]:
    """Return the cells of forecasters, and those of the community where it is wanted."""
    rows = np.flatnonzero(~np.isnan(against))
    question = table.question[rows]
    who = table.forecaster[rows]
    starts, lengths = runs(question, who)
    question = question[starts]
    who = who[starts]

    probability = table.probability[rows]
    errors = (probability - against[rows]) ** 2
    logs = log.each(probability, table.outcome[rows])
    values = {score: np.full(who.size, np.nan) for score in NAMES}
    values["brier"] = _group_means(errors, starts, lengths)
    values["log"] = _group_means(logs, starts, lengths)

    ended = table.where(is_scored(table.outcome))
    cells = _metaculus_cells(ended, mode, outside, community=community)
    size = len(table.forecasters)
    is_pooled = cells.forecaster == size
    is_own = ~is_pooled
    own = cells.question[is_own] * size + cells.forecaster[is_own]
    place = np.searchsorted(question * size + who, own)
    for score, line in zip(metaculus.SCORES, cells.values, strict=True):
        column = values[score]
        column[place] = line[is_own]

    event_of = np.zeros(len(table.questions), dtype=np.int64)
    event_of[table.question] = table.event
    parts = [ScoredCells(who, question, event_of[question], values)]
    if community:
        scores = dict(zip(metaculus.SCORES, cells.values[:, is_pooled], strict=True))
        question = cells.question[is_pooled]
        who = cells.forecaster[is_pooled]
        timed = _times_of(table) is not None
        parts.append(ScoredCells(who, question, event_of[question], _community_values(scores, timed=timed)))
    return parts


def _community_values(scores: Mapping[str, Floats], *, timed: bool) -> dict[str, Floats]:
    """Return the community's scores: at one instant its Brier score follows from its baseline score."""
    chance = 2 ** (scores["baseline"] / 100 - 1)
    unknown = np.full(chance.size, np.nan)
    values = {**scores, "brier": unknown, "log": unknown, "distance": unknown}
    if not timed:
        values["brier"] = (1 - chance) ** 2
        values["log"] = log.each(chance, np.ones(chance.size))
    return values


def _group_means(values: Floats, starts: Ints, lengths: Ints) -> Floats:
    """Return the mean of each group of rows that follow each other."""
    if starts.size == values.size:
        return values
    means: Floats = np.add.reduceat(values, starts) / lengths
    return means


def _metaculus_cells(
    ended: ForecastTable, mode: Mode, outside: tuple[str, ...], *, community: bool
) -> metaculus.CellScores:
    """Return Metaculus's scores by question; without times the latest forecasts stand side by side."""
    times = _times_of(ended)
    rows = ended
    if times is None and ended.time is not None:
        is_last = (np.diff(ended.question, append=-1) != 0) | (np.diff(ended.forecaster, append=-1) != 0)
        rows = ended.where(is_last)

    is_base = ~np.isin(ended.forecasters, outside)
    base = is_base[rows.forecaster]
    columns = (rows.question, rows.forecaster, rows.probability, rows.outcome)
    cells = metaculus.cell_scores(metaculus.ResolvedRows(*columns, base, times), mode, community=community)
    is_pooled = cells.forecaster == -1
    return replace(cells, forecaster=np.where(is_pooled, len(ended.forecasters), cells.forecaster))


def _times_of(table: ForecastTable) -> metaculus.TableTimes | None:
    """Return the times of forecasts and questions, if they are enough for a mean over time.

    A question opens with its first forecast and was to close when it closed, unless the file says otherwise.
    """
    time = table.open if table.time is None else table.time
    if time is None or table.close is None:
        return None

    opens = table.open
    if opens is None:
        first = np.full(len(table.questions), np.inf)
        np.minimum.at(first, table.question, time)
        opens = first[table.question]
    scheduled = table.close if table.scheduled_close is None else table.scheduled_close
    return metaculus.TableTimes(time, opens, table.close, scheduled, table.end, table.spot)


def _form_scores(
    form: FormQuestion, mode: Mode, outside: tuple[str, ...], *, community: bool
) -> dict[str, dict[str, float]]:
    """Return everyone's scores on a question of options or of a number."""
    scores: dict[str, dict[str, float]] = {}
    who = np.array(form.who)
    for name in sorted(set(form.who)):
        own = who == name
        brier = form.brier[own].mean()
        distance = form.distance[own].mean()
        scores[name] = {"brier": float(brier), "distance": float(distance)}
    forecasts = form.forecasts
    if forecasts is None or form.lived is None:
        return scores

    is_base = ~np.isin(forecasts.forecaster, outside)
    stands = forecasts.end > forecasts.start
    forecasts = replace(forecasts, base=is_base & stands)
    columns = metaculus.question_scores(form.lived, forecasts, mode, community=community)
    names = sorted(set(forecasts.forecaster.tolist()))
    for place, name in enumerate([*names, metaculus.COMMUNITY][: columns.shape[1]]):
        line = dict(zip(metaculus.SCORES, columns[:, place].tolist(), strict=True))
        if place < len(names):
            line["log"] = metaculus.mean_log(forecasts, name)
        scores.setdefault(name, {}).update(line)
    return scores


def adjusted_scores(found: QuestionScores, outside: tuple[str, ...]) -> MeanIntervals:
    """Return Brier scores less how hard each one's questions were, as those of always 0.5 at 0.25.

    Raise `ArenaError` where that can't be computed.
    """
    brier = found.values["brier"]
    counted = np.flatnonzero(~np.isnan(brier))
    brier = brier[counted]
    who = found.who[counted]
    used, question = np.unique(found.question[counted], return_inverse=True)
    size = len(found.forecasters)
    if size * used.size > MOST_CELLS:
        what = f"{size:,} forecasters × {used.size:,} questions are too many to adjust"
        raise ArenaError("too_large", what, "leave out --adjusted, or score a part of the file")

    table = np.full((size, used.size), np.nan)
    table[who, question] = brier
    is_in_sample = ~np.isin(found.forecasters, outside)
    fits = ~np.isnan(table) & is_in_sample[:, None]
    zero = np.zeros(used.size, dtype=np.int64)
    panel = Panel(
        found.forecasters,
        tuple(map(str, used.tolist())),
        outcome=0.5 - np.sqrt(found.blank[used]),
        brier=table,
        fits=fits,
        stratum=zero,
        cluster=zero,
        family=zero,
    )
    try:
        score = adjusted_brier.score(adjusted_brier.two_way(panel))
    except ValueError as error:
        hint = "leave out --adjusted, or forecasters who share no question with the others"
        raise ArenaError("not_comparable", f"difficulty can't be computed: {error}", hint) from error

    above = np.where(fits, table - score[:, None], 0.0)
    level = above.sum(axis=0) / fits.sum(axis=0)
    rest = brier - level[question]
    means = mean_intervals(who, found.event[counted], rest, size)
    shift = score - means.mean
    return replace(means, mean=score, low=means.low + shift, high=means.high + shift)


@dataclass(frozen=True, slots=True)
class Gap:
    """How much smaller a forecaster's Brier score is than another's, on the questions that both answered."""

    questions: int
    gap: float | None
    low: float | None = None
    high: float | None = None
    p: float | None = None


def gaps(found: QuestionScores, other: str, seed: int = 0) -> dict[int, Gap]:
    """Return how everyone compares with one forecaster, by the wild event bootstrap."""
    brier = found.values["brier"]
    own = found.who == found.forecasters.index(other)
    theirs = np.full(found.blank.size, np.nan)
    theirs[found.question[own]] = brier[own]
    gap = theirs[found.question] - brier
    common = np.flatnonzero(~np.isnan(gap))

    sums = []
    answered = {}
    order = []
    for place, name in enumerate(found.forecasters):
        rows = common[found.who[common] == place]
        by_event = _event_sums(found, rows, gap)
        answered[place] = Gap(rows.size, none_for_nan(by_event.mean))
        squares = float((by_event.count**2).sum())
        if rows.size and rows.size**2 / squares >= ENOUGH_EVENTS and name != other:
            order.append(place)
            sums.append(by_event)

    for part in wild_bootstrap.blocks(range(len(order)), len(found.events)):
        chosen = [sums[number] for number in part]
        drawn = wild_bootstrap.signed_sums(found.events, chosen, seed)
        spans = interval.intervals(drawn, [True] * len(chosen))
        for number, span, p in zip(part, spans, wild_bootstrap.p_values(drawn), strict=True):
            place = order[number]
            answered[place] = replace(answered[place], low=span.low, high=span.high, p=float(p))
    return answered


def _event_sums(found: QuestionScores, rows: Ints, values: Floats) -> EventSums:
    """Return the sums of some rows' values by event."""
    event = found.event[rows]
    total = np.bincount(event, values[rows], minlength=len(found.events))
    count = np.bincount(event, minlength=len(found.events))
    return EventSums(total.astype(np.float64), count.astype(np.float64))


@dataclass(frozen=True, slots=True)
class AutocastScores:
    """Autocast's three means and their sum; a missing answer counts as knowing nothing."""

    true_false: float | None
    multiple_choice: float | None
    numeric: float | None
    combined: float | None


def autocast_scores(found: QuestionScores, place: int) -> AutocastScores:
    """Return those of one forecaster."""
    own = found.who == place
    questions = found.question[own]
    is_number = found.kind[questions] == "number"
    error = found.blank.copy()
    error[questions] = np.where(is_number, found.values["distance"][own], found.values["brier"][own])

    means = []
    for kind in ("yes_no", "choice", "number"):
        chosen = error[found.asked & (found.kind == kind)]
        mean = float("nan")
        if chosen.size:
            mean = float(chosen.mean())
        means.append(mean)
    return AutocastScores(*map(none_for_nan, (*means, combined.score(*means))))


@dataclass(frozen=True, slots=True)
class HalfScores:
    """ForecastBench's: Brier scores adjusted within each half, the mean of both, and its index in percent."""

    dataset: float | None
    market: float | None
    overall: float | None
    index: float | None


def half_scores(found: QuestionScores, table: ForecastTable, outside: tuple[str, ...]) -> list[HalfScores]:
    """Return everyone's, from the categories `dataset` and `market`; raise `ArenaError` without them."""
    if table.category is None or not set(HALVES) <= set(table.categories):
        what = f"{table.name} has no column category that says {' or '.join(HALVES)}"
        raise ArenaError("no_halves", what, "add it, or name files of ForecastBench")

    half_of = np.full(found.blank.size, -1)
    half_of[table.question] = table.category
    halves = []
    for half in HALVES:
        category = table.categories.index(half)
        own = np.flatnonzero(half_of[found.question] == category)
        part = replace(
            found,
            who=found.who[own],
            question=found.question[own],
            event=found.event[own],
            values={name: column[own] for name, column in found.values.items()},
        )
        mean = np.full(len(found.forecasters), np.nan)
        if not np.isnan(part.values["brier"]).all():
            mean = adjusted_scores(part, outside).mean
        halves.append(mean)

    overall = (halves[0] + halves[1]) / 2
    index = brier_index.index(overall)
    return [HalfScores(*map(none_for_nan, row)) for row in zip(*halves, overall, index, strict=True)]
