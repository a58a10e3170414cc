"""One agent in depth, for JSON and in words."""

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from arena.cli.markets_show import plain
from markets.millionths import ONE

if TYPE_CHECKING:
    from arena.portrait import Money, Portrait

MOST = 3
"""So many events are named that may still cost or bring money."""
PARTS = (
    ("edge", "edge at mid, for as much of what it claimed as came true elsewhere"),
    ("spread", "spread and depth of the book"),
    ("fee", "fees"),
    ("sizing", "stakes beside a quarter of Kelly's"),
    ("exit", "selling early"),
    ("luck", "luck: what is left"),
)


def as_data(found: "Portrait") -> dict[str, Any]:
    """All of it for JSON; money in dollars, and null where nothing can be said."""
    data: dict[str, Any] = _known(asdict(found))
    data.pop("agent")
    sums = ("value", "worst", "best")
    at_stake = [each | {key: each[key] / ONE for key in sums} for each in data["at_stake"]]
    money = None if found.money is None else _dollars(found.money)
    return data | {"money": money, "at_stake": at_stake}


def _dollars(money: "Money") -> dict[str, Any]:
    luck, fall = asdict(money.luck), money.drawdown
    sums = {key: luck[key] for key in ("pnl", "mean", "low", "high")}
    return {
        "split": {key: getattr(money.split, key) / ONE for key, _ in PARTS} | {"pnl": money.split.pnl / ONE},
        "luck": luck | {key: None if value is None else value / ONE for key, value in sums.items()},
        "proven": _known(asdict(money.proven)),
        "drawdown": None if fall is None else {"share": fall.share, "amount": fall.amount / ONE},
    }


def _known(value: Any) -> Any:
    """The value without NaN, which JSON does not have."""
    if isinstance(value, dict):
        return {key: _known(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_known(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def say(data: Mapping[str, Any]) -> None:
    """The same in some lines: skill, calibration, coherence, blind answers, money."""
    gain = data["gain"]
    if gain is None or gain["skill"] is None:
        print("Scores: nothing that it was shown is resolved yet.\n")
    else:
        span = f", 95% from {gain['low']:+.4f} to {gain['high']:+.4f}" if gain["low"] is not None else ""
        why = f" ({gain['reason']})" if gain["reason"] else ""
        print(f"Skill over the market: {gain['skill']:+.4f}{span}, {gain['events']:,} events{why}")
        _say_calibration(data["calibration"])
    _say_statements(data)
    if data["money"] is not None:
        _say_money(data["money"])
    for event in data["at_stake"][:MOST]:
        span = f"{_dollar(event['worst'])} to {_dollar(event['best'])}"
        print(f"  still at stake: {span} in {plain(event['event'])}, {event['share']:.1%} of all")
    print()


def _say_calibration(found: Mapping[str, Any]) -> None:
    parts, null = found["parts"], found["null"]
    print(
        f"Brier {parts['brier']:.4f} = miscalibration {parts['miscalibration']:.4f} "
        f"− discrimination {parts['discrimination']:.4f} + uncertainty {parts['uncertainty']:.4f}"
    )
    chance = f"chance alone makes {null['expected']:.4f} of it, p = {null['p_value']:.3f}"
    print(f"  miscalibration: {chance}")


def _say_statements(data: Mapping[str, Any]) -> None:
    coherence, blind = data["coherence"], data["blind"]
    if coherence["loss"] is not None:
        sure = f"{_cents(coherence['loss'])} per $1 against it, {_cents(coherence['market'])} against prices"
        print(f"Coherence: a sure {sure}; {coherence['events']:,} events")
        if coherence["worst_event"]:
            print(f"  the worst {_cents(coherence['worst'])}: {plain(coherence['worst_event'])}")
        for deal in data["bargains"]:
            print(f"    {'buy' if deal['buy'] else 'sell'} {plain(deal['market_id'])} at {deal['price']:.3f}")
    if blind["rows"] and blind["pull"] is not None:
        print(f"Shown the price, it moved {blind['pull']:.0%} of the way, {blind['rows']:,} answers")
        if blind["blind_skill"] is not None:
            print(f"  skill before {blind['blind_skill']:+.4f}, after {blind['final_skill']:+.4f}")


def _say_money(money: Mapping[str, Any]) -> None:
    luck, split, fall = money["luck"], money["split"], money["drawdown"]
    print(f"P/L {_dollar(split['pnl'])}:")
    width = max(len(_dollar(split[key])) for key, _ in PARTS)
    for key, words in PARTS:
        print(f"  {_dollar(split[key]):>{width}}  {words}")
    if luck["percentile"] is not None:
        band = f"{_dollar(luck['low'])} and {_dollar(luck['high'])}"
        print(f"  by luck alone it is between {band} in 95% of seasons; {luck['percentile']:.1%} do worse")
    if fall is not None and fall["amount"]:
        print(f"  deepest fall {_dollar(-fall['amount'])}, {fall['share']:.1%} of the peak")


def _dollar(value: float) -> str:
    """Dollars with their sign before them.

    >>> _dollar(-1234.5), _dollar(2)
    ('-$1,234.50', '+$2.00')
    """
    return f"{'-' if value < 0 else '+'}${abs(value):,.2f}"


def _cents(value: float | None) -> str:
    return "–" if value is None else f"${value:.4f}"
