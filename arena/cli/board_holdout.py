"""`arena board --holdout`: opens the held-out questions, once, and shows how scores dropped on them."""

from dataclasses import asdict

import typer

from arena.cli.options import Options
from arena.cli.output import minute_text
from arena.cli.page import Notes, Page
from arena.cli.table import Table, TableColumn, between
from arena.clock import now
from arena.errors import ArenaError, count_text
from arena.record.queries.holdout import HeldOut, read_held_out
from arena.record.write.holdout import open_holdout
from arena.scores.holdout import HoldoutReport, holdout_report

COLUMNS = (
    TableColumn("agent"),
    TableColumn("open_questions", "open", ",d"),
    TableColumn("held_out_questions", "held out", ",d"),
    TableColumn("open_error", "error, open", ".4f"),
    TableColumn("held_out_error", "error, held out", ".4f"),
    TableColumn("drop", show="+.4f"),
    TableColumn("interval", "95% interval", value=between("drop_low", "drop_high")),
)
NOTES = {
    "drop": "Drop: the error on held-out questions less that on others; an interval above 0 tells of tuning.",
    "open_error": "Error: half the Brier score of all options; of numbers the distance, by the range.",
}


def show_holdout(chosen: Options) -> None:
    """Open the held-out questions unless they are open, and print how agents did on them."""
    with chosen.writing() as record:
        held_out = record.read(read_held_out)
        check_can_be_opened(held_out)
        if held_out.opened_at is None:
            confirm_opening(chosen, held_out)
            record.write_unfenced(open_holdout, now())
        report = record.read(holdout_report)

    if report is None:
        raise LookupError("the held-out questions were opened, and the record doesn't say so")
    data = asdict(report) | {"held_out": sorted(held_out.markets)}
    chosen.print_answer(data, holdout_page, report)


def check_can_be_opened(held_out: HeldOut) -> None:
    """Raise `ArenaError` if no question is held out, or if some have not ended."""
    if not held_out.markets:
        hint = "`markets: {holdout: 0.3}` holds out a part of what cohorts to come are shown"
        raise ArenaError("no_holdout", "no question is held out in this record", hint)

    if held_out.unended and held_out.opened_at is None:
        questions = count_text(len(held_out.unended), "held-out question")
        message = f"{questions} of {len(held_out.markets):,} have not ended"
        raise ArenaError("too_early", message, "they are opened only once: wait until all have ended")


def confirm_opening(chosen: Options, held_out: HeldOut) -> None:
    """Ask at a terminal before opening the questions, which can't be undone."""
    if not chosen.can_ask():
        return
    questions = count_text(len(held_out.markets), "held-out question")
    if not typer.confirm(f"Open {questions} of this record, for good?"):
        raise typer.Exit(1)


def holdout_page(report: HoldoutReport) -> Page:
    """Yield the time of opening, and every agent's drop."""
    yield f"Opened {minute_text(report.opened_at)} UTC: from now on all questions are scored."
    yield ""
    yield Table(COLUMNS, report.drops)
    yield Notes(NOTES)
