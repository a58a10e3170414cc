"""`arena share`: a season as one page, as a web site or as plain files, and a record made from them."""

import os
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

from arena.cli.dashboard import keep_up
from arena.cli.options import Options, argument, command, flag, option
from arena.cli.output import interruptible, program, progress, typed
from arena.clock import now
from arena.errors import ArenaError, count_text
from arena.operations.page_programs import draw_pages

if TYPE_CHECKING:
    from arena.exports import ExportManifest


@command()
def export(
    chosen: Options,
    place: Path = argument("DIR|FILE.zip", "A new folder, or one file."),
    cohort: list[int] | None = option("Only this cohort, by number; repeatable.", min=1),
    form: Literal["csv", "parquet", "json"] = option(
        "The form of the tables.", "", "--format", default="csv"
    ),
    no_prompts: bool = flag("Leave out prompts and answers."),
    force: bool = flag("Replace an existing export."),
) -> None:
    """Write the record to plain files: forecasts, turns, bets, ledgers, prices, scores.

    It has one file per table, a manifest with their hashes, and data.md, which explains every column.
    arena admin restore turns a complete export back into a record; a partial one (--cohort,
    --no-prompts) can only be read.

    Example: arena share export season.zip --format parquet

    Next: arena admin restore season.zip --database copy.db
    """
    from arena.cohorts.freeze import code_version
    from arena.exports import ExportRequest, form_of
    from arena.exports import export as written
    from arena.record.schema.database import open_read_only

    wanted = ExportRequest(form_of(form), tuple(sorted(set(cohort or []))), not no_prompts)
    with open_read_only(chosen.record()) as engine, progress("Writing the export") as moved:
        manifest = written(engine, place, wanted, now(), code_version(), force=force, progress=moved)
    files = manifest.files.values()
    rows, size = sum(file.rows for file in files), sum(file.bytes for file in files)
    data = {"export": place, "rows": rows, "bytes": size} | asdict(manifest)
    chosen.answer(data, _say, place, manifest, rows, size)


def _say(place: Path, manifest: "ExportManifest", rows: int, size: int) -> None:
    much = f"{len(manifest.files) - 1} tables, {count_text(rows, 'row')}, {size:,} bytes"
    print(f"{place}: {much} as {manifest.form}")
    if not (manifest.whole and manifest.prompts):
        print("This is part of the record; only a complete export with prompts can be imported.")
        print(f"Next: data.md in it explains every column; {typed('board')}")
        return
    print(f"State hash {manifest.state_hash}")
    print(f"Next: data.md in it explains every column; {program()} import {place} --database copy.db")


@command()
def import_record(chosen: Options, place: Path = argument("DIR|FILE.zip", "An export.")) -> None:
    """Make a record from an export: a new file, or an empty database by URL.

    Every file must match the manifest, and the new record must have the state hash of the original. It is
    verified; if anything is wrong, nothing is kept.

    Example: arena admin restore season.zip --database copy.db

    Next: arena board --database copy.db
    """
    from arena.cli.output import without_password
    from arena.exports.restore import restore, restore_rows

    address = chosen.record()
    with progress("Reading the export", None) as moved:
        manifest = restore(place, address, moved)
    rows = restore_rows(manifest)
    number = len(manifest.cohorts)
    shown = without_password(address)
    data = {"database": shown, "export": place, "rows": rows}
    words = (
        f"{place} is now the record {shown}: {count_text(number, 'cohort')}, {count_text(rows, 'row')}\n"
        f"State hash {manifest.state_hash}, as exported; every balance was recomputed and agrees.\n"
        f"Next: {program()} leaderboard --database {shown}"
    )
    chosen.answer(data | {"state_hash": manifest.state_hash, "cohorts": number}, print, words)


@command()
def report(
    chosen: Options,
    output: Path = option("The file to write.", "FILE", "--output", "-o", default=...),
    cohort: int | None = option("Only this cohort, by number.", min=1),
    force: bool = flag("Replace an existing file."),
    method: bool = flag("How it was played and judged, as Markdown."),
) -> None:
    """Write the state of a season to one HTML file: verdict, leaderboard and charts.

    It opens from disk, without scripts or external resources. Curves cover the newest six cohorts,
    calibration the first twelve agents. --method writes what readers of a paper need to judge a season: data,
    cutoffs, models with release days, prompts by hash, answers, refusals, costs, rules, statistics and their
    limits.

    Example: arena share report --cohort 2 -o cohort-2.html

    Next: arena dashboard shows all of it, down to each decision.
    """
    address = chosen.record()
    if os.path.lexists(output) and not (force and output.is_file()):
        hint = "name another, or add --force" if output.is_file() else "name a file"
        raise ArenaError("exists", f"{output} already exists", hint)
    if not output.parent.is_dir():
        raise ArenaError("no_folder", f"there is no folder {output.parent}", "create it, or use another")
    found = write_method(chosen, output, cohort) if method else write(address, output, cohort)
    size = output.stat().st_size
    much = f"{count_text(found['agents'], 'agent')}, {count_text(found['cohorts'], 'cohort')}, {size:,} bytes"
    how = "put it next to the results" if method else "open it in a browser, or send it to someone"
    words = f"{output}: {much}\nNext: {how}"
    chosen.answer({"report": output, "cohort": cohort, "bytes": size} | found, print, words)


def write_method(chosen: Options, output: Path, cohort: int | None) -> dict[str, Any]:
    """Have the method written; what is in it, for JSON."""
    from arena.exports.method import method_text, read_method

    with chosen.reading() as connection:
        found = read_method(connection, cohort)
    try:
        output.write_text(method_text(found), "utf-8")
    except OSError as error:
        message = f"{output}: {error.strerror}"
        raise ArenaError("cannot_write", message, "check permissions and free space") from error
    every = {one.agent for agents in (found.agents, *(x.agents for x in found.benchmark)) for one in agents}
    return {
        "agents": len(every),
        "cohorts": len(found.cohorts) + len(found.benchmark),
        "state_hash": found.state_hash,
        "code_versions": list(found.code_versions),
        "markets": asdict(found.markets),
        "method": [asdict(one) for one in found.agents],
        "benchmark": [asdict(one) for one in found.benchmark],
    }


def write(address: str, output: Path, cohort: int | None) -> dict[str, Any]:
    """Have it drawn; the file is there whole or not at all."""
    chosen = [] if cohort is None else ["--cohort", str(cohort)]
    try:
        with (
            TemporaryDirectory(dir=output.parent, prefix=".report-") as folder,
            progress("Drawing the report") as moved,
        ):
            made = Path(folder) / "report.html"
            found = draw_pages("report", address, made, chosen, moved)
            made.replace(output)
    except OSError as error:
        message = f"{error.filename or output}: {error.strerror}"
        raise ArenaError("cannot_write", message, "check permissions and free space") from error
    return found


@command()
def publish(
    chosen: Options,
    place: Path | None = argument(
        "[DIR]", "The site's folder, new or existing; by default the config's.", default=None
    ),
) -> None:
    """Write the season as a static web site: arena, cohorts, agents, markets, badges, data.json.

    Open DIR/index.html, or put DIR behind any web server. It contains no keys or paths. It quotes the agents'
    reasons, but has prompts and answers only with publish: {prompts: true} in the config. Running it again
    writes what has changed and leaves other files alone. With publish: DIR in the config, arena run does it.

    data.json has the figures of arena board --json. badges/NAME.json is a badge for shields.io:
    https://img.shields.io/endpoint?url=ADDRESS-OF-THE-FILE

    Example: arena share site site

    Next: open site/index.html
    """
    config = chosen.known()
    folder, address = place or (config.site if config else None), chosen.record()
    if folder is None:
        hint = "name one: arena share site site, or publish: site in the config"
        raise ArenaError("no_folder", "the site has no folder", hint, status=64)
    keep_up(address)
    more = ["--prompts"] if config and config.publish.prompts else []
    stopped = interruptible(
        "publishing was stopped; the site was not changed", "arena share site starts again"
    )
    with stopped, progress("Drawing the site") as moved:
        found = draw_pages("publish", address, folder, more, moved)
    chosen.end_trouble("site_unpublished")
    chosen.answer({"site": folder} | found, _say_site, folder, found)


def _say_site(place: Path, found: dict[str, Any]) -> None:
    much = f"{count_text(found['files'], 'file')}, {found['bytes']:,} bytes"
    changed = f"{found['written']:,} written, {found['removed']:,} removed"
    print(f"{place}: {much}; {changed}")
    print(f"Next: open {place / 'index.html'} in a browser, or copy the folder to a host")
