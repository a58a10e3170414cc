"""A tournament's file: its form, its prizes, and where its forecasts are."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from arena.config.document import Document, read
from arena.config.errors import ConfigErrors
from arena.config.explain import validate

ONLY = {"peer": ("minimum_prize", "exclude", "outside", "weights"), "2022": ("hidden_weight",)}
"""Keys that only one form has."""


class Rules(BaseModel):
    """What a tournament is played by."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    form: Literal["peer", "2022"] = Field(
        "peer", description="Peer scores with squared sums, or relative scores as of 2022."
    )
    forecasts: str = Field(description="The CSV of forecasts, beside this file.")
    pool: float = Field(0, ge=0, allow_inf_nan=False, description="What there is to win, in dollars.")
    minimum_prize: float = Field(
        0, ge=0, allow_inf_nan=False, description="Prizes under this are not paid; the others share them."
    )
    exclude: tuple[str, ...] = Field((), strict=False, description="Who keeps a score and wins nothing.")
    outside: tuple[str, ...] = Field(
        (), strict=False, description="Whom nobody is compared with, such as bots."
    )
    weights: dict[str, float] = Field({}, description="What a question counts, where that isn't 1.")
    hidden_weight: float | None = Field(
        None, ge=0, le=1, description="The weight of the time until hidden_until in coverage."
    )


def rules(path: Path) -> Rules:
    """The rules in a file; raises `ConfigErrors` with every mistake in them."""
    document = read(path)
    if isinstance(document.value.get("form"), int):
        document.value["form"] = str(document.value["form"])
    found = validate(Rules, document.value, document, (), ())
    if found is not None:
        _check(document, found)
    if found is None or document.errors:
        raise ConfigErrors(document.errors)
    return found


def _check(document: Document, found: Rules) -> None:
    for form, keys in ONLY.items():
        for key in keys:
            if form != found.form and key in document.value:
                words = f"a tournament of the form {found.form} has no {key}. Take it out"
                document.add((key,), key, f"only with form: {form}", words)
    if found.minimum_prize > found.pool:
        words = (
            f"the smallest prize is {found.minimum_prize:g} and the pool {found.pool:g}. Make the pool larger"
        )
        document.add(("minimum_prize",), f"{found.minimum_prize:g}", "at most the pool", words)
    for name, weight in found.weights.items():
        if not 0 <= weight < float("inf"):
            document.add(("weights", name), f"{weight:g}", "a number from 0 on")
