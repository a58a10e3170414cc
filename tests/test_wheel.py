"""The wheel, in an empty folder, with nothing of the checkout beside it."""

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

COMMANDS = """
from importlib.metadata import distribution
for script in distribution("paper-arena").entry_points.select(group="console_scripts"):
    assert script.value == "arena.cli.start:main"
    print(script.name)
"""
QUESTIONS = """
from arena.cli.try_model import PAGE
from arena.rounds.quick_trial import past_questions
assert PAGE.is_file()
print(len(past_questions()))
"""


def test_what_is_installed_makes_an_arena_checks_it_and_plays_the_demo(tmp_path: Path) -> None:
    built, installed, here = tmp_path / "built", tmp_path / "installed", tmp_path / "here"
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(built)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    [wheel] = built.glob("*.whl")
    packed = zipfile.ZipFile(wheel)
    packed.extractall(installed)
    here.mkdir()

    def run(*words: str) -> str:
        command, there = [sys.executable, "-P", *words], {"PYTHONPATH": str(installed)}
        done = subprocess.run(command, cwd=here, env=there, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def arena(*words: str) -> str:
        return run("-m", "arena.cli.main", *words)

    assert run("-c", "import arena; print(arena.__file__)").startswith(str(installed))
    assert run("-c", COMMANDS).split() == ["arena", "paper-arena"]
    assert run("-c", QUESTIONS) == "200\n"
    licences = [name for name in packed.namelist() if "/licenses/" in name]
    assert [name.partition("/licenses/")[2] for name in licences] == [
        "LICENSE",
        "arena/past_questions/LICENSE",
    ]
    assert "arena/past_questions/LICENSE" in packed.namelist()
    assert "arena check" in arena("init", "--yes", "--venue", "simulator")
    assert "demo/sharp" in arena("check")
    assert "State hash" in arena("demo", "--headless", "--rounds", "1")
