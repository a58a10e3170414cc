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


def evenly_spaced(items: Sequence[Item], limit: int) -> list[Item]:
    """Return at most `limit` of the items, evenly spaced, with the first and the last one.

    >>> evenly_spaced([1, 2, 3, 4, 5, 6, 7], 3), evenly_spaced([1, 2], 3)
    ([1, 4, 7], [1, 2])
    """
    limit = max(limit, 2)
    if len(items) <= limit:
        return list(items)
    last_index = len(items) - 1
    return [items[number * last_index // (limit - 1)] for number in range(limit)]


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


def _side_room(rooms: Sequence[int], texts: Iterable[str], beside: int) -> int:
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


def _draw_upright_line(look: str, x: float, top: int, bottom: int) -> Markup:
    """Draw an upright line."""
    return filled('<line class="%s" x1="%s%%" x2="%s%%" y1="%s" y2="%s"/>', look, x, x, top, bottom)


def _draw_level_line(y: float, text: str, look: str = "grid") -> Markup:
    """Draw a tick of the upright axis, with its line across."""
    line = filled('<line class="%s" x2="100%%" y1="%s" y2="%s"/>', look, y, y)
    tick = _label(0, y + 4, text, "axis", "end", -8)
    return line + tick


def _left_room(values: Iterable[float], unit: str) -> int:
    """Return the room that the ticks of the upright axis need."""
    texts = [written(value, unit) for value in values]
    return _side_room(LEFT, texts, 12)


def _draw_upright_ticks(plot: Plot, values: Iterable[float], number_format: str) -> Iterator[Markup]:
    """Draw the ticks of the upright axis; that of 0 is the base."""
    for value in values:
        y = plot.up(value)
        text = written(value, number_format)
        look = "grid" if value else "base"
        yield _draw_level_line(y, text, look)


def _draw_number_ticks_below(
    plot: Plot, values: Sequence[float], number_format: str, phone_width: int
) -> Iterator[Markup]:
    """Draw the ticks of the lower axis, with more digits than `number_format` has if they need them.

    `phone_width` is how wide the picture is on a narrow phone.
    """
    exact_format = _exact_format(number_format, values)
    texts = [(plot.across(value), written(value, exact_format)) for value in values]
    yield from _draw_texts_below(plot, texts, phone_width)


def _draw_time_ticks_below(plot: Plot, first: float, last: float, room: int) -> Iterator[Markup]:
    """Draw the ticks of a lower axis that is time, each with its line upwards."""
    texts = [(plot.across(at), text) for at, text in time_ticks(first, last)]
    for x, _ in texts:
        yield _draw_upright_line("grid", x, 0, plot.height)
    yield from _draw_texts_below(plot, texts, room)


NARROW = 300
"""The width of a chart on a narrow phone, in pixels, with the rooms at its sides."""
APART = 8
"""The space between words, in pixels."""


def _draw_texts_below(plot: Plot, texts: Sequence[tuple[float, str]], room: int) -> Iterator[Markup]:
    """Draw words below the lower axis at their places in percent; the style sheet hides some on a phone."""
    step = words_step(texts, room)
    for number, (x, text) in enumerate(texts):
        look = "axis spare" if number % step else "axis"
        yield _label(x, plot.height + 18, text, look, "middle")


def words_step(texts: Sequence[tuple[float, str]], width: int) -> int:
    """Return the smallest step at which words at these places, in percent of a width, don't overlap.

    >>> words_step([(0, "9 Jan"), (50, "11 Jan"), (100, "13 Jan")], 200)
    1
    >>> words_step([(0, "9 Jan"), (50, "11 Jan"), (100, "13 Jan")], 60)
    2
    """
    for step in range(1, len(texts)):
        is_apart = True
        for (x, text), (next_x, next_text) in pairwise(texts[::step]):
            needed_distance = LETTER * (len(text) + len(next_text)) / 2 + APART
            is_apart = is_apart and (next_x - x) * width / 100 >= needed_distance
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
    label: str,
    height: int,
    side_margins: tuple[int, int],
    shapes: Iterable[Markup],
    data: Mapping[str, Any] | None = None,
    buttons: Markup = NOTHING,
) -> Markup:
    """Return a chart with its label, its drawing, its figures if any, and its download."""
    download_buttons = NOTHING
    for tool, word in TOOLS.items():
        if data is not None or tool != "csv":
            download_buttons += filled('<button type="button" data-do="%s">%s</button>', tool, word)

    data_attribute = NOTHING
    if data is not None:
        data_attribute = filled(" data-marks='%s'", _json_attribute(data))

    label_words = re.sub("[^a-z0-9]+", "-", label.lower())
    figure_id = label_words[:48].strip("-")
    template = (
        '<figure class="chart" id="%s"%s><div class="plot left%s right%s"%s>'
        '<svg width="100%%" height="%s" role="img" aria-label="%s">%s'
        '</svg><div class="tip" role="status"></div></div>%s<span class="tools">%s</span></figure>'
    )
    svg = NOTHING.join(shapes)
    return filled(
        template,
        figure_id,
        data_attribute,
        *side_margins,
        READ_BY_KEYS,
        height,
        label,
        svg,
        buttons,
        download_buttons,
    )


def _json_attribute(marks: Mapping[str, Any]) -> Markup:
    """Return figures as JSON for an attribute in single quotes, safely escaped.

    >>> print(_json_attribute({"name": "<b> & 'c'"}))
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


def _line_buttons(lines: Sequence[tuple[str, str, str]], one_at_a_time: bool = False) -> Markup:
    """Return a button for each line, with its name, its class and its last value; coloured lines first.

    If `one_at_a_time`, only the first is on. A single line needs no button, unless lines are shown one at a
    time. Buttons beyond the first `MOST_CHIPS` are folded away.
    """
    if len(lines) < 2 and not one_at_a_time:
        return NOTHING
    template = (
        '<button type="button" class="%s" data-line="%s" title="%s"%s aria-pressed="%s"><i></i>%s%s</button>'
    )
    line_names = [name for name, _, _ in lines]
    cut_points = cut_places(line_names, LONGEST_CHIP)
    coloured: list[Markup] = []
    uncoloured: list[Markup] = []
    for place, (name, look, end) in enumerate(lines):
        pressed = "false" if one_at_a_time and place else "true"
        end_markup = filled(" <b>%s</b>", end) if end else NOTHING
        is_coloured = look != REST or one_at_a_time
        group = coloured if is_coloured else uncoloured
        label = cut_in_middle(name, cut_points)
        full_name_attribute = NOTHING if name == label else filled(' aria-label="%s %s"', name, end)
        group.append(filled(template, look, place, name, full_name_attribute, pressed, label, end_markup))

    buttons = coloured + uncoloured
    folded_buttons = NOTHING
    if len(buttons) > MOST_CHIPS:
        later_buttons = NOTHING.join(buttons[MOST_CHIPS:])
        folded_title = f"{len(buttons) - MOST_CHIPS} more"
        folded_buttons = folded(folded_title, later_buttons)

    first_buttons = NOTHING.join(buttons[:MOST_CHIPS])
    group_markup = first_buttons + folded_buttons
    return filled('<div class="chips" role="group" aria-label="Lines that are shown">%s</div>', group_markup)


def _drawn_line(number: int, line: Line, plot: Plot) -> Markup:
    """Draw a line with its name as a tooltip, or a dot if it has only one point."""
    look = "line"
    points = plot.pairs(line.points)
    if len(line.points) == 1:
        look = "line dots"
        points = f"{points} {points}"
    dash = Markup(' stroke-dasharray="5 4"') * line.dashed
    template = '<polyline class="%s %s" data-line="%s" points="%s"%s><title>%s</title></polyline>'
    return filled(template, line.look, look, number, points, dash, line.title)


def _draw_end_names(plot: Plot, lines: Iterable[tuple[int, Line]], width: int) -> Iterator[Markup]:
    """Draw names at the ends of lines, moved apart where they would overlap."""
    ends_by_height = sorted((plot.up(line.points[-1][1]), number, line) for number, line in lines)
    lowest = plot.height - 4
    heights = [y for y, _, _ in ends_by_height]
    label_heights = spread_apart(heights, 4, lowest)

    longest_end_text = max((len(line.end) + 1 for _, _, line in ends_by_height if line.end), default=0)
    letters = int((width - 12) / LETTER) - longest_end_text
    names = [line.name for _, _, line in ends_by_height]
    forms = short_forms(names, letters)

    for (y, number, line), label_y in zip(ends_by_height, label_heights, strict=True):
        text = f"{forms[line.name]} {line.end}".strip()
        last_x = line.points[-1][0]
        end = _dot(line.look, plot.across(last_x), y, 3.5)
        name = _label(100, label_y + 4, text, f"{line.look} name", dx=10)
        yield filled('<g data-line="%s">%s%s</g>', number, end, name)


def _dot(look: str, x: float, y: float, radius: float, title: str = "") -> Markup:
    """Draw a point at a share of the width."""
    return dot(look, f"{x}%", y, radius, title)


def spread_apart(heights: Sequence[float], low: float, high: float) -> list[float]:
    """Return places from top to bottom, moved apart by the height of a line and kept inside.

    >>> spread_apart([20, 22, 100], 10, 110), spread_apart([108, 109], 10, 110), spread_apart([4, 6], 10, 110)
    ([20, 35, 100], [95, 110], [10, 25])
    """
    inside_heights = (max(place, low) for place in heights)
    apart = list(accumulate(inside_heights, lambda before, place: max(place, before + LINE)))

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
        best = _better_ticks(best, values)
    return best


def _better_ticks(first: list[Item], second: list[Item]) -> list[Item]:
    """Return the set of ticks that is closer to the wanted number; the first of equals."""
    return min(first, second, key=lambda ticks: abs(len(ticks) - WANTED_TICKS))


def power_ticks(low: float, high: float) -> list[float]:
    """Return about five logarithms of round values between two others: powers of ten, or 2 and 5 times them.

    >>> [round(10**level, 6) for level in power_ticks(-0.6, 2.6)], power_ticks(-3, 7)
    ([1.0, 10.0, 100.0], [-2.0, 0.0, 2.0, 4.0, 6.0])
    >>> [round(10**level, 6) for level in power_ticks(-0.2, 1.1)]
    [1.0, 2.0, 5.0, 10.0]
    """
    whole_powers = [level for level in ticks(low, high) if level == int(level)]
    if len(whole_powers) > 2:
        return whole_powers
    candidates = []
    for power in range(floor(low), ceil(high)):
        candidates += [power + log10(size) for size in (1, 2, 5)]
    top = float(ceil(high))
    return [level for level in [*candidates, top] if low <= level <= high]


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
            best = _better_ticks(best, _clock_ticks(first, last, step))
    for months in MONTH_STEPS:
        if (last - first) / DAY / 28 / months < 3 * WANTED_TICKS:
            best = _better_ticks(best, _month_ticks(first, last, months))
    if all(":" in text for _, text in best):  # no midnight among them, which would have its date
        at, clock = best[0]
        start = datetime.fromtimestamp(at, UTC)
        best[0] = (at, f"{start.day} {start:%b} {clock}")
    return best


def _clock_ticks(first: float, last: float, step_seconds: int) -> list[tuple[float, str]]:
    """Return ticks at this interval in seconds; a week begins on its Monday."""
    start = MONDAY if step_seconds >= WEEK else 0
    lowest = ceil((first - start) / step_seconds)
    highest = floor((last - start) / step_seconds)

    ticks = []
    for step_number in range(lowest, highest + 1):
        instant = start + step_number * step_seconds
        at = datetime.fromtimestamp(instant, UTC)
        has_time = at.hour or at.minute
        text = f"{at:%H:%M}" if has_time else f"{at.day} {at:%b}"
        ticks.append((at.timestamp(), text))
    return ticks


def _month_ticks(first: float, last: float, months: int) -> list[tuple[float, str]]:
    """Return the starts of months at this interval; each January names its year."""
    start = datetime.fromtimestamp(first, UTC)
    first_month = 12 * start.year + start.month - 1
    month_number = first_month // months * months
    ticks: list[tuple[float, str]] = []
    at = datetime(month_number // 12, month_number % 12 + 1, 1, tzinfo=UTC)
    while at.timestamp() <= last:
        if at.timestamp() >= first:
            form = "%b" if at.month > 1 else "%b %Y"
            ticks.append((at.timestamp(), f"{at:{form}}"))
        month_number += months
        at = datetime(month_number // 12, month_number % 12 + 1, 1, tzinfo=UTC)
    return ticks


def _around(values: Sequence[float]) -> tuple[float, float]:
    """Return the range of an axis that has all of these values."""
    low = min(values)
    high = max(values)
    room = (high - low or 1.0) * 0.06
    return low - room, high + room


def line_chart(
    lines: Sequence[Line],
    label: str,
    number_format: str,
    band: Band = (),
    note: str = "",
    height: int = HALF,
    rounds: Rounds = (),
) -> Markup:
    """Draw lines over time with their names at their ends, the chosen ones before the others.

    `number_format` is a format of `dashboard.words.written`; `note` explains the shaded `band`; `rounds` are
    instants of rounds, each with its part of an address, for lines that link to what was decided in a round.
    """
    nonempty_lines = [line for line in lines if line.points]
    if not nonempty_lines:
        return NOTHING
    shown_instants = _shown_instants(nonempty_lines)
    lines = []
    for line in nonempty_lines:
        drawn_points = [point for point in line.points if point[0] in shown_instants]
        lines.append(replace(line, points=drawn_points))

    first = min(shown_instants)
    last = max(shown_instants)
    plot, tick_format = _time_plot(lines, band, (first, last), number_format, height)
    upright_ticks = ticks(*plot.y)
    if number_format == "power":
        upright_ticks = power_ticks(*plot.y)

    numbered_lines = list(enumerate(lines))
    named_lines = [(place, line) for place, line in numbered_lines if line.look != REST]
    unnamed_lines = [(place, line) for place, line in numbered_lines if line.look == REST]
    left_margin = _left_room(upright_ticks, tick_format)
    titles = [line.title for _, line in named_lines]
    right_margin = _side_room(RIGHT, titles, 14)

    shapes = [_polygon(band, plot)]
    shapes += [_drawn_line(place, line, plot) for place, line in (*unnamed_lines, *reversed(named_lines))]
    picture = _stretched(plot, shapes)
    phone_margin = ON_PHONE if len(lines) > 1 or right_margin >= HIDDEN else right_margin
    drawing = [
        *_draw_upright_ticks(plot, upright_ticks, tick_format),
        *_draw_time_ticks_below(plot, first, last, NARROW - left_margin - phone_margin),
        picture,
        *_draw_end_names(plot, named_lines, right_margin),
    ]

    button_labels = [(line.name, line.look, line.end) for line in lines]
    buttons = _line_buttons(button_labels)
    seconds = {round(at) for at in shown_instants}
    times = sorted(seconds)
    data = _line_data(nonempty_lines, times, plot, number_format, rounds)
    chart = _chart(label, height, (left_margin, right_margin), drawing, data, buttons)
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
    outline_points: list[tuple[float, float]] = []
    lower_edge = []
    for x, low, high in band:
        outline_points.append((x, high))
        lower_edge.append((x, low))
    outline_points += reversed(lower_edge)
    outline = plot.pairs(outline_points)
    return filled('<polygon class="band" points="%s"/>', outline)


def _upright_axis(values: Sequence[float], number_format: str) -> tuple[tuple[float, float], str]:
    """Return the range of an axis with 0 on it, and a format in which its ticks are exact."""
    low, high = _around([0.0, *values])
    least_reach = LEAST.get(number_format, 0.0) if any(values) else FLAT
    reach = max(-low, high)
    if reach < least_reach:
        high = least_reach
        low = -least_reach
    if "f%" in number_format:
        axis_ticks = ticks(low, high)
        number_format = _exact_format(number_format, axis_ticks)
    return (low, high), number_format


FLAT = 2.2
"""The range of the axis for a line that stays at 0."""
LEAST = {"short": 3.2, "power": 0.5}
"""The least range of an axis: money on it has no cents."""


def _exact_format(number_format: str, values: Iterable[float]) -> str:
    """Return a pattern of `words.written` with as many more digits as these values need.

    >>> _exact_format("%+.0f%", [0.0, 2.5]), _exact_format("%.1f", [0.5, 1.0])
    ('%+.1f%', '%.1f')
    """
    beginning, _, ending = number_format.partition(".")
    places = int(ending[0])
    while any(round(value, places) != value for value in values):
        places += 1
    return f"{beginning}.{places}{ending[1:]}"


MARK_UNITS = {
    "short": ("$", "", 2, 2),
    "dollar": ("$", "", 6, 2),
    "power": ("×", "", 3, 0),
    "%.0f%": ("", "%", 1, 1),
}
"""How marks.js writes a value: prefix, suffix, and the most and fewest digits."""
PERCENT = ("", "%", 2, 2)
"""The format of a unit without one of its own."""


def _shown_instants(lines: Sequence[Line]) -> set[float]:
    """Return the instants that a chart draws: up to this many of all lines together, and their ends."""
    every = sorted({at for line in lines for at, _ in line.points})
    ends = {line.points[place][0] for line in lines for place in (0, -1)}
    drawn = evenly_spaced(every, MOST)
    return ends.union(drawn)


def _line_data(
    lines: Sequence[Line], times: Sequence[int], plot: Plot, number_format: str, rounds: Rounds
) -> dict[str, Any]:
    """Return the figures of lines: instants and values as integers, each as the difference to the one before.

    From its first mark on a line has at every instant the value of its last mark until then, drawn or not.
    """
    prefix, suffix, places, least = MARK_UNITS.get(number_format, PERCENT)
    lines_data = []
    for line in lines:
        line_times = [round(at) for at, _ in line.points]
        start = times.index(line_times[0])
        previous_value = 0
        steps = []
        for at in times[start:]:
            index = bisect_right(line_times, at) - 1
            _, point_value = line.points[index]
            whole_value = _mark_value(point_value, number_format, places)
            steps.append(whole_value - previous_value)
            previous_value = whole_value
        line_data = {"name": line.name, "look": line.look, "from": start, "by": steps}
        if line.href:
            line_data["href"] = line.href
        lines_data.append(line_data)

    has_sign = number_format in ("short", "%+.0f%")
    is_logarithm = number_format == "power"
    x = [round(edge) for edge in plot.x]
    y = [float(f"{edge:.6g}") for edge in plot.y]
    time_steps = [later - earlier for earlier, later in pairwise([0, *times])]
    data: dict[str, Any] = {
        "x": x,
        "y": y,
        "unit": [prefix, suffix, places, least, has_sign, is_logarithm],
        "at": time_steps,
        "lines": lines_data,
    }
    if rounds:
        data["rounds"] = [_round_at(at, rounds) for at in times]
    return data


def _mark_value(value: float, unit: str, places: int) -> int:
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
    cumulated_squares = list(
        accumulate(((after - before) ** 2 for (_, before), (_, after) in pairwise(points)), initial=0.0)
    )
    total = cumulated_squares[-1]
    if not total:
        return ()

    end_mean = 0.0
    end_high = TWO_SIDED * sqrt(total)
    end_low = -end_high
    if luck is not None and luck.low is not None and luck.high is not None:
        end_mean = luck.mean / ONE * scale
        end_low = luck.low / ONE * scale
        end_high = luck.high / ONE * scale

    band = []
    for (at, _), squares_until_then in zip(points, cumulated_squares, strict=True):
        share_of_total = squares_until_then / total
        width_share = sqrt(share_of_total)
        middle = end_mean * share_of_total
        lowest = middle + (end_low - end_mean) * width_share
        highest = middle + (end_high - end_mean) * width_share
        band.append((at, lowest, highest))
    return band


SQUARE = 250
COUNTS = 64
"""The heights of the two parts of a calibration chart: the curve, and the counts below it."""
QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)


def calibration_chart(
    curves: Sequence[tuple[str, ReliabilityDiagram, str]],
    label: str,
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
    plot_with_counts = Plot(plot.x, plot.y, height + COUNTS)

    drawing = _draw_quarter_grid(plot, plot_with_counts)
    diagonal = filled('<polyline class="base" points="0,%s %s,0"/>', 10 * height, WIDE)
    shapes = [diagonal]

    curve_data: list[dict[str, Any]] = []
    sentences = NOTHING
    for place, (name, diagram, colour_class) in enumerate(curves):
        colour = "ink" if colour_class == REST else colour_class
        hidden_class = " off" * bool(place)
        curve = _draw_deciles(diagram, plot)
        shape = filled('<g class="%s%s" data-line="%s">%s</g>', colour, hidden_class, place, curve)
        shapes.append(shape)

        group = '<g class="counts%s" data-line="%s" transform="translate(0 %s)">%s</g>'
        drawing.append(filled(group, hidden_class, place, height + 22, _draw_decile_counts(diagram)))

        tenths = _decile_figures(diagram)
        curve_data.append({"name": name, "look": colour, "tenths": tenths})
        sentence = reading_sentence(diagram.sure, diagram.null.p_value)
        sentences += filled('<p class="quiet%s" data-line="%s">%s.</p>', hidden_class, place, sentence)

    drawing += [
        _stretched(plot_with_counts, shapes),
        _label(0, 16, "happened ↑", "axis", dx=8),
        _label(100, height - 8, "probability →", "axis", "end", -4),
        _label(0, plot_with_counts.height - 3, "count", "axis", "end", -8),
    ]
    lines = [(mark["name"], mark["look"], "") for mark in curve_data]
    chips = NOTHING
    if is_named or len(lines) > 1:
        chips = _line_buttons(lines, one_at_a_time=True)
    marks = {"x": [0, 1], "y": [0, 1], "high": height, "lines": curve_data}
    return _chart(label, plot_with_counts.height, (52, 12), drawing, marks, chips + sentences)


def _draw_quarter_grid(plot: Plot, plot_with_counts: Plot) -> list[Markup]:
    """Draw the grid of a calibration chart with its ticks, at every quarter of both axes."""
    drawing = []
    for share in QUARTERS:
        x = plot.across(share)
        text = f"{share:.0%}"
        grid = _draw_upright_line("grid", x, 0, plot.height)
        level = _draw_level_line(plot.up(share), text)
        label = _label(x, plot_with_counts.height + 18, text, "axis", "middle")
        drawing += [level, grid, label]
    return drawing


def _draw_decile_counts(diagram: ReliabilityDiagram) -> Markup:
    """Write the number of forecasts of each decile."""
    counts = NOTHING
    for decile in diagram.deciles:
        x = 10 * decile.place + 5
        count_text = compact(decile.rows)
        counts += filled('<text x="%s%%">%s</text>', x, count_text)
    return counts


def _draw_deciles(diagram: ReliabilityDiagram, plot: Plot) -> Markup:
    """Draw a curve by deciles, the reach of chance behind each dot, and their counts as columns."""
    largest_count = max(decile.rows for decile in diagram.deciles)
    bottom = 10 * (plot.height + COUNTS)
    chance_paths = []
    column_paths = []
    points = []
    for decile in diagram.deciles:
        x = round(WIDE * decile.forecast)
        points.append((decile.forecast, decile.observed))
        low_y = 10 * plot.up(decile.low)
        high_y = 10 * plot.up(decile.high)
        chance_paths.append(f"M{x} {low_y:.0f}V{high_y:.0f}")
        column_height = ceil(10 * (COUNTS - 28) * decile.rows / largest_count)
        column_left = 100 * decile.place + 12
        column_paths.append(f"M{column_left} {bottom}v-{column_height}h76v{column_height}z")

    curve = plot.pairs(points)
    return filled(
        '<path class="chance" d="%s"/><path class="part" d="%s"/>'
        '<polyline class="line" points="%s"/><path class="dots" d="%s"/>',
        "".join(chance_paths),
        "".join(column_paths),
        curve,
        "".join(f"M{point.replace(',', ' ')}h0" for point in curve.split()),
    )


def _decile_figures(diagram: ReliabilityDiagram) -> list[list[int]]:
    """Return the figures of each decile: its place, its count, and four shares in thousandths."""
    figures = []
    for decile in diagram.deciles:
        shares = (decile.forecast, decile.observed, decile.low, decile.high)
        figures.append([decile.place, decile.rows, *(round(1_000 * share) for share in shares)])
    return figures


def gap_chart(
    gap: float, low: float | None, high: float | None, names: Sequence[str], colours: Sequence[str]
) -> Markup:
    """Draw one bar over 0 that shows who is closer, and the range that chance leaves open."""
    farthest = max(abs(value or 0.0) for value in (gap, low, high))
    axis_reach = 1.25 * farthest or 0.01
    is_second_closer = gap >= 0
    winner_colour = colours[is_second_closer]
    plot = Plot((-axis_reach, axis_reach), (0.0, 1.0), 104)
    short_names = short_forms(names, 32)
    y = 74

    left_name = short_names[names[0]]
    right_name = short_names[names[1]]
    drawing = [
        filled('<line class="grid" x2="100%%" y1="%s" y2="%s"/>', y, y),
        _draw_upright_line("base", 50, y - 28, y + 28),
        _label(0, 16, f"← {left_name} closer", f"{colours[0]} name"),
        _label(100, 34, f"{right_name} closer →", f"{colours[1]} name", "end"),
    ]
    if low is not None and high is not None:
        template = (
            '<rect class="%s span" x="%s%%" y="%s" width="%s%%" height="20" rx="10"><title>%s</title></rect>'
        )
        interval_left = plot.across(low)
        interval_width = plot.across(high) - interval_left
        width = round(max(interval_width, 0.2), 1)
        least = written(low, "%+.4f")
        greatest = written(high, "%+.4f")
        interval = f"95% from {least} to {greatest}"
        drawing.append(filled(template, winner_colour, interval_left, y - 10, width, interval))

    distance = written(abs(gap), "%.4f")
    title = f"{names[is_second_closer]} closer by {distance}"
    gap_dot = _dot(winner_colour, plot.across(gap), y, 9, title)
    drawing.append(gap_dot)

    tick_values = ticks(-axis_reach, axis_reach)
    side_margins = (36, 48)
    drawing += _draw_number_ticks_below(plot, tick_values, "%+.3f", NARROW - sum(side_margins))
    return _chart("The gap and its interval, over 0", plot.height, side_margins, drawing)


def columns_chart(
    edges: Sequence[float], counts: Sequence[int], label: str, number_format: str, colours: Sequence[str] = ()
) -> Markup:
    """Draw the counts between neighbouring edges as columns; a class for each, or `c1` for all."""
    low = edges[0]
    high = edges[-1]
    highest_count = max(counts, default=0) or 1
    plot = Plot((low, high), (0.0, float(highest_count)), 180)
    colours = colours or ["c1"] * len(counts)
    upright_ticks = [level for level in ticks(*plot.y) if level == int(level)]
    drawing = [*_draw_upright_ticks(plot, upright_ticks, "localized")]

    template = '<rect class="%s part" x="%s%%" y="%s" width="%s%%" height="%s"><title>%s</title></rect>'
    bars = zip(colours, counts, pairwise(edges), strict=True)
    for colour, count, (start, end) in bars:
        column_left = plot.across(start)
        full_width = plot.across(end) - column_left
        width = round(0.88 * full_width, 2)
        top = plot.up(count)
        first = written(start, number_format)
        last = written(end, number_format)
        title = f"{first} to {last}: {count:,}"
        column_height = round(plot.height - top, 1)
        column = filled(template, colour, column_left, top, width, column_height, title)
        drawing.append(column)

    lower_ticks = ticks(low, high)
    side_margins = (_left_room(upright_ticks, "localized"), 12)
    drawing += _draw_number_ticks_below(plot, lower_ticks, number_format, NARROW - sum(side_margins))
    return _chart(label, plot.height, side_margins, drawing)


Spot = tuple[str, float, float, str]
"""A name, its x and y values, and its class."""


RETURN_FORMAT = "%+.0f%"


def scatter(points: Sequence[Spot], label: str, x_unit: str) -> Markup:
    """Draw points by a figure and by a return in percent, with 0 on the upright axis."""
    if not points:
        return NOTHING
    _, x_values, y_values, _ = zip(*points, strict=True)
    if "+" in x_unit:  # a Brier score is never near 0, and nothing is on its other side
        x_values = (*x_values, 0.0)
    x_range = _around(x_values)
    y_range, upright_format = _upright_axis(y_values, RETURN_FORMAT)
    plot = Plot(x_range, y_range, HALF)

    upright_ticks = ticks(*plot.y)
    zero = _draw_upright_line("base", plot.across(0), 0, plot.height)
    drawing = [*_draw_upright_ticks(plot, upright_ticks, upright_format), zero]
    lower_ticks = ticks(*plot.x)
    side_margins = (_left_room(upright_ticks, upright_format), 12)
    drawing += _draw_number_ticks_below(plot, lower_ticks, x_unit, NARROW - sum(side_margins))

    coloured = []
    ordered = sorted(points, key=lambda spot: spot[3] != REST)
    for name, x_value, y_value, colour in ordered:
        x = plot.across(x_value)
        y = plot.up(y_value)
        x_text = written(x_value, x_unit)
        y_text = written(y_value, RETURN_FORMAT)
        title = f"{name}: {x_text}, {y_text}"
        drawing.append(_dot(colour, x, y, 5, title))
        if colour != REST:
            coloured.append((y, x, name, colour))

    coloured.sort()
    names = [name for _, _, name, _ in coloured]
    short_names = short_forms(names, 20)
    heights = [y for y, _, _, _ in coloured]
    label_heights = spread_apart(heights, 4, plot.height - 4)

    for (_, x, name, colour), y in zip(coloured, label_heights, strict=True):
        anchor_and_offset = ("end", -9) if x > 60 else ("start", 9)
        name_label = _label(x, y + 4, short_names[name], f"{colour} name", *anchor_and_offset)
        drawing.append(name_label)

    return _chart(label, plot.height, side_margins, drawing)


def probability_strip(
    rows: Sequence[tuple[str, float, str]], market_price: float | None, median: float | None, label: str
) -> Markup:
    """Draw probabilities from none to certain, a row each, with the distance from the price, and the median.

    `rows` are names, probabilities and classes, in the order of the rows.
    """
    if not rows:
        return NOTHING
    bottom = 24 + 22 * len(rows)
    plot = Plot((0.0, 1.0), (0.0, 1.0), bottom + 16)
    drawing = []
    for share in QUARTERS:
        x = plot.across(share)
        drawing.append(_draw_upright_line("grid", x, 20, bottom))
        tick_label = _label(x, bottom + 18, f"{share:.0%}", "axis", "middle")
        drawing.append(tick_label)

    if median is not None:
        x = plot.across(median)
        drawing.append(_draw_upright_line("base", x, 20, bottom))
        drawing.append(_label(x, bottom + 35, f"median {median:.0%}", "axis", _text_anchor(median)))
    if market_price is not None:
        x = plot.across(market_price)
        drawing.append(_draw_upright_line("ink middle", x, 20, bottom))
        price_text = cents(round(market_price * ONE))
        drawing.append(_label(x, 13, f"price {price_text}", "name", _text_anchor(market_price)))

    names = [name for name, _, _ in rows]
    left_margin = min(_side_room(LEFT, names, 14), 150)
    most_letters = int((left_margin - 12) / LETTER)
    short_names = short_forms(names, most_letters)

    for row, (name, probability, colour) in enumerate(rows):
        y = 35 + 22 * row
        x = plot.across(probability)
        if market_price is not None:
            start, end = sorted((plot.across(market_price), x))
            template = '<rect class="%s span" x="%s%%" y="%s" width="%s%%" height="6"/>'
            drawing.append(filled(template, colour, start, y - 3, round(end - start, 1)))
        drawing.append(_dot(colour, x, y, 5, f"{name} says {probability:.0%}"))
        drawing.append(_label(0, y + 4, short_names[name], "", "end", -10))
        drawing.append(_label(100, y + 4, f"{probability:.0%}", "name", dx=10))
    return _chart(label, plot.height, (left_margin, 48), drawing)


def _text_anchor(share: float) -> str:
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


def heat_map(rows: Mapping[str, Cells], groups: Sequence[str], label: str) -> Markup:
    """Draw a field for each row, by its name, and column; those of one group stand together under its name.

    What is not as it should be has a letter beside its colour. Where it is too wide the newest columns are
    seen, and the others by scrolling.
    """
    height = 26 + HIGH * len(rows) + 6
    names_width = _side_room(LEFT, rows, 14)
    letters = int((names_width - 8) / LETTER)
    short_names = short_forms(rows, letters)
    column_starts = _column_starts(groups)
    width = column_starts[-1] + FIELD if column_starts else 0

    names = NOTHING
    drawing = [*_draw_column_groups(groups, column_starts)]
    for number, (name, cells) in enumerate(rows.items()):
        y = 26 + HIGH * number
        short_name = short_names[name]
        names += filled(
            '<text x="%s" y="%s" text-anchor="end">%s</text>', names_width - 8, y + 13, short_name
        )
        drawing += _draw_row_fields(column_starts, cells, y)

    template = (
        '<figure class="chart heat"><svg width="%s" height="%s" aria-hidden="true">%s</svg>'
        '<div class="fields"><div class="plot"%s>'
        '<svg width="%s" height="%s" role="img" aria-label="%s">%s</svg>'
        '<div class="tip" role="status"></div></div></div></figure>'
    )
    fields_markup = NOTHING.join(drawing)
    return filled(template, names_width, height, names, READ_BY_KEYS, width, height, label, fields_markup)


def _column_starts(groups: Sequence[str]) -> list[int]:
    """Return where each column begins; a new group stands a little apart."""
    starts: list[int] = []
    for place, name in enumerate(groups):
        is_new = place and groups[place - 1] != name
        gap = 6 if is_new else 0
        left = starts[-1] + FIELD + gap if starts else 0
        starts.append(left)
    return starts


def _draw_column_groups(groups: Sequence[str], column_starts: Sequence[int]) -> Iterator[Markup]:
    """Draw the names over the columns, as far as there is room."""
    group_starts = [start for start, name in enumerate(groups) if start == 0 or groups[start - 1] != name]
    for start, next_start in pairwise([*group_starts, len(groups)]):
        width = (next_start - start) * FIELD
        most_letters = int(width / LETTER)
        text = f"cohort {groups[start]}"
        if len(text) > most_letters:
            text = groups[start]
        if len(text) <= most_letters:
            yield filled('<text class="axis" x="%s" y="16">%s</text>', column_starts[start], text)


def _draw_row_fields(column_starts: Sequence[int], cells: Cells, y: int) -> Iterator[Markup]:
    """Draw the good fields of a row as one path a class, all others each with a letter and a tooltip."""
    present_cells = [
        (left, *cell) for left, cell in zip(column_starts, cells, strict=True) if cell is not None
    ]
    size = FIELD - 2
    for look in CALM:
        path = " ".join(
            f"M{left} {y}h{size}v{HIGH - 3}h-{size}z" for left, kind, _ in present_cells if kind == look
        )
        if path:
            yield filled('<path class="turn-%s" d="%s"/>', look, path)

    template = (
        '<g class="turn-%s"><title>%s</title><rect x="%s" y="%s" width="%s" height="%s"/>'
        '<text x="%s" y="%s" text-anchor="middle">%s</text></g>'
    )
    for left, look, title in present_cells:
        if look not in CALM:
            middle = left + size / 2
            letter = look[:1].upper()
            yield filled(template, look, title, left, y, size, HIGH - 3, middle, y + 13, letter)
