"""Parts of pages on a phone, without a server: what is long or wide stays readable there."""

from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import BrowserContext, Page

import dashboard
from arena.scores.rules.reliability.diagram import diagram
from dashboard.board import CALIBRATION
from dashboard.charts import Line, calibration_chart, line_chart
from dashboard.html import HtmlCell, beside, board_of, box, columns_of_table, health_light, html_table
from dashboard.site.shell import css
from dashboard.words import filled
from tests.browser.watching import sticks_out

pytestmark = pytest.mark.browser

LETTERS = (Path(dashboard.__file__).parent / "assets" / "arena-sans.woff2").read_bytes()
FONT = "@font-face { font-family: 'Arena Sans'; src: url(data:font/woff2;base64,%s); font-weight: 400 700 }"
STYLE = FONT % b64encode(LETTERS).decode() + css()
NAMES = [f"anthropic-claude-with-search-and-tools-v{number:02}" for number in range(1, 21)]
"""They differ at their ends alone."""
CUT_ENDS = """() => [...document.querySelectorAll(".cut > :last-child")]
    .filter(end => end.scrollWidth > end.clientWidth || end.getBoundingClientRect().right > innerWidth)
    .filter(end => !end.closest(".chips"))
    .map(end => end.parentElement.textContent)"""
OVERLAPPING = """() => {
    const words = [...document.querySelectorAll("svg .axis")];
    const places = words.flatMap(word => [...word.getClientRects()]);
    const heading = document.createRange();
    heading.selectNodeContents(document.querySelector("h2"));
    places.push(...heading.getClientRects());
    const across = (a, b) => a.left < b.right && b.left < a.right;
    const meet = (a, b) => across(a, b) && a.top < b.bottom && b.top < a.bottom;
    return places.flatMap((a, i) => places.slice(i + 1).filter(b => meet(a, b))).length;
}"""
"""Ticks that lie on each other, or on the heading."""


@pytest.fixture
def narrow(context: BrowserContext) -> Iterator[Page]:
    """Yield a page as wide as a phone."""
    page = context.new_page()
    page.set_viewport_size({"width": 390, "height": 900})
    yield page
    page.close()


def put(page: Page, html: str, look: str = "first") -> None:
    """Show a part of a page."""
    page.set_content(f'<style>{STYLE}</style><div class="place"><div class="{look}">{html}</div></div>')
    page.evaluate("document.fonts.load(\"12px 'Arena Sans'\").then(() => null)")


def test_names_that_differ_at_their_ends_are_told_apart(narrow: Page) -> None:
    rows = [{"agent": HtmlCell(name, name, "made up"), "pnl": 1_234_567.0, "href": "agent"} for name in NAMES]
    put(narrow, board_of({"": rows}, columns_of_table("short board"), "Leaderboard"))
    assert narrow.locator("tbody .cut").count() == len(NAMES)
    assert narrow.evaluate(CUT_ENDS) == []
    assert narrow.locator("tbody th a").evaluate_all("all => all.map(a => a.textContent)") == NAMES
    assert sticks_out(narrow) == 0


@pytest.mark.parametrize("width", [768, 1024, 1440])
def test_a_very_long_name_leaves_room_for_the_mark_of_what_is_cut_after_it(narrow: Page, width: int) -> None:
    """Without that room a browser paints the mark in place of the name."""
    narrow.set_viewport_size({"width": width, "height": 900})
    name = "a-model-of-which-the-name-is-as-long-as-a-config-lets-it-be-2026"
    rank = filled('<span class="rank">%s</span>', "1–2")
    row = {"rank": rank, "agent": HtmlCell(name, name, "some/maker"), "href": "agent"}
    row |= dict.fromkeys(("closer", "better", "pnl", "return_pct", "cost_usd"), 300.0)
    row |= dict.fromkeys(("equity", "calibration"), HtmlCell("82% → 83%"))
    put(narrow, board_of({"": [row]}, columns_of_table("short board"), "Leaderboard"), "wide")
    cell = narrow.locator("tbody th").bounding_box()
    cut = narrow.locator("tbody th .cut").bounding_box()
    assert cell is not None
    assert cut is not None
    assert cut["x"] + cut["width"] < cell["x"] + cell["width"] - 20
    assert narrow.evaluate(CUT_ENDS) == []


def test_chips_of_many_long_names_take_one_line(narrow: Page) -> None:
    lines = [Line(name, [(0.0, 0.0), (9e5, 1.0)], "c1", "+$1.0k") for name in NAMES]
    put(narrow, box("Profit and loss", line_chart(lines, "Profit", "short")))
    place = narrow.locator(".chips").bounding_box()
    assert place is not None
    assert place["height"] < 40


def test_a_long_name_leaves_half_of_a_narrow_window_to_its_line(narrow: Page) -> None:
    narrow.set_viewport_size({"width": 1024, "height": 900})
    line = Line(NAMES[0], [(0.0, 0.0), (9e6, 1.0)], "c1", "+$4.5k")
    charts = beside(box("Profit and loss", line_chart([line], "P/L", "short")), box("Calibration"))
    put(narrow, charts, "wide")
    place = narrow.locator(".plot").bounding_box()
    assert place is not None
    assert place["width"] > 350
    assert not narrow.locator(".plot .name").is_visible()


def test_markets_that_are_held_have_two_lines_on_a_tablet(narrow: Page) -> None:
    narrow.set_viewport_size({"width": 768, "height": 900})
    name = "Does the thing of number 52 come to pass before its week is over?"
    row = {"Market": name, "href": "market", "Side": "YES", "P/L": 57.35}
    row |= dict.fromkeys(("Shares", "Cost ¢", "Price ¢", "Value $", "Cohort"), 300.0)
    put(narrow, board_of({"": [row]}, columns_of_table("open positions"), "Open positions"), "wide")
    place = narrow.locator("tbody th a").bounding_box()
    assert place is not None
    assert 30 <= place["height"] <= 36
    assert sticks_out(narrow) == 0


def test_after_one_round_every_line_is_a_dot_that_can_be_seen(narrow: Page) -> None:
    lines = [Line("ann", [(0.0, 0.0)], "c1", "$0"), Line("random", [(0.0, -9.0)], "rest", "−$9")]
    put(narrow, box("Profit and loss", line_chart(lines, "Profit", "short")))
    widths = "all => all.map(line => getComputedStyle(line).strokeWidth)"
    assert narrow.locator("svg .line").evaluate_all(widths) == ["7px", "7px"]


@pytest.mark.parametrize("days", [2, 5, 13, 40, 150, 700])
def test_ticks_of_time_stand_apart(narrow: Page, days: int) -> None:
    points = [(day * 86_400.0, 1_000.0 * day) for day in range(days)]
    line = Line("oracle", points, "c1", "+$1.0k")
    put(narrow, box("Profit and loss", line_chart([line], "P/L", "short")))
    assert narrow.evaluate(OVERLAPPING) == 0


@pytest.mark.parametrize("look", ["first", "halves"])
def test_a_heading_of_two_lines_leaves_the_highest_tick_free(narrow: Page, look: str) -> None:
    stated = [place / 100 for place in range(100)]
    happened = [place % 3 == 0 for place in range(100)]
    found = diagram(stated, happened, np.random.default_rng(1), draws=50)
    put(narrow, box(CALIBRATION, calibration_chart([("ann", found, "c1")], "Calibration", 136)), look)
    assert narrow.evaluate(OVERLAPPING) == 0


def test_a_long_text_shows_its_first_lines_and_all_of_it_when_opened(narrow: Page) -> None:
    text = "a venue that does not answer " * 40
    html = html_table([{"What": text}], columns_of_table("incidents"), "Incidents")
    put(narrow, html + health_light("trouble", "Trouble.", "Something needs an operator.", [text]))
    folded = narrow.locator(".clamp")
    assert folded.count() == 2
    for part in folded.all():
        assert part.evaluate("part => part.offsetHeight") < 130
        part.locator("summary").click()
        assert part.evaluate("part => part.offsetHeight") > 300
        assert part.text_content() == text.strip()
