"""What scripts/installs.py makes of versions and of pytest's results; installing itself needs a network."""

import subprocess
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parent.parent
RESULTS = """<?xml version="1.0" encoding="utf-8"?>
<testsuites><testsuite name="pytest" errors="1" failures="1" skipped="1" tests="5">
<testcase classname="tests.agents.test_llm" name="test_good[a]" time="1.25"/>
<testcase classname="tests.agents.test_llm" name="test_good[b]" time="0.25">
<system-out>x</system-out></testcase>
<testcase classname="tests.agents.test_llm" name="test_bad" time="1.0">
<failure message="no">no</failure></testcase>
<testcase classname="tests.agents.test_llm" name="test_hangs" time="0.0">
<failure message="worker 'gw0' crashed while running it">gone</failure></testcase>
<testcase classname="tests.agents.test_wires" name="test_setup" time="0.5">
<error message="no">no</error></testcase>
<testcase classname="tests.agents.test_wires" name="test_thorough" time="0.0"><skipped/></testcase>
</testsuite></testsuites>"""
LOCK = """numpy==2.4.6 ; python_full_version < '3.12' \\
    --hash=sha256:aa
numpy==2.5.5 ; python_full_version >= '3.12' \\
    --hash=sha256:bb \\
    --hash=sha256:cc
rich==15.0.0 \\
    --hash=sha256:dd
"""


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = spec_from_file_location("installs", ROOT / "scripts" / "installs.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_tests_that_fail_break_or_hang_are_named_and_skipped_ones_are_not_counted(script: ModuleType) -> None:
    result = script.read_results("tests/agents", RESULTS)

    assert (result.passed, result.seconds) == (2, 3.0)
    assert result.failures == (
        "tests.agents.test_llm::test_bad",
        "tests.agents.test_llm::test_hangs",
        "tests.agents.test_wires::test_setup",
    )


def test_a_version_differs_that_the_lock_has_for_no_python(script: ModuleType) -> None:
    locked = script.locked_versions(LOCK)
    installed = {"numpy": "2.5.5", "rich": "14.0.0", "httpx2": "2.16.2", "paper-arena": "0.1.0"}

    assert script.version_differences(locked, installed) == [
        "httpx2 2.16.2 (lock: none)",
        "rich 14.0.0 (lock: 15.0.0)",
    ]


def test_the_projects_own_lock_is_read_whole(script: ModuleType) -> None:
    text = script.LOCK.read_text("utf-8")
    locked = script.locked_versions(text)

    assert {"litellm", "ruamel-yaml", "psycopg"} <= locked.keys()
    assert sum(map(len, locked.values())) == text.count("==") - text.count("== ")


def test_the_report_has_a_line_for_each_folder_and_names_what_failed(script: ModuleType) -> None:
    good = script.FolderResult("tests/agents", 12, (), 3.4)
    bad = script.FolderResult("tests/markets", 3, ("tests.markets.test_odds::test_odds",), 60.0)
    trials = [
        script.Trial("lock", (), (good,)),
        script.Trial("lowest", ("rich 14.0.0 (lock: 15.0.0)",), (bad,)),
    ]

    lines = script.report(trials).splitlines()

    assert [line.split() for line in lines[1:3]] == [
        ["lock", "tests/agents", "0", "12", "0", "3"],
        ["lowest", "tests/markets", "1", "3", "1", "60"],
    ]
    assert lines[3:] == [
        "",
        "lowest: versions that differ from the lock",
        "  rich 14.0.0 (lock: 15.0.0)",
        "",
        "lowest: failed",
        "  tests.markets.test_odds::test_odds",
    ]


def test_the_folders_that_it_runs_exist(script: ModuleType) -> None:
    assert [folder for folder in script.FOLDERS if not (ROOT / folder).is_dir()] == []


def test_the_weekly_run_tries_every_environment_with_every_python(script: ModuleType) -> None:
    workflow = YAML(typ="safe").load(ROOT / ".github" / "workflows" / "installs.yml")
    job = workflow["jobs"]["test"]
    commands = [step["run"] for step in job["steps"] if "run" in step]

    assert {"schedule", "workflow_dispatch"} <= workflow["on"].keys()
    assert tuple(job["strategy"]["matrix"]["versions"]) == script.ENVIRONMENTS
    assert job["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13", "3.14"]
    assert commands[-1] == "python scripts/installs.py --only ${{ matrix.versions }}"


def test_the_demo_installs_what_the_product_needs_and_no_tool_of_developers() -> None:
    """The whole of the lock takes several times as long to install."""
    said = subprocess.run(["make", "--dry-run", "demo"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert [line for line in said.stdout.splitlines() if "setup.sh" in line] == [
        "sh scripts/setup.sh product"
    ]
