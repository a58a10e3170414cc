"""The command line, in the process of a test that does not care which one it is."""

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from arena.cli.main import app


def invoke(*words: object, given: str | None = None) -> Any:
    """Return what the command line answers, with this on its standard input."""
    return CliRunner().invoke(app, [*map(str, words)], input=given)


def answered(*words: object, status: int = 0) -> Any:
    """Return the answer as JSON."""
    answer = invoke(*words, "--json")
    assert answer.exit_code == status, answer.output
    return json.loads(answer.stdout)


def run(folder: Path, *words: str, keys: str | None = None) -> Any:
    """Return what the command line answers with the config of a folder."""
    return invoke(*words, "--config", folder / "config.yaml", given=keys)


def said(folder: Path, *words: str, status: int = 0) -> Any:
    """Return the answer as JSON."""
    return answered(*words, "--config", folder / "config.yaml", status=status)
