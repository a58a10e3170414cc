"""The verdicts, and the leading sentence: who leads, and whether that means anything yet."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from arena.scores.rules.comparisons.copies import PRICE, Copies
from arena.scores.rules.comparisons.duel import Duel
from arena.scores.rules.comparisons.evidence import Evidence
from arena.scores.rules.comparisons.gain import Gain
from arena.scores.rules.comparisons.lead import LeadStatement, Verdict, lead, verdicts

NOBODY = Copies({})
HIGH, LOW = 500.0, 6.4


def gain(agent: str, skill: float, weeks: int = 20, by_week: float = 0.001) -> Gain:
    return Gain(agent, 90, 90, 60, 50.0, skill, 0.01, skill - 0.02, skill + 0.02, 0.01, None, weeks, by_week)


def few(agent: str, effective: float = 11.96) -> Gain:
    reason = "8 events so far; an interval takes about 12 more" if effective else "nothing resolved"
    skill = 0.3 if effective else None
    return Gain(agent, 9, 9, 8, effective, skill, None, None, None, None, reason)


def duel(a: str, b: str, gap: float, p: float | None = 0.01) -> Duel:
    return Duel(a, b, 90, 90, 60, 50.0, gap, 0.01, p, None)


def judged(
    gains: Sequence[Gain], capital: Mapping[str, float] | float = HIGH, copies: Copies = NOBODY
) -> dict[str, Verdict]:
    found = {
        one.agent: Evidence(
            np.array([7.0]), np.array([capital if isinstance(capital, float) else capital[one.agent]])
        )
        for one in gains
    }
    return verdicts(gains, found, copies, 160.0)


def led(
    gains: Sequence[Gain],
    duels: Collection[Duel] = (),
    capital: Mapping[str, float] | float = HIGH,
    copies: Copies = NOBODY,
    unranked: int = 0,
) -> LeadStatement:
    by_pair = {frozenset((one.a, one.b)): one for one in duels}
    return lead(
        gains,
        judged(gains, capital, copies),
        lambda a, b: by_pair.get(frozenset((a, b))),
        copies,
        160.0,
        unranked,
    )


@pytest.mark.parametrize(
    ("one", "capital", "name"),
    [
        (gain("ann", 0.03), HIGH, "proven"),
        (gain("ann", 0.03), 159.9, "ahead"),
        (gain("ann", 0.03, by_week=-0.001), HIGH, "ahead"),
        (replace(gain("ann", 0.03, weeks=7), low_by_week=None), HIGH, "ahead"),
        (gain("ann", 0.015), HIGH, "close"),
        (gain("ann", -0.03), HIGH, "behind"),
        (few("ann"), HIGH, "none"),
    ],
)
def test_each_verdict_has_its_conditions(one: Gain, capital: float, name: str) -> None:
    assert judged([one], capital)["ann"].name == name


def test_evidence_that_was_reached_once_stays_reached() -> None:
    curve = Evidence(np.array([1.0, 2.0, 3.0]), np.array([3.0, 170.0, 90.0]))
    found = verdicts([gain("ann", 0.03)], {"ann": curve}, NOBODY, 160.0)["ann"]
    assert found == Verdict("proven", 90.0, 2.0, None)


def test_who_copies_the_price_has_no_verdict_and_leads_nobody() -> None:
    copies = Copies({"ann": PRICE})
    assert judged([gain("ann", 0.03)], HIGH, copies)["ann"].name == "none"
    found = led([gain("ann", 0.03)], copies=copies)
    assert found.sentence == "Every ranked agent copies the price, so nobody leads. ann copies the price."


CI = "(95% CI 0.0100 to 0.0500, 60 events)"
SENTENCES = {
    "nothing is resolved": (led([]), "Nothing is resolved yet, so nobody leads."),
    "nothing of theirs is resolved": (led([few("ann", 0.0)]), "Nothing is resolved yet, so nobody leads."),
    "nobody is ranked": (led([], unranked=2), "Nobody leads. Two agents answered too little to be ranked."),
    "too little is resolved": (
        led([few("ann"), few("bob", 3.0)]),
        "Too early to rank: 8 events so far; an interval takes about 12 more.",
    ),
    "one leads": (
        led([gain("ann", 0.03), gain("bob", 0.01)], [duel("bob", "ann", -0.02)]),
        f"ann leads, and it is proven: it beats the market by 0.0300 {CI} and the other agent.",
    ),
    "one leads alone": (
        led([gain("ann", 0.03)]),
        f"ann leads, and it is proven: it beats the market by 0.0300 {CI}.",
    ),
    "one is proven, and another not beaten": (
        led([gain("ann", 0.03), gain("bob", 0.015)], [duel("ann", "bob", 0.015, 0.2)]),
        (
            f"ann is proven to beat the market, by 0.0300 {CI}. Whether it is better than bob is too "
            "close to call. About 290 more events would tell."
        ),
    ),
    "several are proven": (
        led([gain("ann", 0.03), gain("bob", 0.029)], [duel("ann", "bob", 0.001, 0.9)]),
        (
            f"Two agents are proven to beat the market. Which of them is best is too close to call: "
            f"ann leads by 0.0300 {CI}. How many more events it would take cannot be told."
        ),
    ),
    "one is ahead": (
        led([gain("ann", 0.03)], capital=LOW),
        (
            f"ann is ahead of the market by 0.0300 {CI}, not yet proven: its evidence is ×6.4, "
            "and proof takes ×160."
        ),
    ),
    "one is ahead too early": (
        led([replace(gain("ann", 0.03, weeks=5), low_by_week=None)]),
        f"ann is ahead of the market by 0.0300 {CI}, not yet proven: too early, 5 of 8 weeks.",
    ),
    "one is ahead, but not by weeks": (
        led([gain("ann", 0.03, by_week=-0.01)]),
        (
            f"ann is ahead of the market by 0.0300 {CI}, not yet proven: its evidence is enough, "
            "but compared week by week its lead may be chance."
        ),
    ),
    "several are ahead": (
        led([gain("ann", 0.03), gain("bob", 0.025)], capital=LOW),
        (
            f"Two agents are ahead of the market, none of them proven yet: ann leads by 0.0300 {CI}; "
            "its evidence is ×6.4, and proof takes ×160."
        ),
    ),
    "one may be ahead": (
        led([gain("ann", 0.015)]),
        (
            "ann is too close to the market to call: +0.0150 (95% CI -0.0050 to +0.0350, 60 events). "
            "About 230 more events would tell."
        ),
    ),
    "several may be": (
        led([gain("ann", -0.001), gain("bob", -0.002)]),
        (
            "Nobody is ahead of the market yet: ann, the first, is too close to call at -0.0010 (95% "
            "CI -0.0210 to +0.0190, 60 events)."
        ),
    ),
    "all are behind": (
        led([gain("ann", -0.03), gain("bob", -0.2), gain("cho", 0.0)], copies=Copies({"cho": PRICE})),
        f"No agent beats the market: ann, the closest, is behind by 0.0300 {CI}. cho copies the price.",
    ),
    "the only one is behind": (
        led([gain("ann", -0.03)]),
        f"No agent beats the market: ann is behind by 0.0300 {CI}.",
    ),
    "many copies are counted": (
        led([gain(name, 0.0) for name in "abcde"], copies=Copies(dict.fromkeys("abcde", PRICE))),
        "Every ranked agent copies the price, so nobody leads. Five agents copy others.",
    ),
    "the closest has the highest skill, whoever is first": (
        led([replace(gain("ann", -0.05), low=-0.055, high=-0.045), replace(gain("bob", -0.04), low=-0.07)]),
        (
            "No agent beats the market: bob, the closest, is behind by 0.0400 (95% CI 0.0200 to 0.0700, "
            "60 events)."
        ),
    ),
    "copies, few events and agents not ranked are counted": (
        led([gain("ann", 0.03), gain("bob", 0.03), few("cho")], copies=Copies({"bob": "ann"}), unranked=1),
        (
            f"ann leads, and it is proven: it beats the market by 0.0300 {CI}. bob copies ann. One "
            "agent has too few events to judge. One agent answered too little to be ranked."
        ),
    ),
}


@pytest.mark.parametrize(("found", "sentence"), SENTENCES.values(), ids=SENTENCES)
def test_the_sentence(found: LeadStatement, sentence: str) -> None:
    assert found.sentence == sentence
    assert (found.leader is not None) == (" leads, and it is proven" in sentence)


def test_who_beats_the_others_leads_though_another_has_the_surer_gain() -> None:
    gains = [gain("ann", 0.03), gain("bob", 0.025)]
    assert led(gains, [duel("ann", "bob", -0.03)]).leader == "bob"


def test_who_is_ahead_of_all_but_not_proven_does_not_lead() -> None:
    gains = [gain("ann", 0.03), gain("bob", 0.01)]
    found = led(gains, [duel("ann", "bob", 0.02)], {"ann": LOW, "bob": HIGH})
    assert (found.leader, found.bar) == (None, 160.0)


def test_the_order_of_duels_changes_nothing() -> None:
    gains = [gain("ann", 0.03), gain("bob", 0.025), gain("cho", 0.01)]
    duels = [duel("ann", "bob", 0.01, 0.3), duel("cho", "ann", -0.02), duel("bob", "cho", 0.01, 0.3)]
    turned = [replace(one, a=one.b, b=one.a, gap=-(one.gap or 0)) for one in duels[::-1]]
    assert led(gains, duels) == led(gains, turned)
