"""Past the gate: a call is reserved before it is made, and waits where money or room may yet come free."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial

from agents.model import Ask, Call, CallError, Prompt
from arena.asking import BROKEN, Attempt, BrokenOff, Tried, no_fault_hidden
from arena.budget import Budget, Purse
from arena.gate import FIRST_LOOK, LONGEST_LOOK, Gate, Lane
from arena.lease import LEASE, is_gone
from arena.reserving import Answer, Book, Busy, Place, Refused, Short, Terms, Wish, pause_for
from arena.underway import UnderWay


class TakenOver(Exception):
    """Another worker plays this turn now: it asks, and this one must not."""


@dataclass
class Desk:
    """Where every call is reserved: in the `book` that all processes share; without one, here alone.

    Who waits for the same money waits in line, and only the first looks whether there is some.
    """

    budget: Budget = field(default_factory=Budget)
    gate: Gate = field(default_factory=Gate)
    book: Book | None = None
    calls: UnderWay = field(default_factory=UnderWay)
    under_way: dict[int, Place] = field(default_factory=dict)
    lines: dict[Purse, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def terms(self) -> Terms:
        """What calls are held to."""
        return Terms(self.budget, self.gate.per_provider, LEASE, is_gone)

    def renew(self) -> None:
        """The calls under way go on."""
        if self.book is not None and self.under_way:
            self.book.renew_places(list(self.under_way), LEASE)

    async def place(self, asked: Callable[[], Wish], lane: Lane) -> Place | Busy | Refused | None:
        """A place for a call; where the money is held for others under way, they are waited for."""
        if self.book is None:
            return None
        wish = asked()
        answer = self._ask(self.book, wish)
        while isinstance(answer, Short):
            async with self.lines[wish.payer.purse(answer.scope)]:
                answer = await self._first_in_line(self.book, wish, answer)
        if isinstance(answer, Place):
            self.gate.found(lane, answer.free)
        elif isinstance(answer, Busy):
            self.gate.full(lane, answer.pause)
        return answer

    async def _first_in_line(self, book: Book, wish: Wish, short: Short) -> Answer:
        longest = FIRST_LOOK
        while (answer := self._ask(book, wish)) == short:
            self.ended.clear()
            longest = min(LONGEST_LOOK, 2 * longest)
            with suppress(TimeoutError):
                async with asyncio.timeout(self.gate.chance.uniform(FIRST_LOOK, longest)):
                    await self.ended.wait()
        return answer

    def _ask(self, book: Book, wish: Wish) -> Answer:
        with no_fault_hidden():
            return book.reserve(wish, self.terms)

    @contextmanager
    def making(self, place: Place | None) -> Iterator[None]:
        """While a call is made, its place is renewed; if it breaks, nobody knows whether it must be paid."""
        if self.book is None or place is None:
            yield
            return
        self.under_way[place.id] = place
        try:
            yield
        except Exception:
            self.book.lose(place)
            raise
        finally:
            del self.under_way[place.id]
            self.ended.set()


def reserved(
    ask: Ask,
    desk: Desk,
    provider: str,
    agent: str,
    wish: Callable[[int | None], Wish],
    worst_case: Callable[[Prompt], int | None],
) -> Attempt:
    """`ask`, but a call waits until there is room for it, and one that could break a limit is not made."""

    async def attempt(prompt: Prompt) -> Tried:
        worst = worst_case(prompt)
        if (why := desk.budget.too_dear(worst)) is not None:
            return _refused(prompt, why)
        again = False
        while True:
            async with desk.gate.through(provider, agent, again) as lane:
                await desk.calls.let_in()
                found = await desk.place(partial(wish, worst), lane)
                if isinstance(found, Refused):
                    return _refused(prompt, found.why, found.taken_over)
                if not isinstance(found, Busy):
                    return await _made(ask, prompt, worst, desk, lane, found)
            again = True

    return attempt if provider else unreserved(ask)


def alone(ask: Ask, desk: Desk, provider: str, worst_case: Callable[[Prompt], int | None]) -> Ask:
    """`ask` at a desk without a book: past the gate, and within what a single call may cost."""

    def nobody(_worst: int | None) -> Wish:
        raise LookupError("who asks alone has no book to be written into")

    attempt = reserved(ask, desk, provider, provider, nobody, worst_case)

    async def asked(prompt: Prompt) -> Call:
        return (await attempt(prompt)).call

    return asked


def unreserved(ask: Ask) -> Attempt:
    """`ask` for an agent without a model, which costs nothing and goes nowhere."""

    async def attempt(prompt: Prompt) -> Tried:
        return Tried(await ask(prompt))

    return attempt


async def _made(
    ask: Ask, prompt: Prompt, worst: int | None, desk: Desk, lane: Lane, place: Place | None
) -> Tried:
    with desk.making(place), desk.calls.one():
        try:
            call = replace(await ask(prompt), worst=worst)
        except asyncio.CancelledError as error:
            raise BrokenOff(Tried(Call(prompt, None, worst=worst, error=BROKEN), place)) from error
    if (pause := pause_for(call.error)) is not None:
        desk.gate.shut(lane, pause)
    return Tried(call, place)


def _refused(prompt: Prompt, why: str, taken_over: bool = False) -> Tried:
    if taken_over:
        raise TakenOver(why)
    return Tried(Call(prompt, None, cost=0, error=CallError("budget", why, retry=False)))
