"""What stands around each page of a site, and around a report, which is one such page in one file."""

import re
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from dashboard.html import bar
from dashboard.words import filled, flat, unbroken

HOME = Path(__file__).parent
PACKAGE = HOME.parent
ASSETS = PACKAGE / "assets"
SHUT = "default-src 'none'; base-uri 'none'; form-action 'none'"
SITE_POLICY = f"{SHUT}; style-src 'self'; script-src 'self'; font-src 'self'; img-src 'self'"
ICON = "icon.svg"
CARD = "card.png"
"""The picture of a site, and the one that is shown where somebody links to it."""
BAR = {
    "index": "Leaderboard",
    "cohorts": "Cohorts",
    "agents": "Agents",
    "markets": "Markets",
    "how": "How it works",
}
"""What pages are called in the bar, by the names of their files."""
DRAWING = {".py", ".html", ".css", ".js", ".toml", ".svg", ".txt", ".woff2"}
NOT_FOUND = "404.html"
"""What a server shows where there is no page."""
FOR_ALL = "// For the app and for sites.\n"
"""Where in arena.js that begins which a site needs too."""
FOR_SITE = """marks(document);
document.querySelectorAll(".place").forEach(ready);
function unfold() {
  document.getElementById(location.hash.slice(1))?.closest("details")?.setAttribute("open", "");
}
unfold();
addEventListener("hashchange", unfold);
"""
DESCRIBED = 200
"""So many letters of a page's first paragraph describe it to those who look for it."""


@cache
def _template() -> Template:
    """Read what stands around each page."""
    around = Environment(autoescape=True, undefined=StrictUndefined)  # nosec
    return around.from_string((HOME / "page.html").read_text("utf-8"))


@cache
def css() -> str:
    """Return the look of every page."""
    return "".join(file.read_text("utf-8") for file in (HOME / "page.css", ASSETS / "arena.css"))


@cache
def script() -> str:
    """Return the script of a page without a server: its tables can be sorted, and its charts answer."""
    tables = (ASSETS / "arena.js").read_text("utf-8").partition(FOR_ALL)[2]
    charts = (ASSETS / "marks.js").read_text("utf-8").replace("export function", "function")
    return tables + charts + FOR_SITE


@cache
def look_files() -> dict[str, str]:
    """Return the style and the one script of a site, by names that change with what they hold."""
    font = "@font-face { font-family: 'Arena Sans'; src: url(arena-sans.woff2); font-weight: 400 700 }\n"
    texts = {".css": font + css(), ".js": script()}
    return {f"look-{sha256(text.encode()).hexdigest()[:10]}{end}": text for end, text in texts.items()}


@cache
def drawn_by() -> str:
    """Return a hash over all that draws: what another version drew is drawn anew."""
    files = sorted(file for file in PACKAGE.rglob("*") if file.suffix in DRAWING)
    return sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()


def one_file(title: str, inside: Markup) -> str:
    """Return a page by itself: its style and its script within, and nothing that a browser would fetch."""
    style = css()
    code = script()
    style_hash = _hash_of(style)
    return _template().render(
        title=title,
        policy=f"{SHUT}; style-src '{style_hash}'; script-src '{_hash_of(code)}'",
        css=Markup(style),  # noqa: S704 - our own file
        script=Markup(code),  # noqa: S704 - our own files
        bar="",
        inside=_whole(inside),
    )


def _hash_of(text: str) -> str:
    """Return what a page's policy calls a style or a script that stands within it."""
    digest = sha256(text.encode()).digest()
    return f"sha256-{b64encode(digest).decode()}"


@dataclass(frozen=True, slots=True)
class SiteFrame:
    """What stands around every page of a site: the badge, and where on the web it will be, if known."""

    badge: Markup
    address: str = ""


def site_page(frame: SiteFrame, path: str, title: str, parts: Iterable[Markup]) -> str:
    """Return a page of a site, which stands at a path in it."""
    home = "../" * path.count("/")
    if path == NOT_FOUND and frame.address:
        home = f"{frame.address}/"  # a server shows it at whatever address was asked for
    style, script_name = look_files()
    section = re.split("[./]", path)[0]
    here = BAR.get(section, "")
    items = [(title, f"{home}{name}.html") for name, title in BAR.items()]

    shown = Markup("\n").join(filter(None, parts))
    heading = filled("<h1>%s</h1>\n", flat(title))
    return _template().render(
        title=f"{flat(title)} · Paper Arena",
        description=_description(title, shown),
        policy=SITE_POLICY,
        css="",
        home=home,
        style=style,
        script=script_name,
        icon=ICON,
        address=frame.address,
        path=path,
        card=CARD,
        bar=bar(items, here, frame.badge),
        inside=_whole(heading + shown),
    )


def _description(title: str, shown: Markup) -> str:
    """Return the first paragraph of a page, as far as it is shown beside a link; its title if it has none."""
    first = re.search(r"<p[ >].*?</p>", shown, re.DOTALL)
    text = flat(title)
    if first is not None:
        text = flat(Markup(first[0]).striptags())  # noqa: S704 - our own, of escaped values
    if len(text) <= DESCRIBED:
        return text
    return f"{text[:DESCRIBED].rsplit(' ', 1)[0]} …"


def _whole(inside: Markup) -> Markup:
    """Return what a page shows, with signs that stay beside their amounts."""
    return Markup(unbroken(inside))  # noqa: S704 - markup before, markup after
