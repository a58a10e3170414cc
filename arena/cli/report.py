"""`arena report`: a season in one HTML file, to be sent to someone."""

import json
import os
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Annotated, Any

import typer

from arena.cli.dashboard import environment, page_command
from arena.cli.options import ConfigFile, Database, Json, options
from arena.cli.output import print_json, progress
from arena.errors import ArenaError, count_text


def report(
    context: typer.Context,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE.html", help="The file to write.")],
    cohort: Annotated[int | None, typer.Option(help="Only this cohort, by its number.", min=1)] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    config: ConfigFile = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Write how a season stands into one HTML file: the sentence, the standings, and the charts.

    It is for people who have no dashboard: it opens from disk, in light and dark, and on paper. Nothing in it
    is loaded from elsewhere and no script is in it. Figures are those of arena leaderboard. Curves are those
    of the newest six cohorts, calibration that of the first twelve agents.

    Example: arena report --cohort 2 -o cohort-2.html

    Next: arena dashboard shows all of it, down to each decision.
    """
    address = options(context, config, database).record()
    if os.path.lexists(output) and not (force and output.is_file()):
        hint = "name another, or add --force" if output.is_file() else "name a file"
        raise ArenaError("exists", f"{output} is there already", hint)
    if not output.parent.is_dir():
        raise ArenaError("no_folder", f"{output.parent} is no folder", "make it, or name another file")
    found = write(address, output, cohort)
    if as_json:
        print_json({"report": str(output), "cohort": cohort, "bytes": output.stat().st_size} | found)
    else:
        much = f"{count_text(found['agents'], 'agent')}, {count_text(found['cohorts'], 'cohort')}"
        print(f"{output}: {much}, {output.stat().st_size:,} bytes")
        print("Next: open it in a browser, or send it to someone")


def write(address: str, output: Path, cohort: int | None) -> dict[str, Any]:
    """Have the dashboard draw its charts, in a process of its own; the file is there whole or not at all."""
    try:
        with TemporaryDirectory(dir=output.parent, prefix=".report-") as folder:
            made = Path(folder) / "report.html"
            found = draw(address, made, cohort)
            made.replace(output)
    except OSError as error:
        message = f"{error.filename or output}: {error.strerror}"
        raise ArenaError("cannot_write", message, "may you write there, and is there room?") from error
    return found


def draw(address: str, file: Path, cohort: int | None) -> dict[str, Any]:
    """What the process says in the end, while a bar follows what it says on the way."""
    command = [*page_command("report"), address, str(file)]
    command += [] if cohort is None else ["--cohort", str(cohort)]
    found: dict[str, Any] = {}
    with progress("Drawing the charts") as moved, TemporaryFile("w+") as complaints:
        drawing = subprocess.Popen(
            command, env=environment(address), stdout=subprocess.PIPE, stderr=complaints, text=True
        )
        with drawing:
            for line in drawing.stdout or ():
                found = json.loads(line)
                if "done" in found:
                    moved(found["done"], found["whole"])
        complaints.seek(0)
        said = complaints.read().strip().splitlines()
    if "error" in found:
        error = found["error"]
        raise ArenaError(error["code"], error["message"], error["mend"], status=found["status"])
    if drawing.returncode:
        why = said[-1] if said else f"it ended with status {drawing.returncode}"
        raise ArenaError("report", f"the report could not be made: {why}", "report it, with these words")
    return found
