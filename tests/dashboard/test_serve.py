"""What the server of the dashboard spares itself, and what it runs on."""

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.components.v2.component_manager import BidiComponentManager

from arena.errors import ArenaError
from arena.operations import page_programs
from dashboard.serve import know_components


@pytest.mark.parametrize("spared", [False, True])
def test_no_package_is_asked_for_components(spared: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def distributions() -> list[object]:
        asked.append(True)
        return []

    monkeypatch.setattr(metadata, "distributions", distributions)
    monkeypatch.setattr(
        manifest_scanner, "scan_component_manifests", manifest_scanner.scan_component_manifests
    )
    if spared:
        know_components()
    BidiComponentManager().discover_and_register_components(start_file_watching=False)
    assert bool(asked) is not spared


LATER = (
    "altair",
    "pandas",
    "arena.config.model",
    "arena.rounds.round",
    "dashboard.views.market",
)
"""What a first page without a config can do without until it is there."""


FIRST_PAGE = """
import sys, dashboard.app
from dashboard.pages import pages
pages()['leaderboard'].view()
print(*[name for name in LATER if name in sys.modules])
from streamlit.testing.v1 import AppTest
from dashboard.serve import know_components
know_components()
page = AppTest.from_string("from dashboard.app import main; main()", default_timeout=60).run()
drawn = len(page.get("bidi_component"))
print(len(page.exception), drawn, "pandas" in sys.modules)
"""


def test_the_first_page_waits_for_nothing_that_it_has_no_use_for_and_is_drawn_without_pandas(
    season: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_DATABASE", str(season))
    program = [sys.executable, "-c", f"LATER = {LATER}\n{FIRST_PAGE}"]
    said = subprocess.run(program, capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == ["", "0 6 False"]


def test_the_programs_of_the_pages_are_there_under_their_names() -> None:
    found = {point.name: callable(point.load()) for point in metadata.entry_points(group=page_programs.PAGES)}
    assert found == {"dashboard": True, "publish": True, "report": True, "scored": True}


def test_an_arena_without_the_dashboard_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ArenaError, match="not installed"):
        page_programs.page_command("poster")
    monkeypatch.setattr(page_programs, "find_spec", lambda name: None)
    with pytest.raises(ArenaError, match="not installed") as refused:
        page_programs.page_command("report")
    assert refused.value.code == "no_dashboard"
