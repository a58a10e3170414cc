"""Turns as tools of the Model Context Protocol: they speak to the desk, over HTTP, and to no other."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import httpx
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

INSTRUCTIONS = """You play for an agent of Paper Arena: it forecasts prediction markets and bets play money.
Call `view` to see whether a turn is open. If one is, judge its markets, try your decision with `preview` if
you like, and send it with `submit` before the deadline. Only the first decision of a turn counts."""
FORM = """A decision is {"version": 1, "forecasts": [...], "bets": [...], "sales": [...]}. These list objects:
a forecast {"market": ID, "options": {"yes": 0.65}, "reason": TEXT}; a bet {"market": ID, "option": "yes" or
"no", "amount": DOLLARS, "limit": the most to pay for a share, if any}; a sale {"market": ID, "option":
"yes" or "no", "fraction": part of the shares, if not all, "limit": the least to take, if any}."""
PATIENCE = 30.0


@dataclass(frozen=True, slots=True)
class DeskClient:
    """An agent's way to the desk; what the desk refuses is told in its words."""

    http: httpx.AsyncClient

    async def view(self) -> str:
        """The turn that is open, with its deadline and all that may be known in it; null when none is."""
        return await self._ask("GET", "/v1/turn")

    async def preview(self, turn: str, decision: dict[str, Any]) -> str:
        """What a decision would be filled at, by the prices of the view. Nothing is kept."""
        return await self._send(decision, {"turn": turn, "preview": "true"})

    async def submit(self, turn: str, decision: dict[str, Any]) -> str:
        """Send the decision of a turn. The same one sent again changes nothing."""
        return await self._send(decision, {"turn": turn})

    async def results(self) -> str:
        """How your last turns ended, with fills and refusals, and your forecasts whose markets have ended."""
        return await self._ask("GET", "/v1/results")

    async def _send(self, decision: dict[str, Any], params: dict[str, str]) -> str:
        body = json.dumps(decision, ensure_ascii=False).encode()
        return await self._ask("POST", "/v1/turn", params=params, content=body)

    async def _ask(self, method: str, path: str, **more: Any) -> str:
        try:
            answer = await self.http.request(method, path, **more)
        except httpx.HTTPError as error:
            words = f"the desk at {self.http.base_url} can't be reached: {type(error).__name__}"
            raise ToolError(f"{words}. Try again; is arena desk running?") from error
        if answer.is_success:
            return answer.text
        try:
            fault = answer.json()["error"]
            raise ToolError(f"{fault['message']}. {fault['mend']}")
        except (ValueError, LookupError, TypeError) as error:
            words = f"{self.http.base_url} answers with status {answer.status_code}; it is not a desk"
            raise ToolError(words) from error


def serve_tools(url: str, key: str) -> None:
    """Answer on standard input and output until that is closed, for the agent with this key."""
    headers = {"Authorization": f"Bearer {key}"}
    desk = DeskClient(httpx.AsyncClient(base_url=url, headers=headers, timeout=PATIENCE, trust_env=False))
    server = MCPServer("paper-arena", instructions=INSTRUCTIONS, log_level="WARNING")
    tools: tuple[Callable[..., Awaitable[str]], ...] = desk.view, desk.preview, desk.submit, desk.results
    for tool in tools:
        form = f" {FORM}" if tool in (desk.preview, desk.submit) else ""
        server.add_tool(tool, description=f"{tool.__doc__}{form}", structured_output=False)
    server.run("stdio")
