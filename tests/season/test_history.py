"""`arena study bundle`: a venue's past over real HTTP, killed and resumed, into a bundle that is replayed."""

import csv
import json
import signal
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from markets.bundle import Bundle, check, read
from markets.model import NEVER, MarketId
from markets.venues.wire.http import CONNECTIONS
from tests.program.forked import Forked
from tests.program.running import AGREES, arena, arena_json, loaded
from tests.serving import Reply
from tests.venue_server import kalshi, manifold
from tests.venue_server.polymarket import (
    CLOB,
    GAMMA,
    PolymarketWire,
    a_book_end,
    a_market,
    an_end,
    token,
)
from tests.venue_server.server import Asked, VenueServer, status

START = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
SPAN = ("--since", "2026-01-01", "--until", "2026-02-12")
COUNT = 60


def stamp(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"


def config(folder: Path, venue: str, **settings: Any) -> Path:
    """Return a config with the venue's address, at a rate that is fast enough for a test."""
    places = json.dumps({**settings, "per_second": 5_000})
    agents = "agents: [{kind: market}, {kind: constant}]"
    file = folder / f"{venue}.yaml"
    file.write_text(
        f"markets:\n  venue: {venue}\n  {venue}: {places}\ncohorts: {{decide: daily}}\n{agents}\n"
    )
    return file


def polymarket(count: int = COUNT) -> PolymarketWire:
    """Serve markets of January, most of them closed, with a price for every hour in which they were open."""
    rng = Random("1/history")
    wire = PolymarketWire()
    for n in range(count):
        name = str(1001 + n)
        closed = START + (10 + rng.randrange(40)) * DAY
        more: dict[str, Any] = {
            "slug": f"rain-{n}",
            "startDate": stamp(START - 5 * DAY),
            "endDate": stamp(closed - 3 * HOUR),
        }
        more["volume"], more["events"] = str(1_000 + n), [{"id": str(7_000 + n // 3), "slug": f"e{n // 3}"}]
        raw = a_market(name, **more) if n % 4 == 0 else an_end(name, closedTime=stamp(closed), **more)
        wire.markets.append(raw)
        wire.ends += [] if n % 4 == 0 else [a_book_end(name)]
        steps = range(0, 50 * 24 if n % 4 == 0 else int((closed - START) / HOUR), 6)
        wire.past[token(name)] = [
            {"t": int((START + step * HOUR).timestamp()), "p": round(0.3 + rng.random() / 3, 3)}
            for step in steps
        ]
    return wire


def at_polymarket(folder: Path, venue: VenueServer, wire: PolymarketWire) -> Path:
    wire.serve(venue)
    return config(folder, "polymarket", url=venue.url + GAMMA, book_url=venue.url + CLOB)


def read_past(folder: Path, file: Path, *words: str, status: int = 0) -> Any:
    return arena_json(
        folder, "study", "bundle", "past", file.stem, *SPAN, "--config", str(file), *words, status=status
    )


def market(bundle: Bundle, name: str) -> Any:
    return bundle.markets[MarketId(name)]


def test_killed_twice_it_goes_on_and_nothing_is_asked_twice(tmp_path: Path, venue: VenueServer) -> None:
    """And what comes of it is what comes of it where nothing happens."""
    (tmp_path / "calm").mkdir()
    file = at_polymarket(tmp_path, venue, polymarket())
    calm = read_past(tmp_path / "calm", file)
    asked = Counter(str(each) for each in venue.log)
    assert max(asked.values()) == 1
    venue.log.clear()
    for kill_after in (15, 40):
        assert killed_after(tmp_path, file, venue, kill_after) == -signal.SIGKILL
        assert not (tmp_path / "past" / "markets.jsonl").exists()
    found = read_past(tmp_path, file)
    assert found["answers_on_disk"] >= 20
    again = Counter(str(each) for each in venue.log)
    # what was on its way when it was killed is not on disk
    assert sum(again.values()) <= sum(asked.values()) + 2 * CONNECTIONS
    assert set(again) == set(asked)
    assert {key: found[key] for key in ("markets", "prices", "resolutions", "left_out")} == {
        key: calm[key] for key in ("markets", "prices", "resolutions", "left_out")
    }
    assert read(tmp_path / "past").content == read(tmp_path / "calm" / "past").content
    assert sorted(path.name for path in (tmp_path / "past").iterdir()) == [
        "history.json", "markets.jsonl", "prices.csv", "resolutions.csv",
    ]  # fmt: skip
    venue.log.clear()
    assert read_past(tmp_path, file)["whole_before"] is True
    assert venue.log == []


def killed_after(folder: Path, file: Path, venue: VenueServer, answers: int) -> int:
    """Return the status of a run that is killed after this many questions in all."""
    started = list[Forked]()
    words = ("study", "bundle", "past", "polymarket", *SPAN, "--config", str(file), "--json")

    def kill(_asked: Asked) -> Reply | None:
        if len(venue.log) >= answers and started:
            started[0].signal(signal.SIGKILL)
        return None

    venue.before = [kill]
    started.append(loaded().start(folder, *words))
    status = started[0].wait()
    venue.before = []
    return status


def test_a_history_is_replayed_at_once(tmp_path: Path, venue: VenueServer) -> None:
    file = at_polymarket(tmp_path, venue, polymarket(24))
    found = read_past(tmp_path, file)
    assert (found["markets"], found["resolutions"], found["rejected"]) == (24, 18, [])
    assert check(tmp_path / "past").warnings == ()
    season = arena_json(tmp_path, "study", "replay", "past", "--config", str(file), "--end", "2026-02-01")
    assert season["turns"] > 30
    assert season["settlements"] > 0
    assert arena_json(tmp_path, "admin", "verify", "--database", season["database"]).items() >= AGREES.items()


def test_what_could_be_known_of_a_market_and_when(tmp_path: Path, venue: VenueServer) -> None:
    closed = START + 20 * DAY
    ended = an_end("1", closedTime=stamp(closed), endDate=stamp(closed - 10 * DAY))
    odd = an_end("2", yes="0", no="1", closedTime=stamp(closed))
    wire = PolymarketWire([ended, odd, a_market("3", umaResolutionStatus="disputed")])
    wire.ends = [a_book_end("1"), a_book_end("2")]  # of the second the order book says otherwise
    points = [{"t": int((START + n * HOUR).timestamp()), "p": 0.4} for n in range(24 * 30)]
    wire.past = {token(name): points for name in "123"}
    answer = read_past(tmp_path, at_polymarket(tmp_path, venue, wire), status=2)
    assert [(each["record"], each["code"]) for each in answer["rejected"]] == [
        ("3", "disputed"),
        ("2", "contradiction"),
    ]
    bundle = read(tmp_path / "past")
    first = market(bundle, "polymarket:1")
    assert [(page.closes_at - START) // DAY for page in first.pages] == [10, 17, 24]
    assert first.seen[1:] == (START + 10 * DAY, START + 17 * DAY)  # put off by a week, as it traded on
    assert first.ends[0].known_at == closed
    assert (first.pages[0].fee_rate, first.pages[0].tick) == (40_000, 10_000)
    assert first.known[-1] < closed
    assert {at.hour for at in first.known[:-1]} == {0, 6, 12, 18}
    second = market(bundle, "polymarket:2")
    assert (second.ends, second.pages[-1].closes_at, second.seen[-1]) == ((), closed, closed)
    assert market(bundle, "polymarket:3").ends == ()


def test_the_largest_are_chosen_or_those_that_are_named(tmp_path: Path, venue: VenueServer) -> None:
    file = at_polymarket(tmp_path, venue, polymarket())

    def chosen(name: str, *words: str) -> list[str]:
        span = ("--since", "2026-01-01", "--until", "2026-01-20", "--config", str(file))
        arena_json(tmp_path, "study", "bundle", name, "polymarket", *span, *words)
        return sorted(market_id.removeprefix("polymarket:") for market_id in read(tmp_path / name).markets)

    assert chosen("top", "--top", "3") == ["1058", "1059", "1060"]
    assert chosen("slugs", "--slug", "rain-4", "--slug", "rain-9") == ["1005", "1010"]
    assert chosen("event", "--event", "e2") == ["1007", "1008", "1009"]
    assert len(chosen("tag", "--tag", "weather", "--top", "5")) == 5


def test_a_list_that_is_not_in_the_order_asked_for_is_read_to_its_end(
    tmp_path: Path, venue: VenueServer
) -> None:
    wire = polymarket(240)
    for n, raw in enumerate(wire.markets):
        raw["volume"] = str(n)
    file = at_polymarket(tmp_path, venue, wire)
    inner = venue._routes[f"{GAMMA}/markets/keyset"]
    venue.route(
        f"{GAMMA}/markets/keyset",
        lambda asked: inner(Asked(asked.path, {k: v for k, v in asked.query.items() if k != "order"})),
    )
    read_past(tmp_path, file, "--top", "2")
    assert set(read(tmp_path / "past").markets) == {"polymarket:1239", "polymarket:1240"}


def test_kalshi_has_bids_and_asks_and_a_close_that_nobody_could_know(
    tmp_path: Path, venue: VenueServer
) -> None:
    closed = START + 12 * DAY
    early: dict[str, Any] = {
        "can_close_early": True,
        "latest_expiration_time": stamp(START + 60 * DAY),
        "open_time": stamp(START),
    }
    ended: dict[str, Any] = {"close_time": stamp(closed), "settlement_ts": stamp(closed + 5 * HOUR)}
    wire = kalshi.KalshiWire(
        events=[kalshi.an_event(kalshi.an_end("RAIN-26-A", **(early | ended)), kalshi.a_market("RAIN-26-B"))],
        historical=[kalshi.an_end("SNOW-25-A", **early | ended)],
        series=[kalshi.a_series(fee_multiplier=0.5), kalshi.a_series("SNOW")],
        cutoff="2026-01-05T00:00:00Z",
    )
    hours = [START + n * HOUR for n in range(1, 24 * 20)]
    for name in ("RAIN-26-A", "RAIN-26-B", "SNOW-25-A"):
        wire.candles[name] = [
            {
                "end_period_ts": int(at.timestamp()),
                "yes_bid": {"close_dollars": "0.4000"},
                "yes_ask": {"close_dollars": "0.4400"},
                "price": {"close_dollars": "0.4300"},
            }
            for at in hours
        ]
    file = config(tmp_path, "kalshi", url=wire.serve(venue))
    answer = read_past(tmp_path, file, status=2)  # an event of long ago has no page any more
    assert {each["record"] for each in answer["rejected"]} == {"SNOW-25"}
    bundle = read(tmp_path / "past")
    record = market(bundle, "kalshi:RAIN-26-A")
    quote = record.quotes[0]
    assert (quote.bid, quote.ask, quote.mid, quote.last) == (400_000, 440_000, 420_000, 430_000)
    assert [page.closes_at for page in record.pages] == [START + 60 * DAY, closed]
    assert (record.seen[1], record.ends[0].known_at) == (closed, closed + 5 * HOUR)
    assert (record.pages[0].fee_rate, record.pages[0].category) == (35_000, "Climate")
    assert record.known[-1] < closed
    assert market(bundle, "kalshi:SNOW-25-A").ends[0].payout == 1_000_000
    assert len(bundle.markets) == 3


def test_manifold_tells_prices_by_bets_and_no_close_that_was_moved(
    tmp_path: Path, venue: VenueServer
) -> None:
    resolved = manifold.ms(2026, 1, 20)
    wire = manifold.ManifoldWire(
        [
            manifold.a_market("open", volume=9, slug="will-it", groupSlugs=["rain"]),
            manifold.an_end("rain", resolutionTime=resolved, closeTime=resolved, volume=7),
            manifold.an_end("void", "CANCEL", resolutionTime=resolved, closeTime=manifold.ms(2026, 1, 10)),
            manifold.a_market("poll", outcomeType="POLL"),
        ]
    )
    wire.bets = [
        manifold.a_bet(f"{name}{hour}", manifold.ms(2026, 1, 1) + hour * 3_600_000, 0.3 + hour / 5_000, name)
        for name in ("open", "rain", "void")
        for hour in range(40 * 24, 0, -3)
    ]
    file = config(tmp_path, "manifold", url=wire.serve(venue))
    assert read_past_error(tmp_path, file, "--event", "rain")["code"] == "no_events"
    assert read_past(tmp_path, file)["left_out"] == {"not yes or no": 1}
    bundle = read(tmp_path / "past")
    record = market(bundle, "manifold:rain")
    assert [page.closes_at for page in record.pages] == [NEVER]
    assert record.pages[0].rules == "YES if it rains."
    assert (record.ends[0].payout, record.ends[0].known_at) == (1_000_000, START + 19 * DAY)
    void = market(bundle, "manifold:void")
    assert (void.pages[0].closes_at, void.ends[0].payout) == (START + 9 * DAY, None)
    assert void.known[-1] < START + 9 * DAY
    with (tmp_path / "past" / "prices.csv").open() as rows:
        assert max(Counter((row["id"], row["date"][:10]) for row in csv.DictReader(rows)).values()) <= 5
    for words, ids in ((("--slug", "will-it"), {"manifold:open"}), (("--tag", "rain"), {"manifold:open"})):
        folder = words[0].strip("-")
        arena_json(tmp_path, "study", "bundle", folder, "manifold", *SPAN, *words, "--config", str(file))
        assert set(read(tmp_path / folder).markets) == ids


def read_past_error(folder: Path, file: Path, *words: str) -> Any:
    return read_past(folder, file, *words, status=1)["error"]


def test_a_venue_that_fails_loses_nothing(tmp_path: Path, venue: VenueServer) -> None:
    file = at_polymarket(tmp_path, venue, polymarket(40))
    venue.fail(f"{CLOB}/batch-prices-history", status(503, retry_after="999"), forever=True)
    error = read_past_error(tmp_path, file)
    assert error["code"] == "server_error"
    before = Counter(str(each) for each in venue.log if "prices" not in each.path)
    venue.mend()
    assert read_past(tmp_path, file)["markets"] == 40
    after = Counter(str(each) for each in venue.log if "keyset" in each.path)
    assert all(after[key] == 1 for key in before if "keyset" in key)


def test_one_market_that_is_refused_keeps_back_no_other(tmp_path: Path, venue: VenueServer) -> None:
    file = at_polymarket(tmp_path, venue, polymarket(8))
    inner = venue._routes[f"{CLOB}/prices-history"]
    refused = token("1003")
    venue.route(
        f"{CLOB}/prices-history",
        lambda asked: status(400) if asked.params["market"] == refused else inner(asked),
    )
    found = read_past(tmp_path, file, status=2)
    assert (found["markets"], [each["code"] for each in found["rejected"]]) == (7, ["refused"])
    assert found["left_out"] == {"without prices": 1}


def test_what_can_not_be_is_said_before_anything_is_asked(tmp_path: Path, venue: VenueServer) -> None:
    file = at_polymarket(tmp_path, venue, polymarket(4))
    for words, code in (
        (("study", "bundle", "past", "simulator", *SPAN), "no_history"),
        (("study", "bundle", "past", "nowhere", *SPAN), "no_venue"),
        (
            ("study", "bundle", "past", "polymarket", "--since", "2026-02-01", "--until", "2026-01-01"),
            "no_time",
        ),
        (("study", "bundle", "past", "polymarket", *SPAN, "--slug", "../x"), "bad_name"),
    ):
        assert arena_json(tmp_path, *words, "--config", str(file), status=1)["error"]["code"] == code
    assert venue.log == []
    assert not (tmp_path / "past").exists()
    read_past(tmp_path, file)
    assert read_past_error(tmp_path, file, "--top", "2")["code"] == "other_history"
    manifest = tmp_path / "past" / "history.json"
    for spoilt in ("[]", "{", '{"at": 5}', manifest.read_text("utf-8").replace('"prices"', '"odds"')):
        manifest.write_text(spoilt, "utf-8")
        assert read_past_error(tmp_path, file)["code"] == "other_history"
    manifest.unlink()
    assert read_past_error(tmp_path, file)["code"] == "not_empty"
    said = arena(
        tmp_path, "study", "bundle", "late", "polymarket", "--since", "2031-01-01", "--config", str(file)
    )
    assert (said.returncode, "is an empty period" in said.stderr) == (1, True)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("past", "--top", "3"), ("--top", "VENUE")),
        (("past", "--slug", "rain-4"), ("--slug", "VENUE")),
        (("past", "polymarket", "--since", "2026-01-01", "--fresh"), ("--fresh", "VENUE")),
        (("past", "polymarket"), ("--since", "VENUE")),
    ],
)
def test_options_of_the_other_form_are_refused(
    words: tuple[str, ...], named: tuple[str, str], tmp_path: Path
) -> None:
    message = arena_json(tmp_path, "study", "bundle", *words, status=64)["error"]["message"]
    assert all(name in message for name in named), message
    assert not (tmp_path / "past").exists()


def test_a_price_a_closed_market_has_for_half_days_only_is_taken(tmp_path: Path, venue: VenueServer) -> None:
    wire = polymarket(3)
    file = at_polymarket(tmp_path, venue, wire)
    inner = venue._routes[f"{CLOB}/prices-history"]
    venue.route(
        f"{CLOB}/prices-history",
        lambda asked: inner(asked) if int(asked.params["fidelity"]) >= 720 else {"history": []},
    )
    assert read_past(tmp_path, file)["markets"] == 3
