"""One agent in depth: how calibrated, how lucky and how coherent it is, and where its money came from."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from arena.belief import stated as probability
from arena.chosen import numbered, of_agent
from arena.compared import gains
from arena.frame import Stated, evidence, take
from arena.frame import of_agent as rows_of
from arena.scoring.calibrating.reliability import Diagram, diagram
from arena.scoring.comparing.gain import Gain
from arena.scoring.money.at_stake import AtStake, at_stake
from arena.scoring.money.drawdown import Drawdown, drawdown
from arena.scoring.money.luck import Luck, luck
from arena.scoring.money.proven import Proven, elsewhere, proven
from arena.scoring.money.split import Split, split
from arena.scoring.money.trades import End, Trade
from arena.scoring.stating.blind import Blind
from arena.scoring.stating.coherence import Coherence
from arena.statements import Bargain, bargains, blind_of, coherence_of
from arena.store.frame import Connection
from arena.store.read import cohorts
from arena.store.stated import read_stated
from arena.store.trades import read_pages
from arena.traded import Traded, read_traded, ties, together
from markets.shapes import Family, families


@dataclass(frozen=True, slots=True)
class Money:
    """Where the profit came from, how much of it luck may be, and the deepest fall in any cohort.

    `proven` is how much of the edge that it claimed came true; the split counts the edge for as much.
    """

    split: Split
    luck: Luck
    proven: Proven
    drawdown: Drawdown | None


@dataclass(frozen=True, slots=True)
class Portrait:
    """An agent over all its cohorts, or in one. `gain` is None before it was shown anything.

    `bargains` are the trades that would make the worst of the sure profits that its statements give away, and
    `at_stake` what each event can still do to the accounts that are open, the worst first.
    """

    agent: str
    gain: Gain | None
    calibration: Diagram
    coherence: Coherence
    bargains: tuple[Bargain, ...]
    blind: Blind
    money: Money | None
    at_stake: tuple[AtStake, ...]


@dataclass(frozen=True, slots=True)
class Sitting:
    """What a portrait is drawn from: what an agent said, its accounts, and the families of all markets."""

    agent: str
    rows: Stated
    accounts: Sequence[Traded]
    families: Sequence[Family]
    blind: Blind


def portrait(connection: Connection, agent: str, cohort: int | None = None, seed: int = 0) -> Portrait:
    """All of it, worked out now; the same seed gives the same digits."""
    chosen = of_agent(numbered(cohorts(connection), cohort), agent)
    sitting = Sitting(
        agent=agent,
        rows=rows_of(read_stated(connection, cohort), agent),
        accounts=[one for stored in chosen for one in read_traded(connection, stored, agent)],
        families=families(read_pages(connection)),
        blind=blind_of(connection, agent, cohort),
    )
    return drawn(sitting, seed)


def drawn(sitting: Sitting, seed: int = 0) -> Portrait:
    """The portrait that comes of a sitting."""
    agent, rows, accounts, found = sitting.agent, sitting.rows, sitting.accounts, sitting.families
    counted = evidence(rows)
    coherence = coherence_of(rows, agent, found)
    return Portrait(
        agent=agent,
        gain=next((gain for gain in gains(counted, seed) if gain.agent == agent), None),
        calibration=calibration(counted, seed),
        coherence=coherence,
        bargains=tuple(bargains(rows, agent, found, coherence.worst_event)),
        blind=sitting.blind,
        money=_money(accounts, counted, found, seed) if accounts else None,
        at_stake=_at_stake(accounts, found),
    )


def calibration(rows: Stated, seed: int) -> Diagram:
    """The reliability diagram of what was stated."""
    rng = np.random.default_rng([seed, 1])
    return diagram(probability(rows.forecast), rows.outcome, rng, rows.market)


def _at_stake(accounts: Sequence[Traded], found: Sequence[Family]) -> tuple[AtStake, ...]:
    lots = [lot for account in accounts for lot in account.lots]
    held = {lot.market: End(lot.event, "open", lot.mid, 0) for lot in lots}
    return tuple(at_stake(lots, ties(found, held), sum(account.values[-1] for account in accounts)))


def _money(accounts: Sequence[Traded], rows: Stated, found: Sequence[Family], seed: int) -> Money:
    trades, ends = together(accounts)
    claims = _claims(rows)
    return Money(
        split=split(trades, ends, elsewhere(**claims)),
        luck=_luck(trades, ends, found, seed),
        proven=proven(**claims),
        drawdown=_deepest(accounts),
    )


def _claims(rows: Stated) -> dict[str, np.ndarray]:
    said = take(rows, rows.stated)
    return {
        "belief": probability(said.forecast),
        "mid": probability(said.mid),
        "outcome": said.outcome,
        "event": np.array([said.events[place] for place in said.event], dtype=np.str_),
        "market": said.market,
    }


def _luck(trades: list[Trade], ends: Mapping[str, End], found: Iterable[Family], seed: int) -> Luck:
    return luck(trades, ends, ties(found, ends), np.random.default_rng([seed, 2]))


def _deepest(accounts: Iterable[Traded]) -> Drawdown | None:
    falls = [fall for fall in (drawdown(account.values) for account in accounts) if fall is not None]
    return max(falls, key=lambda fall: fall.share, default=None)
