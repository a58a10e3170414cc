"""A question of a date within a range: quantiles by percent, as ISO dates or instants."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
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
    median_quantiles,
    quantile_words,
    read_quantiles,
    uniform_quantiles,
)

TITLE = "a date"
KEY = "quantiles"

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {name: {"type": "string"} for name in ASKED_NAMES},
    "required": ASKED_NAMES,
    "additionalProperties": False,
}
START = datetime(1970, 1, 1, tzinfo=UTC)


def _seconds(text: str) -> Fraction:
    """Return the seconds from 1970 to an ISO date or instant; one without a zone is in UTC.

    >>> _seconds("1970-01-02"), _seconds("1970-01-01T00:01Z")
    (Fraction(86400, 1), Fraction(60, 1))
    """
    text = text.strip()
    if not text.isascii():
        raise ValueError(f"{text[:40]!r} is not a date")

    try:
        at = datetime.combine(date.fromisoformat(text), time(), UTC)
    except ValueError:
        at = datetime.fromisoformat(text)

    if at.tzinfo is None:
        at = at.replace(tzinfo=UTC)

    seconds = Fraction((at - START) // timedelta(seconds=1))
    _text(seconds)  # one that is out of reach in UTC is no date
    return seconds


def _text(seconds: Fraction) -> str:
    """Return an instant as ISO text, as a date alone where a day begins.

    >>> _text(Fraction(86_400)), _text(Fraction(60))
    ('1970-01-02', '1970-01-01T00:01:00Z')
    """
    try:
        at = START + timedelta(seconds=round(seconds))
    except OverflowError:
        raise ValueError("the date is before the year 1 or after the year 9999") from None
    if at.time() == time():
        return at.date().isoformat()
    return at.replace(tzinfo=None).isoformat() + "Z"


SCALE = QuantileScale(_seconds, _text, "a date such as 2026-01-31")


def check(form: QuestionForm) -> None:
    """Raise `BadForm` if the question has no range of dates."""
    check_range(form, SCALE)


def instruction(form: QuestionForm) -> str:
    """Say in which range the date lies, and which quantiles are wanted."""
    low = "or earlier" if form.open_low else "at the earliest"
    high = "or later" if form.open_high else "at the latest"

    return (
        f"The answer is a date between {form.low} ({low}) and {form.high} ({high}). Give the dates before "
        f"which it lies with a chance of {ASKED_WORDS}."
    )


def read(form: QuestionForm, value: object) -> Distribution:
    """Return the quantiles that an object has by percent."""
    return read_quantiles(form, value, SCALE)


def read_outcome(_form: QuestionForm, text: str) -> str:
    """Return the date."""
    return _text(_seconds(text))


def stated(_form: QuestionForm, answer: Distribution) -> dict[str, str]:
    """Return the quantiles by percent."""
    return {f"p{share // PERCENT}": value for share, value in answer.quantiles}


def uniform(form: QuestionForm) -> Distribution:
    """Return the quantiles of an even spread over the range."""
    return uniform_quantiles(form, SCALE)


def combined(_form: QuestionForm, answers: Sequence[Distribution]) -> Distribution:
    """Return the median of each quantile."""
    return median_quantiles(answers, SCALE)


def words(_form: QuestionForm, answer: Distribution) -> str:
    """Return the median, and the range in which the date lies with a chance of 80%."""
    return quantile_words(answer, SCALE)
