"""`arena markets check`: what is in a bundle, and all that is wrong with it."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.options import Json
from arena.cli.output import print_json, print_table, program

if TYPE_CHECKING:
    from markets.bundle import BundleReport


def check_bundle(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A recording: a bundle's folder.")],
    as_json: Json = False,
) -> None:
    """Check a bundle, the form of recordings, line by line; nothing is changed and nothing imported.

    Every mistake is named with its file, its line, what was found there and what is meant. With any mistake
    the exit status is 1, and no command will use the bundle.

    Example: arena markets check recordings/spring

    Next: arena replay recordings/spring
    """
    from markets.bundle import check

    report = check(folder)
    if as_json:
        print_json(as_json_object(folder, report))
    else:
        say(folder, report)
    if not report.ok:
        raise typer.Exit(1)


def as_json_object(folder: Path, report: "BundleReport") -> dict[str, Any]:
    """The report for programs."""
    found = asdict(report) | {"mistakes": [asdict(mistake) for mistake in report.mistakes]}
    times = {name: found[name] and found[name].isoformat() for name in ("first", "last")}
    return {"bundle": str(folder), "ok": report.ok} | found | times


def say(folder: Path, report: "BundleReport") -> None:
    """The report for people."""
    if report.ok:
        counted = (f"{report.markets:,} markets in {report.events:,} events", f"{report.prices:,} prices",
                   f"{report.books:,} books", f"{report.resolutions:,} resolutions")  # fmt: skip
        days = f", from {report.first:%Y-%m-%d} to {report.last:%Y-%m-%d}" if report.last else ""
        print(f"{folder} is right: {', '.join(counted)}{days}.\nNext: {program()} replay {folder}")
        return
    rows = [(x.file, x.line or None, x.wrong, x.meant) for x in report.mistakes]
    print_table(("file", "line", "found", "expected"), rows)
    shown = f", the first {len(rows)} of them above" if report.wrong > len(rows) else ""
    count = "1 mistake" if report.wrong == 1 else f"{report.wrong:,} mistakes"
    print(f"{count} in {folder}{shown}. None of it is used before they are mended.")
