"""Every fault of a provider over real HTTP, and the call that is told of it, exact but for its words."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace

import pytest

from agents.llm import close, make_ask
from agents.model import Call, CallError, ErrorCode, ModelSettings
from agents.text import printable
from arena.clock import timer
from tests.agents.test_llm import CANARY, ENVIRON, PROMPT, ask
from tests.provider.replies import ANSWERS, BEHAVIOURS, GOOD, REFUSAL, fails, says
from tests.provider.server import FaultyProvider, faulty

PRICE = 4_503  # millionths of a dollar: 1,001 tokens at 2.50 and 200 at 10 a million
RETRIED: tuple[ErrorCode, ...] = ("format", "rate_limit", "overloaded", "timeout", "unreachable", "other")


@pytest.fixture(scope="module")
def provider() -> Iterator[FaultyProvider]:
    with faulty() as server:
        ask("good", server.url)  # the library is there before anyone waits for it
        yield server


def answered(
    reply: str, finish: str = "stop", cost: int | None = PRICE, tokens: tuple[int, int] = (1_001, 200)
) -> Call:
    """A call that brought an answer."""
    tokens_in, tokens_out = tokens
    return Call(
        PROMPT,
        reply,
        finish,
        "served-1",
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost=cost,
        rung="schema",
        status=200,
    )


def failed(code: ErrorCode, status: int | None, cost: int | None = 0) -> Call:
    """A call that brought none."""
    error = CallError(code, "", code in RETRIED)
    return Call(PROMPT, None, rung="schema", cost=cost, error=error, status=status)


def apart_from_words(call: Call) -> Call:
    """The call without how long it took and how its error is worded."""
    return replace(call, latency_ms=0, error=call.error and replace(call.error, message=""))


TOLD = {
    **{name: answered(text) for name, text in ANSWERS.items()},
    "thinking": replace(
        answered(GOOD), thinking='{"forecasts": [{"market": "m1", "probability": 0.9}]}'
    ),  # the library takes a thought off that comes first
    "good": replace(answered("{}"), fingerprint="fp-9"),
    "plays": replace(answered(GOOD), fingerprint="fp-9"),
    "10-mb": answered("x" * 1_000_000, "length"),
    "huge": answered("x" * 1_000_000, "length"),
    "surrogate": answered("a\ufffdb\ufffdc"),
    "echo": answered("you sent Bearer [hidden]"),
    "cut-off": answered(GOOD[: GOOD.index("120") + 1], "length"),
    "half-filtered": answered(GOOD[:60], "content_filter"),
    "filtered": replace(answered("", "content_filter"), error=CallError("declined", "", retry=False)),
    "silent": answered(""),
    "choiceless": replace(
        answered("", "none", cost=None, tokens=(0, 0)), error=CallError("other", "", retry=True)
    ),
    "uncounted": answered("{}", cost=None, tokens=(0, 0)),
    "usage-null": answered("{}", cost=None, tokens=(0, 0)),
    "usage-empty": answered("{}", cost=None, tokens=(0, 0)),
    "usage-half": answered("{}", cost=None, tokens=(1_001, 0)),
    "401": failed("auth", 401),
    "400": failed("format", 400),
    "402": failed("payment", 402),
    "403": failed("auth", 403),
    "404": failed("refused", 404),
    "422": failed("format", 422),
    "413": failed("too_long", 413),
    "long": failed("too_long", 400),
    "policy": failed("filtered", 400),
    "408": failed("timeout", None, cost=None),
    "429": failed("rate_limit", 429),
    "busy": failed("rate_limit", 429),
    "busy-odd": failed("rate_limit", 429),
    "busy-until": failed("overloaded", 503),
    "500": failed("overloaded", 500),
    "502": failed("overloaded", 502),
    "503": failed("overloaded", 503),
    "529": failed("overloaded", 529),
    "schemaless": failed("format", 400),
    "no-thanks": replace(answered(REFUSAL), error=CallError("declined", "", retry=False)),
}
"""The call by what was asked for."""

ODD_USAGE = "ignore:Pydantic serializer warnings"
GARBLED = (
    "truncated",
    "broken-json",
    "messageless",
    "list",
    "html",
    "empty",
    "not-utf-8",
    "usage-text",
    "usage-fraction",
)
"""Answers that came, that nobody can read, and that may have to be paid for."""


@pytest.mark.parametrize("model", TOLD)
def test_a_call_is_told_as_it_went(
    provider: FaultyProvider, model: str, capfd: pytest.CaptureFixture[str]
) -> None:
    before = provider.requests[model]
    call = ask(model, provider.url)
    assert apart_from_words(call) == TOLD[model]
    assert call.error is None or 0 < len(call.error.message) <= 500
    assert provider.requests[model] - before == 1, "no hidden retries"
    assert capfd.readouterr() == ("", "")


@pytest.mark.filterwarnings(ODD_USAGE)
@pytest.mark.parametrize("model", ["drop", "reset", *GARBLED])
def test_what_can_not_be_read_is_no_answer_and_worth_another_try(
    provider: FaultyProvider, model: str
) -> None:
    before = provider.requests[model]
    call = ask(model, provider.url)
    assert (call.reply, call.error and (call.error.code, call.error.retry)) == (None, ("other", True))
    assert provider.requests[model] - before == 1, "no hidden retries"


@pytest.mark.filterwarnings(ODD_USAGE)
@pytest.mark.parametrize("model", ["reset", *GARBLED])
def test_what_came_and_can_not_be_read_costs_an_unknown_sum(provider: FaultyProvider, model: str) -> None:
    assert ask(model, provider.url).cost is None


@pytest.mark.parametrize("model", ["usage-negative", "usage-huge"])
def test_a_count_of_tokens_that_can_be_none_is_not_taken_for_one(
    provider: FaultyProvider, model: str
) -> None:
    assert apart_from_words(ask(model, provider.url)) == answered("{}", cost=None, tokens=(0, 0))


@pytest.mark.filterwarnings(ODD_USAGE)
def test_an_answer_stands_whatever_its_model_and_fingerprint_are(provider: FaultyProvider) -> None:
    assert apart_from_words(ask("odd-names", provider.url)) == replace(answered("{}"), model="")


@pytest.mark.filterwarnings(ODD_USAGE)
@pytest.mark.parametrize("model", BEHAVIOURS)
def test_whatever_a_provider_does_no_key_shows_and_the_call_can_be_stored(
    provider: FaultyProvider, model: str, capfd: pytest.CaptureFixture[str]
) -> None:
    call = ask(model, provider.url, timeout=0.5 if model == "hang" else 20)
    assert CANARY not in repr(call)
    assert CANARY not in "".join(capfd.readouterr())
    texts = (
        call.reply or "",
        call.finish,
        call.model,
        call.fingerprint,
        call.error.message if call.error else "",
    )
    assert printable("".join(texts)) == "".join(texts)


def test_a_model_that_changes_in_mid_run_is_told_each_time(provider: FaultyProvider) -> None:
    first = says("{}", model="served-1", system_fingerprint="fp-1")
    second = says("{}", model="served-2", system_fingerprint="fp-2")
    provider.script("drifter", first, second)
    calls = [ask("drifter", provider.url) for _ in range(3)]
    assert [(call.model, call.fingerprint) for call in calls] == [
        ("served-1", "fp-1"),
        ("served-2", "fp-2"),
        ("served-2", "fp-2"),
    ]


def test_faults_pass_when_they_are_over(provider: FaultyProvider) -> None:
    provider.script("sick", fails(503), fails(429, retry_after="1"), says("well"))
    calls = [ask("sick", provider.url) for _ in range(4)]
    assert [call.error and call.error.code for call in calls] == ["overloaded", "rate_limit", None, None]
    assert [call.cost for call in calls] == [0, 0, PRICE, PRICE]


def test_fifty_slow_answers_are_waited_for_side_by_side() -> None:
    with faulty(latency=1.0) as provider:
        asking = make_ask(ModelSettings(model="openai/plays", base_url=provider.url), timer, ENVIRON)

        async def go() -> list[Call]:
            try:
                return await asyncio.gather(*(asking(PROMPT) for _ in range(50)))
            finally:
                await close()

        assert {call.reply for call in asyncio.run(go())} == {GOOD}
        assert (provider.most_at_once, provider.requests.total()) == (50, 50)
