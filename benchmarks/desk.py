"""What turns from outside cost: 200 agents in one round, each reads its view, tries a decision and sends it.

The round and the desk share a process here; the agents have one of their own, so what is counted is theirs
alone: CPU a turn, with the snapshot, the view, the calls that are kept, the fills and the turn that is
written. The same round of agents that follow a rule is told beside it.

python -m benchmarks.desk
"""

import asyncio
import json
import multiprocessing
import tempfile
import time
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from arena.clock import now
from arena.cohorts.freeze import plan_of
from arena.config import load
from arena.operations.desk import new_key, serve_desk
from arena.record.record import Record
from arena.rounds.open_world import open_world
from arena.rounds.season import play_time
from arena.verify import verify
from benchmarks.measure import options, report, within

AGENTS, MARKETS, MOST = 200, 20, 0.030


def come(port: int, keys: list[str]) -> None:
    """Let each agent take its turn, one after the other."""

    def ask(key: str, method: str, path: str, body: str | None = None) -> Any:
        there = HTTPConnection("127.0.0.1", port)
        there.request(method, path, body, {"Authorization": f"Bearer {key}"})
        return json.load(there.getresponse())

    for key in keys:
        turn = ask(key, "GET", "/v1/turn")
        while turn["turn"] is None:
            time.sleep(0.2)
            turn = ask(key, "GET", "/v1/turn")
        said = [{"market": x["market"], "options": {"yes": 0.4}} for x in turn["view"]["markets"]]
        bet = {"market": said[0]["market"], "option": "no", "amount": 60}
        decision = json.dumps({"version": 1, "forecasts": said, "bets": [bet]})
        ask(key, "POST", f"/v1/turn?turn={turn['turn']}&preview=true", decision)
        assert ask(key, "POST", f"/v1/turn?turn={turn['turn']}", decision)["accepted"]


async def play(folder: Path, kind: str) -> float:
    """Return the seconds of CPU that a round takes."""
    agents = "".join(f"  - {{kind: {kind}, name: a{n}}}\n" for n in range(AGENTS))
    text = f"markets: {{venue: simulator, show: {MARKETS}}}\nagents:\n  - kind: market\n{agents}"
    (folder / "config.yaml").write_text(text, "utf-8")
    config = load(folder / "config.yaml")
    record = Record.open(str(folder / "arena.db"))
    stop = asyncio.Event()
    ports = asyncio.Queue[int]()
    keys = [new_key(record, f"a{n}", now()) for n in range(AGENTS)]
    desk = asyncio.create_task(serve_desk(record, "127.0.0.1", 0, now, stop, ports.put_nowait))
    guests = multiprocessing.get_context("spawn").Process(target=come, args=(await ports.get(), keys))
    async with open_world(config, record) as world:
        began = time.process_time()
        if kind == "outside":
            guests.start()
        plan = plan_of(config, world.now())
        reports = await play_time(plan.first, plan, world, record)
        took = time.process_time() - began
    stop.set()
    await desk
    assert {turn.decision.status for report in reports for turn in report.turns} == {"played"}
    record.close()
    return took


def cost(folder: Path, kind: str) -> float:
    """Return the same for one agent, and check that the record agrees with itself."""
    took = asyncio.run(play(folder, kind))
    record = Record.open(str(folder / "arena.db"))
    with record.reading() as connection:
        assert verify(connection) == []
    record.close()
    return took / AGENTS


def main() -> None:
    chosen = options(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        rule = cost(Path(one), "constant")
        outside = cost(Path(other), "outside")
    ours = within(f"a turn from outside: {1_000 * outside:.1f} ms of CPU", outside, "30 ms", MOST)
    beside = f"a turn by a rule: {1_000 * rule:.1f} ms of CPU"
    report([ours], chosen.json, [f"{AGENTS} agents in a round of {MARKETS} markets; {beside}"])


if __name__ == "__main__":
    main()
