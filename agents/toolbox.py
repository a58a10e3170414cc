"""Loads the tools of models by name, and defines what a tool gets and returns. Every answer is recorded."""

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
"""The longest text of a tool that is kept, in characters."""
WITHHELD = "it may not be shown"


class ToolRefusal(ValueError):
    """A tool can't do what it was asked for; the message tells the model why."""


@runtime_checkable
class SearchSource(Protocol):
    """A source of articles that can be searched, and that may have the full text of what it lists."""

    async def search(self, query: str, at: datetime) -> list[FoundArticle]:
        """Return articles that match a query, as of an instant. The guard removes those that came later."""

    async def read(self, url: str) -> FoundArticle | None:
        """Return the full article at an address that a search has listed; None if there is no text of it."""


@dataclass(frozen=True, slots=True)
class ToolReach:
    """What a tool may use in a turn: the view, a source of articles, prices, and the agent's own notes.

    `listed` returns the addresses of the articles that searches of this round have found.
    """

    view: View
    guard: Guard
    source: Callable[[], SearchSource]
    history: Callable[[MarketId], Sequence[Quote]]
    listed: Callable[[], set[str]]
    notes: Callable[[], str]
    now: Callable[[], datetime]

    @property
    def questions(self) -> dict[MarketId, str]:
        """Return the questions of the markets on offer."""
        return {listing.market.id: listing.market.question for listing in self.view.snapshot.shown}


@dataclass(frozen=True, slots=True)
class ToolSource:
    """An article in a tool's answer: its address, the latest time that its date can mean, and its hash."""

    url: str
    published: str
    hash: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer of a tool: its text, the articles in it, and how many were withheld for which reason.

    `withheld` also has the `audit` of the texts, if there was one.
    """

    text: str
    sources: tuple[ToolSource, ...] = ()
    withheld: Mapping[str, Any] = field(default_factory=dict)


def guarded_articles_result(
    found: Iterable[FoundArticle], query: str, reach: ToolReach, text_if_none: str, guard: Guard | None = None
) -> ToolResult:
    """Return the articles that the guard lets through as an answer; the text `nothing` if there are none."""
    snapshot = reach.view.snapshot
    closes_at = min((listing.market.closes_at for listing in snapshot.shown), default=snapshot.at)
    rule = guard or reach.guard
    guarded = guard_found(found, query, reach.questions, closes_at, snapshot.at, reach.now(), rule)

    sources = []
    texts = []
    for article in guarded.articles:
        article_hash = digest([article.title, article.text])
        sources.append(ToolSource(article.url, timestamp_text(article.published_at), article_hash))
        texts.append(_article_text(article))

    return ToolResult("\n\n".join(texts) or text_if_none, tuple(sources), guarded.counts)


def audited(result: ToolResult, reach: ToolReach) -> ToolResult:
    """Return the answer of a tool that fetches, audited; without its text if that is suspect and withheld."""
    if AUDIT in result.withheld or reach.guard.suspects is None:
        return result

    snapshot = reach.view.snapshot
    page = Article("", "", "", result.text, snapshot.at, snapshot.at, "")
    suspect = audited_text(page, result.text, reach.questions, snapshot.at, reach.guard)

    suspects = () if suspect is None else (suspect,)
    audit = Audit(RULES, reach.guard.odds == "withheld", 1, suspects)
    withheld = {**result.withheld, AUDIT: asdict(audit)}
    if suspect is not None and not suspect.shown:
        return ToolResult(WITHHELD, (), withheld)
    return ToolResult(result.text, result.sources, withheld)


def _article_text(article: Article) -> str:
    """Return an article as a model reads it."""
    text = f"{article.title} ({article.source}, {article.dated})\n{article.url}"
    if article.text:
        text += f"\n{article.text}"
    return text


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as it is loaded from its file.

    One that `fetches` asks somebody outside. One that is `own` answers each agent differently. One that
    `tells_prices` is not for agents that must not see prices.
    """

    form: ToolForm
    arguments: type[BaseModel]
    use: Callable[[Any, ToolReach], Awaitable[ToolResult]]
    fetches: bool
    own: bool
    tells_prices: bool

    async def result(self, arguments: str, reach: ToolReach) -> ToolResult:
        """Return its answer to a model's arguments. If they can't be used, the answer says why."""
        try:
            result = await self.use(self.arguments.model_validate_json(arguments), reach)
        except ValidationError as error:
            faults = []
            for fault in error.errors():
                key = ".".join(map(str, fault["loc"]))
                faults.append(f"{key}: {fault['msg']}")
            return ToolResult(f"{self.form.name} can't be used so: {'; '.join(faults)}"[:MOST_TEXT])
        except ToolRefusal as refusal:
            return ToolResult(str(refusal)[:MOST_TEXT])

        if not self.fetches:
            return result
        return audited(result, reach)


def is_own_tool(name: str) -> bool:
    """Tell whether a tool comes with the package."""
    return name in names(HOME)


def tool(name: str, extra: Iterable[ExtensionFolder] = ()) -> Tool:
    """Return the tool of that name. Raise `LookupError` if there is none, or its file defines no tool."""
    module = load("agents.tools", name, extra)
    arguments = getattr(module, "Arguments", None)
    use = getattr(module, "use", None)
    if not (isinstance(arguments, type) and issubclass(arguments, BaseModel) and callable(use)):
        raise LookupError(f"{name}.py is no tool: it needs a class Arguments and a function use")

    # Models are shown neither the titles nor the docstring that pydantic puts into the schema.
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
    """Return a model's arguments for a tool in a normal form, so that equal requests are equal texts.

    Arguments that are not JSON are returned as they are.

    >>> plain_request('{"query":  "rain"}'), plain_request("rain")
    ('{"query":"rain"}', 'rain')
    """
    try:
        value = json.loads(arguments or "{}")
        return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    except (ValueError, RecursionError):
        return arguments
