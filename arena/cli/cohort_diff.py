"""`arena show cohort` and `seal`: what changed between cohorts, and one hash of all that was decided."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from arena.cli.options import Options, argument, command, flag, option
from arena.cli.output import attributes, plain, prints_aside, typed
from arena.clock import now
from arena.cohorts.diff import CohortChanges, changes_in_words, cohort_changes, text_diff
from arena.cohorts.freeze import freeze_cohort
from arena.config import Config
from arena.errors import ArenaError
from arena.record.hashes import round_heads
from arena.record.model.cohort import Cohort
from arena.record.queries.cohorts import StoredCohort, read_cohorts, read_prompts, select_cohorts
from arena.record.schema.database import Connection

PLANNED, NEXT = "next", "the next cohort"
"""How the cohort is called that the config would start, on the command line and in words."""
NUMBER = argument("N", "The number of a cohort.")
"""Which cohort a command is about."""
HEAD = re.compile(r"[0-9a-f]{64}")


def numbered(every: Sequence[StoredCohort], number: str) -> StoredCohort:
    """The cohort of that number."""
    if not number.isdecimal():
        known = ", ".join(str(each.cohort.number) for each in every) or "none yet"
        message = f"there is no cohort {number}; cohorts: {known}"
        raise ArenaError("bad_cohort", message, "arena show cohorts shows them")
    (stored,) = select_cohorts(every, int(number))
    return stored


@command()
def diff(
    chosen: Options,
    before: str = argument("", "A cohort's number, or `next`."),
    after: str = argument("", "A cohort's number, or `next`."),
    texts: bool = flag("Also show how prompts changed, line by line."),
) -> None:
    """Compare two cohorts: agents added, removed or changed, rules, markets, venue, prompts.

    `next` is the cohort that the config would start now. Number, start and seed always differ and are not
    compared. With --json, amounts and prices are frozen millionths.

    Example: arena show cohort 1 next --texts

    Next: arena check says who would play in the next cohort, and what that would cost.
    """
    plans = PLANNED in (before, after)
    with prints_aside(), chosen.planned(extensions=plans) as (config, connection):
        sides = [side(connection, config, which) for which in (before, after)]
        kinds = config.extensions("kinds") if config is not None else ()
        found = cohort_changes(sides[0][0], sides[1][0], kinds)
    edits = {
        name: text_diff(name, *(words.get(cohort.prompts[name], "") for cohort, words in sides))
        for name in (found.edited if texts else ())
    }
    names = [NEXT if which == PLANNED else f"cohort {which}" for which in (before, after)]
    data = {"before": before, "after": after} | diff_data(found) | ({"texts": edits} if texts else {})
    chosen.answer(data, say, found, edits, *names)


def side(connection: Connection, config: Config | None, which: str) -> tuple[Cohort, Mapping[str, str]]:
    """A cohort of the record, or the one that the config would start now, with its prompts by hash."""
    if which != PLANNED:
        stored = numbered(read_cohorts(connection), which)
        return stored.cohort, read_prompts(connection, list(stored.cohort.prompts.values()))
    if config is None:
        raise ArenaError("no_config", "the next cohort needs a config", "give one with --config PATH")
    return freeze_cohort(config, 1, now())


def diff_data(found: CohortChanges) -> dict[str, Any]:
    """The changes for JSON."""
    was, now = found.config
    return {
        "same": not found and not found.not_compared,
        "config_hash": {"was": was or None, "is": now or None},
        "frozen": {section: moved_data(moved) for section, moved in found.parts.items()},
        "prompts": moved_data(found.prompts),
        "agents": {
            "added": [attributes(each, "name", "kind") for each in found.added],
            "removed": [attributes(each, "name", "kind") for each in found.removed],
            "changed": {name: moved_data(moved) for name, moved in found.changed.items()},
            "reordered": found.reordered,
        },
        "not_compared": found.not_compared,
    }


def versions_data(found: Mapping[int, Sequence[str]]) -> list[dict[str, Any]]:
    """The versions of the code that played, and from which round on, for JSON."""
    return [{"from_round": number, "versions": list(known)} for number, known in found.items()]


def by_rounds(versions: Sequence[Mapping[str, Any]]) -> str:
    """Versions of the code in words, with the round from which each of them played.

    >>> by_rounds([{"from_round": 1, "versions": ["1.0"]}, {"from_round": 3, "versions": ["1.0", "1.1"]}])
    'version 1.0 from round 1, then 1.0 and 1.1 from round 3'
    """
    said = [f"{' and '.join(each['versions'])} from round {each['from_round']}" for each in versions]
    return f"version {', then '.join(said)}"


def moved_data(moved: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """Changed values for JSON, by key."""
    return {key: {"was": before, "is": after} for key, (before, after) in moved.items()}


def say(found: CohortChanges, edits: Mapping[str, Sequence[str]], before: str, after: str) -> None:
    """The changes, a line each, then how the words of prompts changed."""
    print(f"From {before} to {after}:")
    for line in changes_in_words(found) or ["nothing has changed"]:
        print(f"  {plain(line)}")
    for lines in edits.values():
        print("\n" + "\n".join(plain(line) for line in lines))


@command()
def seal(
    chosen: Options,
    number: str = NUMBER,
    round_number: int | None = option(
        "Up to this round (0: the frozen settings); default: the last.", "", "--round", min=0
    ),
    check: str | None = option("Find the round that has this head.", "HASH"),
) -> None:
    """Print a cohort's head: a hash of all that it froze, saw and decided up to the end of a round.

    Publish it before the markets resolve, and --check can prove that nothing was changed: later rounds,
    settlements and corrections do not affect it. The head of round 0 covers the frozen settings alone and can
    be published before the first decision.

    Example: arena show cohort --head 1 --round 2

    Next: arena show cohort --head 1 --check HASH
    """
    if check is not None and round_number is not None:
        raise ArenaError(
            "two_questions", "--check and --round can't be combined", "leave out --round", status=64
        )
    with chosen.reading() as connection:
        found = round_of(connection, number, check) if check else head_of(connection, number, round_number)
    chosen.answer(found, say_head, found, check is not None)


def say_head(found: Mapping[str, Any], checked: bool) -> None:
    """The head, or that one was found again."""
    place = f"round {found['round']} of cohort {found['cohort']}"
    if not found["round"]:
        place = f"what cohort {found['cohort']} froze, before its first round"
    if checked:
        print(f"This is the head of {place}: nothing before it has been changed.")
        return
    print(found["head"])
    print(f"The head of {place}. Next: publish it, and check it later with")
    print(typed(f"cohorts seal {found['cohort']} --check {found['head']}"))


def head_of(connection: Connection, number: str, round_number: int | None) -> dict[str, Any]:
    """The head of a cohort up to a round, by default the last that is over."""
    found = _heads_of(connection, number)
    wanted = max(found) if round_number is None else round_number
    if wanted not in found:
        message = f"cohort {number} has no finished round {wanted}"
        raise ArenaError("not_over", message, f"rounds with a head: {_these(found)}")
    return {"cohort": int(number), "round": wanted, "head": found[wanted]}


def round_of(connection: Connection, number: str, check: str) -> dict[str, Any]:
    """The round that a head is of; an error where it is of none."""
    head = check.strip().lower()
    if not HEAD.fullmatch(head):
        raise ArenaError("bad_hash", f"{check!r} is not a head", "a head is 64 hexadecimal digits")
    found = _heads_of(connection, number)
    for round_number, known in found.items():
        if known == head:
            return {"cohort": int(number), "round": round_number, "head": head}
    others = [name for stored in read_cohorts(connection) if (name := str(stored.cohort.number)) != number]
    also = next((other for other in others if head in _heads_of(connection, other).values()), None)
    hint = (
        f"it is one of cohort {also}"
        if also
        else "another record's, or this one was changed: run arena admin verify"
    )
    message = f"no round of cohort {number} has this head; rounds with a head: {_these(found)}"
    raise ArenaError("no_such_head", message, hint)


def _heads_of(connection: Connection, number: str) -> dict[int, str]:
    return round_heads(connection, numbered(read_cohorts(connection), number).id)


def _these(found: dict[int, str]) -> str:
    return ", ".join(map(str, found))
