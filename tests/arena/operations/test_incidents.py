"""What an operator should hear of is noted once, and what lasts ends."""

import asyncio
from dataclasses import replace
from datetime import timedelta

from agents.model import Agent, Call, CallError, Prompt
from arena.errors import ArenaError
from arena.operations.due import MissedRound
from arena.operations.incidents import (
    note_agents,
    note_job,
    note_missed,
    note_played,
    note_rounds,
    note_venue,
)
from arena.record.model.incident import MOST_TRIES, Incident, RoundEnd, round_incidents
from arena.record.write.operations import drop_untold
from arena.rounds.round import play_round
from arena.rounds.season import end_cohort_if_over
from arena.rounds.settlement import VenueUnavailable, venue_error
from markets.hashes import timestamp_text
from markets.venue import VenueError
from tests.builders import NOW, a_listing
from tests.opened_record import OpenedRecord
from tests.records.little_world import (
    WEEK,
    LittleModel,
    LittleVenue,
    a_cohort,
    a_world,
    asks,
    begun,
    begun_live,
    incidents_of,
    live,
    says,
)

HOUR = timedelta(hours=1)
SAYS = says("0.7")
END = RoundEnd(2, 3, NOW, False, {"ann": "failed", "bob": None}, frozenset({"ann"}), {})
DOWN = VenueError("timeout", "sky did not answer within 20 s")


def told(record: OpenedRecord) -> list[tuple[str, str, bool]]:
    """Return kind and subject of each, and whether it goes on."""
    return [(x.incident.kind, x.incident.subject, x.ended_at is None) for x in incidents_of(record)]


def kinds(found: list[Incident]) -> list[str]:
    return [incident.kind for incident in found]


def play(record: OpenedRecord, agents: dict[str, Agent], models: set[str]) -> None:
    """Play a round of a live cohort in which no model answers."""
    cohort = live(a_cohort(list(agents)))
    entrants = tuple(replace(x, settings={"model": "m"} if x.name in models else {}) for x in cohort.entrants)
    stored = begun(record, replace(cohort, entrants=entrants))
    asyncio.run(play_round(stored, 1, a_world(LittleVenue(), agents, LittleModel(9)), record))
    note_rounds(record, NOW)


def test_models_that_all_fail_are_told_once_until_a_newer_round_tells_what_was_lost(
    record: OpenedRecord,
) -> None:
    play(record, {"ann": asks, "null": SAYS}, {"ann"})
    assert told(record) == [("all_agents_failed", "1/1", True)]
    note_rounds(record, NOW + HOUR)
    assert told(record) == [("all_agents_failed", "1/1", True)]
    stored = record.cohorts()[0]
    agents = {"ann": asks, "null": SAYS}
    later = NOW + WEEK
    asyncio.run(play_round(stored, 2, a_world(LittleVenue(), agents, LittleModel(), later), record))
    note_rounds(record, later)
    assert told(record) == [("all_agents_failed", "1/1", False), ("round_failed", "1/1", False)]
    assert incidents_of(record)[0].ended_at == later


def test_a_round_in_which_only_some_have_failed_tells_nothing_while_they_are_tried_again() -> None:
    """Where nobody asks a model all must have failed."""
    assert not replace(END, models=frozenset()).all_failed
    assert replace(END, models=frozenset(), statuses={"ann": "failed"}).all_failed
    assert kinds(round_incidents(replace(END, models=frozenset({"ann", "bob"})), NOW, newest=True)) == []
    over = replace(END, done=True, models=frozenset({"ann", "bob"}))
    assert kinds(round_incidents(over, NOW, newest=True)) == ["round_failed"]


def test_an_agent_that_keeps_failing_or_has_no_price_is_told_once_and_when_it_is_over(
    record: OpenedRecord,
) -> None:
    def end(number: int, ann: str, *unpriced: str) -> RoundEnd:
        statuses = {"ann": ann, "bob": "played"}
        at = NOW + number * WEEK
        models = frozenset({"ann", "bob"})
        return RoundEnd(1, number, at, True, statuses, models, {}, unpriced=frozenset(unpriced))

    rounds = [end(1, "failed"), end(2, "failed", "bob"), end(3, "failed", "bob"), end(4, "played")]
    for newest in range(len(rounds)):
        for _ in range(2):
            note_agents(record, rounds[max(0, newest - 1) : newest + 1], rounds[newest].at)
    since = timestamp_text(rounds[1].at)
    assert told(record) == [
        ("agent_failing", f"ann@{since}", False),
        ("cost_unknown", f"bob@{since}", False),
        ("cost_known", f"bob@{since}", False),
        ("agent_recovered", f"ann@{since}", False),
    ]
    assert len(record.untold(rounds[-1].at, 99)) == 4


def test_a_budget_that_stops_agents_is_told_once_a_decision_time(record: OpenedRecord) -> None:
    async def refused(prompt: Prompt) -> Call:
        words = "a call may cost $0.0200, and $19.9900 of today's $20.0000 is spent"
        return Call(prompt, None, cost=0, error=CallError("budget", words, retry=False))

    stored = begun_live(record, "ann", "null")
    world = a_world(LittleVenue(), {"ann": asks, "null": SAYS}, refused)
    for _ in range(2):
        asyncio.run(play_round(stored, 1, world, record))
        note_rounds(record, NOW)
    (only,) = incidents_of(record)
    assert (only.incident.kind, only.incident.subject) == ("budget_reached", timestamp_text(NOW))
    assert only.incident.data["agents"] == ["ann"]
    assert "today's $20.0000 is spent" in only.incident.data["message"]


def test_an_outage_is_told_once_and_the_next_one_again(record: OpenedRecord) -> None:
    for hour in (0, 1):
        note_venue(record, "sky", NOW + hour * HOUR, DOWN)
    note_venue(record, "sky2", NOW, DOWN)
    note_venue(record, "sky", NOW + 2 * HOUR, None)
    note_venue(record, "sky", NOW + 3 * HOUR, DOWN)
    for other in ("s_y", "%"):  # a venue of an odd name ends no other
        note_venue(record, other, NOW + 4 * HOUR, None)
    assert told(record) == [
        ("venue_down", f"sky@{timestamp_text(NOW)}", False),
        ("venue_down", f"sky2@{timestamp_text(NOW)}", True),
        ("venue_down", f"sky@{timestamp_text(NOW + 3 * HOUR)}", True),
    ]


def test_rounds_that_were_missed_or_broken_off_have_failed(record: OpenedRecord) -> None:
    rounds = [MissedRound(NOW, 2, 3), MissedRound(NOW + WEEK, 2, 4), MissedRound(NOW, 1, 9), MissedRound(NOW)]
    for _ in range(2):
        note_missed(record, rounds, NOW + WEEK)
        note_played(record, "sky", NOW, NOW, ArenaError("disk_full", "the disk is full"))
        note_played(record, "sky", NOW, NOW, ZeroDivisionError("words of anyone's"))
    assert sorted(told(record)) == [
        ("round_failed", "1/9", False),
        ("round_failed", "2/4", False),
        ("round_failed", f"{timestamp_text(NOW)}/broken", False),
        ("round_failed", f"{timestamp_text(NOW)}/disk_full", False),
        ("round_failed", f"start/{timestamp_text(NOW)}", False),
    ]
    assert "anyone" not in str(incidents_of(record))


def test_rounds_and_jobs_tell_of_a_venue_that_is_down_and_that_it_is_back(record: OpenedRecord) -> None:
    note_played(record, "sky", NOW, NOW, VenueUnavailable("timeout", "cohort 1 was not played", "", "sky"))
    note_job(record, "quotes", "sky", NOW, caused_by(DOWN))
    assert told(record) == [("venue_down", f"sky@{timestamp_text(NOW)}", True)]
    note_job(record, "backup", "sky", NOW, None)
    note_job(record, "quotes", "sky", NOW, ArenaError("disk_full", "no room"))
    assert told(record)[0][2]
    note_job(record, "catalogue", "sky", NOW + HOUR, None)
    assert incidents_of(record)[0].ended_at == NOW + HOUR
    note_played(record, "sky", NOW, NOW + 2 * HOUR, caused_by(DOWN))
    assert told(record)[1][2]
    note_played(record, "sky", NOW, NOW + 3 * HOUR, None)
    assert incidents_of(record)[1].ended_at == NOW + 3 * HOUR


def test_a_backup_that_finds_differences_is_told_until_one_finds_none(record: OpenedRecord) -> None:
    differs = ArenaError("differs", "3 differences in backups/a.db")
    faults = (None, differs, differs, ArenaError("disk_full", "no room"), None, differs)
    for hour, fault in enumerate(faults):
        note_job(record, "backup", "sky", NOW + hour * HOUR, fault)
    assert told(record) == [
        ("verify_failed", f"backup@{timestamp_text(NOW + HOUR)}", False),
        ("verify_failed", f"backup@{timestamp_text(NOW + 5 * HOUR)}", True),
    ]


def test_the_daily_check_ends_what_it_has_found_itself_and_a_backup_ends_all(record: OpenedRecord) -> None:
    """The check reads a part of the record, the backup all of it."""
    differs = ArenaError("differs", "arena.db is inconsistent in one place, first call 1")
    jobs = (("backup", differs), ("verify", differs), ("verify", None), ("verify", differs))
    for hour, (job, fault) in enumerate(jobs):
        note_job(record, job, "sky", NOW + hour * HOUR, fault)
    found = [(0, "backup", True), (1, "verify", False), (3, "verify", True)]
    subjects = [(f"{job}@{timestamp_text(NOW + hour * HOUR)}", goes_on) for hour, job, goes_on in found]
    assert told(record) == [("verify_failed", *subject) for subject in subjects]
    note_job(record, "backup", "sky", NOW + 4 * HOUR, None)
    assert not any(goes_on for _, _, goes_on in told(record))


def caused_by(trouble: VenueError) -> ArenaError:
    """Return the error that a venue's failure becomes."""
    error = venue_error(trouble)
    error.__cause__ = trouble
    return error


def test_a_cohort_that_ends_is_told_in_the_same_breath_and_once(record: OpenedRecord) -> None:
    stored = begun(record, replace(a_cohort(["ann"]), rounds=1))
    asyncio.run(play_round(stored, 1, a_world(LittleVenue(), {"ann": SAYS}), record))
    for _ in range(2):
        end_cohort_if_over(stored, NOW, True, record)
    (only,) = incidents_of(record)
    assert only.incident.data == {"cohort": 1, "rounds": 1, "agents": 1}
    assert record.cohorts()[0].ended_at == NOW


def test_what_is_told_is_told_no_more_and_what_is_not_waits_for_its_time(record: OpenedRecord) -> None:
    for name in ("a", "b", "c"):
        note_venue(record, name, NOW, DOWN)
    first, second, third = (x.id for x in record.untold(NOW, 9))
    record.tell(first, NOW)
    record.tell(second, None, NOW + HOUR)
    assert [x.id for x in record.untold(NOW, 9)] == [third]
    assert [(x.id, x.tries) for x in record.untold(NOW + HOUR, 9)] == [(second, 1), (third, 0)]


def test_with_nobody_to_tell_what_is_there_is_let_go_and_what_comes_later_is_not(
    record: OpenedRecord,
) -> None:
    note_venue(record, "a", NOW, DOWN)
    drop_untold(record.engine)
    note_venue(record, "b", NOW, DOWN)
    assert [x.incident.subject for x in record.untold(NOW, 9)] == [f"b@{timestamp_text(NOW)}"]
    assert [x.tries for x in incidents_of(record)] == [MOST_TRIES, 0]


def test_a_rising_share_of_rejected_records_is_told_until_it_is_usual(record: OpenedRecord) -> None:
    def read(day: int, rejected: int) -> None:
        at = NOW + timedelta(days=day)
        listings = [a_listing(market=f"sky:m{n}", at=at) for n in range(80)]
        record.sync("sky", listings, at, rejected=rejected)
        note_job(record, "catalogue", "sky", at, None)

    for day, rejected in enumerate((0, 1, 19, 20)):
        read(day, rejected)
    since = f"sky@{timestamp_text(NOW + timedelta(days=3))}"
    assert told(record) == [("records_rejected", since, True)]
    [one] = record.incidents(1)
    assert one.incident.text == (
        "sky sent 20 records that could not be used, 20.0% of its catalogue; 1.2% is usual"
    )
    read(4, 60)
    read(5, 2)
    assert told(record) == [("records_rejected", since, False)]
