"""A public season by its workflows' own steps: one record on the branch, whatever happens to a runner."""

import re
import subprocess
from datetime import timedelta
from pathlib import Path
from time import sleep
from typing import Any

import pytest

from arena.clock import now
from tests.program.running import arena, arena_json, loaded
from tests.program.running import provider as demo_provider
from tests.program.workflow import Hosted, git
from tests.provider.replies import GOOD, says
from tests.provider.server import FaultyProvider
from tests.season.paid import asked_in
from tests.season.test_desk import desk, of_agent, own_program, until
from tests.venue_server.polymarket import CLOB, GAMMA, rain_and_snow
from tests.venue_server.server import VenueServer

CARELESS = "kind: command\ncommand: [sh, steal.sh]\n"
RECORD = "arena.db"


@pytest.fixture
def hosted(tmp_path: Path) -> Hosted:
    """Return a small simulated public season of `arena init --public`, published by its owner."""
    made = Hosted(tmp_path)
    arena(tmp_path, "init", "owner", "--public", "--venue", "simulator", "--yes")
    path = made.owner / "config.yaml"
    text, found = re.subn(r"show: 40 .*", "show: 8\n  closes_within: 12d", path.read_text("utf-8"))
    assert found == 1
    path.write_text(
        re.sub(r"(simulator: \{start: [\d-]+)\}", r"\1, weeks: 9, markets: 60, events: 20}", text), "utf-8"
    )
    made.publish()
    return made


def entrant(hosted: Hosted, name: str, block: str) -> "subprocess.CompletedProcess[str]":
    """Open a pull request with one file, return what its check says, and merge it if it is right."""
    git(hosted.owner, "checkout", "-qb", name, "main")
    path = hosted.owner / "entrants" / f"{name}.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(block, "utf-8")
    git(hosted.owner, "add", "-A")
    git(hosted.owner, "commit", "-qm", f"Enter {name}")
    git(hosted.owner, "push", "-q", "origin", name)
    checked = hosted.steps(hosted.runner(f"check-{name}", name), "entrant")
    git(hosted.owner, "checkout", "-q", "main")
    if checked.returncode == 0:
        git(hosted.owner, "merge", "-q", "--no-edit", name)
        git(hosted.owner, "push", "-q", "origin", "main")
    return checked


def verified(clone: Path, status: int = 0) -> Any:
    """Return what a clone shows."""
    return arena_json(clone, "admin", "verify", "--published", ".", status=status)


def turns_of(place: Path) -> list[tuple[Any, ...]]:
    """Return the agents' turns that are on the branch, by cohort and round."""
    lines = git(place, "show", "origin/season:record/turns.csv").splitlines()
    return [tuple(line.split(",")[:3]) for line in lines[1:] if re.match(r"\d+,\d+,", line)]


def test_two_weeks_with_entrants_by_pull_request_and_one_at_the_desk(hosted: Hosted) -> None:
    careful = entrant(hosted, "careful", "model: demo/sharp\nsamples: 2\n")
    assert careful.returncode == 0, careful.stderr
    assert (
        "Mock turns, answered by a stand-in, with so many forecasts: sharp 8, hasty 8, careful 8."
        in careful.stdout
    )
    assert entrant(hosted, "quick", "model: demo/hasty\nprices: hidden\n").returncode == 0
    refused = entrant(hosted, "thief", CARELESS)
    assert refused.returncode == 1
    assert "thief.yaml:1: agents[7].kind: a public season runs no code" in refused.stderr
    assert entrant(hosted, "ann", "kind: outside\nwait: 2m\n").returncode == 0

    # A runner of the owner's own, which ann can reach: its folder stays from run to run.
    place = hosted.clone("own-runner")
    key = arena_json(place, "outside", "desk", "--key", "ann")["key"]
    open_desk, url = desk(place)
    ann = own_program(hosted.folder, ARENA_KEY=key, ARENA_DESK=url)
    for _ in range(3):  # days 0, 7 and 14
        git(place, "pull", "-q")
        done = hosted.steps(place)
        assert done.returncode == 0, done.stdout + done.stderr
    for process in (open_desk, ann):
        process.kill()
    ann.communicate()
    assert of_agent(place, "ann", "status", RECORD) == [("played",)] * 6

    clone = hosted.clone("anyone")
    found = verified(clone)
    assert (found["ok"], found["commits"], found["publications"]) == (True, 6, 6)
    assert found["ended_forecasts"] > 0
    assert [turn[2] for turn in turns_of(clone) if turn[:2] == ("1", "2")] == [
        "sharp", "hasty", "crowd", "market", "constant", "ann", "careful", "quick",
    ]  # fmt: skip

    git(clone, "checkout", "-q", "season")
    site = clone / "docs"
    front = (site / "index.html").read_text("utf-8")
    assert all(name in front for name in ("careful", "quick", "ann"))
    links = {link.partition("#")[0] for link in re.findall(r'(?:href|src)="([^":]+)"', front)}
    assert all((site / link).exists() for link in links if link)
    assert not list(site.glob(".arena*"))


def test_of_two_runs_at_once_one_plays_and_nobody_is_asked_twice(hosted: Hosted) -> None:
    log = hosted.folder / "requests"
    with demo_provider(log) as url:
        runners = [hosted.runner("one"), hosted.runner("two")]
        (first, _), (second, said) = sorted(hosted.at_once(runners, ARENA_DEMO_PROVIDER=url))
        assert (first, second) == (0, 2)
        assert "another run" in said
        assert hosted.steps(hosted.runner("three"), ARENA_DEMO_PROVIDER=url).returncode == 0

    asked = asked_in(log)
    assert len(asked) == len(set(asked))
    clone = hosted.clone("anyone")
    turns = turns_of(clone)
    assert len(turns) == len(set(turns)) == 15, "five agents in the first round, and in two cohorts after it"
    assert verified(clone)["ok"]


def expire(hosted: Hosted) -> None:
    """Let two hours pass for a claim in the log."""
    log = git(hosted.origin, "rev-parse", "season-log")
    until_then = (now() - timedelta(minutes=1)).isoformat()
    parents = [f"-p{parent}" for parent in git(hosted.origin, "rev-parse", f"{log}^@").split()]
    words = ("commit-tree", f"{log}^{{tree}}", *parents, "-m", f"claimed until {until_then}")
    git(hosted.origin, "update-ref", "refs/heads/season-log", git(hosted.origin, *words))


def lose_in_mid_round(hosted: Hosted, name: str, url: str) -> None:
    """Start a run that ends with its runner, once a model has answered and while the round waits for ann."""
    place = hosted.runner(name)
    running = loaded().start(place, "run", "--publish", ARENA_DEMO_PROVIDER=url)
    until(lambda: (place / RECORD).exists() and len(of_agent(place, "sharp", "reply", RECORD)) == 3)
    assert running.runs, running.said()
    running.kill()


def test_after_a_lost_runner_the_next_goes_on_from_what_was_published(hosted: Hosted) -> None:
    log = hosted.folder / "requests"
    with demo_provider(log) as url:
        assert hosted.steps(hosted.runner("week-1"), ARENA_DEMO_PROVIDER=url).returncode == 0
        assert entrant(hosted, "ann", "kind: outside\nwait: 2m\n").returncode == 0
        before = git(hosted.origin, "rev-parse", "season")
        lose_in_mid_round(hosted, "lost", url)
        assert git(hosted.origin, "rev-parse", "season") == before

        git(hosted.owner, "rm", "-q", "entrants/ann.yaml")
        git(hosted.owner, "commit", "-qm", "Let nobody wait for ann")
        git(hosted.owner, "push", "-q", "origin", "main")
        early = hosted.steps(hosted.runner("early"), ARENA_DEMO_PROVIDER=url)
        assert early.returncode == 2
        assert "another run is at work, or was lost; its claim ends at" in early.stderr
        expire(hosted)
        done = hosted.steps(hosted.runner("week-2"), ARENA_DEMO_PROVIDER=url)
        assert done.returncode == 0, done.stderr
        assert "was lost. Answers that it bought and did not publish" in done.stderr

    asked = asked_in(log)
    assert len(asked) > len(set(asked)), "what the lost runner had bought is bought again"
    clone = hosted.clone("anyone")
    turns = turns_of(clone)
    assert len(turns) == len(set(turns)) == 15
    assert verified(clone)["ok"]


def test_after_a_torn_push_the_next_run_adds_the_site(hosted: Hosted) -> None:
    hook = hosted.origin / "hooks" / "update"
    hook.write_text('#!/bin/sh\n! git log --format=%s -1 "$3" | grep -q ^Site\n', "utf-8")
    hook.chmod(0o755)
    torn = hosted.steps(hosted.runner("one"))
    assert torn.returncode == 1
    assert "git push failed" in torn.stderr
    assert "docs" not in git(hosted.origin, "ls-tree", "--name-only", "season")
    assert verified(hosted.clone("torn"))["ok"]

    hook.unlink()
    assert hosted.steps(hosted.runner("two")).returncode == 0
    assert "docs" in git(hosted.origin, "ls-tree", "--name-only", "season").split()
    assert verified(hosted.clone("whole"))["ok"]


def test_a_run_that_was_overtaken_publishes_nothing(hosted: Hosted) -> None:
    """The push of the record is refused because somebody took the claim over meanwhile."""
    hook = hosted.origin / "hooks" / "pre-receive"
    taken = 'git update-ref refs/heads/season-log "$(git commit-tree -m taken $log^{tree} -p $log)"'
    hook.write_text(
        "#!/bin/sh\nunset GIT_QUARANTINE_PATH\n"
        'log=$(git rev-parse -q --verify season-log) || exit 0\ngrep -q "heads/season$" || exit 0\n'
        f"{taken}\n",
        "utf-8",
    )
    hook.chmod(0o755)
    overtaken = hosted.steps(hosted.runner("one"))
    assert overtaken.returncode != 0
    assert "another run has taken over, so what this one played is not published" in overtaken.stderr
    assert "season" not in git(hosted.origin, "branch", "--format=%(refname:short)").split()

    hook.unlink()
    assert hosted.steps(hosted.runner("two")).returncode == 0
    assert verified(hosted.clone("anyone"))["ok"]


def test_a_branch_that_was_rewritten_is_found_by_the_next_run_and_by_anyone(hosted: Hosted) -> None:
    for week in range(2):
        assert hosted.steps(hosted.runner(f"week-{week}")).returncode == 0
    older = hosted.clone("older")
    good = git(hosted.origin, "rev-parse", "season")
    git(hosted.origin, "update-ref", "refs/heads/season", "season~2")

    refused = hosted.steps(hosted.runner("next"))
    assert refused.returncode == 1
    assert f"the branch season was rewritten: it no longer has {good[:12]}" in refused.stderr
    assert f"git push --force origin {good}:refs/heads/season" in refused.stderr

    found = verified(hosted.clone("fresh"), status=1)
    assert sum("history was rewritten" in text for text in found["differences"]) == 2
    git(older, "fetch", "-q", "origin", "+refs/heads/season:refs/remotes/origin/season")
    git(older, "update-ref", "-d", "refs/remotes/origin/season-log")
    found = verified(older, status=1)
    assert found["differences"] == [
        f"history was rewritten: this clone has seen {good[:12]} on the branch, now gone"
    ]
    assert "there is no branch season-log" in found["notes"][0]

    fresh = hosted.folder / "fresh"
    git(fresh, "push", "-q", "--force", "origin", f"{good}:refs/heads/season")
    assert hosted.steps(hosted.runner("last")).returncode == 0
    assert verified(hosted.clone("mended"))["ok"]


LIVE = """\
public: true
markets:
  venue: polymarket
  closes_within: 3000d
  min_volume: 0
  polymarket: {{url: "{venue}{gamma}", book_url: "{venue}{clob}", per_second: 1000}}
run: {{catalogue: off, quotes: off, backup: off}}
agents:
  - kind: market
  - {{name: eve, model: openai/eve, base_url: "{provider}", price: {{input: 1, output: 1}}}}
"""


def test_a_live_season_goes_on_from_runner_to_runner(
    hosted: Hosted, venue: VenueServer, provider: FaultyProvider
) -> None:
    provider.script("eve", says(GOOD))
    text = LIVE.format(venue=venue.url, gamma=GAMMA, clob=CLOB, provider=provider.url)
    (hosted.owner / "config.yaml").write_text(text, "utf-8")
    git(hosted.owner, "commit", "-qam", "Play live")
    git(hosted.owner, "push", "-q")
    later = (now() + timedelta(days=30)).isoformat()
    wire = rain_and_snow(endDate=later)
    wire.serve(venue)

    played = hosted.steps(hosted.runner("one"))
    assert played.returncode == 0, played.stdout + played.stderr
    assert "1 round, 2 turns" in played.stdout
    wire.end_all(closedTime=f"{now() + timedelta(seconds=9):%F %T}+00")
    sleep(1)  # git dates commits by whole seconds
    settled = hosted.steps(hosted.runner("two"))
    assert settled.returncode == 0, settled.stdout + settled.stderr
    assert "0 rounds, 0 turns" in settled.stdout

    assert provider.requests == {"eve": 1}
    found = verified(hosted.clone("anyone"))
    assert found["ended_forecasts"] == 4
    assert 0 < found["closest"] < 300
