"""The JSON schema of an answer, for providers that hold a model to one.

It is strict: every key is required and no other is allowed, and what may be left out elsewhere may be
null here. Thoughts come before forecasts, and reasons before probabilities, since a model writes in
that order. `parse` takes whatever the schema lets through, and judges what it means.
"""

from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
SIDE: Schema = {"type": "string", "enum": ["YES", "NO"]}
MAYBE_TEXT: Schema = {"type": ["string", "null"]}
MAYBE_NUMBER: Schema = {"type": ["number", "null"]}


def schema(bets: bool = True) -> Schema:
    """The schema of a whole decision; without bets, that of forecasts alone.

    >>> list(schema()["properties"]), list(schema(bets=False)["properties"])
    (['thoughts', 'forecasts', 'bets', 'sales'], ['thoughts', 'forecasts'])
    """
    lists = {"forecasts": _list(market=TEXT, reason=TEXT, probability=NUMBER)}
    if bets:
        lists["bets"] = _list(market=TEXT, side=SIDE, amount=NUMBER, limit=MAYBE_NUMBER, reason=TEXT)
        lists["sales"] = _list(market=TEXT, side=SIDE, fraction=NUMBER, limit=MAYBE_NUMBER, reason=TEXT)
    return _object(thoughts=MAYBE_TEXT, **lists)


def _list(**keys: Schema) -> Schema:
    return {"type": "array", "items": _object(**keys)}


def _object(**keys: Schema) -> Schema:
    return {"type": "object", "properties": keys, "required": list(keys), "additionalProperties": False}
