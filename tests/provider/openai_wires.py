"""OpenAI's two forms, chat and Responses, and OpenRouter, which speaks the first."""

import json
from collections.abc import Iterator
from typing import Any, ClassVar

from tests.provider.model_answer import Body, ModelAnswer, Refused, check_told, halves, sse, take_only


class OpenAiChat:
    """Chat completions as OpenAI's own server has them."""

    name: ClassVar[str] = "openai"
    paths: ClassVar[tuple[str, ...]] = ("/chat/completions",)
    responses_only: ClassVar[tuple[str, ...]] = ("-pro", "codex", "deep-research", "multi-agent")
    takes: ClassVar[str] = (
        "model messages max_tokens max_completion_tokens temperature top_p seed stream stream_options "
        "response_format reasoning_effort service_tier prompt_cache_key web_search_options top_k n user "
        "tools tool_choice"
    )

    def check(self, body: Body) -> None:
        """Turn down what the real one does."""
        take_only(body, self.takes, "Unknown parameter: '{}'.")
        model = str(body["model"])
        if any(part in model for part in self.responses_only):
            raise Refused("This model is only supported in v1/responses and not in v1/chat/completions.", 404)
        if model.startswith(("o1", "o3", "o4", "gpt-5", "gpt-6")):
            if "max_tokens" in body:
                words = "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
                raise Refused(f"{words}'max_completion_tokens' instead.")
            if body.get("temperature", 1) != 1 and body.get("reasoning_effort") != "none":
                raise Refused("Unsupported value: 'temperature' does not support this value. Only 1 is.")
        elif "reasoning_effort" in body:
            raise Refused("Unrecognized request argument supplied: reasoning_effort")
        if "stream_options" in body and not body.get("stream"):
            raise Refused("The 'stream_options' parameter is only allowed when 'stream' is enabled.")
        self._check_form(body)
        uses = [call["id"] for message in body["messages"] for call in message.get("tool_calls") or ()]
        check_told(uses, (x["tool_call_id"] for x in body["messages"] if x["role"] == "tool"))

    @staticmethod
    def _check_form(body: Body) -> None:
        form = body.get("response_format") or {}
        if form.get("type") == "json_object" and "json" not in json.dumps(body["messages"]).lower():
            raise Refused("'messages' must contain the word 'json' in some form, to use 'json_object'.")
        if form.get("type") == "json_schema":
            check_strict(form["json_schema"]["schema"])

    def whole(self, answer: ModelAnswer, body: Body) -> Any:
        """Return the answer in one piece."""
        content = list(answer.parts) or answer.text
        message = {"role": "assistant", "content": content, **self.thinking(answer)}
        message["annotations"] = [
            {
                "type": "url_citation",
                "url_citation": {"url": url, "title": url, "start_index": 0, "end_index": 1},
            }
            for url in answer.citations
        ]
        finish: str = answer.finish
        if answer.finish in ("refusal", "silent_refusal"):
            message |= {"content": None, "refusal": answer.text or "I can't help with that."}
            finish = "stop"
        elif answer.finish in ("filter", "blocked"):
            message["content"], finish = None, "content_filter"
        elif answer.finish == "tool":
            call = {"id": "c1", "type": "function", "function": {"name": "answer", "arguments": answer.text}}
            message |= {"content": None, "tool_calls": [call]}
            finish = "tool_calls"
        if answer.uses:
            calls = [
                {
                    "id": f"call_{body_size(body)}{n}",
                    "type": "function",
                    "function": {"name": name, "arguments": given},
                }
                for n, (name, given) in enumerate(answer.uses)
            ]
            message["tool_calls"], finish = calls, "tool_calls"
        choice = {"index": 0, "message": message, "finish_reason": finish}
        head = {"id": "c-1", "object": "chat.completion", "created": 1, "model": answer.model}
        head |= {"system_fingerprint": answer.fingerprint, "choices": [choice], "usage": self.usage(answer)}
        head |= {"service_tier": answer.tier} if answer.tier else {}
        return head | self.more(answer)

    def thinking(self, answer: ModelAnswer) -> dict[str, Any]:
        """Return no thinking, as OpenAI's own chat; servers that speak like it show some."""
        return {"reasoning_content": answer.thinking} if answer.thinking else {}

    def more(self, answer: ModelAnswer) -> dict[str, Any]:
        """Return the other fields of the answer."""
        return {}

    def usage(self, answer: ModelAnswer) -> dict[str, Any]:
        """Return the count of tokens; the answer's include those of thinking, except for some servers."""
        said = answer.said if answer.thought_apart else answer.got
        return {
            "prompt_tokens": answer.sent,
            "completion_tokens": said,
            "total_tokens": answer.sent + answer.got,
            "prompt_tokens_details": {
                "cached_tokens": answer.cached,
                **({"cache_write_tokens": answer.written} if answer.written else {}),
            },
            "completion_tokens_details": {"reasoning_tokens": answer.thought},
        }

    def events(self, answer: ModelAnswer, body: Body) -> Iterator[bytes]:
        """Yield the answer as a stream, which ends with the count of tokens if that is asked for."""
        whole = self.whole(answer, body)
        [choice] = whole.pop("choices")
        usage = whole.pop("usage")
        message = choice["message"]
        head = whole | {"object": "chat.completion.chunk"}

        def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
            return sse(head | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

        yield chunk({"role": "assistant", "content": ""})
        for name in ("reasoning_content", "reasoning", "refusal", "content"):
            yield from (chunk({name: part}) for part in halves(message.get(name) or ""))
        for index, call in enumerate(message.get("tool_calls", ())):
            yield chunk({"tool_calls": [call | {"index": index}]})
        yield chunk({"annotations": message["annotations"]} if message["annotations"] else {})
        yield chunk({}, choice["finish_reason"])
        if (body.get("stream_options") or {}).get("include_usage"):
            yield sse(head | {"choices": [], "usage": usage})
        yield sse("[DONE]")

    def error(self, refused: Refused) -> Any:
        """Return an error in this server's form."""
        return {"error": {"message": refused.message, "type": refused.code, "code": refused.code}}


class OpenRouter(OpenAiChat):
    """OpenRouter: OpenAI's form, any parameter, and what the call cost and who served it."""

    name = "openrouter"

    def check(self, body: Body) -> None:
        """Check nothing, as a server that ignores what it doesn't know."""

    def thinking(self, answer: ModelAnswer) -> dict[str, Any]:
        return {"reasoning": answer.thinking} if answer.thinking else {}

    def more(self, answer: ModelAnswer) -> dict[str, Any]:
        return {"provider": answer.host} if answer.host else {}

    def usage(self, answer: ModelAnswer) -> dict[str, Any]:
        return super().usage(answer) | ({} if answer.cost is None else {"cost": answer.cost})

    def error(self, refused: Refused) -> Any:
        return {"error": {"message": refused.message, "code": refused.status}}


class Responses:
    """OpenAI's Responses form, which xAI speaks too."""

    name: ClassVar[str] = "responses"
    paths: ClassVar[tuple[str, ...]] = ("/responses",)
    takes: ClassVar[str] = (
        "model input instructions max_output_tokens reasoning text tools tool_choice stream store include "
        "prompt_cache_key service_tier temperature top_p background truncation metadata max_tool_calls user"
    )

    def check(self, body: Body) -> None:
        """Turn down what the real one does."""
        take_only(body, self.takes, "Unknown parameter: '{}'.")
        if body.get("max_output_tokens", 16) < 16:
            raise Refused("Invalid 'max_output_tokens': integer below minimum value. Expected >= 16.")
        effort = (body.get("reasoning") or {}).get("effort", "medium")
        if effort not in ("none", "minimal", "low", "medium", "high", "xhigh", "max"):
            raise Refused(f"Invalid value: '{effort}'.")
        form = (body.get("text") or {}).get("format") or {}
        if form.get("type") == "json_schema":
            check_strict(form["schema"])
        elif form.get("type") == "json_object" and "json" not in json.dumps(body["input"]).lower():
            raise Refused("Response input messages must contain the word 'json' in some form.")
        uses = [item["call_id"] for item in body["input"] if item.get("type") == "function_call"]
        told = (item["call_id"] for item in body["input"] if item.get("type") == "function_call_output")
        check_told(uses, told)

    def whole(self, answer: ModelAnswer, body: Body) -> Any:
        """Return the response in one piece."""
        output: list[dict[str, Any]] = []
        if answer.thought or answer.thinking:
            summary = [{"type": "summary_text", "text": answer.thinking}] if answer.thinking else []
            output.append({"type": "reasoning", "id": "rs_1", "summary": summary})
        searches = answer.searches or min(1, len(answer.citations))
        output += [
            {"type": "web_search_call", "id": f"ws_{n}", "status": "completed"} for n in range(searches)
        ]
        if answer.finish == "tool":
            output.append({"type": "function_call", "id": "f1", "name": "answer", "arguments": answer.text})
        elif answer.finish in ("refusal", "silent_refusal"):
            output.append(self._message({"type": "refusal", "refusal": answer.text or "I can't help."}))
        elif answer.text and answer.finish not in ("filter", "blocked"):
            cited = [{"type": "url_citation", "url": url, "title": url} for url in answer.citations]
            output.append(self._message({"type": "output_text", "text": answer.text, "annotations": cited}))
        for n, (name, given) in enumerate(answer.uses):
            call = {
                "id": f"fc_{n}",
                "call_id": f"call_{body_size(body)}{n}",
                "name": name,
                "arguments": given,
            }
            output.append({"type": "function_call", "status": "completed", **call})
        cut = {"length": "max_output_tokens", "filter": "content_filter", "blocked": "content_filter"}
        reason = cut.get(answer.finish)
        return {
            "id": "resp_1", "object": "response", "created_at": 1, "model": answer.model, "error": None,
            "status": "incomplete" if reason else "completed", "output": output,
            "service_tier": answer.tier or "default",
            "incomplete_details": {"reason": reason} if reason else None,
            "usage": {
                "input_tokens": answer.sent, "input_tokens_details": {"cached_tokens": answer.cached},
                "output_tokens": answer.got, "output_tokens_details": {"reasoning_tokens": answer.thought},
                "total_tokens": answer.sent + answer.got,
            },
        }  # fmt: skip

    @staticmethod
    def _message(part: dict[str, Any]) -> dict[str, Any]:
        return {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [part],
        }

    def events(self, answer: ModelAnswer, body: Body) -> Iterator[bytes]:
        """Yield the response as a stream."""
        whole = self.whole(answer, body)
        yield sse({"type": "response.created", "response": whole | {"output": [], "usage": None}})
        for part in halves(answer.thinking):
            yield sse({"type": "response.reasoning_summary_text.delta", "delta": part})
        if answer.finish in ("stop", "length"):
            for part in halves(answer.text):
                yield sse({"type": "response.output_text.delta", "delta": part, "output_index": 1})
        kind = "incomplete" if whole["status"] == "incomplete" else "completed"
        yield sse({"type": f"response.{kind}", "response": whole})

    def error(self, refused: Refused) -> Any:
        """Return an error in the form of its chat."""
        return OpenAiChat().error(refused)


def body_size(body: Body) -> int:
    """Return a value that differs in each step of a conversation, as the ids of a provider do."""
    return len(json.dumps(dict(body)))


def check_strict(schema: Any) -> None:
    """Check OpenAI's rule for strict schemas: objects are closed, and all their fields are required."""
    if isinstance(schema, list):
        for each in schema:
            check_strict(each)
    if not isinstance(schema, dict):
        return
    if "properties" in schema:
        if schema.get("additionalProperties") is not False:
            raise Refused("Invalid schema for response_format 'answer': 'additionalProperties' is required")
        if set(schema.get("required", ())) != set(schema["properties"]):
            raise Refused("Invalid schema for response_format 'answer': 'required' is to have every key")
    for each in schema.values():
        check_strict(each)
