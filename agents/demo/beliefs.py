"""How the demo's models come to believe what they do: one weighs the evidence, the others less well."""

from collections.abc import Callable
from functools import lru_cache
from math import fsum  # unlike sum(), the same in every version of Python
from random import Random

from agents.demo.reading import Said, Source, Topic
from markets.odds import bell, log_odds

Belief = Callable[[Topic, Random], float]
"""The log-odds of YES that a model believes in."""

SPREAD: dict[Source, float] = {"a careful panel": 0.25, "an analyst": 0.7, "a rumour": 1.6}
"""How far off each source is, in log-odds, as its prompt hints and as the careful have learnt."""
DRIFT = 0.01
"""By how much the variance of a piece of evidence grows with each day of its age."""
PRIOR = 0.6
"""The weight of even odds."""
PRICE_SPREAD, PRICE_SHRINK = 0.7, 0.85


def sharp(topic: Topic, _rng: Random) -> float:
    """Every piece by its reliability and its age, the price as one more piece, and a little doubt."""
    pairs = [(_weight(said), _odds(said.percent * 10_000)) for said in topic.said]
    if topic.mid is not None:
        pairs.append((1 / (PRICE_SPREAD * PRICE_SPREAD), _odds(topic.mid) / PRICE_SHRINK))
    return fsum(weight * odds for weight, odds in pairs) / fsum([PRIOR, *(weight for weight, _ in pairs)])


def hasty(topic: Topic, _rng: Random) -> float:
    """The loudest of the last three pieces, whoever it is from, over a glance at the price."""
    loudest = max((_odds(said.percent * 10_000) for said in topic.said[-3:]), key=abs, default=0.0)
    return 0.6 * loudest + 0.4 * _price(topic)


def blind(topic: Topic, rng: Random) -> float:
    """No evidence: a feeling about the question, a hopeful bent, and the price."""
    return 0.7 * _price(topic) + 0.35 + 0.5 * bell(rng)


def clumsy(topic: Topic, rng: Random) -> float:
    """All pieces alike, however old and whoever they are from, together with the price."""
    odds = [_odds(said.percent * 10_000) for said in topic.said]
    mean = fsum(odds) / len(odds) if odds else 0.0
    return 0.6 * mean + 0.4 * _price(topic) + 0.2 * bell(rng)


def _weight(said: Said) -> float:
    spread = SPREAD[said.source]
    return 1 / (spread * spread + DRIFT * said.age)


def _price(topic: Topic) -> float:
    return 0.0 if topic.mid is None else _odds(topic.mid)


@lru_cache(maxsize=2048)
def _odds(p: int) -> float:
    return log_odds(p)
