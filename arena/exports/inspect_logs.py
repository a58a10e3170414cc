"""Writes a season as Inspect (inspect_ai) logs in JSON: one log for each agent and cohort, one sample a turn.

`inspect view` opens them and `arena score` reads them; writing them doesn't need Inspect. A turn's scores are
those of the leaderboard, and the metadata of its Brier score hold the forecasts behind it. Questions other
than yes/no are left out.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection

from agents.model import Call, Message
from agents.text import one_line
from arena.errors import count_text
from arena.record.model.answer_columns import SeasonMarket
from arena.record.model.cohort import Entrant, Turn
from arena.record.model.columns import OPEN, evidence_rows, stated_belief
from arena.record.queries.answers import read_season_markets
from arena.record.queries.calls import read_rounds_by_cohort
from arena.record.queries.cohorts import StoredCohort, StoredRound, read_calls
from arena.record.queries.decisions import read_turns
from arena.record.queries.forecasts import read_forecast_columns
from arena.scores.rules import brier, skill
from markets.hashes import timestamp_text
from markets.millionths import ONE

LOG_VERSION = 2
SOLVER = "recorded_turn"
METRIC = "by_market"
"""The name of the metrics, which are means over markets of each market's mean over its rounds."""
EVEN = 0.5
"""Replaces a missing price, as on the leaderboard."""
LONGEST_TITLE = 200
UNNAMED = re.compile(r"[^A-Za-z0-9.-]+")
STOPS = {"stop": "stop", "length": "max_tokens", "content_filter": "content_filter"}
TurnPlace = tuple[str, int]
"""An agent's name and the number of a round."""
Fields = dict[str, Any]


@dataclass(frozen=True, slots=True)
class LoggedForecast:
    """The probability that counts for a market in a turn, and what it is scored by.

    Where the agent `stated` none it is the price, or even odds without one. `outcome` is 1 or 0, and None
    while the market is open, or if it paid a fraction or a refund.
    """

    question: str
    title: str
    event: str
    category: str
    probability: float
    stated: bool
    market_probability: float | None
    outcome: int | None


def read_scored_forecasts(
    connection: Connection, cohort: int, markets: Mapping[str, SeasonMarket]
) -> dict[TurnPlace, list[LoggedForecast]]:
    """Return the forecasts that count for each turn of a cohort; rounds hidden for now have none."""
    rows = evidence_rows(read_forecast_columns(connection, cohort))
    columns = zip(
        rows.agent.tolist(),
        rows.round.tolist(),
        rows.market.tolist(),
        stated_belief(rows.forecast).tolist(),
        rows.stated.tolist(),
        stated_belief(rows.mid).tolist(),
        rows.priced.tolist(),
        rows.outcome.tolist(),
        strict=True,
    )

    forecasts_by_turn = defaultdict[TurnPlace, list[LoggedForecast]](list)
    for agent_index, round_number, market_index, probability, stated, price, priced, outcome in columns:
        market_id = rows.markets[market_index]
        page = markets[market_id]
        forecast = LoggedForecast(
            question=market_id,
            title=page.title,
            event=page.event,
            category=page.category,
            probability=probability,
            stated=stated,
            market_probability=price if priced else None,
            outcome=outcome if outcome in (0, 1) else None,
        )
        forecasts_by_turn[rows.agents[agent_index], round_number].append(forecast)
    return forecasts_by_turn


def forecast_scores(forecasts: Sequence[LoggedForecast]) -> dict[str, float]:
    """Return the Brier score and the skill of forecasts, as on the leaderboard; NaN if all are open."""
    probabilities = [forecast.probability for forecast in forecasts]
    outcomes = [OPEN if forecast.outcome is None else forecast.outcome for forecast in forecasts]
    questions = [forecast.question for forecast in forecasts]

    prices = []
    for forecast in forecasts:
        price = forecast.market_probability
        prices.append(EVEN if price is None else price)

    return {
        "brier": brier.score(probabilities, outcomes, questions),
        "skill": skill.score(probabilities, outcomes, prices, questions),
    }


def score_fields(forecasts: Sequence[LoggedForecast]) -> dict[str, Fields]:
    """Return the scores of a turn in Inspect's form, by the names of their scorers."""
    scores: dict[str, Fields] = {}
    for name, value in forecast_scores(forecasts).items():
        scores[name] = {"value": value}

    stated_count = sum(forecast.stated for forecast in forecasts)
    scores["brier"] |= {
        "answer": f"{stated_count} of {len(forecasts)} markets",
        "explanation": _forecasts_table(forecasts),
        "metadata": {"forecasts": [asdict(forecast) for forecast in forecasts]},
    }
    return scores


def _forecasts_table(forecasts: Sequence[LoggedForecast]) -> str:
    """Return the forecasts of a turn as a Markdown table."""
    lines = ["| question | forecast | price | outcome |", "| --- | ---: | ---: | --- |"]
    for forecast in forecasts:
        title = one_line(forecast.title or forecast.question, LONGEST_TITLE).replace("|", "/")
        stated = f"{forecast.probability:.1%}" if forecast.stated else "none"
        price = forecast.market_probability
        price_text = "none" if price is None else f"{price:.1%}"
        lines.append(f"| {title} | {stated} | {price_text} | {outcome_text(forecast)} |")
    return "\n".join(lines)


def outcome_text(forecast: LoggedForecast) -> str:
    """Return the outcome of a forecast's market in a word."""
    if forecast.outcome is None:
        return "open"
    return "YES" if forecast.outcome else "NO"


def outcomes_text(forecasts: Sequence[LoggedForecast]) -> str:
    """Return the number of markets with each outcome."""
    counts = Counter(map(outcome_text, forecasts))
    return ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))


def time_apart_from_other_cohorts(at: datetime, cohort: int) -> datetime:
    """Return the time of a turn, shifted by microseconds to keep simultaneous cohorts apart."""
    return at + timedelta(microseconds=cohort)


# ── logs ─────────────────────────────────────────────────────────────────────────────────────────────────


def inspect_logs(
    connection: Connection, cohorts: Sequence[StoredCohort], prompts: bool, version: str
) -> Iterator[tuple[str, str]]:
    """Yield the name and text of each log; without `prompts` they lack the conversations."""
    markets = read_season_markets(connection)
    rounds = read_rounds_by_cohort(connection)

    for stored in cohorts:
        own_rounds = rounds.get(stored.id, [])
        forecasts = read_scored_forecasts(connection, stored.cohort.number, markets)
        turns: dict[TurnPlace, Turn] = {}
        calls: dict[TurnPlace, list[Call]] = {}
        for started_round in own_rounds:
            ids = stored.entrant_ids
            calls_by_entrant = read_calls(connection, started_round.id, [*ids.values()]) if prompts else {}
            for turn in read_turns(connection, started_round.id, [*ids.values()]):
                turns[turn.entrant, started_round.number] = turn
                calls[turn.entrant, started_round.number] = calls_by_entrant.get(ids[turn.entrant], [])

        for entrant in stored.cohort.entrants:
            logged_turns = []
            for started_round in own_rounds:
                turn_place = entrant.name, started_round.number
                if turn_place in forecasts:
                    logged_turns.append(
                        LoggedTurn(started_round, turns[turn_place], calls[turn_place], forecasts[turn_place])
                    )
            if logged_turns:
                log = _log(stored, entrant, logged_turns, version)
                yield log_name(stored, entrant), json.dumps(log, ensure_ascii=False) + "\n"


def log_name(stored: StoredCohort, entrant: Entrant) -> str:
    """Return the file name of a log, which begins with a time, as Inspect expects."""
    cohort = stored.cohort
    name = UNNAMED.sub("-", entrant.name)
    return f"{cohort.starts_at:%Y-%m-%dT%H-%M-%S}_cohort-{cohort.number}_{entrant.position:02}-{name}.json"


@dataclass(frozen=True, slots=True)
class LoggedTurn:
    """A turn with its round, the calls made for it, and the forecasts that count."""

    round: StoredRound
    turn: Turn
    calls: Sequence[Call]
    forecasts: Sequence[LoggedForecast]


def _log(stored: StoredCohort, entrant: Entrant, logged_turns: Sequence[LoggedTurn], version: str) -> Fields:
    """Return the log of an agent in a cohort."""
    cohort = stored.cohort
    model = str(entrant.settings.get("model") or entrant.kind)
    samples = []
    forecasts: list[LoggedForecast] = []
    calls: list[Call] = []
    for turn in logged_turns:
        samples.append(_sample(turn, cohort.number, model))
        forecasts += turn.forecasts
        calls += turn.calls

    key = f"cohort-{cohort.number}-{entrant.name}"

    metrics = []
    for name, value in forecast_scores(forecasts).items():
        metric = {"name": METRIC, "value": value, "params": {}}
        metrics.append({"name": name, "scorer": name, "params": {}, "metrics": {METRIC: metric}})

    started = timestamp_text(logged_turns[0].round.at)
    completed = timestamp_text(logged_turns[-1].round.at)
    return {
        "version": LOG_VERSION,
        "status": "success",
        "eval": {
            "eval_id": key,
            "run_id": f"cohort-{cohort.number}",
            "created": timestamp_text(cohort.starts_at),
            "task": f"cohort-{cohort.number}",
            "task_id": key,
            "dataset": {
                "name": cohort.venue,
                "samples": len(samples),
                "sample_ids": [sample["id"] for sample in samples],
                "shuffled": False,
            },
            "model": model,
            "tags": [entrant.name],
            "config": {},
            "packages": {"paper-arena": version},
            "metadata": {"forecaster": entrant.name, "kind": entrant.kind, "stamp": cohort.stamp},
        },
        "plan": {"name": "plan", "steps": [{"solver": SOLVER, "params": {}}], "config": {}},
        "results": {"total_samples": len(samples), "completed_samples": len(samples), "scores": metrics},
        "stats": {
            "started_at": started,
            "completed_at": completed,
            "model_usage": {model: _usage(calls)} if calls else {},
        },
        "samples": samples,
    }


def _sample(played: LoggedTurn, cohort: int, model: str) -> Fields:
    """Return a turn as a sample."""
    started_round = played.round
    decision = played.turn.decision
    calls = played.calls
    sample_id = f"cohort {cohort}, round {started_round.number}"

    return {
        "id": sample_id,
        "epoch": 1,
        # The messages have the questions.
        "input": f"{sample_id}: {count_text(len(played.forecasts), 'market')}",
        "target": outcomes_text(played.forecasts),
        "messages": [asdict(message) for message in conversation(calls)],
        "output": _output(calls, model),
        "scores": score_fields(played.forecasts),
        "metadata": {
            "cohort": cohort,
            "round": started_round.number,
            "agent": played.turn.entrant,
            "as_of": timestamp_text(time_apart_from_other_cohorts(started_round.at, cohort)),
            "status": decision.status,
            "note": decision.note,
        },
        "model_usage": {model: _usage(calls)} if calls else {},
        "started_at": timestamp_text(started_round.at),
        "total_time": sum(call.latency_ms for call in calls) / 1_000,
    }


def conversation(calls: Sequence[Call]) -> list[Message]:
    """Return the messages in order; a question that continues a conversation adds only what is new."""
    messages: list[Message] = []
    so_far: tuple[Message, ...] = ()
    for call in calls:
        asked = call.prompt.messages
        continues = asked[: len(so_far)] == so_far
        messages += asked[len(so_far) :] if continues else asked
        so_far = asked
        if call.reply is not None:
            reply = Message("assistant", call.reply)
            messages.append(reply)
            so_far = (*asked, reply)
    return messages


def _output(calls: Sequence[Call], model: str) -> Fields:
    """Return the last answer of a turn as the model's output; no choices if there is none."""
    answered = [call for call in calls if call.reply is not None]
    if not answered:
        return {"model": model, "choices": []}

    last = answered[-1]
    message = {"role": "assistant", "content": last.reply}
    choice = {"message": message, "stop_reason": STOPS.get(last.finish, "unknown")}
    return {"model": model, "choices": [choice], "completion": last.reply, "usage": _usage([last])}


def _usage(calls: Sequence[Call]) -> Fields:
    """Return the usage of calls in total; the cost is null if that of one is unknown."""
    tokens_in = sum(call.tokens_in for call in calls)
    tokens_out = sum(call.tokens_out for call in calls)
    cost: float | None = 0.0
    for call in calls:
        cost = None if cost is None or call.cost is None else cost + call.cost / ONE

    return {
        "input_tokens": tokens_in,
        "output_tokens": tokens_out,
        "total_tokens": tokens_in + tokens_out,
        "input_tokens_cache_read": sum(call.tokens_cached for call in calls),
        "input_tokens_cache_write": sum(call.tokens_cache_write for call in calls),
        "reasoning_tokens": sum(call.tokens_reasoning for call in calls),
        "total_cost": cost,
    }
