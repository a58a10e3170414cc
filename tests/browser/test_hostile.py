"""Fifty hostile texts in every place that words from outside have: all are read, none does anything."""

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from dashboard.words import JOINER
from markets.registry import load
from tests.browser.watching import LOOKED_AT, PATIENCE, Watched, apart, open_at, settled
from tests.dashboard.addresses import addresses, path_of
from tests.dashboard.hostile import TOGETHER, hostile
from tests.dashboard.payloads import ELSEWHERE, HOSTILE_TEXTS
from tests.dashboard.serving import Served
from tests.records.seasons import HOSTILE
from tests.rows import rows_in

pytestmark = pytest.mark.browser

Spoiled = tuple[Path, dict[str, tuple[str, str]]]

TAGS = ("script", "iframe", "object", "embed", "video", "base", "hr", "blockquote", "del")
OURS = "/_stcore/bidi-components/dashboard.html/"
"""Where the style of our own tables is served."""
MADE = (
    *(f"{tag}:not([data-testid])" for tag in TAGS),
    *(
        f"link[rel=stylesheet]:not([href*='{OURS}'])",
        "meta[http-equiv]",
        ".katex",
        "input[type=checkbox]",
    ),
    *(f"a[href*='//{ELSEWHERE}']", f"img[src*='//{ELSEWHERE}']", f"image[href*='//{ELSEWHERE}']"),
    *(f"a[href^='{scheme}' i]" for scheme in ("javascript", "data", "vbscript")),
    *("form[action]", "[onerror]", "[onload]", "[ontoggle]"),
)
"""What hostile texts would make on a page, and no page of ours has."""
IN_A_TITLE = "a, img, svg, code, em, strong, del, b, h1, span[style*=color], [data-testid=stIconMaterial]"
WORST = (1, 44)
"""Texts in a question whose markets are opened in any case; those of the others with THOROUGH=1."""
BARE = ("arena", "leaderboard", "markets")
"""Pages with words from outside that are opened in any case."""
DETAILS = [
    ("turn", {"cohort": "1", "round": "1", "agent": "constant", "call": "final-1-1"}),
    ("turn", {"cohort": "1", "round": "1", "agent": "constant", "call": "final-1-2"}),
    ("turn", {"cohort": "1", "round": "2", "agent": HOSTILE}),
    ("agent", {"agent": HOSTILE, "part": "forecasts"}),
    ("agent", {"agent": HOSTILE, "part": "setup"}),
]


def flat(text: str, most: int) -> str:
    """Return text as a line of it is read, without invisible characters, and cut."""
    line = " ".join("".join(c for c in text if c.isprintable() or c.isspace()).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


@pytest.fixture(scope="module")
def spoiled(tmp_path_factory: pytest.TempPathFactory) -> Spoiled:
    """Return such a record, with the question and category of its markets."""
    found: Path = apart(hostile, tmp_path_factory)
    known = rows_in(found, "SELECT DISTINCT market_id, question, category FROM market_version ORDER BY 1")
    return found, {market: (question, category) for market, question, category in known}


@pytest.fixture
def dashboard(spoiled: Spoiled, serve_record: Callable[[Path], Served]) -> Served:
    return serve_record(spoiled[0])


def unfold(page: Page) -> None:
    """Open all folds, first Streamlit's own, then those of the tables in them.

    While a part's content arrives, Streamlit hides the other folds for a moment and may lose a click on them:
    a fold counts as open once it is still so after a reader's look.
    """
    for closed in (
        page.locator("[data-testid=stExpander] > details:not([open]) > summary"),
        page.locator("[data-testid=stExpander] details:not([open]) > summary:visible"),
    ):
        while closed.count():
            closed.first.click()
            page.wait_for_timeout(LOOKED_AT)
            settled(page)


def check_harmless(page: Page) -> None:
    """Check that no text became an element of the page, and that the page is still ours."""
    body = page.get_by_test_id("stMain")
    all_made = body.locator(", ".join(MADE)).count()
    assert all_made == 0, {made: body.locator(made).count() for made in MADE}
    assert ELSEWHERE not in (page.title() + page.url.partition("?")[0])
    assert page.title().endswith("· Paper Arena")


def test_together_the_markets_have_all_fifty_texts(spoiled: Spoiled) -> None:
    assert {text for pair in spoiled[1].values() for text in pair} == set(HOSTILE_TEXTS)
    assert len(set(HOSTILE_TEXTS)) == 50


def test_the_page_of_a_market_shows_them_as_they_are(
    spoiled: Spoiled, dashboard: Served, watched: Watched, thorough: bool
) -> None:
    page = watched.page
    worst = {HOSTILE_TEXTS[place] for place in WORST}
    for market, (question, category) in spoiled[1].items():
        if not thorough and question not in worst:
            continue
        open_at(page, f"{dashboard.address}/market?{urlencode({'market': market})}", "Market")
        heading = page.get_by_role("heading", level=1).first
        assert (heading.text_content() or "").replace(JOINER, "") == flat(question, 1_000)
        assert heading.locator(IN_A_TITLE).count() == 0
        expect(page.get_by_test_id("stCode").last).to_be_attached(timeout=PATIENCE)
        unfold(page)
        assert flat(category, 300) in (page.locator("section.box").first.text_content() or "")
        expect(page.get_by_test_id("stCode").last).to_be_visible()
        check_harmless(page)


def test_every_other_page_does_nothing_with_them(
    spoiled: Spoiled, dashboard: Served, watched: Watched, thorough: bool
) -> None:
    page = watched.page
    every = [one for one in addresses(spoiled[0]) if thorough or (one[0] in BARE and not one[1])]
    for view, shown in [*every, *(DETAILS if thorough else DETAILS[:3])]:
        open_at(page, f"{dashboard.address}/{path_of((view, shown))}", load("dashboard.views", view).TITLE)
        unfold(page)
        check_harmless(page)
        if (view, shown) in DETAILS[:2]:
            check_remarks(page, (view, shown) == DETAILS[0])


def check_remarks(page: Page, was_refused: bool) -> None:
    remarks = [text.replace(JOINER, "") for text in page.locator(".remark").all_text_contents()]
    assert f"Note: {flat(TOGETHER, 5_000)}" in remarks
    if was_refused:
        assert f"rate_limit: {flat(TOGETHER, 5_000)}" in remarks
        return
    answer = page.get_by_test_id("stExpander").filter(has_text="Answer").get_by_test_id("stCode").first
    shown = re.sub(r"\s+", " ", answer.text_content() or "")
    assert re.sub(r"\s+", " ", TOGETHER)[:300] in shown


def test_what_a_venue_sent_in_vain_is_read_by_choosing_it(dashboard: Served, watched: Watched) -> None:
    page = watched.page
    open_at(page, f"{dashboard.address}/operations?aside=market", "Operations")
    check_harmless(page)
    page.locator(".table").last.get_by_role("rowheader").get_by_role("link").first.click()
    sent = page.get_by_test_id("stCode").last
    expect(sent).to_be_visible(timeout=PATIENCE)
    settled(page)
    known = {" ".join(text.replace(JOINER, "").split()) for text in HOSTILE_TEXTS}
    assert " ".join((sent.text_content() or "").replace(JOINER, "").split()) in known
    check_harmless(page)
