"""Rules that fill at the prices of when an answer is in, at a live venue whose prices move meanwhile."""

from pathlib import Path

import pytest

from arena.config import ConfigErrors, load
from tests.oracles.settled import rows as exported
from tests.program.rehearsal import SUNDAY, clock_at, content, rehearse, rows
from tests.program.running import arena_json
from tests.provider.replies import GOOD, Asked, says
from tests.provider.server import FaultyProvider
from tests.records.little_world import WEEK
from tests.season.test_run_live import CONFIG, LATER, time_of
from tests.serving import Reply
from tests.venue_server.polymarket import CLOB, GAMMA, NAMES, PolymarketWire, Raw, a_book, a_market
from tests.venue_server.server import VenueServer

RULES = "cohorts: {rules: {from: realistic, fill_at: answer},"


def priced(wire: PolymarketWire, bid: str, ask: str) -> None:
    """Set the prices of both markets from now on."""
    shown: Raw = {"bestBid": float(bid), "bestAsk": float(ask), "lastTradePrice": float(bid)}
    wire.markets = [a_market(name, endDate=LATER, **shown) for name in NAMES]
    wire.books = [a_book(name, [(bid, "9000")], [(ask, "9000")]) for name in NAMES]


def test_an_order_is_filled_at_the_price_of_when_its_answer_is_in(
    tmp_path: Path, venue: VenueServer, provider: FaultyProvider
) -> None:
    wire = PolymarketWire()
    priced(wire, "0.40", "0.42")
    wire.serve(venue)

    def thinks(_: Asked) -> Reply:
        priced(wire, "0.52", "0.54")
        return says(GOOD)

    def ends() -> None:
        if time_of(tmp_path) >= SUNDAY + 2 * WEEK and not wire.ends:
            wire.end_all()

    venue.before.append(lambda _: ends())
    provider.script("eve", thinks)
    shape = {"venue": venue.url, "gamma": GAMMA, "clob": CLOB, "provider": provider.url}
    text = CONFIG.format(rounds=1, days=7, catch_up="latest", looks="1w", **shape).replace(
        "cohorts: {", RULES
    )
    (tmp_path / "config.yaml").write_text(text, "utf-8")
    clock_at(tmp_path)
    rehearse(tmp_path)
    assert rows(tmp_path, "SELECT DISTINCT price FROM fill_level") == [(540_000,)]
    assert content(tmp_path)["differences"] == []

    arena_json(tmp_path, "share", "export", "x")
    again = exported(tmp_path / "x", "second_quotes")
    assert [row["agent"] for row in again] == ["eve", "eve"], "the market states what it was shown"
    arena_json(tmp_path, "admin", "restore", "x", "--database", "copy.db")
    assert content(tmp_path, "copy.db") == content(tmp_path)

    frozen = arena_json(tmp_path, "show", "cohort", "1")["frozen"]["rules"]
    assert (frozen["name"], frozen["fill_at"]) == ("realistic, changed", "answer")


def test_where_prices_do_not_move_meanwhile_it_is_refused(tmp_path: Path) -> None:
    text = f"markets: {{venue: simulator}}\n{RULES}}}\nagents: [{{kind: market}}]\n"
    (tmp_path / "config.yaml").write_text(text, "utf-8")
    with pytest.raises(ConfigErrors) as error:
        load(tmp_path / "config.yaml")
    assert str(error.value).partition("config.yaml:")[2] == (
        "2: cohorts.rules.fill_at: prices of simulator don't move while an agent thinks. "
        "Remove it: the snapshot's prices count, or choose a live venue"
    )
