"""What six kinds of server take and how they tell it: one neutral answer, in the words of each.

Each wire checks a request as its provider does, and draws an answer whole or as the events of a stream.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from tests.provider.model_answer import Body, ModelAnswer, Refused, check_told, halves, sse, take_only
from tests.provider.openai_wires import OpenAiChat, OpenRouter, Responses, body_size


class Anthropic:
    """Anthropic's Messages."""

    name: ClassVar[str] = "anthropic"
    paths: ClassVar[tuple[str, ...]] = ("/messages",)
    takes: ClassVar[str] = (
        "model messages system max_tokens temperature top_p top_k stop_sequences stream thinking tools "
        "tool_choice metadata service_tier output_config output_format speed cache_control context_management"
    )
    limit: ClassVar[int] = 128_000

    def check(self, body: Body) -> None:
        """Turn down what the real one does."""
        take_only(body, self.takes, "{}: Extra inputs are not permitted")
        most = body["max_tokens"]
        if most > self.limit:
            raise Refused(f"max_tokens: {most} > {self.limit}, which is the maximum allowed number")
        if "temperature" in body and ("-5" in body["model"] or "thinking" in body):
            raise Refused("`temperature` is not supported with this model")
        roles = [message["role"] for message in body["messages"]]
        if "system" in roles or not roles or roles[0] != "user":
            raise Refused('messages: first message must use the "user" role')
        thinking = body.get("thinking") or {}
        if thinking.get("type") == "enabled" and not 1024 <= thinking["budget_tokens"] < most:
            raise Refused("`max_tokens` must be greater than `thinking.budget_tokens`")
        for asked, told in zip(body["messages"], body["messages"][1:], strict=False):
            blocks = _blocks(asked)
            uses = [block["id"] for block in blocks if block["type"] == "tool_use"]
            check_told(uses, (x["tool_use_id"] for x in _blocks(told) if x["type"] == "tool_result"))
            if uses and thinking and blocks[0].get("signature") != "s":
                raise Refused("Expected `thinking` before `tool_use`, as it was signed")

    def whole(self, answer: ModelAnswer, body: Body) -> Any:
        """Return the message in one piece."""
        content: list[dict[str, Any]] = []
        if answer.thinking:
            content.append({"type": "thinking", "thinking": answer.thinking, "signature": "s"})
        if answer.finish == "tool":
            content.append({"type": "tool_use", "id": "t1", "name": "json_tool_call",
                            "input": json.loads(answer.text)})  # fmt: skip
        elif answer.text and answer.finish not in ("filter", "blocked", "silent_refusal"):
            cited = [
                {"type": "web_search_result_location", "url": url, "title": url, "cited_text": ""}
                for url in answer.citations
            ]
            content.append({"type": "text", "text": answer.text, **({"citations": cited} if cited else {})})
        content += [
            {"type": "tool_use", "id": f"toolu_{body_size(body)}{n}", "name": name, "input": _object(given)}
            for n, (name, given) in enumerate(answer.uses)
        ]
        reasons = {"stop": "end_turn", "length": "max_tokens", "tool": "tool_use", "pause": "pause_turn"}
        return {
            "id": "msg_1", "type": "message", "role": "assistant", "model": answer.model, "content": content,
            "stop_reason": "tool_use" if answer.uses else reasons.get(answer.finish, "refusal"),
            "stop_sequence": None,
            "usage": {
                "input_tokens": answer.sent - answer.cached - answer.written,
                "cache_read_input_tokens": answer.cached, "cache_creation_input_tokens": answer.written,
                "output_tokens": answer.got,
                **({"server_tool_use": {"web_search_requests": answer.searches}} if answer.searches else {}),
                **({"speed": answer.tier} if answer.tier else {}),
            },
        }  # fmt: skip

    def events(self, answer: ModelAnswer, body: Body) -> Iterator[bytes]:
        """Yield the message as a stream."""
        whole = self.whole(answer, body)
        usage = whole["usage"]
        content = whole["content"]

        def event(kind: str, **more: Any) -> bytes:
            return sse({"type": kind, **more}, kind)

        begun = whole | {"content": [], "stop_reason": None, "usage": usage | {"output_tokens": 1}}
        yield event("message_start", message=begun)
        for index, block in enumerate(content):
            kind = block["type"]
            names = {"text": ("text", "text_delta"), "thinking": ("thinking", "thinking_delta")}
            if kind == "tool_use":
                yield event("content_block_start", index=index, content_block=block | {"input": {}})
                uses = answer.uses or (("", json.dumps(block["input"])),)
                given = uses[index - len(content)][1]  # the last blocks are uses
                for part in halves(given):
                    delta = {"type": "input_json_delta", "partial_json": part}
                    yield event("content_block_delta", index=index, delta=delta)
            else:
                name, delta_type = names[kind]
                yield event("content_block_start", index=index, content_block={"type": kind, name: ""})
                for part in halves(block[name]):
                    yield event("content_block_delta", index=index, delta={"type": delta_type, name: part})
                if "signature" in block:
                    signed = {"type": "signature_delta", "signature": block["signature"]}
                    yield event("content_block_delta", index=index, delta=signed)
            yield event("content_block_stop", index=index)
        ended = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
        yield event("message_delta", delta=ended, usage=usage)
        yield event("message_stop")

    def error(self, refused: Refused) -> Any:
        """Return an error in this server's form."""
        return {"type": "error", "error": {"type": refused.code, "message": refused.message}}


def _blocks(message: Body) -> list[dict[str, Any]]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _object(given: str) -> Any:
    """Return what a tool is given, at a server that knows objects only."""
    try:
        return json.loads(given)
    except (ValueError, RecursionError):
        return {}


SIGNATURE = "c2lnbmVk"
"""Gemini's seal on what it thought before it called a tool; it wants that back."""


class Gemini:
    """Google's generateContent."""

    name: ClassVar[str] = "gemini"
    paths: ClassVar[tuple[str, ...]] = (":generateContent", ":streamGenerateContent")

    def check(self, body: Body) -> None:
        """Turn down what the real one does."""
        unknown = 'Invalid JSON payload received. Unknown name "{}": Cannot find field.'
        take_only(body, "contents systemInstruction system_instruction generationConfig safetySettings tools "
                    "toolConfig cachedContent labels serviceTier", unknown)  # fmt: skip
        config = body.get("generationConfig") or {}
        if int(config.get("max_output_tokens", config.get("maxOutputTokens", 1))) > 65_536:
            raise Refused("Unable to submit request because it has a maxOutputTokens value out of range")
        for asked, told in zip(body["contents"], body["contents"][1:], strict=False):
            uses = [part["functionCall"]["name"] for part in asked["parts"] if "functionCall" in part]
            results = [x["functionResponse"]["name"] for x in told["parts"] if "functionResponse" in x]
            check_told(uses, results)
            signed = [part.get("thoughtSignature") for part in asked["parts"] if "functionCall" in part]
            if signed and signed[0] != SIGNATURE:
                raise Refused("Function call is missing a thought_signature in functionCall parts")

    def whole(self, answer: ModelAnswer, body: Body) -> Any:
        """Return the response in one piece."""
        usage = {
            "promptTokenCount": answer.sent, "candidatesTokenCount": answer.said,
            "thoughtsTokenCount": answer.thought, "cachedContentTokenCount": answer.cached,
            "totalTokenCount": answer.sent + answer.got,
        }  # fmt: skip
        head = {"modelVersion": answer.model, "responseId": "r1", "usageMetadata": usage}
        if answer.finish == "blocked":
            return head | {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}
        parts: list[dict[str, Any]] = [{"text": answer.thinking, "thought": True}] if answer.thinking else []
        if answer.finish == "tool":
            parts.append({"functionCall": {"name": "answer", "args": json.loads(answer.text)}})
        elif answer.finish not in ("filter", "refusal", "silent_refusal"):
            parts.append({"text": answer.text})
        for n, (name, given) in enumerate(answer.uses):
            signed = {} if n else {"thoughtSignature": SIGNATURE}  # of calls side by side the first has it
            parts.append({"functionCall": {"name": name, "args": _object(given)}, **signed})
        reasons = {
            "length": "MAX_TOKENS",
            "filter": "SAFETY",
            "refusal": "SAFETY",
            "silent_refusal": "SAFETY",
        }
        candidate: dict[str, Any] = {"index": 0, "finishReason": reasons.get(answer.finish, "STOP")}
        if parts:
            candidate["content"] = {"role": "model", "parts": parts}
        if answer.citations or answer.searches:
            chunks = [{"web": {"uri": url, "title": url}} for url in answer.citations]
            queries = [f"rain {number}" for number in range(answer.searches)]
            candidate["groundingMetadata"] = {"groundingChunks": chunks, "webSearchQueries": queries}
        return head | {"candidates": [candidate]}

    def events(self, answer: ModelAnswer, body: Body) -> Iterator[bytes]:
        """Yield the response as a stream of one or two parts."""
        whole = self.whole(answer, body)
        [candidate] = whole.get("candidates", [{}])
        for part in (candidate.get("content") or {}).get("parts", [])[:-1]:
            first = {"index": 0, "content": {"role": "model", "parts": [part]}}
            yield sse(
                {name: whole[name] for name in ("modelVersion", "responseId")} | {"candidates": [first]}
            )
            candidate = candidate | {
                "content": {"role": "model", "parts": candidate["content"]["parts"][-1:]}
            }
        yield sse(whole | ({"candidates": [candidate]} if candidate else {}))

    def error(self, refused: Refused) -> Any:
        """Return an error in this server's form."""
        names = {400: "INVALID_ARGUMENT", 429: "RESOURCE_EXHAUSTED", 403: "PERMISSION_DENIED"}
        status = names.get(refused.status, "UNAVAILABLE")
        return {"error": {"code": refused.status, "message": refused.message, "status": status}}


class Ollama:
    """Ollama, which cuts the beginning of a question that is longer than its window, and doesn't say so."""

    name: ClassVar[str] = "ollama"
    paths: ClassVar[tuple[str, ...]] = ("/api/chat", "/api/generate")
    window: ClassVar[int] = 4_096

    def check(self, body: Body) -> None:
        """Check that its options are known by name."""
        options = body.get("options") or {}
        take_only(options, "num_predict num_ctx seed temperature top_k top_p stop", 'invalid option "{}"')
        form = body.get("format")
        if form not in (None, "", "json") and not isinstance(form, dict):
            raise Refused('invalid format: expected "json" or a JSON schema')
        messages = body.get("messages") or ()
        uses = [call["function"]["name"] for each in messages for call in each.get("tool_calls") or ()]
        if len(uses) != sum(each["role"] == "tool" for each in messages):
            raise Refused("every call of a tool must be followed by its result")

    def read_tokens(self, body: Body) -> int:
        """Return how much of the question is read: no more than the window has room for."""
        asked = len(json.dumps(body.get("messages") or body.get("prompt") or "")) // 4
        return min(asked, int((body.get("options") or {}).get("num_ctx", self.window)))

    def whole(self, answer: ModelAnswer, body: Body) -> Any:
        """Return the answer in one piece."""
        message: dict[str, Any] = {"role": "assistant", "content": answer.text}
        if answer.thinking:
            message["thinking"] = answer.thinking
        if answer.uses:
            calls = [{"function": {"name": name, "arguments": _object(given)}} for name, given in answer.uses]
            message |= {"tool_calls": calls}
        spoken = {"message": message} if "messages" in body else {"response": answer.text}
        return {
            "model": answer.model, "created_at": "2026-01-01T00:00:00Z", **spoken, "done": True,
            "done_reason": "length" if answer.finish == "length" else "stop", "total_duration": 1,
            "prompt_eval_count": self.read_tokens(body), "eval_count": answer.got,
        }  # fmt: skip

    def events(self, answer: ModelAnswer, body: Body) -> Iterator[bytes]:
        """Yield lines of JSON, the last of which has the counts."""
        whole = self.whole(answer, body)
        for part in halves(answer.text):
            said = {"message": {"role": "assistant", "content": part}, "response": part, "done": False}
            yield (json.dumps({"model": answer.model, **said}) + "\n").encode()
        last = whole | {"message": {"role": "assistant", "content": ""}, "response": ""}
        yield (json.dumps(last) + "\n").encode()

    def error(self, refused: Refused) -> Any:
        """Return an error in this server's form."""
        return {"error": refused.message}


Wire = OpenAiChat | OpenRouter | Responses | Anthropic | Gemini | Ollama
WIRES: Mapping[str, Wire] = {
    wire.name: wire for wire in (OpenAiChat(), OpenRouter(), Responses(), Anthropic(), Gemini(), Ollama())
}
