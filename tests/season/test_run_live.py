"""`arena run` on live markets: a venue and a provider that are down for a while, rounds that were missed."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from arena.clock import PretendedClock
from tests.program.rehearsal import SUNDAY, clock_at, content, rehearse, rows
from tests.provider.replies import GOOD, fails, says
from tests.provider.server import FaultyProvider, faulty
from tests.serving import Reply
from tests.venue_server.polymarket import CLOB, GAMMA, PolymarketWire, a_market, rain_and_snow
from tests.venue_server.server import Asked, VenueServer, reply, status

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
WEEK = timedelta(weeks=1)
LATER = "2026-12-31T00:00:00Z"
CONFIG = """\
markets:
  venue: polymarket
  closes_within: 3000d
  min_volume: 0
  polymarket: {{url: "{venue}{gamma}", book_url: "{venue}{clob}", per_second: 1000}}
cohorts: {{first: 2026-01-04, decide: {days}d, rounds: {rounds}, count: 1, catch_up: {catch_up},
  corrected_within: 1d}}
run:
  catalogue: {looks}
  quotes: {looks}
  resolutions: {looks}
  marks: {looks}
  scores: {looks}
  backup: off
agents:
  - kind: market
  - {{name: eve, model: openai/eve, base_url: "{provider}", price: {{input: 1, output: 1}}}}
"""
Down = Callable[[datetime], bool]


@pytest.fixture
def every(thorough: bool) -> timedelta:
    """Return the time between rounds: a week with THOROUGH=1, three days otherwise."""
    return WEEK if thorough else 3 * DAY


@pytest.fixture
def provider() -> Iterator[FaultyProvider]:
    with faulty() as server:
        server.script("eve", says(GOOD))
        yield server


def an_arena(
    folder: Path,
    venue: VenueServer,
    provider: FaultyProvider,
    every: timedelta = WEEK,
    rounds: int = 2,
    catch_up: str = "latest",
    looks: str = "",
) -> PolymarketWire:
    """Return a folder at a venue with two markets, both ended at one such time after the last round."""
    shape = {"venue": venue.url, "gamma": GAMMA, "clob": CLOB, "provider": provider.url}
    days = every // DAY
    over_at = SUNDAY + rounds * every
    text = CONFIG.format(rounds=rounds, catch_up=catch_up, looks=looks or f"{days}d", days=days, **shape)
    (folder / "config.yaml").write_text(text, "utf-8")
    clock_at(folder)
    wire = rain_and_snow(endDate=LATER)
    wire.serve(venue)

    def by_the_clock(asked: Asked) -> None:
        if time_of(folder) >= over_at and not wire.ends:
            wire.end_all()

    venue.before.append(by_the_clock)
    return wire


def time_of(folder: Path) -> datetime:
    return PretendedClock.read(folder / "clock").now()


def between(begin: datetime, length: timedelta) -> Down:
    return lambda at: begin <= at < begin + length


def statuses(folder: Path) -> list[tuple[int, str]]:
    query = (
        "SELECT number, status FROM turn JOIN round ON round.id = turn.round_id "
        "JOIN entrant ON entrant.id = turn.entrant_id WHERE name = 'eve' ORDER BY number"
    )
    return [(number, status) for number, status in rows(folder, query)]


def looked(folder: Path) -> list[tuple[int, datetime]]:
    """Return when the prices of each round were read, to the minute."""
    query = "SELECT number, taken_at FROM round JOIN snapshot ON snapshot.id = snapshot_id ORDER BY number"
    return [(number, datetime.fromisoformat(f"{at[:16]}Z")) for number, at in rows(folder, query)]


def test_a_live_season_is_played_settled_and_ended(
    tmp_path: Path, venue: VenueServer, provider: FaultyProvider, every: timedelta
) -> None:
    an_arena(tmp_path, venue, provider, every, looks="1d")
    board, _ = rehearse(tmp_path)
    found = content(tmp_path)
    assert (board.failed, statuses(tmp_path)) == (0, [(1, "played"), (2, "played")])
    assert found["differences"] == []
    assert found["settlements"] > 0
    assert found["ended"] == [(1, SUNDAY + 2 * every)]
    length = 2 * every // DAY
    assert rows(tmp_path, "SELECT count(*) FROM sync") == [(length,)], "none once all cohorts have ended"
    days = [day for (day,) in rows(tmp_path, "SELECT DISTINCT at FROM mark ORDER BY at")]
    assert len(days) == length + 1
    calls = [made[:16] for (made,) in rows(tmp_path, "SELECT made_at FROM call ORDER BY id")]
    assert calls == [f"{at:%Y-%m-%dT%H:%M}" for at in (SUNDAY, SUNDAY + every)]


def test_a_venue_that_is_down_delays_its_round_and_loses_nothing(
    tmp_path: Path, venue: VenueServer, provider: FaultyProvider, every: timedelta
) -> None:
    an_arena(tmp_path, venue, provider, every)
    second = SUNDAY + every
    down = between(second, 2 * HOUR)
    venue.before.append(lambda asked: status(403) if down(time_of(tmp_path)) else None)
    board, events = rehearse(tmp_path)
    assert looked(tmp_path) == [(1, SUNDAY), (2, second + 123 * MINUTE)]
    pauses = [event.at - second for event in events if "cohort 1" in event.words and event.kind == "failed"]
    assert [int(pause.total_seconds()) // 60 for pause in pauses] == [0, 1, 3, 7, 15, 31, 63]
    assert board.failed > 7, "other jobs could not reach it either"
    assert [one for one in events if one.kind == "missed"] == []
    assert statuses(tmp_path) == [(1, "played"), (2, "played")]
    found = content(tmp_path)
    assert (found["differences"], found["ended"]) == ([], [(1, SUNDAY + 2 * every)])


def test_an_empty_catalogue_delays_its_round_by_six_hours_and_then_counts(
    tmp_path: Path, venue: VenueServer, provider: FaultyProvider, every: timedelta
) -> None:
    wire = an_arena(tmp_path, venue, provider, every, rounds=3)
    wire.markets += [a_market(str(number), endDate=LATER) for number in range(1003, 1028)]
    second = SUNDAY + every
    empty = between(second, 9 * HOUR)

    def answer(asked: Asked) -> Reply | None:
        is_list = asked.path == f"{GAMMA}/markets/keyset" and "id" not in asked.query
        return reply({"markets": []}) if is_list and empty(time_of(tmp_path)) else None

    venue.before.append(answer)
    _, events = rehearse(tmp_path)
    failed = [event.words for event in events if event.kind == "failed" and "cohort 1" in event.words]
    assert all("it holds 0 of 27 markets known to be open" in words for words in failed)
    (first_look, second_look, third_look) = looked(tmp_path)
    assert (first_look, third_look) == ((1, SUNDAY), (3, SUNDAY + 2 * every))
    assert second + 6 * HOUR <= second_look[1] < second + 8 * HOUR
    played = [event.words for event in events if "still sends an incomplete catalogue" in event.words]
    assert len(played) == 1
    gone = "SELECT count(*) FROM sync WHERE markets = 0"
    assert rows(tmp_path, gone) == [(1,)]
    incidents = (
        "SELECT kind, ended_at IS NULL FROM incident WHERE kind IN ('catalogue_incomplete', 'venue_down')"
    )
    assert rows(tmp_path, incidents) == [("catalogue_incomplete", 0)]
    assert content(tmp_path)["differences"] == []


def test_a_turn_that_failed_is_tried_again_for_six_hours_and_then_is_over(
    tmp_path: Path, venue: VenueServer, provider: FaultyProvider, every: timedelta
) -> None:
    an_arena(tmp_path, venue, provider, every)
    times = between(SUNDAY, 3 * HOUR), between(SUNDAY + every, 7 * HOUR)
    provider.script("eve", lambda _: fails(403) if any(x(time_of(tmp_path)) for x in times) else says(GOOD))
    rehearse(tmp_path)
    assert statuses(tmp_path) == [(1, "played"), (2, "failed")]
    tries = [at for (at,) in rows(tmp_path, "SELECT made_at FROM call ORDER BY made_at")]
    hours = [at[:13] for at in tries]
    day = f"{SUNDAY + every:%Y-%m-%d}"
    assert hours.count(f"{day}T00") > hours.count(f"{day}T04") == 1
    assert max(tries) <= f"{day}T06:00:01"
    assert content(tmp_path)["differences"] == []


@pytest.mark.parametrize(
    ("policy", "played"),
    [
        ("latest", [1, 3]),
        ("all", [1, 2, 3]),
        pytest.param("none", [1], marks=pytest.mark.thorough),
    ],
)
def test_rounds_that_were_missed_are_caught_up_as_the_config_says(
    tmp_path: Path,
    venue: VenueServer,
    provider: FaultyProvider,
    every: timedelta,
    policy: str,
    played: list[int],
) -> None:
    an_arena(tmp_path, venue, provider, every, rounds=3, catch_up=policy)
    rehearse(tmp_path, once=True)
    late = SUNDAY + 2 * every + 29 * HOUR  # nothing ran since
    clock_at(tmp_path, late)
    board, events = rehearse(tmp_path)
    times = [(number, SUNDAY if number == 1 else late) for number in played]
    assert (looked(tmp_path), board.failed) == (times, 0)
    missed = [event.data["round"] for event in events if event.kind == "missed"]
    assert missed == [number for number in (2, 3) if number not in played]
    found = content(tmp_path)
    assert (found["differences"], found["ended"]) == ([], [(1, SUNDAY + 3 * every)])
