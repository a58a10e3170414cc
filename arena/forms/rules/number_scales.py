"""The scale that a number is asked on: even, or logarithmic as on Metaculus.

- Formula: on an even scale the position is s = (value − low) / (high − low); where steps grow by a ratio r
  from end to end it is the logarithm to the base r of 1 + (r − 1) · s. With a zero point z, r is
  (high − z) / (low − z).
- Edge cases: what lies so far below that it has no logarithm is just below the range.
- Source: the site's code.
"""

from dataclasses import dataclass, replace
from math import exp, log

from arena.forms.model import SourceQuestion
from arena.forms.objects import as_number, as_time

BEYOND = 0.005
"""An outcome known only to lie beyond a range is read as lying this share of the range beyond it."""
EVEN = 1e-6
"""A scale whose steps grow by less than this from end to end counts as even."""


@dataclass(frozen=True, slots=True)
class NumberScale:
    """The range of a number, or a date in seconds since 1970; logarithmic if steps grow by a `ratio`."""

    low: float
    high: float
    ratio: float = 1.0
    is_date: bool = False

    @property
    def is_even(self) -> bool:
        """Tell whether equal steps are equal amounts."""
        return abs(self.ratio - 1) < EVEN

    def position(self, value: float) -> float:
        """Return the position of a value: 0 at the lower end, 1 at the upper.

        >>> NumberScale(0, 10).position(2.5), round(NumberScale(1, 100, 100.0).position(10), 9)
        (0.25, 0.5)
        """
        share = (value - self.low) / (self.high - self.low)

        if self.is_even:
            return share

        growth = 1 + share * (self.ratio - 1)

        if growth <= 0:
            return -BEYOND

        return log(growth) / log(self.ratio)

    def value_at(self, position: float) -> float:
        """Return the value at a position.

        >>> NumberScale(0, 10).value_at(0.25), round(NumberScale(1, 100, 100.0).value_at(0.5), 9)
        (2.5, 10.0)
        """
        if self.is_even:
            return self.low + position * (self.high - self.low)

        share_of_range = (exp(position * log(self.ratio)) - 1) / (self.ratio - 1)
        return self.low + share_of_range * (self.high - self.low)

    def real(self, value: float) -> float | str:
        """Return the value itself: a number, or a date as ISO text."""
        instant = as_time(value)

        if self.is_date and instant is not None:
            return instant.isoformat()

        return value

    def given(self, value: float) -> float | str:
        """Return a value as forms store it: a number or date, or its position on a logarithmic scale."""
        if not self.is_even:
            return self.position(value)

        return self.real(value)

    def beyond(self, is_above: bool) -> float | str:
        """Return a value just beyond an end of the range."""
        position = 1 + BEYOND if is_above else -BEYOND

        if not self.is_even:
            return position

        return self.given(self.low + position * (self.high - self.low))


def number_or_date(value: object, is_date: bool) -> float | None:
    """Return a number, or a date in seconds since 1970; None if it can't be read."""
    if not is_date:
        return as_number(value)

    instant = as_time(value)
    if instant is None:
        return None
    return instant.timestamp()


def with_range(question: SourceQuestion, scale: NumberScale) -> SourceQuestion:
    """Return a numeric question with its range."""
    return replace(
        question,
        low=scale.given(scale.low),
        high=scale.given(scale.high),
        ratio=scale.ratio,
        real_low=scale.real(scale.low),
        real_high=scale.real(scale.high),
    )
