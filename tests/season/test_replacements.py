"""Agents that never had a good turn take their corrected block in a cohort that plays; others don't."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from arena.config import ConfigErrors, load
from arena.rounds.open_world import open_world
from tests.arena.verify.test_verify import differences
from tests.opened_record import opened_record
from tests.program.running import AGREES, arena, arena_json, provider
from tests.records.tampering import tamper

CONFIG = """\
markets: {{venue: simulator, show: 8, simulator: {{start: 2026-01-04, weeks: 6, markets: 20, events: 8}}}}
cohorts: {{rounds: 4, count: 1}}
agents:
  - kind: market
  - {{name: ann, model: openai/sharp, base_url: "{ann}", timeout: 2s, prompt: {prompt}}}
  - {{name: bob, model: openai/sharp, base_url: "{url}", max_tokens: {tokens}}}
  - {{kind: kelly, of: ann}}
"""
AWAY = "http://127.0.0.1:9/v1"
OWN = '{% include "_head" %}\n{% for m in markets %}{{ m.id }} {{ m.text }}\n{% endfor %}'
KEY: dict[str, Any] = {"OPENAI_API_KEY": "a-key"}


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    with provider(tmp_path / "log") as address:
        yield address


def write(folder: Path, url: str, ann: str = AWAY, tokens: int = 16_000, prompt: str = "bet") -> None:
    (folder / "own.md").write_text(f"{OWN}\n\nBe calm.", "utf-8")
    text = CONFIG.format(url=url, ann=ann, tokens=tokens, prompt=prompt)
    (folder / "config.yaml").write_text(text, "utf-8")


def test_an_agent_without_a_good_turn_takes_its_corrected_block(tmp_path: Path, url: str) -> None:
    write(tmp_path, url)
    said = arena(tmp_path, "run", "--round", **KEY)
    assert said.returncode == 2
    hint = "ann has no good turn yet: check its server, or correct its block in the config, before the next"
    hint = f"{hint} round"
    assert f"  {hint}\n" in said.stdout
    assert "arena admin cohort end" not in said.stdout
    assert f"{hint} (cohort 1)" in [x["text"] for x in arena_json(tmp_path, "status", **KEY)["reasons"]]
    assert f"{hint} (cohort 1)." in arena(tmp_path, "check", **KEY).stdout
    write(tmp_path, url, ann=url, tokens=9_000, prompt="superforecaster_odds")
    assert arena_json(tmp_path, "check", **KEY)["unproven"] == [
        {"cohort": 1, "changed": ["ann"], "unchanged": []}
    ]
    (second,) = arena_json(tmp_path, "run", "--round", "--leave-failed", **KEY)["rounds"]
    assert {turn["agent"]: turn["status"] for turn in second["turns"]} == dict.fromkeys(
        ("market", "ann", "bob", "kelly"), "played"
    )
    (line,) = second["replaced"]
    assert line.startswith("ann takes its block from the config: settings ")
    assert line.endswith(" from round 2 on")
    cohort = arena_json(tmp_path, "show", "cohort", "1", **KEY)
    frozen = [one["settings"].get("base_url") for one in cohort["frozen"]["entrants"]]
    assert frozen == [None, "server 1", "server 2", None]
    assert [(x["name"], x["since"], x["settings"]["base_url"]) for x in cohort["replaced"]] == [
        ("ann", 2, "server 1")
    ]
    write(tmp_path, url, ann=url, tokens=8_000)  # both have had good turns by now
    (third,) = arena_json(tmp_path, "run", "--round", **KEY)["rounds"]
    assert third["replaced"] == []
    assert {turn["status"] for turn in third["turns"]} == {"played"}
    assert arena_json(tmp_path, "admin", "verify").items() >= AGREES.items()


def test_a_record_with_a_replacement_comes_back_whole_and_a_forged_one_is_seen(
    tmp_path: Path, url: str
) -> None:
    write(tmp_path, url)
    assert arena(tmp_path, "run", "--round", **KEY).returncode == 2
    write(tmp_path, url, ann=url, prompt="superforecaster_odds")
    assert arena(tmp_path, "run", "--round", "--leave-failed", **KEY).returncode == 0
    assert arena(tmp_path, "share", "export", "out").returncode == 0
    assert arena(tmp_path, "admin", "restore", "out", "--database", "back.db").returncode == 0
    assert arena_json(tmp_path, "admin", "verify", "--database", "back.db").items() >= AGREES.items()
    for statement, column in (
        ("DELETE FROM replacement", ("turn", "hash")),
        ("UPDATE turn SET status = 'played' WHERE status = 'failed'", ("replacement", "round")),
    ):
        copy = tmp_path / "copy.db"
        copy.write_bytes((tmp_path / "back.db").read_bytes())
        tamper(copy, statement)
        assert column in {(one.table, one.field) for one in differences(copy)}
    older = (
        """UPDATE replacement SET settings = replace(settings, '"server 1"', '"http://ann:canary@host/v1"')"""
    )
    tamper(tmp_path / "back.db", older)
    assert arena(tmp_path, "share", "export", "hidden", "--database", "back.db").returncode == 0
    refused = arena(tmp_path, "admin", "restore", "hidden", "--database", "new.db")
    assert (refused.returncode, (tmp_path / "new.db").exists()) == (1, False)
    assert "sealed with a credential, which the export hides" in refused.stderr


def test_a_world_that_is_open_reads_an_edited_config(tmp_path: Path, url: str) -> None:
    write(tmp_path, url, prompt="./own.md")
    assert arena(tmp_path, "run", "--round", **KEY).returncode == 2
    config = load(tmp_path / "config.yaml")

    async def changed() -> list[list[str]]:
        with opened_record(config.database) as record:
            (cohort,) = record.begun()
            async with open_world(config, record) as world:
                seen = [[each.entrant.name for each in world.changed(cohort)]]
                (tmp_path / "own.md").write_text(f"{OWN}\n\nBe bold.", "utf-8")
                seen.append([each.entrant.name for each in world.changed(cohort)])
                write(tmp_path, url, tokens=9_000, prompt="./own.md")
                seen.append([each.entrant.name for each in world.changed(cohort)])
                (tmp_path / "config.yaml").write_text("agents: 7", "utf-8")
                with pytest.raises(ConfigErrors):
                    world.changed(cohort)
                return seen

    assert asyncio.run(changed()) == [[], ["ann"], ["bob"]]
