"""What every forecaster of a file scored on each question: one row for the two, a column for each score."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from arena.errors import ArenaError
from arena.forms.csv_columns import Flags, Floats, Ints
from arena.scores.files.bench_columns import HALVES
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
    kind: tuple[str, ...]

    def means(self, name: str) -> MeanIntervals:
        """Everyone's mean of a score, with its interval."""
        return mean_intervals(self.who, self.event, self.values[name], len(self.forecasters))

    def counts(self, event: bool = False) -> Ints:
        """How many questions, or events, each forecaster is scored on."""
        if not event or len(self.events) == self.asked.size:
            return np.bincount(self.who, minlength=len(self.forecasters))
        pairs = different(self.who * len(self.events) + self.event)[0] // len(self.events)
        return np.bincount(pairs, minlength=len(self.forecasters))


def settled(table: ForecastTable, *, provisional: bool) -> Floats:
    """What each row is scored against; NaN where that is nothing.

    Provisionally a fraction is, and while a question is open its last price in the file, by forecasts made
    before it.
    """
    outcome = np.where(is_scored(table.outcome), table.outcome, np.nan)
    if not provisional:
        return outcome
    outcome = table.outcome.copy()
    if table.market is None or table.time is None:
        return outcome
    priced = np.flatnonzero(np.isnan(outcome) & ~np.isnan(table.market))
    order = priced[np.lexsort((table.market[priced], table.time[priced], table.question[priced]))]
    last = order[np.append(np.diff(table.question[order]) != 0, True)] if order.size else order
    price, at = np.full((2, len(table.questions)), np.nan)
    price[table.question[last]], at[table.question[last]] = table.market[last], table.time[last]
    is_earlier = table.time < at[table.question]
    return np.where(np.isnan(outcome) & is_earlier, price[table.question], outcome)


Cells = tuple[Ints, Ints, Ints, Mapping[str, Floats]]
"""Who, on which question, of which event, and the scores."""


def score_questions(
    table: ForecastTable,
    mode: Mode,
    outside: tuple[str, ...] = (),
    *,
    provisional: bool = False,
    community: bool = False,
) -> QuestionScores:
    """Every score of everyone on every question that has ended."""
    names = (*table.forecasters, metaculus.COMMUNITY) if community else table.forecasters
    places, events = ({name: place for place, name in enumerate(some)} for some in (names, table.events))
    against = settled(table, provisional=provisional)
    parts = _yes_no_cells(table, against, mode, outside, community=community)
    rows = np.bincount(table.forecaster[~np.isnan(against)], minlength=len(names))
    asked = np.zeros(len(table.questions), dtype=np.bool_)
    asked[parts[0][1]] = True
    for number, form in enumerate(table.forms, len(table.questions)):
        if form.ended:
            event = events.setdefault(form.event, len(events))
            scores = _form_scores(form, mode, outside, community=community)
            who = np.array([places[name] for name in scores], dtype=np.int64)
            columns = np.array([[row.get(name, np.nan) for row in scores.values()] for name in NAMES])
            parts.append(
                (
                    who,
                    np.full(who.size, number),
                    np.full(who.size, event),
                    dict(zip(NAMES, columns, strict=True)),
                )
            )
            rows += np.bincount([places[name] for name in form.who], minlength=rows.size)
    who, question, of, values = parts[0] if len(parts) == 1 else _joined(parts)
    return QuestionScores(
        who=who,
        question=question,
        event=of,
        events=tuple(events),
        values=values,
        rows=rows,
        forecasters=names,
        asked=np.append(asked, [form.ended for form in table.forms]).astype(np.bool_),
        blank=np.append(np.full(asked.size, KNOWS_NOTHING), [form.blank for form in table.forms]),
        kind=(*["yes_no"] * asked.size, *(form.kind for form in table.forms)),
    )


def _joined(parts: Sequence[Cells]) -> Cells:
    """All cells, sorted by question and forecaster."""
    who, question, event = (np.concatenate([part[k] for part in parts]) for k in range(3))
    order = np.lexsort((who, question))
    values = {name: np.concatenate([part[3][name] for part in parts])[order] for name in NAMES}
    return who[order], question[order], event[order], values


def _yes_no_cells(
    table: ForecastTable, against: Floats, mode: Mode, outside: tuple[str, ...], *, community: bool
) -> list[Cells]:
    """Those of forecasters, and those of the community where it is wanted."""
    rows = np.flatnonzero(~np.isnan(against))
    question, who = table.question[rows], table.forecaster[rows]
    starts, lengths = runs(question, who)
    clean = is_scored(table.outcome[rows])
    logs = log.each(table.probability[rows], table.outcome[rows])
    question, who = question[starts], who[starts]
    values = {name: np.full(who.size, np.nan) for name in NAMES}
    values["brier"] = _group_means((table.probability[rows] - against[rows]) ** 2, starts, lengths)
    values["log"] = _group_means(logs, starts, lengths)
    own = _metaculus_cells(
        table if clean.size == table.outcome.size and clean.all() else table.take(rows[clean]),
        mode,
        outside,
        community=community,
    )
    size = len(table.forecasters) + 1
    pooled = own.forecaster == len(table.forecasters)
    place = np.searchsorted(question * size + who, (own.question * size + own.forecaster)[~pooled])
    for name, line in zip(metaculus.SCORES, own.values, strict=True):
        values[name][place] = line[~pooled]
    event_of = np.zeros(len(table.questions), dtype=np.int64)
    event_of[table.question] = table.event
    cells: list[Cells] = [(who, question, event_of[question], values)]
    if community:
        scores = dict(zip(metaculus.SCORES, own.values[:, pooled], strict=True))
        question = own.question[pooled]
        theirs = _community_values(scores, timed=_times_of(table) is not None)
        cells.append((own.forecaster[pooled], question, event_of[question], theirs))
    return cells


def _community_values(scores: Mapping[str, Floats], *, timed: bool) -> dict[str, Floats]:
    """At one instant the community's Brier score follows from its baseline score."""
    chance = 2 ** (scores["baseline"] / 100 - 1)
    unknown = np.full(chance.size, np.nan)
    return {
        **scores,
        "brier": unknown if timed else (1 - chance) ** 2,
        "log": unknown if timed else log.each(chance, np.ones(chance.size)),
        "distance": unknown,
    }


def _group_means(values: Floats, starts: Ints, lengths: Ints) -> Floats:
    if starts.size == values.size:
        return values
    means: Floats = np.add.reduceat(values, starts) / lengths
    return means


def _metaculus_cells(
    ended: ForecastTable, mode: Mode, outside: tuple[str, ...], *, community: bool
) -> metaculus.CellScores:
    """Metaculus's scores by question; without times the latest forecasts stand side by side."""
    times, rows = _times_of(ended), ended
    if times is None and ended.time is not None:
        last = (np.diff(ended.question, append=-1) != 0) | (np.diff(ended.forecaster, append=-1) != 0)
        rows = ended.take(np.flatnonzero(last))
    places = [place for place, name in enumerate(ended.forecasters) if name in outside]
    base = ~np.isin(rows.forecaster, np.array(places, dtype=np.int64))
    columns = (rows.question, rows.forecaster, rows.probability, rows.outcome)
    cells = metaculus.cell_scores(metaculus.ResolvedRows(*columns, base, times), mode, community=community)
    pooled = cells.forecaster == -1
    return replace(cells, forecaster=np.where(pooled, len(ended.forecasters), cells.forecaster))


def _times_of(table: ForecastTable) -> metaculus.TableTimes | None:
    """The times of forecasts and questions, if they are enough for a mean over time.

    A question opens with its first forecast and was to close when it closed, unless the file says otherwise.
    """
    time, opens = table.open if table.time is None else table.time, table.open
    if time is None or table.close is None:
        return None
    if opens is None:
        first = np.full(len(table.questions), np.inf)
        np.minimum.at(first, table.question, time)
        opens = first[table.question]
    scheduled = table.close if table.scheduled_close is None else table.scheduled_close
    return metaculus.TableTimes(time, opens, table.close, scheduled, table.end, table.spot)


def _form_scores(
    form: FormQuestion, mode: Mode, outside: tuple[str, ...], *, community: bool
) -> dict[str, dict[str, float]]:
    """Everyone's scores on a question of options or of a number."""
    found = {
        name: {"brier": _mean_of(form, form.brier, name), "distance": _mean_of(form, form.distance, name)}
        for name in sorted(set(form.who))
    }
    if form.forecasts is not None and form.lived is not None:
        base = ~np.isin(form.forecasts.forecaster, outside)
        stands = form.forecasts.end > form.forecasts.start
        forecasts = replace(form.forecasts, base=base & stands)
        scores = metaculus.question_scores(form.lived, forecasts, mode, community=community)
        own = sorted(set(forecasts.forecaster.tolist()))
        for place, name in enumerate([*own, metaculus.COMMUNITY][: scores.shape[1]]):
            row = dict(zip(metaculus.SCORES, scores[:, place].tolist(), strict=True))
            mean = metaculus.mean_log(forecasts, name) if place < len(own) else np.nan
            found.setdefault(name, {}).update(row | {"log": mean})
    return found


def _mean_of(form: FormQuestion, values: Floats, name: str) -> float:
    own = values[np.array([who == name for who in form.who])]
    return float(own.mean())


def adjusted_scores(found: QuestionScores, outside: tuple[str, ...]) -> MeanIntervals:
    """Brier scores less how hard each forecaster's questions were, as those of always 0.5 at 0.25."""
    counted = np.flatnonzero(~np.isnan(found.values["brier"]))
    used, question = np.unique(found.question[counted], return_inverse=True)
    if len(found.forecasters) * used.size > MOST_CELLS:
        what = f"{len(found.forecasters):,} forecasters × {used.size:,} questions are too many to adjust"
        raise ArenaError("too_large", what, "leave out --adjusted, or score a part of the file")
    who = found.who[counted]
    table = np.full((len(found.forecasters), used.size), np.nan)
    table[who, question] = found.values["brier"][counted]
    in_sample = np.array([name not in outside for name in found.forecasters])
    fits = ~np.isnan(table) & in_sample[:, None]
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
    rest = found.values["brier"][counted] - level[question]
    means = mean_intervals(who, found.event[counted], rest, len(found.forecasters))
    return replace(
        means, mean=score, low=score + means.low - means.mean, high=score + means.high - means.mean
    )


@dataclass(frozen=True, slots=True)
class Gap:
    """How much smaller a forecaster's Brier score is than another's, on the questions that both answered."""

    questions: int
    gap: float | None
    low: float | None = None
    high: float | None = None
    p: float | None = None


def gaps(found: QuestionScores, other: str, seed: int = 0) -> dict[int, Gap]:
    """Everyone against one forecaster, by the wild event bootstrap."""
    brier, events = found.values["brier"], len(found.events)
    theirs = np.full(found.blank.size, np.nan)
    own = found.who == found.forecasters.index(other)
    theirs[found.question[own]] = brier[own]
    gap = theirs[found.question] - brier
    common = np.flatnonzero(~np.isnan(gap))
    sums, answered, order = [], {}, []
    for place in range(len(found.forecasters)):
        rows = common[found.who[common] == place]
        event = found.event[rows]
        one = EventSums(
            np.bincount(event, gap[rows], minlength=events).astype(np.float64),
            np.bincount(event, minlength=events).astype(np.float64),
        )
        answered[place] = Gap(rows.size, none_for_nan(one.mean))
        squares = float((one.count**2).sum())
        if rows.size and rows.size**2 / squares >= ENOUGH_EVENTS and found.forecasters[place] != other:
            order.append(place)
            sums.append(one)
    for part in wild_bootstrap.blocks(range(len(order)), events):
        chosen = [sums[k] for k in part]
        drawn = wild_bootstrap.signed_sums(found.events, chosen, seed)
        spans = interval.intervals(drawn, [True] * len(chosen))
        for k, span, p in zip(part, spans, wild_bootstrap.p_values(drawn), strict=True):
            answered[order[k]] = replace(answered[order[k]], low=span.low, high=span.high, p=float(p))
    return answered


@dataclass(frozen=True, slots=True)
class AutocastScores:
    """Autocast's three means and their sum; a missing answer counts as knowing nothing."""

    true_false: float | None
    multiple_choice: float | None
    numeric: float | None
    combined: float | None


def autocast_scores(found: QuestionScores, place: int) -> AutocastScores:
    """Those of one forecaster."""
    kinds = np.array(found.kind)
    own = found.who == place
    error = found.blank.copy()
    is_number = kinds[found.question] == "number"
    error[found.question[own]] = np.where(is_number, found.values["distance"], found.values["brier"])[own]
    means = []
    for kind in ("yes_no", "choice", "number"):
        chosen = error[found.asked & (kinds == kind)]
        means.append(float(chosen.mean()) if chosen.size else float("nan"))
    return AutocastScores(*map(none_for_nan, (*means, combined.score(*means))))


@dataclass(frozen=True, slots=True)
class HalfScores:
    """ForecastBench's: Brier scores adjusted within each half, the mean of both, and its index in percent."""

    dataset: float | None
    market: float | None
    overall: float | None
    index: float | None


def half_scores(found: QuestionScores, table: ForecastTable, outside: tuple[str, ...]) -> list[HalfScores]:
    """Everyone's, from the categories `dataset` and `market`."""
    if table.category is None or not set(HALVES) <= set(table.categories):
        what = f"{table.name} has no column category that says {' or '.join(HALVES)}"
        raise ArenaError("no_halves", what, "add it, or name files of ForecastBench")
    half_of = np.full(found.blank.size, -1)
    half_of[table.question] = table.category
    halves = []
    for half in HALVES:
        own = np.flatnonzero(half_of[found.question] == table.categories.index(half))
        values = {name: column[own] for name, column in found.values.items()}
        part = replace(
            found, who=found.who[own], question=found.question[own], event=found.event[own], values=values
        )
        has_rows = bool((~np.isnan(values["brier"])).any())
        unknown = np.full(len(found.forecasters), np.nan)
        halves.append(adjusted_scores(part, outside).mean if has_rows else unknown)
    overall = (halves[0] + halves[1]) / 2
    columns = zip(*halves, overall, brier_index.index(overall), strict=True)
    return [HalfScores(*(none_for_nan(float(value)) for value in row)) for row in columns]
