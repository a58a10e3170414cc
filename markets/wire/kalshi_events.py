"""What the markets of one of Kalshi's events have in common, and the fees of its series."""

from decimal import Decimal

from markets.millionths import ONE, millionths
from markets.wire.fields import Name, Some, Unfit, Wire, shown

USUAL_FEE = 70_000
"""0.07 · p · (1 − p) a contract: the general table of the venue's fee schedule, which a series multiplies."""


class Event(Wire):
    """What the markets of an event have in common."""

    event_ticker: Name
    series_ticker: Name
    category: Some = ""
    fee_type_override: str | None = None
    fee_multiplier_override: float | None = None


class Series(Wire):
    """The recurring question that events belong to; its fees are theirs."""

    ticker: Name
    category: Some = ""
    fee_type: str
    fee_multiplier: float


def nested(raw: object) -> list[object]:
    """The markets that come with an event."""
    inner = raw.get("markets") if isinstance(raw, dict) else None
    if not isinstance(inner, list | None):
        raise Unfit("market", "malformed", f"its markets are {shown(inner)}")
    return inner or []


def fee_rate(event: Event, series: Series | None) -> int:
    """The rate of our fee, rate · p · (1 − p), for who takes an offer; what makers pay is left out.

    An event's own fees come before those of its series; without either the general table holds.

    >>> fee_rate(Event(event_ticker="KXINX-26", series_ticker="KXINX", fee_multiplier_override=0.5), None)
    35000
    """
    fee_type = event.fee_type_override or (series.fee_type if series else "quadratic")
    multiplier = event.fee_multiplier_override
    if multiplier is None:
        multiplier = series.fee_multiplier if series else 1.0
    if not fee_type.startswith("quadratic") or not 0 <= multiplier <= 10:
        words = f"fees {shown(fee_type)} times {multiplier:g} aren't known"
        raise Unfit("market", "unknown_fee", f"{words}: the general ones are taken")
    return millionths(Decimal(USUAL_FEE) * Decimal(repr(multiplier)) / ONE)
