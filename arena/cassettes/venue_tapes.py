"""Stands in for a venue's network: a recorder of answers, or a player."""

import json
from collections.abc import Sequence

from arena.cassettes.cassette import VenueExchange
from arena.cassettes.cleaning import Cleaner
from arena.cassettes.trimming import Trimmer
from markets.venue import VenueError

_FOLLOWING = frozenset({"cursor", "after_cursor", "before"})
"""Parameters by which a page that isn't the first is asked for."""


class VenueRecorder:
    """Keeps answers without secrets and shortened, and has the adapter read them so, as a replay will.

    Requests and answers are counted with their headers, of which none is kept.
    """

    def __init__(self, cleaner: Cleaner, trimmer: Trimmer):
        self.cleaner = cleaner
        self.trimmer = trimmer
        self.exchanges: dict[str, VenueExchange] = {}

    def get(self, question: str) -> bytes | None:
        """Return the answer to a question that was asked before."""
        exchange = self.exchanges.get(self._key(question))
        return None if exchange is None else answer_bytes(exchange)

    def put(self, question: str, body: bytes) -> bytes:
        """Record an answer, cleaned and shortened, and return it."""
        key = self._key(question)
        _method, _path, request_json = key.split(" ", 2)
        parameters = json.loads(request_json).get("params") or {}
        is_first_page = _FOLLOWING.isdisjoint(parameters)
        try:
            whole_answer = json.loads(body, parse_float=_finite_or_text)
            few_records = self.trimmer.answer(whole_answer, is_first_page)
            # Cleaned before its texts are cut: half a key would not be found.
            answer = self.trimmer.texts(self.cleaner.json(few_records))
        except RecursionError:
            self.put_error(question, "not_json")
            raise VenueError("not_json", "its answer is nested too deeply to be recorded") from None

        exchange = VenueExchange(question=key, answer=answer)
        self._keep(exchange)
        return answer_bytes(exchange)

    def put_error(self, question: str, code: str) -> None:
        """Record that a question had no answer, with only the code of the error."""
        self._keep(VenueExchange(question=self._key(question), error=code))

    def _keep(self, exchange: VenueExchange) -> None:
        self.exchanges[exchange.question] = exchange
        self.cleaner.counts["headers of requests and answers"] += 1

    def _key(self, question: str) -> str:
        """Return a question in recorded form: the method, the path and the parameters, cleaned."""
        method, path, request_json = question.split(" ", 2)
        cleaner = Cleaner(self.cleaner.secrets)
        parameters = json.dumps(cleaner.json(json.loads(request_json)), sort_keys=True)
        return f"{method} {cleaner.text(path)} {parameters}"


class VenuePlayer:
    """Plays the answers of a cassette; any other question is an error, and no network is used."""

    def __init__(self, exchanges: Sequence[VenueExchange]):
        self.exchanges = {exchange.question: exchange for exchange in exchanges}

    def get(self, question: str) -> bytes:
        """Return a recorded answer. Raise `VenueError` for a recorded error, and for what wasn't recorded."""
        exchange = self.exchanges.get(question)
        if exchange is None:
            raise VenueError("not_recorded", f"the cassette has no answer to {question[:200]}")
        return answer_bytes(exchange)

    def put(self, question: str, body: bytes) -> None:
        """Keep nothing: a player asks nothing."""

    def put_error(self, question: str, code: str) -> None:
        """Keep nothing."""


def _finite_or_text(text: str) -> float | str:
    """Return a number, or its text if it is too large for a float, since JSON has no infinity."""
    number = float(text)
    return text if number in (float("inf"), float("-inf")) else number


def answer_bytes(exchange: VenueExchange) -> bytes:
    """Return the bytes of a recorded answer; raise `VenueError` if it was an error."""
    if exchange.error:
        raise VenueError(exchange.error, f"recorded: {exchange.error}")
    return json.dumps(exchange.answer).encode()
