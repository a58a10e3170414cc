"""What came of trying an agent, as JSON."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from arena.cli.positions import exact

if TYPE_CHECKING:
    from agents.model import Call, Prompt
    from arena.model import Turn
    from arena.scene import Scene
    from arena.trial import Question, Trial


def as_data(trial: "Trial") -> dict[str, Any]:
    """All of it for JSON; money in dollars."""
    scene, entrant = trial.scene, trial.scene.part.entrant
    told = {
        "agent": entrant.name,
        "kind": entrant.kind,
        "model": entrant.settings.get("model"),
        "dry": trial.turn is None,
        "cohort": scene.cohort,
        "round": scene.round.number,
        "at": scene.snapshot.at.isoformat(),
        "fresh": scene.fresh,
        "markets": len(scene.snapshot.shown),
        "cash": exact(trial.mark.cash),
        "total": exact(trial.mark.total),
        "changed": {key: {"was": was, "is": now} for key, (was, now) in scene.part.changed.items()},
        "missing": list(trial.missing),
        "trouble": list(scene.trouble),
        "questions": [_question(question) for question in trial.questions],
        "worst_usd": together(question.worst for question in trial.questions),
        "cost_usd": together(call.cost for call in calls(trial)),
    }
    return told | ({"decision": None} if trial.turn is None else _turn(trial.turn, scene))


def _question(question: "Question") -> dict[str, Any]:
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


def _turn(turn: "Turn", scene: "Scene") -> dict[str, Any]:
    decision, listings = turn.decision, {listing.market.id: listing for listing in scene.snapshot}
    return {
        "decision": {
            "verdict": decision.verdict,
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
            "bets": [_wish(bet, "amount", "limit") for bet in decision.bets],
            "sales": [_wish(sale, "shares", "fraction", "limit") for sale in decision.sales],
        },
        "rejections": [
            {"code": item.code, "message": item.message, "market": item.market_id} for item in turn.rejections
        ],
        "fills": [
            _wish(fill, "shares", "amount", "fee") | {"action": fill.action, "left": fill.left}
            for fill in turn.fills
        ],
    }


def _wish(wish: Any, *amounts: str) -> dict[str, Any]:
    told = {"market": wish.market_id, "side": wish.side}
    return told | {name: exact(getattr(wish, name)) for name in amounts} | {"reason": wish.reason}


def tokens(prompt: "Prompt") -> int:
    """About how many tokens a question takes, rather too many than too few."""
    from agents.trim import tokens_of

    return tokens_of(prompt.messages)


def calls(trial: "Trial") -> list["Call"]:
    """Every attempt to get an answer."""
    return [call for question in trial.questions for call in question.calls]


def together(amounts: Iterable[int | None]) -> float | None:
    """What these come to together; None where one of them is unknown, which is not 0."""
    known = list(amounts)
    return None if None in known else exact(sum(amount or 0 for amount in known))
