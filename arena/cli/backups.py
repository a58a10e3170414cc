"""What `arena admin backup`, `restore` and `prune` do to a record, and how they tell it."""

import sys
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Any

import typer
from pydantic_core import PydanticCustomError

from arena.cli.options import Options
from arena.cli.output import interruptible, minute, program, stages, typed
from arena.cli.page import Page, print_page
from arena.clock import now
from arena.config.field_types import DURATION, seconds
from arena.errors import ArenaError, count_text
from arena.record.files.backup import Backup, backup, backup_to
from arena.record.files.integrity import RecordContent
from arena.record.files.restore import move_record, restore
from arena.record.schema.database import (
    connect,
    newest_schema_version,
    open_read_only,
    reading,
    record_file,
    schema_version,
    upgrade,
    url_of,
)
from arena.record.schema.database_errors import record_name
from arena.record.write.listings import PruneResult
from arena.verify.content import verified_content

FOLDER = Path("backups")
KEEP = 14
"""Where backups go of a record that is named without a config, and how many stay."""


def back_up(chosen: Options, file: Path | None) -> dict[str, Any]:
    """Copy the record into a file, or into the folder of backups, and return what the copy holds."""
    address = chosen.record()
    folder, keep = _folder_of_backups(chosen)
    with (
        interruptible("stopped; no backup was made", "run the same command again"),
        open_read_only(address, older=True) as engine,
        stages() as told,
    ):
        copy: Backup
        if file is None:
            copy = backup(engine, folder, keep, now(), verified_content, told)
        else:
            copy = backup_to(engine, file, verified_content, told)
        with reading(engine) as connection:
            is_current = schema_version(connection) == newest_schema_version()

    # A record of an earlier version is only copied: writing into it would upgrade it.
    if is_current:
        chosen.end_trouble("verify_failed")
    return {"file": copy.path, "bytes": copy.size, "gone": copy.gone, "keep": keep} | _content(copy.content)


def backup_page(data: dict[str, Any]) -> Page:
    """Yield where the copy is, and what it holds."""
    yield f"{data['file']}: {data['bytes']:,} bytes, verified. {_counts(data)}"
    yield f"State hash {data['state_hash']}"
    for file in data["gone"]:
        yield f"{file} was deleted: the newest {data['keep']} backups are kept."
    restoring = typed(f"admin restore {data['file']}")
    yield f"Next: keep a copy on another machine; {restoring}"


def move(chosen: Options, target: str) -> dict[str, Any]:
    """Copy the whole record to another database, and verify it there."""
    address = chosen.record()
    with open_read_only(address) as engine, stages() as told:
        content = move_record(engine, target, verified_content, told)
    return {"from": record_name(url_of(address)), "to": record_name(url_of(target))} | _content(content)


def move_page(data: dict[str, Any]) -> Page:
    """Yield what the other database holds, and what makes it the record."""
    yield f"{data['to']} holds all of {data['from']}: verified, with the same state hash. {_counts(data)}"
    yield f"State hash {data['state_hash']}"
    yield f"Next: name it as `database` in the config, then {program()} admin verify"


def bring_up(chosen: Options) -> dict[str, Any]:
    """Upgrade a record of an older version, after a backup of it, and return what was done."""
    address = chosen.record()
    folder, keep = _folder_of_backups(chosen)
    newest = newest_schema_version()
    saved = None
    with open_read_only(address, older=True) as engine, stages() as told:
        with reading(engine) as connection:
            version = schema_version(connection)
        if version != newest:
            saved = str(backup(engine, folder, keep, now(), verified_content, told).path)

    if version != newest:
        engine = connect(address)
        try:
            upgrade(engine)
        finally:
            engine.dispose()
    return {"from": version, "to": newest, "backup": saved, "queue": _upgrade_queue(address)}


def _upgrade_queue(address: str) -> bool:
    """Upgrade the queue beside a record on PostgreSQL; return whether it was behind what is installed."""
    if record_file(address) is not None:
        return False
    try:
        from arena.record.write.turn_queue import upgrade_queue
    except ModuleNotFoundError:
        return False
    return upgrade_queue(address)


def upgrade_page(data: dict[str, Any]) -> Page:
    """Yield what was upgraded, and where the record as it was is kept."""
    if data["from"] == data["to"]:
        yield f"Nothing to do: the schema is {data['to']}, the newest."
    else:
        yield f"The schema was {data['from']} and is now {data['to']}."
        yield f"The record as it was is in {data['backup']}."
    if data["queue"]:
        yield "The queue's tables were upgraded too."
    yield f"Next: {typed('admin verify')}"


def put_back(chosen: Options, file: Path, force: bool) -> dict[str, Any]:
    """Put a backup in place of the record, and return what it holds."""
    address = chosen.record()
    with stages() as told:
        restored = restore(file, address, force, now(), verified_content, told)
    return {
        "restored": record_name(url_of(address)),
        "from": file,
        "from_schema": restored.schema,
        "aside": None if restored.aside is None else str(restored.aside),
    } | _content(restored.content)


def restored_page(data: dict[str, Any]) -> Page:
    """Yield what was put in place of what."""
    if data["aside"]:
        yield f"The previous record is now {data['aside']}."
    if data["from_schema"] != data["schema"]:
        yield f"Its schema was {data['from_schema']} and is now {data['schema']}."
    yield f"{data['restored']} is restored from {data['from']} and verified. {_counts(data)}"
    yield f"State hash {data['state_hash']}"
    yield f"Next: {typed('admin verify')}"


def _folder_of_backups(chosen: Options) -> tuple[Path, int]:
    """Return the folder that backups go to, and how many of them stay."""
    config = chosen.known()
    if config is None:
        return FOLDER, KEEP
    return config.backups, config.backup.keep


def _content(content: RecordContent) -> dict[str, Any]:
    """Return what a copy of a record holds."""
    return {"schema": content.schema, "state_hash": content.state_hash, "counts": content.counts}


def _counts(data: dict[str, Any]) -> str:
    """Return how many cohorts, rounds, turns and calls a copy holds."""
    parts = [count_text(data["counts"][f"{name}s"], name) for name in ("cohort", "round", "turn", "call")]
    return f"{', '.join(parts)}."


def plan_page(plan: PruneResult) -> Page:
    """Yield how many quotes can be deleted, and why the others stay."""
    quotes = plan.goes + plan.used + plan.last + plan.later
    yield f"Of {quotes:,} quotes, as of {minute(plan.older_than)} UTC:"
    yield f"  {plan.goes:,} can be deleted: older, and nothing depends on them"
    yield f"  {plan.used:,} stay: they are in snapshots that turns, fills and marks depend on"
    yield f"  {plan.last:,} stay: each is its market's newest before that time"
    yield f"  {plan.later:,} stay: they are newer"


def confirm_pruning(chosen: Options, plan: PruneResult, is_agreed: bool) -> bool:
    """Show what would be deleted, unless JSON is wanted, and return whether it is to be."""
    if not chosen.json:
        print_page(plan_page(plan))
    if is_agreed or not plan.goes:
        return plan.goes > 0
    if chosen.json or not sys.stdin.isatty():
        raise ArenaError("not_confirmed", "nothing was changed", "--yes deletes, --dry-run only counts")
    return typer.confirm("Delete them?")


def pruned_data(plan: PruneResult, *, done: bool) -> dict[str, Any]:
    """Return how many quotes were deleted, or would be."""
    return {"done": done} | asdict(plan)


def pruned_page(data: dict[str, Any]) -> Page:
    """Yield how many quotes were deleted."""
    if data["done"]:
        yield f"{data['goes']:,} quotes were deleted; new ones use their space. Next: {typed('admin verify')}"


def age(text: str) -> timedelta:
    """Return the length of a duration.

    >>> age("90d").days
    90
    """
    try:
        return timedelta(seconds=seconds(text))
    except PydanticCustomError as error:
        raise ArenaError("bad_duration", f"{text!r} is not a duration", f"give {DURATION}") from error
