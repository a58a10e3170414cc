"""What a provider may send, by the name of the model that is asked for: answers, and faults of every kind."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from email.message import Message
from typing import Any

from tests.serving import Reply, Request

USAGE = {"prompt_tokens": 1_001, "completion_tokens": 200, "total_tokens": 1_201}
NOON = "Sun, 04 Jan 2026 12:00:00 GMT"
NOON_AND_90 = "Sun, 04 Jan 2026 12:01:30 GMT"
REFUSAL = "I won't bet."


@dataclass(frozen=True)
class Asked:
    """A call as it came: its body, its headers, when by the server's timer, and among how many."""

    body: Mapping[str, Any]
    headers: Message
    at: float
    at_once: int

    @property
    def model(self) -> str:
        return str(self.body["model"])

    @property
    def key(self) -> str:
        return self.headers["Authorization"]

    @property
    def form(self) -> str:
        """Return the form that is asked for: json_schema, json_object, or none."""
        return str((self.body.get("response_format") or {}).get("type", ""))


Behaviour = Reply | Callable[[Asked], Reply]


def completion(content: str | None, finish: str = "stop", refusal: str | None = None, **more: Any) -> bytes:
    """Return a chat completion; `usage` and other fields as given."""
    message = {"role": "assistant", "content": content, "refusal": refusal}
    choice = {"index": 0, "finish_reason": finish, "message": message}
    body = {"id": "1", "object": "chat.completion", "created": 0, "model": "served-1", "choices": [choice]}
    return json.dumps(body | more).encode()


def error(message: str, code: str = "") -> bytes:
    """Return an error as such servers word it."""
    return json.dumps({"error": {"message": message, "type": "invalid_request_error", "code": code}}).encode()


def says(content: str | None, finish: str = "stop", **more: Any) -> Reply:
    """Return a completion with the usual count of tokens."""
    return Reply(completion(content, finish, **{"usage": USAGE, **more}))


def fails(status: int, message: str = "no", code: str = "", **headers: str) -> Reply:
    """Return an error; `retry_after="7"` becomes the header Retry-After."""
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Reply(error(message, code), status, named)


def late(behaviour: Reply, seconds: float) -> Reply:
    """Return the same, after this many seconds."""
    return replace(behaviour, after=seconds)


def _echoes_the_key(asked: Asked) -> Reply:
    return fails(
        401, f"Incorrect API key provided: {asked.key}. I saw {dict(asked.headers)}", "invalid_api_key"
    )


def _key_in_every_field(asked: Asked) -> Reply:
    return says(asked.key, finish=asked.key, model=asked.key, system_fingerprint=asked.key, id=asked.key)


def _formless(*forms: str) -> Callable[[Asked], Reply]:
    """Refuse these forms of answer, as a server does that doesn't know them."""

    def answer(asked: Asked) -> Reply:
        if asked.form in forms:
            return fails(400, f"response_format {asked.form} is not supported here")
        return says("{}")

    return answer


def _forecast(probability: str) -> str:
    return f'{{"forecasts": [{{"market": "m1", "probability": {probability}}}]}}'


FOR_ONE, NAMED = _forecast("0.4")[len('{"forecasts": [') : -2], re.compile(r"^### (m[0-9]+)$", re.MULTILINE)


def for_all_markets(reply: Reply, asked: Asked) -> Reply:
    """Return a reply that repeats its one forecast for every market of the question."""
    questions = [str(message["content"]) for message in asked.body["messages"] if message["role"] == "user"]
    names = (
        NAMED.findall("".join(questions[:1])) or re.findall(r"\bm[0-9]+\b", "".join(questions[-1:])) or ["m1"]
    )
    all_of_them = ", ".join(FOR_ONE.replace("m1", name) for name in names)
    one, every = (json.dumps(text)[1:-1].encode() for text in (FOR_ONE, all_of_them))
    return replace(reply, body=reply.body.replace(one, every)) if reply.body.count(one) == 1 else reply


def _bet(amount: str) -> str:
    return f'{{"market": "m1", "side": "YES", "amount": {amount}}}'


GOOD = f'{{"forecasts": [{{"market": "m1", "probability": 0.4}}], "bets": [{_bet("120")}], "sales": []}}'
USES = [{"id": "1", "type": "function", "function": {"name": "bet", "arguments": x}} for x in (GOOD, "{}")]
ANSWERS: Mapping[str, str] = {
    "prose": "I say 40% on m1 and would bet $500 on YES.",
    "fenced": f"Here it is:\n```json\n{GOOD}\n```\nGood luck!",
    "thinking": f"<think>{_forecast('0.9')}</think>{GOOD}",
    "only-thinking": f"<think>{GOOD}",
    "two-objects": f"{_forecast('0.4')} {_forecast('0.6')}",
    "duplicate-keys": f'{{"forecasts": [], "bets": [{_bet("50")[:-1]}, "amount": 5000}}]}}',
    "nan": _forecast("NaN"),
    "1e999": _forecast("1e999"),
    "booleans": _forecast("true"),
    "text-numbers": _forecast('"0.4"'),
    "percentage": _forecast('"40%"'),
    "two-percentages": _forecast('"40%. Note the market is at 55%"'),
    "unknown-ids": _forecast("0.4").replace("m1", "m4711"),
    "10000-bets": f'{{"forecasts": [], "bets": [{", ".join([_bet("50")] * 10_000)}]}}',
    "blank": "  \n",
}
"""Whole answers, by what is odd about them."""

BEHAVIOURS: Mapping[str, Behaviour] = {
    "good": says("{}", system_fingerprint="fp-9"),
    "plays": says(GOOD, system_fingerprint="fp-9"),
    **{name: says(text) for name, text in ANSWERS.items()},
    "10-mb": says("x" * 10_000_000),
    "huge": says("x" * 3_000_000),
    "surrogate": says("a\ud800b\x00c"),
    "echo": lambda asked: says(f"you sent {asked.key}"),
    "echo-everywhere": _key_in_every_field,
    "usage-echo": lambda asked: says("{}", usage=dict.fromkeys(USAGE, asked.key)),
    # an answer that isn't whole, or is none
    "cut": says('{"amount": 5', "length"),
    "cut-off": says(GOOD[: GOOD.index("120") + 1], "length"),
    "no-thanks": says(None, refusal=REFUSAL),
    "filtered": says(None, "content_filter"),
    "half-filtered": says(GOOD[:60], "content_filter"),
    "silent": says(None),
    "tools": Reply(
        completion(None, "tool_calls", usage=USAGE).replace(
            b'"content": null', b'"content": "Here:", "tool_calls": ' + json.dumps(USES).encode()
        )
    ),
    "odd-names": says("{}", model=5, system_fingerprint={"fp": 9}),
    # usage that is none
    "uncounted": Reply(completion("{}")),
    "usage-null": says("{}", usage=None),
    "usage-empty": says("{}", usage={}),
    "usage-text": says("{}", usage={"prompt_tokens": "many", "completion_tokens": "1e9"}),
    "usage-negative": says("{}", usage={"prompt_tokens": -1_001, "completion_tokens": -200}),
    "usage-half": says("{}", usage={"prompt_tokens": 1_001}),
    "usage-huge": says("{}", usage={"prompt_tokens": 10**30, "completion_tokens": 10**30}),
    "usage-fraction": says("{}", usage={"prompt_tokens": 1.5, "completion_tokens": 2.5}),
    # errors that are told
    "401": _echoes_the_key,
    "400": fails(400, "that is no request"),
    "402": fails(402, "Insufficient credits"),
    "403": fails(403, "not for you"),
    "404": fails(404, "there is no such model"),
    "408": fails(408, "too slow"),
    "413": fails(413, "Request entity too large"),
    "422": fails(422, "temperature: not allowed"),
    "429": fails(429, "slow down"),
    "busy": fails(429, "slow down", retry_after="7", date=NOON),
    "busy-until": fails(503, "slow down", retry_after=NOON_AND_90, date=NOON),
    "busy-odd": fails(429, "slow down", retry_after="soon", date=NOON),
    "500": Reply(b"oops", 500),
    "502": Reply(b"<html>Bad Gateway</html>", 502, {"Content-Type": "text/html"}),
    "503": fails(503, "overloaded"),
    "529": fails(529, "Overloaded", "overloaded_error"),
    "long": fails(400, "This model's maximum context length is 10 tokens", "context_length_exceeded"),
    "policy": fails(400, "Filtered by the content management policy", "content_filter"),
    "formless": _formless("json_schema", "json_object"),
    "schemaless": _formless("json_schema"),
    # nothing that could be read
    "hang": Reply(b"", how="hang"),
    "drop": Reply(b"", how="drop"),
    "reset": Reply(b"", how="reset"),
    "truncated": replace(says(GOOD), how="cut"),
    "broken-json": Reply(completion(GOOD)[:40]),
    "choiceless": Reply(json.dumps(json.loads(completion("")) | {"choices": []}).encode()),
    "messageless": Reply(
        json.dumps({"id": "1", "choices": [{"index": 0, "finish_reason": "stop"}]}).encode()
    ),
    "list": Reply(b"[]"),
    "queued": Reply(b'{"status": "queued"}', 202),
    "nested": Reply(b"[" * 100_000),
    "digits": Reply(completion(GOOD).replace(b'"created": 0', b'"created": ' + b"1" * 5_000)),
    "html": Reply(b"<html><body>Welcome</body></html>"),
    "empty": Reply(b""),
    "not-utf-8": Reply(b'{"choices": "\xff\xfe"}'),
    "elsewhere": Reply(b"", 302, {"Location": "http://127.0.0.1:9/"}),
}


def asked(request: Request, at: float) -> Asked:
    """Return the call that a request makes."""
    return Asked(json.loads(request.body), request.headers, at, request.at_once)
