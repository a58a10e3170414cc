"""Figures that a board publishes, next to ours of the same forecasts, with the cause of each difference.

The cause is found by computation: each known way to compute such a figure is tried on the file's forecasts,
and the first that gives the published digits is the cause. If none does, the comparison says so.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from math import sqrt
from typing import Any

import numpy as np

from arena.errors import count_text
from arena.forms.csv_columns import Floats, Ints
from arena.forms.model import PublishedFigure
from arena.scores.files.forecasts import ForecastTable
from arena.scores.files.question_forms import FormQuestion
from arena.scores.files.scores import ForecasterScores
from arena.scores.rules._columns import is_scored

EVEN_ODDS = 0.25
WRONG = 1.0
"""The Brier scores that a missing answer may count as."""
MOST_PLACES = 9
"""The most decimals of a published figure that are compared."""
DIRECT = ("log", "baseline", "peer", "relative", "spot baseline", "spot peer")
"""Scores that have one definition in each mode."""
GAINS = ("skill", "alpha")
"""The boards' names for how much lower a Brier score is than that of the price."""

OtherMode = Callable[[], Sequence[ForecasterScores]]
"""Returns the scores by the other mode, computed only if a figure needs them."""


@dataclass(frozen=True, slots=True)
class PublishedComparison:
    """A published figure of a forecaster, ours of that name or None, and why they differ."""

    figure: PublishedFigure
    ours: float | None
    cause: str


def comparison_data(comparison: PublishedComparison) -> dict[str, Any]:
    """Return a comparison as JSON."""
    data = asdict(comparison.figure)
    data["ours"] = comparison.ours
    data["cause"] = comparison.cause
    return data


@dataclass(frozen=True, slots=True)
class AnswerLosses:
    """The loss of each scored forecast of a forecaster, with its question and event, in order of time.

    `asked` is the number of ended questions, whoever answered them.
    """

    loss: Floats
    question: Ints
    event: Ints
    asked: int

    @property
    def by_question(self) -> Floats:
        """Return the mean loss on each question."""
        return _group_means(self.loss, self.question)

    @property
    def by_event(self) -> Floats:
        """Return the mean loss of each event's forecasts."""
        return _group_means(self.loss, self.event)

    @property
    def last(self) -> Floats:
        """Return the loss of the last forecast of each question."""
        steps = np.diff(self.question, append=-1)
        last = np.flatnonzero(steps)
        return self.loss[last]


def _group_means(values: Floats, group: Ints) -> Floats:
    """Return the mean of the values of each group."""
    _, place, counts = np.unique(group, return_inverse=True, return_counts=True)
    sums = np.bincount(place, values)
    means: Floats = sums / counts
    return means


@dataclass(frozen=True, slots=True)
class FigureWay:
    """A way to compute a figure: its value, and how the way differs from ours."""

    value: float
    unlike: tuple[str, ...] = ()


def published_comparisons(
    table: ForecastTable,
    rows: Iterable[ForecasterScores],
    other_mode: OtherMode = tuple,
) -> tuple[PublishedComparison, ...]:
    """Return each published figure of a table's forecasters, next to ours."""
    scores = {row.forecaster: row for row in rows if row.category is None}
    comparisons = []
    for figure in table.published:
        ways: list[FigureWay] = []
        if figure.forecaster in table.forecasters:
            ways += _loss_ways(table, figure)
        if figure.forecaster in scores and not ways:
            row = scores[figure.forecaster]
            ways += _direct_ways(row, figure, other_mode)

        # The first way is always ours.
        ours = ways[0].value if ways else None
        comparisons.append(PublishedComparison(figure, ours, _cause(figure, ways)))
    return tuple(comparisons)


def _direct_ways(
    row: ForecasterScores, figure: PublishedFigure, other_mode: OtherMode
) -> Iterator[FigureWay]:
    """Yield our score of the figure's name, and the one by the other mode."""
    name = figure.name.lower().replace("_", " ").removesuffix(" legacy")
    if name not in DIRECT:
        return
    field = name.replace(" ", "_")
    our_score = getattr(row, field)
    if our_score is None:
        return

    yield FigureWay(our_score)
    difference = abs(our_score - figure.value)
    if difference <= _rounding_margin(figure.value):
        return

    for other in other_mode():
        value = getattr(other, field)
        if other.forecaster == row.forecaster and value is not None:
            yield FigureWay(value, ("it is made in the other mode: --mode says which",))


def _loss_ways(table: ForecastTable, figure: PublishedFigure) -> Iterator[FigureWay]:
    """Yield our figure of a name, if it is a mean loss, then other ways to compute it."""
    name = figure.name.lower()
    if "accuracy" in name:
        losses = _answer_losses(table, figure.forecaster, _share_wrong)
        for way in _mean_ways(losses, WRONG):
            accuracy = 1 - way.value
            yield FigureWay(accuracy, way.unlike)
            yield FigureWay(100 * accuracy, ("it is in percent", *way.unlike))
    elif name in GAINS and table.market is not None:
        gains = _gains_on_price(table, figure.forecaster, table.market)
        yield from _mean_ways(gains, 0.0, "as the price")
    elif "brier" in name or name.endswith(" mean"):
        losses = _answer_losses(table, figure.forecaster, np.square)
        yield from _brier_ways(losses, is_index="index" in name)


def _share_wrong(apart: Floats) -> Floats:
    """Return 1 for each probability on the wrong side, and a half for one of 50%."""
    return np.where(apart == 0.5, 0.5, apart > 0.5)


def _answer_losses(table: ForecastTable, forecaster: str, loss: Callable[[Floats], Floats]) -> AnswerLosses:
    """Return a forecaster's losses, as a function of its errors; for options, their squared error."""
    is_ended = is_scored(table.outcome)
    is_own = table.forecaster == table.forecasters.index(forecaster)
    own_rows = np.flatnonzero(is_ended & is_own)
    errors = np.abs(table.probability[own_rows] - table.outcome[own_rows])
    losses = [loss(errors)]
    questions = [table.question[own_rows]]
    events = [table.event[own_rows]]
    ended_questions = np.unique(table.question[is_ended])
    asked = ended_questions.size + len(table.unanswered)

    # Only squared errors are known of options.
    choice_questions: list[FormQuestion] = []
    if loss is np.square:
        choice_questions += [form for form in table.forms if form.ended and form.kind == "choice"]

    event_numbers = {event: place for place, event in enumerate(table.events)}
    for number, form in enumerate(choice_questions, len(table.questions)):
        is_answer = np.array([who == forecaster for who in form.who], dtype=np.bool_)
        count = int(is_answer.sum())
        event_place = event_numbers.setdefault(form.event, len(event_numbers))
        losses.append(form.brier[is_answer])
        questions.append(np.full(count, number))
        events.append(np.full(count, event_place))

    return AnswerLosses(
        loss=np.concatenate(losses),
        question=np.concatenate(questions),
        event=np.concatenate(events),
        asked=asked + len(choice_questions),
    )


def _gains_on_price(table: ForecastTable, forecaster: str, market: Floats) -> AnswerLosses:
    """Return how much smaller a forecaster's losses were than the price's, on questions with a price."""
    is_ended = is_scored(table.outcome)
    is_priced = is_ended & ~np.isnan(market)
    is_own = table.forecaster == table.forecasters.index(forecaster)
    own_rows = np.flatnonzero(is_priced & is_own)
    outcome = table.outcome[own_rows]
    price_loss = (market[own_rows] - outcome) ** 2
    own_loss = (table.probability[own_rows] - outcome) ** 2
    gain = price_loss - own_loss
    priced_questions = np.unique(table.question[is_priced])
    return AnswerLosses(gain, table.question[own_rows], table.event[own_rows], priced_questions.size)


def _mean_ways(
    losses: AnswerLosses, missing_loss: float, missing_words: str = "as wrong"
) -> Iterator[FigureWay]:
    """Yield the mean loss over all questions as ours, then over answered ones, in several ways.

    In ours a missing answer counts as `missing_loss`, which `missing_words` describe.
    """
    if not losses.loss.size:
        return
    by_question = losses.by_question
    answered = by_question.size
    unanswered = losses.asked - answered
    total = float(by_question.sum())
    mean = (total + missing_loss * unanswered) / losses.asked
    yield FigureWay(mean)

    over_answered: tuple[str, ...] = ()
    if unanswered > 0:
        asked = f"all {losses.asked:,} asked, a missing answer {missing_words}"
        over_answered = (f"it is over the {answered:,} that it answered; ours is over {asked}",)
        yield FigureWay(total / answered, over_answered)

    forecasts = count_text(losses.loss.size, "forecast")
    over_forecasts = f"it is over {forecasts}; ours is over questions"
    mean = float(losses.loss.mean())
    yield FigureWay(mean, (*over_answered, over_forecasts))

    by_last = "it takes the last forecast of each question; ours the mean of them"
    mean = float(losses.last.mean())
    yield FigureWay(mean, (*over_answered, by_last))

    by_events = "it is a mean over events; ours is over questions"
    mean = float(losses.by_event.mean())
    yield FigureWay(mean, (*over_answered, by_events))


def _brier_ways(losses: AnswerLosses, is_index: bool) -> Iterator[FigureWay]:
    """Yield the ways to compute a Brier score, or its index, of which 100 is best."""
    ways = list(_mean_ways(losses, WRONG))
    if ways:
        unanswered = losses.asked - losses.by_question.size
        at_even_odds = ways[0].value - (WRONG - EVEN_ODDS) * unanswered / losses.asked
        ways.append(FigureWay(at_even_odds, ("a missing answer is even odds in it; in ours it is wrong",)))

    for way in ways:
        if is_index:
            index = 100 * (1 - sqrt(way.value))
            yield FigureWay(index, way.unlike)
            continue

        yield way
        yield FigureWay(2 * way.value, ("it adds up both outcomes, twice ours", *way.unlike))
        yield FigureWay(1 - way.value, ("it is 1 less the Brier score", *way.unlike))


def _cause(figure: PublishedFigure, ways: list[FigureWay]) -> str:
    """Return why a figure differs from the first of these ways, which is ours."""
    if not ways:
        return "there is none of ours to compare it with"
    margin = _rounding_margin(figure.value)
    for way in ways:
        difference = abs(way.value - figure.value)
        if difference > margin:
            continue
        if way.unlike:
            return "; ".join(way.unlike)
        if difference < 10**-MOST_PLACES:
            return "the same"

        decimals = _decimals(figure.value)
        return f"the same, rounded to {decimals} decimals"

    nearest = min(ways, key=lambda way: abs(way.value - figure.value))
    return f"no way known here gives it of these forecasts, the nearest {nearest.value:.4g}: {figure.how}"


def _rounding_margin(value: float) -> float:
    """Return how far a figure may be from a published one that was rounded."""
    decimals = _decimals(value)
    margin: float = 0.5 * 10.0**-decimals
    # A little more, for the rounding errors of floats.
    return margin * (1 + 1e-6)


def _decimals(value: float) -> int:
    """Return the number of decimals of a figure; 0.5 may be a rounded 0.50, but not 0.53.

    >>> _decimals(0.1466), _decimals(0.5), _decimals(63.0), _decimals(1 / 3)
    (4, 2, 1, 9)
    """
    digits = Decimal(repr(value)).as_tuple()
    written = -int(digits.exponent)
    fewest = 2 if abs(value) <= 1 else 1
    decimals = max(written, fewest)
    return min(decimals, MOST_PLACES)
