"""Accounts as far as their ledgers are known, so that only news is read and folded."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from portfolio.ledger import fold
from portfolio.model import Entry, Holdings

BEGINNING = datetime.min.replace(tzinfo=UTC)


@dataclass(slots=True)
class Folded:
    """An account, the time of the last entry folded into it, and the entries that come next.

    These are `sealed` if this process has written them: their hashes are its own.
    """

    account: Holdings = field(default_factory=Holdings)
    newest: datetime = BEGINNING
    news: list[Entry] = field(default_factory=list)
    sealed: bool = True

    @property
    def number(self) -> int:
        """That of the last entry known."""
        return self.news[-1].number if self.news else self.account.number

    def add(self, entries: Sequence[Entry]) -> None:
        """More entries; those that leave a gap are not added, and will be read."""
        if entries and entries[0].number == self.number + 1:
            self.news.extend(entries)

    def up_to_date(self) -> Holdings:
        """The account with all that is known of its ledger."""
        if self.news:
            self.account = fold(self.news, self.account, sealed=self.sealed)
            self.newest, self.news, self.sealed = self.news[-1].at, [], True
        return self.account


@dataclass(frozen=True, slots=True)
class Accounts:
    """What is known of every entrant's account, by its id."""

    known: dict[int, Folded] = field(default_factory=dict)

    def wrote(self, ledgers: Mapping[int, Sequence[Entry]]) -> None:
        """Entries that are now in the record."""
        for entrant_id, entries in ledgers.items():
            self.known.setdefault(entrant_id, Folded()).add(entries)

    def behind(self, heads: Mapping[int, int]) -> dict[int, int]:
        """Which of these entrants, given with their last numbers, are not known whole, and up to where."""
        found = {id: self.known.setdefault(id, Folded()) for id in heads}
        return {id: found[id].account.number for id, last in heads.items() if found[id].number != last}

    def read(self, ledgers: Mapping[int, Sequence[Entry]]) -> None:
        """Entries as they are in the record, in place of what is not folded yet."""
        for entrant_id, entries in ledgers.items():
            known = self.known[entrant_id]
            known.news, known.sealed = list(entries), False

    def holdings(self, ids: Iterable[int]) -> tuple[dict[int, Holdings], datetime]:
        """These accounts, and the time of the newest entry in them."""
        found = {id: self.known[id].up_to_date() for id in ids}
        return found, max((self.known[id].newest for id in found), default=BEGINNING)
