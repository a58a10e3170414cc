"""Every fault of a provider over real HTTP, and the call that is told of it, exact but for its words."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from agents.llm import close, make_ask
from agents.model import Call, CallError, ErrorCode, ModelSettings
from agents.text import printable
from arena.clock import timer
from tests.agents.test_llm import CANARY, ENVIRON, PROMPT, ask
from tests.provider.replies import ANSWERS, BEHAVIOURS, GOOD, REFUSAL, fails, says
from tests.provider.server import FaultyProvider, faulty

PRICE = 4_503  # millionths of a dollar: 1,001 tokens at 2.50 and 200 at 10 a million
RETRIED: tuple[ErrorCode, ...] = ("format", "rate_limit", "overloaded", "timeout", "other")


@pytest.fixture(scope="module")
def provider() -> Iterator[FaultyProvider]:
    with faulty() as server:
        ask("good", server.url)  # the library is there before anyone waits for it
        yield server


def answered(reply: str, finish: str = "stop", **changes: Any) -> Call:
    """A call that brought an answer."""
    whole = Call(PROMPT, reply, finish, "served-1", "", "schema", 1_001, 200, PRICE, status=200)
    return replace(whole, **changes)


def failed(code: ErrorCode, status: int | None, cost: int | None = 0) -> Call:
    """A call that brought none."""
    error = CallError(code, "", code in RETRIED)
    return Call(PROMPT, None, rung="schema", cost=cost, error=error, status=status)


UNCOUNTED: dict[str, Any] = {"cost": None, "tokens_in": 0, "tokens_out": 0}
UNREAD = failed("other", None, None)
"""What came and can't be read: no answer, worth another try, and perhaps to be paid for."""
TOLD = {
    **{name: answered(text) for name, text in ANSWERS.items()},
    # the library takes a thought off that comes first
    "thinking": answered(GOOD, thinking='{"forecasts": [{"market": "m1", "probability": 0.9}]}'),
    "good": answered("{}", fingerprint="fp-9"),
    "plays": answered(GOOD, fingerprint="fp-9"),
    "10-mb": answered("x" * 1_000_000, "length"),
    "huge": answered("x" * 1_000_000, "length"),
    "surrogate": answered("a\ufffdb\ufffdc"),
    "echo": answered("you sent Bearer [hidden]"),
    "cut-off": answered(GOOD[: GOOD.index("120") + 1], "length"),
    "half-filtered": answered(GOOD[:60], "content_filter"),
    "filtered": answered("", "content_filter", error=CallError("declined", "", retry=False)),
    "silent": answered(""),
    "choiceless": answered("", "none", error=CallError("other", "", retry=True), **UNCOUNTED),
    "uncounted": answered("{}", **UNCOUNTED),
    "usage-null": answered("{}", **UNCOUNTED),
    "usage-empty": answered("{}", **UNCOUNTED),
    "usage-half": answered("{}", cost=None, tokens_out=0),
    "usage-negative": answered("{}", **UNCOUNTED),
    "usage-huge": answered("{}", **UNCOUNTED),
    "odd-names": answered("{}", model=""),
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
    "no-thanks": answered(REFUSAL, error=CallError("declined", "", retry=False)),
    "drop": UNREAD,
    **dict.fromkeys(("reset", "truncated", "broken-json", "messageless", "list", "html", "empty"), UNREAD),
    **dict.fromkeys(("not-utf-8", "usage-text", "usage-fraction"), UNREAD),
}
"""The call by what was asked for."""


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@pytest.mark.parametrize("model", BEHAVIOURS)
def test_a_call_is_told_as_it_went_without_a_key(
    provider: FaultyProvider, model: str, capfd: pytest.CaptureFixture[str]
) -> None:
    before = provider.requests[model]
    call = ask(model, provider.url, timeout=0.5 if model == "hang" else 20)
    words = call.error.message if call.error else ""
    if model in TOLD:
        plain = call.error and replace(call.error, message="")
        assert replace(call, latency_ms=0, error=plain) == TOLD[model]
        assert call.error is None or 0 < len(words) <= 500
    assert provider.requests[model] - before == 1, "no hidden retries"
    assert capfd.readouterr() == ("", "")
    assert CANARY not in repr(call)
    texts = "".join((call.reply or "", call.finish, call.model, call.fingerprint, words))
    assert printable(texts) == texts, "it can be stored"


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
