"""A season over real daily prices: what must come out is worked out straight from the files."""

import csv
import gzip
import json
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from markets.model import MarketId
from portfolio.value import lot_values
from tests.opened_record import OpenedRecord
from tests.program.running import AGREES, agents_of, arena_json

START = {True: "2026-04-26", False: "2026-06-21"}
"""Of the whole season with THOROUGH=1, and of a part of it otherwise."""
END = datetime(2026, 8, 16, tzinfo=UTC)
FRESH = timedelta(days=7)


@dataclass(frozen=True)
class Files:
    """The recording, read by nothing of ours."""

    folder: Path

    @cached_property
    def markets(self) -> dict[str, dict[str, Any]]:
        with gzip.open(self.folder / "markets.jsonl.gz", "rt", encoding="utf-8") as file:
            return {market["id"]: market for market in map(json.loads, file)}

    @cached_property
    def prices(self) -> dict[str, dict[date, float]]:
        found: dict[str, dict[date, float]] = defaultdict(dict)
        with gzip.open(self.folder / "prices.csv.gz", "rt", encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                found[row["id"]][date.fromisoformat(row["date"])] = float(row["prob_yes"])
        return found

    def resolved(self, market: str) -> date | None:
        """Return the day of its resolution."""
        line = self.markets[market]
        return date.fromisoformat(line["resolution_date"][:10]) if line["resolved"] else None

    def known_end(self, market: str) -> datetime | None:
        """Return when its resolution is known."""
        day = self.resolved(market)
        return None if day is None else _after(day)

    def last_price(self, market: str, at: datetime) -> datetime | None:
        """Return when the newest price that is known by then became known."""
        return max((_after(day) for day in self.prices[market] if _after(day) <= at), default=None)


def _after(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(days=1)


@pytest.fixture(scope="module")
def files(shared_data: Path) -> Files:
    return Files(shared_data / "replay" / "polymarket-daily")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("real")


@pytest.fixture(scope="module")
def season(files: Files, place: Path, thorough: bool) -> Any:
    """Return the null agents in weekly cohorts, played once for this file."""
    return played(place, files, thorough)


def played(place: Path, files: Files, thorough: bool, **where: Any) -> Any:
    """Return what the command says of a season."""
    words = ("--start", START[thorough], "--end", "2026-08-16")
    return arena_json(place, "study", "replay", str(files.folder), *words, **where)


@contextmanager
def record_of(season: Any, place: Path) -> Iterator[OpenedRecord]:
    record = OpenedRecord.at(place / season["database"])
    try:
        yield record
    finally:
        record.close()


def own_id(market: MarketId) -> str:
    return market.removeprefix("polymarket:")


def test_it_is_a_whole_season_and_verifies(season: Any, place: Path, thorough: bool) -> None:
    assert season["cohorts"] == season["decision_times"] == (17 if thorough else 9)
    assert season["start"] == f"{START[thorough]}T00:00:00+00:00"
    assert season["turns"] == 3 * season["rounds"]
    assert season["settlements"] > (200 if thorough else 80)
    assert set(agents_of(season["leaderboard"])) == {"market", "constant", "random"}
    assert arena_json(place, "admin", "verify", "--database", season["database"]).items() >= AGREES.items()


def test_what_ended_in_time_is_settled_and_the_rest_has_a_price_or_is_stale(
    season: Any, place: Path, files: Files
) -> None:
    held, stale = 0, 0
    with record_of(season, place) as record:
        for stored in record.cohorts():
            found = record.snapshot(stored.id, END)
            for account in record.holdings(stored.id).values():
                if not account.lots:
                    continue
                assert found is not None
                for lot in lot_values(account, found[1], FRESH):
                    known_end = files.known_end(own_id(lot.market_id))
                    assert known_end is None or known_end > END, f"{lot.market_id} should be settled"
                    newest = files.last_price(own_id(lot.market_id), END)
                    assert newest is not None
                    assert (lot.stale != "") == (END - newest > FRESH)
                    held = held + 1
                    stale = stale + (lot.stale != "")
    assert season["open"] == {"positions": held, "stale": stale}
    assert held > stale > 0


def test_every_market_shown_had_a_price_and_no_known_end_and_nothing_was_learnt_early(
    season: Any, place: Path, files: Files, thorough: bool
) -> None:
    shown = 0
    with record_of(season, place) as record:
        for stored in record.cohorts():
            for stored_round in record.rounds(stored.id):
                found = record.snapshot(stored.id, stored_round.at)
                assert found is not None
                for listing in found[1].shown:
                    market = own_id(listing.market.id)
                    quote = listing.quote
                    known_end = files.known_end(market)
                    assert known_end is None or known_end > stored_round.at
                    assert quote is not None
                    assert quote.at == files.last_price(market, stored_round.at)
                    assert stored_round.at - quote.at <= FRESH
                    assert quote.mid == round_half(
                        files.prices[market][(quote.at - timedelta(days=1)).date()]
                    )
                    shown += 1
        ends = record.resolutions([MarketId(f"polymarket:{m}") for m in files.markets], END)
    assert shown > (2_000 if thorough else 900)
    assert all(end.known_at == files.known_end(own_id(end.market_id)) for end in ends)
    assert all(end.payout == files.markets[own_id(end.market_id)]["resolution"] * 10**6 for end in ends)


def round_half(price: float) -> int:
    return round(price * 10**6)


def test_the_markets_own_brier_is_that_of_the_files(season: Any, files: Files) -> None:
    """On the last price dated at least eight days before the resolution; 0.051 over 359 markets."""
    scores = []
    for market in files.markets:
        day = files.resolved(market)
        early = [] if day is None else [d for d in files.prices[market] if d <= day - timedelta(days=8)]
        if early:
            outcome = files.markets[market]["resolution"]
            assert outcome in (0, 1)
            scores.append((files.prices[market][max(early)] - outcome) ** 2)
    assert season["brier_market_markets"] == len(scores) == 359
    assert season["brier_market"] == pytest.approx(fmean(scores), abs=1e-6)
    assert season["brier_market"] == pytest.approx(0.051, abs=0.0005)


def test_no_bet_was_taken_on_one_whose_end_came_long_after_its_last_price(
    season: Any, place: Path, files: Files
) -> None:
    late = {
        market
        for market in files.markets
        if (day := files.resolved(market)) is not None and day - max(files.prices[market]) > FRESH
    }
    assert late
    with record_of(season, place) as record:
        traded = {
            own_id(market)
            for stored in record.cohorts()
            for account in record.holdings(stored.id).values()
            for market, _ in (*account.lots, *account.settled)
        }
    assert traded
    assert not traded & late
