"""What the project hands to assistants and their hosts: a registration, a skill, and two agents' scripts."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML

from agents.episode import schema_of
from arena.cohorts.freeze import code_version
from arena.operations.listen_addresses import KEY_VARIABLE
from tests.program.command_line import ROOT, environment

EXAMPLES = ROOT / "examples"
SKILL = EXAMPLES / "paper-arena" / "SKILL.md"

PYDANTIC_AI = """\
import json
from types import SimpleNamespace

class Agent:
    def __init__(self, model, toolsets, instructions):
        self.said = {"model": model, "server": toolsets[0]}

    def run_sync(self, task):
        return SimpleNamespace(output=json.dumps(self.said | {"task": task}))
"""
PYDANTIC_MCP = """\
def MCPToolset(config, init_timeout):
    return config["mcpServers"]["paper-arena"]
"""
CLAUDE = """\
import json
from dataclasses import dataclass
from types import SimpleNamespace

class ClaudeAgentOptions(SimpleNamespace):
    pass

@dataclass
class ResultMessage:
    result: str

async def query(*, prompt, options):
    yield "thinking"
    said = {"server": options.mcp_servers["arena"], "task": prompt, "allowed": options.allowed_tools}
    yield ResultMessage(json.dumps(said))
"""


def said_by(script: str, folder: Path) -> dict[str, Any]:
    """Return what an example hands to the framework that stands in the folder."""
    text = (EXAMPLES / script).read_text("utf-8")
    (folder / script).write_text(text, "utf-8")
    there = environment(ARENA_KEY="arena_k", ARENA_MCP="arena outside mcp --url 'http://desk here'")
    line = [sys.executable, script]
    done = subprocess.run(line, capture_output=True, text=True, cwd=folder, env=there, check=True)
    said: dict[str, Any] = json.loads(done.stdout)
    return said


SERVER = {
    "command": "arena",
    "args": ["outside", "mcp", "--url", "http://desk here"],
    "env": {"ARENA_KEY": "arena_k"},
}


def test_pydantic_ai_is_given_the_desk(tmp_path: Path) -> None:
    package = tmp_path / "pydantic_ai"
    package.mkdir()
    (package / "__init__.py").write_text(PYDANTIC_AI, "utf-8")
    (package / "mcp.py").write_text(PYDANTIC_MCP, "utf-8")
    said = said_by("pydantic_ai_agent.py", tmp_path)
    assert said["server"] == SERVER
    assert "submit" in said["task"]


def test_the_claude_agent_sdk_is_given_the_desk_and_its_two_tools(tmp_path: Path) -> None:
    (tmp_path / "claude_agent_sdk.py").write_text(CLAUDE, "utf-8")
    said = said_by("claude_agent.py", tmp_path)
    assert said["server"] == SERVER
    assert said["allowed"] == ["mcp__arena__view", "mcp__arena__submit"]


@pytest.mark.parametrize("script", ["pydantic_ai_agent.py", "claude_agent.py", "openai_agent.py"])
def test_an_example_fits_on_a_screen(script: str) -> None:
    lines = (EXAMPLES / script).read_text("utf-8").splitlines()
    code = [line for line in lines if line.strip() and not line.startswith("#")]
    assert len(code) <= 35


def test_the_registration_names_this_version_and_the_key() -> None:
    server = json.loads((ROOT / "server.json").read_text("utf-8"))
    [package] = server["packages"]
    assert server["version"] == package["version"] == code_version()
    assert package["runtimeArguments"][0]["value"] == f"paper-arena[mcp]=={code_version()}"
    [key] = package["environmentVariables"]
    assert (key["name"], key["isSecret"], key["isRequired"]) == (KEY_VARIABLE, True, True)
    assert len(server["description"]) <= 100
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", server["name"])


def test_the_skill_has_the_form_that_hosts_read_and_its_decision_is_one() -> None:
    _, head, text = SKILL.read_text("utf-8").split("---\n", 2)
    about = YAML(typ="safe").load(head)
    assert about["name"] == SKILL.parent.name
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", about["name"])
    assert len(about["description"]) <= 1024
    assert len(about["compatibility"]) <= 500
    decision = json.loads(text.partition("```json\n")[2].partition("```")[0])
    Draft202012Validator(schema_of("decision")).validate(decision)
