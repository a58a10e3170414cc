"""Calls that are reserved by hand: what is wanted, on what terms, and what they end in."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from agents.model import Call, CallError, Message, Prompt
from arena.record.model.lease import holder_name, is_gone
from arena.record.model.reservation import (
    Budget,
    Payer,
    Reservation,
    ReservationAnswer,
    ReservationRequest,
    ReservationTerms,
    Scope,
)
from tests.builders import NOW
from tests.faults.hammer import COST

THERE = ReservationRequest(Payer(1, 1), "somewhere", COST, "elsewhere.invalid/1/x", NOW)
HERE = replace(THERE, holder=holder_name())


def terms(limits: Mapping[Scope, int], most: int = 1) -> ReservationTerms:
    """So many calls at a time, within these limits."""
    return ReservationTerms(Budget(limits=limits), most, timedelta(minutes=5), is_gone)


def placed(answer: ReservationAnswer) -> Reservation:
    """The place, which there must be."""
    assert isinstance(answer, Reservation)
    return answer


def yes(cost: int) -> Call:
    """A call that was answered."""
    return Call(Prompt((Message("user", "?"),)), "yes", cost=cost)


def too_many(wait: float) -> Call:
    """A call that the provider turned down, and for how long it wants to be left alone."""
    error = CallError("rate_limit", "slow down", retry=True, wait=wait)
    return Call(Prompt((Message("user", "?"),)), None, cost=0, error=error)
