"""`arena show turn --play`: one agent's turn as it would be, without a trace in the record."""

import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import typer

from agents.text import hidden_characters, tokens_of
from arena.cli.cohort_diff import moved_data
from arena.cli.options import Options, argument, command, flag, instant, option
from arena.cli.output import (
    attributes,
    cents_of,
    exact,
    interruptible,
    minute,
    plain,
    prints_aside,
    progress,
    run_async,
    shortened,
    typed,
)
from arena.cli.page import print_table
from arena.cli.table import TableColumn
from arena.clock import now
from arena.cohorts.diff import setting_in_words
from arena.cohorts.freeze import stamp_of
from arena.config import Config
from arena.config.environment import environment, missing_keys
from arena.errors import ArenaError, count_text, story_count
from arena.record.dry_run import DryRunRecord, Engine, open_or_empty
from arena.record.model.cohort import Turn
from arena.record.schema.database import reading
from arena.rounds.open_world import open_world
from arena.rounds.trial import (
    Trial,
    TrialQuestion,
    fresh_setting,
    newcomer_setting,
    play_trial,
    recorded_setting,
)
from markets.model import Listing, MarketId

ANSWER = ("reply", "thinking", "citations", "finish", "rung", "model", "fingerprint", "host", "tokens_in",
          "tokens_cached", "tokens_cache_write", "tokens_out", "tokens_reasoning", "status",
          "latency_ms")  # fmt: skip


def _reason(text: str) -> str:
    return shortened(text, 80)


def _size(order: Mapping[str, Any]) -> str:
    """Dollars of a bet, or how much of a position is to be sold."""
    if "amount" in order:
        return f"{order['amount']:,.2f}"
    if order["shares"] is not None:
        return f"{order['shares']:,.2f} shares"
    return "all" if order["fraction"] is None else f"{order['fraction']:.0%}"


QUESTION = TableColumn("question", "market", lambda text: shortened(text, 60), narrow="wrap")
REASON = TableColumn("reason", show=_reason, narrow="wrap")
FORECASTS = (
    QUESTION,
    TableColumn("stage"),
    TableColumn("mid", "price ¢", cents_of),
    TableColumn("probability", "YES ¢", cents_of),
    REASON,
)
ORDERS = (
    QUESTION,
    TableColumn("order"),
    TableColumn("side"),
    TableColumn("size", value=_size),
    TableColumn("limit", "limit ¢", cents_of),
    REASON,
)
FILLS = (
    QUESTION,
    TableColumn("action", "fill"),
    TableColumn("side"),
    TableColumn("shares", show=",.2f"),
    TableColumn("amount", "$", ",.2f"),
    TableColumn("fee", "fee $", ",.2f"),
    TableColumn("left", "not filled", _reason, narrow="wrap"),
)
REJECTED = (TableColumn("code"), TableColumn("message", "why", plain, narrow="wrap"), QUESTION)


@command(plays=True)
def try_agent(
    chosen: Options,
    name: str = argument("NAME", "Its name in the config or in the record."),
    dry: bool = flag("Show prompts and what they may cost; call no model."),
    at: str | None = option("Use the round of this time, in UTC.", "TIME"),
) -> None:
    """Play one turn of an agent and show prompts, answers, decision, fills and cost. Nothing is saved.

    It replays the latest round of the agent's newest cohort, with its account as it was then and its current
    settings. A new agent gets the latest round played, or else the venue's current markets, and a fresh
    bankroll.

    Calls cost money, within the budget. The exit status is 2 without a usable answer.

    Example: arena show turn --play sharp --dry

    Next: arena run --round plays the next round with all agents.
    """
    settings = chosen.load_to_play()
    wanted = None if at is None else instant(at)
    with (
        prints_aside(),
        interruptible("stopped; nothing was written", "a call in progress may still be charged"),
        open_or_empty(settings.database) as engine,
    ):
        trial = run_async(dry_run(engine, settings, name, wanted, dry))
    listings = {listing.market.id: listing for listing in trial.setting.snapshot}
    asked = {market_id: listing.market.question for market_id, listing in listings.items()}
    data = trial_data(trial) | (
        {"decision": None} if trial.turn is None else _turn_data(trial.turn, listings)
    )
    chosen.answer(data, say_trial, data, asked)
    if trial.turn is not None and trial.turn.decision.status not in ("played", "out", "waiting"):
        raise typer.Exit(2)


async def dry_run(engine: Engine, config: Config, name: str, at: datetime | None, dry: bool) -> Trial:
    """Try an agent on what the record holds, or on a look at the venue."""
    with reading(engine) as connection:
        setting = recorded_setting(connection, config, name, at)
    when = setting.round.at if setting else _now(config, at)
    tried_agent = setting.agent if setting else newcomer_setting(config, name, when)
    missing = missing_keys(config.agents, environment(config.folder, os.environ)).get(name)
    if missing and not dry:
        hint = "set it, or write it into .env; --dry needs no key"
        raise ArenaError("no_key", f"{missing} is not set, and {name} needs it", hint)
    record = DryRunRecord(engine, owned={name: tried_agent.account}, texts=tried_agent.texts)
    async with open_world(config, record) as world:
        with progress(f"Asking {name}", None):
            setting = setting or await fresh_setting(tried_agent, when, world, record)
            return await play_trial(setting, world, record, dry)


def _now(config: Config, at: datetime | None) -> datetime:
    """When a venue is looked at of which no round was played: a live one now, others at their start."""
    live = stamp_of(config) == "live"
    if live and at is not None:
        raise ArenaError("live_venue", f"{config.markets.venue} is live and has no past", "leave --at out")
    return now() if live else at or config.first_start(now())


def trial_data(trial: Trial) -> dict[str, Any]:
    """What the agent was tried on, and what it was asked, for JSON; money in dollars."""
    setting, entrant = trial.setting, trial.setting.agent.entrant
    return {
        "agent": entrant.name,
        "kind": entrant.kind,
        "model": entrant.settings.get("model"),
        "dry": trial.turn is None,
        "cohort": setting.cohort,
        "round": setting.round.number,
        "at": setting.snapshot.at.isoformat(),
        "fresh": setting.fresh,
        "markets": len(setting.snapshot.shown),
        "stories": len({listing.market.whole_story for listing in setting.snapshot.shown}),
        "cash": exact(trial.mark.cash),
        "total": exact(trial.mark.total),
        "changed": moved_data(setting.agent.changed),
        "missing": trial.missing,
        "trouble": setting.trouble,
        "hidden": {  # characters that no reader sees, and how often
            listing.market.id: hidden
            for listing in setting.snapshot.shown
            if (hidden := hidden_characters([listing.market.question, listing.market.rules]))
        },
        "questions": [_question_data(question) for question in trial.questions],
        "worst_usd": together(question.worst for question in trial.questions),
        "cost_usd": together(call.cost for question in trial.questions for call in question.calls),
    }


def together(amounts: Iterable[int | None]) -> float | None:
    """What these come to together; None where one of them is unknown, which is not 0."""
    known = list(amounts)
    return None if None in known else exact(sum(amount or 0 for amount in known))


def _question_data(question: TrialQuestion) -> dict[str, Any]:
    prompt = question.prompt
    return attributes(prompt, "stage", "sample", "seed") | {
        "tokens": tokens_of(prompt.messages),
        "worst_usd": exact(question.worst),
        "messages": [attributes(message, "role", "content") for message in prompt.messages],
        "answers": [
            attributes(call, *ANSWER)
            | {"cost_usd": exact(call.cost)}
            | {"error": call.error and attributes(call.error, "code", "message")}
            for call in question.calls
        ],
    }


def _turn_data(turn: Turn, listings: Mapping[MarketId, Listing]) -> dict[str, Any]:
    decision = turn.decision

    def order(one: Any, *amounts: str) -> dict[str, Any]:
        exactly = {name: exact(getattr(one, name)) for name in amounts}
        return {"market": one.market_id, "side": one.side, **exactly, "reason": one.reason}

    return {
        "decision": {
            "status": decision.status,
            "note": decision.note,
            "repaired": list(decision.repaired),
            "forecasts": [
                {
                    "market": said.market_id,
                    "question": listings[said.market_id].market.question,
                    "mid": exact(listings[said.market_id].mid),
                    "stage": said.stage,
                    "probability": exact(said.millionths),
                    "reason": said.reason,
                }
                for said in decision.forecasts
            ],
            "bets": [order(bet, "amount", "limit") for bet in decision.bets],
            "sales": [order(sale, "shares", "fraction", "limit") for sale in decision.sales],
        },
        "rejections": [
            attributes(item, "code", "message") | {"market": item.market_id} for item in turn.rejections
        ],
        "fills": [
            order(fill, "shares", "amount", "fee") | attributes(fill, "action", "left") for fill in turn.fills
        ],
    }


def say_trial(told: Mapping[str, Any], asked: Mapping[str, str]) -> None:
    """The setting, every question with its answers, then what was decided and what would come of it."""
    _say_setting(told)
    questions, dry = told["questions"], told["dry"]
    for number, question in enumerate(questions):
        _say_question(question, questions[:number], len(questions))
        for answer in question["answers"]:
            if answer["error"] is not None or not dry:
                _say_answer(answer)
    if not dry:
        _say_turn(told, asked)
    calls = sum(len(question["answers"]) for question in questions)
    worst, cost = told["worst_usd"], told["cost_usd"]
    if not calls:
        print("It calls no model and costs nothing.")
    elif dry:
        words = "an unknown amount" if worst is None else f"at most ${worst:,.4f}"
        print(f"No call was made. These questions would cost {words}.")
    else:
        words = "of unknown cost" if cost is None else f"{_money(cost)} in all"
        print(f"{count_text(calls, 'call')}, {words}.")
    vain = dry or told["decision"]["status"] == "failed"
    again = typed(f"agents try {told['agent']}") + ", or " if vain else ""
    print(f"Nothing was written to the record. Next: {again}{typed('run --round')}")


def _say_setting(told: Mapping[str, Any]) -> None:
    cohort, fresh = told["cohort"], told["fresh"]
    place = "the venue's markets" if cohort is None else f"the snapshot of cohort {cohort}"
    place += "" if fresh else f", round {told['round']}"
    whose = "a fresh bankroll" if fresh else "its account of that time"
    offered = f"{count_text(told['markets'], 'market')}, {story_count(told['stories'])}"
    print(f"{told['agent']} on {place}, {minute(told['at'])} UTC: {offered}, "
          f"and {whose}, ${told['total']:,.2f} with ${told['cash']:,.2f} in cash")  # fmt: skip
    for key, each in told["changed"].items():
        print(f"  changed since cohort {cohort}: {plain(setting_in_words(key, each['was'], each['is']))}")
    for words in told["trouble"]:
        print(f"  {plain(words)}")
    for market, hidden in told["hidden"].items():
        signs = ", ".join(f"{count} x {name}" for name, count in hidden.items())
        print(f"  {market} has invisible characters: {signs}")
    if told["missing"]:
        print(f"  {', '.join(told['missing'])} made no forecast in this round")
    print()


def _say_question(question: Mapping[str, Any], before: Sequence[Mapping[str, Any]], whole: int) -> None:
    worst, number = question["worst_usd"], len(before) + 1
    most = "at an unknown price" if worst is None else f"at most {_money(worst)}"
    print(f"== Question {number} of {whole}: {question['stage']}, sample {question['sample']}, "
          f"about {question['tokens']:,} tokens, {most}")  # fmt: skip
    for earlier, other in enumerate(before, 1):
        if other["messages"] == question["messages"]:
            print(f"The same prompt as question {earlier}, with another seed.\n")
            return
    for message in question["messages"]:
        print(f"-- {message['role']}\n{_lines(message['content'])}\n")


def _say_answer(answer: Mapping[str, Any]) -> None:
    cost = "cost unknown" if answer["cost_usd"] is None else _money(answer["cost_usd"])
    if error := answer["error"]:
        print(f"-- no answer, {cost}: {error['code']}: {plain(error['message'])}\n")
    if answer["reply"] is None:
        return
    who = plain(f"{answer['model'] or 'unnamed model'} {answer['fingerprint']}".strip())
    tokens = f"{answer['tokens_in']:,} tokens in, {answer['tokens_out']:,} out"
    how = f"form {answer['rung']}, finished by {plain(answer['finish']) or 'an unstated reason'}"
    print(f"-- {who}, {answer['latency_ms'] / 1000:.1f} s, {tokens}, {cost}, {how}")
    print(f"{_lines(answer['reply'])}\n")


def _say_turn(told: Mapping[str, Any], asked: Mapping[str, str]) -> None:
    decision = told["decision"]
    orders = [
        *({"order": "bet"} | bet for bet in decision["bets"]),
        *({"order": "sale"} | sale for sale in decision["sales"]),
    ]
    note = f": {plain(decision['note'])}" if decision["note"] else ""
    print(f"== The turn is {decision['status']}{note}")
    if decision["repaired"]:
        print(f"Its answer had to be repaired: {', '.join(decision['repaired'])}")
    print(f"{count_text(len(decision['forecasts']), 'forecast')}, {len(orders):,} bets and sales, "
          f"{count_text(len(told['fills']), 'fill')}, {len(told['rejections']):,} rejected\n")  # fmt: skip
    tables = {
        "Forecasts": (FORECASTS, decision["forecasts"]),
        "Orders": (ORDERS, orders),
        "Fills": (FILLS, told["fills"]),
        "Rejected": (REJECTED, told["rejections"]),
    }
    for title, (columns, rows) in tables.items():
        if rows:
            named = [row | {"question": asked.get(row["market"], row["market"])} for row in rows]
            print_table(columns, named, title)


def _lines(text: str) -> str:
    """A text line by line, without what a terminal would take for a command."""
    return "\n".join(plain(line) for line in text.splitlines())


def _money(dollars: float) -> str:
    """A small amount, to the last millionth."""
    return f"${dollars:,.6f}"
