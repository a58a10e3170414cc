"""A run of a public season: the record comes from its branch, and goes back as soon as it was played."""

from datetime import datetime
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory

from arena.config import Config
from arena.errors import ArenaError, count_text
from arena.exports import ExportRequest, export, form_of
from arena.exports.restore import restore
from arena.operations.git import MOST_OF_FILE
from arena.operations.page_programs import draw_pages
from arena.operations.season_branch import HEADS, RECORD, SITE, STAGE, SeasonBranch, write_export
from arena.record.schema.database import Connection, open_read_only, reading, record_file
from arena.record.write.heads import read_heads_after
from arena.scores.refresh import Progress
from markets.hashes import canonical_bytes

AT_ONCE = 1_000
"""So many heads are read at a time."""
NO_JEKYLL = ".nojekyll"
"""Without this file GitHub's pages leave out files of a site."""


def bring_up_record(config: Config, season: SeasonBranch) -> None:
    """Restore the record from the branch if there is none here, or the branch has more.

    Raise `ArenaError` if the one that is here is another, or older.
    """
    file = record_file(config.database)
    if file is None:
        hint = "leave out `database`: the record of a public season is kept on its branch"
        raise ArenaError("not_a_file", "a public season's record is a file", hint)
    if not season.tip:
        return

    with season.objects() as objects:
        entries = objects.entries(objects.commit(season.tip).tree)
        if RECORD not in entries or HEADS not in entries:
            return
        if file.exists() and file.stat().st_size:
            published = objects.read(entries[HEADS].id, "blob", MOST_OF_FILE).decode("utf-8")
            # Continue from what was played here and could not be published yet.
            if not read_heads_text(config.database).startswith(published):
                message = f"{file} is not the record of the branch, or an older state of it"
                raise ArenaError("other_record", message, "move it away: the branch's is put in its place")
            return

        with TemporaryDirectory(prefix="arena-season-") as name:
            folder = Path(name, RECORD)
            write_export(objects, entries[RECORD], folder)
            restore(folder, config.database)


def read_heads_text(address: str) -> str:
    """Return all heads of a record, as they are published."""
    with open_read_only(address) as engine, reading(engine) as connection:
        return _heads_text(connection)


def _heads_text(connection: Connection) -> str:
    """Return all heads, a line of JSON each."""
    lines = list[str]()
    while True:
        heads = read_heads_after(connection, len(lines), AT_ONCE)
        if not heads:
            return "".join(lines)
        lines += [f"{canonical_bytes(head)}\n" for head in heads]


def publish_record(config: Config, season: SeasonBranch, version: str, at: datetime) -> int:
    """Publish the record and its heads on the branch if there are new heads; return the number of heads."""
    stage = season.folder / STAGE
    rmtree(stage, ignore_errors=True)
    stage.mkdir()
    file = record_file(config.database)
    if file is None or not file.exists():
        return 0

    heads = read_heads_text(config.database)
    count = heads.count("\n")
    if heads != _published_heads(season):
        (stage / HEADS).write_text(heads, "utf-8")
        with open_read_only(config.database) as engine:
            export(engine, stage / RECORD, ExportRequest(form_of("csv")), at, version)
        season.publish((HEADS, RECORD), f"Record with {count_text(count, 'head')}", at, last=False)
    return count


def publish_site(config: Config, season: SeasonBranch, at: datetime, progress: Progress) -> None:
    """Publish the site on the branch if a page has changed."""
    site = season.folder / STAGE / SITE
    options = ["--prompts"] if config.publish.prompts else []
    draw_pages("publish", config.database, site, options, progress)
    for path in site.glob(".arena-site*"):
        path.unlink()
    (site / NO_JEKYLL).touch()
    season.publish((SITE,), "Site", at, last=True)


def _published_heads(season: SeasonBranch) -> str:
    """Return the heads that are on the branch."""
    if not season.tip:
        return ""
    with season.objects() as objects:
        entries = objects.entries(objects.commit(season.tip).tree)
        if HEADS not in entries:
            return ""
        return objects.read(entries[HEADS].id, "blob", MOST_OF_FILE).decode("utf-8")
