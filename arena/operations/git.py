"""Runs git: commands in a season's own repository, and reading the objects of a clone that nobody trusts.

A clone's config can name programs, and so can its hooks. So nothing of a clone is used but its objects: git
reads them from a bare repository of our own, which is empty otherwise, and each is held against its id.
"""

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha1
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import IO

from arena.errors import ArenaError

Popen = subprocess.Popen
OWN = ("-c", f"core.hooksPath={os.devnull}", "-c", "core.fsmonitor=false", "-c", "core.autocrlf=false")
OBJECT = re.compile(r"[0-9a-f]{40}")
MOST_OF_OBJECT = 1_000_000
"""Bytes of a commit or of a folder's list."""
MOST_OF_FILE = 200_000_000
MOST_OF_REFS = 20_000_000


class GitError(ArenaError):
    """A git command that failed, with the last thing that git said."""


def git_program() -> str:
    """Return the path of git. Raise `GitError` if there is none."""
    program = which("git")
    if program is None:
        raise GitError("no_git", "there is no git on this machine", "install it")
    return program


def git(folder: Path, *words: str, variables: Mapping[str, str] | None = None) -> str:
    """Return the output of a git command in our own repository; raise `GitError` if it fails.

    `variables` are environment variables beside those of this process.
    """
    environ = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C", **(variables or {})}
    command = [git_program(), "-C", str(folder), *OWN, *words]
    done = subprocess.run(command, input="", env=environ, capture_output=True, check=False, text=True)
    if done.returncode:
        last_line = done.stderr.strip().rpartition("\n")[2]
        raise GitError("git", f"git {words[0]} failed: {last_line or done.returncode}")
    return done.stdout.strip()


@dataclass(frozen=True, slots=True)
class GitCommit:
    """A commit: its own id, that of its files, its parents, and when it says it was made."""

    id: str
    tree: str
    parents: tuple[str, ...]
    at: datetime
    message: str


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """A file or a folder in a folder of a commit."""

    name: str
    mode: str
    id: str


@dataclass(frozen=True, slots=True)
class GitObjects:
    """The objects of a repository, read by two git processes: one tells sizes, the other contents."""

    sizes: "Popen[bytes]"
    contents: "Popen[bytes]"

    def size(self, name: str, kind: str) -> int:
        """Return the bytes of an object. Raise `ArenaError` if it is not there, or of another kind."""
        if not OBJECT.fullmatch(name):
            raise ArenaError("bad_clone", f"{name[:60]!r} is not the id of an object")
        _, found, size = self._request_object(self.sizes, name)
        if found != kind:
            raise ArenaError("bad_clone", f"{name} is a {found}, where a {kind} should be")
        return int(size)

    def read(self, name: str, kind: str, most: int = MOST_OF_OBJECT) -> bytes:
        """Return the content of an object; raise `ArenaError` if it is too large, or doesn't have its id."""
        size = self.size(name, kind)
        if size > most:
            raise ArenaError("too_large", f"the {kind} {name} has {size:,} bytes, more than {most:,}")

        self._request_object(self.contents, name)
        data = _output(self.contents).read(size + 1)[:size]  # a line end follows the content
        if object_id(kind, data) != name:
            raise ArenaError("bad_clone", f"the content of {name} is not what its id says")
        return data

    def commit(self, name: str) -> GitCommit:
        """Return a commit."""
        head, _, message = self.read(name, "commit").decode("utf-8", "replace").partition("\n\n")
        fields = [line.partition(" ") for line in head.splitlines()]
        trees = [value for key, _, value in fields if key == "tree"]
        dates = [value.split()[-2] for key, _, value in fields if key == "committer"]
        try:
            at = datetime.fromtimestamp(int(dates[0]), UTC)
            tree = trees[0]
        except (IndexError, ValueError, OverflowError, OSError) as error:
            raise ArenaError("bad_clone", f"the commit {name} can't be read") from error

        parents = tuple(value for key, _, value in fields if key == "parent")
        return GitCommit(name, tree, parents, at, message)

    def history(self, tip: str, most: int) -> list[GitCommit]:
        """Return the commits that lead to this one by first parents, oldest first."""
        commits = list[GitCommit]()
        name = tip
        while name:
            if len(commits) >= most:
                raise ArenaError("too_large", f"the branch has more than {most:,} commits")
            commit = self.commit(name)
            commits.append(commit)
            name = commit.parents[0] if commit.parents else ""

        commits.reverse()
        return commits

    def entries(self, tree: str) -> dict[str, TreeEntry]:
        """Return the entries of a folder, by name."""
        unread = self.read(tree, "tree")
        entries = {}
        while unread:
            # Each entry is its mode and name as text, a zero byte, and the 20 bytes of its id.
            head, _, after_head = unread.partition(b"\0")
            mode, _, name = head.decode("utf-8", "replace").partition(" ")
            entries[name] = TreeEntry(name, mode, after_head[:20].hex())
            unread = after_head[20:]
        return entries

    @staticmethod
    def _request_object(process: "Popen[bytes]", name: str) -> tuple[str, str, str]:
        """Ask for an object, and return its id, its kind and its size."""
        assert process.stdin is not None
        process.stdin.write(f"{name}\n".encode())
        process.stdin.flush()
        words = _output(process).readline().decode("utf-8", "replace").split()
        if len(words) != 3:
            hint = "clone it anew, whole: git clone URL (without --depth and --filter)"
            raise ArenaError("bad_clone", f"the object {name} is missing", hint)
        return words[0], words[1], words[2]


def _output(process: "Popen[bytes]") -> IO[bytes]:
    """Return the output stream of a process."""
    assert process.stdout is not None
    return process.stdout


def object_id(kind: str, data: bytes) -> str:
    """Return the id of an object with this content.

    >>> object_id("blob", b"")
    'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
    """
    return sha1(b"%s %d\0%s" % (kind.encode(), len(data), data), usedforsecurity=False).hexdigest()


@contextmanager
def open_objects(folder: Path) -> Iterator[GitObjects]:
    """Yield the objects of a git directory, of which nothing else is used."""
    with TemporaryDirectory(prefix="arena-git-") as name:
        bare = Path(name)
        (bare / "refs").mkdir()
        (bare / "objects").mkdir()
        (bare / "HEAD").write_text("ref: refs/heads/none\n", "utf-8")
        (bare / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = true\n", "utf-8")
        environ = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": name,
            "LC_ALL": "C",
            "GIT_DIR": name,
            "GIT_OBJECT_DIRECTORY": str((folder / "objects").resolve()),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_ALLOW_PROTOCOL": "",
            "GIT_TERMINAL_PROMPT": "0",
        }
        with (
            _cat_file_process("--batch-check", environ) as sizes,
            _cat_file_process("--batch", environ) as contents,
        ):
            yield GitObjects(sizes, contents)


@contextmanager
def _cat_file_process(form: str, environ: Mapping[str, str]) -> Iterator["Popen[bytes]"]:
    """Yield a process that answers questions on objects, until it is no longer needed."""
    process = subprocess.Popen(
        [git_program(), "cat-file", form],
        env=environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def git_directory(clone: Path) -> Path:
    """Return the git directory of a clone, or of a bare repository. Raise `ArenaError` if it is neither."""
    for folder in (clone / ".git", clone):
        if (folder / "objects").is_dir():
            return folder
    raise ArenaError(
        "no_clone", f"{clone} is no clone of a repository", "git clone URL, then name its folder"
    )


def read_refs(folder: Path) -> dict[str, str]:
    """Return the ids of the branches of a git directory, by their full names; nothing of it is run."""
    refs = {}
    for line in _text_or_nothing(folder / "packed-refs").splitlines():
        name, _, ref = line.partition(" ")
        if OBJECT.fullmatch(name):
            refs[ref] = name

    for place in ("heads", "remotes/origin"):
        for path in sorted((folder / "refs" / place).glob("*")):
            name = _text_or_nothing(path).strip()
            if OBJECT.fullmatch(name):
                refs[f"refs/{place}/{path.name}"] = name
    return refs


def read_reflog(folder: Path, ref: str) -> list[str]:
    """Return the ids that a branch of a git directory is known to have had, oldest first."""
    names = []
    for line in _text_or_nothing(folder / "logs" / ref).splitlines():
        # Each line has the old and the new id; the first line's old id is zeros.
        names += [name for name in line.split(" ")[:2] if OBJECT.fullmatch(name) and int(name, 16)]
    return names


def _text_or_nothing(path: Path) -> str:
    """Return the text of a plain file; nothing if there is none, or a link."""
    if path.is_symlink() or not path.is_file():
        return ""
    with path.open("rb") as file:
        data = file.read(MOST_OF_REFS + 1)
    if len(data) > MOST_OF_REFS:
        raise ArenaError("too_large", f"{path} has more than {MOST_OF_REFS:,} bytes")
    return data.decode("utf-8", "replace")
