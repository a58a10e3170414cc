"""Checks a part of a config against its model, and notes mistakes in plain words."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from arena.config.document import Document
from arena.config.errors import Key, dotted_key, quoted_value, suggestion
from arena.config.key_schema import KeySchema, keys_of, python_only

Model = TypeVar("Model", bound=BaseModel)

OLD_KEYS = {
    "run.boards": ("run.scores", "`scores` updates the leaderboards too. Remove `boards`"),
    "run.retention": ("run.keep_quotes", "`keep_quotes` alone deletes old ones daily. Remove `retention`"),
    "watch.webhook_env": ("watch.webhook", "write `$` and the name of the variable under `webhook`"),
    "markets.simulator.seed": ("seed", "the world has the arena's. Set `seed` outside of all blocks"),
}
"""Keys of earlier versions, each with the key that takes its place, and what to do."""
NO_BLOCKS: Mapping[Key, Collection[str]] = MappingProxyType({})
NUMBER_FOR_PEOPLE = re.compile(
    r"\s*[$€£]?\s*((?:[1-9]\d{0,2}(?:,\d{3})+|\d[\d_]*)(?:\.\d+)?)\s*(?:[$€£]|USD)?\s*"
)
"""A number with a currency's sign, or with commas between thousands.

In `10,50` the comma may be a decimal point, so nothing is suggested.
"""
VALIDATOR_ERRORS = ("value_error", "assertion_error")
"""Types of errors whose text is a validator's own."""


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
    part = _CheckedPart(document, at, KeySchema.of(model), also, blocks)

    # Fields that a config can't set are unknown keys to it.
    written = document.get(*at)
    python_fields = python_only(model).intersection(written if isinstance(written, dict) else ())
    for name in python_fields:
        part.note_unknown((name,))

    try:
        validated = model.model_validate_json(json.dumps(data), strict=True)
    except ValidationError as error:
        for detail in error.errors():
            part.note(detail)
        return None
    return None if python_fields else validated


@dataclass(frozen=True, slots=True)
class _CheckedPart:
    """The part of a config that is checked: where it stands, and which keys are known there."""

    document: Document
    at: Key
    schema: KeySchema
    also: tuple[str, ...]
    blocks: Mapping[Key, Collection[str]]

    def note(self, detail: ErrorDetails) -> None:
        """Note a mistake found by pydantic."""
        location = detail["loc"]
        inner = _written_key(self.document.get(*self.at), location)
        kind = detail["type"]
        if kind == "extra_forbidden":
            self.note_unknown(inner)
            return

        context = detail.get("ctx", {})
        key = (*self.at, *inner)
        if "at" in context:
            key = (*key, context["at"])

        value = self.document.get(*key)
        found = context.get("found") or quoted_value(value)
        meant = self._meant(detail)
        if "words" in context:
            message = context["words"]
        elif kind == "missing":
            article = "a " if meant.startswith("text") else ""
            needed = meant.removesuffix(" of a length of at least 1")
            message = f"this key is missing; expected {article}{needed}"
        elif kind not in VALIDATOR_ERRORS:
            message = f"found {found}, expected {meant}{_remedy(value, self.schema.choices(location))}"
        elif isinstance(value, dict | None):
            message = meant
        else:
            message = f"found {found}: {meant}"
        self.document.add_error(key, found, meant, message)

    def _meant(self, detail: ErrorDetails) -> str:
        """Return what is expected in place of a mistake, in words."""
        if detail["type"] == "meant":
            return str(detail["ctx"]["meant"])
        if detail["type"] in VALIDATOR_ERRORS:
            return str(detail["ctx"]["error"])
        return self.schema.describe(self.schema.at(detail["loc"])) or detail["msg"]

    def note_unknown(self, inner: Key) -> None:
        """Note an unknown key, suggesting a similar one beside it or in a block below it."""
        key = (*self.at, *inner)
        word = str(inner[-1])
        if dotted_key(key) in OLD_KEYS:
            meant, remedy = OLD_KEYS[dotted_key(key)]
            self.document.add_error(key, word, meant, f"this key is gone: {remedy}")
            return

        known = set(self.also) if len(inner) == 1 else set()
        for part in self.schema.at(inner[:-1]):
            known.update(keys_of(part))

        meant, hint = suggestion(word, sorted(known))
        key_below = self._key_below(word, inner[:-1])
        if key_below is not None and not hint.startswith("Did you mean"):
            meant = key_below
            hint = f'Did you mean "{key_below}"?'
        self.document.add_error(key, word, meant, f"unknown key. {hint}")

    def _key_below(self, word: str, inner: Key) -> str | None:
        """Return the whole key of that name in one of the blocks of a block; None if none has it."""
        block = (*self.at, *inner)
        for option in self.schema.at(inner):
            for name, part in keys_of(option).items():
                if any(word in keys_of(alternative) for alternative in self.schema.resolve(part)):
                    return dotted_key((*block, name, word))

        for key, names in self.blocks.items():
            if key[:-1] == block and word in names:
                return dotted_key((*key, word))
        return None


def _written_key(value: Any, location: Key) -> Key:
    """Return pydantic's location without parts that are not in the file, such as names of types."""
    key: Key = ()

    for step, part in enumerate(location, 1):
        if isinstance(value, list) and isinstance(part, int) and part < len(value):
            key = (*key, part)
            value = value[part]
        elif isinstance(value, dict) and (part in value or step == len(location)):  # the last may be missing
            key = (*key, part)
            value = value.get(part)

    return key


def _remedy(value: object, choices: Sequence[str]) -> str:
    """Return a sentence with the choice that was meant, or the number without a currency's sign and commas.

    >>> _remedy("$10,000", []), _remedy("realstic", ["realistic"]), _remedy("ten", [])
    ('. Write 10000', '. Did you mean "realistic"?', '')
    """
    if not isinstance(value, str):
        return ""

    hint = suggestion(value, choices)[1]
    if hint.startswith("Did you mean"):
        return f". {hint}"

    number = NUMBER_FOR_PEOPLE.fullmatch(value)
    plain_number = value if number is None else re.sub("[,_]", "", number[1])
    return "" if plain_number == value else f". Write {plain_number}"
