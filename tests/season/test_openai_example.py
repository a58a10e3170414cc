"""The example of an agent made with OpenAI's Agents SDK, with a stand-in for that package."""

import json
import subprocess
import sys
from pathlib import Path

from tests.program.command_line import ROOT

STUB = """\
import json
from types import SimpleNamespace as Agent

class Runner:
    @staticmethod
    def run_sync(agent, text):
        asked = json.loads(text[text.index("{"):])
        return Agent(final_output=json.dumps({name: 0.25 for name in asked}))
"""
VIEW = {
    "markets": [
        {"market": "m1", "question": "Rain?", "offered": True, "price": 0.4},
        {"market": "m2", "question": "Snow?", "offered": False, "price": 0.1},
    ]
}


def test_it_states_a_forecast_for_what_is_offered(tmp_path: Path) -> None:
    (tmp_path / "agents.py").write_text(STUB, "utf-8")
    script = tmp_path / "openai_agent.py"
    script.write_text((ROOT / "examples" / "openai_agent.py").read_text("utf-8"), "utf-8")
    done = subprocess.run(
        [sys.executable, str(script)], input=json.dumps(VIEW), capture_output=True, text=True, cwd=tmp_path
    )
    assert json.loads(done.stdout) == {
        "version": 1,
        "forecasts": [{"market": "m1", "options": {"yes": 0.25}}],
    }, done.stderr
