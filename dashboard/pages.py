"""The pages by name, the links between them, and their building blocks: markup, tables, choices."""

import ast
import math
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, Protocol, TypeVar
from urllib.parse import urlencode

import streamlit as st
from markupsafe import Markup
from streamlit.delta_generator import DeltaGenerator

from arena.scores.cache import CacheEntry
from dashboard.html import Columns, Row, bold, html_table
from dashboard.long_names import short_forms
from dashboard.record import SOON, cache_note
from dashboard.words import code, filled, unbroken
from markets.registry import find, load, names

PACKAGE = "dashboard.views"
FOLDER = Path(__file__).parent / "views"
"""Pages link to each other, so they are found here by name: an import of them would be a circle."""


@dataclass(frozen=True, slots=True)
class DashboardPage:
    """A page before it is opened: its title, its place in the bar, and whether it needs a cohort.

    One of no place is reached from others alone. One that is `headed` by what it shows says so itself.
    """

    name: str
    title: str
    order: int | None
    needs_a_cohort: bool
    is_headed: bool

    def view(self) -> ModuleType:
        """Load the page itself, with all its imports."""
        return load(PACKAGE, self.name)


@lru_cache(maxsize=1)
def pages() -> dict[str, DashboardPage]:
    """Return all pages in their order."""
    every = [page(name) for name in names(FOLDER)]
    every.sort(key=lambda page: math.inf if page.order is None else page.order)
    return {page.name: page for page in every}


def page(name: str) -> DashboardPage:
    """Return a page's description, read from its file, as loading all of them would delay the first.

    >>> page("leaderboard").title
    'Full leaderboard'
    """
    constants = _read_constants(find(FOLDER, name))
    return DashboardPage(
        name,
        constants["TITLE"],
        constants["ORDER"],
        constants["NEEDS_A_COHORT"],
        constants.get("HEADED", False),
    )


def _read_constants(file: Path) -> dict[str, Any]:
    """Return the constants at the top level of a file."""
    constants = {}
    for line in ast.parse(file.read_text(encoding="utf-8")).body:
        match line:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=value)):
                constants[name] = value
    return constants


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
"""The name of its path in Streamlit; its own name stays free for those who type it."""


@dataclass(frozen=True, slots=True)
class Way:
    """The target of a link: a page, and the parameters of its address."""

    to: To
    shown: Mapping[str, str | int]

    @property
    def href(self) -> str:
        """Return the address, as one page of the app names another.

        >>> Way("agent", {"agent": "a&b c"}).href
        'agent?agent=a%26b+c'
        """
        path: str = self.to
        if path == FIRST:
            path = "./"
        if not self.shown:
            return path
        return f"{path}?{urlencode(self.shown)}"


Address = Callable[[Way], str | None]
"""Where a way leads: in the app, or among the files of a site; None if there is nothing."""


def way(to: To, **shown: str | int) -> Way:
    """Return a way to a page."""
    return Way(to, shown)


class OfTurn(Protocol):
    """The place of a turn."""

    @property
    def cohort(self) -> int: ...

    @property
    def round(self) -> int: ...

    @property
    def agent(self) -> str: ...


def way_to_turn(of: OfTurn) -> Way:
    """Return a way to the page of a turn, from its place."""
    return way("turn", cohort=of.cohort, round=of.round, agent=of.agent)


def way_to_agent(name: str, cohort: int | None = None) -> Way:
    """Return a way to the page of an agent, over all its cohorts or in one."""
    if cohort is None:
        return way("agent", agent=name)
    return way("agent", agent=name, cohort=cohort)


def in_app(to: Way) -> str:
    """Return the address of a way in the app."""
    return to.href


def staying(to: Way) -> str:
    """Return the address of another view of the open page, with all other choices kept."""
    return Way(to.to, st.query_params.to_dict() | _texts(to.shown)).href


def page_of(name: str, run: Callable[[], None], first: str = FIRST) -> st.Page:
    """Return the page of a file in dashboard/views/, as Streamlit knows it."""
    is_first = name == first
    path = name
    if is_first:
        path = ROOT
    return st.Page(run, title=pages()[name].title, url_path=path, default=is_first)


def link(label: str, to: To, **shown: str | int) -> None:
    """Put a link to a page; its address says what the page shows.

    The label is Markdown: foreign text goes through `words.plain` first.
    """
    st.page_link(page_of(to, _not_opened), label=label, icon=None, query_params=_texts(shown))


def put_view_link(label: str, to: To, **shown: str | int) -> None:
    """Put a link to another view of the same page, where links of `link` do nothing.

    The label is Markdown: foreign text goes through `words.plain` first.
    """
    href = way(to, **shown).href
    put(filled('<a class="pill" href="%s">%s</a>', href, bold(label)), f"step to {href}", width="content")


def _texts(shown: Mapping[str, str | int]) -> dict[str, str]:
    """Return the parameters of an address as texts."""
    return {key: str(value) for key, value in shown.items()}


def _not_opened() -> None:
    """Do nothing, in place of a page that is only linked to; the app has the real one at this address."""


def heading(text: str) -> None:
    """Put the heading of the page, in Markdown."""
    st.title(text, anchor=False)


def nothing_found(text: str) -> None:
    """Say that there is no such thing, and what to do."""
    st.info(text, icon=":material/search_off:")


def not_yet(text: str) -> None:
    """Say what has to happen first."""
    st.info(text, icon=":material/hourglass_empty:")


def controls() -> DeltaGenerator:
    """Return a container for controls beside each other."""
    return st.container(horizontal=True, gap="small", vertical_alignment="center")


def subheading(title: str, below: str = "") -> None:
    """Put the heading of a part, and a line below if there is one."""
    st.subheader(title, anchor=False)
    if below:
        st.caption(below)


def put_section(title: str, content: object, empty_text: str, below: str = "", empty_icon: str = "") -> bool:
    """Put the heading of a part, with a line about it or on why it is empty; tell whether it has content."""
    subheading(title, below * bool(content))
    if content:
        return True
    if empty_icon:
        st.info(empty_text, icon=empty_icon)
    else:
        st.caption(empty_text)
    return False


def put_table(rows: Iterable[Row], columns: Columns, says: str) -> None:
    """Put a table on the screen; `says` describes it."""
    put(html_table(rows, columns, says), f"table of {says}")


@st.fragment
def on_demand(title: str, key: str, show: Callable[[], None]) -> None:
    """Put a closed part, whose content is computed and sent once it is opened.

    The title is Markdown: foreign text goes through `words.plain` first. Under the key it stays open when the
    page is drawn anew with another title.
    """
    part = st.expander(title, key=f"part {key}", on_change="rerun")
    if part.open:
        with part:
            show()


def put(html: Markup, key: str, width: Literal["stretch", "content"] = "stretch") -> None:
    """Put markup of dashboard/html.py on the screen, under a key of its own on the page."""
    if html:
        # As bytes: JSON would escape each quotation mark, a seventh of all that is sent.
        _component()(data=unbroken(html).encode(), key=key, width=width)


@lru_cache(maxsize=1)
def _component() -> Callable[..., Any]:
    """Return the component that shows markup; `dashboard.serve` says where its files are."""
    place = '<div class="place"></div>'
    return st.components.v2.component("dashboard.html", html=place, css="arena.css", js="arena.js")


Value = TypeVar("Value")
Widget = Literal["list", "switch"]
ALL = "all"
"""The option that leaves nothing out."""
MOST_TYPED = 200
"""Longer search texts are cut off."""


class NotThereError(Exception):
    """The address names an agent or a cohort that is not in the record."""


def no_such(what: str, asked: Iterable[str | None], known: Container[str]) -> None:
    """Raise an error for the first agent or cohort that the address names and the record does not have."""
    for name in asked:
        if name and name not in known:
            raise NotThereError(f"The record has no {what} {code(name)}.")


LONGEST_OPTION = 36
"""The most letters of a name in a list of options."""


def options_of(names: Iterable[str]) -> dict[str, str]:
    """Return options shown by their own names, long ones shortened so that they differ."""
    return short_forms(names, LONGEST_OPTION)


OPEN = "page that is open"
CHOICES = "choices and their defaults"
"""The keys under which a session stores its open page, and the choices there with their defaults."""


def arrive(here: str) -> None:
    """Remember the open page, and forget the choices of another one."""
    if st.session_state.get(OPEN) != here:
        st.session_state[OPEN] = here
        st.session_state[CHOICES] = {}


def choice(label: str, key: str, options: Mapping[str, str], default: str, widget: Widget = "switch") -> str:
    """Let one of the options be chosen, with its key in the address and its label on the screen.

    What was never chosen stays out of the address: opening a page then adds nothing to the history.
    """
    chosen = st.query_params.get(key, default)
    if chosen not in options:
        chosen = default
    _keep_widget_in_step(key, chosen, default)

    label_of = options.__getitem__
    if widget == "list":
        st.selectbox(
            label,
            list(options),
            format_func=label_of,
            key=key,
            on_change=_write_choices,
            width=320,
            label_visibility="collapsed",
        )
    else:
        st.segmented_control(
            label,
            list(options),
            format_func=label_of,
            key=key,
            on_change=_write_choices,
            required=True,
            label_visibility="collapsed",
        )
    return chosen


def typed(label: str, key: str, hint: str) -> str:
    """Let a search text be typed, which the address has under a key unless it is empty."""
    text = st.query_params.get(key, "")[:MOST_TYPED].strip()
    _keep_widget_in_step(key, text, "")
    st.text_input(
        label,
        key=key,
        on_change=_write_choices,
        placeholder=hint,
        max_chars=MOST_TYPED,
        width=320,
        label_visibility="collapsed",
    )
    return text


def _keep_widget_in_step(key: str, chosen: str, default: str) -> None:
    """Make a widget show what the address says, and remember its default."""
    st.session_state[CHOICES][key] = default
    if st.session_state.get(key) != chosen:
        st.session_state[key] = chosen


def _write_choices() -> None:
    """Write the visible choices into the address, in one step of the history.

    A click may come before the browser has heard of the last one, and bring the address from before it. So
    all choices of the page are written, not only the one that was clicked. Who goes back clicks on none of
    them, and sees what the address says.
    """
    address = st.query_params.to_dict()
    address.pop("page", None)  # of a list: what is chosen anew begins at its first page
    for key, default in st.session_state[CHOICES].items():
        if key not in st.session_state:
            continue
        value = str(st.session_state[key]).strip()
        if not value:
            address.pop(key, None)
        elif value != default or key in address:
            address[key] = value
    st.query_params.from_dict(address)


LONGEST = 20_000
"""The most characters of a text that are drawn; the whole can be downloaded."""
MANY = 3_000
HIGH = 420
"""A text of more characters than the first is as many pixels high as the second, and scrolls."""


def long_text(text: str, name: str) -> None:
    """Show foreign text as it is, line by line; what is too long to draw can be downloaded.

    What would turn the order of its characters, or is none that is seen, is shown as such.
    """
    height: int | Literal["content"] = HIGH if len(text) > MANY else "content"
    visible = "".join(c if c.isprintable() or c in "\n\r\t" else "\ufffd" for c in text[:LONGEST])

    st.code(visible, language=None, wrap_lines=True, height=height)
    if len(text) > LONGEST:
        st.caption(f"The first {LONGEST:,} of {len(text):,} characters.")
        st.download_button("Download all of it", text, file_name=f"{name}.txt", key=f"whole {name}")


def show_age(entry: CacheEntry[Any] | None) -> None:
    """Say since when figures hold, if something has ended since."""
    note = cache_note(entry)
    if note:
        st.info(note, icon=":material/history:")


def show_cached(entry: CacheEntry[Value] | None, what: str) -> Value | None:
    """Return the value with a note on its age if it is not current, or say that there is none yet."""
    if entry is None:
        not_yet(f"{what} is being computed. {SOON}")
        return None
    if not entry.is_current:
        st.caption(f"{what}: {cache_note(entry)}")
    return entry.value
