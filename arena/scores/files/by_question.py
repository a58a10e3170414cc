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


def outcomes_to_score(table: ForecastTable, *, provisional: bool) -> Floats:
    """Return the outcome that each row is scored against; NaN where there is none.

    Provisional scores also use fractions and, for forecasts made before it, an open question's last price.
    """
    outcome = table.outcome
    if not provisional:
        return np.where(is_scored(outcome), outcome, np.nan)

    price = table.market
    time = table.time
    if price is None or time is None:
        return outcome

    is_open = table.open_rows()
    priced = np.flatnonzero(is_open & ~np.isnan(price))

    # Sorted by question, time and price: the last row of each question has its last price.
    order = np.lexsort((price[priced], time[priced], table.question[priced]))
    in_order = priced[order]
    is_last = np.diff(table.question[in_order], append=-1) != 0
    last_rows = in_order[is_last]
    last_question = table.question[last_rows]

    questions = len(table.questions)
    last_price = np.full(questions, np.nan)
    last_time = np.full(questions, np.nan)
    last_price[last_question] = price[last_rows]
    last_time[last_question] = time[last_rows]

    # A price may not stand in for the outcome of a forecast made at the same time or later.
    is_earlier = time < last_time[table.question]
    return np.where(is_open & is_earlier, last_price[table.question], outcome)


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
    forecaster_numbers = {name: place for place, name in enumerate(names)}
    event_numbers = {name: place for place, name in enumerate(table.events)}

    against = outcomes_to_score(table, provisional=provisional)
    scored_forecasters = table.forecaster[~np.isnan(against)]
    forecast_counts = np.bincount(scored_forecasters, minlength=len(names))
    for form in table.forms:
        if form.ended:
            event_numbers.setdefault(form.event, len(event_numbers))
            forecast_counts += np.bincount(
                [forecaster_numbers[name] for name in form.who], minlength=len(names)
            )

    # Scores over time are computed for all questions at once where possible, which is faster.
    rows_over_time = None
    if mode == "exact" and not community:
        rows_over_time = timed_rows(table)
    if rows_over_time is None:
        parts = _cells_one_by_one(
            table, against, mode, outside, forecaster_numbers, event_numbers, community=community
        )
    else:
        parts = [_plain_mean_cells(table, against), _mean_form_cells(table, rows_over_time, event_numbers)]

    all_cells = _concatenated(parts)
    if rows_over_time is not None:
        put_scores_over_time(
            all_cells.values, all_cells.question, all_cells.who, rows_over_time, ~np.isin(names, outside)
        )

    yes_no = len(table.questions)
    # A question is asked if it has ended, whether or not somebody answered it.
    is_asked = np.zeros(yes_no + len(table.forms), dtype=np.bool_)
    is_asked[parts[0].question] = True  # the first part is that of yes/no questions
    is_asked[[question.place for question in table.unanswered]] = True
    is_asked[yes_no:] = [form.ended for form in table.forms]

    blank = np.full(is_asked.size, KNOWS_NOTHING)
    blank[yes_no:] = [form.blank for form in table.forms]

    return QuestionScores(
        who=all_cells.who,
        question=all_cells.question,
        event=all_cells.event,
        events=tuple(event_numbers),
        values=all_cells.values,
        rows=forecast_counts,
        forecasters=names,
        asked=is_asked,
        blank=blank,
        kind=np.array(["yes_no"] * yes_no + [form.kind for form in table.forms]),
    )


def _cells_one_by_one(
    table: ForecastTable,
    outcomes: Floats,
    mode: Mode,
    outside: tuple[str, ...],
    forecaster_numbers: Mapping[str, int],
    event_numbers: Mapping[str, int],
    *,
    community: bool,
) -> list[ScoredCells]:
    """Return the cells of all questions, scored one by one; those of yes/no questions come first."""
    parts = _yes_no_cells(table, outcomes, mode, outside, community=community)
    for number, form in enumerate(table.forms, len(table.questions)):
        if form.ended:
            scores = _form_scores(form, mode, outside, community=community)
            parts.append(_form_cells(scores, number, event_numbers[form.event], forecaster_numbers))
    return parts


def _form_cells(
    scores: Mapping[str, Mapping[str, float]],
    question_number: int,
    event_number: int,
    forecaster_numbers: Mapping[str, int],
) -> ScoredCells:
    """Return the cells of a question, given the scores of each forecaster."""
    count = len(scores)
    who = np.zeros(count, dtype=np.int64)
    values = _unknown_values(count)
    for row, (name, own_scores) in enumerate(scores.items()):
        who[row] = forecaster_numbers[name]
        for score, value in own_scores.items():
            values[score][row] = value

    return ScoredCells(who, np.full(count, question_number), np.full(count, event_number), values)


def _unknown_values(size: int) -> dict[str, Floats]:
    """Return a column of NaN for each score."""
    return {score: np.full(size, np.nan) for score in NAMES}


def _concatenated(parts: Sequence[ScoredCells]) -> ScoredCells:
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


def _plain_mean_cells(table: ForecastTable, outcomes: Floats) -> ScoredCells:
    """Return cells with the mean Brier and log scores on yes/no questions only."""
    rows = np.flatnonzero(~np.isnan(outcomes))
    question = table.question[rows]
    who = table.forecaster[rows]
    starts, lengths = runs(question, who)
    question = question[starts]
    who = who[starts]

    probability = table.probability[rows]
    errors = probability - outcomes[rows]
    logs = log.each(probability, table.outcome[rows])
    values = _unknown_values(who.size)
    values["brier"] = _group_means(errors**2, starts, lengths)
    values["log"] = _group_means(logs, starts, lengths)
    return ScoredCells(who, question, _events_of(table)[question], values)


def _mean_form_cells(
    table: ForecastTable, rows_over_time: TimedRows, event_numbers: Mapping[str, int]
) -> ScoredCells:
    """Return cells with the mean scores of forecasts on questions of other kinds."""
    rows = np.flatnonzero(rows_over_time.question >= len(table.questions))
    question = rows_over_time.question[rows]
    who = rows_over_time.forecaster[rows]
    starts, lengths = runs(question, who)
    values = _unknown_values(starts.size)
    values["brier"] = _group_means(rows_over_time.brier[rows], starts, lengths)
    values["distance"] = _group_means(rows_over_time.distance[rows], starts, lengths)
    values["log"] = _group_means(log.natural(rows_over_time.chance[rows]), starts, lengths)

    question = question[starts]
    event_of = np.array([event_numbers.get(form.event, -1) for form in table.forms], dtype=np.int64)
    event = event_of[question - len(table.questions)]
    return ScoredCells(who[starts], question, event, values)


def _yes_no_cells(
    table: ForecastTable, outcomes: Floats, mode: Mode, outside: tuple[str, ...], *, community: bool
) -> list[ScoredCells]:
    """Return the cells of yes/no questions, and the community's if it is scored."""
    mean_cells = _plain_mean_cells(table, outcomes)

    is_ended = is_scored(table.outcome)
    ended = table.where(is_ended)
    metaculus_cells = _metaculus_cells(ended, mode, outside, community=community)
    forecasters = len(table.forecasters)
    is_community = metaculus_cells.forecaster == forecasters
    is_own = ~is_community

    # Cells are sorted by question, then by forecaster, so one number finds both.
    known_cell = mean_cells.question * forecasters + mean_cells.who
    own_question = metaculus_cells.question[is_own]
    own_forecaster = metaculus_cells.forecaster[is_own]
    place = np.searchsorted(known_cell, own_question * forecasters + own_forecaster)
    for score, scores in zip(metaculus.SCORES, metaculus_cells.values, strict=True):
        column = mean_cells.values[score]
        column[place] = scores[is_own]

    parts = [mean_cells]
    if community:
        community_scores = metaculus_cells.values[:, is_community]
        scores_by_name = dict(zip(metaculus.SCORES, community_scores, strict=True))
        has_times = _times_of(table) is not None
        values = _community_values(scores_by_name, timed=has_times)

        question = metaculus_cells.question[is_community]
        forecaster = metaculus_cells.forecaster[is_community]
        event = _events_of(table)[question]
        parts.append(ScoredCells(forecaster, question, event, values))
    return parts


def _community_values(scores: Mapping[str, Floats], *, timed: bool) -> dict[str, Floats]:
    """Return the community's scores; without times, its Brier score follows from the baseline score."""
    baseline = scores["baseline"]
    # The inverse of the baseline score, 100 · (1 + log2 of the chance).
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
        # Without lifetimes the latest forecast of each forecaster counts, as rows are in order of time.
        is_last_of_question = np.diff(ended.question, append=-1) != 0
        is_last_of_forecaster = np.diff(ended.forecaster, append=-1) != 0
        rows = ended.where(is_last_of_question | is_last_of_forecaster)

    is_base = ~np.isin(ended.forecasters, outside)
    base = is_base[rows.forecaster]
    resolved = metaculus.ResolvedRows(
        rows.question, rows.forecaster, rows.probability, rows.outcome, base, times
    )
    cells = metaculus.cell_scores(resolved, mode, community=community)

    # In the cells the community is −1; here it comes after all forecasters.
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
    answering = set(form.who)
    for name in sorted(answering):
        is_own = who == name
        scores[name] = {
            "brier": float(form.brier[is_own].mean()),
            "distance": float(form.distance[is_own].mean()),
        }

    forecasts = form.forecasts
    if forecasts is None or form.lived is None:
        return scores

    # Nobody is compared with a forecaster outside, or with a forecast that was replaced at once.
    is_base = ~np.isin(forecasts.forecaster, outside)
    has_stood = forecasts.end > forecasts.start
    forecasts = replace(forecasts, base=is_base & has_stood)
    score_columns = metaculus.question_scores(form.lived, forecasts, mode, community=community)

    # The community's column, if any, comes last.
    forecasters = set(forecasts.forecaster.tolist())
    names = sorted(forecasters)
    if score_columns.shape[1] > len(names):
        names.append(metaculus.COMMUNITY)

    for name, column in zip(names, score_columns.T, strict=True):
        own_scores = dict(zip(metaculus.SCORES, column.tolist(), strict=True))
        if name in forecasters:
            own_scores["log"] = metaculus.mean_log(forecasts, name)
        scores.setdefault(name, {}).update(own_scores)
    return scores


def adjusted_scores(scored: QuestionScores, outside: tuple[str, ...]) -> MeanIntervals:
    """Return Brier scores adjusted for the difficulty of the questions; always stating 0.5 gets 0.25.

    Raise `ArenaError` if that can't be computed.
    """
    brier_scores = scored.values["brier"]
    is_counted = ~np.isnan(brier_scores)
    brier_scores = brier_scores[is_counted]
    who = scored.who[is_counted]
    event = scored.event[is_counted]
    questions_used, question = np.unique(scored.question[is_counted], return_inverse=True)

    forecasters = len(scored.forecasters)
    if forecasters * questions_used.size > MOST_CELLS:
        what = f"{forecasters:,} forecasters × {questions_used.size:,} questions are too many to adjust"
        raise ArenaError("too_large", what, "leave out --adjusted, or score a part of the file")

    brier_table = np.full((forecasters, questions_used.size), np.nan)
    brier_table[who, question] = brier_scores
    is_in_sample = ~np.isin(scored.forecasters, outside)
    is_answered = ~np.isnan(brier_table)
    fits = is_answered & is_in_sample[:, None]
    questions = tuple(map(str, questions_used.tolist()))

    # The panel needs an outcome o for which 0.5 scores the blank, (0.5 − o)²; only that score is used.
    blank = scored.blank[questions_used]
    outcome = 0.5 - np.sqrt(blank)
    one_group = np.zeros(questions_used.size, dtype=np.int64)
    panel = Panel(
        scored.forecasters,
        questions,
        outcome=outcome,
        brier=brier_table,
        fits=fits,
        stratum=one_group,
        cluster=one_group,
        family=one_group,
    )
    try:
        adjusted = adjusted_brier.two_way(panel)
        score = adjusted_brier.score(adjusted)
    except ValueError as error:
        hint = "leave out --adjusted, or forecasters who share no question with the others"
        raise ArenaError("not_comparable", f"difficulty can't be computed: {error}", hint) from error

    # The difficulty of a question is how much worse than their own scores its forecasters did on it.
    excess = brier_table - score[:, None]
    counted_excess = np.where(fits, excess, 0.0)
    total = counted_excess.sum(axis=0)
    count = fits.sum(axis=0)
    difficulty = total / count

    adjusted_rows = brier_scores - difficulty[question]
    means = mean_intervals(who, event, adjusted_rows, forecasters)

    # The interval of the adjusted rows, moved to the adjusted score.
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


def gaps_to_rival(scored: QuestionScores, rival: str) -> dict[int, Gap]:
    """Return the gap between every forecaster and one other, by the wild event bootstrap."""
    brier = scored.values["brier"]
    rival_number = scored.forecasters.index(rival)
    is_rival = scored.who == rival_number
    rival_brier = np.full(scored.blank.size, np.nan)
    rival_brier[scored.question[is_rival]] = brier[is_rival]
    gap = rival_brier[scored.question] - brier

    common_rows = np.flatnonzero(~np.isnan(gap))
    forecaster_of_row = scored.who[common_rows]

    sums_compared = []
    gap_of = {}
    compared_forecasters = []
    for forecaster in range(len(scored.forecasters)):
        rows = common_rows[forecaster_of_row == forecaster]
        by_event = _event_sums(scored, rows, gap)
        gap_of[forecaster] = Gap(rows.size, none_for_nan(by_event.mean))
        if not rows.size or forecaster == rival_number:
            continue

        # The number of events of equal size that tell as much (Kish).
        squares = float((by_event.count**2).sum())
        effective_events = rows.size**2 / squares
        if effective_events >= ENOUGH_EVENTS:
            compared_forecasters.append(forecaster)
            sums_compared.append(by_event)

    comparisons = range(len(compared_forecasters))
    for block in wild_bootstrap.blocks(comparisons, len(scored.events)):
        block_sums = [sums_compared[number] for number in block]
        drawn = wild_bootstrap.signed_sums(scored.events, block_sums, seed=0)
        spans = interval.intervals(drawn, [True] * len(block_sums))
        p_values = wild_bootstrap.p_values(drawn)
        for number, span, p in zip(block, spans, p_values, strict=True):
            forecaster = compared_forecasters[number]
            gap_of[forecaster] = replace(gap_of[forecaster], low=span.low, high=span.high, p=float(p))
    return gap_of


def _event_sums(scored: QuestionScores, rows: Ints, values: Floats) -> EventSums:
    """Return the sums of some rows' values by event."""
    event = scored.event[rows]
    size = len(scored.events)
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


def autocast_scores(scored: QuestionScores, forecaster: int) -> AutocastScores:
    """Return the Autocast scores of one forecaster."""
    is_own = scored.who == forecaster
    answered = scored.question[is_own]
    is_numeric = scored.kind[answered] == "number"
    brier = scored.values["brier"]
    distance = scored.values["distance"]

    # A missing answer counts as knowing nothing.
    error_of_question = scored.blank.copy()
    error_of_question[answered] = np.where(is_numeric, distance[is_own], brier[is_own])

    means = []
    for kind in ("yes_no", "choice", "number"):
        errors = error_of_question[scored.asked & (scored.kind == kind)]
        means.append(float(errors.mean()) if errors.size else float("nan"))

    total = combined.score(*means)
    return AutocastScores(*map(none_for_nan, (*means, total)))


@dataclass(frozen=True, slots=True)
class HalfScores:
    """ForecastBench's scores: Brier scores adjusted within each half, their mean, and its index."""

    dataset: float | None
    market: float | None
    overall: float | None
    index: float | None


def half_scores(scored: QuestionScores, table: ForecastTable, outside: tuple[str, ...]) -> list[HalfScores]:
    """Return everyone's scores by half; raise `ArenaError` without categories `dataset` and `market`."""
    if table.category is None or not set(HALVES) <= set(table.categories):
        what = f"{table.name} has no column category that says {' or '.join(HALVES)}"
        raise ArenaError("no_halves", what, "add it, or name files of ForecastBench")

    half_of = np.full(scored.blank.size, -1)
    half_of[table.question] = table.category
    category = half_of[scored.question]
    forecasters = len(scored.forecasters)

    adjusted_by_half = []
    for half in HALVES:
        half_rows = np.flatnonzero(category == table.categories.index(half))
        values = {name: column[half_rows] for name, column in scored.values.items()}
        half_scored = replace(
            scored,
            who=scored.who[half_rows],
            question=scored.question[half_rows],
            event=scored.event[half_rows],
            values=values,
        )

        adjusted = np.full(forecasters, np.nan)
        if not np.isnan(values["brier"]).all():
            adjusted = adjusted_scores(half_scored, outside).mean
        adjusted_by_half.append(adjusted)

    dataset, market = adjusted_by_half
    overall = (dataset + market) / 2
    rows = zip(dataset, market, overall, brier_index.index(overall), strict=True)
    return [HalfScores(*map(none_for_nan, row)) for row in rows]
