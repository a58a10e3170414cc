"""How Kalshi's markets end: paid once their result is final, in dollars."""

from datetime import datetime
from typing import Annotated

from pydantic import BeforeValidator

from markets.millionths import ONE
from markets.model import MarketId, Resolution
from markets.wire.fields import Instant, Maybe, Name, Some, Unfit, Wire, read, shown
from markets.wire.kalshi import STATUSES

RESULTS = frozenset(("", "yes", "no", "scalar", "void"))
"""What a result may be: none yet, a side, a value between them, or none at all with all paid back."""


class Ending(Wire):
    """How far a market is on its way to being paid, and what it paid."""

    ticker: Name
    status: str
    result: Some = ""
    settlement_value_dollars: Maybe = None
    settlement_ts: Annotated[Instant | None, BeforeValidator(lambda value: value or None)] = None


def resolution(raw: object, at: datetime) -> Resolution | None:
    """What a market paid, once that is final; None while nothing is amiss and it isn't."""
    ending = read(Ending, raw, "resolution")
    if ending.status in ("disputed", "amended"):
        raise Unfit("resolution", "disputed", f"its result is {ending.status}: it waits")
    if ending.status not in STATUSES:
        raise Unfit("resolution", "unknown_status", f"its status is {shown(ending.status)}: it waits")
    if ending.status != "finalized":
        return None
    if ending.result not in RESULTS:
        raise Unfit("resolution", "unknown_result", f"its result is {shown(ending.result)}: it waits")
    settled = ending.settlement_ts
    return Resolution(
        market_id=MarketId(f"kalshi:{ending.ticker}"),
        version=1,
        known_at=at if settled is None else min(settled, at),
        payout=_payout(ending),
        source=f"kalshi: finalized, {ending.result or 'no word'}",
    )


def _payout(ending: Ending) -> int | None:
    """What a YES contract paid; None where all were paid back."""
    value, result = ending.settlement_value_dollars, ending.result
    if result == "void":
        return None
    if value is None:
        raise Unfit("resolution", "no_value", "it is finalized without a value in dollars: it waits")
    if value > ONE or {"yes": ONE, "no": 0}.get(result, value) != value:
        words = f"its result is {shown(result)}, its value {value / ONE:g} dollars"
        raise Unfit("resolution", "contradiction", f"{words}: it waits")
    return value
