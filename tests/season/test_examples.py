"""The card and every example are right, and play against a venue and models on this machine."""

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from arena.config import load
from tests.bundles import simulated
from tests.program.command_line import ROOT
from tests.program.forked import Forks
from tests.program.rehearsal import clock_at, content, content_at, rehearse, rows
from tests.program.running import AGREES, arena_json
from tests.provider.replies import GOOD, says
from tests.provider.server import FaultyProvider
from tests.venue_server.polymarket import CLOB, GAMMA, rain_and_snow
from tests.venue_server.server import venue_server

EXAMPLES = {path.stem: path for path in (ROOT / "examples").glob("*.yaml")}
PLAYED = ("card", "five-providers", "blind-or-shown", "prompt-ab", "local-model")
PROVIDERS = ("ANTHROPIC", "OPENAI", "GEMINI", "DEEPSEEK", "MISTRAL")
KEYS = {f"{name}_API_KEY": "canary" for name in PROVIDERS}


@pytest.fixture
def venue() -> Iterator[str]:
    with venue_server() as server:
        yield rain_and_snow(endDate="2026-01-25T00:00:00Z", volume="20000").serve(server)


def placed(folder: Path, name: str, provider: FaultyProvider | None = None, venue: str = "") -> Path:
    """Copy the examples into a folder, one as config.yaml with its models and venue on this machine."""
    shutil.copytree(ROOT / "examples", folder, dirs_exist_ok=True)
    text = EXAMPLES.get(name, ROOT / "config.yaml").read_text("utf-8")
    if provider is not None:
        models = re.findall(r"model: \w+/([\w.-]+)", text)
        for model in models:
            provider.script(model, says(GOOD))
        there = rf'\1openai/\2, base_url: "{provider.url}", price: {{input: 1, output: 1}}'
        text = re.sub(r"(\{name: [\w-]+, model: )\w+/([\w.-]+)", there, text)
        text = text.replace("http://127.0.0.1:8000/v1", provider.url)
    wire = f'polymarket: {{url: "{venue}{GAMMA}", book_url: "{venue}{CLOB}", per_second: 1000}}'
    text = text.replace("{venue: polymarket", f"{{{wire}, venue: polymarket")
    text = text.replace("\n  venue: polymarket", f"\n  {wire}\n  venue: polymarket")
    path = folder / "config.yaml"
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize("name", ["card", *EXAMPLES])
def test_it_is_right_as_it_stands(name: str) -> None:
    path = EXAMPLES.get(name, ROOT / "config.yaml")
    lines = path.read_text("utf-8").splitlines()
    assert lines[0].startswith("# ")
    assert max(map(len, lines)) <= 120
    assert len(lines) <= 30 or name == "demo"
    config = load(path, KEYS, beside=True)
    assert len(config.agents) >= 3


@pytest.mark.parametrize("name", PLAYED)
def test_everyone_plays_the_first_round(
    tmp_path: Path, name: str, provider: FaultyProvider, venue: str
) -> None:
    config = load(placed(tmp_path, name, provider, venue))
    clock_at(tmp_path)
    rehearse(tmp_path, once=True)
    found = content(tmp_path)
    turns = rows(tmp_path, "SELECT status, note FROM turn")
    assert [note for status, note in turns if status != "played"] == []
    assert (len(turns), found["differences"]) == (len(config.agents), [])
    assert found["calls"] == len(provider.log) >= sum(agent.model is not None for agent in config.agents)
    assert found["fills"] > 0


def test_a_study_is_replayed(tmp_path: Path, provider: FaultyProvider) -> None:
    simulated(tmp_path / "spring", weeks=4, markets=12, events=6)
    placed(tmp_path, "replay-study", provider)
    played = arena_json(tmp_path, "study", "replay", "spring")
    assert played["turns"] == 5 * played["rounds"] > 0
    assert arena_json(tmp_path, "admin", "verify", "--database", played["database"]).items() >= AGREES.items()


def test_workers_play_from_postgresql(
    tmp_path: Path, forked: Forks, new_server_record: Callable[[], str]
) -> None:
    placed(tmp_path, "postgresql")
    address = new_server_record()
    worker = forked.start(tmp_path, "run", "--worker", "--database", address)
    try:
        run = forked.start(tmp_path, "run", "--database", address, "--log", "json")
        assert run.wait() == 0, run.said()[-2000:]
    finally:
        worker.kill()
    found = content_at(address)
    assert (found["turns"], found["differences"]) == (12, [])
