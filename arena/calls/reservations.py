"""Reservations of calls: room at the provider and money for the worst case, held before a call is made."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from uuid import uuid4

from arena.calls.faults import raise_past_agent
from arena.calls.rate_limit import FIRST_LOOK, LONGEST_LOOK, ProviderLimit, RateLimiter, RunningCalls
from arena.calls.wait_reports import WaitReports
from arena.errors import ArenaError
from arena.record.model.lease import HEARTBEAT_INTERVAL
from arena.record.model.reservation import (
    Budget,
    BudgetHeld,
    BudgetKey,
    CallRefused,
    ModelPaused,
    ProviderBusy,
    Reservation,
    ReservationAnswer,
    ReservationRequest,
    ReservationTerms,
)
from arena.record.record import Record
from arena.record.write.reservations import (
    lose_reservations,
    renew_reservations,
    reserve,
    withdraw_reservations,
)
from arena.record.write.turns import renew_claims


def new_reservation_id() -> int:
    """Return a random id of 52 bits for a reservation, which JSON can hold."""
    return 1 + uuid4().int % 2**52


class TakenOver(Exception):
    """Another worker has taken over this turn, so this one must not ask."""


@dataclass
class CallReservations:
    """Reservations of calls in the `record` that all processes share; without one, limits of this process.

    Calls that need the same money wait in line, and only the first looks whether there is some. Those in
    `unanswered` may be in the record though their calls were never made: the answer to the commit was lost,
    or came too late.
    """

    budget: Budget = field(default_factory=Budget)
    limiter: RateLimiter = field(default_factory=RateLimiter)
    record: Record | None = None
    calls: RunningCalls = field(default_factory=RunningCalls)
    under_way: dict[int, Reservation] = field(default_factory=dict)
    unanswered: set[int] = field(default_factory=set)
    queues: dict[BudgetKey, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    waits: WaitReports = field(default_factory=WaitReports)

    def renew(self) -> None:
        """Renew the reservations of calls under way."""
        if self.record is None:
            return

        self._withdraw_unanswered(self.record)
        if self.under_way:
            self.record.write_unfenced(renew_reservations, list(self.under_way))

    def renew_turns(self, round_id: int, claims: dict[int, int], record: Record) -> None:
        """Renew the reservations of calls under way, and claims on turns of a round in the record.

        `claims` has their tokens by entrant; those that another process took over are removed.
        """
        self.renew()
        renewed = record.write_unfenced(renew_claims, round_id, claims)
        for lost_entrant in claims.keys() - renewed:
            del claims[lost_entrant]

    async def reserve(
        self, request: ReservationRequest, limit: ProviderLimit
    ) -> Reservation | ProviderBusy | ModelPaused | CallRefused | None:
        """Reserve a call; if the money is held for calls under way, wait until these have ended.

        Return None if there is no record to reserve in. Raise `TakenOver` if another worker plays the turn.
        """
        if self.record is None:
            return None

        answer = self._try_reserve(self.record, request)
        while isinstance(answer, BudgetHeld):
            async with self.queues[request.payer.budget_key(answer.scope)]:
                answer = await self._wait_for_money(self.record, request, answer)

        if isinstance(answer, Reservation):
            self.limiter.note_room(limit, answer.free)
        elif isinstance(answer, ProviderBusy):
            self.limiter.note_busy(limit, answer.pause)
            if answer.pause is not None:
                self.waits.note(request.provider, answer.pause)
        elif isinstance(answer, ModelPaused):
            self.waits.note(request.model or request.provider, answer.seconds)
        elif answer.taken_over:
            raise TakenOver(answer.why)

        return answer

    async def _wait_for_money(
        self, record: Record, request: ReservationRequest, held: BudgetHeld
    ) -> ReservationAnswer:
        """Retry the reservation when a call ends or a while has passed, until no money is held back."""
        longest_pause = FIRST_LOOK
        while True:
            answer = self._try_reserve(record, request)
            if answer != held:
                return answer

            self.ended.clear()
            longest_pause = min(LONGEST_LOOK, 2 * longest_pause)
            with suppress(TimeoutError):
                async with asyncio.timeout(self.limiter.random.uniform(FIRST_LOOK, longest_pause)):
                    await self.ended.wait()

    def _try_reserve(self, record: Record, request: ReservationRequest) -> ReservationAnswer:
        """Ask the record for a reservation; once more if this process stood still meanwhile.

        Its turn or its lead may be another's by then. The former reservation is deleted.
        """
        timer = record.watch.timer

        with raise_past_agent():
            record.hold_room(len(self.under_way) + 1)
            asked_at = timer()
            answer = self._reserve_once(record, request)

            # Who stood still for so long has missed a heartbeat, and others may have taken it for dead.
            if timer() - asked_at > HEARTBEAT_INTERVAL.total_seconds():
                if isinstance(answer, Reservation):
                    self.unanswered.add(answer.id)
                answer = self._reserve_once(record, request)

            return answer

    def _reserve_once(self, record: Record, request: ReservationRequest) -> ReservationAnswer:
        """Ask the record for a reservation; a second time if it can't be reached.

        A scheduler that has lost the lead buys no call: it would break off before the answer.
        """
        watch = record.watch
        terms = ReservationTerms(self.budget, self.limiter.per_provider, watch.is_over, self.limiter.timed)
        reservation_id = new_reservation_id()
        self._withdraw_unanswered(record)

        def try_once() -> ReservationAnswer:
            return record.write(reserve, request, terms, reservation_id)

        # From here until there is an answer the record may have a reservation of which nobody here knows.
        self.unanswered.add(reservation_id)
        try:
            answer = try_once()
        except ArenaError as error:
            if error.code != "unreachable":
                raise
            answer = try_once()
        self.unanswered.discard(reservation_id)

        return answer

    def _withdraw_unanswered(self, record: Record) -> None:
        """Delete reservations that may have been written, of calls that were never made."""
        if self.unanswered:
            ids = frozenset(self.unanswered)
            record.write_unfenced(withdraw_reservations, ids)
            self.unanswered -= ids

    def close(self) -> None:
        """Delete reservations of calls that were never made; no heartbeat follows."""
        with suppress(ArenaError):  # a record that is away now counts them as spent
            self.renew()

    @contextmanager
    def renewed(self, reservation: Reservation | None) -> Iterator[None]:
        """Renew a reservation while its call is made; a call that breaks off counts as spent."""
        if self.record is None or reservation is None:
            yield
            return

        self.under_way[reservation.id] = reservation
        try:
            yield
        except Exception:
            # It takes no room any more, and goes on counting as spent.
            self.record.write_unfenced(lose_reservations, [reservation.id])
            raise
        finally:
            del self.under_way[reservation.id]
            self.ended.set()
