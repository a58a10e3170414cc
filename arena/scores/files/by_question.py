"""The scores of each forecaster of a file on each question: a row for the two, a column for each score."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from arena.errors import ArenaError
from arena.forms.bench.model import HALVES
from arena.forms.csv_columns import Flags, Floats, Ints
from arena.scores.files.forecasts import ForecastTable
from arena.scores.files.over_time import TimedRows, put_scores_over_time, timed_rows
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
"""The scores whose means get an interval."""
NAMES = ("brier", "log", *metaculus.SCORES, "distance")
KNOWS_NOTHING = 0.25
"""The Brier score of even odds, as which a missing answer to a yes/no question counts."""


@dataclass(frozen=True, slots=True)
class QuestionScores:
    """A row for each forecaster and question, sorted by question; NaN where a score is undefined.

    Yes/no questions come first, numbered as in the table, then its forms; the community, if it is scored, is
    one more forecaster. `asked` marks the questions that are scored, and `blank` is the score on each of a
    forecaster who knows nothing.
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
        """Return each forecaster's mean of a score, with its interval."""
        return mean_intervals(self.who, self.event, self.values[name], len(self.forecasters))

    def counts(self, event: bool = False) -> Ints:
        """Return the number of questions, or of events, that each forecaster is scored on."""
        forecasters = len(self.forecasters)
        events = len(self.events)
        if not event or events == self.asked.size:
            return np.bincount(self.who, minlength=forecasters)

        pairs, _ = different(self.who * events + self.event)
        return np.bincount(pairs // events, minlength=forecasters)

    def kinds(self, kind: str) -> int:
        """Return the number of scored questions of a kind."""
        return int(np.count_nonzero(self.asked & (self.kind == kind)))


def settled(table: ForecastTable, *, provisional: bool) -> Floats:
    """Return the outcome that each row is scored against; NaN where there is none.

    Provisional scores also use fractions and, for forecasts made before it, an open question's last price.
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
    questions = len(table.questions)
    last_price = np.full(questions, np.nan)
    last_time = np.full(questions, np.nan)
    question = table.question[last]
    last_price[question] = market[last]
    last_time[question] = time[last]

    price = last_price[table.question]
    is_earlier = time < last_time[table.question]
    return np.where(is_open & is_earlier, price, outcome)


@dataclass(frozen=True, slots=True)
class ScoredCells:
    """A row for each forecaster and question: who, which question, which event, and the scores."""

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
    """Return every forecaster's scores on every question that has ended."""
    names = table.forecasters
    if community:
        names = (*names, metaculus.COMMUNITY)
    places = {name: place for place, name in enumerate(names)}
    events = {name: place for place, name in enumerate(table.events)}

    against = settled(table, provisional=provisional)
    who = table.forecaster[~np.isnan(against)]
    rows = np.bincount(who, minlength=len(names))
    for form in table.forms:
        if form.ended:
            events.setdefault(form.event, len(events))
            rows += np.bincount([places[name] for name in form.who], minlength=len(names))

    timed = None
    if mode == "exact" and not community:
        timed = timed_rows(table)
    if timed is None:
        parts = _cells_one_by_one(table, against, mode, outside, places, events, community=community)
    else:
        parts = [_mean_cells(table, against), _mean_form_cells(table, timed, events)]
    answered = parts[0].question
    cells = _joined(parts)
    if timed is not None:
        put_scores_over_time(cells.values, cells.question, cells.who, timed, ~np.isin(names, outside))

    yes_no = len(table.questions)
    asked = np.zeros(yes_no + len(table.forms), dtype=np.bool_)
    asked[answered] = True
    asked[[own.place for own in table.unanswered]] = True
    asked[yes_no:] = [form.ended for form in table.forms]
    blank = np.full(asked.size, KNOWS_NOTHING)
    blank[yes_no:] = [form.blank for form in table.forms]
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
        kind=np.array(["yes_no"] * yes_no + [form.kind for form in table.forms]),
    )


def _cells_one_by_one(
    table: ForecastTable,
    against: Floats,
    mode: Mode,
    outside: tuple[str, ...],
    places: Mapping[str, int],
    events: Mapping[str, int],
    *,
    community: bool,
) -> list[ScoredCells]:
    """Return the cells of all questions, scored one by one; those of yes/no questions come first."""
    parts = _yes_no_cells(table, against, mode, outside, community=community)
    for number, form in enumerate(table.forms, len(table.questions)):
        if form.ended:
            scores = _form_scores(form, mode, outside, community=community)
            parts.append(_form_cells(scores, number, events[form.event], places))
    return parts


def _form_cells(
    scores: Mapping[str, Mapping[str, float]], number: int, event: int, places: Mapping[str, int]
) -> ScoredCells:
    """Return the cells of a question, given the scores of each forecaster."""
    size = len(scores)
    who = np.zeros(size, dtype=np.int64)
    values = _unknown_values(size)
    for row, (name, own) in enumerate(scores.items()):
        who[row] = places[name]
        for score, value in own.items():
            values[score][row] = value

    return ScoredCells(who, np.full(size, number), np.full(size, event), values)


def _unknown_values(size: int) -> dict[str, Floats]:
    """Return a column of NaN for each score."""
    return {score: np.full(size, np.nan) for score in NAMES}


def _joined(parts: Sequence[ScoredCells]) -> ScoredCells:
    """Return all cells in one, sorted by question and forecaster."""
    if len(parts) == 1:
        return parts[0]

    who = np.concatenate([part.who for part in parts])
    question = np.concatenate([part.question for part in parts])
    event = np.concatenate([part.event for part in parts])
    order = np.lexsort((who, question))

    values = {}
    for score in NAMES:
        columns = [part.values[score] for part in parts]
        values[score] = np.concatenate(columns)[order]
    return ScoredCells(who[order], question[order], event[order], values)


def _events_of(table: ForecastTable) -> Ints:
    """Return the event of each yes/no question."""
    event_of = np.zeros(len(table.questions), dtype=np.int64)
    event_of[table.question] = table.event
    return event_of


def _mean_cells(table: ForecastTable, against: Floats) -> ScoredCells:
    """Return cells with the mean Brier and log scores on yes/no questions only."""
    rows = np.flatnonzero(~np.isnan(against))
    question = table.question[rows]
    who = table.forecaster[rows]
    starts, lengths = runs(question, who)
    question = question[starts]
    who = who[starts]

    probability = table.probability[rows]
    errors = probability - against[rows]
    logs = log.each(probability, table.outcome[rows])
    values = _unknown_values(who.size)
    values["brier"] = _group_means(errors**2, starts, lengths)
    values["log"] = _group_means(logs, starts, lengths)
    return ScoredCells(who, question, _events_of(table)[question], values)


def _mean_form_cells(table: ForecastTable, timed: TimedRows, events: Mapping[str, int]) -> ScoredCells:
    """Return cells with the mean scores of forecasts on questions of other kinds."""
    rows = np.flatnonzero(timed.question >= len(table.questions))
    question = timed.question[rows]
    who = timed.forecaster[rows]
    starts, lengths = runs(question, who)
    values = _unknown_values(starts.size)
    values["brier"] = _group_means(timed.brier[rows], starts, lengths)
    values["distance"] = _group_means(timed.distance[rows], starts, lengths)
    values["log"] = _group_means(log.natural(timed.chance[rows]), starts, lengths)

    question = question[starts]
    event_of = np.array([events.get(form.event, -1) for form in table.forms], dtype=np.int64)
    event = event_of[question - len(table.questions)]
    return ScoredCells(who[starts], question, event, values)


def _yes_no_cells(
    table: ForecastTable, against: Floats, mode: Mode, outside: tuple[str, ...], *, community: bool
) -> list[ScoredCells]:
    """Return the cells of yes/no questions, and the community's if it is scored."""
    own_cells = _mean_cells(table, against)
    question = own_cells.question
    who = own_cells.who
    values = own_cells.values

    is_ended = is_scored(table.outcome)
    ended = table.where(is_ended)
    cells = _metaculus_cells(ended, mode, outside, community=community)
    size = len(table.forecasters)
    is_pooled = cells.forecaster == size
    is_own = ~is_pooled

    # Cells are sorted by question, then by forecaster, so one number finds both.
    own_question = cells.question[is_own]
    own_who = cells.forecaster[is_own]
    own = own_question * size + own_who
    known = question * size + who
    place = np.searchsorted(known, own)
    for score, line in zip(metaculus.SCORES, cells.values, strict=True):
        column = values[score]
        column[place] = line[is_own]

    parts = [own_cells]
    if community:
        event_of = _events_of(table)
        pooled = cells.values[:, is_pooled]
        scores = dict(zip(metaculus.SCORES, pooled, strict=True))
        is_timed = _times_of(table) is not None
        values = _community_values(scores, timed=is_timed)
        question = cells.question[is_pooled]
        who = cells.forecaster[is_pooled]
        event = event_of[question]
        parts.append(ScoredCells(who, question, event, values))
    return parts


def _community_values(scores: Mapping[str, Floats], *, timed: bool) -> dict[str, Floats]:
    """Return the community's scores; without times, its Brier score follows from the baseline score."""
    baseline = scores["baseline"]
    chance = 2 ** (baseline / 100 - 1)
    values = _unknown_values(chance.size)
    values.update(scores)
    if not timed:
        happened = np.ones(chance.size)
        values["brier"] = (1 - chance) ** 2
        values["log"] = log.each(chance, happened)
    return values


def _group_means(values: Floats, starts: Ints, lengths: Ints) -> Floats:
    """Return the mean of each group of consecutive rows."""
    if starts.size == values.size:
        return values

    sums = np.add.reduceat(values, starts)
    means: Floats = sums / lengths
    return means


def _metaculus_cells(
    ended: ForecastTable, mode: Mode, outside: tuple[str, ...], *, community: bool
) -> metaculus.CellScores:
    """Return Metaculus's scores by question; without times, from the latest forecasts."""
    times = _times_of(ended)
    rows = ended
    if times is None and ended.time is not None:
        is_last_of_question = np.diff(ended.question, append=-1) != 0
        is_last_of_forecaster = np.diff(ended.forecaster, append=-1) != 0
        rows = ended.where(is_last_of_question | is_last_of_forecaster)

    is_base = ~np.isin(ended.forecasters, outside)
    base = is_base[rows.forecaster]
    resolved = metaculus.ResolvedRows(
        rows.question, rows.forecaster, rows.probability, rows.outcome, base, times
    )
    cells = metaculus.cell_scores(resolved, mode, community=community)

    forecaster = np.where(cells.forecaster == -1, len(ended.forecasters), cells.forecaster)
    return replace(cells, forecaster=forecaster)


def _times_of(table: ForecastTable) -> metaculus.TableTimes | None:
    """Return the times of forecasts and questions; None if they don't allow means over time.

    By default a question opens with its first forecast, and was scheduled to close when it closed.
    """
    time = table.time
    if time is None:
        time = table.open
    if time is None or table.close is None:
        return None

    opens = table.open
    if opens is None:
        questions = len(table.questions)
        first = np.full(questions, np.inf)
        np.minimum.at(first, table.question, time)
        opens = first[table.question]

    scheduled = table.scheduled_close
    if scheduled is None:
        scheduled = table.close
    return metaculus.TableTimes(time, opens, table.close, scheduled, table.end, table.spot)


def _form_scores(
    form: FormQuestion, mode: Mode, outside: tuple[str, ...], *, community: bool
) -> dict[str, dict[str, float]]:
    """Return everyone's scores on a multiple choice or numeric question."""
    scores: dict[str, dict[str, float]] = {}
    who = np.array(form.who)
    answered = set(form.who)
    for name in sorted(answered):
        own = who == name
        scores[name] = {
            "brier": float(form.brier[own].mean()),
            "distance": float(form.distance[own].mean()),
        }

    forecasts = form.forecasts
    if forecasts is None or form.lived is None:
        return scores

    is_base = ~np.isin(forecasts.forecaster, outside)
    stands = forecasts.end > forecasts.start
    forecasts = replace(forecasts, base=is_base & stands)
    columns = metaculus.question_scores(form.lived, forecasts, mode, community=community)

    # The community's column, if any, comes last.
    forecasters = set(forecasts.forecaster.tolist())
    names = sorted(forecasters)
    if columns.shape[1] > len(names):
        names.append(metaculus.COMMUNITY)

    for name, column in zip(names, columns.T, strict=True):
        line = dict(zip(metaculus.SCORES, column.tolist(), strict=True))
        if name in forecasters:
            line["log"] = metaculus.mean_log(forecasts, name)
        scores.setdefault(name, {}).update(line)
    return scores


def adjusted_scores(found: QuestionScores, outside: tuple[str, ...]) -> MeanIntervals:
    """Return Brier scores adjusted for the difficulty of the questions; always stating 0.5 gets 0.25.

    Raise `ArenaError` if that can't be computed.
    """
    brier = found.values["brier"]
    is_counted = ~np.isnan(brier)
    brier = brier[is_counted]
    who = found.who[is_counted]
    event = found.event[is_counted]
    used, question = np.unique(found.question[is_counted], return_inverse=True)

    size = len(found.forecasters)
    if size * used.size > MOST_CELLS:
        what = f"{size:,} forecasters × {used.size:,} questions are too many to adjust"
        raise ArenaError("too_large", what, "leave out --adjusted, or score a part of the file")

    table = np.full((size, used.size), np.nan)
    table[who, question] = brier
    is_in_sample = ~np.isin(found.forecasters, outside)
    is_answered = ~np.isnan(table)
    fits = is_answered & is_in_sample[:, None]
    questions = tuple(map(str, used.tolist()))
    blank = found.blank[used]
    outcome = 0.5 - np.sqrt(blank)
    zero = np.zeros(used.size, dtype=np.int64)
    panel = Panel(
        found.forecasters,
        questions,
        outcome=outcome,
        brier=table,
        fits=fits,
        stratum=zero,
        cluster=zero,
        family=zero,
    )
    try:
        adjusted = adjusted_brier.two_way(panel)
        score = adjusted_brier.score(adjusted)
    except ValueError as error:
        hint = "leave out --adjusted, or forecasters who share no question with the others"
        raise ArenaError("not_comparable", f"difficulty can't be computed: {error}", hint) from error

    excess = table - score[:, None]
    above = np.where(fits, excess, 0.0)
    total = above.sum(axis=0)
    count = fits.sum(axis=0)
    level = total / count

    rest = brier - level[question]
    means = mean_intervals(who, event, rest, size)
    shift = score - means.mean
    low = means.low + shift
    high = means.high + shift
    return replace(means, mean=score, low=low, high=high)


@dataclass(frozen=True, slots=True)
class Gap:
    """How much smaller a forecaster's Brier score is than another's, on the questions both answered."""

    questions: int
    gap: float | None
    low: float | None = None
    high: float | None = None
    p: float | None = None


def gaps(found: QuestionScores, other: str, seed: int = 0) -> dict[int, Gap]:
    """Return the gap between every forecaster and one other, by the wild event bootstrap."""
    brier = found.values["brier"]
    other_place = found.forecasters.index(other)
    is_other = found.who == other_place
    other_brier = np.full(found.blank.size, np.nan)
    other_brier[found.question[is_other]] = brier[is_other]
    gap = other_brier[found.question] - brier

    common = np.flatnonzero(~np.isnan(gap))
    common_who = found.who[common]

    sums = []
    answered = {}
    order = []
    for place in range(len(found.forecasters)):
        rows = common[common_who == place]
        by_event = _event_sums(found, rows, gap)
        answered[place] = Gap(rows.size, none_for_nan(by_event.mean))
        if not rows.size or place == other_place:
            continue

        squares = float((by_event.count**2).sum())
        effective_events = rows.size**2 / squares
        if effective_events >= ENOUGH_EVENTS:
            order.append(place)
            sums.append(by_event)

    compared = range(len(order))
    for part in wild_bootstrap.blocks(compared, len(found.events)):
        chosen = [sums[number] for number in part]
        drawn = wild_bootstrap.signed_sums(found.events, chosen, seed)
        spans = interval.intervals(drawn, [True] * len(chosen))
        p_values = wild_bootstrap.p_values(drawn)
        for number, span, p in zip(part, spans, p_values, strict=True):
            place = order[number]
            answered[place] = replace(answered[place], low=span.low, high=span.high, p=float(p))
    return answered


def _event_sums(found: QuestionScores, rows: Ints, values: Floats) -> EventSums:
    """Return the sums of some rows' values by event."""
    event = found.event[rows]
    size = len(found.events)
    total = np.bincount(event, values[rows], minlength=size)
    count = np.bincount(event, minlength=size)
    return EventSums(total.astype(np.float64), count.astype(np.float64))


@dataclass(frozen=True, slots=True)
class AutocastScores:
    """Autocast's three means and their sum; a missing answer counts as knowing nothing."""

    true_false: float | None
    multiple_choice: float | None
    numeric: float | None
    combined: float | None


def autocast_scores(found: QuestionScores, place: int) -> AutocastScores:
    """Return the Autocast scores of one forecaster."""
    own = found.who == place
    questions = found.question[own]
    is_number = found.kind[questions] == "number"
    brier = found.values["brier"]
    distance = found.values["distance"]
    error = found.blank.copy()
    error[questions] = np.where(is_number, distance[own], brier[own])

    means = []
    for kind in ("yes_no", "choice", "number"):
        chosen = error[found.asked & (found.kind == kind)]
        means.append(float(chosen.mean()) if chosen.size else float("nan"))

    total = combined.score(*means)
    return AutocastScores(*map(none_for_nan, (*means, total)))


@dataclass(frozen=True, slots=True)
class HalfScores:
    """ForecastBench's scores: Brier scores adjusted within each half, their mean, and its index."""

    dataset: float | None
    market: float | None
    overall: float | None
    index: float | None


def half_scores(found: QuestionScores, table: ForecastTable, outside: tuple[str, ...]) -> list[HalfScores]:
    """Return everyone's scores by half; raise `ArenaError` without categories `dataset` and `market`."""
    if table.category is None or not set(HALVES) <= set(table.categories):
        what = f"{table.name} has no column category that says {' or '.join(HALVES)}"
        raise ArenaError("no_halves", what, "add it, or name files of ForecastBench")

    half_of = np.full(found.blank.size, -1)
    half_of[table.question] = table.category
    category = half_of[found.question]
    forecasters = len(found.forecasters)

    halves = []
    for half in HALVES:
        own = np.flatnonzero(category == table.categories.index(half))
        values = {name: column[own] for name, column in found.values.items()}
        part = replace(
            found, who=found.who[own], question=found.question[own], event=found.event[own], values=values
        )

        mean = np.full(forecasters, np.nan)
        if not np.isnan(values["brier"]).all():
            mean = adjusted_scores(part, outside).mean
        halves.append(mean)

    dataset, market = halves
    overall = (dataset + market) / 2
    rows = zip(dataset, market, overall, brier_index.index(overall), strict=True)
    return [HalfScores(*map(none_for_nan, row)) for row in rows]
