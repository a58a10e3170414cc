"""An answer is bought once, and every attempt at it is kept."""

import asyncio
from dataclasses import replace

import pytest

from agents.model import Call, CallError, Message, Prompt
from arena.calls.recorded_ask import EndedAttempt, NotKept, Sleep, recorded_ask
from arena.errors import ArenaError

QUESTION = Prompt((Message("user", "Will it rain?"),), seed=1)
OTHER = Prompt((Message("user", "Will it snow?"),), seed=1)
BUSY = CallError("overloaded", "come back later", retry=True)
WRONG_KEY = CallError("refused", "no such key", retry=False)
FORM = CallError("format", "no schema here", retry=True)


class Provider:
    """Answers in the order given, and counts."""

    def __init__(self, *errors: CallError | None):
        self.errors, self.asked = list(errors), 0

    async def __call__(self, prompt: Prompt) -> EndedAttempt:
        self.asked += 1
        error = self.errors.pop(0) if self.errors else None
        return EndedAttempt(Call(prompt, None if error else f"answer {self.asked}", error=error))


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.calls.recorded_ask.RETRY_WAITS", (0.0, 0.0))


def play(
    provider: Provider, stored: list[Call], *prompts: Prompt, sleep: Sleep = asyncio.sleep
) -> tuple[list[Call], list[tuple[int, Call]]]:
    kept: list[tuple[int, Call]] = []
    ask = recorded_ask(provider, stored, lambda attempt, tried: kept.append((attempt, tried.call)), sleep)

    async def all_of_them() -> list[Call]:
        return [await ask(prompt) for prompt in prompts]

    return asyncio.run(all_of_them()), kept


STORED = Call(QUESTION, "stored")
REFUSED = Call(QUESTION, None, error=CallError("declined", "no", retry=False))


@pytest.mark.parametrize(
    ("stored", "prompts", "replies", "attempts"),
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
    stored: Call, prompts: list[Prompt], replies: list[str | None], attempts: list[int]
) -> None:
    provider = Provider()
    answers, kept = play(provider, [stored], *prompts)
    assert [answer.reply for answer in answers] == replies
    assert ([attempt for attempt, _ in kept], provider.asked) == (attempts, len(attempts))


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
    errors: tuple[CallError | None, ...], asked: int, left: CallError | None
) -> None:
    provider = Provider(*errors)
    [answer], kept = play(provider, [], QUESTION)
    assert (answer.error, answer.reply) == (left, None if left else f"answer {asked}")
    assert [(attempt, call.error) for attempt, call in kept] == list(enumerate(errors[:asked], 1))
    assert provider.asked == asked


def test_a_provider_is_left_alone_for_as_long_as_it_asks_but_not_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr("arena.calls.recorded_ask.RETRY_WAITS", (1.0, 4.0))
    soon, later, never = (replace(BUSY, wait=wait) for wait in (2.5, 1.0, 3_600.0))
    play(Provider(soon, later, None), [], QUESTION, sleep=sleep)
    assert slept == [2.5, 4.0]
    provider = Provider(never, None)
    answers, _ = play(provider, [], QUESTION)
    assert (answers[0].error, provider.asked) == (never, 1)


def test_a_rate_limit_is_waited_out_as_long_as_the_provider_asks() -> None:
    """However often; without its word a little longer each time. A day's limit is left to a later pass."""
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    limited = CallError("rate_limit", "slow down", retry=True, wait=20.0)
    answers, _ = play(Provider(*[limited] * 40, BUSY, None), [], QUESTION, sleep=sleep)
    assert (answers[0].error, slept) == (None, [20.0] * 40 + [0.0])
    slept.clear()
    provider = Provider(*[replace(limited, wait=None)] * 1_000)
    assert play(provider, [], QUESTION, sleep=sleep)[0][0].error == replace(limited, wait=None)
    assert slept[:8] == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0]
    assert 1_700 < sum(slept) <= 1_800
    provider = Provider(replace(limited, wait=86_400.0), None)
    assert play(provider, [], QUESTION)[0][0].reply is None
    assert provider.asked == 1


def test_an_answer_that_cannot_be_kept_stops_even_an_agent_that_shrugs() -> None:
    def full(attempt: int, ended: EndedAttempt) -> None:
        raise OSError("no room")

    async def shrugs() -> str:
        try:
            await recorded_ask(Provider(), [], full)(QUESTION)
        except Exception:  # noqa: BLE001 - just what a careless agent does
            return "never mind"
        return "fine"

    with pytest.raises(NotKept, match="no room"):
        asyncio.run(shrugs())


@pytest.mark.parametrize("code", ["unreachable", "locked", "disk_full"])
def test_an_answer_is_kept_though_the_record_is_away_for_a_while(
    code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.calls.recorded_ask.DATABASE_WAITS", (0.0, 0.0))
    kept, tries = list[str | None](), 0

    def keep(_attempt: int, tried: EndedAttempt) -> None:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise ArenaError(code, "it is away")
        kept.append(tried.call.reply)

    provider = Provider()

    async def go() -> None:
        await recorded_ask(provider, [], keep)(QUESTION)

    asyncio.run(go())
    assert (kept, provider.asked) == (["answer 1"], 1)


def test_an_answer_that_waits_to_be_kept_is_kept_when_all_is_broken_off() -> None:
    """The arena is told to stop, or has lost its duty, while a server is just back."""
    kept, away = list[str | None](), True

    def keep(_attempt: int, tried: EndedAttempt) -> None:
        if away:
            raise ArenaError("unreachable", "it is away")
        kept.append(tried.call.reply)

    async def go() -> None:
        nonlocal away
        asked = asyncio.ensure_future(recorded_ask(Provider(), [], keep)(QUESTION))
        await asyncio.sleep(0.01)
        away = False
        asked.cancel()
        await asyncio.gather(asked, return_exceptions=True)
        assert asked.cancelled()

    asyncio.run(go())
    assert kept == ["answer 1"]
