"""The desk as an OpenAPI document: its requests, its answers, and the documents that pass through it."""

import json
from datetime import datetime
from functools import cache
from typing import Any, Literal

from pydantic.json_schema import JsonSchemaMode, models_json_schema

from agents.answers.decision_document import MOST_BYTES
from agents.episode import DecisionDocument, EpisodeDocument, ResultDocument, ViewDocument
from agents.model import DecisionStatus
from arena.cohorts.freeze import code_version

OPENAPI_PATH = "/openapi.json"


class DeskFill(EpisodeDocument):
    """What an order got."""

    market: str
    """Of which market."""
    action: Literal["buy", "sell"]
    """Whether shares were bought or sold."""
    option: Literal["yes", "no"]
    """Of which of its options."""
    shares: float
    """How many."""
    amount: float
    """Dollars paid or received, the fee included."""
    fee: float
    """Dollars of fee."""
    left: str
    """Why the rest of the order was not filled; empty if all was."""


class DeskRejection(EpisodeDocument):
    """An item of a decision that was refused."""

    code: str
    """A stable code."""
    message: str
    """Why, in a sentence."""
    market: str
    """Of which market; empty where that is not known."""


class OpenTurn(EpisodeDocument):
    """The turn that is open; each of its fields is null while none is."""

    version: Literal[1]
    """Of this form."""
    turn: str | None
    """Its name."""
    deadline: datetime | None
    """Until when a decision is taken."""
    view: ViewDocument | None
    """All that the agent may know."""


class DecisionReceipt(EpisodeDocument):
    """How a decision was read: `at` once it is taken, `fills` where it was only tried."""

    version: Literal[1]
    """Of this form."""
    turn: str
    """Of which turn."""
    accepted: bool
    """Whether it was taken; false for a preview."""
    at: datetime | None = None
    """When it was taken."""
    fills: tuple[DeskFill, ...] = ()
    """What its orders would get, by the prices of the view."""
    forecasts: int
    """How many forecasts were read."""
    bets: int
    """How many bets were read."""
    sales: int
    """How many sales were read."""
    refused: tuple[DeskRejection, ...]
    """The items that were refused."""


class PastTurn(EpisodeDocument):
    """A turn that is over."""

    turn: str
    """Its name."""
    at: datetime
    """Its decision time."""
    status: DecisionStatus
    """How it ended."""
    note: str
    """More about that."""
    fills: tuple[DeskFill, ...]
    """What its orders got."""
    refused: tuple[DeskRejection, ...]
    """What was refused."""


class AgentResults(EpisodeDocument):
    """The agent's last turns, and its forecasts whose markets have ended."""

    version: Literal[1]
    """Of this form."""
    agent: str
    """Its name."""
    turns: tuple[PastTurn, ...]
    """Its turns that are over, the latest first."""
    results: tuple[ResultDocument, ...]
    """Its forecasts whose markets have ended, the latest first."""


class DeskFault(EpisodeDocument):
    """Why a request was refused."""

    code: str
    """A stable code."""
    message: str
    """What is wrong."""
    mend: str
    """What to do."""


class DeskError(EpisodeDocument):
    """The answer to a request that was refused."""

    error: DeskFault
    """Why."""
    refused: tuple[DeskRejection, ...] = ()
    """The faults of a decision, item by item."""


READ: tuple[type[EpisodeDocument], ...] = (DecisionDocument,)
"""Forms that the desk reads."""
WRITTEN: tuple[type[EpisodeDocument], ...] = (OpenTurn, DecisionReceipt, AgentResults, DeskError)
"""Forms that the desk writes."""
TURN_FAULTS = {
    "400": "The request names no turn or an unknown parameter, or its body has no length.",
    "404": "There is no such turn.",
    "409": "The turn already has another decision.",
    "410": "The turn is over.",
    "413": f"The body has more than {MOST_BYTES:,} bytes.",
    "422": "This is no decision, or nothing in it can be used; the turn is still open.",
}
FAULTS = {"401": "The key is missing or wrong.", "503": "The record can't be read or written just now."}


@cache
def openapi_text() -> bytes:
    """Return the document as JSON."""
    return json.dumps(openapi_document(), ensure_ascii=False).encode() + b"\n"


def openapi_document() -> dict[str, Any]:
    """Return the desk as OpenAPI 3.1, with the forms that `arena outside desk --schema` prints."""
    modes: list[tuple[type[EpisodeDocument], JsonSchemaMode]] = [
        *((form, "validation") for form in READ),
        *((form, "serialization") for form in WRITTEN),
    ]
    _, schemas = models_json_schema(modes, ref_template="#/components/schemas/{model}")

    return {
        "openapi": "3.1.1",
        "info": {
            "title": "Paper Arena desk",
            "version": code_version(),
            "description": "Where agents from outside take their turns.",
        },
        "servers": [{"url": "/"}],
        "security": [{"key": []}],
        "paths": {
            "/v1/turn": {"get": _read_turn(), "post": _send_decision()},
            "/v1/results": {"get": _read_results()},
        },
        "components": {
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
            "schemas": schemas["$defs"],
        },
    }


def _read_turn() -> dict[str, Any]:
    """Return the operation that reads the open turn."""
    return {
        "operationId": "view",
        "summary": "Read the turn that is open, with its view and its deadline.",
        "responses": {"200": _json_of(OpenTurn, "The open turn, or nulls."), **_refusals(FAULTS)},
    }


def _send_decision() -> dict[str, Any]:
    """Return the operation that sends a decision, or previews it."""
    turn = {
        "name": "turn",
        "in": "query",
        "required": True,
        "description": "The name of the turn, as the view has it.",
        "schema": {"type": "string"},
    }
    preview = {
        "name": "preview",
        "in": "query",
        "description": "Only try the decision: nothing is kept.",
        "schema": {"type": "boolean", "default": False},
    }

    return {
        "operationId": "submit",
        "summary": "Send the decision of a turn, or try it. The first one counts.",
        "parameters": [turn, preview],
        "requestBody": {"required": True, **_json_of(DecisionDocument, "The decision.")},
        "responses": {
            "200": _json_of(DecisionReceipt, "How it was read."),
            **_refusals(FAULTS | TURN_FAULTS),
        },
    }


def _read_results() -> dict[str, Any]:
    """Return the operation that reads an agent's past turns and results."""
    return {
        "operationId": "results",
        "summary": "Read the turns that are over, and the forecasts whose markets have ended.",
        "responses": {"200": _json_of(AgentResults, "Turns and results."), **_refusals(FAULTS)},
    }


def _json_of(form: type[EpisodeDocument], description: str) -> dict[str, Any]:
    """Return a body or an answer of JSON in this form."""
    schema = {"$ref": f"#/components/schemas/{form.__name__}"}
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _refusals(faults: dict[str, str]) -> dict[str, Any]:
    """Return the error answers of an operation, by status."""
    return {status: _json_of(DeskError, description) for status, description in sorted(faults.items())}
