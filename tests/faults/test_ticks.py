"""Four machines on one record, a thousand ticks, clocks an hour apart: whatever is due is done once."""

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.faults.hammer import forking
from tests.faults.ticking import HOUR, START, tick
from tests.opened_record import opened_record
from tests.program.rehearsal import clock_at, content, content_at, rehearse

HOURS = 1_000
ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC")
"""Where the machines are. In these weeks all but the last set their clocks, by an hour or by half of one."""
CADENCES = {
    "marks": "1d",
    "catalogue": "1w",
    "quotes": "1d",
    "resolutions": "1d",
    "scores": "1d",
    "retention": "1d",
    "verify": "1d",
}
AT_VENUES = {"marks", "catalogue", "quotes", "resolutions"}
"""Not done any more once all cohorts have ended."""
KEYS = CADENCES.keys() - {"retention", "verify"}
JOBS = ", ".join(f"{name}: {cadence}" for name, cadence in CADENCES.items() if name in KEYS)
"""Verifying is daily, and retention is wherever `keep_quotes` is set."""
CONFIG = f"""\
seed: 2
markets:
  venue: simulator
  show: 4
  closes_within: 14d
  simulator: {{start: {START:%Y-%m-%d}, weeks: 6, markets: 14, events: 7}}
cohorts: {{rounds: 2, count: 2, bankroll: 1000, corrected_within: 8d}}
run: {{{JOBS}, backup: off, keep_quotes: 1w}}
agents:
  - kind: market
  - {{kind: oracle, noise: 0.2}}
  - {{kind: kelly, of: oracle}}
"""
LENGTHS = {"h": HOUR, "d": timedelta(days=1), "w": timedelta(weeks=1)}
WEEK = LENGTHS["w"]
Done = tuple[str, str, str | None]


def times(cadence: str, until: datetime) -> list[datetime]:
    """All times from the start on at which something is due."""
    every = int(cadence[:-1]) * LENGTHS[cadence[-1]]
    return [START + number * every for number in range((until - START) // every + 1)]


def test_over_a_leap_day_and_nights_of_23_hours_each_thing_is_done_once(
    database: str, tmp_path: Path, thorough: bool
) -> None:
    """A hundred and sixty ticks on a file; a thousand, and on a server too, with THOROUGH=1."""
    if not thorough and "postgresql" in database:
        pytest.skip("THOROUGH=1 plays this too")
    config, log, context = tmp_path / "config.yaml", tmp_path / "done", forking()
    config.write_text(CONFIG, "utf-8")
    step = 4 if thorough else 24
    clocks = [range(ahead, HOURS, step) for ahead in range(len(ZONES))]
    together = context.Barrier(len(ZONES))
    machines = [
        context.Process(target=tick, args=(database, str(config), zone, clock, together, str(log)))
        for zone, clock in zip(ZONES, clocks, strict=True)
    ]
    for machine in machines:
        machine.start()
    for machine in machines:
        machine.join()
    assert [machine.exitcode for machine in machines] == [0] * len(ZONES)
    assert sum(map(len, clocks)) >= 4_000 // step

    until = START + (HOURS - 1) * HOUR
    assert until >= datetime(2028, 4, 1, 15, tzinfo=UTC), "Lord Howe's clocks have been set back"
    over = datetime(2028, 3, 17, tzinfo=UTC)
    jobs: list[Done] = [
        ("job", job, at.isoformat())
        for job, cadence in CADENCES.items()
        for at in times(cadence, over if job in AT_VENUES else until)
    ]
    assert ("job", "marks", "2028-02-29T00:00:00+00:00") in jobs
    rounds = [(1, 0), (1, 1), (2, 1), (2, 2)]
    cohorts: list[Done] = [("start", "start", (START + week * WEEK).isoformat()) for week in (0, 1)]
    cohorts += [("play", f"cohort {cohort}", (START + week * WEEK).isoformat()) for cohort, week in rounds]
    cohorts += [("track", f"cohort {cohort}", (START + (cohort + 1) * WEEK).isoformat()) for cohort in (1, 2)]
    cohorts += [("ended", f"cohort {cohort} has ended", None) for cohort in (1, 2)]
    told = Counter(tuple(json.loads(line)) for line in log.read_text("ascii").splitlines())
    assert told == Counter([*jobs, *cohorts])

    clock_at(tmp_path, START)
    rehearse(tmp_path, "alone.db")
    assert content_at(database) == content(tmp_path, "alone.db")
    assert content_at(database)["differences"] == []
    with opened_record(database) as record, record.reading() as connection:
        duties = connection.exec_driver_sql("SELECT token FROM lease").scalar_one()
        assert duties >= len(clocks[0])
