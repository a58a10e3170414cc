"""What pydantic finds wrong, in the words of the config's reader."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic.errors import PydanticInvalidForJsonSchema
from pydantic_core import ErrorDetails

from arena.config.document import Document
from arena.config.errors import Key, dotted_key, quoted_value, suggestion
from markets.registry import PYTHON_ONLY

Model = TypeVar("Model", bound=BaseModel)
Schema = dict[str, Any]

OLD_KEYS = {
    "run.boards": ("run.scores", "`scores` updates the leaderboards too. Remove `boards`"),
    "run.retention": (
        "run.keep_quotes",
        "`keep_quotes` alone deletes old ones daily. Remove `retention`",
    ),
    "watch.webhook_env": ("watch.webhook", "write `$` and the name of the variable under `webhook`"),
    "markets.simulator.seed": ("seed", "the world has the arena's. Set `seed` outside of all blocks"),
}
"""The keys that there were once: the key that takes their place, and what to do."""
NO_BLOCKS: Mapping[Key, Collection[str]] = MappingProxyType({})
NUMBER_FOR_PEOPLE = re.compile(r"\s*[$€£]?\s*(\d[\d,_]*(?:\.\d+)?)\s*(?:[$€£]|USD)?\s*")
"""A number as people write it: with a currency's sign, or with commas between thousands."""
NOUNS = {
    "integer": "a whole number",
    "number": "a number",
    "string": "text",
    "boolean": "true or false",
    "array": "a list",
    "object": "a block of keys and values",
    "null": "nothing",
}
FORMATS = {"date": "a date such as 2026-01-04", "date-time": "a time such as 2026-01-04T00:00:00Z"}


def validate(
    model: type[Model],
    data: Any,
    document: Document,
    at: Key,
    also: tuple[str, ...] = (),
    blocks: Mapping[Key, Collection[str]] = NO_BLOCKS,
) -> Model | None:
    """Return the data as a model, or None with its mistakes noted in the document, at the key `at`.

    Values are taken as strictly as JSON's: "5" is text and no number. `also` are further keys that
    are known at this place. `blocks` has the keys of blocks that the model does not know, by theirs.
    """
    written = document.get(*at)
    no_keys = python_only(model) & (written.keys() if isinstance(written, dict) else set())
    for name in no_keys:
        _note_unknown(_schema_of(model), (name,), document, at, also, blocks)
    try:
        made = model.model_validate_json(json.dumps(data), strict=True)
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            _note(model, detail, document, at, also, blocks)
        return None
    return None if no_keys else made


def describe_keys(model: type[BaseModel]) -> dict[str, tuple[str, str]]:
    """What may stand at each key of a model: in words, and the unit that its numbers are read into."""
    schema = _schema_of(model)
    found = {}
    for key, part in schema.get("properties", {}).items():
        options = [part] if "meant" in part else _resolve(part, schema)
        places = [place for place in options if place.get("type") != "null"]
        words = " or ".join(_describe(place, schema) for place in places)
        found[key] = words, next((str(place["unit"]) for place in places if "unit" in place), "")
    return found


def _note(
    model: type[BaseModel],
    detail: ErrorDetails,
    document: Document,
    at: Key,
    also: tuple[str, ...],
    blocks: Mapping[Key, Collection[str]],
) -> None:
    inner = _place(document.get(*at), detail["loc"])
    key = (*at, *inner)
    schema = _schema_of(model)
    if detail["type"] == "extra_forbidden":
        _note_unknown(schema, inner, document, at, also, blocks)
        return
    meant, told = _meant(detail, schema), detail.get("ctx", {})
    key = (*key, told["at"]) if "at" in told else key
    value = document.get(*key)
    found = told.get("found") or quoted_value(value)
    if detail["type"] == "missing":
        words = f"this key is missing; expected {meant}"
    elif detail["type"] in ("value_error", "assertion_error"):
        words = meant if isinstance(value, dict | None) else f"found {found}: {meant}"
    else:
        near = suggestion(value, _choices(schema, detail["loc"]))[1] if isinstance(value, str) else ""
        near = near if near.startswith("Did") else _plain_number(value)
        words = f"found {found}, expected {meant}" + (f". {near}" if near else "")
    document.add(key, found, meant, told.get("words") or words)


def _plain_number(value: object) -> str:
    """Return how a number is written in a config that has a currency's sign or commas; nothing for others.

    >>> _plain_number("$10,000"), _plain_number("ten")
    ('Write 10000', '')
    """
    written = NUMBER_FOR_PEOPLE.fullmatch(value) if isinstance(value, str) else None
    plain = "" if written is None else written[1].replace(",", "").replace("_", "")
    return f"Write {plain}" if plain and plain != value else ""


def _note_unknown(
    schema: Schema,
    inner: Key,
    document: Document,
    at: Key,
    also: tuple[str, ...],
    blocks: Mapping[Key, Collection[str]],
) -> None:
    """Note a key that there is not, and which is meant: one like it beside it, or one level below."""
    key = (*at, *inner)
    if dotted_key(key) in OLD_KEYS:
        meant, remedy = OLD_KEYS[dotted_key(key)]
        document.add(key, str(inner[-1]), meant, f"this key is gone: {remedy}")
        return

    places = _walk(schema, inner[:-1])
    known = [name for place in places for name in place.get("properties", {})]
    known += also if len(inner) == 1 else ()
    word = str(inner[-1])
    meant, words = suggestion(word, sorted(known))
    if not words.startswith("Did"):
        below = _key_below(word, schema, (*at, *inner[:-1]), places, blocks)
        if below is not None:
            meant = below
            words = f'Did you mean "{below}"?'

    document.add(key, word, meant, f"unknown key. {words}")


def _key_below(
    word: str,
    schema: Schema,
    block: Key,
    places: Sequence[Schema],
    blocks: Mapping[Key, Collection[str]],
) -> str | None:
    """Return the key of that name in one of the blocks of a block, whole; None where none has it."""
    for place in places:
        for name, part in place.get("properties", {}).items():
            if any(word in found.get("properties", {}) for found in _resolve(part, schema)):
                return dotted_key((*block, name, word))

    for key, names in blocks.items():
        if key[:-1] == block and word in names:
            return dotted_key((*key, word))
    return None


def python_only(model: type[BaseModel]) -> set[str]:
    """The fields of a model that are no keys of a config."""
    return {name for name, field in model.model_fields.items() if field.json_schema_extra == PYTHON_ONLY}


def _place(value: Any, loc: tuple[str | int, ...]) -> Key:
    """Pydantic's location without what isn't in the file: names of types, keys of what is no block."""
    place: Key = ()
    for step, part in enumerate(loc, 1):
        if isinstance(value, list) and isinstance(part, int) and part < len(value):
            place, value = (*place, part), value[part]
        elif isinstance(value, dict) and (part in value or step == len(loc)):
            place, value = (*place, part), value.get(part)
    return place


def _schema_of(model: type[BaseModel]) -> Schema:
    try:
        schema = model.model_json_schema()
    except PydanticInvalidForJsonSchema:  # an extension's own type: pydantic's words must do
        return {}
    for name in python_only(model):
        del schema["properties"][name]
    return schema


def _meant(detail: ErrorDetails, schema: Schema) -> str:
    if detail["type"] == "meant":
        return str(detail["ctx"]["meant"])
    if detail["type"] in ("value_error", "assertion_error"):
        return str(detail["ctx"]["error"])
    return " or ".join(_describe(found, schema) for found in _walk(schema, detail["loc"])) or detail["msg"]


def _resolve(part: Schema, schema: Schema) -> list[Schema]:
    """The alternatives that a schema stands for, references followed."""
    if "$ref" in part:
        return _resolve(schema["$defs"][part["$ref"].rsplit("/", 1)[-1]], schema)
    if "anyOf" in part:
        return [found for option in part["anyOf"] for found in _resolve(option, schema)]
    return [part]


def _walk(schema: Schema, key: Key) -> list[Schema]:
    """The schemas that may hold at a key; steps that are names of types, as pydantic has them, are none."""
    places = _resolve(schema, schema) if schema else []
    for step in key:
        nexts = []
        for place in places:
            inner = place.get("items") if isinstance(step, int) else place.get("properties", {}).get(step)
            nexts += _resolve(inner, schema) if isinstance(inner, dict) else []
        places = nexts or places
    real = [place for place in places if place.get("type") != "null"]
    return real or places


def _choices(schema: Schema, key: Key) -> list[str]:
    places = _walk(schema, key)
    return [str(value) for place in places for value in place.get("enum", [place.get("const", "")]) if value]


def _describe(place: Schema, schema: Schema) -> str:
    """A schema in words.

    >>> _describe({"type": "integer", "minimum": 1}, {}), _describe({"type": "string", "maxLength": 64}, {})
    ('a whole number of at least 1', 'text of 0 to 64 characters')
    >>> _describe({"enum": ["shown", "hidden"]}, {})
    'one of shown, hidden'
    """
    if "meant" in place:
        return str(place["meant"])
    if "const" in place:
        return str(place["const"])
    if "enum" in place:
        return "one of " + ", ".join(map(str, place["enum"]))
    noun = FORMATS.get(place.get("format", "")) or NOUNS.get(place.get("type", ""), "another value")
    if place.get("type") == "array":
        inner = [_describe(found, schema) for found in _resolve(place.get("items", {}), schema)]
        noun += f" of {' or '.join(inner)}" if "items" in place else ""
    if place.keys() >= {"minimum", "maximum"}:
        return f"{noun} from {place['minimum']:,} to {place['maximum']:,}"
    if "maxLength" in place:
        return f"{noun} of {place.get('minLength', 0)} to {place['maxLength']} characters"
    bounds = [f"{words} {place[name]:,}" for name, words in BOUNDS.items() if name in place]
    return f"{noun} of {' and '.join(bounds)}" if bounds else noun


BOUNDS = {
    "minimum": "at least",
    "exclusiveMinimum": "more than",
    "maximum": "at most",
    "exclusiveMaximum": "less than",
    "minLength": "a length of at least",
}
