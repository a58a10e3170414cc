"""A turn as data for JSON: questions, answers and the decision; money in dollars."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from agents.model import Call, Forecast
from agents.text import hidden_characters, tokens_of
from arena.cohorts.diff import changed_values_data
from arena.record.model.cohort import Turn
from arena.record.schema.statements import attributes_of
from arena.rounds.trial import Trial, TrialQuestion
from markets.distributions import distribution_of, form_of, question_kind
from markets.millionths import decimal
from markets.model import Listing, MarketId

AMOUNTS = ("shares", "fraction", "amount", "limit", "fee")
"""What bets, sales and fills have in millionths."""
ANSWER = ("reply", "thinking", "citations", "finish", "rung", "model", "fingerprint", "host", "tokens_in",
          "tokens_cached", "tokens_cache_write", "tokens_out", "tokens_reasoning", "status",
          "latency_ms")  # fmt: skip


def trial_data(trial: Trial, recorded: bool) -> dict[str, Any]:
    """Return the data of a recorded or tried turn."""
    setting = trial.setting
    entrant = setting.agent.entrant
    shown = setting.snapshot.shown
    data: dict[str, Any] = {
        "agent": entrant.name,
        "kind": entrant.kind,
        "model": entrant.settings.get("model"),
        "dry": trial.turn is None,
        "cohort": setting.cohort,
        "round": setting.round.number,
        "at": setting.snapshot.at.isoformat(),
        "fresh": setting.fresh,
        "markets": len(shown),
        "stories": trial.stories,
        "cash": _number(trial.mark.cash),
        "total": _number(trial.mark.total),
        "changed": changed_values_data(setting.agent.changed),
        "missing": trial.missing,
        "trouble": setting.trouble,
        "hidden": hidden_in_markets(shown),
        "questions": list(map(_question_data, trial.questions)),
        "worst_usd": _number(trial.worst),
        "cost_usd": _number(trial.cost),
        "recorded": recorded,
        "decision": None,
    }
    if trial.turn is not None:
        data |= _turn_data(trial.turn, trial.listings)
    return data


def hidden_in_markets(shown: Sequence[Listing]) -> dict[MarketId, Mapping[str, int]]:
    """Return the invisible characters in each market's texts with their counts, by market."""
    hidden: dict[MarketId, Mapping[str, int]] = {}
    for listing in shown:
        characters = hidden_characters([listing.market.question, listing.market.rules])
        if characters:
            hidden[listing.market.id] = characters
    return hidden


def _question_data(question: TrialQuestion) -> dict[str, Any]:
    """Return the data of a question and its calls."""
    prompt = question.prompt
    return attributes_of(prompt, "stage", "sample", "seed") | {
        "tokens": tokens_of(prompt.messages),
        "worst_usd": _number(question.worst),
        "messages": list(map(asdict, prompt.messages)),
        "answers": list(map(_answer_data, question.calls)),
    }


def _answer_data(call: Call) -> dict[str, Any]:
    """Return the data of a call: its reply and model, or its error."""
    error = call.error and attributes_of(call.error, "code", "message")
    return attributes_of(call, *ANSWER) | {"cost_usd": _number(call.cost), "error": error}


def _turn_data(turn: Turn, listings: Mapping[MarketId, Listing]) -> dict[str, Any]:
    """Return the data of a turn's decision, fills and rejections."""
    decision = turn.decision
    forecasts = []
    for forecast in decision.forecasts:
        listing = listings[forecast.market_id]
        forecasts.append(
            attributes_of(forecast, "stage", "reason")
            | {
                "market": forecast.market_id,
                "question": listing.market.question,
                "mid": _number(listing.mid),
                "probability": None if forecast.distribution else _number(forecast.millionths),
                "said": distribution_in_words(forecast, listings),
                "distribution": json.loads(forecast.distribution) if forecast.distribution else None,
            }
        )

    return {
        "decision": attributes_of(decision, "status", "note", "repaired")
        | {
            "forecasts": forecasts,
            "bets": list(map(_order_data, decision.bets)),
            "sales": list(map(_order_data, decision.sales)),
        },
        "rejections": [
            attributes_of(rejection, "code", "message") | {"market": rejection.market_id}
            for rejection in turn.rejections
        ],
        "fills": [_order_data(fill) | attributes_of(fill, "action", "left") for fill in turn.fills],
    }


def distribution_in_words(forecast: Forecast, listings: Mapping[MarketId, Listing]) -> str | None:
    """Return the answer to a question that isn't of yes or no in words; None for a probability."""
    if not forecast.distribution:
        return None
    form = form_of(listings[forecast.market_id].market.form)
    return question_kind(form.kind).words(form, distribution_of(forecast.distribution))


def _order_data(order: Any) -> dict[str, Any]:
    """Return the data of a bet, a sale or a fill, with the amounts that it has."""
    amounts = {name: _number(getattr(order, name)) for name in AMOUNTS if hasattr(order, name)}
    return {"market": order.market_id, "side": order.side, **amounts, "reason": order.reason}


def _number(millionths: int | None) -> float | None:
    """Return millionths as a number, the float nearest to their exact value."""
    return None if millionths is None else float(decimal(millionths))
