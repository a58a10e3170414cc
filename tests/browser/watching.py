"""What the tests in a real browser share: pages that are watched, and the ways to get about on them."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

import pytest
from playwright.sync_api import BrowserContext, ConsoleMessage, Dialog, Error, Locator, Page, Request, expect

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # no page is open long enough to repay a process or optimized code of its own: a fifth of all CPU time
    "--process-per-site",
    "--js-flags=--no-opt --no-maglev",
]
PATIENCE = 90_000
expect.set_options(timeout=PATIENCE)
"""Milliseconds that a browser is waited for."""
LOOKED_AT = 500
"""Milliseconds for which a page is looked at before it is left."""
LOOKS = [(width, theme) for width in (1440, 390) for theme in ("light", "dark")]
SAMPLED_LOOKS = [
    pytest.param(*look, marks=() if look in (LOOKS[0], LOOKS[-1]) else pytest.mark.thorough) for look in LOOKS
]
"""A screen in light and a phone in dark, and the others with THOROUGH=1."""
PROBE = re.compile(r"http://127\.0\.0\.1:\d+/[^/]+/_stcore/(health|host-config)")
"""Opened below the root, Streamlit first asks whether the server's own root is there, and is told 404."""


Made = TypeVar("Made")


@dataclass
class Watched:
    """A page, all that it has asked for, and all that went wrong on it."""

    page: Page
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def watch(self) -> "Watched":
        """Listen from now on."""
        self.page.on("request", self._asked)
        self.page.on("pageerror", self._failed)
        self.page.on("console", self._said)
        self.page.on("dialog", self._opened)
        return self

    def leave(self) -> None:
        """Leave what is shown, listen no longer, and let the page be used by another test."""
        self.page.goto("about:blank")
        self.page.unroute_all()
        self.page.remove_listener("request", self._asked)
        self.page.remove_listener("pageerror", self._failed)
        self.page.remove_listener("console", self._said)
        self.page.remove_listener("dialog", self._opened)

    def look(self, width: int, theme: str) -> None:
        """Have the page be of some width, in one of the two themes."""
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.emulate_media(color_scheme="dark" if theme == "dark" else "light")

    def _failed(self, error: Error) -> None:
        self.errors.append(str(error))

    def _opened(self, dialog: Dialog) -> None:
        self.errors.append(f"a script ran: {dialog.message}")
        dialog.dismiss()

    def _asked(self, request: Request) -> None:
        self.requests.append(request.url)

    def _said(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not PROBE.fullmatch(message.location["url"]):
            self.errors.append(f"{message.text} ({message.location['url']})")

    def strangers(self) -> list[str]:
        """Return requests for anything but this machine's own."""
        own = ("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:http://127.0.0.1:")
        return [url for url in self.requests if not url.startswith(own)]


def apart(make: Callable[..., Made], *words: object) -> Made:
    """Return the result of a call in a thread of its own, as the browser's event loop owns this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(make, *words).result()


def in_look(context: BrowserContext, width: int, theme: str) -> Watched:
    """Return a fresh watched page of some width in one of the two themes."""
    found = Watched(context.new_page()).watch()
    found.look(width, theme)
    return found


SHIFTS = """() => {
    window.shifted = 0;
    new PerformanceObserver(seen => {
        for (const shift of seen.getEntries()) if (!shift.hadRecentInput) window.shifted += shift.value;
    }).observe({ type: "layout-shift", buffered: true });
}"""
MOST_SHIFT = 0.1
"""What moves on a page after it was seen: from here on it is said to need improvement."""


def stands_still(page: Page) -> None:
    """Check that nothing on a page has moved further than allowed since it was opened."""
    page.evaluate(SHIFTS)
    page.wait_for_timeout(100)
    assert page.evaluate("window.shifted") < MOST_SHIFT, page.url


STICKS_OUT = """() => {
    const parts = [document.documentElement, document.querySelector("[data-testid=stMain]")];
    return Math.max(...parts.map(part => part ? part.scrollWidth - part.clientWidth : 0));
}"""


def sticks_out(page: Page) -> int:
    """Return how far a page overflows its window, or the part of it that Streamlit scrolls, in pixels."""
    return int(page.evaluate(STICKS_OUT))


def open_at(page: Page, address: str, title: str) -> None:
    """Open the page at an address, and wait until it is drawn."""
    page.goto(address)
    expect(page).to_have_title(f"{title} · Paper Arena", timeout=PATIENCE)
    settled(page)


def settled(page: Page) -> None:
    """Wait until the page's script has come to its end, without an exception."""
    expect(page.get_by_test_id("stApp")).to_have_attribute(
        "data-test-script-state", "notRunning", timeout=PATIENCE
    )
    expect(page.get_by_test_id("stException")).to_have_count(0)


def back(page: Page) -> None:
    """Go back as a reader does, who has looked at the page: one that is still at work would stay."""
    settled(page)
    page.wait_for_timeout(LOOKED_AT)
    settled(page)
    page.go_back()


def follow(page: Page, row: int, leads: str, table: int = 0) -> None:
    """Click the link of a table's row, counted from 0, and wait for its page.

    The table of the page before may still stand there: its links lead elsewhere, and are waited out.
    """
    link = names_of(page, table).nth(row).get_by_role("link")
    expect(link).to_have_attribute("href", re.compile(leads.removeprefix("/")), timeout=PATIENCE)
    link.click()
    expect(page).to_have_url(re.compile(leads), timeout=PATIENCE)


def rows_of(page: Page, place: int = 0) -> list[str]:
    """Return the names of a table's rows in their order."""
    names = names_of(page, place)
    expect(names.first).to_be_attached()
    return names.all_text_contents()


def names_of(page: Page, place: int = 0) -> Locator:
    """Return the cells that name the rows of a table."""
    return page.locator(".table").nth(place).get_by_role("rowheader")


def choose(page: Page, option: str) -> None:
    """Pick from the first list of the page. It closes where the page is drawn anew just then."""
    listed = page.get_by_role("option", name=option)
    for _ in range(20):
        page.get_by_test_id("stSelectbox").first.locator("input").click()
        page.wait_for_timeout(500)
        if listed.is_visible():
            break
    listed.click()
    settled(page)
