# /// script
# requires-python = ">=3.11"
# dependencies = ["openai-agents"]
# ///
"""An agent made with OpenAI's Agents SDK, in an environment of its own: `agents` here is that package.

- {kind: command, name: sdk, command: [uv, run, --script, openai_agent.py],
   environment: [OPENAI_API_KEY], timeout: 5m}
"""

import json
import os
import sys

from agents import Agent, Runner

QUESTION = """How likely is YES for each of these prediction markets? Answer with one JSON object that maps
every market's id to a probability from 0 to 1, and nothing else.

"""


def main() -> None:
    view = json.load(sys.stdin)
    offered = [market for market in view["markets"] if market["offered"]]
    asked = {market["market"]: market["question"] for market in offered}

    agent = Agent(
        name="forecaster",
        instructions="You are a careful forecaster.",
        model=os.environ.get("OPENAI_MODEL", "gpt-5.6"),
    )
    result = Runner.run_sync(agent, QUESTION + json.dumps(asked))
    stated = json.loads(str(result.final_output))

    forecasts = [
        {"market": market, "options": {"yes": min(max(float(stated[market]), 0), 1)}}
        for market in asked
        if market in stated
    ]
    json.dump({"version": 1, "forecasts": forecasts}, sys.stdout)


main()
