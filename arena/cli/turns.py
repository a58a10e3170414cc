"""`arena show turn`: an agent's turn as recorded, or one played now, with all prompts and answers."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import typer

from agents.model import Call, Forecast
from agents.text import tokens_of
from arena.cli.options import Options, parse_instant
from arena.cli.output import (
    cents_text,
    command_line,
    from_millionths,
    interruptible,
    minute_text,
    plain,
    plain_lines,
    prints_to_stderr,
    progress,
    run_async,
    shortened,
)
from arena.cli.page import Page
from arena.cli.table import Table, TableColumn, from_millionths_at
from arena.clock import now
from arena.cohorts.diff import setting_in_words
from arena.errors import count_text, story_count
from arena.record.dry_run import open_or_empty
from arena.record.model.cohort import Turn
from arena.rounds.dry_run import dry_run
from arena.rounds.trial import Trial, TrialQuestion, read_recorded_trial
from arena.rounds.trial_data import distribution_in_words, hidden_in_markets, trial_data
from markets.millionths import decimal
from markets.model import Listing, MarketId
from portfolio.model import Bet, Sale

USABLE = ("played", "out", "waiting")
"""The statuses of turns that have a usable answer, or need none."""


def _short_reason(text: str) -> str:
    """Return a reason on one line."""
    return shortened(text, 80)


def _order_size(order: Bet | Sale) -> str:
    """Return the dollars of a bet, or the part of a position to sell."""
    if isinstance(order, Bet):
        return f"{decimal(order.amount):,.2f}"
    if order.shares is not None:
        return f"{decimal(order.shares):,.2f} shares"
    return "all" if order.fraction is None else f"{decimal(order.fraction):.0%}"


REASON = TableColumn("reason", show=_short_reason, narrow="wrap")
SIDE = TableColumn("side")
PROBABILITY = TableColumn(
    "probability", "YES ¢", cents_text, value=lambda row: None if row.distribution else row.millionths
)
ORDERS = (
    TableColumn("order", value=lambda order: "bet" if isinstance(order, Bet) else "sale"),
    SIDE,
    TableColumn("size", value=_order_size),
    TableColumn("limit", "limit ¢", cents_text),
    REASON,
)
FILLS = (
    TableColumn("action", "fill"),
    SIDE,
    TableColumn("shares", None, ",.2f", value=from_millionths_at("shares")),
    TableColumn("amount", "$", ",.2f", value=from_millionths_at("amount")),
    TableColumn("fee", "fee $", ",.2f", value=from_millionths_at("fee")),
    TableColumn("left", "not filled", _short_reason, narrow="wrap"),
)
REJECTED = (TableColumn("code"), TableColumn("message", "why", plain, narrow="wrap"))


def show_recorded(chosen: Options, name: str, cohort: int | None, at: str | None) -> None:
    """Print a recorded turn of an agent: its newest, or that of a cohort or a time."""
    with chosen.reading() as connection:
        trial = read_recorded_trial(connection, name, cohort, parse_instant(at))
    chosen.print_answer(trial_data(trial, recorded=True), turn_page, trial, True)


def play_now(chosen: Options, name: str, at: str | None, dry: bool) -> None:
    """Play a turn of an agent without saving it, and print it; if `dry`, ask no model.

    Raise `typer.Exit` with status 2 if there is no usable answer.
    """
    config = chosen.load_to_play()
    wanted = parse_instant(at)
    with (
        prints_to_stderr(),
        interruptible("stopped; nothing was written", "a call in progress may still be charged"),
        open_or_empty(config.database) as engine,
        progress(f"Asking {name}"),
    ):
        trial = run_async(dry_run(engine, config, name, wanted, dry, os.environ, now()))

    chosen.print_answer(trial_data(trial, recorded=False), turn_page, trial, False)
    if trial.turn is not None and trial.turn.decision.status not in USABLE:
        raise typer.Exit(2)


def turn_page(trial: Trial, recorded: bool) -> Page:
    """Yield the setting, every question with its answers, then the decision and its fills."""
    yield from _setting_blocks(trial)

    turn = trial.turn
    for number, question in enumerate(trial.questions):
        yield from _question_blocks(question, trial.questions[:number], len(trial.questions))
        for call in question.calls:
            if call.error is not None or turn is not None:
                yield from _answer_blocks(call)
    if turn is not None:
        yield from _decision_blocks(turn, trial)

    yield _cost_sentence(trial)
    play_turn = command_line(f"show turn {trial.setting.agent.entrant.name} --play")
    play_round = command_line("run --round")
    if recorded:
        yield f"Next: {play_turn}"
    elif turn is None or turn.decision.status == "failed":
        yield f"Nothing was written to the record. Next: {play_turn}, or {play_round}"
    else:
        yield f"Nothing was written to the record. Next: {play_round}"


def _cost_sentence(trial: Trial) -> str:
    """Return a sentence on what the questions of a turn cost, or would cost at most."""
    if not trial.calls:
        return "It calls no model and costs nothing."
    if trial.turn is not None:
        return f"{count_text(trial.calls, 'call')}, {_money(trial.cost)} in all."

    cost = "an unknown amount"
    if trial.worst is not None:
        cost = f"at most ${from_millionths(trial.worst):,.4f}"
    return f"No call was made. These questions would cost {cost}."


def _setting_blocks(trial: Trial) -> Page:
    """Yield the markets that the agent decided on, its money, and notes on both."""
    setting = trial.setting
    shown = setting.snapshot.shown
    source = "the venue's markets"
    if setting.cohort is not None:
        source = f"the markets of cohort {setting.cohort}"
    account = "a fresh bankroll"
    if not setting.fresh:
        source += f", round {setting.round.number}"
        account = "its account at that time"
    shown_counts = f"{count_text(len(shown), 'market')}, {story_count(trial.stories)}"
    money = (
        f"${from_millionths(trial.mark.total):,.2f}, ${from_millionths(trial.mark.cash):,.2f} of it in cash"
    )
    at_text = f"{minute_text(setting.snapshot.at)} UTC"
    yield f"{setting.agent.entrant.name} on {source}, {at_text}: {shown_counts}; {account}: {money}"

    for key, (before, after) in setting.agent.changed.items():
        change = setting_in_words(key, before, after)
        yield f"  changed since cohort {setting.cohort}: {plain(change)}"
    for trouble in setting.trouble:
        yield f"  {plain(trouble)}"
    for market, hidden in hidden_in_markets(shown).items():
        counts = ", ".join(f"{count} x {name}" for name, count in hidden.items())
        yield f"  {market} has invisible characters: {counts}"
    if trial.missing:
        yield f"  {', '.join(trial.missing)} made no forecast in this round"
    yield ""


def _question_blocks(
    question: TrialQuestion, earlier_questions: Sequence[TrialQuestion], question_count: int
) -> Page:
    """Yield a question with its messages, or the number of an earlier one with the same messages."""
    prompt = question.prompt
    title = (
        f"Question {len(earlier_questions) + 1} of {question_count}: {prompt.stage}, sample {prompt.sample}"
    )
    size = f"about {tokens_of(prompt.messages):,} tokens, at most {_money(question.worst)}"
    yield f"== {title}, {size}"

    for number, earlier in enumerate(earlier_questions, 1):
        if earlier.prompt.messages == prompt.messages:
            yield f"The same prompt as question {number}, with another seed.\n"
            return
    for message in prompt.messages:
        yield f"-- {message.role}"
        yield f"{plain_lines(message.content)}\n"


def _answer_blocks(call: Call) -> Page:
    """Yield the result of a call: its error, or its reply and the model that gave it."""
    cost = _money(call.cost)
    if call.error:
        yield f"-- no answer, {cost}: {call.error.code}: {plain(call.error.message)}\n"
    if call.reply is None:
        return

    model = call.model or "unnamed model"
    answered_by = plain(f"{model} {call.fingerprint}".strip())
    tokens = f"{call.tokens_in:,} tokens in, {call.tokens_out:,} out"
    form = f"form {call.rung}, finished by {plain(call.finish) or 'an unstated reason'}"
    yield f"-- {answered_by}, {call.latency_ms / 1000:.1f} s, {tokens}, {cost}, {form}"
    yield f"{plain_lines(call.reply)}\n"


def _forecast_columns(
    forecasts: Sequence[Forecast], listings: Mapping[MarketId, Listing]
) -> list[TableColumn]:
    """Return the columns of forecasts: probabilities, answers to other questions, or both."""
    columns = [TableColumn("stage")]
    has_answers = [bool(forecast.distribution) for forecast in forecasts]
    if not all(has_answers):
        columns.append(
            TableColumn("mid", "price ¢", cents_text, value=lambda row: listings[row.market_id].mid)
        )
        columns.append(PROBABILITY)
    if any(has_answers):
        said = TableColumn(
            "said", show=plain, value=lambda row: distribution_in_words(row, listings), narrow="wrap"
        )
        columns.append(said)
    columns.append(REASON)
    return columns


def _decision_blocks(turn: Turn, trial: Trial) -> Page:
    """Yield the status of the turn, and tables of forecasts, orders, fills and rejections."""
    decision = turn.decision
    orders = [*decision.bets, *decision.sales]
    status = f"== The turn is {decision.status}"
    yield f"{status}: {plain(decision.note)}" if decision.note else status
    if decision.repaired:
        yield f"Its answer had to be repaired: {', '.join(decision.repaired)}"
    forecasts = count_text(len(decision.forecasts), "forecast")
    fills = count_text(len(turn.fills), "fill")
    yield f"{forecasts}, {len(orders):,} bets and sales, {fills}, {len(turn.rejections):,} rejected\n"

    listings = trial.listings

    def question_of(row: Any) -> str:
        """Return the question of a row's market."""
        listing = listings.get(row.market_id)
        return row.market_id if listing is None else shortened(listing.market.question, 60)

    question = TableColumn("question", "market", value=question_of, narrow="wrap")
    if decision.forecasts:
        columns = (question, *_forecast_columns(decision.forecasts, listings))
        yield Table(columns, decision.forecasts, "Forecasts")
    if orders:
        yield Table((question, *ORDERS), orders, "Orders")
    if turn.fills:
        yield Table((question, *FILLS), turn.fills, "Fills")
    if turn.rejections:
        yield Table((*REJECTED, question), turn.rejections, "Rejected")


def _money(amount: int | None) -> str:
    """Return a small amount in dollars, to the millionth."""
    return "an unknown cost" if amount is None else f"${from_millionths(amount):,.6f}"
