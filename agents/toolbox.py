"""Tools by name, and what one may reach. Whatever a tool says is kept, and told to all that ask the same."""

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel, ValidationError

from agents.audit import RULES
from agents.evidence import FoundArticle
from agents.guard import AUDIT, Audit, Guard, audited_text, guard_found
from agents.model import Article, ToolForm, View
from markets.hashes import digest, timestamp_text
from markets.model import MarketId, Quote
from markets.registry import ExtensionFolder, load, names

HOME = Path(__file__).with_name("tools")
MOST_TEXT = 20_000
"""So many characters of what a tool says are kept."""


WITHHELD = "it may not be shown"


class ToolRefusal(ValueError):
    """A tool can't do what it was asked for: why, in words for the model."""


@runtime_checkable
class SearchSource(Protocol):
    """A source of articles that can be searched by words, and may have the whole text of what it lists."""

    async def search(self, query: str, at: datetime) -> list[FoundArticle]:
        """What has to do with some words, as of an instant; what comes too late is for the guard."""
        ...

    async def read(self, url: str) -> FoundArticle | None:
        """The whole article at an address that a search has listed; None where there is no text of it."""
        ...


@dataclass(frozen=True, slots=True)
class ToolReach:
    """What a tool may look at in a turn: the view, a source of articles, prices, and the agent's own notes.

    `listed` are the addresses that searches of the round have told.
    """

    view: View
    guard: Guard
    source: Callable[[], SearchSource]
    history: Callable[[MarketId], Sequence[Quote]]
    listed: Callable[[], set[str]]
    notes: Callable[[], str]
    now: Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class ToolSource:
    """An article in what a tool says: its address, the latest time that its date can mean, and its hash."""

    url: str
    published: str
    hash: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool says: the text, the articles in it, and how many others were withheld for which reason.

    Beside the reasons stands the `audit` of the texts, where they got a verdict.
    """

    text: str
    sources: tuple[ToolSource, ...] = ()
    withheld: Mapping[str, Any] = field(default_factory=dict)


def told_articles(
    found: Iterable[FoundArticle], query: str, reach: ToolReach, nothing: str, guard: Guard | None = None
) -> ToolResult:
    """What the guard lets through of articles that were found, as a model is told it."""
    shown, at = reach.view.snapshot.shown, reach.view.snapshot.at
    asked = {listing.market.id: listing.market.question for listing in shown}
    closes_at = min((listing.market.closes_at for listing in shown), default=at)
    guarded = guard_found(found, query, asked, closes_at, at, reach.now(), guard or reach.guard)
    sources = [
        ToolSource(x.url, timestamp_text(x.published_at), digest([x.title, x.text])) for x in guarded.articles
    ]
    text = "\n\n".join(map(_told, guarded.articles)) or nothing
    return ToolResult(text, tuple(sources), guarded.counts)


def audited(result: ToolResult, reach: ToolReach) -> ToolResult:
    """What a tool of one's own may say of what it fetched: nothing of it where it is suspect and withheld."""
    if AUDIT in result.withheld or reach.guard.suspects is None:
        return result
    snapshot = reach.view.snapshot
    asked = {listing.market.id: listing.market.question for listing in snapshot.shown}
    page = Article("", "", "", result.text, snapshot.at, snapshot.at, "")
    suspect = audited_text(page, result.text, asked, snapshot.at, reach.guard)
    told = Audit(RULES, reach.guard.odds == "withheld", 1, () if suspect is None else (suspect,))
    hides = suspect is not None and not suspect.shown
    text, sources = (WITHHELD, ()) if hides else (result.text, result.sources)
    return ToolResult(text, sources, {**result.withheld, AUDIT: asdict(told)})


def _told(article: Article) -> str:
    head = f"{article.title} ({article.source}, {article.dated})\n{article.url}"
    return f"{head}\n{article.text}" if article.text else head


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool. One that `fetches` asks somebody outside, and one that is `own` tells each agent its own.

    One that `tells_prices` is nothing for who must not see any.
    """

    form: ToolForm
    arguments: type[BaseModel]
    use: Callable[[Any, ToolReach], Awaitable[ToolResult]]
    fetches: bool
    own: bool
    tells_prices: bool

    async def result(self, arguments: str, reach: ToolReach) -> ToolResult:
        """What it says to a model that gives it this, also where it can't make anything of it."""
        try:
            result = await self.use(self.arguments.model_validate_json(arguments), reach)
            return audited(result, reach) if self.fetches else result
        except ValidationError as error:
            told = "; ".join(f"{'.'.join(map(str, x['loc']))}: {x['msg']}" for x in error.errors())
            return ToolResult(f"{self.form.name} can't be used so: {told}"[:MOST_TEXT])
        except ToolRefusal as refusal:
            return ToolResult(str(refusal)[:MOST_TEXT])


def is_own_tool(name: str) -> bool:
    """Return whether a tool comes with the package."""
    return name in names(HOME)


def tool(name: str, extra: Iterable[ExtensionFolder] = ()) -> Tool:
    """The tool of that name."""
    module = load("agents.tools", name, extra)
    arguments, use = getattr(module, "Arguments", None), getattr(module, "use", None)
    if not (isinstance(arguments, type) and issubclass(arguments, BaseModel) and callable(use)):
        raise LookupError(f"{name}.py is no tool: it needs a class Arguments and a function use")
    schema = arguments.model_json_schema()
    for part in (schema, *schema.get("properties", {}).values()):
        part.pop("title", None)
    schema.pop("description", None)
    form = ToolForm(name, " ".join((module.__doc__ or "").split()), schema)
    is_ours = module.__name__ == f"agents.tools.{name}"
    return Tool(
        form,
        arguments,
        use,
        fetches=getattr(module, "FETCHES", not is_ours),
        own=getattr(module, "OWN", False),
        tells_prices=getattr(module, "TELLS_PRICES", not is_ours),
    )


def plain_request(arguments: str) -> str:
    """What a model gave a tool, so that equal requests are equal texts; as it is, where it is no JSON.

    >>> plain_request('{"query":  "rain"}'), plain_request("rain")
    ('{"query":"rain"}', 'rain')
    """
    try:
        value = json.loads(arguments or "{}")
        return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    except (ValueError, RecursionError):
        return arguments
