"""`arena db`: back the record up, restore, upgrade, move and prune it."""

import sys
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Any

import typer
from pydantic_core import PydanticCustomError

from arena.cli.options import Options, argument, command, flag, option
from arena.cli.output import interruptible, minute, print_json, program, stages, typed
from arena.clock import now
from arena.config.field_types import DURATION, seconds
from arena.errors import ArenaError, count_text
from arena.record.files.backup import backup as make
from arena.record.files.backup import backup_to
from arena.record.files.integrity import RecordContent
from arena.record.files.restore import move_record
from arena.record.files.restore import restore as put_back
from arena.record.schema.database import (
    connect,
    newest_schema_version,
    open_read_only,
    reading,
    record_file,
    schema_version,
    url_of,
)
from arena.record.schema.database import upgrade as bring_up
from arena.record.schema.database_errors import record_name
from arena.record.write.listings import plan_pruning, prune_quotes

FOLDER, KEEP = Path("backups"), 14
"""Where backups of a record go that is named without a config, and how many stay."""


@command()
def backup(
    chosen: Options,
    place: str | None = argument("[FILE|URL]", "A new file, or an empty database.", default=None),
) -> None:
    """Copy the record as of this instant, even while it is in use, and verify the copy.

    By default the copy goes to backup.folder, named by the time in UTC; the newest backup.keep are kept. A
    backup is one SQLite file, even of a PostgreSQL record, and gets its name once verified.

    With a URL the record moves to another database, such as PostgreSQL; the copy must have the same state
    hash. Stop arena run first, then name it as `database` in the config.

    Example: arena admin backup postgresql+psycopg://user@host/name

    Next: arena admin restore FILE
    """
    from arena.verify.content import verified_content

    if place is not None and "://" in place:
        copy_to(chosen, place)
        return
    address, (folder, keep) = chosen.record(), place_of(chosen)
    with (
        interruptible("stopped; no backup was made", "run the same command again"),
        open_read_only(address, older=True) as engine,
        stages() as told,
    ):
        if place:
            made = backup_to(engine, Path(place), verified_content, told)
        else:
            made = make(engine, folder, keep, now(), verified_content, told)
        with reading(engine) as connection:
            is_current = schema_version(connection) == newest_schema_version()
    # A record of an earlier version is only copied: writing into it would upgrade it.
    if is_current:
        chosen.end_trouble("verify_failed")
    data = {"file": made.path, "bytes": made.size, "gone": made.gone}
    lines = [
        f"{made.path}: {made.size:,} bytes, verified. {_summary(made.content)}",
        *(f"{gone} was deleted: the newest {keep} backups are kept." for gone in made.gone),
        f"Next: keep a copy on another machine; {typed(f'db restore {made.path}')}",
    ]
    chosen.answer(data | _content_data(made.content), print, "\n".join(lines))


def place_of(chosen: Options) -> tuple[Path, int]:
    """The folder that backups go to, and how many of them stay."""
    config = chosen.known()
    return (FOLDER, KEEP) if config is None else (config.backups, config.backup.keep)


def _content_data(content: RecordContent) -> dict[str, Any]:
    return {"schema": content.schema, "state_hash": content.state_hash, "counts": content.counts}


def _summary(content: RecordContent) -> str:
    names = ("cohort", "round", "turn", "call")
    parts = ", ".join(count_text(content.counts[f"{name}s"], name) for name in names)
    return f"{parts}.\nState hash {content.state_hash}"


@command()
def restore(
    chosen: Options,
    file: Path = argument("FILE", "A backup."),
    force: bool = flag("Move an existing record aside."),
) -> None:
    """Put a backup in place of the record.

    The backup is checked, copied, upgraded and verified before anything else is touched. Nothing is
    overwritten: with --force the existing record is renamed, unless a process has it open. On PostgreSQL the
    database must be empty.

    Example: arena admin restore backups/arena-20260104T000000Z.db --database restored.db

    Next: arena admin verify
    """
    from arena.verify.content import verified_content

    address = chosen.record()
    with stages() as told:
        done = put_back(file, address, force, now(), verified_content, told)
    name, aside = record_name(url_of(address)), None if done.aside is None else str(done.aside)
    data = {"restored": name, "from": file, "from_schema": done.schema, "aside": aside}
    words = f"The previous record is now {aside}.\n" if aside else ""
    if done.schema != done.content.schema:
        words += f"Its schema was {done.schema} and is now {done.content.schema}.\n"
    words += f"{name} is restored from {file} and verified. {_summary(done.content)}\n"
    words += f"Next: {typed('admin', 'verify')}"
    chosen.answer(data | _content_data(done.content), print, words)


@command()
def upgrade(chosen: Options, no_backup: bool = flag("Skip the backup.")) -> None:
    """Upgrade the record of an older version to the current schema. Its facts do not change.

    A backup comes first, and the upgrade is verified on a copy of it. Commands that play upgrade the record
    themselves; those that only read it ask for this one. Stop arena run first.

    Example: arena admin backup --upgrade

    Next: arena admin verify
    """
    from arena.verify.content import verified_content

    address, (folder, keep), saved = chosen.record(), place_of(chosen), None
    with open_read_only(address, older=True) as engine, stages() as told:
        with reading(engine) as connection:
            version = schema_version(connection)
        if version != newest_schema_version() and not no_backup:
            saved = str(make(engine, folder, keep, now(), verified_content, told).path)
    words = f"Nothing to do: the schema is {version}, the newest."
    if version != newest_schema_version():
        engine = connect(address)
        try:
            bring_up(engine)
        finally:
            engine.dispose()
        words = f"The schema was {version} and is now {newest_schema_version()}.\n"
        words += f"The record as it was is in {saved}." if saved else "No backup was made."
    if queue := _upgrade_queue(address):
        words += "\nThe queue's tables were upgraded too."
    data = {"from": version, "to": newest_schema_version(), "backup": saved, "queue": queue}
    chosen.answer(data, print, f"{words}\nNext: {typed('admin', 'verify')}")


def _upgrade_queue(address: str) -> bool:
    """Whether the queue beside a record on PostgreSQL was behind the library that is installed, if any is."""
    if record_file(address) is not None:
        return False
    try:
        from arena.record.write.turn_queue import upgrade_queue
    except ModuleNotFoundError:
        return False
    return upgrade_queue(address)


def copy_to(chosen: Options, to: str) -> None:
    """Copy the whole record to another database, and verify it there."""
    from arena.verify.content import verified_content

    address = chosen.record()
    with open_read_only(address) as engine, stages() as told:
        content = move_record(engine, to, verified_content, told)
    here, there = (record_name(url_of(each)) for each in (address, to))
    words = (
        f"{there} holds all of {here}: verified, with the same state hash. {_summary(content)}\n"
        f"Next: name it as `database` in the config, then {program()} verify"
    )
    chosen.answer({"from": here, "to": there} | _content_data(content), print, words)


@command()
def prune(
    chosen: Options,
    older_than: str = option("How old: 90d, 12w.", "AGE", default=...),
    dry_run: bool = flag("Only show what would be pruned."),
    yes: bool = flag("Do not ask for confirmation."),
) -> None:
    """Delete old quotes that no snapshot, and so no turn, fill or mark, depends on.

    It says what would be deleted, then asks. Each market's newest quote before that
    time stays. The record notes how many were deleted and when, for arena admin verify.

    Example: arena admin prune --older-than 90d --dry-run

    Next: arena admin verify
    """
    at = now()
    edge = at - age(older_than)
    with chosen.reading() as connection:
        plan = plan_pruning(connection, edge)
    if not chosen.json:
        quotes = plan.goes + plan.used + plan.last + plan.later
        print(f"Of {quotes:,} quotes, as of {minute(plan.older_than)} UTC:")
        print(f"  {plan.goes:,} can be deleted: older, and nothing depends on them")
        print(f"  {plan.used:,} stay: they are in snapshots that turns, fills and marks depend on")
        print(f"  {plan.last:,} stay: each is its market's newest before that time")
        print(f"  {plan.later:,} stay: they are newer")
    done = plan.goes > 0 and not dry_run
    if done and not yes and (chosen.json or not sys.stdin.isatty()):
        raise ArenaError("not_confirmed", "nothing was changed", "--yes deletes, --dry-run only counts")
    done = done and (yes or typer.confirm("Delete them?"))
    if done:
        with chosen.writing() as record:
            plan = record.write(prune_quotes, edge, at)
    if done and not chosen.json:
        print(
            f"{plan.goes:,} quotes were deleted; new ones use their space. Next: {typed('admin', 'verify')}"
        )
    if chosen.json:
        print_json({"done": done} | asdict(plan))


def age(text: str) -> timedelta:
    """The length of a duration.

    >>> age("90d").days
    90
    """
    try:
        return timedelta(seconds=seconds(text))
    except PydanticCustomError as error:
        raise ArenaError("bad_duration", f"{text!r} is not a duration", f"give {DURATION}") from error
