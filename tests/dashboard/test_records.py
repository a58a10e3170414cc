"""Every page on records of every sort: nothing breaks, and nothing foreign gets through."""

from pathlib import Path

import pytest

import dashboard.views
from markets.registry import load, names
from tests.dashboard.opening import opened
from tests.dashboard.records import RECORDS, made

VIEWS = names(Path(dashboard.views.__path__[0]))


@pytest.mark.parametrize("name", RECORDS)
def test_every_page_opens(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = made(name, tmp_path)
    for view in VIEWS:
        page = opened(view, record, monkeypatch)
        assert page.title[0].value == load("dashboard.views", view).TITLE
        assert page.info or page.dataframe or page.metric or page.markdown, view
