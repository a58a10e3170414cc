"""The branch of a public season: the record as an export, its heads and its site; and a log of that.

    season       heads.jsonl, record/ and docs/: a commit each time one of them has changed
    season-log   empty commits: each says who is at work, or that nobody is

A run first adds a claim to the log. Git takes only one of two that are added at once, so nobody plays beside
it. What the run then publishes goes to both branches in one push, or to none. The second parent of a commit
in the log is the commit of `season` at that time. So what was published stays there even if somebody puts
another history in place of the branch, and that this has happened is seen.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from arena.errors import ArenaError
from arena.exports.manifest import FILE_NAME
from arena.exports.manifest import NAME as MANIFEST
from arena.operations.git import MOST_OF_FILE, GitError, GitObjects, TreeEntry, git, open_objects

BRANCH = "season"
LOG = "season-log"
HEADS = "heads.jsonl"
RECORD = "record"
SITE = "docs"
STAGE = ".season"
"""The folder beside the config in which the branch's files are made."""
CLAIM_LENGTH = timedelta(hours=2)
"""For so long a run may be at work; its workflow ends it before."""
CLAIMED = re.compile(r"claimed until (\S+)\n")
RELEASED = "released\n"
MOST_OF_RECORD = 4_000_000_000
PLAIN_FILE = "100644"


@dataclass
class SeasonBranch:
    """The branch and its log as they are on the remote, by the ids of their newest commits; empty: none.

    `lost` is when a run began that never said that it has ended.
    """

    folder: Path
    tip: str = ""
    log: str = ""
    claim: str = ""
    lost: datetime | None = None

    def git(self, *words: str, **variables: str) -> str:
        """Return the output of a git command in the season's repository, with environment variables."""
        return git(self.folder, *words, variables=variables)

    @contextmanager
    def objects(self) -> Iterator[GitObjects]:
        """Yield the repository's objects."""
        git_folder = Path(self.git("rev-parse", "--path-format=absolute", "--git-common-dir"))
        with open_objects(git_folder) as objects:
            yield objects

    @contextmanager
    def claimed(self, at: datetime) -> Iterator[None]:
        """Keep everybody else from playing for as long as this lasts."""
        self.claim = f"claimed until {(at + CLAIM_LENGTH).isoformat()}\n"
        commit = self._new_log_commit(self.claim, self.tip, at)
        try:
            self.git("push", "--quiet", "origin", f"{commit}:refs/heads/{LOG}")
        except GitError as error:
            # If the log on the remote has not moved, the push failed for another cause.
            if self._remote_refs().get(LOG, "") == self.log:
                raise
            raise _busy_error("another run has begun at the same time") from error
        self.log = commit

        try:
            yield
        finally:
            if self.claim:
                commit = self._new_log_commit(RELEASED, self.tip, at)
                self.git("push", "--quiet", "origin", f"{commit}:refs/heads/{LOG}")
                self.log = commit

    def publish(self, names: tuple[str, ...], message: str, at: datetime, last: bool) -> bool:
        """Put files of the stage on the branch, in one push with the log; tell whether they were new.

        After the `last` the claim is over. Raise `ArenaError` if another run has taken over meanwhile.
        """
        stage = self.folder / STAGE
        with TemporaryDirectory(prefix="arena-index-") as name:
            stage_variables = {
                "GIT_DIR": self.git("rev-parse", "--absolute-git-dir"),
                "GIT_WORK_TREE": str(stage),
                "GIT_INDEX_FILE": str(Path(name, "index")),
            }
            if self.tip:
                git(stage, "read-tree", self.tip, variables=stage_variables)
            git(stage, "add", "--all", "--force", "--", *names, variables=stage_variables)
            tree = git(stage, "write-tree", variables=stage_variables)

        if self.tip and tree == self.git("rev-parse", f"{self.tip}^{{tree}}"):
            return False

        parents = ["-p", self.tip] if self.tip else []
        tip = self.git("commit-tree", tree, *parents, "-m", message, **_author_variables(at))
        log = self._new_log_commit(RELEASED if last else self.claim, tip, at)
        try:
            refs = (f"{tip}:refs/heads/{BRANCH}", f"{log}:refs/heads/{LOG}")
            self.git("push", "--quiet", "--atomic", "origin", *refs)
        except GitError as error:
            if self._remote_refs().get(LOG, "") == self.log:
                raise
            self.claim = ""
            message = "another run has taken over, so what this one played is not published"
            raise ArenaError("superseded", message, "the next run goes on from what is published") from error

        self.tip = tip
        self.log = log
        if last:
            self.claim = ""
        return True

    def _new_log_commit(self, message: str, tip: str, at: datetime) -> str:
        """Make a commit of the log, whose second parent is the season's commit `tip`; return its id."""
        parents = []
        if self.log:
            parents += ["-p", self.log]
            if tip:
                parents += ["-p", tip]
        tree = self.git("mktree")
        return self.git("commit-tree", tree, *parents, "-m", message, **_author_variables(at))

    def _remote_refs(self) -> dict[str, str]:
        """Return the newest commits of the two branches on the remote, of those that are there."""
        refs = {}
        for line in self.git("ls-remote", "origin", f"refs/heads/{BRANCH}", f"refs/heads/{LOG}").splitlines():
            commit, ref = line.split()
            refs[ref.removeprefix("refs/heads/")] = commit
        return refs

    def fetch(self, at: datetime) -> None:
        """Read the two branches. Raise `ArenaError` if a run is at work, or if history was rewritten."""
        refs = self._remote_refs()
        self.tip = refs.get(BRANCH, "")
        self.log = refs.get(LOG, "")
        self._fetch(refs)
        if not self.log:
            return

        with self.objects() as objects:
            newest = objects.commit(self.log)

        # The second parent of a commit in the log is the season's commit at that time.
        published = newest.parents[1] if len(newest.parents) > 1 else ""
        self._check_published(refs, published)
        claim = CLAIMED.match(newest.message)
        if claim is None:
            return

        until = datetime.fromisoformat(claim[1])
        if at < until:
            raise _busy_error(
                f"another run is at work, or was lost; its claim ends at {until:%Y-%m-%d %H:%M} UTC"
            )
        self.lost = newest.at

    def _fetch(self, refs: dict[str, str], *words: str) -> None:
        """Fetch the branches that are there: of a clone without its history the newest commits only."""
        is_shallow = self.git("rev-parse", "--is-shallow-repository") == "true"
        depth = words or (("--depth=1",) if is_shallow else ())
        wanted = [f"+refs/heads/{name}:refs/arena/{name}" for name in refs]
        if wanted:
            self.git("fetch", "--quiet", "--no-tags", *depth, "origin", *wanted)

    def _check_published(self, refs: dict[str, str], published: str) -> None:
        """Raise `ArenaError` if the branch no longer has what was published last."""
        if not published or published == self.tip:
            return

        if self.tip:
            if self.git("rev-parse", "--is-shallow-repository") == "true":
                self._fetch(refs, "--unshallow")
            with suppress(GitError):
                self.git("merge-base", "--is-ancestor", published, self.tip)
                return

        message = f"the branch {BRANCH} was rewritten: it no longer has {published[:12]}, which was published"
        hint = (
            f"put it back: git fetch origin {LOG}, then git push --force origin "
            f"{published}:refs/heads/{BRANCH}; or delete the branch {LOG} to go on from what is there"
        )
        raise ArenaError("rewritten", message, hint)


def _author_variables(at: datetime) -> dict[str, str]:
    """Return the environment that sets the author and the date of a commit."""
    signed = {}
    for role in ("AUTHOR", "COMMITTER"):
        signed[f"GIT_{role}_NAME"] = "Paper Arena"
        signed[f"GIT_{role}_EMAIL"] = "arena@localhost"
        signed[f"GIT_{role}_DATE"] = f"{int(at.timestamp())} +0000"
    return signed


def _busy_error(message: str) -> ArenaError:
    """Return the error for a season that another run has in hand."""
    return ArenaError("busy", message, "the next run goes on; nothing was played here", status=2)


def open_season(folder: Path, at: datetime) -> SeasonBranch:
    """Return the branch of the repository in a folder, as it is on the remote."""
    season = SeasonBranch(folder.resolve())
    try:
        season.git("remote", "get-url", "origin")
    except GitError as error:
        hint = "make it one: git init -b main, then git remote add origin URL"
        raise ArenaError(
            "no_repository", f"{folder} is no repository with a remote `origin`", hint
        ) from error
    season.fetch(at)
    return season


def write_export(objects: GitObjects, entry: TreeEntry, folder: Path) -> None:
    """Write the export that a commit has to a folder; raise `ArenaError` for what can't be one."""
    folder.mkdir()
    bytes_left = MOST_OF_RECORD
    for name, file in objects.entries(entry.id).items():
        if file.mode != PLAIN_FILE or not (name == MANIFEST or FILE_NAME.fullmatch(name)):
            raise ArenaError("bad_export", f"{RECORD}/{name[:60]!r} is no file of an export")
        data = objects.read(file.id, "blob", min(MOST_OF_FILE, bytes_left))
        bytes_left -= len(data)
        (folder / name).write_bytes(data)
