"""The rounds of a record that is made up: what everyone said, asked, wished for and got."""

import json
from collections.abc import Sequence
from typing import Any

from markets.hashes import digest
from tests.year.ledger import YearAccount
from tests.year.play import Pages, Team, YearSnapshot
from tests.year.world import SHARES, YearWorld, text

BOUGHT, LEFT_OUT = 12, 6
"""Of so many markets an agent buys all but every sixth."""
ODDS = 100
"""One turn in so many fails, and one is malformed."""
WHY = "It has come to pass in most years, the papers expect it, and nothing heard since speaks against it."
QUESTION, ANSWER = "p" * 5_900, "r" * 3_000


def play_round(world: YearWorld, pages: Pages, team: Team, look: YearSnapshot, number: int) -> None:
    """A round with everyone's turn."""
    round = pages.next_id("round")
    pages.rows["round"].append((round, team.number, number, text(look.second), look.id, 1))
    for account in team.accounts:
        luck = (account.id * 31 + round * 17 + world.seed) % ODDS
        status = {0: "failed", 1: "malformed"}.get(luck, "played")
        place = {"cohort": team.number, "round": number, "entrant": account.name}
        key = pages.next_id("turn")
        if account.is_model:
            pages.rows["call"].append(_call(key, round, account, place, look.second))
        _turn(world, pages, (key, round), account, look, place | {"verdict": status})


def _turn(
    world: YearWorld,
    pages: Pages,
    keys: tuple[int, int],
    account: YearAccount,
    look: YearSnapshot,
    place: dict[str, Any],
) -> None:
    """What somebody believes and buys; nothing where the turn was not played."""
    key, round = keys
    cash, shown = account.cash, look.shown if place["verdict"] == "played" else []
    said = [_forecast(world, key, market) for market in shown]
    wanted = [m for n, m in enumerate(shown[:BOUGHT]) if (account.id + n + round) % LEFT_OUT]
    bets = list[dict[str, Any]]()
    for position, market in enumerate(wanted):
        spent = _buy(world, pages, key, account, look, market, (position, cash, place["round"]))
        bets.append({"amount": spent, "market_id": world.names[market], "reason": WHY, "side": "YES"})
    wishes = json.dumps({"bets": bets, "sales": []}, separators=(",", ":"))
    sealed = place | {"note": "", "cash": cash, "wishes": wishes, "forecasts": sorted(said), "rejections": []}
    row = place["verdict"], "", cash, wishes, "0.1.0", digest(sealed)
    pages.rows["turn"].append((key, round, account.id, *row))
    pages.rows["claim"].append((round, account.id, 1, "host/1/1", text(0)))
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
    """A fill with its level and its entry; gives what was spent."""
    position, base, round = place
    price, age = look.seen[market]
    ref = f"fill:{round}:{position}"
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
        "reason": "",
    }
    key = pages.next_id("fill")
    pages.rows["fill"].append((key, turn, position, *said.values(), digest(said | {"levels": [level]})))
    pages.rows["fill_level"].append((key, 0, *level.values()))
    pages.rows["entry"].append(entry)
    return amount


def _call(turn: int, round: int, account: YearAccount, place: dict[str, Any], second: int) -> tuple[Any, ...]:
    """A question and its answer."""
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
    return (round, account.id, *said.values(), text(second + 60), digest(said | place))
