"""`arena outside`: where programs and assistants outside the arena take an agent's turns."""

import os
from contextlib import closing
from typing import Literal

from arena.cli.options import Options, command, flag, option
from arena.cli.output import print_json
from arena.errors import ArenaError
from arena.operations.listen_addresses import DESK_PORT, HOST, KEY_VARIABLE, OPEN_DESK, listen_address


@command("config", "database", "json")
def desk(
    chosen: Options,
    key: str | None = option("Print a key for this agent, once; it replaces the old one.", "NAME"),
    schema: Literal["view", "decision", "result"] | None = option("Print the JSON Schema of a document."),
    host: str = option("Where to listen: this machine, unless --behind-proxy.", "HOST", default=HOST),
    port: int = option("The port, or the next free one.", default=DESK_PORT, min=0, max=65_535),
    behind_proxy: bool = flag("Only a proxy that encrypts reaches it; --port is exact."),
) -> None:
    """Let outside agents take their turns over HTTP, until Ctrl-C.

    Agents of kind `outside` read views here, preview and submit decisions, and read their results. Run it
    alongside `arena run`; either can be restarted without loss. Each agent needs a key of its own.

    A view is what an agent is shown, a decision is its answer, and a result is how a market ended.

    Example: arena outside desk

        Desk: http://127.0.0.1:8600  (Ctrl-C ends it)

    Example: arena outside desk --key ann

    Next: arena outside mcp
    """
    if schema is not None:
        from agents.episode import schema_of

        print_json(schema_of(schema))  # the same with --json and without
        return

    from arena.cli.desk import key_page, serve
    from arena.clock import now
    from arena.operations.desk import new_agent_key
    from arena.record.record import Record

    if key is not None:
        with chosen.writing() as record:
            data = {"agent": key, "key": new_agent_key(record, chosen.known_config(), key, now())}
        chosen.print_answer(data, key_page)
        return

    where = listen_address(host, port, behind_proxy, None, OPEN_DESK)
    config = chosen.known_config()
    with closing(Record.join(chosen.record_address())) as record:
        serve(record, config, where)
    print("Desk ended.")


@command(record=False)
def mcp(
    _chosen: Options,
    url: str = option("The desk's address.", "URL", default=f"http://{HOST}:{DESK_PORT}"),
) -> None:
    """Let an assistant take an agent's turns over MCP (stdio).

    Register it with your assistant as a server of the Model Context Protocol, with the agent's key in the
    variable ARENA_KEY. Its tools are `view`, `preview`, `submit` and `results`. It needs pip install
    "paper-arena[mcp]".

    Example: arena outside mcp --url https://arena.example.com

        {"jsonrpc":"2.0","id":1,"result":{"serverInfo":{"name":"paper-arena", …

    Next: arena outside desk --schema decision
    """
    try:
        from arena.operations.mcp_tools import serve_tools
    except ModuleNotFoundError as error:
        hint = 'pip install "paper-arena[mcp]"'
        raise ArenaError("no_mcp", f"{error.name} is not installed", hint) from error
    # Assistants list the tools of a server before they use one: without a key only a call fails.
    serve_tools(url.rstrip("/"), os.environ.get(KEY_VARIABLE, ""))
