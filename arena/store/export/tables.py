"""All tables of facts, in the order in which they can be put back: what a row refers to comes before it."""

from arena.store.export.ledgers import ENTRIES, MARKS
from arena.store.export.sheet import Facts
from arena.store.export.starts import (
    COHORTS,
    ENTRANTS,
    EVIDENCES,
    GATHERINGS,
    ITEMS,
    PROMPTS,
    ROUNDS,
    SNAPSHOTS,
)
from arena.store.export.turns import (
    CALL_TEXTS,
    CALLS,
    FILLS,
    FORECASTS,
    LEVELS,
    REJECTIONS,
    TURNS,
)
from arena.store.export.worlds import (
    ARTICLES,
    MARKETS,
    PAGES,
    PRUNES,
    QUOTES,
    RESOLUTIONS,
    SET_ASIDES,
    SIGHTINGS,
    SYNCS,
)

FACTS: tuple[Facts, ...] = (
    PROMPTS,
    COHORTS,
    ENTRANTS,
    MARKETS,
    PAGES,
    QUOTES,
    RESOLUTIONS,
    SNAPSHOTS,
    ITEMS,
    ROUNDS,
    ARTICLES,
    GATHERINGS,
    EVIDENCES,
    CALLS,
    CALL_TEXTS,
    TURNS,
    FORECASTS,
    REJECTIONS,
    FILLS,
    LEVELS,
    ENTRIES,
    MARKS,
    SYNCS,
    SIGHTINGS,
    SET_ASIDES,
    PRUNES,
)

RESTS = frozenset(each.rest for each in FACTS)
PUT_BACK: tuple[Facts, ...] = tuple(each for each in FACTS if each.sheet.name not in RESTS)
"""Those that an import reads one after another; what has the rest of their rows is read beside them."""
