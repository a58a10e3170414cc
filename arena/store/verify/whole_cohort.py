"""A cohort from its line-up to its last mark: ledgers first, for turns and marks stand on them."""

from collections.abc import Generator, Iterator

from arena.store.verify.books import Books, books_of, ledgers
from arena.store.verify.cohorts import check_cohort, check_end
from arena.store.verify.deals import deals
from arena.store.verify.depth import check_depth
from arena.store.verify.difference import Difference
from arena.store.verify.evidence import check_evidence
from arena.store.verify.facts import Facts
from arena.store.verify.fills import check_fills
from arena.store.verify.forecasts import check_forecasts
from arena.store.verify.ledgers import check_ledger
from arena.store.verify.marks import Marked, check_marks
from arena.store.verify.open_lots import check_open_lots
from arena.store.verify.parts import Row
from arena.store.verify.played import Played, played
from arena.store.verify.postings import check_postings
from arena.store.verify.profits import check_profits
from arena.store.verify.quotes import check_quotes
from arena.store.verify.rounds import check_done, check_round
from arena.store.verify.seals import parsed
from arena.store.verify.shown import Shown, Turn, shown, turns
from arena.store.verify.sizes import check_sizes
from arena.store.verify.turns import check_turn
from arena.store.verify.wishes import check_wishes

DECIDED = ("played", "malformed")


def check_whole_cohort(facts: Facts, row: Row) -> Iterator[Difference]:
    """All that is a cohort's own."""
    cohort = played(facts, row)
    yield from check_cohort(facts, cohort)
    books = yield from _books(facts, cohort)
    marked = yield from check_marks(facts, cohort, books)
    yield from check_end(facts, cohort, marked.last)
    yield from check_open_lots(facts, cohort, marked)
    for round in cohort.rounds:
        yield from _round(facts, shown(facts, cohort, round), books, marked)


def _books(facts: Facts, cohort: Played) -> Generator[Difference, None, dict[int, Books]]:
    """The ledgers, one after the other."""
    found = dict[int, Books]()
    for entrant, lines, fills in ledgers(facts, cohort):
        yield from check_ledger(facts, entrant, lines, cohort.frozen)
        yield from check_profits(facts, entrant, lines)
        yield from check_postings(facts, lines, fills)
        found[entrant["id"]] = books_of(cohort, lines)
    return found


def _round(facts: Facts, shown: Shown, books: dict[int, Books], marked: Marked) -> Iterator[Difference]:
    """A round, its turns one after the other, and its evidence."""
    yield from check_round(facts, shown)
    silent, verdicts = set(shown.cohort.entrants), set[str]()
    for turn in turns(facts, shown.round):
        yield from _turn(facts, shown, turn, books.get(turn.row["entrant_id"]))
        silent.discard(turn.row["entrant_id"])
        verdicts.add(turn.row["verdict"])
    yield from check_evidence(facts, shown, not verdicts.isdisjoint(DECIDED))
    unmarked = len(marked.unmarked(shown.round["snapshot_id"]))
    yield from check_done(facts, shown.round, len(silent), unmarked, "failed" in verdicts)


def _turn(facts: Facts, shown: Shown, turn: Turn, books: Books | None) -> Iterator[Difference]:
    wishes, together = parsed(turn.row["wishes"]), deals(shown, turn)
    yield from check_turn(facts, turn, wishes, shown.round["number"], books)
    yield from check_forecasts(facts, turn.forecasts, shown.by_market)
    yield from check_fills(facts, together)
    yield from check_depth(facts, together)
    yield from check_quotes(facts, together)
    yield from check_sizes(facts, together)
    yield from check_wishes(facts, together, wishes, books)
