"""What holds for every tool, by being in the folder."""

from pathlib import Path

import pytest

import agents.tools
from agents.toolbox import tool
from markets.registry import names

EVERY = names(Path(agents.tools.__path__[0]))


def test_the_five_that_come_with_it_are_there() -> None:
    assert {"search", "read", "price_history", "book", "notes"} <= set(EVERY)


@pytest.mark.parametrize("name", EVERY)
def test_a_model_is_told_what_it_does_and_what_it_takes(name: str) -> None:
    form = tool(name).form
    assert form.about.endswith(".")
    assert form.parameters["type"] == "object"
    assert form.parameters["additionalProperties"] is False
