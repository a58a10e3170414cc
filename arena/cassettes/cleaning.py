"""Removes keys, accounts and people from answers, counting the removals by kind."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agents.secrets import HIDDEN, redact, remove_secrets

_PERSON = re.compile(
    r"user|creator|author|owner|bettor|holder|wallet|avatar|e?mail|phone|pseudonym|comment|address"
    r"|(?:submitted|created|updated|resolved|proposed|disputed)by"
)
_ACCOUNT = re.compile(
    r"organi[sz]ation|orgid|account|customer|session|cookie|apikey|password|secret|credential|authorization"
    r"|(?:access|refresh|id|auth|client|bearer)token$|safetyidentifier|promptcachekey"
    r"|^(?:metadata|requestid|ip)$|ipaddress|clientip"
)
_USER_NAME = re.compile("(?i)user_?name$")
FIELDS = {"fields about a person": _PERSON, "fields about an account": _ACCOUNT}
"""What is left out by the name of its field, written small and without dashes."""
TEXTS = {
    "keys": re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?"),
    "e-mail addresses": re.compile(r"[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[A-Za-z]{2,24}"),
    "wallet addresses": re.compile(r"\b0x[0-9a-fA-F]{40}\b"),
    "account ids": re.compile(r"\b(?:org|proj|user|acct|cus|wrkspc)[-_](?=[A-Za-z]*\d)[A-Za-z0-9]{12,}"),
    "request ids": re.compile(r"\b(?:req|msg|chatcmpl|resp|gen|rs)[-_](?=[A-Za-z]*\d)[A-Za-z0-9]{12,}"),
    "IP addresses": re.compile(r"\b(?:[0-9]{1,3}\.){3}[0-9]{1,3}\b"),
    "phone numbers": re.compile(r"(?<!\w)\+[0-9]{1,3}[ (-]{1,2}[0-9][0-9 ()-]{6,}[0-9]"),
}
"""What is replaced wherever it stands in a text."""


class Cleaner:
    """Cleans texts and JSON; `counts` has how often it took out what.

    `secrets` are the keys of the environment, in every form in which they come back.
    """

    def __init__(self, secrets: Sequence[str] = ()):
        self.secrets = secrets
        self.counts: Counter[str] = Counter()

    def text(self, text: str) -> str:
        """Return a text without keys, addresses and ids of accounts, and count what was removed."""
        text = text.encode("utf-8", "replace").decode()  # half a character can't be written

        # Known keys go first, then whatever looks like a key.
        for secret in self.secrets:
            self.counts["keys"] += text.count(secret)
        text = remove_secrets(text, self.secrets)
        redacted = redact(text)
        self.counts["keys"] += max(redacted.count(HIDDEN) - text.count(HIDDEN), 0)

        text = redacted
        for kind, pattern in TEXTS.items():
            text, replacements = pattern.subn(HIDDEN, text)
            self.counts[kind] += replacements
        return text

    def json(self, value: Any) -> Any:
        """Return a JSON value without fields about people and accounts, its texts and names cleaned."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.json(item) for item in value]
        if not isinstance(value, dict):
            return value

        if value.get("type") == "mention":  # of a person, in a text that is kept as a tree
            self.counts["fields about a person"] += 1
            return {"type": "mention"}
        kept = {}
        for name, item in value.items():
            kind = _private_kind(name)
            if kind and item not in (None, "", [], {}) and not isinstance(item, bool):
                self.counts[kind] += 1
            else:
                kept[self.text(name)] = self.json(item)
        return self._without_user(kept, value)

    def _without_user(self, cleaned: dict[str, Any], record: Mapping[str, Any]) -> dict[str, Any]:
        """Return a record without the addresses that have the name of its user in their path."""
        for user_field, user in record.items():
            if not user or not isinstance(user, str) or not _USER_NAME.search(user_field):
                continue
            for name, text in cleaned.items():
                if isinstance(text, str) and f"/{user}" in text:
                    self.counts["addresses with a user's name"] += 1
                    cleaned[name] = HIDDEN
        return cleaned

    def body(self, text: str) -> str:
        """Return the body of an answer, cleaned: JSON, a stream with JSON in its lines, or plain text."""
        try:
            return json.dumps(self.json(json.loads(text)), ensure_ascii=False)
        except ValueError:
            return "\n".join(map(self._line, text.split("\n")))

    def _line(self, line: str) -> str:
        """Return a line of a stream, cleaned."""
        head, brace, json_part = line.partition("{")
        try:
            return self.text(head) + json.dumps(self.json(json.loads(brace + json_part)), ensure_ascii=False)
        except ValueError:
            return self.text(line)

    def is_free_of_secrets(self, text: str) -> bool:
        """Tell whether a text contains none of the environment's keys."""
        return remove_secrets(text, self.secrets) == text

    def is_clean(self, body: str) -> bool:
        """Tell whether no secret is left in the body of an answer, even in the joined texts of a stream.

        A stream sends a text in pieces, none of which need look like a key.
        """
        pieces_by_path: defaultdict[str, list[str]] = defaultdict(list)
        for line in body.split("\n"):
            try:
                value = json.loads(line[line.find("{") :])
            except ValueError:
                continue
            for path, text in _texts_by_path(value):
                pieces_by_path[path].append(text)

        # A secret is left where cleaning the joined pieces of a text would change them.
        cleaner = Cleaner(self.secrets)
        for texts in pieces_by_path.values():
            joined = "".join(texts)
            if cleaner.text(joined) != joined:
                return False
        return True


def _texts_by_path(value: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text in a JSON value with the names that lead to it."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, list):
        for item in value:
            yield from _texts_by_path(item, place)
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _texts_by_path(item, f"{place}/{name}")


def _private_kind(name: str) -> str:
    """Return the kind of private data in a field, by its name; empty if the field is kept."""
    plain = re.sub(r"[^a-z]", "", name.casefold())
    for kind, pattern in FIELDS.items():
        if pattern.search(plain):
            return kind
    return ""
