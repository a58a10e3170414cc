"""What cohorts have frozen, read from their text without the code that wrote it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from arena.store.verify.parts import moment, written
from arena.store.verify.seals import parsed

ONE = 1_000_000

OWN = {"number": int, "starts_at": str, "rounds": int, "every": int, "bankroll": int, "evidence": str}
PARTS = {"rules": dict, "prompts": dict, "entrants": list, "guard": dict}
GUARD = {"per_market": int}
RULES = {"fill": str, "fee": str, "cap": str, "base": str, "merge": bool, "extremes": bool}
LIMITS = {
    "min_bet": int,
    "max_bet": int,
    "worst_price": int,
    "max_spread": int,
    "max_gap": int,
    "max_quote_age": int,
}
LINE_UP = {"position": int, "name": str, "kind": str, "settings": dict}


@dataclass(frozen=True, slots=True)
class Frozen:
    """A cohort as it was frozen. Limits of bets in millionths, ages and intervals in seconds."""

    number: int
    starts_at: str
    rounds: int
    every: int
    bankroll: int
    evidence: str
    per_market: int
    prompts: tuple[str, ...]
    entrants: tuple[tuple[int, str, str, str], ...]
    fill: str
    fee: str
    cap: str
    base: str
    merge: bool
    extremes: bool
    min_bet: int
    max_bet: int
    worst_price: int
    max_spread: int
    max_gap: int
    max_quote_age: int

    def decides_at(self, number: int) -> str | None:
        """When a round is decided; None where that is no time at all."""
        start = moment(self.starts_at)
        try:
            return written(start + timedelta(seconds=(number - 1) * self.every)) if start else None
        except OverflowError:
            return None

    def most(self, base: int) -> int:
        """The most that one bet may be, or all bets of a decision where those are capped together."""
        return max(0, min(base, base * self.max_bet // ONE))


def frozen_of(text: str) -> Frozen | None:
    """The cohort behind its frozen text; None when the text is not that of a cohort."""
    shape = parsed(text)
    own, parts = _shaped(shape, OWN), _shaped(shape, PARTS)
    if own is None or parts is None or moment(own["starts_at"]) is None:
        return None
    rules, guard = _shaped(parts["rules"], RULES | LIMITS), _shaped(parts["guard"], GUARD)
    line_up = [_shaped(entrant, LINE_UP) for entrant in parts["entrants"]]
    prompts = tuple(hash for hash in parts["prompts"].values() if isinstance(hash, str))
    if rules is None or guard is None or len(prompts) < len(parts["prompts"]):
        return None
    entrants = [(e["position"], e["name"], e["kind"], _json(e["settings"])) for e in line_up if e]
    if not all(line_up):
        return None
    return Frozen(**own, **rules, **guard, prompts=prompts, entrants=tuple(entrants))


def _shaped(value: Any, kinds: Mapping[str, type]) -> dict[str, Any] | None:
    """Some fields of an object, where they are all there and of their kinds."""
    if not isinstance(value, dict) or any(type(value.get(name)) is not kind for name, kind in kinds.items()):
        return None
    return {name: value[name] for name in kinds}


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
