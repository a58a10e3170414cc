"""What a fill and a ledger entry say, as a hash: the SHA-256 of the canonical JSON of their fields.

There are very many of them, so their JSON is put together here field by field, as in `markets.hashes`, and
so is that of wishes; the tests hold it against `canonical`.
"""

from datetime import datetime
from json.encoder import encode_basestring as text
from operator import attrgetter

from markets.canonical import stamp
from markets.hashes import sha256
from portfolio.model import Bet, Entry, Fill, FillLevel, Sale

_said = attrgetter(*(name for name in Entry.__slots__ if name != "hash"))


def entry_hash(entry: Entry) -> str:
    """The hash that seals an entry: of all that it says, the hash of the one before it included."""
    return seal(*_said(entry))


def seal(
    number: int,
    at: datetime,
    kind: str,
    market_id: str,
    side: str,
    cash: int,
    shares: int,
    cost: int,
    realised: int,
    balance: int,
    held: int,
    ref: str,
    previous: str,
) -> str:
    """The hash of an entry that says this, its fields in their order."""
    return sha256(
        f'{{"at":"{stamp(at)}","balance":{balance},"cash":{cash},"cost":{cost},"held":{held},'
        f'"kind":{text(kind)},"market_id":{text(market_id)},"number":{number},"previous":{text(previous)},'
        f'"realised":{realised},"ref":{text(ref)},"shares":{shares},"side":{text(side)}}}'
    )


def fill_hash(fill: Fill) -> str:
    """The hash of a fill, all of its levels included."""
    levels = ",".join(map(_level, fill.levels))
    return sha256(
        f'{{"action":{text(fill.action)},"amount":{fill.amount},"base":{fill.base},"fee":{fill.fee},'
        f'"fee_rate":{fill.fee_rate},"left":{text(fill.left)},"levels":[{levels}],'
        f'"market_id":{text(fill.market_id)},"quote_at":"{stamp(fill.quote_at)}",'
        f'"quote_hash":{text(fill.quote_hash)},"reason":{text(fill.reason)},"shares":{fill.shares},'
        f'"side":{text(fill.side)},"wanted":{fill.wanted}}}'
    )


def _level(level: FillLevel) -> str:
    return f'{{"amount":{level.amount},"fee":{level.fee},"price":{level.price},"shares":{level.shares}}}'


def bet_text(bet: Bet) -> str:
    """The canonical JSON of a bet."""
    return (
        f'{{"amount":{bet.amount},"limit":{_whole(bet.limit)},"market_id":{text(bet.market_id)},'
        f'"reason":{text(bet.reason)},"side":{text(bet.side)}}}'
    )


def sale_text(sale: Sale) -> str:
    """The canonical JSON of a sale."""
    return (
        f'{{"fraction":{_whole(sale.fraction)},"limit":{_whole(sale.limit)},'
        f'"market_id":{text(sale.market_id)},"reason":{text(sale.reason)},'
        f'"shares":{_whole(sale.shares)},"side":{text(sale.side)}}}'
    )


def _whole(number: int | None) -> str:
    return "null" if number is None else str(number)
