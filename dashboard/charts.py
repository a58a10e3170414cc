"""Charts with axes, as SVG.

What has axes is drawn twice, for a desk and for a phone, and the style sheet shows the one that fits. What
a chart shows is its label, for those who can't see it.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import accumulate, chain, pairwise, product, starmap
from math import ceil, floor, log10, sqrt
from operator import mul
from typing import TypeVar

from markupsafe import Markup

from arena.scores.rules.money.luck import Luck
from arena.scores.rules.reliability.diagram import ReliabilityDiagram
from dashboard.html import NOTHING
from dashboard.pictures import REST, Points, Scale, dot, pairs, upright
from dashboard.words import cents, filled, written
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

STEPS = (1.0, 1.5, 2.0, 2.5, 4.0, 5.0, 7.5)

LETTER = 6.8
LINE = 15
"""About how wide a letter of a label is, and how far labels stand apart."""
MOST = 300
"""Points of a line: more can't be told apart."""
TWO_SIDED = 1.96
"""So many standard deviations hold 95 in 100."""
SHORT = timedelta(days=3)
LONG_TIME = timedelta(days=300)
"""Up to the first a time axis has hours, from the second on years."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line: its points, its class, what stands behind its name at its end, and whether it is dashed."""

    name: str
    points: Points
    look: str = REST
    end: str = ""
    dashed: bool = False

    @property
    def title(self) -> str:
        """Return its name with what stands behind it."""
        return f"{self.name} {self.end}".strip()


@dataclass(frozen=True, slots=True)
class Frame:
    """How large a chart is, and the room at its sides for what stands there."""

    name: str
    width: int
    height: int
    left: int
    right: int

    @property
    def end(self) -> int:
        """Return the right edge of what is drawn."""
        return self.width - self.right

    def across(self, low: float, high: float) -> Scale:
        """Return the scale from the left edge of what is drawn to the right one."""
        return Scale(low, high, self.left, self.end)

    def scales(self, x: tuple[float, float], y: tuple[float, float]) -> tuple[Scale, Scale]:
        """Return the scales across and up."""
        return self.across(*x), Scale(*y, self.height - 26, 12)


NARROW = Frame("narrow", 350, 260, 44, 128)
FRAMES = (Frame("wide", 760, 380, 56, 176), NARROW)
LONG = (Frame("wide", 1160, 320, 56, 150), NARROW)
HALVES = (Frame("wide", 520, 380, 52, 150), NARROW)
SQUARES = (Frame("wide", 520, 380, 44, 120), Frame("narrow", 350, 290, 40, 84))


def _charts(frames: Sequence[Frame], draw: Callable[[Frame], Iterable[Markup]], says: str) -> Markup:
    """Draw a chart into each of the frames."""
    svg = '<svg class="%s chart" viewBox="0 0 %s %s" role="img" aria-label="%s">%s</svg>'
    drawn = NOTHING
    for frame in frames:
        drawn += filled(svg, frame.name, frame.width, frame.height, says, NOTHING.join(draw(frame)))
    return drawn


def _fitted(frames: Sequence[Frame], names: Iterable[str]) -> list[Frame]:
    """Return frames whose room at the right is no more than these names need."""
    need = 36 + ceil(LETTER * max(map(len, names), default=0))
    return [replace(frame, right=min(frame.right, need)) for frame in frames]


def _label(x: float, y: float, text: str, look: str, anchor: str = "start") -> Markup:
    """Draw a word."""
    return filled('<text class="%s" x="%s" y="%s" text-anchor="%s">%s</text>', look, x, y, anchor, text)


def _level(frame: Frame, y: float, text: str, look: str = "grid") -> Markup:
    """Draw a tick of the upright axis, with its line across."""
    line = filled('<line class="%s" x1="%s" x2="%s" y1="%s" y2="%s"/>', look, frame.left, frame.end, y, y)
    return line + _label(frame.left - 8, y + 4, text, "axis", "end")


def _levels(frame: Frame, up: Scale, values: Iterable[float], unit: str) -> Iterator[Markup]:
    """Draw the ticks of the upright axis; that of 0 is the base."""
    for value in values:
        yield _level(frame, up.at(value), written(value, unit), "grid" if value else "base")


def _marks(frame: Frame, across: Scale, values: Iterable[float], unit: str) -> Iterator[Markup]:
    """Draw the ticks of the lower axis."""
    for value in values:
        yield _label(across.at(value), frame.height - 8, written(value, unit), "axis", "middle")


def _polygon(band: Band, across: Scale, up: Scale) -> Markup:
    """Draw a band."""
    if not band:
        return NOTHING
    edges: list[tuple[float, float]] = []
    lower = []
    for x, low, high in band:
        edges.append((x, high))
        lower.append((x, low))
    edges += reversed(lower)
    return filled('<polygon class="band" points="%s"/>', pairs(edges, across, up))


def _path(line: Line, across: Scale, up: Scale) -> Markup:
    """Draw a line; a dot where it has one point alone."""
    if len(line.points) == 1:
        [(x, y)] = line.points
        return dot(line.look, across.at(x), up.at(y), 3.5, line.title)
    dash = Markup(' stroke-dasharray="5 4"') * line.dashed
    drawn = '<polyline class="%s line" points="%s"%s><title>%s</title></polyline>'
    return filled(drawn, line.look, pairs(line.points, across, up), dash, line.title)


def _ends(frame: Frame, x: float, ends: Sequence[tuple[float, str, str, str]]) -> Iterator[Markup]:
    """Draw names at the ends of lines, moved apart where they would lie on one another."""
    ends = sorted(ends)
    places = spread([y for y, *_ in ends], 14, frame.height - 30)
    for (y, name, value, look), place in zip(ends, places, strict=True):
        room = int((frame.right - 14) / LETTER)
        if value:
            room -= len(value) + 1
        yield dot(look, x, y, 3.5)
        yield _label(x + 10, place + 4, f"{shortened(name, room)} {value}".strip(), f"{look} name")


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


def ticks(low: float, high: float) -> list[float]:
    """Return three round values between two others, 0 among them where it lies between.

    >>> ticks(-18, 22), ticks(3, 97), ticks(0, 0.9), ticks(-1, 30)
    ([-15.0, 0.0, 15.0], [25.0, 50.0, 75.0], [0.0, 0.4, 0.8], [0.0, 15.0, 30.0])
    """
    unit = 10.0 ** floor(log10(high - low))
    for step in sorted(starmap(mul, product(STEPS, (unit / 10, unit))), reverse=True):
        middles = [round((low + high) / 2 / step) * step]
        if low <= 0 <= high:
            middles = [0.0, step, -step]

        for middle in middles:
            if low <= middle - step and middle + step <= high:
                return [round(middle + step * place, 12) + 0.0 for place in (-1, 0, 1)]
    return [low, (low + high) / 2, high]


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
    frames: Sequence[Frame] = FRAMES,
) -> Markup:
    """Draw lines over time with their names at their ends, the chosen ones before the others.

    `unit` is a format of `dashboard.words.written`, `band` is shaded, `note` says of what; `frames` are how
    large it is: `HALVES` for one beside another, `LONG` for one that has a line to itself.
    """
    lines = [replace(line, points=thin(line.points, MOST)) for line in lines if line.points]
    if not lines:
        return NOTHING
    times, values = zip(*chain.from_iterable(line.points for line in lines), strict=True)
    first = min(times)
    last = max(times)
    span = (first, last)
    if first == last:
        span = (first - 1, last + 1)
    edges = chain.from_iterable((low, high) for _, low, high in band)
    y, unit = _upright_axis([*values, *edges], unit)
    named = [line for line in lines if line.look != REST]
    others = [line for line in lines if line.look == REST]

    def draw(frame: Frame) -> Iterator[Markup]:
        across, up = frame.scales(span, y)
        yield _polygon(band, across, up)
        yield from _levels(frame, up, ticks(*y), unit)
        yield from _times(frame, across, first, last)

        for line in (*others, *reversed(named)):
            yield _path(line, across, up)
        ends = [(up.at(line.points[-1][1]), line.name, line.end, line.look) for line in named]
        yield from _ends(frame, across.at(last), ends)
        if note and frame.name == "wide":
            yield _label(frame.left + 6, frame.height - 32, note, "axis")

    drawn = _charts(_fitted(frames, [line.title for line in named]), draw, says)
    if note:
        drawn += filled('<p class="quiet note">%s</p>', note)
    return drawn


def _upright_axis(values: Sequence[float], unit: str) -> tuple[tuple[float, float], str]:
    """Return from where to where it goes, 0 on it, and a unit in which its ticks differ."""
    low, high = _around([0.0, *values])
    if unit == "%+.0f%" and any(value != int(value) for value in ticks(low, high)):
        unit = "%+.1f%"
    if len({written(value, unit) for value in ticks(low, high)}) < 3:  # a flat line has room around it
        low = min(low, -1.1)
        high = max(high, 1.1)
    return (low, high), unit


def _times(frame: Frame, across: Scale, first: float, last: float) -> Iterator[Markup]:
    """Draw three ticks of the lower axis: where it starts and ends, and its middle."""
    places = {first: "start", (first + last) / 2: "middle", last: "end"}
    if first == last:
        places = {first: "middle"}

    span = timedelta(seconds=last - first)
    for place, side in places.items():
        when = datetime.fromtimestamp(place, UTC)
        text = f"{when.day} {when:%b}"
        if span <= SHORT:
            text += f" {when:%H:%M}"
        elif span > LONG_TIME:
            text = f"{when:%b %Y}"
        yield _label(across.at(place), frame.height - 8, text, "axis", side)


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


def calibration_chart(curves: Sequence[tuple[str, ReliabilityDiagram, str]], says: str) -> Markup:
    """Draw what was said against what happened, with the band of the first: names, diagrams and classes."""
    curves = [curve for curve in curves if curve[1].points]
    if not curves:
        return NOTHING
    band = [(point.forecast, point.low, point.high) for point in curves[0][1].points]

    def draw(frame: Frame) -> Iterator[Markup]:
        across, up = frame.scales((0.0, 1.0), (0.0, 1.0))
        yield _polygon(band, across, up)
        for share in (0.0, 0.5, 1.0):
            yield _level(frame, up.at(share), f"{share:.0%}")
            yield _label(across.at(share), frame.height - 8, f"{share:.0%}", "axis", "middle")
        yield filled('<polyline class="base" points="%s"/>', pairs([(0, 0), (1, 1)], across, up))

        for curve in reversed(curves):
            yield from _calibration(*curve, across, up)
        ends = []
        right = 0.0
        for name, diagram, look in curves:
            last = diagram.points[-1]
            ends.append((up.at(last.recalibrated), name, "", look))
            right = max(right, across.at(last.forecast))
        yield from _ends(frame, right, ends)

    return _charts(_fitted(SQUARES, [name for name, _, _ in curves]), draw, says)


def _calibration(
    name: str, diagram: ReliabilityDiagram, look: str, across: Scale, up: Scale
) -> Iterator[Markup]:
    """Draw a curve, whose points are as large as they are many; one of those beside it is dashed."""
    points = thin(diagram.points, 40)
    places = [(point.forecast, point.recalibrated) for point in points]
    yield _path(Line(name, places, look, dashed=look == REST), across, up)
    if look == REST:
        return

    most = max(point.weight for point in points)
    for point in points:
        title = f"{name} says {point.forecast:.0%}, happens {point.recalibrated:.0%}, n = {point.rows:,}"
        radius = round(1.5 + 3 * sqrt(point.weight / most), 1)
        yield dot(look, across.at(point.forecast), up.at(point.recalibrated), radius, title)


GAP_FRAMES = (Frame("wide", 1160, 120, 24, 24), Frame("narrow", 350, 120, 12, 12))


def gap_chart(
    gap: float, low: float | None, high: float | None, names: Sequence[str], looks: Sequence[str]
) -> Markup:
    """Draw one bar over 0: who is closer, left or right, and how far chance leaves it open."""
    reach = 1.25 * max(abs(value or 0.0) for value in (gap, low, high)) or 0.01
    look = looks[gap >= 0]

    def draw(frame: Frame) -> Iterator[Markup]:
        across = frame.across(-reach, reach)
        room = int((frame.width / 2 - 70) / LETTER)
        left = shortened(names[0], room)
        right = shortened(names[1], room)
        yield filled('<line class="grid" x1="%s" x2="%s" y1="62" y2="62"/>', frame.left, frame.end)
        yield upright("base", across.at(0), 34, 90)
        yield _label(frame.left, 22, f"← {left} closer", f"{looks[0]} name")
        yield _label(frame.end, 22, f"{right} closer →", f"{looks[1]} name", "end")

        if low is not None and high is not None:
            bar = '<rect class="%s span" x="%s" y="52" width="%s" height="20" rx="10"/>'
            start = across.at(low)
            yield filled(bar, look, start, round(max(across.at(high) - start, 2), 1))
        yield dot(look, across.at(gap), 62, 9)
        yield from _marks(frame, across, ticks(-reach, reach), "%+.3f")

    return _charts(GAP_FRAMES, draw, "The gap and its interval, over 0")


COLUMN_FRAMES = (Frame("wide", 1160, 220, 44, 16), Frame("narrow", 350, 180, 36, 8))


def columns_chart(
    edges: Sequence[float], counts: Sequence[int], says: str, unit: str, looks: Sequence[str] = ()
) -> Markup:
    """Draw how many lie between each two edges, as columns; one class for each, or `c1` for all."""
    most = max(counts, default=0) or 1
    low = edges[0]
    high = edges[-1]
    looks = looks or ["c1"] * len(counts)
    bar = '<rect class="%s part" x="%s" y="%s" width="%s" height="%s"><title>%s</title></rect>'

    def draw(frame: Frame) -> Iterator[Markup]:
        across, up = frame.scales((low, high), (0.0, float(most)))
        yield from _levels(frame, up, (0, most), "localized")

        for look, many, (start, end) in zip(looks, counts, pairwise(edges), strict=True):
            left = across.at(start)
            top = up.at(many)
            width = round(max(across.at(end) - left - 1, 1), 1)
            title = f"{written(start, unit)} to {written(end, unit)}: {many:,}"
            yield filled(bar, look, left, top, width, round(up.at(0) - top, 1), title)

        for value, side in ((low, "start"), ((low + high) / 2, "middle"), (high, "end")):
            yield _label(across.at(value), frame.height - 8, written(value, unit), "axis", side)

    return _charts(COLUMN_FRAMES, draw, says)


Spot = tuple[str, float, float, str]
"""A name, its places across and up, and its class."""


def scatter(spots: Sequence[Spot], says: str, x_unit: str, y_unit: str) -> Markup:
    """Draw points by two figures each, 0 on both axes."""
    if not spots:
        return NOTHING
    _, rights, highs, _ = zip(*spots, strict=True)
    if "+" in x_unit:  # a Brier score is never near 0, and nothing is on its other side
        rights = (*rights, 0.0)
    x = _around(rights)
    y = _around([0.0, *highs])
    rest_first = sorted(spots, key=lambda spot: spot[3] != REST)

    def draw(frame: Frame) -> Iterator[Markup]:
        across, up = frame.scales(x, y)
        yield from _levels(frame, up, ticks(*y), y_unit)
        yield upright("base", across.at(0), 12, frame.height - 26)
        yield from _marks(frame, across, ticks(*x), x_unit)

        for name, right, high, look in rest_first:
            title = f"{name}: {written(right, x_unit)}, {written(high, y_unit)}"
            yield dot(look, across.at(right), up.at(high), 5, title)
            if look != REST:
                yield _spot_name(name, across.at(right), up.at(high), look, frame)

    return _charts(LONG, draw, says)


def _spot_name(name: str, x: float, y: float, look: str, frame: Frame) -> Markup:
    """Draw a name beside a point, on the side that has room for it."""
    after = min(24, int((frame.width - x - 12) / LETTER))
    before = min(24, int((x - 12) / LETTER))
    if after < min(len(name), before):
        return _label(x - 9, y + 4, shortened(name, before), f"{look} name", "end")
    return _label(x + 9, y + 4, shortened(name, after), f"{look} name")


def strip(
    spots: Sequence[tuple[str, float, str]], price: float | None, middle: float | None, says: str
) -> Markup:
    """Draw probabilities from none to certain, a row each, with the distance from the price, and the median.

    `spots` are names, probabilities and classes, in the order of the rows.
    """
    if not spots:
        return NOTHING
    height = 60 + 22 * len(spots)
    bottom = height - 36

    def draw(frame: Frame) -> Iterator[Markup]:
        across = frame.across(0.0, 1.0)
        for share in (0.0, 0.5, 1.0):
            yield upright("grid", across.at(share), 20, bottom)
            yield _label(across.at(share), bottom + 16, f"{share:.0%}", "axis", "middle")
        if middle is not None:
            yield upright("base", across.at(middle), 20, bottom)
            yield _label(across.at(middle), bottom + 31, f"median {middle:.0%}", "axis", _side(middle))
        if price is not None:
            yield upright("ink middle", across.at(price), 20, bottom)
            yield _label(across.at(price), 13, f"price {cents(round(price * ONE))}", "name", _side(price))

        for row, spot in enumerate(spots):
            yield from _strip_row(frame, across, 33 + 22 * row, price, *spot)

    frames = (Frame("wide small", 420, height, 130, 46), Frame("narrow", 350, height, 112, 42))
    return _charts(frames, draw, says)


def _strip_row(
    frame: Frame, across: Scale, y: int, price: float | None, name: str, chance: float, look: str
) -> Iterator[Markup]:
    """Draw one probability: its distance from the price, its point, and the name of who states it."""
    if price is not None:
        left, right = sorted((across.at(price), across.at(chance)))
        bar = '<rect class="%s span" x="%s" y="%s" width="%s" height="6"/>'
        yield filled(bar, look, left, y - 3, round(right - left, 1))
    yield dot(look, across.at(chance), y, 5, f"{name} says {chance:.0%}")
    yield _label(frame.left - 10, y + 4, shortened(name, int(frame.left / LETTER) - 2), "", "end")
    yield _label(frame.end + 10, y + 4, f"{chance:.0%}", "name")


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
"""Pixels from one row of a heat map to the next."""


def heat_map(rows: Mapping[str, Cells], groups: Sequence[str], says: str, most: int = 12) -> Markup:
    """Draw a field for each row, by its name, and column; those of one group stand together under its name.

    What is not as it should be has a letter beside its colour. On a phone the last `most` columns are shown.
    """
    width = max(map(len, rows), default=0) * LETTER
    wide = min(max(width + 20, 90), 300)
    narrow = min(max(width + 14, 70), 130)
    height = 26 + HIGH * len(rows) + 6

    def draw(frame: Frame) -> Iterator[Markup]:
        start = 0
        if frame.name == "narrow":
            start = max(len(groups) - most, 0)
        lefts, size = yield from _heat_groups(frame, groups[start:])

        for number, (name, cells) in enumerate(rows.items()):
            y = 26 + HIGH * number
            text = shortened(name, int((frame.left - 8) / LETTER))
            yield _label(frame.left - 8, y + 13, text, "", "end")
            yield from _heat_row(lefts, cells[start:], y, round(size - 2, 1))

    frames = (Frame("wide", 1160, height, round(wide), 8), Frame("narrow", 350, height, round(narrow), 4))
    return _charts(frames, draw, says)


def _heat_groups(frame: Frame, shown: Sequence[str]) -> Generator[Markup, None, tuple[list[float], float]]:
    """Draw the names over the columns; return where each column begins, and how wide it is."""
    firsts = [place for place, name in enumerate(shown) if place == 0 or shown[place - 1] != name]
    size = min((frame.end - frame.left - 6 * len(firsts)) / max(len(shown), 1), 56)

    lefts = []
    gap = 0
    for place in range(len(shown)):
        if place and place in firsts:
            gap += 6
        lefts.append(round(frame.left + place * size + gap, 1))

    for place, after in pairwise([*firsts, len(shown)]):
        room = int((after - place) * size / LETTER)
        text = f"cohort {shown[place]}"
        if len(text) > room:
            text = shown[place]
        if len(text) <= room:
            yield _label(lefts[place], 16, text, "axis")
    return lefts, size


def _heat_row(lefts: Sequence[float], cells: Cells, y: int, size: float) -> Iterator[Markup]:
    """Draw the calm fields of a row as one path a class, all others each with its letter and what it says."""
    there = [(left, *cell) for left, cell in zip(lefts, cells, strict=True) if cell is not None]
    for look in CALM:
        path = " ".join(f"M{left} {y}h{size}v{HIGH - 3}h-{size}z" for left, kind, _ in there if kind == look)
        if path:
            yield filled('<path class="turn-%s" d="%s"/>', look, path)

    field = '<g class="turn-%s"><title>%s</title><rect x="%s" y="%s" width="%s" height="%s"/>%s</g>'
    for left, look, title in there:
        if look not in CALM:
            letter = _label(round(left + size / 2, 1), y + 13, look[:1].upper(), "", "middle")
            yield filled(field, look, title, left, y, size, HIGH - 3, letter)
