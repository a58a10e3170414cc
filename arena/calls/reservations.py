"""Past the gate: a call is reserved before it is made, and waits where money or room may yet come free."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial

from agents.model import Ask, Call, CallError, Prompt
from arena.calls.rate_limit import FIRST_LOOK, LONGEST_LOOK, ProviderLimit, RateLimiter, RunningCalls
from arena.calls.recorded_ask import INTERRUPTED, Attempt, CallInterrupted, EndedAttempt, raise_past_agent
from arena.record.model.lease import LEASE_LENGTH, is_gone
from arena.record.model.reservation import (
    Budget,
    BudgetHeld,
    BudgetKey,
    CallRefused,
    ProviderBusy,
    Reservation,
    ReservationAnswer,
    ReservationRequest,
    ReservationTerms,
    provider_pause,
)
from arena.record.record import Record
from arena.record.write.reservations import renew_reservations, reserve


class TakenOver(Exception):
    """Another worker plays this turn now: it asks, and this one must not."""


@dataclass
class CallReservations:
    """Where every call is reserved: in the `record` that all processes share; without one, here alone.

    Who waits for the same money waits in line, and only the first looks whether there is some.
    """

    budget: Budget = field(default_factory=Budget)
    gate: RateLimiter = field(default_factory=RateLimiter)
    record: Record | None = None
    calls: RunningCalls = field(default_factory=RunningCalls)
    under_way: dict[int, Reservation] = field(default_factory=dict)
    lines: dict[BudgetKey, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def terms(self) -> ReservationTerms:
        """What calls are held to."""
        return ReservationTerms(self.budget, self.gate.per_provider, LEASE_LENGTH, is_gone)

    def renew(self) -> None:
        """The calls under way go on."""
        if self.record is not None and self.under_way:
            self.record.write_unfenced(renew_reservations, list(self.under_way), LEASE_LENGTH)

    async def place(
        self, asked: Callable[[], ReservationRequest], lane: ProviderLimit
    ) -> Reservation | ProviderBusy | CallRefused | None:
        """A place for a call; where the money is held for others under way, they are waited for."""
        if self.record is None:
            return None
        wish = asked()
        answer = self._ask(self.record, wish)
        while isinstance(answer, BudgetHeld):
            async with self.lines[wish.payer.purse(answer.scope)]:
                answer = await self._first_in_line(self.record, wish, answer)
        if isinstance(answer, Reservation):
            self.gate.found(lane, answer.free)
        elif isinstance(answer, ProviderBusy):
            self.gate.full(lane, answer.pause)
        return answer

    async def _first_in_line(
        self, record: Record, wish: ReservationRequest, short: BudgetHeld
    ) -> ReservationAnswer:
        longest = FIRST_LOOK
        while (answer := self._ask(record, wish)) == short:
            self.ended.clear()
            longest = min(LONGEST_LOOK, 2 * longest)
            with suppress(TimeoutError):
                async with asyncio.timeout(self.gate.chance.uniform(FIRST_LOOK, longest)):
                    await self.ended.wait()
        return answer

    def _ask(self, record: Record, wish: ReservationRequest) -> ReservationAnswer:
        with raise_past_agent():
            return record.write_unfenced(reserve, wish, self.terms)

    @contextmanager
    def making(self, place: Reservation | None) -> Iterator[None]:
        """While a call is made, its place is renewed; if it breaks, nobody knows whether it must be paid."""
        if self.record is None or place is None:
            yield
            return
        self.under_way[place.id] = place
        try:
            yield
        except Exception:
            self.record.write_unfenced(
                renew_reservations, [place.id], timedelta()
            )  # it goes on counting as spent
            raise
        finally:
            del self.under_way[place.id]
            self.ended.set()


def reserved_ask(
    ask: Ask,
    desk: CallReservations,
    provider: str,
    agent: str,
    wish: Callable[[int | None], ReservationRequest],
    worst_case: Callable[[Prompt], int | None],
) -> Attempt:
    """`ask`, but a call waits until there is room for it, and one that could break a limit is not made."""

    async def attempt(prompt: Prompt) -> EndedAttempt:
        worst = worst_case(prompt)
        if (why := desk.budget.too_dear(worst)) is not None:
            return _refused(prompt, why)
        again = False
        while True:
            async with desk.gate.through(provider, agent, again) as lane:
                await desk.calls.let_in()
                found = await desk.place(partial(wish, worst), lane)
                if isinstance(found, CallRefused):
                    return _refused(prompt, found.why, found.taken_over)
                if not isinstance(found, ProviderBusy):
                    return await _made(ask, prompt, worst, desk, lane, found)
            again = True

    return attempt if provider else unreserved_ask(ask)


def local_ask(
    ask: Ask, desk: CallReservations, provider: str, worst_case: Callable[[Prompt], int | None]
) -> Ask:
    """`ask` at a desk without a book: past the gate, and within what a single call may cost."""

    def nobody(_worst: int | None) -> ReservationRequest:
        raise LookupError("who asks alone has no book to be written into")

    attempt = reserved_ask(ask, desk, provider, provider, nobody, worst_case)

    async def asked(prompt: Prompt) -> Call:
        return (await attempt(prompt)).call

    return asked


def unreserved_ask(ask: Ask) -> Attempt:
    """`ask` for an agent without a model, which costs nothing and goes nowhere."""

    async def attempt(prompt: Prompt) -> EndedAttempt:
        return EndedAttempt(await ask(prompt))

    return attempt


async def _made(
    ask: Ask,
    prompt: Prompt,
    worst: int | None,
    desk: CallReservations,
    lane: ProviderLimit,
    place: Reservation | None,
) -> EndedAttempt:
    with desk.making(place), desk.calls.one():
        try:
            call = replace(await ask(prompt), worst=worst)
        except asyncio.CancelledError as error:
            raise CallInterrupted(
                EndedAttempt(Call(prompt, None, worst=worst, error=INTERRUPTED), place)
            ) from error
    if (pause := provider_pause(call.error)) is not None:
        desk.gate.shut(lane, pause)
    return EndedAttempt(call, place)


def _refused(prompt: Prompt, why: str, taken_over: bool = False) -> EndedAttempt:
    if taken_over:
        raise TakenOver(why)
    return EndedAttempt(Call(prompt, None, cost=0, error=CallError("budget", why, retry=False)))
