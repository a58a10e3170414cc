"""The page of `arena study forecastbench run`: the question set, the cost beforehand, the answers."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import typer

from arena.calls.estimate import Estimate
from arena.cli.options import Options
from arena.cli.output import (
    Data,
    attributes,
    command_line,
    from_millionths,
    plain,
    prints_to_stderr,
    progress,
    run_async,
)
from arena.cli.page import Page, print_page
from arena.cli.table import Table, TableChoice, TableColumn, from_millionths_at
from arena.clock import Clock
from arena.errors import ArenaError, count_text
from arena.forms.bench.answers import coverage
from arena.forms.bench.made_set import SetPlan, plan_in
from arena.record.model.benchmark import BenchmarkFile
from arena.record.record import Record
from arena.rounds.answering import (
    AnsweredRound,
    LeftToAsk,
    PlannedAnswers,
    ask_agents,
    estimate_answers,
    read_answers,
    total_left,
)
from arena.rounds.benchmark_rounds import FileSource, read_questions
from arena.rounds.forecasting import AskingMethod, read_asked
from arena.rounds.made_sets import make_questions
from markets.millionths import ONE
from markets.universe import Universe

USED = ("calls", "tokens_in", "tokens_out")
ANSWERS = (
    TableColumn("agent", value="usage.agent", narrow="wrap"),
    TableColumn("status", "turn"),
    TableColumn("forecasts", show=",d", value="usage.forecasts"),
    TableColumn("calls", show=",d", gives_way=1, value="usage.calls"),
    TableColumn("tokens_in", "tokens in", ",d", 3, "usage.tokens_in"),
    TableColumn("tokens_out", "out", ",d", 3, "usage.tokens_out"),
    TableColumn("usd", "$", ",.4f", value=from_millionths_at("cost")),
    TableColumn("note", show=lambda note: plain(note or ""), gives_way=2, value="usage.note", narrow="wrap"),
)
ENDS = ("low", "expected", "high")


def set_data(file: BenchmarkFile, is_new: bool, method: AskingMethod) -> dict[str, Any]:
    """Return the counts of a question set's rows that a method asks and of those left out, for JSON."""
    question_set = read_asked(file, method)
    rows_by_kind = {}
    no_answers = set[Any]()
    for kind, (_answered, wanted) in coverage(no_answers, question_set).items():
        rows_by_kind[kind] = wanted

    return attributes(file, "name", "due", "version", "sha256") | {
        "new": is_new,
        "made": plan_in(file.text) is not None,
        "questions": len(question_set.questions),
        "left_out": question_set.combinations,
        "rows": rows_by_kind,
    }


def set_plan(
    chosen: Options, make: int | None, due: str | None, seed: int, combinations: bool
) -> SetPlan | None:
    """Return the plan of the set to make; None without --make. Raise `ArenaError` if it lacks its day."""
    if make is None:
        chosen.refuse_if_given("--seed", because="needs --make")
        return None
    if due is None:
        raise ArenaError("no_due", "--make needs the day on which it is due", "add --due DATE", status=64)
    return SetPlan(due, make, seed, combinations)


def read_set(
    record: Record,
    plan: SetPlan | None,
    source: str | None,
    due: str | None,
    universe: Universe,
    at: datetime,
) -> tuple[BenchmarkFile, bool]:
    """Make the planned question set, or read the one that is due; return it and whether it is new."""
    if plan is None:
        return read_questions(record, source, due, at)
    folder = None if source is None else FileSource(source)
    return make_questions(record, plan, universe, folder, at)


def write_set(out: Path, file: BenchmarkFile) -> None:
    """Write a question set to a file; raise `ArenaError` if that fails."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_bytes(file.text.encode())
    except OSError as error:
        message = f"{out} can't be written: {error.strerror}"
        raise ArenaError("unwritable", message, "name another file with --out") from error


# ── what it costs ────────────────────────────────────────────────────────────────────────────────────────


def cost_data(left: Sequence[LeftToAsk]) -> dict[str, Any]:
    """Return the calls, tokens and dollars left, by agent and in total, for JSON."""
    total = total_left(left)
    data: dict[str, Any] = {"usd": _dollars(total)}
    for name in USED:
        data[name] = {end: getattr(getattr(total, end), name) for end in ENDS}

    agents = []
    for part in left:
        estimate = part.estimate
        faults = [attributes(fault, "message", "hint") for fault in estimate.faults]
        agents.append(
            {
                "agent": estimate.agent,
                "left": round(part.share, 4),
                "usd": _dollars(estimate),
                "trouble": estimate.trouble or None,
                "faults": faults,
            }
        )
    return data | {"agents": agents}


def _dollars(estimate: Estimate) -> dict[str, float | None]:
    """Return the low, expected and high dollars of an estimate."""
    return {end: from_millionths(getattr(estimate, end).cost) for end in ENDS}


def cost_sentence(total: Estimate) -> str:
    """Return the calls, tokens and dollars of an estimate in words."""
    expected = total.expected
    low = total.low
    usage = f"{low.calls:,} calls, about {expected.tokens_in:,} tokens in and {expected.tokens_out:,} out"
    if expected.cost is None or low.cost is None:
        return f"{usage}: unknown, because a price is unknown"

    limit = "no known limit"
    if total.high.cost is not None:
        limit = f"${total.high.cost / ONE:,.2f} at the most"
    return f"{usage}: ${expected.cost / ONE:,.2f} expected, ${low.cost / ONE:,.2f} at the least, {limit}"


def confirm(chosen: Options, left: Sequence[LeftToAsk], rows: int, yes: bool) -> None:
    """Print the cost and ask the user to accept it; raise `ArenaError` unless they do."""
    total = total_left(left)
    if not total.low.calls:
        return

    agents = count_text(len(left), "agent")
    offer = f"{agents}, {count_text(rows, 'forecast')} each: {cost_sentence(total)}"
    if not (yes or chosen.can_ask()):
        hint = "add --yes to ask, or --dry to see the cost only"
        raise ArenaError("not_confirmed", f"nothing was asked: {offer}", hint)

    with prints_to_stderr():
        print_page([offer])
    if not yes and not typer.confirm("Ask them?", True, err=True):
        raise ArenaError("stopped", "nothing was asked", "add --dry to see the cost only")


def answer_round(
    chosen: Options, planned: PlannedAnswers, record: Record, time: Clock, dry: bool, yes: bool
) -> AnsweredRound:
    """Ask the agents what is left once the user accepts the cost, and return all answers.

    With `dry` nobody is asked.
    """
    with progress("Working out what it costs"):
        left = run_async(estimate_answers(planned, record))

    trouble: tuple[str, ...] = ()
    if not dry:
        confirm(chosen, left, planned.rows, yes)
        calls = total_left(left).low.calls or None
        with progress("Asking", calls) as report_progress:
            trouble = run_async(ask_agents(planned, record, time, lambda done: report_progress(done, calls)))

    return AnsweredRound(planned, left, read_answers(record, planned), trouble)


# ── what came of it ──────────────────────────────────────────────────────────────────────────────────────


def run_data(answered: AnsweredRound) -> dict[str, Any]:
    """Return the answers by this method, and the calls, tokens and dollars used, for JSON."""
    planned = answered.planned
    agents = []
    for answers in answered.answers:
        usage = answers.usage
        agent = attributes(usage, "agent", "forecasts", *USED)
        agents.append(
            agent
            | {
                "status": answers.status,
                "cohort": answers.stored.cohort.number,
                "note": usage.note or "",
                "usd": from_millionths(answers.cost),
                "usd_known": from_millionths(usage.cost),
                "usd_more_at_most": from_millionths(usage.at_worst),
            }
        )

    total = attributes(answered.used, *USED)
    total["usd_known"] = from_millionths(answered.used.cost)
    total["usd_more_at_most"] = from_millionths(answered.unknown_cost_at_most)
    is_known = all(answers.cost is not None for answers in answered.answers)
    total["usd"] = total["usd_known"] if is_known else None

    return attributes(planned, "rows", "waiting", "left_out") | {
        "question_set": planned.file.name,
        "due": planned.file.due,
        "method": planned.method.words,
        "estimate": cost_data(answered.left),
        "agents": agents,
        "trouble": answered.trouble,
        "total": total,
    }


def run_page(answered: AnsweredRound, data: Data, choice: TableChoice) -> Page:
    """Yield the answers of each agent, their cost, and what is left to ask."""
    planned = answered.planned
    yield from _set_sentences(data["set"])
    yield f"{planned.file.name}, due {planned.file.due}, asked by {planned.method.words}:"
    if answered.answers:
        yield Table(ANSWERS, answered.answers, choice=choice)
    left = total_left(answered.left)
    if not data["asked"]:
        yield f"Left to ask: {cost_sentence(left)}"

    if answered.used.calls:
        yield _spent(answered)
    yield from map(plain, _warnings(answered))
    if data["asked"]:
        yield from _unanswered(answered)
    if data["late"]:
        due = f"The set was due {planned.file.due}"
        yield f"{due}: later answers are no submission; models may know the outcomes"

    next_command = "file --as ORG --model AGENT -o DIR"
    if not data["asked"] and left.low.calls:
        next_command = "run"
    yield f"Next: {command_line(f'study forecastbench {next_command}')}"


def _spent(answered: AnsweredRound) -> str:
    """Return what all calls used, and what those without an answer may still cost."""
    used = answered.used
    tokens = f"{used.tokens_in:,} tokens in, {used.tokens_out:,} out"
    spent = f"Spent: {used.calls:,} calls, {tokens}, ${(used.cost or 0) / ONE:,.4f}"
    if answered.unknown_cost_at_most:
        possible = answered.unknown_cost_at_most / ONE
        spent += f", and at most ${possible:,.4f} more for calls without an answer"
    return spent


def _set_sentences(questions: Data) -> Page:
    """Yield what a question set leaves out and, if it is new or was made here, its contents."""
    left_out = questions["left_out"]
    if left_out:
        yield f"{count_text(left_out, 'question')} about two others left out: --combinations asks them too"
    if not questions["new"] and not questions["made"]:
        return

    rows = questions["rows"]
    count = count_text(questions["questions"], "question")
    state = "new" if questions["new"] else "as before"
    yield f"{questions['name']}: {state}, version {questions['version']}"
    yield f"  {count}: {rows['market']:,} market rows, {rows['dataset']:,} data rows"
    yield f"  SHA-256 {questions['sha256']}"


def _warnings(answered: AnsweredRound) -> Iterator[str]:
    """Yield the warnings about agents and their answers."""
    for to_ask in answered.left:
        prefix = f"Warning: {to_ask.estimate.agent}"
        if to_ask.estimate.trouble:
            yield f"{prefix}: {to_ask.estimate.trouble}"
        for fault in to_ask.estimate.faults:
            yield f"{prefix}: {fault.message}"
    for name, variable in answered.planned.waiting.items():
        yield f"{name} waits for {variable}: set it and run this again"
    for name, reason in answered.planned.left_out.items():
        yield f"{name} is left out: {reason}"
    yield from answered.trouble


def _unanswered(answered: AnsweredRound) -> Page:
    """Yield what is missing after the agents were asked."""
    if answered.unfinished:
        yield "Not complete: running this again asks only what is missing"
    if answered.silent:
        yield f"Not every question was answered by {', '.join(answered.silent)}: this is not asked again"
