"""How many are asked at once changes when answers come, and nothing else; nor does one that refuses most."""

from collections import Counter
from pathlib import Path

from tests.program.running import arena_json
from tests.provider.replies import GOOD, Asked, fails, says
from tests.provider.server import faulty
from tests.rows import rows_in
from tests.serving import Reply

CONFIG = """\
markets: {{venue: simulator, show: 12, simulator: {{start: 2026-01-04, weeks: 8, markets: 60, events: 20}}}}
cohorts: {{rounds: 2, count: 1}}
calls: {{at_once: {at_once}, per_provider: {at_once}}}
agents:
  - {{name: three, model: demo/sharp, samples: 3}}
  - {{name: parts, model: demo/hasty, batch: 5}}
  - {{name: blind, model: demo/sharp, prices: after, samples: 2}}
  - {{name: twin, model: demo/sharp}}
  - {{kind: kelly, of: twin}}
  - {{kind: crowd, of: [three, parts, blind]}}
"""


def a_season(folder: Path, at_once: int) -> str:
    """Return the state hash of two rounds."""
    folder.mkdir()
    (folder / "config.yaml").write_text(CONFIG.format(at_once=at_once), "utf-8")
    found = arena_json(folder, "demo", "--headless", "--config", "config.yaml", "--database", "season.db")
    calls = "SELECT stage, sample, count(*) FROM call GROUP BY 1, 2 ORDER BY 1, 2"
    assert rows_in(folder / "season.db", calls) == [
        ("blind", 1, 2),
        ("blind", 2, 2),
        ("final", 1, 2 * 6),
        ("final", 2, 2 * 2),
        ("final", 3, 2),
    ]
    return str(found["state_hash"])


def test_one_at_a_time_or_fifty_at_once_is_the_same_season(tmp_path: Path) -> None:
    assert a_season(tmp_path / "one", 1) == a_season(tmp_path / "fifty", 50)


def test_turns_are_told_in_the_order_of_the_line_up_and_no_more_are_asked_at_once_than_said(
    tmp_path: Path,
) -> None:
    with faulty(latency=0.2) as provider:
        agents = "".join(
            f"  - {{name: a{n}, model: openai/plays, base_url: {provider.url}}}\n" for n in range(12)
        )
        config = (
            "markets: {venue: simulator, show: 3}\ncalls: {at_once: 5, per_provider: 3}\n"
            f"ask: {{max_tokens: 500}}\nagents:\n{agents}"
        )
        (tmp_path / "config.yaml").write_text(config, "utf-8")
        played = arena_json(tmp_path, "run", "--round")["rounds"][0]
        assert provider.most_at_once == 3
    assert [turn["agent"] for turn in played["turns"]] == [f"a{n}" for n in range(12)]
    query = "SELECT name FROM turn JOIN entrant ON entrant.id = entrant_id ORDER BY turn.id"
    assert sorted(rows_in(tmp_path / "arena.db", query)) == sorted((f"a{n}",) for n in range(12))


AGENTS = 12


def test_a_storm_is_waited_out_and_other_providers_are_not_held_up(tmp_path: Path) -> None:
    with faulty() as provider:
        refused = Counter[str]()

        def two_of_three(asked: Asked) -> Reply:
            refused.update(["all"])
            if refused["all"] % 3:
                refused.update(["refused"])
                return fails(429, "slow down", retry_after="0.05")
            return says(GOOD)

        provider.script("busy", two_of_three)
        blocks = [f"name: a{n}, model: openai/busy" for n in range(AGENTS)] + ["model: mistral/plays"]
        text = "markets: {venue: simulator, show: 3}\nagents:\n" + "".join(
            f'  - {{{block}, base_url: "{provider.url}"}}\n' for block in blocks
        )
        (tmp_path / "config.yaml").write_text(text, "utf-8")
        turns = arena_json(tmp_path, "run", "--round")["rounds"][0]["turns"]
        assert {turn["status"] for turn in turns} == {"played"}
        order = [asked.model for asked in provider.log]
    assert refused["refused"] == 2 * AGENTS
    assert order.index("plays") < len(order) - AGENTS / 2, "asked in its turn"
