"""`arena watch`: what has happened, and whether the webhook hears of it."""

import os
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.options import ConfigFile, Database, Json, options
from arena.cli.output import print_json, program
from arena.errors import ArenaError

if TYPE_CHECKING:
    from arena.operations.webhook import Webhook, WebhookReply
    from arena.record.model.incident import RecordedIncident

HELP = """See what has happened that you should hear of, and try the webhook that tells you.

`arena run` sends messages to the web address of `watch.webhook`: on failed rounds, budgets, outages, ends.

Example: arena watch test

Next: arena status
"""

watch = typer.Typer(help=HELP, no_args_is_help=True)


@watch.command("list")
def list_incidents(
    context: typer.Context,
    limit: Annotated[int, typer.Option(help="So many at most.", min=1)] = 20,
    config: ConfigFile = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """List what has happened that an operator should hear of, newest first, and whether that was told.

    Each is told once. One that goes on, such as an outage, says so until it is over.

    Example: arena watch list --limit 5

    Next: arena watch test
    """
    from arena.cli.status_text import incident_line
    from arena.operations.status import incident_data

    found = _incidents(options(context, config, database).record(), limit)
    if as_json:
        print_json({"incidents": [incident_data(told) for told in found]})
        return
    for told in found:
        print(incident_line(told))
    if not found:
        print(f"Nothing has happened that you should hear of. Next: {program()} status")
    elif len(found) == limit:
        print(f"The newest {limit:,}; --limit shows more.")


def _incidents(address: str, limit: int) -> "list[RecordedIncident]":
    from arena.record.schema.database import open_read_only, reading
    from arena.record.write.operations import read_recent_incidents

    with open_read_only(address) as engine, reading(engine) as connection:
        return read_recent_incidents(connection, limit)


@watch.command("test")
def send_test(context: typer.Context, config: ConfigFile = None, as_json: Json = False) -> None:
    """Send a message to the webhook of the config, and say how it was taken.

    Its event is `test`; nothing is written down. The address is never shown whole, for it may be a secret.
    The exit status is 1 where the message did not arrive.

    Example: arena watch test

    Next: arena run
    """
    webhook, reply = _tried(context, config)
    if not reply.ok:
        words = f"the message did not arrive: {webhook.name} {reply.words}"
        raise ArenaError(f"webhook_{reply.code}", words, "check the address, and what listens there")
    if as_json:
        print_json({"ok": True, "webhook": webhook.name, "status": reply.status})
    else:
        print(f"{webhook.name} took the message (status {reply.status}). Next: {program()} run")


def _tried(context: typer.Context, config: "ConfigFile") -> "tuple[Webhook, WebhookReply]":
    import asyncio

    from arena.clock import now
    from arena.config import environment
    from arena.operations.webhook import send, test_message, webhook_of

    settings = options(context, config).load()
    webhook = webhook_of(settings.watch, environment(settings.folder, os.environ))
    if webhook is None:
        hint = "name one: watch.webhook, or watch.webhook_env with the variable that holds its address"
        raise ArenaError("no_webhook", f"{settings.file} names no webhook", hint)
    return webhook, asyncio.run(send(webhook, test_message(now())))
