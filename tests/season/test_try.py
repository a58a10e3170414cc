"""`arena try`: found, asked, agreed to and reported, as somebody meets it who has never used the program."""

import os
import re
import shlex
import signal
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from agents.llm.library import litellm
from agents.llm.local_servers import LOCAL_PROVIDERS, ModelServer, is_local
from arena.config.new_folder import packaged_models
from arena.rounds.quick_trial import past_questions
from tests.program.running import arena, arena_json
from tests.program.terminal import Terminal
from tests.provider.local_model import LocalModel, local_model, towards_even
from tests.provider.replies import Asked, fails, says
from tests.serving import Reply

CANARY = "sk-canary-f00dfeedcafe"
NO_KEYS: dict[str, Any] = dict.fromkeys(("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"), "")
PRICE = ("--price", "1", "4")


def at_once(_seconds: float) -> None:
    """Answer without a wait."""


@pytest.fixture(scope="module", autouse=True)
def _library() -> None:
    """Load the library that asks before anyone waits for it."""
    litellm()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalModel]:
    """Yield a server where Ollama would be, with a dead port where LM Studio would."""
    with local_model(300, at_once) as model:
        servers = (ModelServer("Ollama", model.url), ModelServer("LM Studio", "http://127.0.0.1:9/v1"))
        monkeypatch.setattr("agents.llm.local_servers.USUAL_SERVERS", servers)
        monkeypatch.setitem(LOCAL_PROVIDERS, "ollama", servers[0])
        yield model


def test_the_only_model_found_is_asked_and_reported_with_plain_figures(
    tmp_path: Path, server: LocalModel
) -> None:
    told = arena_json(tmp_path, "try", **NO_KEYS)
    assert (told["model"], told["asked"], told["answered"], told["unusable"]) == ("qwen3:8b", 120, 120, 0)
    asked = past_questions()[:120]
    said = [towards_even(question.price) for question in asked]
    assert told["brier"] == pytest.approx(
        sum((p - question.outcome) ** 2 for p, question in zip(said, asked, strict=True)) / 120
    )
    assert told["brier_price"] == pytest.approx(sum((q.price - q.outcome) ** 2 for q in asked) / 120)
    assert sum(tenth["count"] for tenth in told["calibration"]) == 120
    assert (told["cost_usd"], told["comparison"], told["ended"]) == (0, None, None)
    assert server.bodies[0]["model"] == "qwen3:8b"
    assert "Authorization" not in str(told)
    page = tmp_path / "try-qwen3-8b.html"
    assert told["page"] == page.name
    assert "CC BY-SA 4.0" in page.read_text("utf-8")
    assert [each.name for each in tmp_path.iterdir()] == [page.name]


def test_in_words_what_it_may_remember_comes_first_and_the_figures_follow(
    tmp_path: Path, server: LocalModel
) -> None:
    done = arena(tmp_path, "try", "qwen3:8b", **NO_KEYS)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("qwen3:8b may remember how these questions ended: they closed from ")
    assert "Nothing is claimed against the price." in lines[0]
    assert lines[2].startswith("qwen3:8b answered 120 of 120 questions in ")
    assert re.search(r"^ +\d+% +\d+% +\d+  ·*[○●]─*[○●]·*$", done.stdout, re.MULTILINE)
    assert "Cost:  $0.00" in lines
    assert "Page:  try-qwen3-8b.html" in lines


def test_the_command_that_comes_next_makes_an_arena_of_the_model(tmp_path: Path, server: LocalModel) -> None:
    told = arena_json(tmp_path, "try", **NO_KEYS)
    words = shlex.split(told["next"])[1:]
    assert words == ["init", "my-arena", "--yes", "--model", "qwen3:8b"]
    made = arena(tmp_path, *words, **NO_KEYS)
    assert made.returncode == 0, made.stderr
    config = (tmp_path / "my-arena" / "config.yaml").read_text("utf-8")
    assert "openai/qwen3:8b" in config
    assert server.url in config


def test_the_next_command_names_the_server_the_key_and_the_price(tmp_path: Path, server: LocalModel) -> None:
    words = ("qwen3:8b", "--base-url", server.url, "--key-env", "MY_KEY", *PRICE)
    told = arena_json(tmp_path, "try", *words, "--yes", **NO_KEYS, MY_KEY=CANARY)
    typed = shlex.split(told["next"])[1:]
    assert typed == ["init", "my-arena", "--yes", "--model", *words]
    made = arena(tmp_path, *typed, **NO_KEYS)
    assert made.returncode == 0, made.stderr
    config = (tmp_path / "my-arena" / "config.yaml").read_text("utf-8")
    assert "MY_KEY" in config
    assert CANARY not in config


def test_with_a_release_only_later_questions_are_compared(tmp_path: Path, server: LocalModel) -> None:
    told = arena_json(tmp_path, "try", "--released", "2026-05-01", **NO_KEYS)
    later = [question for question in past_questions() if question.asked_at >= date(2026, 5, 1)]
    assert told["comparison"]["questions"] == len(later) == sum(each["counts"] for each in told["answers"])
    own = sum((towards_even(q.price) - q.outcome) ** 2 for q in later) / len(later)
    assert told["comparison"]["brier"] == pytest.approx(own)
    assert told["comparison"]["skill"] < 0
    assert told["comparison"]["low"] is None, "a model that follows the price tells little"
    assert "most hangs on outcomes that seldom happen" in told["comparison"]["reason"]


def test_without_server_or_key_the_ports_and_both_ways_on_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "agents.llm.local_servers.USUAL_SERVERS", (ModelServer("Ollama", "http://127.0.0.1:9/v1"),)
    )
    done = arena(tmp_path, "try", **NO_KEYS)
    assert done.returncode == 1
    assert (
        "no model is served on this machine (tried Ollama 9), and no known model has its key" in done.stderr
    )
    assert "ollama run" in done.stderr
    assert "or name a model: anthropic/claude-sonnet-5" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("qwen3",), "qwen3 is not there; Ollama (http"),
        (("anthropic/claude-sonnet-5",), "ANTHROPIC_API_KEY is not set"),
        (("openai/mine", "--key-env", "MY_KEY"), "MY_KEY is not set"),
        (("demo/sharp",), "demo/sharp can't forecast real markets"),
        (
            ("--base-url", "http://127.0.0.1:9/v1"),
            "no list of models comes from http://127.0.0.1:9/v1/models",
        ),
    ],
)
def test_what_is_not_there_is_named(
    words: tuple[str, ...], said: str, tmp_path: Path, server: LocalModel
) -> None:
    done = arena(tmp_path, "try", *words, **NO_KEYS)
    assert done.returncode == 1
    assert said in done.stderr
    assert server.calls == 0
    if "is not there" in said:
        assert "has: qwen3:8b" in done.stderr
    assert "--model" not in done.stderr, "try has no such option"


@pytest.mark.parametrize("name", ["qwen3:8b", "ollama/qwen3:8b", "openai/qwen3:8b"])
def test_a_name_is_found_with_what_libraries_put_before_it(
    name: str, tmp_path: Path, server: LocalModel
) -> None:
    assert arena_json(tmp_path, "try", name, **NO_KEYS)["model"] == "qwen3:8b"


def test_a_name_with_a_slash_is_sent_as_the_server_has_it(tmp_path: Path, server: LocalModel) -> None:
    server.models = ("openai/gpt-oss-20b", "qwen/qwen3-8b:latest")
    assert arena_json(tmp_path, "try", "openai/gpt-oss-20b", **NO_KEYS)["answered"] == 120
    assert {body["model"] for body in server.bodies} == {"openai/gpt-oss-20b"}
    assert arena_json(tmp_path, "try", "qwen/qwen3-8b", **NO_KEYS)["model"] == "qwen/qwen3-8b:latest"


def test_of_several_models_one_has_to_be_named(tmp_path: Path, server: LocalModel) -> None:
    server.models = ("b", "a")
    done = arena(tmp_path, "try", **NO_KEYS)
    assert (done.returncode, server.calls) == (1, 0)
    assert "2 models found: b, a" in done.stderr
    keyed = arena(tmp_path, "try", **NO_KEYS | {"ANTHROPIC_API_KEY": CANARY})
    assert "3 models found: b, a, anthropic/claude-sonnet-5" in keyed.stderr
    assert "anthropic/claude-sonnet-5" in packaged_models()


def test_a_paid_model_is_asked_only_after_a_yes_and_stops_at_the_amount(
    tmp_path: Path, server: LocalModel
) -> None:
    words = ("try", "qwen3:8b", "--base-url", server.url, *PRICE)
    refused = arena(tmp_path, *words, **NO_KEYS)
    assert (refused.returncode, server.calls) == (1, 0)
    most = re.search(r"Up to 120 questions to qwen3:8b: about \$([\d.]+), at most \$([\d.]+)", refused.stderr)
    assert most is not None
    assert float(most[1]) < float(most[2])
    told = arena_json(tmp_path, *words, "--yes", **NO_KEYS)
    bill = sum(sent + 4 * said for sent, said in server.usage) / 1_000_000
    assert told["cost_usd"] == pytest.approx(bill)
    assert bill < told["most_usd"] == pytest.approx(float(most[2]), abs=0.0001)


def test_a_model_of_unknown_price_is_asked_only_after_a_yes(tmp_path: Path, server: LocalModel) -> None:
    done = arena(tmp_path, "try", "groq/no-such-model", **NO_KEYS, GROQ_API_KEY=CANARY)
    assert done.returncode == 1
    assert "The price of groq/no-such-model is unknown" in done.stderr
    assert "--price IN OUT" in done.stderr
    assert CANARY not in done.stderr + done.stdout


def test_in_a_terminal_a_model_is_picked_and_its_cost_agreed_to_or_nothing_is_asked(tmp_path: Path) -> None:
    with local_model(300, at_once) as server:
        server.models = ("other", "qwen3:8b")
        terminal = Terminal(tmp_path, "try", "--base-url", server.url, *PRICE, **NO_KEYS)
        terminal.until("2 models found: other, qwen3:8b. Which one [other]: ")
        terminal.type("qwen3:8b\n")
        terminal.until("questions to qwen3:8b: about ")
        terminal.until("Ask? [Y/n]: ")
        terminal.type("n\n")
        assert terminal.process.wait() == 1
        assert server.calls == 0
        terminal = Terminal(tmp_path, "try", "qwen3:8b", "--base-url", server.url, *PRICE, **NO_KEYS)
        terminal.until("Ask? [Y/n]: ")
        terminal.type("y\n")
        assert "Nothing is claimed" in " ".join(terminal.until("Next:").split())
        assert terminal.process.wait() == 0


def test_no_key_is_printed_or_written_whatever_the_server_says(tmp_path: Path, server: LocalModel) -> None:
    server.afterwards = (2, lambda asked: fails(401, f"Incorrect API key provided: {asked.key}"))
    words = ("try", "qwen3:8b", "--base-url", server.url, "--key-env", "MY_KEY")
    done = arena(tmp_path, *words, **NO_KEYS, MY_KEY=CANARY)
    assert done.returncode == 2, done.stderr
    assert "answered 10 of " in done.stdout
    assert "no more answers came (auth: " in done.stdout
    page = (tmp_path / "try-qwen3-8b.html").read_text("utf-8")
    assert CANARY not in done.stdout + done.stderr + page


@pytest.mark.parametrize(
    ("reply", "status", "said"),
    [
        (says("I cannot answer that"), 1, "qwen3:8b gave no usable answer: I cannot answer that"),
        (Reply(b"", how="reset"), 1, "qwen3:8b gave no usable answer: "),
        (fails(404, "model not loaded"), 1, "model not loaded"),
    ],
)
def test_a_model_without_an_answer_is_an_error_that_says_why(
    reply: Reply, status: int, said: str, tmp_path: Path, server: LocalModel
) -> None:
    server.afterwards = (0, reply)
    done = arena(tmp_path, "try", "qwen3:8b", **NO_KEYS)
    assert done.returncode == status
    assert said in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_wants_a_key_and_got_none_is_told_from_one_that_refuses_it(
    tmp_path: Path, server: LocalModel
) -> None:
    server.afterwards = (0, fails(401, "Incorrect API key provided."))
    words = ("try", "qwen3:8b", "--base-url", server.url)
    without = arena(tmp_path, *words, **NO_KEYS)
    assert (without.returncode, "no key was sent: name its variable with --key-env" in without.stderr) == (
        1,
        True,
    )
    refused = arena(tmp_path, *words, "--key-env", "MY_KEY", **NO_KEYS, MY_KEY=CANARY)
    assert (refused.returncode, "check the key" in refused.stderr) == (1, True)


def test_a_server_that_dies_midway_leaves_a_report_on_what_came(tmp_path: Path, server: LocalModel) -> None:
    server.afterwards = (8, Reply(b"", how="reset"))
    told = arena_json(tmp_path, "try", status=2, **NO_KEYS)
    assert told["answered"] == 40
    assert told["ended"].startswith("no more answers came")
    assert (tmp_path / told["page"]).exists()


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Give Ctrl-C back the meaning that it had before."""
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_ends_it_with_a_report_on_what_came(tmp_path: Path, server: LocalModel) -> None:
    def press(_asked: Asked) -> Reply:
        os.kill(os.getpid(), signal.SIGINT)
        return Reply(b"", how="hang")

    server.faults = {9: press}
    done: Any = arena(tmp_path, "try", "qwen3:8b", **NO_KEYS)
    assert done.returncode == 130
    assert "It ended early: interrupted by Ctrl-C." in done.stdout
    assert re.search(r"answered [2345]\d of ", done.stdout)
    assert (tmp_path / "try-qwen3-8b.html").exists()


def test_a_page_that_cannot_be_written_does_not_lose_the_report(tmp_path: Path, server: LocalModel) -> None:
    (tmp_path / "try-qwen3-8b.html").mkdir()
    done = arena(tmp_path, "try", "qwen3:8b", **NO_KEYS)
    assert done.returncode == 2
    assert "answered 120 of 120" in done.stdout
    assert "try-qwen3-8b.html can't be written" in done.stderr


@pytest.mark.parametrize(
    ("address", "local"),
    [
        ("http://127.0.0.1:1234/v1", True),
        ("http://[::1]:8080/v1", True),
        ("http://10.0.0.3/v1", True),
        ("https://8.8.8.8/v1", False),
        ("https://api.example.com/v1", False),
        ("https://localhost.example.com/v1", False),
    ],
)
def test_only_an_address_of_this_machine_or_its_network_is_free(address: str, local: bool) -> None:
    assert is_local(address) is local
