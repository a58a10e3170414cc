"""The samples in help are what the commands print, and no line of any command is wider than the terminal."""

import re
import shutil
from pathlib import Path

import pytest

from arena.cli.table import cells_of
from tests.arena.cli.test_main import LEAVES, sample_of
from tests.once import made_once
from tests.program.command_line import ROOT
from tests.program.running import arena, demo_config
from tests.records.demo import six_rounds, the_demo

SAMPLED = "76"
"""The characters of a line for which samples were taken."""
NOT_PLAYED = {
    "arena add": "it asks a model",
    "arena admin cohort": "the season has all its cohorts",
    "arena dashboard": "it serves until it is stopped",
    "arena demo": "it has made the record",
    "arena outside desk": "it serves until it is stopped",
    "arena outside mcp": "it serves until its input ends",
    "arena study replay": "it plays a recording",
    "arena run": "it runs until it is stopped",
    "arena study bundle": "it reads a venue",
    "arena study forecastbench board": "the record has no resolutions of a benchmark",
    "arena study forecastbench file": "the record has no answers of a benchmark",
    "arena study forecastbench run": "the record has no question set",
    "arena admin settle": "a simulated venue settles by itself",
    "arena try": "it asks a model",
}
"""Commands whose example can't be played on the demo's record, and why."""
PAGE = (ROOT / "docs" / "score-a-file.md").read_text("utf-8")
FORECASTS = re.findall(r"^`forecasts.csv`:\n\n```\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
LINES = (
    *("admin backup b.db", "admin backup --upgrade", "admin prune --older-than 1d --dry-run", "admin verify"),
    *(
        "admin cohort pause 17",
        "admin cohort end 17 --yes",
        "board",
        "board --by category",
        "board --cohort 1",
    ),
    *("board --metaculus", "board --provisional", "board sharp hasty", "check", "init new --yes"),
    *("run --list", "run --round", "run --sync", "score forecasts.csv", "score forecasts.csv --parts"),
    *("share export season.zip", "share report -o report.html", "share report --method -o method.md"),
    *("show agent", "show agent sharp", "show agent sharp --by horizon", "show cohort", "show cohort 1"),
    *("show cohort 1 next", "show cohort 1 --head", "show config", "show config --all", "show market"),
    *("show market --rejected", "show positions", "show positions --by market", "show prompt"),
    *("show prompt bet", "show prompt bet --rendered", "show turn sharp", "show turn sharp --play"),
    *("show turn sharp --dry", "status", "status --incidents", "study bundle recorded --until 2026-01-20"),
    *(
        "study forecastbench board",
        "study forecastbench run --dry --from none",
        "study whatif --fill mid",
        "",
    ),
)
"""Command lines of all sorts; some of them end with an error, which has to fit too."""
ROOMY = 64
"""The longest line, of 80 characters, of an output in which no line was cut or wrapped."""
NUMBER = re.compile(r"[-+$×]*\d[\d,.:%]*")


@pytest.fixture
def folder(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, thorough: bool) -> Path:
    """Return a folder with the demo's config and record, an export of it, and forecasts in a file.

    The record is of the whole demo, or of its first rounds where tests have to be quick.
    """
    season = the_demo(tmp_path_factory) if thorough else six_rounds(tmp_path_factory)
    record = season / "demo.db"
    words = ("share", "export", "season.zip", "--database", str(record))
    exported = made_once("demo's export", tmp_path_factory, lambda path: arena(path, *words))
    shutil.copy(exported / "season.zip", tmp_path)
    demo_config(tmp_path)
    (tmp_path / "forecasts.csv").write_text(FORECASTS[0], "utf-8")
    (tmp_path / ".demo").mkdir()
    for place in ("demo.db", ".demo/demo.db"):
        shutil.copy(record, tmp_path / place)
    return tmp_path


def is_printed(line: str, printed: list[str], exactly: bool) -> bool:
    """Tell whether a line of a sample was printed, exactly or with other numbers."""
    if exactly:
        pattern = re.escape(line).replace("…", ".*")
        return any(re.fullmatch(pattern, text) for text in printed)
    bare = " ".join(NUMBER.sub("0", line).split())
    pattern = re.escape(bare).replace("…", ".*")
    return any(re.fullmatch(pattern, " ".join(NUMBER.sub("0", text).split())) for text in printed)


@pytest.mark.parametrize("name", sorted(LEAVES.keys() - NOT_PLAYED.keys()))
def test_a_sample_in_help_is_what_the_command_prints(name: str, folder: Path, thorough: bool) -> None:
    found = sample_of(LEAVES[name].help)
    assert found is not None
    words, lines = found
    if name == "arena share export":
        (folder / "season.zip").unlink()
    done = arena(folder, *words.split(), COLUMNS=SAMPLED)
    printed = done.stdout.splitlines()
    assert max(map(cells_of, printed)) <= int(SAMPLED)
    missing = [line for line in lines if line != "…" and not is_printed(line, printed, thorough)]
    if thorough:
        assert missing == [], done.stdout
    else:
        assert len(missing) < len(lines), f"nothing of it is in\n{done.stdout}"


def test_no_line_of_any_command_is_wider_than_the_terminal(folder: Path) -> None:
    too_wide = []
    for line in LINES:
        narrow = printed_lines(folder, line, 80)
        too_wide += [f"arena {line}: {text}" for text in narrow if cells_of(text) > 80]

        # What leaves room at 80 was neither cut nor wrapped there: with more room it is the same.
        if max(map(cells_of, narrow), default=0) > ROOMY:
            wide = printed_lines(folder, line, 120)
            too_wide += [f"arena {line}: {text}" for text in wide if cells_of(text) > 120]

    assert too_wide == []


def printed_lines(folder: Path, line: str, columns: int) -> list[str]:
    """Return what a command line prints, errors included, in a terminal of some width."""
    done = arena(folder, *line.split(), COLUMNS=str(columns))
    return (done.stdout + done.stderr).splitlines()
