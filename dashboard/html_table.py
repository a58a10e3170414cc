"""A table as HTML, for pages and reports: the one place where markup is made, all of it of escaped text.

Rows lead on by real links, headers are buttons, and in a narrow place each row is a card. What it looks like
stands in assets/arena.css; on a page assets/arena.js sorts it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from markupsafe import Markup, escape

from dashboard.numbers import written
from dashboard.times import moment
from dashboard.words import day, flat

MANY = 50
"""A table of more rows is scrolled by itself."""
EMPTY = "–"
Kind = Literal["text", "number", "time", "picture"]


@dataclass(frozen=True, slots=True)
class HtmlColumn:
    """A column: its words, what it says, and how its values are written.

    `format` is `text`, `long` for text to read, `picture`, `time`, `day`, or one of dashboard/numbers.py.
    """

    label: str
    help: str = ""
    format: str = "text"

    @property
    def kind(self) -> Kind:
        """By what it is sorted and to which side it stands."""
        kinds: dict[str, Kind] = {"text": "text", "long": "text", "picture": "picture"}
        return kinds.get(self.format, "time" if self.format in ("time", "day") else "number")


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
    body = Markup().join(
        Markup('<tr role="row">{}{}</tr>\n').format(
            _name(data[head][n], shown[head], [data[key][n] for key in before], hrefs[n] if hrefs else None),
            Markup().join(_cell(data[key][n], shown[key]) for key in keys[1:]),
        )
        for n in range(rows)
    )
    return Markup(
        '<div class="table"><div class="scroll{}" role="region" tabindex="0" aria-label="{}">'
        '<table role="table" aria-label="{}"><thead role="rowgroup"><tr role="row">{}</tr></thead>\n'
        '<tbody role="rowgroup">\n{}</tbody></table></div>{}</div>'
    ).format(
        " many" if rows > MANY else "", says, says, titles, body, _meanings([shown[key] for key in keys])
    )


def _guessed(key: str, values: Sequence[Any]) -> HtmlColumn:
    known = [value for value in values if value is not None]
    if any(isinstance(value, Markup) for value in known):
        return picture(key)
    if known and all(isinstance(value, int | float) and not isinstance(value, bool) for value in known):
        return HtmlColumn(key, format="localized")
    return HtmlColumn(key, format="time" if known and isinstance(known[0], datetime) else "text")


def _title(key: str, column: HtmlColumn, sortable: bool) -> Markup:
    button = Markup('<button type="button" title="{}">{}</button>')
    sortable = sortable and column.kind != "picture"
    inside = button.format(column.help, column.label) if sortable else escape(column.label)
    order = Markup(' aria-sort="none"') if sortable else ""
    return Markup(
        '<th scope="col" role="columnheader" class="{}" data-key="{}" data-kind="{}"{}>{}</th>'
    ).format(column.kind, key, column.kind, order, inside)


def _name(value: Any, column: HtmlColumn, pictures: Sequence[Any], href: str | None) -> Markup:
    named = HtmlCell(_text(value, column)) if not isinstance(value, HtmlCell) else value
    text, below = escape(named.shown), Markup("<small>{}</small>").format(named.below) if named.below else ""
    inside = (Markup('<a href="{}">{}</a>').format(href, text) if href else text) + below
    drawn = Markup().join(drawing for drawing in pictures if drawing is not None)
    return Markup('<th scope="row" role="rowheader" class="{}" title="{}"{}>{}{}</th>').format(
        column.kind, text, _sorted_by(value, column), drawn, inside
    )


def _cell(value: Any, column: HtmlColumn) -> Markup:
    classes = "text long" if column.format == "long" else str(column.kind)
    if column.format == "gain" and value:
        classes += " gain" if value > 0 else " loss"
    if isinstance(value, HtmlCell):
        classes += f" {value.look}"
    return Markup('<td role="cell" class="{}" data-label="{}"{}>{}</td>').format(
        classes, column.label, _sorted_by(value, column), _text(value, column)
    )


def _sorted_by(value: Any, column: HtmlColumn) -> Markup:
    """What a cell is sorted by where that is not its text; the figure itself, to the last digit."""
    if isinstance(value, HtmlCell) and column.kind != "picture":
        return Markup(' data-value="{}"').format("" if value.value is None else value.value)
    if column.kind not in ("number", "time"):
        return Markup("")
    if isinstance(value, datetime):
        return Markup(' data-value="{}"').format(value.isoformat())
    return Markup(' data-value="{}"').format("" if value is None or value != value else value)


def _text(value: Any, column: HtmlColumn) -> Markup:
    """A value as it is read, escaped whatever it says."""
    if isinstance(value, HtmlCell):
        below = Markup("<small>{}</small>").format(value.below) if value.below else ""
        return escape(value.shown) + below
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


def _meanings(columns: Sequence[HtmlColumn]) -> Markup:
    """What the columns say, folded away: for those who have no pointer to hold over a header."""
    told = [column for column in columns if column.help]
    if not told:
        return Markup("")
    lines = Markup().join(
        Markup("<dt>{}</dt><dd>{}</dd>").format(column.label, column.help) for column in told
    )
    return Markup("<details><summary>What the columns mean</summary><dl>{}</dl></details>").format(lines)
