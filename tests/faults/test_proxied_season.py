"""What a season behind the proxy is held against: who may have asked a question again, and who may not."""

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from tests.faults.postgresql_proxy import PostgreSqlProxy
from tests.faults.proxied_season import Bench, Broken, Player, Season
from tests.program.forked import Forked, Forks
from tests.provider.server import FaultyProvider

NOBODY = Path("nobody")


@pytest.fixture
def season() -> Iterator[Season]:
    """A season that nobody plays: only what was seen of it is judged."""
    bench = Bench(NOBODY, cast(FaultyProvider, None), cast(Forks, None), lambda _: None)
    proxy = PostgreSqlProxy(NOBODY)
    yield Season(bench, 1, proxy, None, "", began=0.0)
    proxy.loop.close()


def player(name: str, killed_at: float | None = None) -> Player:
    """A process, by what is known of it."""
    return Player(name, Forked(1, NOBODY), killed_at)


def hears(season: Season, name: str, *times: float) -> None:
    """Have a process get answers from the server then."""
    season.proxy.heard[name] += times


def test_a_question_is_asked_again_once_its_process_was_killed(season: Season) -> None:
    season.judge_question([(10.0, player("worker 1.1", killed_at=12.0)), (15.0, player("worker 2.2"))], 1)
    assert (season.bench.lost, season.bench.taken_over) == (1, 0)


@pytest.mark.parametrize("killed_at", [None, 9.0, 16.0])
def test_it_is_not_asked_again_while_its_process_lives(killed_at: float | None, season: Season) -> None:
    """Nor does a kill before it was asked, or after it was asked again, excuse that."""
    hears(season, "worker 1.1", 1.0, 14.0)
    with pytest.raises(Broken, match="a question was asked again: by worker 1"):
        season.judge_question([(10.0, player("worker 1.1", killed_at)), (15.0, player("worker 2.2"))], 1)


def test_one_kill_excuses_one_question_and_no_other(season: Season) -> None:
    killed = player("worker 1.1", killed_at=12.0)
    asked = [(10.0, killed), (15.0, player("worker 2.2")), (18.0, player("worker 3.3"))]
    hears(season, "worker 2.2", 14.0, 17.0)
    with pytest.raises(Broken, match="a question was asked again"):
        season.judge_question(asked, 1)


def test_a_process_that_is_silent_for_a_lease_loses_its_question_and_may_keep_its_answer(
    season: Season,
) -> None:
    asked = [(10.0, player("worker 1.1")), (105.0, player("worker 2.2"))]
    hears(season, "worker 1.1", 1.0, 9.0)
    season.judge_question(asked, 2)
    assert (season.bench.lost, season.bench.taken_over) == (0, 1)
    hears(season, "worker 1.1", 60.0)
    with pytest.raises(Broken, match="a question was asked again"):
        season.judge_question(asked, 1)


@pytest.mark.parametrize("answers", [0, 2])
def test_a_question_has_one_answer_in_the_record(answers: int, season: Season) -> None:
    """One that was kept and bought again has two."""
    killed = player("worker 1.1", killed_at=12.0)
    with pytest.raises(Broken, match=f"a question has {answers} answers in the record"):
        season.judge_question([(10.0, killed), (15.0, player("worker 2.2"))], answers)


def test_a_reservation_stays_only_of_a_process_that_was_killed(season: Season) -> None:
    season.players.append(player("worker 1.1", killed_at=12.0))
    season.judge_reservations([("host/1/x", None)])
    assert season.bench.reserved == 1
    season.players[0].killed_at = None
    with pytest.raises(Broken, match=r"worker 1\.1 was never killed, and has a reservation"):
        season.judge_reservations([("host/1/x", None)])
