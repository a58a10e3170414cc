"""The ceilings of pyproject.toml: what is over one is named."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = spec_from_file_location("check_size", ROOT / "scripts" / "check_size.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_is_over_its_ceiling_is_named_with_both_figures(script: ModuleType) -> None:
    [told] = script.over({"words_by_hand": 1001, "commands": 45}, {"words_by_hand": 1000, "commands": 45})
    assert "words_by_hand is 1,001" in told
    assert "is 1,000" in told
