"""Charts with axes, as SVG that stands without a script, and their marks in figures for assets/marks.js.

A chart is drawn once for every width: across in percent of its width, up in pixels, so that letters and dots
keep their size. Lines and bands, which SVG can't give in percent, stand in a picture of their own that is
stretched. With the figures the script says what lies under a pointer, a finger or the arrow keys, shows and
hides lines, and leads on. What a chart shows is its label, for those who can't see it.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import accumulate, chain, pairwise
from math import ceil, floor, log10, sqrt
from typing import Any, TypeVar

from markupsafe import Markup

from arena.scores.rules.money.luck import Luck
from arena.scores.rules.reliability.diagram import ReliabilityDiagram
from arena.scores.rules.reliability.reading import reading_sentence
from dashboard.html import NOTHING, folded, quiet
from dashboard.long_names import cut_in_middle, cut_places, short_forms
from dashboard.pictures import REST, Points, Scale, dot
from dashboard.words import cents, compact, day, filled, written
from markets.millionths import ONE

Item = TypeVar("Item")


def thin(items: Sequence[Item], limit: int) -> list[Item]:
    """Return at most `limit` of the items, evenly spaced, with the first and the last one.

    >>> thin([1, 2, 3, 4, 5, 6, 7], 3), thin([1, 2], 3)
    ([1, 4, 7], [1, 2])
    """
    limit = max(limit, 2)
    if len(items) <= limit:
        return list(items)
    last = len(items) - 1
    return [items[place * last // (limit - 1)] for place in range(limit)]


Band = Sequence[tuple[float, float, float]]
"""Places on the x axis, with the lower and upper end of the band there."""
Rounds = Sequence[tuple[float, str]]
"""Instants of rounds in order, with the key of each in addresses."""

LETTER = 6.8
LINE = 15
"""The approximate width of a letter of a label, and the space between labels."""
MOST = 300
"""The most points of a line: more can't be told apart."""
TWO_SIDED = 1.96
"""This many standard deviations hold 95 in 100."""
MARKET_PRICE = "market price"
YES_PRICE = "YES price"
MEDIAN = "agents’ median"
"""Lines that are of no agent: none can have a name with a space in it."""
WANTED_TICKS = 5
HALF = 280
LONG = 230
"""The heights of charts in pixels: one beside another, and one that has a line to itself."""
LEFT = (8, 36, 52, 76, 110, 150, 200)
RIGHT = (12, 48, 76, 104, 132, 160, 188)
"""The rooms at the sides, for which the style sheet has a class each: `left36`, `right48` and so on."""
HIDDEN = 132
ON_PHONE = 10
"""From this room on, names at the ends of lines are hidden on a phone; the room that is left there."""
WIDE = 1_000
"""The width of the picture that is stretched; each pixel of its height is ten of its units."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line: its points, its class, the text behind its name at its end, and whether it is dashed.

    `href` is where its marks lead: to a page, or to what the name of a round makes one.
    """

    name: str
    points: Points
    look: str = REST
    end: str = ""
    dashed: bool = False
    href: str = ""

    @property
    def title(self) -> str:
        """Return its name with what stands behind it."""
        return f"{self.name} {self.end}".strip()


@dataclass(frozen=True, slots=True)
class Plot:
    """The drawing area: its ranges across and up, and its height."""

    x: tuple[float, float]
    y: tuple[float, float]
    height: int

    def across(self, value: float) -> float:
        """Return the place of a value from the left, in percent."""
        scale = Scale(*self.x, 0, 100)
        return scale.at(value)

    def up(self, value: float) -> float:
        """Return the place of a value from the top, in pixels."""
        scale = Scale(*self.y, self.height, 0)
        return scale.at(value)

    def pairs(self, points: Points) -> str:
        """Return points in the picture that is stretched, as SVG writes them."""
        across = Scale(*self.x, 0, WIDE)
        return " ".join(f"{across.at(x):.0f},{10 * self.up(y):.0f}" for x, y in points)


def _room(rooms: Sequence[int], texts: Iterable[str], beside: int) -> int:
    """Return the least room in which the longest of the texts fits, or the largest."""
    longest = max(map(len, texts), default=0)
    need = beside + LETTER * longest
    fitting = (room for room in rooms if room >= need)
    return next(fitting, rooms[-1])


def _label(x: float, y: float, text: str, look: str, anchor: str = "start", dx: int = 0) -> Markup:
    """Draw a word."""
    moved = filled(' dx="%s"', dx) if dx else NOTHING
    label = '<text class="%s" x="%s%%" y="%s" text-anchor="%s"%s>%s</text>'
    return filled(label, look, x, y, anchor, moved, text)


def _upright(look: str, x: float, top: int, bottom: int) -> Markup:
    """Draw an upright line."""
    return filled('<line class="%s" x1="%s%%" x2="%s%%" y1="%s" y2="%s"/>', look, x, x, top, bottom)


def _level(y: float, text: str, look: str = "grid") -> Markup:
    """Draw a tick of the upright axis, with its line across."""
    line = filled('<line class="%s" x2="100%%" y1="%s" y2="%s"/>', look, y, y)
    tick = _label(0, y + 4, text, "axis", "end", -8)
    return line + tick


def _left_room(values: Iterable[float], unit: str) -> int:
    """Return the room that the ticks of the upright axis need."""
    texts = [written(value, unit) for value in values]
    return _room(LEFT, texts, 12)


def _levels(plot: Plot, values: Iterable[float], unit: str) -> Iterator[Markup]:
    """Draw the ticks of the upright axis; that of 0 is the base."""
    for value in values:
        y = plot.up(value)
        text = written(value, unit)
        look = "grid" if value else "base"
        yield _level(y, text, look)


def _marks_below(plot: Plot, values: Sequence[float], unit: str, room: int) -> Iterator[Markup]:
    """Draw the ticks of the lower axis, with more digits than the pattern `unit` has if they need them.

    `room` is how wide the picture is on a narrow phone.
    """
    exact = _exact(unit, values)
    texts = [(plot.across(value), written(value, exact)) for value in values]
    yield from _words_below(plot, texts, room)


def _times_below(plot: Plot, first: float, last: float, room: int) -> Iterator[Markup]:
    """Draw the ticks of a lower axis that is time, each with its line upwards."""
    texts = [(plot.across(at), text) for at, text in time_ticks(first, last)]
    for x, _ in texts:
        yield _upright("grid", x, 0, plot.height)
    yield from _words_below(plot, texts, room)


NARROW = 300
"""The width of a chart on a narrow phone, in pixels, with the rooms at its sides."""
APART = 8
"""The space between words, in pixels."""


def _words_below(plot: Plot, texts: Sequence[tuple[float, str]], room: int) -> Iterator[Markup]:
    """Draw words below the lower axis at their places in percent; the style sheet hides some on a phone."""
    step = words_step(texts, room)
    for number, (x, text) in enumerate(texts):
        look = "axis spare" if number % step else "axis"
        yield _label(x, plot.height + 18, text, look, "middle")


def words_step(texts: Sequence[tuple[float, str]], room: int) -> int:
    """Return the smallest step at which words at these places, in percent of a width, don't overlap.

    >>> words_step([(0, "9 Jan"), (50, "11 Jan"), (100, "13 Jan")], 200)
    1
    >>> words_step([(0, "9 Jan"), (50, "11 Jan"), (100, "13 Jan")], 60)
    2
    """
    for step in range(1, len(texts)):
        is_apart = True
        for (x, text), (next_x, next_text) in pairwise(texts[::step]):
            need = LETTER * (len(text) + len(next_text)) / 2 + APART
            is_apart = is_apart and (next_x - x) * room / 100 >= need
        if is_apart:
            return step
    return max(len(texts), 1)


def _stretched(plot: Plot, inside: Iterable[Markup]) -> Markup:
    """Return the picture of lines and bands, which stretches to the width of the chart."""
    svg = '<svg viewBox="0 0 %s %s" preserveAspectRatio="none">%s</svg>'
    shapes = NOTHING.join(inside)
    height = 10 * plot.height
    return filled(svg, WIDE, height, shapes)


READ_BY_KEYS = Markup(' tabindex="0" role="group" aria-label="Marks: arrow keys read them"')
TOOLS = {"csv": "CSV", "svg": "SVG", "link": "Link"}
"""The download of a chart, by its name in marks.js."""


def _chart(
    says: str,
    height: int,
    sides: tuple[int, int],
    inside: Iterable[Markup],
    marks: Mapping[str, Any] | None = None,
    chips: Markup = NOTHING,
) -> Markup:
    """Return a chart with its label, its drawing, its figures if any, and its download."""
    tools = NOTHING
    for tool, word in TOOLS.items():
        if marks is not None or tool != "csv":
            tools += filled('<button type="button" data-do="%s">%s</button>', tool, word)

    figures = NOTHING
    if marks is not None:
        figures = filled(" data-marks='%s'", _json(marks))

    words = re.sub("[^a-z0-9]+", "-", says.lower())
    name = words[:48].strip("-")
    figure = (
        '<figure class="chart" id="%s"%s><div class="plot left%s right%s"%s>'
        '<svg width="100%%" height="%s" role="img" aria-label="%s">%s'
        '</svg><div class="tip" role="status"></div></div>%s<span class="tools">%s</span></figure>'
    )
    svg = NOTHING.join(inside)
    return filled(figure, name, figures, *sides, READ_BY_KEYS, height, says, svg, chips, tools)


def _json(marks: Mapping[str, Any]) -> Markup:
    """Return figures as JSON for an attribute in single quotes, safely escaped.

    >>> print(_json({"name": "<b> & 'c'"}))
    {"name":"\\u003cb\\u003e \\u0026 \\u0027c\\u0027"}
    """
    text = json.dumps(marks, separators=(",", ":"))
    for sign in "<>&'":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)  # noqa: S704 - nothing of it can end the attribute or begin an element


MOST_CHIPS = 16
"""Lines that are named below a chart; the others are folded away."""
LONGEST_CHIP = 10
"""Longer names are cut where there is no room for them."""


def _chips(lines: Sequence[tuple[str, str, str]], alone: bool = False) -> Markup:
    """Return a button for each line with its name, its class and its end; only the first is on if `alone`.

    A line by itself has none, unless it is one that is shown alone. Those that have a colour come first.
    """
    if len(lines) < 2 and not alone:
        return NOTHING
    chip = (
        '<button type="button" class="%s" data-line="%s" title="%s"%s aria-pressed="%s"><i></i>%s%s</button>'
    )
    names = [name for name, _, _ in lines]
    places = cut_places(names, LONGEST_CHIP)
    first: list[Markup] = []
    others: list[Markup] = []
    for place, (name, look, end) in enumerate(lines):
        pressed = "false" if alone and place else "true"
        value = filled(" <b>%s</b>", end) if end else NOTHING
        is_coloured = look != REST or alone
        shown = first if is_coloured else others
        label = cut_in_middle(name, places)
        whole = NOTHING if name == label else filled(' aria-label="%s %s"', name, end)
        shown.append(filled(chip, look, place, name, whole, pressed, label, value))

    chips = first + others
    hidden = NOTHING
    if len(chips) > MOST_CHIPS:
        folded_away = NOTHING.join(chips[MOST_CHIPS:])
        more = f"{len(chips) - MOST_CHIPS} more"
        hidden = folded(more, folded_away)

    first_chips = NOTHING.join(chips[:MOST_CHIPS])
    inside = first_chips + hidden
    return filled('<div class="chips" role="group" aria-label="Lines that are shown">%s</div>', inside)


def _drawn_line(place: int, line: Line, plot: Plot) -> Markup:
    """Draw a line with its name as a tooltip, or a dot if it has only one point."""
    look = "line"
    points = plot.pairs(line.points)
    if len(line.points) == 1:
        look = "line dots"
        points = f"{points} {points}"
    dash = Markup(' stroke-dasharray="5 4"') * line.dashed
    drawn = '<polyline class="%s %s" data-line="%s" points="%s"%s><title>%s</title></polyline>'
    return filled(drawn, line.look, look, place, points, dash, line.title)


def _ends(plot: Plot, lines: Iterable[tuple[int, Line]], room: int) -> Iterator[Markup]:
    """Draw names at the ends of lines, moved apart where they would overlap."""
    ends = sorted((plot.up(line.points[-1][1]), place, line) for place, line in lines)
    lowest = plot.height - 4
    heights = [y for y, _, _ in ends]
    places = spread(heights, 4, lowest)

    longest_end = max((len(line.end) + 1 for _, _, line in ends if line.end), default=0)
    letters = int((room - 12) / LETTER) - longest_end
    names = [line.name for _, _, line in ends]
    forms = short_forms(names, letters)

    for (y, place, line), moved in zip(ends, places, strict=True):
        text = f"{forms[line.name]} {line.end}".strip()
        last_x = line.points[-1][0]
        x = plot.across(last_x)
        end = _dot(line.look, x, y, 3.5)
        name = _label(100, moved + 4, text, f"{line.look} name", dx=10)
        yield filled('<g data-line="%s">%s%s</g>', place, end, name)


def _dot(look: str, x: float, y: float, radius: float, title: str = "") -> Markup:
    """Draw a point at a share of the width."""
    return dot(look, f"{x}%", y, radius, title)


def spread(places: Sequence[float], low: float, high: float) -> list[float]:
    """Return places from top to bottom, moved apart by the height of a line and kept inside.

    >>> spread([20, 22, 100], 10, 110), spread([108, 109], 10, 110), spread([4, 6], 10, 110)
    ([20, 35, 100], [95, 110], [10, 25])
    """
    inside = (max(place, low) for place in places)
    apart = list(accumulate(inside, lambda before, place: max(place, before + LINE)))

    limit = high
    for number in range(len(apart) - 1, -1, -1):
        raised = min(apart[number], limit)
        apart[number] = max(raised, low)
        limit = apart[number] - LINE
    return apart


STEPS = (1.0, 2.0, 5.0, 2.5, 10.0, 20.0)
"""Steps between ticks, in powers of ten: of two with as many ticks, the earlier is preferred."""


def ticks(low: float, high: float) -> list[float]:
    """Return about five round values between two others, including 0 if it lies between.

    >>> ticks(-18, 22), ticks(0, 0.9), ticks(-1, 30)
    ([-10.0, 0.0, 10.0, 20.0], [0.0, 0.2, 0.4, 0.6, 0.8], [0.0, 10.0, 20.0, 30.0])
    >>> ticks(-2_300, 12_900), ticks(0, 100)
    ([0.0, 2500.0, 5000.0, 7500.0, 10000.0, 12500.0], [0.0, 25.0, 50.0, 75.0, 100.0])
    """
    wanted_step = (high - low) / WANTED_TICKS
    power = floor(log10(wanted_step))
    unit = 10.0**power

    best: list[float] = []
    for step in STEPS:
        distance = step * unit
        first = ceil(low / distance - 1e-9)
        last = floor(high / distance + 1e-9)
        numbers = range(first, last + 1)
        values = [round(number * step * unit, 12) + 0.0 for number in numbers]
        best = _better(best, values)
    return best


def _better(first: list[Item], second: list[Item]) -> list[Item]:
    """Return the set of ticks that is closer to the wanted number; the first of equals."""
    return min(first, second, key=lambda ticks: abs(len(ticks) - WANTED_TICKS))


def power_ticks(low: float, high: float) -> list[float]:
    """Return about five logarithms of round values between two others: powers of ten, or 2 and 5 times them.

    >>> [round(10**level, 6) for level in power_ticks(-0.6, 2.6)], power_ticks(-3, 7)
    ([1.0, 10.0, 100.0], [-2.0, 0.0, 2.0, 4.0, 6.0])
    >>> [round(10**level, 6) for level in power_ticks(-0.2, 1.1)]
    [1.0, 2.0, 5.0, 10.0]
    """
    whole = [level for level in ticks(low, high) if level == int(level)]
    if len(whole) > 2:
        return whole
    found = []
    for power in range(floor(low), ceil(high)):
        found += [power + log10(size) for size in (1, 2, 5)]
    top = float(ceil(high))
    return [level for level in [*found, top] if low <= level <= high]


MINUTE = 60
HOUR = 60 * MINUTE
DAY = 24 * HOUR
WEEK = 7 * DAY
MONDAY = 4 * DAY
"""The first Monday that computers count from: weeks begin there."""
CLOCK_STEPS = (
    MINUTE,
    5 * MINUTE,
    15 * MINUTE,
    HOUR,
    2 * HOUR,
    3 * HOUR,
    6 * HOUR,
    12 * HOUR,
    DAY,
    2 * DAY,
    WEEK,
    2 * WEEK,
)
MONTH_STEPS = (1, 2, 3, 6, 12, 24, 60)


def time_ticks(first: float, last: float) -> list[tuple[float, str]]:
    """Return about five instants between two others with a text each: round times, days, or starts of months.

    Within a minute it is the first alone.

    >>> day = 86_400
    >>> [text for _, text in time_ticks(0, 150 * day)], [text for _, text in time_ticks(0, 1.2 * day)]
    (['Jan 1970', 'Feb', 'Mar', 'Apr', 'May'], ['1 Jan', '06:00', '12:00', '18:00', '2 Jan'])
    >>> [text for _, text in time_ticks(0, 10 * day)], [text for _, text in time_ticks(5, 5)]
    (['1 Jan', '3 Jan', '5 Jan', '7 Jan', '9 Jan', '11 Jan'], ['1 Jan 1970'])
    >>> [text for _, text in time_ticks(0.4 * day, 0.6 * day)]
    ['1 Jan 10:00', '11:00', '12:00', '13:00', '14:00']
    """
    if last - first < MINUTE:
        start = datetime.fromtimestamp(first, UTC)
        return [(first, day(start))]
    best: list[tuple[float, str]] = []
    for step in CLOCK_STEPS:
        if (last - first) / step < 3 * WANTED_TICKS:
            best = _better(best, _clock_ticks(first, last, step))
    for months in MONTH_STEPS:
        if (last - first) / DAY / 28 / months < 3 * WANTED_TICKS:
            best = _better(best, _month_ticks(first, last, months))
    if all(":" in text for _, text in best):  # no midnight among them, which would have its date
        at, clock = best[0]
        start = datetime.fromtimestamp(at, UTC)
        best[0] = (at, f"{start.day} {start:%b} {clock}")
    return best


def _clock_ticks(first: float, last: float, step: int) -> list[tuple[float, str]]:
    """Return ticks at this interval in seconds; a week begins on its Monday."""
    start = MONDAY if step >= WEEK else 0
    lowest = ceil((first - start) / step)
    highest = floor((last - start) / step)

    found = []
    for number in range(lowest, highest + 1):
        instant = start + number * step
        at = datetime.fromtimestamp(instant, UTC)
        has_time = at.hour or at.minute
        text = f"{at:%H:%M}" if has_time else f"{at.day} {at:%b}"
        found.append((at.timestamp(), text))
    return found


def _month_ticks(first: float, last: float, months: int) -> list[tuple[float, str]]:
    """Return the starts of months at this interval; each January names its year."""
    start = datetime.fromtimestamp(first, UTC)
    first_month = 12 * start.year + start.month - 1
    number = first_month // months * months
    found: list[tuple[float, str]] = []
    at = datetime(number // 12, number % 12 + 1, 1, tzinfo=UTC)
    while at.timestamp() <= last:
        if at.timestamp() >= first:
            form = "%b" if at.month > 1 else "%b %Y"
            text = f"{at:{form}}"
            found.append((at.timestamp(), text))
        number += months
        at = datetime(number // 12, number % 12 + 1, 1, tzinfo=UTC)
    return found


def _around(values: Sequence[float]) -> tuple[float, float]:
    """Return the range of an axis that has all of these values."""
    low = min(values)
    high = max(values)
    room = (high - low or 1.0) * 0.06
    return low - room, high + room


def line_chart(
    lines: Sequence[Line],
    says: str,
    unit: str,
    band: Band = (),
    note: str = "",
    height: int = HALF,
    rounds: Rounds = (),
) -> Markup:
    """Draw lines over time with their names at their ends, the chosen ones before the others.

    `unit` is a format of `dashboard.words.written`, `band` is shaded, `note` says of what; `rounds` are
    instants of rounds with what names each in an address, where lines lead to what was decided in one.
    """
    whole = [line for line in lines if line.points]
    if not whole:
        return NOTHING
    instants = _told_instants(whole)
    lines = []
    for line in whole:
        drawn_points = [point for point in line.points if point[0] in instants]
        lines.append(replace(line, points=drawn_points))

    first = min(instants)
    last = max(instants)
    plot, pattern = _time_plot(lines, band, (first, last), unit, height)
    levels = ticks(*plot.y)
    if unit == "power":
        levels = power_ticks(*plot.y)

    numbered = list(enumerate(lines))
    named = [(place, line) for place, line in numbered if line.look != REST]
    others = [(place, line) for place, line in numbered if line.look == REST]
    left = _left_room(levels, pattern)
    titles = [line.title for _, line in named]
    right = _room(RIGHT, titles, 14)

    shapes = [_polygon(band, plot)]
    shapes += [_drawn_line(place, line, plot) for place, line in (*others, *reversed(named))]
    picture = _stretched(plot, shapes)
    beside = ON_PHONE if len(lines) > 1 or right >= HIDDEN else right
    drawn = [
        *_levels(plot, levels, pattern),
        *_times_below(plot, first, last, NARROW - left - beside),
        picture,
        *_ends(plot, named, right),
    ]

    labels = [(line.name, line.look, line.end) for line in lines]
    chips = _chips(labels)
    seconds = {round(at) for at in instants}
    times = sorted(seconds)
    marks = _line_marks(whole, times, plot, unit, rounds)
    chart = _chart(says, height, (left, right), drawn, marks, chips)
    return chart + quiet(note)


def _time_plot(
    lines: Sequence[Line], band: Band, span: tuple[float, float], unit: str, height: int
) -> tuple[Plot, str]:
    """Return the area of lines and a band over time, and the format of its upright ticks."""
    values = [value for line in lines for _, value in line.points]
    edges = chain.from_iterable((low, high) for _, low, high in band)
    y, pattern = _upright_axis([*values, *edges], unit)

    first, last = span
    if first == last:
        span = (first - 1, last + 1)
    return Plot(span, y, height), pattern


def _polygon(band: Band, plot: Plot) -> Markup:
    """Draw a band."""
    if not band:
        return NOTHING
    edges: list[tuple[float, float]] = []
    lower = []
    for x, low, high in band:
        edges.append((x, high))
        lower.append((x, low))
    edges += reversed(lower)
    outline = plot.pairs(edges)
    return filled('<polygon class="band" points="%s"/>', outline)


def _upright_axis(values: Sequence[float], unit: str) -> tuple[tuple[float, float], str]:
    """Return the range of an axis with 0 on it, and a format in which its ticks are exact."""
    low, high = _around([0.0, *values])
    least = LEAST.get(unit, 0.0) if any(values) else FLAT
    reached = max(-low, high)
    if reached < least:
        high = least
        low = -least
    if "f%" in unit:
        between = ticks(low, high)
        unit = _exact(unit, between)
    return (low, high), unit


FLAT = 2.2
"""The range of the axis for a line that stays at 0."""
LEAST = {"short": 3.2, "power": 0.5}
"""The least range of an axis: money on it has no cents."""


def _exact(pattern: str, values: Iterable[float]) -> str:
    """Return a pattern of `words.written` with as many more digits as these values need.

    >>> _exact("%+.0f%", [0.0, 2.5]), _exact("%.1f", [0.5, 1.0])
    ('%+.1f%', '%.1f')
    """
    before, _, behind = pattern.partition(".")
    places = int(behind[0])
    while any(round(value, places) != value for value in values):
        places += 1
    return f"{before}.{places}{behind[1:]}"


MARK_UNITS = {
    "short": ("$", "", 2, 2),
    "dollar": ("$", "", 6, 2),
    "power": ("×", "", 3, 0),
    "%.0f%": ("", "%", 1, 1),
}
"""How marks.js writes a value: prefix, suffix, and the most and fewest digits."""
PERCENT = ("", "%", 2, 2)
"""The format of a unit without one of its own."""


def _told_instants(lines: Sequence[Line]) -> set[float]:
    """Return the instants that a chart draws: up to this many of all lines together, and their ends."""
    every = sorted({at for line in lines for at, _ in line.points})
    ends = {line.points[place][0] for line in lines for place in (0, -1)}
    drawn = thin(every, MOST)
    return ends.union(drawn)


def _line_marks(
    lines: Sequence[Line], times: Sequence[int], plot: Plot, unit: str, rounds: Rounds
) -> dict[str, Any]:
    """Return the figures of lines: instants and values as integers, each as the difference to the one before.

    From its first mark on a line has at every instant the value of its last mark until then, drawn or not.
    """
    before, behind, places, least = MARK_UNITS.get(unit, PERCENT)
    told = []
    for line in lines:
        marked = [round(at) for at, _ in line.points]
        start = times.index(marked[0])
        value = 0
        steps = []
        for at in times[start:]:
            last = bisect_right(marked, at) - 1
            _, newest = line.points[last]
            after = _whole(newest, unit, places)
            steps.append(after - value)
            value = after
        mark = {"name": line.name, "look": line.look, "from": start, "by": steps}
        if line.href:
            mark["href"] = line.href
        told.append(mark)

    has_sign = unit in ("short", "%+.0f%")
    is_logarithm = unit == "power"
    x = [round(edge) for edge in plot.x]
    y = [float(f"{edge:.6g}") for edge in plot.y]
    apart = [after - before for before, after in pairwise([0, *times])]
    marks: dict[str, Any] = {
        "x": x,
        "y": y,
        "unit": [before, behind, places, least, has_sign, is_logarithm],
        "at": apart,
        "lines": told,
    }
    if rounds:
        marks["rounds"] = [_round_at(at, rounds) for at in times]
    return marks


def _whole(value: float, unit: str, places: int) -> int:
    """Return a value as an integer of its last digit; evidence is drawn by its logarithm."""
    if unit == "power":
        value = 10**value
    rounded = round(value, places)
    return round(rounded * 10.0**places)


def _round_at(at: float, rounds: Rounds) -> str:
    """Return the name of the last round until an instant, or nothing before the first."""
    count = bisect_right(rounds, at, key=lambda decided: round(decided[0]))
    return rounds[count - 1][1] if count else ""


def luck_band(points: Points, luck: Luck | None = None, scale: float = 1.0) -> Band:
    """Return the band in which luck alone keeps an account, in 95 seasons of 100, at each instant.

    At fair prices each change of an account's worth is as likely to be of the other sign, so by an instant
    luck is as wide as the changes until then, added as squares. Where the end is known from the bets
    themselves (`luck`, in millionths, drawn in units of `scale`), the band grows by that share towards it.
    """
    squares = list(
        accumulate(((after - before) ** 2 for (_, before), (_, after) in pairwise(points)), initial=0.0)
    )
    total = squares[-1]
    if not total:
        return ()

    mean = 0.0
    high = TWO_SIDED * sqrt(total)
    low = -high
    if luck is not None and luck.low is not None and luck.high is not None:
        mean = luck.mean / ONE * scale
        low = luck.low / ONE * scale
        high = luck.high / ONE * scale

    band = []
    for (at, _), square in zip(points, squares, strict=True):
        part = square / total
        width = sqrt(part)
        middle = mean * part
        lowest = middle + (low - mean) * width
        highest = middle + (high - mean) * width
        band.append((at, lowest, highest))
    return band


SQUARE = 250
COUNTS = 64
"""The heights of the two parts of a calibration chart: the curve, and the counts below it."""
QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)


def calibration_chart(
    curves: Sequence[tuple[str, ReliabilityDiagram, str]],
    says: str,
    height: int = SQUARE,
    *,
    is_named: bool = True,
) -> Markup:
    """Draw stated against realised frequencies by tenths of the scale, with their counts below.

    `curves` are names, diagrams and classes: one is shown at a time, the first until another is chosen. One
    by itself need not be named where the page is about it.
    """
    curves = [curve for curve in curves if curve[1].deciles]
    if not curves:
        return NOTHING
    plot = Plot((0.0, 1.0), (0.0, 1.0), height)
    whole = Plot(plot.x, plot.y, height + COUNTS)

    drawn = _quarters(plot, whole)
    diagonal = filled('<polyline class="base" points="0,%s %s,0"/>', 10 * height, WIDE)
    shapes = [diagonal]

    told: list[dict[str, Any]] = []
    sentences = NOTHING
    for place, (name, diagram, look) in enumerate(curves):
        colour = "ink" if look == REST else look
        off = " off" * bool(place)
        curve = _deciles(diagram, plot)
        shape = filled('<g class="%s%s" data-line="%s">%s</g>', colour, off, place, curve)
        shapes.append(shape)

        group = '<g class="counts%s" data-line="%s" transform="translate(0 %s)">%s</g>'
        drawn.append(filled(group, off, place, height + 22, _counts(diagram)))

        tenths = _tenths(diagram)
        told.append({"name": name, "look": colour, "tenths": tenths})
        sentence = reading_sentence(diagram.sure, diagram.null.p_value)
        sentences += filled('<p class="quiet%s" data-line="%s">%s.</p>', off, place, sentence)

    drawn += [
        _stretched(whole, shapes),
        _label(0, 16, "happened ↑", "axis", dx=8),
        _label(100, height - 8, "probability →", "axis", "end", -4),
        _label(0, whole.height - 3, "count", "axis", "end", -8),
    ]
    lines = [(mark["name"], mark["look"], "") for mark in told]
    chips = NOTHING
    if is_named or len(lines) > 1:
        chips = _chips(lines, alone=True)
    marks = {"x": [0, 1], "y": [0, 1], "high": height, "lines": told}
    return _chart(says, whole.height, (52, 12), drawn, marks, chips + sentences)


def _quarters(plot: Plot, whole: Plot) -> list[Markup]:
    """Draw the grid of a calibration chart with its ticks, at every quarter of both axes."""
    drawn = []
    for share in QUARTERS:
        x = plot.across(share)
        text = f"{share:.0%}"
        grid = _upright("grid", x, 0, plot.height)
        level = _level(plot.up(share), text)
        label = _label(x, whole.height + 18, text, "axis", "middle")
        drawn += [level, grid, label]
    return drawn


def _counts(diagram: ReliabilityDiagram) -> Markup:
    """Write the number of forecasts of each decile."""
    counts = NOTHING
    for decile in diagram.deciles:
        x = 10 * decile.place + 5
        many = compact(decile.rows)
        counts += filled('<text x="%s%%">%s</text>', x, many)
    return counts


def _deciles(diagram: ReliabilityDiagram, plot: Plot) -> Markup:
    """Draw a curve by deciles, the reach of chance behind each dot, and their counts as columns."""
    most = max(decile.rows for decile in diagram.deciles)
    bottom = 10 * (plot.height + COUNTS)
    chance = []
    columns = []
    points = []
    for decile in diagram.deciles:
        x = round(WIDE * decile.forecast)
        points.append((decile.forecast, decile.observed))
        low = 10 * plot.up(decile.low)
        upper = 10 * plot.up(decile.high)
        chance.append(f"M{x} {low:.0f}V{upper:.0f}")
        high = ceil(10 * (COUNTS - 28) * decile.rows / most)
        left = 100 * decile.place + 12
        columns.append(f"M{left} {bottom}v-{high}h76v{high}z")

    curve = plot.pairs(points)
    return filled(
        '<path class="chance" d="%s"/><path class="part" d="%s"/>'
        '<polyline class="line" points="%s"/><path class="dots" d="%s"/>',
        "".join(chance),
        "".join(columns),
        curve,
        "".join(f"M{point.replace(',', ' ')}h0" for point in curve.split()),
    )


def _tenths(diagram: ReliabilityDiagram) -> list[list[int]]:
    """Return the figures of each decile: its place, its count, and four shares in thousandths."""
    found = []
    for decile in diagram.deciles:
        shares = (decile.forecast, decile.observed, decile.low, decile.high)
        found.append([decile.place, decile.rows, *(round(1_000 * share) for share in shares)])
    return found


def gap_chart(
    gap: float, low: float | None, high: float | None, names: Sequence[str], looks: Sequence[str]
) -> Markup:
    """Draw one bar over 0 that shows who is closer, and the range that chance leaves open."""
    farthest = max(abs(value or 0.0) for value in (gap, low, high))
    reach = 1.25 * farthest or 0.01
    is_right = gap >= 0
    look = looks[is_right]
    plot = Plot((-reach, reach), (0.0, 1.0), 104)
    forms = short_forms(names, 32)
    y = 74

    left_name = forms[names[0]]
    right_name = forms[names[1]]
    drawn = [
        filled('<line class="grid" x2="100%%" y1="%s" y2="%s"/>', y, y),
        _upright("base", 50, y - 28, y + 28),
        _label(0, 16, f"← {left_name} closer", f"{looks[0]} name"),
        _label(100, 34, f"{right_name} closer →", f"{looks[1]} name", "end"),
    ]
    if low is not None and high is not None:
        bar = (
            '<rect class="%s span" x="%s%%" y="%s" width="%s%%" height="20" rx="10"><title>%s</title></rect>'
        )
        start = plot.across(low)
        span = plot.across(high) - start
        width = round(max(span, 0.2), 1)
        least = written(low, "%+.4f")
        greatest = written(high, "%+.4f")
        interval = f"95% from {least} to {greatest}"
        drawn.append(filled(bar, look, start, y - 10, width, interval))

    distance = written(abs(gap), "%.4f")
    title = f"{names[is_right]} closer by {distance}"
    x = plot.across(gap)
    gap_dot = _dot(look, x, y, 9, title)
    drawn.append(gap_dot)

    marks = ticks(-reach, reach)
    sides = (36, 48)
    drawn += _marks_below(plot, marks, "%+.3f", NARROW - sum(sides))
    return _chart("The gap and its interval, over 0", plot.height, sides, drawn)


def columns_chart(
    edges: Sequence[float], counts: Sequence[int], says: str, unit: str, looks: Sequence[str] = ()
) -> Markup:
    """Draw the counts between neighbouring edges as columns; a class for each, or `c1` for all."""
    low = edges[0]
    high = edges[-1]
    most = max(counts, default=0) or 1
    plot = Plot((low, high), (0.0, float(most)), 180)
    looks = looks or ["c1"] * len(counts)
    levels = [level for level in ticks(*plot.y) if level == int(level)]
    drawn = [*_levels(plot, levels, "localized")]

    bar = '<rect class="%s part" x="%s%%" y="%s" width="%s%%" height="%s"><title>%s</title></rect>'
    bars = zip(looks, counts, pairwise(edges), strict=True)
    for look, many, (start, end) in bars:
        left = plot.across(start)
        space = plot.across(end) - left
        width = round(0.88 * space, 2)
        top = plot.up(many)
        first = written(start, unit)
        last = written(end, unit)
        title = f"{first} to {last}: {many:,}"
        high_part = round(plot.height - top, 1)
        column = filled(bar, look, left, top, width, high_part, title)
        drawn.append(column)

    marks = ticks(low, high)
    sides = (_left_room(levels, "localized"), 12)
    drawn += _marks_below(plot, marks, unit, NARROW - sum(sides))
    return _chart(says, plot.height, sides, drawn)


Spot = tuple[str, float, float, str]
"""A name, its x and y values, and its class."""


def scatter(spots: Sequence[Spot], says: str, x_unit: str, y_unit: str) -> Markup:
    """Draw points by two figures each, 0 on both axes."""
    if not spots:
        return NOTHING
    _, rights, highs, _ = zip(*spots, strict=True)
    if "+" in x_unit:  # a Brier score is never near 0, and nothing is on its other side
        rights = (*rights, 0.0)
    x_range = _around(rights)
    y_range, level_unit = _upright_axis(highs, y_unit)
    plot = Plot(x_range, y_range, HALF)

    levels = ticks(*plot.y)
    zero = _upright("base", plot.across(0), 0, plot.height)
    drawn = [*_levels(plot, levels, level_unit), zero]
    marks = ticks(*plot.x)
    sides = (_left_room(levels, level_unit), 12)
    drawn += _marks_below(plot, marks, x_unit, NARROW - sum(sides))

    chosen = []
    ordered = sorted(spots, key=lambda spot: spot[3] != REST)
    for name, right, high, look in ordered:
        x = plot.across(right)
        y = plot.up(high)
        x_text = written(right, x_unit)
        y_text = written(high, y_unit)
        title = f"{name}: {x_text}, {y_text}"
        drawn.append(_dot(look, x, y, 5, title))
        if look != REST:
            chosen.append((y, x, name, look))

    chosen.sort()
    names = [name for _, _, name, _ in chosen]
    forms = short_forms(names, 20)
    heights = [y for y, _, _, _ in chosen]
    places = spread(heights, 4, plot.height - 4)

    for (_, x, name, look), y in zip(chosen, places, strict=True):
        beside = ("end", -9) if x > 60 else ("start", 9)
        label = _label(x, y + 4, forms[name], f"{look} name", *beside)
        drawn.append(label)

    return _chart(says, plot.height, sides, drawn)


def strip(
    spots: Sequence[tuple[str, float, str]], price: float | None, middle: float | None, says: str
) -> Markup:
    """Draw probabilities from none to certain, a row each, with the distance from the price, and the median.

    `spots` are names, probabilities and classes, in the order of the rows.
    """
    if not spots:
        return NOTHING
    bottom = 24 + 22 * len(spots)
    plot = Plot((0.0, 1.0), (0.0, 1.0), bottom + 16)
    drawn = []
    for share in QUARTERS:
        x = plot.across(share)
        drawn.append(_upright("grid", x, 20, bottom))
        label = _label(x, bottom + 18, f"{share:.0%}", "axis", "middle")
        drawn.append(label)

    if middle is not None:
        x = plot.across(middle)
        drawn.append(_upright("base", x, 20, bottom))
        drawn.append(_label(x, bottom + 35, f"median {middle:.0%}", "axis", _side(middle)))
    if price is not None:
        x = plot.across(price)
        drawn.append(_upright("ink middle", x, 20, bottom))
        price_text = cents(round(price * ONE))
        drawn.append(_label(x, 13, f"price {price_text}", "name", _side(price)))

    names = [name for name, _, _ in spots]
    left = min(_room(LEFT, names, 14), 150)
    letters = int((left - 12) / LETTER)
    forms = short_forms(names, letters)

    for row, (name, chance, look) in enumerate(spots):
        y = 35 + 22 * row
        x = plot.across(chance)
        if price is not None:
            start, end = sorted((plot.across(price), x))
            bar = '<rect class="%s span" x="%s%%" y="%s" width="%s%%" height="6"/>'
            span = round(end - start, 1)
            drawn.append(filled(bar, look, start, y - 3, span))
        drawn.append(_dot(look, x, y, 5, f"{name} says {chance:.0%}"))
        form = forms[name]
        drawn.append(_label(0, y + 4, form, "", "end", -10))
        percent = f"{chance:.0%}"
        drawn.append(_label(100, y + 4, percent, "name", dx=10))
    return _chart(says, plot.height, (left, 48), drawn)


def _side(share: float) -> str:
    """Return the side of a place on which its text stays within the picture."""
    if share < 0.2:
        return "start"
    if share > 0.8:
        return "end"
    return "middle"


Cells = Sequence[tuple[str, str] | None]
"""The class and tooltip of each cell of a heat map, if there is anything."""
CALM = ("played", "partly", "out")
"""Cells that are frequent and need no letter."""
HIGH = 20
FIELD = 26
"""Pixels from one row of a heat map to the next, and from one column to the next."""


def heat_map(rows: Mapping[str, Cells], groups: Sequence[str], says: str) -> Markup:
    """Draw a field for each row, by its name, and column; those of one group stand together under its name.

    What is not as it should be has a letter beside its colour. Where it is too wide the newest columns are
    seen, and the others by scrolling.
    """
    height = 26 + HIGH * len(rows) + 6
    room = _room(LEFT, rows, 14)
    letters = int((room - 8) / LETTER)
    forms = short_forms(rows, letters)
    lefts = _heat_columns(groups)
    width = lefts[-1] + FIELD if lefts else 0

    names = NOTHING
    drawn = [*_heat_groups(groups, lefts)]
    for number, (name, cells) in enumerate(rows.items()):
        y = 26 + HIGH * number
        label = forms[name]
        names += filled('<text x="%s" y="%s" text-anchor="end">%s</text>', room - 8, y + 13, label)
        drawn += _heat_row(lefts, cells, y)

    figure = (
        '<figure class="chart heat"><svg width="%s" height="%s" aria-hidden="true">%s</svg>'
        '<div class="fields"><div class="plot"%s>'
        '<svg width="%s" height="%s" role="img" aria-label="%s">%s</svg>'
        '<div class="tip" role="status"></div></div></div></figure>'
    )
    fields = NOTHING.join(drawn)
    return filled(figure, room, height, names, READ_BY_KEYS, width, height, says, fields)


def _heat_columns(groups: Sequence[str]) -> list[int]:
    """Return where each column begins; a new group stands a little apart."""
    lefts: list[int] = []
    for place, name in enumerate(groups):
        is_new = place and groups[place - 1] != name
        gap = 6 if is_new else 0
        left = lefts[-1] + FIELD + gap if lefts else 0
        lefts.append(left)
    return lefts


def _heat_groups(groups: Sequence[str], lefts: Sequence[int]) -> Iterator[Markup]:
    """Draw the names over the columns, as far as there is room."""
    firsts = [place for place, name in enumerate(groups) if place == 0 or groups[place - 1] != name]
    for place, after in pairwise([*firsts, len(groups)]):
        width = (after - place) * FIELD
        room = int(width / LETTER)
        text = f"cohort {groups[place]}"
        if len(text) > room:
            text = groups[place]
        if len(text) <= room:
            yield filled('<text class="axis" x="%s" y="16">%s</text>', lefts[place], text)


def _heat_row(lefts: Sequence[int], cells: Cells, y: int) -> Iterator[Markup]:
    """Draw the good fields of a row as one path a class, all others each with a letter and a tooltip."""
    there = [(left, *cell) for left, cell in zip(lefts, cells, strict=True) if cell is not None]
    size = FIELD - 2
    for look in CALM:
        path = " ".join(f"M{left} {y}h{size}v{HIGH - 3}h-{size}z" for left, kind, _ in there if kind == look)
        if path:
            yield filled('<path class="turn-%s" d="%s"/>', look, path)

    field = (
        '<g class="turn-%s"><title>%s</title><rect x="%s" y="%s" width="%s" height="%s"/>'
        '<text x="%s" y="%s" text-anchor="middle">%s</text></g>'
    )
    for left, look, title in there:
        if look not in CALM:
            middle = left + size / 2
            letter = look[:1].upper()
            yield filled(field, look, title, left, y, size, HIGH - 3, middle, y + 13, letter)
