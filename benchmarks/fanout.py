"""What it costs to ask many models at once: 200 calls of 1 second, 50 at a time, over HTTP.

The calls of 200 `llm` agents as the arena makes them: gate, room and money reserved in the record, every
answer kept in a transaction of its own. The provider runs in a process of its own. Against the ideal of
four waves of a second. The CPU of the arena's own part is taken without the client: the same calls again,
with litellm's answer, as it once came, given back after the same second. Below the table stand what a call
takes with the client, and a whole round of these agents, with its snapshot, prompts, fills and turns.

python -m benchmarks.fanout
"""

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agents.model import Ask, Prompt
from arena.cohorts.freeze import plan_of
from arena.config import Config
from arena.record.model.reservation import Payer
from arena.record.queries.cohorts import StoredCohort, read_calls, read_rounds
from arena.record.record import Record
from arena.record.write.cohorts import add_snapshot
from arena.rounds.open_world import open_world
from arena.rounds.season import play_time
from arena.rounds.turns import ask_of_player
from arena.rounds.world import World
from benchmarks.measure import Measurement, Timed, an_arena, instant, options, report, row, since, within
from markets.model import Snapshot

CALLS, AT_ONCE, LATENCY = 200, 50, 1.0
IDEAL = CALLS / AT_ONCE * LATENCY
OWN_SHARE = 0.001
"""Seconds of CPU a call that the arena may take beyond the client's."""
MODEL = "openai/plays"


@contextmanager
def provider() -> Iterator[str]:
    """Yield the address of a provider that delays its answers."""
    command = [sys.executable, "-m", "tests.provider.server", "--latency", str(LATENCY)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()


def config(folder: Path, url: str, agents: int = CALLS) -> Config:
    """Return an arena of this many agents that all ask the same model."""
    prices = "price: {input: 1, output: 4}"
    blocks = [f"  - {{name: a{n}, model: {MODEL}, base_url: '{url}', {prices}}}" for n in range(agents)]
    lines = [
        "markets: {venue: simulator, show: 5}",
        "budget: {call: 1, day: 100}",
        f"calls: {{at_once: {AT_ONCE}, per_provider: {AT_ONCE}}}",
        "agents:",
        *blocks,
    ]
    return an_arena(folder, *lines)


def a_round(config: Config, database: Path) -> tuple[Timed, Timed]:
    """Time a round of all agents, then their calls alone, with the world open and litellm imported.

    These belong to a next round, which waits for its turns: a call of one that is over costs a head more.
    """
    record = Record.open(str(database))

    async def played() -> tuple[Timed, Timed]:
        async with open_world(config, record) as world:
            plan = plan_of(config, world.now())
            started = instant()
            reports = await play_time(plan.first, plan, world, record)
            whole = since(started)
            statuses = {turn.decision.status for turn in reports[0].turns}
            assert (statuses, len(reports[0].turns)) == ({"played"}, len(config.agents))
            [stored] = record.cohorts()
            questions = list(asked_next(stored, world, record))
            started = instant()
            calls = await asyncio.gather(*(ask(prompt) for ask, prompt in questions))
            alone = since(started)
            assert all(call.error is None for call in calls)
            return whole, alone

    try:
        return asyncio.run(played())
    finally:
        record.close()


def asked_next(stored: StoredCohort, world: World, record: Record) -> Iterator[tuple[Ask, Prompt]]:
    """Open the next round; yield every entrant's way to its model, with the question of its turn before."""
    [played] = record.read(read_rounds, stored.id)
    empty = Snapshot(stored.cohort.calendar.time(2), ())
    record.write(add_snapshot, stored.id, stored.cohort.number, empty, 2)
    [_, opened] = record.read(read_rounds, stored.id)

    for entrant in stored.cohort.entrants:
        key = stored.entrant_ids[entrant.name]
        [before] = record.read(read_calls, played.id, [key])[key]
        player = world.player(stored.cohort, entrant)
        ask = ask_of_player(player, Payer(opened.id, key), entrant.name, [], world, record)
        yield ask, before.prompt


@contextmanager
def without_the_client() -> Iterator[None]:
    """Give litellm's answer to the next question to all later ones, each after the same wait."""
    import litellm

    real = litellm.acompletion
    answers = list[Any]()

    async def answered(**asked: Any) -> Any:
        if answers:
            await asyncio.sleep(LATENCY)
        else:
            answers.append(await real(**asked))
        return answers[0]

    litellm.acompletion = answered
    try:
        yield
    finally:
        litellm.acompletion = real


def main() -> None:
    chosen = options(__doc__).parse_args()
    with provider() as url, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        a_round(config(folder, url, agents=1), folder / "first.db")  # the library is there
        runs = []
        for number in range(3):
            ours = a_round(config(folder, url), folder / f"{number}.db")
            with without_the_client():
                _, part = a_round(config(folder, url), folder / f"part {number}.db")
            runs.append((*ours, part))
    whole, calls, part = (min(each, key=lambda run: run.cpu) for each in zip(*runs, strict=True))
    own = part.cpu / CALLS
    waited = min((calls for _, calls, *_ in runs), key=lambda run: run.wall)
    rows: list[Measurement] = [
        row(f"{CALLS} calls: {waited.wall:.2f} s", waited, "the ideal", 1 / IDEAL, 1 / 1.15),
        within(f"our own CPU a call: {1000 * own:.2f} ms", own, "1 ms", OWN_SHARE),
    ]
    notes = [
        f"with the client: {1000 * calls.cpu / CALLS:.2f} ms of CPU a call",
        f"a whole round: {1000 * whole.cpu / CALLS:.2f} ms of CPU a turn, {whole.wall:.2f} s",
    ]
    report(rows, chosen.json, notes)


if __name__ == "__main__":
    main()
