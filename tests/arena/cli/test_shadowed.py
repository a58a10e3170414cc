"""Another package with one of our import names is named in one sentence, by every command."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.program.command_line import ROOT

START = "import sys; sys.path.insert(0, sys.argv.pop(1)); from arena.cli.start import main; main()"


@pytest.mark.parametrize("name", ["agents", "markets", "portfolio", "dashboard"])
@pytest.mark.parametrize("words", [["--help"], ["leaderboard"], ["check", "--json"]])
def test_who_has_taken_a_name_is_told(tmp_path: Path, name: str, words: list[str]) -> None:
    """As where both were installed into one environment: the other's files lie in our folder."""
    for package in ("arena", "markets", "portfolio", "agents", "dashboard"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / name / "__init__.py").write_text("from nowhere import Thing\n", "utf-8")
    record = tmp_path / "openai_agents-0.9.dist-info" / "RECORD"
    record.parent.mkdir()
    record.write_text(f"x.py,,\n{name}/__init__.py,sha256=x,3\n", "utf-8")
    line = [sys.executable, "-P", "-c", START, str(tmp_path), *words]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True)
    told = done.stdout + done.stderr
    assert f"openai-agents has taken the import name {name}" in told.replace("\n", " ")
    assert "Traceback" not in told
    assert done.returncode == 1
