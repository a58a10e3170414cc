"""`arena cohorts diff`: what changed from one cohort to another."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.agents_show import PLANNED
from arena.cli.markets_show import plain
from arena.cli.options import ConfigFile, Database, Json, options
from arena.cli.output import print_json
from arena.errors import ArenaError

if TYPE_CHECKING:
    from arena.cohorts.diff import CohortChanges
    from arena.config import Config
    from arena.record.model.cohort import Cohort
    from arena.record.schema.database import Connection

NEXT = "the next cohort"
Which = Annotated[str, typer.Argument(help="The number of a cohort, or `next`.")]


@dataclass(frozen=True, slots=True)
class DiffSide:
    """A cohort of the record or the next one, with the texts of its prompts by hash."""

    cohort: "Cohort"
    texts: Mapping[str, str]


def diff(
    context: typer.Context,
    before: Which,
    after: Which,
    texts: Annotated[
        bool, typer.Option("--texts", help="Also how the words of prompts changed, line by line.")
    ] = False,
    config: ConfigFile = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Compare two cohorts: who came, went or is set up in another way, rules, markets, venue, prompts.

    `next` is the cohort that the config would start now. Number, start and seed are each cohort's own and
    not compared. With --json amounts and prices are in millionths, as they were frozen.

    Example: arena cohorts diff 1 next --texts

    Next: arena check says who would play in the next cohort, and what that would cost.
    """
    from arena.cohorts.diff import cohort_changes
    from arena.record.dry_run import open_or_empty
    from arena.record.schema.database import reading

    chosen = options(context, config, database)
    with redirect_stdout(sys.stderr):  # an extension may print, and the answer may be JSON
        known = chosen.known()
        with (
            open_or_empty(known.database if known else chosen.record()) as engine,
            reading(engine) as connection,
        ):
            sides = [side(connection, known, which) for which in (before, after)]
        kinds = known.extensions("kinds") if known is not None else ()
        found = cohort_changes(sides[0].cohort, sides[1].cohort, kinds)
    edits = edited(found, sides) if texts else {}
    if as_json:
        print_json({"before": before, "after": after} | as_data(found) | ({"texts": edits} if texts else {}))
    else:
        say(found, edits, *(NEXT if which == PLANNED else f"cohort {which}" for which in (before, after)))


def side(connection: "Connection", known: "Config | None", which: str) -> DiffSide:
    """The cohort that is meant."""
    from arena.record.queries.cohorts import read_cohorts, read_prompts, select_cohorts

    if which == PLANNED:
        return planned(known)
    if not which.isdecimal():
        message = f"{which!r} is neither the number of a cohort nor {PLANNED!r}"
        raise ArenaError("bad_cohort", message, "arena cohorts list shows the numbers")
    (stored,) = select_cohorts(read_cohorts(connection), int(which))
    return DiffSide(stored.cohort, read_prompts(connection, list(stored.cohort.prompts.values())))


def planned(config: "Config | None") -> DiffSide:
    """What the config would start now."""
    from arena.clock import now
    from arena.cohorts.freeze import freeze_cohort

    if config is None:
        raise ArenaError("no_config", "without a config no next cohort is known", "name it: --config PATH")
    return DiffSide(*freeze_cohort(config, 1, now()))


def edited(found: "CohortChanges", sides: Sequence[DiffSide]) -> dict[str, list[str]]:
    """How each edited prompt's words changed, as the lines of a unified diff."""
    from arena.cohorts.diff import text_diff

    told = dict[str, list[str]]()
    for name in found.edited:
        old, new = (one.texts.get(one.cohort.prompts[name], "") for one in sides)
        told[name] = text_diff(name, old, new)
    return told


def as_data(found: "CohortChanges") -> dict[str, Any]:
    """The changes for JSON."""
    was, now = found.config
    return {
        "same": not found,
        "config_hash": {"was": was or None, "is": now or None},
        "frozen": {section: _moved(moved) for section, moved in found.parts.items()},
        "prompts": _moved(found.prompts),
        "agents": {
            "added": [{"name": each.name, "kind": each.kind} for each in found.added],
            "removed": [{"name": each.name, "kind": each.kind} for each in found.removed],
            "changed": {name: _moved(moved) for name, moved in found.changed.items()},
            "reordered": found.reordered,
        },
    }


def _moved(moved: Mapping[str, tuple[Any, Any]]) -> dict[str, Any]:
    return {key: {"was": was, "is": now} for key, (was, now) in moved.items()}


def say(found: "CohortChanges", edits: Mapping[str, Sequence[str]], before: str, after: str) -> None:
    """The changes, a line each, then how the words of prompts changed."""
    from arena.cohorts.diff import changes_in_words

    print(f"From {before} to {after}:")
    for line in changes_in_words(found) or ["nothing that is played by has changed"]:
        print(f"  {plain(line)}")
    for lines in edits.values():
        print("\n" + "\n".join(plain(line) for line in lines))
