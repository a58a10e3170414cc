"""Who gets through, how many at once, and what a provider that has too many is spared."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from selectors import DefaultSelector, SelectorKey

from hypothesis import given
from hypothesis import strategies as st

from agents.model import Call, CallError, Message, Prompt
from arena.calls.rate_limit import BATCH_INTERVAL, BATCH_SIZE, CallBatch, RateLimiter
from arena.calls.recorded_ask import Asker
from arena.calls.reservations import CallReservations

QUESTION = Prompt((Message("user", "Will it rain?"),))


class Provider:
    """Answers after some rounds of the loop, or with errors in the order given; counts who is there."""

    def __init__(self, *errors: CallError | None, ticks: int = 3):
        self.errors = list(errors)
        self.ticks = ticks
        self.here: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self.served: list[str] = []

    def ask(self, limiter: RateLimiter, provider: str, agent: str) -> "asyncio.Task[Call]":
        async def one(prompt: Prompt) -> Call:
            self.served.append(agent)
            self.here.update([provider, "all"])
            for name in (provider, "all"):
                self.most[name] = max(self.most[name], self.here[name])
            for _ in range(self.ticks):
                await asyncio.sleep(0)
            self.here.subtract([provider, "all"])
            return Call(prompt, "yes", error=self.errors.pop(0) if self.errors else None)

        asker = Asker(one, lambda prompt: 0, provider, agent, CallReservations(limiter=limiter))
        return asyncio.ensure_future(asker.ask_once(QUESTION))


def play(limiter: RateLimiter, provider: Provider, calls: Sequence[tuple[str, str]]) -> list[Call]:
    """Make all these calls at once, each of an agent at a provider."""

    async def all_at_once() -> list[Call]:
        asked = [provider.ask(limiter, where, who) for where, who in calls]
        return list(await asyncio.wait_for(asyncio.gather(*asked), 10))

    return asyncio.run(all_at_once())


@given(
    st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from("abcd")), max_size=40),
    st.integers(1, 6),
    st.integers(1, 6),
)
def test_never_more_than_allowed_and_everyone_in_the_end(
    calls: list[tuple[str, str]], at_once: int, per_provider: int
) -> None:
    limiter = RateLimiter(at_once, per_provider, batch=CallBatch(most=1_000))
    provider = Provider()
    assert len(play(limiter, provider, calls)) == len(calls)
    assert provider.most["all"] <= at_once
    assert all(provider.most[name] <= per_provider for name in "xyz")
    used = len(calls) >= at_once and len({where for where, _ in calls}) * per_provider >= at_once
    counts = Counter(where for where, _ in calls)
    if used and all(count >= per_provider for count in counts.values()):
        assert provider.most["all"] == at_once, "what is allowed is used"
    assert (limiter.running, limiter.waiting) == (0, {})


def test_an_agent_with_many_questions_does_not_keep_others_waiting() -> None:
    calls = [("x", "many")] * 20 + [("x", "one"), ("x", "two")]
    provider = Provider()
    play(RateLimiter(1, 1), provider, calls)
    assert provider.served[:5] == ["many", "many", "one", "two", "many"]


def test_a_provider_that_is_busy_keeps_no_other_one_waiting_not_even_of_one_agent() -> None:
    provider = Provider()
    play(RateLimiter(10, 1), provider, [("x", f"a{n}") for n in range(8)] + [("y", "b")])
    assert provider.served.index("b") == 1
    play(RateLimiter(10, 1), two := Provider(), [("x", "a"), ("x", "a"), ("y", "a")])
    assert two.most == {"x": 1, "y": 1, "all": 2}


def test_a_provider_is_left_alone_for_as_long_as_it_asks() -> None:
    limiter = RateLimiter(50, 8)
    waits = CallError("rate_limit", "slow down", retry=True, wait=0.05)

    async def go() -> tuple[bool, bool]:
        provider = Provider(waits, ticks=0)
        await provider.ask(limiter, "x", "a")
        later = provider.ask(limiter, "x", "b")
        other = provider.ask(limiter, "y", "c")
        await other
        held = not later.done()
        await asyncio.wait_for(later, 10)
        return held, limiter.providers["x"].open

    assert asyncio.run(go()) == (True, True)


def test_who_stops_waiting_takes_no_room() -> None:
    limiter = RateLimiter(1, 1)

    async def go() -> str | None:
        provider = Provider(ticks=5)
        first = provider.ask(limiter, "x", "a")
        gone = [provider.ask(limiter, "x", "b") for _ in range(3)]
        last = provider.ask(limiter, "x", "c")
        await asyncio.sleep(0)
        for task in gone:
            task.cancel()
        await asyncio.gather(first, *gone, return_exceptions=True)
        return (await asyncio.wait_for(last, 10)).reply

    assert asyncio.run(go()) == "yes"
    assert (limiter.running, limiter.waiting) == (0, {})


def test_where_others_have_all_the_room_one_looks_again_and_nobody_else_waits_for_it() -> None:
    """What others leave is found by the first who looks; who waits for another provider isn't held up."""
    limiter = RateLimiter(50, 4)
    looks: list[str] = []

    async def visit(provider: str, name: str, free: int | None) -> None:
        again = False
        while True:
            async with limiter.slot(provider, name, again) as provider_limit:
                looks.append(name)
                if provider == "y" or looks.count("a0") == 3:
                    limiter.note_room(provider_limit, free or 0)
                    return
                limiter.note_busy(provider_limit, None)
            again = True

    async def go() -> None:
        waiting = [asyncio.ensure_future(visit("x", f"a{n}", 3 - n)) for n in range(4)]
        await asyncio.wait_for(visit("y", "b", 4), 10)
        assert looks == ["a0", "b"], "of four only one asked in vain"
        await asyncio.wait_for(asyncio.gather(*waiting), 10)

    asyncio.run(go())
    assert looks == ["a0", "b", "a0", "a0", "a1", "a2", "a3"]
    assert (limiter.running, dict(limiter.waiting)) == (0, {})


class Skipping(DefaultSelector):
    """Waits for nothing, and adds up for how long it would have waited."""

    skipped = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[SelectorKey, int]]:
        self.skipped += timeout or 0
        return super().select(0)


class Hasty(asyncio.SelectorEventLoop):
    """A loop in which waiting takes no time, and nothing else does."""

    def __init__(self) -> None:
        self.skipping = Skipping()
        super().__init__(self.skipping)

    def time(self) -> float:
        return self.skipping.skipped


def test_a_provider_that_is_busy_for_an_hour_is_still_looked_at() -> None:
    """The wait between two looks was 2 to the power of how many there had been: too large after 1,024."""
    limiter = RateLimiter(50, 1)

    async def look_for_an_hour() -> float:
        timer = asyncio.get_running_loop().time
        looks = 0
        while timer() < 3_600:
            async with limiter.slot("x", "a", again=looks > 0) as provider_limit:
                looks += 1
                limiter.note_busy(provider_limit, None)
        return timer() / looks

    with asyncio.Runner(loop_factory=Hasty) as runner:
        between = runner.run(look_for_an_hour())
    assert 0.1 < between < 1


def test_calls_start_in_bunches_a_little_apart() -> None:
    starts: list[float] = []

    async def through(limiter: RateLimiter, number: int) -> None:
        async with limiter.slot("x", f"a{number}"):
            starts.append(asyncio.get_running_loop().time())
            await asyncio.sleep(1)

    async def all_at_once() -> None:
        limiter = RateLimiter(at_once=25, per_provider=25)
        await asyncio.sleep(1)
        await asyncio.gather(*(through(limiter, number) for number in range(25)))

    with asyncio.Runner(loop_factory=Hasty) as runner:
        runner.run(all_at_once())
    after = [round((start - starts[0]) / BATCH_INTERVAL) for start in starts]
    assert after == [0] * BATCH_SIZE + [1] * BATCH_SIZE + [2] * 5


def test_who_comes_alone_starts_at_once() -> None:
    async def one_by_one() -> list[float]:
        limiter = RateLimiter()
        waited = list[float]()
        for number in range(2 * BATCH_SIZE):
            came = asyncio.get_running_loop().time()
            async with limiter.slot("x", f"a{number}"):
                waited.append(asyncio.get_running_loop().time() - came)
                await asyncio.sleep(BATCH_INTERVAL)
        return waited

    with asyncio.Runner(loop_factory=Hasty) as runner:
        assert runner.run(one_by_one()) == [0.0] * 2 * BATCH_SIZE


def test_a_call_broken_off_before_its_bunch_starts_leaves_its_room() -> None:
    async def broken_off() -> RateLimiter:
        limiter = RateLimiter(at_once=BATCH_SIZE + 1, per_provider=BATCH_SIZE + 1)

        async def through(number: int) -> None:
            async with limiter.slot("x", f"a{number}"):
                await asyncio.sleep(0)

        calls = [asyncio.ensure_future(through(number)) for number in range(BATCH_SIZE + 1)]
        await asyncio.sleep(BATCH_INTERVAL / 4)
        calls[-1].cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        assert calls[-1].cancelled()
        return limiter

    with asyncio.Runner(loop_factory=Hasty) as runner:
        assert runner.run(broken_off()).running == 0


def test_once_told_to_stop_no_call_is_begun_and_none_while_others_are_stored() -> None:
    """A call that waits begins when the answers that were in are stored."""
    provider = Provider()

    async def go() -> None:
        reservations = CallReservations()
        calls = reservations.calls

        async def asks(prompt: Prompt) -> Call:
            provider.served.append("ann")
            return Call(prompt, "yes")

        asker = Asker(asks, lambda prompt: 0, "x", "ann", reservations)
        with calls.storing():
            draining = asyncio.ensure_future(calls.drain())
            await asyncio.sleep(0)
            asked = asyncio.ensure_future(asker.ask_once(QUESTION))
            await asyncio.sleep(2 * BATCH_INTERVAL)
            assert provider.served == []
        await draining
        await asked
        assert provider.served == ["ann"]

        calls.close()
        never = asyncio.ensure_future(asker.ask_once(QUESTION))
        await asyncio.sleep(2 * BATCH_INTERVAL)
        assert (provider.served, never.done()) == (["ann"], False)
        never.cancel()
        await asyncio.gather(never, return_exceptions=True)

    asyncio.run(go())
