"""What the dashboard costs on a record a year old: 1,000,000 marks of 50 agents, and on one of 30,000 marks.

Those are the fewest that as many cohorts of as many agents can have; of markets it has a thirtieth.

Every question of every page, each by itself and with no answer kept from before; every page's script by
Streamlit's own test runner, warm; the first page in a Chromium from the start of the server; the server's
memory after all pages were opened. A whole leaderboard, worked out from nothing, is timed beside.

python -m benchmarks.dashboard                      # makes both records first, and works out their scores:
python -m benchmarks.dashboard --records FOLDER     # minutes, unless they are kept in a folder
"""

import inspect
import math
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import streamlit as st
from playwright.sync_api import Browser, ViewportSize, expect, sync_playwright
from streamlit.testing.v1 import AppTest

from arena.operations.dashboard_server import FLAGS as STREAMLIT
from arena.operations.listen_addresses import ListenAddress, is_listening
from arena.record.record import Record
from arena.record.schema.database import open_read_only, reading
from arena.scores.leaderboard import compute_leaderboard
from arena.scores.refresh import refresh_cache
from benchmarks.measure import Measurement, options, report, row, timed, within
from dashboard.record import ask, reader_name
from dashboard.serve import know_components
from tests.browser.watching import FLAGS
from tests.conftest import find_chromium
from tests.dashboard.serving import Served, a_free_port, serving
from tests.year.record import NOW, make_of, size

AGENTS = 50
QUESTION, SLOWER, SCRIPT, FIRST, MEMORY, BOARD = 0.05, 3.0, 0.3, 3.0, 500, 5.0
"""Seconds a question and how many times its time on the small record, seconds a script and until the first
page, megabytes of the server, seconds for a whole leaderboard."""
LONGER = 1.5
"""So many times as long as a page of Streamlit's own the first page may take."""
BOARD_ROW, STREAMLIT_TABLE = "tbody tr", "[data-testid=stDataFrame]"
"""What is waited for: a row of the short board, and the table of the page beside it."""
SIZE: ViewportSize = {"width": 1440, "height": 1000}
PAGES: tuple[tuple[str, dict[str, str]], ...] = (
    ("arena", {}),
    ("leaderboard", {}),
    ("leaderboard", {"cohort": "30"}),
    ("cohort", {"cohort": "30"}),
    ("agent", {"agent": "agent-02"}),
    ("duel", {"a": "agent-02", "b": "agent-03"}),
    ("markets", {}),
    ("markets", {"show": "traded"}),
    ("markets", {"search": "nowhere to be found"}),
    ("market", {"market": "year:00005"}),
    ("turn", {}),
    ("turn", {"cohort": "30", "round": "2", "agent": "agent-02"}),
    ("operations", {}),
)
SCRIPT_OF = "from dashboard.app import main\nmain({name!r})\n"
Asked = dict[str, list[float]]


def prepared(folder: Path, name: str, scale: float) -> Path:
    """Return a record of part of a year with its cache computed; reuse one that exists."""
    path = folder / name
    if not path.exists():
        print(f"making {name}", file=sys.stderr)
        make_of(path, size(scale, AGENTS))
    record = Record.open(str(path))
    refresh_cache(record, NOW, lambda done, of: print(f"  {done} of {of}", end="\r", file=sys.stderr))
    record.close()
    return path


@contextmanager
def listening() -> Iterator[Asked]:
    """Yield the times of each query, by the function that sends it."""
    statements: Asked = defaultdict(list)

    def heard(*question: Any) -> Any:
        caller = inspect.stack()[1]
        started = time.perf_counter()
        answer = ask(*question)
        read = caller.frame.f_locals.get("read")
        name = (
            f"{Path(caller.filename).stem}.{caller.function}" if read is None else " ".join(reader_name(read))
        )
        statements[name].append(time.perf_counter() - started)
        return answer

    with patch("dashboard.record.ask", heard):
        yield statements


def page(record: Path, name: str, address: dict[str, str]) -> AppTest:
    """Open a page as a browser would."""
    os.environ["ARENA_DATABASE"] = str(record)
    app = AppTest.from_string(SCRIPT_OF.format(name=name), default_timeout=120)
    for key, value in address.items():
        app.query_params[key] = value
    app.run()
    assert not app.exception, [error.value for error in app.exception]
    return app


def questions(record: Path) -> dict[str, float]:
    """Return the best time of each query, on the page where it takes longest."""
    worst: dict[str, float] = defaultdict(float)
    for name, address in PAGES:
        with listening() as asked:
            for _ in range(3):
                st.cache_data.clear()
                page(record, name, address)
        for question, times in asked.items():
            worst[question] = max(worst[question], min(times))
    return worst


def of_questions(large: Path, small: Path) -> list[Measurement]:
    here = questions(large)
    there = questions(small)
    rows = []
    for name, seconds in sorted(here.items()):
        before = there[name]
        rows.append(within(f"{name}: {1000 * seconds:.1f} ms", seconds, "50 ms", QUESTION))
        beside = f"{SLOWER:g} times {1000 * before:.1f} ms"
        rows.append(within("  beside the small record", seconds, beside, SLOWER * before))
    return rows


def of_scripts(record: Path) -> list[Measurement]:
    rows = []
    for name, address in PAGES:
        opened = page(record, name, address)
        took = timed(opened.run, repeat=5)
        what = f"{name} {' '.join(f'{key}={value}' for key, value in address.items())}"
        rows.append(row(f"{what}: {1000 * took.wall:.0f} ms", took, "300 ms", 1 / SCRIPT, 1.0))
    return rows


def of_server(record: Path) -> list[Measurement]:
    """Measure the first page from the server's start, and its memory after all pages were opened.

    Beside it, at the same time, what Streamlit takes for a page that has nothing but one small table. Both
    as at any start but the very first, which compiles the program.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        ours = math.inf
        theirs = math.inf
        for _ in range(3):
            ours = min(ours, first(browser, lambda: serving(record), BOARD_ROW))
            theirs = min(theirs, first(browser, bare, STREAMLIT_TABLE))
        with serving(record) as served:
            tab = browser.new_page(viewport=SIZE)
            for name, address in PAGES:
                query = "&".join(f"{key}={value}" for key, value in address.items())
                tab.goto(f"{served.address}/{'' if name == 'arena' else name}?{query}")
                app = tab.get_by_test_id("stApp")
                expect(app).to_have_attribute("data-test-script-state", "notRunning", timeout=60_000)
            used = memory(served.process.pid)
        browser.close()
    comparison = f"{LONGER} times a page of Streamlit's own, {theirs:.2f} s"
    return [
        within(f"first page in a browser: {ours:.2f} s", ours, "3 s", FIRST),
        within("  beside the barest there is", ours, comparison, LONGER * theirs),
        within(f"memory of the server: {used:.0f} MB", used, f"{MEMORY} MB", MEMORY),
    ]


def first(browser: Browser, server: Callable[[], AbstractContextManager[Served]], table: str) -> float:
    """Time a server from its start until a running browser with an empty cache shows its first table."""
    context = browser.new_context(viewport=SIZE)
    tab = context.new_page()
    started = time.perf_counter()
    with server() as served:
        tab.goto(served.address)
        expect(tab.locator(table).first).to_be_visible(timeout=60_000)
        took = time.perf_counter() - started
    context.close()
    return took


@contextmanager
def bare() -> Iterator[Served]:
    """Yield a page of Streamlit with one table, and no code of the arena."""
    with tempfile.TemporaryDirectory() as name:
        page = Path(name) / "page.py"
        port = a_free_port()
        page.write_text("import streamlit as st\nst.dataframe({'a': [1, 2, 3]})\n", encoding="utf-8")
        command = [sys.executable, "-m", "streamlit", "run", str(page), f"--server.port={port}", *STREAMLIT]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            while server.poll() is None and not is_listening(ListenAddress(port=port)):
                time.sleep(0.02)
            yield Served(f"http://127.0.0.1:{port}", server)
        finally:
            server.terminate()
            server.communicate()


def memory(process: int) -> float:
    """Return the megabytes of memory of a process and its children."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="utf-8").split()
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    own = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1024
    return own + sum(memory(int(child)) for child in children)


def of_board(record: Path) -> list[Measurement]:
    """Compute the whole leaderboard without the cache."""
    with open_read_only(str(record)) as engine, reading(engine) as connection:
        took = timed(lambda: compute_leaderboard(connection), repeat=2)
    return [row(f"a whole leaderboard from nothing: {took.wall:.2f} s", took, "5 s", 1 / BOARD, 1.0)]


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--records", type=Path, help="a folder in which the two records are kept")
    chosen = parser.parse_args()
    know_components()
    with tempfile.TemporaryDirectory() as name:
        folder = chosen.records or Path(name)
        large = prepared(folder, "year.db", 1.0)
        small = prepared(folder, "small.db", 0.01)
        parts: list[Callable[[], list[Measurement]]] = [
            lambda: of_questions(large, small),
            lambda: of_scripts(large),
            lambda: of_server(large),
            lambda: of_board(large),
        ]
        rows = list[Measurement]()
        for part in parts:
            rows += part()
        report(rows, chosen.json)


if __name__ == "__main__":
    main()
