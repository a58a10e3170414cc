"""`arena share report` and `arena share site`: write pages, whole or not at all."""

from pathlib import Path
from typing import Any

from arena.cli.options import Options
from arena.cli.output import progress
from arena.cli.page import Page
from arena.errors import count_text
from arena.exports.method import method_data, method_text, read_method
from arena.operations.page_programs import draw_report, writing


def write_method(chosen: Options, output: Path, cohort: int | None) -> dict[str, Any]:
    """Write the method of a season to a file, and return its data."""
    with chosen.reading() as connection:
        method = read_method(connection, cohort)
    with writing(output):
        output.write_text(method_text(method), "utf-8")
    return method_data(method)


def write_report(address: str, output: Path, cohort: int | None) -> dict[str, Any]:
    """Draw a season on one page, and return what is on it."""
    with progress("Drawing the report") as report_progress:
        return draw_report(address, output, cohort, report_progress)


def report_page(data: dict[str, Any]) -> Page:
    """Yield the contents of the file, and what to do with it."""
    size = f"{count_text(data['agents'], 'agent')}, {count_text(data['cohorts'], 'cohort')}"
    yield f"{data['report']}: {size}, {data['bytes']:,} bytes"
    if "method" in data:
        yield "Publish it with the results."
    else:
        yield "Open it in a browser, or send it to someone."


def site_page(data: dict[str, Any]) -> Page:
    """Yield the number of files written, and where to start reading."""
    size = f"{count_text(data['files'], 'file')}, {data['bytes']:,} bytes"
    yield f"{data['site']}: {size}; {data['written']:,} written, {data['removed']:,} removed"
    yield f"Open {data['site'] / 'index.html'} in a browser, or copy the folder to a host."
