"""What `arena share report` and `arena share site` write: drawn whole or not at all."""

from pathlib import Path
from typing import Any

from arena.cli.options import Options
from arena.cli.output import progress
from arena.cli.page import Page
from arena.errors import count_text
from arena.exports.method import method_data, method_text, read_method
from arena.operations.page_programs import draw_report, writing


def write_method(chosen: Options, output: Path, cohort: int | None) -> dict[str, Any]:
    """Write how a season was played and judged, and return what is in it."""
    with chosen.reading() as connection:
        method = read_method(connection, cohort)
    with writing(output):
        output.write_text(method_text(method), "utf-8")
    return method_data(method)


def write_report(address: str, output: Path, cohort: int | None) -> dict[str, Any]:
    """Have a season drawn on one page, and return what is on it."""
    with progress("Drawing the report") as moved:
        return draw_report(address, output, cohort, moved)


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
