"""Clocks of processes differ: one that lives keeps what it holds, and a call under way is made once."""

from functools import partial
from pathlib import Path
from time import sleep

import pytest

from tests.program.forked import CLOCK_AHEAD, Forks
from tests.program.rehearsal import rows
from tests.program.running import arena_json
from tests.provider.server import faulty

HOUR, DAY = 3_600, 86_400
SEASON = """\
markets: {{venue: simulator, show: 3, simulator: {{start: 2026-01-04, weeks: 4, markets: 20, events: 8}}}}
cohorts: {{rounds: 1, count: 1}}
agents:
{agents}
"""
AGENT = "  - {{name: a{n}, model: openai/plays, base_url: '{url}', price: {{input: 1, output: 4}}}}"


@pytest.mark.parametrize("step", [HOUR, -DAY])
def test_two_processes_whose_clocks_differ_ask_each_question_once(
    step: int, tmp_path: Path, forked: Forks
) -> None:
    with faulty(latency=4.0) as provider:
        agents = "\n".join(AGENT.format(n=n, url=provider.url) for n in range(4))
        (tmp_path / "config.yaml").write_text(SEASON.format(agents=agents), "utf-8")
        start = partial(forked.start, tmp_path, "run", "--round", "--at", "2026-01-04T00:00Z")
        first = start(**({CLOCK_AHEAD: str(-step)} if step < 0 else {}))
        while len(provider.log) < 4:
            assert first.runs, first.said()
            sleep(0.02)
        second = start(**({CLOCK_AHEAD: str(step)} if step > 0 else {}))
        assert (second.wait(), first.wait()) == (2, 0), second.said() + first.said()
        assert len(provider.log) == 4
    assert rows(tmp_path, "SELECT status, count(*) FROM turn GROUP BY status") == [("played", 4)]
    assert rows(tmp_path, "SELECT count(*) FROM reservation") == [(0,)]
    assert arena_json(tmp_path, "admin", "verify")["differences"] == []
