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
from os.path import commonprefix
from typing import Any, TypeVar

from markupsafe import Markup

from arena.scores.rules.money.luck import Luck
from arena.scores.rules.reliability.diagram import ReliabilityDiagram
from arena.scores.rules.reliability.reading import reading_sentence
from dashboard.html import NOTHING, folded, quiet
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
"""Places on the x axis, and from where to where a band goes there."""
Rounds = Sequence[tuple[float, str]]
"""Instants of rounds, in their order, and what an address says of each."""

LETTER = 6.8
LINE = 15
"""About how wide a letter of a label is, and how far labels stand apart."""
MOST = 300
"""Points of a line: more can't be told apart."""
TWO_SIDED = 1.96
"""So many standard deviations hold 95 in 100."""
MARKET_PRICE = "market price"
YES_PRICE = "YES price"
MEDIAN = "agents’ median"
"""Lines that are of no agent: none can have a name with a space in it."""
WANTED_TICKS = 5
HALF = 280
LONG = 230
"""How high a chart is in pixels: one beside another, and one that has a line to itself."""
LEFT = (8, 36, 52, 76, 110, 150, 200)
RIGHT = (12, 48, 76, 104, 132, 160, 188)
"""The rooms at the sides, for which the style sheet has a class each: `left36`, `right48` and so on."""
WIDE = 1_000
"""How wide the picture is that is stretched; each pixel of its height is ten of its units."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line: its points, its class, what stands behind its name at its end, and whether it is dashed.

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
    """The area that is drawn on: from which to which value it goes across and up, and how high it is."""

    x: tuple[float, float]
    y: tuple[float, float]
    height: int

    def across(self, value: float) -> float:
        """Return the place of a value from the left, in percent."""
        return Scale(*self.x, 0, 100).at(value)

    def up(self, value: float) -> float:
        """Return the place of a value from the top, in pixels."""
        return Scale(*self.y, self.height, 0).at(value)

    def pairs(self, points: Points) -> str:
        """Return points in the picture that is stretched, as SVG writes them."""
        across = Scale(*self.x, 0, WIDE)
        return " ".join(f"{across.at(x):.0f},{10 * self.up(y):.0f}" for x, y in points)


def _room(rooms: Sequence[int], texts: Iterable[str], beside: int) -> int:
    """Return the least of the rooms in which the longest of the texts stands, or the largest."""
    need = beside + LETTER * max(map(len, texts), default=0)
    return next((room for room in rooms if room >= need), rooms[-1])


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
    return line + _label(0, y + 4, text, "axis", "end", -8)


def _left_room(values: Iterable[float], unit: str) -> int:
    """Return the room that the ticks of the upright axis need."""
    return _room(LEFT, [written(value, unit) for value in values], 12)


def _levels(plot: Plot, values: Iterable[float], unit: str) -> Iterator[Markup]:
    """Draw the ticks of the upright axis; that of 0 is the base."""
    for value in values:
        yield _level(plot.up(value), written(value, unit), "grid" if value else "base")


def _marks_below(plot: Plot, values: Sequence[float], unit: str) -> Iterator[Markup]:
    """Draw the ticks of the lower axis, with more places than the pattern `unit` has where they need them."""
    exact = _exact(unit, values)
    for value in values:
        yield _label(plot.across(value), plot.height + 18, written(value, exact), "axis", "middle")


def _stretched(plot: Plot, inside: Iterable[Markup]) -> Markup:
    """Return the picture of lines and bands, which is as wide as the chart happens to be."""
    svg = '<svg viewBox="0 0 %s %s" preserveAspectRatio="none">%s</svg>'
    return filled(svg, WIDE, 10 * plot.height, NOTHING.join(inside))


READ_BY_KEYS = Markup(' tabindex="0" role="group" aria-label="Marks: arrow keys read them"')
TOOLS = {"csv": "CSV", "svg": "SVG", "link": "Link"}
"""What can be taken of a chart, by the word that marks.js knows it by."""


def _chart(
    says: str,
    height: int,
    sides: tuple[int, int],
    inside: Iterable[Markup],
    marks: Mapping[str, Any] | None = None,
    chips: Markup = NOTHING,
) -> Markup:
    """Return a chart with its label, what is drawn, its figures, if any, and what can be taken of it."""
    tools = NOTHING
    for tool, word in TOOLS.items():
        if marks is not None or tool != "csv":
            tools += filled('<button type="button" data-do="%s">%s</button>', tool, word)

    figures = NOTHING
    if marks is not None:
        figures = filled(" data-marks='%s'", _json(marks))
    name = re.sub("[^a-z0-9]+", "-", says.lower())[:48].strip("-")
    figure = (
        '<figure class="chart" id="%s"%s><div class="plot left%s right%s"%s>'
        '<svg width="100%%" height="%s" role="img" aria-label="%s">%s'
        '</svg><div class="tip" role="status"></div></div>%s<span class="tools">%s</span></figure>'
    )
    svg = NOTHING.join(inside)
    return filled(figure, name, figures, *sides, READ_BY_KEYS, height, says, svg, chips, tools)


def _json(marks: Mapping[str, Any]) -> Markup:
    """Return figures as JSON for an attribute in single quotes, without a sign that means something there.

    >>> print(_json({"name": "<b> & 'c'"}))
    {"name":"\\u003cb\\u003e \\u0026 \\u0027c\\u0027"}
    """
    text = json.dumps(marks, separators=(",", ":"))
    for sign in "<>&'":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)  # noqa: S704 - nothing of it can end the attribute or begin an element


MOST_CHIPS = 16
"""So many lines are named below a chart; the others are folded away."""


def _chips(lines: Sequence[tuple[str, str, str]], alone: bool = False) -> Markup:
    """Return a button for each line by its name, its class and its end; only the first is on where `alone`.

    A line by itself has none. Those that have a colour come first.
    """
    if len(lines) < 2:
        return NOTHING
    chip = '<button type="button" class="%s" data-line="%s" title="%s" aria-pressed="%s"><i></i>%s%s</button>'
    forms = short_forms([name for name, _, _ in lines], 26)
    first: list[Markup] = []
    others: list[Markup] = []
    for place, (name, look, end) in enumerate(lines):
        pressed = "false" if alone and place else "true"
        value = filled(" <b>%s</b>", end) if end else NOTHING
        shown = first if look != REST or alone else others
        shown.append(filled(chip, look, place, name, pressed, forms[name], value))

    chips = first + others
    hidden = NOTHING
    if len(chips) > MOST_CHIPS:
        hidden = folded(f"{len(chips) - MOST_CHIPS} more", NOTHING.join(chips[MOST_CHIPS:]))
    inside = NOTHING.join(chips[:MOST_CHIPS]) + hidden
    return filled('<div class="chips" role="group" aria-label="Lines that are shown">%s</div>', inside)


def _drawn_line(place: int, line: Line, plot: Plot) -> Markup:
    """Draw a line, which says what it is of to who looks closer; a dot where it has one point alone."""
    look = "line"
    points = plot.pairs(line.points)
    if len(line.points) == 1:
        look = "line dots"
        points = f"{points} {points}"
    dash = Markup(' stroke-dasharray="5 4"') * line.dashed
    drawn = '<polyline class="%s %s" data-line="%s" points="%s"%s><title>%s</title></polyline>'
    return filled(drawn, line.look, look, place, points, dash, line.title)


def _ends(plot: Plot, lines: Iterable[tuple[int, Line]], room: int) -> Iterator[Markup]:
    """Draw names at the ends of lines, moved apart where they would lie on one another."""
    ends = sorted((plot.up(line.points[-1][1]), place, line) for place, line in lines)
    places = spread([y for y, _, _ in ends], 4, plot.height - 4)
    letters = int((room - 12) / LETTER) - max(
        (len(line.end) + 1 for _, _, line in ends if line.end), default=0
    )
    forms = short_forms([line.name for _, _, line in ends], letters)
    for (y, place, line), moved in zip(ends, places, strict=True):
        text = f"{forms[line.name]} {line.end}".strip()
        end = _dot(line.look, plot.across(line.points[-1][0]), y, 3.5)
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
        apart[number] = max(min(apart[number], limit), low)
        limit = apart[number] - LINE
    return apart


def shortened(name: str, letters: int) -> str:
    """Return a name of at most so many letters: without its maker if it is longer, then without its middle.

    >>> shortened("openai/gpt-5.6", 14), shortened("openai/gpt-5.6", 9), shortened("openai/gpt-5.6-pro", 9)
    ('openai/gpt-5.6', 'gpt-5.6', 'gpt-…-pro')
    """
    if len(name) > letters:
        name = name.rpartition("/")[2] or name
    if len(name) <= letters:
        return name
    ends = max((letters - 1) // 2, 1)
    return f"{name[:ends]}…{name[-ends:]}"


def short_forms(names: Iterable[str], letters: int) -> dict[str, str]:
    """Return names of at most so many letters; those that would look alike are cut where they differ.

    >>> list(short_forms(["a-model-v1-with-all-tools", "a-model-v2-with-all-tools"], 18).values())
    ['a-model-v1-with-a…', 'a-model-v2-with-a…']
    >>> list(short_forms(["a-model-v1-thinking", "a-model-v2-thinking"], 9).values())
    ['…v1-thin…', '…v2-thin…']
    """
    alike: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        alike.setdefault(shortened(name, letters), []).append(name)

    forms = {}
    for text, some in alike.items():
        if len(some) == 1:
            forms[some[0]] = text
            continue
        start = len(re.sub(r"\w*$", "", commonprefix(some)))  # noqa: RUF071 - letter by letter
        if start + DIFFERENT < letters:
            start = 0
        for name in some:
            cut = name[start:][: letters - 1 - bool(start)].rstrip("-")
            forms[name] = f"{'…' * (start > 0)}{cut}…"
    return forms


DIFFERENT = 8
"""By so many letters after their common beginning names differ."""


STEPS = (1.0, 2.0, 5.0, 2.5, 10.0, 20.0)
"""Between ticks, in powers of ten: earlier ones are preferred where two make as many ticks."""


def ticks(low: float, high: float) -> list[float]:
    """Return about five round values between two others, 0 among them where it lies between.

    >>> ticks(-18, 22), ticks(0, 0.9), ticks(-1, 30)
    ([-10.0, 0.0, 10.0, 20.0], [0.0, 0.2, 0.4, 0.6, 0.8], [0.0, 10.0, 20.0, 30.0])
    >>> ticks(-2_300, 12_900), ticks(0, 100)
    ([0.0, 2500.0, 5000.0, 7500.0, 10000.0, 12500.0], [0.0, 25.0, 50.0, 75.0, 100.0])
    """
    unit = 10.0 ** floor(log10((high - low) / WANTED_TICKS))
    best: list[float] = []
    for step in STEPS:
        first = ceil(low / (step * unit) - 1e-9)
        last = floor(high / (step * unit) + 1e-9)
        values = [round(number * step * unit, 12) + 0.0 for number in range(first, last + 1)]
        if abs(len(values) - WANTED_TICKS) < abs(len(best) - WANTED_TICKS):
            best = values
    return best


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
    return [level for level in [*found, float(ceil(high))] if low <= level <= high]


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
        return [(first, day(datetime.fromtimestamp(first, UTC)))]
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


def _better(one: list[tuple[float, str]], other: list[tuple[float, str]]) -> list[tuple[float, str]]:
    """Return of two sets of ticks the one that is nearer to as many as are wanted."""
    if abs(len(other) - WANTED_TICKS) < abs(len(one) - WANTED_TICKS):
        return other
    return one


def _clock_ticks(first: float, last: float, step: int) -> list[tuple[float, str]]:
    """Return the ticks of so many seconds from each other; a week begins on its Monday."""
    start = MONDAY if step >= WEEK else 0
    found = []
    for number in range(ceil((first - start) / step), floor((last - start) / step) + 1):
        at = datetime.fromtimestamp(start + number * step, UTC)
        text = f"{at:%H:%M}" if at.hour or at.minute else f"{at.day} {at:%b}"
        found.append((at.timestamp(), text))
    return found


def _month_ticks(first: float, last: float, months: int) -> list[tuple[float, str]]:
    """Return the starts of every so many months; each January names its year."""
    start = datetime.fromtimestamp(first, UTC)
    number = (12 * start.year + start.month - 1) // months * months
    found: list[tuple[float, str]] = []
    at = datetime(number // 12, number % 12 + 1, 1, tzinfo=UTC)
    while at.timestamp() <= last:
        if at.timestamp() >= first:
            form = "%b" if at.month > 1 else "%b %Y"
            found.append((at.timestamp(), f"{at:{form}}"))
        number += months
        at = datetime(number // 12, number % 12 + 1, 1, tzinfo=UTC)
    return found


def _around(values: Sequence[float]) -> tuple[float, float]:
    """Return from where to where an axis goes that has all of these values."""
    room = (max(values) - min(values) or 1.0) * 0.06
    return min(values) - room, max(values) + room


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
        lines.append(replace(line, points=[point for point in line.points if point[0] in instants]))
    values = [value for line in lines for _, value in line.points]
    first = min(instants)
    last = max(instants)
    span = (first, last)
    if first == last:
        span = (first - 1, last + 1)
    edges = chain.from_iterable((low, high) for _, low, high in band)
    y, pattern = _upright_axis([*values, *edges], unit)
    plot = Plot(span, y, height)
    levels = ticks(*y)
    if unit == "power":
        levels = power_ticks(*y)

    named = []
    others = []
    for place, line in enumerate(lines):
        if line.look == REST:
            others.append((place, line))
        else:
            named.append((place, line))
    left = _left_room(levels, pattern)
    right = _room(RIGHT, [line.title for _, line in named], 14)

    drawn = list(_levels(plot, levels, pattern))
    for at, text in time_ticks(first, last):
        x = plot.across(at)
        drawn += [_upright("grid", x, 0, height), _label(x, height + 18, text, "axis", "middle")]
    shapes = [_polygon(band, plot)]
    shapes += [_drawn_line(place, line, plot) for place, line in (*others, *reversed(named))]
    drawn += [_stretched(plot, shapes), *_ends(plot, named, right)]

    chips = _chips([(line.name, line.look, line.end) for line in lines])
    times = sorted({round(at) for at in instants})
    marks = _line_marks(whole, times, plot, unit, rounds)
    return _chart(says, height, (left, right), drawn, marks, chips) + quiet(note)


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
    return filled('<polygon class="band" points="%s"/>', plot.pairs(edges))


def _upright_axis(values: Sequence[float], unit: str) -> tuple[tuple[float, float], str]:
    """Return from where to where it goes, 0 on it, and a format in which its ticks are exact."""
    low, high = _around([0.0, *values])
    least = LEAST.get(unit, 0.0) if any(values) else FLAT
    if max(-low, high) < least:
        high = least
        low = -least
    if "f%" in unit:
        unit = _exact(unit, ticks(low, high))
    return (low, high), unit


FLAT = 2.2
"""How far the axis of a line that stays at 0 goes."""
LEAST = {"short": 3.2, "power": 0.5}
"""How far an axis goes at least: money on it has no cents."""


def _exact(pattern: str, values: Iterable[float]) -> str:
    """Return a pattern of `words.written` with as many more places as these values need.

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
"""How marks.js writes a value: what stands before and behind it, how many places at most and least."""
PERCENT = ("", "%", 2, 2)
"""What a unit that is not named is written in."""


def _told_instants(lines: Sequence[Line]) -> set[float]:
    """Return the instants that a chart draws and tells: of all lines together so many, and their ends."""
    every = sorted({at for line in lines for at, _ in line.points})
    ends = {line.points[place][0] for line in lines for place in (0, -1)}
    return ends.union(thin(every, MOST))


def _line_marks(
    lines: Sequence[Line], times: Sequence[int], plot: Plot, unit: str, rounds: Rounds
) -> dict[str, Any]:
    """Return the figures of lines: instants and values as whole numbers, each less the one before it.

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
            _, newest = line.points[bisect_right(marked, at) - 1]
            after = _whole(newest, unit, places)
            steps.append(after - value)
            value = after
        mark = {"name": line.name, "look": line.look, "from": start, "by": steps}
        if line.href:
            mark["href"] = line.href
        told.append(mark)

    marks: dict[str, Any] = {
        "x": [round(edge) for edge in plot.x],
        "y": [float(f"{edge:.6g}") for edge in plot.y],
        # whether a gain has its sign, and whether it is drawn by its logarithm
        "unit": [before, behind, places, least, unit in ("short", "%+.0f%"), unit == "power"],
        "at": [after - before for before, after in pairwise([0, *times])],
        "lines": told,
    }
    if rounds:
        marks["rounds"] = [_round_at(at, rounds) for at in times]
    return marks


def _whole(value: float, unit: str, places: int) -> int:
    """Return a value as a whole number of its last place; evidence is drawn by its logarithm."""
    if unit == "power":
        value = 10**value
    return round(round(value, places) * 10.0**places)


def _round_at(at: float, rounds: Rounds) -> str:
    """Return what names the last round until an instant; nothing before the first."""
    count = bisect_right(rounds, at, key=lambda decided: round(decided[0]))
    return rounds[count - 1][1] if count else ""


def luck_band(points: Points, luck: Luck | None = None, scale: float = 1.0) -> Band:
    """Return what luck alone makes of an account by each instant, in 95 seasons of 100.

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
        band.append((at, mean * part + (low - mean) * width, mean * part + (high - mean) * width))
    return band


SQUARE = 250
COUNTS = 64
"""How high the two parts of a calibration chart are: the curve, and the counts below it."""
QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)


def calibration_chart(
    curves: Sequence[tuple[str, ReliabilityDiagram, str]], says: str, height: int = SQUARE
) -> Markup:
    """Draw by tenths of the scale what was said against what happened, below it how often, and say it.

    `curves` are names, diagrams and classes: one is shown at a time, the first until another is chosen.
    """
    curves = [curve for curve in curves if curve[1].deciles]
    if not curves:
        return NOTHING
    plot = Plot((0.0, 1.0), (0.0, 1.0), height)
    whole = Plot(plot.x, plot.y, height + COUNTS)

    drawn = []
    for share in QUARTERS:
        x = plot.across(share)
        drawn += [_level(plot.up(share), f"{share:.0%}"), _upright("grid", x, 0, height)]
        drawn.append(_label(x, whole.height + 18, f"{share:.0%}", "axis", "middle"))
    shapes = [filled('<polyline class="base" points="0,%s %s,0"/>', 10 * height, WIDE)]
    told: list[dict[str, Any]] = []
    sentences = NOTHING
    for place, (name, diagram, look) in enumerate(curves):
        colour = "ink" if look == REST else look
        off = " off" * bool(place)
        shapes.append(
            filled('<g class="%s%s" data-line="%s">%s</g>', colour, off, place, _deciles(diagram, plot))
        )
        counts = NOTHING
        for decile in diagram.deciles:
            x = 10 * decile.place + 5
            counts += filled('<text x="%s%%">%s</text>', x, compact(decile.rows))
        group = '<g class="counts%s" data-line="%s" transform="translate(0 %s)">%s</g>'
        drawn.append(filled(group, off, place, height + 22, counts))
        told.append({"name": name, "look": colour, "tenths": _tenths(diagram)})
        sentence = reading_sentence(diagram.sure, diagram.null.p_value)
        sentences += filled('<p class="quiet%s" data-line="%s">%s.</p>', off, place, sentence)

    drawn += [
        _stretched(whole, shapes),
        _label(0, 16, "happened ↑", "axis", dx=8),
        _label(100, height - 8, "probability →", "axis", "end", -4),
        _label(0, whole.height - 3, "count", "axis", "end", -8),
    ]
    chips = _chips([(mark["name"], mark["look"], "") for mark in told], alone=True)
    marks = {"x": [0, 1], "y": [0, 1], "high": height, "lines": told}
    return _chart(says, whole.height, (52, 12), drawn, marks, chips + sentences)


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
        chance.append(f"M{x} {10 * plot.up(decile.low):.0f}V{10 * plot.up(decile.high):.0f}")
        high = ceil(10 * (COUNTS - 28) * decile.rows / most)
        columns.append(f"M{100 * decile.place + 12} {bottom}v-{high}h76v{high}z")

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
    """Draw one bar over 0: who is closer, left or right, and how far chance leaves it open."""
    reach = 1.25 * max(abs(value or 0.0) for value in (gap, low, high)) or 0.01
    look = looks[gap >= 0]
    plot = Plot((-reach, reach), (0.0, 1.0), 104)
    forms = short_forms(names, 32)
    y = 74
    drawn = [
        filled('<line class="grid" x2="100%%" y1="%s" y2="%s"/>', y, y),
        _upright("base", 50, y - 28, y + 28),
        _label(0, 16, f"← {forms[names[0]]} closer", f"{looks[0]} name"),
        _label(100, 34, f"{forms[names[1]]} closer →", f"{looks[1]} name", "end"),
    ]
    if low is not None and high is not None:
        bar = (
            '<rect class="%s span" x="%s%%" y="%s" width="%s%%" height="20" rx="10"><title>%s</title></rect>'
        )
        start = plot.across(low)
        width = round(max(plot.across(high) - start, 0.2), 1)
        interval = f"95% from {written(low, '%+.4f')} to {written(high, '%+.4f')}"
        drawn.append(filled(bar, look, start, y - 10, width, interval))
    drawn.append(
        _dot(look, plot.across(gap), y, 9, f"{names[gap >= 0]} closer by {written(abs(gap), '%.4f')}")
    )
    drawn += _marks_below(plot, ticks(-reach, reach), "%+.3f")
    return _chart("The gap and its interval, over 0", plot.height, (36, 48), drawn)


def columns_chart(
    edges: Sequence[float], counts: Sequence[int], says: str, unit: str, looks: Sequence[str] = ()
) -> Markup:
    """Draw how many lie between each two edges, as columns; one class for each, or `c1` for all."""
    low = edges[0]
    high = edges[-1]
    plot = Plot((low, high), (0.0, float(max(counts, default=0) or 1)), 180)
    looks = looks or ["c1"] * len(counts)
    levels = [level for level in ticks(*plot.y) if level == int(level)]
    drawn = [*_levels(plot, levels, "localized")]

    bar = '<rect class="%s part" x="%s%%" y="%s" width="%s%%" height="%s"><title>%s</title></rect>'
    for look, many, (start, end) in zip(looks, counts, pairwise(edges), strict=True):
        left = plot.across(start)
        width = round(0.88 * (plot.across(end) - left), 2)
        top = plot.up(many)
        title = f"{written(start, unit)} to {written(end, unit)}: {many:,}"
        drawn.append(filled(bar, look, left, top, width, round(plot.height - top, 1), title))

    drawn += _marks_below(plot, ticks(low, high), unit)
    return _chart(says, plot.height, (_left_room(levels, "localized"), 12), drawn)


Spot = tuple[str, float, float, str]
"""A name, its places across and up, and its class."""


def scatter(spots: Sequence[Spot], says: str, x_unit: str, y_unit: str) -> Markup:
    """Draw points by two figures each, 0 on both axes."""
    if not spots:
        return NOTHING
    _, rights, highs, _ = zip(*spots, strict=True)
    if "+" in x_unit:  # a Brier score is never near 0, and nothing is on its other side
        rights = (*rights, 0.0)
    plot = Plot(_around(rights), _around([0.0, *highs]), HALF)
    levels = ticks(*plot.y)
    drawn = [*_levels(plot, levels, y_unit), _upright("base", plot.across(0), 0, plot.height)]
    drawn += _marks_below(plot, ticks(*plot.x), x_unit)

    chosen = []
    for name, right, high, look in sorted(spots, key=lambda spot: spot[3] != REST):
        x = plot.across(right)
        y = plot.up(high)
        title = f"{name}: {written(right, x_unit)}, {written(high, y_unit)}"
        drawn.append(_dot(look, x, y, 5, title))
        if look != REST:
            chosen.append((y, x, name, look))

    chosen.sort()
    forms = short_forms([name for _, _, name, _ in chosen], 20)
    places = spread([y for y, _, _, _ in chosen], 4, plot.height - 4)
    for (_, x, name, look), y in zip(chosen, places, strict=True):
        beside = ("end", -9) if x > 60 else ("start", 9)
        drawn.append(_label(x, y + 4, forms[name], f"{look} name", *beside))

    return _chart(says, plot.height, (_left_room(levels, y_unit), 12), drawn)


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
        drawn.append(_label(x, bottom + 18, f"{share:.0%}", "axis", "middle"))
    if middle is not None:
        x = plot.across(middle)
        drawn.append(_upright("base", x, 20, bottom))
        drawn.append(_label(x, bottom + 35, f"median {middle:.0%}", "axis", _side(middle)))
    if price is not None:
        x = plot.across(price)
        drawn.append(_upright("ink middle", x, 20, bottom))
        drawn.append(_label(x, 13, f"price {cents(round(price * ONE))}", "name", _side(price)))

    names = [name for name, _, _ in spots]
    left = min(_room(LEFT, names, 14), 150)
    forms = short_forms(names, int((left - 12) / LETTER))
    for row, (name, chance, look) in enumerate(spots):
        y = 35 + 22 * row
        x = plot.across(chance)
        if price is not None:
            start, end = sorted((plot.across(price), x))
            bar = '<rect class="%s span" x="%s%%" y="%s" width="%s%%" height="6"/>'
            drawn.append(filled(bar, look, start, y - 3, round(end - start, 1)))
        drawn.append(_dot(look, x, y, 5, f"{name} says {chance:.0%}"))
        drawn.append(_label(0, y + 4, forms[name], "", "end", -10))
        drawn.append(_label(100, y + 4, f"{chance:.0%}", "name", dx=10))
    return _chart(says, plot.height, (left, 48), drawn)


def _side(share: float) -> str:
    """Return to which side of a place words about it go, so that they stay on the picture."""
    if share < 0.2:
        return "start"
    if share > 0.8:
        return "end"
    return "middle"


Cells = Sequence[tuple[str, str] | None]
"""Of each column of a heat map the class and what is said of it, if anything is."""
CALM = ("played", "partly", "out")
"""Cells of which there are many, and nothing to be told."""
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
    forms = short_forms(rows, int((room - 8) / LETTER))
    lefts = _heat_columns(groups)
    width = lefts[-1] + FIELD if lefts else 0

    names = NOTHING
    drawn = [*_heat_groups(groups, lefts)]
    for number, (name, cells) in enumerate(rows.items()):
        y = 26 + HIGH * number
        names += filled('<text x="%s" y="%s" text-anchor="end">%s</text>', room - 8, y + 13, forms[name])
        drawn += _heat_row(lefts, cells, y)

    figure = (
        '<figure class="chart heat"><svg width="%s" height="%s" aria-hidden="true">%s</svg>'
        '<div class="fields"><div class="plot"%s>'
        '<svg width="%s" height="%s" role="img" aria-label="%s">%s</svg>'
        '<div class="tip" role="status"></div></div></div></figure>'
    )
    return filled(figure, room, height, names, READ_BY_KEYS, width, height, says, NOTHING.join(drawn))


def _heat_columns(groups: Sequence[str]) -> list[int]:
    """Return where each column begins; a new group stands a little apart."""
    lefts: list[int] = []
    for place, name in enumerate(groups):
        gap = 6 if place and groups[place - 1] != name else 0
        lefts.append(lefts[-1] + FIELD + gap if lefts else 0)
    return lefts


def _heat_groups(groups: Sequence[str], lefts: Sequence[int]) -> Iterator[Markup]:
    """Draw the names over the columns, as far as there is room for them."""
    firsts = [place for place, name in enumerate(groups) if place == 0 or groups[place - 1] != name]
    for place, after in pairwise([*firsts, len(groups)]):
        room = int((after - place) * FIELD / LETTER)
        text = f"cohort {groups[place]}"
        if len(text) > room:
            text = groups[place]
        if len(text) <= room:
            yield filled('<text class="axis" x="%s" y="16">%s</text>', lefts[place], text)


def _heat_row(lefts: Sequence[int], cells: Cells, y: int) -> Iterator[Markup]:
    """Draw the calm fields of a row as one path a class, all others each with its letter and what it says."""
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
            yield filled(field, look, title, left, y, size, HIGH - 3, middle, y + 13, look[:1].upper())
