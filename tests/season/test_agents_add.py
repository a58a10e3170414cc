"""`arena add`: a model in one line, measured by one question; nothing is lost of the user's file."""

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from arena.clock import timer
from arena.config import load
from arena.config.editing import with_agents
from tests.program.command_line import ROOT
from tests.program.running import arena, arena_json
from tests.program.terminal import Terminal
from tests.provider.model_answer import ModelAnswer, Refused
from tests.provider.wire_server import Manner, WireServer, wires

KEY: dict[str, Any] = {"OPENAI_API_KEY": "a-key", "ANTHROPIC_API_KEY": "another"}
FORTY = json.dumps(
    {
        "forecasts": [
            {"market": f"m{n}", "reason": "the status quo holds", "probability": 0.3} for n in range(1, 41)
        ],
        "bets": [],
        "sales": [],
    }
)


@pytest.fixture(scope="module")
def server() -> Iterator[WireServer]:
    with wires() as running:
        running.script("forty", ModelAnswer(text=FORTY, thinking="Hm.", sent=10_000, said=900, thought=8_000))
        running.script("slow", Manner(ModelAnswer(text=FORTY), after=60))
        running.script("prose", ModelAnswer(text="I would rather not say."))
        running.script("shut", Refused("Incorrect API key provided", 401))
        running.script("plain", lambda asked: _plain(asked.body))
        yield running


def _plain(body: Any) -> ModelAnswer | Refused:
    """Answer as a server that takes no schema."""
    if "response_format" in body and body["response_format"]["type"] == "json_schema":
        return Refused("response_format json_schema is not supported", 400)
    return ModelAnswer(text=FORTY)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "config.yaml").write_text((ROOT / "config.yaml").read_text("utf-8"), "utf-8")
    return tmp_path


def there(server: WireServer, mode: str = "forty", wire: str = "openai") -> tuple[str, ...]:
    settings = server.settings(wire, mode)
    return settings["model"], "--base-url", settings["base_url"]


def test_one_question_is_asked_and_what_it_took_is_written(folder: Path, server: WireServer) -> None:
    before = (folder / "config.yaml").read_text("utf-8")
    asked = len(server.log)
    found = arena_json(folder, "add", *there(server), "--yes", **KEY)
    after = (folder / "config.yaml").read_text("utf-8")
    assert len(server.log) == asked + 1
    assert after.startswith(before), "nothing of the user's file is another"
    (added,) = found["added"]
    assert [f"  {line}" for line in added["lines"]] == after.removeprefix(before).splitlines()
    settings: Any = load(folder / "config.yaml").agents[-1].settings
    assert (settings.timeout, settings.max_tokens, settings.form) == (120, 27_000, "schema")
    measured = settings.measured
    assert (measured.markets, measured.answered) == (40, 40)
    assert (measured.tokens_in, measured.tokens_out, measured.thinking) == (10_000, 8_900, 8_000)
    assert measured.usd == added["asked_usd"] == pytest.approx(server.charged("openai", 4, 20), rel=0.01)
    month = added["month_usd"]
    assert month["low"] < month["expected"] < month["high"]
    assert arena(folder, "add", *there(server), "--yes", **KEY).returncode == 1  # it is there already
    assert arena(folder, "check", **KEY).returncode == 0
    shown = arena_json(folder, "show", "agents", **KEY)["agents"]
    assert "gpt-5.6" in [one["name"] for one in shown]


def test_the_form_that_a_server_takes_is_written(folder: Path, server: WireServer) -> None:
    found = arena_json(folder, "add", *there(server, "plain"), "--yes", "--name", "mine", **KEY)
    assert "  form: json" in found["added"][0]["lines"]


def test_a_name_of_no_provider_is_refused_without_importing_the_library() -> None:
    code = (
        "import sys; from arena.cli.model_choice import named_models; "
        "from arena.config.model_blocks import ModelOptions; "
        "from arena.errors import ArenaError\n"
        "try: named_models(('qwen3:800b',), ModelOptions())\n"
        "except ArenaError: sys.exit('litellm' in sys.modules)\n"
        "sys.exit('not refused')"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.parametrize(
    ("model", "price"),
    [("qwen3:8b", ()), ("Qwen/Qwen3-8B", ()), ("gemini-2.5-flash", ("--price", "0", "0"))],
)
def test_at_a_base_url_a_bare_name_speaks_openai_and_what_is_free_needs_no_yes(
    folder: Path, server: WireServer, model: str, price: tuple[str, ...]
) -> None:
    words = (model, *there(server)[1:], "--name", "mine", *price)
    (added,) = arena_json(folder, "add", *words, **KEY)["added"]
    assert added["model"] == f"openai/{model}"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("nobody-serves:8b", "--yes"),
            "Write it as PROVIDER/MODEL → on a server of your own: --base-url URL",
        ),
        (("Nobody/Serves-8B", "--price", "0", "0"), "no provider Nobody"),
        (("anthropc/claude-sonet-5",), "did you mean anthropic/claude-sonnet-5?"),
        (("anthropic/claude-sonnet-5", "--yes"), "agent claude-sonnet-5"),
        (("xai/grok-4.7", "--yes"), "XAI_API_KEY is not set"),
        (("openai/gpt-5.6",), "add --yes to ask"),
        (("openai/gpt-5.6", "--reasoning", "deep", "--yes"), "reasoning"),
        (("openai/gpt-5.6", "anthropic/claude-opus-5-5", "--name", "a"), "--name is for one model"),
        (("mine", "--base-url", "http://127.0.0.1:9/v1"), "whether the server is running"),
    ],
)
def test_what_is_missing_or_mistyped_is_said_and_nothing_is_written(
    folder: Path, words: tuple[str, ...], said: str
) -> None:
    path = folder / "config.yaml"
    text = path.read_text("utf-8").replace("name: claude,", "name: claude-sonnet-5,").replace("claude,", "")
    path.write_text(text, "utf-8")
    done = arena(folder, "add", *words, **KEY)
    assert done.returncode == 1
    assert said in " ".join(done.stderr.split())
    assert "Exception" not in done.stderr, "an error of the library's own"
    assert path.read_text("utf-8") == text
    assert [each.name for each in folder.iterdir()] == ["config.yaml"]


@pytest.mark.parametrize(
    ("mode", "said"), [("shut", "check the key"), ("prose", "no forecast in its answer")]
)
def test_a_model_that_fails_its_question_is_not_added(
    folder: Path, server: WireServer, mode: str, said: str
) -> None:
    before = (folder / "config.yaml").read_bytes()
    failed = arena(folder, "add", *there(server, mode), "--yes", **KEY)
    assert failed.returncode == 1
    assert said in failed.stderr
    assert (folder / "config.yaml").read_bytes() == before


def test_without_a_question_a_model_may_wait_for_its_key(folder: Path) -> None:
    found = arena_json(folder, "add", "xai/grok-4.7", "openai/gpt-5.6", "--no-probe", OPENAI_API_KEY="k")
    assert [(one["agent"], one["missing_key"], one["measured"]) for one in found["added"]] == [
        ("grok-4.7", "XAI_API_KEY", None),
        ("gpt-5.6", None, None),
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "agents:  # who\n- kind: market # price\n\n# budgets\nseed: 1\n",
            "agents:  # who\n- kind: market # price\n- name: a\n  model: b/c\n\n# budgets\nseed: 1\n",
        ),
        ("agents: [{kind: market}] # x\n", "agents: [{kind: market}, {name: a, model: b/c}] # x\n"),
        ("agents:\n    - name: x\n      of:\n        - y", None),
        ("agents:\r\n- k: |\r\n    x\r\n", "agents:\r\n- k: |\r\n    x\r\n- name: a\r\n  model: b/c\r\n"),
    ],
)
def test_a_block_goes_to_the_end_of_the_list_and_all_else_stays(before: str, after: str | None) -> None:
    made = with_agents(before, [{"name": "a", "model": "b/c"}])
    assert made == (after or before + "\n    - name: a\n      model: b/c\n")


def test_in_a_terminal_a_typo_is_offered_its_name_and_the_cost_is_agreed_to(
    folder: Path, server: WireServer
) -> None:
    url = f"{server.url}/forty"
    terminal = Terminal(folder, "add", "anthropic/claude-opus-55", **KEY)
    terminal.until("anthropic/claude-opus-55 is not known. Use anthropic/claude-opus-5-5? [Y/n]: ")
    terminal.type("y\n")
    asked = terminal.until("at most $")
    assert re.search(r"One question of 40 sample markets: about \$0\.\d\d, at most \$0\.\d+", asked)
    terminal.type("n\n")
    assert terminal.process.wait() != 0
    assert (folder / "config.yaml").read_bytes() == (ROOT / "config.yaml").read_bytes()
    terminal = Terminal(folder, "add", "anthropic/claude-opus-5-5", "--base-url", url, **KEY)
    terminal.until("at most $")
    terminal.type("y\n")
    terminal.until("Next: ")
    assert terminal.process.wait() == 0
    assert load(folder / "config.yaml").agents[-1].name == "claude-opus-5-5"


def test_ctrl_c_leaves_the_file_as_it_was(folder: Path, server: WireServer) -> None:
    before = (folder / "config.yaml").read_bytes()
    asked = len(server.log)
    terminal = Terminal(folder, "add", *there(server, "slow"), "--yes", **KEY)
    deadline = timer() + 60
    while len(server.log) == asked and timer() < deadline:
        time.sleep(0.05)
    terminal.process.signal(signal.SIGINT)
    terminal.until("the config was not changed", 30)
    assert terminal.process.wait() == 130
    assert (folder / "config.yaml").read_bytes() == before
    assert [each.name for each in folder.iterdir()] == ["config.yaml"]
