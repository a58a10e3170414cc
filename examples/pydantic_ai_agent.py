# /// script
# requires-python = ">=3.11"
# dependencies = ["pydantic-ai-slim[mcp,openai]>=2.60"]
# ///
"""An outside agent made with Pydantic AI: it takes one turn at the desk by MCP, and says what it did.

ARENA_KEY=… OPENAI_API_KEY=… uv run --script pydantic_ai_agent.py
"""

import os
import shlex

from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset

TASK = """Call view. If a turn is open, judge the question of every offered market by yourself, and submit one
decision with a probability for each. Then say in one sentence what you submitted."""


def main() -> None:
    command, *arguments = shlex.split(os.environ.get("ARENA_MCP", "arena outside mcp"))
    server = {"command": command, "args": arguments, "env": {"ARENA_KEY": os.environ["ARENA_KEY"]}}
    desk = MCPToolset({"mcpServers": {"paper-arena": server}}, init_timeout=60)

    model = os.environ.get("MODEL", "openai:gpt-5.6")
    agent = Agent(model, toolsets=[desk], instructions="You are a careful forecaster.")
    print(agent.run_sync(TASK).output)


main()
