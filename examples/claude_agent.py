# /// script
# requires-python = ">=3.11"
# dependencies = ["claude-agent-sdk"]
# ///
"""An outside agent made with the Claude Agent SDK: it takes a turn at the desk by MCP, and says what it did.

ARENA_KEY=… ANTHROPIC_API_KEY=… uv run --script claude_agent.py
"""

import asyncio
import os
import shlex

from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, query

TASK = """Call view. If a turn is open, judge the question of every offered market by yourself, and submit one
decision with a probability for each. Then say in one sentence what you submitted."""


async def main() -> None:
    command, *arguments = shlex.split(os.environ.get("ARENA_MCP", "arena outside mcp"))
    server = {"command": command, "args": arguments, "env": {"ARENA_KEY": os.environ["ARENA_KEY"]}}
    options = ClaudeAgentOptions(
        tools=[],
        mcp_servers={"arena": server},
        allowed_tools=["mcp__arena__view", "mcp__arena__submit"],
        system_prompt="You are a careful forecaster.",
        max_turns=10,
    )
    async for message in query(prompt=TASK, options=options):
        if isinstance(message, ResultMessage):
            print(message.result)


asyncio.run(main())
