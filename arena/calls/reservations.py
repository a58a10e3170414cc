"""A call is reserved before it is made, and waits where money or room may yet come free."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from uuid import uuid4

from agents.model import Ask, Call, CallError, Prompt
from arena.calls.rate_limit import FIRST_LOOK, LONGEST_LOOK, ProviderLimit, RateLimiter, RunningCalls
from arena.calls.recorded_ask import INTERRUPTED, Attempt, CallInterrupted, EndedAttempt, raise_past_agent
from arena.calls.wait_reports import WaitReports
from arena.errors import ArenaError
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
    final_error,
    pause_after,
)
from arena.record.record import Record
from arena.record.write.reservations import (
    lose_reservations,
    renew_reservations,
    reserve,
    withdraw_reservations,
)


def new_reservation_id() -> int:
    """Return a number that no other reservation has: one of 2^52, which JSON can hold too."""
    return 1 + uuid4().int % 2**52


LOOK_AGAIN = 60.0
"""Seconds after which it is looked again whether a model is still to be left alone."""


class TakenOver(Exception):
    """Another worker plays this turn now: it asks, and this one must not."""


@dataclass
class CallReservations:
    """Where every call is reserved: in the `record` that all processes share; without one, here alone.

    Who waits for the same money waits in line, and only the first looks whether there is some. Those in
    `unanswered` may be in the record though their calls were never made: the answer to the commit was lost.
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
        """Renew the calls under way."""
        if self.record is None:
            return
        self._withdraw_unanswered(self.record)
        if self.under_way:
            self.record.write_unfenced(renew_reservations, list(self.under_way))

    async def reserve(
        self, make_request: Callable[[], ReservationRequest], limit: ProviderLimit
    ) -> Reservation | ProviderBusy | ModelPaused | CallRefused | None:
        """Reserve a call; where the money is held for others under way, they are waited for."""
        if self.record is None:
            return None
        request = make_request()
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
        return answer

    async def _wait_for_money(
        self, record: Record, request: ReservationRequest, short: BudgetHeld
    ) -> ReservationAnswer:
        longest = FIRST_LOOK
        while (answer := self._try_reserve(record, request)) == short:
            self.ended.clear()
            longest = min(LONGEST_LOOK, 2 * longest)
            with suppress(TimeoutError):
                async with asyncio.timeout(self.limiter.random.uniform(FIRST_LOOK, longest)):
                    await self.ended.wait()
        return answer

    def _try_reserve(self, record: Record, request: ReservationRequest) -> ReservationAnswer:
        terms = ReservationTerms(
            self.budget, self.limiter.per_provider, record.watch.is_over, self.limiter.timed
        )
        id = new_reservation_id()
        with raise_past_agent():
            record.hold_room(len(self.under_way) + 1)
            self._withdraw_unanswered(record)

            # From here until there is an answer the record may have a reservation of which nobody here knows.
            self.unanswered.add(id)
            try:
                answer = record.write_unfenced(reserve, request, terms, id)
            except ArenaError as error:
                if error.code != "unreachable":
                    raise
                answer = record.write_unfenced(reserve, request, terms, id)
            self.unanswered.discard(id)
            return answer

    def _withdraw_unanswered(self, record: Record) -> None:
        """Delete reservations that may have been written, of calls that were never made."""
        if self.unanswered:
            ids = frozenset(self.unanswered)
            record.write_unfenced(withdraw_reservations, ids)
            self.unanswered -= ids

    @contextmanager
    def renewed(self, reservation: Reservation | None) -> Iterator[None]:
        """While a call is made, its reservation is renewed; if it breaks, it counts as spent all the same."""
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


def reserved_ask(
    ask: Ask,
    reservations: CallReservations,
    provider: str,
    agent: str,
    request: Callable[[int | None], ReservationRequest],
    worst_case: Callable[[Prompt], int | None],
) -> Attempt:
    """`ask`, but a call waits until there is room for it, and one that could break a limit is not made."""

    async def attempt(prompt: Prompt) -> EndedAttempt:
        if not provider:  # an agent without a model: it costs nothing and goes nowhere
            return EndedAttempt(await ask(prompt))
        worst = worst_case(prompt)
        if (why := reservations.budget.too_dear(worst)) is not None:
            return _refused(prompt, why)
        again = False
        while True:
            async with reservations.limiter.slot(provider, agent, again) as limit:
                await reservations.calls.wait_while_closed()
                answer = await reservations.reserve(partial(request, worst), limit)
                if isinstance(answer, CallRefused):
                    return _refused(prompt, answer.why, answer.taken_over)
                if not isinstance(answer, ProviderBusy | ModelPaused):
                    return await _make_call(ask, prompt, worst, reservations, limit, answer)
            again = True

            # Whoever waits for a model takes no room meanwhile: others of its provider go on.
            if isinstance(answer, ModelPaused):
                await asyncio.sleep(min(answer.seconds, LOOK_AGAIN))

    return attempt


def local_ask(
    ask: Ask, reservations: CallReservations, provider: str, worst_case: Callable[[Prompt], int | None]
) -> Ask:
    """`ask` without a record: within the rate limits, and within what a single call may cost."""

    def no_request(_worst: int | None) -> ReservationRequest:
        raise LookupError("without a record there is nothing to reserve in")

    attempt = reserved_ask(ask, reservations, provider, provider, no_request, worst_case)

    async def asked(prompt: Prompt) -> Call:
        return (await attempt(prompt)).call

    return asked


async def _make_call(
    ask: Ask,
    prompt: Prompt,
    worst: int | None,
    reservations: CallReservations,
    limit: ProviderLimit,
    reservation: Reservation | None,
) -> EndedAttempt:
    with reservations.renewed(reservation), reservations.calls.one():
        try:
            call = replace(await ask(prompt), worst=worst)
            if call.error is not None:
                call = replace(call, error=final_error(call.error))
        except asyncio.CancelledError as error:
            raise CallInterrupted(
                EndedAttempt(Call(prompt, None, worst=worst, error=INTERRUPTED), reservation)
            ) from error
    pause = pause_after(call.error, limited=reservation is not None and reservation.limited)
    if pause is not None and pause.whole_provider:
        reservations.limiter.pause(limit, pause.seconds)
    return EndedAttempt(call, reservation, reservations.calls.ended())


def _refused(prompt: Prompt, why: str, taken_over: bool = False) -> EndedAttempt:
    if taken_over:
        raise TakenOver(why)
    return EndedAttempt(Call(prompt, None, cost=0, error=CallError("budget", why, retry=False)))
