"""Every markup but drawings, all of it of escaped text: the bar, tiles, boxes, tags, quotes, and tables.

With dashboard/svg.py this is all the markup there is. Pages put it on the screen (`dashboard.pages.put`);
reports and sites write it into files. Rows of tables lead on by real links, headers are buttons, and in a
narrow place each row is a card. Its look stands in assets/arena.css; assets/arena.js sorts tables.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from markupsafe import Markup, escape

from dashboard.words import JOINER, day, filled, flat, moment, written

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


def bar(items: Sequence[tuple[str, str]], here: str, badge: Markup) -> Markup:
    """The bar of all pages: their names and addresses, the one that is open, and the badge."""
    links = Markup().join(
        Markup('<a href="{}"{}>{}</a>').format(
            href, Markup(' aria-current="page"') if name == here else "", name
        )
        for name, href in items
    )
    brand = Markup('<a class="brand" href="{}"><span aria-hidden="true">◆</span> Paper Arena</a>')
    home = items[0][1] if items else ""
    return Markup('<nav class="bar" aria-label="Pages">{}<span class="links">{}</span>{}</nav>').format(
        brand.format(home), links, badge
    )


def badge(stamp: str, venue: str) -> Markup:
    """Whether what is shown is played live, where; or a replay, or made up."""
    words = BADGES.get(stamp, stamp.upper())
    text = f"{words} · {venue.capitalize()}" if stamp == "live" else words
    return Markup('<span class="badge {}">{}</span>').format(stamp, text)


def tiles(shown: Iterable[Tile]) -> Markup:
    """A row of figures; on a phone two stand beside each other."""
    one = Markup('<div class="tile box"><b class="{}">{}</b>{}<span title="{}">{}</span></div>')
    inside = Markup().join(one.format(t.look, t.value, t.picture or "", t.help, t.label) for t in shown)
    return Markup('<div class="tiles">{}</div>').format(inside)


def box(title: str, inside: Markup, below: str | Markup = "") -> Markup:
    """A box with its heading, and a line that says what is seen."""
    said = Markup('<p class="quiet">{}</p>').format(below) if below else ""
    return Markup('<section class="box"><h2>{}</h2>{}{}</section>').format(title, inside, said)


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


def light(look: str, word: str, sentence: str, reasons: Iterable[str]) -> Markup:
    """How something is, as a traffic light: a colour with its word, a sentence, and why."""
    said = Markup('<p class="light {}"><span aria-hidden="true"></span><b>{}</b> {}</p>')
    return Markup('<section class="box" aria-label="Health">{}{}</section>').format(
        said.format(look, word, sentence), points(reasons) if (reasons := list(reasons)) else ""
    )


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
    link = Markup('<a href="{}" target="_blank" rel="noopener noreferrer">{}</a>')
    return link.format(found[1], words.format(found[0]))


def folded(title: str, inside: Markup) -> Markup:
    """What is shown to who opens it."""
    return Markup('<details class="more"><summary>{}</summary>{}</details>').format(title, inside)


def tag(text: str, look: str) -> Markup:
    """A word in a coloured field."""
    return filled('<span class="tag %s">%s</span>', look, text)


def columns(*parts: Markup, look: str = "halves") -> Markup:
    """Parts beside each other, and below each other where there is no room."""
    inside = Markup().join(Markup('<div class="column">{}</div>').format(part) for part in parts)
    return Markup('<div class="{}">{}</div>').format(look, inside)


def pills(shown: Sequence[tuple[str, str, bool]], says: str, most: int = 10) -> Markup:
    """Words to choose from, each with its address and whether it is chosen; the oldest are folded away."""
    one = Markup('<a class="pill" href="{}"{}>{}</a>')
    here = Markup(' aria-current="true"')
    made = [one.format(href, here if chosen else "", text) for text, href, chosen in shown]
    older = Markup("")
    if len(made) > most:
        is_open = any(chosen for _, _, chosen in shown[:-most])
        older = Markup("<details{}><summary>{} older</summary>{}</details>").format(
            Markup(" open") if is_open else "", len(made) - most, Markup(" ").join(made[:-most])
        )
    recent = Markup(" ").join(made[-most:])
    return Markup('<nav class="pills" aria-label="{}">{} {}</nav>').format(says, recent, older)


def bold(text: str) -> Markup:
    """A sentence in our own Markdown, as `words.plain` makes foreign text safe for it, as markup.

    >>> print(bold(r"**Proven.** a\\_b <i>"))
    <strong>Proven.</strong> a_b &lt;i&gt;
    """
    parts = [re.sub(r"\\(.)", r"\1", part).replace(JOINER, "") for part in re.split(r"(?<!\\)\*\*", text)]
    strong = Markup("<strong>{}</strong>")
    return Markup().join(strong.format(part) if n % 2 else escape(part) for n, part in enumerate(parts))


def paragraphs(sentences: Iterable[str]) -> Markup:
    """Sentences, a paragraph each."""
    return Markup().join(Markup("<p>{}</p>").format(sentence) for sentence in sentences)


def points(sentences: Iterable[str]) -> Markup:
    """Sentences as a list."""
    inside = Markup().join(Markup("<li>{}</li>").format(sentence) for sentence in sentences)
    return Markup('<ul class="points">{}</ul>').format(inside)


def meanings(said: Mapping[str, str], look: str = "words") -> Markup:
    """Words, and what each of them means; as `facts` beside each other."""
    lines = (Markup("<dt>{}</dt><dd>{}</dd>").format(word, text) for word, text in said.items())
    return Markup('<dl class="{}">{}</dl>').format(look, Markup().join(lines))


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


def number(label: str, format: str, help: str) -> HtmlColumn:
    """A column of figures, to the right."""
    return HtmlColumn(label, help, format)


def time(label: str, help: str, format: str = "time") -> HtmlColumn:
    """A column of instants in UTC."""
    return HtmlColumn(label, help, format)


def words(label: str, help: str = "", long: bool = False) -> HtmlColumn:
    """A column of text, all of which is shown if it is `long`."""
    return HtmlColumn(label, help, "long" if long else "text")


def picture(label: str, help: str = "") -> HtmlColumn:
    """A column of small drawings of our own."""
    return HtmlColumn(label, help, "picture")


def venue_cells(pages: Iterable[tuple[str, str] | None]) -> dict[str, list[object]]:
    """A column with the venue of each market and the way there; no column where no venue has an address."""
    links = [venue_link(page and (page[0].removesuffix(" (data)"), page[1]), "{}") for page in pages]
    return (
        {"venue": [HtmlCell(link, link.striptags()) if link else None for link in links]}
        if any(links)
        else {}
    )


def html_table(
    data: Mapping[str, Sequence[Any]],
    columns: Mapping[str, HtmlColumn],
    says: str,
    hrefs: Sequence[str | None] = (),
    sortable: bool = False,
) -> Markup:
    """A table of columns of values; `says` is what it holds, for those who can't see it.

    Pictures before the first other column stand in its cell, which names the row and holds its link.
    """
    shown = {key: columns.get(key, _guessed(key, values)) for key, values in data.items()}
    head = next(key for key, column in shown.items() if column.kind != "picture")
    before = list(shown)[: list(shown).index(head)]
    keys = [head, *(key for key in shown if key not in (*before, head))]
    titles = Markup().join(_title(key, shown[key], sortable) for key in keys)
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
    return Markup(
        '<div class="table"><div class="scroll{}" role="region" tabindex="0" aria-label="{}">'
        '<table role="table" aria-label="{}"><thead role="rowgroup"><tr role="row">{}</tr></thead>\n'
        '<tbody role="rowgroup">\n{}</tbody></table></div>{}{}</div>'
    ).format(
        *(" many" if rows > MANY else "", says, says, titles, body),
        Markup('<p class="quiet">{:,} rows: the table scrolls.</p>').format(rows) if rows > MANY else "",
        _meanings([shown[key] for key in keys]),
    )


def _guessed(key: str, values: Sequence[Any]) -> HtmlColumn:
    known = [value for value in values if value is not None]
    if any(isinstance(value, Markup) for value in known):
        return picture(key)
    if known and all(isinstance(value, int | float) and not isinstance(value, bool) for value in known):
        return HtmlColumn(key, format="localized")
    return HtmlColumn(key, format="time" if known and isinstance(known[0], datetime) else "text")


def _title(key: str, column: HtmlColumn, sortable: bool) -> Markup:
    sortable = sortable and column.kind != "picture"
    inside, order = escape(column.label), Markup(' aria-sort="none"') if sortable else ""
    if sortable:
        inside = filled('<button type="button" title="%s">%s</button>', column.help, inside)
    title = '<th scope="col" role="columnheader" class="%s" data-key="%s" data-kind="%s"%s>%s</th>'
    return filled(title, column.kind, key, column.kind, order, inside)


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
    if value is None or value == "" or value != value:
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


def _below(cell: HtmlCell) -> Markup:
    return filled("<small>%s</small>", cell.below) if cell.below else Markup("")


def _meanings(columns: Sequence[HtmlColumn]) -> Markup:
    """What the columns say, folded away: for those who have no pointer to hold over a header."""
    told = [column for column in columns if column.help]
    if not told:
        return Markup("")
    lines = Markup().join(filled("<dt>%s</dt><dd>%s</dd>", column.label, column.help) for column in told)
    return Markup("<details><summary>What the columns mean</summary><dl>{}</dl></details>").format(lines)
