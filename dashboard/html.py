"""All the markup there is, of escaped text: the bar, tiles, boxes, tags, quotes, tables, and charts.

Pages put it on the screen (`dashboard.pages.put`); reports and sites write it into files. Rows of tables
lead on by real links, headers are buttons, and in a narrow place each row is a card. Charts are SVG: their
colours are classes, `c1` to `c8` those of agents (`SeasonOverview.colours`), `rest` all that is not chosen.
What has axes is drawn twice, for a desk and for a phone, and the style sheet shows the one that fits. What
a chart shows is its label, for those who can't see it. The look of all this, in light and dark, stands in
assets/arena.css; assets/arena.js sorts tables.
"""

import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import accumulate, pairwise
from math import ceil, floor, log10, sqrt
from statistics import median
from typing import Any, Literal, TypeVar

from markupsafe import Markup, escape

from arena.scores.rules.money.luck import Luck
from arena.scores.rules.reliability.diagram import ReliabilityDiagram
from dashboard.words import JOINER, cents, count, day, filled, flat, moment, written
from markets.millionths import ONE

QUOTED = 4
"""So many reasons are read at once."""
BADGES = {"live": "LIVE", "replay": "REPLAY", "simulated": "SIMULATED"}


@dataclass(frozen=True, slots=True)
class Tile:
    """A figure that matters, what it is of, what is to be known of it, and a small picture."""

    value: str
    label: str
    help: str = ""
    look: str = ""
    picture: Markup | None = None


@dataclass(frozen=True, slots=True)
class Quotation:
    """What somebody did, in its own words: who, what, why, and where; and where that leads."""

    who: str
    did: str
    why: str
    where: str
    href: str | None
    about: str = ""


def each(template: str, items: Iterable[object]) -> Markup:
    """A template of ours once for each item."""
    return Markup().join(filled(template, item) for item in items)


def bar(items: Sequence[tuple[str, str]], here: str, badge: Markup) -> Markup:
    """The bar of all pages: their names and addresses, the one that is open, and the badge."""
    current = Markup(' aria-current="page"')
    links = Markup().join(
        filled('<a href="%s"%s>%s</a>', href, current if name == here else "", name) for name, href in items
    )
    brand = '<a class="brand" href="%s"><span aria-hidden="true">◆</span> Paper Arena</a>'
    home = filled(brand, items[0][1] if items else "")
    return filled(
        '<nav class="bar" aria-label="Pages">%s<span class="links">%s</span>%s</nav>', home, links, badge
    )


def badge(stamp: str, venue: str) -> Markup:
    """Whether what is shown is played live, where; or a replay, or made up."""
    words = BADGES.get(stamp, stamp.upper())
    text = f"{words} · {venue.capitalize()}" if stamp == "live" else words
    return filled('<span class="badge %s">%s</span>', stamp, text)


def tiles(shown: Iterable[Tile]) -> Markup:
    """A row of figures; on a phone two stand beside each other."""
    one = '<div class="tile box"><b class="%s">%s</b>%s<span title="%s">%s</span></div>'
    inside = Markup().join(filled(one, t.look, t.value, t.picture or "", t.help, t.label) for t in shown)
    return filled('<div class="tiles">%s</div>', inside)


def quiet(text: str | Markup) -> Markup:
    """A line in grey."""
    return filled('<p class="quiet">%s</p>', text)


def box(title: str, inside: str | Markup = "", below: str | Markup = "") -> Markup:
    """A box with its heading, what it shows, and a line that says what is seen, or why nothing is."""
    said = quiet(below) if below else ""
    return filled('<section class="box"><h2>%s</h2>%s%s</section>', title, inside, said)


def quotes(shown: Iterable[Quotation]) -> Markup:
    """What was done and why, one below the other."""
    one = '<div class="quote"><p>%s %s</p>%s<p class="quiet">%s</p></div>'
    return Markup().join(
        filled(
            one,
            linked(filled("<b>%s</b>", q.who), q.href),
            q.did,
            filled('<p class="why">“%s”</p>', q.why) if q.why else "",
            flat(q.where),
        )
        for q in shown
    )


def reasons(found: Sequence[Quotation]) -> Markup:
    """A box with the first of them; the others are folded away."""
    rest = folded(count(len(found) - QUOTED, "more reason"), quotes(found[QUOTED:]))
    return box("Reasons", quotes(found[:QUOTED]) + (rest if len(found) > QUOTED else ""))


def light(look: str, word: str, sentence: str, reasons: Sequence[str]) -> Markup:
    """How something is, as a traffic light: a colour with its word, a sentence, and why."""
    said = filled(
        '<p class="light %s"><span aria-hidden="true"></span><b>%s</b> %s</p>', look, word, sentence
    )
    why = points(reasons) if reasons else ""
    return filled('<section class="box" aria-label="Health">%s%s</section>', said, why)


def linked(inside: Markup, href: str | None) -> Markup:
    """What leads somewhere, if it does."""
    return filled('<a href="%s">%s</a>', href, inside) if href else inside


def venue_link(found: tuple[str, str] | None, words: str = "At {}") -> Markup:
    """To a venue's page of a market; nothing where none is known.

    >>> print(venue_link(("Manifold", "https://manifold.markets/market/rain")))
    <a href="https://manifold.markets/market/rain" target="_blank" rel="noopener noreferrer">At Manifold</a>
    """
    if found is None:
        return Markup("")
    link = '<a href="%s" target="_blank" rel="noopener noreferrer">%s</a>'
    return filled(link, found[1], words.format(found[0]))


def folded(title: str, inside: Markup) -> Markup:
    """What is shown to who opens it."""
    return filled('<details class="more"><summary>%s</summary>%s</details>', title, inside)


def tag(text: str, look: str) -> Markup:
    """A word in a coloured field."""
    return filled('<span class="tag %s">%s</span>', look, text)


def columns(*parts: Markup, look: str = "halves") -> Markup:
    """Parts beside each other, and below each other where there is no room."""
    return filled('<div class="%s">%s</div>', look, each('<div class="column">%s</div>', parts))


def pills(shown: Sequence[tuple[str, str, bool]], says: str, most: int = 10) -> Markup:
    """Words to choose from, each with its address and whether it is chosen; the oldest are folded away."""
    one, here = '<a class="pill" href="%s"%s>%s</a>', Markup(' aria-current="true"')
    made = [filled(one, href, here if chosen else "", text) for text, href, chosen in shown]
    older = Markup("")
    if len(made) > most:
        is_open = Markup(" open") if any(chosen for _, _, chosen in shown[:-most]) else ""
        inside = len(made) - most, Markup(" ").join(made[:-most])
        older = filled("<details%s><summary>%s older</summary>%s</details>", is_open, *inside)
    label = filled('<span class="quiet" aria-hidden="true">%s:</span>', says)
    recent = Markup(" ").join(made[-most:])
    return filled('<nav class="pills" aria-label="%s">%s %s %s</nav>', says, label, recent, older)


def bold(text: str) -> Markup:
    """A sentence in our own Markdown, as `words.plain` makes foreign text safe for it, as markup.

    >>> print(bold(r"**Better.** a\\_b <i>"))
    <strong>Better.</strong> a_b &lt;i&gt;
    """
    parts = [re.sub(r"\\(.)", r"\1", part).replace(JOINER, "") for part in re.split(r"(?<!\\)\*\*", text)]
    return Markup().join(
        filled("<strong>%s</strong>" if n % 2 else "%s", part) for n, part in enumerate(parts)
    )


def points(sentences: Iterable[str]) -> Markup:
    """Sentences as a list."""
    return filled('<ul class="points">%s</ul>', each("<li>%s</li>", sentences))


def meanings(said: Mapping[str, str], look: str = "words") -> Markup:
    """Words, and what each of them means; as `facts` beside each other."""
    return filled('<dl class="%s">%s</dl>', look, _defined(said.items()))


def _defined(said: Iterable[tuple[str, str]]) -> Markup:
    return Markup().join(filled("<dt>%s</dt><dd>%s</dd>", word, text) for word, text in said)


def gain_look(value: float) -> str:
    """The class of a gain or a loss."""
    return "" if abs(value) < 0.005 else "gain" if value > 0 else "loss"


def lines(sentences: Iterable[str]) -> Markup:
    """Sentences, one below the other."""
    return Markup("<br/>").join(escape(sentence) for sentence in sentences)


MANY = 50
"""A table of more rows is scrolled by itself."""
EMPTY = "–"
NAME = '<th scope="row" role="rowheader" class="%s" data-label="%s" title="%s"%s>%s%s</th>'
SORTED_BY = ' data-value="%s"'
Kind = Literal["text", "number", "time", "picture"]
KINDS: Mapping[str, Kind] = {
    "text": "text",
    "long": "text",
    "picture": "picture",
    "time": "time",
    "day": "time",
}
"""Those that are no numbers, by their format."""


@dataclass(frozen=True, slots=True)
class HtmlColumn:
    """A column: its words, what it says, and how its values are written.

    `format` is `text`, `long` for text to read, `picture`, `time`, `day`, or one of `words.written`.
    """

    label: str
    help: str = ""
    format: str = "text"

    @property
    def kind(self) -> Kind:
        """By what it is sorted and to which side it stands."""
        return KINDS.get(self.format, "number")


@dataclass(frozen=True, slots=True)
class HtmlCell:
    """A cell that says more than its value: what is shown, by what it is sorted, and a line below."""

    shown: Markup | str
    value: float | str | None = None
    below: str = ""
    look: str = ""


def number(label: str, form: str, help_text: str) -> HtmlColumn:
    """A column of figures, to the right."""
    return HtmlColumn(label, help_text, form)


def time(label: str, help_text: str, form: str = "time") -> HtmlColumn:
    """A column of instants in UTC."""
    return HtmlColumn(label, help_text, form)


def words(label: str, help_text: str = "", long: bool = False) -> HtmlColumn:
    """A column of text, all of which is shown if it is `long`."""
    return HtmlColumn(label, help_text, "long" if long else "text")


def picture(label: str, help_text: str = "") -> HtmlColumn:
    """A column of small drawings of our own."""
    return HtmlColumn(label, help_text, "picture")


def venue_cells(pages: Iterable[tuple[str, str] | None]) -> dict[str, list[object]]:
    """A column with the venue of each market and the way there; no column where no venue has an address."""
    links = [venue_link(page and (page[0].removesuffix(" (data)"), page[1]), "{}") for page in pages]
    cells: list[object] = [HtmlCell(link, link.striptags()) if link else None for link in links]
    return {"venue": cells} if any(links) else {}


def by_column(rows: Sequence[Mapping[str, Any]], keys: Iterable[str]) -> dict[str, list[Any]]:
    """Rows as the columns of a table."""
    return {key: [row[key] for row in rows] for key in keys}


def html_table(
    data: Mapping[str, Sequence[Any]],
    columns: Mapping[str, HtmlColumn],
    says: str,
    hrefs: Sequence[str | None] = (),
) -> Markup:
    """A table of columns of values; `says` is what it holds, for those who can't see it.

    A column that is empty in every row is left out. Pictures before the first other column stand in its
    cell, which names the row and holds its link.
    """
    filled_in = {key: values for key, values in data.items() if not values or not all(map(_is_empty, values))}
    shown = {key: columns.get(key, _guessed(key, values)) for key, values in filled_in.items()}
    head = next(key for key, column in shown.items() if column.kind != "picture")
    before = list(shown)[: list(shown).index(head)]
    keys = list(shown)[len(before) :]
    ahead = each('<span class="rank">%s</span>', (shown[key].label for key in before))
    titles = Markup().join(_title(key, shown[key], ahead * (key == head)) for key in keys)
    rows = len(data[head])
    cells = [_cells(data[key], shown[key]) for key in keys[1:]]
    names = [
        _name(data[head][n], shown[head], [data[key][n] for key in before], hrefs[n] if hrefs else None)
        for n in range(rows)
    ]
    body = Markup().join(
        filled('<tr role="row">%s' + "%s" * len(cells) + "</tr>\n", *row)
        for row in zip(names, *cells, strict=True)
    )
    return filled(
        '<div class="table"><div class="scroll%s" role="region" tabindex="0" aria-label="%s">'
        '<table role="table" aria-label="%s"><thead role="rowgroup"><tr role="row">%s</tr></thead>\n'
        '<tbody role="rowgroup">\n%s</tbody></table></div>%s%s</div>',
        *(" many" if rows > MANY else "", says, says, titles, body),
        quiet(f"{rows:,} rows: the table scrolls.") if rows > MANY else "",
        _meanings(shown[key] for key in keys),
    )


def _guessed(key: str, values: Sequence[Any]) -> HtmlColumn:
    known = [value for value in values if value is not None]
    if any(isinstance(value, Markup) for value in known):
        return picture(key)
    if known and all(isinstance(value, int | float) and not isinstance(value, bool) for value in known):
        return HtmlColumn(key, format="localized")
    return HtmlColumn(key, format="time" if known and isinstance(known[0], datetime) else "text")


def _title(key: str, column: HtmlColumn, ahead: Markup) -> Markup:
    """The head of a column; all but pictures can be sorted by."""
    inside, order = escape(column.label), ""
    if column.kind != "picture":
        inside = filled('<button type="button" title="%s">%s</button>', column.help, inside)
        order = Markup(' aria-sort="none"')
    title = '<th scope="col" role="columnheader" class="%s" data-key="%s" data-kind="%s"%s>%s%s</th>'
    return filled(title, column.kind, key, column.kind, order, ahead, inside)


def _name(value: Any, column: HtmlColumn, pictures: Sequence[Any], href: str | None) -> Markup:
    named = HtmlCell(_text(value, column)) if not isinstance(value, HtmlCell) else value
    text = escape(named.shown)
    inside = (filled('<a href="%s">%s</a>', href, text) if href else text) + _below(named)
    drawn = Markup().join(drawing for drawing in pictures if drawing is not None)
    return filled(NAME, column.kind, column.label, text, _sorted_by(value, column), drawn, inside)


def _cells(values: Sequence[Any], column: HtmlColumn) -> list[Markup]:
    """The cells of a column: there may be many thousands of them on a site."""
    label, kind = escape(column.label), "text long" if column.format == "long" else str(column.kind)
    return [
        Markup(  # noqa: S704 - our own, of escaped values
            f'<td role="cell" class="{kind}{_look(value, column)}" data-label="{label}"'
            f"{_sorted_by(value, column)}>{_text(value, column)}</td>"
        )
        for value in values
    ]


def _look(value: Any, column: HtmlColumn) -> str:
    if _is_empty(value):
        return " none"
    if isinstance(value, HtmlCell):
        return f" {escape(value.look)}"
    return "" if column.format != "gain" or not value else " gain" if value > 0 else " loss"


def _sorted_by(value: Any, column: HtmlColumn) -> Markup:
    """What a cell is sorted by where that is not its text; the figure itself, to the last digit."""
    if isinstance(value, HtmlCell) and column.kind != "picture":
        return filled(SORTED_BY, "" if value.value is None else value.value)
    if column.kind not in ("number", "time"):
        return Markup("")
    if isinstance(value, datetime):
        return filled(SORTED_BY, value.isoformat())
    return filled(SORTED_BY, "" if value is None or value != value else value)


def _text(value: Any, column: HtmlColumn) -> Markup:
    """A value as it is read, escaped whatever it says."""
    if isinstance(value, HtmlCell):
        return escape(value.shown) + _below(value)
    if _is_empty(value):
        return escape(EMPTY)
    if isinstance(value, Markup):
        return value
    if isinstance(value, bool):
        return escape("yes" if value else "no")
    if isinstance(value, datetime):
        return escape(day(value) if column.format == "day" else moment(value))
    if column.kind == "number" and isinstance(value, int | float):
        return escape(written(value, column.format))
    return escape(flat(str(value)))


def _is_empty(value: Any) -> bool:
    if isinstance(value, HtmlCell):
        return value.shown in ("", EMPTY) and not value.below
    return value is None or value == "" or value != value


def _below(cell: HtmlCell) -> Markup:
    return filled("<small>%s</small>", cell.below) if cell.below else Markup("")


def _meanings(columns: Iterable[HtmlColumn]) -> Markup:
    """What the columns say, folded away: for those who have no pointer to hold over a header."""
    inside = _defined((column.label, column.help) for column in columns if column.help)
    folded_away = "<details><summary>What the columns mean</summary><dl>%s</dl></details>"
    return filled(folded_away, inside) if inside else inside


Item = TypeVar("Item")


def thin(items: Sequence[Item], limit: int) -> list[Item]:
    """At most `limit` of the items, evenly spaced, with the first and the last one.

    >>> thin([1, 2, 3, 4, 5, 6, 7], 3), thin([1, 2], 3)
    ([1, 4, 7], [1, 2])
    """
    limit = max(limit, 2)
    if len(items) <= limit:
        return list(items)
    last = len(items) - 1
    return [items[place * last // (limit - 1)] for place in range(limit)]


Points = Sequence[tuple[float, float]]
"""Places on the x axis, instants in seconds, and the values there."""
Band = Sequence[tuple[float, float, float]]
"""Places on the x axis, and from where to where a band goes there."""

REST, CHOSEN = "rest", ("c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8")
STEPS = (1.0, 1.5, 2.0, 2.5, 4.0, 5.0, 7.5)

LETTER, LINE = 6.8, 15
"""About how wide a letter of a label is, and how far labels stand apart."""
MOST = 300
"""Points of a line: more can't be told apart."""
TWO_SIDED = 1.96
"""So many standard deviations hold 95 in 100."""
SHORT = timedelta(days=3)
"""A time whose axis needs hours."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line: its points, its class, what stands behind its name at its end, and whether it is dashed."""

    name: str
    points: Points
    look: str = REST
    end: str = ""
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Scale:
    """From values to places on a picture; what lies beyond stands at the edge."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """The place of a value."""
        inside = min(max(value, self.low), self.high) - self.low
        return round(self.start + inside / ((self.high - self.low) or 1) * (self.end - self.start), 1)


@dataclass(frozen=True, slots=True)
class Frame:
    """How large a chart is, and the room at its sides for what stands there."""

    name: str
    width: int
    height: int
    left: int
    right: int

    def across(self, low: float, high: float) -> Scale:
        """From the left edge of what is drawn to the right one."""
        return Scale(low, high, self.left, self.width - self.right)

    def scales(self, x: tuple[float, float], y: tuple[float, float]) -> tuple[Scale, Scale]:
        """Across and up."""
        return self.across(*x), Scale(*y, self.height - 26, 12)


FRAMES = (Frame("wide", 760, 380, 56, 176), Frame("narrow", 350, 260, 44, 128))
LONG = (Frame("wide", 1160, 320, 56, 150), FRAMES[1])
HALVES = (Frame("wide", 520, 380, 52, 150), FRAMES[1])
SQUARES = (Frame("wide", 520, 380, 44, 120), Frame("narrow", 350, 290, 40, 84))


def _charts(frames: Sequence[Frame], draw: Callable[[Frame], Iterable[Markup]], says: str) -> Markup:
    """A chart, drawn into each of the frames."""
    one = '<svg class="%s chart" viewBox="0 0 %s %s" role="img" aria-label="%s">%s</svg>'
    return Markup().join(
        filled(one, frame.name, frame.width, frame.height, says, Markup().join(draw(frame)))
        for frame in frames
    )


def _fitted(frames: Sequence[Frame], names: Sequence[str]) -> list[Frame]:
    """Frames whose room at the right is no more than these names need."""
    need = 36 + ceil(LETTER * max((len(name) for name in names), default=0))
    return [replace(frame, right=min(frame.right, need)) for frame in frames]


def _label(x: float, y: float, text: str, look: str, anchor: str = "start") -> Markup:
    return filled('<text class="%s" x="%s" y="%s" text-anchor="%s">%s</text>', look, x, y, anchor, text)


def _dot(look: str, x: float, y: float, radius: float, title: str = "") -> Markup:
    """A point, which says what it is of to who looks closer."""
    rest = filled("><title>%s</title></circle>", title) if title else Markup("/>")
    return filled('<circle class="%s dot" cx="%s" cy="%s" r="%s"%s', look, x, y, radius, rest)


def _upright(look: str, x: float, top: int, bottom: int) -> Markup:
    return filled('<path class="%s" d="M%s %sV%s"/>', look, x, top, bottom)


def _level(frame: Frame, y: float, text: str, is_base: bool) -> Markup:
    """A tick of the upright axis, with its line across."""
    look, end = "base" if is_base else "grid", frame.width - frame.right
    line = filled('<line class="%s" x1="%s" x2="%s" y1="%s" y2="%s"/>', look, frame.left, end, y, y)
    return line + _label(frame.left - 8, y + 4, text, "axis", "end")


def _polygon(band: Band, across: Scale, up: Scale) -> Markup:
    if not band:
        return Markup("")
    edges = [(x, high) for x, _, high in band] + [(x, low) for x, low, _ in reversed(band)]
    return filled('<polygon class="band" points="%s"/>', _pairs(edges, across, up))


def _pairs(points: Points, across: Scale, up: Scale) -> str:
    return " ".join(f"{across.at(x)},{up.at(y)}" for x, y in points)


def _path(line: Line, across: Scale, up: Scale) -> Markup:
    title = f"{line.name} {line.end}".strip()
    if len(line.points) == 1:
        [(x, y)] = line.points
        return _dot(line.look, across.at(x), up.at(y), 3.5, title)
    dash = Markup(' stroke-dasharray="5 4"') if line.dashed else ""
    drawn = '<polyline class="%s line" points="%s"%s><title>%s</title></polyline>'
    return filled(drawn, line.look, _pairs(line.points, across, up), dash, title)


def _ends(frame: Frame, x: float, ends: Sequence[tuple[float, str, str, str]]) -> Iterator[Markup]:
    """Names at the ends of lines, moved apart where they would lie on one another."""
    ends = sorted(ends)
    places = spread([y for y, *_ in ends], 14, frame.height - 30)
    for (y, name, value, look), place in zip(ends, places, strict=True):
        yield _dot(look, x, y, 3.5)
        text = shortened(name, int((frame.right - 14) / LETTER) - (len(value) + 1 if value else 0))
        yield _label(x + 10, place + 4, f"{text} {value}".strip(), f"{look} name")


def spread(places: Sequence[float], low: float, high: float) -> list[float]:
    """Places from top to bottom, moved apart by the height of a line and kept inside.

    >>> spread([20, 22, 100], 10, 110), spread([108, 109], 10, 110), spread([4, 6], 10, 110)
    ([20, 35, 100], [95, 110], [10, 25])
    """
    inside = (max(place, low) for place in places)
    found = list(accumulate(inside, lambda before, place: max(place, before + LINE)))
    limit = high
    for number in range(len(found) - 1, -1, -1):
        found[number] = max(min(found[number], limit), low)
        limit = found[number] - LINE
    return found


def shortened(name: str, letters: int) -> str:
    """A name of at most so many letters: without its maker if it is longer, then without its middle.

    >>> shortened("openai/gpt-5.6", 14), shortened("openai/gpt-5.6", 9), shortened("openai/gpt-5.6-pro", 9)
    ('openai/gpt-5.6', 'gpt-5.6', 'gpt-…-pro')
    """
    if len(name) > letters:
        name = name.rpartition("/")[2] or name
    ends = max((letters - 1) // 2, 1)
    return name if len(name) <= letters else f"{name[:ends]}…{name[-ends:]}"


def ticks(low: float, high: float) -> list[float]:
    """Three round values between two others, 0 among them where it lies between.

    >>> ticks(-18, 22), ticks(3, 97), ticks(0, 0.9), ticks(-1, 30)
    ([-15.0, 0.0, 15.0], [25.0, 50.0, 75.0], [0.0, 0.4, 0.8], [0.0, 15.0, 30.0])
    """
    unit = 10.0 ** floor(log10(high - low))
    for step in sorted((size * part for size in STEPS for part in (unit / 10, unit)), reverse=True):
        for middle in [0.0, step, -step] if low <= 0 <= high else [round((low + high) / 2 / step) * step]:
            if low <= middle - step and middle + step <= high:
                return [round(middle + step * place, 12) + 0.0 for place in (-1, 0, 1)]
    return [low, (low + high) / 2, high]


def _around(values: Sequence[float]) -> tuple[float, float]:
    """From where to where an axis goes that has all of them."""
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
    """Lines over time with their names at their ends, the chosen ones before the others.

    `unit` is a format of `dashboard.words.written`, `band` is shaded, `note` says of what; `frames` are how
    large it is: `HALVES` for one beside another, `LONG` for one that has a line to itself.
    """
    lines = [replace(line, points=thin(line.points, MOST)) for line in lines if line.points]
    spans = [point for line in lines for point in line.points]
    if not spans:
        return Markup("")
    x = min(at for at, _ in spans), max(at for at, _ in spans)
    edges = [edge for _, *both in band for edge in both]
    y, unit = _upright_axis([value for _, value in spans] + edges, unit)
    named = [line for line in lines if line.look != REST]
    order = [*(line for line in lines if line.look == REST), *reversed(named)]

    def draw(frame: Frame) -> Iterator[Markup]:
        across, up = frame.scales(x if x[0] < x[1] else (x[0] - 1, x[1] + 1), y)
        yield _polygon(band, across, up)
        yield from (_level(frame, up.at(value), written(value, unit), not value) for value in ticks(*y))
        yield from _times(frame, across, x)
        yield from (_path(line, across, up) for line in order)
        ends = [(up.at(line.points[-1][1]), line.name, line.end, line.look) for line in named]
        yield from _ends(frame, across.at(x[1]), ends)
        if note and frame.name == "wide":
            yield _label(frame.left + 6, frame.height - 32, note, "axis")

    drawn = _charts(_fitted(frames, [f"{line.name} {line.end}".strip() for line in named]), draw, says)
    return drawn + filled('<p class="quiet note">%s</p>', note) if note else drawn


def _upright_axis(values: Sequence[float], unit: str) -> tuple[tuple[float, float], str]:
    """From where to where it goes, 0 on it, and a unit in which its ticks differ."""
    y = _around([0.0, *values])
    if unit == "%+.0f%" and any(value != int(value) for value in ticks(*y)):
        unit = "%+.1f%"
    if len({written(value, unit) for value in ticks(*y)}) < 3:  # a flat line has room around it
        y = min(y[0], -1.1), max(y[1], 1.1)
    return y, unit


def _times(frame: Frame, across: Scale, x: tuple[float, float]) -> Iterator[Markup]:
    """Three ticks of the lower axis: where it starts and ends, and its middle."""
    span = timedelta(seconds=x[1] - x[0])
    places = {x[0]: "middle"} if x[0] == x[1] else {x[0]: "start", (x[0] + x[1]) / 2: "middle", x[1]: "end"}
    for place, side in places.items():
        when = datetime.fromtimestamp(place, UTC)
        text = f"{when.day} {when:%b}" + (f" {when:%H:%M}" if span <= SHORT else "")
        if span > timedelta(days=300):
            text = f"{when:%b %Y}"
        yield _label(across.at(place), frame.height - 8, text, "axis", side)


def luck_band(points: Points, luck: Luck | None = None, scale: float = 1.0) -> Band:
    """What luck alone makes of an account by each instant, in 95 seasons of 100.

    At fair prices each change of an account's worth is as likely to be of the other sign, so by an instant
    luck is as wide as the changes until then, added as squares. Where the end is known from the bets
    themselves (`luck`, in millionths, drawn in units of `scale`), the band grows by that share towards it.
    """
    squares = list(accumulate(((b - a) ** 2 for (_, a), (_, b) in pairwise(points)), initial=0.0))
    total = squares[-1] if squares else 0.0
    if not total:
        return ()
    mean, low, high = 0.0, -TWO_SIDED * sqrt(total), TWO_SIDED * sqrt(total)
    if luck is not None and luck.low is not None and luck.high is not None:
        mean, low, high = (value / ONE * scale for value in (luck.mean, luck.low, luck.high))
    shares = [square / total for square in squares]
    return [
        (at, mean * part + (low - mean) * sqrt(part), mean * part + (high - mean) * sqrt(part))
        for (at, _), part in zip(points, shares, strict=True)
    ]


def calibration_chart(curves: Sequence[tuple[str, ReliabilityDiagram, str]], says: str) -> Markup:
    """What was said against what happened, with the band of the first: names, diagrams and classes."""
    curves = [one for one in curves if one[1].points]
    if not curves:
        return Markup("")

    def draw(frame: Frame) -> Iterator[Markup]:
        across, up = frame.scales((0.0, 1.0), (0.0, 1.0))
        yield _polygon([(p.forecast, p.low, p.high) for p in curves[0][1].points], across, up)
        for share in (0.0, 0.5, 1.0):
            yield _level(frame, up.at(share), f"{share:.0%}", False)
            yield _label(across.at(share), frame.height - 8, f"{share:.0%}", "axis", "middle")
        yield filled('<polyline class="base" points="%s"/>', _pairs([(0, 0), (1, 1)], across, up))
        for curve in reversed(curves):
            yield from _calibration(*curve, across, up)
        lasts = [(name, found.points[-1], look) for name, found, look in curves]
        ends = [(up.at(last.recalibrated), name, "", look) for name, last, look in lasts]
        yield from _ends(frame, max(across.at(last.forecast) for _, last, _ in lasts), ends)

    return _charts(_fitted(SQUARES, [name for name, _, _ in curves]), draw, says)


def _calibration(
    name: str, found: ReliabilityDiagram, look: str, across: Scale, up: Scale
) -> Iterator[Markup]:
    """A curve, whose points are as large as they are many; one of those beside it is dashed."""
    points = thin(found.points, 40)
    places = [(point.forecast, point.recalibrated) for point in points]
    yield _path(Line(name, places, look, dashed=look == REST), across, up)
    most = max(point.weight for point in points)
    for point in points if look != REST else ():
        said = f"{name} says {point.forecast:.0%}, happens {point.recalibrated:.0%}, n = {point.rows:,}"
        radius = round(1.5 + 3 * sqrt(point.weight / most), 1)
        yield _dot(look, across.at(point.forecast), up.at(point.recalibrated), radius, said)


SMALL = (132, 26)
"""The size of a picture in a table's cell."""
FAR = 3
"""How many times as far as the other side a scale goes for those who lie far off on one."""


def cell_scale(spans: Sequence[tuple[float, float]]) -> Scale:
    """One scale for a column, 0 on it. One who lies far off does not make all others too small to see.

    >>> [(found.low, found.high) for found in map(cell_scale, ([(-1, 1), (-1, 2), (-90, -80)], []))]
    [(-6, 2), (-1.0, 1.0)]
    """
    lows, highs = [-min(low, 0) for low, _ in spans], [max(high, 0) for _, high in spans]
    low, high = max(lows, default=0), max(highs, default=0)
    if not low and not high:
        return Scale(-1.0, 1.0, 7, SMALL[0] - 7)
    low, high = (
        min(low, max(FAR * high, FAR * median(lows)) or low),
        min(high, max(FAR * low, FAR * median(highs)) or high),
    )
    return Scale(-low, high, 7, SMALL[0] - 7)


def interval(value: float, low: float | None, high: float | None, look: str, scale: Scale) -> Markup:
    """A point, the interval around it, and a line at 0; without an interval the point is hollow."""
    if low is None or high is None:
        ring = filled('<circle class="%s ring" cx="%s" cy="13" r="4"/>', look, scale.at(value))
        return _cell(ring, scale)
    return _cell(_bar(low, high, f"{look} span", 5, scale) + _point(value, look, scale), scale)


def before_band(value: float, low: float, high: float, look: str, scale: Scale) -> Markup:
    """A point before a grey band: where it would be by luck alone."""
    return _cell(_bar(low, high, "band", 18, scale) + _point(value, look, scale), scale)


def step(start: float, end: float, look: str, scale: Scale) -> Markup:
    """A bar from one value to another: a part of a sum."""
    return _cell(_bar(min(start, end), max(start, end), f"{look} part", 14, scale), scale)


def _bar(low: float, high: float, look: str, height: int, scale: Scale) -> Markup:
    """From one value to another, half its height over the middle of the cell."""
    left, width = scale.at(low), round(max(scale.at(high) - scale.at(low), 1), 1)
    bar = '<rect class="%s" x="%s" y="%s" width="%s" height="%s" rx="%s"/>'
    return filled(bar, look, left, (SMALL[1] - height) / 2, width, height, height / 2 if height == 5 else 0)


def _point(value: float, look: str, scale: Scale) -> Markup:
    """A dot; an arrow where the value lies beyond the scale."""
    x = scale.at(value)
    if scale.low <= value <= scale.high:
        return _dot(look, x, 13, 4.5)
    tip = -7 if value < scale.low else 7
    return filled('<path class="%s dot" d="M%s 13l%s -6v12z"/>', look, x + tip, round(-1.6 * tip, 1))


def _cell(inside: Markup, scale: Scale) -> Markup:
    """A picture in a cell, with its line at 0."""
    size = filled('width="%s" height="%s" viewBox="0 0 %s %s"', *SMALL, *SMALL)
    zero = _upright("base", scale.at(0), 1, SMALL[1] - 1)
    return filled('<svg class="cell" %s aria-hidden="true">%s%s</svg>', size, zero, inside)


def sparkline(values: Sequence[float], look: str = REST) -> Markup | None:
    """A small line, its end marked; nothing of less than two values."""
    if len(values) < 2:
        return None
    across = Scale(0, len(values) - 1, 2, 84)
    up = Scale(min(values), max(values), 20, 4) if min(values) < max(values) else Scale(0, 1, 12, 12)
    points = list(enumerate(values))
    return filled(
        '<svg class="spark" width="90" height="24" viewBox="0 0 90 24" aria-hidden="true">'
        '<polyline class="%s line" points="%s"/>%s</svg>',
        *(look, _pairs(points, across, up), _dot(look, across.at(points[-1][0]), up.at(values[-1]), 2.5)),
    )


def gap_chart(
    gap: float, low: float | None, high: float | None, names: Sequence[str], looks: Sequence[str]
) -> Markup:
    """One bar over 0: who is closer, left or right, and how far chance leaves it open."""
    frames = (Frame("wide", 1160, 120, 24, 24), Frame("narrow", 350, 120, 12, 12))
    reach = 1.25 * max(abs(value or 0.0) for value in (gap, low, high)) or 0.01
    look = looks[gap >= 0]

    def draw(frame: Frame) -> Iterator[Markup]:
        across, end = frame.across(-reach, reach), frame.width - frame.right
        left, right = (shortened(name, int((frame.width / 2 - 70) / LETTER)) for name in names)
        yield filled('<line class="grid" x1="%s" x2="%s" y1="62" y2="62"/>', frame.left, end)
        yield _upright("base", across.at(0), 34, 90)
        yield _label(frame.left, 22, f"← {left} closer", f"{looks[0]} name")
        yield _label(end, 22, f"{right} closer →", f"{looks[1]} name", "end")
        if low is not None and high is not None:
            bar = '<rect class="%s span" x="%s" y="52" width="%s" height="20" rx="10"/>'
            width = round(max(across.at(high) - across.at(low), 2), 1)
            yield filled(bar, look, across.at(low), width)
        yield _dot(look, across.at(gap), 62, 9)
        for value in ticks(-reach, reach):
            yield _label(across.at(value), 112, written(value, "%+.3f"), "axis", "middle")

    return _charts(frames, draw, "The gap and its interval, over 0")


def columns_chart(
    edges: Sequence[float], counts: Sequence[int], says: str, unit: str, looks: Sequence[str] = ()
) -> Markup:
    """How many lie between each two edges, as columns; one class for each, or `c1` for all."""
    most, low, high = max(counts, default=0) or 1, edges[0], edges[-1]
    bar = '<rect class="%s part" x="%s" y="%s" width="%s" height="%s"><title>%s</title></rect>'

    def draw(frame: Frame) -> Iterator[Markup]:
        across, up = frame.scales((low, high), (0.0, float(most)))
        yield from (_level(frame, up.at(x), written(x, "localized"), x == 0) for x in {0, most})
        for place, (many, (start, end)) in enumerate(zip(counts, pairwise(edges), strict=True)):
            left, right, top = across.at(start), across.at(end), up.at(many)
            size = round(max(right - left - 1, 1), 1), round(up.at(0) - top, 1)
            span = f"{written(start, unit)} to {written(end, unit)}: {many:,}"
            yield filled(bar, looks[place] if looks else "c1", left, top, *size, span)
        for value, side in ((low, "start"), ((low + high) / 2, "middle"), (high, "end")):
            yield _label(across.at(value), frame.height - 8, written(value, unit), "axis", side)

    return _charts((Frame("wide", 1160, 220, 44, 16), Frame("narrow", 350, 180, 36, 8)), draw, says)


def scatter(spots: Sequence[tuple[str, float, float, str]], says: str, x_unit: str, y_unit: str) -> Markup:
    """Points by two figures each, 0 on both axes: names, places across and up, and classes."""
    if not spots:
        return Markup("")
    right_of = [0.0] * ("+" in x_unit)  # a Brier score is never near 0, and nothing is on its other side
    x, y = _around(right_of + [x for _, x, _, _ in spots]), _around([0.0, *(y for _, _, y, _ in spots)])

    def draw(frame: Frame) -> Iterator[Markup]:
        across, up = frame.scales(x, y)
        yield from (_level(frame, up.at(value), written(value, y_unit), value == 0) for value in ticks(*y))
        yield _upright("base", across.at(0), 12, frame.height - 26)
        for value in ticks(*x):
            yield _label(across.at(value), frame.height - 8, written(value, x_unit), "axis", "middle")
        for name, right, high, look in sorted(spots, key=lambda spot: spot[3] != REST):
            at, up_at = across.at(right), up.at(high)
            yield _dot(look, at, up_at, 5, f"{name}: {written(right, x_unit)}, {written(high, y_unit)}")
            room = [min(24, int(free / LETTER)) for free in (frame.width - at - 12, at - 12)]
            before = room[0] < min(len(name), room[1])
            if look != REST:
                text, place = shortened(name, room[before]), at + (-9 if before else 9)
                yield _label(place, up_at + 4, text, f"{look} name", "end" if before else "start")

    return _charts(LONG, draw, says)


def strip(
    spots: Sequence[tuple[str, float, str]], price: float | None, middle: float | None, says: str
) -> Markup:
    """Probabilities from none to certain, a row each, as far as they are from the price; and their median.

    `spots` are names, probabilities and classes, in the order of the rows.
    """
    height = 60 + 22 * len(spots)
    bottom = height - 36

    def draw(frame: Frame) -> Iterator[Markup]:
        across = frame.across(0.0, 1.0)
        yield from (_upright("grid", across.at(share), 20, bottom) for share in (0.0, 0.5, 1.0))
        yield from (_label(across.at(x), bottom + 16, f"{x:.0%}", "axis", "middle") for x in (0.0, 0.5, 1.0))
        if middle is not None:
            yield _upright("base", across.at(middle), 20, bottom)
            yield _label(across.at(middle), bottom + 31, f"median {middle:.0%}", "axis", _side(middle))
        if price is not None:
            yield _upright("ink middle", across.at(price), 20, bottom)
            yield _label(across.at(price), 13, f"price {cents(round(price * ONE))}", "name", _side(price))
        for row, spot in enumerate(spots):
            yield from _strip_row(frame, across, 33 + 22 * row, price, *spot)

    frames = (Frame("wide small", 420, height, 130, 46), Frame("narrow", 350, height, 112, 42))
    return _charts(frames, draw, says) if spots else Markup()


def _strip_row(
    frame: Frame, across: Scale, y: int, price: float | None, name: str, chance: float, look: str
) -> Iterator[Markup]:
    if price is not None:
        left, right = sorted((across.at(price), across.at(chance)))
        bar = '<rect class="%s span" x="%s" y="%s" width="%s" height="6"/>'
        yield filled(bar, look, left, y - 3, round(right - left, 1))
    yield _dot(look, across.at(chance), y, 5, f"{name} says {chance:.0%}")
    yield _label(frame.left - 10, y + 4, shortened(name, int(frame.left / LETTER) - 2), "", "end")
    yield _label(frame.width - frame.right + 10, y + 4, f"{chance:.0%}", "name")


def _side(share: float) -> str:
    """To which side of a place words about it go, so that they stay on the picture."""
    return "start" if share < 0.2 else "end" if share > 0.8 else "middle"


Cells = Sequence[tuple[str, str] | None]
"""Of each column of a heat map the class and what is said of it, if anything is."""
CALM = ("played", "partly", "out")
"""Cells of which there are many, and nothing to be told."""
CELL = 20
"""Pixels from one row of a heat map to the next."""


def heat_map(rows: Mapping[str, Cells], groups: Sequence[str], says: str, most: int = 12) -> Markup:
    """A field for each row, by its name, and column; columns of one group stand together under its name.

    What is not as it should be has a letter beside its colour. On a phone the last `most` columns are shown.
    """
    width = max(map(len, rows), default=0) * LETTER
    wide, narrow = min(max(width + 20, 90), 300), min(max(width + 14, 70), 130)
    height = 26 + CELL * len(rows) + 6

    def draw(frame: Frame) -> Iterator[Markup]:
        start = 0 if frame.name == "wide" else max(len(groups) - most, 0)
        lefts, size = yield from _heat_groups(frame, groups[start:])
        for number, (name, cells) in enumerate(rows.items()):
            y = 26 + CELL * number
            text = shortened(name, int((frame.left - 8) / LETTER))
            yield _label(frame.left - 8, y + 13, text, "", "end")
            yield from _heat_row(lefts, cells[start:], y, round(size - 2, 1))

    frames = Frame("wide", 1160, height, round(wide), 8), Frame("narrow", 350, height, round(narrow), 4)
    return _charts(frames, draw, says)


def _heat_groups(frame: Frame, shown: Sequence[str]) -> Generator[Markup, None, tuple[list[float], float]]:
    """The names over the columns; then where each column begins, and how wide it is."""
    firsts = [place for place, name in enumerate(shown) if place == 0 or shown[place - 1] != name]
    size = min((frame.width - frame.left - frame.right - 6 * len(firsts)) / max(len(shown), 1), 56)
    gaps = accumulate(6 * (place in firsts and place > 0) for place in range(len(shown)))
    lefts = [round(frame.left + place * size + gap, 1) for place, gap in enumerate(gaps)]
    for place, after in pairwise([*firsts, len(shown)]):
        room = int((after - place) * size / LETTER)
        words = next((text for text in (f"cohort {shown[place]}", shown[place]) if len(text) <= room), "")
        yield _label(lefts[place], 16, words, "axis")
    return lefts, size


def _heat_row(lefts: Sequence[float], cells: Cells, y: int, size: float) -> Iterator[Markup]:
    """The calm fields of a row as one path a class, all others each with its letter and what it says."""
    there = [(left, *cell) for left, cell in zip(lefts, cells, strict=True) if cell is not None]
    for look in CALM:
        if mine := [left for left, kind, _ in there if kind == look]:
            path = " ".join(f"M{left} {y}h{size}v{CELL - 3}h-{size}z" for left in mine)
            yield filled('<path class="turn-%s" d="%s"/>', look, path)
    field = '<g class="turn-%s"><title>%s</title><rect x="%s" y="%s" width="%s" height="%s"/>%s</g>'
    for left, look, said in there:
        if look not in CALM:
            letter = _label(round(left + size / 2, 1), y + 13, look[:1].upper(), "", "middle")
            yield filled(field, look, said, left, y, size, CELL - 3, letter)


def meter(share: float) -> Markup:
    """How much of something is used, as a bar."""
    look = "loss" if share >= 1 else "c4" if share >= 0.8 else "c1"
    return filled(
        '<svg class="meter" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="band" width="100" height="4"/><rect class="%s part" width="%s" height="4"/></svg>',
        *(look, round(100 * min(share, 1.0), 1)),
    )
