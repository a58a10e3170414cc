"""The keys of every answer in JSON stand in json_keys.json, which programs go by.

`python -m tests.arena.cli.test_json_keys` writes that file anew, where a key was added on purpose.
"""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from typer.testing import CliRunner

from arena.cli.main import app
from tests.season.demo import SIX_ROUNDS, six_rounds

GOLDEN = Path(__file__).with_name("json_keys.json")
OPEN_ENDED = {
    "settings",
    "venue_settings",
    "evidence_settings",
    "prompts",
    "counts",
    "turns",
    "files",
    "tables",
}
"""What has names of agents, prompts and the like for keys."""
COMMANDS = """\
leaderboard
leaderboard --by category
leaderboard --provisional
duel sharp hasty
positions
positions --by market
positions --by agent
cohorts list
cohorts show 1
cohorts diff 1 next
cohorts seal 1
cohorts pause 2
agents list
agents show sharp --by cohort
agents try sharp --dry
markets list --status all
markets show {market}
markets rejected
status
watch list
whatif --fill mid --cohort 1
verify
check
run --list
round
init new
score scores.csv
tournament cup.yaml
markets record bundle
markets check bundle
markets sync
db backup
db prune --older-than 1s --dry-run
db upgrade
export season.zip
import season.zip --database copy.db
leaderboard --cohort 9"""
SCORES = "question,forecaster,probability,outcome\na,ann,0.8,1\na,bob,0.4,1\n"


def keys(value: Any, path: str = "") -> Iterator[str]:
    """Where something stands in an answer, every place once."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield f"{path}.{key}".lstrip(".")
            if key not in OPEN_ENDED or isinstance(item, list):
                yield from keys(item, f"{path}.{key}")
    if isinstance(value, list):
        for item in value:
            yield from keys(item, f"{path}[]")


def answers(folder: Path) -> dict[str, list[str]]:
    """The keys of what every command answers in a folder with a config, a record and two files."""
    (folder / "scores.csv").write_text(SCORES, "utf-8")
    (folder / "cup.yaml").write_text("form: peer\npool: 100\nforecasts: scores.csv\n", "utf-8")
    found, market = {}, ""
    for line in COMMANDS.splitlines():
        words = [word.format(market=market) for word in line.split()]
        base = (
            []
            if "--database" in words or words[0] in ("init", "score", "tournament")
            else ["--database", "demo.db"]
        )
        answer = CliRunner().invoke(app, [*base, *words, "--json"])
        told = json.loads(answer.stdout)
        if line.startswith("markets list"):
            market = told["markets"][0]["id"]
        found[line] = sorted(set(keys(told)))
    return found


def test_every_answer_has_the_keys_that_it_had(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(shutil.copytree(six_rounds(tmp_path_factory), tmp_path / "season"))
    shutil.copy(Path(__file__).parents[3] / "examples" / "demo.yaml", folder / "config.yaml")
    monkeypatch.chdir(folder)
    assert answers(folder) == json.loads(GOLDEN.read_text("utf-8"))


if __name__ == "__main__":
    with TemporaryDirectory() as place:
        shutil.copy(Path(__file__).parents[3] / "examples" / "demo.yaml", f"{place}/config.yaml")
        os.chdir(place)
        CliRunner().invoke(app, [*SIX_ROUNDS, "--database", "demo.db"])
        GOLDEN.write_text(json.dumps(answers(Path(place)), indent=1) + "\n", "utf-8")
