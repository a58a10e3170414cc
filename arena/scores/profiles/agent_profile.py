"""An agent in depth: how calibrated, lucky and coherent it is, and where its profit came from."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from arena.record.model.columns import ForecastColumns, answered_rows, evidence_rows, rows_of_agent, take_rows
from arena.record.model.columns import stated_belief as probability
from arena.record.model.trades import MarketEnd
from arena.record.schema.database import Connection
from arena.scores.comparisons import coverages, gains, is_covered
from arena.scores.positions import AccountTrades, event_ties, merge_trades
from arena.scores.profiles.coherence import CoherenceTrade, blind_of, coherence_of, coherence_trades
from arena.scores.profiles.inputs import CacheInputs, read_inputs
from arena.scores.rules.comparisons.gain import Gain
from arena.scores.rules.money.drawdown import Drawdown, drawdown
from arena.scores.rules.money.edge import ProvenEdge, edge_elsewhere, proven_edge
from arena.scores.rules.money.event_exposure import EventExposure, event_exposure
from arena.scores.rules.money.luck import Luck, luck
from arena.scores.rules.money.profit_split import ProfitSplit, split_profit
from arena.scores.rules.reliability.diagram import ReliabilityDiagram, diagram
from arena.scores.rules.statements.blind_forecasts import BlindEffect
from arena.scores.rules.statements.coherence import CoherenceScore
from markets.ladders import MarketFamily


@dataclass(frozen=True, slots=True)
class ProfitOrigin:
    """Where the profit came from, how much of it luck may be, and the deepest fall in any cohort.

    `proven` is the share of the claimed edge that came true; the split counts the edge by that share.
    """

    split: ProfitSplit
    luck: Luck
    proven: ProvenEdge
    drawdown: Drawdown | None


@dataclass(frozen=True, slots=True)
class AgentProfile:
    """The profile of an agent over all cohorts, or in one. `gain` is None if it is not ranked.

    `bargains` are the trades behind the worst of the sure profits that its statements offer, and `at_stake`
    what each event can still do to its open accounts, the worst first.
    """

    agent: str
    gain: Gain | None
    calibration: ReliabilityDiagram
    coherence: CoherenceScore
    bargains: tuple[CoherenceTrade, ...]
    blind: BlindEffect
    money: ProfitOrigin | None
    at_stake: tuple[EventExposure, ...]


def compute_agent_profile(connection: Connection, agent: str) -> AgentProfile:
    """Return an agent's profile as of now."""
    inputs = read_inputs(connection, agent)
    blind = blind_of(connection, agent)
    return build_profile(inputs, agent, blind)


def build_profile(inputs: CacheInputs, agent: str, blind: BlindEffect) -> AgentProfile:
    """Return the profile from inputs that were read before; the same inputs give the same digits."""
    rows = rows_of_agent(inputs.stated, agent)
    scored_rows = evidence_rows(rows)
    stated_rows = answered_rows(rows)
    accounts = inputs.traded.get(agent, ())
    families = inputs.families

    gain = None
    coverage = coverages(rows).get(agent)
    if is_covered(coverage, inputs.min_coverage):
        gain = next((gain for gain in gains(scored_rows) if gain.agent == agent), None)

    lots = list(chain.from_iterable(account.lots for account in accounts))
    held_ends = {lot.market: MarketEnd(lot.event, "open", lot.mid, 0) for lot in lots}
    ties = event_ties(families, held_ends)
    equity = sum(account.values[-1] for account in accounts)
    money = None
    if accounts:
        money = _profit_origin(accounts, scored_rows, families)

    coherence = coherence_of(rows, agent, families)
    bargains = coherence_trades(rows, agent, families, coherence.worst_event)
    stated_probability = probability(stated_rows.forecast)
    rng = np.random.default_rng([0, 1])
    calibration = diagram(
        stated_probability, stated_rows.outcome, rng, stated_rows.market, event=stated_rows.event
    )
    return AgentProfile(
        agent=agent,
        gain=gain,
        calibration=calibration,
        coherence=coherence,
        bargains=tuple(bargains),
        blind=blind,
        money=money,
        at_stake=tuple(event_exposure(lots, ties, equity)),
    )


def _profit_origin(
    accounts: Sequence[AccountTrades], rows: ForecastColumns, families: Sequence[MarketFamily]
) -> ProfitOrigin:
    """Return where the profit of an agent's accounts came from."""
    trades, ends = merge_trades(accounts)
    stated = take_rows(rows, rows.stated)
    events = [stated.events[place] for place in stated.event.tolist()]
    claims: dict[str, np.ndarray] = {
        "belief": probability(stated.forecast),
        "mid": probability(stated.mid),
        "outcome": stated.outcome,
        "event": np.array(events, dtype=np.str_),
        "market": stated.market,
    }

    deepest_fall = None
    for account in accounts:
        fall = drawdown(account.values)
        if fall is not None and (deepest_fall is None or fall.share > deepest_fall.share):
            deepest_fall = fall

    edges = edge_elsewhere(**claims)
    ties = event_ties(families, ends)
    rng = np.random.default_rng([0, 2])
    return ProfitOrigin(
        split=split_profit(trades, ends, edges),
        luck=luck(trades, ends, ties, rng),
        proven=proven_edge(**claims),
        drawdown=deepest_fall,
    )
