"""Any model can be named: of a provider, of a server on this machine, with a known price or without one."""

import io
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agents.llm import local_servers
from agents.llm.local_servers import USUAL_SERVERS, ModelServer
from arena.cli.init import choose_settings
from arena.cli.model_choice import TerminalUser, find_servers_with_models, named_models
from arena.config import load
from arena.config.model_blocks import ModelOptions, with_fixed_call_costs
from arena.config.new_folder import NewArena, make_folder
from arena.errors import ArenaError
from tests.builders import NOW
from tests.program.running import arena, arena_json
from tests.serving import Reply, Request, Server, serving

LLAMA = "openrouter/meta-llama/llama-9.9-70b-instruct"
"""A model that litellm's table does not hold."""
FREE = {"input": 0, "output": 0}


class ModelList(Server):
    """A server on this machine that lists its models, as Ollama and others do."""

    answer: object = {"object": "list", "data": [{"id": "qwen3:8b"}, {"id": "Qwen/Qwen3-8B"}]}

    def respond(self, request: Request) -> Reply:
        return Reply(json.dumps(self.answer).encode(), status=200 if request.target == "/v1/models" else 404)


@pytest.fixture
def ollama(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelList]:
    """Yield a server where Ollama is expected, with nothing at the other usual ports."""
    with serving(ModelList()) as server:
        there = replace(USUAL_SERVERS[0], base_url=f"http://127.0.0.1:{server.server_port}/v1")
        monkeypatch.setattr(local_servers, "USUAL_SERVERS", (there,))
        yield server


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide every server of models on this machine."""
    dead = [replace(server, base_url="http://127.0.0.1:1/v1") for server in USUAL_SERVERS]
    monkeypatch.setattr(local_servers, "USUAL_SERVERS", tuple(dead))


def types(monkeypatch: pytest.MonkeyPatch, *answers: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{answer}\n" for answer in answers)))


def test_a_server_on_this_machine_is_found_with_its_models(ollama: ModelList) -> None:
    url = f"http://127.0.0.1:{ollama.server_port}/v1"
    assert find_servers_with_models() == [ModelServer("Ollama", url, ("qwen3:8b", "Qwen/Qwen3-8B"))]


@pytest.mark.parametrize("answer", [[], {"data": None}, {"data": [{"name": "x"}]}, {"data": [1]}, "OK", {}])
def test_another_program_at_its_port_is_no_server_of_models(ollama: ModelList, answer: object) -> None:
    ollama.answer = answer
    assert find_servers_with_models() == []


@pytest.mark.parametrize("name", ["qwen3:8b", "Qwen/Qwen3-8B", "openai/qwen3:8b"])
def test_a_model_of_this_machine_is_found_by_its_name_and_is_free(ollama: ModelList, name: str) -> None:
    (block,) = named_models((name,), ModelOptions())
    assert block == {
        "model": f"openai/{name.removeprefix('openai/')}",
        "base_url": f"http://127.0.0.1:{ollama.server_port}/v1",
        "price": FREE,
    }


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(
    ("name", "options", "wanted"),
    [
        (
            "ollama/qwen3:8b",
            ModelOptions(),
            {"model": "openai/qwen3:8b", "base_url": "http://127.0.0.1:11434/v1", "price": FREE},
        ),
        (
            "lm_studio/mine",
            ModelOptions(),
            {"model": "openai/mine", "base_url": "http://127.0.0.1:1234/v1", "price": FREE},
        ),
        (
            "qwen3:8b",
            ModelOptions("localhost:9000"),
            {"model": "openai/qwen3:8b", "base_url": "http://localhost:9000/v1", "price": FREE},
        ),
        (
            "mine",
            ModelOptions("https://api.example.com/v1", price=(0.5, 1.5)),
            {
                "model": "openai/mine",
                "base_url": "https://api.example.com/v1",
                "price": {"input": 0.5, "output": 1.5},
            },
        ),
        (
            "mine",
            ModelOptions("https://api.example.com/v1"),
            {"model": "openai/mine", "base_url": "https://api.example.com/v1"},
        ),
        ("openai/gpt-5.6", ModelOptions(), {"model": "openai/gpt-5.6"}),
        (LLAMA, ModelOptions(), {"model": LLAMA}),
        ("openai/gpt-99", ModelOptions(), {"model": "openai/gpt-99"}),
    ],
)
def test_a_model_is_written_with_its_server_and_its_price(
    name: str, options: ModelOptions, wanted: object
) -> None:
    assert named_models((name,), options) == [wanted]


@pytest.mark.usefixtures("alone")
def test_a_base_url_is_for_the_models_that_name_no_provider() -> None:
    options = ModelOptions("http://localhost:8000/v1")
    claude, mine = named_models(("anthropic/claude-sonnet-5", "mine"), options)
    assert "base_url" not in claude
    assert mine["base_url"] == "http://localhost:8000/v1"


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("name", ["qwen3:8b", "Qwen/Qwen3-8B"])
def test_a_name_that_nobody_serves_is_refused_in_words_of_ours(name: str) -> None:
    with pytest.raises(ArenaError, match="no provider") as caught:
        named_models((name,), ModelOptions())
    assert caught.value.hint == "on a server of your own: --base-url URL"


@pytest.mark.usefixtures("alone")
def test_in_a_terminal_the_server_and_the_price_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    types(monkeypatch, "api.example.com/v1", "cheap", "0.5 1.5")
    assert named_models(("mine",), ModelOptions(user=TerminalUser())) == [
        {
            "model": "openai/mine",
            "base_url": "http://api.example.com/v1",
            "price": {"input": 0.5, "output": 1.5},
        }
    ]


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("command", [("init", "a", "--model", "mine"), ("try", "mine")])
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--base-url", "http://127.0.0.1:9/v1", "--price", "-1", "2"), "a price is from 0 to 1,000,000"),
        (("--base-url", "http://127.0.0.1:9/v1", "--price", "1", "nan"), "a price is from 0 to 1,000,000"),
        (("--base-url", "ftp://127.0.0.1/v1"), "ftp://127.0.0.1/v1 is no address of a server"),
        (("--base-url", "http://[::1/v1"), "http://[::1/v1 is no address of a server"),
    ],
)
def test_a_price_or_an_address_that_cannot_be_is_refused_and_nothing_is_made(
    command: tuple[str, ...], options: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    done = arena(tmp_path, *command, *options, "--yes")
    assert done.returncode == 1
    assert said in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("alone")
def test_an_impossible_price_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    types(monkeypatch, "api.example.com/v1", "-1 2", "inf 2", "0.5 1.5")
    (block,) = named_models(("mine",), ModelOptions(user=TerminalUser()))
    assert block["price"] == {"input": 0.5, "output": 1.5}


def test_calls_without_a_price_are_stopped_by_the_tightest_limit_of_the_budget() -> None:
    blocks = [{"model": LLAMA}, {"model": "openai/gpt-5.6"}]
    stopped, known = with_fixed_call_costs(blocks, {"day": 4_600_000, "arena": 90_000_000})
    assert (stopped["max_cost"], known) == (0.46, blocks[1])
    assert with_fixed_call_costs(blocks, {"day": 4_600_000, "call": 250_000})[0]["max_cost"] == 0.25
    assert with_fixed_call_costs(blocks, {}) == blocks


@pytest.mark.usefixtures("alone")
def test_a_config_with_a_model_of_unknown_price_is_valid_and_says_so(tmp_path: Path) -> None:
    wanted = choose_settings({}, None, (LLAMA,), None, ModelOptions())
    make_folder(tmp_path, NOW, wanted)
    text = (tmp_path / "config.yaml").read_text("utf-8")
    assert "max_cost: 0.46   # dollars that a call counts until `price` is set" in text
    assert "    # price: {input: 0.00, output: 0.00}   # dollars per million tokens" in text
    assert load(tmp_path / "config.yaml", {}, beside=True).agents[0].model == LLAMA


def test_one_model_at_two_servers_has_to_be_added_under_another_name(tmp_path: Path) -> None:
    wanted = choose_settings({}, None, ("ollama/qwen3:8b", "lm_studio/qwen3:8b"), None, ModelOptions())
    with pytest.raises(ArenaError) as caught:
        make_folder(tmp_path, NOW, wanted)
    assert caught.value.hint == "under another name: arena add MODEL --name NAME"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("alone")
def test_without_a_key_and_without_a_name_no_model_is_taken() -> None:
    with pytest.raises(ArenaError) as caught:
        choose_settings({}, None, (), None, ModelOptions())
    assert caught.value.code == "no_model"


def test_without_a_key_the_only_model_of_this_machine_is_taken_and_of_several_none(ollama: ModelList) -> None:
    with pytest.raises(ArenaError) as caught:
        choose_settings({}, None, (), None, ModelOptions())
    assert caught.value.code == "several_models"
    assert "qwen3:8b, Qwen/Qwen3-8B" in caught.value.message

    ollama.answer = {"data": [{"id": "qwen3:8b"}, {"id": "nomic-embed-text"}]}
    (block,) = choose_settings({}, None, (), None, ModelOptions()).models
    assert (block["model"], block["price"]) == ("openai/qwen3:8b", FREE)
    (keyed,) = choose_settings({"ANTHROPIC_API_KEY": "canary"}, None, (), None, ModelOptions()).models
    assert keyed["model"].startswith("anthropic/")


def test_without_a_name_the_model_of_the_server_that_is_named_is_taken(ollama: ModelList) -> None:
    with serving(ModelList()) as other:
        other.answer = {"data": [{"id": "mine"}]}
        url = f"http://127.0.0.1:{other.server_port}/v1"
        (block,) = choose_settings({}, None, (), None, ModelOptions(url)).models
    assert block == {"model": "openai/mine", "base_url": url, "price": FREE}


def test_beside_a_model_of_a_named_server_another_is_found_on_this_machine(ollama: ModelList) -> None:
    found, named = named_models(("openai/qwen3:8b", "mine"), ModelOptions("http://127.0.0.1:1/v1"))
    assert found["base_url"] == f"http://127.0.0.1:{ollama.server_port}/v1"
    assert named["base_url"] == "http://127.0.0.1:1/v1"


def test_enter_takes_what_is_offered_but_nothing_after_a_refused_answer(
    monkeypatch: pytest.MonkeyPatch, ollama: ModelList, capsys: pytest.CaptureFixture[str]
) -> None:
    asking = ModelOptions(user=TerminalUser())
    types(monkeypatch, "polymarket", "")
    local = {
        "model": "openai/qwen3:8b",
        "base_url": f"http://127.0.0.1:{ollama.server_port}/v1",
        "price": FREE,
    }
    assert choose_settings({}, None, (), None, asking) == NewArena("polymarket", (local,), None)
    assert f"Ollama at {local['base_url']}: qwen3:8b, Qwen/Qwen3-8B" in capsys.readouterr().out

    keys = {"ANTHROPIC_API_KEY": "canary", "OPENAI_API_KEY": "canary"}
    types(monkeypatch, "polymarket", "demo/sharp", "", "Qwen/Qwen3-8B")
    (block,) = choose_settings(keys, None, (), None, asking).models
    assert block["model"] == "openai/Qwen/Qwen3-8B"


@pytest.mark.usefixtures("alone")
def test_init_takes_a_model_of_ones_own_in_one_command(tmp_path: Path) -> None:
    words = ("--model", "qwen3:8b", "--base-url", "http://127.0.0.1:9/v1", "--yes")
    made = arena(tmp_path, "init", "a", *words)
    assert made.returncode == 0, made.stderr
    assert "Cost: free." in made.stdout
    assert arena(tmp_path / "a", "check").returncode == 0


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("often", ["weekly", "daily"])
def test_no_cost_is_beyond_the_stop(tmp_path: Path, often: str) -> None:
    made = arena_json(tmp_path, "init", "a", "--model", "anthropic/claude-opus-5-5", "--budget", "20")
    low, high = made["month_usd"]
    assert low <= high <= 20

    folder = tmp_path / "a"
    config = folder / "config.yaml"
    config.write_text(config.read_text("utf-8").replace("decide: weekly", f"decide: {often}"), "utf-8")
    most = 4.60 * (30.4 / 7 if often == "weekly" else 30.4)
    found = arena_json(folder, "check", status=0)["cost"]
    for costs in (found["total"], *found["agents"]):
        for end in ("low", "expected", "high"):
            assert costs["month"][end]["usd"] <= most
            assert costs["round"][end]["usd"] <= 4.60
    added = arena_json(folder, "add", "xai/grok-4.7", "--no-probe")
    assert added["month_usd"]["high"] <= most
