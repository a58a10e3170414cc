"""Messages to a webhook and pings over real HTTP: they arrive or are tried again, and give nothing away."""

import asyncio
import json
import logging
import re
import threading
from collections.abc import Callable
from dataclasses import MISSING, fields, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, get_args

import pytest
from typer.testing import CliRunner

from arena.cli.main import app
from arena.cli.status import incident_line
from arena.config.sections import WatchSection
from arena.errors import ArenaError
from arena.operations import webhook as sending
from arena.operations.incidents import note_rounds, note_venue
from arena.operations.today import Task, weekly_digest
from arena.operations.webhook import (
    Webhook,
    WebhookReply,
    incident_message,
    keep_pinging,
    keep_sending,
    message_bytes,
    ping_of,
    send,
    send_due,
    webhook_of,
)
from arena.record.model.incident import (
    FAILING,
    MOST_TRIES,
    UNPRICED,
    Incident,
    IncidentKind,
    RoundEnd,
    agent_incident,
    agent_over,
    catalogue_incomplete,
    clock_stepped,
    cohort_finished,
    heads_unpublished,
    job_failing,
    lead_taken,
    market_unsettled,
    ping_failed,
    record_inconsistent,
    record_unusable,
    records_rejected,
    round_incidents,
    site_unpublished,
    usage_not_believed,
    venue_outage,
    workers_gone,
    wrong_keys,
)
from arena.record.model.status import CatalogueRead
from arena.rounds.round import play_round
from arena.scores.leaderboard import Leaderboard, LeaderboardRow
from arena.scores.verdict import Verdict
from markets.hashes import timestamp_text
from markets.venue import VenueError
from tests.arena.config_files import SMALL, mistakes, write
from tests.builders import NOW
from tests.opened_record import OpenedRecord
from tests.records.little_world import LittleVenue, a_cohort, a_world, begun, incidents_of, says
from tests.serving import Reply as Answer
from tests.serving import Request, Server, serving

HOUR = timedelta(hours=1)
CANARY = "canary/T0AB/s3cr3t-canary"
DOWN = VenueError("timeout", "sky did not answer within 20 s (asked for /markets)")
OK = Answer(b"ok")


class Receiver(Server):
    """A webhook's other side: it answers what it is told to, the last one for ever, and keeps what it got."""

    def __init__(self, *answers: Answer) -> None:
        super().__init__()
        self.answers, self.got, self.asked = list(answers) or [OK], list[Request](), threading.Event()

    def respond(self, request: Request) -> Answer:
        self.got.append(request)
        self.asked.set()
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    @property
    def said(self) -> list[dict[str, Any]]:
        """Return the messages that came."""
        return [json.loads(request.body) for request in self.got]


def tell_all(record: OpenedRecord, url: str, at: datetime = NOW, seconds: float = 5) -> list[str]:
    return asyncio.run(send_due(record, Webhook(url), at, seconds))


def test_what_has_happened_arrives_as_json_and_once(record: OpenedRecord) -> None:
    note_venue(record, "sky", NOW, DOWN)
    with serving(Receiver()) as receiver:
        for _ in range(2):
            assert tell_all(record, receiver.url) == []
    assert receiver.said == [
        {
            "version": 1,
            "id": f"venue_down:sky@{timestamp_text(NOW)}",
            "event": "venue_down",
            "at": NOW.isoformat(),
            "text": "sky does not answer in time",
            "cause": "sky did not answer within 20 s (asked for /markets)",
            "since": NOW.isoformat(),
            "next_try": None,
            "waits": None,
            "command": "arena run --sync",
            "data": {
                "venue": "sky",
                "code": "timeout",
                "message": "sky did not answer within 20 s (asked for /markets)",
                "since": NOW.isoformat(),
            },
        }
    ]
    assert receiver.got[0].headers["Content-Type"] == "application/json"
    assert incidents_of(record)[0].told_at == NOW


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(b"", 500), "has an internal error (status 500)"),
        (Answer(b"", 404), "refused the message (status 404)"),
        (Answer(b"", 429), "is rate-limiting messages (status 429)"),
        (Answer(b"", how="reset"), "can't be reached"),
        (Answer(b"", how="drop"), "can't be reached"),
        (Answer(b"", how="hang"), "did not answer within 10 s"),
        (Answer(b"", after=9), "did not answer within 10 s"),
    ],
    ids=["500", "404", "429", "reset", "drop", "hang", "late"],
)
def test_a_message_that_does_not_arrive_is_put_off_with_the_reason(
    record: OpenedRecord, answer: Answer, words: str
) -> None:
    note_venue(record, "sky", NOW, DOWN)
    with serving(Receiver(answer)) as receiver:
        (said,) = tell_all(record, receiver.url, seconds=0.2)
        assert tell_all(record, receiver.url) == []  # not yet
    assert words in said
    assert "retrying in 0:00:30" in said
    (only,) = incidents_of(record)
    assert (only.told_at, only.tries, only.next_try_at) == (None, 1, NOW + timedelta(seconds=30))
    assert len(receiver.got) == 1


def test_it_is_sent_again_after_pauses_that_grow_also_by_another_process(
    record: OpenedRecord, tmp_path: Path
) -> None:
    note_venue(record, "sky", NOW, DOWN)
    at = NOW
    pauses = list[float]()
    with serving(Receiver(*[Answer(b"", 503)] * 4, OK)) as receiver:
        for _ in range(5):
            again = OpenedRecord.at(tmp_path / "arena.db")
            tell_all(again, receiver.url, at)
            next_at = incidents_of(again)[0].next_try_at
            again.close()
            if next_at is not None:
                pauses.append((next_at - at).total_seconds())
                at = next_at
    assert pauses == [30, 60, 120, 240]
    assert incidents_of(record)[0].told_at == at
    assert len({message["id"] for message in receiver.said}) == 1


def test_it_is_sent_again_at_once_after_the_clock_went_back(record: OpenedRecord) -> None:
    note_venue(record, "sky", NOW, DOWN)
    with serving(Receiver(Answer(b"", 503), OK)) as receiver:
        tell_all(record, receiver.url)
        tell_all(record, receiver.url, NOW - timedelta(days=1))
    assert len(receiver.got) == 2


def test_who_asks_for_more_time_is_given_it(record: OpenedRecord) -> None:
    note_venue(record, "sky", NOW, DOWN)
    with serving(Receiver(Answer(b"", 429, {"Retry-After": "600"}))) as receiver:
        tell_all(record, receiver.url)
    assert incidents_of(record)[0].next_try_at == NOW + timedelta(seconds=600)


def test_after_a_day_it_is_given_up_and_that_is_said(record: OpenedRecord) -> None:
    note_venue(record, "sky", NOW, DOWN)
    at = NOW
    said = list[str]()
    with serving(Receiver(Answer(b"", 500))) as receiver:
        while len(said) < MOST_TRIES:
            said += tell_all(record, receiver.url, at)
            at = incidents_of(record)[0].next_try_at or at
        assert tell_all(record, receiver.url, at + 99 * HOUR) == []
    assert timedelta(hours=23) < at - NOW < timedelta(hours=26)
    assert "giving up after a day" in said[-1]
    assert all("retrying in" in words for words in said[:-1])


def test_a_redirect_is_not_followed(record: OpenedRecord) -> None:
    note_venue(record, "sky", NOW, DOWN)
    elsewhere = Receiver()
    moved = Answer(b"", 307, {"Location": elsewhere.url})
    with serving(elsewhere), serving(Receiver(moved)) as receiver:
        (said,) = tell_all(record, receiver.url)
    assert "redirect" in said
    assert elsewhere.got == []


def test_where_nobody_listens_that_is_said(record: OpenedRecord) -> None:
    note_venue(record, "sky", NOW, DOWN)
    (said,) = tell_all(record, "http://127.0.0.1:9")
    assert "http://127.0.0.1:9 can't be reached" in said


def test_an_answer_without_end_is_not_read() -> None:
    body = b"x" * 10_000
    with serving(Receiver(Answer(body, how="drip"))) as receiver:
        reply = asyncio.run(send(Webhook(receiver.url), {}, 5))
    assert reply == WebhookReply("arrived", 200)


def test_text_from_outside_is_no_markup_and_no_novel() -> None:
    rude = Incident("venue_down", "sky", NOW, "words", {"message": "<script>&\n\x00\ud800" + "x" * 9_999})
    said = message_bytes(incident_message(rude), ())
    assert not set(said) & set(b"<>&\n")
    assert len(json.loads(said)["data"]["message"]) == 500


def test_the_address_is_a_secret_that_nothing_tells(
    record: OpenedRecord, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    note_venue(record, "sky", NOW, VenueError("refused", f"sky said {CANARY} and key canary-key-1"))
    environ = {"HOOK": f"http://127.0.0.1:9/{CANARY}?token=canary-2", "MY_KEY": "canary-key-1"}
    webhook = webhook_of(WatchSection(webhook="$HOOK"), environ)
    assert webhook is not None
    (unreachable,) = asyncio.run(send_due(record, webhook, NOW))
    with serving(Receiver(Answer(b"", 500), OK)) as receiver:
        there = Webhook(f"{receiver.url}/{CANARY}", webhook.secrets)
        said = [asyncio.run(send_due(record, there, NOW + number * HOUR)) for number in (1, 2)]
    assert [request.target for request in receiver.got] == [f"/{CANARY}"] * 2
    bodies = [request.body.decode() for request in receiver.got]
    shown = [repr(webhook), str(webhook), webhook.name, unreachable, *map(str, said), *bodies, caplog.text]
    assert [text for text in shown if "canary" in text] == []
    assert "sky said [hidden] and key [hidden]" in bodies[0]


def test_a_log_of_everything_has_no_address(caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger("httpx").setLevel(logging.INFO)
    caplog.set_level(logging.DEBUG)
    with serving(Receiver()) as receiver:
        asyncio.run(send(Webhook(f"{receiver.url}/{CANARY}"), {}))
    assert "canary" not in caplog.text


@pytest.mark.parametrize(
    "url", ["htps://h/canary", "h/canary", "https://", "http://h\n/canary", "http://é/canary"]
)
def test_a_config_with_another_text_than_an_address_is_told_without_it(tmp_path: Path, url: str) -> None:
    (mistake,) = mistakes(tmp_path, SMALL + f"watch:\n  webhook: {json.dumps(url, ensure_ascii=False)}\n")
    assert (mistake.key, mistake.line) == ("watch.webhook", 8)
    assert "canary" not in str(mistake)


def test_a_config_names_the_address_once_and_the_variable_by_its_name(tmp_path: Path) -> None:
    bare = mistakes(tmp_path, SMALL + "watch: {webhook: canary_token}\n")
    pasted = mistakes(tmp_path, SMALL + "watch: {webhook: '$https://h/canary'}\n")
    unset = mistakes(tmp_path, SMALL + "watch: {webhook: $HOOK}\n", environ={})
    wrong = mistakes(tmp_path, SMALL + "watch: {webhook: $HOOK}\n", environ={"HOOK": "canary"})
    old = mistakes(tmp_path, SMALL + "watch: {webhook_env: 'https://h/canary'}\n")
    found = [*bare, *pasted, *unset, *wrong]
    assert {mistake.key for mistake in found} == {"watch.webhook"}
    assert len(found) == 4
    assert "write `$` and the name" in bare[0].message
    assert unset[0].message == (
        "HOOK is not set: it should hold an address that begins with https:// or http://. "
        "Set it, or write it into .env"
    )
    assert "canary" not in str([*found, *old])


def test_a_variable_that_is_not_set_is_an_error_also_later() -> None:
    with pytest.raises(ArenaError, match="HOOK is not set"):
        webhook_of(WatchSection(webhook="$HOOK"), {})
    assert webhook_of(WatchSection(), {}) is None


def test_a_webhook_that_hangs_holds_no_round_up_and_no_stop(record: OpenedRecord) -> None:
    async def play() -> None:
        stop = asyncio.Event()
        note_venue(record, "sky", NOW, DOWN)
        task = asyncio.create_task(
            keep_sending(record, Webhook(receiver.url), lambda: NOW, stop, said.append)
        )
        await asyncio.to_thread(receiver.asked.wait)
        report = await play_round(stored, 1, a_world(LittleVenue(), {"ann": says("0.7")}), record)
        assert report.done
        note_rounds(record, NOW)
        assert not task.done()
        receiver.let_go.set()
        stop.set()
        await task

    said = list[str]()
    stored = begun(record, a_cohort(["ann"]))
    with serving(Receiver(Answer(b"", how="hang"))) as receiver:
        asyncio.run(play())
    assert len(said) in (1, 2)


def test_messages_are_sent_as_they_come_up_and_a_last_time_at_the_end(record: OpenedRecord) -> None:
    async def play() -> None:
        stop = asyncio.Event()
        task = asyncio.create_task(
            keep_sending(record, Webhook(receiver.url), lambda: NOW, stop, said.append)
        )
        await asyncio.sleep(0)
        note_venue(record, "sky", NOW, DOWN)
        stop.set()
        await task

    said = list[str]()
    with serving(Receiver()) as receiver:
        asyncio.run(play())
    assert [message["event"] for message in receiver.said] == ["venue_down"]
    assert said == []


def test_without_a_webhook_messages_are_let_go(record: OpenedRecord) -> None:
    async def play() -> None:
        stop = asyncio.Event()
        stop.set()
        await keep_sending(record, None, lambda: NOW, stop, said.append)

    said = list[str]()
    note_venue(record, "sky", NOW, DOWN)
    asyncio.run(play())
    with serving(Receiver()) as receiver:
        assert tell_all(record, receiver.url) == []
    assert (said, receiver.got) == ([], [])
    assert "no webhook" in incident_line(record.incidents(1)[0])


def test_a_record_that_can_not_be_used_is_said_and_stops_nothing(tmp_path: Path) -> None:
    record = OpenedRecord.at(tmp_path / "broken.db")

    async def play() -> None:
        stop = asyncio.Event()
        stop.set()
        await keep_sending(record, Webhook("http://127.0.0.1:9"), lambda: NOW, stop, said.append)

    said = list[str]()
    record.close()
    Path(record.engine.url.database or "").write_bytes(b"no record at all, but a text of some length" * 99)
    asyncio.run(play())
    assert len(said) == 1
    assert "could not send messages" in said[0]


NOBODY = Verdict()
UNKNOWN: dict[str, Any] = dict.fromkeys(f.name for f in fields(LeaderboardRow) if f.default is MISSING)
NOTHING_YET = LeaderboardRow(**UNKNOWN)


def test_the_page_shows_a_message_and_lists_what_every_other_holds() -> None:
    """The example and the table of docs/watching.md, beside what makes the messages."""
    due = datetime(2026, 1, 11, tzinfo=UTC)
    statuses = {"sharp": "failed", "hasty": "failed", "market": "played"}
    budget = "a call may cost $0.0420, and $19.9700 of today's $20.0000 is spent"
    end = RoundEnd(1, 2, due, True, statuses, frozenset({"sharp", "hasty"}), {"hasty": budget})
    told: dict[IncidentKind, str] = {
        "agent_waiting": " is waiting for ANTHROPIC_API_KEY",
        "agent_failing": f": {FAILING}",
        "cost_unknown": f": {UNPRICED}",
    }
    lasting = [
        agent_incident(kind, "fable", f"fable{words}", end, due + 6 * HOUR) for kind, words in told.items()
    ]
    task = Task("malformed", "claude: 12 of 40 answers malformed", "show agent claude")
    claude = replace(NOTHING_YET, agent="claude", pnl=12.0)
    usual = CatalogueRead("polymarket", due, 11_988, {}, 12)
    rejected = records_rejected([replace(usual, markets=2_880, rejected=9_120), usual], due + 6 * HOUR)
    assert rejected is not None
    made = [
        *round_incidents(end, due + 6 * HOUR, newest=True),
        *lasting,
        *(agent_over(each, due + 6 * HOUR) for each in lasting),
        usage_not_believed("sharp", "openai/gpt-x", "1,000,000,000 tokens in and 200 out", due, due + HOUR),
        venue_outage("polymarket", due, VenueError("server_error", "gamma-api.polymarket.com answered 503")),
        catalogue_incomplete(
            "polymarket", due, VenueError("incomplete", "its catalogue is incomplete"), 3, 40
        ),
        rejected,
        market_unsettled("polymarket:512", due - timedelta(days=14), ["sharp", "hasty"], due),
        record_inconsistent("backup", due, ArenaError("differs", "1 difference: entry 1, sharp, 7, hash")),
        heads_unpublished(due + HOUR, due, 4, "./publish.sh ended with 1: no route to host"),
        site_unpublished(due, ArenaError("no_folder", "there is no folder /srv")),
        ping_failed(due, "https://hc.example", "can't be reached"),
        job_failing("backup", due, ArenaError("cannot_write", "/mnt is a file, not a folder")),
        record_unusable(due, ArenaError("disk_full", "the disk is full: cannot write arena.db")),
        workers_gone(due),
        lead_taken(due, "host/4712/b", "host/4711/a", "it has ended without letting go"),
        clock_stepped(due, 18_000.0),
        wrong_keys(due, 40, "192.0.2.7"),
        cohort_finished(1, due, 5, 3),
        weekly_digest(due + 32 * HOUR, [task], Leaderboard(NOBODY, None, (claude,))),
    ]
    page = (Path(__file__).resolve().parents[3] / "docs" / "watching.md").read_text("utf-8")
    messages = {incident.kind: incident_message(incident) for incident in made}
    shown = [json.loads(block.partition("```")[0]) for block in page.split("```json\n")[1:]]
    assert [said for said in shown if said.get("event")] == [messages["round_failed"]]
    listed = re.findall(r"^\|`(\w+)` \|[^|]+ \|`([\w ]+)`\|$", page, re.MULTILINE)
    assert dict(listed) == {kind: " ".join(message["data"]) for kind, message in messages.items()}
    assert set(messages) == set(get_args(IncidentKind))


def test_the_command_sends_a_test_and_shows_no_address(tmp_path: Path) -> None:
    with serving(Receiver(OK, Answer(b"", 500))) as receiver:
        path = write(tmp_path, SMALL + f"watch: {{webhook: '{receiver.url}/{CANARY}'}}\n")
        good, bad = (
            CliRunner().invoke(app, ["status", "--test-webhook", "--config", str(path)]) for _ in range(2)
        )
    assert (good.exit_code, bad.exit_code) == (0, 1)
    assert f"{receiver.url} accepted the message (status 200)" in good.output
    assert "has an internal error (status 500)" in bad.output
    assert "canary" not in good.output + bad.output
    assert [message["event"] for message in receiver.said] == ["test", "test"]
    none = CliRunner().invoke(
        app, ["status", "--test-webhook", "--json", "--config", str(write(tmp_path, SMALL))]
    )
    assert (none.exit_code, json.loads(none.output)["error"]["code"]) == (1, "no_webhook")


def test_the_command_lists_what_has_happened(record: OpenedRecord, tmp_path: Path) -> None:
    note_venue(record, "sky", NOW, DOWN)
    database = ["--database", str(tmp_path / "arena.db")]
    told = CliRunner().invoke(app, ["status", "--incidents", *database])
    assert (
        told.output == "2026-01-04 12:00 UTC  sky does not answer in time (venue_down, not sent, ongoing)\n"
    )
    found = json.loads(CliRunner().invoke(app, ["status", "--incidents", "--json", *database]).output)
    assert found["incidents"][0]["data"]["code"] == "timeout"


BAD = Answer(b"", 500)
SOON = timedelta(milliseconds=10)


def pings(record: OpenedRecord, receiver: Receiver, done: Callable[[], bool], good: bool = True) -> list[str]:
    """Return what is sent while steps succeed, until something is done."""

    async def play() -> list[str]:
        step = asyncio.Event()
        stop = asyncio.Event()
        said = list[str]()
        address = ping_of({"ARENA_PING": f"{receiver.url}/{CANARY}"})
        pinging = asyncio.create_task(keep_pinging(record, address, step, lambda: NOW, stop, said.append))
        for _ in range(400):
            if done():
                break
            if good:
                step.set()
            await asyncio.sleep(0.01)
        stop.set()
        await pinging
        return said

    return asyncio.run(play())


def incidents(record: OpenedRecord) -> list[tuple[str, bool]]:
    return [(x.incident.kind, x.ended_at is None) for x in record.incidents(9)]


def test_what_does_not_answer_is_tried_again_told_once_and_over_when_it_does(
    record: OpenedRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "PING_EVERY", SOON)
    monkeypatch.setattr(sending, "PING_PAUSES", (SOON, SOON))
    with serving(Receiver(*[BAD] * 7, OK)) as receiver:
        (said,) = pings(record, receiver, lambda: len(receiver.got) > 5)
        assert "was not pinged: it has an internal error" in said
        assert "canary" not in said
        assert incidents(record) == [("ping_failed", True)]
        assert pings(record, receiver, lambda: ("ping_failed", False) in incidents(record)) == []
    assert not any(request.body for request in receiver.got)


def test_without_a_good_step_nothing_is_sent(record: OpenedRecord) -> None:
    with serving(Receiver()) as receiver:
        assert pings(record, receiver, lambda: False, good=False) == []
    assert receiver.got == []


def test_a_variable_without_an_address_is_named() -> None:
    assert ping_of({}) is None
    with pytest.raises(ArenaError, match="ARENA_PING should hold the address"):
        ping_of({"ARENA_PING": CANARY})
