"""What `arena study forecastbench run` shows: the question set, the cost beforehand, the answers."""

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import typer

from arena.calls.estimate import total_usage
from arena.cli.output import Data, attributes, exact, plain, prints_aside, typed
from arena.cli.page import Page, print_page
from arena.cli.table import Table, TableChoice, TableColumn
from arena.errors import ArenaError, count_text
from arena.record.model.benchmark import BenchmarkFile
from arena.record.queries.benchmark import AnswerUsage
from arena.record.queries.cohorts import StoredCohort
from arena.record.record import Record
from arena.rounds.answering import LeftToAsk, PlannedAnswers, recorded_usage
from arena.scores.files.forecastbench import QuestionSet, coverage, read_question_set, strictly

ANSWERS = (
    TableColumn("agent", narrow="wrap"),
    TableColumn("turn", value="status"),
    TableColumn("forecasts", show=",d"),
    TableColumn("calls", show=",d", gives_way=1),
    TableColumn("tokens_in", "tokens in", ",d", gives_way=3),
    TableColumn("tokens_out", "out", ",d", gives_way=3),
    TableColumn("usd", "$", ",.4f"),
    TableColumn("note", show=plain, narrow="wrap", gives_way=2),
)
USED = ("calls", "tokens_in", "tokens_out")
ENDS = ("low", "expected", "high")
UNFINISHED = ("pending", "failed")
"""Turns that are played when the command runs again."""


def set_data(file: BenchmarkFile, is_new: bool) -> dict[str, Any]:
    """Return what a question set holds, for JSON."""
    question_set: QuestionSet = strictly(read_question_set, file.name, file.text)
    rows = {}
    for kind, (_, wanted) in coverage(set(), question_set).items():
        rows[kind] = wanted

    data = attributes(file, "name", "due", "version", "sha256")
    return data | {"new": is_new, "questions": len(question_set.questions), "rows": rows}


# ── what it costs ────────────────────────────────────────────────────────────────────────────────────────


def cost_data(left: Sequence[LeftToAsk]) -> dict[str, Any]:
    """Return calls, tokens and dollars of what is left, agent by agent and in all, for JSON."""
    data: dict[str, Any] = {name: {} for name in (*USED, "usd")}
    for end in ENDS:
        total = total_usage(getattr(part.estimate, end) for part in left)
        data["usd"][end] = exact(total.cost)
        for name in USED:
            data[name][end] = getattr(total, name)

    data["agents"] = []
    for part in left:
        estimate = part.estimate
        agent = {"agent": estimate.agent, "left": round(part.share, 4), "trouble": estimate.trouble or None}
        agent["usd"] = {end: exact(getattr(estimate, end).cost) for end in ENDS}
        agent["faults"] = [attributes(fault, "message", "hint") for fault in estimate.faults]
        data["agents"].append(agent)
    return data


def cost_sentence(cost: Data) -> str:
    """Return calls, tokens and dollars in words."""
    usd = cost["usd"]
    tokens = f"about {cost['tokens_in']['expected']:,} tokens in and {cost['tokens_out']['expected']:,} out"
    start = f"{cost['calls']['low']:,} calls, {tokens}"
    if usd["expected"] is None:
        return f"{start}: unknown, because a price is unknown"

    most = "no known limit"
    if usd["high"] is not None:
        most = f"${usd['high']:,.2f} at the most"
    return f"{start}: ${usd['expected']:,.2f} expected, ${usd['low']:,.2f} at the least, {most}"


def confirm(cost: Data, planned: PlannedAnswers, yes: bool, as_json: bool) -> None:
    """Say what it costs before anyone is asked; raise `ArenaError` unless somebody says yes."""
    if not cost["calls"]["low"]:
        return

    agents = count_text(len(cost["agents"]), "agent")
    message = f"{agents}, {count_text(planned.rows, 'forecast')} each: {cost_sentence(cost)}"
    if not yes and (as_json or not sys.stdin.isatty()):
        hint = "--yes asks, --dry only shows the cost"
        raise ArenaError("not_confirmed", f"nothing was asked: {message}", hint)

    with prints_aside():
        print_page([message])
    if not yes and not typer.confirm("Ask them?", True, err=True):
        raise ArenaError("stopped", "nothing was asked", "--dry shows what it would cost")


# ── what came of it ──────────────────────────────────────────────────────────────────────────────────────


def run_data(planned: PlannedAnswers, record: Record, cost: Data, trouble: Sequence[str]) -> dict[str, Any]:
    """Return what was answered by this method, and what it took, for JSON."""
    agents = [_agent_data(stored, usage) for stored, usage in recorded_usage(record, planned)]
    total: dict[str, Any] = {}
    for name in (*USED, "usd_known", "usd_more_at_most"):
        total[name] = round(sum(agent[name] for agent in agents), 6)
    total["usd"] = total["usd_known"]
    if any(agent["usd"] is None for agent in agents):
        total["usd"] = None

    return {
        "question_set": planned.file.name,
        "due": planned.file.due,
        "method": planned.method.words,
        "rows": planned.rows,
        "estimate": cost,
        "agents": agents,
        "waiting": dict(planned.waiting),
        "left_out": dict(planned.left_out),
        "trouble": trouble,
        "total": total,
    }


def _agent_data(stored: StoredCohort, usage: AnswerUsage) -> dict[str, Any]:
    """Return what an agent has answered in a cohort, and what its calls took."""
    cost = exact(usage.cost)
    return attributes(usage, "agent", "forecasts", *USED) | {
        "cohort": stored.cohort.number,
        "status": usage.status or "pending",
        "note": usage.note or "",
        "usd": None if usage.unknown else cost,
        "usd_known": cost,
        "usd_more_at_most": exact(usage.at_worst),
    }


def unfinished_agents(data: Data) -> list[str]:
    """Return the agents whose turn is open or failed: running the command again asks them."""
    return [agent["agent"] for agent in data["agents"] if agent["status"] in UNFINISHED]


def silent_agents(data: Data) -> list[str]:
    """Return the agents with a model that answered, but left questions out.

    Kinds without a model state what they have: the market, for example, nothing on data questions.
    """
    silent = []
    for agent in data["agents"]:
        is_finished = agent["status"] not in UNFINISHED
        if is_finished and agent["calls"] and agent["forecasts"] < data["rows"]:
            silent.append(agent["agent"])
    return silent


def run_page(data: Data, choice: TableChoice) -> Page:
    """Yield the answers of each agent, what they cost, and what is left."""
    if data["set"]["new"]:
        yield from _set_sentences(data["set"])
    yield f"{data['question_set']}, due {data['due']}, asked by {data['method']}:"
    if data["agents"]:
        yield Table(ANSWERS, data["agents"], choice=choice)
    if not data["asked"]:
        yield f"Left to ask: {cost_sentence(data['estimate'])}"

    total = data["total"]
    if total["calls"]:
        spent = f"${total['usd_known']:,.4f}"
        if total["usd_more_at_most"]:
            spent += f", and at most ${total['usd_more_at_most']:,.4f} more for calls without an answer"
        tokens = f"{total['tokens_in']:,} tokens in, {total['tokens_out']:,} out"
        yield f"Spent: {total['calls']:,} calls, {tokens}, {spent}"
    yield from map(plain, _warnings(data))

    following = "file --as ORG --model AGENT -o DIR"
    if not data["asked"] and data["estimate"]["calls"]["low"]:
        following = "run"
    yield f"Next: {typed(f'study forecastbench {following}')}"


def _set_sentences(questions: Data) -> Iterator[str]:
    """Yield which question set is new in the record."""
    rows = questions["rows"]
    count = count_text(questions["questions"], "question")
    yield f"{questions['name']}: new, version {questions['version']}"
    yield f"  {count}: {rows['market']:,} market rows, {rows['dataset']:,} data rows"
    yield f"  SHA-256 {questions['sha256']}"


def _warnings(data: Data) -> Iterator[str]:
    """Yield what is amiss with the answers, or may be."""
    for agent in data["estimate"]["agents"]:
        start = f"Warning: {agent['agent']}"
        if agent["trouble"]:
            yield f"{start}: {agent['trouble']}"
        for fault in agent["faults"]:
            yield f"{start}: {fault['message']}"
    for name, variable in data["waiting"].items():
        yield f"{name} waits for {variable}: set it and run this again"
    for name, reason in data["left_out"].items():
        yield f"{name} is left out: {reason}"
    yield from data["trouble"]
    if data["asked"]:
        yield from _unanswered(data)
    if data["late"]:
        yield (
            f"The set was due {data['due']}: later answers are no submission; models may know the outcomes"
        )


def _unanswered(data: Data) -> Iterator[str]:
    """Yield what is missing after the agents were asked."""
    if unfinished_agents(data):
        yield "Not complete: running this again asks only what is missing"
    silent = silent_agents(data)
    if silent:
        yield f"Not every question was answered by {', '.join(silent)}: this is not asked again"
