"""An agent's turns as tools of the Model Context Protocol: each speaks to the desk, over HTTP, and no other."""

import json
from typing import Any

import httpx
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

INSTRUCTIONS = """You play for one agent of Paper Arena, which forecasts prediction markets and bets play money.
Call `view` to see whether a turn is open. If one is, judge its markets, try your decision with `preview` if
you like, and send it with `submit` before the deadline. Only the first decision of a turn counts."""
FORM = """A decision is {"version": 1, "forecasts": [...], "bets": [...], "sales": [...]}, each list of objects:
a forecast {"market": ID, "options": {"yes": 0.65}, "reason": TEXT}; a bet {"market": ID, "option": "yes" or
"no", "amount": DOLLARS, "limit": the most to pay for a share, if any}; a sale {"market": ID, "option": "yes" or
"no", "fraction": part of the shares, if not all, "limit": the least to take, if any}."""
PATIENCE = 30.0


def serve_tools(url: str, key: str) -> None:
    """Answer on standard input and output until that is closed, for the agent with this key."""
    server = MCPServer("paper-arena", instructions=INSTRUCTIONS)
    client = httpx.AsyncClient(
        base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=PATIENCE, trust_env=False
    )

    async def asked(method: str, path: str, **more: Any) -> str:
        try:
            answer = await client.request(method, path, **more)
        except httpx.HTTPError as error:
            words = f"the desk at {url} can't be reached: {type(error).__name__}"
            raise ToolError(f"{words}. Try again; is arena desk running?") from error
        if answer.is_success:
            return answer.text
        try:
            fault = answer.json()["error"]
        except (ValueError, LookupError, TypeError) as error:
            raise ToolError(f"{url} answers with status {answer.status_code}, and is no desk") from error
        raise ToolError(f"{fault['message']}. {fault['mend']}")

    async def sent(turn: str, decision: dict[str, Any], **more: str) -> str:
        body = json.dumps(decision, ensure_ascii=False).encode()
        return await asked("POST", "/v1/turn", params={"turn": turn, **more}, content=body)

    async def view() -> str:
        """The turn that is open, with its deadline and all that may be known in it; null when none is."""
        return await asked("GET", "/v1/turn")

    async def preview(turn: str, decision: dict[str, Any]) -> str:
        return await sent(turn, decision, preview="true")

    async def submit(turn: str, decision: dict[str, Any]) -> str:
        return await sent(turn, decision)

    async def results() -> str:
        """How your last turns ended, with fills and refusals, and your forecasts whose markets have ended."""
        return await asked("GET", "/v1/results")

    tried = f"What a decision would be filled at, by the prices of the view. Nothing is kept. {FORM}"
    taken = f"Send the decision of a turn; the same one sent again changes nothing. {FORM}"
    for tool, words in ((view, view.__doc__), (preview, tried), (submit, taken), (results, results.__doc__)):
        server.add_tool(tool, description=words, structured_output=False)
    server.run("stdio")
