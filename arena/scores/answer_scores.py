"""The scores of a single answer to a question other than yes/no, at the instant it was made."""

from dataclasses import dataclass

import numpy as np

from arena.scores.files.question_forms import BUCKETS, curve_medians, quantile_curves
from arena.scores.files.season_forms import asked_range, has_options
from arena.scores.rules import log
from arena.scores.rules.autocast import choice
from arena.scores.rules.metaculus import baseline, limits
from arena.scores.rules.metaculus.question_types import continuous
from markets.distributions import Distribution, QuestionForm
from markets.millionths import ONE


@dataclass(frozen=True, slots=True)
class AnswerScore:
    """Half the Brier score over the options, or the distance of the median as a share of the range.

    `baseline` is Metaculus's score against someone who knows nothing.
    """

    brier: float | None
    distance: float | None
    baseline: float


def answer_score(form: QuestionForm, answer: Distribution, happened: str) -> AnswerScore | None:
    """Return the scores of an answer, given the outcome; None if that was not one of its options.

    >>> form = QuestionForm("multiple_choice", ("red", "blue"))
    >>> answer_score(form, Distribution((250_000, 750_000)), "blue").brier
    0.0625
    """
    if has_options(form):
        if happened not in form.options:
            return None
        outcome = form.options.index(happened)
        chances = np.array(answer.chances) / ONE
        [brier] = choice.each([chances], [outcome])

        # Someone who knows nothing gives each option the same chance.
        count = len(form.options)
        points = baseline.points(limits.clip(chances[outcome]), 1 / count, log.natural(count))
        return AnswerScore(brier=float(brier), distance=None, baseline=float(points))

    # A number or a date: all values are shares of the range, 0 at its lower end and 1 at its upper.
    number_range = asked_range(form)
    outcome_share = number_range.place(happened)
    levels = [level / ONE for level, _ in answer.quantiles]
    quantiles = np.array([[number_range.place(text) for _, text in answer.quantiles]])
    [cdf] = quantile_curves(levels, quantiles, form.open_low, form.open_high)

    bucket = number_range.bucket(outcome_share, BUCKETS)
    open_ends = form.open_low + form.open_high
    forecast = continuous([""], [0.0], cdf, bucket, open_ends)
    [points] = baseline.each(forecast)

    [median] = curve_medians(cdf[None])
    distance = abs(np.clip(median, 0, 1) - np.clip(outcome_share, 0, 1))
    return AnswerScore(brier=None, distance=float(distance), baseline=float(points))
