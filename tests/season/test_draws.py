"""Live rounds that prove their draw: the catalogue is kept whole, and the frozen seed draws it again."""

from datetime import timedelta
from pathlib import Path

import pytest

from arena.verify.differences import Differences
from arena.verify.draws import EARLIER, PRUNED, UNLISTED, check_draws
from markets.venues.wire.paging import RESUMED_WITHIN
from tests.opened_record import OpenedRecord
from tests.program.rehearsal import SUNDAY, clock_at, content, rehearse, rows
from tests.program.running import arena, arena_json
from tests.season.test_run_live import time_of
from tests.venue_server.polymarket import CLOB, GAMMA, PolymarketWire, a_book, a_market
from tests.venue_server.server import Asked, VenueServer

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
COUNT, SHOWN = 250, 8
CONFIG = """\
markets:
  venue: polymarket
  show: {shown}
  closes_within: 3000d
  min_volume: 1000
  polymarket: {{url: "{venue}{gamma}", book_url: "{venue}{clob}", per_second: 1000}}
cohorts: {{first: 2026-01-04, decide: 1d, rounds: 3, count: 1, corrected_within: 1d}}
run: {{catalogue: 12h, quotes: off, resolutions: 1d, marks: 1d, scores: off, backup: off}}
agents: [{{kind: market}}]
"""


@pytest.fixture
def wire(tmp_path: Path, venue: VenueServer) -> PolymarketWire:
    """Serve a venue of 250 markets, fifty too small, whose prices move by the day, to a folder."""
    places = {"venue": venue.url, "gamma": GAMMA, "clob": CLOB}
    (tmp_path / "config.yaml").write_text(CONFIG.format(shown=SHOWN, **places), "utf-8")
    clock_at(tmp_path)
    names = [str(1001 + n) for n in range(COUNT)]
    wire = PolymarketWire([], [a_book(name, [("0.2", "900")], [("0.8", "900")]) for name in names])
    wire.serve(venue)

    def by_the_clock(_asked: Asked) -> None:
        day = (time_of(tmp_path) - SUNDAY) // DAY
        prices = [(20 + (7 * n + 3 * day) % 50) / 100 for n in range(COUNT)]
        wire.markets = [
            a_market(
                name,
                endDate="2026-12-31T00:00:00Z",
                volume=str(900 if n % 5 == 0 else 1100 + n),
                bestBid=round(price - 0.01, 2),
                bestAsk=round(price + 0.01, 2),
            )
            for n, (name, price) in enumerate(zip(names, prices, strict=True))
        ]

    venue.before.append(by_the_clock)
    return wire


def draws(folder: Path) -> tuple[int, Differences]:
    """Return how many draws of a folder's record are reproduced, and what differs."""
    record = OpenedRecord.at(folder / "arena.db")
    found = Differences(None)
    try:
        return record.read(check_draws, found), found
    finally:
        record.close()


def test_every_draw_of_a_live_season_is_made_again_and_a_picked_market_is_seen(
    tmp_path: Path, wire: PolymarketWire
) -> None:
    rehearse(tmp_path)
    assert content(tmp_path)["differences"] == []
    same, found = draws(tmp_path)
    assert (same, found.count, dict(found.unproved)) == (3, 0, {})
    # three rounds, and twice at noon: where both are due, one reading is enough
    assert rows(tmp_path, "SELECT count(*), min(markets), max(markets) FROM sync") == [(5, 200, 200)]
    assert arena_json(tmp_path, "admin", "verify", "--draws")["draws"] == 3
    assert (
        "the same markets were drawn again in 3 live rounds."
        in arena(tmp_path, "admin", "verify", "--draws").stdout
    )

    record = OpenedRecord.at(tmp_path / "arena.db")
    with record.engine.begin() as connection:
        for name in ("snapshot_no_update", "snapshot_item_no_update"):
            connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS {name}")
        connection.exec_driver_sql(
            """UPDATE snapshot_item SET market_id = (SELECT min(id) FROM market WHERE id NOT IN
            (SELECT market_id FROM snapshot_item WHERE snapshot_id = 1))
            WHERE snapshot_id = 1 AND position = 0"""
        )
        connection.exec_driver_sql("UPDATE snapshot SET catalogue = '' WHERE id = 2")
        connection.exec_driver_sql("UPDATE snapshot SET catalogue = 'none' WHERE id = 3")
    record.close()
    same, found = draws(tmp_path)
    assert (same, dict(found.unproved)) == (0, {EARLIER: 1, UNLISTED: 1})
    assert [(each.key, each.field) for each in found.listed] == [
        ("cohort 1, round 1", "shown"),
        ("cohort 1, round 3", "catalogue"),
    ]


def test_of_prices_that_were_let_go_no_draw_is_made_again(tmp_path: Path, wire: PolymarketWire) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(
        config.read_text("utf-8").replace("backup: off", "backup: off, keep_quotes: 1d"),
        "utf-8",
    )
    rehearse(tmp_path)
    same, found = draws(tmp_path)
    assert same + found.unproved[PRUNED] == 3
    assert found.unproved[PRUNED] > 0
    assert found.count == 0


def test_no_round_is_drawn_from_a_part_and_nothing_is_called_gone(
    tmp_path: Path, wire: PolymarketWire, venue: VenueServer
) -> None:
    """Page one comes again for ever, for two hours: the round waits, and is drawn from all."""

    def by_the_clock(_asked: Asked) -> None:
        wire.stuck = SUNDAY + DAY <= time_of(tmp_path) < SUNDAY + DAY + 2 * HOUR

    venue.before.append(by_the_clock)
    _, events = rehearse(tmp_path)
    looked = "SELECT number, substr(taken_at, 1, 13) FROM round JOIN snapshot ON snapshot.id = snapshot_id"
    assert rows(tmp_path, looked) == [(1, "2026-01-04T00"), (2, "2026-01-05T02"), (3, "2026-01-06T00")]
    assert rows(tmp_path, "SELECT min(markets), max(markets) FROM sync") == [(200, 200)]
    assert rows(tmp_path, "SELECT count(*) FROM sighting WHERE quoted = 0") == [(0,)]
    assert any("its list is incomplete" in str(event) for event in events)
    assert draws(tmp_path)[0] == 3
    assert RESUMED_WITHIN < 2 * HOUR
