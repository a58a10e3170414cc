"""A season of several processes on PostgreSQL behind a proxy, and what must be so at its end.

It ends in the state of an unbroken one, and a question is asked again only where the process that had asked
it was killed, or was silent for a whole lease, before its answer was kept.
"""

import json
import signal
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import psycopg
from sqlalchemy import create_engine, make_url

from arena.clock import timer
from arena.record.model.lease import LEASE_LENGTH
from tests.faults.mishaps import PAUSE, Mishap, drawn_plan, drawn_roster
from tests.faults.postgresql_proxy import PostgreSqlProxy
from tests.opened_record import new_record
from tests.postgres import database
from tests.program.clocks import step_server
from tests.program.forked import Forked, Forks
from tests.program.rehearsal import content_at
from tests.provider.replies import GOOD, Asked, late, says
from tests.provider.server import FaultyProvider
from tests.rows import rows_in
from tests.serving import Reply

CONFIG = """\
markets: {{venue: simulator, show: 4, simulator: {{start: 2026-01-04, weeks: 5, markets: 24, events: 8}}}}
cohorts: {{rounds: 3, count: 2, bankroll: 1000}}
calls: {{per_provider: 4}}
run: {{workers: {workers}}}
agents:
{agents}
  - {{kind: crowd, of: [a0, a1]}}
  - {{kind: random}}
"""
"""All else of `run` is as by default."""
AGENT = """\
  - {{name: a{n}, model: openai/plays, base_url: '{url}', api_key_env: WHO_ASKS,
      price: {{input: 1, output: 4}}}}"""
AGENTS = 4
LONGEST_ANSWER = 5.0
LONGEST = 400.0
"""Seconds that anything is waited for; what takes longer hangs."""
MISHAPS = 16
"""In a season; then it may end."""
SILENT = LEASE_LENGTH.total_seconds() - 5
"""Seconds without an answer from the server after which another process may have taken a turn over."""
REASONS = (
    "can't be reached",
    "is using this record",
    "is gone",
    "has ended",
    "ended on",
    "no cohort",
    "makes no more decisions",
    "every round has been played",
    "at the same time",
    "is playing",
    "has closed a connection",
)
"""What a command may say that ends with an error."""
RESUME = ("admin", "cohort", "resume", "1")

MONEY = "SELECT hash FROM entry ORDER BY hash"
"""The whole ledger: the hashes of its entries."""
TURNS = "SELECT count(*) FROM turn WHERE status <> 'late'"
QUESTIONS = "SELECT messages, seed FROM call WHERE error_code IS NULL"
RESERVATIONS = "SELECT holder, beat FROM reservation"
Question = tuple[str, int]


class Broken(Exception):
    """What must never be has come about."""


@dataclass(eq=False)
class Player:
    """A process of the arena, by a name of its own, which its connections and its key for the model have."""

    name: str
    forked: Forked
    killed_at: float | None = None
    wakes_at: float | None = None

    @property
    def role(self) -> str:
        """Return its place in the roster."""
        return self.name.partition(".")[0]


@dataclass
class Season:
    """A season on a server, and all who have played it."""

    bench: "Bench"
    number: int
    proxy: PostgreSqlProxy
    server: Any
    direct: str
    players: list[Player] = field(default_factory=list)
    log: list[tuple[float, str]] = field(default_factory=list)
    stepped: int = 0
    began: float = field(default_factory=timer)
    paused: bool = False

    @property
    def place(self) -> str:
        """Return the address of the record through the proxy."""
        url = make_url(self.direct).set(host="127.0.0.1", port=self.proxy.port, query={})
        return url.render_as_string(hide_password=False)

    @property
    def was_paused(self) -> bool:
        """Tell whether a cohort was paused: it may miss rounds, and the others' come first."""
        return any(" ".join(PAUSE) in words for _, words in self.log)

    def note(self, words: str) -> None:
        """Log something, for who looks at a season that broke."""
        self.log.append((timer(), words))

    def start(self, role: str, *words: str) -> Player:
        """Start a process of the arena."""
        name = f"{role}.{len(self.players) + 1}"
        more = {"PGAPPNAME": name, "WHO_ASKS": f"{self.number}/{name}"}
        forked = self.bench.forks.start(self.bench.folder, *words, "--database", self.place, **more)
        self.players.append(Player(name, forked))
        self.note(f"{name} starts: {' '.join(words)}")
        return self.players[-1]

    def start_role(self, role: str) -> None:
        """Start who has a place in the roster."""
        words = ("run", "--worker") if role.startswith("worker") else ("run",)
        self.start(role, *words)

    def alive(self, role: str) -> Player | None:
        """Return who has a place in the roster now."""
        for player in self.players:
            if player.role == role and player.forked.runs:
                return player
        return None

    def check(self, roster: list[str]) -> bool:
        """Wake who has slept enough; return whether the schedulers say that the season is over."""
        for player in self.players:
            if player.wakes_at is not None and timer() > player.wakes_at:
                player.wakes_at = None
                player.forked.signal(signal.SIGCONT)
            ended = not player.forked.runs and player.killed_at is None
            if ended and player.role in roster and (player.role.startswith("worker") or player.forked.status):
                said = player.forked.said()[-3_000:]
                raise Broken(f"{player.name} has ended with {player.forked.status}:\n{said}")
        return not any(self.alive(role) for role in roster if role.startswith("run"))

    def play(self, roster: list[str], plan: list[Mishap]) -> None:
        """Play the season to its end, whatever happens meanwhile."""
        for role in roster:
            self.start_role(role)

        due = timer()
        for mishap in plan:
            due = max(due, timer() - 1.0) + mishap.after
            while timer() < due and not self.check(roster):
                time.sleep(0.05)
            if self.check(roster):
                break
            self.happen(mishap)

        self.note("nothing more goes wrong")
        last = timer()
        while not self.check(roster):
            if self.paused and timer() > last + 5.0:
                self.resume()
            if timer() > last + LONGEST:
                raise Broken("the season does not end")
            time.sleep(0.1)
        self.finish(roster)

    def happen(self, mishap: Mishap) -> None:
        """Have it happen."""
        self.bench.mishaps[mishap.fault.kind if mishap.fault else mishap.kind] += 1
        if mishap.fault is not None:
            self.proxy.do(mishap.fault)
        elif mishap.kind == "restart":
            self.note(f"the server is away for {mishap.seconds:.0f} s")
            self.server.stop()
            time.sleep(mishap.seconds)
            self.server.start()
        elif mishap.kind == "clock":
            self.step_clock(int(mishap.seconds))
        elif mishap.kind == "command":
            self.paused = self.paused or mishap.command == PAUSE
            new = f"new-{self.number}-{len(self.players)}"
            self.start("command", *(word.format(new=new) for word in mishap.command))
        else:
            self.strike(mishap)

    def strike(self, mishap: Mishap) -> None:
        """Suspend a process, or kill it once calls are under way; another takes its place then."""
        player = self.alive(mishap.process)
        if player is None:
            return

        if mishap.kind == "suspend":
            self.note(f"{player.name} is suspended for {mishap.seconds:.1f} s")
            player.forked.signal(signal.SIGSTOP)
            player.wakes_at = timer() + mishap.seconds
            return

        patience = timer() + LONGEST_ANSWER
        while self.bench.server.at_once == 0 and timer() < patience:
            time.sleep(0.02)
        self.note(f"{player.name} is killed, {self.bench.server.at_once} calls at the provider")
        player.killed_at = timer()
        player.forked.signal(signal.SIGCONT)
        player.forked.kill()
        self.start_role(mishap.process)

    def step_clock(self, seconds: int) -> None:
        """Put the server's clock forward or back."""
        self.stepped += seconds
        self.note(f"the server's clock is put {seconds:+} s, to {self.stepped:+}")
        engine = create_engine(self.direct)
        with engine.begin() as connection:
            step_server(connection, self.stepped)
        engine.dispose()

    def resume(self) -> None:
        """Let the cohort decide again, however often that has to be said."""
        for player in self.players:
            if player.role == "command":
                player.forked.ended.wait(LONGEST)
        resumed = self.start("command", *RESUME)
        self.paused = bool(resumed.forked.wait())

    def finish(self, roster: list[str]) -> None:
        """Stop the workers in good order, and let commands end."""
        self.proxy.calm()
        for player in self.players:
            if player.role.startswith("worker"):
                player.forked.signal(signal.SIGCONT)
                player.forked.signal(signal.SIGTERM)
        for player in self.players:
            if not player.forked.ended.wait(LONGEST):
                raise Broken(f"{player.name} does not end")
            said = player.forked.said()
            if "Traceback" in said:
                raise Broken(f"{player.name} ended in a traceback:\n{said[-4_000:]}")
            if player.killed_at is not None or ended_in_order(player.forked.status, said):
                continue
            if player.role in roster or not any(reason in said for reason in REASONS):
                raise Broken(f"{player.name} ended with {player.forked.status}:\n{said[-3_000:]}")
            self.bench.refused += 1

    def dismiss(self) -> None:
        """Leave nobody at work."""
        self.proxy.calm()
        for player in self.players:
            player.forked.signal(signal.SIGCONT)
            player.forked.kill()

    # ---- what must be so

    def judge(self) -> None:
        """Hold the season against an unbroken one, and each question against who asked it when."""
        found = content_at(self.direct)
        if found["differences"]:
            raise Broken(f"arena admin verify: {found['differences'][:5]}")
        with psycopg.connect(self.direct.replace("+psycopg", "")) as connection:
            kept = Counter(question_kept(*row) for row in connection.execute(QUESTIONS))
            left = connection.execute(RESERVATIONS).fetchall()
            turns = connection.execute(TURNS).fetchone()
            money = connection.execute(MONEY).fetchall()

        if found["hash"] != self.bench.whole:
            if not self.was_paused:
                raise Broken(f"the state is {found['hash']}, and {self.bench.whole} in an unbroken run")
            if turns == (self.bench.turns,) and money != self.bench.money:
                raise Broken("all turns are played, and the ledger is not that of an unbroken run")
            self.bench.paused += 1
        self.judge_questions(kept)
        self.judge_reservations(left)

    def judge_questions(self, kept: "Counter[Question]") -> None:
        """Hold each question against who had asked it, and how often it has an answer in the record."""
        asked = defaultdict[Question, list[tuple[float, Player]]](list)
        by_key = {f"Bearer {self.number}/{player.name}": player for player in self.players}
        for call in sorted(self.bench.server.log, key=lambda call: call.at):
            if call.key in by_key:
                asked[question_asked(call)].append((call.at, by_key[call.key]))

        if not asked or kept.keys() - asked.keys():
            raise Broken(f"{len(kept)} questions are in the record, and {len(asked)} were asked")
        for question, calls in asked.items():
            self.judge_question(calls, kept[question])
        self.bench.questions += len(asked)
        self.bench.requests += sum(map(len, asked.values()))

    def judge_question(self, calls: list[tuple[float, Player]], answers: int) -> None:
        """Hold that each call but the last was lost, with its process or after a silent lease."""
        who = ", ".join(f"{player.name} at {at - self.began:.1f}" for at, player in calls)
        killed = 0
        silent = 0
        for (at, player), (next_at, _) in pairwise(calls):
            if player.killed_at is not None and at < player.killed_at <= next_at:
                killed += 1
            elif self.was_silent(player, at, next_at):
                silent += 1
            else:
                raise Broken(f"a question was asked again: by {who}")

        last = calls[-1][1]
        least = 0 if last.killed_at is not None and self.was_paused else 1
        if not least <= answers <= 1 + silent:
            raise Broken(f"a question has {answers} answers in the record, and was asked by {who}")
        self.bench.lost += killed
        self.bench.taken_over += silent

    def was_silent(self, player: Player, since: float, until: float) -> bool:
        """Tell whether a process had no answer from the server for so long that it counted as dead."""
        heard = [at for at in self.proxy.heard[player.name] if at < until]
        gaps = pairwise([*heard, until])
        return any(after > since and after - before >= SILENT for before, after in gaps)

    def judge_reservations(self, left: list[tuple[Any, ...]]) -> None:
        """Hold that no call counts as under way or as lost but those of processes that were killed."""
        by_pid = {str(player.forked.pid): player for player in self.players}
        for holder, beat in left:
            player = by_pid[holder.split("/")[1]]
            if player.killed_at is None:
                raise Broken(f"{player.name} was never killed, and has a reservation with beat {beat}")
            self.bench.reserved += 1

    def story(self) -> str:
        """Return all that happened, and what each process said last."""
        happened = sorted([*self.log, *self.proxy.log])
        lines = [f"{at - self.began:8.1f} {words}" for at, words in happened if at >= self.began]
        for player in self.players:
            lines += [f"--- {player.name}, pid {player.forked.pid}", player.forked.said()[-2_500:]]
        return "\n".join(lines)


def ended_in_order(status: int, said: str) -> bool:
    """Tell whether a process ended as it should, or was told to end while it was still being loaded."""
    return status == 0 or (status == -signal.SIGTERM and not said.strip())


def question_asked(call: Asked) -> Question:
    """Return what makes two questions the same, as the provider has it."""
    return "\n".join(message["content"] for message in call.body["messages"]), call.body["seed"]


def question_kept(messages: str, seed: int) -> Question:
    """Return the same as the record has it."""
    return "\n".join(message["content"] for message in json.loads(messages)), seed


def answer_slowly(call: Asked) -> Reply:
    """Return an answer that comes after a while, which the question decides."""
    return late(
        says(GOOD, system_fingerprint="fp-9"), Random(str(question_asked(call))).uniform(0.1, LONGEST_ANSWER)
    )


@dataclass
class Bench:
    """What all seasons share, and what was counted in them."""

    folder: Path
    server: FaultyProvider
    forks: Forks
    say: Callable[[str], None]
    whole: str = ""
    turns: int = 0
    money: list[Any] = field(default_factory=list)
    mishaps: "Counter[str]" = field(default_factory=Counter)
    seasons: int = 0
    failed: list[int] = field(default_factory=list)
    questions: int = 0
    requests: int = 0
    lost: int = 0
    taken_over: int = 0
    reserved: int = 0
    refused: int = 0
    paused: int = 0

    def write_config(self, workers: bool) -> None:
        """Write the config of every season."""
        agents = "\n".join(AGENT.format(n=n, url=self.server.url) for n in range(AGENTS))
        text = CONFIG.format(agents=agents, workers=json.dumps(workers))
        (self.folder / "config.yaml").write_text(text, "utf-8")

    def play_unbroken(self) -> None:
        """Play the season once with nothing wrong, on SQLite, without workers."""
        self.write_config(workers=False)
        place = str(self.folder / "whole.db")
        began = timer()
        running = self.forks.start(self.folder, "run", "--database", place, WHO_ASKS="nobody")
        if not running.ended.wait(LONGEST) or running.status:
            raise Broken(f"the unbroken season does not end:\n{running.said()}")
        found = content_at(place)
        self.whole = found["hash"]
        self.turns = found["turns"]
        self.money = rows_in(Path(place), MONEY)
        self.say(f"the unbroken season took {timer() - began:.0f} s")
        self.server.script("plays", answer_slowly)

    def play_season(self, seed: int, mishaps: int, server: Any, proxy: PostgreSqlProxy) -> None:
        """Play the season of a seed."""
        chance = Random(seed)
        roster = drawn_roster(chance)
        plan = drawn_plan(chance, roster, mishaps)
        self.write_config(workers=any(role.startswith("worker") for role in roster))

        direct = database(server.get_uri(), f"season{seed}")
        new_record(direct)
        season = Season(self, seed, proxy, server, direct)
        season.step_clock(0)
        try:
            season.play(roster, plan)
            season.judge()
        except Exception:  # noqa: BLE001 - whatever it is, that seed has found it
            self.failed.append(seed)
            self.say(f"seed {seed} failed\n{traceback.format_exc()}\n{season.story()}")
        finally:
            season.dismiss()

        self.seasons += 1
        took = timer() - season.began
        self.say(f"seed {seed}: {', '.join(roster)}; {took:.0f} s; {self.tally()}")

    def tally(self) -> str:
        """Return in a line what was counted so far."""
        counts = (
            f"{self.requests:,} requests for {self.questions:,} questions",
            f"{self.lost} lost at a kill",
            f"{self.taken_over} taken over after a silent lease",
            f"{self.reserved} reservations of killed processes",
            f"{self.refused} commands refused in words",
            f"{self.paused} states differ after a pause",
        )
        return ", ".join(counts)
