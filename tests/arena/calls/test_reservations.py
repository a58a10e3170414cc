"""A call has room and money before it is made, or waits for them, or isn't made at all."""

import asyncio
import shutil
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from agents.model import Ask, Call, CallError, Message, Prompt
from arena.calls.faults import NotKept
from arena.calls.rate_limit import RateLimiter
from arena.calls.reservations import CallReservations, TakenOver
from arena.calls.wait_reports import WaitReports
from arena.record.model.reservation import Budget, Payer, Scope
from arena.rounds.turns import ask_of_player as way_to
from arena.rounds.world import Player
from markets.millionths import ONE
from tests.builders import NOW
from tests.opened_record import OpenedRecord
from tests.records.little_world import LittleVenue, a_world, asks

QUESTION = Prompt((Message("user", "Will it rain?"),))
ME = Payer(1, 1)
TOO_MANY = CallError("rate_limit", "slow down", retry=True, wait=60)


@pytest.fixture(autouse=True)
def no_second_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.calls.recorded_ask.RETRY_WAITS", ())
    monkeypatch.setattr("arena.calls.recorded_ask.PATIENCE", 0.0)


class Provider:
    """Answers once so many ask at once, or with errors in the order given; counts who is there."""

    def __init__(self, *errors: CallError | None, cost: int | None = ONE, together: int = 1):
        self.errors, self.cost, self.barrier = list(errors), cost, asyncio.Barrier(together)
        self.here, self.most, self.asked = 0, 0, 0

    async def __call__(self, prompt: Prompt) -> Call:
        self.asked += 1
        self.here += 1
        self.most = max(self.most, self.here)
        await self.barrier.wait()
        for _ in range(3):
            await asyncio.sleep(0)
        self.here -= 1
        error = self.errors.pop(0) if self.errors else None
        return Call(prompt, None if error else "yes", cost=0 if error else self.cost, error=error)


def limited(
    record: OpenedRecord, call: int | None = None, limiter: RateLimiter | None = None, **limits: int
) -> CallReservations:
    """Return reservations with these limits, in millionths of a dollar."""
    scopes: Sequence[Scope] = ("round", "agent", "day", "arena")
    return CallReservations(
        Budget(call, {scope: limits[scope] for scope in scopes if scope in limits}),
        limiter or RateLimiter(),
        record,
    )


def play(
    record: OpenedRecord,
    reservations: CallReservations,
    provider: Provider,
    *payers: Payer,
    worst: int | None = ONE,
    at: datetime = NOW,
) -> list[Call]:
    """Make a call of each of these, all at once, and keep each when it has ended."""
    world = replace(a_world(LittleVenue(), {}, now=at), reservations=reservations)
    mind = Player(asks, provider, lambda prompt: worst, "x")

    async def all_at_once() -> list[Call]:
        ways = [way_to(mind, payer, f"a{payer.entrant_id}", [], world, record) for payer in payers]
        return list(await asyncio.wait_for(asyncio.gather(*(ask(QUESTION) for ask in ways)), 20))

    calls = asyncio.run(all_at_once())
    assert under_way(record) == 0
    return calls


def under_way(record: OpenedRecord) -> int:
    with record.engine.connect() as connection:
        return int(connection.exec_driver_sql("SELECT count(*) FROM reservation").scalar_one())


def spent_today(record: OpenedRecord) -> int:
    return record.spent("day")


def made(calls: list[Call]) -> int:
    return sum(call.error is None for call in calls)


def error_of(call: Call) -> CallError:
    assert call.error is not None
    return call.error


def test_who_has_lost_the_lead_buys_no_call(record: OpenedRecord) -> None:
    """It would break the call off at its next heartbeat, and the next leader would buy it again."""
    token = record.take_lease("scheduler", "me", gone=True)
    assert token is not None
    leading = record.fenced("scheduler", token)
    provider = Provider()
    assert made(play(leading, limited(leading), provider, ME)) == 1
    record.take_lease("scheduler", "another", gone=True)
    with pytest.raises(NotKept) as broken_off:
        play(leading, limited(leading), provider, ME)
    assert getattr(broken_off.value.fault, "code", "") == "superseded"
    assert (provider.asked, under_way(record)) == (1, 0)


@pytest.mark.parametrize("overtaken", [False, True])
def test_who_stood_still_while_it_reserved_a_call_reserves_it_once_more(
    record: OpenedRecord, overtaken: bool
) -> None:
    """The turn may be another's by then: a call made under the old reservation would be bought twice."""
    token = record.take_lease("scheduler", "me", gone=True)
    assert token is not None
    provider = Provider()
    moments = [0.0, 400.0, 401.0, 402.0]

    def timer() -> float:
        if len(moments) == 3:  # it wakes up
            assert under_way(record) == 1
            if overtaken:
                record.take_lease("scheduler", "another", gone=True)
        return moments.pop(0) if moments else 403.0

    leading = record.fenced("scheduler", token).timed_by(timer)
    if overtaken:
        with pytest.raises(NotKept) as broken_off:
            play(leading, limited(leading), provider, ME)
        assert getattr(broken_off.value.fault, "code", "") == "superseded"
    else:
        assert made(play(leading, limited(leading), provider, ME)) == 1
    assert provider.asked == (0 if overtaken else 1)


def test_calls_under_way_are_renewed_with_the_claims_of_their_turns(record: OpenedRecord) -> None:
    """Both are held by the same process, and both are taken over once nothing is heard of them."""
    reservations = limited(record)
    tokens = record.claim(1, [1], "me")
    beats: list[tuple[int, ...]] = []

    async def answer(prompt: Prompt) -> Call:
        for _ in range(2):
            reservations.renew_turns(1, tokens, record)
        with record.engine.connect() as connection:
            query = "SELECT reservation.beat, claim.beat FROM reservation, claim"
            beats.append(tuple(connection.exec_driver_sql(query).one()))
        return Call(prompt, "yes", cost=1)

    world = replace(a_world(LittleVenue(), {}), reservations=reservations)
    mind = Player(asks, answer, lambda prompt: 1, "x")
    ask = way_to(mind, Payer(1, 1, tokens[1]), "ann", [], world, record)

    async def go() -> Call:
        return await ask(QUESTION)

    asyncio.run(go())
    assert beats == [(2, 2)]


def test_without_limits_even_an_unknown_price_may_be_paid(record: OpenedRecord) -> None:
    assert play(record, limited(record), Provider(cost=None), ME, worst=None)[0].reply == "yes"


def test_a_call_over_its_own_limit_is_refused_with_the_figures(record: OpenedRecord) -> None:
    call = play(record, limited(record, call=ONE // 2), Provider(), ME)[0]
    assert (call.reply, call.cost) == (None, 0)
    assert (error_of(call).code, error_of(call).retry) == ("budget", False)
    assert "$1.0000, over the budget of $0.5000" in error_of(call).message


def test_with_a_budget_an_unknown_price_is_refused(record: OpenedRecord) -> None:
    for reservations in (limited(record, day=ONE), limited(record, call=ONE)):
        assert (
            "can cost is unknown"
            in error_of(play(record, reservations, Provider(), ME, worst=None)[0]).message
        )


@pytest.mark.parametrize(("before", "may"), [(6 * ONE, 1), (6 * ONE + 1, 0)])
def test_what_was_spent_before_counts(before: int, may: int, record: OpenedRecord) -> None:
    record.add_call(2, 2, 1, Call(QUESTION, "yes", cost=before), NOW)
    assert made(play(record, limited(record, day=10 * ONE), Provider(), ME, worst=4 * ONE)) == may


@pytest.mark.parametrize("scope", ["round", "agent", "day", "arena"])
@pytest.mark.parametrize(("limit", "expected"), [(3.5, 3), (4.0, 4), (0.9, 0)])
def test_a_budget_for_three_and_a_half_calls_makes_three_of_ten_at_once(
    limit: float, expected: int, scope: str, record: OpenedRecord
) -> None:
    provider = Provider()
    calls = play(record, limited(record, None, None, **{scope: int(limit * ONE)}), provider, *[ME] * 10)
    assert (made(calls), provider.asked) == (expected, expected)


def test_each_round_and_each_agent_has_a_limit_of_its_own(
    record: OpenedRecord, begun: Path, tmp_path: Path
) -> None:
    payers = [Payer(1 + number % 2, 1 + number % 3) for number in range(12)]
    expected = {"round": 4, "agent": 9, "both": 4}
    for name, limits in (
        ("round", {"round": 2 * ONE}),
        ("agent", {"agent": 3 * ONE}),
        ("both", {"agent": 3 * ONE, "round": 2 * ONE}),
    ):
        fresh = OpenedRecord.at(shutil.copy(begun, tmp_path / f"{name}.db"))
        assert made(play(fresh, limited(fresh, None, None, **limits), Provider(), *payers)) == expected[name]
        fresh.close()


def test_yesterdays_calls_cost_nothing_today(record: OpenedRecord) -> None:
    reservations = limited(record, day=ONE)
    assert made(play(record, reservations, Provider(), ME, ME)) == 1
    assert made(play(record, reservations, Provider(), ME, at=NOW + timedelta(days=1))) == 1


def test_a_call_waits_for_those_under_way_that_may_cost_less_than_they_could(record: OpenedRecord) -> None:
    provider = Provider(cost=ONE // 10)
    assert made(play(record, limited(record, day=2 * ONE), provider, *[ME] * 10)) == 10
    assert provider.most == 2
    assert spent_today(record) == ONE


def test_a_refusal_says_whose_money_is_gone(record: OpenedRecord) -> None:
    calls = play(record, limited(record, agent=ONE), Provider(), ME, ME)
    told = "a call may cost $1.0000, and $1.0000 of this agent's $1.0000 is spent"
    assert error_of(calls[1]).message == told


def test_a_call_that_is_broken_off_is_kept_at_its_worst_and_whoever_broke_it_off_is_told_as_ever(
    record: OpenedRecord,
) -> None:
    async def slow(prompt: Prompt) -> Call:
        await asyncio.sleep(60)
        raise AssertionError("it was to be broken off")

    world = replace(a_world(LittleVenue(), {}), reservations=limited(record, day=ONE))
    ask = way_to(Player(asks, slow, lambda prompt: ONE // 2, "x"), ME, "ann", [], world, record)

    async def impatient() -> None:
        async with asyncio.timeout(0.05):
            await ask(QUESTION)

    with pytest.raises(TimeoutError):
        asyncio.run(impatient())
    [call] = record.calls(1, [1])[1]
    assert (call.cost, call.worst) == (None, ONE // 2)
    assert error_of(call).retry
    assert under_way(record) == 0


def test_a_call_that_breaks_without_being_kept_counts_as_spent_and_takes_no_room(
    record: OpenedRecord,
) -> None:
    async def bug(prompt: Prompt) -> Call:
        raise ZeroDivisionError("no such luck")

    reservations = limited(record, limiter=RateLimiter(1, 1), day=3 * ONE)
    world = replace(a_world(LittleVenue(), {}), reservations=reservations)
    broken = way_to(Player(asks, bug, lambda prompt: ONE, "x"), ME, "ann", [], world, record)

    async def asked() -> Call:
        return await broken(QUESTION)

    with pytest.raises(ZeroDivisionError):
        asyncio.run(asked())
    assert (under_way(record), reservations.under_way) == (1, {})
    assert spent_today(record) == ONE


def test_who_was_taken_over_asks_no_more(record: OpenedRecord) -> None:
    token = record.claim(1, [1], "one")[1]
    record.claim(1, [1], "two", gone=True)
    provider = Provider()
    with pytest.raises(TakenOver, match="another worker has taken over this turn"):
        play(record, limited(record), provider, Payer(1, 1, token))
    assert (provider.asked, record.calls(1, [1])) == (0, {})
    assert play(record, limited(record), provider, Payer(1, 1, token + 1))[0].reply == "yes"


def end_pause(record: OpenedRecord) -> None:
    """Let the provider's pause pass, and its model answer again."""
    with record.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE lane SET paused_until = '2000-01-01T00:00:00.000000Z'")
        connection.exec_driver_sql("DELETE FROM model_limit")


def test_a_lane_is_never_narrower_than_one(record: OpenedRecord) -> None:
    for _ in range(5):
        play(record, limited(record, limiter=RateLimiter(50, 2)), Provider(TOO_MANY), ME)
        end_pause(record)
    with record.engine.connect() as connection:
        found = connection.exec_driver_sql("SELECT room FROM lane WHERE paused_until IS NOT NULL").scalar()
    assert (None if found is None else found / ONE) == 1
    assert made(play(record, limited(record, limiter=RateLimiter(50, 2)), Provider(), ME)) == 1


def ways(record: OpenedRecord, reservations: CallReservations, **models: Provider) -> dict[str, Ask]:
    """Return a way to each model by name, all of one provider, each asked by an entrant of its own."""
    world = replace(a_world(LittleVenue(), {}), reservations=reservations)
    return {
        name: way_to(
            Player(asks, answer, lambda prompt: ONE, "x", model=f"x/{name}"),
            Payer(1, number),
            name,
            [],
            world,
            record,
        )
        for number, (name, answer) in enumerate(models.items(), 1)
    }


@pytest.mark.parametrize("wait", [61, 600, 1_800, 72_000])
def test_a_long_limit_of_a_model_stops_no_other_model_of_its_provider(
    wait: float, record: OpenedRecord
) -> None:
    capped = Provider(*[replace(TOO_MANY, wait=wait)] * 9)
    good = Provider()

    async def all_asked() -> list[Call]:
        asking = ways(record, limited(record), capped=capped, good=good)
        first = await asking["capped"](QUESTION)
        parts = [replace(QUESTION, sample=number) for number in range(4)]
        answers = await asyncio.wait_for(asyncio.gather(*map(asking["good"], parts)), 5)
        return [first, *answers]

    first, *answers = asyncio.run(all_asked())
    assert (made(answers), capped.asked, good.asked) == (4, 1, 4)
    assert error_of(first).code == ("quota" if wait > 1_800 else "rate_limit")


def test_a_quota_is_recorded_as_one_and_the_next_pass_asks_once_and_pauses_nobody(
    record: OpenedRecord,
) -> None:
    capped = Provider(*[replace(TOO_MANY, wait=72_000)] * 9)

    async def passes() -> None:
        asking = ways(record, limited(record), capped=capped, good=Provider())
        for number in (1, 2, 3):
            await asyncio.wait_for(asking["capped"](QUESTION), 5)
            assert capped.asked == number
            assert record.pauses() == []

    asyncio.run(passes())
    kept = record.calls(1, [1])[1]
    endings = [(error_of(call).code, error_of(call).retry, call.cost) for call in kept]
    assert endings == [("quota", False, 0)] * 3


def test_who_is_waited_for_and_until_when_is_reported_once(
    record: OpenedRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.calls.recorded_ask.PATIENCE", 1_800.0)
    lines = list[str]()
    capped = Provider(replace(TOO_MANY, wait=600))

    async def one_waits() -> None:
        reported = asyncio.Event()

        def report(line: str) -> None:
            lines.append(line)
            reported.set()

        reservations = replace(limited(record), waits=WaitReports(lambda: NOW, report))
        asking = ways(record, reservations, capped=capped, good=Provider())
        first = asyncio.ensure_future(asking["capped"](QUESTION))
        await reported.wait()
        second = asyncio.ensure_future(asking["capped"](replace(QUESTION, sample=1)))
        assert (await asking["good"](QUESTION)).reply == "yes"
        for task in (first, second):
            task.cancel()
        await asyncio.gather(first, second, return_exceptions=True)

    asyncio.run(asyncio.wait_for(one_waits(), 5))
    until = NOW + timedelta(seconds=600)
    assert lines == [f"waiting for x/capped until {until:%H:%M} UTC (rate limit)"]
    assert capped.asked == 1
    [paused] = record.pauses()
    assert (paused.name, 590 < paused.seconds <= 600) == ("x/capped", True)


@pytest.mark.parametrize(
    ("gaps", "wait", "reported"),
    [
        ([0], 9, 0),  # too short to be worth a line
        ([0], 10, 1),
        ([0, 0, 0], 600, 1),  # of many that wait for one model, one line
        ([0, 5, 5, 5], 5, 1),  # short, but again and again
        ([0, 300], 5, 0),  # not in a row
        ([0, 60, 60], 60, 3),  # each a minute later
    ],
)
def test_long_waits_are_reported_and_short_ones_once_they_add_up(
    gaps: Sequence[float], wait: float, reported: int
) -> None:
    now = NOW
    lines = list[str]()
    reports = WaitReports(lambda: now, lines.append)
    for gap in gaps:
        now += timedelta(seconds=gap)
        reports.note("x/sharp", wait)
    assert len(lines) == reported
