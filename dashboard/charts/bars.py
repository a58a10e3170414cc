"""Small pictures for the cells of a table: where a figure lies, and what chance leaves open around it.

Each is drawn into the table itself, on one scale for all rows, readable on white and on near-black.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from markupsafe import Markup

from dashboard.palette import MARKET

WIDTH, HEIGHT = 132, 28
EDGE = 7
FAR = 3
"""How many times as far as the other side a scale goes for those who lie far off on one."""


@dataclass(frozen=True, slots=True)
class Scale:
    """From where to where the pictures of a column go; 0 is always on it."""

    low: float
    high: float

    def at(self, value: float) -> float:
        """How far to the right a value lies; at the edge if it lies beyond."""
        inside = min(max(value, self.low), self.high)
        return round(EDGE + (inside - self.low) / (self.high - self.low) * (WIDTH - 2 * EDGE), 1)


def scale_of(spans: Sequence[tuple[float, float]]) -> Scale:
    """A scale for these spans. One who lies far off does not make all others too small to see.

    >>> scale_of([(-1, 1), (-1, 2), (-90, -80)]), scale_of([])
    (Scale(low=-6, high=2), Scale(low=-1.0, high=1.0))
    """
    lows, highs = [-min(low, 0) for low, _ in spans], [max(high, 0) for _, high in spans]
    if not max(*lows, *highs, 0, 0):
        return Scale(-1.0, 1.0)
    low, high = max(lows), max(highs)
    low, high = (
        min(low, max(FAR * high, FAR * median(lows)) or low),
        min(high, max(FAR * low, FAR * median(highs)) or high),
    )
    return Scale(-low, high)


def interval(value: float, low: float | None, high: float | None, colour: str, scale: Scale) -> Markup:
    """A point, the interval around it, and a line at 0; without an interval the point is hollow."""
    x = scale.at(value)
    if low is None or high is None:
        ring = f'<circle cx="{x}" cy="14" r="4.5" fill="none" stroke="{colour}" stroke-width="2"/>'
        return _picture(ring, scale)
    left, right = scale.at(low), scale.at(high)
    bar = f'<rect x="{left}" y="11" width="{max(right - left, 1):.1f}" height="6" rx="3" fill="{colour}"'
    return _picture(f'{bar} opacity=".5"/>{_point(value, colour, scale)}', scale)


def band(value: float, low: float, high: float, colour: str, scale: Scale) -> Markup:
    """A point before a grey band: where it would be by luck alone."""
    left, right = scale.at(low), scale.at(high)
    grey = f'<rect x="{left}" y="6" width="{max(right - left, 1):.1f}" height="16" fill="{MARKET}"'
    return _picture(f'{grey} opacity=".4"/>{_point(value, colour, scale)}', scale)


def _point(value: float, colour: str, scale: Scale) -> str:
    """A dot; an arrow where the value lies beyond the scale."""
    x = scale.at(value)
    if scale.low <= value <= scale.high:
        return f'<circle cx="{x}" cy="14" r="5" fill="{colour}"/>'
    tip = -EDGE if value < scale.low else EDGE
    return f'<path d="M{x + tip} 14l{-1.6 * tip} -6v12z" fill="{colour}"/>'


def _picture(inside: str, scale: Scale) -> Markup:
    x = scale.at(0)
    zero = f'<path d="M{x} 1V{HEIGHT - 1}" stroke="{MARKET}" stroke-width="1.5"/>'
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" aria-hidden="true"'
    return Markup(f"<svg {size}>{zero}{inside}</svg>")  # noqa: S704 - our own figures
