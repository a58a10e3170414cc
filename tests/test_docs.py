"""The examples in the docs say what the code does."""

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parent.parent / "docs"
WITH_EXAMPLES = sorted(page for page in DOCS.rglob("*.md") if ">>> " in page.read_text())


def test_some_pages_have_examples() -> None:
    assert [page.name for page in WITH_EXAMPLES] == ["money.md", "universe.md"]


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=lambda page: page.name)
def test_the_examples_of_a_page_come_true(page: Path) -> None:
    ran = doctest.testfile(str(page), module_relative=False)
    assert ran.attempted > 0
    assert ran.failed == 0
