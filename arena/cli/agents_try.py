"""`arena agents try`: one agent's turn as it would be, without a trace in the record."""

import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.options import Options, command, instant
from arena.cli.output import cents, exact, plain, program, progress, shortened
from arena.cli.table import print_table
from arena.errors import ArenaError, count_text
from markets.millionths import ONE, decimal

if TYPE_CHECKING:
    from datetime import datetime

    from agents.model import Call, Message, Prompt
    from arena.config import Config
    from arena.record.dry_run import Engine
    from arena.record.model.cohort import Turn
    from arena.rounds.trial import Trial, TrialQuestion, TrialSetting
    from markets.model import Listing
    from portfolio.model import Sale


@command()
def try_agent(
    chosen: Options,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name in the config or in the record.")],
    dry: Annotated[
        bool, typer.Option("--dry", help="Make no calls: show the prompts and what they may cost.")
    ] = False,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="TIME", help="Use the round of this time, in UTC."),
    ] = None,
) -> None:
    """Let one agent decide, and show prompts, answers, decision, fills and cost. Nothing is saved.

    It replays the latest round of the newest cohort that it is in, with the account that it had then and
    the settings that the config has now. A new agent gets the latest round played and a fresh bankroll; if
    nothing was played yet, the venue's current markets.

    Calls are real and cost money, within the budget; the record does not learn what they cost. With --dry no
    call is made. The exit status is 2 when the model gave no usable answer.

    Example: arena agents try sharp --dry

    Next: arena round plays the next round with all agents.
    """
    settings = chosen.load()
    wanted = None if at is None else instant(at)
    with redirect_stdout(sys.stderr):  # an extension may print, and the answer may be JSON
        trial = dry_run(settings, name, wanted, dry)
    chosen.answer(dry_run_data(trial), say_dry_run, trial)
    if trial.turn is not None and trial.turn.decision.status in ("failed", "malformed"):
        raise typer.Exit(2)


def dry_run(config: "Config", name: str, at: "datetime | None", dry: bool) -> "Trial":
    """Try an agent on what the record holds, or on a look at the venue."""
    import asyncio

    from arena.record.dry_run import open_or_empty

    try:
        with open_or_empty(config.database) as engine:
            return asyncio.run(_dry_run(engine, config, name, at, dry))
    except KeyboardInterrupt:
        words = "stopped; nothing was written"
        raise ArenaError("interrupted", words, "a call under way may be charged", status=130) from None


async def _dry_run(
    engine: "Engine", config: "Config", name: str, at: "datetime | None", dry: bool
) -> "Trial":
    from arena.record.dry_run import DryRunRecord
    from arena.record.schema.database import reading
    from arena.rounds.open_world import open_world
    from arena.rounds.trial import fresh_setting, newcomer_setting, play_trial, recorded_setting

    with reading(engine) as connection:
        setting = recorded_setting(connection, config, name, at)
    when = setting.round.at if setting else _now(config, at)
    tried_agent = setting.agent if setting else newcomer_setting(config, name, when)
    if not dry:
        _check_key(config, name)
    record = DryRunRecord(engine, owned={name: tried_agent.account}, texts=tried_agent.texts)
    async with open_world(config, record) as world:
        with progress(f"Asking {name}", None):
            setting = setting or await fresh_setting(tried_agent, when, world, record)
            return await play_trial(setting, world, record, dry)


def _now(config: "Config", at: "datetime | None") -> "datetime":
    """When a venue is looked at of which no round was played: a live one now, others at their start."""
    from arena.clock import now
    from arena.cohorts.freeze import stamp_of

    live = stamp_of(config) == "live"
    if live and at is not None:
        raise ArenaError("live_venue", f"{config.markets.venue} is live: it knows only now", "leave --at out")
    return now() if live else at or config.first_start(now())


def _check_key(config: "Config", name: str) -> None:
    """A call without a key is not worth making."""
    from agents.model import model_settings
    from arena.config import environment
    from arena.config.environment import key_variables

    models = [model_settings(agent.settings) for agent in config.agents if agent.name == name]
    wanted = [variable for model in models if model is not None for variable in key_variables(model)]
    known = environment(config.folder, os.environ)
    if wanted and not any(known.get(variable) for variable in wanted):
        hint = "set it, or write it into .env; --dry needs no key"
        raise ArenaError("no_key", f"{wanted[0]} is not set, and {name} needs it", hint)


def dry_run_data(trial: "Trial") -> dict[str, Any]:
    """All of it for JSON; money in dollars."""
    setting, entrant = trial.setting, trial.setting.agent.entrant
    told = {
        "agent": entrant.name,
        "kind": entrant.kind,
        "model": entrant.settings.get("model"),
        "dry": trial.turn is None,
        "cohort": setting.cohort,
        "round": setting.round.number,
        "at": setting.snapshot.at.isoformat(),
        "fresh": setting.fresh,
        "markets": len(setting.snapshot.shown),
        "cash": exact(trial.mark.cash),
        "total": exact(trial.mark.total),
        "changed": {key: {"was": was, "is": now} for key, (was, now) in setting.agent.changed.items()},
        "missing": list(trial.missing),
        "trouble": list(setting.trouble),
        "questions": [_question(question) for question in trial.questions],
        "worst_usd": together(question.worst for question in trial.questions),
        "cost_usd": together(call.cost for call in calls(trial)),
    }
    return told | ({"decision": None} if trial.turn is None else _turn(trial.turn, setting))


def _question(question: "TrialQuestion") -> dict[str, Any]:
    prompt = question.prompt
    return {
        "stage": prompt.stage,
        "sample": prompt.sample,
        "seed": prompt.seed,
        "tokens": tokens(prompt),
        "worst_usd": exact(question.worst),
        "messages": [{"role": message.role, "content": message.content} for message in prompt.messages],
        "answers": [_answer(call) for call in question.calls],
    }


def _answer(call: "Call") -> dict[str, Any]:
    error = call.error and {"code": call.error.code, "message": call.error.message}
    names = ("reply", "finish", "rung", "model", "fingerprint", "tokens_in", "tokens_out", "latency_ms")
    return {name: getattr(call, name) for name in names} | {"cost_usd": exact(call.cost), "error": error}


def _turn(turn: "Turn", setting: "TrialSetting") -> dict[str, Any]:
    decision, listings = turn.decision, {listing.market.id: listing for listing in setting.snapshot}
    return {
        "decision": {
            "verdict": decision.status,
            "note": decision.note,
            "forecasts": [
                {
                    "market": said.market_id,
                    "question": listings[said.market_id].market.question,
                    "mid": exact(listings[said.market_id].mid),
                    "stage": said.stage,
                    "probability": exact(said.probability),
                    "reason": said.reason,
                }
                for said in decision.forecasts
            ],
            "bets": [_order(bet, "amount", "limit") for bet in decision.bets],
            "sales": [_order(sale, "shares", "fraction", "limit") for sale in decision.sales],
        },
        "rejections": [
            {"code": item.code, "message": item.message, "market": item.market_id} for item in turn.rejections
        ],
        "fills": [
            _order(fill, "shares", "amount", "fee") | {"action": fill.action, "left": fill.left}
            for fill in turn.fills
        ],
    }


def _order(wish: Any, *amounts: str) -> dict[str, Any]:
    told = {"market": wish.market_id, "side": wish.side}
    return told | {name: exact(getattr(wish, name)) for name in amounts} | {"reason": wish.reason}


def tokens(prompt: "Prompt") -> int:
    """About how many tokens a question takes, rather too many than too few."""
    from agents.text import tokens_of

    return tokens_of(prompt.messages)


def calls(trial: "Trial") -> list["Call"]:
    """Every attempt to get an answer."""
    return [call for question in trial.questions for call in question.calls]


def together(amounts: Iterable[int | None]) -> float | None:
    """What these come to together; None where one of them is unknown, which is not 0."""
    known = list(amounts)
    return None if None in known else exact(sum(amount or 0 for amount in known))


ASKED, REASON = 60, 80
"""So many characters of what a market asks, and of a reason."""


def say_dry_run(trial: "Trial") -> None:
    """The scene, every question with its answers, then what was decided and what would come of it."""
    _say_scene(trial)
    seen: dict[tuple[Message, ...], int] = {}
    for number, question in enumerate(trial.questions, 1):
        _say_question(question, number, len(trial.questions), seen)
        for call in question.calls if trial.turn is not None else refused(question):
            _say_answer(call)
    if trial.turn is not None:
        _say_turn(trial.turn, {listing.market.id: listing for listing in trial.setting.snapshot})
    _say_cost(trial)
    again = (
        "" if trial.turn is not None else f"{program()} agents try {trial.setting.agent.entrant.name}, or "
    )
    print(f"Nothing was written to the record. Next: {again}{program()} round")


def refused(question: "TrialQuestion") -> list["Call"]:
    """The calls that would not be made at all."""
    return [call for call in question.calls if call.error is not None]


def _say_scene(trial: "Trial") -> None:
    from arena.cohorts.diff import setting_in_words

    setting, tried_agent = trial.setting, trial.setting.agent
    place = "the venue's markets" if setting.cohort is None else f"the snapshot of cohort {setting.cohort}"
    if not setting.fresh:
        place += f", round {setting.round.number}"
    whose = "a fresh bankroll" if setting.fresh else "the account it had then"
    print(f"{tried_agent.entrant.name} on {place}, {setting.snapshot.at:%Y-%m-%d %H:%M} UTC: "
          f"{count_text(len(setting.snapshot.shown), 'market')}, "
          f"and {whose}, ${decimal(trial.mark.total):,.2f} with "
          f"${decimal(trial.mark.cash):,.2f} in cash")  # fmt: skip
    for key, (was, now) in tried_agent.changed.items():
        print(f"  changed since cohort {setting.cohort}: {plain(setting_in_words(key, was, now))}")
    for words in setting.trouble:
        print(f"  {plain(words)}")
    if trial.missing:
        print(f"  {', '.join(trial.missing)} made no forecast in this round")
    print()


def _say_question(
    question: "TrialQuestion", number: int, whole: int, seen: "dict[tuple[Message, ...], int]"
) -> None:
    prompt = question.prompt
    most = "at an unknown price" if question.worst is None else f"at most {money(question.worst)}"
    print(f"== Question {number} of {whole}: {prompt.stage}, sample {prompt.sample}, "
          f"about {tokens(prompt):,} tokens, {most}")  # fmt: skip
    if (earlier := seen.setdefault(prompt.messages, number)) != number:
        print(f"The same prompt as question {earlier}, with another seed.\n")
        return
    for message in prompt.messages:
        print(f"-- {message.role}\n{lines(message.content)}\n")


def _say_answer(call: "Call") -> None:
    cost = "cost unknown" if call.cost is None else money(call.cost)
    if call.error is not None:
        print(f"-- no answer, {cost}: {call.error.code}: {plain(call.error.message)}\n")
    if call.reply is None:
        return
    who = plain(f"{call.model or 'unnamed model'} {call.fingerprint}".strip())
    tokens = f"{call.tokens_in:,} tokens in, {call.tokens_out:,} out"
    end = plain(call.finish) or "an unstated reason"
    print(f"-- {who}, {call.latency_ms / 1000:.1f} s, {tokens}, {cost}, form {call.rung}, finished by {end}")
    print(f"{lines(call.reply)}\n")


def _say_turn(turn: "Turn", listings: "Mapping[str, Listing]") -> None:
    decision = turn.decision
    wishes = len(decision.bets) + len(decision.sales)
    print(f"== The turn is {decision.status}" + (f": {plain(decision.note)}" if decision.note else ""))
    print(f"{count_text(len(decision.forecasts), 'forecast')}, {wishes:,} bets and sales, "
          f"{count_text(len(turn.fills), 'fill')}, {len(turn.rejections):,} rejected\n")  # fmt: skip

    def asks(market: str) -> str:
        return shortened(listings[market].market.question, ASKED) if market in listings else plain(market)

    said = [
        (asks(x.market_id), x.stage, cents(listings[x.market_id].mid), cents(x.probability), why(x.reason))
        for x in decision.forecasts
    ]
    wanted = [
        *(
            (asks(x.market_id), "bet", x.side, dollars(x.amount), cents(x.limit), why(x.reason))
            for x in decision.bets
        ),
        *(
            (asks(x.market_id), "sale", x.side, _size(x), cents(x.limit), why(x.reason))
            for x in decision.sales
        ),
    ]
    got = [
        (
            asks(x.market_id),
            x.action,
            x.side,
            shares(x.shares),
            dollars(x.amount),
            dollars(x.fee),
            why(x.left),
        )
        for x in turn.fills
    ]
    lost = [(x.code, plain(x.message), asks(x.market_id)) for x in turn.rejections]
    _table("Forecasts", ("market", "stage", "price ¢", "YES ¢", "reason"), said)
    _table("Orders", ("market", "order", "side", "size", "limit ¢", "reason"), wanted)
    _table("Fills", ("market", "fill", "side", "shares", "$", "fee $", "not filled"), got)
    _table("Rejected", ("code", "why", "market"), lost)


def _table(title: str, columns: tuple[str, ...], rows: list[Any]) -> None:
    if rows:
        print_table(columns, rows, title)


def _size(sale: "Sale") -> str:
    """How much of a position is to be sold."""
    if sale.shares is not None:
        return f"{shares(sale.shares)} shares"
    return "all" if sale.fraction is None else f"{decimal(sale.fraction):.0%}"


def _say_cost(trial: "Trial") -> None:
    made = calls(trial)
    if not made:
        print("It asks no model and costs nothing.")
        return
    worst = together(question.worst for question in trial.questions)
    if trial.turn is None:
        told = "an unknown amount" if worst is None else f"at most ${worst:,.4f}"
        print(f"No call was made. These questions would cost {told}.")
        return
    cost = together(call.cost for call in made)
    print(
        f"{count_text(len(made), 'call')}, "
        + ("of unknown cost." if cost is None else f"${cost:,.6f} in all.")
    )


def lines(text: str) -> str:
    """A text line by line, without what a terminal would take for a command."""
    return "\n".join(plain(line) for line in text.splitlines())


def money(amount: int) -> str:
    """A small amount, to the last millionth."""
    return f"${amount / ONE:,.6f}"


def why(reason: str) -> str:
    """A reason in one line."""
    return shortened(reason, REASON)


def shares(count: int) -> str:
    """A number of shares to two places."""
    return f"{decimal(count):,.2f}"


def dollars(amount: int) -> str:
    """An amount in dollars and cents, without the sign."""
    return f"{decimal(amount):,.2f}"
