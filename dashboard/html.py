"""All the markup there is, of escaped text: the bar, tiles, boxes, tags, quotes, tables, and charts.

Pages put it on the screen (`dashboard.pages.put`); reports and sites write it into files. Rows of tables
lead on by real links, headers are buttons, and in a narrow place each row is a card. Charts are SVG: their
colours are classes, `c1` to `c8` those of agents (`SeasonOverview.colours`), `rest` all that is not chosen.
What has axes is drawn twice, for a desk and for a phone, and the style sheet shows the one that fits. What
a chart shows is its label, for those who can't see it. The look of all this, in light and dark, stands in
assets/arena.css; assets/arena.js sorts tables; assets/columns.toml says what the columns of tables mean.
"""

import re
import tomllib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import accumulate, chain, pairwise, product, starmap, takewhile
from math import ceil, floor, log10, sqrt
from operator import mul
from pathlib import Path
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
NOTHING = Markup()
OPEN_PAGE = Markup(' aria-current="page"')
CHOSEN_PILL = Markup(' aria-current="true"')
OPENED = Markup(" open")


@dataclass(frozen=True, slots=True)
class Tile:
    """A figure that matters, what it is of, what is to be known of it, and a small picture."""

    value: str
    label: str
    help: str = ""
    look: str = ""
    picture: Markup = NOTHING


@dataclass(frozen=True, slots=True)
class Quotation:
    """What somebody did, in its own words: who, what, why, and where; and where that leads."""

    who: str
    did: str
    why: str
    where: str
    href: str | None


def each(template: str, items: Iterable[object]) -> Markup:
    """Fill a template of ours with each item, and join the results."""
    return NOTHING.join(filled(template, item) for item in items)


def bar(items: Sequence[tuple[str, str]], here: str, played: Markup) -> Markup:
    """Return the bar of all pages: their names and addresses, the one that is open, and the badge."""
    links = NOTHING
    for name, href in items:
        links += filled('<a href="%s"%s>%s</a>', href, OPEN_PAGE * (name == here), name)

    brand = '<a class="brand" href="%s"><span aria-hidden="true">◆</span> Paper Arena</a>'
    home = filled(brand, items[0][1])
    return filled(
        '<nav class="bar" aria-label="Pages">%s<span class="links">%s</span>%s</nav>', home, links, played
    )


def badge(stamp: str, venue: str) -> Markup:
    """Return a badge that says whether what is shown is played live, and where; a replay; or made up."""
    text = BADGES.get(stamp, stamp.upper())
    if stamp == "live":
        text += f" · {venue.capitalize()}"
    return filled('<span class="badge %s">%s</span>', stamp, text)


def freshness(at: datetime, next_round: datetime | None, stamp: str) -> Markup:
    """Return of when the newest data is and when the next round is due; a script says how long that is.

    A world that is not live has its own time, and no next round.
    """
    if stamp != "live":
        return filled('<span class="fresh quiet">as of %s</span>', day(at))
    shown = _ticking("updated", at)
    if next_round:
        shown += Markup(" · ") + _ticking("next round", next_round)
    return filled('<span class="fresh quiet">%s</span>', shown)


def _ticking(said: str, at: datetime) -> Markup:
    """Return an instant that the script tells as the time since or until then."""
    return filled('<time datetime="%s" data-said="%s">%s %s</time>', at.isoformat(), said, said, moment(at))


def tiles(shown: Iterable[Tile]) -> Markup:
    """Return a row of figures; on a phone two stand beside each other."""
    inside = NOTHING
    for tile in shown:
        inside += filled(
            '<div class="tile box"><b class="%s">%s</b>%s<span title="%s">%s</span></div>',
            tile.look,
            tile.value,
            tile.picture,
            tile.help,
            tile.label,
        )
    return filled('<div class="tiles">%s</div>', inside)


def quiet(text: str | Markup) -> Markup:
    """Return a line in grey; nothing for an empty one."""
    if not text:
        return NOTHING
    return filled('<p class="quiet">%s</p>', text)


def box(title: str, inside: Markup = NOTHING, below: str | Markup = "") -> Markup:
    """Return a box with its heading, what it shows, and a line that says what is seen, or why nothing is."""
    return filled('<section class="box"><h2>%s</h2>%s%s</section>', title, inside, quiet(below))


def quotes(shown: Iterable[Quotation]) -> Markup:
    """Return what was done and why, one below the other."""
    inside = NOTHING
    for quotation in shown:
        why = NOTHING
        if quotation.why:
            why = filled('<p class="why">“%s”</p>', quotation.why)
        inside += filled(
            '<div class="quote"><p>%s %s</p>%s<p class="quiet">%s</p></div>',
            linked(filled("<b>%s</b>", quotation.who), quotation.href),
            quotation.did,
            why,
            flat(quotation.where),
        )
    return inside


def reasons_box(quotations: Sequence[Quotation]) -> Markup:
    """Return a box with the first of them; the others are folded away."""
    shown = quotes(quotations[:QUOTED])
    hidden = quotations[QUOTED:]
    if hidden:
        shown += folded(count(len(hidden), "more reason"), quotes(hidden))
    return box("Reasons", shown)


def light(look: str, word: str, sentence: str, reasons: Sequence[str]) -> Markup:
    """Return a traffic light: a colour with its word, a sentence, and the reasons for it."""
    inside = filled(
        '<p class="light %s"><span aria-hidden="true"></span><b>%s</b> %s</p>', look, word, sentence
    )
    if reasons:
        inside += bullets(reasons)
    return filled('<section class="box" aria-label="Health">%s</section>', inside)


def linked(inside: Markup, href: str | None) -> Markup:
    """Return markup as a link, if there is an address that it leads to."""
    if not href:
        return inside
    return filled('<a href="%s">%s</a>', href, inside)


def venue_link(page: tuple[str, str] | None, text: str = "At {}") -> Markup:
    """Return a link to a venue's page of a market; nothing where none is known.

    >>> print(venue_link(("Manifold", "https://manifold.markets/market/rain")))
    <a href="https://manifold.markets/market/rain" target="_blank" rel="noopener noreferrer">At Manifold</a>
    """
    if page is None:
        return NOTHING
    venue, address = page
    link = '<a href="%s" target="_blank" rel="noopener noreferrer">%s</a>'
    return filled(link, address, text.format(venue))


def folded(title: str, inside: Markup) -> Markup:
    """Return what is shown to those who open it."""
    return filled('<details class="more"><summary>%s</summary>%s</details>', title, inside)


def tag(text: str, look: str) -> Markup:
    """Return a word in a coloured field."""
    return filled('<span class="tag %s">%s</span>', look, text)


def beside(*parts: Markup, look: str = "halves") -> Markup:
    """Return parts beside each other, and below each other where there is no room."""
    return filled('<div class="%s">%s</div>', look, each('<div class="column">%s</div>', parts))


def pills(shown: Sequence[tuple[str, str, bool]], says: str, most: int = 10) -> Markup:
    """Return words to choose from, each with its address and whether it is chosen.

    Of more than `most` the first are folded away, unless one of them is chosen.
    """
    links = []
    is_open = False
    for place, (text, href, is_chosen) in enumerate(shown):
        links.append(filled('<a class="pill" href="%s"%s>%s</a>', href, CHOSEN_PILL * is_chosen, text))
        is_open = is_open or (is_chosen and place < len(shown) - most)

    older = NOTHING
    hidden = links[:-most]
    if hidden:
        inside = Markup(" ").join(hidden)
        older = filled(
            "<details%s><summary>%s older</summary>%s</details>", OPENED * is_open, len(hidden), inside
        )
    label = filled('<span class="quiet" aria-hidden="true">%s:</span>', says)
    recent = Markup(" ").join(links[-most:])
    return filled('<nav class="pills" aria-label="%s">%s %s %s</nav>', says, label, recent, older)


def bold(text: str) -> Markup:
    """Return a sentence in our own Markdown, as `words.plain` makes foreign text safe for it, as markup.

    >>> print(bold(r"**Better.** a\\_b <i>"))
    <strong>Better.</strong> a_b &lt;i&gt;
    """
    shown = NOTHING
    for number, part in enumerate(re.split(r"(?<!\\)\*\*", text)):
        title = re.sub(r"\\(.)", r"\1", part).replace(JOINER, "")
        shown += filled("<strong>%s</strong>" if number % 2 else "%s", title)
    return shown


def bullets(sentences: Iterable[str]) -> Markup:
    """Return sentences as a list."""
    return filled('<ul class="points">%s</ul>', each("<li>%s</li>", sentences))


def meanings(meant: Mapping[str, str], look: str = "words") -> Markup:
    """Return words and what each of them means; as `facts` beside each other."""
    return filled('<dl class="%s">%s</dl>', look, _defined(meant.items()))


def _defined(meant: Iterable[tuple[str, str]]) -> Markup:
    """Return words and their meanings as the items of a list."""
    return NOTHING.join(filled("<dt>%s</dt><dd>%s</dd>", *pair) for pair in meant)


def gain_look(value: float) -> str:
    """Return the class of a gain or a loss."""
    if abs(value) < 0.005:
        return ""
    if value > 0:
        return "gain"
    return "loss"


def lines(sentences: Iterable[str]) -> Markup:
    """Return sentences, one below the other."""
    return Markup("<br/>").join(sentences)


MANY = 50
"""A table of more rows is scrolled by itself."""
EMPTY = "–"
TABLE = (
    '<div class="table"><div class="scroll%s" role="region" tabindex="0" aria-label="%s">'
    '<table role="table" aria-label="%s"><thead role="rowgroup"><tr role="row">%s</tr></thead>\n'
    '<tbody role="rowgroup">\n%s</tbody></table></div>%s%s</div>'
)
TITLE = '<th scope="col" role="columnheader" class="%s" data-key="%s" data-kind="%s"%s>%s%s</th>'
NAME = '<th scope="row" role="rowheader" class="%s" data-label="%s" title="%s"%s>%s%s</th>'
CELL = '<td role="cell" class="%s%s" data-label="%s"%s>%s</td>'
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
COLUMNS = Path(__file__).parent / "assets" / "columns.toml"


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
        """Return by what it is sorted, which also says to which side it stands."""
        return KINDS.get(self.format, "number")


Columns = Mapping[str, HtmlColumn]
"""The columns of a table by their keys, in the order in which they stand."""
Row = Mapping[str, Any]
"""The values of a row by the keys of their columns, and as `href` where its name leads, if anywhere."""
Rows = Iterator[Row]


@dataclass(frozen=True, slots=True)
class HtmlCell:
    """A cell that says more than its value: what is shown, by what it is sorted, and a line below."""

    shown: Markup | str
    value: float | str | None = None
    below: str = ""
    look: str = ""


@cache
def all_columns() -> Mapping[str, Columns]:
    """Return the columns of all tables, as assets/columns.toml has them, by the names of the tables."""
    tables = {}
    for name, columns in tomllib.loads(COLUMNS.read_text(encoding="utf-8")).items():
        tables[name] = {key: HtmlColumn(**({"label": key} | column)) for key, column in columns.items()}
    return tables


def columns_of_table(name: str) -> Columns:
    """Return the columns of a table by the name of the table."""
    return all_columns()[name]


def venue_cell(page: tuple[str, str] | None) -> HtmlCell | None:
    """Return a cell that names a market's venue and leads there; None where the venue has no address."""
    if page is None:
        return None
    venue, address = page
    link = venue_link((venue.removesuffix(" (data)"), address), "{}")
    return HtmlCell(link, link.striptags())


def html_table(rows: Iterable[Row], columns: Columns, says: str) -> Markup:
    """Return a table; `says` is what it holds, for those who can't see it.

    A column that is empty in every row is left out. Pictures before the first other column stand in its
    cell, which names the row and holds its link.
    """
    rows = list(rows)
    shown = {key: column for key, column in columns.items() if not rows or _is_used(key, rows)}
    pictures = list(takewhile(lambda key: shown[key].kind == "picture", shown))
    head, *others = list(shown)[len(pictures) :]

    ranks = each('<span class="rank">%s</span>', (shown[key].label for key in pictures))
    titles = _title(head, shown[head], ranks)
    for key in others:
        titles += _title(key, shown[key])

    body = []
    for row in rows:
        cells = "".join(_cell(row.get(key), shown[key]) for key in others)
        body.append(f'<tr role="row">{_name(row, head, shown[head], pictures)}{cells}</tr>\n')

    scrolls = len(rows) > MANY
    note = quiet(f"{len(rows):,} rows: the table scrolls." * scrolls)
    meant = _meanings(shown[key] for key in (head, *others))
    inside = Markup("".join(body))  # noqa: S704 - our own, of escaped values
    return filled(TABLE, " many" * scrolls, says, says, titles, inside, note, meant)


def _is_used(key: str, rows: Sequence[Row]) -> bool:
    """Tell whether a column has a value in any row."""
    return not all(_is_empty(row.get(key)) for row in rows)


def _title(key: str, column: HtmlColumn, ahead: Markup = NOTHING) -> Markup:
    """Return the head of a column; all but pictures can be sorted by."""
    inside = escape(column.label)
    order = NOTHING
    if column.kind != "picture":
        inside = filled('<button type="button" title="%s">%s</button>', column.help, inside)
        order = Markup(' aria-sort="none"')
    return filled(TITLE, column.kind, key, column.kind, order, ahead, inside)


def _name(row: Row, key: str, column: HtmlColumn, pictures: Iterable[str]) -> Markup:
    """Return the first cell of a row: its pictures, its name as a link, and the line below."""
    value = row.get(key)
    cell = value if isinstance(value, HtmlCell) else HtmlCell(_text(value, column))
    text = escape(cell.shown)
    inside = linked(text, row.get("href")) + _below(cell)
    drawn = NOTHING.join(row[picture] for picture in pictures if row.get(picture) is not None)
    return filled(NAME, column.kind, column.label, text, _sorted_by(value, column), drawn, inside)


def _cell(value: Any, column: HtmlColumn) -> Markup:
    """Return a cell that is not the first of its row."""
    kind = "text long" if column.format == "long" else column.kind
    look = _look(value, column)
    return filled(CELL, kind, look, column.label, _sorted_by(value, column), _text(value, column))


def _look(value: Any, column: HtmlColumn) -> str:
    """Return the class of a cell beside that of its column, with a space before it."""
    if _is_empty(value):
        return " none"
    if isinstance(value, HtmlCell):
        return f" {value.look}"
    if column.format != "gain" or not value:
        return ""
    if value > 0:
        return " gain"
    return " loss"


def _sorted_by(value: Any, column: HtmlColumn) -> Markup:
    """Return what a cell is sorted by where that is not its text; the figure itself, to the last digit."""
    key = value
    if isinstance(value, HtmlCell) and column.kind != "picture":
        key = value.value
    elif column.kind not in ("number", "time"):
        return NOTHING
    elif isinstance(value, datetime):
        key = value.isoformat()

    if key is None or key != key:
        key = ""
    return filled(SORTED_BY, key)


def _text(value: Any, column: HtmlColumn) -> Markup:
    """Return a value as it is read, escaped whatever it says."""
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
    """Tell whether a cell says nothing."""
    if isinstance(value, HtmlCell):
        return value.shown in ("", EMPTY) and not value.below
    return value is None or value == "" or value != value


def _below(cell: HtmlCell) -> Markup:
    """Return the line below what a cell shows."""
    if not cell.below:
        return NOTHING
    return filled("<small>%s</small>", cell.below)


def _meanings(columns: Iterable[HtmlColumn]) -> Markup:
    """Return what the columns say, folded away: for those who have no pointer to hold over a header."""
    inside = _defined((column.label, column.help) for column in columns if column.help)
    if not inside:
        return NOTHING
    return filled("<details><summary>What the columns mean</summary><dl>%s</dl></details>", inside)


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


Points = Sequence[tuple[float, float]]
"""Places on the x axis, instants in seconds, and the values there."""
Band = Sequence[tuple[float, float, float]]
"""Places on the x axis, and from where to where a band goes there."""

REST = "rest"
CHOSEN = ("c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8")
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
class Scale:
    """From values to places on a picture; what lies beyond stands at the edge."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Return the place of a value."""
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


def _dot(look: str, x: float, y: float, radius: float, title: str = "") -> Markup:
    """Draw a point, which says what it is of to who looks closer."""
    rest = Markup("/>")
    if title:
        rest = filled("><title>%s</title></circle>", title)
    return filled('<circle class="%s dot" cx="%s" cy="%s" r="%s"%s', look, x, y, radius, rest)


def _upright(look: str, x: float, top: int, bottom: int) -> Markup:
    """Draw an upright line."""
    return filled('<path class="%s" d="M%s %sV%s"/>', look, x, top, bottom)


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
    return filled('<polygon class="band" points="%s"/>', _pairs(edges, across, up))


def _pairs(points: Points, across: Scale, up: Scale) -> str:
    """Return points as SVG writes them."""
    return " ".join(f"{across.at(x)},{up.at(y)}" for x, y in points)


def _path(line: Line, across: Scale, up: Scale) -> Markup:
    """Draw a line; a dot where it has one point alone."""
    if len(line.points) == 1:
        [(x, y)] = line.points
        return _dot(line.look, across.at(x), up.at(y), 3.5, line.title)
    dash = Markup(' stroke-dasharray="5 4"') * line.dashed
    drawn = '<polyline class="%s line" points="%s"%s><title>%s</title></polyline>'
    return filled(drawn, line.look, _pairs(line.points, across, up), dash, line.title)


def _ends(frame: Frame, x: float, ends: Sequence[tuple[float, str, str, str]]) -> Iterator[Markup]:
    """Draw names at the ends of lines, moved apart where they would lie on one another."""
    ends = sorted(ends)
    places = spread([y for y, *_ in ends], 14, frame.height - 30)
    for (y, name, value, look), place in zip(ends, places, strict=True):
        room = int((frame.right - 14) / LETTER)
        if value:
            room -= len(value) + 1
        yield _dot(look, x, y, 3.5)
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
        yield filled('<polyline class="base" points="%s"/>', _pairs([(0, 0), (1, 1)], across, up))

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
        yield _dot(look, across.at(point.forecast), up.at(point.recalibrated), radius, title)


SMALL = (132, 26)
"""The size of a picture in a table's cell."""
FAR = 3
"""How many times as far as the other side a scale goes for those who lie far off on one."""


def cell_scale(spans: Sequence[tuple[float, float]]) -> Scale:
    """Return one scale for a column, 0 on it. One far off does not make all others too small to see.

    >>> [(found.low, found.high) for found in map(cell_scale, ([(-1, 1), (-1, 2), (-90, -80)], []))]
    [(-6, 2), (-1.0, 1.0)]
    """
    lows = []
    highs = []
    for start, end in spans:
        lows.append(-min(start, 0))
        highs.append(max(end, 0))
    low = max(lows, default=0)
    high = max(highs, default=0)
    if not low and not high:
        return small_scale(-1.0, 1.0)

    most_low = max(FAR * high, FAR * median(lows)) or low
    most_high = max(FAR * low, FAR * median(highs)) or high
    return small_scale(-min(low, most_low), min(high, most_high))


def small_scale(low: float, high: float) -> Scale:
    """Return the scale of a picture in a table's cell."""
    return Scale(low, high, 7, SMALL[0] - 7)


def interval(value: float, low: float | None, high: float | None, look: str, scale: Scale) -> Markup:
    """Draw a point, the interval around it, and a line at 0; without an interval the point is hollow."""
    if low is None or high is None:
        ring = filled('<circle class="%s ring" cx="%s" cy="13" r="4"/>', look, scale.at(value))
        return _in_cell(ring, scale)
    return _in_cell(_bar(low, high, f"{look} span", 5, scale) + _point(value, look, scale), scale)


def before_band(value: float, low: float, high: float, look: str, scale: Scale) -> Markup:
    """Draw a point before a grey band: where it would be by luck alone."""
    return _in_cell(_bar(low, high, "band", 18, scale) + _point(value, look, scale), scale)


def step(start: float, end: float, look: str, scale: Scale) -> Markup:
    """Draw a bar from one value to another: a part of a sum."""
    return _in_cell(_bar(min(start, end), max(start, end), f"{look} part", 14, scale), scale)


def _bar(low: float, high: float, look: str, height: int, scale: Scale) -> Markup:
    """Draw a bar from one value to another, half its height over the middle of the cell."""
    left = scale.at(low)
    width = round(max(scale.at(high) - left, 1), 1)
    rounded: float = 0
    if height == 5:
        rounded = height / 2
    bar = '<rect class="%s" x="%s" y="%s" width="%s" height="%s" rx="%s"/>'
    return filled(bar, look, left, (SMALL[1] - height) / 2, width, height, rounded)


def _point(value: float, look: str, scale: Scale) -> Markup:
    """Draw a dot; an arrow where the value lies beyond the scale."""
    x = scale.at(value)
    if scale.low <= value <= scale.high:
        return _dot(look, x, 13, 4.5)
    tip = 7
    if value < scale.low:
        tip = -7
    return filled('<path class="%s dot" d="M%s 13l%s -6v12z"/>', look, x + tip, round(-1.6 * tip, 1))


def _in_cell(inside: Markup, scale: Scale) -> Markup:
    """Return a picture in a cell, with its line at 0."""
    size = filled('width="%s" height="%s" viewBox="0 0 %s %s"', *SMALL, *SMALL)
    zero = _upright("base", scale.at(0), 1, SMALL[1] - 1)
    return filled('<svg class="cell" %s aria-hidden="true">%s%s</svg>', size, zero, inside)


def sparkline(values: Sequence[float], look: str = REST) -> Markup:
    """Draw a small line, its end marked; nothing of less than two values."""
    if len(values) < 2:
        return NOTHING
    across = Scale(0, len(values) - 1, 2, 84)
    low = min(values)
    high = max(values)
    up = Scale(low, high, 20, 4) if low < high else Scale(0, 1, 12, 12)

    svg = (
        '<svg class="spark" width="90" height="24" viewBox="0 0 90 24" aria-hidden="true">'
        '<polyline class="%s line" points="%s"/>%s</svg>'
    )
    end = _dot(look, across.at(len(values) - 1), up.at(values[-1]), 2.5)
    return filled(svg, look, _pairs(list(enumerate(values)), across, up), end)


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
        yield _upright("base", across.at(0), 34, 90)
        yield _label(frame.left, 22, f"← {left} closer", f"{looks[0]} name")
        yield _label(frame.end, 22, f"{right} closer →", f"{looks[1]} name", "end")

        if low is not None and high is not None:
            bar = '<rect class="%s span" x="%s" y="52" width="%s" height="20" rx="10"/>'
            start = across.at(low)
            yield filled(bar, look, start, round(max(across.at(high) - start, 2), 1))
        yield _dot(look, across.at(gap), 62, 9)
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
        yield _upright("base", across.at(0), 12, frame.height - 26)
        yield from _marks(frame, across, ticks(*x), x_unit)

        for name, right, high, look in rest_first:
            title = f"{name}: {written(right, x_unit)}, {written(high, y_unit)}"
            yield _dot(look, across.at(right), up.at(high), 5, title)
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
            yield _upright("grid", across.at(share), 20, bottom)
            yield _label(across.at(share), bottom + 16, f"{share:.0%}", "axis", "middle")
        if middle is not None:
            yield _upright("base", across.at(middle), 20, bottom)
            yield _label(across.at(middle), bottom + 31, f"median {middle:.0%}", "axis", _side(middle))
        if price is not None:
            yield _upright("ink middle", across.at(price), 20, bottom)
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
    yield _dot(look, across.at(chance), y, 5, f"{name} says {chance:.0%}")
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


def meter(share: float) -> Markup:
    """Draw how much of something is used, as a bar."""
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
