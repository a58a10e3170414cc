"""`arena admin backup`, `restore` and `prune`: what they do, and the pages they print."""

from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path
from shlex import quote

import typer
from pydantic_core import PydanticCustomError

from arena.cli.options import Options
from arena.cli.output import command_line, interruptible, minute_text, program, stages
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
    folder = _backup_folder(chosen)
    with (
        interruptible("stopped; no backup was made", "the same command starts again"),
        stages() as report_stage,
    ):
        copy = back_up_record(chosen.record_address(), file or folder, now(), report_stage)

    data = {"file": copy.path, "bytes": copy.size, "gone": copy.gone, "keep": folder.keep}
    chosen.print_answer(data | asdict(copy.content), backup_page, copy, folder.keep)


def backup_page(copy: Backup, keep: int) -> Page:
    """Yield the place and contents of a backup."""
    yield from _content_lines(f"{copy.path}: {copy.size:,} bytes, verified.", copy.content)
    for file in copy.gone:
        yield f"{file} was deleted: the newest {keep} backups are kept."
    yield "Keep a copy of it on another machine."
    yield f"Next: {program()} admin restore {quote(str(copy.path))} --database drill.db"


def move_to_database(chosen: Options, target: str) -> None:
    """Copy the whole record to another database, and print what the copy holds."""
    address = chosen.record_address()
    with open_read_only(address) as engine, stages() as report_stage:
        content = move_record(engine, target, verified_content, report_stage)

    before = record_name(url_of(address))
    after = record_name(url_of(target))
    chosen.print_answer({"from": before, "to": after} | asdict(content), move_page, before, after, content)


def move_page(before: str, after: str, content: RecordContent) -> Page:
    """Yield the contents of the new database, and how to make it the record."""
    yield from _content_lines(f"{after} holds all of {before}: verified, with the same state hash.", content)
    yield "Name it as `database` in the config."
    yield f"Next: {program()} admin verify"


def upgrade_schema(chosen: Options) -> None:
    """Back up a record of an older version, upgrade it, and print what was done."""
    with stages() as report_stage:
        result = upgrade_record(chosen.record_address(), _backup_folder(chosen), now(), report_stage)

    data = {"from": result.before, "to": result.after, "backup": result.backup, "queue": result.queue}
    chosen.print_answer(data, upgrade_page, result)


def upgrade_page(result: UpgradeResult) -> Page:
    """Yield what was upgraded, and the backup of the record before."""
    if result.before == result.after:
        yield f"Nothing to do: the schema is {result.after}, the newest."
    else:
        yield f"The schema was {result.before} and is now {result.after}."
        yield f"The record as it was is in {result.backup}."
    if result.queue:
        yield "The queue's tables were upgraded too."
    yield f"Next: {command_line('admin verify')}"


def restore_backup(chosen: Options, file: Path, force: bool) -> None:
    """Put a backup in place of the record, and print what it holds."""
    address = chosen.record_address()
    with stages() as report_stage:
        restored = restore(file, address, force, now(), verified_content, report_stage)

    name = record_name(url_of(address))
    data = {"restored": name, "from": file, "from_schema": restored.schema, "aside": restored.aside}
    chosen.print_answer(data | asdict(restored.content), restored_page, name, file, restored)


def restored_page(name: str, file: Path, restored: RestoreResult) -> Page:
    """Yield what was restored, and where the previous record went."""
    content = restored.content
    if restored.aside:
        yield f"The previous record is now {restored.aside}."
    if restored.schema != content.schema:
        yield f"Its schema was {restored.schema} and is now {content.schema}."
    yield from _content_lines(f"{name} is restored from {file} and verified.", content)
    yield f"Next: {command_line('admin verify')}"


def _backup_folder(chosen: Options) -> BackupFolder:
    """Return the folder for backups and the number to keep."""
    config = chosen.known_config()
    return BackupFolder() if config is None else BackupFolder(config.backups, config.backup.keep)


def _content_lines(sentence: str, content: RecordContent) -> Page:
    """Yield a sentence, the counts of a record's facts, and its state hash."""
    counts = [count_text(content.counts[f"{kind}s"], kind) for kind in COUNTED]
    yield f"{sentence} {', '.join(counts)}."
    yield f"State hash {content.state_hash}"


def prune_old_quotes(chosen: Options, older_than: str, dry_run: bool, yes: bool) -> None:
    """Delete old quotes once the user agrees, and print how many were or would be deleted."""
    oldest_age = duration_of(older_than)
    with chosen.reading() as connection:
        own_time = newest_own_instant(connection)
        at = own_time or now()
        plan = plan_pruning(connection, at - oldest_age)
    if not chosen.json:
        print_page(plan_page(plan, own_time))

    deletes = plan.goes > 0 and not dry_run
    if deletes and not yes:
        if not chosen.can_ask():
            hint = "add --yes to delete, or --dry-run to count only"
            raise ArenaError("not_confirmed", "nothing was changed", hint)
        deletes = typer.confirm("Delete them?")
    if deletes:
        with chosen.writing() as record:
            plan = record.write(prune_quotes, at - oldest_age, at)
    chosen.print_answer({"done": deletes} | asdict(plan), pruned_page, plan, deletes)


def newest_own_instant(connection: Connection) -> datetime | None:
    """Return the newest instant of a record from a rehearsal or of a season with its own time, else None."""
    has_own_time = any(stored.cohort.stamp != "live" for stored in read_cohorts(connection))
    if not has_own_time and REHEARSAL not in read_jobs(connection):
        return None

    newest = read_newest_instant(connection, BEGINNING)
    return None if newest == BEGINNING else newest


def plan_page(plan: PruneResult, own_time: datetime | None) -> Page:
    """Yield the number of quotes that can be deleted, and why the others stay.

    `own_time` is the newest instant of a record with a time of its own.
    """
    if own_time is not None:
        newest = f"{minute_text(own_time)} UTC"
        yield f"The record has a time of its own: ages count from its newest instant, {newest}."
    quotes = plan.goes + plan.used + plan.last + plan.later
    yield f"Of {quotes:,} quotes, as of {minute_text(plan.older_than)} UTC:"
    yield f"  {plan.goes:,} can be deleted: older, and nothing depends on them"
    yield f"  {plan.used:,} stay: they are in snapshots that turns, fills and marks depend on"
    yield f"  {plan.last:,} stay: each is its market's newest before that time"
    yield f"  {plan.later:,} stay: they are newer"


def pruned_page(plan: PruneResult, is_deleted: bool) -> Page:
    """Yield the number of quotes deleted, if any were."""
    if is_deleted:
        yield f"{plan.goes:,} quotes were deleted. New rows use their space; the record keeps its size."
        yield f"Next: {command_line('admin verify')}"


def duration_of(text: str) -> timedelta:
    """Return a typed duration; raise `ArenaError` if the text isn't one.

    >>> duration_of("90d").days
    90
    """
    try:
        return timedelta(seconds=seconds(text))
    except PydanticCustomError as error:
        raise ArenaError("bad_duration", f"{text!r} is not a duration", f"give {DURATION}") from error
