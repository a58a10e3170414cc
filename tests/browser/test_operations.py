"""The page of operations in a real browser: what a venue sent in vain is read by choosing it, as text."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from arena.record.schema.database import connect
from arena.record.write.quarantine import quarantine_records
from markets.venue import QuarantinedRecord
from tests.browser.watching import PATIENCE, Watched, open_at, settled
from tests.builders import NOW
from tests.dashboard.serving import serving
from tests.records.seasons import play

pytestmark = pytest.mark.browser

SENT = '<img src="http://203.0.113.9/x"><script>document.title = "mine"</script> ![x](http://203.0.113.9/y)'


@pytest.fixture(scope="module")
def troubled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A record with something in it that a venue sent in vain."""
    found = play(tmp_path_factory.mktemp("troubled"), times=1)
    engine = connect(found)
    with engine.begin() as connection:
        quarantine_records(
            connection, [QuarantinedRecord("polymarket", "m1", "market", "bad_price", "no price", SENT)], NOW
        )
    engine.dispose()
    return found


def test_what_was_set_aside_is_shown_as_it_was_sent_and_does_nothing(
    troubled: Path, watched: Watched
) -> None:
    with serving(troubled) as dashboard:
        page = watched.page
        open_at(page, f"{dashboard.address}/operations?aside=market", "Operations")
        page.locator(".table").last.get_by_role("rowheader").get_by_role("link").click()
        expect(page.get_by_test_id("stCode").get_by_text(SENT)).to_be_visible(timeout=PATIENCE)
        settled(page)
        assert page.title() == "Operations · Paper Arena"
        assert page.locator("a[href*='203.0.113.9'], img[src*='203.0.113.9']").count() == 0
        page.wait_for_load_state("networkidle")
        page.goto("about:blank")
