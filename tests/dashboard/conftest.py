"""The records that the pages are opened on."""

from pathlib import Path

import pytest

from tests.dashboard.opening import Show, opened
from tests.dashboard.records import shared
from tests.opened_record import new_record
from tests.records.seasons import play, shared_season, worked_out


@pytest.fixture(scope="session")
def season(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a whole season: two cohorts, everything settled, all computed."""
    return shared_season(tmp_path_factory)


@pytest.fixture(scope="session")
def first_round(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return one decision time: bets, and nothing resolved."""
    return shared("one_round", tmp_path_factory)


@pytest.fixture(scope="session")
def no_bets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a season in which the only agent believes the price and bets nothing."""
    return worked_out(play(tmp_path_factory.mktemp("quiet"), agents=["{kind: market, name: quiet}"]))


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a record in which nobody has started."""
    database = tmp_path_factory.mktemp("empty") / "empty.db"
    new_record(database)
    return database


@pytest.fixture(scope="session")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a season whose cache was not computed."""
    return play(tmp_path_factory.mktemp("raw"))


@pytest.fixture
def show(monkeypatch: pytest.MonkeyPatch) -> Show:
    return lambda view, record, **address: opened(view, record, monkeypatch, **address)
