"""Pages opened as Streamlit opens them, without a browser."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from xml.etree import ElementTree as ET

import pandas as pd
import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from dashboard.serve import know_components
from dashboard.words import JOINER

PAGE = "from dashboard.app import main\nmain({name!r})\n"
ON_DEMAND = [f"part {key}" for key in ("ratings", "Metaculus", "rules", "trades", "more open positions")]
"""Parts that are drawn once they are opened, by the names of their state."""


def opened(view: str, record: Path | str | None, patch: pytest.MonkeyPatch, **address: str) -> AppTest:
    """Open a page on a record with the parts of its address, and check that it raises nothing."""
    patch.delenv("ARENA_DATABASE", raising=False)
    if record is not None:
        patch.setenv("ARENA_DATABASE", str(record))
    know_table(patch)
    page = AppTest.from_string(PAGE.format(name=view), default_timeout=20)
    for key, value in address.items():
        page.query_params[key] = value
    for part in ON_DEMAND:
        page.session_state[part] = True
    return healthy(page.run())


Show = Callable[..., AppTest]
"""Opens a page on a record for one test: `opened`, with what it has patched put back afterwards."""


def know_table(patch: pytest.MonkeyPatch) -> None:
    """Have Streamlit know our component as it does in the server, until the patch is undone."""
    patch.setattr(manifest_scanner, "scan_component_manifests", manifest_scanner.scan_component_manifests)
    know_components()


def healthy(page: AppTest) -> AppTest:
    """Return the page, after checking that it shows no error."""
    assert [error.value for error in page.exception] == []
    return page


def with_reasons(record: Path, folder: Path) -> Path:
    """Return a copy of a record in which every forecast has a reason of its own."""
    copy = folder / "reasons.db"
    with closing(sqlite3.connect(record)) as plain, closing(sqlite3.connect(copy)) as whole:
        plain.backup(whole)
        for (trigger,) in whole.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            whole.execute(f'DROP TRIGGER "{trigger}"')
        whole.execute("UPDATE forecast SET reason = 'for <b>' || market_id || '</b> in ' || turn_id")
        whole.commit()
    return copy


def tables(page: AppTest) -> list[pd.DataFrame]:
    """Return a page's tables, each cell by its sort key or its text.

    Each group of rows of a board is one of its own.
    """
    return [table for html in markup(page) for table in tables_of(html)]


def markup(page: AppTest) -> list[str]:
    """Return the page's own markup, parsed as XML, which fails if it isn't escaped."""
    shown = [part.proto.bytes.decode().replace(JOINER, "") for part in page.get("bidi_component")]
    return [ET.tostring(ET.fromstring(f"<div>{html}</div>"), encoding="unicode") for html in shown]


def tables_of(html: str) -> Iterator[pd.DataFrame]:
    """Yield tables of `html_table` and `board_of`, parsed as XML, which fails if they aren't escaped."""
    for table in ET.fromstring(html).iter("table"):
        heads = [head.attrib for head in table.iter("th") if head.get("scope") == "col"]
        kinds = {head["data-key"]: head["data-kind"] for head in heads}
        for body in table.iter("tbody"):
            if body.get("class") != "group":
                rows = [
                    [_value(cell, kind) for cell, kind in zip(row, kinds.values(), strict=True)]
                    for row in body
                ]
                yield pd.DataFrame(rows, columns=list(kinds))


def _value(cell: ET.Element, kind: str) -> object:
    text = "".join(cell.itertext())
    if kind == "picture":
        return cell.find("svg")
    if kind == "text":
        return cell.get("data-value", None if text == "–" else text)
    raw = cell.get("data-value", text)
    if not raw:
        return None
    return pd.Timestamp(raw) if kind == "time" else float(raw) if set(raw) & set(".einf") else int(raw)


def tiles(page: AppTest) -> list[tuple[str, str]]:
    """Return the tiles of a page in order, each with its label and figure."""
    every = (tile for html in markup(page) for tile in ET.fromstring(html).iter("div"))
    found = [tile for tile in every if tile.get("class") == "tile box"]
    return [(tile.findtext("span") or "", tile.findtext("b") or "") for tile in found]


def words(page: AppTest) -> str:
    """Return all text on the page except its tables."""
    parts = [*page.title, *page.subheader, *page.markdown, *page.caption, *page.info]
    own = ["".join(ET.fromstring(html).itertext()) for html in markup(page) if "<table" not in html]
    return "\n".join([*(str(part.value) for part in parts), *own]).replace(JOINER, "")


def in_address(page: AppTest, key: str) -> str:
    """Return a selection's value in the page's address."""
    value = page.query_params[key]
    return value if isinstance(value, str) else value[0]
