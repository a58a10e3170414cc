"""Asking over real HTTP: what comes back is told whole, every fault is told apart, no key shows."""

import asyncio
import socket
import types
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from agents.demo.provider import running
from agents.llm import close, make_ask
from agents.llm.answer import chat_answer
from agents.llm.errors import call_error
from agents.llm.library import PAUSED, litellm
from agents.model import Call, CallError, ErrorCode, Message, ModelSettings, Prompt, TokenPrice
from agents.model_table.cost import worst_case
from agents.prompts.answer_schema import answer_schema
from agents.text import printable
from arena.clock import timer
from tests.builders import result_of
from tests.provider.replies import ANSWERS, BEHAVIOURS, GOOD, REFUSAL, fails, says
from tests.provider.server import FaultyProvider, faulty

CANARY = "canary-f00dfeedcafe"
ENVIRON = {"CANARY_API_KEY": CANARY}
PROMPT = Prompt((Message("system", "be brief"), Message("user", "### m1\n| Rain?")), seed=5)
DOLLARS = TokenPrice(input=2.5, output=10)


@pytest.fixture(scope="module")
def provider() -> Iterator[FaultyProvider]:
    with faulty() as server:
        ask("good", server.url)  # the library is there before anyone waits for it
        yield server


def ask(model: str, url: str | None, prompt: Prompt = PROMPT, **settings: Any) -> Call:
    """Return the call that asking a model makes."""
    return every(model, url, prompt, **settings)[0]


def every(
    model: str, url: str | None, prompt: Prompt = PROMPT, times: int = 1, **settings: Any
) -> list[Call]:
    """Return the calls that asking a model this often makes."""
    changes = {"base_url": url, "api_key_env": "CANARY_API_KEY", "price": DOLLARS} | settings
    asking = make_ask(ModelSettings(model=f"openai/{model}", **changes), timer, ENVIRON)

    async def go() -> list[Call]:
        try:
            return [await asking(prompt) for _ in range(times)]
        finally:
            await close()

    return asyncio.run(go())


def test_what_is_set_is_sent_and_nothing_else(provider: FaultyProvider) -> None:
    ask("good", provider.url)
    assert provider.last == {
        "model": "good",
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "### m1\n| Rain?"},
        ],
        "max_tokens": 16_000,
        "seed": 5,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": answer_schema()},
        },
    }
    form = provider.last["response_format"]
    ask("good", provider.url, extra={"extra_body": {"top_k": 3}})
    assert (provider.last["top_k"], provider.last["response_format"]) == (3, form)
    ask("good", provider.url, temperature=0.3, max_tokens=50)
    assert (provider.last["temperature"], provider.last["max_tokens"]) == (0.3, 50)


def test_the_key_goes_where_it_is_meant_to_and_nowhere_else(
    provider: FaultyProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a-real-one-for-elsewhere")
    ask("good", provider.url)
    assert provider.key == f"Bearer {CANARY}"
    ask("good", provider.url, api_key_env=None)
    assert provider.key == "Bearer none"


def test_samples_go_to_openai_with_one_key_for_its_cache(
    provider: FaultyProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", provider.url)
    keys = []
    for seed, shared in ((1, True), (2, True), (3, False)):
        assert ask("good", None, Prompt(PROMPT.messages, seed=seed, shared=shared)).reply == "{}"
        keys.append(provider.last.get("prompt_cache_key"))
    assert keys[0] == keys[1] != keys[2] is None
    ask("good", provider.url, Prompt(PROMPT.messages, shared=True))
    assert "prompt_cache_key" not in provider.last, "a server of one's own may refuse it"


def test_usage_that_is_not_counted_costs_an_unknown_sum(provider: FaultyProvider) -> None:
    assert ask("uncounted", provider.url).cost is None
    assert ask("uncounted", provider.url, price=TokenPrice(input=0, output=0)).cost == 0
    assert ask("good", provider.url, price=None).cost is None


@pytest.mark.parametrize(
    ("model", "rungs"), [("schemaless", ["schema", "json"]), ("formless", ["schema", "json", "prompt"])]
)
def test_a_refused_form_is_told_as_such_and_the_next_one_is_asked_for_from_then_on(
    provider: FaultyProvider, model: str, rungs: list[str]
) -> None:
    calls = every(model, provider.url, times=4)
    refused = calls[: len(rungs) - 1]
    assert [(call.error and call.error.code, call.cost) for call in refused] == [("format", 0)] * len(refused)
    assert [call.rung for call in calls] == [*rungs, *[rungs[-1]] * (4 - len(rungs))]
    assert {call.reply for call in calls[len(refused) :]} == {"{}"}


def test_many_refusals_at_once_climb_down_one_rung(provider: FaultyProvider) -> None:
    asking = make_ask(ModelSettings(model="openai/schemaless", base_url=provider.url), timer, ENVIRON)

    async def go() -> list[Call]:
        try:
            await asyncio.gather(*(asking(PROMPT) for _ in range(5)))
            return [await asking(PROMPT)]
        finally:
            await close()

    assert [call.rung for call in asyncio.run(go())] == ["json"]


def test_how_long_a_provider_wants_to_be_left_alone_is_told(provider: FaultyProvider) -> None:
    provider.script("busy-for-good", fails(429, retry_after="9" * 10))
    models = ("busy", "busy-until", "429", "busy-odd", "busy-for-good")
    waits = {model: ask(model, provider.url).error for model in models}
    assert {model: error and error.wait for model, error in waits.items()} == {
        "busy": 7.0,
        "busy-until": 90.0,
        "429": None,
        "busy-odd": None,
        "busy-for-good": None,
    }


@pytest.mark.parametrize(
    ("words", "headers", "wait"),
    [
        ("Limit 100000, used 99000. Please try again in 9m38.4s. Visit our site", {}, 578.4),
        ('{"error": {"details": [{"retryDelay": "38s"}]}}', {}, 38.0),
        ("Rate limit reached: try again in 2 hours, 5 minutes", {}, 7_500.0),
        ("Please try again in 850ms", {}, 0.85),
        ("try again in 20s", {"retry-after": "7"}, 7.0),
        ("slow down", {"Retry-After-Ms": "1500", "Retry-After": "2"}, 1.5),
        ("try again in a while", {}, None),
        ("try again in 3 requests", {}, None),
    ],
)
def test_a_wait_is_read_from_headers_or_else_from_words(
    words: str, headers: dict[str, str], wait: float | None
) -> None:
    error = RuntimeError(words)
    vars(error).update(status_code=429, litellm_response_headers=headers)
    found = call_error(error)
    assert (found.code, found.wait) == ("rate_limit", wait)


@pytest.mark.parametrize(
    "fields",
    [
        {"refusal": "I won't bet."},
        {"provider_specific_fields": {"refusal": "I won't bet."}},
        {"refusal": None, "provider_specific_fields": {"refusal": "I won't bet."}},
        {"refusal": "I won't bet.", "provider_specific_fields": {"refusal": None}},
    ],
)
def test_a_refusal_is_read_wherever_a_version_of_litellm_keeps_it(fields: dict[str, Any]) -> None:
    message = types.SimpleNamespace(content=None, **fields)
    choice = types.SimpleNamespace(message=message, finish_reason="stop")
    answer = types.SimpleNamespace(choices=[choice], model="gpt-5.6", usage=None)

    assert chat_answer(answer, "openai", PROMPT).refusal == "I won't bet."


def test_a_pause_is_kept_where_litellm_has_a_mapping_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    litellm()  # loads it without the network, and leaves the map as it is to be after this test
    from litellm.litellm_core_utils import core_helpers

    monkeypatch.setitem(core_helpers._FINISH_REASON_MAP, PAUSED, "length")
    litellm.cache_clear()
    litellm()

    assert core_helpers.map_finish_reason(PAUSED) == PAUSED


@pytest.mark.parametrize(
    "words",
    [
        "litellm.APIConnectionError: Stream ended before a finish_reason was received",
        "Provider stream ended before emitting a message_stop event; treating as an error",
        "Upstream stream ended before completion",
    ],
)
def test_a_stream_that_ends_early_is_worth_another_try(words: str) -> None:
    error = call_error(RuntimeError(words))

    assert (error.code, error.retry) == ("other", True)


def test_extra_parameters_are_sent_and_a_refusal_in_words_is_kept(provider: FaultyProvider) -> None:
    call = ask("no-thanks", provider.url, extra={"top_p": 0.5})
    assert provider.last["top_p"] == 0.5
    assert (call.reply, call.error and call.error.code) == ("I won't bet.", "declined")


def test_a_hanging_server_is_left_after_the_timeout(provider: FaultyProvider) -> None:
    call = ask("hang", provider.url, timeout=0.3)
    assert call.error is not None
    assert (call.error.code, call.error.retry) == ("timeout", True)
    assert call.cost is None, "nobody knows what was answered into the void"
    assert 300 <= call.latency_ms < 5_000


def test_nobody_at_home_is_worth_another_try() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    call = ask("any", f"http://127.0.0.1:{port}/v1")
    assert call.error is not None
    assert (call.error.code, call.error.retry, call.cost) == ("unreachable", True, 0)


def test_a_provider_that_cannot_be_reached_is_named_without_what_the_library_adds() -> None:
    """For Anthropic the library drops the causes, and shows an object's address."""
    said = "Cannot connect to host api.anthropic.com:443 ssl:<ssl.SSLContext object at 0x7f07a1b2> [no name]"
    text = f"AnthropicException - {said}. Handle with `litellm.InternalServerError`."
    raised = litellm().exceptions.InternalServerError(text, "anthropic", "claude")

    error = call_error(raised)

    assert (error.code, error.retry) == ("unreachable", True)
    assert error.message == "Cannot connect to host api.anthropic.com:443 [no name]"


def test_an_address_follows_a_message_without_its_full_stop() -> None:
    call = ask("any", "http://127.0.0.1:9/v1")
    assert call.error is not None
    assert call.error.message == "Connection error (asked at http://127.0.0.1:9/v1)"


def test_a_missing_key_is_known_before_anything_is_sent(provider: FaultyProvider) -> None:
    before = provider.requests.total()
    call = ask("good", provider.url, api_key_env="NOT_SET_KEY")
    assert call.error is not None
    assert (call.error.code, call.error.retry) == ("no_key", False)
    assert "NOT_SET_KEY" in call.error.message
    assert provider.requests.total() == before


@pytest.mark.parametrize("model", ["openai/gpt-4o", "anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-pro"])
def test_a_provider_without_its_usual_key_says_so(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
    ):
        monkeypatch.delenv(name, raising=False)
    call = result_of(make_ask(ModelSettings(model=model), timer, {})(PROMPT))
    assert call.error is not None
    assert (call.error.code, call.error.retry) == ("no_key", False)


def test_many_calls_at_once_and_a_second_loop_leave_nothing_open() -> None:
    with running() as url:
        asking = make_ask(ModelSettings(model="openai/sharp", base_url=url), timer, {})

        async def go() -> set[str | None]:
            calls = await asyncio.gather(*(asking(PROMPT) for _ in range(30)))
            await close()
            return {call.reply for call in calls}

        assert asyncio.run(go()) == asyncio.run(go())


PRICE = 4_503  # millionths of a dollar: 1,001 tokens at 2.50 and 200 at 10 a million
RETRIED: tuple[ErrorCode, ...] = ("format", "rate_limit", "overloaded", "timeout", "other")


def answered(reply: str, finish: str = "stop", **changes: Any) -> Call:
    """Return a call that got an answer."""
    whole = Call(PROMPT, reply, finish, "served-1", "", "schema", 1_001, 200, PRICE, status=200)
    return replace(whole, **changes)


def failed(code: ErrorCode, status: int | None, cost: int | None = 0) -> Call:
    """Return a call that got none."""
    error = CallError(code, "", code in RETRIED)
    return Call(PROMPT, None, rung="schema", cost=cost, error=error, status=status)


UNCOUNTED: dict[str, Any] = {"cost": None, "tokens_in": 0, "tokens_out": 0}
WORST = worst_case(PROMPT, ModelSettings(model="openai/usage-huge", price=DOLLARS))
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
    "tools": answered(f"Here:\n{GOOD}\n{{}}", "tool_calls"),
    "choiceless": answered("", "none", error=CallError("other", "", retry=True), **UNCOUNTED),
    "uncounted": answered("{}", **UNCOUNTED),
    "usage-null": answered("{}", **UNCOUNTED),
    "usage-empty": answered("{}", **UNCOUNTED),
    "usage-half": answered("{}", cost=None, tokens_out=0),
    "usage-negative": answered("{}", **UNCOUNTED),
    "usage-text": answered("{}", **UNCOUNTED),
    "usage-fraction": answered("{}", **UNCOUNTED),
    "usage-huge": answered("{}", **UNCOUNTED | {"cost": WORST}),
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
    "no-thanks": answered(REFUSAL, error=CallError("declined", "", retry=False)),
    "drop": UNREAD,
    **dict.fromkeys(("reset", "truncated", "broken-json", "messageless", "list", "html", "empty"), UNREAD),
    **dict.fromkeys(("not-utf-8", "queued", "nested", "digits"), UNREAD),
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


def test_slow_answers_are_waited_for_side_by_side() -> None:
    with faulty(latency=1.0) as provider:
        asking = make_ask(ModelSettings(model="openai/plays", base_url=provider.url), timer, ENVIRON)

        async def go() -> list[Call]:
            try:
                return await asyncio.gather(*(asking(PROMPT) for _ in range(50)))
            finally:
                await close()

        assert {call.reply for call in asyncio.run(go())} == {GOOD}
        assert (provider.most_at_once, provider.requests.total()) == (50, 50)
