"""What all tests share: the shared data, the browser, how much is played, and no way out to the network."""

import gc
import os
import shlex
import shutil
import socket
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from itertools import count, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import settings

from markets.garbage_collection import SELDOM_THRESHOLD
from tests.opened_record import new_record
from tests.program.forked import SHARED, WORKER, forking, stand_in
from tests.shared_caches import share_caches

ROOT = Path(__file__).resolve().parent.parent
CI = os.environ.get("CI") == "true"
THOROUGH = os.environ.get("THOROUGH") == "1"
LONG = ("browser", "chaos", "faults", "oracles", "season")
"""Folders of tests that take seconds each."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MEMORY, ROOM = Path("/dev/shm"), 6 * 1_024**3  # the files of a run are a fourth of that
NO_BROWSER = (
    "no Chromium found: 'apt install chromium' or the like, or CHROMIUM=/path/to/it, gets this test played"
)

settings.register_profile("quick", max_examples=20, deadline=None, derandomize=CI, print_blob=True)
settings.register_profile("thorough", max_examples=2000, deadline=None, derandomize=CI, print_blob=True)
settings.load_profile("thorough" if THOROUGH else "quick")


def _stay_at_home(connect: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Make a test fail that reaches for another machine, by any library.

    An audit hook would see this too, and be called for all else that Python audits.
    """

    def connected(here: socket.socket, address: Any) -> Any:
        host = str(address[0]) if isinstance(address, tuple) else "localhost"
        if not (host.startswith("127.") or host in ("::1", "localhost")):
            raise RuntimeError(f"a test reached for {host}: tests play on this machine alone")
        return connect(here, address)

    return connected


for name in ("connect", "connect_ex"):
    setattr(socket.socket, name, _stay_at_home(getattr(socket.socket, name)))
gc.set_threshold(SELDOM_THRESHOLD)  # thousands of tests are collected, and none of them goes
os.environ.pop("COLUMNS", None)  # xdist sets it, and tables go by it
share_caches()


def find_chromium() -> str | None:
    """Return the browser that the tests drive, if this machine has one."""
    named = os.environ.get("CHROMIUM")
    found = [named] if named else [shutil.which(name) for name in BROWSERS]
    return next((path for path in found if path), None)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return one more than there are processors, since many tests wait for another process."""
    return (os.cpu_count() or 1) + 1


def pytest_configure(config: pytest.Config) -> None:
    """Start programs from one that has loaded the arena, where several processes play the tests.

    If they play all tests they are themselves forked from it: to load everything takes each of them seconds.

    Their files are in memory if there is room: thousands of records would wait for the disk. A test that is
    played alone leaves them on the disk, to be looked at.
    """
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        held = ExitStack()
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # more would turn in wait for each other
        if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM:
            folder = TemporaryDirectory(prefix="arena-tests-", dir=MEMORY, ignore_cleanup_errors=True)
            os.environ["TMPDIR"] = tempfile.tempdir = held.enter_context(folder)
            Path(tempfile.tempdir).chmod(0o711)  # PostgreSQL's user may be another one
        os.environ[SHARED] = held.enter_context(forking())
        if config.args_source is config.ArgsSource.TESTPATHS and Path("/proc/self/fd").is_dir():
            command = shlex.join(stand_in(WORKER))
            config.option.tx = [f"popen//python={command}" for _ in config.option.tx]
        config.add_cleanup(held.close)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Collect doctests only from files with examples, and import only those."""
    found = yield
    shows = b">>> " in file_path.read_bytes()
    return [one for one in found if shows or not isinstance(one, DoctestModule)]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put slow tests first in each process's share, so that none is left with a whole season at the end."""
    processes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    slow: dict[Path, list[pytest.Item]] = {}
    for item in items:
        if item.path.parent.name in LONG:  # one browser serves many files
            whole = item.path.parent.name == "browser"
            slow.setdefault(item.path.parent if whole else item.path, []).append(item)
    known = {item for tests in slow.values() for item in tests}
    rest = iter([item for item in items if item not in known])
    dealt = list(slow.values())
    left = len(items)
    items.clear()
    for place in range(processes):  # as `--dist worksteal` divides them
        share = [item for tests in dealt[place::processes] for item in tests]
        size = (left - len(items)) // (processes - place)
        items += [*share, *islice(rest, max(0, size - len(share)))]
    items += rest


def pytest_collection_finish() -> None:
    """Keep what was loaded out of later garbage collections while tests play."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def trusted_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let extensions in the tests' own folders be run; tests of trust take that back."""
    base = tmp_path_factory.getbasetemp()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ARENA_TRUST_EXTENSIONS", str(base))
        patch.setenv("XDG_CONFIG_HOME", str(base / "user-config"))
        yield


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what this run or this machine can't play, and say so; in CI a browser is required."""
    if item.get_closest_marker("thorough") and not THOROUGH:
        pytest.skip("THOROUGH=1 plays this too")
    if item.get_closest_marker("browser") and find_chromium() is None:
        (pytest.fail if CI else pytest.skip)(NO_BROWSER)


@pytest.fixture(scope="session")
def chromium() -> str:
    """Return the path of the browser, for tests marked `browser`."""
    path = find_chromium()
    assert path is not None, NO_BROWSER
    return path


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """Yield the address of a PostgreSQL that lives as long as this run's tests."""
    from tests.postgres import a_server

    with a_server() as server:
        yield server.get_uri()


@pytest.fixture(scope="session")
def new_database(postgresql: str) -> Callable[[], str]:
    """Return a function that makes an empty database and returns its address as a config names it."""
    from tests.postgres import database

    names = (f"arena{number}" for number in count())
    return lambda: database(postgresql, next(names))


@pytest.fixture(scope="session")
def new_server_record(postgresql: str, new_database: Callable[[], str]) -> Callable[[], str]:
    """Return a function that makes a database with the tables of a new record, copied from the first."""
    from tests.postgres import database

    first = new_database()
    new_record(first)
    names = (f"record{number}" for number in count())
    return lambda: database(postgresql, next(names), copied=first)


@pytest.fixture(scope="session")
def thorough() -> bool:
    """Tell whether everything is to be played, or a sample."""
    return THOROUGH


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of recorded data that lies beside the checkout and isn't part of it."""
    folder = Path(os.environ.get("ARENA_SHARED_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no shared data: neither ARENA_SHARED_DATA nor {folder.relative_to(ROOT.parent)}")
    return folder
