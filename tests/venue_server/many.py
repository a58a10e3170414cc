"""Catalogues of any size, drawn by a seed, for each wire; and a server for them in a process of its own.

`python -m tests.venue_server.many 10000 --size 3000` serves Polymarket's until its input is closed.
"""

import argparse
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.serving import Reply
from tests.venue_server import kalshi as kalshi_wire
from tests.venue_server import manifold as manifold_wire
from tests.venue_server.polymarket import A_PAGE, GAMMA, Raw, a_market
from tests.venue_server.server import Asked, VenueServer, venue_server

ROOT = Path(__file__).resolve().parents[2]
START = datetime(2026, 1, 4, 12, tzinfo=UTC)
"""By then all markets are open; the first close a day later."""
SUBJECTS = ("politics", "sports", "crypto", "economy", "weather", "tech", "culture", "mentions")
WORDS = ("rain", "snow", "wind", "will", "the", "by", "more", "than", "record", "before", "after", "no")


def polymarket(count: int, seed: int = 1, size: int = 1_500) -> list[Raw]:
    """Open markets, one to six an event, each about so many bytes on the wire."""
    rng = random.Random(f"{seed}/polymarket")
    found: list[Raw] = []
    while len(found) < count:
        event = str(100_000 + len(found))
        subject = rng.choice(SUBJECTS)
        ends = START + timedelta(days=rng.randrange(1, 400), minutes=rng.randrange(1_440))
        titles: list[str] = []
        for leg in range(min(rng.randrange(1, 7), count - len(found))):
            bid = rng.randrange(1, 98)
            titles.append(_words(rng, 5))
            raw = a_market(
                str(500_000 + len(found)),
                question=f"Will it {_words(rng, 8)} ({leg + 1})?",
                bestBid=bid / 100,
                bestAsk=(bid + rng.randrange(1, 3)) / 100,
                outcomePrices=json.dumps([f"{(bid + 1) / 100:.4g}", f"{(99 - bid) / 100:.4g}"]),
                lastTradePrice=bid / 100,
                volume=f"{rng.random() * 10 ** rng.randrange(2, 8):.6f}",
                endDate=f"{ends:%Y-%m-%dT%H:%M:%SZ}",
                events=[{"id": event, "title": titles[0], "negRiskAugmented": False}],
                tags=[{"id": subject, "label": subject.title(), "slug": subject}],
            )
            found.append(_padded(raw, "description", size, rng))
    return found


def kalshi(count: int, seed: int = 1) -> list[Raw]:
    """Return events with open markets, this many markets in all."""
    rng = random.Random(f"{seed}/kalshi")
    events: list[Raw] = []
    left = count
    while left:
        legs = min(rng.randrange(1, 7), left)
        name = f"KXTEST-{len(events)}"
        left -= legs
        bids = [rng.randrange(1, 98) for _ in range(legs)]
        markets = [
            kalshi_wire.a_market(
                f"{name}-L{leg}",
                yes_sub_title=_words(rng, 3),
                yes_bid_dollars=f"0.{bid:02d}00",
                yes_ask_dollars=f"0.{bid + 1:02d}00",
                volume_fp=f"{rng.randrange(10**6)}.00",
            )
            for leg, bid in enumerate(bids)
        ]
        events.append(kalshi_wire.an_event(*markets, ticker=name))
    return events


def manifold(count: int, seed: int = 1) -> list[Raw]:
    """Open markets, the newest first."""
    rng = random.Random(f"{seed}/manifold")
    newest = manifold_wire.ms(2026, 1, 4)
    return [
        manifold_wire.a_market(
            f"m{n}",
            question=f"Will it {_words(rng, 8)}?",
            probability=rng.random(),
            volume=rng.random() * 10_000,
            createdTime=newest - n * 60_000,
        )
        for n in range(count)
    ]


def serve(server: VenueServer, records: list[Raw]) -> str:
    """Serve Polymarket's open markets as pages written once, so that serving them costs next to nothing."""
    pages: dict[str | None, Reply] = {}
    for start in range(0, max(len(records), 1), A_PAGE):
        page: Raw = {"markets": records[start : start + A_PAGE]}
        if start + A_PAGE < len(records):
            page["next_cursor"] = f"after:{start + A_PAGE}"
        pages[f"after:{start}" if start else None] = Reply(json.dumps(page).encode())

    def answer(asked: Asked) -> Reply:
        return pages[asked.params.get("after_cursor")]

    server.route(f"{GAMMA}/markets/keyset", answer)
    return f"{server.url}{GAMMA}"


@contextmanager
def elsewhere(count: int, seed: int = 1, size: int = 1_500) -> Iterator[str]:
    """Serve Polymarket in another process, so that this one's CPU time is the client's alone."""
    words = [str(count), f"--seed={seed}", f"--size={size}"]
    command = [sys.executable, "-m", "tests.venue_server.many", *words]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()


def _words(rng: random.Random, count: int) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(count))


def _padded(raw: Raw, key: str, size: int, rng: random.Random) -> Raw:
    """Pad the record with text under a key until it is this many bytes long."""
    missing = max(size - len(json.dumps(raw | {key: ""})), 1)
    sentence = f"{_words(rng, 40)}. "
    return raw | {key: (sentence * (missing // len(sentence) + 1))[:missing]}


def main() -> None:
    """Serve until the input is closed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--size", type=int, default=1_500)
    asked = parser.parse_args()
    with venue_server() as server:
        sys.stdout.write(f"{serve(server, polymarket(asked.count, asked.seed, asked.size))}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()
