"""What agents were asked, said, wanted and got, turn by turn.

The money: every line of every ledger, and what holdings were worth.
"""

from typing import Any

from arena.exports.table import (
    AGENT,
    COHORT_NUMBER,
    ITS_ENTRANT,
    ITS_FILL,
    ITS_ROUND,
    ITS_SNAPSHOT,
    ITS_TURN,
    PLACE,
    PLACE_ORDER,
    PLACES,
    fact_table,
    field,
    fields_of,
    in_cohorts,
    of_entrant,
    of_place,
    of_turn,
)
from arena.record.schema.cohort import CohortRow, EntrantRow
from arena.record.schema.ledger import EntryRow, MarkRow
from arena.record.schema.turn import CallRow, FillLevelRow, FillRow, ForecastRow, RejectionRow, TurnRow
from arena.record.schema.typed import clause

WHOSE: dict[str, Any] = {"parents": (ITS_ROUND, ITS_ENTRANT), "some": in_cohorts}
PART: dict[str, Any] = {"parents": (ITS_TURN,), "some": in_cohorts}
ATTEMPT = ("stage", "sample", "attempt")
TEXTS = ("messages", "reply", "error_message")
CALL_ORDER = (*PLACE_ORDER, CallRow.id)

CALLS = fact_table(
    "calls",
    CallRow,
    (*PLACE, *(each for each in fields_of(CallRow) if each.column.name not in TEXTS)),
    [*PLACES, *ATTEMPT],
    path=of_place(CallRow),
    order=CALL_ORDER,
    rest="call_texts",
    **WHOSE,
)
CALL_TEXTS = fact_table(
    "call_texts",
    CallRow,
    (*PLACE, *fields_of(CallRow, *ATTEMPT, *TEXTS)),
    [*PLACES, *ATTEMPT],
    meaning="What was asked and answered, word for word: for each row of `calls` one, in the same order.",
    path=of_place(CallRow),
    order=CALL_ORDER,
    bulk=50,
    wordy=True,
    **WHOSE,
)
TURNS = fact_table(
    "turns",
    TurnRow,
    (*PLACE, *fields_of(TurnRow)),
    [*PLACES],
    path=of_place(TurnRow),
    order=PLACE_ORDER,
    **WHOSE,
)
FORECASTS = fact_table(
    "forecasts",
    ForecastRow,
    (*PLACE, *fields_of(ForecastRow)),
    [*PLACES, "market_id", "stage"],
    path=of_turn(ForecastRow),
    order=(*PLACE_ORDER, ForecastRow.market_id, ForecastRow.stage),
    **PART,
)
REJECTIONS = fact_table(
    "rejections",
    RejectionRow,
    (*PLACE, *fields_of(RejectionRow)),
    [*PLACES, "position"],
    path=of_turn(RejectionRow),
    order=(*PLACE_ORDER, RejectionRow.position),
    **PART,
)
FILLS = fact_table(
    "fills",
    FillRow,
    (*PLACE, *fields_of(FillRow, position="fill")),
    [*PLACES, "fill"],
    path=of_turn(FillRow),
    order=(*PLACE_ORDER, FillRow.position),
    **PART,
)
LEVELS = fact_table(
    "fill_levels",
    FillLevelRow,
    (
        *PLACE,
        field(FillRow.position, "the fill's place in its turn", "fill"),
        *fields_of(FillLevelRow, position="level"),
    ),
    [*PLACES, "fill", "level"],
    path=of_turn(FillRow).join(FillLevelRow, clause(FillLevelRow.fill_id == FillRow.id)),
    order=(*PLACE_ORDER, FillRow.position, FillLevelRow.position),
    parents=(ITS_FILL,),
    some=in_cohorts,
)
ENTRIES = fact_table(
    "entries",
    EntryRow,
    (COHORT_NUMBER, AGENT, *fields_of(EntryRow, number="entry")),
    ["cohort", "agent", "entry"],
    path=of_entrant(EntryRow),
    order=(CohortRow.number, EntrantRow.position, EntryRow.number),
    parents=(ITS_ENTRANT,),
    some=in_cohorts,
)
MARKS = fact_table(
    "marks",
    MarkRow,
    (COHORT_NUMBER, AGENT, *fields_of(MarkRow)),
    ["cohort", "agent", "at"],
    path=of_entrant(MarkRow),
    order=(CohortRow.number, EntrantRow.position, MarkRow.at),
    parents=(ITS_ENTRANT, ITS_SNAPSHOT),
    some=in_cohorts,
)
