"""`arena outside desk`: serves the desk, and prints its address or an agent's new key."""

import sys

from arena.cli.page import Page
from arena.clock import now
from arena.config import Config
from arena.operations.desk import outside_agents, run_desk
from arena.operations.listen_addresses import KEY_VARIABLE, ListenAddress, bracketed
from arena.record.record import Record

NOBODY = "No agent plays from outside: add one of kind `outside` to the config."


def serve(record: Record, config: Config | None, where: ListenAddress) -> None:
    """Serve the desk until the process is stopped."""

    def tell_open(port: int) -> None:
        """Print the address of the desk, and a note if no agent plays from outside."""
        print(f"Desk: http://{bracketed(where.address)}:{port}  (Ctrl-C ends it)", flush=True)
        if not outside_agents(config, record):
            print(NOBODY, file=sys.stderr, flush=True)

    run_desk(record, where, now, tell_open)


def key_page(data: dict[str, str]) -> Page:
    """Yield a key, and where to set it."""
    agent = data["agent"]
    yield data["key"]
    yield ""
    yield f"This is the key of {agent}. It is shown only once; earlier keys no longer work."
    yield f"Where {agent} runs, set it in the environment as {KEY_VARIABLE}."
