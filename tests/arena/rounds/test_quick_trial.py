"""A quick trial over real HTTP: how much is asked in which time and for which money, and every fault."""

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from selectors import SelectSelector
from typing import Any

import pytest

from agents.llm import close, make_ask
from agents.model import Call, Prompt
from agents.model_table.cost import worst_case
from agents.prompts.prompt import render
from arena.rounds.quick_trial import (
    AT_ONCE,
    LEAST,
    MOST,
    TEMPLATE,
    TOGETHER,
    QuickTrial,
    asking_cost,
    asking_settings,
    past_questions,
    question_view,
    questions_to_ask,
)
from tests.provider.local_model import answer_to, local_model, towards_even
from tests.provider.replies import Behaviour, completion, fails, says
from tests.serving import Reply

WORDY = (
    "the status quo holds, as it mostly does, and nothing in the rules of this market speaks against it " * 3
)
FREE = {"input": 0, "output": 0}
PRICE = {"input": 2, "output": 10}
QUICK = 1 / 500
"""How long a pretended second really takes."""


class PretendedTime:
    """Seconds that pass only while a server answers."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.lock = threading.Lock()

    def spend(self, seconds: float) -> None:
        time.sleep(seconds * QUICK)
        with self.lock:
            self.seconds += seconds

    def read(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> PretendedTime:
    return PretendedTime()


def tried(
    url: str,
    timer: Callable[[], float],
    seconds: float = 120.0,
    price: Mapping[str, float] = FREE,
    most: int | None = None,
    model: str = "qwen3:8b",
) -> QuickTrial:
    """Try the model at an address."""
    settings = asking_settings({"model": f"openai/{model}", "base_url": url, "price": price})
    ask = make_ask(settings, timer, {})
    trial = QuickTrial(settings, ask, questions_to_ask(None), most, seconds, timer, timed=False)

    async def go() -> None:
        try:
            await trial.run()
        finally:
            await close()

    asyncio.run(go())
    return trial


@pytest.fixture(scope="module", autouse=True)
def _library() -> None:
    """Load the library that asks before anyone waits for it."""
    with local_model(300, PretendedTime().spend) as server:
        tried(server.url, PretendedTime().read)


def believed() -> Mapping[str, float]:
    """Return what the server's model says of each question."""
    return {question.id: towards_even(question.price) for question in past_questions()}


def test_at_300_tokens_a_second_all_120_questions_are_asked_and_read(clock: PretendedTime) -> None:
    with local_model(300, clock.spend) as server:
        trial = tried(server.url, clock.read)
    assert trial.answers == {question.id: believed()[question.id] for question in past_questions()[:MOST]}
    assert (trial.asked, trial.unusable, trial.ended) == (MOST, 0, "")
    assert trial.took < 30
    assert server.calls == MOST // TOGETHER
    assert "probability" not in str(server.bodies[0]["messages"][0])


@pytest.mark.parametrize(
    "fault",
    [
        fails(429, "slow down", retry_after="7"),
        Reply(b"oops", 500),
        fails(400, "response_format json_schema is not supported here"),
        says("I would rather not say."),
        Reply(b"", how="drop"),
    ],
    ids=["429", "500", "no schema", "prose", "dropped"],
)
def test_what_passes_is_tried_again_and_loses_nothing(fault: Behaviour, clock: PretendedTime) -> None:
    with local_model(300, clock.spend, faults={1: fault, 9: fault}) as server:
        trial = tried(server.url, clock.read)
    assert len(trial.answers) == MOST
    assert (trial.unusable, trial.ended) == (0, "")


def test_a_server_that_dies_leaves_what_came_before(clock: PretendedTime) -> None:
    with local_model(300, clock.spend, afterwards=(6, Reply(b"", how="reset"))) as server:
        trial = tried(server.url, clock.read)
    assert len(trial.answers) == 6 * TOGETHER
    assert trial.ended.startswith("no more answers came (")
    assert trial.asked < MOST


@pytest.mark.parametrize(
    ("reply", "example"),
    [
        (says("asdf jkl"), "asdf jkl"),
        (Reply(completion(None, refusal="I won't bet.")), "I won't bet."),
        (says('{"forecasts": [{"market": "m1", "probability": 17.5e9}]}'), "17.5e9"),
        (says('{"forecasts": []}'), "forecasts"),
    ],
    ids=["garbage", "refusal", "out of range", "nothing"],
)
def test_a_model_without_a_usable_answer_is_given_up_and_one_is_shown(
    reply: Reply, example: str, clock: PretendedTime
) -> None:
    with local_model(300, clock.spend, afterwards=(0, reply)) as server:
        trial = tried(server.url, clock.read)
    assert trial.answers == {}
    assert trial.ended == "none of its answers could be used"
    assert LEAST <= trial.unusable == trial.asked < MOST
    assert example in trial.example


def test_of_an_answer_with_impossible_probabilities_the_others_are_kept(clock: PretendedTime) -> None:
    def believe(price: float) -> float:
        return price if price > 0.05 else -3.5

    with local_model(300, clock.spend, believe=believe) as server:
        trial = tried(server.url, clock.read)
    possible = {question.id: question.price for question in past_questions()[:MOST] if question.price > 0.05}
    assert trial.answers == pytest.approx(possible)
    assert trial.unusable == MOST - len(possible)
    assert "-3.5" in trial.example


class JumpingLoop(asyncio.SelectorEventLoop):
    """A loop that never waits: where nothing is left to do before a time, it is that time."""

    def __init__(self) -> None:
        self.seconds = 0.0
        selector = SelectSelector()
        super().__init__(selector)
        selector.select = self.jump  # type: ignore[method-assign]

    def time(self) -> float:
        return self.seconds

    def jump(self, timeout: float | None = None) -> list[Any]:
        """Let the time pass that would be waited."""
        self.seconds += timeout or 0.0
        return []


class ModelInLine:
    """A model that answers one call after another, each in the time that its words take; some hang."""

    def __init__(self, speed: float, reason: str = "", hangs_after: int = 1_000) -> None:
        self.speed = speed
        self.reason = reason
        self.hangs_after = hangs_after
        self.calls = 0
        self.usage: list[tuple[int, int]] = []
        self.slot = asyncio.Lock()

    async def ask(self, prompt: Prompt) -> Call:
        async with self.slot:
            self.calls += 1
            if self.calls > self.hangs_after:
                await asyncio.Event().wait()

            text, sent, said = answer_to(prompt.messages[-1].content, towards_even, self.reason)
            await asyncio.sleep(said / self.speed)
            self.usage.append((sent, said))
            return Call(prompt, text, tokens_in=sent, tokens_out=said, cost=2 * sent + 10 * said)


def tried_in_line(model: ModelInLine, price: Mapping[str, float] = FREE) -> QuickTrial:
    """Try such a model without letting real time pass."""
    settings = asking_settings({"model": "openai/qwen3:8b", "base_url": "http://127.0.0.1:9", "price": price})
    with closing(JumpingLoop()) as loop:
        trial = QuickTrial(settings, model.ask, questions_to_ask(None), None, 120.0, loop.time)
        loop.run_until_complete(trial.run())
    return trial


def test_at_30_tokens_a_second_a_wordy_model_is_asked_as_much_as_two_minutes_allow() -> None:
    trial = tried_in_line(ModelInLine(30, WORDY))
    assert LEAST <= len(trial.answers) == trial.asked < MOST
    assert trial.answers.items() <= believed().items()
    assert 80 < trial.took <= 125
    assert trial.ended == ""


def test_a_slow_model_is_asked_twenty_questions_all_the_same() -> None:
    trial = tried_in_line(ModelInLine(2))
    assert LEAST <= trial.asked <= LEAST + 4 * TOGETHER
    assert len(trial.answers) == trial.asked


def test_a_server_that_hangs_is_left_at_the_end_of_the_time() -> None:
    trial = tried_in_line(ModelInLine(300, hangs_after=0))
    assert (trial.answers, trial.took) == ({}, 240)
    assert trial.ended == "it was ended after 240 s"


def test_what_came_before_a_hang_is_kept_and_calls_without_an_end_count_at_their_worst() -> None:
    model = ModelInLine(300, hangs_after=3)
    trial = tried_in_line(model, price=PRICE)
    bill = sum(2 * sent + 10 * said for sent, said in model.usage)
    assert trial.ended == "it was ended after 240 s"
    assert len(trial.answers) == 3 * TOGETHER
    least = bill + AT_ONCE * 10 * trial.settings.max_tokens
    assert least < trial.spent < 1.2 * least


def test_at_a_dead_port_nothing_is_asked_for_long(clock: PretendedTime) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    trial = tried(f"http://127.0.0.1:{port}/v1", clock.read)
    assert trial.fault.startswith("unreachable: ")
    assert (trial.answers, trial.spent) == ({}, 0)


def test_a_model_that_the_server_lacks_ends_it_at_the_first_call(clock: PretendedTime) -> None:
    with local_model(300, clock.spend) as server:
        trial = tried(server.url, clock.read, model="other")
    assert server.calls <= 3
    assert trial.ended.startswith("no more answers came (refused: ")


@pytest.mark.parametrize("share", [0.0, 0.2, 0.6, 1.0])
def test_no_more_is_spent_than_was_agreed_to(share: float, clock: PretendedTime) -> None:
    settings = asking_settings({"model": "openai/qwen3:8b", "price": PRICE})
    cost = asking_cost(settings, questions_to_ask(None))
    assert cost is not None
    most = round(share * cost[1])
    with local_model(300, clock.spend) as server:
        trial = tried(server.url, clock.read, price=PRICE, most=most)

    # Each call is paid for by the tokens that the server counted.
    bill = sum(2 * sent + 10 * said for sent, said in server.usage)
    assert trial.spent == bill <= most
    assert len(trial.answers) == TOGETHER * len(server.usage)
    if share == 1.0:
        assert len(trial.answers) == MOST
    if share == 0.0:
        assert (server.calls, trial.ended) == (0, "the amount agreed to was used up")
    if len(trial.answers) < MOST:
        batches = (past_questions()[start : start + TOGETHER] for start in range(0, MOST, TOGETHER))
        prompts = (render(TEMPLATE, question_view(batch), prices=False) for batch in batches)
        assert most - bill < AT_ONCE * max(worst_case(prompt, settings) or 0 for prompt in prompts)
