"""What stands around each page of a site, and around a report, which is one such page in one file."""

import re
from base64 import b64encode
from collections.abc import Iterable
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
SITE_POLICY = f"{SHUT}; style-src 'self'; script-src 'self'"
BAR = {
    "index": "Leaderboard",
    "cohorts": "Cohorts",
    "agents": "Agents",
    "markets": "Markets",
    "how": "How it works",
}
"""What pages are called in the bar, by the names of their files."""
DRAWING = {".py", ".html", ".css", ".js", ".toml"}
FOR_ALL = "// For the app and for sites.\n"
"""Where in arena.js that begins which a site needs too."""
FOR_SITE = """marks(document);
document.querySelectorAll(".place").forEach(ready);
"""


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
    texts = {".css": css(), ".js": script()}
    return {f"look-{sha256(text.encode()).hexdigest()[:10]}{end}": text for end, text in texts.items()}


@cache
def drawn_by() -> str:
    """Return a hash over all that draws: what another version drew is drawn anew."""
    files = sorted(file for file in PACKAGE.rglob("*") if file.suffix in DRAWING)
    return sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()


def one_file(title: str, inside: Markup) -> str:
    """Return a page by itself: its style and its script within, and nothing that a browser would fetch."""
    return _template().render(
        title=title,
        policy=f"{SHUT}; style-src '{_hash_of(css())}'; script-src '{_hash_of(script())}'",
        css=Markup(css()),  # noqa: S704 - our own file
        script=Markup(script()),  # noqa: S704 - our own files
        bar="",
        inside=_whole(inside),
    )


def _hash_of(text: str) -> str:
    """Return what a page's policy calls a style or a script that stands within it."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def site_page(path: str, title: str, badge: Markup, parts: Iterable[Markup]) -> str:
    """Return a page of a site, which stands at a path in it."""
    home = "../" * path.count("/")
    style, script = look_files()
    here = BAR.get(re.split("[./]", path)[0], "")
    items = [(title, f"{home}{name}.html") for name, title in BAR.items()]
    top = filled("<h1>%s</h1>\n", flat(title))
    return _template().render(
        title=f"{flat(title)} · Paper Arena",
        policy=SITE_POLICY,
        css="",
        home=home,
        style=style,
        script=script,
        bar=bar(items, here, badge),
        inside=_whole(top + Markup("\n").join(filter(None, parts))),
    )


def _whole(inside: Markup) -> Markup:
    """Return what a page shows, with signs that stay beside their amounts."""
    return Markup(unbroken(inside))  # noqa: S704 - markup before, markup after
