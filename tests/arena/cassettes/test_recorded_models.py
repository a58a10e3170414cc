"""A model's answer is recorded on every provider's wire, and read again without a network or a key."""

import asyncio
from collections.abc import Iterator

import pytest

from agents.llm import close, make_ask
from agents.model import Call, ModelSettings
from agents.secrets import secrets_in
from arena.cassettes.cleaning import Cleaner
from arena.cassettes.model_tapes import MOST_TEXT, ModelTapes, reading_fault, replay_model
from arena.clock import timer
from arena.errors import ArenaError
from tests.arena.cassettes.recorded import offline
from tests.provider.model_answer import ModelAnswer
from tests.provider.wire_server import MODELS, WireServer, wires

KEY = "c4nary-k3y-9x8y7z"
SAYS = '{"forecasts": [{"market": "m1", "probability": 0.5, "reason": "a test"}]}'


@pytest.fixture(scope="module")
def server() -> Iterator[WireServer]:
    with wires() as running:
        yield running


def recorded(server: WireServer, wire: str, mode: str, **more: object) -> tuple[Call, ModelTapes]:
    """Return the call of one model of a wire, and what was taped of it."""
    environ = {"KEY": KEY}
    values = {**server.settings(wire, mode), "api_key_env": "KEY", **more}
    settings = ModelSettings.model_validate(values)
    tapes = ModelTapes(Cleaner(secrets_in(environ)))

    async def ask() -> Call:
        try:
            return await tapes.ping(settings, make_ask(settings, timer, environ))
        finally:
            await close()

    return asyncio.run(ask()), tapes


@pytest.mark.parametrize("reasoning", [None, "high"])
@pytest.mark.parametrize("wire", MODELS)
def test_an_answer_is_read_again_as_it_was(server: WireServer, wire: str, reasoning: str | None) -> None:
    server.script("says", ModelAnswer(SAYS, thinking="Rain is likely.", thought=50))
    call, tapes = recorded(server, wire, "says", reasoning=reasoning)
    assert (call.error, tapes.faults) == (None, [])
    [tape] = tapes.tapes
    assert (tape.model, tape.provider, tape.own_server) == (
        MODELS[wire][0],
        tape.model.partition("/")[0],
        True,
    )
    asked = len(server.log)
    with offline():
        again = asyncio.run(replay_model(tape))
    assert reading_fault(again) == ""
    assert (again.reply, again.thinking, again.finish) == (call.reply, call.thinking, call.finish)
    assert (again.tokens_in, again.tokens_out, again.model) == (call.tokens_in, call.tokens_out, call.model)
    assert len(server.log) == asked


@pytest.mark.parametrize("wire", MODELS)
def test_a_model_at_its_provider_is_read_again_too(server: WireServer, wire: str) -> None:
    """As it is recorded from there: without an address."""
    server.script("says", ModelAnswer(SAYS))
    _, tapes = recorded(server, wire, "says")
    provider = tapes.tapes[0].provider
    tape = tapes.tapes[0].model_copy(update={"own_server": provider == "ollama_chat"})
    with offline():
        assert reading_fault(asyncio.run(replay_model(tape))) == ""


OPENAI_LIKE = ("deepseek", "groq", "mistral", "perplexity", "together_ai", "lm_studio")


@pytest.mark.parametrize("provider", OPENAI_LIKE)
def test_providers_that_speak_the_form_of_openai_are_read_too(server: WireServer, provider: str) -> None:
    server.script("says", ModelAnswer(SAYS, tier="default"))  # without a tier litellm loses an answer of Groq
    _, tapes = recorded(server, "openai", "says")
    own = {"model": f"{provider}/x", "own_server": provider == "lm_studio"}
    with offline():
        assert reading_fault(asyncio.run(replay_model(tapes.tapes[0].model_copy(update=own)))) == ""


def test_a_provider_whose_client_may_reach_out_by_itself_is_refused(server: WireServer) -> None:
    server.script("says", ModelAnswer(SAYS))
    _, tapes = recorded(server, "openai", "says")
    for change in ({"model": "bedrock/x"}, {"model": "vertex_ai/x"}, {"settings": {"reasoning": 7}}):
        with offline(), pytest.raises(ArenaError) as refused:
            asyncio.run(replay_model(tapes.tapes[0].model_copy(update=change)))
        assert refused.value.code == "bad_cassette"


def test_what_was_refused_before_is_not_kept(server: WireServer) -> None:
    call, tapes = recorded(server, "openai", "no-form")
    assert (call.error, call.rung, len(tapes.tapes)) == (None, "prompt", 1)


@pytest.mark.parametrize("mode", ["bad-key", "rate-limit", "broken", "blocked"])
def test_an_error_leaves_no_tape_and_is_named(server: WireServer, mode: str) -> None:
    call, tapes = recorded(server, "anthropic" if mode == "broken" else "openai", mode)
    assert (call.error is None, tapes.tapes) == (False, [])
    assert [fault.rpartition(": ")[2] for fault in tapes.faults] == [call.error and call.error.code]


def test_an_answer_without_end_is_not_kept(server: WireServer) -> None:
    server.script("long", ModelAnswer("x" * MOST_TEXT))
    _, tapes = recorded(server, "openai", "long")
    assert (tapes.tapes, tapes.faults) == ([], ["openai/gpt-5.6: its answer is too long for the cassette"])


STREAMED = ("responses", "xai", "anthropic")
"""Wires on which an answer comes in pieces, of which none need have the whole of a key."""
LEAKS = {
    "key": f"my key is {KEY}",
    "mail": "write to ann.lee@example.org",
    "organisation": "I serve org-9Kx2Lm4Pq7Rs1Tv5",
}


@pytest.mark.parametrize("leak", LEAKS)
@pytest.mark.parametrize("wire", MODELS)
def test_no_secret_of_an_answer_is_kept_in_one_piece_or_in_many(
    server: WireServer, wire: str, leak: str
) -> None:
    secret = LEAKS[leak].rpartition(" ")[2]
    before, _, after = SAYS.replace("a test", LEAKS[leak]).partition(secret)
    text = before + secret + after.ljust(len(before))  # a stream comes in halves, and so does the key
    server.script("leaks", ModelAnswer(text, host=secret))
    _, tapes = recorded(server, wire, "leaks")
    for tape in tapes.tapes:
        assert secret not in tape.model_dump_json()
        with offline():
            again = asyncio.run(replay_model(tape))
        assert secret not in f"{again.reply}{again.thinking}{again.host}"
    if wire in STREAMED:
        assert tapes.faults == [f"{MODELS[wire][0]}: a key or personal data stands in pieces in its answer"]
    else:
        assert tapes.faults == []
    assert tapes.cleaner.counts["headers of requests and answers"] == 1


def test_a_recording_is_of_its_own_task_alone(server: WireServer) -> None:
    """Two models that are asked side by side: each tape has its own answer."""
    tapes = ModelTapes(Cleaner())
    for name in ("one", "two"):
        server.script(name, ModelAnswer(SAYS.replace("a test", name)))

    async def ask() -> None:
        settings = [ModelSettings.model_validate(server.settings("openai", name)) for name in ("one", "two")]
        await asyncio.gather(*(tapes.ping(each, make_ask(each, timer, {})) for each in settings))
        await close()

    asyncio.run(ask())
    assert sorted("two" in tape.body for tape in tapes.tapes) == [False, True]
    assert sorted("one" in tape.body for tape in tapes.tapes) == [False, True]
