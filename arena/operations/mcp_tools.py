"""An agent's turns as tools of the Model Context Protocol: each tool sends a request to the desk."""

import asyncio
import json
import re
from dataclasses import dataclass
from typing import Any

import httpx
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from agents.episode import schema_of
from agents.text import one_line
from arena.cohorts.freeze import code_version

INSTRUCTIONS = """You play for an agent of Paper Arena: it forecasts prediction markets and bets play money.
Call `view` to see whether a turn is open. If one is, judge its markets, try your decision with `preview` if
you like, and send it with `submit` before the deadline. Only the first decision of a turn counts."""
DESCRIPTIONS = {
    "view": "The turn that is open, with its deadline and all that may be known in it; null when none is.",
    "preview": "What a decision would be filled at, by the prices of the view. Nothing is kept.",
    "submit": "Send the decision of a turn. The same one sent again changes nothing.",
    "results": "How your last turns ended, with fills and refusals, and your forecasts whose markets have "
    "ended.",
}
DECIDING = ("preview", "submit")
"""The tools that take a decision."""
NO_KEY = (
    "ARENA_KEY is not set where this server runs, or is no key: make one with "
    "`arena outside desk --key NAME`, "
    "and set it there"
)
NO_TURN = "no turn is open: call view again later; results tells of turns that are over"
PATIENCE = 30.0
"""Seconds until the desk has to answer."""
LONGEST_ERROR = 4_000
"""Characters of an error that an assistant is shown."""


class ToolFault(Exception):
    """The reason why a tool has no answer, in one line."""


@dataclass(frozen=True, slots=True)
class DeskClient:
    """A client of the desk for one agent, which raises the desk's own words where it refuses a request."""

    http: httpx.AsyncClient

    async def call(self, tool: str, arguments: dict[str, Any]) -> str:
        """Return the desk's answer to a call of a tool; raise `ToolFault` if there is none."""
        if tool not in DESCRIPTIONS:
            raise ToolFault(f"there is no tool {tool!r}: there are {', '.join(DESCRIPTIONS)}")

        allowed = _input_schema(tool)["properties"]
        unknown = sorted(arguments.keys() - allowed.keys())
        if unknown:
            takes = ", ".join(allowed) or "none"
            raise ToolFault(f"{tool} has no argument {unknown[0]!r}: its arguments are {takes}")
        if "Authorization" not in self.http.headers:
            raise ToolFault(NO_KEY)

        if tool == "view":
            return await self._ask("GET", "/v1/turn")
        if tool == "results":
            return await self._ask("GET", "/v1/results")
        return await self._send(arguments, preview=tool == "preview")

    async def _send(self, arguments: dict[str, Any], preview: bool) -> str:
        """Send or preview a decision for the named turn, by default the open one."""
        decision = arguments.get("decision")
        if not isinstance(decision, dict):
            raise ToolFault("decision: expected an object with the lists forecasts, bets and sales")

        turn = arguments.get("turn")
        if turn is None:
            turn = json.loads(await self._ask("GET", "/v1/turn"))["turn"]
        if turn is None:
            raise ToolFault(NO_TURN)

        body = json.dumps(decision).encode()
        params = {"turn": str(turn), "preview": str(preview)}
        return await self._ask("POST", "/v1/turn", params=params, content=body)

    async def _ask(self, method: str, path: str, **content: Any) -> str:
        """Return the desk's answer as JSON text; raise `ToolFault` if it refuses or is no desk."""
        try:
            answer = await self.http.request(method, path, **content)
        except httpx.HTTPError as error:
            reason = f"the desk at {self.http.base_url} can't be reached: {type(error).__name__}"
            raise ToolFault(f"{reason}. Try again; is arena outside desk running?") from error

        try:
            document = answer.json()
            if answer.is_success and isinstance(document, dict):
                return answer.text
            fault = document["error"]
            raise ToolFault(f"{fault['message']}. {fault['mend']}")
        except (ValueError, LookupError, TypeError) as error:
            status = answer.status_code
            raise ToolFault(f"{self.http.base_url} answers with status {status}; it is not a desk") from error


def _input_schema(tool: str) -> dict[str, Any]:
    """Return the JSON schema of a tool's arguments. A decision has the schema that the desk shows."""
    if tool not in DECIDING:
        return {"type": "object", "properties": {}, "additionalProperties": False}

    decision = schema_of("decision")
    del decision["$schema"]
    shared = decision.pop("$defs")
    turn = {"type": "string", "description": "The name of the turn; without it, the one that is open."}
    return {
        "type": "object",
        "properties": {"decision": decision, "turn": turn},
        "required": ["decision"],
        "additionalProperties": False,
        "$defs": shared,
    }


def make_server(desk: DeskClient) -> Server[Any]:
    """Return a server with the tools of a desk's client."""
    tools = [
        types.Tool(name=name, description=description, input_schema=_input_schema(name))
        for name, description in DESCRIPTIONS.items()
    ]

    async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        """Return the tools."""
        return types.ListToolsResult(tools=tools)

    async def call_tool(_context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Return the desk's answer to a call, or its fault as an error."""
        try:
            text = await desk.call(params.name, params.arguments or {})
        except ToolFault as fault:
            message = types.TextContent(type="text", text=one_line(str(fault), LONGEST_ERROR))
            return types.CallToolResult(content=[message], is_error=True)
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)])

    return Server(
        "paper-arena",
        version=code_version(),
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def key_headers(key: str) -> dict[str, str]:
    """Return the headers that send a key; none for a text that can't be a key."""
    key = key.strip()
    if re.fullmatch(r"[!-~]+", key) is None:
        return {}
    return {"Authorization": f"Bearer {key}"}


def serve_tools(url: str, key: str) -> None:
    """Serve the tools on standard input and output until the input ends, for the agent with this key."""
    headers = key_headers(key)

    async def serve() -> None:
        """Serve with a client of the desk at this address."""
        async with httpx.AsyncClient(
            base_url=url, headers=headers, timeout=PATIENCE, trust_env=False
        ) as http:
            server = make_server(DeskClient(http))
            async with stdio_server() as (reader, writer):
                await server.run(reader, writer, server.create_initialization_options())

    asyncio.run(serve())
