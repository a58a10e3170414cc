"""The config of a public season: entrants have a file each, and nothing of the folder runs."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from arena.config import ConfigErrors, load
from tests.arena.config_files import write

OWNER = """\
public: true
markets: {venue: simulator}
agents:
  - {kind: market}
"""
ANN = "model: demo/sharp\nreasoning: low\n"


def faults(folder: Path, entrants: Mapping[str, str], config: str = OWNER) -> list[str]:
    """Return the mistakes of a public season, without the folder's name."""
    for name, text in entrants.items():
        write(folder, text, f"entrants/{name}")
    with pytest.raises(ConfigErrors) as caught:
        load(write(folder, config))
    return [str(error).replace(f"{folder}/", "") for error in caught.value.errors]


def test_entrants_play_after_the_owners_agents_called_as_their_files_are(tmp_path: Path) -> None:
    for name, text in (("bob.yaml", "kind: outside\n"), ("ann.yaml", ANN), ("README.md", "How to enter")):
        write(tmp_path, text, f"entrants/{name}")
    config = load(write(tmp_path, OWNER))
    assert [(agent.name, agent.kind) for agent in config.agents] == [
        ("market", "market"), ("ann", "llm"), ("bob", "outside"),
    ]  # fmt: skip
    closed = load(write(tmp_path, OWNER.replace("public: true\n", "")))
    assert [agent.name for agent in closed.agents] == ["market"]


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (
            "kind: python\nfunction: mine:decide",
            ":1: agents[1].kind: a public season runs no code, so nobody",
        ),
        (
            "kind: command\ncommand: [sh]",
            ":1: agents[1].kind: a public season runs no code, so nobody plays as",
        ),
        (
            "kind: recorded\nfile: ../.git/config.csv",
            ":1: agents[1].kind: an entrant is a model, or plays from",
        ),
        ("kind: mine", ":1: agents[1].kind: an entrant is a model, or plays from outside"),
        (
            f"{ANN}base_url: https://evil.example/v1",
            ":3: agents[1].base_url: base_url is for the owner to set",
        ),
        (f"{ANN}api_key_env: GITHUB_TOKEN", ":3: agents[1].api_key_env: api_key_env is for the owner to set"),
        (f"{ANN}price: {{input: 0, output: 0}}", ":3: agents[1].price: price is for the owner to set"),
        (f"{ANN}max_cost: 0", ":3: agents[1].max_cost: max_cost is for the owner to set"),
        (f"{ANN}extra: {{user: x}}", ":3: agents[1].extra: extra is for the owner to set"),
        (
            "model: huggingface/https://evil.example/v1",
            ":1: agents[1].model: a model is named as PROVIDER/MODEL",
        ),
        (f"{ANN}prompt: entrants/mine.md", ":3: agents[1].prompt: an entrant uses a prompt of the arena"),
        (f"{ANN}name: market", ":3: agents[1].name: an entrant is called as its file is, ann"),
        ("- model: demo/sharp", ":1: found a list, expected keys and values"),
        (f"{ANN}shwo: 5", ":3: agents[1].shwo: shwo is for the owner to set"),
        (f"{ANN}reasoning: high", ":3: reasoning: this key is already on line 2"),
        (f"{ANN}samples: none", ":3: agents[1].samples: found"),
    ],
)
def test_what_an_entrant_may_not_say_is_an_error_of_its_file(
    tmp_path: Path, block: str, message: str
) -> None:
    found = faults(tmp_path, {"ann.yaml": block})
    assert found[0].startswith(f"entrants/ann.yaml{message}"), found


def test_files_that_are_no_entrants_are_named(tmp_path: Path) -> None:
    secret = write(tmp_path, "password\n", "secret")
    (tmp_path / "entrants").mkdir()
    (tmp_path / "entrants" / "link.yaml").symlink_to(secret)
    found = faults(tmp_path, {"Ann.yml": ANN, "many.yaml": "a: &x 1\nb: *x\n"})
    assert [line.partition(":")[0] for line in found] == [
        "entrants/Ann.yml", "entrants/link.yaml", "entrants/many.yaml",
    ]  # fmt: skip
    assert "password" not in "".join(found)


@pytest.mark.parametrize(
    ("config", "file", "message"),
    [
        (OWNER, "extensions/mine.py", "config.yaml:1: public: a public season loads no extensions"),
        (OWNER, "extensions/prompts/mine.md", "config.yaml:1: public: a public season loads no extensions"),
        (OWNER + "heads: [sh, x.sh]\n", "x", "config.yaml:5: heads: a public season runs no program"),
        (OWNER + "cohorts: {hidden: 1}\n", "x", "config.yaml:5: cohorts.hidden: this hides prices and"),
        (f"{OWNER}  - {{kind: python, function: 'a:b'}}\n", "a.py", "config.yaml:5: agents[1].kind: a"),
        (OWNER + "  - {kind: market, function: 'a:b'}\n", "a.py", "config.yaml:1: public: a public season"),
    ],
)  # fmt: skip
def test_a_public_season_runs_no_code_and_hides_nothing(
    tmp_path: Path, config: str, file: str, message: str
) -> None:
    write(tmp_path, "raise SystemExit('it ran')\n", file)
    assert faults(tmp_path, {}, config)[0].startswith(message)
