"""The parts of a page as HTML, all of escaped text: the bar at its top, tiles, boxes, tags, quotes.

With dashboard/html_table.py and dashboard/svg.py these are all the markup there is. Pages of the dashboard
put it on the screen (dashboard/listing.py); reports and sites write it into files.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

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
    one = Markup('<div class="quote"><p>{} {}</p>{}<p class="quiet">{}</p></div>')
    why, name = Markup('<p class="why">“{}”</p>'), Markup("<b>{}</b>")
    return Markup().join(
        one.format(linked(name.format(q.who), q.href), q.did, why.format(q.why) if q.why else "", q.where)
        for q in shown
    )


def linked(inside: Markup, href: str | None) -> Markup:
    """What leads somewhere, if it does."""
    return Markup('<a href="{}">{}</a>').format(href, inside) if href else inside


def folded(title: str, inside: Markup) -> Markup:
    """What is shown to who opens it."""
    return Markup('<details class="more"><summary>{}</summary>{}</details>').format(title, inside)


def tag(text: str, look: str) -> Markup:
    """A word in a coloured field."""
    return Markup('<span class="tag {}">{}</span>').format(look, text)


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


def paragraphs(sentences: Iterable[str]) -> Markup:
    """Sentences, a paragraph each."""
    return Markup().join(Markup("<p>{}</p>").format(sentence) for sentence in sentences)


def points(sentences: Iterable[str]) -> Markup:
    """Sentences as a list."""
    inside = Markup().join(Markup("<li>{}</li>").format(sentence) for sentence in sentences)
    return Markup('<ul class="points">{}</ul>').format(inside)


def meanings(said: Mapping[str, str]) -> Markup:
    """Words, and what each of them means."""
    lines = (Markup("<dt>{}</dt><dd>{}</dd>").format(word, text) for word, text in said.items())
    return Markup('<dl class="words">{}</dl>').format(Markup().join(lines))


def gain_look(value: float) -> str:
    """The class of a gain or a loss."""
    return "" if abs(value) < 0.005 else "gain" if value > 0 else "loss"


def lines(sentences: Iterable[str]) -> Markup:
    """Sentences, one below the other."""
    return Markup("<br/>").join(escape(sentence) for sentence in sentences)
