"""Every provider's own wire over real HTTP: what is sent is taken, and what comes back is told whole."""

import asyncio
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import JsonValue

from agents.llm import close, make_ask
from agents.model import Call, Message, ModelSettings, Prompt, TokenPrice, Toolbox, ToolForm
from agents.model_table.cost import worst_case
from agents.prompts.answer_schema import answer_schema
from agents.steps import ask_with_tools, without_steps
from arena.clock import timer
from tests.provider.model_answer import ModelAnswer
from tests.provider.wire_server import MODELS, Manner, WireRequest, WireServer, form_of_body, wires

PROMPT = Prompt((Message("system", "Answer as JSON."), Message("user", "Rain?")), seed=5)
THINKS = ModelAnswer(thinking="Rain is likely.", thought=8_000)
WIRES = list(MODELS)


@pytest.fixture(scope="module")
def server() -> Iterator[WireServer]:
    with wires() as running:
        yield running


def calls(server: WireServer, wire: str, mode: str, *prompts: Prompt, **settings: Any) -> list[Call]:
    """Return the calls of these questions, all asked at once."""
    found = server.settings(wire, mode, api_key_env="KEY") | settings
    asking = make_ask(ModelSettings(**found), timer, {"KEY": "sk-a-canary-of-sixteen"})

    async def go() -> list[Call]:
        try:
            return await asyncio.gather(*map(asking, prompts or (PROMPT,)))
        finally:
            await close()

    return asyncio.run(go())


def call(server: WireServer, wire: str, mode: str, **settings: Any) -> Call:
    """Return the call of one question, after those with forms that are refused."""
    found = calls(server, wire, mode, **settings)[0]
    return call(server, wire, mode, **settings) if found.error and found.error.code == "format" else found


@pytest.mark.parametrize("wire", WIRES)
def test_the_form_that_is_recorded_is_the_form_that_was_sent(server: WireServer, wire: str) -> None:
    for mode, rung in (("good", "schema"), ("no-form", "prompt")):
        found = call(server, wire, mode)
        assert (found.error, found.rung, found.status, found.model[-8:]) in (
            (None, rung, 200, "served-1"),
            (None, rung, 200, "llama3.1"),
        )
        assert form_of_body(server.log[-1].body) == rung
    assert call(server, wire, "good", form="prompt").rung == "prompt"
    assert form_of_body(server.log[-1].body) == "prompt"


def test_a_model_of_the_responses_form_is_sent_what_that_takes(server: WireServer) -> None:
    settings = {"reasoning": "high", "extra": {"web_search_options": {"search_context_size": "low"}}}
    found = call(server, "responses", "cited", **settings)
    form = {"type": "json_schema", "name": "answer", "strict": True, "schema": answer_schema()}
    assert server.log[-1].body == {
        "model": "gpt-5.5-pro",
        "input": [
            {"role": "system", "content": "Answer as JSON."},
            {"role": "user", "content": "Rain?"},
        ],
        "max_output_tokens": 16_000,
        "reasoning": {"effort": "high"},
        "store": False,
        "stream": True,
        "text": {"format": form},
        "tools": [{"type": "web_search", "search_context_size": "low"}],
    }
    assert found.citations == ("https://a.example/1", "https://b.example/2")
    assert calls(server, "xai", "good", extra={"web_search_options": {}})[0].error is None
    assert server.log[-1].target.endswith("/v1/responses")


@pytest.mark.parametrize("wire", WIRES)
def test_thinking_and_caches_are_told(server: WireServer, wire: str) -> None:
    found = call(server, wire, "thinking")
    counted = 0 if wire in ("anthropic", "ollama") else 8_000  # these don't count it apart
    assert (found.thinking, found.tokens_out, found.tokens_reasoning) == ("Rain is likely.", 8_200, counted)
    cached = call(server, wire, "cached")
    assert cached.tokens_cached == (0 if wire == "ollama" else 800)


WRITTEN_AS_NUMBERS = ("{}.0", "{}e0", '"{}"', '" {}.0 "')
UNREADABLE = ("12.5", '"many"', '"1e3"', "[1]", "true", "null", "NaN", "-5", "0", "{{}}")
BEYOND_BELIEF = ("1000000000", "1000000000.0", '"1000000000"', "1e30", str(10**30))
PRICED: dict[str, Any] = {"price": TokenPrice(input=1, output=2)}


def counted(server: WireServer, wire: str, count: str, **settings: Any) -> Call:
    """Return the call of an answer that spells its token counts this way."""
    server.script("counts", Manner(ModelAnswer('{"forecasts": []}', thought=50), count=count))
    found = call(server, wire, "counts", **PRICED, **settings)
    assert (found.error, found.reply, found.status) == (None, '{"forecasts": []}', 200)
    return found


def figures(found: Call) -> tuple[int | None, ...]:
    return found.tokens_in, found.tokens_out, found.tokens_reasoning, found.tokens_cached, found.cost


@pytest.mark.parametrize("reasoning", [None, "high"])
@pytest.mark.parametrize("wire", WIRES)
def test_counts_written_as_floats_or_digits_are_read(
    server: WireServer, wire: str, reasoning: str | None
) -> None:
    """As a stream and whole: Anthropic and Gemini stream where the model thinks."""
    plain = counted(server, wire, "{}", reasoning=reasoning)
    assert plain.cost
    for count in WRITTEN_AS_NUMBERS:
        assert figures(counted(server, wire, count, reasoning=reasoning)) == figures(plain), count


@pytest.mark.parametrize("reasoning", [None, "none", "high"])
@pytest.mark.parametrize("wire", WIRES)
def test_counts_that_are_no_numbers_lose_no_answer_and_leave_its_cost_unknown(
    server: WireServer, wire: str, reasoning: str | None
) -> None:
    for count in UNREADABLE:
        found = counted(server, wire, count, reasoning=reasoning)
        assert (figures(found), found.usage_doubt) == ((0, 0, 0, 0, None), ""), count


@pytest.mark.parametrize("wire", WIRES)
def test_a_usage_beyond_belief_is_booked_at_the_worst_case_and_told_with_its_figures(
    server: WireServer, wire: str
) -> None:
    for count in BEYOND_BELIEF:
        found = counted(server, wire, count)
        settings = ModelSettings(model=MODELS[wire][0], **PRICED)
        assert figures(found) == (0, 0, 0, 0, worst_case(PROMPT, settings)), count
        assert "tokens in and" in found.usage_doubt
        assert f"{int(float(count.strip(chr(34)))):,}"[:5] in found.usage_doubt


LIES = {
    "cached": ModelAnswer(sent=20_000, cached=10**7),
    "written": ModelAnswer(sent=20_000, written=10**7),
    "thought": ModelAnswer(thought=10**7),
    "thought apart": ModelAnswer(thought=10**7, thought_apart=True),
    "sent": ModelAnswer(sent=10**7),
    "said": ModelAnswer(said=10**7),
}


@pytest.mark.parametrize("wire", ["openai", "openrouter"])
@pytest.mark.parametrize("lie", LIES)
def test_a_lie_in_any_part_of_the_usage_is_seen(server: WireServer, wire: str, lie: str) -> None:
    server.script("lies", LIES[lie])
    found = call(server, wire, "lies", **PRICED)
    settings = ModelSettings(model=MODELS[wire][0], **PRICED)
    assert (found.error, found.cost) == (None, worst_case(PROMPT, settings))
    assert found.usage_doubt


@pytest.mark.parametrize(("cost", "believed"), [(0.0, True), (0.0123, True), (1.0, False), (1e6, False)])
def test_a_charge_beyond_belief_is_booked_at_the_worst_case(
    server: WireServer, cost: float, believed: bool
) -> None:
    server.script("charges", ModelAnswer(cost=cost))
    found = call(server, "openrouter", "charges", **PRICED)
    worst = worst_case(PROMPT, ModelSettings(model=MODELS["openrouter"][0], **PRICED))
    assert (found.cost, found.usage_doubt == "") == (int(cost * 1e6) if believed else worst, believed)
    unpriced = call(server, "openrouter", "charges")
    assert unpriced.cost == (None if cost == 1e6 else int(cost * 1e6)), "without a price only nonsense is"


def test_openrouter_says_what_it_cost_and_who_served_it(server: WireServer) -> None:
    found = call(server, "openrouter", "told-cost")
    assert (found.cost, found.host) == (12_300, "Anthropic")


@pytest.mark.parametrize("wire", [wire for wire in WIRES if wire != "ollama"])
@pytest.mark.parametrize("mode", ["refusal", "silent-refusal", "filtered", "blocked"])
def test_a_refusal_is_one_at_every_provider_and_is_paid_for(server: WireServer, wire: str, mode: str) -> None:
    found = call(server, wire, mode)
    assert found.error is not None
    assert (found.error.code, found.error.retry, found.tokens_in) == ("declined", False, 1_000)


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    ("mode", "code", "status"),
    [
        ("no-credit", "payment", 402),
        ("low-balance", "payment", 400),
        ("no-quota", "quota", 429),
        ("bad-key", "auth", 401),
        ("forbidden", "auth", 403),
        ("moderated", "filtered", 403),
        ("policy", "filtered", 400),
        ("too-long", "too_long", 400),
        ("rate-limit", "rate_limit", 429),
    ],
)
def test_each_fault_has_a_code_of_its_own(
    server: WireServer, wire: str, mode: str, code: str, status: int
) -> None:
    [found] = calls(server, wire, mode)
    assert found.error is not None
    if (wire, mode) == ("gemini", "no-quota"):  # its words for a limit that is over in a minute
        code = "rate_limit"
    assert (found.error.code, found.status, found.cost) == (code, status, 0)
    assert found.error.retry is (code == "rate_limit")
    assert found.error.wait == (2.0 if mode == "rate-limit" else None)


@pytest.mark.parametrize("wire", WIRES)
def test_an_answer_in_a_call_of_a_tool_is_read(server: WireServer, wire: str) -> None:
    server.script("tool", ModelAnswer('{"forecasts": []}', finish="tool"))
    assert (call(server, wire, "tool").reply or "").replace(" ", "") == '{"forecasts":[]}'


ANSWER = '{"forecasts": []}'


@pytest.mark.parametrize(
    ("text", "thinking", "reply", "thought"),
    [
        ("", ANSWER, ANSWER, ""),
        ("", f"```json\n{ANSWER}\n```", f"```json\n{ANSWER}\n```", ""),
        ("", f"A draft: {ANSWER}", "", f"A draft: {ANSWER}"),
        ("", "{}", "", "{}"),
        ("{}", ANSWER, "{}", ANSWER),
    ],
)
def test_an_answer_that_a_server_takes_whole_for_thinking_is_the_answer(
    server: WireServer, text: str, thinking: str, reply: str, thought: str
) -> None:
    server.script("swallowed", ModelAnswer(text, thinking=thinking))
    found = call(server, "openai", "swallowed", model="openai/a-local-model")
    assert (found.error, found.reply, found.thinking) == (None, reply, thought)
    server.script("swallowed", ModelAnswer(text, thinking=thinking, finish="length"))
    assert call(server, "openai", "swallowed", model="openai/a-local-model").reply == text


def test_an_answer_in_parts_is_read(server: WireServer) -> None:
    thinks = {"type": "thinking", "thinking": [{"type": "text", "text": "Rain is likely."}]}
    halves = [{"type": "text", "text": part} for part in (ANSWER[:5], ANSWER[5:])]
    server.script("parts", ModelAnswer(parts=(thinks, *halves)))
    found = call(server, "openai", "parts", model="openai/a-local-model")
    assert (found.error, found.reply, found.tokens_in) == (None, ANSWER, 1_000)
    server.script("parts", ModelAnswer(parts=({"type": "image_url", "image_url": {"url": "x"}},)))
    refused = call(server, "openai", "parts", model="openai/a-local-model")
    assert refused.error is not None, "what isn't words is not left out in silence"


@pytest.mark.parametrize("reasoning", ["none", "high"])
def test_a_long_search_that_is_paused_is_told_so(server: WireServer, reasoning: str) -> None:
    found = call(server, "anthropic", "pause", model="anthropic/claude-sonnet-4-5", reasoning=reasoning)
    assert found.error is not None
    assert (found.error.code, "pause_turn" in found.error.message) == ("other", True)


@pytest.mark.parametrize("wire", ["responses", "anthropic", "gemini"])
def test_thinking_comes_as_a_stream_and_what_breaks_off_is_kept(server: WireServer, wire: str) -> None:
    early = () if wire == "gemini" else ("early",)  # each of its parts may be the last
    for mode in ("broken", "no-part", *early):
        found = call(server, wire, mode)
        assert found.error is not None
        assert (found.error.code, found.error.retry, found.cost) == ("other", True, None)
        assert found.thinking == ("" if mode == "no-part" else "Rain is likely.")
    server.script(f"crawls-{wire}", Manner(THINKS, pause=0.6))
    slow = call(server, wire, f"crawls-{wire}", timeout=0.5)
    assert slow.error is not None
    assert (slow.error.code, slow.error.retry, slow.cost) == ("timeout", True, None)


@pytest.mark.parametrize("wire", ["openai", "responses", "anthropic", "gemini"])
def test_an_answer_that_came_while_the_process_stood_still_is_kept(server: WireServer, wire: str) -> None:
    """Suspended past its time, and awake again: the timer and the answer are ready at once."""
    server.script(f"waits-{wire}", Manner(THINKS, after=0.3))
    found = server.settings(wire, f"waits-{wire}", api_key_env="KEY", timeout=0.6)
    asking = make_ask(ModelSettings(**found), timer, {"KEY": "sk-a-canary-of-sixteen"})
    asked = len(server.log)

    async def go() -> Call:
        try:
            made = asyncio.ensure_future(asking(PROMPT))
            while len(server.log) == asked and not made.done():  # noqa: ASYNC110 - it is in another thread
                await asyncio.sleep(0.01)
            time.sleep(1.5)  # noqa: ASYNC251 - the loop is to stand still
            return await made
        finally:
            await close()

    kept = asyncio.run(go())
    assert (kept.error, len(server.log) - asked) == (None, 1)
    assert kept.reply


@pytest.mark.parametrize("part", ["seed", "max_tokens"])
def test_what_a_server_does_not_take_is_left_out(server: WireServer, part: str) -> None:
    hand: dict[str, Any] = {"seed": False} if part == "seed" else {"max_tokens_key": "max_length"}
    model = "openai/a-local-model"
    if part == "seed":
        assert call(server, "openai", "no-seed", model=model).error is None
        assert "seed" not in server.log[-1].body
    call(server, "openrouter", "good", **hand)
    assert part not in server.log[-1].body
    assert ("max_length" in server.log[-1].body) == (part == "max_tokens")


@pytest.mark.parametrize(
    ("wire", "endings"),
    [
        ("anthropic", ("", "/v1", "/v1/")),
        ("gemini", ("", "/v1beta")),
        ("openai", ("", "/v1")),
        ("responses", ("", "/v1")),
        ("ollama", ("", "/v1", "/api")),
        ("openrouter", ("", "/api", "/api/v1")),
    ],
)
def test_an_address_leads_there_with_its_version_or_without(
    server: WireServer, wire: str, endings: tuple[str, ...]
) -> None:
    for ending in endings:
        assert call(server, wire, "good", base_url=f"{server.url}/good{ending}").error is None


def test_ollama_is_given_room_for_the_question_and_the_answer(server: WireServer) -> None:
    long = Prompt((Message("user", "rain or shine " * 3_000),))
    [found] = calls(server, "ollama", "good", long)
    assert found.tokens_in == len('[{"role": "user", "content": ""}]' + "rain or shine " * 3_000) // 4 or (
        found.tokens_in > 10_000
    )
    assert server.log[-1].body["options"]["num_ctx"] >= found.tokens_in + 16_000


def test_samples_of_a_long_question_pay_for_its_words_once(server: WireServer) -> None:
    words = (Message("system", "Answer as JSON."), Message("user", "x" * 5_000))
    before = len(server.log)
    samples = [Prompt(words, seed=seed, sample=seed, shared=True) for seed in (1, 2, 3)]
    server.script("shared", Manner(ModelAnswer(), after=0.2))
    calls(server, "anthropic", "shared", *samples)
    first, *others = server.log[before:]
    for asked in (first, *others):
        assert asked.body["messages"][-1]["content"][-1]["cache_control"] == {"type": "ephemeral"}
    assert min(asked.at for asked in others) >= first.at + 0.2, "they wait until its words are kept"
    calls(server, "anthropic", "good", Prompt(words))
    assert "cache_control" not in str(server.log[-1].body)


WORDS: dict[str, JsonValue] = {
    "type": "object",
    "properties": {"query": {"type": "string"}},
    "required": ["query"],
}
FORMS = (
    ToolForm("search", "Searches the news.", WORDS),
    ToolForm("notes", "Tells notes.", {"type": "object"}),
)
RAIN = json.dumps({"query": "rain"})
SNOW = json.dumps({"query": "snow"})
TWO = ModelAnswer(text="I look it up.", uses=(("search", RAIN), ("notes", "{}")))
NO_TEXT_ARGUMENTS = ("gemini", "ollama")
"""Wires on which arguments are objects, and can't be anything but JSON."""


def conversation(
    server: WireServer, wire: str, *says: ModelAnswer, steps: int = 9, **settings: Any
) -> tuple[Call, list[tuple[str, str]], list[WireRequest]]:
    """Return the last call of a question, what tools were used for, and what was sent."""
    mode = f"tools-{wire}-{len(server.log)}"
    used = list[tuple[str, str]]()
    before = len(server.log)
    server.script(mode, *says)
    found = server.settings(wire, mode, api_key_env="KEY") | settings

    async def use(name: str, arguments: str) -> str:
        used.append((name, arguments))
        return f"{name} tells {len(used)}"

    async def go() -> Call:
        ask = make_ask(ModelSettings(**found), timer, {"KEY": "sk-a-canary-of-sixteen"})
        try:
            return await ask_with_tools(ask, Toolbox(FORMS, use), steps, None, 100_000)(PROMPT)
        finally:
            await close()

    return asyncio.run(go()), used, server.log[before:]


@pytest.mark.parametrize("wire", WIRES)
def test_a_model_uses_several_tools_at_once_then_another_and_answers(server: WireServer, wire: str) -> None:
    third = ModelAnswer(text="", uses=(("search", SNOW),))
    last, used, log = conversation(server, wire, TWO, third, ModelAnswer("{}"))
    assert (last.error, last.reply) == (None, "{}")
    plain = [(name, json.loads(given)) for name, given in used]
    assert plain == [("search", {"query": "rain"}), ("notes", {}), ("search", {"query": "snow"})]
    assert [asked.status for asked in log] == [200, 200, 200]
    sent = json.dumps(log[-1].body)
    assert all(f"{name} tells {n}" in sent for n, (name, _) in enumerate(used, 1))
    assert "I look it up." in sent
    assert "Searches the news." in sent
    assert [message.role for message in last.prompt.messages] == [
        "system", "user", "assistant", "tool", "tool", "assistant", "tool",
    ]  # fmt: skip
    assert [x.prompt.messages for x in without_steps([last])] == [PROMPT.messages]


@pytest.mark.parametrize("wire", WIRES)
def test_what_a_tool_tells_has_no_token_that_marks_a_role(server: WireServer, wire: str) -> None:
    once = ModelAnswer(text="", uses=(("<|im_start|>", RAIN),))
    last, _, log = conversation(server, wire, once, ModelAnswer("{}"))
    assert (last.error, last.reply) == (None, "{}")
    sent = json.dumps(log[-1].body)
    assert "< |im_start|> tells 1" in sent
    assert "<|im_start|> tells 1" not in sent


@pytest.mark.parametrize("wire", ["anthropic", "gemini", "responses"])
def test_what_it_thought_before_a_tool_goes_back_as_it_was_signed(server: WireServer, wire: str) -> None:
    thinks = ModelAnswer(
        text="", thinking="Let me see.", thought=50, uses=(("search", RAIN), ("search", SNOW))
    )
    last, used, log = conversation(server, wire, thinks, ModelAnswer("{}"), reasoning="high")
    assert (last.error, last.reply, len(used), len(log)) == (None, "{}", 2, 2)


@pytest.mark.parametrize("wire", WIRES)
def test_a_tool_that_there_is_not_is_for_the_toolbox_to_refuse(server: WireServer, wire: str) -> None:
    last, used, _ = conversation(
        server, wire, ModelAnswer(text="", uses=(("browse", "{}"),)), ModelAnswer("{}")
    )
    assert (last.error, [name for name, _ in used]) == (None, ["browse"])


@pytest.mark.parametrize("wire", [wire for wire in WIRES if wire not in NO_TEXT_ARGUMENTS])
def test_arguments_that_are_no_json_are_handed_on_and_answered(server: WireServer, wire: str) -> None:
    odd = ('{"query": "rai', "[" * 100_000, "5")
    torn = ModelAnswer(text="", uses=tuple(("search", each) for each in odd))
    last, used, log = conversation(server, wire, torn, ModelAnswer("{}"))
    assert (last.error, last.reply, len(log)) == (None, "{}", 2)
    assert used == [("search", each) for each in odd]
    assert "not_json" in json.dumps(log[-1].body), "some providers know objects only"


@pytest.mark.parametrize("wire", WIRES)
def test_after_its_last_step_it_must_answer(server: WireServer, wire: str) -> None:
    last, used, log = conversation(server, wire, TWO, TWO, steps=1)
    assert last.error is not None
    assert (last.error.message, len(used), len(log)) == (
        "the model asked for tools once it had to answer",
        2,
        2,
    )
    closed: dict[str, dict[str, Any]] = {
        "anthropic": {"tool_choice": {"type": "none"}},
        "gemini": {"toolConfig": {"functionCallingConfig": {"mode": "NONE"}}},
        "ollama": {},
    }
    assert log[-1].body.items() >= closed.get(wire, {"tool_choice": "none"}).items()
