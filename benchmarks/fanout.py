"""What it costs to ask many models at once: 200 calls of 1 second, 50 at a time, over HTTP.

A whole round is played by 200 `llm` agents: prompts, calls, budgets, answers kept one by one, turns written.
The provider runs in a process of its own. Against the ideal of four waves of a second, and, by CPU, against
litellm alone with the same messages and nothing kept.

python -m benchmarks.fanout
"""

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agents.llm import close
from arena.config import Config, load
from arena.plan import plan_of
from arena.season import play_time
from arena.store.record import Record
from arena.wiring import open_world
from benchmarks.measure import Row, Timed, options, report, row

CALLS, AT_ONCE, LATENCY = 200, 50, 1.0
IDEAL = CALLS / AT_ONCE * LATENCY
OWN_SHARE = 0.001
"""Seconds of CPU a call that the arena may take beyond the client's."""
MODEL = "openai/plays"


@contextmanager
def provider() -> Iterator[str]:
    """The address of a provider that takes its time."""
    command = [sys.executable, "-m", "tests.provider.server", "--latency", str(LATENCY)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()


def config(folder: Path, url: str, agents: int = CALLS) -> Config:
    """An arena of so many agents that all ask the same model."""
    prices = "price: {input: 1, output: 4}"
    blocks = [f"  - {{name: a{n}, model: {MODEL}, base_url: '{url}', {prices}}}" for n in range(agents)]
    lines = [
        "markets: {venue: simulator, show: 5}",
        "budget: {call: 1, day: 100}",
        f"calls: {{at_once: {AT_ONCE}, per_provider: {AT_ONCE}}}",
        "agents:",
        *blocks,
    ]
    file = folder / "config.yaml"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return load(file)


def a_round(config: Config, database: Path) -> Timed:
    """A round of all agents, timed once the world is open and the library there."""
    record = Record.open(str(database))

    async def played() -> Timed:
        async with open_world(config, record) as world:
            plan = plan_of(config, world.now())
            wall, cpu = time.perf_counter(), time.process_time()
            reports = await play_time(plan.first, plan, world, record)
            timed = Timed((time.perf_counter() - wall), (time.process_time() - cpu))
            verdicts = {turn.decision.verdict for turn in reports[0].turns}
            assert (verdicts, len(reports[0].turns)) == ({"played"}, len(config.agents))
            return timed

    try:
        return asyncio.run(played())
    finally:
        record.close()


def the_client_alone(url: str, messages: list[dict[str, str]], form: dict[str, Any]) -> Timed:
    """The same calls by litellm and nothing else."""
    from litellm import acompletion

    async def go() -> Timed:
        room = asyncio.Semaphore(AT_ONCE)

        async def one(_number: int) -> None:
            async with room:
                await acompletion(
                    model=MODEL, messages=messages, api_base=url, api_key="none", max_tokens=16_000,
                    seed=1, response_format=form, timeout=120, max_retries=0, num_retries=0,
                )  # fmt: skip

        wall, cpu = time.perf_counter(), time.process_time()
        await asyncio.gather(*map(one, range(CALLS)))
        timed = Timed((time.perf_counter() - wall), (time.process_time() - cpu))
        await close()
        return timed

    return asyncio.run(go())


def main() -> None:
    chosen = options(__doc__).parse_args()
    with provider() as url, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        a_round(config(folder, url, agents=1), folder / "first.db")  # the library is there
        messages, form = what_was_asked(folder / "first.db")
        runs = []
        for number in range(3):
            ours = a_round(config(folder, url), folder / f"{number}.db")
            runs.append((ours, the_client_alone(url, messages, form)))
    ours = min((ours for ours, _ in runs), key=lambda run: run.wall)
    own = min(ours.cpu for ours, _ in runs) - min(alone.cpu for _, alone in runs)
    rows: list[Row] = [
        row(f"a round of {CALLS} calls: {ours.wall:.2f} s", ours, "the ideal", 1 / IDEAL, 1 / 1.15),
        row(
            f"our own CPU a call: {1000 * own / CALLS:.2f} ms",
            Timed(own / CALLS, own / CALLS),
            "1 ms",
            1 / OWN_SHARE,
            1.0,
        ),
    ]
    alone = min(alone.cpu for _, alone in runs)
    report(rows, chosen.json, [f"the client alone: {1000 * alone / CALLS:.2f} ms of CPU a call"])


def what_was_asked(database: Path) -> tuple[list[dict[str, str]], dict[str, Any]]:
    """The messages of the one call in a record, and the form of answer that went with them."""
    from agents.schema import schema

    record = Record.open(str(database))
    try:
        [call] = record.calls(1, [1])[1]
    finally:
        record.close()
    messages = [{"role": message.role, "content": message.content} for message in call.prompt.messages]
    wanted = {"name": "answer", "strict": True, "schema": schema()}
    return messages, {"type": "json_schema", "json_schema": wanted}


if __name__ == "__main__":
    main()
