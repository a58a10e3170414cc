"""The frame of each page of a site, and of a report, which is one such page in one file."""

import re
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from dashboard.html import page_bar
from dashboard.words import filled, flat, unbroken

HOME = Path(__file__).parent
PACKAGE = HOME.parent
ASSETS = PACKAGE / "assets"
SHUT = "default-src 'none'; base-uri 'none'; form-action 'none'"
SITE_POLICY = f"{SHUT}; style-src 'self'; script-src 'self'; font-src 'self'; img-src 'self'"
ICON = "icon.svg"
CARD = "card.png"
"""The icon of a site, and its preview picture."""
BAR = {
    "index": "Leaderboard",
    "cohorts": "Cohorts",
    "agents": "Agents",
    "markets": "Markets",
    "how": "How it works",
}
"""The titles of pages in the bar, by the names of their files."""
DRAWING = {".py", ".html", ".css", ".js", ".toml", ".svg", ".txt", ".woff2"}
NOT_FOUND = "404.html"
"""The file that a server shows if there is no such page."""
FOR_ALL = "// For the app and for sites.\n"
"""The part of arena.js, from here on, that a site needs too."""
FOR_SITE = """marks(document);
document.querySelectorAll(".place").forEach(ready);
function unfold() {
  document.getElementById(location.hash.slice(1))?.closest("details")?.setAttribute("open", "");
}
unfold();
addEventListener("hashchange", unfold);
"""
DESCRIBED = 200
"""The most letters of a page's first paragraph in its description for search engines."""


@cache
def _template() -> Template:
    """Read the template of a page."""
    around = Environment(autoescape=True, undefined=StrictUndefined)  # nosec
    return around.from_string((HOME / "page.html").read_text("utf-8"))


@cache
def css() -> str:
    """Return the style of every page."""
    return "".join(file.read_text("utf-8") for file in (HOME / "page.css", ASSETS / "arena.css"))


@cache
def script() -> str:
    """Return the script of a page without a server, for sorting tables and reading charts."""
    tables = (ASSETS / "arena.js").read_text("utf-8").partition(FOR_ALL)[2]
    charts = (ASSETS / "marks.js").read_text("utf-8").replace("export function", "function")
    return tables + charts + FOR_SITE


@cache
def look_files() -> dict[str, str]:
    """Return the style and the one script of a site, under names that change with their content."""
    font = "@font-face { font-family: 'Arena Sans'; src: url(arena-sans.woff2); font-weight: 400 700 }\n"
    texts = {".css": font + css(), ".js": script()}
    return {f"look-{sha256(text.encode()).hexdigest()[:10]}{end}": text for end, text in texts.items()}


@cache
def drawn_by() -> str:
    """Return a hash of all code that draws, as pages of another version are drawn again."""
    files = sorted(file for file in PACKAGE.rglob("*") if file.suffix in DRAWING)
    return sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()


def one_file(title: str, inside: Markup) -> str:
    """Return a page in one file, with its style and its script, which makes no requests."""
    style = css()
    code = script()
    style_hash = _hash_of(style)
    return _template().render(
        title=title,
        policy=f"{SHUT}; style-src '{style_hash}'; script-src '{_hash_of(code)}'",
        css=Markup(style),  # noqa: S704 - our own file
        script=Markup(code),  # noqa: S704 - our own files
        bar="",
        inside=_body_markup(inside),
    )


def _hash_of(text: str) -> str:
    """Return the hash of an inline style or script for a page's security policy."""
    digest = sha256(text.encode()).digest()
    return f"sha256-{b64encode(digest).decode()}"


@dataclass(frozen=True, slots=True)
class SiteFrame:
    """The frame of every page of a site: the badge, and the site's address, if known."""

    badge: Markup
    address: str = ""


def site_page(frame: SiteFrame, path: str, title: str, parts: Iterable[Markup]) -> str:
    """Return a page of a site, at its path."""
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
        bar=page_bar(items, here, frame.badge),
        inside=_body_markup(heading + shown),
    )


def _description(title: str, shown: Markup) -> str:
    """Return the first paragraph of a page, cut for previews of links, or its title if it has none."""
    first_paragraph = re.search(r"<p[ >].*?</p>", shown, re.DOTALL)
    text = flat(title)
    if first_paragraph is not None:
        text = flat(Markup(first_paragraph[0]).striptags())  # noqa: S704 - our own, of escaped values
    if len(text) <= DESCRIBED:
        return text
    return f"{text[:DESCRIBED].rsplit(' ', 1)[0]} …"


def _body_markup(inside: Markup) -> Markup:
    """Return the content of a page, with signs kept beside their amounts."""
    return Markup(unbroken(inside))  # noqa: S704 - markup before, markup after
