"""What the dashboard's pages of markets and turns read: against plain SQL, and the same on both databases."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from arena.record.queries.decisions import read_fills, read_rejections
from arena.record.queries.markets import (
    ShowingRound,
    read_last_shown,
    read_listed_markets,
)
from arena.scores.slices import count_shown_rounds, read_categories
from dashboard.record import read_event_questions, read_forecast_spreads, read_market_interest, was_any_shown
from dashboard.views.market import (
    read_last_marks,
    read_market_accounts,
    read_market_forecasts,
    read_market_rounds,
    read_market_trades,
    read_price_history,
    read_resolution_versions,
)
from dashboard.views.turn import (
    find_turn,
    read_forecasts,
    read_newest_turns,
    read_seen_markets,
)
from markets.hashes import timestamp_text
from markets.model import MarketId
from tests.builders import NOW
from tests.opened_record import moved
from tests.rows import read_only, rows_in


@contextmanager
def looking(record: str | Path) -> Iterator[Connection]:
    with read_only(record) as connection:
        yield connection


def most_quoted(record: Path) -> str:
    query = "SELECT market_id FROM quote GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1"
    return str(rows_in(record, query)[0][0])


@pytest.mark.parametrize("most", [2, 3, 5, 20])
def test_thinned_prices_are_those_that_stood_at_even_distances(copy: Path, most: int) -> None:
    built = copy
    market = most_quoted(copy)
    with sqlite3.connect(copy) as plain:  # hours apart at first, then days
        plain.executemany(
            "INSERT INTO quote (market_id, at, mid, volume, book, hash) VALUES (?, ?, ?, 0, '{}', 'h')",
            [(market, timestamp_text(NOW + timedelta(hours=2**n / 10_000)), 400_000 + n) for n in range(24)],
        )
    stored = rows_in(built, "SELECT at, mid FROM quote WHERE market_id = ? ORDER BY at", market)
    assert len(stored) > most
    times = [datetime.fromisoformat(at) for at, _ in stored]
    step = (times[-1] - times[0]) / (most - 1)
    wanted = {max(at for at in times if at <= times[0] + place * step) for place in range(most - 1)}
    with looking(built) as connection:
        found = read_price_history(connection, market, most)
    assert found.thinned
    assert [price.at for price in found.points] == sorted({*wanted, times[-1]})
    mids = dict(zip(times, (mid for _, mid in stored), strict=True))
    assert [price.mid for price in found.points] == [mids[price.at] for price in found.points]


def test_few_prices_are_all_there(built: Path) -> None:
    market = most_quoted(built)
    stored = rows_in(built, "SELECT mid FROM quote WHERE market_id = ? ORDER BY at", market)
    with looking(built) as connection:
        found = read_price_history(connection, market, len(stored))
        assert read_price_history(connection, "no:such", 10).points == ()
    assert not found.thinned
    assert [price.mid for price in found.points] == [mid for (mid,) in stored]


def shown_last(connection: Connection) -> dict[MarketId, ShowingRound]:
    return {market: shown for some in read_last_shown(connection) for market, shown in some.items()}


IN_SNAPSHOTS = "market_version JOIN (SELECT DISTINCT market_id FROM snapshot_item) USING (market_id)"


def test_the_list_has_the_markets_that_agents_saw_and_no_others(copy: Path) -> None:
    """Beside them a record knows those of a venue's whole catalogue."""
    seen = rows_in(copy, "SELECT DISTINCT market_id FROM snapshot_item ORDER BY 1")
    told = rows_in(copy, f"SELECT category FROM {IN_SNAPSHOTS} GROUP BY 1 ORDER BY count(*) DESC, 1")
    unseen(copy, "a:first", "m:amid", "z:last")
    with looking(copy) as connection:
        assert sorted((market,) for market in shown_last(connection)) == seen
        assert [(category,) for category, _ in read_categories(connection)] == told
        assert count_shown_rounds(connection) == rows_in(copy, "SELECT count(*) FROM round")[0][0]


def test_a_market_is_listed_by_its_newest_page_and_its_newest_end(copy: Path) -> None:
    open_ = "SELECT id FROM market WHERE id NOT IN (SELECT market_id FROM resolution) ORDER BY id LIMIT 2"
    first, second = (MarketId(market) for (market,) in rows_in(copy, open_))
    page = "at, event_id, rules, opens_at, closes_at, tick, fee_rate, min_shares, story, hash"
    with sqlite3.connect(copy) as plain:
        new = f"SELECT market_id, 9, 'Anew?', 'anew', {page} FROM market_version WHERE market_id = ? LIMIT 1"
        query = f"INSERT INTO market_version (market_id, version, question, category, {page}) {new}"
        plain.execute(query, [first])
        told = f"'{timestamp_text(NOW)}', '{timestamp_text(NOW)}', 'told', 'h'"
        query = (
            "INSERT INTO resolution (market_id, version, payout, known_at, learnt_at, source, hash) VALUES "
        )
        plain.execute(query + f"(?, 1, 1000000, {told}), (?, 2, NULL, {told})", [first, first])
    with looking(copy) as connection:
        other, one = read_listed_markets(connection, [second, first])
    assert (one.id, one.question, one.category, one.ended, one.payout) == (first, "Anew?", "anew", True, None)
    assert (other.id, other.ended, other.payout) == (second, False, None)


def unseen(record: Path, *markets: str) -> None:
    """Add markets that no agent was shown: the last page of another, under their ids."""
    page = (
        "version, at, event_id, question, rules, category, opens_at, closes_at, tick, fee_rate, min_shares, "
        "story"
    )
    with sqlite3.connect(record) as plain:
        for market in markets:
            plain.execute("INSERT INTO market SELECT ?, first_seen_at FROM market LIMIT 1", [market])
            query = f"INSERT INTO market_version (market_id, hash, {page}) SELECT ?, hash, {page} "
            plain.execute(query + "FROM market_version LIMIT 1", [market])


def test_markets_are_shown_last_by_their_newest_round(built: Path) -> None:
    rows = rows_in(
        built,
        "SELECT market_id, max(round.at) FROM snapshot_item JOIN round USING (snapshot_id) WHERE shown = 1 "
        "GROUP BY 1",
    )
    wanted = {market: datetime.fromisoformat(at).astimezone(UTC) for market, at in rows}
    with looking(built) as connection:
        found = shown_last(connection)
    assert {market: shown.at for market, shown in found.items()} == wanted
    times = [shown.at for shown in found.values()]
    assert times == sorted(times, reverse=True)


def everything(record: str | Path) -> list[Any]:
    """Read everything that the pages read, of every market and every turn."""
    with looking(record) as connection:
        shown = shown_last(connection)
        ids = sorted(shown)
        known = read_listed_markets(connection, ids)
        found: list[Any] = [
            known,
            list(shown),
            read_market_interest(connection, ids),
            was_any_shown(connection),
        ]
        found += [read_categories(connection), count_shown_rounds(connection)]
        found.append(read_event_questions(connection, [market.event_id for market in known]))
        found.append(read_forecast_spreads(connection, shown, ("market",)))
        for market in ids:
            rounds = [place.round_id for place in read_market_rounds(connection, market)]
            accounts = read_market_accounts(connection, market)
            found += [place.at for place in read_market_rounds(connection, market)]
            found += [
                (one.agent, one.probability) for one in read_market_forecasts(connection, market, rounds)
            ]
            found += [
                read_market_trades(connection, market, 100),
                read_resolution_versions(connection, market),
            ]
            found += [account.entries for account in accounts]
            first = {account.cohort: account.entrant_id for account in accounts}
            found.append(read_last_marks(connection, market, first.values()))
            found += [read_price_history(connection, market, most) for most in (2, 1_000)]
        found += (turns := read_newest_turns(connection, 1_000))
        for turn in turns:
            whole = find_turn(connection, turn.cohort, turn.round, turn.agent)
            assert whole is not None
            assert whole.status == turn.status
            found += [
                whole.bets,
                whole.sales,
                read_seen_markets(connection, whole),
                read_fills(connection, [whole.id])[whole.id],
            ]
            found += [read_forecasts(connection, whole), read_rejections(connection, [whole.id])[whole.id]]
    return found


def test_both_databases_tell_the_pages_the_same(built: Path, new_database: Callable[[], str]) -> None:
    server = new_database()
    moved(built, server)
    assert everything(server) == everything(built)
