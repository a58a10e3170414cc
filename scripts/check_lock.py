"""Check, without a network, that requirements.lock and pyproject.toml agree."""

import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SITE = "docs/requirements.lock"
LOCK = (ROOT / "requirements.lock").read_text().replace("\\\n", " ")


def wanted() -> list[Requirement]:
    """Return the requirements of pyproject.toml: to run, to develop and to build."""
    lines = [
        *PROJECT["project"]["dependencies"],
        *PROJECT["dependency-groups"]["dev"],
        *PROJECT["build-system"]["requires"],
    ]
    return [Requirement(line) for line in lines]


def pins() -> dict[str, str]:
    """Return the versions of the lock that apply on this machine, by package."""
    requirements = (Requirement(line.split("--hash")[0]) for line in LOCK.splitlines() if line.strip())
    here = [pin for pin in requirements if pin.marker is None or pin.marker.evaluate()]
    return {canonicalize_name(pin.name): str(pin.specifier).removeprefix("==") for pin in here}


def reached(roots: list[Requirement]) -> set[str]:
    """Return every package that the roots require, directly or not, as the installed packages declare it."""
    seen: set[tuple[str, str]] = set()
    todo = list(roots)
    while todo:
        requirement = todo.pop()
        name = canonicalize_name(requirement.name)
        fresh = {(name, extra) for extra in ("", *requirement.extras)} - seen
        seen |= fresh
        for _, extra in sorted(fresh):
            todo += needs(name, extra)
    return {name for name, _ in seen}


def needs(name: str, extra: str) -> list[Requirement]:
    """Return what an installed package requires here, for one of its extras or for none."""
    try:
        lines = requires(name) or []
    except PackageNotFoundError:
        return []
    all_needs = [Requirement(line) for line in lines]
    return [need for need in all_needs if need.marker is None or need.marker.evaluate({"extra": extra})]


def faults() -> Iterator[str]:
    """Yield every difference between the lock and pyproject.toml, a line each."""
    locked = pins()
    roots = wanted()
    for root in roots:
        version = locked.get(canonicalize_name(root.name))
        if version is None or not root.specifier.contains(version, prereleases=True):
            yield f"pyproject.toml asks for {root}, and requirements.lock has {version or 'none'}"
    led_to = reached(roots)
    for name in sorted(led_to - locked.keys()):
        yield f"requirements.lock lacks {name}, which something in it needs"
    for name in sorted(locked.keys() - led_to):
        yield f"requirements.lock has {name}, which nothing in pyproject.toml leads to"
    yield from faults_of_text("requirements.lock", LOCK)
    site = (ROOT / SITE).read_text().replace("\\\n", " ")
    for wanted_name in map(Requirement, PROJECT["dependency-groups"]["site"]):
        if not re.search(rf"^{re.escape(wanted_name.name)}==", site, re.MULTILINE):
            yield f"pyproject.toml asks for {wanted_name}, and {SITE} lacks it"
    yield from faults_of_text(SITE, site)


def faults_of_text(name: str, text: str) -> Iterator[str]:
    """Yield lines of a lock without a hash, and addresses in it."""
    for line in text.splitlines():
        if "--hash=sha256:" not in line:
            yield f"{name} has no hash for {line.strip()}"
    for address in re.findall(r"\S*://\S*|--\S*(?:index|find-links)\S*", text):
        yield f"{name} holds an address: {address}"


if __name__ == "__main__":
    drift = list(faults())
    if drift:
        sys.exit("\n".join([*drift, "'make lock' renews it."]))
