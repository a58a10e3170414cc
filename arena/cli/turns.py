"""One agent's turn, as recorded or as it would be now, with all that was asked and answered."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import typer

from agents.text import hidden_characters, tokens_of
from arena.cli.options import Options, given_instant
from arena.cli.output import (
    Data,
    attributes,
    cents_of,
    exact,
    interruptible,
    minute,
    plain,
    plain_lines,
    prints_aside,
    progress,
    run_async,
    shortened,
    typed,
)
from arena.cli.page import Block
from arena.cli.table import Table, TableColumn
from arena.clock import now
from arena.cohorts.diff import moved_data, setting_in_words
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
    read_recorded_trial,
    recorded_setting,
)
from markets.model import Listing, MarketId

ANSWER = ("reply", "thinking", "citations", "finish", "rung", "model", "fingerprint", "host", "tokens_in",
          "tokens_cached", "tokens_cache_write", "tokens_out", "tokens_reasoning", "status",
          "latency_ms")  # fmt: skip


def _reason(text: str) -> str:
    """Return a reason on one line."""
    return shortened(text, 80)


def _size(order: Data) -> str:
    """Return the dollars of a bet, or how much of a position is to be sold."""
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


def show_recorded(chosen: Options, name: str, cohort: int | None, at: str | None) -> None:
    """Answer with a turn of an agent as it is in the record: its newest, or of a cohort or a time."""
    with chosen.reading() as connection:
        trial = read_recorded_trial(connection, name, cohort, given_instant(at))
    answer_turn(chosen, trial, recorded=True)


def play_now(chosen: Options, name: str, at: str | None, dry: bool) -> None:
    """Play a turn of an agent and answer with it; nothing is saved. When `dry`, no model is asked.

    Exits with status 2 where no usable answer came.
    """
    config = chosen.load_to_play()
    wanted = given_instant(at)
    with (
        prints_aside(),
        interruptible("stopped; nothing was written", "a call in progress may still be charged"),
        open_or_empty(config.database) as engine,
    ):
        trial = run_async(dry_run(engine, config, name, wanted, dry))

    answer_turn(chosen, trial, recorded=False)
    if trial.turn is not None and trial.turn.decision.status not in ("played", "out", "waiting"):
        raise typer.Exit(2)


async def dry_run(engine: Engine, config: Config, name: str, at: datetime | None, dry: bool) -> Trial:
    """Try an agent on what the record holds, or on a look at the venue."""
    with reading(engine) as connection:
        setting = recorded_setting(connection, config, name, at)
    when = setting.round.at if setting else _time_to_look(config, at)
    agent = setting.agent if setting else newcomer_setting(config, name, when)

    missing = missing_keys(config.agents, environment(config.folder, os.environ)).get(name)
    if missing and not dry:
        hint = "set it, or write it into .env; --dry needs no key"
        raise ArenaError("no_key", f"{missing} is not set, and {name} needs it", hint)

    record = DryRunRecord(engine, owned={name: agent.account}, texts=agent.texts)
    async with open_world(config, record) as world:
        with progress(f"Asking {name}", None):
            setting = setting or await fresh_setting(agent, when, world, record)
            return await play_trial(setting, world, record, dry)


def _time_to_look(config: Config, at: datetime | None) -> datetime:
    """Return when a venue is looked at where no round was played: a live one now, others at their start."""
    live = stamp_of(config) == "live"
    if live and at is not None:
        raise ArenaError("live_venue", f"{config.markets.venue} is live and has no past", "leave --at out")
    return now() if live else at or config.first_start(now())


def answer_turn(chosen: Options, trial: Trial, recorded: bool) -> None:
    """Answer with a turn, which is in the record or was only tried."""
    listings = {listing.market.id: listing for listing in trial.setting.snapshot}
    data = _trial_data(trial) | {"recorded": recorded, "decision": None}
    if trial.turn is not None:
        data |= _turn_data(trial.turn, listings)
    questions = {market_id: listing.market.question for market_id, listing in listings.items()}
    chosen.answer(data, turn_page, data, questions)


def _trial_data(trial: Trial) -> dict[str, Any]:
    """Return what the agent decided on and what it was asked, for JSON; money in dollars."""
    setting = trial.setting
    entrant = setting.agent.entrant
    shown = setting.snapshot.shown
    return {
        "agent": entrant.name,
        "kind": entrant.kind,
        "model": entrant.settings.get("model"),
        "dry": trial.turn is None,
        "cohort": setting.cohort,
        "round": setting.round.number,
        "at": setting.snapshot.at.isoformat(),
        "fresh": setting.fresh,
        "markets": len(shown),
        "stories": len({listing.market.whole_story for listing in shown}),
        "cash": exact(trial.mark.cash),
        "total": exact(trial.mark.total),
        "changed": moved_data(setting.agent.changed),
        "missing": trial.missing,
        "trouble": setting.trouble,
        "hidden": _hidden_data(shown),
        "questions": [_question_data(question) for question in trial.questions],
        "worst_usd": together(question.worst for question in trial.questions),
        "cost_usd": together(call.cost for question in trial.questions for call in question.calls),
    }


def _hidden_data(shown: Sequence[Listing]) -> dict[str, Mapping[str, int]]:
    """Return the characters that no reader sees, and how often each is in a market's texts, by market."""
    hidden: dict[str, Mapping[str, int]] = {}
    for listing in shown:
        characters = hidden_characters([listing.market.question, listing.market.rules])
        if characters:
            hidden[listing.market.id] = characters
    return hidden


def together(amounts: Iterable[int | None]) -> float | None:
    """Return what these come to together; None where one of them is unknown, which is not 0."""
    total = 0
    for amount in amounts:
        if amount is None:
            return None
        total += amount
    return exact(total)


def _question_data(question: TrialQuestion) -> dict[str, Any]:
    """Return what was asked and every attempt to get an answer, for JSON."""
    prompt = question.prompt
    answers = []
    for call in question.calls:
        error = call.error and attributes(call.error, "code", "message")
        answers.append(attributes(call, *ANSWER) | {"cost_usd": exact(call.cost), "error": error})
    return attributes(prompt, "stage", "sample", "seed") | {
        "tokens": tokens_of(prompt.messages),
        "worst_usd": exact(question.worst),
        "messages": [attributes(message, "role", "content") for message in prompt.messages],
        "answers": answers,
    }


def _turn_data(turn: Turn, listings: Mapping[MarketId, Listing]) -> dict[str, Any]:
    """Return what was decided and what came of it, for JSON."""
    decision = turn.decision
    forecasts = []
    for forecast in decision.forecasts:
        listing = listings[forecast.market_id]
        about: dict[str, Any] = {"market": forecast.market_id, "question": listing.market.question}
        about |= {"mid": exact(listing.mid), "stage": forecast.stage}
        forecasts.append(about | {"probability": exact(forecast.millionths), "reason": forecast.reason})

    return {
        "decision": {
            "status": decision.status,
            "note": decision.note,
            "repaired": list(decision.repaired),
            "forecasts": forecasts,
            "bets": [_order_data(bet, "amount", "limit") for bet in decision.bets],
            "sales": [_order_data(sale, "shares", "fraction", "limit") for sale in decision.sales],
        },
        "rejections": [
            attributes(rejection, "code", "message") | {"market": rejection.market_id}
            for rejection in turn.rejections
        ],
        "fills": [
            _order_data(fill, "shares", "amount", "fee") | attributes(fill, "action", "left")
            for fill in turn.fills
        ],
    }


def _order_data(order: Any, *amounts: str) -> dict[str, Any]:
    """Return a bet, a sale or a fill for JSON, with these of its amounts."""
    exactly = {name: exact(getattr(order, name)) for name in amounts}
    return {"market": order.market_id, "side": order.side, **exactly, "reason": order.reason}


def turn_page(data: Data, market_questions: Mapping[str, str]) -> Iterator[Block]:
    """Yield the setting, every question with its answers, then what was decided and what comes of it."""
    yield from _setting_blocks(data)

    questions = data["questions"]
    dry = data["dry"]
    for number, question in enumerate(questions):
        yield from _question_blocks(question, questions[:number], len(questions))
        for answer in question["answers"]:
            if answer["error"] is not None or not dry:
                yield from _answer_blocks(answer)
    if not dry:
        yield from _decision_blocks(data, market_questions)

    yield _cost_sentence(data)
    play = typed(f"show turn {data['agent']} --play")
    if data["recorded"]:
        yield f"Next: {play} plays one now, and saves nothing."
    elif dry or data["decision"]["status"] == "failed":
        yield f"Nothing was written to the record. Next: {play}, or {typed('run --round')}"
    else:
        yield f"Nothing was written to the record. Next: {typed('run --round')}"


def _cost_sentence(data: Data) -> str:
    """Return what the questions of a turn have cost or would cost at most."""
    calls = sum(len(question["answers"]) for question in data["questions"])
    if not calls:
        return "It calls no model and costs nothing."
    if data["dry"]:
        worst = data["worst_usd"]
        most = "an unknown amount" if worst is None else f"at most ${worst:,.4f}"
        return f"No call was made. These questions would cost {most}."
    return f"{count_text(calls, 'call')}, {_money(data['cost_usd'])} in all."


def _setting_blocks(data: Data) -> Iterator[Block]:
    """Yield what the agent decided on, and with how much money."""
    cohort = data["cohort"]
    place = "the venue's markets"
    if cohort is not None:
        place = f"the snapshot of cohort {cohort}"
    whose = "a fresh bankroll"
    if not data["fresh"]:
        place += f", round {data['round']}"
        whose = "its account of that time"
    offered = f"{count_text(data['markets'], 'market')}, {story_count(data['stories'])}"
    yield (
        f"{data['agent']} on {place}, {minute(data['at'])} UTC: {offered}, "
        f"and {whose}, ${data['total']:,.2f} with ${data['cash']:,.2f} in cash"
    )

    for key, change in data["changed"].items():
        words = setting_in_words(key, change["was"], change["is"])
        yield f"  changed since cohort {cohort}: {plain(words)}"
    for trouble in data["trouble"]:
        yield f"  {plain(trouble)}"
    for market, hidden in data["hidden"].items():
        signs = ", ".join(f"{count} x {name}" for name, count in hidden.items())
        yield f"  {market} has invisible characters: {signs}"
    if data["missing"]:
        yield f"  {', '.join(data['missing'])} made no forecast in this round"
    yield ""


def _question_blocks(question: Data, before: Sequence[Data], whole: int) -> Iterator[Block]:
    """Yield a question with its messages, or which of those before it had the same."""
    yield (
        f"== Question {len(before) + 1} of {whole}: {question['stage']}, sample {question['sample']}, "
        f"about {question['tokens']:,} tokens, at most {_money(question['worst_usd'])}"
    )

    for earlier, other in enumerate(before, 1):
        if other["messages"] == question["messages"]:
            yield f"The same prompt as question {earlier}, with another seed.\n"
            return
    for message in question["messages"]:
        yield f"-- {message['role']}"
        yield f"{plain_lines(message['content'])}\n"


def _answer_blocks(answer: Data) -> Iterator[Block]:
    """Yield what came of an attempt: an error, or a reply and by whom it is."""
    cost = _money(answer["cost_usd"])
    error = answer["error"]
    if error:
        yield f"-- no answer, {cost}: {error['code']}: {plain(error['message'])}\n"
    if answer["reply"] is None:
        return

    who = plain(f"{answer['model'] or 'unnamed model'} {answer['fingerprint']}".strip())
    tokens = f"{answer['tokens_in']:,} tokens in, {answer['tokens_out']:,} out"
    how = f"form {answer['rung']}, finished by {plain(answer['finish']) or 'an unstated reason'}"
    yield f"-- {who}, {answer['latency_ms'] / 1000:.1f} s, {tokens}, {cost}, {how}"
    yield f"{plain_lines(answer['reply'])}\n"


def _decision_blocks(data: Data, market_questions: Mapping[str, str]) -> Iterator[Block]:
    """Yield how the turn ended, and tables of what was forecast, ordered, filled and rejected."""
    decision = data["decision"]
    orders = [{"order": "bet"} | bet for bet in decision["bets"]]
    orders += [{"order": "sale"} | sale for sale in decision["sales"]]
    status = f"== The turn is {decision['status']}"
    yield f"{status}: {plain(decision['note'])}" if decision["note"] else status
    if decision["repaired"]:
        yield f"Its answer had to be repaired: {', '.join(decision['repaired'])}"
    yield (
        f"{count_text(len(decision['forecasts']), 'forecast')}, {len(orders):,} bets and sales, "
        f"{count_text(len(data['fills']), 'fill')}, {len(data['rejections']):,} rejected\n"
    )

    tables = {
        "Forecasts": (FORECASTS, decision["forecasts"]),
        "Orders": (ORDERS, orders),
        "Fills": (FILLS, data["fills"]),
        "Rejected": (REJECTED, data["rejections"]),
    }
    for title, (columns, rows) in tables.items():
        if rows:
            named = [row | {"question": market_questions.get(row["market"], row["market"])} for row in rows]
            yield Table(columns, named, title)


def _money(dollars: float | None) -> str:
    """Return a small amount, to the last millionth."""
    return "an unknown cost" if dollars is None else f"${dollars:,.6f}"
