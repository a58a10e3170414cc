"""The JSON schema of an answer, for providers that hold a model to one.

It is strict: every key is required, no other is allowed, and what may be left out elsewhere may be null.
Thoughts come before forecasts and reasons before probabilities, since a model writes in that order.
"""

from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
SIDE: Schema = {"type": "string", "enum": ["YES", "NO"]}
MAYBE_TEXT: Schema = {"type": ["string", "null"]}
MAYBE_NUMBER: Schema = {"type": ["number", "null"]}
# A model sees these words beside the keys, whatever its prompt; they cost some thirty tokens.
SHORT_ID: Schema = TEXT | {"description": "its short name, such as m1"}
WHY: Schema = TEXT | {"description": "why, worked out before the probability"}
CHANCE: Schema = NUMBER | {"description": "that it ends YES: a fraction from 0 to 1, such as 0.65"}


def answer_schema(bets: bool = True) -> Schema:
    """The schema of a whole decision; without bets, that of forecasts alone."""
    lists = {"forecasts": _list_schema(market=SHORT_ID, reason=WHY, probability=CHANCE)}
    if bets:
        lists["bets"] = _list_schema(market=TEXT, side=SIDE, amount=NUMBER, limit=MAYBE_NUMBER, reason=TEXT)
        lists["sales"] = _list_schema(
            market=TEXT, side=SIDE, fraction=NUMBER, limit=MAYBE_NUMBER, reason=TEXT
        )
    return _object_schema(thoughts=MAYBE_TEXT, **lists)


def _list_schema(**keys: Schema) -> Schema:
    return {"type": "array", "items": _object_schema(**keys)}


def _object_schema(**keys: Schema) -> Schema:
    return {"type": "object", "properties": keys, "required": list(keys), "additionalProperties": False}
