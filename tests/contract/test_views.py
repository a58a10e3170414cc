"""Every page of the dashboard, by being in the folder: it says what it is, and opens on any record."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import dashboard.views
from dashboard.pages import page as said_by
from dashboard.pages import pages
from markets.registry import load, names
from tests.dashboard.opening import know_table, markup, opened, tables
from tests.opened_record import new_record
from tests.records.seasons import play

VIEWS = names(Path(dashboard.views.__path__[0]))
APP = Path(dashboard.views.__path__[0]).parent / "app.py"


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path | None]:
    """Return a record in each of its states; tests/dashboard/test_records.py has those played otherwise."""
    folder = tmp_path_factory.mktemp("records")
    new_record(folder / "empty.db")
    missing, empty = (folder / f"{name}.db" for name in ("missing", "empty"))
    return {"none": None, "missing": missing, "empty": empty, "whole": play(folder)}


def test_the_folder_holds_the_first_pages() -> None:
    assert {"leaderboard", "cohort"} <= set(VIEWS)


@pytest.mark.parametrize("name", VIEWS)
def test_a_page_says_what_it_is(name: str) -> None:
    said = said_by(name)
    page = load("dashboard.views", name)
    assert said.title
    assert isinstance(said.order, int | None)
    assert isinstance(said.needs_a_cohort, bool)
    assert said.title == page.TITLE
    assert (said.order, said.needs_a_cohort) == (page.ORDER, page.NEEDS_A_COHORT)
    assert (page.__doc__ or "").strip().endswith(".")


def test_no_two_pages_share_a_place_or_a_title() -> None:
    found = pages().values()
    placed = [page.order for page in found if page.order is not None]
    assert len({page.title for page in found}) == len(VIEWS)
    assert placed == sorted(set(placed)) == [page.order for page in found][: len(placed)]


@pytest.mark.parametrize("state", ["none", "missing", "empty", "whole"])
@pytest.mark.parametrize("name", VIEWS)
def test_a_page_opens_on_a_record_in_any_state(
    name: str, state: str, records: dict[str, Path | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = opened(name, records[state], monkeypatch)
    view = load("dashboard.views", name)
    assert page.title[0].value == view.TITLE or getattr(view, "HEADED", False)
    assert not tables(page) or state == "whole"
    assert tables(page) or page.info or len(markup(page)) > 1  # the bar is always there


def test_the_app_opens_on_its_first_page(
    records: dict[str, Path | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_DATABASE", str(records["whole"]))
    know_table(monkeypatch)
    page = AppTest.from_file(str(APP), default_timeout=20).run()
    assert not page.exception
    assert page.title[0].value == "Scores are being computed."
