"""The values that the keys of a model take, in words, from its JSON schema."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import BaseModel
from pydantic.errors import PydanticInvalidForJsonSchema

from arena.config.errors import Key
from markets.registry import PYTHON_ONLY

Part = dict[str, Any]
"""A part of a schema: what one key takes."""
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
BOUNDS = {
    "minimum": "at least",
    "exclusiveMinimum": "more than",
    "maximum": "at most",
    "exclusiveMaximum": "less than",
    "minLength": "a length of at least",
}


def python_only(model: type[BaseModel]) -> set[str]:
    """Return the fields of a model that are not keys of a config."""
    return {name for name, field in model.model_fields.items() if field.json_schema_extra == PYTHON_ONLY}


def describe_keys(model: type[BaseModel]) -> dict[str, tuple[str, str]]:
    """Return for each key of a model the values it takes, in words, and the unit of its numbers."""
    schema = KeySchema.of(model)
    described = {}

    for key, part in keys_of(schema.root).items():
        # A part with words of its own is described by them, whatever it refers to.
        alternatives = [part] if "meant" in part else schema.resolve(part)
        alternatives = _without_null(alternatives)
        units = [str(alternative["unit"]) for alternative in alternatives if alternative.get("unit")]
        unit = units[0] if units else ""
        described[key] = schema.describe(alternatives), unit

    return described


def keys_of(part: Part) -> dict[str, Part]:
    """Return the keys of a block, with what each of them takes."""
    keys: dict[str, Part] = part.get("properties", {})
    return keys


def _without_null(alternatives: Sequence[Part]) -> list[Part]:
    """Return alternatives without the one for no value."""
    return [alternative for alternative in alternatives if alternative.get("type") != "null"]


@dataclass(frozen=True, slots=True)
class KeySchema:
    """The JSON schema of a model's keys; it is empty if an extension's model has none."""

    root: Part

    @staticmethod
    @cache
    def of(model: type[BaseModel]) -> "KeySchema":
        """Return the schema of a model, without fields that are no keys.

        It is cached for all agents of a kind, which saves two thirds of reading a config of 240 models.
        """
        try:
            schema = model.model_json_schema()
        except PydanticInvalidForJsonSchema:
            return KeySchema({})

        for name in python_only(model):
            del schema["properties"][name]
        return KeySchema(schema)

    def resolve(self, part: Part) -> list[Part]:
        """Return the alternatives that a part stands for, with references followed."""
        if "$ref" in part:
            name = part["$ref"].rsplit("/", 1)[-1]
            return self.resolve(self.root["$defs"][name])

        alternatives = []
        for alternative in part.get("anyOf", ()):
            alternatives += self.resolve(alternative)
        return alternatives or [part]

    def at(self, key: Key) -> list[Part]:
        """Return what may stand at a key. Steps that are names of types are left out."""
        alternatives = self.resolve(self.root) if self.root else []

        for step in key:
            below = []
            for part in alternatives:
                inner = part.get("items") if isinstance(step, int) else keys_of(part).get(step)
                if isinstance(inner, dict):
                    below += self.resolve(inner)
            # A step that leads nowhere is the name of a type, which pydantic puts into its locations.
            alternatives = below or alternatives

        return _without_null(alternatives) or alternatives

    def choices(self, key: Key) -> list[str]:
        """Return the words that a key can take."""
        choices = []
        for alternative in self.at(key):
            choices += alternative.get("enum", [alternative.get("const", "")])
        return [str(choice) for choice in choices if choice]

    def describe(self, alternatives: Sequence[Part]) -> str:
        """Return alternatives in words.

        >>> KeySchema({}).describe([{"type": "integer", "minimum": 1}, {"type": "string", "maxLength": 64}])
        'a whole number of at least 1 or text of 0 to 64 characters'
        >>> KeySchema({}).describe([{"enum": ["shown", "hidden"]}])
        'one of shown, hidden'
        """
        return " or ".join(map(self._describe_one, alternatives))

    def _describe_one(self, part: Part) -> str:
        """Return one alternative in words."""
        for name in ("meant", "const"):
            if name in part:
                return str(part[name])
        if "enum" in part:
            return f"one of {', '.join(map(str, part['enum']))}"

        noun = FORMATS.get(part.get("format", "")) or NOUNS.get(part.get("type", ""), "another value")
        if "items" in part:
            noun += f" of {self.describe(self.resolve(part['items']))}"
        if "minimum" in part and "maximum" in part:
            return f"{noun} from {part['minimum']:,} to {part['maximum']:,}"
        if "maxLength" in part:
            return f"{noun} of {part.get('minLength', 0)} to {part['maxLength']} characters"

        bounds = [f"{words} {part[name]:,}" for name, words in BOUNDS.items() if name in part]
        if not bounds:
            return noun
        return f"{noun} of {' and '.join(bounds)}"
