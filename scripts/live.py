"""Ask each venue and each configured model one small question, and name what no longer has its shape.

python -m scripts.live [CONFIG] [--venue NAME] [--no-models]

It needs a network; no test asks a real venue. Shapes are in scripts/live_shapes.json: of each answer
the fields that the arena reads, with what they hold; a `?` marks those that may be missing. The addresses of
the config's own venue are the config's, those of the others the usual ones. Asking models costs what `arena
check --live` says beforehand. The exit status is 0 where all is as recorded, 2 where something has
drifted, 1 where an answer could not be had.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from arena.calls.ping import ping, ping_targets
from arena.config import Config, load
from arena.rounds.adapters import open_models, unfrozen_settings
from markets.registry import load as load_module
from markets.venue import VenueError
from markets.venues.wire.http import HttpClient

SHAPES = Path(__file__).with_name("live_shapes.json")
VENUES = ("polymarket", "kalshi", "manifold")
KINDS: tuple[tuple[str, type | tuple[type, ...]], ...] = (
    ("bool", bool),
    ("number", (int, float)),
    ("text", str),
    ("list", list),
    ("object", dict),
)
Shape = Mapping[str, str]
Answers = list[tuple[str, object]]
"""Pairs of the name of a shape, and the answer."""


def drift(shape: Shape, answer: object) -> list[str]:
    """Return how an answer differs from its shape: fields that are gone, or hold something else.

    >>> drift({"a[].b": "text", "c?": "number"}, {"a": [{"b": 1}]})
    ['a[].b holds number, where it held text']
    """
    drifted: list[str] = []
    for path, kinds in shape.items():
        drifted += _drift_at(path, kinds.split(" or "), answer)
    return drifted


def _drift_at(path: str, kinds: Sequence[str], answer: object) -> Iterator[str]:
    name = path.replace("?", "")
    optional = "?" in path
    found = list(_values(answer, [part for part in name.replace("[]", ".[]").split(".") if part]))
    told = [_kind(value) for value in found if value is not None]
    if not told and not optional:
        yield f"{name} is gone"
    others = sorted(set(told) - set(kinds))
    if others:
        yield f"{name} holds {' and '.join(others)}, where it held {' or '.join(kinds)}"


def _values(value: object, parts: Sequence[str]) -> Iterator[object]:
    """Yield the values at a path, in all records of its lists."""
    if not parts:
        yield value
    elif parts[0] == "[]":
        for inner in value if isinstance(value, list) else ():
            yield from _values(inner, parts[1:])
    elif isinstance(value, dict) and parts[0] in value:
        yield from _values(value[parts[0]], parts[1:])


def _kind(value: object) -> str:
    return next((name for name, kind in KINDS if isinstance(value, kind)), type(value).__name__)


def _first(answer: object, path: str) -> Any:
    return next(_values(answer, path.split(".")), None)


async def ask_polymarket(gamma: HttpClient, clob: HttpClient) -> Answers:
    """Ask for the largest open markets, and for the book of one."""
    asked = {"closed": "false", "order": "volumeNum", "ascending": "false", "include_tag": "true"}
    page = await gamma.get("/markets/keyset", **asked, limit=5)
    tokens = _first(page, "markets.[].clobTokenIds")
    token = (json.loads(tokens) if isinstance(tokens, str) else tokens or [""])[0]
    return [
        ("polymarket markets", page),
        ("polymarket book", await clob.post("/books", [{"token_id": token}])),
    ]


async def ask_kalshi(http: HttpClient) -> Answers:
    """Ask for some open events, the series of one, and the book of a market."""
    page = await http.get("/events", status="open", with_nested_markets="true", limit=5)
    series = _first(page, "events.[].series_ticker")
    ticker = _first(page, "events.[].markets.[].ticker")
    return [
        ("kalshi events", page),
        ("kalshi series", await http.get(f"/series/{series}")),
        ("kalshi book", await http.get(f"/markets/{ticker}/orderbook")),
    ]


async def ask_manifold(http: HttpClient) -> Answers:
    """Ask for the newest markets, and for one of them by itself."""
    page = await http.get("/v0/markets", limit=20)
    return [
        ("manifold markets", page),
        ("manifold market", await http.get(f"/v0/market/{_first(page, '[].id')}")),
    ]


ASKED: Mapping[str, Callable[..., Awaitable[Answers]]] = {
    "polymarket": ask_polymarket,
    "kalshi": ask_kalshi,
    "manifold": ask_manifold,
}


async def ask_venue(config: Config, name: str) -> Answers:
    """Ask a venue one small question for each kind of answer that it gives."""
    settings = load_module("markets.venues", name).Settings()
    if name == config.markets.venue:
        settings = settings.model_copy(update=unfrozen_settings(config.venue_settings, config.folder))
    urls = [settings.url, settings.book_url] if name == "polymarket" else [settings.url]
    clients = [HttpClient(url, per_second=settings.per_second) for url in urls]
    try:
        return await ASKED[name](*clients)
    finally:
        for client in clients:
            await client.close()


async def ask_models(config: Config) -> list[tuple[str, object]]:
    """Ask each model of the config one tiny question, and return its answer as the arena reads it."""
    answers: list[tuple[str, object]] = []
    targets = ping_targets(tuple(agent for agent in config.agents if agent.model is not None))
    async with open_models(config) as asks:
        for target in targets:
            call = await ping(asks(target.settings))
            names = ("reply", "model", "finish", "tokens_in", "tokens_out")
            told = {name: getattr(call, name) or None for name in names}
            answers.append((target.settings.model, told if call.error is None else call.error.message))
    return answers


async def everything(config: Config, venues: Sequence[str], models: bool) -> int:
    """Ask, compare and print, and return the exit status."""
    shapes = json.loads(SHAPES.read_text(encoding="utf-8"))
    drifted = 0
    failed = 0
    for venue in venues:
        try:
            answers = await ask_venue(config, venue)
        except VenueError as error:
            failed += 1
            print(f"{venue}: no answer: {error.message}")
            continue
        for name, answer in answers:
            drifted += _tell(name, drift(shapes[name], answer))
    for model, answer in await ask_models(config) if models else ():
        if isinstance(answer, dict):
            drifted += _tell(model, drift(shapes["answer of a model"], answer))
        else:
            failed += 1
            print(f"{model}: no answer: {answer}")
    if failed:
        return 1
    return 2 if drifted else 0


def _tell(name: str, words: Sequence[str]) -> bool:
    print(f"{name}: {'as recorded' if not words else f'{len(words)} drifted'}")
    for line in words:
        print(f"  {line}")
    return bool(words)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m scripts.live", description=__doc__)
    parser.add_argument("config", nargs="?", default="config.yaml", type=Path)
    parser.add_argument("--venue", action="append", choices=VENUES, help="only this venue; repeatable")
    parser.add_argument("--no-models", action="store_true", help="ask no model")
    chosen = parser.parse_args(arguments)
    return asyncio.run(everything(load(chosen.config), chosen.venue or VENUES, not chosen.no_models))


if __name__ == "__main__":
    sys.exit(main())
