"""Every cassette of the package replays as it says, and is what others recorded on the day that it names."""

import asyncio
from pathlib import Path

import pytest

from arena.cassettes.cassette import MOST_BYTES, read_cassette
from arena.cassettes.cleaning import Cleaner
from arena.cassettes.model_tapes import reading_fault, replay_model
from arena.cassettes.proofs import shipped_files
from tests.arena.cassettes.recorded import offline, reread
from tests.arena.cassettes.shipping import ALL, Shipped

FILES = shipped_files()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_cassette_of_the_package_is_read_as_it_says(path: Path) -> None:
    cassette = read_cassette(path)
    readings = reread(cassette)
    assert readings == [tape.reading for tape in cassette.venues]
    assert all(reading.prices or reading.ends for reading in readings)
    with offline():
        assert [reading_fault(asyncio.run(replay_model(model))) for model in cassette.models] == []
    assert path.stem.endswith(f"{cassette.taken:%Y-%m-%d}"), "its name says when it was taken"
    assert path.stat().st_size <= MOST_BYTES


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_nothing_is_left_in_it_that_the_rules_strip(path: Path) -> None:
    cassette = read_cassette(path)
    answers = [exchange.answer for tape in cassette.venues for exchange in tape.exchanges]
    cleaner = Cleaner()
    assert cleaner.json(answers) == answers
    assert not +cleaner.counts


@pytest.mark.parametrize("each", ALL, ids=lambda each: each.name)
def test_it_is_made_of_the_records_of_others(each: Shipped, shared_data: Path) -> None:
    [path] = [path for path in FILES if path.name == each.name]
    assert each.made(shared_data).text() == path.read_text("utf-8")
    assert f"from {each.source}, under the MIT License" in read_cassette(path).source


def test_all_that_others_recorded_is_made_here() -> None:
    foreign = [path.name for path in FILES if read_cassette(path).source]
    assert foreign == sorted(each.name for each in ALL)
