"""How our rules are played on the bets, forecasts and accounts of a file of cases."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from arena.record.model.columns import confidence, implied_belief
from arena.scores.rules import brier, returns, skill_ratio
from arena.scores.rules._columns import Floats, distinct_forecasts
from arena.scores.rules.autocast import choice, combined, numeric
from arena.scores.rules.reliability import corp, murphy
from markets.millionths import ONE, millionths
from portfolio.execute import execute
from portfolio.ledger import fold, post, settle
from portfolio.model import Mark
from portfolio.rules import SEED
from tests.builders import NOW, RAIN, a_bet, a_price, a_resolution, a_snapshot, an_account

Found = dict[str, Any]


def brier_of_forecast(given: Found) -> Found:
    """Return a Brier score."""
    return {"brier": brier.score([given["p_yes"]], [given["outcome"]])}


def confidence_of_bet(given: Found) -> Found:
    """Return the confidence that a stake implies, and the largest stake."""
    largest = millionths(given["max_fraction"])
    said = confidence(given["bet_amount"], given["cash_balance"], largest)
    return {"confidence": float(said), "max_bet": given["cash_balance"] * largest / ONE}


def brier_of_bet(given: Found) -> Found:
    """Return a bet read as a forecast, and its Brier score."""
    forecast = float(implied_belief(given["side"] == "YES", given["implied_confidence"]))
    return {"f_yes": forecast, "brier": brier.score([forecast], [given["outcome_yes"]])}


def skill(given: Found) -> Found:
    """Return a Brier skill score."""
    return {"bss": skill_ratio.ratio(given["brier"], given["reference"])}


def bet_to_the_end(given: Found) -> Found:
    """Return a bet bought and settled by the engine."""
    account = an_account()
    side = given["side"]
    shown = a_snapshot(a_price(str(given["price"])))
    fills, _ = execute([a_bet(str(given["bet"]), side)], [], account, shown, SEED)
    account = fold(post(fills, account, NOW, "bet"), account)
    end = a_resolution(str(given["outcome_yes"]))
    (paid,) = settle(account, [end], NOW)
    shares = account.lots[RAIN, side].shares
    return {"shares": shares / ONE, "settlement": paid.cash / ONE, "realized_pnl": paid.realised / ONE}


def account_total(given: Found) -> Found:
    """Return what an account is worth, and what it earned."""
    cash, value, bankroll = (millionths(given[name]) for name in ("cash", "positions", "initial"))
    total = Mark(NOW, cash, value, value, 0, 0, 0, 0).total
    pnl = total - bankroll
    return {"total": total / ONE, "pnl": pnl / ONE, "return_pct": returns.score([pnl], [bankroll])}


def decomposed(given: Found) -> Found:
    """Decompose a Brier score, by Murphy and by CORP."""
    forecasts = given["p"]
    outcomes = given["o"]
    parts = murphy.decompose(forecasts, outcomes)
    best = corp.decompose(forecasts, outcomes)
    return {
        "brier": brier.score(forecasts, outcomes),
        "reliability": parts.reliability,
        "resolution": parts.resolution,
        "uncertainty": parts.uncertainty,
        "corp_recalibrated": recalibrate(forecasts, outcomes).tolist(),
        "corp_miscalibration": best.miscalibration,
        "corp_discrimination": best.discrimination,
        "corp_uncertainty": best.uncertainty,
    }


def recalibrate(forecast: ArrayLike, outcome: ArrayLike, market: ArrayLike | None = None) -> Floats:
    """Return the curve of CORP at each resolved row."""
    rows = distinct_forecasts(forecast, outcome, market)
    fitted = corp.isotonic_curve(rows.came, rows.weight)
    found: Floats = fitted[np.searchsorted(rows.value, np.asarray(forecast))]
    return found


def autocast_choice(given: Found) -> Found:
    """Return Autocast's score of a choice."""
    return {"score": float(choice.each([given["p"]], [given["answer_index"]])[0])}


def autocast_number(given: Found) -> Found:
    """Return Autocast's score of a number."""
    return {"score": float(numeric.each([given["p"]], [given["answer"]])[0])}


def autocast_sum(given: Found) -> Found:
    """Return Autocast's combined metric, in percent."""
    means = (given[name] / 100 for name in ("tf_mean_pct", "mc_mean_pct", "num_mean_pct"))
    return {"combined_pct": 100 * combined.score(*means)}
