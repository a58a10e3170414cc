"""The JSON schema of an answer, for providers that hold a model to one.

It is strict: every key is required, no other is allowed, and what may be left out elsewhere may be null.
Thoughts come before forecasts and reasons before probabilities, since a model writes in that order.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from markets.distributions import YES_NO, question_kind

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
SIDE: Schema = {"type": "string", "enum": ["YES", "NO"]}
MAYBE_TEXT: Schema = {"type": ["string", "null"]}
MAYBE_NUMBER: Schema = {"type": ["number", "null"]}
# A model sees these words beside the keys, whatever its prompt; they cost some thirty tokens.
SHORT_ID: Schema = TEXT | {"description": "its short name, such as m1"}
WHY: Schema = TEXT | {"description": "why, worked out before the probability"}


def answer_schema(bets: bool = True, kinds: Sequence[str] = ()) -> Schema:
    """Return the schema of a whole decision; without bets, that of forecasts alone.

    `kinds` are those of the questions, if not all are of yes or no: each is answered under its own key.
    """
    answers = _answer_schemas(kinds or (YES_NO,))
    lists = {"forecasts": _list_schema(market=SHORT_ID, reason=WHY, **answers)}
    if bets:
        lists["bets"] = _list_schema(market=TEXT, side=SIDE, amount=NUMBER, limit=MAYBE_NUMBER, reason=TEXT)
        lists["sales"] = _list_schema(
            market=TEXT, side=SIDE, fraction=NUMBER, limit=MAYBE_NUMBER, reason=TEXT
        )

    return _object_schema(thoughts=MAYBE_TEXT, **lists)


def _answer_schemas(kinds: Sequence[str]) -> dict[str, Schema]:
    """Return the schemas of answers by key; where there are several keys, all but one are null."""
    schemas: dict[str, list[Mapping[str, Any]]] = {}
    for name in kinds:
        kind = question_kind(name)
        schemas.setdefault(kind.KEY, []).append(kind.SCHEMA)

    others: list[Mapping[str, Any]] = [{"type": "null"}] if len(schemas) > 1 else []
    answers: dict[str, Schema] = {}
    for key, forms in schemas.items():
        choices = [*forms, *others]
        answers[key] = dict(choices[0]) if len(choices) == 1 else {"anyOf": choices}
    return answers


def _list_schema(**keys: Schema) -> Schema:
    return {"type": "array", "items": _object_schema(**keys)}


def _object_schema(**keys: Schema) -> Schema:
    return {"type": "object", "properties": keys, "required": list(keys), "additionalProperties": False}
