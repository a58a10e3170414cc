"""The pages by name, the ways between them, and what each puts on the screen: markup, tables, choices."""

import ast
import math
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, NoReturn, TypeVar, cast
from urllib.parse import parse_qsl, urlencode, urlsplit

import streamlit as st
from markupsafe import Markup

from arena.scores.cache import CacheEntry
from dashboard.html import HtmlColumn, html_table
from dashboard.record import SOON, cache_note
from dashboard.words import code, unbroken
from markets.registry import find, load, names

PACKAGE = "dashboard.views"
FOLDER = Path(__file__).parent / "views"
"""Pages link to each other, so they are found here by name: an import of them would be a circle."""


@dataclass(frozen=True, slots=True)
class DashboardPage:
    """A page before it is opened: its title, its place in the bar, whether it needs a cohort.

    One of no place is reached from others alone. One that is `headed` by what it shows says so itself.
    """

    name: str
    title: str
    order: int | None
    needs_a_cohort: bool
    is_headed: bool

    def view(self) -> ModuleType:
        """The page itself, with all that it draws on."""
        return load(PACKAGE, self.name)


@lru_cache(maxsize=1)
def pages() -> dict[str, DashboardPage]:
    """All pages in their order."""
    found = [page(name) for name in names(FOLDER)]
    return {
        page.name: page
        for page in sorted(found, key=lambda page: math.inf if page.order is None else page.order)
    }


def page(name: str) -> DashboardPage:
    """What a page says of itself, read from its file: to load them all would keep the first waiting.

    >>> page("leaderboard").title
    'Full leaderboard'
    """
    said = _constants(find(FOLDER, name))
    headed = said.get("HEADED", False)
    return DashboardPage(name, said["TITLE"], said["ORDER"], said["NEEDS_A_COHORT"], headed)


def _constants(file: Path) -> dict[str, Any]:
    """The plain values that a file gives a name at its top."""
    lines = ast.parse(file.read_text(encoding="utf-8")).body
    return {
        line.targets[0].id: line.value.value
        for line in lines
        if isinstance(line, ast.Assign)
        and isinstance(line.targets[0], ast.Name)
        and isinstance(line.value, ast.Constant)
    }


To = Literal[
    "arena",
    "leaderboard",
    "cohort",
    "agent",
    "duel",
    "markets",
    "market",
    "turn",
    "operations",
    "how",
    "glossary",
]
FIRST = "arena"
"""The page at the root of the address."""
ROOT = "root"
"""What Streamlit calls its path; nobody sees it, and its own name is free for who types that."""

OPEN, LEFT = "page that is open", "pages that were left"
"""Under which names a session knows which page it shows, and what the others showed when they were left."""


@dataclass(frozen=True, slots=True)
class Way:
    """Where a click leads: a page, and what its address says."""

    to: To
    shown: Mapping[str, str | int]

    @property
    def href(self) -> str:
        """The address, as one page of the app names another.

        >>> Way("agent", {"agent": "a&b c"}).href
        'agent?agent=a%26b+c'
        """
        return f"{self.to}?{urlencode(self.shown)}" if self.shown else self.to


Address = Callable[[Way], str | None]
"""Where a way leads: in the app, or among the files of a site; None where nothing is there."""


def way(to: To, **shown: str | int) -> Way:
    """A way to a page."""
    return Way(to, shown)


def in_app(to: Way) -> str:
    """Its address in the app."""
    return to.href


def follow_link(href: str) -> None:
    """Be where a link of our own leads; an address that is none of ours leads nowhere."""
    found = urlsplit(href)
    if not found.scheme and not found.netloc and found.path in pages():
        go(cast(To, found.path), **dict(parse_qsl(found.query)))


def page_of(name: str, run: Callable[[], None], first: str = FIRST) -> st.Page:
    """The page of a file in dashboard/views/, as Streamlit knows it."""
    page, is_first = pages()[name], name == first
    path = ROOT if is_first else name
    return st.Page(run, title=page.title, url_path=path, default=is_first)


def link(label: str, to: To, help_text: str | None = None, **shown: str | int) -> None:
    """Something to click that leads to a page; its address says what the page shows.

    The label is Markdown: foreign text goes through `words.plain` first.
    """
    st.page_link(page_of(to, _not_opened), label=label, icon=None, help=help_text, query_params=_texts(shown))


def step(label: str, to: To, **shown: str | int) -> None:
    """Something to click that leads to another view of the page it is on, where links of `link` do nothing.

    The label is Markdown: foreign text goes through `words.plain` first.
    """
    if st.button(label, key=f"step to {to} {sorted(_texts(shown).items())}"):
        go(to, **shown)


def go(to: To, **shown: str | int) -> NoReturn:
    """Be at another page, as by a click on a link to it."""
    asked, here = _texts(shown), st.session_state.get(OPEN)
    left = {} if here == to else {here: (asked, st.query_params.to_dict())}
    st.session_state[LEFT] = st.session_state.get(LEFT, {}) | left
    st.switch_page(page_of(to, _not_opened), query_params=asked)


def arrive(here: str) -> None:
    """Be at a page. Who came back to one that was left by `go` sees there what it showed then.

    Streamlit writes what the next page is to show into the address of the old one before it turns to it.
    Who goes back comes to that address first, and it says nothing of what the page showed.
    """
    st.session_state[OPEN] = here
    asked, given = st.session_state.get(LEFT, {}).get(here, ({}, {}))
    if asked and st.query_params.to_dict() == asked:
        st.query_params.from_dict(given)


def _texts(shown: dict[str, str | int]) -> dict[str, str]:
    return {key: str(value) for key, value in shown.items()}


def _not_opened() -> None:
    """What a page that is only pointed at does; the app has the real one under the same address."""


def subheading(title: str, said: str) -> None:
    """The heading of a part that is always there, and a line below."""
    st.subheader(title, anchor=False)
    st.caption(said)


def section(title: str, there: object, nothing: str, said: str = "", icon: str = "") -> bool:
    """The heading of a part, and a line below: of what is there, or why nothing is. Whether it is."""
    st.subheader(title, anchor=False)
    if there:
        if said:
            st.caption(said)
    elif icon:
        st.info(nothing, icon=icon)
    else:
        st.caption(nothing)
    return bool(there)


def listing(
    data: Mapping[str, Sequence[Any]],
    says: str,
    columns: Mapping[str, HtmlColumn],
    ways: Sequence[Way | None] = (),
) -> None:
    """A table; where there are ways, a row a way, the row's name leads there."""
    hrefs = [None if way is None else way.href for way in ways]
    put(html_table(data, columns, says, hrefs), f"table of {says}")


def put(html: Markup, key: str) -> None:
    """Markup of dashboard/html.py, under a key of its own on the page."""
    if html:
        found = _component()(data={"html": unbroken(html)}, key=key, on_open_change=_not_answered)
        if found.open:
            follow_link(found.open)


@lru_cache(maxsize=1)
def _component() -> Callable[..., Any]:
    """What puts it there; `dashboard.serve` says where its files are."""
    place = '<div class="place"></div>'
    return st.components.v2.component("dashboard.html", html=place, css="arena.css", js="arena.js")


def _not_answered() -> None:
    """A click is answered where the markup is put, and nowhere else."""


Value = TypeVar("Value")
Widget = Literal["list", "switch"]
MOST_TYPED = 200
"""Longer words to search for are cut off."""


def no_such(what: str, asked: Iterable[str | None], known: Container[str]) -> None:
    """A line for each agent or cohort that the address names and the record has not."""
    for name in dict.fromkeys(asked):
        if name is not None and name not in known:
            st.warning(f"The record has no {what} {code(name)}.", icon=":material/search_off:")


def choice(label: str, key: str, options: Mapping[str, str], default: str, widget: Widget = "switch") -> str:
    """One of the options, named in the address by its key and shown by its words.

    What was never chosen stays out of the address: opening a page then adds nothing to the history.
    """
    asked = st.query_params.get(key)
    if _is_from_outside(key, asked) or st.session_state.get(key) not in options:
        st.session_state[key] = asked if asked in options else default
    chosen = _drawn(label, key, options, widget) or default
    if chosen != asked and (asked is not None or chosen != default):
        st.query_params[key] = chosen
    st.session_state[_note(key)] = (asked, st.query_params.get(key))
    return chosen


def _is_from_outside(key: str, asked: str | None) -> bool:
    """Whether the address says what it neither said at the last run nor was made to say by it.

    A click that comes before the browser has heard of the last one still brings the older address.
    """
    return asked not in st.session_state.get(_note(key), ())


def _note(key: str) -> str:
    return f"address of {key}"


def _drawn(label: str, key: str, options: Mapping[str, str], widget: Widget) -> str | None:
    words = options.__getitem__
    if widget == "list":
        return st.selectbox(
            label, list(options), format_func=words, key=key, width=320, label_visibility="collapsed"
        )
    return st.segmented_control(
        label, list(options), format_func=words, key=key, required=True, label_visibility="collapsed"
    )


def typed(label: str, key: str, hint: str) -> str:
    """Words to search for, in the address under a key; with none the address does not have it."""
    asked = st.query_params.get(key)
    if _is_from_outside(key, asked) or key not in st.session_state:
        st.session_state[key] = asked or ""
    words = st.text_input(
        label, key=key, placeholder=hint, max_chars=MOST_TYPED, width=320, label_visibility="collapsed"
    ).strip()
    if words:
        st.query_params[key] = words
    elif key in st.query_params:
        del st.query_params[key]
    st.session_state[_note(key)] = (asked, st.query_params.get(key))
    return words


LONGEST = 20_000
"""So many characters of a text are drawn; the whole of it can be taken home."""
MANY, HIGH = 3_000, 420
"""A text of more characters is so many pixels high, and is scrolled."""


def long_text(text: str, name: str) -> None:
    """Foreign text as it is, line by line; what is too long to be drawn can be had as a file.

    What would turn the order of its characters, or is none that is seen, is shown as such.
    """
    high: int | Literal["content"] = HIGH if len(text) > MANY else "content"
    seen = "".join(c if c.isprintable() or c in "\n\r\t" else "\ufffd" for c in text[:LONGEST])
    st.code(seen, language=None, wrap_lines=True, height=high)
    if len(text) > LONGEST:
        st.caption(f"The first {LONGEST:,} of {len(text):,} characters.")
        st.download_button("Download all of it", text, file_name=f"{name}.txt", key=f"whole {name}")


def show_cached(entry: CacheEntry[Value] | None, what: str) -> Value | None:
    """The value, and a line under the title where something has ended since; without one, how it comes."""
    if entry is None:
        st.info(f"{what} is being computed. {SOON}", icon=":material/hourglass_empty:")
        return None
    if not entry.is_current:
        st.caption(f"{what}: {cache_note(entry)}")
    return entry.value
