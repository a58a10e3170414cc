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
        place = form.options.index(happened)
        shares = np.array(answer.chances) / ONE
        [brier] = choice.each([shares], [place])
        count = len(form.options)
        points = baseline.points(limits.clip(shares[place]), 1 / count, log.natural(count))
        return AnswerScore(float(brier), None, float(points))

    asked = asked_range(form)
    truth = asked.place(happened)
    levels = [share / ONE for share, _ in answer.quantiles]
    shares = np.array([[asked.place(text) for _, text in answer.quantiles]])
    [curve] = quantile_curves(levels, shares, form.open_low, form.open_high)
    gave = continuous([""], [0.0], curve, asked.bucket(truth, BUCKETS), form.open_low + form.open_high)
    [median] = curve_medians(curve[None])
    distance = abs(np.clip(median, 0, 1) - np.clip(truth, 0, 1))
    return AnswerScore(None, float(distance), float(baseline.each(gave)[0]))
