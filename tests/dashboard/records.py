"""Records of every sort, as users have them, with their scores worked out: what each page is opened on."""

import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from arena.cli import demo, replay
from arena.config import load
from arena.config.new_folder import template
from arena.rounds.replay import ReplayRequest, arrange_replay, open_recording
from arena.scores.refresh import refresh_cache
from tests.builders import NOW
from tests.bundles import a_bundle, ended, page
from tests.once import made_once
from tests.opened_record import OpenedRecord, new_record
from tests.records.demo import six_rounds
from tests.records.seasons import play
from tests.year.record import make_of, size

BROKEN = "def decide(view, ask):\n    raise ValueError('![x](http://203.0.113.9/x) is <b>no</b> answer')\n"
DAYS = [f"2026-01-{day:02}" for day in range(2, 30)]
DEMO_ROUNDS = 9
"""Decision times of the demo: enough for three cohorts, and for a verdict on markets that have ended."""


def empty(folder: Path) -> Path:
    """Return a record in which nobody has started."""
    new_record(folder / "record.db")
    return folder / "record.db"


def the_demo(folder: Path) -> Path:
    """Return models that were asked over HTTP, with prompts and answers, beside agents that play by rules."""
    demo.play(load(template("demo.yaml"), {}), str(folder / "record.db"), DEMO_ROUNDS)
    return folder / "record.db"


def one_agent(folder: Path) -> Path:
    """Return a record with one agent, which can't be compared with any other."""
    return play(folder, agents=["{kind: constant}"])


def one_round(folder: Path) -> Path:
    """Return a record with bets, and nothing resolved."""
    return play(folder, times=1)


def all_failed(folder: Path) -> Path:
    """Return a record in which every turn failed, with hostile text as the reason."""
    (folder / "mine.py").write_text(BROKEN, encoding="utf-8")
    broken = [f"{{kind: python, name: {name}, function: mine:decide}}" for name in ("ann", "bob")]
    return play(folder, agents=broken, times=3)


def a_replay(folder: Path) -> Path:
    """Return a season over a recording, which is no evidence of skill."""
    pages = [page(market_id, **ended("2026-01-30", number % 2)) for number, market_id in enumerate("abcd")]
    a_bundle(folder / "bundle", pages, [f"v,{market_id},{day},0.4" for market_id in "abcd" for day in DAYS])
    bundle = open_recording(folder / "bundle")
    season = arrange_replay(folder / "bundle", bundle, None, ["market", "constant", "random"], None, None)
    replay.play(season, bundle, ReplayRequest(str(folder / "record.db")))
    return folder / "record.db"


def big(folder: Path) -> Path:
    """Return a year of weekly cohorts, scaled down."""
    make_of(folder / "record.db", size(0.01, agents=2))
    return folder / "record.db"


RECORDS: dict[str, Callable[[Path], Path]] = {
    make.__name__.removeprefix("the_"): make
    for make in (empty, the_demo, one_agent, one_round, all_failed, a_replay, big)
}
"""What makes them, by name."""


def made(name: str, folder: Path) -> Path:
    """Return a record of some sort, with its cache computed."""
    path = RECORDS[name](folder)
    record = OpenedRecord.at(path)
    refresh_cache(record, NOW + timedelta(days=1))
    record.close()
    return path


def shared(name: str, folders: pytest.TempPathFactory) -> Path:
    """Return a record of some sort, made once for all processes of this run, and only to be read."""

    def make(folder: Path) -> None:
        if name == "demo":  # whose first weeks are there
            shutil.copy(six_rounds(folders) / "demo.db", folder / "record.db")
        made(name, folder)

    [record] = made_once(f"record {name}", folders, make).glob("*.db")
    return record
