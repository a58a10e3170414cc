"""`arena show market`, `arena admin prune` and `arena check --live`, on a venue at home."""

from pathlib import Path
from time import sleep
from typing import Any

import pytest

from arena.cli.backups import prune_old_quotes
from arena.cli.options import Options
from arena.clock import now
from arena.errors import ArenaError
from tests.program.running import AGREES, arena, arena_json
from tests.venue_server.polymarket import CLOB, GAMMA, PolymarketWire, Raw, a_book_end, a_market, an_end
from tests.venue_server.server import HTML, VenueServer, status

CONFIG = """\
database: arena.db
markets:
  venue: polymarket
  closes_within: 3650d
  min_volume: 0
  polymarket: {{url: "{url}{gamma}", book_url: "{url}{clob}", per_second: 1000}}
agents:
  - kind: market
"""
LATER = "2030-01-01T00:00:00Z"
LISTS = f"{GAMMA}/markets/keyset"


@pytest.fixture
def wire(venue: VenueServer) -> PolymarketWire:
    """Serve three open markets."""
    found = PolymarketWire([an_open("1001"), an_open("1002", question="Will it snow?"), an_open("1003")])
    found.serve(venue)
    return found


@pytest.fixture
def folder(tmp_path: Path, venue: VenueServer, wire: PolymarketWire) -> Path:
    """Return a working folder whose config names that venue."""
    text = CONFIG.format(url=venue.url, gamma=GAMMA, clob=CLOB)
    (tmp_path / "config.yaml").write_text(text, "utf-8")
    return tmp_path


def an_open(name: str, bid: float = 0.4, **changes: Any) -> Raw:
    """Return a market that stays open for long, at a price."""
    prices = {"bestBid": bid, "bestAsk": round(bid + 0.02, 2), "lastTradePrice": bid}
    return a_market(name, **({"endDate": LATER} | prices | changes))


def synced(folder: Path, *words: str, status: int = 0) -> dict[str, Any]:
    found = arena_json(folder, "run", "--sync", *words, status=status)
    assert isinstance(found, dict)
    return found


def counts(found: dict[str, Any]) -> tuple[int, ...]:
    return tuple(found[name] for name in ("markets", "new", "changed", "quotes", "unchanged"))


def test_what_a_venue_shows_is_synced_listed_and_shown(folder: Path, wire: PolymarketWire) -> None:
    assert counts(synced(folder)) == (3, 3, 0, 3, 0)
    assert counts(synced(folder)) == (3, 0, 0, 0, 3)
    wire.markets[1] = an_open("1002", bid=0.5, question="Will it snow here?")
    assert counts(synced(folder)) == (3, 0, 1, 1, 2)

    listed = arena_json(folder, "show", "markets", "--search", "SNOW")
    assert [market["id"] for market in listed["markets"]] == ["polymarket:1002"]
    assert (listed["known"], listed["found"]) == (3, 1)
    assert listed["markets"][0]["mid"] == 0.51
    assert listed["markets"][0]["status"] == "open"
    before = arena_json(folder, "show", "markets", "--at", "2026-01-01")
    assert before["markets"] == []

    shown = arena_json(folder, "show", "market", "1002")
    assert shown["question"] == "Will it snow here?"
    assert [change["mid"] for change in shown["history"]] == [0.41, 0.51]
    assert shown["resolutions"] == []
    assert shown["venue_url"] == "https://gamma-api.polymarket.com/markets/1002"
    told = arena(folder, "show", "market", "polymarket:1002").stdout
    for words in (
        "Will it snow here?",
        "resolves to Yes if it rains",
        "mid 51¢",
        "at Polymarket (data): https://gamma-api.polymarket.com/markets/1002",
        "▁",
        "No resolution is known",
    ):
        assert words in told
    table = arena(folder, "show", "markets", "--category", "Weather", "--limit", "2").stdout
    assert "2 of 3 markets" in table
    assert arena_json(folder, "admin", "verify").items() >= AGREES.items()


def test_a_bad_record_is_set_aside_and_the_others_are_kept(folder: Path, wire: PolymarketWire) -> None:
    wire.markets[0] = an_open("1001", bestBid="a lot")
    found = synced(folder, status=2)
    assert (found["markets"], found["set_aside"], found["whole"]) == (3, {"malformed": 1}, False)
    assert found["quotes"] == 2
    (rejected,) = arena_json(folder, "show", "markets", "--rejected")["rejected"]
    assert (rejected["record"], rejected["kind"], rejected["times"]) == ("1001", "quote", 1)
    assert rejected["raw"].startswith('{"id": "1001"')
    done = arena(folder, "run", "--sync")
    assert (done.returncode, "1 rejected record:" in done.stdout) == (2, True)
    again = arena(folder, "show", "markets", "--rejected", "--kind", "quote").stdout
    assert "a lot" in again
    assert arena_json(folder, "show", "markets", "--rejected", "--venue", "kalshi") == {"rejected": []}


def test_a_venue_that_cannot_be_read_changes_nothing(folder: Path, venue: VenueServer) -> None:
    synced(folder)
    venue.fail(LISTS, HTML, forever=True)
    error = arena_json(folder, "run", "--sync", status=1)["error"]
    assert error["code"] == "not_json"
    assert arena_json(folder, "show", "markets")["found"] == 3
    venue.mend()
    assert counts(synced(folder)) == (3, 0, 0, 0, 3)


def test_a_market_that_is_gone_waits_until_it_has_ended(folder: Path, wire: PolymarketWire) -> None:
    synced(folder)
    _, snow, hail = wire.markets
    wire.markets = [snow, hail]
    found = synced(folder, status=2)
    assert (found["gone"], found["set_aside"]) == (["polymarket:1001"], {"missing": 1})
    waiting = arena_json(folder, "show", "markets", "--status", "waiting")["markets"]
    assert [market["id"] for market in waiting] == ["polymarket:1001"]

    wire.markets, wire.ends = [an_end("1001"), snow, hail], [a_book_end("1001")]
    assert synced(folder)["resolutions"] == 1
    assert synced(folder)["resolutions"] == 0
    ended = arena_json(folder, "show", "markets", "--status", "ended")["markets"]
    assert [market["id"] for market in ended] == ["polymarket:1001"]
    shown = arena_json(folder, "show", "market", "1001")
    assert [(end["version"], end["payout"]) for end in shown["resolutions"]] == [(1, 1.0)]
    told = arena(folder, "show", "market", "1001").stdout
    assert "paid $1" in told
    assert told.endswith("arena board\n"), "there is nothing left to read"
    assert arena(folder, "show", "market", "1002").stdout.endswith("arena run --sync\n")


def test_ends_are_asked_for_only_if_wanted(folder: Path, wire: PolymarketWire, venue: VenueServer) -> None:
    synced(folder)
    wire.markets = wire.markets[1:]
    venue.log.clear()
    assert synced(folder, "--no-ends")["gone"] == ["polymarket:1001"]
    assert venue.counts == {LISTS: 1}


def test_ends_that_cannot_be_read_leave_the_prices(
    folder: Path, wire: PolymarketWire, venue: VenueServer
) -> None:
    synced(folder)
    wire.markets = [an_open("1003", bid=0.6)]
    whole = wire._by_cursor
    venue.route(LISTS, lambda asked: status(403) if "id" in asked.query else whole(asked))
    venue.route(f"{GAMMA}/markets", status(403))
    found = synced(folder, status=2)
    assert (found["quotes"], found["trouble"]["code"]) == (1, "refused")


def test_what_was_seen_is_recorded_and_is_a_bundle(folder: Path, wire: PolymarketWire) -> None:
    synced(folder)
    wire.markets[0] = an_open("1001", bid=0.7, description="Other rules.")
    found = arena_json(folder, "study", "bundle", "seen", "--fresh")
    assert (found["pages"], found["prices"], found["left_out"]) == (4, 6, [])
    again = arena_json(folder, "study", "bundle", "seen")
    assert (again["pages"], again["prices"], again["resolutions"]) == (0, 0, 0)
    checked = arena_json(folder, "check", "seen")
    assert (checked["ok"], checked["markets"], checked["prices"]) == (True, 3, 6)
    today = f"{now():%Y-%m-%d}"
    none = arena_json(folder, "study", "bundle", "none", "--until", today)
    assert none["prices"] == 0
    assert arena_json(folder, "study", "bundle", "config.yaml", status=1)["error"]["code"] == "not_writable"


def test_pruning_says_first_what_it_would_do(
    folder: Path, wire: PolymarketWire, monkeypatch: pytest.MonkeyPatch
) -> None:
    for bid in (0.4, 0.5, 0.6):
        wire.markets[0] = an_open("1001", bid=bid)
        synced(folder)
    sleep(1)  # or the newest are not a second old
    plan = {"goes": 2, "used": 0, "last": 3, "later": 0}
    asked = arena_json(folder, "admin", "prune", "--older-than", "1s", "--dry-run")
    assert {name: asked[name] for name in plan} == plan
    assert asked["done"] is False
    refused = arena(folder, "admin", "prune", "--older-than", "1s")
    assert (refused.returncode, "2 can be deleted" in refused.stdout) == (1, True)
    assert "--yes" in refused.stderr
    with monkeypatch.context() as closed:
        closed.chdir(folder)
        closed.setattr("sys.stdin", None)
        with pytest.raises(ArenaError, match="nothing was changed"):
            prune_old_quotes(Options(), "1s", False, False)
    said = arena(folder, "admin", "prune", "--older-than", "1s", "--yes").stdout
    assert "2 quotes were deleted. New rows use their space; the record keeps its size.\n" in said
    assert arena_json(folder, "admin", "prune", "--older-than", "1s", "--yes")["done"] is False
    assert len(arena_json(folder, "show", "market", "1001")["history"]) == 1
    assert arena_json(folder, "admin", "verify").items() >= AGREES.items()


def test_one_page_of_a_venue_is_read_to_check_it(
    folder: Path, wire: PolymarketWire, venue: VenueServer
) -> None:
    wire.markets = [an_open(str(1001 + number)) for number in range(250)]
    wire.markets[7] = an_open("1008", bestBid="a lot")
    found = arena_json(folder, "check", "--live", "--venue", "polymarket")
    (look,) = found["live"]
    assert (look["venue"], look["ok"], look["markets"]) == ("polymarket", True, 100)
    assert look["set_aside"] == {"malformed": 1}
    assert venue.counts[LISTS] == 1
    assert not (folder / "arena.db").exists()
    told = arena(folder, "check", "--live", "--venue", "polymarket").stdout
    assert "reached" in told
    assert "live" not in arena_json(folder, "check")


def test_a_venue_that_cannot_be_checked_is_named(folder: Path, venue: VenueServer) -> None:
    venue.fail(LISTS, status(403), forever=True)
    venue.fail(f"{GAMMA}/markets", status(403), forever=True)
    found = arena_json(folder, "check", "--live", "--venue", "polymarket", "--venue", "simulator", status=2)
    assert [(look["venue"], look["ok"]) for look in found["live"]] == [
        ("polymarket", False), ("simulator", True)
    ]  # fmt: skip
    done = arena(folder, "check", "--live", "--venue", "polymarket")
    assert done.returncode == 1
    assert "polymarket: 127.0.0.1 answered 403" in done.stdout
    assert done.stdout.endswith("arena check --live --venue polymarket\n")
    unknown = arena_json(folder, "check", "--live", "--venue", "nowhere", status=1)
    assert unknown["error"]["code"] == "unknown_venue"


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--venue", "kalshi"), ("--venue", "--rejected")),
        (("--rejected", "--status", "ended"), ("--status", "--rejected")),
        (("1001", "--rejected"), ("ID", "--rejected")),
        (("1001", "--search", "rain"), ("--search", "ID")),
    ],
)
def test_options_of_the_list_and_of_what_was_rejected_are_kept_apart(
    words: tuple[str, ...], named: tuple[str, str], folder: Path
) -> None:
    message = arena_json(folder, "show", "market", *words, status=64)["error"]["message"]
    assert all(name in message for name in named), message


CANNOT_BE_DONE = (
    (("show", "markets"), "no_record"),
    (("show", "markets", "--rejected"), "no_record"),
    (("show", "market", "x"), "no_record"),
    (("study", "bundle", "seen"), "no_record"),
    (("admin", "prune", "--older-than", "9d"), "no_record"),
    (("admin", "prune", "--older-than", "soon"), "bad_duration"),
    (("run", "--sync", "--at", "2026-01-01"), "live_venue"),
)


def test_what_cannot_be_done_is_said_in_a_line(folder: Path) -> None:
    for words, code in CANNOT_BE_DONE:
        assert arena_json(folder, *words, status=1)["error"]["code"] == code
    assert not (folder / "arena.db").exists()
    synced(folder)
    error = arena_json(folder, "show", "market", "100", status=1)["error"]
    assert error["code"] == "unknown_market"
    assert "did you mean polymarket:1001, polymarket:1002, polymarket:1003?" in error["mend"]
