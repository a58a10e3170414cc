"""Every page on records of every sort: nothing breaks, whatever its address asks for."""

from pathlib import Path

import pytest

import dashboard.views
from markets.registry import names
from tests.dashboard.addresses import VIEWS, addresses, main_ones
from tests.dashboard.opening import Show, markup, tables
from tests.dashboard.records import RECORDS, shared


def test_no_page_is_left_out() -> None:
    assert set(names(Path(dashboard.views.__path__[0]))) == set(VIEWS)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.thorough if name == "big" else ()) for name in RECORDS]
)
def test_every_page_opens(
    name: str, thorough: bool, show: Show, tmp_path_factory: pytest.TempPathFactory
) -> None:
    record = shared(name, tmp_path_factory)
    for view, shown in (addresses if thorough or name == "one_agent" else main_ones)(record):
        page = show(view, record, **shown)
        assert page.title[0].value
        assert page.info or tables(page) or page.metric or len(markup(page)) > 1, (view, shown)
