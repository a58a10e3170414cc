"""`arena cohorts seal`: one line that fixes all that was decided up to a round."""

import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.cohorts_list import Number
from arena.cli.options import ConfigFile, Database, Json, options
from arena.cli.output import print_json, program
from arena.errors import ArenaError

if TYPE_CHECKING:
    from arena.record.schema.database import Connection

HEAD = re.compile(r"[0-9a-f]{64}")


def seal(
    context: typer.Context,
    number: Number,
    round: Annotated[
        int | None,
        typer.Option("--round", help="Up to this round; 0 is what was frozen. The last that is over.", min=0),
    ] = None,
    check: Annotated[
        str | None, typer.Option("--check", metavar="HASH", help="Of which round is this the head?")
    ] = None,
    config: ConfigFile = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Print a cohort's head: a hash over all that it froze, saw and decided until a round was over.

    Publish it before anyone knows how the markets end, and later --check shows to everybody that nothing was
    changed since: what came later, such as rounds, settlements and corrections, does not change it. The head
    of round 0 is over what was frozen alone, and can be published before the first decision.

    Example: arena cohorts seal 1 --round 2

    Next: arena cohorts seal 1 --check HASH
    """
    from arena.record.schema.database import open_read_only, reading

    if check is not None and round is not None:
        raise ArenaError("two_questions", "--check finds the round by itself", "leave out --round")
    with open_read_only(options(context, config, database).record()) as engine, reading(engine) as connection:
        found = round_of(connection, number, check) if check else head_of(connection, number, round)
    if as_json:
        print_json(found)
    elif check:
        print(f"That is the head of {_place(found)}: nothing until then was changed since.")
    else:
        print(found["head"])
        print(f"It is the head of {_place(found)}. Next: publish it, and check it later with")
        print(f"{program()} cohorts seal {number} --check {found['head']}")


def head_of(connection: "Connection", number: int, round: int | None) -> dict[str, Any]:
    """The head of a cohort up to a round, by default the last that is over."""
    found = heads_of(connection, number)
    wanted = max(found) if round is None else round
    if wanted not in found:
        message = f"round {wanted} of cohort {number} is not over: its turns may still change"
        raise ArenaError("not_over", message, f"rounds with a head: {_these(found)}")
    return {"cohort": number, "round": wanted, "head": found[wanted]}


def round_of(connection: "Connection", number: int, check: str) -> dict[str, Any]:
    """The round that a head is of; an error where it is of none."""
    from arena.record.queries.cohorts import read_cohorts

    head = check.strip().lower()
    if not HEAD.fullmatch(head):
        raise ArenaError("bad_hash", f"{check!r} is no head", "a head is 64 digits from 0 to f")
    found = heads_of(connection, number)
    for round, known in found.items():
        if known == head:
            return {"cohort": number, "round": round, "head": head}
    others = [stored.cohort.number for stored in read_cohorts(connection) if stored.cohort.number != number]
    also = next((other for other in others if head in heads_of(connection, other).values()), None)
    hint = f"it is one of cohort {also}" if also else "another record, or changed since: arena verify looks"
    message = f"no round of cohort {number} has this head; rounds with a head: {_these(found)}"
    raise ArenaError("no_such_head", message, hint)


def heads_of(connection: "Connection", number: int) -> dict[int, str]:
    """The heads of a cohort by round."""
    from arena.record.hashes import round_heads
    from arena.record.queries.cohorts import read_cohorts, select_cohorts

    (stored,) = select_cohorts(read_cohorts(connection), number)
    return round_heads(connection, stored.id)


def _these(found: dict[int, str]) -> str:
    return ", ".join(map(str, found))


def _place(found: dict[str, Any]) -> str:
    if not found["round"]:
        return f"what cohort {found['cohort']} froze, before its first round"
    return f"round {found['round']} of cohort {found['cohort']}"
