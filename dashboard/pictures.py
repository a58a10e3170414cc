"""Small pictures for cells of tables, and the basis of every drawing: scales and points.

Colours are classes: `c1` to `c8` those of agents (`SeasonOverview.colours`), `rest` all that is not chosen.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from markupsafe import Markup

from dashboard.html import NOTHING
from dashboard.words import filled

Points = Sequence[tuple[float, float]]
"""Places on the x axis, instants in seconds, and the values there."""

REST = "rest"
CHOSEN = ("c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8")


@dataclass(frozen=True, slots=True)
class Scale:
    """A mapping from values to places on a picture; values beyond it are drawn at the edge."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Return the place of a value."""
        inside = min(max(value, self.low), self.high) - self.low
        width = (self.high - self.low) or 1
        drawn = self.end - self.start
        return round(self.start + inside / width * drawn, 1)


def dot(look: str, x: float | str, y: float, radius: float, title: str = "") -> Markup:
    """Draw a point, with a tooltip that names it."""
    rest = Markup("/>")
    if title:
        rest = filled("><title>%s</title></circle>", title)
    return filled('<circle class="%s dot" cx="%s" cy="%s" r="%s"%s', look, x, y, radius, rest)


SMALL = (132, 26)
"""The size of a picture in a table's cell."""
FAR = 3
"""How many times farther than the other side a scale goes, for outliers on one side."""


def cell_scale(spans: Sequence[tuple[float, float]]) -> Scale:
    """Return one scale for a column, with 0 on it, on which an outlier doesn't make all others too small.

    >>> [(found.low, found.high) for found in map(cell_scale, ([(-1, 1), (-1, 2), (-90, -80)], []))]
    [(-6, 2), (-1.0, 1.0)]
    """
    depths = []
    heights = []
    for start, end in spans:
        depths.append(-min(start, 0))
        heights.append(max(end, 0))
    depth = max(depths, default=0)
    height = max(heights, default=0)
    if not depth and not height:
        return small_scale(-1.0, 1.0)

    allowed_depth = max(FAR * height, FAR * median(depths)) or depth
    allowed_height = max(FAR * depth, FAR * median(heights)) or height
    return small_scale(-min(depth, allowed_depth), min(height, allowed_height))


def small_scale(low: float, high: float) -> Scale:
    """Return the scale of a picture in a table's cell."""
    return Scale(low, high, 7, SMALL[0] - 7)


def interval(value: float, low: float | None, high: float | None, look: str, scale: Scale) -> Markup:
    """Draw a point, the interval around it, and a line at 0; without an interval the point is hollow."""
    if low is None or high is None:
        ring = filled('<circle class="%s ring" cx="%s" cy="13" r="4"/>', look, scale.at(value))
        return _cell_svg(ring, scale)
    bar = _interval_bar(low, high, f"{look} span", 5, scale)
    return _cell_svg(bar + _value_dot(value, look, scale), scale)


def before_band(value: float, low: float, high: float, scale: Scale) -> Markup:
    """Draw a point before a grey band: the range of luck alone."""
    bar = _interval_bar(low, high, "band", 18, scale)
    return _cell_svg(bar + _value_dot(value, "c1", scale), scale)


def step_bar(start: float, end: float, look: str, scale: Scale) -> Markup:
    """Draw a bar from one value to another: a part of a sum."""
    left = min(start, end)
    right = max(start, end)
    bar = _interval_bar(left, right, f"{look} part", 14, scale)
    return _cell_svg(bar, scale)


def _interval_bar(low: float, high: float, look: str, height: int, scale: Scale) -> Markup:
    """Draw a bar from one value to another, half its height over the middle of the cell."""
    left = scale.at(low)
    length = scale.at(high) - left
    width = round(max(length, 1), 1)
    rounded: float = 0
    if height == 5:
        rounded = height / 2
    bar = '<rect class="%s" x="%s" y="%s" width="%s" height="%s" rx="%s"/>'
    top = (SMALL[1] - height) / 2
    return filled(bar, look, left, top, width, height, rounded)


def _value_dot(value: float, look: str, scale: Scale) -> Markup:
    """Draw a dot, or an arrow if the value lies beyond the scale."""
    x = scale.at(value)
    if scale.low <= value <= scale.high:
        return dot(look, x, 13, 4.5)
    arrow_length = 7
    if value < scale.low:
        arrow_length = -7
    return filled(
        '<path class="%s dot" d="M%s 13l%s -6v12z"/>', look, x + arrow_length, round(-1.6 * arrow_length, 1)
    )


def _cell_svg(inside: Markup, scale: Scale) -> Markup:
    """Return a picture in a cell, with its line at 0."""
    size = filled('width="%s" height="%s" viewBox="0 0 %s %s"', *SMALL, *SMALL)
    zero = filled('<path class="base" d="M%s 1V%s"/>', scale.at(0), SMALL[1] - 1)
    return filled('<svg class="cell" %s aria-hidden="true">%s%s</svg>', size, zero, inside)


def sparkline(values: Sequence[float], look: str = REST) -> Markup:
    """Draw a small line with its end marked, or nothing for fewer than two values."""
    if len(values) < 2:
        return NOTHING
    last = len(values) - 1
    across = Scale(0, last, 2, 84)
    low = min(values)
    high = max(values)
    up = Scale(low, high, 20, 4) if low < high else Scale(0, 1, 12, 12)

    svg = (
        '<svg class="spark" width="90" height="24" viewBox="0 0 90 24" aria-hidden="true">'
        '<polyline class="%s line" points="%s"/>%s</svg>'
    )
    points = " ".join(f"{across.at(x)},{up.at(y)}" for x, y in enumerate(values))
    end = dot(look, across.at(last), up.at(values[-1]), 2.5)
    return filled(svg, look, points, end)


def meter(share: float) -> Markup:
    """Draw the used share of something as a bar."""
    look = "c1"
    if share >= 1:
        look = "loss"
    elif share >= 0.8:
        look = "c4"
    svg = (
        '<svg class="meter" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="band" width="100" height="4"/><rect class="%s part" width="%s" height="4"/></svg>'
    )
    return filled(svg, look, round(100 * min(share, 1.0), 1))
