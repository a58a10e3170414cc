"""`arena run --round`: plays one decision time."""

import os
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from functools import partial

import typer

from arena.cli.check_next import read_joining_text
from arena.cli.options import Options, parse_instant
from arena.cli.output import (
    Data,
    attributes,
    command_line,
    interruptible,
    minute_text,
    plain,
    prints_to_stderr,
    progress,
    run_async,
    with_record_options,
)
from arena.cli.page import Page
from arena.cli.table import Table, TableColumn
from arena.clock import now
from arena.cohorts.freeze import check_keys, plan_of
from arena.cohorts.replacements import unproven_hint
from arena.config import Config, environment
from arena.errors import ArenaError, count_text
from arena.operations.one_round import play_decision_time, time_to_play
from arena.record.model.cohort import RoundReport
from arena.record.model.model_version import ModelChange, change_sentence
from arena.record.queries.operations import count_turns
from arena.record.record import Record
from arena.scores.agent_summary import model_changes_since
from arena.scores.refresh import refresh_cache

TURNS = (
    TableColumn("agent", narrow="wrap"),
    TableColumn("turn", value=lambda turn: turn["stopped_by"] or turn["status"]),
    TableColumn("forecasts"),
    TableColumn("fills"),
    TableColumn("rejected", value=lambda turn: len(turn["rejections"])),
    TableColumn("note", narrow="wrap"),
)
UNUSABLE = ("partly", "malformed", "declined", "late")
"""The statuses of turns whose answers could not all be used."""


@dataclass(frozen=True, slots=True)
class PlayedTime:
    """A decision time that was played.

    `changes` has the models that report a new identity; `joining` says with which cohort the config's new
    agents join.
    """

    at: datetime
    reports: Sequence[RoundReport]
    changes: Sequence[ModelChange]
    joining: str


def play_one_round(chosen: Options, at: str | None, baselines: bool, leave_failed: bool) -> None:
    """Play what is missing of a decision time, by default the next one.

    On a live venue the default is the latest one due. In a simulated season a round whose model gives no
    answer is played again, and none after it, unless `leave_failed` is set. Raise `typer.Exit` with status 2
    if a turn failed, was late or malformed, or was stopped by a budget.
    """
    config = chosen.load_to_play(os.environ)
    with prints_to_stderr():
        played = play(config, parse_instant(at), baselines, leave_failed)

    rounds = [report_data(report) for report in played.reports]
    data = {"at": played.at, "rounds": rounds, "changes": played.changes}
    chosen.print_answer(data, played_page, played)
    if any(map(is_incomplete_round, played.reports)):
        raise typer.Exit(2)


def is_incomplete_round(report: RoundReport) -> bool:
    """Tell whether a turn of a round failed, was late or malformed, or was stopped by a budget."""
    unusable = any(turn.decision.status in UNUSABLE for turn in report.turns)
    return bool(report.failed or report.waiting or unusable)


def play(config: Config, wanted: datetime | None, baselines: bool, leave_failed: bool) -> PlayedTime:
    """Play the wanted decision time, or the next one."""

    def stopped_text() -> str:
        turns = sum(record.read(count_turns).values()) - turns_before
        return f"stopped; {count_text(turns, 'turn')} done, and kept"

    hint = "arena run --round continues it; a call in progress may still be charged"
    with closing(Record.open(config.database)) as record, interruptible(stopped_text, hint):
        turns_before = sum(record.read(count_turns).values())
        if not baselines and not record.cohorts():
            check_keys(config, environment(config.folder, os.environ))

        began = now()
        plan = plan_of(config, began, record.begun(), None if baselines else os.environ)
        try:
            at = time_to_play(config, record, plan, wanted, leave_failed, began)
        except ArenaError as error:
            if wanted is None:
                # No time was asked for, so the hint can say when new agents join.
                error.hint = record.read(read_joining_text, config) or error.hint
            raise

        print_message = partial(print, file=sys.stderr, flush=True)
        reports = run_async(play_decision_time(config, record, plan, at, leave_failed, print_message))
        with progress("Computing what the pages show") as report_progress:
            refresh_cache(record, at, report_progress)
        with record.reading() as connection:
            model_changes = model_changes_since(connection, began)
        return PlayedTime(at, reports, model_changes, record.read(read_joining_text, config))


def report_data(report: RoundReport) -> Data:
    """Return a round and the turns just played in it, for JSON."""
    turns = []
    for turn in report.turns:
        rejections = [
            {"code": rejection.code, "message": rejection.message, "market": rejection.market_id}
            for rejection in turn.rejections
        ]
        decision = attributes(turn.decision, "status", "note", "repaired")
        turns.append(
            decision
            | {
                "agent": turn.entrant,
                "stopped_by": "budget" if turn.entrant in report.stopped else None,
                "forecasts": len(turn.decision.forecasts),
                "fills": len(turn.fills),
                "rejections": rejections,
            }
        )

    names = ("cohort", "at", "done", "waiting", "trouble", "unproven", "replaced")
    return attributes(report, *names) | {"round": report.number, "turns": turns}


def played_page(played: PlayedTime) -> Page:
    """Yield what was played, and the next command."""
    yield from played_blocks(played)
    yield f"Next: {command_line('board')}"


def played_blocks(played: PlayedTime) -> Page:
    """Yield each agent's turns, the models that changed, and when new agents join."""
    if not played.reports:
        yield f"{minute_text(played.at)} UTC: no decisions left; ended and corrected markets were settled"
    for report in played.reports:
        yield from round_page(played.at, report)
    for change in played.changes:
        yield f"Note: {plain(change_sentence(change))}"
    if played.joining:
        yield played.joining


def round_page(at: datetime, report: RoundReport) -> Page:
    """Yield the turns of a cohort's round, and what is missing in it."""
    yield f"Cohort {report.cohort}, round {report.number}, {minute_text(at)} UTC"
    for note in (*report.replaced, *report.trouble):
        yield f"  {note}"
    if report.turns:
        yield Table(TURNS, report_data(report)["turns"])
    elif not report.waiting:
        yield "  every turn had already been played; nothing changed\n"

    yield from missing_turn_lines(at, report)
    if report.waiting:
        yield f"  another process is playing {', '.join(report.waiting)}"


def missing_turn_lines(at: datetime, report: RoundReport) -> Page:
    """Yield the agents without a good turn in a round, and how to get one."""
    retry = with_record_options(f"arena run --round --at {at:%Y-%m-%dT%H:%MZ}")
    failed = [name for name in report.failed if name not in report.stopped]
    if failed:
        yield f"  {', '.join(failed)} failed; {retry} tries again"

    awaited = [turn.agent for turn in report.unanswered if turn.awaited]
    if awaited:
        run = with_record_options("arena run --round")
        yield f"  this round waits for {', '.join(awaited)}: the next {run} plays it again;"
        yield "  --leave-failed goes on without those turns"
    if report.unproven:
        yield f"  {unproven_hint(report.unproven, report.codes)}"

    # Of the agents whose settings are kept, those with code of their own need only that corrected.
    with_code = [name for name in report.kept if name in report.codes]
    for name in with_code:
        yield f"  correct the code of {name} ({report.codes[name]}); {retry} then plays its failed turn again"
    kept = [name for name in report.kept if name not in with_code]
    if kept:
        number = report.cohort
        yield (
            f"  {', '.join(kept)} had good turns before, so cohort {number} keeps its settings; "
            f"to use new ones: {with_record_options(f'arena admin cohort end {number}')}, "
            f"then {with_record_options('arena admin cohort start')}"
        )
    if report.stopped:
        names = ", ".join(report.stopped)
        check = with_record_options("arena check")
        yield f"  {names} stopped by the budget; {check} shows which, {retry} tries again"
