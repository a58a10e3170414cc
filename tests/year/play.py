"""What the cohorts of a record that is made up have played, in the order of time, as rows of its tables.

Each round shows markets that end in the next eight weeks; agents buy YES of most of the first twelve at the
ask, and hold it until the market ends. Everyone is marked at every snapshot.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markets.hashes import digest
from markets.millionths import ONE
from tests.year.world import (
    ENDS,
    HOUR,
    RATE,
    SHARES,
    WEEK,
    Line,
    YearPrice,
    YearWorld,
    ends,
    payout,
    text,
)

MAX_AGE = 15 * 60
"""From how many seconds on the rules call a quote stale."""
Seen = Mapping[int, tuple[YearPrice, int]]
"""The price of each market in a snapshot, and how old it was."""


@dataclass
class YearAccount:
    """An agent's ledger as it grows. A lot is shares and what they cost."""

    id: int
    name: str
    is_model: bool
    cash: int
    head: str
    number: int = 1
    realised: int = 0
    lots: dict[int, tuple[int, int]] = field(default_factory=dict)

    def buy(self, world: YearWorld, market: int, ask: int, second: int, ref: str) -> tuple[int, int, Line]:
        """Buy a hundred shares of YES, and return their cost, the fee in it, and the entry."""
        fee = -(-RATE * SHARES * ask * (ONE - ask) // ONE**3)
        amount = SHARES * ask // ONE + fee
        shares, cost = self.lots.get(market, (0, 0))
        self.lots[market] = shares + SHARES, cost + amount
        moved = {"cash": -amount, "shares": SHARES, "cost": amount, "realised": 0}
        return amount, fee, self._entry(second, "buy", world.names[market], moved, shares + SHARES, ref)

    def settle(self, world: YearWorld, second: int) -> list[Line]:
        """Return the entries of all lots whose market has ended, in the order of the markets' names."""
        ended = [market for market in self.lots if ends(market) <= second]
        return [self._close(world, market) for market in sorted(ended, key=world.names.__getitem__)]

    def _close(self, world: YearWorld, market: int) -> Line:
        shares, cost = self.lots.pop(market)
        paid = shares * payout(market) // ONE
        moved = {"cash": paid, "shares": -shares, "cost": -cost, "realised": paid - cost}
        return self._entry(ends(market), "settle", world.names[market], moved, 0, "resolution:1")

    def _entry(self, second: int, kind: str, market: str, moved: dict[str, int], held: int, ref: str) -> Line:
        self.number = self.number + 1
        self.cash = self.cash + moved["cash"]
        self.realised += moved["realised"]
        said = {"number": self.number, "at": text(second), "kind": kind, "market_id": market, "side": "YES"}
        row = said | moved | {"balance": self.cash, "held": held, "ref": ref, "previous": self.head}
        self.head = digest(row)
        return (self.id, *row.values(), self.head)

    def mark(self, second: int, snapshot: int, seen: Seen) -> Line:
        """Return the value of all lots at a snapshot that has every market that anyone holds."""
        lots = [(shares, *seen[market]) for market, (shares, _) in self.lots.items()]
        value = sum(shares * price.mid // ONE for shares, price, _ in lots)
        liquidation = sum(shares * price.bid // ONE for shares, price, _ in lots)
        ages = [age for _, _, age in lots]
        worth = self.cash, value, liquidation, sum(cost for _, cost in self.lots.values()), self.realised
        return (
            self.id,
            text(second),
            snapshot,
            *worth,
            sum(age > MAX_AGE for age in ages),
            max(ages, default=0),
        )


ROUNDS = 5
LIFE = 12
LAST = 52 * WEEK - HOUR
"""Rounds of a cohort, the weeks until its last position has settled, and when the record is looked at."""
SHOWN, AHEAD = 40, 8
"""How many markets a round shows, and in how many weeks they end."""
FRESH, OLD, SELDOM = 60, 7_200, 40
"""The age of a quote when it is looked at; every so often, between rounds, one is older."""


@dataclass(frozen=True)
class Team:
    """A cohort, and everyone's account in the order of the line-up."""

    number: int
    accounts: list[YearAccount]

    def looks(self, marks: int) -> Iterator[tuple[int, int]]:
        """Yield the seconds at which it looks at the markets, each with its number, from 0."""
        for number in range(LIFE * marks + 1):
            second = (self.number - 1) * WEEK + number * WEEK // marks
            if second <= LAST:
                yield second, number

    def is_over(self, second: int) -> bool:
        """Tell whether nothing comes after that."""
        return second == (self.number - 1 + LIFE) * WEEK


@dataclass(frozen=True)
class YearSnapshot:
    """A snapshot: its id and time, the markets it shows, those that are held besides, and all prices."""

    id: int
    second: int
    shown: list[int]
    held: list[int]
    seen: dict[int, tuple[YearPrice, int]] = field(default_factory=dict)


@dataclass
class Pages:
    """Rows that wait to be written, by their table."""

    rows: dict[str, list[Line]] = field(default_factory=lambda: defaultdict(list))
    ids: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def next_id(self, table: str) -> int:
        """Return the id of a new row."""
        self.ids[table] += 1
        return self.ids[table]


def snapshot_at(world: YearWorld, pages: Pages, team: Team, second: int, number: int) -> YearSnapshot:
    """Settle what has ended, and take a snapshot of what is shown and held."""
    for account in team.accounts:
        pages.rows["entry"] += account.settle(world, second)
    week, part = divmod(number, world.size.marks)
    shown = markets_of(world, team.number, week) if part == 0 and week < ROUNDS else []
    held = dict.fromkeys(market for account in team.accounts for market in account.lots)
    look = YearSnapshot(
        pages.next_id("snapshot"), second, shown, [market for market in held if market not in shown]
    )
    is_old = not shown and number % SELDOM == SELDOM - 1
    _snapshot(world, pages, team, look, OLD if is_old else FRESH)
    return look


def markets_of(world: YearWorld, cohort: int, week: int) -> list[int]:
    """Return the markets of a round: a few of the ends of each of the next weeks."""
    kinds = world.size.kinds
    now = cohort - 1 + week
    places = range(min(SHOWN, AHEAD * kinds))
    return [
        (cohort * 5 + week * 3 + place // AHEAD) % kinds * ENDS + now + 1 + place % AHEAD for place in places
    ]


def _snapshot(world: YearWorld, pages: Pages, team: Team, look: YearSnapshot, first: int) -> None:
    """Write its rows; the first of its quotes is this many seconds old."""
    newest = world.newest(look.second)
    sealed = []
    shown = len(look.shown)
    for place, market in enumerate((*look.shown, *look.held)):
        quoted = max(newest * world.size.step, look.second - (FRESH if place else first))
        price = world.prices[market][world.level(market, newest)]
        look.seen[market] = price, look.second + 2 - quoted
        item = world.names[market], text(quoted), int(place < shown)
        quote = newest * world.size.markets + market + 1
        pages.rows["snapshot_item"].append((look.id, place, item[0], market + 1, quote, *item[1:]))
        sealed.append([item[0], world.pages[market][-1], price.hash, *item[1:]])
    times = {"at": text(look.second), "taken_at": text(look.second + 2)}
    snapshot_hash = digest(times | {"cohort": team.number, "items": sealed})
    pages.rows["snapshot"].append((look.id, team.number, *times.values(), snapshot_hash))


def mark(pages: Pages, team: Team, look: YearSnapshot) -> None:
    """Mark everyone's holdings at a snapshot."""
    seen: Seen = look.seen
    pages.rows["mark"] += [account.mark(look.second, look.id, seen) for account in team.accounts]


BOUGHT, LEFT_OUT = 12, 6
"""Of so many markets an agent buys all but every sixth."""
ODDS = 100
"""One turn in so many fails, and one is malformed."""
WHY = "It has come to pass in most years, the papers expect it, and nothing heard since speaks against it."
QUESTION = "p" * 5_900
ANSWER = "r" * 3_000


def play_round(world: YearWorld, pages: Pages, team: Team, look: YearSnapshot, number: int) -> None:
    """Play a round with everyone's turn."""
    round_id = pages.next_id("round")
    pages.rows["round"].append((round_id, team.number, number, text(look.second), look.id, 1))
    for account in team.accounts:
        luck = (account.id * 31 + round_id * 17 + world.seed) % ODDS
        status = {0: "failed", 1: "malformed"}.get(luck, "played")
        place = {"cohort": team.number, "round": number, "entrant": account.name}
        key = pages.next_id("turn")
        if account.is_model:
            pages.rows["call"].append(_call(key, round_id, account, place, look.second))
        _turn(world, pages, (key, round_id), account, look, place | {"verdict": status})


def _turn(
    world: YearWorld,
    pages: Pages,
    keys: tuple[int, int],
    account: YearAccount,
    look: YearSnapshot,
    place: dict[str, Any],
) -> None:
    """Write an agent's forecasts and bets, or a turn that was not played."""
    key, round_id = keys
    cash = account.cash
    shown = look.shown if place["verdict"] == "played" else []
    said = [_forecast(world, key, market) for market in shown]
    wanted = [m for n, m in enumerate(shown[:BOUGHT]) if (account.id + n + round_id) % LEFT_OUT]
    bets = list[dict[str, Any]]()
    for position, market in enumerate(wanted):
        spent = _buy(world, pages, key, account, look, market, (position, cash, place["round"]))
        bets.append({"amount": spent, "market_id": world.names[market], "reason": WHY, "side": "YES"})
    orders = json.dumps({"bets": bets, "sales": []}, separators=(",", ":"))
    sealed = place | {"note": "", "cash": cash, "wishes": orders, "forecasts": sorted(said), "rejections": []}
    row = place["verdict"], "", cash, orders, "0.1.0", digest(sealed)
    pages.rows["turn"].append((key, round_id, account.id, *row))
    pages.rows["claim"].append((round_id, account.id, 1, "host/1/1", None))
    pages.rows["forecast"] += [(key, *forecast) for forecast in said]


def _forecast(world: YearWorld, turn: int, market: int) -> list[Any]:
    chance = (market * 7919 + turn * 104729 + world.seed) % 90 * 10_000 + 50_000
    return [world.names[market], "final", chance, "since it is so"]


def _buy(
    world: YearWorld,
    pages: Pages,
    turn: int,
    account: YearAccount,
    look: YearSnapshot,
    market: int,
    place: Sequence[int],
) -> int:
    """Write a fill with its level and its entry, and return what was spent."""
    position, base, round_id = place
    price, age = look.seen[market]
    ref = f"fill:{round_id}:{position}"
    amount, fee, entry = account.buy(world, market, price.ask, look.second, ref)
    level = {"price": price.ask, "shares": SHARES, "amount": amount, "fee": fee}
    said = {
        "market_id": world.names[market],
        "side": "YES",
        "action": "buy",
        "shares": SHARES,
        "amount": amount,
        "fee": fee,
        "wanted": amount,
        "base": base,
        "quote_at": text(look.second + 2 - age),
        "quote_hash": price.hash,
        "fee_rate": 40_000,
        "left": "",
        "reason": WHY,
    }
    key = pages.next_id("fill")
    pages.rows["fill"].append((key, turn, position, *said.values(), digest(said | {"levels": [level]})))
    pages.rows["fill_level"].append((key, 0, *level.values()))
    pages.rows["entry"].append(entry)
    return amount


def _call(
    turn: int, round_id: int, account: YearAccount, place: dict[str, Any], second: int
) -> tuple[Any, ...]:
    """Write a question and its answer."""
    messages = [{"content": QUESTION, "role": "user"}]
    said = {
        "stage": "final",
        "sample": 0,
        "attempt": 1,
        "messages": json.dumps(messages, separators=(",", ":")),
        "prompt_hash": digest({"messages": messages, "seed": 1}),
        "seed": 1,
        "reply": ANSWER,
        "finish": "stop",
        "model": "made-up-1",
        "fingerprint": "fp",
        "rung": "schema",
        "tokens_in": 6_000,
        "tokens_out": 1_500,
        "cost": 4_000 + turn % 1_000 if turn % 20 else None,
        "worst": 90_000,
        "latency_ms": 9_000,
        "error_code": None,
        "error_message": None,
        "error_retry": 0,
    }
    return (round_id, account.id, *said.values(), text(second + 60), digest(said | place))
