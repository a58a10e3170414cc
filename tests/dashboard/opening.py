"""Pages opened as Streamlit opens them, without a browser."""

import json
from functools import cache
from pathlib import Path

import pytest
from altair.vegalite.v6.schema.core import load_schema
from jsonschema import Draft7Validator
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from dashboard.serve import seek_no_components

PAGE = "from dashboard.app import main\nmain({name!r})\n"


def opened(view: str, record: Path | str | None, patch: pytest.MonkeyPatch, **address: str) -> AppTest:
    """A page on a record, with what its address says; it must come without an exception."""
    patch.delenv("ARENA_DATABASE", raising=False)
    if record is not None:
        patch.setenv("ARENA_DATABASE", str(record))
    patch.setattr(manifest_scanner, "scan_component_manifests", manifest_scanner.scan_component_manifests)
    seek_no_components()  # as the server does, until the patch is undone
    page = AppTest.from_string(PAGE.format(name=view), default_timeout=20)
    for key, value in address.items():
        page.query_params[key] = value
    return healthy(page.run())


def healthy(page: AppTest) -> AppTest:
    """The page, if nothing on it went wrong, and its charts are such as their schema allows."""
    assert [error.value for error in page.exception] == []
    for chart in page.get("vega_lite_chart"):
        charts().validate(json.loads(chart.proto.spec))
    return page


@cache
def charts() -> Draft7Validator:
    """What holds a chart against its schema: made once, for that takes as long as a page."""
    return Draft7Validator(load_schema())


def words(page: AppTest) -> str:
    """All text on the page, but for its tables."""
    parts = [*page.title, *page.subheader, *page.markdown, *page.caption, *page.info]
    return "\n".join(str(part.value) for part in parts)


def in_address(page: AppTest, key: str) -> str:
    """What the page's address says of a selection."""
    value = page.query_params[key]
    return value if isinstance(value, str) else value[0]
