"""The wheel, in an empty folder, with nothing of the checkout beside it."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

LOOKED_AT = """
from importlib.metadata import distribution
import arena
from arena.cli.try_model import PAGE
from arena.rounds.quick_trial import past_questions
assert PAGE.is_file()
scripts = distribution("paper-arena").entry_points.select(group="console_scripts")
assert {script.value for script in scripts} == {"arena.cli.start:main"}
print(arena.__file__, len(past_questions()), *(script.name for script in scripts))
"""
COMMANDS = """
import sys
from arena.cli.main import main
for line in sys.argv[1:]:
    sys.argv[:] = ["arena", *line.split()]
    try:
        main()
    except SystemExit as end:
        assert not end.code
    print("ENDED")
"""
"""Each argument is a command line; they share what takes seconds to load."""


def test_what_is_installed_makes_an_arena_checks_it_and_plays_the_demo(tmp_path: Path) -> None:
    built = tmp_path / "built"
    installed = tmp_path / "installed"
    here = tmp_path / "here"
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(built)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    [wheel] = built.glob("*.whl")
    packed = zipfile.ZipFile(wheel)
    packed.extractall(installed)
    here.mkdir()

    def run(*words: str) -> str:
        command = [sys.executable, "-P", *words]
        there = {"PYTHONPATH": str(installed)}
        done = subprocess.run(command, cwd=here, env=there, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    place, *found = run("-c", LOOKED_AT).split()
    assert place.startswith(str(installed))
    assert found == ["200", "arena", "paper-arena"]
    licences = [name for name in packed.namelist() if "/licenses/" in name]
    assert [name.partition("/licenses/")[2] for name in licences] == [
        "LICENSE",
        "arena/cassettes/shipped/LICENSE",
        "arena/past_questions/LICENSE",
    ]
    assert "arena/past_questions/LICENSE" in packed.namelist()
    assert [name for name in packed.namelist() if re.fullmatch("arena/cassettes/shipped/kalshi.*json", name)]
    commands = ("init --yes --venue simulator", "check", "demo --headless --rounds 1")
    made, checked, played, _ = run("-c", COMMANDS, *commands).split("ENDED\n")
    assert "arena check" in made
    assert "demo/sharp" in checked
    assert "State hash" in played
