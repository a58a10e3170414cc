"""`arena admin backup`, `restore` and `prune`: what they do, and the pages they print."""

from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path
from shlex import quote

import typer
from pydantic_core import PydanticCustomError

from arena.cli.options import Options
from arena.cli.output import interruptible, minute, program, stages, typed
from arena.cli.page import Page, print_page
from arena.clock import now
from arena.config.field_types import DURATION, seconds
from arena.errors import ArenaError, count_text
from arena.operations.backups import BackupFolder, UpgradeResult, back_up_record, upgrade_record
from arena.record.files.backup import Backup
from arena.record.files.integrity import RecordContent
from arena.record.files.restore import RestoreResult, move_record, restore
from arena.record.model.cohort import REHEARSAL
from arena.record.queries.cohorts import read_cohorts
from arena.record.queries.markets import BEGINNING, read_newest_instant
from arena.record.schema.database import Connection, open_read_only, url_of
from arena.record.schema.database_errors import record_name
from arena.record.write.listings import PruneResult, plan_pruning, prune_quotes
from arena.record.write.operations import read_jobs
from arena.verify.content import verified_content

COUNTED = ("cohort", "round", "turn", "call")


def back_up(chosen: Options, file: Path | None) -> None:
    """Copy the record into a file or the backup folder, and print what the copy holds."""
    folder = _folder_of_backups(chosen)
    with interruptible("stopped; no backup was made", "the same command starts again"), stages() as told:
        copy = back_up_record(chosen.record(), file or folder, now(), told)

    data = {"file": copy.path, "bytes": copy.size, "gone": copy.gone, "keep": folder.keep}
    chosen.answer(data | asdict(copy.content), backup_page, copy, folder.keep)


def backup_page(copy: Backup, keep: int) -> Page:
    """Yield the place and contents of a backup."""
    yield from _content_lines(f"{copy.path}: {copy.size:,} bytes, verified.", copy.content)
    for file in copy.gone:
        yield f"{file} was deleted: the newest {keep} backups are kept."
    yield "Keep a copy of it on another machine."
    yield f"Next: {program()} admin restore {quote(str(copy.path))} --database drill.db"


def move(chosen: Options, target: str) -> None:
    """Copy the whole record to another database, and print what the copy holds."""
    address = chosen.record()
    with open_read_only(address) as engine, stages() as told:
        content = move_record(engine, target, verified_content, told)

    before = record_name(url_of(address))
    after = record_name(url_of(target))
    chosen.answer({"from": before, "to": after} | asdict(content), move_page, before, after, content)


def move_page(before: str, after: str, content: RecordContent) -> Page:
    """Yield the contents of the new database, and how to make it the record."""
    yield from _content_lines(f"{after} holds all of {before}: verified, with the same state hash.", content)
    yield "Name it as `database` in the config."
    yield f"Next: {program()} admin verify"


def bring_up(chosen: Options) -> None:
    """Back up a record of an older version, upgrade it, and print what was done."""
    with stages() as told:
        done = upgrade_record(chosen.record(), _folder_of_backups(chosen), now(), told)

    data = {"from": done.before, "to": done.after, "backup": done.backup, "queue": done.queue}
    chosen.answer(data, upgrade_page, done)


def upgrade_page(done: UpgradeResult) -> Page:
    """Yield what was upgraded, and the backup of the record before."""
    if done.before == done.after:
        yield f"Nothing to do: the schema is {done.after}, the newest."
    else:
        yield f"The schema was {done.before} and is now {done.after}."
        yield f"The record as it was is in {done.backup}."
    if done.queue:
        yield "The queue's tables were upgraded too."
    yield f"Next: {typed('admin verify')}"


def put_back(chosen: Options, file: Path, force: bool) -> None:
    """Put a backup in place of the record, and print what it holds."""
    address = chosen.record()
    with stages() as told:
        restored = restore(file, address, force, now(), verified_content, told)

    name = record_name(url_of(address))
    data = {"restored": name, "from": file, "from_schema": restored.schema, "aside": restored.aside}
    chosen.answer(data | asdict(restored.content), restored_page, name, file, restored)


def restored_page(name: str, file: Path, restored: RestoreResult) -> Page:
    """Yield what was restored, and where the previous record went."""
    content = restored.content
    if restored.aside:
        yield f"The previous record is now {restored.aside}."
    if restored.schema != content.schema:
        yield f"Its schema was {restored.schema} and is now {content.schema}."
    yield from _content_lines(f"{name} is restored from {file} and verified.", content)
    yield f"Next: {typed('admin verify')}"


def _folder_of_backups(chosen: Options) -> BackupFolder:
    """Return the folder for backups and the number to keep."""
    config = chosen.known()
    return BackupFolder() if config is None else BackupFolder(config.backups, config.backup.keep)


def _content_lines(sentence: str, content: RecordContent) -> Page:
    """Yield a sentence, the counts of a record's facts, and its state hash."""
    counts = [count_text(content.counts[f"{name}s"], name) for name in COUNTED]
    yield f"{sentence} {', '.join(counts)}."
    yield f"State hash {content.state_hash}"


def prune(chosen: Options, older_than: str, dry_run: bool, yes: bool) -> None:
    """Delete old quotes once the user agrees, and print how many were or would be deleted."""
    length = age(older_than)
    with chosen.reading() as connection:
        own = own_instant(connection)
        at = own or now()
        plan = plan_pruning(connection, at - length)
    if not chosen.json:
        print_page(plan_page(plan, own))

    is_done = plan.goes > 0 and not dry_run
    if is_done and not yes:
        if not chosen.asks():
            hint = "add --yes to delete, or --dry-run to count only"
            raise ArenaError("not_confirmed", "nothing was changed", hint)
        is_done = typer.confirm("Delete them?")
    if is_done:
        with chosen.writing() as record:
            plan = record.write(prune_quotes, at - length, at)
    chosen.answer({"done": is_done} | asdict(plan), pruned_page, plan, is_done)


def own_instant(connection: Connection) -> datetime | None:
    """Return the newest instant of a record from a rehearsal or of a season with its own time, else None."""
    is_made_up = any(stored.cohort.stamp != "live" for stored in read_cohorts(connection))
    if not is_made_up and REHEARSAL not in read_jobs(connection):
        return None

    newest = read_newest_instant(connection, BEGINNING)
    return None if newest == BEGINNING else newest


def plan_page(plan: PruneResult, own: datetime | None) -> Page:
    """Yield the number of quotes that can be deleted, and why the others stay.

    `own` is the newest instant of a record with a time of its own.
    """
    if own is not None:
        newest = f"{minute(own)} UTC"
        yield f"The record has a time of its own: ages count from its newest instant, {newest}."
    quotes = plan.goes + plan.used + plan.last + plan.later
    yield f"Of {quotes:,} quotes, as of {minute(plan.older_than)} UTC:"
    yield f"  {plan.goes:,} can be deleted: older, and nothing depends on them"
    yield f"  {plan.used:,} stay: they are in snapshots that turns, fills and marks depend on"
    yield f"  {plan.last:,} stay: each is its market's newest before that time"
    yield f"  {plan.later:,} stay: they are newer"


def pruned_page(plan: PruneResult, is_done: bool) -> Page:
    """Yield the number of quotes deleted, if any were."""
    if is_done:
        yield f"{plan.goes:,} quotes were deleted. New rows use their space; the record keeps its size."
        yield f"Next: {typed('admin verify')}"


def age(text: str) -> timedelta:
    """Return a typed duration; raise `ArenaError` if the text isn't one.

    >>> age("90d").days
    90
    """
    try:
        return timedelta(seconds=seconds(text))
    except PydanticCustomError as error:
        raise ArenaError("bad_duration", f"{text!r} is not a duration", f"give {DURATION}") from error
