"""The command line, in the process of a test that does not care which one it is."""

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from arena.cli.main import app


def run(folder: Path, *words: str, keys: str | None = None) -> Any:
    """What the command line answers."""
    return CliRunner().invoke(app, [*words, "--config", str(folder / "config.yaml")], input=keys)


def said(folder: Path, *words: str, status: int = 0) -> Any:
    """The answer as JSON."""
    answer = run(folder, *words, "--json")
    assert answer.exit_code == status, answer.output
    return json.loads(answer.stdout)
