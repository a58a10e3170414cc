"""How long each kind of provider asks to be left alone, and which limits last for a day.

Headers and bodies are made by hand, in the shapes that the providers document or that users have reported.
"""

import asyncio
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from agents.llm import close, make_ask
from agents.llm.errors import call_error
from agents.model import CallError, Message, ModelSettings, Prompt
from arena.clock import timer
from tests.provider.model_answer import Refused
from tests.provider.wire_server import WireServer, wires

PROMPT = Prompt((Message("user", "Rain?"),))
NOW = "Sun, 04 Jan 2026 12:00:00 GMT"
NOW_SECONDS = 1_767_528_000
PER_DAY = "Rate limit exceeded: free-models-per-day"


@pytest.fixture
def server() -> Iterator[WireServer]:
    with wires() as running:
        yield running


def read_error(words: str, headers: Mapping[str, str]) -> CallError:
    """Return how a refusal of these words is told that came with these headers."""
    error = RuntimeError(words)
    vars(error).update(status_code=429, litellm_response_headers={"Date": NOW} | dict(headers))
    return call_error(error)


def openrouter_body(reset: str) -> str:
    limits = {"X-RateLimit-Limit": "50", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset}
    return json.dumps({"error": {"message": PER_DAY, "code": 429, "metadata": {"headers": limits}}})


def google_body(quota: str, delay: str) -> str:
    violations = [{"quotaMetric": "generate_content_free_tier_requests", "quotaId": quota}]
    details: list[dict[str, object]] = [{"@type": "google.rpc.QuotaFailure", "violations": violations}]
    if delay:
        details.append({"@type": "google.rpc.RetryInfo", "retryDelay": delay})
    words = "You exceeded your current quota, please check your plan and billing details."
    return json.dumps({"error": {"code": 429, "message": words, "details": details}})


WAITS: list[tuple[str, dict[str, str], float | None]] = [
    # Retry-After
    ("slow down", {"Retry-After": "Sun, 04 Jan 2026 12:01:30 GMT"}, 90.0),
    ("slow down", {"Retry-After": "Sun, 04 Jan 2026 11:00:00 GMT"}, None),
    ("slow down", {"Retry-After": "0"}, None),
    ("slow down", {"Retry-After-Ms": "1500.5"}, 1.5005),
    ("try again in 20s", {"Retry-After": "0"}, 20.0),
    ("try again in 20s", {"Retry-After": "-5"}, 20.0),
    ("try again in 20s", {"Retry-After": "soon"}, 20.0),
    ("try again in 20s", {"Retry-After": "inf"}, 20.0),
    ("try again in 20s", {"Retry-After": "99999999999"}, 20.0),
    # in words
    ("Please wait 26813 seconds before retrying.", {}, 26_813.0),
    ("Try again after 3 hours", {}, 10_800.0),
    ("retry after: 25 seconds", {}, 25.0),
    ("Please try again in 5 minutes and 20 seconds.", {}, 320.0),
    ("Please try again in 25 milliseconds", {}, 0.025),
    ("Please try again in 3 more requests", {}, None),
    ("Please try again in 1 d 2 hrs", {}, 93_600.0),
    (google_body("GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "38s"), {}, 38.0),
    # until a limit is reset
    ("slow down", {"X-RateLimit-Reset": str((NOW_SECONDS + 45) * 1_000)}, 45.0),
    ("slow down", {"X-RateLimit-Reset": str(NOW_SECONDS + 45)}, 45.0),
    ("slow down", {"X-RateLimit-Reset": "45"}, 45.0),
    ("slow down", {"X-RateLimit-Reset": str(NOW_SECONDS - 45)}, None),
    ("slow down", {"X-RateLimit-Reset": str(NOW_SECONDS + 45), "Date": "today"}, None),
    ("slow down", {"X-RateLimit-Reset": "never"}, None),
    ("slow down", {"X-RateLimit-Reset": "45", "X-RateLimit-Remaining": "7"}, None),
    ("try again in 20s", {"X-RateLimit-Reset": "45"}, 20.0),
    (
        "slow down",
        {
            "anthropic-ratelimit-requests-remaining": "0",
            "anthropic-ratelimit-requests-reset": "2026-01-04T12:00:45Z",
            "anthropic-ratelimit-tokens-remaining": "8000",
            "anthropic-ratelimit-tokens-reset": "2026-01-04T15:00:00Z",
        },
        45.0,
    ),
    (
        "slow down",
        {
            "anthropic-ratelimit-tokens-remaining": "0",
            "anthropic-ratelimit-tokens-reset": "2026-99-99T15:00:00Z",
        },
        None,
    ),
    (
        "slow down",
        {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "8m38.4s"},
        518.4,
    ),
    (
        "slow down",
        {"x-ratelimit-remaining-requests-day": "0", "x-ratelimit-reset-requests-day": "33011.3"},
        33_011.3,
    ),
    (openrouter_body(str((NOW_SECONDS + 45) * 1_000)), {}, 45.0),
]


@pytest.mark.parametrize(("words", "headers", "wait"), WAITS)
def test_a_wait_is_read_in_every_form(words: str, headers: dict[str, str], wait: float | None) -> None:
    error = read_error(words, headers)

    assert (error.code, error.retry, error.wait) == ("rate_limit", True, wait)


DAYS: list[tuple[str, dict[str, str], bool]] = [
    (PER_DAY, {}, True),
    ("Number of request tokens has exceeded your daily rate limit", {}, True),
    ("You have exceeded your daily quota", {}, True),
    ("Rate limit reached on requests per day (RPD): Limit 200, Used 200.", {}, True),
    ("Rate limit of 50 per 86400s exceeded for UserByModelByDay.", {}, True),
    (google_body("GenerateRequestsPerDayPerProjectPerModel-FreeTier", ""), {}, True),
    (google_body("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "38s"), {}, True),
    # a stated wait counts, where it is believed
    ("Rate limit reached on tokens per day (TPD). Please try again in 9m38.4s.", {}, False),
    (PER_DAY, {"Retry-After": "45"}, False),
    # no limit of a day
    ("Rate limit exceeded: free-models-per-min. 1000 requests per day cost 10 credits.", {}, False),
    ("Rate limit reached on tokens per minute (TPM): see your daily limits", {}, False),
    (google_body("GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "38s"), {}, False),
    ("Come back another day", {}, False),
]


@pytest.mark.parametrize(("words", "headers", "is_quota"), DAYS)
def test_a_limit_of_a_day_is_a_quota_where_no_wait_is_stated(
    words: str, headers: dict[str, str], is_quota: bool
) -> None:
    error = read_error(words, headers)

    expected = ("quota", False) if is_quota else ("rate_limit", True)
    assert (error.code, error.retry) == expected


WIRES = [
    ("openrouter", {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str((NOW_SECONDS + 36_000) * 1_000)}),
    ("anthropic", {"anthropic-ratelimit-requests-remaining": "0",
                   "anthropic-ratelimit-requests-reset": "2026-01-04T22:00:00Z"}),
    ("openai", {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "10h0m0s"}),
    ("responses", {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "10h"}),
    ("gemini", {"Retry-After": "Sun, 04 Jan 2026 22:00:00 GMT"}),
]  # fmt: skip


@pytest.mark.parametrize(("wire", "headers"), WIRES)
def test_what_a_server_sends_arrives_by_every_wire(
    server: WireServer, wire: str, headers: dict[str, str]
) -> None:
    server.script("limited", Refused("slow down", 429, "rate_limit_exceeded", {"Date": NOW} | headers))
    block: dict[str, Any] = server.settings(wire, "limited", api_key_env="KEY")

    async def ask() -> CallError | None:
        try:
            asking = make_ask(ModelSettings(**block), timer, {"KEY": "sk-a-canary-of-sixteen"})
            return (await asking(PROMPT)).error
        finally:
            await close()

    error = asyncio.run(ask())
    assert error is not None
    assert (error.code, error.wait) == ("rate_limit", 36_000.0)
