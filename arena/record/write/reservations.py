"""Calls under way, in all processes together: each has room at its provider, and money for its worst case.

Room and money are looked for and taken in the same transaction. A call that is kept gives them back, in the
transaction that keeps it. One whose worker was lost takes no room once that is noticed, and goes on counting
as spent: it may have to be paid. After "too many requests" a provider's room is halved, with a
pause, and it widens with each answer until it is as wide as the config says. A limit of a single model pauses
that model alone.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import BindParameter, ColumnElement, Connection, Table, and_, bindparam, func, literal, true
from sqlmodel import case

from agents.model import CallError
from arena.record.model.lease import Hold
from arena.record.model.reservation import (
    LONGEST_PAUSE,
    BudgetHeld,
    CallRefused,
    ModelPaused,
    PausedCalls,
    ProviderBusy,
    Reservation,
    ReservationAnswer,
    ReservationRequest,
    ReservationTerms,
    Scope,
    ScopeSums,
    check_budget,
    midnight,
    pause_after,
)
from arena.record.schema.dialects import NOW, BigInt, FromNow, SecondsUntil, UtcTime, is_postgresql
from arena.record.schema.statements import new_rows, run_statement
from arena.record.schema.turn import CallRow
from arena.record.schema.typed import IDS, AnySelect, col, column_of, columns_of, delete, select, update
from arena.record.schema.work import ClaimRow, ModelLimitRow, ProviderRow, ReservationRow
from markets.millionths import ONE

PROVIDER: BindParameter[str] = bindparam("provider")
MODEL: BindParameter[str] = bindparam("model")
ROUND_ID: BindParameter[int] = bindparam("round_id")
ENTRANT_ID: BindParameter[int] = bindparam("entrant_id")
MOST_CALLS = bindparam("most", type_=BigInt)
OF_PROVIDER = ProviderRow.provider == PROVIDER
FIRST_LIMIT = {"provider": PROVIDER, "room": MOST_CALLS}
LIMIT_UPSERT = new_rows(ProviderRow).values(FIRST_LIMIT).on_conflict_do_nothing()
LOCK_LIMIT = select(literal(1)).where(OF_PROVIDER).with_for_update()
KNOWN_ROOM = case((col(ProviderRow.paused_until).is_(None), MOST_CALLS), else_=ProviderRow.room)
WIDTH = case((KNOWN_ROOM < MOST_CALLS, KNOWN_ROOM), else_=MOST_CALLS)
PAUSE_END = FromNow(bindparam("pause"))
HALF = case((WIDTH > 2 * ONE, WIDTH // 2), else_=ONE)

MOST_SECONDS_LEFT = LONGEST_PAUSE + 1.0
"""Of a pause so many seconds may be left at most; SQLite rounds them."""


def is_paused(until: Any) -> ColumnElement[bool]:
    """Return whether a pause goes on that ends at an instant.

    One that has longer to go than any pause may last is over: the database's clock was put back.
    """
    return and_(until > NOW, until <= FromNow(literal(MOST_SECONDS_LEFT)))


def later_end(until: Any) -> ColumnElement[datetime]:
    """Return the later end of a pause that goes on and of the one that is asked for."""
    return case((is_paused(until) & (until > PAUSE_END), until), else_=PAUSE_END)


# Of many answers of "too many requests" that come at once, the first halves the room.
HALVED = case((is_paused(ProviderRow.paused_until), ProviderRow.room), else_=HALF)
NARROW = (
    update(ProviderRow)
    .where(OF_PROVIDER)
    .values(room=HALVED, paused_until=later_end(ProviderRow.paused_until))
)
GROWN = WIDTH + literal(ONE * ONE) // WIDTH
IS_WIDE = GROWN >= MOST_CALLS
WIDEN = (
    update(ProviderRow)
    .where(OF_PROVIDER, col(ProviderRow.paused_until).is_not(None))
    .values(
        room=case((IS_WIDE, MOST_CALLS), else_=GROWN),
        paused_until=case((IS_WIDE, None), else_=ProviderRow.paused_until),
    )
)

OF_MODEL = (ModelLimitRow.provider == PROVIDER, ModelLimitRow.model == MODEL)
NEW_MODEL_LIMIT = (
    new_rows(ModelLimitRow).values(provider=PROVIDER, model=MODEL, paused_until=NOW).on_conflict_do_nothing()
)
PAUSE_MODEL = (
    update(ModelLimitRow).where(*OF_MODEL).values(paused_until=later_end(ModelLimitRow.paused_until))
)
END_MODEL_LIMIT = delete(ModelLimitRow).where(*OF_MODEL, ~is_paused(ModelLimitRow.paused_until))


COST = func.coalesce(CallRow.cost, CallRow.worst, 0)
SPENT_SINCE = bindparam("since", type_=UtcTime())
OWN_ID = bindparam("id", type_=BigInt)
IS_LOST = col(ReservationRow.beat).is_(None)
IS_UNDER_WAY = col(ReservationRow.beat).is_not(None)
OF_OTHERS = IS_UNDER_WAY & (col(ReservationRow.id) != OWN_ID)
"""Without that of the call itself: it may be there, where the answer to its commit was lost."""


def counts_for_scope(scope: Scope, table: Table) -> ColumnElement[bool]:
    """Return the condition that a row counts for a limit, among calls or among reservations."""
    conditions: dict[Scope, ColumnElement[bool]] = {
        "round": table.c.round_id == ROUND_ID,
        "agent": table.c.entrant_id == ENTRANT_ID,
        "day": table.c.made_at >= SPENT_SINCE,
        "arena": true(),
    }
    return conditions[scope]


def cost_of_calls(scope: Scope) -> ColumnElement[int]:
    """Return the cost of stored calls, counting unknown costs at their worst."""
    costs = select(func.coalesce(func.sum(COST), 0)).where(counts_for_scope(scope, CallRow.__table__))
    return costs.scalar_subquery()


def worst_of_reservations(scope: Scope, condition: ColumnElement[bool]) -> ColumnElement[int]:
    """Return what some of the reservations may cost, of those that count for a limit."""
    is_counted = condition & counts_for_scope(scope, ReservationRow.__table__)
    return func.coalesce(func.sum(case((is_counted, ReservationRow.worst), else_=0)), 0)


def read_spent(
    connection: Connection, round_id: int, entrant_id: int, since: datetime, scopes: Collection[Scope]
) -> dict[Scope, int]:
    """Return the money that counts as spent for each limit, including lost calls."""
    if not scopes:
        return {}
    values = {"round_id": round_id, "entrant_id": entrant_id, "since": since}
    [sums] = run_statement(connection, _spent_query(tuple(scopes)), values)
    return _calls_plus_lost(scopes, sums)


def _calls_plus_lost(scopes: Iterable[Scope], sums: Sequence[Any]) -> dict[Scope, int]:
    """Return what calls have cost and lost calls may cost, added up by scope.

    `sums` has the cost of calls for each scope, then that of lost calls for each.
    """
    scope_count = len(sums) // 2
    spent = {}
    for scope, calls, lost in zip(scopes, sums[:scope_count], sums[scope_count:], strict=True):
        spent[scope] = int(calls) + int(lost)
    return spent


@cache
def _spent_query(scopes: tuple[Scope, ...]) -> AnySelect:
    """Return the query for the cost of calls, then of lost ones, for each limit."""
    query: AnySelect = select().select_from(ReservationRow).add_columns(*map(cost_of_calls, scopes))
    return query.add_columns(*[worst_of_reservations(scope, IS_LOST) for scope in scopes])


MONEY_LOCK = 7_446_512_018
"""The number of the lock under which a server looks for money; SQLite has one writer at a time."""
LOCK_MONEY = select(func.pg_advisory_xact_lock(MONEY_LOCK))
BUSY_COUNT = (
    select(func.count())
    .select_from(ReservationRow)
    .where(ReservationRow.provider == PROVIDER, OF_OTHERS)
    .scalar_subquery()
)
CLAIM = select(ClaimRow.token).where(ClaimRow.round_id == ROUND_ID, ClaimRow.entrant_id == ENTRANT_ID)
CLAIM_TOKEN = CLAIM.scalar_subquery()
ROOM = select(WIDTH).where(OF_PROVIDER).scalar_subquery()
PAUSE = select(SecondsUntil(ProviderRow.paused_until)).where(OF_PROVIDER).scalar_subquery()
MODEL_PAUSE = select(SecondsUntil(ModelLimitRow.paused_until)).where(*OF_MODEL).scalar_subquery()
REQUEST_FIELDS = ("round_id", "entrant_id", "provider", "worst", "holder", "made_at")
NEW_RESERVATION: dict[str, Any] = {name: bindparam(name) for name in REQUEST_FIELDS} | {
    "id": OWN_ID,
    "beat": 0,
}
INSERT_RESERVATION = new_rows(ReservationRow).values(NEW_RESERVATION).on_conflict_do_nothing()
CALLS_OF_OTHERS = select(*columns_of(ReservationRow, ("id", "holder", "beat"))).where(
    IS_UNDER_WAY, ReservationRow.holder != bindparam("holder")
)
OF_THESE_RESERVATIONS = col(ReservationRow.id).in_(IDS)
LOSE_RESERVATIONS = update(ReservationRow).where(OF_THESE_RESERVATIONS).values(beat=None)
RENEW_RESERVATIONS = (
    update(ReservationRow).where(OF_THESE_RESERVATIONS).values(beat=func.coalesce(ReservationRow.beat, 0) + 1)
)
WITHDRAW_RESERVATIONS = delete(ReservationRow).where(OF_THESE_RESERVATIONS)
DELETE_RESERVATION = (
    delete(ReservationRow)
    .where(ReservationRow.id == bindparam("place"))
    .returning(column_of(ReservationRow.id))
)


class ReservationView(NamedTuple):
    """What one query shows: the turn's token, room at the provider and how it is used, and the money.

    `model_pause` is for how long the model is left alone, negative once that is over; None without a limit.
    """

    token: int | None
    room: int
    pause: float | None
    model_pause: float | None
    busy: int
    spent: ScopeSums
    held: ScopeSums


def reserve(
    connection: Connection, request: ReservationRequest, terms: ReservationTerms, reservation_id: int
) -> ReservationAnswer:
    """Reserve a call, or return why it can't be reserved.

    Its `id` is made by the caller: where the answer to the commit was lost, it reserves again under the same
    one and has one reservation, whether or not the first was written.
    """
    if is_postgresql(connection):
        _lock_limits(connection, request, terms)

    values = _request_values(request, terms) | {"id": reservation_id}
    view = _read_view(connection, values, terms)
    refusal = _refusal(view, request, terms)

    # Room and money may be held by workers that have died: then it is asked once more.
    if isinstance(refusal, ProviderBusy | BudgetHeld) and _lose_calls_of_dead(connection, request, terms):
        view = _read_view(connection, values, terms)
        refusal = _refusal(view, request, terms)
    if refusal is not None:
        return refusal

    run_statement(connection, INSERT_RESERVATION, values)
    is_narrow = view.room < terms.per_provider * ONE
    free = view.room // ONE - view.busy - 1
    is_limited = view.model_pause is not None
    return Reservation(
        reservation_id, request.provider, terms.per_provider, free, is_narrow, request.model, is_limited
    )


def _lock_limits(connection: Connection, request: ReservationRequest, terms: ReservationTerms) -> None:
    """Keep others on a server from taking the same room and money until the transaction ends."""
    provider_key = {"provider": request.provider, "most": terms.per_provider * ONE}
    if not run_statement(connection, LOCK_LIMIT, provider_key):  # the first call at this provider
        run_statement(connection, LIMIT_UPSERT, provider_key)
        run_statement(connection, LOCK_LIMIT, provider_key)
    if terms.budget.limits:
        run_statement(connection, LOCK_MONEY, {})


def free_reservation(connection: Connection, reservation: Reservation, error: CallError | None) -> bool:
    """Free the reservation of a stored call, and adapt its provider's room.

    Return False if that was done already.
    """
    if not run_statement(connection, DELETE_RESERVATION, {"place": reservation.id}):
        return False

    provider_key: Mapping[str, Any] = {"provider": reservation.provider, "most": reservation.most * ONE}
    model_key: Mapping[str, Any] = {"provider": reservation.provider, "model": reservation.model}
    pause = pause_after(error, reservation.limited)
    if pause is not None and pause.whole_provider:
        run_statement(connection, LIMIT_UPSERT, provider_key)
        run_statement(connection, NARROW, {**provider_key, "pause": pause.seconds})
        # The next limit of this model, before it has answered, is its own: see `pause_after`.
        run_statement(connection, NEW_MODEL_LIMIT, model_key)
    elif pause is not None:
        run_statement(connection, NEW_MODEL_LIMIT, model_key)
        run_statement(connection, PAUSE_MODEL, {**model_key, "pause": pause.seconds})

    if pause is None and error is None:
        if reservation.narrow:
            run_statement(connection, WIDEN, provider_key)
        if reservation.limited:
            run_statement(connection, END_MODEL_LIMIT, model_key)
    return True


PAUSED_PROVIDERS = select(ProviderRow.provider, SecondsUntil(ProviderRow.paused_until)).where(
    is_paused(ProviderRow.paused_until)
)
PAUSED_MODELS = select(ModelLimitRow.model, SecondsUntil(ModelLimitRow.paused_until)).where(
    is_paused(ModelLimitRow.paused_until)
)


def read_pauses(connection: Connection) -> list[PausedCalls]:
    """Return the paused providers and models, those with the shortest pause first."""
    rows = [*connection.execute(PAUSED_PROVIDERS), *connection.execute(PAUSED_MODELS)]
    pauses = [PausedCalls(name, seconds) for name, seconds in rows]
    return sorted(pauses, key=lambda paused: (paused.seconds, paused.name))


def renew_reservations(connection: Connection, ids: Collection[int]) -> None:
    """Renew the reservations of calls that are under way, also of those that were taken for lost."""
    connection.execute(RENEW_RESERVATIONS, {"ids": sorted(ids)})


def lose_reservations(connection: Connection, ids: Collection[int]) -> None:
    """Mark broken-off calls as lost: they free their room, but still count as spent."""
    connection.execute(LOSE_RESERVATIONS, {"ids": sorted(ids)})


def withdraw_reservations(connection: Connection, ids: Collection[int]) -> None:
    """Delete reservations of calls that were never made: nothing was spent.

    A server may still be at the transaction that adds one, though its client was cut off: it is waited for.
    """
    if is_postgresql(connection):
        connection.exec_driver_sql("LOCK TABLE reservation IN SHARE ROW EXCLUSIVE MODE")
    connection.execute(WITHDRAW_RESERVATIONS, {"ids": sorted(ids)})


def _request_values(request: ReservationRequest, terms: ReservationTerms) -> dict[str, Any]:
    """Return the values of a request in the statements. The day of a call is that of the arena's clock."""
    return {
        "round_id": request.payer.round_id,
        "entrant_id": request.payer.entrant_id,
        "provider": request.provider,
        "model": request.model,
        "worst": request.worst,
        "holder": request.holder,
        "made_at": request.made_at,
        "since": midnight(request.made_at),
        "most": terms.per_provider * ONE,
    }


def _read_view(connection: Connection, values: dict[str, Any], terms: ReservationTerms) -> ReservationView:
    """Return the turn's token, the room at the provider and the money."""
    scopes = tuple(terms.budget.limits)
    [(token, room, pause, model_pause, busy, *sums_by_scope)] = run_statement(
        connection, _view_query(scopes), values
    )
    if room is None:  # no limit of this provider is known
        room = values["most"]

    # The sums of calls, of lost ones and of those under way, each for every limit.
    first_under_way = 2 * len(scopes)
    spent = _calls_plus_lost(scopes, sums_by_scope[:first_under_way])
    held = dict(zip(scopes, map(int, sums_by_scope[first_under_way:]), strict=True))
    return ReservationView(token, room, pause, model_pause, busy, spent, held)


@cache
def _view_query(scopes: tuple[Scope, ...]) -> AnySelect:
    """Return the query for everything that a request depends on."""
    query = select(CLAIM_TOKEN, ROOM, PAUSE, MODEL_PAUSE, BUSY_COUNT)
    if not scopes:
        return query

    query = query.add_columns(*map(cost_of_calls, scopes))
    for condition in (IS_LOST, OF_OTHERS):
        query = query.add_columns(*[worst_of_reservations(scope, condition) for scope in scopes])
    return query.select_from(ReservationRow)


def _refusal(
    view: ReservationView, request: ReservationRequest, terms: ReservationTerms
) -> CallRefused | ProviderBusy | ModelPaused | BudgetHeld | None:
    """Return why there is no room for a call; None if there is."""
    if request.payer.token not in (None, view.token):
        return CallRefused("another worker has taken over this turn", taken_over=True)

    refusal = check_budget(terms.budget, request.worst, view.spent, view.held)
    if isinstance(refusal, CallRefused):
        return refusal

    if terms.timed and view.pause is not None and 0 < view.pause <= MOST_SECONDS_LEFT:
        return ProviderBusy(view.pause)
    if terms.timed and view.model_pause is not None and 0 < view.model_pause <= MOST_SECONDS_LEFT:
        return ModelPaused(view.model_pause)
    return ProviderBusy() if (view.busy + 1) * ONE > view.room else refusal


def _lose_calls_of_dead(connection: Connection, request: ReservationRequest, terms: ReservationTerms) -> bool:
    """Mark the calls of dead workers as lost; return whether there were any."""
    calls = run_statement(connection, CALLS_OF_OTHERS, {"holder": request.holder})
    lost = list[int]()
    for reservation_id, holder, beat in calls:
        if terms.is_over(Hold(f"call {reservation_id}", holder, (0, beat))):
            lost.append(reservation_id)

    if lost:
        lose_reservations(connection, lost)
    return bool(lost)
