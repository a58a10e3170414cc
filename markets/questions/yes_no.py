"""A question of yes or no: one probability, that of YES."""

from collections.abc import Mapping, Sequence
from typing import Any

from markets.distributions import (
    BadDistribution,
    BadForm,
    Distribution,
    QuestionForm,
    decimal_fraction,
    number_or_text,
)
from markets.millionths import ONE, millionths

TITLE = "yes or no"
KEY = "probability"
SCHEMA: Mapping[str, Any] = {
    "type": "number",
    "description": "that it ends YES: a fraction from 0 to 1, such as 0.65",
}


def check(form: QuestionForm) -> None:
    """Raise `BadForm` if the question names options or bounds."""
    if form != QuestionForm(form.kind):
        raise BadForm(
            "kind", "a question of yes or no has no options and no range", "remove them, or its kind"
        )


def instruction(_form: QuestionForm) -> str:
    """Say how the question is answered."""
    return "Give the probability that it ends YES."


def read(_form: QuestionForm, value: object) -> Distribution:
    """Return the chances of YES and NO that a probability states."""
    text = number_or_text(value)
    try:
        number = decimal_fraction(text)
    except ValueError:
        raise BadDistribution(f"{text[:40]!r} is not a probability") from None

    if not 0 <= number <= 1:
        raise BadDistribution(f"the probability {text[:40]} is not between 0 and 1")

    share = millionths(text)
    return Distribution((share, ONE - share))


def read_outcome(_form: QuestionForm, text: str) -> str:
    """Return YES or NO."""
    outcomes = {"yes": "YES", "true": "YES", "1": "YES", "no": "NO", "false": "NO", "0": "NO"}
    outcome = outcomes.get(text.strip().casefold())
    if outcome is None:
        raise ValueError(f"{text[:40]!r} is not yes or no")
    return outcome


def stated(_form: QuestionForm, answer: Distribution) -> float:
    """Return the probability of YES."""
    return answer.chances[0] / ONE


def uniform(_form: QuestionForm) -> Distribution:
    """Return even odds."""
    return Distribution((ONE // 2, ONE // 2))


def combined(_form: QuestionForm, answers: Sequence[Distribution]) -> Distribution:
    """Return the median probability."""
    chances = sorted(answer.chances[0] for answer in answers)
    middle = (chances[(len(chances) - 1) // 2] + chances[len(chances) // 2] + 1) // 2
    return Distribution((middle, ONE - middle))


def words(_form: QuestionForm, answer: Distribution) -> str:
    """Return the probability of YES as a percentage."""
    return f"YES {answer.chances[0] / ONE:.1%}"
