"""A question of a number within a range: quantiles by percent."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from markets.distributions import (
    ASKED_NAMES,
    ASKED_WORDS,
    PERCENT,
    Distribution,
    QuantileScale,
    QuestionForm,
    check_range,
    decimal_fraction,
    median_quantiles,
    quantile_words,
    read_quantiles,
    uniform_quantiles,
)

TITLE = "a number"
KEY = "quantiles"

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {name: {"type": "number"} for name in ASKED_NAMES},
    "required": ASKED_NAMES,
    "additionalProperties": False,
}
DIGITS = 12
"""After so many decimals a value is rounded."""


def _text(number: Fraction) -> str:
    """Return a number as decimal text, rounded after `DIGITS` decimals.

    >>> _text(Fraction(1, 3)), _text(Fraction(25, 2)), _text(Fraction(-3))
    ('0.333333333333', '12.5', '-3')
    """
    scaled = round(number * 10**DIGITS)
    whole_part, decimal_part = divmod(abs(scaled), 10**DIGITS)
    decimals = f"{decimal_part:0{DIGITS}}".rstrip("0")
    sign = "-" if scaled < 0 else ""
    if not decimals:
        return f"{sign}{whole_part}"
    return f"{sign}{whole_part}.{decimals}"


SCALE = QuantileScale(decimal_fraction, _text, "a number")


def _plain(text: str) -> int | float:
    """Return a number as JSON has it."""
    number = decimal_fraction(text)
    if number.denominator == 1:
        return int(number)
    return float(number)


def check(form: QuestionForm) -> None:
    """Raise `BadForm` if the question has no range of numbers."""
    check_range(form, SCALE)


def instruction(form: QuestionForm) -> str:
    """Say in which range the number lies, and which quantiles are wanted."""
    unit = f", in {form.unit}," if form.unit else ""
    low = "or lower" if form.open_low else "at least"
    high = "or higher" if form.open_high else "at most"

    return (
        f"The answer is a number{unit} between {form.low} ({low}) and {form.high} ({high}). Give the values "
        f"below which it lies with a chance of {ASKED_WORDS}."
    )


def read(form: QuestionForm, value: object) -> Distribution:
    """Return the quantiles that an object has by percent."""
    return read_quantiles(form, value, SCALE)


def read_outcome(_form: QuestionForm, text: str) -> str:
    """Return the number."""
    return _text(decimal_fraction(text))


def stated(_form: QuestionForm, answer: Distribution) -> dict[str, int | float]:
    """Return the quantiles by percent."""
    return {f"p{share // PERCENT}": _plain(value) for share, value in answer.quantiles}


def uniform(form: QuestionForm) -> Distribution:
    """Return the quantiles of an even spread over the range."""
    return uniform_quantiles(form, SCALE)


def combined(_form: QuestionForm, answers: Sequence[Distribution]) -> Distribution:
    """Return the median of each quantile."""
    return median_quantiles(answers, SCALE)


def words(form: QuestionForm, answer: Distribution) -> str:
    """Return the median, and the range in which the number lies with a chance of 80%."""
    return quantile_words(answer, SCALE, form.unit)
