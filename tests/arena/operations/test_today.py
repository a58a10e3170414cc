"""What is to be done today, and what the webhook hears of once a week."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from typer.testing import CliRunner

from arena.cli.main import app
from arena.config import load
from arena.operations.health import COMMANDS, HealthReason, Status, Surroundings
from arena.operations.jobs import JobContext, digest
from arena.operations.judge import judge_health
from arena.operations.today import BOARD_WIDTH, PASSING, board_lines, tasks_for
from arena.record.model.incident import LASTING_KINDS
from arena.record.model.status import AgentAnswers
from arena.rounds.round import play_round
from arena.scores.leaderboard import Leaderboard, LeaderboardRow, read_leaderboard
from arena.scores.rules.comparisons.duel_evidence import PairEvidence
from arena.scores.verdict import Candidate, SeasonState, Verdict, make_verdict
from tests.arena.config_files import SMALL, write
from tests.arena.status_parts import a_job_state
from tests.builders import NOW
from tests.opened_record import OpenedRecord
from tests.records.little_world import LittleVenue, a_source, a_world, begun_live, says

DAY = timedelta(days=1)
ROOM = Surroundings(free=10**12)


def texts(status: Status, *answers: AgentAnswers, around: Surroundings = ROOM) -> dict[str, str]:
    judged = judge_health(replace(status, around=around), {})
    begun = [reason for reason in judged.reasons if reason.code != "nothing_begun"]
    reasons = (*status.reasons, *begun)
    return {task.text: task.command for task in tasks_for(replace(judged, reasons=reasons), answers)}


def test_nothing_is_to_be_done_where_all_is_well_or_passes_by_itself() -> None:
    waits = tuple(HealthReason("waiting", code, code) for code in PASSING)
    assert texts(Status(NOW, reasons=waits), AgentAnswers("ann", 40, 4)) == {}


def test_every_lasting_incident_has_a_command_that_there_is() -> None:
    assert set(LASTING_KINDS) <= {*COMMANDS, *PASSING}
    for text in COMMANDS.values():
        names = [name for name in text.split() if name.isalpha()]
        assert CliRunner().invoke(app, [*names, "--help"]).exit_code == 0, text


def test_each_thing_names_its_command() -> None:
    reasons = (
        HealthReason("trouble", "agent_failing", "ann: all its turns of late have failed", "ann"),
        HealthReason("late", "late", "round 1 is late"),
    )
    around = Surroundings({"bob": "A_KEY", "cy": "A_KEY"}, size=10**9, free=15 * 10**8)
    assert texts(Status(NOW, reasons=reasons), AgentAnswers("claude", 40, 12), around=around) == {
        "ann: all its turns of late have failed": "show turn ann --play",
        "round 1 is late": "run",
        "A_KEY is not set: bob, cy will not play; set it in .env": "check",
        "claude: 12 of 40 answers malformed": "show agent claude",
        "1.5 GB is free for a record of 1.0 GB; delete old backups or other files, or move the record": (
            "admin prune --older-than 90d"
        ),
    }


def test_a_clock_that_is_behind_and_a_backup_that_is_old_are_told() -> None:
    status = Status(NOW, looked_at=NOW + DAY, jobs=(a_job_state("backup", ended_at=NOW - 3 * DAY),))
    status = replace(status, calendar=replace(status.calendar, cohorts=1))
    backs_up = Surroundings(expects_backups=True)
    assert list(texts(status, around=backs_up)) == [
        "this machine's clock is behind the record: prices were read at 2026-01-05 12:00 UTC",
        "the last backup is 3 days old",
    ]
    assert "there is no backup yet" in texts(replace(status, jobs=()), around=backs_up)
    away = texts(replace(status, at=NOW - 3 * DAY), around=replace(backs_up, looked_for_backups=True))
    assert away["the file of the last backup is not here"] == "admin backup"
    rehearsed = texts(replace(status, jobs=()), around=Surroundings(clock_file="my clock"))
    assert rehearsed == {
        "the time in my clock is behind the record: prices were read at 2026-01-05 12:00 UTC": (
            "status --clock 'my clock'"
        )
    }
    assert texts(replace(status, clock="mixed", jobs=())) == {}
    assert texts(replace(status, calendar=replace(status.calendar, live=False))) == {}, "a time of its own"


ROW = LeaderboardRow(
    *("ann", "llm", 1, 5, 0, 0, 0, 0, 3, 0, 9, 9, 9, 4, 0, 0, 1.0, 0.2, 0.2, 0.2, 0.21, 0.01, 0.05),
    *(-1234.4, -12.3, 0.5, 1.0, 0.1),
)


def test_the_board_has_eighty_columns() -> None:
    """The verdict, the agents in its order, and references apart from them."""
    names = ("b" * 40, "cho", "ann", "market")
    pairs = [PairEvidence(names[0], "cho", 0.02, 0.0, 1.0, None, 30, None)]
    verdict = make_verdict(
        [Candidate(name, name == "market", "covers 10%" if name == "ann" else None) for name in names],
        pairs,
        [],
        SeasonState(resolved_events=30),
    )
    sure = replace(ROW, agent=names[0], skill_low=-0.021, skill_high=0.042)
    rows = (sure, replace(ROW, agent="cho"), replace(ROW, skill=None), replace(ROW, agent="market"))
    reference = replace(rows[-1], is_reference=True)
    lines = board_lines(Leaderboard(verdict, None, (*rows[:-1], reference)))
    assert max(map(len, lines)) <= BOARD_WIDTH
    head = " ".join(lines[: lines.index(next(line for line in lines if line.startswith("ranks ")))])
    assert head == f"{verdict.sentence} {verdict.guarantee}"
    assert [line.split() for line in lines[-6:-1]] == [
        ["1", "b" * 21 + "…", "+4.8", "-10.0", "to", "+20.0", "1", "of", "1", "−$1,234"],
        ["2", "cho", "+4.8", "–", "0", "of", "1", "−$1,234"],
        ["–", "ann", "–", "–", "–", "−$1,234"],
        ["References,", "not", "ranked"],
        ["–", "market", "+4.8", "–", "–", "−$1,234"],
    ]


def test_a_board_without_a_verdict_says_that_nothing_has_resolved() -> None:
    assert board_lines(Leaderboard(None, None, ()))[0] == Verdict().sentence


def test_once_a_week_the_webhook_hears_of_it(record: OpenedRecord, tmp_path: Path) -> None:
    stored = begun_live(record, "ann")
    world = a_world(LittleVenue(), {"ann": says("0.7")}, now=NOW)
    asyncio.run(play_round(stored, 1, world, record))
    told = load(write(tmp_path, SMALL + "watch: {webhook: 'https://hooks.example/T'}\n"))
    context = JobContext(told, world, record, a_source("sky"), LittleVenue())
    assert asyncio.run(digest(context, NOW + DAY)) == "no full week has been played yet"
    said = asyncio.run(digest(context, NOW + 8 * DAY))
    assert asyncio.run(digest(context, NOW + 8 * DAY)) == said  # done twice, it is told once
    [one] = record.incidents()
    board = record.read(read_leaderboard)
    assert (one.incident.kind, one.incident.text, one.told_at) == ("weekly_digest", said, None)
    assert one.incident.data["board"] == board_lines(board)
    assert [line for line in one.incident.data["today"] if line.endswith("arena run")]
