"""The ceilings of pyproject.toml: what is over one is named, and what is counted is what is meant."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
CODE = '''"""Four lines of code: this is none."""

# nor is this

TOTAL = 1
"""Nor what is said of a constant."""


def twice(
    number: int) -> int:
    """Nor this."""

    return number * 2
'''


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = spec_from_file_location("check_size", ROOT / "scripts" / "check_size.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_is_over_its_ceiling_is_named_with_both_figures(script: ModuleType) -> None:
    [told] = script.over({"product_lines": 1001, "commands": 45}, {"product_lines": 1000, "commands": 45})
    assert "product_lines is 1,001" in told
    assert "is 1,000" in told


def test_blanks_comments_and_docstrings_are_no_code(script: ModuleType, tmp_path: Path) -> None:
    file = tmp_path / "some.py"
    file.write_text(CODE)
    assert script.code_lines(file) == 4
