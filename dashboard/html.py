"""All markup except drawings, of escaped text: the bar, tiles, boxes, tags, quotes and tables.

Pages put it on the screen (`dashboard.pages.put`); reports and sites write it into files. Rows of tables
lead on by real links, headers are buttons, and in a narrow place each row is a card. The look of all this, in
light and dark, stands in assets/arena.css; assets/arena.js sorts tables; assets/columns.toml says what the
columns of tables mean. `dashboard.charts` and `dashboard.pictures` draw.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from itertools import chain, takewhile
from pathlib import Path
from typing import Any, Literal

from markupsafe import Markup, escape

from dashboard.long_names import cut_in_middle, cut_places
from dashboard.words import JOINER, count, day, filled, flat, moment, written

QUOTED = 4
"""Reasons shown at once; the others are folded away."""
BADGES = {"live": "LIVE", "replay": "REPLAY", "simulated": "SIMULATED"}
NOTHING = Markup()
OPEN_PAGE = Markup(' aria-current="page"')
CHOSEN_PILL = Markup(' aria-current="true"')


@dataclass(frozen=True, slots=True)
class Tile:
    """A key figure: its value, its label, its tooltip, and a small picture."""

    value: str
    label: str
    help: str = ""
    look: str = ""
    picture: Markup = NOTHING


@dataclass(frozen=True, slots=True)
class Quotation:
    """An agent's action in its own words: who, what, why and where, and the link."""

    who: str
    did: str
    why: str
    where: str
    href: str | None


def each(template: str, items: Iterable[object]) -> Markup:
    """Fill a template of ours with each item, and join the results."""
    return NOTHING.join(filled(template, item) for item in items)


def page_bar(items: Sequence[tuple[str, str]], open_page: str, badge: Markup) -> Markup:
    """Return the bar of all pages: names and addresses, the one that is open, and the badge."""
    links = NOTHING
    for name, href in items:
        links += filled('<a href="%s"%s>%s</a>', href, OPEN_PAGE * (name == open_page), name)

    brand = '<a class="brand" href="%s"><span aria-hidden="true">◆</span> Paper Arena</a>'
    home = filled(brand, items[0][1])
    return filled(
        '<nav class="bar" aria-label="Pages">%s<span class="links">%s</span>%s</nav>', home, links, badge
    )


def badge(stamp: str, venue: str) -> Markup:
    """Return a badge that says whether the season is live, and at which venue, a replay, or simulated."""
    text = BADGES.get(stamp, stamp.upper())
    if stamp == "live":
        text += f" · {venue.capitalize()}"
    return filled('<span class="badge %s">%s</span>', stamp, text)


def freshness(at: datetime, next_round: datetime | None, stamp: str) -> Markup:
    """Return the time of the newest data and of the next round; a script shows them relative to now.

    A world that is not live has its own time, and no next round.

    >>> print(freshness(datetime.fromisoformat("2026-01-04T00:00Z"), None, "simulated"))
    <span class="fresh quiet">as of 4 Jan 2026</span>
    """
    if stamp != "live":
        return filled('<span class="fresh quiet">as of %s</span>', day(at))
    shown = _ticking("updated", at)
    if next_round:
        shown += Markup(" · ") + _ticking("next round", next_round)
    return filled('<span class="fresh quiet">%s</span>', shown)


def _ticking(label: str, at: datetime) -> Markup:
    """Return an instant that the script shows relative to now."""
    return filled('<time datetime="%s" data-said="%s">%s %s</time>', at.isoformat(), label, label, moment(at))


def tiles(shown: Iterable[Tile]) -> Markup:
    """Return a row of figures, two beside each other on a phone."""
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
    """Return a grey line, or nothing for an empty one."""
    if not text:
        return NOTHING
    return filled('<p class="quiet">%s</p>', text)


def box(title: str, inside: Markup = NOTHING, below: str | Markup = "") -> Markup:
    """Return a box with its heading, its content, and a line that explains it, or why it is empty."""
    return filled('<section class="box"><h2>%s</h2>%s%s</section>', title, inside, quiet(below))


def quotes(quotations: Iterable[Quotation]) -> Markup:
    """Return actions and their reasons, one below the other."""
    markup = NOTHING
    quotations = list(quotations)
    cut_points = cut_places(quotation.who for quotation in quotations)
    for quotation in quotations:
        reason = NOTHING
        if quotation.why:
            reason = filled('<p class="why">“%s”</p>', quotation.why)
        markup += filled(
            '<div class="quote"><p>%s %s</p> %s<p class="quiet">%s</p></div>',
            linked(filled("<b>%s</b>", cut_in_middle(quotation.who, cut_points)), quotation.href),
            quotation.did,
            reason,
            flat(quotation.where),
        )
    return markup


def reasons_box(quotations: Sequence[Quotation]) -> Markup:
    """Return a box with the first reasons; the others are folded away."""
    shown = quotes(quotations[:QUOTED])
    hidden = quotations[QUOTED:]
    if hidden:
        shown += folded(count(len(hidden), "more reason"), quotes(hidden))
    return box("Reasons", shown)


def health_light(colour_class: str, word: str, sentence: str, reasons: Sequence[str]) -> Markup:
    """Return a traffic light: a colour with its word, a sentence, and the reasons for it."""
    markup = filled(
        '<p class="light %s"><span aria-hidden="true"></span><b>%s</b> %s</p>', colour_class, word, sentence
    )
    if reasons:
        markup += bullets(foldable_text(flat(reason)) for reason in reasons)
    return filled('<section class="box" aria-label="Health">%s</section>', markup)


def linked(inside: Markup, href: str | None) -> Markup:
    """Return markup as a link, if there is an address."""
    if not href:
        return inside
    return filled('<a href="%s">%s</a>', href, inside)


def venue_link(page: tuple[str, str] | None, text: str = "At {}") -> Markup:
    """Return a link to a venue's page of a market, or nothing if none is known.

    >>> print(venue_link(("Manifold", "https://manifold.markets/market/rain")))
    <a href="https://manifold.markets/market/rain" target="_blank" rel="noopener noreferrer">At Manifold</a>
    """
    if page is None:
        return NOTHING
    venue, address = page
    link = '<a href="%s" target="_blank" rel="noopener noreferrer">%s</a>'
    return filled(link, address, text.format(venue))


def folded(title: str, inside: Markup) -> Markup:
    """Return folded content."""
    return filled('<details class="more"><summary>%s</summary>%s</details>', title, inside)


LONG_TEXT = 280
"""Longer texts show their first lines."""
UNFOLDED = '<details class="clamp"><summary><span>%s</span><i></i></summary></details>'


def foldable_text(text: str | Markup) -> Markup:
    """Return a text with its first lines shown and the rest folded.

    >>> print(foldable_text("a < b"), foldable_text("a" * 300)[:44])
    a &lt; b <details class="clamp"><summary><span>aaaaaa
    """
    if len(text) <= LONG_TEXT:
        return escape(text)
    return filled(UNFOLDED, text)


DATE = re.compile(r"(?<![\w-])\d{4}-\d\d-\d\d(?:T[\d:]+Z)?(?![\w-])")
"""A date, or an instant, as answers have it."""


def whole_dates(text: Markup) -> Markup:
    """Return a text in which no line breaks inside a date.

    >>> print(whole_dates(escape("2026-03-01, not v-2026-03-01 <")))
    <span class="date">2026-03-01</span>, not v-2026-03-01 &lt;
    """
    return Markup(DATE.sub(r'<span class="date">\g<0></span>', str(text)))  # noqa: S704 - it is escaped


def remark(title: str, text: str) -> Markup:
    """Return a foreign text after a bold label."""
    whole = filled("<b>%s:</b> %s", title, flat(text))
    return filled('<div class="remark">%s</div>', foldable_text(whole))


def tag(text: str, look: str) -> Markup:
    """Return a word in a coloured field."""
    return filled('<span class="tag %s">%s</span>', look, text)


def beside(*parts: Markup, look: str = "halves") -> Markup:
    """Return parts beside each other, or below each other if there is no room."""
    return filled('<div class="%s">%s</div>', look, each('<div class="column">%s</div>', parts))


def pills(options: Sequence[tuple[str, str, bool]], label: str) -> Markup:
    """Return options as links, with the chosen one marked."""
    links = NOTHING
    for text, href, is_chosen in options:
        links += filled('<a class="pill" href="%s"%s>%s</a> ', href, CHOSEN_PILL * is_chosen, text)
    visible_label = filled('<span class="quiet" aria-hidden="true">%s:</span>', label)
    return filled('<nav class="pills" aria-label="%s">%s %s</nav>', label, visible_label, links)


def bold(text: str) -> Markup:
    """Turn a sentence in our own Markdown, with foreign text made safe by `words.plain`, into markup.

    >>> print(bold(r"**Better.** a\\_b <i>"))
    <strong>Better.</strong> a_b &lt;i&gt;
    """
    shown = NOTHING
    for number, part in enumerate(re.split(r"(?<!\\)\*\*", text)):
        title = re.sub(r"\\(.)", r"\1", part).replace(JOINER, "")
        shown += filled("<strong>%s</strong>" if number % 2 else "%s", title)
    return shown


def bullets(sentences: Iterable[str | Markup]) -> Markup:
    """Return sentences as a list."""
    return filled('<ul class="points">%s</ul>', each("<li>%s</li>", sentences))


def meanings(meant: Mapping[str, str], look: str = "words") -> Markup:
    """Return terms with their meanings; as `facts` beside each other."""
    return filled('<dl class="%s">%s</dl>', look, _defined(meant.items()))


def _defined(meant: Iterable[tuple[str, str]]) -> Markup:
    """Return terms with their meanings as the items of a list."""
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
"""A table of more rows scrolls by itself."""
EMPTY = "–"
TABLE = (
    '<div class="table%s"><div class="scroll%s" role="region" tabindex="0" aria-label="%s">'
    '<table role="table" aria-label="%s"><thead role="rowgroup"><tr role="row">%s</tr></thead>\n'
    '%s</table></div><button type="button" class="csv">CSV</button>%s%s</div>'
)
BODY = '<tbody role="rowgroup"%s>\n%s</tbody>'
GROUP = Markup(' class="group"')
GROUP_TITLE = '<tr role="row"><td role="cell" colspan="%s">%s</td></tr>'
UNFOLD = '<details class="unfold"><summary aria-label="More of %s"></summary></details>'
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
"""The formats that are no numbers."""
COLUMNS = Path(__file__).parent / "assets" / "columns.toml"


@dataclass(frozen=True, slots=True)
class HtmlColumn:
    """A column: its label, its help, and the format of its values.

    `format` is `text`, `long` for text to read, `picture`, `time`, `day`, or one of `words.written`. On a
    phone rows show what is `kept`, if anything is, and the rest to who opens them.
    """

    label: str
    help: str = ""
    format: str = "text"
    kept: bool = False

    @property
    def look(self) -> str:
        """Return the class of its cells."""
        return self.kind + " kept" * self.kept

    @property
    def kind(self) -> Kind:
        """Return its sort key, which also says how it is aligned."""
        return KINDS.get(self.format, "number")


Columns = Mapping[str, HtmlColumn]
"""The columns of a table by their keys, in order."""
Row = Mapping[str, Any]
"""The values of a row by the keys of their columns, and as `href` the link of its name, if any."""
Rows = Iterator[Row]


@dataclass(frozen=True, slots=True)
class HtmlCell:
    """A cell with more than a value: its content, its sort key, and a line below."""

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
    """Return a cell that names a market's venue and links to it; None if the venue has no address."""
    if page is None:
        return None
    venue, address = page
    link = venue_link((venue.removesuffix(" (data)"), address), "{}")
    return HtmlCell(link, link.striptags())


def html_table(rows: Iterable[Row], columns: Columns, says: str) -> Markup:
    """Return a table; `says` describes it for screen readers.

    A column that is empty in every row is left out. Pictures before the first other column stand in its
    cell, which names the row and holds its link.
    """
    return _table({"": list(rows)}, columns, says)


def board_of(groups: Mapping[str, Sequence[Row]], columns: Columns, says: str, note: str = "") -> Markup:
    """Return a table of rows of one line, in groups under their titles.

    A note stands below what the columns mean.
    """
    return _table(groups, columns, says, " board", note)


def _table(
    groups: Mapping[str, Sequence[Row]],
    columns: Columns,
    description: str,
    class_name: str = "",
    footnote: str = "",
) -> Markup:
    """Return a table of groups of rows, of which the first may have no title."""
    rows = list(chain.from_iterable(groups.values()))
    used_columns = {key: column for key, column in columns.items() if not rows or _is_used(key, rows)}

    # Pictures before the first other column stand in its cell, which names the row.
    pictures = list(takewhile(lambda key: used_columns[key].kind == "picture", used_columns))
    name_key, *other_keys = list(used_columns)[len(pictures) :]
    is_folded_on_phones = any(used_columns[key].kept for key in other_keys)

    picture_heads = each('<span class="rank">%s</span>', (used_columns[key].label for key in pictures))
    heads = _column_head(name_key, used_columns[name_key], picture_heads)
    for key in other_keys:
        heads += _column_head(key, used_columns[key])

    bodies = []
    cut_points = cut_places(_text_of(row.get(name_key)) for row in rows)
    for title, group_rows in groups.items():
        if title:
            bodies.append(filled(BODY, GROUP, filled(GROUP_TITLE, len(other_keys) + 1, title)))
        row_markup = []
        for row in group_rows:
            cells = "".join(_value_cell(row.get(key), used_columns[key]) for key in other_keys)
            name = _name_cell(
                row, name_key, used_columns[name_key], pictures, cut_points, is_folded=is_folded_on_phones
            )
            row_markup.append(f'<tr role="row">{name}{cells}</tr>\n')
        bodies.append(filled(BODY, NOTHING, Markup("".join(row_markup))))  # noqa: S704 - our own, of escaped values

    is_scrolled = len(rows) > MANY
    note = quiet(f"{len(rows):,} rows: the table scrolls." * is_scrolled)
    column_meanings = _column_meanings([used_columns[key] for key in (name_key, *other_keys)], footnote)
    return filled(
        TABLE,
        class_name + " rows" * is_folded_on_phones,
        " many" * is_scrolled,
        description,
        description,
        heads,
        NOTHING.join(bodies),
        note,
        column_meanings,
    )


def _is_used(key: str, rows: Sequence[Row]) -> bool:
    """Tell whether a column has a value in any row."""
    return not all(_is_empty(row.get(key)) for row in rows)


def _column_head(key: str, column: HtmlColumn, ahead: Markup = NOTHING) -> Markup:
    """Return the head of a column, a sort button unless it is a picture."""
    inside = escape(column.label)
    order = NOTHING
    if column.kind != "picture":
        inside = filled('<button type="button" title="%s">%s</button>', column.help, inside)
        order = Markup(' aria-sort="none"')
    return filled(TITLE, column.look, key, column.kind, order, ahead, inside)


def _text_of(value: Any) -> str:
    """Return the content of a cell if it is plain text, else nothing."""
    shown = value.shown if isinstance(value, HtmlCell) else value
    if isinstance(shown, str) and not isinstance(shown, Markup):
        return shown
    return ""


def _name_cell(
    row: Row,
    key: str,
    column: HtmlColumn,
    pictures: Iterable[str],
    cut_points: Mapping[str, int],
    *,
    is_folded: bool,
) -> Markup:
    """Return the first cell of a row: its pictures, its name as a link, and what follows it.

    `cut_points` has of long names where they may be cut.
    """
    value = row.get(key)
    cell = value if isinstance(value, HtmlCell) else HtmlCell(_cell_text(value, column))
    text = escape(cell.shown)
    remark = _remark_below(cell)
    plain_name = _text_of(value)
    name_markup = cut_in_middle(plain_name, cut_points) if plain_name in cut_points else text
    cell_markup = linked(name_markup, row.get("href")) + remark
    picture_markup = NOTHING.join(row[picture] for picture in pictures if row.get(picture) is not None)
    if is_folded:
        cell_markup += filled(UNFOLD, text)
    sort_attribute = _sort_attribute(value, column, text + remark)
    return filled(NAME, column.look, column.label, text, sort_attribute, picture_markup, cell_markup)


def _value_cell(value: Any, column: HtmlColumn) -> Markup:
    """Return a cell that is not the first of its row."""
    kind = "text long" if column.format == "long" else column.look
    look = _cell_class(value, column)
    text = _cell_text(value, column)
    return filled(CELL, kind, look, column.label, _sort_attribute(value, column, text), text)


def _cell_class(value: Any, column: HtmlColumn) -> str:
    """Return the class of a cell beside that of its column, with a space before it."""
    if _is_empty(value):
        return " none"
    if isinstance(value, HtmlCell):
        return f" {value.look}"
    if column.format not in ("gain", "earned"):
        return ""

    # What is written as 0 has no colour: the look goes by the text.
    text = written(value, column.format)
    if text.startswith("▲"):
        return " gain"
    if text.startswith("▼"):
        return " loss"
    return ""


def _sort_attribute(value: Any, column: HtmlColumn, text: Markup) -> Markup:
    """Return the sort key of a cell if it is not its text: the unrounded figure."""
    sort_key = value
    if isinstance(value, HtmlCell) and column.kind != "picture":
        sort_key = value.value
    elif column.kind not in ("number", "time"):
        return NOTHING
    elif isinstance(value, datetime):
        sort_key = value.isoformat()

    if sort_key is None or sort_key != sort_key:
        sort_key = ""
    if str(sort_key) == text:
        return NOTHING
    return filled(SORTED_BY, sort_key)


def _cell_text(value: Any, column: HtmlColumn) -> Markup:
    """Return a value as text, always escaped."""
    if isinstance(value, HtmlCell):
        return escape(value.shown) + _remark_below(value)
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
    text = flat(str(value))
    if column.format == "long":
        return whole_dates(foldable_text(text))
    return escape(text)


def _is_empty(value: Any) -> bool:
    """Tell whether a cell is empty."""
    if isinstance(value, HtmlCell):
        return value.shown in ("", EMPTY) and not value.below
    return value is None or value == "" or value != value


def _remark_below(cell: HtmlCell) -> Markup:
    """Return the line below what a cell shows."""
    if not cell.below:
        return NOTHING
    return filled("<small>%s</small>", cell.below)


def _column_meanings(columns: Iterable[HtmlColumn], footnote: str) -> Markup:
    """Return the meanings of the columns, folded away, for readers without a pointer."""
    definitions = _defined((column.label, column.help) for column in columns if column.help)
    if not definitions:
        return NOTHING
    title = "What the columns mean" + ", and how sure they are" * bool(footnote)
    return filled(
        "<details><summary>%s</summary><dl>%s</dl>%s</details>", title, definitions, quiet(footnote)
    )
