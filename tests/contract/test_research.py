"""What holds for every source of evidence, by being in the folder."""

import asyncio
import inspect
from pathlib import Path
from types import ModuleType

import pytest
from pydantic import BaseModel

import agents.research
from markets.registry import load, names
from markets.venue import ignore_report

HOME = Path(agents.research.__path__[0])
EVERY = [load("agents.research", name) for name in names(HOME)]


@pytest.fixture(params=EVERY, ids=lambda module: module.__name__)
def module(request: pytest.FixtureRequest) -> ModuleType:
    found: ModuleType = request.param
    return found


def test_the_three_that_come_with_it_are_there() -> None:
    assert {"none", "folder", "gdelt"} <= set(names(HOME))


def test_it_has_a_page(module: ModuleType) -> None:
    assert (module.__doc__ or "").strip().endswith(".")


def test_settings_are_frozen_know_their_keys_and_have_defaults(module: ModuleType) -> None:
    assert issubclass(module.Settings, BaseModel)
    assert module.Settings.model_config["extra"] == "forbid"
    assert module.Settings.model_config["frozen"]
    assert module.Settings() == module.Settings.model_validate(module.Settings().model_dump())


def test_what_is_frozen_is_plain_json(module: ModuleType) -> None:
    frozen = module.Settings().model_dump(mode="json")
    assert module.Settings.model_validate(frozen) == module.Settings()


def test_it_is_a_source(module: ModuleType) -> None:
    source = module.research(module.Settings(), ignore_report)
    assert inspect.iscoroutinefunction(source.articles)
    assert len(inspect.signature(source.articles).parameters) == 2


def test_it_can_be_closed_without_having_been_asked_and_twice(module: ModuleType) -> None:
    source = module.research(module.Settings())

    async def check_closes_twice() -> None:
        # A source that needs to be open, or can be closed only once, raises an error here.
        await source.close()
        await source.close()

    asyncio.run(check_closes_twice())
