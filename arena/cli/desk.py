"""What `arena outside desk` does: it serves the desk, and gives agents their keys."""

import asyncio
import signal
import sys

from agents.model import DeskSettings
from arena.cli.addresses import KEY_VARIABLE, ListenAddress, bracketed
from arena.cli.page import Page
from arena.clock import now
from arena.config import Config
from arena.errors import ArenaError, natural_key
from arena.operations.desk import new_key, serve_desk
from arena.record.record import Record

NOBODY = "No agent plays from outside: add one of kind `outside` to the config."


def serve(record: Record, config: Config | None, where: ListenAddress) -> None:
    """Serve the desk until the process is told to end."""

    def tell_open(port: int) -> None:
        """Print where the desk is, and whether anybody plays there."""
        print(f"Desk: http://{bracketed(where.address)}:{port}  (Ctrl-C ends it)", flush=True)
        if not outside_agents(config, record):
            print(NOBODY, file=sys.stderr, flush=True)

    async def serve_until_stopped() -> None:
        """Serve until a signal comes."""
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop.set)
        await serve_desk(record, where.address, where.port, now, stop, tell_open, where.behind_proxy)

    asyncio.run(serve_until_stopped())


def outside_agents(config: Config | None, record: Record) -> list[str]:
    """Return the agents of kind `outside` that the config has, or that play already."""
    planned = config.agents if config else ()
    names = {agent.name for agent in planned if isinstance(agent.settings, DeskSettings)}
    for stored in record.cohorts():
        names |= {entrant.name for entrant in stored.cohort.entrants if entrant.kind == "outside"}
    return sorted(names, key=natural_key)


def new_agent_key(record: Record, config: Config | None, agent: str) -> str:
    """Return a new key of an agent, in place of its earlier one."""
    known = outside_agents(config, record)
    if agent not in known:
        names = ", ".join(known) or "none yet: add one to the config"
        message = f"there is no agent {agent!r} of kind outside"
        raise ArenaError("no_agent", message, f"outside agents: {names}")
    return new_key(record, agent, now())


def key_page(data: dict[str, str]) -> Page:
    """Yield a key, and where it belongs."""
    agent = data["agent"]
    yield data["key"]
    yield ""
    yield f"This is the key of {agent}. It is shown only once; earlier keys no longer work."
    yield f"Where {agent} runs, set it in the environment as {KEY_VARIABLE}."
