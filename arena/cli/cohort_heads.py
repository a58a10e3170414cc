"""The heads of a cohort: hashes of all that it froze, saw and decided up to the end of a round."""

import re
from collections.abc import Iterator
from typing import Any

from arena.cli.cohort_diff import numbered
from arena.cli.options import Options
from arena.cli.output import Data, typed
from arena.errors import ArenaError
from arena.record.hashes import round_heads
from arena.record.queries.cohorts import read_cohorts
from arena.record.schema.database import Connection

HEAD = re.compile(r"[0-9a-f]{64}")


def show_head(chosen: Options, number: str, round_number: int | None, check: str | None) -> None:
    """Answer with a cohort's head up to a round, or with the round that has the head to be checked."""
    with chosen.reading() as connection:
        data = round_of(connection, number, check) if check else head_of(connection, number, round_number)
    chosen.answer(data, head_page, data, check is not None)


def head_page(data: Data, checked: bool) -> Iterator[str]:
    """Yield the head, or that it was found again."""
    place = f"round {data['round']} of cohort {data['cohort']}"
    if not data["round"]:
        place = f"what cohort {data['cohort']} froze, before its first round"
    if checked:
        yield f"This is the head of {place}: nothing before it has been changed."
        return
    yield data["head"]
    yield f"The head of {place}. Next: publish it, and check it later with"
    yield typed(f"show cohort {data['cohort']} --head --check {data['head']}")


def head_of(connection: Connection, number: str, round_number: int | None) -> dict[str, Any]:
    """Return the head of a cohort up to a round, by default the last that is over."""
    heads = _heads_of(connection, number)
    if round_number is None:
        round_number = max(heads)
    if round_number not in heads:
        message = f"cohort {number} has no finished round {round_number}"
        raise ArenaError("not_over", message, f"rounds with a head: {', '.join(map(str, heads))}")
    return {"cohort": int(number), "round": round_number, "head": heads[round_number]}


def round_of(connection: Connection, number: str, check: str) -> dict[str, Any]:
    """Return the round that a head is of; raise `ArenaError` where it is of none."""
    head = check.strip().lower()
    if not HEAD.fullmatch(head):
        raise ArenaError("bad_hash", f"{check!r} is not a head", "a head is 64 hexadecimal digits")

    heads = _heads_of(connection, number)
    for round_number, known in heads.items():
        if known == head:
            return {"cohort": int(number), "round": round_number, "head": head}

    hint = "another record's, or this one was changed: run arena admin verify"
    for stored in read_cohorts(connection):
        if head in round_heads(connection, stored.id).values():
            hint = f"it is one of cohort {stored.cohort.number}"
            break
    listed = ", ".join(map(str, heads))
    message = f"no round of cohort {number} has this head; rounds with a head: {listed}"
    raise ArenaError("no_such_head", message, hint)


def _heads_of(connection: Connection, number: str) -> dict[int, str]:
    """Return the heads of a cohort by their rounds."""
    return round_heads(connection, numbered(read_cohorts(connection), number).id)
