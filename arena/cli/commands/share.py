"""`arena share`: results for others, as one page, as a web site, or as plain files."""

from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from arena.cli.commands.shared import ONE_COHORT
from arena.cli.options import Options, argument, command, flag, option
from arena.cli.output import interruptible, progress
from arena.errors import ArenaError


@command()
def report(
    chosen: Options,
    output: Path = option("The file to write.", "FILE", "--output", "-o", default=...),
    cohort: int | None = ONE_COHORT,
    force: bool = flag("Replace an existing file."),
    method: bool = flag("How it was played and judged, as Markdown."),
) -> None:
    """Write a season's verdict, leaderboard and charts to one page.

    It opens from disk, without scripts or external resources. Curves cover the newest six cohorts,
    calibration the first twelve agents. --method writes what readers of a paper need to judge a season: data,
    cutoffs, models with release days, prompts by hash, answers, refusals, costs, rules, statistics and their
    limits.

    Example: arena share report --cohort 2 -o cohort-2.html

        cohort-2.html: 10 agents, 1 cohort, … bytes
        Open it in a browser, or send it to someone.

    Next: arena share site
    """
    from arena.cli.reports import report_page, write_method, write_report
    from arena.operations.page_programs import check_output

    check_output(output, force)
    if method:
        written = write_method(chosen, output, cohort)
    else:
        written = write_report(chosen.record_address(), output, cohort)
    data = {"report": output, "cohort": cohort, "bytes": output.stat().st_size} | written
    chosen.print_answer(data, report_page)


@command()
def site(
    chosen: Options,
    folder: Path | None = argument("DIR", "Its folder, new or existing; else the config's.", default=None),
    address: str = option("Where it will stand on the web; remembered.", "URL", default=""),
) -> None:
    """Write a season as a static web site, with badges and data.

    Open DIR/index.html, or put DIR behind any web server. It contains no keys or paths. It quotes the agents'
    reasons, but has prompts and answers only with publish: {prompts: true} in the config. Running it again
    writes what has changed and leaves other files alone. With publish: DIR in the config, arena run does it.

    data.json has the figures of arena board --json. badges/NAME.json is a badge for shields.io:
    https://img.shields.io/endpoint?url=ADDRESS-OF-THE-FILE
    --address lets links to the site be shown with a picture, and writes a sitemap.

    Example: arena share site site

        site: 650 files, … bytes; 650 written, 0 removed

    Next: open site/index.html
    """
    from arena.cli.dashboard import refresh_scores
    from arena.cli.reports import site_page
    from arena.clock import now
    from arena.operations.incidents import end_trouble
    from arena.operations.page_programs import draw_pages

    config = chosen.known_config()
    record = chosen.record_address()
    if folder is None and config is not None:
        folder = config.site
    if folder is None:
        hint = "name one: arena share site DIR, or publish: DIR in the config"
        raise ArenaError("no_folder", "the site has no folder", hint, status=64)

    if address and urlsplit(address).scheme not in ("http", "https"):
        raise ArenaError(
            "bad_address", f"{address} is no web address", "as in https://arena.example", status=64
        )

    refresh_scores(record)
    arguments = ["--address", address.rstrip("/")]
    if config and config.publish.prompts:
        arguments.append("--prompts")
    hint = "the same command starts again"
    with (
        interruptible("stopped; the site was not changed", hint),
        progress("Drawing the site") as report_progress,
    ):
        drawn = draw_pages("publish", record, folder, arguments, report_progress)
    end_trouble(record, "site_unpublished", now())
    chosen.print_answer({"site": folder} | drawn, site_page)


@command()
def export(
    chosen: Options,
    place: Path = argument("DIR|FILE.zip", "A new folder, or one file."),
    cohorts: list[int] = option(
        "Only this cohort, by number; repeatable.", "", "--cohort", default=[], min=1
    ),
    form: Literal["csv", "parquet", "json", "dataset", "inspect"] = option(
        "The form of the tables.", "", "--format", default="csv"
    ),
    terms: str = option("The license of a dataset.", "NAME", "--license", default=""),
    no_prompts: bool = flag("Leave out prompts and answers."),
    force: bool = flag("Replace an existing export."),
) -> None:
    """Write the record to plain files, a table each.

    It has one file per table, a manifest with their hashes, and data.md, which explains every column. arena
    admin restore turns a complete export back into a record; a partial one (--cohort, --no-prompts) can only
    be read. --format dataset is Parquet with what Hugging Face (README.md), Croissant and frictionless read;
    --format inspect adds logs that `inspect view --log-dir DIR` opens.

    Example: arena share export season.zip --format parquet

        season.zip: 35 tables, 79,107 rows, … bytes as parquet
        State hash …

    Next: arena admin restore season.zip --database copy.db
    """
    from arena.cli.exports import write_export
    from arena.exports import ExportRequest, form_of, with_license

    wanted = ExportRequest(form_of(form), tuple(sorted(set(cohorts))), not no_prompts)
    if terms:
        wanted = with_license(wanted, terms)
    write_export(chosen, place, wanted, force)
