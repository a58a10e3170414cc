"""Calls under way, in all processes together: each has its place at a provider, and money for its worst case.

Who looks for room and money takes both in the same transaction. A call that is kept gives them back, in the
transaction that keeps it. One whose worker was lost takes no room once its lease has run out, and goes on
counting as spent: it may have to be paid.
"""

from collections.abc import Collection
from datetime import timedelta
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, bindparam, delete, func, insert, select, update

from agents.model import CallError
from arena.record.model.budget import Scope, Sums, midnight
from arena.record.model.reservation import (
    BudgetHeld,
    CallRefused,
    ProviderBusy,
    Reservation,
    ReservationAnswer,
    ReservationRequest,
    ReservationTerms,
    weigh,
)
from arena.record.schema.clock import NOW, FromNow, Until, seconds
from arena.record.schema.quick import run
from arena.record.schema.tables import CLAIM, LANE, RESERVATION
from arena.record.write.lanes import THIS, WIDTH, learn, lock_lane
from arena.record.write.spending import IS_LOST, added, cost_of_calls, worst_of
from markets.millionths import ONE

MONEY = 7_446_512_018
"""The number of the lock under which a server looks for money; SQLite has one writer at a time."""
LOCK_MONEY = select(func.pg_advisory_xact_lock(MONEY))
IS_LIVE = RESERVATION.c.expires_at > NOW
UNTIL = FromNow(bindparam("length"))
BUSY = (
    select(func.count())
    .select_from(RESERVATION)
    .where(RESERVATION.c.provider == bindparam("provider"), IS_LIVE)
    .scalar_subquery()
)
TOKEN = (
    select(CLAIM.c.token)
    .where(CLAIM.c.round_id == bindparam("round_id"), CLAIM.c.entrant_id == bindparam("entrant_id"))
    .scalar_subquery()
)
ROOM, PAUSE = (select(what).where(THIS).scalar_subquery() for what in (WIDTH, Until(LANE.c.paused_until)))
WISHED = ("round_id", "entrant_id", "provider", "worst", "holder", "made_at")
NEW: dict[str, Any] = {name: bindparam(name) for name in WISHED} | {"expires_at": UNTIL}
PUT = insert(RESERVATION).values(NEW).returning(RESERVATION.c.id)
HOLDERS = select(RESERVATION.c.holder).where(IS_LIVE).group_by(RESERVATION.c.holder)
BURY = update(RESERVATION).where(RESERVATION.c.holder == bindparam("by"), IS_LIVE).values(expires_at=NOW)
THESE = RESERVATION.c.id.in_(bindparam("ids", expanding=True))
RENEW = update(RESERVATION).where(THESE).values(expires_at=UNTIL)
FREE = delete(RESERVATION).where(RESERVATION.c.id == bindparam("place")).returning(RESERVATION.c.id)


class Sight(NamedTuple):
    """What one look shows: the turn's token, room at the provider and how it is used, and the money."""

    token: int | None
    room: int
    pause: float | None
    busy: int
    spent: Sums
    held: Sums


def reserve(connection: Connection, wish: ReservationRequest, terms: ReservationTerms) -> ReservationAnswer:
    """A place for a call, or why there is none."""
    if connection.dialect.name != "sqlite":
        lock_lane(connection, wish.provider, terms.per_provider)
        if terms.budget.limits:
            run(connection, LOCK_MONEY, {})
    values = _values(wish, terms)
    sight = _look(connection, values, terms)
    refusal = _refusal(sight, wish, terms)
    if isinstance(refusal, ProviderBusy | BudgetHeld) and _bury(connection, wish, terms):
        sight = _look(connection, values, terms)
        refusal = _refusal(sight, wish, terms)
    if refusal is not None:
        return refusal
    [(id,)] = run(connection, PUT, values)
    narrow = sight.room < terms.per_provider * ONE
    return Reservation(id, wish.provider, terms.per_provider, sight.room // ONE - sight.busy - 1, narrow)


def free(connection: Connection, place: Reservation, error: CallError | None) -> bool:
    """A call has ended and is kept: room and money are given back, and its provider is learnt from.

    False where that was done already.
    """
    if not run(connection, FREE, {"place": place.id}):
        return False
    learn(connection, place, error)
    return True


def renew(connection: Connection, places: Collection[int], length: timedelta) -> None:
    """These calls are under way for longer; of length zero, they take no room any more."""
    connection.execute(RENEW, {"ids": sorted(places), "length": seconds(length)})


def _values(wish: ReservationRequest, terms: ReservationTerms) -> dict[str, Any]:
    """What the statements are told of a wish. The day of a call is that of the arena's clock."""
    return {
        "round_id": wish.payer.round_id,
        "entrant_id": wish.payer.entrant_id,
        "provider": wish.provider,
        "worst": wish.worst,
        "holder": wish.holder,
        "made_at": wish.made_at,
        "since": midnight(wish.made_at),
        "most": terms.per_provider * ONE,
        "length": seconds(terms.lease),
    }


def _look(connection: Connection, values: dict[str, Any], terms: ReservationTerms) -> Sight:
    scopes = tuple(terms.budget.limits)
    [(token, room, pause, busy, *sums)] = run(connection, _sight(scopes), values)
    held = dict(zip(scopes, map(int, sums[2 * len(scopes) :]), strict=True))
    width = values["most"] if room is None else room
    return Sight(token, width, pause, busy, added(scopes, sums[: 2 * len(scopes)]), held)


@cache
def _sight(scopes: tuple[Scope, ...]) -> Select[Any]:
    look = select(TOKEN, ROOM, PAUSE, BUSY)
    if not scopes:
        return look
    lost, held = ([worst_of(scope, which) for scope in scopes] for which in (IS_LOST, IS_LIVE))
    return look.add_columns(*map(cost_of_calls, scopes), *lost, *held).select_from(RESERVATION)


def _refusal(
    sight: Sight, wish: ReservationRequest, terms: ReservationTerms
) -> CallRefused | ProviderBusy | BudgetHeld | None:
    """Why there is no place, or None where there is one."""
    if wish.payer.token not in (None, sight.token):
        return CallRefused("another worker has taken this turn over", taken_over=True)
    verdict = weigh(terms.budget, wish.worst, sight.spent, sight.held)
    if isinstance(verdict, CallRefused):
        return verdict
    if sight.pause is not None and sight.pause > 0:
        return ProviderBusy(sight.pause)
    return ProviderBusy() if (sight.busy + 1) * ONE > sight.room else verdict


def _bury(connection: Connection, wish: ReservationRequest, terms: ReservationTerms) -> bool:
    """Let go of the places of those who are known to have ended; whether there were any."""
    names = [holder for (holder,) in run(connection, HOLDERS, {})]
    gone = [name for name in names if name != wish.holder and terms.is_gone(name)]
    for name in gone:
        run(connection, BURY, {"by": name})
    return bool(gone)
