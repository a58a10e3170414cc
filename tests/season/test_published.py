"""A clone of a public season is verified by its history alone, and nothing of a hostile one is run."""

import re
import subprocess
import zlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from arena.operations.git import GitCommit
from arena.operations.published_season import PublishedSeason, check_history, check_order
from arena.record.queries.forecasts_of_ends import ForecastsOfEnd
from tests.program.in_process import answered
from tests.program.running import arena
from tests.program.workflow import Hosted, git

AGENTS = "agents:\n  - {kind: market}\n  - {kind: constant, p: 0.5}\n"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Hosted:
    """Return three weeks of two agents without a model, with a clone `good`."""
    made = Hosted(tmp_path_factory.mktemp("played"))
    arena(made.folder, "init", "owner", "--public", "--venue", "simulator", "--yes")
    path = made.owner / "config.yaml"
    text = re.sub(r"show: 40 .*", "show: 8\n  closes_within: 12d", path.read_text("utf-8"))
    path.write_text(text.partition("agents:")[0] + AGENTS, "utf-8")
    made.publish()
    for _ in range(3):
        assert arena(made.owner, "run", "--publish", "--baselines").returncode == 0
    made.clone("good")
    return made


@pytest.fixture
def clone(played: Hosted, tmp_path: Path) -> Path:
    """Return a clone to spoil."""
    return copytree(played.folder / "good", tmp_path / "clone")


def verified(clone: Path, status: int = 0) -> Any:
    return answered("admin", "verify", "--published", clone, status=status)


def put(clone: Path, tree: str, *parents: str) -> str:
    """Make a commit of a tree the newest of the branch in a clone, which has seen no other and has no log."""
    words = [word for parent in parents for word in ("-p", parent)]
    commit = git(clone, "commit-tree", tree, *words, "-m", "Record")
    git(clone, "update-ref", "refs/remotes/origin/season", commit)
    git(clone, "update-ref", "-d", "refs/remotes/origin/season-log")
    (clone / ".git" / "logs" / "refs" / "remotes" / "origin" / "season").unlink()
    return commit


def with_file(clone: Path, tree: str, path: str, content: bytes, mode: str = "100644") -> str:
    """Return a tree with one more file, or with one replaced."""
    (clone / "new").write_bytes(content)
    blob = git(clone, "hash-object", "-w", "--no-filters", "new")
    folder, _, name = path.rpartition("/")
    if folder:
        inner = git(clone, "rev-parse", f"{tree}:{folder}")
        return _entry(clone, tree, folder, "040000 tree", _entry(clone, inner, name, f"{mode} blob", blob))
    return _entry(clone, tree, name, f"{mode} blob", blob)


def _entry(clone: Path, tree: str, name: str, kind: str, item: str) -> str:
    lines = [line for line in git(clone, "ls-tree", tree).splitlines() if not line.endswith(f"\t{name}")]
    (clone / "lines").write_text("".join(f"{line}\n" for line in [*lines, f"{kind} {item}\t{name}"]), "utf-8")
    return git(clone, "-c", "alias.made=!git mktree < lines", "made")


def test_a_clone_and_the_repository_itself_are_right(played: Hosted) -> None:
    found = verified(played.folder / "good")
    assert found == verified(played.origin) | {"clone": found["clone"]}
    assert (found["ok"], found["commits"], found["publications"]) == (True, 6, 6)
    assert found["ended_forecasts"] > 0
    shown = arena(played.folder, "admin", "verify", "--published", "good")
    assert shown.stdout.startswith("good is right: every forecast was published before its market's end.")


def test_nothing_of_a_hostile_clone_is_run(clone: Path) -> None:
    before = verified(clone)
    trap = clone.parent / "sprung"
    program = clone.parent / "trap.sh"
    program.write_text(f"#!/bin/sh\ntouch {trap}\n", "utf-8")
    program.chmod(0o755)
    for name in ("post-checkout", "reference-transaction", "post-index-change", "fsmonitor-watchman"):
        (clone / ".git" / "hooks" / name).write_text(program.read_text("utf-8"), "utf-8")
        (clone / ".git" / "hooks" / name).chmod(0o755)
    tip = before["tip"]
    other = git(clone, "rev-parse", "origin/season-log")
    with (clone / ".git" / "config").open("a", encoding="utf-8") as config:
        config.write(
            f"[core]\n\tfsmonitor = {program}\n\tpager = {program}\n\tsshCommand = {program}\n"
            f"\tgitProxy = {program}\n\talternateRefsCommand = {program}\n"
            f"[diff]\n\texternal = {program}\n[alias]\n\tcat-file = !{program}\n"
            f"[extensions]\n\tpartialClone = evil\n"
            f'[remote "evil"]\n\turl = ext::{program}\n\tpromisor = true\n\tuploadpack = {program}\n'
            "[protocol]\n\tallow = always\n"
        )
    (clone / ".git" / "info" / "grafts").write_text(f"{tip}\n", "utf-8")
    (clone / ".git" / "refs" / "replace").mkdir()
    (clone / ".git" / "refs" / "replace" / tip).write_text(f"{other}\n", "utf-8")
    assert verified(clone) == before
    assert not trap.exists()
    subprocess.run(["git", "-C", clone, "status"], capture_output=True, check=False)
    assert trap.exists(), "it would spring for who uses git there"
    trap.unlink()

    # A missing object is not fetched from where the clone's config says.
    for pack in (clone / ".git" / "objects" / "pack").glob("*"):
        pack.unlink()
    assert verified(clone, status=1)["error"]["code"] == "bad_clone"
    assert not trap.exists()


def test_an_object_whose_content_is_another_is_refused(clone: Path) -> None:
    git(clone, "config", "core.compression", "1")
    tree = git(clone, "rev-parse", "origin/season^{tree}")
    tip = put(clone, tree, git(clone, "rev-parse", "origin/season"))
    path = clone / ".git" / "objects" / tip[:2] / tip[2:]
    content = zlib.decompress(path.read_bytes()).replace(b"Record", b"Recast")
    path.chmod(0o644)
    path.write_bytes(zlib.compress(content))
    assert "is not what its id says" in verified(clone, status=1)["error"]["message"]


def test_forecasts_that_came_in_one_commit_with_the_ends_prove_nothing(clone: Path) -> None:
    put(clone, git(clone, "rev-parse", "origin/season^{tree}"))
    found = verified(clone, status=1)
    assert all("and no earlier than the end" in text for text in found["differences"])
    assert found["differences"]


def spoil_forecast(clone: Path, tree: str) -> str:
    text = git(clone, "show", f"{tree}:record/forecasts.csv")
    changed = text.replace(",500000,", ",900000,", 1)
    assert changed != text
    return with_file(clone, tree, "record/forecasts.csv", f"{changed}\n".encode())


def spoil_heads(clone: Path, tree: str) -> str:
    text = git(clone, "show", f"{tree}:heads.jsonl")
    return with_file(clone, tree, "heads.jsonl", text.replace('"at":"2026', '"at":"2027', 1).encode() + b"\n")


def shorten_heads(clone: Path, tree: str) -> str:
    lines = git(clone, "show", f"{tree}:heads.jsonl").splitlines()
    return with_file(clone, tree, "heads.jsonl", "".join(f"{line}\n" for line in lines[:-1]).encode())


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (spoil_forecast, "record/ can't be made a record: forecasts.csv: it is 3,"),
        (spoil_heads, "history was rewritten: the heads of "),
        (shorten_heads, "history was rewritten: the heads of "),
        (
            lambda clone, tree: with_file(clone, tree, "record/x.csv", b"/etc/passwd", "120000"),
            "is no file of an",
        ),
        (
            lambda clone, tree: with_file(clone, tree, "record/run.sh", b"exit"),
            "'run.sh' is no file of an export",
        ),
        (lambda clone, tree: with_file(clone, tree, "record/other.csv", b"a\n"), "unexpected file"),
    ],
)
def test_what_was_changed_on_the_branch_is_named(
    clone: Path, spoil: Callable[[Path, str], str], message: str
) -> None:
    tip = git(clone, "rev-parse", "origin/season")
    put(clone, spoil(clone, f"{tip}^{{tree}}"), tip)
    found = verified(clone, status=1)
    assert any(message in text for text in found["differences"]), found["differences"]


def test_files_of_any_size_are_not_read(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.operations.season_branch.MOST_OF_FILE", 2_000)
    [text] = verified(clone, status=1)["differences"]
    assert re.search(r"record/ can't be made a record: the blob \w+ has [\d,]+ bytes, more than 2,000", text)


def test_a_merge_is_named(clone: Path) -> None:
    tip = git(clone, "rev-parse", "origin/season")
    log = git(clone, "rev-parse", "origin/season-log")
    put(clone, git(clone, "rev-parse", f"{tip}^{{tree}}"), tip, log)
    assert any("merges another history" in text for text in verified(clone, status=1)["differences"])


@pytest.mark.parametrize(
    ("words", "code"),
    [(("--depth=1", "--no-single-branch"), "shallow"), (("-b", "main", "--single-branch"), "no_season")],
)
def test_a_part_of_a_clone_says_what_is_missing(
    played: Hosted, tmp_path: Path, words: tuple[str, ...], code: str
) -> None:
    git(tmp_path, "clone", "-q", *words, f"file://{played.origin}", "part")
    error = answered("admin", "verify", "--published", tmp_path / "part", status=1)["error"]
    assert error["code"] == code
    assert answered("admin", "verify", "--published", tmp_path, status=1)["error"]["code"] == "no_clone"


NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
A_SECOND = timedelta(seconds=1)


def test_dates_that_go_back_are_named() -> None:
    season = PublishedSeason("2")
    check_history(season, [GitCommit("1", "", (), NOON, ""), GitCommit("2", "", ("1",), NOON, "")], [])
    assert not season.differences
    check_history(
        season, [GitCommit("3", "", (), NOON, ""), GitCommit("4", "", ("3",), NOON - A_SECOND, "")], []
    )
    assert season.differences == ["commit 4 is dated before the one that it follows"]


@pytest.mark.parametrize(
    ("decided", "ended", "known_after", "wrong"),
    [
        (1, 2, timedelta(hours=1), ""),
        (1, 0, timedelta(hours=1), ""),
        (1, 2, timedelta(), "and the end could be known on 2026-03-01 12:00 UTC"),
        (2, 1, timedelta(hours=1), "and no earlier than the end"),
        (2, 2, timedelta(hours=9), "and no earlier than the end"),
        (0, 2, timedelta(hours=1), "no head covers the round yet"),
    ],
)
def test_live_forecasts_are_published_before_the_end_could_be_known(
    decided: int, ended: int, known_after: timedelta, wrong: str
) -> None:
    commits = [GitCommit(str(hour), "", (), NOON + hour * timedelta(hours=1), "") for hour in (0, 1)]
    season = PublishedSeason("1")
    forecasts = ForecastsOfEnd(1, 1, "polymarket:1", 3, True, decided, ended, NOON + known_after)
    check_order(season, [forecasts], commits, [1, 2])
    assert season.ended_forecasts == 3
    assert len(season.differences) == bool(wrong)
    assert all(wrong in text for text in season.differences)
