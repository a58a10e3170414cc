"""What somebody with the file in hand may write into a record, and how it is tried again once found."""

from arena.verify.differences import Difference
from tests.records.chain import rewrite_heads
from tests.records.tampered import TamperedRecord
from tests.rows import columns_of

KEYS = ("id", "round_id", "entrant_id", "stage", "sample", "attempt", "hash")
SEALS = ("hash", "previous", "prompt_hash")
CHAIN = ("head", "row")
"""What is wrong with a fact that the chain has otherwise."""


def of(agent: str, table: str = "turn") -> str:
    """Return the condition for an agent's rows."""
    ids = f"(SELECT id FROM entrant WHERE name = '{agent}')"
    own = f"entrant_id IN {ids}"
    return (
        own if table in ("turn", "call", "entry", "mark") else f"turn_id IN (SELECT id FROM turn WHERE {own})"
    )


LAST_ROUND = "(SELECT max(id) FROM round)"
OF_LAST = f"(SELECT id FROM turn WHERE round_id = {LAST_ROUND})"
LAST_LOOK = f"(SELECT snapshot_id FROM round WHERE id = {LAST_ROUND})"


def gone(round_id: str, look: str, entries: str) -> tuple[str, ...]:
    """Delete a round with everything that belongs to it."""
    turns = f"(SELECT id FROM turn WHERE round_id = {round_id})"
    return (
        f"DELETE FROM fill_level WHERE fill_id IN (SELECT id FROM fill WHERE turn_id IN {turns})",
        *(f"DELETE FROM {table} WHERE turn_id IN {turns}" for table in ("fill", "forecast", "rejection")),
        *(f"DELETE FROM {table} WHERE round_id = {round_id}" for table in ("claim", "call", "turn")),
        f"DELETE FROM entry WHERE {entries}",
        *(f"DELETE FROM {table} WHERE snapshot_id = {look}" for table in ("mark", "snapshot_item")),
        f"CREATE TEMP TABLE look AS SELECT {look} AS id",
        f"DELETE FROM round WHERE id = {round_id}",
        "DELETE FROM snapshot WHERE id IN (SELECT id FROM look)",
    )


def cohort_gone(number: int) -> tuple[str, ...]:
    """Delete a cohort with everything that belongs to it."""
    entrants = f"(SELECT id FROM entrant WHERE cohort_id = {number})"
    rounds = f"(SELECT id FROM round WHERE cohort_id = {number})"
    turns = f"(SELECT id FROM turn WHERE round_id IN {rounds})"
    looks = f"(SELECT id FROM snapshot WHERE cohort_id = {number})"
    return (
        f"DELETE FROM fill_level WHERE fill_id IN (SELECT id FROM fill WHERE turn_id IN {turns})",
        *(f"DELETE FROM {table} WHERE turn_id IN {turns}" for table in ("fill", "forecast", "rejection")),
        *(f"DELETE FROM {table} WHERE round_id IN {rounds}" for table in ("claim", "call", "turn")),
        *(f"DELETE FROM {table} WHERE entrant_id IN {entrants}" for table in ("entry", "mark")),
        f"DELETE FROM snapshot_item WHERE snapshot_id IN {looks}",
        *(f"DELETE FROM {table} WHERE cohort_id = {number}" for table in ("round", "snapshot", "entrant")),
        f"DELETE FROM cohort WHERE id = {number}",
    )


def one(table: str, change: str, where: str = "1") -> tuple[str]:
    """Change the first row of a table for which a condition holds."""
    return (f"UPDATE {table} SET {change} WHERE rowid = (SELECT min(rowid) FROM {table} WHERE {where})",)


def drop(table: str, where: str = "1", which: str = "max") -> tuple[str]:
    """Delete the last row of a table for which a condition holds."""
    return (f"DELETE FROM {table} WHERE rowid = (SELECT {which}(rowid) FROM {table} WHERE {where})",)


LATER = "'2026-03-08T00:00:00.000000Z'"
SETTLED = "(SELECT market_id FROM entry WHERE kind = 'settle')"
HELD = "(SELECT market_id FROM entry)"
COLUMNS = [name for name in columns_of("call") if name not in KEYS]
ATTACKS: dict[str, tuple[str, ...]] = {
    "forecasts as it ended": (f"UPDATE forecast SET probability = 970000 WHERE {of('sharp', 'forecast')}",),
    "one forecast by a millionth": one("forecast", "probability = probability + 1", of("parts", "forecast")),
    "a blind forecast": one("forecast", "probability = 1", "stage = 'blind'"),
    "the reason of a forecast": one("forecast", "reason = 'I knew'", of("sharp", "forecast")),
    "a forecast deleted": drop("forecast", of("sharp", "forecast")),
    "all forecasts of an agent deleted": (f"DELETE FROM forecast WHERE {of('sharp', 'forecast')}",),
    "a forecast added": (
        (
            "INSERT INTO forecast SELECT turn_id, market_id, 'blind', 990000, '', '' FROM forecast "
            f"WHERE {of('sharp', 'forecast')} LIMIT 1"
        ),
    ),
    "forecasts of two agents swapped": (
        f"UPDATE forecast SET probability = 1000000 - probability WHERE {of('careful', 'forecast')}",
    ),
    "the market's forecast": one("forecast", "probability = 7", of("market", "forecast")),
    "the dice's forecast": one("forecast", "probability = 7", of("random", "forecast")),
    "the crowd's forecast": one("forecast", "probability = 7", of("crowd", "forecast")),
    "a follower's forecast": one("forecast", "probability = 7", of("kelly", "forecast")),
    "an answer rewritten": (f"UPDATE call SET reply = replace(reply, '0.', '0.9') WHERE {of('sharp')}",),
    "an answer cut off": one("call", "finish = 'length'", of("parts")),
    "an answer emptied": one("call", "reply = ''", of("sharp")),
    "an answer that never came": one(
        "call", "reply = NULL, error_code = 'other', error_message = 'x'", of("sharp")
    ),
    "answers of two samples swapped": (
        f"UPDATE call SET sample = -sample WHERE {of('careful')} AND stage = 'final'",
        f"UPDATE call SET sample = 3 + sample WHERE {of('careful')} AND stage = 'final'",
    ),
    "answers of two stages swapped": (
        f"UPDATE call SET stage = 'other' WHERE stage = 'blind' AND {of('careful')}",
    ),
    "calls of two agents swapped": (
        f"UPDATE call SET entrant_id = -entrant_id WHERE {of('sharp')}",
        (
            "UPDATE call SET entrant_id = (SELECT e.id FROM entrant e JOIN entrant o "
            "ON o.id = -call.entrant_id WHERE e.cohort_id = o.cohort_id AND e.name = 'market') "
            "WHERE entrant_id < 0"
        ),
    ),
    "an answer moved to another round": one("call", "attempt = 9, round_id = round_id + 1", of("sharp")),
    "an end under an id that is passed over": (
        "UPDATE resolution SET id = -id, source = 'somebody' WHERE id = 1",
    ),
    "the last call deleted": drop("call"),
    "the first call deleted": drop("call", of("careful"), "min"),
    "the last call of parts deleted": drop("call", of("parts")),
    "a sample deleted": (f"DELETE FROM call WHERE sample = 2 AND {of('careful')}",),
    "all calls of an agent deleted": (f"DELETE FROM call WHERE {of('sharp')}",),
    "all calls deleted": ("DELETE FROM call",),
    "a call added": (
        "INSERT INTO call SELECT NULL, round_id, entrant_id, stage, sample, attempt + 1, "
        + ", ".join(COLUMNS)
        + f", 'x' FROM call WHERE {of('sharp')} LIMIT 1",
    ),
    "the question of a call": one("call", "messages = replace(messages, 'market', 'fair')", of("sharp")),
    "what a call cost": one("call", "cost = 0, tokens_out = 1"),
    "a note": one("turn", "note = 'the provider was down'", of("sharp")),
    "a turn that was played called malformed": one("turn", "status = 'malformed'", of("sharp")),
    "a turn that was played called out": (
        *one("turn", "status = 'out', orders = '{\"bets\":[],\"sales\":[]}'", of("market")),
        f"DELETE FROM forecast WHERE turn_id = (SELECT min(id) FROM turn WHERE {of('market')})",
    ),
    "an order enlarged": one("turn", "orders = replace(orders, '\"amount\":', '\"amount\":1')", of("sharp")),
    "an order's reason": one(
        "turn", 'orders = replace(orders, \'"reason":"\', \'"reason":"no \')', of("random")
    ),
    "all orders of a turn gone": one("turn", 'orders = \'{"bets":[],"sales":[]}\'', of("sharp")),
    "the dice's orders": one("turn", "orders = replace(orders, 'YES', 'NO')", of("random")),
    "a refusal in other words": one("rejection", "message = 'the venue was closed'"),
    "a refusal of another kind": one("rejection", "code = 'closed_since'"),
    "a refusal deleted": drop("rejection"),
    "a refusal added": (
        (
            "INSERT INTO rejection SELECT turn_id, position + 1, code, message, market_id FROM rejection "
            "ORDER BY turn_id DESC, position DESC LIMIT 1"
        ),
    ),
    "repairs": one("turn", "repaired = '[\"key\"]'", of("sharp")),
    "a turn of an older reader": (
        f"UPDATE turn SET reader = 0 WHERE id = (SELECT max(id) FROM turn WHERE {of('sharp')})",
    ),
    "a turn of a newer reader": one("turn", "reader = 2"),
    "the last turns of an older reader": (f"UPDATE turn SET reader = 0 WHERE round_id = {LAST_ROUND}",),
    "a turn deleted": drop("turn"),
    "turns of two agents swapped": (
        f"UPDATE turn SET entrant_id = -entrant_id WHERE round_id = {LAST_ROUND}",
        (
            "UPDATE turn SET entrant_id = (SELECT max(-entrant_id) + min(-entrant_id) FROM turn "
            f"WHERE round_id = {LAST_ROUND}) + entrant_id WHERE round_id = {LAST_ROUND}"
        ),
    ),
    "the cash of a turn": one("turn", "cash = cash + 1"),
    "a fill's shares": one("fill", "shares = shares + 1"),
    "a fill's price": one("fill_level", "price = price - 10000"),
    "a fill without a fee": one("fill", "fee = 0"),
    "the quote of a fill": one("fill", "quote_hash = 'x'"),
    "a fill deleted": drop("fill"),
    "a level deleted": drop("fill_level"),
    "a fill with all that follows deleted": (
        f"DELETE FROM fill_level WHERE fill_id IN (SELECT id FROM fill WHERE turn_id IN {OF_LAST})",
        f"DELETE FROM fill WHERE turn_id IN {OF_LAST}",
        (
            "DELETE FROM entry WHERE ref LIKE 'fill:' || (SELECT number FROM round WHERE id = "
            f"{LAST_ROUND}) || ':%' "
            f"AND entrant_id IN (SELECT entrant_id FROM turn WHERE round_id = {LAST_ROUND})"
        ),
    ),
    "an entry's cash": one("entry", "cash = cash + 1000000", "kind = 'buy'"),
    "a ledger's tail": drop("entry"),
    "a settlement deleted": drop("entry", "kind = 'settle'"),
    "a deposit": one("entry", "cash = cash * 2, balance = balance * 2", "kind = 'deposit'"),
    "entries of two agents swapped": (
        "UPDATE entry SET entrant_id = 9999 WHERE entrant_id = 2",
        "UPDATE entry SET entrant_id = 2 WHERE entrant_id = 3",
        "UPDATE entry SET entrant_id = 3 WHERE entrant_id = 9999",
    ),
    "an entry added": (
        (
            "INSERT INTO entry SELECT NULL, entrant_id, number + 1, at, 'sell', 'sim:x', 'YES', 5, -1, 0, 5, "
            "balance + 5, 0, 'fill:9:9', hash, 'x' FROM entry ORDER BY id DESC LIMIT 1"
        ),
    ),
    "a mark": one("mark", "value = value + 1000000"),
    "marks of a look deleted": (f"DELETE FROM mark WHERE snapshot_id = {LAST_LOOK}",),
    "a mark deleted": drop("mark"),
    "a mark's age": one("mark", "age = age + 1"),
    "a price": one("quote", "mid = mid + 10000"),
    "a price of a fill": one("quote", "ask = ask - 10000", "hash IN (SELECT quote_hash FROM fill)"),
    "a book": one("quote", 'book = \'{"asks":[],"bids":[]}\''),
    "a quote's time": one("quote", "at = '2025-01-01T00:00:00.000000Z'"),
    "a page": one("market_version", "question = 'Will it?'"),
    "an event": one("market_version", "event_id = 'another'"),
    "a story": one("market_version", "story = 'another'"),
    "the close of a market": one("market_version", "closes_at = '2026-01-01T00:00:00.000000Z'"),
    "a page deleted": drop("market_version"),
    "an outcome turned": one("resolution", "payout = 1000000 - payout", f"market_id IN {SETTLED}"),
    "an outcome made a refund": one("resolution", "payout = NULL", f"market_id IN {SETTLED}"),
    "when an outcome was known": one(
        "resolution", "known_at = '2027-01-01T00:00:00.000000Z'", f"market_id IN {SETTLED}"
    ),
    "when an outcome was learnt": one("resolution", "learnt_at = '2027-01-01T00:00:00.000000Z'"),
    "a paid outcome deleted": drop("resolution", f"market_id IN {SETTLED}"),
    "a correction added": (
        (
            "INSERT INTO resolution SELECT NULL, market_id, 2, known_at, learnt_at, 1000000 - payout, "
            f"source, '', 'x' FROM resolution WHERE market_id IN {SETTLED} LIMIT 1"
        ),
    ),
    "a market of a look replaced": one("snapshot_item", "version_id = version_id + 1"),
    "a market of a look gone": drop("snapshot_item"),
    "markets of a look in another order": (
        f"UPDATE snapshot_item SET position = -1 - position WHERE snapshot_id = {LAST_LOOK}",
        (
            "UPDATE snapshot_item SET position = (SELECT count(*) FROM snapshot_item "
            f"WHERE snapshot_id = {LAST_LOOK}) + position WHERE snapshot_id = {LAST_LOOK}"
        ),
    ),
    "a market only held": one("snapshot_item", "shown = 1 - shown"),
    "when a look was": one("snapshot", "taken_at = '2026-01-04T00:00:01.000000Z'"),
    "a look deleted": drop("snapshot"),
    "a round not done": one("round", "done = 0"),
    "rounds swapped": (
        "UPDATE round SET number = -number WHERE cohort_id = 1",
        "UPDATE round SET number = 5 + number WHERE cohort_id = 1",
    ),
    "a round at another time": one("round", "at = '2026-01-05T00:00:00.000000Z'"),
    "a round in the middle deleted": gone(
        "(SELECT id FROM round WHERE cohort_id = 1 AND number = 2)",
        "(SELECT snapshot_id FROM round WHERE cohort_id = 1 AND number = 2)",
        "ref LIKE 'fill:2:%' AND entrant_id IN (SELECT id FROM entrant WHERE cohort_id = 1)",
    ),
    "the first cohort deleted": cohort_gone(1),
    "the last cohort deleted": cohort_gone(2),
    "the last round deleted": gone(
        LAST_ROUND, LAST_LOOK, "at = (SELECT max(at) FROM round) AND ref LIKE 'fill:%'"
    ),
    "outcomes that nobody was paid by deleted": (f"DELETE FROM resolution WHERE market_id NOT IN {SETTLED}",),
    "an outcome of what nobody held deleted": drop("resolution", f"market_id NOT IN {HELD}"),
    "an outcome of what nobody held turned": one(
        "resolution", "payout = 1000000 - payout", f"market_id NOT IN {HELD}"
    ),
    "a head deleted": drop("head", "number = 3"),
    "the last head deleted": drop("head"),
    "what a head covers": one("head", "parts = replace(parts, '1', '2')", "number = 4"),
    "what a head lists": one("head", "members = '{}'", "members != '{}' AND number > 2"),
    "an agent renamed": ("UPDATE entrant SET name = 'genius' WHERE name = 'sharp'",),
    "agents' names swapped": (
        "UPDATE entrant SET name = 'x' WHERE name = 'sharp'",
        "UPDATE entrant SET name = 'sharp' WHERE name = 'market'",
        "UPDATE entrant SET name = 'market' WHERE name = 'x'",
    ),
    "an agent deleted": ("DELETE FROM entrant WHERE name = 'crowd'",),
    "an agent's settings": one("entrant", "settings = replace(settings, 'sharp', 'dull')", "kind = 'llm'"),
    "an agent's kind": ("UPDATE entrant SET kind = 'python' WHERE name = 'sharp'",),
    "the frozen rules": one("cohort", 'frozen = replace(frozen, \'"fee":"venue"\', \'"fee":"none"\')'),
    "the frozen seed": one("cohort", "frozen = replace(frozen, '\"seed\":', '\"seed\":1')"),
    "a kind that proves nothing": (
        'UPDATE cohort SET frozen = replace(frozen, \'"kind":"random"\', \'"kind":"python"\')',
        "UPDATE turn SET reader = 1",
    ),
    "the end of a cohort": one("cohort", "ended_at = '2026-02-04T00:00:00.000000Z'"),
    "a prompt": one("prompt", "text = text || ' Be bold.'"),
    "the version that played": one("turn", "code_version = '9.9'"),
    "when an answer came": one("call", "made_at = '2026-01-01T00:00:00.000000Z'"),
    "the first answer as late as the last": (
        "UPDATE call SET made_at = (SELECT max(made_at) FROM call) WHERE id = (SELECT min(id) FROM call)",
    ),
    "a second chain": (
        (
            "INSERT INTO head SELECT NULL, number + 1000, cohort, round, at, parts, members, previous, hash "
            "FROM head"
        ),
    ),
    "letters that look alike": ("UPDATE entrant SET name = 'sh\u0430rp' WHERE name = 'sharp'",),
    "a question in letters that look alike": one(
        "market_version", "question = replace(question, 'a', '\u0430')"
    ),
    "a number as a text": one("forecast", "probability = '0970000'"),
    "a reason with a hidden end": one("forecast", "reason = reason || char(0) || 'I knew'"),
    "a prompt's spaces": one("prompt", "text = replace(text, ' ', char(160))"),
    "a time in another form": one("snapshot", "at = replace(at, 'Z', '+00:00')"),
    "orders that can be read in two ways": one(
        "turn", 'orders = replace(orders, \'{"bets"\', \'{"bets":[],"bets"\')', of("sharp")
    ),
    "a market in capitals": one("market", "id = upper(id)"),
    "a link of an event": one("market_version", "event_slug = 'x', tags = 'y'", "event_slug = ''"),
    "the rules of a market": one("market_version", "rules = 'If so.'"),
    "a volume of nothing": one("quote", "volume = 0", "volume > 0"),
    "nothing traded in a day that nobody told of": one("quote", "volume_24h = 0", "volume_24h IS NULL"),
    "how long an answer took": one("call", "latency_ms = latency_ms + 1"),
    "another model that answered": one("call", "model = 'genius'"),
    "who said how a market ended": one("resolution", "source = 'me'"),
    "a catalogue of made-up markets": one("snapshot", "catalogue = 'x'"),
    "the reason of a fill": one("fill", "reason = 'I knew'"),
    "what a fill left": one("fill", "\"left\" = 'a rest'"),
    "a market seen earlier": one("market", "first_seen_at = '2025-01-04T00:00:00.000000Z'"),
    "the last round not done": one("round", "done = 0", f"id = {LAST_ROUND}"),
    "a pruning that never was": (f"INSERT INTO prune VALUES (NULL, 1, {LATER}, {LATER}, 3, 'x')",),
    "a failure that never was": (
        f"INSERT INTO attempt SELECT NULL, {LAST_ROUND}, max(id), 1, 'down', {LATER}, '1', 'x' FROM entrant",
    ),
    "what a model thought": one("call", "thinking = 'It has ended already.'"),
    "orders of another agent": (
        (
            "UPDATE turn SET orders = (SELECT x.orders FROM turn AS x WHERE x.round_id = turn.round_id "
            f"AND x.{of('random')}) WHERE {of('sharp')}"
        ),
    ),
}


def tells(found: Difference) -> bool:
    """Tell whether a difference other than a hash or the chain reveals an attack."""
    return found.field not in (*SEALS, *CHAIN) and found.table != "head"


def assert_found(record: TamperedRecord, heads: list[str], rewritten: bool = True) -> None:
    """Check that an attack is found, and one that only hashes reveal also after rewriting them all."""
    for _ in range(6):
        found = record.differences(tells)
        assert found, "nothing is found"
        if tells(found[-1]):
            return
        if not any(each.field in SEALS for each in found):
            break
        for each in found:
            if each.field in SEALS:
                words = f'UPDATE "{each.table}" SET "{each.field}" = ? WHERE "{each.field}" = ?'
                record.driver.execute(words, (each.expected, each.found))
    if rewritten:
        rewrite_heads(record.driver)
    enough = "nothing is found once all hashes and the chain are rewritten"
    assert record.differences(lambda _: True, heads), enough
