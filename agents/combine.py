"""One decision from several answers: of samples of one question, of parts of it, of its two stages."""

from collections.abc import Sequence
from dataclasses import replace

from agents.model import Decision, Forecast, Stage, Verdict
from agents.pooling import median
from markets.model import MarketId
from portfolio.model import Rejection

Key = tuple[MarketId, Stage]


def of_samples(samples: Sequence[Decision]) -> Decision:
    """The decision of all samples together, in their order.

    A forecast is the median of those that state one. Bets and sales are those of the one sample whose
    forecasts are closest to the medians, whole: a mix of several would be nobody's decision. A sample
    without a usable answer leaves a note; only where none has one is the turn malformed or failed.
    """
    if len(samples) == 1:
        return samples[0]
    note, rejections = _notes("sample", samples), _rejections(samples)
    played = [sample for sample in samples if sample.verdict == "played"]
    stated = _by_market(played or samples)
    medians = {key: median([forecast.probability for forecast in found]) for key, found in stated.items()}
    forecasts = tuple(_nearest(found, medians[key]) for key, found in stated.items())
    if not played:
        read = any(sample.verdict == "malformed" for sample in samples)
        verdict: Verdict = "malformed" if read else "failed"
        return Decision(forecasts, rejections=rejections, verdict=verdict, note=note)
    chosen = min(played, key=lambda sample: _distance(sample, medians))
    return replace(chosen, forecasts=forecasts, rejections=rejections, note=note)


def of_parts(parts: Sequence[Decision]) -> Decision:
    """The decision of all parts; one that can't be used leaves a note, and what it is about is skipped."""
    if len(parts) == 1:
        return parts[0]
    return Decision(
        forecasts=tuple(forecast for part in parts for forecast in part.forecasts),
        bets=tuple(bet for part in parts for bet in part.bets),
        sales=tuple(sale for part in parts for sale in part.sales),
        rejections=tuple(rejection for part in parts for rejection in part.rejections),
        verdict="played" if any(part.verdict == "played" for part in parts) else "malformed",
        note=_notes("part", parts),
    )


def of_stages(blind: Decision, final: Decision) -> Decision:
    """The decision of both stages. A blind answer that couldn't be used only leaves a note."""
    notes = [f"blind: {blind.note}"] if blind.note else []
    return replace(
        final,
        forecasts=blind.forecasts + final.forecasts,
        rejections=blind.rejections + final.rejections,
        note="; ".join([*notes, final.note] if final.note else notes),
    )


def _notes(noun: str, decisions: Sequence[Decision]) -> str:
    """What is to be said of some of them, each with its number."""
    said = [f"{noun} {n}: {each.verdict}: {each.note}" for n, each in enumerate(decisions, 1) if each.note]
    return "; ".join(said)


def _by_market(samples: Sequence[Decision]) -> dict[Key, list[Forecast]]:
    """Every sample's forecasts, by market and stage, in the order in which they are first met."""
    found: dict[Key, list[Forecast]] = {}
    for sample in samples:
        for forecast in sample.forecasts:
            found.setdefault((forecast.market_id, forecast.stage), []).append(forecast)
    return found


def _nearest(forecasts: Sequence[Forecast], middle: int) -> Forecast:
    """The median, with the reason of the first one that is closest to it."""
    nearest = min(forecasts, key=lambda forecast: abs(forecast.probability - middle))
    return replace(nearest, probability=middle)


def _distance(sample: Decision, medians: dict[Key, int]) -> tuple[int, int]:
    """How far a sample's final forecasts are from the medians; one that states fewer comes after."""
    final = [forecast for forecast in sample.forecasts if forecast.stage == "final"]
    apart = sum(abs(forecast.probability - medians[forecast.market_id, "final"]) for forecast in final)
    return -len(final), apart


def _rejections(samples: Sequence[Decision]) -> tuple[Rejection, ...]:
    return tuple(
        replace(rejection, message=f"sample {n}: {rejection.message}")
        for n, sample in enumerate(samples, 1)
        for rejection in sample.rejections
    )
