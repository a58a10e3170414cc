"""An answer is bought once, and every attempt at it is kept."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest
from sqlalchemy import Connection, event

from agents.model import Call, CallError, Message, Prompt
from arena.calls.faults import NotKept
from arena.calls.recorded_ask import Asker, AskingTurn, Sleep
from arena.calls.reservations import CallReservations
from arena.errors import ArenaError
from arena.record.model.reservation import Payer
from tests.builders import NOW
from tests.opened_record import OpenedRecord

QUESTION = Prompt((Message("user", "Will it rain?"),), seed=1)
OTHER = Prompt((Message("user", "Will it snow?"),), seed=1)
BUSY = CallError("overloaded", "come back later", retry=True)
WRONG_KEY = CallError("refused", "no such key", retry=False)
FORM = CallError("format", "no schema here", retry=True)


class Provider:
    """Answers in the order given, and counts."""

    def __init__(self, *errors: CallError | None):
        self.errors = list(errors)
        self.asked = 0

    async def __call__(self, prompt: Prompt) -> Call:
        self.asked += 1
        error = self.errors.pop(0) if self.errors else None
        return Call(prompt, None if error else f"answer {self.asked}", error=error)


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.calls.recorded_ask.RETRY_WAITS", (0.0, 0.0))


def an_asker(
    record: OpenedRecord, provider: Provider, stored: Sequence[Call] = (), sleep: Sleep = asyncio.sleep
) -> Asker:
    turn = AskingTurn(Payer(1, 1), record, "me", lambda: NOW)
    return Asker(
        provider, lambda prompt: 0, "", "ann", CallReservations(), turn=turn, stored=stored, sleep=sleep
    )


def play(
    record: OpenedRecord,
    provider: Provider,
    stored: list[Call],
    *prompts: Prompt,
    sleep: Sleep = asyncio.sleep,
) -> list[Call]:
    asker = an_asker(record, provider, stored, sleep)

    async def all_of_them() -> list[Call]:
        return [await asker.ask(prompt) for prompt in prompts]

    return asyncio.run(all_of_them())


def kept(record: OpenedRecord) -> list[tuple[int, Call]]:
    """Return the attempts in the record, each with its number."""
    with record.engine.connect() as connection:
        numbers = connection.exec_driver_sql("SELECT attempt FROM call ORDER BY stage, sample, attempt")
        attempts = list(numbers.scalars())
    return list(zip(attempts, record.calls(1, [1]).get(1, ()), strict=True))


def replies(record: OpenedRecord) -> list[str | None]:
    return [call.reply for _, call in kept(record)]


STORED = Call(QUESTION, "stored")
REFUSED = Call(QUESTION, None, error=CallError("declined", "no", retry=False))


@pytest.mark.parametrize(
    ("stored", "prompts", "answers", "attempts"),
    [
        (STORED, [QUESTION], ["stored"], []),
        (REFUSED, [QUESTION], [None], []),  # an answer too
        (STORED, [QUESTION, OTHER], ["stored", "answer 1"], [2]),  # numbered after those stored
        (STORED, [QUESTION, QUESTION], ["stored", "answer 1"], [2]),
        (STORED, [replace(QUESTION, seed=2)], ["answer 1"], [2]),
        (Call(QUESTION, None, error=BUSY), [QUESTION], ["answer 1"], [2]),
    ],
)
def test_a_stored_answer_is_used_once_and_whatever_else_is_asked_is_kept(
    stored: Call, prompts: list[Prompt], answers: list[str | None], attempts: list[int], record: OpenedRecord
) -> None:
    provider = Provider()
    record.add_call(1, 1, 1, stored, NOW)
    assert [call.reply for call in play(record, provider, [stored], *prompts)] == answers
    assert ([number for number, _ in kept(record)], provider.asked) == ([1, *attempts], len(attempts))


@pytest.mark.parametrize(
    ("errors", "asked", "left"),
    [
        ((BUSY, BUSY, None), 3, None),
        ((BUSY, BUSY, BUSY, None), 3, BUSY),
        ((WRONG_KEY, None), 1, WRONG_KEY),
        ((FORM, FORM, BUSY, BUSY, None), 5, None),  # another form of the question is no second attempt
    ],
)
def test_a_passing_failure_is_tried_again_three_times_in_all_and_each_attempt_kept(
    errors: tuple[CallError | None, ...], asked: int, left: CallError | None, record: OpenedRecord
) -> None:
    provider = Provider(*errors)
    [answer] = play(record, provider, [], QUESTION)
    assert (answer.error, answer.reply) == (left, None if left else f"answer {asked}")
    assert [(number, call.error) for number, call in kept(record)] == list(enumerate(errors[:asked], 1))
    assert provider.asked == asked


def test_a_provider_is_left_alone_for_as_long_as_it_asks_but_not_for_ever(
    monkeypatch: pytest.MonkeyPatch, record: OpenedRecord
) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr("arena.calls.recorded_ask.RETRY_WAITS", (1.0, 4.0))
    soon, later, never = (replace(BUSY, wait=wait) for wait in (2.5, 1.0, 3_600.0))
    play(record, Provider(soon, later, None), [], QUESTION, sleep=sleep)
    assert slept == [2.5, 4.0]
    provider = Provider(never, None)
    [answer] = play(record, provider, [], QUESTION)
    assert (answer.error, provider.asked) == (never, 1)


def test_a_rate_limit_is_waited_out_as_long_as_the_provider_asks(record: OpenedRecord) -> None:
    """However often; without its word a little longer each time. A day's limit is left to a later pass."""
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    limited = CallError("rate_limit", "slow down", retry=True, wait=20.0)
    [answer] = play(record, Provider(*[limited] * 40, BUSY, None), [], QUESTION, sleep=sleep)
    assert (answer.error, slept) == (None, [20.0] * 40 + [0.0])
    slept.clear()
    provider = Provider(*[replace(limited, wait=None)] * 1_000)
    assert play(record, provider, [], QUESTION, sleep=sleep)[0].error == replace(limited, wait=None)
    assert slept[:8] == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0]
    assert 1_700 < sum(slept) <= 1_800
    provider = Provider(replace(limited, wait=86_400.0), None)
    assert play(record, provider, [], QUESTION)[0].reply is None
    assert provider.asked == 1


def commits(record: OpenedRecord, *faults: Exception) -> None:
    """Have the next commits fail, one with each of these faults; then they succeed again."""
    left = list(faults)

    @event.listens_for(record.engine, "commit")
    def fail(_connection: Connection) -> None:
        if left:
            raise left.pop(0)


def test_an_answer_that_cannot_be_kept_stops_even_an_agent_that_shrugs(record: OpenedRecord) -> None:
    asker = an_asker(record, Provider())
    commits(record, OSError("no room"))

    async def shrugs() -> str:
        try:
            await asker.ask(QUESTION)
        except Exception:  # noqa: BLE001 - just what a careless agent does
            return "never mind"
        return "fine"

    with pytest.raises(NotKept, match="no room"):
        asyncio.run(shrugs())
    assert replies(record) == []


@pytest.mark.parametrize("code", ["unreachable", "locked", "disk_full", "read_only"])
def test_an_answer_is_kept_though_the_record_is_away_for_a_while(
    code: str, monkeypatch: pytest.MonkeyPatch, record: OpenedRecord
) -> None:
    monkeypatch.setattr("arena.calls.recorded_ask.DATABASE_WAITS", (0.0, 0.0))
    provider = Provider()
    commits(record, ArenaError(code, "it is away"), ArenaError(code, "it is away"))
    play(record, provider, [], QUESTION)
    assert (replies(record), provider.asked) == (["answer 1"], 1)


def test_an_answer_is_given_up_once_the_record_was_away_for_too_long(
    monkeypatch: pytest.MonkeyPatch, record: OpenedRecord
) -> None:
    monkeypatch.setattr("arena.calls.recorded_ask.DATABASE_WAITS", (0.0, 0.0))
    commits(record, *[ArenaError("unreachable", "it is away")] * 3)
    with pytest.raises(NotKept, match="it is away"):
        play(record, Provider(), [], QUESTION)
    assert replies(record) == []


def test_an_answer_that_waits_to_be_kept_is_kept_when_all_is_broken_off(record: OpenedRecord) -> None:
    """The arena is told to stop, or has lost its duty, while a server is just back."""
    asker = an_asker(record, Provider())
    commits(record, ArenaError("unreachable", "it is away"))

    async def go() -> None:
        asked = asyncio.ensure_future(asker.ask(QUESTION))
        await asyncio.sleep(0.01)
        assert (replies(record), asker.reservations.calls.unkept) == ([], 1)
        asked.cancel()
        await asyncio.gather(asked, return_exceptions=True)
        assert asked.cancelled()

    asyncio.run(go())
    assert (replies(record), asker.reservations.calls.unkept) == (["answer 1"], 0)
