"""What came of a duel, in the words that the command line and the pages share."""

from arena.scoring.comparing.duel import Duel
from arena.wording import counted

EVEN = "Nothing tells them apart: they always said the same."


def in_words(found: Duel, needed: int | None) -> list[str]:
    """On what it rests, how large the gap is, and what that says: a sentence each."""
    if found.gap is None:
        return [f"Nothing can be said of {found.a} and {found.b}: {found.reason}."]
    if found.gap == 0:
        return [about(found), EVEN]
    return [about(found), gap(found), verdict(found, needed)]


def about(found: Duel) -> str:
    """On how much of what a duel rests."""
    on_rows = counted(found.rows, "common forecast")
    how = on_rows if found.by == "rows" else "what each gains on the market, on its own rows"
    on = f"{counted(found.markets, 'market')}, {counted(found.events, 'event')}"
    return f"{found.a} against {found.b}, by {how}: {on} ({found.effective:.1f} effective)."


def gap(found: Duel) -> str:
    """Who was closer and by how much, and how far chance may account for it."""
    size = found.gap or 0.0
    said = f"{found.a if size > 0 else found.b} was closer by {abs(size):.4f} Brier points"
    if found.p is None:
        return f"{said}."
    span = "" if found.low is None else f", gap from {found.low:+.4f} to {found.high:+.4f}"
    return f"{said} ({chance(found.p)}{span})."


def among_all(found: Duel) -> str:
    """What the p-value of the one pair that was asked for becomes as one of all duels there are."""
    if found.adjusted is None or not found.gap:
        return ""
    winner = found.winner()
    held = "chance alone may explain it" if winner is None else f"{winner} is still the better one"
    return f"As one of all duels of the record, by Holm: {chance(found.adjusted)}, {held}."


def chance(p: float) -> str:
    """A p-value, which is never 0.

    >>> chance(0.0312), chance(0.0002)
    ('p = 0.031', 'p < 0.001')
    """
    return f"p = {p:.3f}" if p >= 0.0005 else "p < 0.001"


def verdict(found: Duel, needed: int | None) -> str:
    """Whether that is more than chance."""
    if found.reason:
        return f"That says nothing yet: {found.reason}."
    winner = found.winner()
    if winner is not None:
        return f"{winner} is the better one, by more than chance would explain."
    return "Chance alone may explain it." + (f" About {needed:,} more events would tell." if needed else "")
