"""The workflows that `arena init --public` writes: whoever a stranger can start holds no key."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from arena.config import load
from arena.config.new_folder import NewArena
from arena.config.public_folder import public_files, requirement_text
from tests.program.command_line import ROOT
from tests.program.in_process import answered

AT = datetime(2026, 3, 4, tzinfo=UTC)
LIVE = NewArena("polymarket", ({"model": "mistral/mistral-large-4"},), 20.0)
FILES = public_files(AT, LIVE, "paper-arena==0.1.0\n")
WORKFLOWS = {name: text for name, text in FILES.items() if name.startswith(".github/workflows/")}
OWN_STARTS = {"schedule", "workflow_dispatch"}
"""What starts a workflow for nobody but those who may write to the repository."""


def read(text: str) -> Any:
    return YAML(typ="safe").load(text)


@pytest.mark.parametrize("name", WORKFLOWS)
def test_no_job_that_a_stranger_can_start_holds_a_key(name: str) -> None:
    text = WORKFLOWS[name]
    workflow = read(text)
    assert "pull_request_target" not in text
    assert "workflow_run" not in text
    assert workflow["permissions"] == {"contents": "read"}
    if OWN_STARTS.issuperset(workflow["on"]):
        return

    assert set(workflow["on"]) == {"pull_request"}
    assert "secrets" not in text
    assert "token" not in text
    for job in workflow["jobs"].values():
        assert "permissions" not in job, "no job has more than the workflow"
        checkouts = [step for step in job["steps"] if step.get("uses", "").startswith("actions/checkout")]
        assert [step["with"]["persist-credentials"] for step in checkouts] == [False]


@pytest.mark.parametrize("name", WORKFLOWS)
def test_actions_are_those_of_the_projects_own_workflows_by_digest(name: str) -> None:
    own = (ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8")
    used = re.findall(r"uses: (.*)", WORKFLOWS[name])
    assert used
    for action in used:
        assert re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action)
        assert f"uses: {action}\n" in own, "one digest for both"


@pytest.mark.parametrize("name", WORKFLOWS)
def test_what_a_step_runs_has_nothing_of_a_pull_request_in_it(name: str) -> None:
    for job in read(WORKFLOWS[name])["jobs"].values():
        for step in job["steps"]:
            assert "${{" not in step.get("run", "")


@pytest.mark.parametrize(
    ("origin", "line"),
    [
        (None, "paper-arena==0.1.0"),
        (
            {"url": "https://code.test/arena.git", "vcs_info": {"vcs": "git", "commit_id": "12ab"}},
            "paper-arena @ git+https://code.test/arena.git@12ab",
        ),
        ({"url": "https://code.test/a.whl", "archive_info": {}}, "paper-arena @ https://code.test/a.whl"),
        ({"url": "file:///home/me/arena", "dir_info": {}}, "./paper_arena-0.1.0-py3-none-any.whl"),
    ],
)
def test_it_installs_the_arena_from_where_this_one_came(origin: object, line: str) -> None:
    text = requirement_text("0.1.0", None if origin is None else json.dumps(origin))
    assert text.splitlines()[-1] == line


def test_one_season_is_played_at_a_time_and_ends_before_its_claim() -> None:
    season = read(WORKFLOWS[".github/workflows/season.yml"])
    assert season["concurrency"] == {"group": "season", "cancel-in-progress": False}
    [job] = season["jobs"].values()
    assert job["permissions"] == {"contents": "write"}
    assert job["timeout-minutes"] < 120
    assert job["steps"][-1]["run"] == "arena run --publish"
    assert "MISTRAL_API_KEY" in job["steps"][-1]["env"]
    assert all("env" not in step for step in job["steps"][:-1]), "only the step that plays has the keys"


def test_the_folder_is_a_config_and_a_readme_of_one_page(tmp_path: Path) -> None:
    made = answered("init", tmp_path / "season", "--public", "--venue", "simulator", "--yes")
    assert made["made"] == [
        "config.yaml", ".github/workflows/season.yml", ".github/workflows/entrant.yml", "README.md",
        "requirements.txt", ".gitignore",
    ]  # fmt: skip
    config = load(tmp_path / "season" / "config.yaml")
    assert config.public
    assert not config.run.backup

    path = tmp_path / "config.yaml"
    path.write_text(FILES["config.yaml"], "utf-8")
    live = load(path)
    assert (live.public, live.universe.closes_after) == (True, 86_400)
    assert len(FILES["README.md"].splitlines()) <= 60
