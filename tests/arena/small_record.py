"""A record in memory, row by row, so that a test can work its figures out by hand."""

import sqlite3
from collections.abc import Collection, Mapping
from contextlib import closing
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Self

from sqlalchemy import BigInteger, Column, Integer, StaticPool, create_engine, insert

from markets.hashes import canonical
from tests.builders import NOW, usd
from tests.rows import TABLES, is_instant, make_tables

STATEMENTS: dict[Any, Any] = {}
"""What each question is in SQL: all small records ask the same ones."""


@cache
def _tables() -> bytes:
    """Return a database with empty tables, which takes longer to make than to fill."""
    with closing(sqlite3.connect(":memory:")) as driver:
        engine = create_engine("sqlite://", creator=lambda: driver, poolclass=StaticPool)
        make_tables(engine)
        return driver.serialize()


class SmallRecord:
    """Facts are put in one at a time; what a fact leaves out is empty text, 0 or NOW."""

    def __init__(self) -> None:
        self.engine = create_engine("sqlite://").execution_options(compiled_cache=STATEMENTS)
        self.connection = self.engine.connect()
        driver = self.connection.connection.driver_connection
        assert isinstance(driver, sqlite3.Connection)
        driver.deserialize(_tables())
        self.entrants: dict[tuple[int, str], int] = {}
        self.rounds: dict[tuple[int, int], int] = {}
        self.turns: dict[tuple[int, int, str], int] = {}
        self.versions: dict[str, int] = {}
        self.rows = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()
        self.engine.dispose()

    def add(self, table_name: str, /, **values: Any) -> int:
        """Put a row in the table of a name, and return its id."""
        table = TABLES[table_name]
        self.rows += 1
        row = {c.name: _blank(c) for c in table.c if not c.nullable and c.name != "id"}
        row |= {"id": self.rows} if "id" in table.c else {}
        self.connection.execute(insert(table).values(**(row | values)))
        return self.rows

    def cohort(
        self,
        number: int,
        *,
        bankroll: str = "10000",
        max_bet: str = "0.25",
        without_prices: Collection[str] = (),
        min_coverage: str = "0.8",
        **agents: str,
    ) -> None:
        """Write a cohort with its line-up, agent by kind: `cohort(1, ann="llm")`."""
        frozen = canonical({"rules": {"max_bet": usd(max_bet)}, "min_coverage": usd(min_coverage)})
        cohort = self.add("cohort", number=number, frozen=frozen)
        for position, (name, kind) in enumerate(agents.items()):
            settings = canonical({"prices": "hidden" if name in without_prices else "shown"})
            place = {"cohort_id": cohort, "position": position, "settings": settings}
            entrant = self.add("entrant", **place, name=name, kind=kind)
            self.add("entry", entrant_id=entrant, number=1, kind="deposit", cash=usd(bankroll))
            self.entrants[number, name] = entrant

    def market(self, name: str, event: str | None = None, story: str = "") -> None:
        self.add("market", id=name)
        self.versions[name] = self.add(
            "market_version", market_id=name, version=1, event_id=event or name, story=story
        )

    def resolved(self, market: str, payout: str | None, version: int = 1) -> None:
        worth = None if payout is None else usd(payout)
        self.add("resolution", market_id=market, version=version, payout=worth)

    def round(
        self, cohort: int, number: int, held: Mapping[str, str] | None = None, **mids: str | None
    ) -> None:
        """Write a round that shows markets at their mids: None for a quote without a mid, "" for no quote."""
        at = NOW + timedelta(weeks=10 * cohort + number)
        snapshot = self.add("snapshot", cohort_id=cohort, at=at)
        self.rounds[cohort, number] = self.add(
            "round", cohort_id=self._cohort(cohort), number=number, at=at, snapshot_id=snapshot
        )
        items = [(name, mid, 1) for name, mid in mids.items()]
        items += [(name, mid, 0) for name, mid in (held or {}).items()]
        for position, (name, mid, shown) in enumerate(items):
            worth = usd(mid) if mid else None
            text = f"{self.rows}"
            quote = None if mid == "" else self.add("quote", market_id=name, at=at, mid=worth, hash=text)
            keys = {"snapshot_id": snapshot, "position": position, "market_id": name, "shown": shown}
            self.add("snapshot_item", **keys, version_id=self.versions[name], quote_id=quote)

    def turn(self, cohort: int, number: int, agent: str, status: str = "played", **said: str) -> None:
        """Write a turn with its final forecasts: `turn(1, 1, "ann", rain="0.7")`."""
        keys = {"round_id": self.rounds[cohort, number], "entrant_id": self.entrants[cohort, agent]}
        self.turns[cohort, number, agent] = self.add("turn", **keys, status=status)
        for market, chance in said.items():
            self.forecast(cohort, number, agent, market, chance, "final")

    def forecast(self, cohort: int, number: int, agent: str, market: str, chance: str, stage: str) -> None:
        turn = self.turns[cohort, number, agent]
        self.add("forecast", turn_id=turn, market_id=market, stage=stage, probability=usd(chance))

    def fill(
        self,
        place: tuple[int, int, str],
        market: str,
        side: str,
        wanted: str,
        *levels: tuple[str, str],
        base: str = "10000",
        action: str = "buy",
    ) -> None:
        """Write an accepted order and the levels at which it was filled, as (price, shares)."""
        keys = {"turn_id": self.turns[place], "position": self.rows, "market_id": market}
        shares = sum(usd(count) for _, count in levels)
        sizes = {"shares": shares, "wanted": usd(wanted), "base": usd(base)}
        fill = self.add("fill", **keys, side=side, action=action, **sizes)
        for position, (price, count) in enumerate(levels):
            self.add("fill_level", fill_id=fill, position=position, price=usd(price), shares=usd(count))

    def mark(self, cohort: int, agent: str, day: int, cash: str, value: str) -> None:
        keys = {"entrant_id": self.entrants[cohort, agent], "at": NOW + timedelta(days=day)}
        self.add("mark", **keys, cash=usd(cash), value=usd(value))

    def call(self, cohort: int, number: int, agent: str, cost: str | None) -> None:
        keys = {"round_id": self.rounds[cohort, number], "entrant_id": self.entrants[cohort, agent]}
        self.add("call", **keys, attempt=self.rows, cost=None if cost is None else usd(cost))

    def _cohort(self, number: int) -> int:
        found = self.connection.exec_driver_sql("SELECT id FROM cohort WHERE number = ?", (number,))
        return int(found.scalar_one())


def _blank(column: Column[Any]) -> str | int | datetime:
    if is_instant(column):
        return NOW
    return 0 if isinstance(column.type, BigInteger | Integer) else ""
