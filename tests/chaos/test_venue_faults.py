"""The whole arena at a venue that fails in 26 ways: three weeks, every tenth answer a wrong one.

The venue is Polymarket's real adapter before a server on this machine. At the end every market that is over
is settled, at what it paid; no round was empty; and the record verifies.
"""

import gzip
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pytest

from arena.clock import PretendedClock
from markets.millionths import ONE
from markets.venues.wire.http import MOST_BYTES, HttpClient
from tests.program.rehearsal import SUNDAY, clock_at, content, rehearse, rows
from tests.serving import Reply
from tests.venue_server.polymarket import (
    CLOB,
    GAMMA,
    PolymarketWire,
    Raw,
    a_book,
    a_book_end,
    a_market,
    an_end,
)
from tests.venue_server.server import HTML, RESET, Asked, VenueServer, reply, status, venue_server

DAY = timedelta(days=1)
ROUNDS = 3
MARKETS = 240
"""More than fit on one page of the catalogue."""
OVER = 20
"""Days within which they end, one after another."""
SHARE = 0.1
LOOK = timedelta(hours=24)
"""Twice the time between two looks for ends."""
PATIENCE = 0.3
"""Seconds that the client waits for an answer here."""

CONFIG = """\
markets:
  venue: polymarket
  closes_within: 3000d
  min_volume: 0
  show: 60
  polymarket: {{url: "{url}{gamma}", book_url: "{url}{clob}", per_second: 1000}}
cohorts: {{first: 2026-01-04, decide: 7d, rounds: {rounds}, count: 1, corrected_within: 1d}}
run: {{catalogue: 12h, quotes: 12h, resolutions: 12h, marks: 1d, scores: 1w, backup: off}}
agents:
  - kind: market
  - {{kind: constant, name: half}}
"""
Page = dict[str, Any]


def whole(change: Callable[[list[Raw]], object]) -> Callable[[Page], Reply | None]:
    """Return a fault that changes the records of a page of markets; none where there are too few."""

    def fault(page: Page) -> Reply | None:
        records = [dict(raw) for raw in page["markets"]]
        if len(records) < 2:
            return None
        change(records)
        return reply(page | {"markets": records})

    return fault


def of_first(**changes: Any) -> Callable[[Page], Reply | None]:
    """Return a fault that changes some fields of the first record of a page."""
    return whole(lambda records: records[0].update(changes))


def without_end(page: Page) -> Reply | None:
    """Return half a page that says it is the last; none where that is so anyway."""
    if "next_cursor" not in page:
        return None
    return reply({"markets": page["markets"][: len(page["markets"]) // 2]})


def going_on(cursor: str) -> Callable[[Page], Reply | None]:
    """Return a fault that always says there is another page."""
    return lambda page: reply(page | {"next_cursor": cursor}) if page["markets"] else None


NEW_IDS = count(999_001)
"""Names of no market. Each comes once: one that was listed and then ended would rightly be settled."""

ANY_ANSWER: dict[str, Reply] = {
    "no answer in time": Reply(b"", how="hang"),
    "reset": RESET,
    "half a body": replace(reply([1] * 1_000), how="cut"),
    "slow drip": replace(reply([1] * 1_000), how="drip"),
    "gzip bomb": Reply(gzip.compress(bytes(MOST_BYTES + ONE), 9), headers={"Content-Encoding": "gzip"}),
    "bytes of another type": Reply(bytes(range(256)), headers={"Content-Type": "application/octet-stream"}),
    "429 with a wait": status(429, retry_after="3"),
    "429 without a wait": status(429),
    "500": status(500),
    "502 in HTML": replace(HTML, status=502),
    "403": status(403),
    "redirect": status(302, location="http://127.0.0.1:9/elsewhere"),
}
"""What may come instead of any answer."""
LISTED: dict[str, Callable[[Page], Reply | None]] = {
    "truncated page": without_end,
    "404 of known markets": lambda page: status(404) if page["markets"] else None,
    "empty list": lambda page: reply({"markets": []}) if page["markets"] else None,
    "repeated page": whole(lambda records: records.extend(records[:-1])),
    "cursor that loops": going_on("after:0"),
    "missing field": whole(lambda records: records[0].pop("outcomes")),
    "null field": of_first(outcomePrices=None, clobTokenIds=None),
    "NaN": of_first(volume=float("nan"), bestBid=float("nan")),
    "text for a number": of_first(bestBid="cheap", orderPriceMinTickSize="fine"),
    "price out of range": of_first(bestBid=1.7, outcomePrices='["1.7", "-0.7"]'),
    "stale time": of_first(endDate="2019-01-01T00:00:00Z", closedTime="2019-01-01 00:00:00+00"),
    "time to come": of_first(startDate="2093-01-01T00:00:00Z", closedTime="2093-01-01 00:00:00+00"),
    "wrong id": whole(lambda records: records[0].update(id=str(next(NEW_IDS)))),
    "market twice": whole(lambda records: records.append(records[0] | {"bestBid": 0.2})),
}
"""What a page of markets may be made of; None where the page has nothing of the kind."""


@dataclass
class FaultyVenue:
    """Gives every tenth answer a fault, of the kinds that fit the one that came least often so far."""

    server: VenueServer
    chance: Random
    hits: Counter[str] = field(default_factory=Counter)

    def fault(self, asked: Asked) -> Reply | None:
        """Return the fault that a request meets; None for nine of ten."""
        if self.chance.random() >= SHARE:
            return None

        # What fits few requests goes first among those that came as often.
        kinds = sorted([*LISTED, *ANY_ANSWER], key=self.hits.__getitem__)
        is_list = asked.path == f"{GAMMA}/markets/keyset"
        for kind in kinds:
            made = ANY_ANSWER.get(kind)
            if made is None and is_list:
                made = LISTED[kind](json.loads(self.server.answer(asked).body))
            if made is not None:
                self.hits[kind] += 1
                return made
        return None


def ends_at(number: int) -> datetime:
    """Return when a market ends."""
    return SUNDAY + timedelta(hours=7) + OVER * DAY * number / MARKETS


def paid(number: int) -> int:
    """Return what a share of YES pays, in dollars."""
    return number % 2


def keep_time(wire: PolymarketWire, now: datetime) -> None:
    """Have every market ended that is over by now, at both services."""
    for number in range(MARKETS):
        end = ends_at(number)
        raw = wire.markets[number]
        if end > now or raw["closed"]:
            continue
        name = raw["id"]
        yes = paid(number)
        wire.markets[number] = an_end(
            name, str(yes), str(1 - yes), closedTime=f"{end:%Y-%m-%d %H:%M:%S+00}", endDate=raw["endDate"]
        )
        won = "Yes" if yes else "No"
        wire.ends.append(a_book_end(name, won))


@pytest.fixture
def venue() -> Iterator[VenueServer]:
    """Yield a venue over HTTP, which gives the answers that a test sets."""
    with venue_server() as server:
        yield server


def test_three_weeks_at_a_venue_with_26_kinds_of_fault(
    tmp_path: Path, venue: VenueServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(ANY_ANSWER) + len(LISTED) == 26
    defaults = HttpClient.__init__.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "timeout", PATIENCE)

    shape = {"url": venue.url, "gamma": GAMMA, "clob": CLOB, "rounds": ROUNDS}
    (tmp_path / "config.yaml").write_text(CONFIG.format(**shape), "utf-8")
    clock_at(tmp_path)
    names = [str(1001 + number) for number in range(MARKETS)]
    wire = PolymarketWire(
        [a_market(name, endDate="2026-12-31T00:00:00Z") for name in names],
        [a_book(name, bids=[("0.40", "900")], asks=[("0.42", "900")]) for name in names],
    )
    wire.serve(venue)
    faulty = FaultyVenue(venue, Random("a venue with faults"))

    def before(asked: Asked) -> Reply | None:
        with venue.lock:
            keep_time(wire, PretendedClock.read(tmp_path / "clock").now())
        return faulty.fault(asked)

    venue.before.append(before)
    rehearse(tmp_path)

    assert set(faulty.hits) == {*ANY_ANSWER, *LISTED}, "every kind was met"
    found = content(tmp_path)
    assert found["differences"] == []
    ((_, ended),) = found["ended"]
    assert ended >= SUNDAY + ROUNDS * timedelta(weeks=1) - 4 * DAY

    query = (
        "SELECT number, count(*) FROM round "
        "JOIN snapshot_item AS item ON item.snapshot_id = round.snapshot_id "
        "WHERE shown = 1 GROUP BY number ORDER BY number"
    )
    assert [number for number, _ in rows(tmp_path, query)] == list(range(1, ROUNDS + 1)), "a round was empty"
    turns = "SELECT status, count(*) FROM turn GROUP BY status"
    assert rows(tmp_path, turns) == [("played", ROUNDS * 2)]

    # The season is over when nothing is held any more; what was over by then, and seen, is settled.
    seen = {name for (name,) in rows(tmp_path, "SELECT DISTINCT market_id FROM snapshot_item")}
    over = {}
    for number, name in enumerate(names):
        market = f"polymarket:{name}"
        if market in seen and ends_at(number) + LOOK <= ended:
            over[market] = paid(number) * ONE
    settled = dict(rows(tmp_path, "SELECT market_id, payout FROM resolution ORDER BY version"))
    assert len(over) > MARKETS // 3
    assert over.items() <= settled.items()
    truth = {f"polymarket:{name}": paid(number) * ONE for number, name in enumerate(names)}
    assert settled.items() <= truth.items()
