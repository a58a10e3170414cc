"""The desk as tools of the Model Context Protocol: its own client, and a desk over HTTP."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator
from mcp import Client
from mcp.types import CallToolResult, TextContent

from agents.episode import schema_of
from arena.cohorts.freeze import code_version
from arena.operations.http import JSON, HttpRequest, HttpResponse, HttpServer, serve_http
from arena.operations.mcp_tools import NO_KEY, NO_TURN, DeskClient, key_headers, make_server
from tests.arena.operations.test_desk import Visitor, from_outside, open_to_all, played
from tests.builders import RAIN
from tests.opened_record import OpenedRecord
from tests.records.little_world import LittleVenue, a_cohort, a_world, begun

DECISION = {"version": 1, "forecasts": [{"market": RAIN, "options": {"yes": 0.3}}]}


def text_of(result: CallToolResult) -> str:
    [part] = result.content
    assert isinstance(part, TextContent)
    return part.text


def with_client(url: str, key: str, use: Callable[[Client], Awaitable[Any]]) -> Any:
    """Return the result of a client whose server speaks to a desk at an address."""

    async def play() -> Any:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        async with (
            httpx.AsyncClient(base_url=url, headers=headers, trust_env=False) as http,
            Client(make_server(DeskClient(http))) as client,
        ):
            return await use(client)

    return asyncio.run(play())


def test_without_a_key_it_lists_its_tools_and_a_call_says_what_is_missing() -> None:
    async def use(client: Client) -> Any:
        tools = (await client.list_tools()).tools
        calls = [await client.call_tool("view", {}), await client.call_tool("submit", {"decision": DECISION})]
        return client.server_info, tools, calls

    info, tools, calls = with_client("http://127.0.0.1:9", "", use)
    assert (info.name, info.version) == ("paper-arena", code_version())
    assert [tool.name for tool in tools] == ["view", "preview", "submit", "results"]
    assert [(call.is_error, text_of(call)) for call in calls] == [(True, NO_KEY)] * 2


@pytest.mark.parametrize("name", ["preview", "submit"])
def test_a_decision_has_the_form_that_is_printed(name: str) -> None:
    async def use(client: Client) -> Any:
        return {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}

    schema = with_client("http://127.0.0.1:9", "", use)[name]
    Draft202012Validator.check_schema(schema)
    wanted = schema_of("decision")
    assert schema["$defs"] == wanted["$defs"]
    assert schema["properties"]["decision"]["properties"] == wanted["properties"]
    assert schema["required"] == ["decision"]
    form = Draft202012Validator(schema)
    assert form.is_valid({"decision": DECISION})
    assert not form.is_valid({"decision": {"version": 1, "forecasts": [{"market": RAIN, "probability": 1}]}})


async def called(
    answer: Callable[[HttpRequest], Awaitable[HttpResponse]], tool: str, arguments: dict[str, Any]
) -> CallToolResult:
    """Call a tool of a server of the protocol whose desk answers so."""
    async with (
        serve_http(HttpServer(answer), "127.0.0.1", 0) as port,
        httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{port}", headers={"Authorization": "Bearer k"}, trust_env=False
        ) as http,
        Client(make_server(DeskClient(http))) as client,
    ):
        return await client.call_tool(tool, arguments)


FAULTS = [
    ("submit", {}, "decision: expected an object with the lists forecasts, bets and sales"),
    ("submit", {"decision": "x"}, "decision: expected an object with the lists forecasts, bets and sales"),
    ("submit", {"decision": {}}, NO_TURN),
    ("submit", {"decison": {}}, "submit has no argument 'decison': its arguments are decision, turn"),
    ("view", {"turn": "1-1"}, "view has no argument 'turn': its arguments are none"),
    ("nothing", {}, "there is no tool 'nothing': there are view, preview, submit, results"),
    ("results", {}, "two lines. do that"),
]


@pytest.mark.parametrize(("tool", "arguments", "words"), FAULTS)
def test_a_fault_is_one_line(tool: str, arguments: dict[str, Any], words: str) -> None:
    async def answer(request: HttpRequest) -> HttpResponse:
        if request.path == "/v1/turn":
            return HttpResponse(200, b'{"turn": null}', JSON)
        return HttpResponse(
            422, json.dumps({"error": {"message": "two\nlines", "mend": "do\nthat"}}).encode(), JSON
        )

    result = asyncio.run(called(answer, tool, arguments))
    assert (result.is_error, text_of(result)) == (True, words)


@pytest.mark.parametrize("page", [b"<html></html>", b"[1]", b"\xff", b'{"error": 1}'])
@pytest.mark.parametrize("tool", ["view", "submit"])
def test_a_page_of_another_server_is_no_answer(tool: str, page: bytes) -> None:
    async def answer(request: HttpRequest) -> HttpResponse:
        return HttpResponse(503 if b"error" in page else 200, page)

    arguments = {"decision": DECISION} if tool == "submit" else {}
    result = asyncio.run(called(answer, tool, arguments))
    assert result.is_error
    assert text_of(result).endswith("; it is not a desk")


@pytest.mark.parametrize("key", ["", " ", "ключ", "two words", "a\nb"])
def test_what_can_be_no_key_is_not_sent(key: str) -> None:
    assert key_headers(key) == {}


def test_a_key_is_sent_without_the_space_around_it() -> None:
    assert key_headers(" arena_k\n") == {"Authorization": "Bearer arena_k"}


def test_a_text_that_is_no_utf_8_is_sent_as_it_is_escaped() -> None:
    sent = list[bytes]()

    async def take(request: httpx.Request) -> httpx.Response:
        sent.append(request.content)
        return httpx.Response(200, json={"turn": "1-1"})

    async def play() -> str:
        transport = httpx.MockTransport(take)
        headers = key_headers("k")
        async with httpx.AsyncClient(base_url="http://desk", headers=headers, transport=transport) as http:
            decision = {**DECISION, "note": "\ud800"}
            return await DeskClient(http).call("submit", {"decision": decision, "turn": "1-1"})

    assert json.loads(asyncio.run(play())) == {"turn": "1-1"}
    assert json.loads(sent[0])["note"] == "\ud800"


def test_a_decision_is_sent_to_the_open_turn_and_one_without_a_usable_item_can_be_corrected(
    record: OpenedRecord,
) -> None:
    begun(record, from_outside(a_cohort(["ann"]), "ann"))

    async def plays(guest: Visitor) -> None:
        await guest.turn()
        headers = {"Authorization": f"Bearer {guest.key}"}
        async with (
            httpx.AsyncClient(base_url=guest.http.base_url, headers=headers, trust_env=False) as http,
            Client(make_server(DeskClient(http))) as client,
        ):
            wrong = {"version": 1, "forecasts": [{"market": RAIN, "probability": 0.3}]}
            refused = await client.call_tool("submit", {"decision": wrong})
            assert refused.is_error
            assert 'forecast 1: "options" is missing; unknown key "probability"' in text_of(refused)
            assert "\n" not in text_of(refused)
            tried = await client.call_tool("preview", {"decision": DECISION})
            taken = await client.call_tool("submit", {"decision": DECISION})
            assert [json.loads(text_of(each))["accepted"] for each in (tried, taken)] == [False, True]
            over = await client.call_tool("submit", {"decision": DECISION})
            assert text_of(over) == NO_TURN
            again = await client.call_tool("submit", {"decision": DECISION, "turn": "1-1"})
            assert text_of(again) == text_of(taken)

    turns = played(record, open_to_all(a_world(LittleVenue(), {})), {"ann": plays})
    assert turns["ann"].decision.status == "played"
