"""Verifies a public season from a clone alone: its history, its heads, and the record as it was exported.

A head covers all that came before it, so the heads of a commit say what the publisher then knew. Forecasts
whose head is on the branch in an earlier commit than the head over the market's end came before the end was
published; at a live venue that commit must also be dated before the end could be known.

Two things can't be told: whether dates of commits are true, and whether branch and log were both replaced
before anyone cloned them.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from arena.errors import ArenaError, count_text
from arena.exports.restore import restore
from arena.operations.git import (
    MOST_OF_FILE,
    GitCommit,
    GitObjects,
    git_directory,
    object_id,
    open_objects,
    read_reflog,
    read_refs,
)
from arena.operations.season_branch import BRANCH, HEADS, LOG, RECORD, write_export
from arena.record.queries.forecasts_of_ends import ForecastsOfEnd, read_forecasts_of_ends
from arena.record.schema.database import open_read_only, reading
from arena.record.write.heads import read_newest_head
from arena.verify.checks.heads import check_published
from arena.verify.differences import Differences
from arena.verify.reader import NOTHING_VERIFIED, RecordReader

MOST_COMMITS = 200_000
MOST_NAMED = 20
"""So many rounds and markets are named whose forecasts are not shown to be early enough."""
PLACES = ("refs/remotes/origin", "refs/heads")
"""Where a clone has a branch, and where the repository itself does."""


@dataclass
class PublishedSeason:
    """The result of verifying a season from a clone: its differences, and the figures checked.

    `closest` is the least time between a live forecast's commit and when its market's end could be known.
    """

    tip: str
    differences: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    commits: int = 0
    first_at: datetime | None = None
    last_at: datetime | None = None
    publications: int = 0
    heads: int = 0
    state_hash: str = ""
    ended_forecasts: int = 0
    closest: timedelta | None = None

    def differs(self, message: str) -> None:
        """Note a difference."""
        self.differences.append(message)


@dataclass(frozen=True, slots=True)
class BranchHeads:
    """The newest heads as lines of JSON, and how many of them each commit of the branch had."""

    lines: list[str]
    by_commit: list[int]


def verify_published(clone: Path) -> PublishedSeason:
    """Verify the season in a clone; raise `ArenaError` if it holds none, or can't be read."""
    folder = git_directory(clone)
    refs = read_refs(folder)
    tips = _tips(refs, BRANCH)
    log_tips = _tips(refs, LOG)
    if not tips:
        hint = "clone the whole repository: git clone URL"
        raise ArenaError("no_season", f"{clone} has no branch {BRANCH}", hint)
    if (folder / "shallow").exists():
        raise ArenaError(
            "shallow", f"{clone} lacks a part of its history", "git fetch --unshallow, then again"
        )

    season = PublishedSeason(tips[0])
    seen = dict.fromkeys(tips)
    for place in PLACES:
        seen |= dict.fromkeys(read_reflog(folder, f"{place}/{BRANCH}"))

    with open_objects(folder) as objects:
        commits = objects.history(season.tip, MOST_COMMITS)
        season.commits = len(commits)
        season.first_at = commits[0].at
        season.last_at = commits[-1].at

        check_history(season, commits, seen)
        if log_tips:
            _check_log(season, commits, objects.history(log_tips[0], MOST_COMMITS))
        else:
            season.notes.append(f"there is no branch {LOG}, which would show what was published before")
        heads = _read_and_check_heads(season, objects, commits)
        _check_record(season, objects, commits, heads)
    return season


def _tips(refs: Mapping[str, str], branch: str) -> list[str]:
    """Return the newest commits of a branch in a clone, that of the remote first."""
    names = [f"{place}/{branch}" for place in PLACES]
    return [refs[name] for name in names if name in refs]


def check_history(season: PublishedSeason, commits: Sequence[GitCommit], seen: Iterable[str]) -> None:
    """Note commits that the branch had and has no longer, merges, and dates that go back."""
    names = {commit.id for commit in commits}
    for name in seen:
        if name not in names:
            season.differs(f"history was rewritten: this clone has seen {name[:12]} on the branch, now gone")

    for before, commit in pairwise(commits):
        if len(commit.parents) > 1:
            season.differs(f"commit {commit.id[:12]} merges another history")
        if commit.at < before.at:
            season.differs(f"commit {commit.id[:12]} is dated before the one that it follows")


def _check_log(season: PublishedSeason, commits: Sequence[GitCommit], log: Sequence[GitCommit]) -> None:
    """Note what the log says was published but is missing from the branch, or in another order."""
    positions = {commit.id: position for position, commit in enumerate(commits)}
    newest_position = -1
    gone = set()
    for entry in log:
        # Until something is published an entry has no second parent.
        if len(entry.parents) < 2:
            continue

        name = entry.parents[1]
        position = positions.get(name)
        if position is None and name not in gone:
            gone.add(name)
            when = f"{entry.at:%Y-%m-%d %H:%M} UTC"
            season.differs(f"history was rewritten: {name[:12]}, by the log on the branch on {when}, is gone")
        elif position is not None and position < newest_position:
            season.differs(
                f"history was rewritten: {name[:12]} was put back on {entry.at:%Y-%m-%d %H:%M} UTC"
            )
        elif position is not None and position > newest_position:
            season.publications += 1
        if position is not None:
            newest_position = max(newest_position, position)

    by_hand = len(commits) - 1 - newest_position
    if by_hand:
        season.notes.append(
            f"the newest {count_text(by_hand, 'commit')} of the branch did not come from a run"
        )


def _read_and_check_heads(
    season: PublishedSeason, objects: GitObjects, commits: Sequence[GitCommit]
) -> BranchHeads:
    """Return the newest heads, and how many each commit had; note where they don't begin the newest ones.

    Earlier files are not read: their sizes and ids tell whether they are a beginning of the newest one.
    """
    file_ids = []
    for commit in commits:
        entry = objects.entries(commit.tree).get(HEADS)
        file_ids.append("" if entry is None else entry.id)

    newest = b""
    if file_ids[-1]:
        newest = objects.read(file_ids[-1], "blob", MOST_OF_FILE)
    head_counts = {"": 0}
    for file_id, commit in zip(file_ids, commits, strict=True):
        if file_id in head_counts:
            continue

        # As much of the newest file as the earlier one was long has to be the earlier one.
        beginning = newest[: objects.size(file_id, "blob")]
        head_counts[file_id] = beginning.count(b"\n")
        if object_id("blob", beginning) != file_id:
            season.differs(
                f"history was rewritten: the heads of {commit.id[:12]} don't begin the newest ones"
            )

    by_commit = [head_counts[file_id] for file_id in file_ids]
    if by_commit != sorted(by_commit):
        season.differs("history was rewritten: heads that were published are gone")
    season.heads = by_commit[-1]
    return BranchHeads(newest.decode("utf-8", "replace").splitlines(), by_commit)


def _check_record(
    season: PublishedSeason, objects: GitObjects, commits: Sequence[GitCommit], published: BranchHeads
) -> None:
    """Make a record of the newest export; note where it differs from itself or from the heads."""
    entry = objects.entries(commits[-1].tree).get(RECORD)
    if entry is None:
        season.differs(f"the branch has no {RECORD}/, so there is nothing to verify")
        return

    with TemporaryDirectory(prefix="arena-published-") as name:
        export = Path(name, RECORD)
        database = str(Path(name, "record.db"))
        try:
            write_export(objects, entry, export)
            season.state_hash = restore(export, database).state_hash
        except ArenaError as error:
            season.differs(f"{RECORD}/ can't be made a record: {error.message}")
            return

        with open_read_only(database) as engine, reading(engine) as connection:
            found = Differences(MOST_NAMED)
            facts = RecordReader(connection, found.add, NOTHING_VERIFIED)
            for difference in check_published(facts, published.lines):
                season.differs(difference.message)
            newest = read_newest_head(connection)
            if newest != season.heads:
                season.differs(f"{RECORD}/ has {newest:,} heads, and {HEADS} has {season.heads:,}")
            check_order(season, read_forecasts_of_ends(connection), commits, published.by_commit)


def check_order(
    season: PublishedSeason,
    ends: Iterable[ForecastsOfEnd],
    commits: Sequence[GitCommit],
    head_counts: Sequence[int],
) -> None:
    """Note forecasts that were not published before the market's end was.

    `head_counts` says of each commit how many heads it had.
    """
    unpublished = len(commits)
    late = []
    for forecasts in ends:
        season.ended_forecasts += forecasts.forecasts

        # The first commits with the head over the forecasts, and with that over the market's end.
        decided_head = forecasts.decided_head
        ended_head = forecasts.ended_head
        decided = bisect_left(head_counts, decided_head) if decided_head else unpublished
        ended = bisect_left(head_counts, ended_head) if ended_head else unpublished

        place = f"{forecasts.market}, cohort {forecasts.cohort}, round {forecasts.round}"
        if decided >= unpublished:
            late.append(f"{place}: no head covers the round yet, and the end is known")
            continue

        commit = commits[decided]
        name = f"{commit.id[:12]} of {commit.at:%Y-%m-%d %H:%M} UTC"
        if decided >= ended:
            late.append(f"{place}: the forecasts came with {name}, and no earlier than the end")
        elif forecasts.live:
            early = forecasts.known_at - commit.at
            season.closest = early if season.closest is None else min(season.closest, early)
            if early <= timedelta():
                known = f"{forecasts.known_at:%Y-%m-%d %H:%M} UTC"
                late.append(f"{place}: the forecasts came with {name}, and the end could be known on {known}")

    for message in late[:MOST_NAMED]:
        season.differs(message)
    if len(late) > MOST_NAMED:
        season.differs(f"{len(late) - MOST_NAMED:,} more rounds and markets like these")
