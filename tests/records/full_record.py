"""A small record that has everything in it, written by the arena's own functions.

Two cohorts. The first trades the book with fees and is shown articles, the second trades by the seed's
rule. Over four weeks there are bets on both sides, sales, refused wishes, a failed call, a malformed
turn, a turn that failed and was played again, a payout, a half, a refund, and a correction that takes
back what was paid. Before it another venue may have been watched, of which nothing is played.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from agents.model import Article, Call, CallError, Decision, DecisionStatus, Forecast, Message, Prompt, Stage
from agents.toolbox import ToolResult, ToolSource
from arena.record.model.benchmark import NewFile
from arena.record.model.cohort import NO_EVIDENCE, Cohort, Entrant, Replacement, Turn
from arena.record.schema.database import newest_schema_version
from arena.record.write.benchmark import keep_file
from arena.verify import Difference, verify
from markets.hashes import digest
from markets.model import Listing, MarketId, Resolution, Snapshot
from markets.universe import Universe
from markets.venue import QuarantinedRecord
from portfolio.execute import execute
from portfolio.ledger import post, settle
from portfolio.model import Bet, Rejection, Sale
from portfolio.rules import REALISTIC, SEED, Rules
from portfolio.value import mark
from tests.builders import NOW, a_bet, a_book, a_listing, a_resolution, a_sale, quote_of, usd
from tests.opened_record import OpenedRecord
from tests.rows import TABLES

WEEK = timedelta(weeks=1)
PROMPT = "Which of these will happen?"
SUN, RAIN, SNOW, WIND = (MarketId(f"sim:{name}") for name in ("sun", "rain", "snow", "wind"))
MARKETS = (SUN, RAIN, SNOW, WIND)
FOG, MIST, DEW = (MarketId(f"sky:{name}") for name in ("fog", "mist", "dew"))
AT_WORK = (
    "claim",
    "desk_key",
    "desk_turn",
    "lease",
    "lane",
    "model_limit",
    "reservation",
    "job",
    "incident",
    "publication",
    "rollup",
)
"""Tables that say who is at work: no facts."""


def week(number: int) -> datetime:
    """Return the decision time of a week, from 0."""
    return NOW + number * WEEK


def a_cohort(number: int, starts_at: datetime, rules: Rules, *names: str, rounds: int = 3) -> Cohort:
    """Return a cohort of model-like agents with $10,000 each."""
    settings = {"model": "demo/é", "prompt": "bet", "of": ["ann"]}
    return Cohort(
        number=number,
        starts_at=starts_at,
        rounds=rounds,
        every=WEEK,
        bankroll=usd(10_000),
        rules=rules,
        universe=Universe(show=4, per_event=2, closes_within=10**7, min_volume=0, max_spread=usd("0.10")),
        seed=number,
        venue="simulator",
        venue_settings={"seed": 7},
        stamp="simulated",
        prompts={"bet": digest(PROMPT)},
        entrants=tuple(Entrant(place, name, "llm", settings) for place, name in enumerate(names)),
        evidence="folder" if number == 1 else NO_EVIDENCE,
    )


def the_news(market: MarketId, at: datetime) -> tuple[Article, ...]:
    """Return two articles on a market: a new one, and an unchanged one with a day but no time."""
    fresh = at - timedelta(hours=36)
    old = NOW - timedelta(days=3)
    address = "https://x.example/é"
    read = at + timedelta(minutes=1)
    ends = old.replace(hour=11, minute=59, second=59) + timedelta(days=1)
    return (
        Article("sky.example", "", f"News of {market}", "", fresh, read, f"{fresh:%Y-%m-%d %H:%M} UTC"),
        Article("Old Paper", address, f"On {market}", "Who knows?", ends, read, f"{old:%Y-%m-%d}"),
    )


def the_book(market: MarketId, at: datetime, step: int = 0) -> Listing:
    """Return a book of two levels a side, around a price of its own that moves with the weeks."""
    middle = 40 + 5 * MARKETS.index(market) + step
    bids, asks = ([(f"0.{middle + sign * k}", "400") for k in (1, 2)] for sign in (-1, 1))
    page = {"event_id": "sky" if market in (SUN, WIND) else "fall", "fee_rate": usd("0.02")}
    if market == WIND and at >= week(2):
        page["rules"] = "YES if it blows. (Made clearer.)"
    listing = a_book(bids, asks, market, at=at, closes_at=week(6), **page)
    return replace(listing, quote=replace(quote_of(listing), volume=0))


def said(reply: str | None, stage: Stage = "final", error: CallError | None = None) -> Call:
    """Return one attempt at a question."""
    prompt = Prompt((Message("system", PROMPT), Message("user", "sim:sun at 40¢…")), seed=5, stage=stage)
    known: dict[str, Any] = {"model": "demo-1", "finish": "stop", "fingerprint": "fp", "host": "east"}
    if reply == "1":
        known |= {"thinking": "Hm.", "citations": ("https://a.example",), "status": 200}
        known |= {"tokens_reasoning": 3, "tokens_cached": 8, "tokens_cache_write": 2}
    return Call(
        prompt,
        reply,
        latency_ms=12,
        cost=None if error else 120,
        error=error,
        tokens_in=10,
        tokens_out=5,
        **known,
    )


@dataclass
class Season:
    """A record and what plays in it, by a version of the code; every step goes through `Record`."""

    record: OpenedRecord
    version: str = "1"
    looks_again: bool = True

    @classmethod
    def begun(cls, path: Path, cohort: Cohort) -> "Season":
        """Return a new record in which a cohort has begun its first round, and is shown all books."""
        season = cls(OpenedRecord.at(path))
        season.start(cohort)
        at = cohort.starts_at
        season.look(cohort.number, at, *(the_book(market, at) for market in MARKETS))
        return season

    def differences(self) -> list[Difference]:
        """Return what verifying finds in it."""
        return self.record.read(verify)

    def start(self, cohort: Cohort) -> None:
        """Start a cohort with its bankrolls."""
        self.record.start(cohort, {digest(PROMPT): PROMPT})

    def look(self, number: int, at: datetime, *listings: Listing, held: Sequence[Listing] = ()) -> None:
        """Settle what has ended, then keep the snapshot; with it a round where one is due."""
        stored = self.record.cohorts()[number - 1]
        ends = self.record.resolutions(MARKETS, at)
        accounts = self.record.holdings(stored.id)
        paid = {stored.entrant_ids[name]: settle(account, ends, at) for name, account in accounts.items()}
        self.record.add_entries(paid)
        week = (at - stored.cohort.starts_at) // WEEK + 1
        due = week if week <= stored.cohort.rounds else None
        self.record.keep_snapshot(stored.id, number, Snapshot(at, listings, tuple(held)), due)
        if due is not None and stored.cohort.evidence != NO_EVIDENCE:
            news = {listing.market.id: the_news(listing.market.id, at) for listing in listings}
            round_id = self.record.rounds(stored.id)[-1].id
            self.record.gather(round_id, (number, due), news, 2 * len(news) + 3, later=1, undated=2)
            if self.looks_again:
                said = (ToolSource("https://x.example/é", "2026-01-01", "1"),)
                found = ToolResult("Who knows?", said, {"later": 1})
                asked = ("", "search", '{"query":"sun"}')
                self.record.keep_result(round_id, (number, due), asked, found, at)

    def turn(
        self,
        number: int,
        name: str,
        decision: Decision,
        *calls: Call,
        version: str = "",
        rules: Rules | None = None,
        second: Snapshot | None = None,
        bent: Callable[[Turn], Turn] = lambda turn: turn,
    ) -> Turn:
        """Write an entrant's turn in a cohort's newest round, by other rules or changed if a test wishes."""
        stored = self.record.cohorts()[number - 1]
        stored_round = self.record.rounds(stored.id)[-1]
        key = stored.entrant_ids[name]
        tokens = self.record.claim(stored_round.id, [key], "me")
        for call in calls:
            before = self.record.calls(stored_round.id, [key]).get(key, [])
            attempt = 1 + sum(other.prompt.stage == call.prompt.stage for other in before)
            self.record.add_call(stored_round.id, key, attempt, call, NOW)
        found = self.record.snapshot(stored.id, stored_round.at)
        assert found is not None
        account = self.record.holdings(stored.id)[name]
        rules = rules or stored.cohort.rules
        fills, refused = execute(decision.bets, decision.sales, account, second or found[1], rules)
        entries = post(fills, account, stored_round.at, f"fill:{stored_round.number}")
        rejections = (*decision.rejections, *refused)
        (entrant,) = (each for each in stored.cohort.entrants if each.name == name)
        turn = Turn(name, account.cash, decision, tuple(fills), rejections, tuple(entries), second)
        turn = bent(replace(turn, settings=entrant.replaced_hash))
        place = (number, stored_round.number)
        self.record.write_turn(key, tokens[key], turn, stored_round.id, place, version or self.version)
        return turn

    def replace_settings(self, number: int, name: str, settings: Mapping[str, Any]) -> None:
        """Give an entrant without a good turn other settings in the newest round of a cohort."""
        stored = self.record.cohorts()[number - 1]
        (entrant,) = (each for each in stored.cohort.entrants if each.name == name)
        stored_round = self.record.rounds(stored.id)[-1]
        prompts = {"bet": digest(PROMPT + " Be brief.")}
        other = replace(entrant, settings=settings, since=stored_round.number, prompts=prompts)
        taken = Replacement(other, entrant.settings, {prompts["bet"]: PROMPT + " Be brief."})
        self.record.replace_settings(number, stored.entrant_ids, stored_round.at, taken)

    def value(self, number: int, at: datetime) -> None:
        """Mark everyone; with that a round is done."""
        stored = self.record.cohorts()[number - 1]
        found = self.record.snapshot(stored.id, at)
        assert found is not None
        accounts = self.record.holdings(stored.id)
        age = timedelta(seconds=stored.cohort.rules.max_quote_age)
        marks = {stored.entrant_ids[name]: mark(held, found[1], age) for name, held in accounts.items()}
        round_id = next((r.id for r in self.record.rounds(stored.id) if r.at == at), None)
        self.record.value(found[0], marks, round_id)


def decides(
    *wishes: Bet | Sale, status: DecisionStatus = "played", note: str = "", **chances: str
) -> Decision:
    """Return what an agent believes and orders: `decides(a_bet(500, market=SUN), sun="0.6")`."""
    return Decision(
        forecasts=tuple(
            Forecast(MarketId(f"sim:{key}"), chance, reason="so") for key, chance in chances.items()
        ),
        bets=tuple(wish for wish in wishes if isinstance(wish, Bet)),
        sales=tuple(wish for wish in wishes if isinstance(wish, Sale)),
        status=status,
        note=note,
    )


def build(path: Path | str, weeks: int = 5, watched: bool = False, looks_again: bool = True) -> OpenedRecord:
    """Build the small season in a new record, or its first weeks, after syncs of a venue if so wished.

    In a file it is a copy of the one that was played first.
    """
    if "://" in str(path):
        return build_anew(path, weeks, watched, looks_again)
    Path(path).touch(mode=0o600)
    Path(path).write_bytes(_built(weeks, watched, looks_again, newest_schema_version()))
    return OpenedRecord.at(path)


@cache
def _built(weeks: int, watched: bool, looks_again: bool, _schema: str) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "record.db"
        build_anew(path, weeks, watched, looks_again).close()
        return path.read_bytes()


def build_anew(
    path: Path | str, weeks: int = 5, watched: bool = False, looks_again: bool = True
) -> OpenedRecord:
    """Build the same anew."""
    season = Season(OpenedRecord.at(path), looks_again=looks_again)
    if watched:
        watch(season.record)
    play_on(season, range(weeks))
    if weeks:
        at_work(season.record)
    return season.record


def play_on(season: Season, weeks: range) -> None:
    """Play some weeks of the season, counted from 0."""
    for play in (_first_week, _second_week, _third_week, _fourth_week, _last_week)[weeks.start : weeks.stop]:
        play(season)


def at_work(record: OpenedRecord) -> None:
    """Put somebody on duty: a call under way, a provider that wants a pause, a job, an incident."""
    hour = NOW + timedelta(hours=1)
    rows: dict[str, dict[str, object]] = {
        "lease": {"name": "run", "token": 1, "holder": "me", "beat": 0, "renewed_at": NOW},
        "lane": {"provider": "demo", "room": 20_000_000, "paused_until": hour},
        "model_limit": {"provider": "demo", "model": "demo/sharp", "paused_until": hour},
        "reservation": {
            "round_id": 1, "entrant_id": 1, "provider": "demo", "worst": 900, "holder": "me",
            "made_at": NOW, "beat": 0,
        },
        "job": {"name": "marks", "due_at": NOW, "started_at": NOW},
        "incident": {"kind": "venue_down", "subject": "sky", "at": NOW, "body": "{}", "next_try_at": hour},
        "publication": {"target": "a log", "number": 1, "at": NOW},
        "desk_key": {"agent": "ann", "hash": "1", "made_at": NOW},
        "desk_turn": {"entrant_id": 1, "round_id": 1, "view": "{}", "expires_at": hour},
        "rollup": {"name": "weather", "basis": "what is said", "made_at": NOW, "body": "{}"},
    }  # fmt: skip
    with record.engine.begin() as connection:
        for name, values in rows.items():
            connection.execute(TABLES[name].insert(), values)


def watch(record: OpenedRecord) -> None:
    """Write four syncs of another venue: prices change, one is pruned, a market goes and comes back."""
    for day, prices in enumerate(({FOG: 3, MIST: 1}, {FOG: 5}, {FOG: 5, MIST: 1}, {FOG: 6, MIST: 1, DEW: 2})):
        at = NOW + timedelta(days=day - 9)
        aside = QuarantinedRecord(
            "sky", "hail", "market", "malformed", "outcomes: three of them", '{"id": "hail"}'
        )
        listings = [
            a_listing(f"0.1{step}", f"0.2{step}", market=market, at=at) for market, step in prices.items()
        ]
        record.sync("sky", listings, at, "live", [aside])
    assert record.prune(NOW - timedelta(days=7, hours=12), NOW - timedelta(days=1)) == 1
    with record.engine.begin() as connection:
        for text in ('{"questions": []}', '{"questions": [1]}'):
            keep_file(connection, NewFile("questions", "2026-03-01-llm.json", "2026-03-01", text), NOW)


def _first_week(season: Season) -> None:
    season.start(a_cohort(1, week(0), replace_cap(REALISTIC), "ann", "bob", "eve"))
    season.look(1, week(0), *(the_book(market, week(0)) for market in MARKETS))
    limit = CallError("rate_limit", "slow down", retry=True)
    calls = said(None, error=limit), said("blind", "blind"), said('{"forecasts": …}')
    blind = Forecast(SUN, 0.5, "blind")
    decision = decides(a_bet(300, market=SUN), a_bet(200, "NO", RAIN), a_bet(9_000, market=SNOW), sun="0.6")
    decision = replace(decision, forecasts=(blind, *decision.forecasts))
    season.turn(
        1, "ann", replace(decision, rejections=(Rejection("side", "bet 4: UP is no side", SUN),)), *calls
    )
    season.turn(1, "bob", decides(a_bet(100, market=SNOW), a_bet(100, market=WIND), wind="0.7", rain="0"))
    season.turn(1, "eve", decides(status="malformed", note="no JSON"), said("prose"), said("more prose"))
    season.value(1, week(0))


def _second_week(season: Season) -> None:
    season.start(a_cohort(2, week(1), SEED, "ann", "zoe"))
    for number in (1, 2):
        season.look(number, week(1), *(the_book(market, week(1), 3) for market in MARKETS))
    season.turn(
        1, "ann", decides(a_sale(fraction="0.5", market=SUN), a_bet(150, market=WIND), sun="0.8"), said("1")
    )
    season.turn(1, "bob", decides(a_sale(market=SNOW), snow="0.1"))
    if season.looks_again:
        season.replace_settings(1, "eve", {"model": "demo/é", "prompt": "bet", "of": ["ann"], "timeout": 600})
    season.turn(1, "eve", decides(status="failed", note="timeout"), said(None, error=_timeout()))
    season.turn(
        1,
        "eve",
        decides(a_bet(60, "NO", WIND), wind="0.2"),
        said("2"),
        version="2",
        second=_again() if season.looks_again else None,
    )
    season.value(1, week(1))
    season.turn(
        2, "ann", decides(a_bet(500, market=SUN), a_bet(400, market=SUN), a_bet(300, "NO", SUN), sun="1")
    )
    season.turn(2, "zoe", decides(a_bet(777, "NO", RAIN), a_bet(100, market=SNOW), rain="0.3"))
    season.value(2, week(1))


def _again() -> Snapshot:
    """Return the second week an hour later: prices have moved, and one is gone."""
    later = week(1) + timedelta(hours=1)
    listings = [the_book(market, later, 2) for market in MARKETS]
    return Snapshot(week(1), (replace(listings[0], quote=None), *listings[1:]), taken_at=later)


def _timeout() -> CallError:
    return CallError("timeout", "no answer in 120 s", retry=False)


def _third_week(season: Season) -> None:
    at = week(2)
    ends = [a_resolution("1", SUN, at=at), a_resolution(None, RAIN, at=at), a_resolution("0.5", SNOW, at=at)]
    season.record.resolve([replace(end, source="the test") for end in ends], at)
    for number in (1, 2):
        season.look(number, at, the_book(WIND, at, 3))
    season.turn(1, "ann", decides(a_bet(100, market=WIND), wind="0.66"), said("3"))
    season.turn(1, "bob", decides(wind="0.5"))
    season.turn(1, "eve", decides(status="failed", note="timeout"), said(None, error=_timeout()))
    season.value(1, at)
    season.turn(2, "ann", decides(a_bet(50, market=WIND), a_sale(market=WIND), wind="0.4"))
    season.turn(2, "zoe", decides())
    season.value(2, at)


def _fourth_week(season: Season) -> None:
    at = week(3)
    season.record.resolve([a_resolution("0", SUN, version=2, at=at)], at)
    season.look(1, at, held=[the_book(WIND, week(2), 3)])  # the venue was silent: an old quote
    season.value(1, at)
    season.look(2, at, the_book(WIND, at, -4))
    season.turn(2, "ann", decides(a_sale("20", market=WIND), wind="0.4"))
    season.turn(2, "zoe", decides(a_bet(51, market=WIND)))
    season.value(2, at)


def _last_week(season: Season) -> None:
    at = week(4)
    season.record.resolve([Resolution(WIND, 1, at, usd("0.25"), "the test")], at)
    for number in (1, 2):
        season.look(number, at, *([the_book(SNOW, at, 1)] if number == 2 else ()))
        season.value(number, at)
    season.record.end(season.record.cohorts()[0].id, at)


def replace_cap(rules: Rules) -> Rules:
    """Return the rules with spreads allowed as wide as those of these books."""
    return rules.model_copy(update={"max_spread": usd("0.10")})
