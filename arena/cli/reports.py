"""What `arena share report` and `arena share site` write: drawn whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from arena.cli.options import Options
from arena.cli.output import progress
from arena.cli.page import Page
from arena.errors import ArenaError, count_text
from arena.exports.method import method_text, read_method
from arena.operations.page_programs import draw_pages


def check_output(output: Path, force: bool) -> None:
    """Raise an ArenaError unless a file can be written at this place."""
    if os.path.lexists(output) and not (force and output.is_file()):
        hint = "name another, or add --force" if output.is_file() else "name a file"
        raise ArenaError("exists", f"{output} already exists", hint)
    if not output.parent.is_dir():
        raise ArenaError("no_folder", f"there is no folder {output.parent}", "create it, or use another")


def write_method(chosen: Options, output: Path, cohort: int | None) -> dict[str, Any]:
    """Write how a season was played and judged, and return what is in it."""
    with chosen.reading() as connection:
        method = read_method(connection, cohort)
    with _writing(output):
        output.write_text(method_text(method), "utf-8")

    agents = {agent.agent for agent in method.agents}
    for benchmark in method.benchmark:
        agents |= {agent.agent for agent in benchmark.agents}
    return {
        "agents": len(agents),
        "cohorts": len(method.cohorts) + len(method.benchmark),
        "state_hash": method.state_hash,
        "code_versions": list(method.code_versions),
        "markets": asdict(method.markets),
        "method": [asdict(agent) for agent in method.agents],
        "benchmark": [asdict(benchmark) for benchmark in method.benchmark],
    }


def write_report(address: str, output: Path, cohort: int | None) -> dict[str, Any]:
    """Have a season drawn on one page, and return what is on it."""
    options = [] if cohort is None else ["--cohort", str(cohort)]
    with (
        _writing(output),
        TemporaryDirectory(dir=output.parent, prefix=".report-") as folder,
        progress("Drawing the report") as moved,
    ):
        drawn = Path(folder) / "report.html"
        report = draw_pages("report", address, drawn, options, moved)
        drawn.replace(output)
    return report


@contextmanager
def _writing(output: Path) -> Iterator[None]:
    """Turn the error of a file that can't be written into one that names it."""
    try:
        yield
    except OSError as error:
        message = f"{error.filename or output}: {error.strerror}"
        raise ArenaError("cannot_write", message, "check permissions and free space") from error


def report_page(data: dict[str, Any]) -> Page:
    """Yield what is in the file, and what to do with it."""
    size = f"{count_text(data['agents'], 'agent')}, {count_text(data['cohorts'], 'cohort')}"
    yield f"{data['report']}: {size}, {data['bytes']:,} bytes"
    if "method" in data:
        yield "Next: put it next to the results"
    else:
        yield "Next: open it in a browser, or send it to someone"


def site_page(data: dict[str, Any]) -> Page:
    """Yield how much was written, and where to begin."""
    size = f"{count_text(data['files'], 'file')}, {data['bytes']:,} bytes"
    yield f"{data['site']}: {size}; {data['written']:,} written, {data['removed']:,} removed"
    yield f"Next: open {data['site'] / 'index.html'} in a browser, or copy the folder to a host"
