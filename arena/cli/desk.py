"""`arena outside desk` and `arena outside mcp`: where agents from outside take their turns."""

import os
import signal
import sys
from contextlib import closing
from typing import TYPE_CHECKING

from arena.cli.dashboard import HOST, bracketed, listen_address
from arena.cli.options import Options, command, flag, option
from arena.errors import ArenaError

if TYPE_CHECKING:
    from arena.config import Config
    from arena.record.record import Record

PORT = 8600
KEY_VARIABLE = "ARENA_KEY"
NOBODY = "No agent plays from outside: add one to the config, as `arena agents kinds outside` shows."
OPEN_WORDS = (
    "other machines can reach {host}, and keys and answers would pass unencrypted",
    "omit --host; or add --behind-proxy once a proxy encrypts (arena outside desk --help)",
)


@command("config", "database", "json")
def desk(
    chosen: Options,
    key: str | None = option("Print a key for this agent, once; it replaces the old one.", "NAME"),
    host: str = option("Where to listen: this machine, unless --behind-proxy.", "HOST", default=HOST),
    port: int = option("The port, or the next free one.", default=PORT),
    behind_proxy: bool = flag("Only a proxy that encrypts reaches it; --port is exact."),
) -> None:
    """Let outside agents take their turns over HTTP, until Ctrl-C.

    Agents of kind `outside` read views here, preview and submit decisions, and read their results. Run it
    alongside `arena run`; either can be restarted without loss.

    Each agent needs a key of its own.

    Example: arena outside desk --key ann

    Next: arena outside mcp
    """
    import asyncio

    from arena.clock import now
    from arena.record.record import Record

    if key is not None:
        with chosen.writing() as record:
            _say_key(chosen, record, key)
        return
    where = listen_address(host, port, behind_proxy, None, OPEN_WORDS)
    config = chosen.known()

    def say_open(there: int) -> None:
        print(f"Desk: http://{bracketed(where.address)}:{there}  (Ctrl-C ends it)", flush=True)
        if not _outside_agents(config, record):
            print(NOBODY, file=sys.stderr, flush=True)

    async def serve() -> None:
        from arena.operations.desk import serve_desk

        stop, loop = asyncio.Event(), asyncio.get_running_loop()
        for name in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(name, stop.set)
        await serve_desk(record, where.address, where.port, now, stop, say_open, where.behind_proxy)

    with closing(Record.join(chosen.record())) as record:
        asyncio.run(serve())
    print("Desk ended.")


def _outside_agents(config: "Config | None", record: "Record") -> list[str]:
    """Return the agents of kind `outside` that the config has, or that play already."""
    from agents.model import DeskSettings

    planned = config.agents if config else ()
    names = {agent.name for agent in planned if isinstance(agent.settings, DeskSettings)}
    for stored in record.cohorts():
        names |= {entrant.name for entrant in stored.cohort.entrants if entrant.kind == "outside"}
    return sorted(names)


def _say_key(chosen: Options, record: "Record", agent: str) -> None:
    from arena.clock import now
    from arena.operations.desk import new_key

    known = _outside_agents(chosen.known(), record)
    if agent not in known:
        names = ", ".join(known) or "none yet: add one to the config"
        message = f"there is no agent {agent!r} of kind outside"
        raise ArenaError("no_agent", message, f"outside agents: {names}")
    key = new_key(record, agent, now())
    chosen.answer({"agent": agent, "key": key}, _print_key, agent, key)


def _print_key(agent: str, key: str) -> None:
    print(f"{key}\n\nThis is the key of {agent}. It is shown only once; earlier keys no longer work.")
    print(f"Where {agent} runs, set it in the environment as {KEY_VARIABLE}.")


@command(record=False)
def mcp(
    _chosen: Options, url: str = option("The desk's address.", "URL", default=f"http://{HOST}:{PORT}")
) -> None:
    """Let an assistant take an agent's turns over the Model Context Protocol (stdio).

    Register it with your assistant as a server, with the agent's key in the variable ARENA_KEY. Its tools
    are `view`, `preview`, `submit` and `results`. It needs pip install "paper-arena[mcp]".

    Example: arena outside mcp --url https://arena.example.com

    Next: arena outside desk --schema decision
    """
    try:
        from arena.operations.mcp_tools import serve_tools
    except ModuleNotFoundError as error:
        hint = 'pip install "paper-arena[mcp]"'
        raise ArenaError("no_mcp", f"{error.name} is not installed", hint) from error
    # Assistants list the tools of a server before they use one: without a key only a call fails.
    serve_tools(url.rstrip("/"), os.environ.get(KEY_VARIABLE, ""))
