"""A provider that refuses most calls is left alone as it asks, and in the end everyone has played."""

from collections import Counter
from pathlib import Path

from tests.program.running import arena_json
from tests.provider.replies import GOOD, Asked, fails, says
from tests.provider.server import faulty
from tests.serving import Reply

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
        turns = arena_json(tmp_path, "round")["rounds"][0]["turns"]
        assert {turn["verdict"] for turn in turns} == {"played"}
        order = [asked.model for asked in provider.log]
    assert refused["refused"] == 2 * AGENTS
    assert order.index("plays") < len(order) - AGENTS / 2, "asked in its turn"
