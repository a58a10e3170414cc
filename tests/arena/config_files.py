"""Small configs for tests: written to a folder, changed in one place, their mistakes read off."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from arena.config import ConfigError, ConfigErrors, load
from tests.trusted import trust_all

SMALL = """\
markets:
  venue: simulator
cohorts:
  rounds: 5
agents:
  - kind: market
"""
MARKS_ONLY = """\
markets: {venue: polymarket, polymarket: {url: "http://127.0.0.1:9", book_url: "http://127.0.0.1:9"}}
cohorts: {first: 2100-01-03}
run: {marks: 1w, catalogue: off, quotes: off, resolutions: off, scores: off, backup: off}
agents:
  - kind: market
"""
"""An arena whose only job is to write marks, at a venue that nobody can reach."""


def write(folder: Path, text: str, name: str = "config.yaml") -> Path:
    """Write the text into a file in the folder."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def with_agents(*blocks: str) -> str:
    """Return a small config with these agents, each a line of YAML in braces, the first on line 4."""
    return "\n".join(["markets:", "  venue: simulator", "agents:", *(f"  - {block}" for block in blocks), ""])


def mistakes(
    folder: Path, text: str, environ: Mapping[str, str] | None = None, beside: bool = False
) -> list[ConfigError]:
    """Return what is wrong with a config, with its file's name without the folder."""
    path = write(folder, text)
    with pytest.raises(ConfigErrors) as caught:
        load(path, environ, beside, allow=trust_all)
    found = caught.value.errors
    assert found
    assert all(error.file == str(path) for error in found)
    return list(found)


def told(
    folder: Path, text: str, environ: Mapping[str, str] | None = None, beside: bool = False
) -> list[str]:
    """Return the mistakes as they are printed, from the file's name on."""
    return [str(error).removeprefix(f"{folder}/") for error in mistakes(folder, text, environ, beside)]
